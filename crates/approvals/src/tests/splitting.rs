//! Split of a change: its parts are decided singly, but no structure is cut.

use super::*;

const OLD: &str = "It was late. The keeper of the old light wrote every night about the ships.\n";

fn split_of(new: &str) -> (ReviewFixture, Result<Vec<HunkId>, DecisionError>) {
    let mut fixture = ReviewFixture::proposing(OLD, new);
    assert_eq!(fixture.request.hunks.len(), 1, "{:#?}", fixture.request.hunks);
    let (id, now) = (fixture.id(0), fixture.now_ms);
    let split = fixture.request.split(&id, &ann(), now);
    (fixture, split)
}

/// Accepts a change of what is shown since the split.
fn accept(fixture: &mut ReviewFixture, index: usize) {
    let preview_hash = Some(fixture.request.preview_hash());
    let decision = Decision { preview_hash, ..one(fixture.id(index), HunkChoice::Accept) };
    fixture.decide(&decision).unwrap();
}

#[test]
fn a_change_of_two_marks_is_not_split() {
    for (open, close) in [("**", "**"), ("`", "`"), ("<b>", "</b>"), ("[", "](/l)"), ("(", ")")] {
        let new = OLD
            .replace("keeper of the old light", &format!("{open}keeper of the old light{close}"));
        let (fixture, split) = split_of(&new);
        let reason = InvalidDecisionReason::SplitStructure;
        assert_eq!(split.unwrap_err(), DecisionError::InvalidDecision { reason }, "{open}");
        assert_eq!(fixture.request.hunks.len(), 1);
    }
}

#[test]
fn two_marks_stay_together_when_other_parts_are_split_off() {
    let new =
        "It was late. The **keeper of the old light** wrote every night many pages on ships.\n";
    let (mut fixture, split) = split_of(new);
    let ids = split.unwrap();
    assert!(ids.len() > 1, "{ids:?}");
    assert!(fixture.request.hunks[0].parts.len() > 1, "{:#?}", fixture.request.hunks);
    accept(&mut fixture, 0);
    let bold = OLD.replace("keeper of the old light", "**keeper of the old light**");
    assert_eq!(fixture.text(), bold);
    for number in 1..ids.len() {
        accept(&mut fixture, number);
    }
    assert_eq!(fixture.text(), new);
}

#[test]
fn parts_that_were_split_around_a_structure_are_joined_again() {
    let new =
        "It was late. The **keeper of the old light** wrote every night many pages on ships.\n";
    let (mut fixture, split) = split_of(new);
    split.unwrap();
    let whole = HunkId::from(fixture.request.hunks[0].split_of.clone().unwrap().to_string());
    let now = fixture.now_ms;
    fixture.request.undo_open(Some(std::slice::from_ref(&whole)), &ann(), now).unwrap();
    let before = ReviewFixture::proposing(OLD, new);
    assert_eq!(fixture.request.hunks[0].parts, before.request.hunks[0].parts);
    assert_eq!(fixture.request.hunks[0].gaps, before.request.hunks[0].gaps);
}
