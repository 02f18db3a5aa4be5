//! Marks changes that add invisible characters, because people decide by what they see.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use copydesk_approvals::PreviewWarning;
use copydesk_document::Text;
use copydesk_document::diff::{DiffLimits, HunkDraft, diff_in_order};
use copydesk_unseen_characters::{CONTEXT_CHARS, added, unseen};

/// Maximum number of different characters that a warning names.
const MOST_NAMED: usize = 4;
/// Fields of an input that people are shown as the model's own words, and their names for people.
const OWN_WORDS: [(&str, &str); 4] = [
    ("explanation", "explanation"),
    ("description", "description"),
    ("plan", "plan"),
    ("title", "title"),
];

/// Returns a warning if hunks put in invisible characters. Each hunk and character counts alone:
/// what one removes does not make up for another.
pub fn of_hunks(base: &Text, hunks: &[HunkDraft]) -> Option<PreviewWarning> {
    let found = hunks.iter().flat_map(|hunk| {
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for part in &hunk.parts {
            let (before, after) = (before(base, part.from), after(base, part.to));
            old.extend(unseen(&[&before, part.base.as_str(), &after].concat()));
            new.extend(unseen(&[&before, part.insert.as_str(), &after].concat()));
        }
        added(old, new)
    });
    warning(&found.collect::<Vec<_>>())
}

/// Returns the text before a position, as far as it matters to the characters after it.
fn before(text: &Text, unit: usize) -> String {
    let start = unit.saturating_sub(CONTEXT_CHARS);
    let start = if text.is_boundary(start) { start } else { start.saturating_sub(1) };
    text.slice(start..unit).unwrap_or_default()
}

fn after(text: &Text, unit: usize) -> String {
    let end = (unit + CONTEXT_CHARS).min(text.len());
    let end = if text.is_boundary(end) { end } else { end - 1 };
    text.slice(unit..end.max(unit)).unwrap_or_default()
}

/// Returns the invisible characters that a change of a whole text puts in.
pub fn added_between(old: &str, new: &str, limits: &DiffLimits) -> Vec<char> {
    let (was, is) = (unseen(old), unseen(new));
    if is.is_empty() || was.is_empty() {
        return is;
    }
    let base = Text::new(old);
    let hunks = diff_in_order(&base.to_string(), &Text::new(new).to_string(), limits);
    let parts = hunks.iter().flat_map(|hunk| &hunk.parts);
    let found = parts.flat_map(|part| {
        let (before, after) = (before(&base, part.from), after(&base, part.to));
        let old = unseen(&[&before, part.base.as_str(), &after].concat());
        added(old, unseen(&[&before, part.insert.as_str(), &after].concat()))
    });
    found.collect()
}

/// Returns a warning if a new text has invisible characters.
pub fn of_new(text: &str) -> Option<PreviewWarning> {
    warning(&unseen(text))
}

fn warning(found: &[char]) -> Option<PreviewWarning> {
    let count = found.len();
    let characters = if count == 1 { "character" } else { "characters" };
    (count > 0)
        .then(|| warns(format!("Adds {count} {characters} that cannot be seen: {}.", names(found))))
}

/// Returns warnings for invisible characters in the model's explanation, and in its reasons.
pub fn of_own_words<'a>(
    input: &'a Value,
    reasons: impl IntoIterator<Item = &'a str>,
) -> Vec<PreviewWarning> {
    let fields =
        OWN_WORDS.iter().filter_map(|(field, name)| Some((*name, input.get(field)?.as_str()?)));
    let reasons = reasons.into_iter().map(|words| ("reason", words));
    let mut warnings: Vec<PreviewWarning> = Vec::new();
    for (name, words) in fields.chain(reasons) {
        let found = unseen(words);
        if !found.is_empty() {
            warnings.push(warns(format!(
                "The {name} has characters that cannot be seen: {}.",
                names(&found)
            )));
        }
    }
    warnings.dedup_by(|one, other| one.text == other.text);
    warnings
}

