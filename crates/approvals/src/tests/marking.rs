//! Marks of changes, the policies by them, and the rules that leave marked changes to people.

use super::*;

const OLD: &str = "Teh ship has 12 guns.\n\nIt sailed slowly on Monday.\n";
const NEW: &str = "The ship has 21 guns.\n\nIt sailed slow on Monday.\n";

fn by_marks(kinds: &[MarkKind], policy: DecisionPolicy) -> ToolPolicy {
    ToolPolicy { tool: None, over: None, marks: Some(kinds.to_vec()), policy }
}

/// A request under policies, with the number of the first marked hunk.
fn under(policies: &[ToolPolicy]) -> (ReviewFixture, usize) {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.request.set_policy(&asking(policies));
    let marked = fixture.request.hunks.iter().position(|hunk| !hunk.keeps_meaning());
    let marked = marked.expect("a change of the number is marked");
    (fixture, marked)
}

fn unmarked(fixture: &ReviewFixture) -> HunkId {
    let hunk = fixture.request.hunks.iter().find(|hunk| hunk.keeps_meaning());
    hunk.expect("a correction keeps the meaning").id.clone()
}

#[test]
fn each_change_is_marked_with_the_facts_that_it_alters() {
    let (fixture, marked) = under(&[]);
    let hunk = &fixture.request.hunks[marked];
    assert_eq!(hunk.mark_kinds(), [MarkKind::Number]);
    assert_eq!(hunk.meaning().as_deref(), Some("number 12 → 21"));
    assert_eq!(fixture.request.hunk(&unmarked(&fixture)).unwrap().meaning(), None);
    let stored = serde_json::to_string(&fixture.request).unwrap();
    let restored: ApprovalRequest = serde_json::from_str(&stored).unwrap();
    assert_eq!(restored.hunks, fixture.request.hunks);
}

#[test]
fn changes_stored_by_an_earlier_version_are_marked_when_they_are_loaded() {
    let (mut fixture, marked) = under(&[]);
    for hunk in &mut fixture.request.hunks {
        hunk.marks = None;
        assert!(!hunk.keeps_meaning(), "what was not looked at is not said to keep the meaning");
    }
    fixture.request.mark_hunks();
    assert_eq!(fixture.request.hunks[marked].mark_kinds(), [MarkKind::Number]);
}

#[test]
fn a_policy_by_marks_holds_for_marked_changes_only() {
    let policies = [by_marks(&[MarkKind::Number, MarkKind::Name], DecisionPolicy::Two)];
    let (mut fixture, marked) = under(&policies);
    assert_eq!(fixture.request.requires().need(), 1);
    assert_eq!(fixture.request.hunks[marked].own_votes(), Some(VoteCount { have: 0, need: 2 }));
    let correction = unmarked(&fixture);
    let outcome = fixture.decide_under(&policies, &ann(), &approve()).unwrap();
    assert!(outcome.decided.contains(&correction), "{outcome:?}");
    assert_eq!(outcome.voted, [fixture.id(marked)]);
    assert_eq!(fixture.request.hunks[marked].own_votes(), Some(VoteCount { have: 1, need: 2 }));
    fixture.decide_under(&policies, &ann(), &approve()).unwrap();
    assert_eq!(fixture.request.hunks[marked].status, HunkStatus::Pending, "one person, one vote");
    fixture.decide_under(&policies, &bob(), &approve()).unwrap();
    assert_eq!(fixture.request.status, RequestStatus::Approved);
    let other = [by_marks(&[MarkKind::Quote], DecisionPolicy::Two)];
    let (mut fixture, _) = under(&other);
    fixture.decide_under(&other, &ann(), &approve()).unwrap();
    assert_eq!(fixture.request.status, RequestStatus::Approved);
}

