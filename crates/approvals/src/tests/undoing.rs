//! Undo at any later time, and proposing again.

use super::*;
use HunkStatus::{Accepted, Conflict, Expired, Obsolete, Pending, Rejected};

const OLD: &str = "Teh first one is here. Than a second came along. He go to store.";
const NEW: &str = "The first one is here. Then a second came along. He hurries to the store.";

#[test]
fn undo_takes_everything_back_in_one_change_even_after_later_typing() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.decide(&approve()).unwrap();
    fixture.types("|The", "Well. ");
    fixture.types("came| along", " slowly");
    let outcome = fixture.undo(None, TouchedPolicy::Refuse).unwrap();
    assert_eq!(fixture.text(), format!("Well. {}", OLD.replace("came", "came slowly")));
    assert_eq!(outcome.put.len(), 3);
    assert_eq!(fixture.request.status, RequestStatus::Pending);
    assert_eq!(fixture.statuses(), [Pending; 3]);
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), format!("Well. {}", NEW.replace("came", "came slowly")));
}

#[test]
fn only_the_undone_hunks_are_pending_again() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.accept(0).unwrap();
    fixture.accept(1).unwrap();
    fixture.reject(2).unwrap();
    fixture.undo(Some(&[fixture.id(1)]), TouchedPolicy::Refuse).unwrap();
    assert_eq!(fixture.statuses(), [Accepted, Pending, Rejected]);
    assert_eq!(fixture.text(), OLD.replace("Teh", "The"));
}

#[test]
fn undo_of_touched_words_is_refused_unless_forced() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.accept(0).unwrap();
    fixture.types("Th|e", "xx");
    let refused = fixture.undo(None, TouchedPolicy::Refuse).unwrap_err();
    let DecisionError::Touched { hunks } = refused else { panic!("{refused:?}") };
    let (stands, restores) = ("Thxxe".to_owned(), "Teh".to_owned());
    assert_eq!(hunks, [TouchedSince { id: fixture.id(0), stands, restores }]);
    fixture.undo(None, TouchedPolicy::Overwrite).unwrap();
    assert_eq!(fixture.text(), OLD);
}

#[test]
fn a_forced_undo_overwrites_only_what_the_person_has_seen() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.accept(0).unwrap();
    fixture.types("Th|e", "xx");
    let seen = |fixture: &ReviewFixture, words: &str| {
        std::collections::BTreeMap::from([(fixture.id(0), words.to_owned())])
    };
    let looked = seen(&fixture, "Thxxe");
    fixture.types("Th|xxe", "yy");
    let refused = fixture.undo(None, TouchedPolicy::OverwriteSeen(&looked)).unwrap_err();
    let DecisionError::Touched { hunks } = refused else { panic!("{refused:?}") };
    assert_eq!(hunks[0].stands, "Thyyxxe", "with the words as they are now");
    let other = std::collections::BTreeMap::from([(fixture.id(1), "Thyyxxe".to_owned())]);
    assert!(fixture.undo(None, TouchedPolicy::OverwriteSeen(&other)).is_err());
    let again = seen(&fixture, "Thyyxxe");
    fixture.undo(None, TouchedPolicy::OverwriteSeen(&again)).unwrap();
    assert_eq!(fixture.text(), OLD);
}

#[test]
fn an_undo_over_a_sentence_that_was_pasted_says_which() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.accept(0).unwrap();
    fixture.types("The", "My own sentence. It");
    let refused = fixture.undo(None, TouchedPolicy::Refuse).unwrap_err();
    let DecisionError::Touched { hunks } = refused else { panic!("{refused:?}") };
    assert_eq!(hunks[0].stands, "My own sentence. It");
    assert_eq!(hunks[0].restores, "Teh");
}

#[test]
fn undo_of_an_edited_hunk_brings_its_parts_back() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.decide(&edited(fixture.id(2), "walked to a ")).unwrap();
    assert!(fixture.text().ends_with("He walked to a store."));
    fixture.types("|Teh", "Well. ");
    fixture.undo(None, TouchedPolicy::Refuse).unwrap();
    assert_eq!(fixture.text(), format!("Well. {OLD}"));
    assert_eq!(fixture.statuses(), [Pending; 3]);
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), format!("Well. {NEW}"));
}

