//! Warnings about a file that is to be written. They never claim that a file is harmless.

use copydesk_approvals::{Preview, PreviewWarning};
use copydesk_document::diff::DiffLimits;
use copydesk_file_sync::text_encoding;
use copydesk_unseen_characters::is_unseen;

use super::{elisions, invisible_chars};

/// Prefixes of secrets that are easily recognised.
const SECRETS: [&str; 7] =
    ["sk-ant-", "sk-proj-", "AKIA", "ghp_", "github_pat_", "xoxb-", "PRIVATE KEY-----"];
/// Files that other programs run without being asked.
const RUN_BY_OTHERS: &str = "makefile justfile package.json build.rs setup.py conftest.py dockerfile \
    jenkinsfile config.toml";

/// Returns all warnings, one for each kind. Passages of the `old` text cause none.
pub fn of_file(
    path: &str,
    old: Option<&str>,
    content: &str,
    limits: &DiffLimits,
) -> Vec<PreviewWarning> {
    let names = || path.split('/').filter(|name| !matches!(*name, "" | "." | ".."));
    let last = names().next_back().unwrap_or_default().to_lowercase();
    let is_script =
        [".sh", ".bash", ".command", ".ps1", ".bat"].iter().any(|end| last.ends_with(end));
    // A path is one line, and the first thing that people look at.
    let is_disguised = path.chars().any(|c| c.is_control() || is_unseen(c));
    let old = old.unwrap_or_default();
    let found = [
        (
            is_disguised,
            "deceiving",
            "Its name has line breaks, invisible characters, or some that change the order of what you read.",
        ),
        (
            !is_disguised && adds_unseen(old, content, limits),
            "deceiving",
            "It has invisible characters, or some that change the order of what you read.",
        ),
        (adds(secrets(old), secrets(content)), "secret", "It seems to hold a password or key."),
        (
            names().any(|name| name.starts_with('.')),
            "hidden_file",
            "It is a hidden file, or in a hidden folder.",
        ),
        (
            is_script || RUN_BY_OTHERS.split_whitespace().any(|it| it == last),
            "runs",
            "It is a file that programs run; what it says may be done later, unasked.",
        ),
    ];
    let warn = |(_, code, text): (bool, &str, &str)| PreviewWarning {
        code: code.to_owned(),
        text: text.to_owned(),
    };
    let found = found.into_iter().filter(|(holds, ..)| *holds).map(warn);
    found.chain(elisions::warnings(old, content)).collect()
}

fn adds_unseen(old: &str, new: &str, limits: &DiffLimits) -> bool {
    // A mark at the beginning is a byte order mark.
    let [old, new] = [old, new].map(|text| text.strip_prefix('\u{feff}').unwrap_or(text));
    !invisible_chars::added_between(old, new, limits).is_empty()
}

fn secrets(text: &str) -> Vec<&str> {
    let is_apart = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_');
    let found = SECRETS.iter().flat_map(|secret| text.match_indices(secret));
    let whole = found.map(|(at, secret)| {
        let after = &text[at + secret.len()..];
        let end = after.find(is_apart).unwrap_or(after.len());
        &text[at..at + secret.len() + end]
    });
    whole.collect()
}

fn adds<T: Ord>(mut old: Vec<T>, mut new: Vec<T>) -> bool {
    old.sort_unstable();
    new.sort_unstable();
    let mut before = old.into_iter().peekable();
    new.into_iter().any(|it| {
        while before.next_if(|was| *was < it).is_some() {}
        before.next_if_eq(&it).is_none()
    })
}

/// Returns all warnings for a change of an existing file, with one if the diff does not show what
/// changes.
pub fn of_change(
    path: &str,
    old: &str,
    new: &str,
    shown: &Preview,
    limits: &DiffLimits,
) -> Vec<PreviewWarning> {
    let mut warnings = of_file(path, Some(old), new, limits);
    warnings.extend(line_ends(old, new, shown));
    warnings
}

