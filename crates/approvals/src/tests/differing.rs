//! A preview's diff reads line for line as Python's `difflib` writes it, which is what the tool
//! approval protocol's clients know.

use serde::Deserialize;

use crate::diff_lines;
use crate::preview::difflib::{MOST_STEPS, matching_blocks};
use copydesk_document::diff::DiffLimits;

#[derive(Deserialize)]
struct DifferingCase {
    old: String,
    new: String,
    lines: Vec<String>,
}

/// The cases are made by Python: `python3 fixtures/diffs/vectors.py >
/// fixtures/diffs/difflib.jsonl`. They have lines that are equal, every end of a line that
/// `splitlines` knows, and texts that are long enough for popular lines.
#[test]
fn diffs_are_those_of_python() {
    let cases = include_str!("../../../../fixtures/diffs/difflib.jsonl").lines();
    let cases: Vec<DifferingCase> = cases.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() > 300, "{}", cases.len());
    for DifferingCase { old, new, lines } in cases {
        assert_eq!(diff_lines("f", &old, &new, &DiffLimits::default()), lines, "{old:?}\n{new:?}");
    }
}

#[test]
fn texts_that_would_take_too_long_are_compared_otherwise() {
    // Each line is found again everywhere, in a text that is just too short for popular lines.
    let (old, new) = ("x\n".repeat(30_000), "x\n".repeat(199));
    let [ours, theirs] = [&old, &new].map(|text| text.lines().collect::<Vec<_>>());
    assert_eq!(matching_blocks(&ours, &theirs, MOST_STEPS), None);
    let shown = diff_lines("f", &old, &new, &DiffLimits::default());
    let removed = shown.iter().filter(|line| *line == "-x").count();
    assert_eq!((removed, shown.iter().any(|line| line == "+x")), (30_000 - 199, false));
}