#[test]
fn undo_of_a_forced_hunk_restores_the_persons_words_and_is_in_conflict_again() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.types("Teh", "Our");
    fixture.decide(&forced(fixture.id(0), "Our")).unwrap();
    fixture.undo(None, TouchedPolicy::Refuse).unwrap();
    assert_eq!(fixture.text(), OLD.replace("Teh", "Our"));
    assert_eq!(fixture.statuses()[0], Conflict);
}

#[test]
fn undo_of_deletions_puts_the_words_back_in_order_whichever_comes_first() {
    for first in [0, 1] {
        let mut fixture =
            ReviewFixture::proposing("A here. B here. C here. D here.", "A here. D here.");
        assert_eq!(fixture.request.hunks.len(), 2);
        fixture.decide(&approve()).unwrap();
        assert_eq!(fixture.text(), "A here. D here.");
        fixture.undo(Some(&[fixture.id(first)]), TouchedPolicy::Refuse).unwrap();
        fixture.undo(Some(&[fixture.id(1 - first)]), TouchedPolicy::Refuse).unwrap();
        assert_eq!(fixture.text(), "A here. B here. C here. D here.");
    }
}

#[test]
fn what_was_not_accepted_cannot_be_undone() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    assert_eq!(fixture.undo(None, TouchedPolicy::Refuse).unwrap_err().code(), "invalid_decision");
    fixture.accept(0).unwrap();
    let wrong = [fixture.id(1)];
    assert_eq!(
        fixture.undo(Some(&wrong), TouchedPolicy::Refuse).unwrap_err().code(),
        "invalid_decision"
    );
    let viewer = person("eve", Role::Viewer);
    let scope = UndoScope { hunks: None, touched: TouchedPolicy::Refuse };
    let refused = fixture.request.undo(
        scope,
        &viewer,
        &fixture.text,
        fixture.now_ms,
        &DecisionRequirements::default(),
    );
    let refused = refused.unwrap_err();
    assert_eq!(refused.code(), "not_allowed");
}

#[test]
fn who_may_not_decide_is_refused_before_it_is_said_what_can_be_undone() {
    let fixture = ReviewFixture::proposing(OLD, NEW).with_policy(DecisionPolicy::Two);
    let refused = |hunk: HunkId, name: &str, role| {
        let (only, who, mut request) = ([hunk], person(name, role), fixture.request.clone());
        let scope = UndoScope { hunks: Some(&only), touched: TouchedPolicy::Refuse };
        let nothing = DecisionRequirements::default();
        let undone = request.judge_undo(scope, &who, &fixture.text, &nothing);
        let withdrawn = request.withdraw_own_votes(Some(&only), &who, fixture.now_ms);
        let again = request.reopen(Some(&only), &who, &fixture.text);
        let codes = [undone.map(drop), withdrawn.map(drop), again.map(drop)];
        codes.map(|refused| refused.unwrap_err().code())
    };
    assert_eq!(refused("hnk_none".into(), "vic", Role::Viewer), ["not_found"; 3]);
    assert_eq!(refused(fixture.id(0), "vic", Role::Viewer), ["not_allowed"; 3]);
    assert_eq!(refused(fixture.id(0), "ann", Role::Editor), ["invalid_decision"; 3]);
}

#[test]
fn rejected_and_expired_requests_can_be_proposed_again_on_todays_text() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.reject(0).unwrap();
    fixture.request.expire(START_MS + 300_000).unwrap();
    fixture.types("|Teh", "Well. ");
    fixture.types("go", "went");
    assert_eq!(fixture.request.reopen(None, &ann(), &fixture.text).unwrap().len(), 3);
    assert_eq!(fixture.statuses(), [Pending, Pending, Conflict]);
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), format!("Well. {}", NEW.replace("hurries to the", "went to")));
}

#[test]
fn words_that_were_deleted_and_are_back_can_be_proposed_for_again() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.types(OLD, "");
    assert_eq!(fixture.statuses(), [Obsolete; 3]);
    fixture.types("|", &format!("Yes. {OLD}"));
    assert_eq!(fixture.request.reopen(None, &ann(), &fixture.text).unwrap().len(), 3);
    assert_eq!(fixture.statuses(), [Pending; 3]);
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), format!("Yes. {NEW}"));
}