/// Returns a warning if line ends change, which a diff of lines does not show.
fn line_ends(old: &str, new: &str, shown: &Preview) -> Option<PreviewWarning> {
    let differs =
        old != new && (shown.diff_lines.is_empty() || text_encoding::end_differently(old, new));
    differs.then(|| PreviewWarning {
        code: "line_ends".to_owned(),
        text: "It changes how lines end, which the difference does not show.".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_lines_come_to_end_is_told_where_no_one_would_see_it() {
        let warns = |old: &str, new: &str| {
            let shown = Preview::diff("a.txt", Some(old), new, &DiffLimits::default());
            line_ends(old, new, &shown).is_some()
        };
        assert!(warns("a\r\nb\n", "a\nb\n") && warns("a\n", "a\r\n") && warns("a\n", "a"));
        assert!(!warns("a\r\n", "b\r\n") && !warns("a\n", "b\n") && !warns("a", "a"));
    }

    #[test]
    fn what_was_there_before_is_no_caution() {
        let codes = |old: &str, new: &str| {
            let shown = Preview::diff("a.md", Some(old), new, &DiffLimits::default());
            let found = of_change("a.md", old, new, &shown, &DiffLimits::default());
            found.into_iter().map(|it| it.code).collect::<Vec<_>>()
        };
        let (mark, key) = ("\u{202e}", "key: sk-ant-api03-x");
        for old in ["a👩\u{200d}🚀", "می\u{200c}خواهم", "a\u{202e}b", key] {
            assert_eq!(codes(old, &format!("{old}!")), [""; 0], "{old:?}");
        }
        assert_eq!(codes("a", "a👩\u{200d}🚀 می\u{200c}خواهم"), [""; 0]);
        assert_eq!(codes(mark, &format!("{mark} and {mark}")), ["deceiving"]);
        assert_eq!(codes("a\u{200b}", &format!("a{mark}")), ["deceiving"], "another one");
        assert_eq!(codes(key, &format!("{key}y")), ["secret"], "another one");
        assert_eq!(codes(key, &format!("{key}\n{key}")), ["secret"]);
        assert_eq!(codes(&format!("{key}\n{key}{mark}"), key), [""; 0], "taking out is welcome");
        for path in ["a\u{200d}.md", "a\u{200c}.md"] {
            assert_eq!(
                of_file(path, Some("a"), "a", &DiffLimits::default()).len(),
                1,
                "a name needs no joiners"
            );
        }
    }

    #[test]
    fn what_to_look_out_for_is_named() {
        let codes = |path: &str, content: &str| {
            of_file(path, None, content, &DiffLimits::default())
                .into_iter()
                .map(|it| it.code)
                .collect::<Vec<_>>()
        };
        assert_eq!(codes("docs/a.md", "# A\n\tb\r\n"), [""; 0]);
        assert_eq!(codes("a.md", "a\u{202e}b"), ["deceiving"]);
        assert_eq!(codes("a.md", "\u{feff}a"), [""; 0]);
        for path in
            ["a\n.md", "a\u{1b}[2K.md", "a\t.md", "a\u{200b}.md", "gnp\u{202e}.md", "a\u{e0041}.md"]
        {
            let found = of_file(path, None, "a\u{202e}b", &DiffLimits::default());
            assert_eq!(found.len(), 1, "{path:?} {found:?}");
            assert!(
                found[0].code == "deceiving" && found[0].text.starts_with("Its name has"),
                "{path:?}"
            );
        }
        assert_eq!(codes("a.md", "key: sk-ant-api03-x"), ["secret"]);
        assert_eq!(codes(".github/workflows/ci.yml", ""), ["hidden_file"]);
        assert_eq!(codes("./a.md", ""), [""; 0]);
        assert_eq!(codes("web/package.json", ""), ["runs"]);
        assert_eq!(codes("Run.SH", ""), ["runs"]);
    }
}
