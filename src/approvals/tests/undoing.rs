//! Undo at any later time, and proposing again.

use super::*;
use HunkStatus::{Accepted, Conflict, Expired, Obsolete, Pending, Rejected};

const OLD: &str = "Teh first one is here. Than a second came along. He go to store.";
const NEW: &str = "The first one is here. Then a second came along. He goes to the store.";

#[test]
fn undo_takes_everything_back_in_one_change_even_after_later_typing() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    desk.decide(&approve()).unwrap();
    desk.types("|The", "Well. ");
    desk.types("came| along", " slowly");
    let outcome = desk.undo(None, TouchedPolicy::Refuse).unwrap();
    assert_eq!(desk.text(), format!("Well. {}", OLD.replace("came", "came slowly")));
    assert_eq!(outcome.put.len(), 3);
    assert_eq!(desk.request.status, RequestStatus::Pending);
    assert_eq!(desk.statuses(), [Pending; 3]);
    desk.decide(&approve()).unwrap();
    assert_eq!(desk.text(), format!("Well. {}", NEW.replace("came", "came slowly")));
}

#[test]
fn only_the_undone_hunks_are_pending_again() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    desk.accept(0).unwrap();
    desk.accept(1).unwrap();
    desk.reject(2).unwrap();
    desk.undo(Some(&[desk.id(1)]), TouchedPolicy::Refuse).unwrap();
    assert_eq!(desk.statuses(), [Accepted, Pending, Rejected]);
    assert_eq!(desk.text(), OLD.replace("Teh", "The"));
}

#[test]
fn undo_of_touched_words_is_refused_unless_forced() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    desk.accept(0).unwrap();
    desk.types("Th|e", "xx");
    let refused = desk.undo(None, TouchedPolicy::Refuse).unwrap_err();
    let DecisionError::Touched { hunks } = refused else { panic!("{refused:?}") };
    let (stands, restores) = ("Thxxe".to_owned(), "Teh".to_owned());
    assert_eq!(hunks, [TouchedSince { id: desk.id(0), stands, restores }]);
    desk.undo(None, TouchedPolicy::Overwrite).unwrap();
    assert_eq!(desk.text(), OLD);
}

#[test]
fn a_forced_undo_overwrites_only_what_the_person_has_seen() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    desk.accept(0).unwrap();
    desk.types("Th|e", "xx");
    let seen = |desk: &ReviewFixture, words: &str| {
        std::collections::BTreeMap::from([(desk.id(0), words.to_owned())])
    };
    let looked = seen(&desk, "Thxxe");
    desk.types("Th|xxe", "yy");
    let refused = desk.undo(None, TouchedPolicy::OverwriteSeen(&looked)).unwrap_err();
    let DecisionError::Touched { hunks } = refused else { panic!("{refused:?}") };
    assert_eq!(hunks[0].stands, "Thyyxxe", "with the words as they are now");
    let other = std::collections::BTreeMap::from([(desk.id(1), "Thyyxxe".to_owned())]);
    assert!(desk.undo(None, TouchedPolicy::OverwriteSeen(&other)).is_err());
    let again = seen(&desk, "Thyyxxe");
    desk.undo(None, TouchedPolicy::OverwriteSeen(&again)).unwrap();
    assert_eq!(desk.text(), OLD);
}

#[test]
fn an_undo_over_a_sentence_that_was_pasted_says_which() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    desk.accept(0).unwrap();
    desk.types("The", "My own sentence. It");
    let refused = desk.undo(None, TouchedPolicy::Refuse).unwrap_err();
    let DecisionError::Touched { hunks } = refused else { panic!("{refused:?}") };
    assert_eq!(hunks[0].stands, "My own sentence. It");
    assert_eq!(hunks[0].restores, "Teh");
}

