//! Rewrites and the changes a person would expect to take one at a time (`fixtures/rewrites/`).

use serde::Deserialize;

use super::{DiffLimits, DraftPart, HunkDraft, diff};

#[derive(Deserialize)]
struct Rewrite {
    before: String,
    after: String,
    /// For each hunk, `old → new`, with ` + ` between parts and `⏎` for a line break.
    changes: Vec<String>,
}

fn check(fixture: &str) {
    let rewrite: Rewrite = toml::from_str(fixture).unwrap();
    let part = |p: &DraftPart| format!("{} → {}", p.base, p.insert).replace('\n', "⏎");
    let hunk = |h: &HunkDraft| h.parts.iter().map(part).collect::<Vec<_>>().join(" + ");
    let hunks = diff(&rewrite.before, &rewrite.after, &DiffLimits::default());
    let found: Vec<String> = hunks.iter().map(hunk).collect();
    assert_eq!(found, rewrite.changes, "found:\n{}", found.join("\n"));
}

macro_rules! rewrites {
    ($($(#[$doc:meta])* $name:ident: $file:literal,)*) => {$(
        #[test]
        fn $name() {
            check(include_str!(concat!("../../../fixtures/rewrites/", $file)));
        }
    )*};
}

rewrites! {
    each_mistake_in_a_letter_is_a_change_of_its_own: "letter.toml",
    sentences_that_stay_are_left_alone_when_others_are_tightened: "tighten.toml",
    a_markdown_guide_changes_block_by_block: "guide.toml",
    lines_wrapped_by_hand_read_on: "wrapped.toml",
    japanese_and_chinese_change_by_characters: "tokyo.toml",
    paragraphs_are_split_removed_and_kept: "paragraphs.toml",
    a_paragraph_becomes_a_list_as_a_whole: "list.toml",
}

#[test]
fn a_letter_with_a_dozen_mistakes_gives_at_least_ten_changes() {
    let letter: Rewrite =
        toml::from_str(include_str!("../../../fixtures/rewrites/letter.toml")).unwrap();
    assert!(diff(&letter.before, &letter.after, &DiffLimits::default()).len() >= 10);
}