#[test]
fn a_person_whom_the_marks_exclude_can_decide_the_other_changes() {
    let policies = [by_marks(&[MarkKind::Number], DecisionPolicy::Owner)];
    let (mut fixture, marked) = under(&policies);
    let refused = fixture.decide_under(&policies, &ann(), &approve()).unwrap_err();
    let reason = NotAllowedReason::MarksNeedOwner;
    assert_eq!(refused, DecisionError::NotAllowed { reason });
    let waiting = fixture.request.waits_for(&ann());
    assert_eq!(waiting, fixture.request.hunks.len() - 1);
    let other = one(unmarked(&fixture), HunkChoice::Accept);
    fixture.decide_under(&policies, &ann(), &other).unwrap();
    // Who may not accept it may still say no.
    let reject = one(fixture.id(marked), HunkChoice::Reject);
    fixture.clone().decide_under(&policies, &ann(), &reject).unwrap();
    let owner = person("o", Role::Owner);
    let accept = one(fixture.id(marked), HunkChoice::Accept);
    fixture.decide_under(&policies, &owner, &accept).unwrap();
    let scope = UndoScope { hunks: Some(&[fixture.id(marked)]), touched: TouchedPolicy::Refuse };
    let undone = fixture.request.judge_undo(scope, &ann(), &fixture.text, &asking(&policies));
    assert_eq!(undone.err(), Some(DecisionError::NotAllowed { reason }));
    assert!(fixture.request.judge_undo(scope, &owner, &fixture.text, &asking(&policies)).is_ok());
}

#[test]
fn own_words_are_marked_anew_and_never_judged_milder() {
    let policies = [by_marks(&[MarkKind::Number], DecisionPolicy::Owner)];
    let (fixture, marked) = under(&policies);
    let decide = |id: HunkId, text: &str| {
        fixture
            .clone()
            .decide_under(&policies, &ann(), &edited(id, text))
            .map(|_| ())
            .map_err(|error| error.code())
    };
    let correction = unmarked(&fixture);
    let plain = fixture.request.hunk(&correction).unwrap().proposed();
    assert_eq!(decide(correction.clone(), &plain), Ok(()));
    assert_eq!(decide(correction, &format!("{plain} 40")), Err("not_allowed"));
    let base = fixture.request.hunks[marked].base();
    assert_eq!(decide(fixture.id(marked), &base), Err("not_allowed"), "as it was proposed");
}

#[test]
fn the_parts_of_a_marked_change_need_what_the_whole_needs() {
    let policies = [by_marks(&[MarkKind::Number], DecisionPolicy::Owner)];
    let mut fixture = ReviewFixture::proposing(
        "He go to store with 12 friends today",
        "He hurries to the store with 21 friends today",
    );
    fixture.request.set_policy(&asking(&policies));
    assert_eq!(fixture.request.hunks.len(), 1, "{:?}", fixture.request.hunks);
    let whole = fixture.id(0);
    let parts = fixture.request.split(&whole, &ann(), fixture.now_ms).unwrap();
    fixture.request.update_required(&asking(&policies));
    for id in parts {
        assert_eq!(fixture.request.hunk(&id).unwrap().mark_kinds(), [MarkKind::Number]);
        let hash = Some(fixture.request.preview_hash());
        let accept = Decision { preview_hash: hash, ..one(id, HunkChoice::Accept) };
        let refused = fixture.decide_under(&policies, &ann(), &accept).unwrap_err();
        assert_eq!(refused.code(), "not_allowed");
    }
}

#[test]
fn a_rule_for_unmarked_changes_leaves_the_marked_ones_to_people() {
    let (mut fixture, marked) = under(&[]);
    let rule = |unmarked| {
        let mut rule = document_rule(RuleEffect::Allow, "update_full_document", &bob());
        rule.remember.unmarked = unmarked;
        rule
    };
    let whole = fixture.request.approval_by(&rule(false), &bob()).unwrap();
    assert_eq!(whole.hunks, None);
    let decision = fixture.request.approval_by(&rule(true), &bob()).unwrap();
    fixture.decide_under(&[], &bob(), &decision).unwrap();
    let open: Vec<_> =
        fixture.request.hunks.iter().filter(|hunk| hunk.status.is_open()).map(|h| &h.id).collect();
    assert_eq!(open, [&fixture.id(marked)]);
    assert_eq!(fixture.request.approval_by(&rule(true), &bob()), None);
}

#[test]
fn a_milder_policy_decides_nothing_by_itself() {
    let policies = [by_marks(&[MarkKind::Number], DecisionPolicy::Two)];
    let (mut fixture, marked) = under(&policies);
    fixture.decide_under(&policies, &ann(), &approve()).unwrap();
    let before = fixture.request.clone();
    fixture.request.follow_policy(&asking(&[]));
    assert_eq!(fixture.request.hunks[marked].own_votes(), None);
    assert_eq!(fixture.request.hunks[marked].status, HunkStatus::Pending);
    assert_eq!(fixture.request.voted_otherwise(&before), [fixture.id(marked)]);
    fixture.decide_under(&[], &bob(), &approve()).unwrap();
    assert_eq!(fixture.request.status, RequestStatus::Approved);
}
