//! Pending changes move alike on the server and in the editor: cases played by
//! `web/src/review/changes/parity.test.ts`, replayed here.
#![expect(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

use copydesk::approvals::{DraftPart, Hunk, HunkDraft};
use copydesk::document::{ChangeLimits, ChangeSet, Text};
use serde_json::Value;

const CASES: &str = include_str!("../fixtures/hunks/rebase.jsonl");

#[test]
fn every_case_moves_as_the_editor_moved_it() {
    let mut steps = 0;
    for line in CASES.lines() {
        steps += replay(&serde_json::from_str(line).unwrap());
    }
    assert!(steps > 1_000, "only {steps} steps were replayed");
}

fn replay(case: &Value) -> usize {
    let seed = &case["seed"];
    let mut text = Text::new(case["text"].as_str().unwrap());
    let parts: Vec<_> = case["parts"].as_array().unwrap().iter().map(part).collect();
    let mut hunk = Hunk::new(&"req".into(), 1, HunkDraft::from(parts), &text).unwrap();
    let steps = case["steps"].as_array().unwrap();
    for (number, step) in steps.iter().enumerate() {
        let change = ChangeSet::parse(&step["changes"].to_string(), &ChangeLimits::NONE).unwrap();
        change.apply(&mut text).unwrap();
        hunk.rebase(&change, &text);
        let places: Vec<[usize; 3]> =
            hunk.parts.iter().map(|p| [p.from, p.to, usize::from(p.conflict)]).collect();
        let expected: Vec<[usize; 3]> = serde_json::from_value(step["places"].clone()).unwrap();
        assert_eq!(places, expected, "places in case {seed}, step {number}");
        assert_eq!(hunk.status.as_str(), step["status"], "status in case {seed}, step {number}");
    }
    steps.len()
}

fn part(part: &Value) -> DraftPart {
    let at = |name: &str| usize::try_from(part[name].as_u64().unwrap()).unwrap();
    let words = |name: &str| part[name].as_str().unwrap().to_owned();
    DraftPart { from: at("from"), to: at("to"), base: words("base"), insert: words("insert") }
}