#[test]
fn words_that_stand_in_several_places_alike_are_left_where_they_are() {
    let mut fixture = ReviewFixture::proposing("He go home.", "He goes home.");
    fixture.types("He go home.", "");
    fixture.types("|", "He go home. He go home.");
    let refused = fixture.request.reopen(None, &ann(), &fixture.text).unwrap_err();
    assert_eq!(refused.code(), "invalid_decision");
    assert_eq!(fixture.statuses(), [Obsolete]);
}

#[test]
fn a_common_word_is_found_again_by_what_stood_around_it() {
    let mut fixture = ReviewFixture::proposing(
        "The cat and teh dog met teh bird.",
        "The cat and teh dog met the bird.",
    );
    fixture.types("The cat and teh dog met teh bird.", "");
    fixture.types("|", "The cat and teh dog met teh bird.");
    fixture.request.reopen(None, &ann(), &fixture.text).unwrap();
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), "The cat and teh dog met the bird.");
}

#[test]
fn one_change_can_be_proposed_again_and_the_others_stay_as_they_are() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.accept(0).unwrap();
    fixture.reject(1).unwrap();
    fixture.request.expire(START_MS + 300_000).unwrap();
    let before = fixture.request.clone();
    assert_eq!(fixture.reopens(&[1]).unwrap(), [fixture.id(1)]);
    assert_eq!(fixture.statuses(), [Accepted, Pending, Expired]);
    let untouched = [0, 2].map(|index| fixture.request.hunks[index] == before.hunks[index]);
    assert_eq!(untouched, [true, true]);
    assert_eq!(fixture.request.unplaced(Some(&[fixture.id(1)])), []);
    assert_eq!(fixture.request.status, RequestStatus::Pending);
    fixture.accept(1).unwrap();
    assert_eq!(fixture.request.status, RequestStatus::Partly, "the third is still expired");
    fixture.reopens(&[2]).unwrap();
    fixture.decide(&approve()).unwrap();
    assert_eq!((fixture.request.status, fixture.text()), (RequestStatus::Approved, NEW.to_owned()));
}

#[test]
fn one_change_is_proposed_again_while_others_still_wait() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.reject(1).unwrap();
    let clock = fixture.request.clock;
    fixture.types("|Teh", "Well. ");
    fixture.reopens(&[1]).unwrap();
    assert_eq!(fixture.statuses(), [Pending; 3]);
    assert_eq!(fixture.request.clock, clock, "somebody still waits for the answer");
    assert_eq!(fixture.request.hunks[1].decided, None);
}

#[test]
fn what_is_open_or_accepted_or_of_another_request_cannot_be_proposed_again_by_name() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.accept(0).unwrap();
    fixture.reject(1).unwrap();
    let before = fixture.request.clone();
    for wrong in [vec![0], vec![2], vec![1, 0], vec![1, 2], vec![]] {
        assert_eq!(fixture.reopens(&wrong).unwrap_err().code(), "invalid_decision", "{wrong:?}");
    }
    let unknown = [fixture.id(1), HunkId::from("req_2.1".to_owned())];
    let refused = fixture.request.reopen(Some(&unknown), &ann(), &fixture.text).unwrap_err();
    assert_eq!(refused, DecisionError::NotFound { hunk: unknown[1].clone() });
    let viewer = person("eve", Role::Viewer);
    let refused = fixture.request.reopen(Some(&unknown[..1]), &viewer, &fixture.text).unwrap_err();
    assert_eq!(refused.code(), "not_allowed");
    assert_eq!(fixture.request, before);
}

#[test]
fn a_named_change_whose_words_are_gone_is_said_to_have_no_place() {
    let mut fixture = ReviewFixture::proposing(OLD, NEW);
    fixture.types("Teh first one is here. ", "");
    fixture.reject(1).unwrap();
    assert_eq!(fixture.statuses(), [Obsolete, Rejected, Pending]);
    let refused = fixture.reopens(&[0]).unwrap_err();
    assert_eq!(refused.code(), "invalid_decision");
    assert_eq!(fixture.reopens(&[0, 1]).unwrap(), [fixture.id(1)]);
    assert_eq!(fixture.request.unplaced(Some(&[fixture.id(0), fixture.id(1)])), [fixture.id(0)]);
    assert_eq!(fixture.request.unplaced(Some(&[fixture.id(1)])), []);
}