#[test]
fn undo_of_an_edited_hunk_brings_its_parts_back() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    desk.decide(&edited(desk.id(2), "walked to a ")).unwrap();
    assert!(desk.text().ends_with("He walked to a store."));
    desk.types("|Teh", "Well. ");
    desk.undo(None, TouchedPolicy::Refuse).unwrap();
    assert_eq!(desk.text(), format!("Well. {OLD}"));
    assert_eq!(desk.statuses(), [Pending; 3]);
    desk.decide(&approve()).unwrap();
    assert_eq!(desk.text(), format!("Well. {NEW}"));
}

#[test]
fn undo_of_a_forced_hunk_restores_the_persons_words_and_is_in_conflict_again() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    desk.types("Teh", "Our");
    desk.decide(&forced(desk.id(0), "Our")).unwrap();
    desk.undo(None, TouchedPolicy::Refuse).unwrap();
    assert_eq!(desk.text(), OLD.replace("Teh", "Our"));
    assert_eq!(desk.statuses()[0], Conflict);
}

#[test]
fn undo_of_deletions_puts_the_words_back_in_order_whichever_comes_first() {
    for first in [0, 1] {
        let mut desk =
            ReviewFixture::proposing("A here. B here. C here. D here.", "A here. D here.");
        assert_eq!(desk.request.hunks.len(), 2);
        desk.decide(&approve()).unwrap();
        assert_eq!(desk.text(), "A here. D here.");
        desk.undo(Some(&[desk.id(first)]), TouchedPolicy::Refuse).unwrap();
        desk.undo(Some(&[desk.id(1 - first)]), TouchedPolicy::Refuse).unwrap();
        assert_eq!(desk.text(), "A here. B here. C here. D here.");
    }
}

#[test]
fn what_was_not_accepted_cannot_be_undone() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    assert_eq!(desk.undo(None, TouchedPolicy::Refuse).unwrap_err().code(), "invalid_decision");
    desk.accept(0).unwrap();
    let wrong = [desk.id(1)];
    assert_eq!(
        desk.undo(Some(&wrong), TouchedPolicy::Refuse).unwrap_err().code(),
        "invalid_decision"
    );
    let viewer = person("eve", Role::Viewer);
    let scope = UndoScope { hunks: None, touched: TouchedPolicy::Refuse };
    let refused = desk.request.undo(
        scope,
        &viewer,
        &desk.text,
        desk.now_ms,
        &DecisionRequirements::default(),
    );
    let refused = refused.unwrap_err();
    assert_eq!(refused.code(), "not_allowed");
}

#[test]
fn rejected_and_expired_requests_can_be_proposed_again_on_todays_text() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    desk.reject(0).unwrap();
    desk.request.expire(START_MS + 300_000).unwrap();
    desk.types("|Teh", "Well. ");
    desk.types("go", "went");
    assert_eq!(desk.request.reopen(None, &ann(), &desk.text).unwrap().len(), 3);
    assert_eq!(desk.statuses(), [Pending, Pending, Conflict]);
    desk.decide(&approve()).unwrap();
    assert_eq!(desk.text(), format!("Well. {}", NEW.replace("goes to the", "went to")));
}

#[test]
fn words_that_were_deleted_and_are_back_can_be_proposed_for_again() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    desk.types(OLD, "");
    assert_eq!(desk.statuses(), [Obsolete; 3]);
    desk.types("|", &format!("Yes. {OLD}"));
    assert_eq!(desk.request.reopen(None, &ann(), &desk.text).unwrap().len(), 3);
    assert_eq!(desk.statuses(), [Pending; 3]);
    desk.decide(&approve()).unwrap();
    assert_eq!(desk.text(), format!("Yes. {NEW}"));
}

#[test]
fn words_that_stand_in_several_places_alike_are_left_where_they_are() {
    let mut desk = ReviewFixture::proposing("He go home.", "He goes home.");
    desk.types("He go home.", "");
    desk.types("|", "He go home. He go home.");
    let refused = desk.request.reopen(None, &ann(), &desk.text).unwrap_err();
    assert_eq!(refused.code(), "invalid_decision");
    assert_eq!(desk.statuses(), [Obsolete]);
}

