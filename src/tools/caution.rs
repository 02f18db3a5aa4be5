//! What to look out for in a file that is to be written. It warns, and never says that a file is harmless. Pure.

use crate::review::Warning;
use crate::workspace::deceives;

/// Beginnings of secrets that are easily recognised.
const SECRETS: [&str; 7] =
    ["sk-ant-", "sk-proj-", "AKIA", "ghp_", "github_pat_", "xoxb-", "PRIVATE KEY-----"];
/// Files that other programs run without being asked.
const RUN_BY_OTHERS: [&str; 9] = [
    "makefile",
    "justfile",
    "package.json",
    "build.rs",
    "setup.py",
    "conftest.py",
    "dockerfile",
    "jenkinsfile",
    "config.toml",
];

/// Everything to look out for, one line for each kind.
pub fn of_file(path: &str, content: &str) -> Vec<Warning> {
    let names = || path.split('/').filter(|name| !matches!(*name, "" | "." | ".."));
    let last = names().next_back().unwrap_or_default().to_lowercase();
    let is_script =
        [".sh", ".bash", ".command", ".ps1", ".bat"].iter().any(|end| last.ends_with(end));
    let found = [
        (
            content.chars().any(deceives),
            "deceiving",
            "It has invisible characters, or some that change the order of what you read.",
        ),
        (
            SECRETS.iter().any(|secret| content.contains(secret)),
            "secret",
            "It seems to hold a password or key.",
        ),
        (
            names().any(|name| name.starts_with('.')),
            "hidden_file",
            "It is a hidden file, or in a hidden folder.",
        ),
        (
            is_script || RUN_BY_OTHERS.contains(&last.as_str()),
            "runs",
            "It is a file that programs run; what it says may be done later, unasked.",
        ),
    ];
    let warn = |(_, code, text): (bool, &str, &str)| Warning {
        code: code.to_owned(),
        text: text.to_owned(),
    };
    found.into_iter().filter(|(holds, ..)| *holds).map(warn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_look_out_for_is_named() {
        let codes = |path: &str, content: &str| {
            of_file(path, content).into_iter().map(|it| it.code).collect::<Vec<_>>()
        };
        assert_eq!(codes("docs/a.md", "# A\n\tb\r\n"), [""; 0]);
        assert_eq!(codes("a.md", "a\u{202e}b"), ["deceiving"]);
        assert_eq!(codes("a.md", "key: sk-ant-api03-x"), ["secret"]);
        assert_eq!(codes(".github/workflows/ci.yml", ""), ["hidden_file"]);
        assert_eq!(codes("./a.md", ""), [""; 0]);
        assert_eq!(codes("web/package.json", ""), ["runs"]);
        assert_eq!(codes("Run.SH", ""), ["runs"]);
    }
}