fn warns(text: String) -> PreviewWarning {
    PreviewWarning { code: "unseen_characters".into(), text }
}

/// Names characters, each once: `U+00AD (3 times), U+202E and 2 other kinds`.
fn names(found: &[char]) -> String {
    let mut kinds: BTreeMap<char, usize> = BTreeMap::new();
    for &c in found {
        *kinds.entry(c).or_default() += 1;
    }
    let mut line = String::new();
    for (index, (&c, &count)) in kinds.iter().take(MOST_NAMED).enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let _ = write!(line, "{comma}U+{:04X}", u32::from(c));
        if count > 1 {
            let _ = write!(line, " ({count} times)");
        }
    }
    if kinds.len() > MOST_NAMED {
        let _ = write!(line, " and {} other kinds", kinds.len() - MOST_NAMED);
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use copydesk_document::diff::diff;

    fn warned(old: &str, new: &str) -> Option<String> {
        let hunks = diff(old, new, &DiffLimits::default());
        of_hunks(&Text::new(old), &hunks).map(|it| it.text)
    }

    #[test]
    fn what_is_added_unseen_is_told() {
        assert_eq!(warned("a", "b"), None);
        assert_eq!(warned("👩", "👩\u{200d}🚀"), None);
        assert_eq!(warned("❤ and", "❤\u{fe0f} and"), None);
        let one = "Adds 1 character that cannot be seen: U+202E.";
        assert_eq!(warned("a\u{200b}", "a\u{200b}\u{202e}").as_deref(), Some(one));
        assert_eq!(warned("a\u{200b}", "a"), None, "taking some out is welcome");
        let many = warned("", "\u{e0041}\u{e0041}\u{e0042}\u{e0043}\u{e0044}\u{e0045}");
        assert_eq!(
            many.as_deref(),
            Some(
                "Adds 6 characters that cannot be seen: U+E0041 (2 times), U+E0042, U+E0043, U+E0044 and 1 other kinds."
            )
        );
    }

    #[test]
    fn removing_one_character_does_not_pay_for_another() {
        let swapped = warned("one q\u{ad}q here", "one q\u{202e}q here");
        assert!(swapped.is_some_and(|it| it.contains("U+202E")));
        // Nor does what another hunk removes.
        let old = "First \u{202e}line here.\n\nSecond line there.";
        let new = "First line here.\n\nSecond \u{202e}line there.";
        assert!(warned(old, new).is_some_and(|it| it.starts_with("Adds 1 character")));
        let found = added_between(old, new, &DiffLimits::default());
        assert_eq!(found, ['\u{202e}']);
        assert_eq!(added_between(old, old, &DiffLimits::default()), []);
    }

    #[test]
    fn a_character_counts_by_what_stands_around_it_after_the_change() {
        // The emoji goes, and its selector would stay behind.
        let hunks = [copydesk_document::diff::DraftPart {
            from: 2,
            to: 3,
            base: "❤".into(),
            insert: String::new(),
        }];
        let base = Text::new("a ❤\u{fe0f}b");
        let hunks: Vec<HunkDraft> = vec![hunks.to_vec().into()];
        assert!(of_hunks(&base, &hunks).is_some_and(|it| it.text.contains("U+FE0F")));
    }

    #[test]
    fn explanations_reasons_and_titles_count_too() {
        let input =
            json!({"explanation": "fix\u{202e}ed", "title": "T\u{200f}", "other": "\u{202e}"});
        let texts: Vec<_> =
            of_own_words(&input, ["why\u{2066}"]).into_iter().map(|it| it.text).collect();
        assert_eq!(
            texts,
            [
                "The explanation has characters that cannot be seen: U+202E.",
                "The title has characters that cannot be seen: U+200F.",
                "The reason has characters that cannot be seen: U+2066.",
            ]
        );
        assert!(of_own_words(&json!({"explanation": "fixed 👩\u{200d}🚀"}), []).is_empty());
    }
}