#[test]
fn a_common_word_is_found_again_by_what_stood_around_it() {
    let mut desk = ReviewFixture::proposing(
        "The cat and teh dog met teh bird.",
        "The cat and teh dog met the bird.",
    );
    desk.types("The cat and teh dog met teh bird.", "");
    desk.types("|", "The cat and teh dog met teh bird.");
    desk.request.reopen(None, &ann(), &desk.text).unwrap();
    desk.decide(&approve()).unwrap();
    assert_eq!(desk.text(), "The cat and teh dog met the bird.");
}

#[test]
fn one_change_can_be_proposed_again_and_the_others_stay_as_they_are() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    desk.accept(0).unwrap();
    desk.reject(1).unwrap();
    desk.request.expire(START_MS + 300_000).unwrap();
    let before = desk.request.clone();
    assert_eq!(desk.reopens(&[1]).unwrap(), [desk.id(1)]);
    assert_eq!(desk.statuses(), [Accepted, Pending, Expired]);
    let untouched = [0, 2].map(|index| desk.request.hunks[index] == before.hunks[index]);
    assert_eq!(untouched, [true, true]);
    assert_eq!(desk.request.unplaced(Some(&[desk.id(1)])), []);
    assert_eq!(desk.request.status, RequestStatus::Pending);
    desk.accept(1).unwrap();
    assert_eq!(desk.request.status, RequestStatus::Partly, "the third is still expired");
    desk.reopens(&[2]).unwrap();
    desk.decide(&approve()).unwrap();
    assert_eq!((desk.request.status, desk.text()), (RequestStatus::Approved, NEW.to_owned()));
}

#[test]
fn one_change_is_proposed_again_while_others_still_wait() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    desk.reject(1).unwrap();
    let clock = desk.request.clock;
    desk.types("|Teh", "Well. ");
    desk.reopens(&[1]).unwrap();
    assert_eq!(desk.statuses(), [Pending; 3]);
    assert_eq!(desk.request.clock, clock, "somebody still waits for the answer");
    assert_eq!(desk.request.hunks[1].decided, None);
}

#[test]
fn what_is_open_or_accepted_or_of_another_request_cannot_be_proposed_again_by_name() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    desk.accept(0).unwrap();
    desk.reject(1).unwrap();
    let before = desk.request.clone();
    for wrong in [vec![0], vec![2], vec![1, 0], vec![1, 2], vec![]] {
        assert_eq!(desk.reopens(&wrong).unwrap_err().code(), "invalid_decision", "{wrong:?}");
    }
    let unknown = [desk.id(1), HunkId::from("req_2.1".to_owned())];
    let refused = desk.request.reopen(Some(&unknown), &ann(), &desk.text).unwrap_err();
    assert_eq!(refused, DecisionError::NotFound { hunk: unknown[1].clone() });
    let viewer = person("eve", Role::Viewer);
    let refused = desk.request.reopen(Some(&unknown[..1]), &viewer, &desk.text).unwrap_err();
    assert_eq!(refused.code(), "not_allowed");
    assert_eq!(desk.request, before);
}

#[test]
fn a_named_change_whose_words_are_gone_is_said_to_have_no_place() {
    let mut desk = ReviewFixture::proposing(OLD, NEW);
    desk.types("Teh first one is here. ", "");
    desk.reject(1).unwrap();
    assert_eq!(desk.statuses(), [Obsolete, Rejected, Pending]);
    let refused = desk.reopens(&[0]).unwrap_err();
    assert_eq!(refused.code(), "invalid_decision");
    assert_eq!(desk.reopens(&[0, 1]).unwrap(), [desk.id(1)]);
    assert_eq!(desk.request.unplaced(Some(&[desk.id(0), desk.id(1)])), [desk.id(0)]);
    assert_eq!(desk.request.unplaced(Some(&[desk.id(1)])), []);
}
