//! Pending changes move alike on the server and in the editor: cases played by
//! `web/src/review/state/parity.test.ts`, replayed here. And any of the changes of a rewrite can
//! be accepted without the others.
#![expect(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

#[path = "hunks/reading.rs"]
mod reading;

use copydesk_approvals::{DraftPart, Hunk, HunkDraft, HunkKind};
use copydesk_document::diff::{DiffLimits, diff};
use copydesk_document::{ChangeLimits, ChangeSet, Text};
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

/// A text and its rewrite.
struct Rewrite {
    name: String,
    before: String,
    after: String,
}

fn rewrites() -> Vec<Rewrite> {
    let read = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/hunks/subsets");
        let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let (before, after) = text.split_once("=== after ===\n").unwrap();
        Rewrite { name: name.to_owned(), before: before.to_owned(), after: after.to_owned() }
    };
    ["brief.md", "chapter.md", "lettre.md", "minutes.md", "readme.md"].map(read).into()
}

/// Returns a text with some changes.
fn with<'h>(text: &str, hunks: impl Iterator<Item = &'h HunkDraft>) -> String {
    let mut parts: Vec<&DraftPart> = hunks.flat_map(|it| &it.parts).collect();
    // Stable: what is put in at one place is in the order of the changes.
    parts.sort_by_key(|it| (it.from, it.to));
    let before: Vec<u16> = text.encode_utf16().collect();
    let (mut after, mut at) = (Vec::new(), 0);
    for part in parts {
        after.extend_from_slice(&before[at..part.from]);
        after.extend(part.insert.encode_utf16());
        at = part.to;
    }
    after.extend_from_slice(&before[at..]);
    String::from_utf16(&after).unwrap()
}

#[test]
fn any_changes_of_a_rewrite_read_without_the_others() {
    let mut wrong = Vec::new();
    for Rewrite { name, before, after } in rewrites() {
        let hunks = diff(&before, &after, &DiffLimits::default());
        assert_eq!(with(&before, hunks.iter()), after, "{name}");
        let known: Vec<_> =
            reading::flaws(&before).into_iter().chain(reading::flaws(&after)).collect();
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let accepted: Vec<_> = hunks.iter().filter(|_| random.bool()).collect();
            let text = with(&before, accepted.iter().copied());
            let mut flaws = reading::flaws(&text);
            flaws.retain(|it| !known.contains(it));
            if !flaws.is_empty() {
                wrong.push(format!("{name}, seed {seed}: {flaws:?}\n{text}\n{accepted:#?}"));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_moved_block_is_one_change_and_a_time_another() {
    let minutes = rewrites().into_iter().find(|it| it.name == "minutes.md").unwrap();
    let hunks = diff(&minutes.before, &minutes.after, &DiffLimits::default());
    let holding = |words: &str| -> Vec<&HunkDraft> {
        let holds = |it: &&HunkDraft| {
            it.parts.iter().any(|it| it.base.contains(words) || it.insert.contains(words))
        };
        hunks.iter().filter(holds).collect()
    };
    let [spring] = holding("Spring issue")[..] else { panic!("{hunks:#?}") };
    assert_eq!(spring.kind, Some(HunkKind::Moved), "{hunks:#?}");
    assert!(spring.parts.iter().all(|it| (it.base.clone() + &it.insert).contains("Monday")));
    assert!(holding(":00").iter().all(|it| it.parts.len() == 1), "{hunks:#?}");
}
