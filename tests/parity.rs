//! Results of the real `@codemirror/state` and `@codemirror/collab` for random changes, replayed
//! byte for byte.
//!
//! `web/vectors/generate.mjs` wrote `fixtures/changesets/` and describes each file.

#![expect(clippy::unwrap_used, reason = "a case that cannot be read is a failed test")]

use copydesk_document::{
    ChangeError, ChangeLimits, ChangeSet, Document, IncomingUpdate, InsertSide, MapOrder,
    PositionError, RebaseBudget, Text, TextEdit,
};
use copydesk_ids::{ClientId, Version};
use serde::de::DeserializeOwned;

type OfCase = (String, Vec<(usize, usize, String)>, String, String);
type PairCase = (String, String, String, String, String, String, String, String, String, String);
type PositionsCase = (usize, String, Vec<Vec<Option<usize>>>, String);
type RefusedCase = (String, String, String);
type SessionCase = (String, Vec<(u64, String, Vec<String>, Vec<String>)>, String);

#[test]
fn sets_are_made_and_applied_as_by_codemirror() {
    replay("of", 5000, |(text, edits, json, result): OfCase| {
        let mut text = Text::new(&text);
        let edits: Vec<_> =
            edits.into_iter().map(|(from, to, insert)| TextEdit { from, to, insert }).collect();
        let change = ChangeSet::of(text.len(), &edits).unwrap();
        assert_eq!(change.to_json(), json);
        assert_eq!(change, set(&json));
        let mut document = Document::new(text.clone(), Version(0));
        let typed = [IncomingUpdate { client: &ClientId::from("a"), changes: &json }];
        let committed = document
            .push(Version(0), &typed, &ChangeLimits::NONE, RebaseBudget::UNLIMITED)
            .unwrap()
            .next()
            .unwrap();
        assert_eq!(
            (&*committed.changes, document.text().to_string()),
            (json.as_str(), result.clone())
        );
        change.apply(&mut text).unwrap();
        assert_eq!(text.to_string(), result);
    });
}

#[test]
fn sets_are_combined_as_by_codemirror() {
    replay("pairs", 9000, |case: PairCase| {
        let (text, a, b, next, a_over_b, a_before_b, b_over_a, a_then_next, inverse, result) = case;
        let text = Text::new(&text);
        let [a, b, next] = [&a, &b, &next].map(|json| set(json));
        assert_eq!(a.map(&b, MapOrder::After).unwrap().to_json(), a_over_b);
        assert_eq!(a.map(&b, MapOrder::Before).unwrap().to_json(), a_before_b);
        assert_eq!(b.map(&a, MapOrder::After).unwrap().to_json(), b_over_a);
        assert_eq!(a.compose(&next).unwrap().to_json(), a_then_next);
        assert_eq!(a.invert(&text).unwrap().to_json(), inverse);
        for (first, second) in [(a, b_over_a), (b, a_before_b)] {
            let mut both = text.clone();
            first.apply(&mut both).unwrap();
            set(&second).apply(&mut both).unwrap();
            assert_eq!(both.to_string(), result);
        }
    });
}

#[test]
fn an_inverse_leads_back() {
    replay("pairs", 9000, |(text, a, .., inverse, _): PairCase| {
        let before = Text::new(&text);
        let mut after = before.clone();
        set(&a).apply(&mut after).unwrap();
        set(&inverse).apply(&mut after).unwrap();
        assert_eq!(after, before);
    });
}

#[test]
fn positions_are_mapped_as_by_codemirror() {
    // A case also has CodeMirror's other modes and what ranges a change touches.
    replay("positions", 4000, |(length, change, mapped, _): PositionsCase| {
        let change = set(&change);
        for (assoc, expected) in [InsertSide::Before, InsertSide::After].into_iter().zip(mapped) {
            let found: Vec<_> = (0..=length).map(|at| Some(change.map_pos(at, assoc))).collect();
            assert_eq!(found, expected, "{assoc:?}");
        }
    });
}

#[test]
fn changes_that_split_a_character_are_refused() {
    replay("refused", 1500, |(text, json, reason): RefusedCase| {
        let mut text = Text::new(&text);
        let before = text.clone();
        let error = match ChangeSet::parse(&json, &ChangeLimits::NONE) {
            Ok(change) => change.apply(&mut text).unwrap_err(),
            Err(error) => error,
        };
        let found = match error {
            ChangeError::InvalidString { .. } => "string",
            ChangeError::Position(PositionError::InsideCharacter { .. }) => "position",
            other => panic!("refused for another reason: {other}"),
        };
        assert_eq!(found, reason);
        assert_eq!(text, before);
    });
}

#[test]
fn sessions_of_many_editors_end_as_with_codemirror() {
    replay("sessions", 1500, |(text, pushes, result): SessionCase| {
        let mut document = Document::new(Text::new(&text), Version(0));
        for (version, client, updates, committed) in pushes {
            let client = ClientId::from(client);
            let incoming: Vec<_> =
                updates.iter().map(|changes| IncomingUpdate { client: &client, changes }).collect();
            let updates = document
                .push(Version(version), &incoming, &ChangeLimits::NONE, RebaseBudget::UNLIMITED)
                .unwrap();
            let found: Vec<_> = updates.map(|update| String::from(update.changes)).collect();
            assert_eq!(found, committed);
        }
        assert_eq!(document.text().to_string(), result);
        let mut replica = Text::new(&text);
        for update in document.since(Version(0)).unwrap() {
            update.change_set().unwrap().apply(&mut replica).unwrap();
        }
        assert_eq!(replica.to_string(), result);
    });
}

/// Runs every case of a file, of which there must be `count`; a failure names the line.
fn replay<Case: DeserializeOwned>(name: &str, count: usize, check: impl Fn(Case)) {
    let path = format!("{}/fixtures/changesets/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let lines = std::fs::read_to_string(&path).unwrap();
    assert_eq!(lines.lines().count(), count, "cases in {path}");
    for (number, line) in lines.lines().enumerate() {
        let case = serde_json::from_str(line).unwrap();
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(case)));
        assert!(checked.is_ok(), "{name}.jsonl line {}: {line}", number + 1);
    }
}

/// A set that is read, and written as it was.
fn set(json: &str) -> ChangeSet {
    let set = ChangeSet::parse(json, &ChangeLimits::NONE).unwrap();
    assert_eq!(set.to_json(), json);
    set
}
