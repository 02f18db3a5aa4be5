//! Rebase: people never stop typing.

use super::*;
use HunkStatus::{Conflict, Obsolete, Pending};

#[test]
fn typing_elsewhere_moves_a_hunk_with_its_words() {
    let mut desk = ReviewFixture::proposing("It is teh end of it all.", "It is the end of it all.");
    desk.types("|It is", "Oh. ");
    desk.types("it all|", " folks");
    assert_eq!(desk.statuses(), [Pending]);
    desk.decide(&approve()).unwrap();
    assert_eq!(desk.text(), "Oh. It is the end of it all folks.");
}

#[test]
fn typing_at_either_edge_stays_outside() {
    let mut desk = ReviewFixture::proposing("see teh cat sit", "see the cat sit");
    desk.types("|teh", "<");
    desk.types("teh|", ">");
    assert_eq!(desk.statuses(), [Pending]);
    desk.decide(&approve()).unwrap();
    assert_eq!(desk.text(), "see <the> cat sit");
}

#[test]
fn a_pure_insertion_stays_behind_what_is_typed_at_its_place() {
    let mut desk = ReviewFixture::proposing("go to store now", "go to the store now");
    desk.types("to |store", "my ");
    assert_eq!(desk.statuses(), [Pending]);
    desk.decide(&approve()).unwrap();
    assert_eq!(desk.text(), "go to my the store now");
}

#[test]
fn a_deletion_that_overlaps_is_a_conflict() {
    let mut desk = ReviewFixture::proposing("I like recieve most", "I like receive most");
    assert_eq!(desk.types("recie", ""), [desk.id(0)]);
    assert_eq!(desk.statuses(), [Conflict]);
}

#[test]
fn an_insertion_strictly_inside_is_a_conflict() {
    let mut desk = ReviewFixture::proposing("I like recieve most", "I like receive most");
    desk.types("reci|eve", "x");
    assert_eq!(desk.statuses(), [Conflict]);
}

#[test]
fn a_deletion_that_only_touches_an_edge_is_no_conflict() {
    let mut desk =
        ReviewFixture::proposing("I like recieve most of all", "I like receive most of all");
    desk.types("like ", "");
    desk.types(" most", "");
    assert_eq!(desk.statuses(), [Pending]);
    desk.decide(&approve()).unwrap();
    assert_eq!(desk.text(), "I receive of all");
}

#[test]
fn a_deletion_that_covers_the_place_of_an_insertion_is_a_conflict_that_does_not_clear() {
    let mut desk = ReviewFixture::proposing("go to store now", "go to the store now");
    desk.types("to store", "");
    assert_eq!(desk.statuses(), [Conflict]);
    desk.types("go |", "to store");
    assert_eq!(desk.statuses(), [Conflict]);
}

#[test]
fn a_deletion_beside_the_place_of_an_insertion_is_no_conflict() {
    let mut desk = ReviewFixture::proposing("go to store now", "go to the store now");
    desk.types("to ", "");
    desk.types("store", "");
    assert_eq!(desk.statuses(), [Pending]);
}

#[test]
fn a_conflict_clears_when_the_words_are_back() {
    let mut desk = ReviewFixture::proposing("I like recieve most", "I like receive most");
    for (old, new) in [("ieve", ""), ("rec|", "i"), ("|reci", "x")] {
        desk.types(old, new);
        assert_ne!(desk.statuses(), [Obsolete]);
    }
    assert_eq!(desk.statuses(), [Conflict]);
    desk.types("xreci", "reci");
    assert_eq!(desk.types("reci|", "eve"), [desk.id(0)]);
    assert_eq!(desk.statuses(), [Pending]);
    desk.decide(&approve()).unwrap();
    assert_eq!(desk.text(), "I like receive most");
}

#[test]
fn what_is_typed_at_the_edge_of_a_conflict_belongs_to_it() {
    let mut desk = ReviewFixture::proposing("I like recieve most", "I like receive most");
    desk.types("ecieve", "");
    desk.types("r|", "ead");
    assert_eq!(desk.statuses(), [Conflict]);
    assert_eq!(desk.stands(0), "read");
}

#[test]
fn a_hunk_whose_target_is_deleted_completely_is_obsolete_and_its_siblings_live() {
    let mut desk =
        ReviewFixture::proposing("Teh first one. Than a second.", "The first one. Then a second.");
    let changed = desk.types("Teh first one. ", "");
    assert_eq!(changed, [desk.id(0)]);
    assert_eq!(desk.statuses(), [Obsolete, Pending]);
    desk.decide(&approve()).unwrap();
    assert_eq!(desk.text(), "Then a second.");
    assert_eq!(desk.request.status, RequestStatus::Partly);
}

#[test]
fn words_typed_over_are_a_conflict_that_shows_what_people_wrote() {
    let mut desk = ReviewFixture::proposing("I like recieve most", "I like receive most");
    desk.types("recieve", "get");
    assert_eq!(desk.statuses(), [Conflict]);
    assert_eq!(desk.stands(0), "get");
}

#[test]
fn one_part_in_conflict_holds_its_hunk_but_not_the_edges_of_its_other_parts() {
    let mut desk = ReviewFixture::proposing("He go to store today", "He goes to the store today");
    assert_eq!(desk.request.hunks[0].parts.len(), 2);
    desk.types("g|o to", "r");
    assert_eq!(desk.statuses(), [Conflict]);
    desk.types("to |store", "big ");
    desk.types("gro", "go");
    assert_eq!(desk.statuses(), [Pending]);
    desk.decide(&approve()).unwrap();
    assert_eq!(desk.text(), "He goes to big the store today");
}

#[test]
fn a_hunk_with_one_part_deleted_and_another_alive_is_in_conflict() {
    let mut desk = ReviewFixture::proposing("He go too the store", "He goes to the store");
    assert_eq!(desk.request.hunks.len(), 1);
    desk.types("go", "");
    assert_eq!(desk.statuses(), [Conflict]);
}

#[test]
fn a_request_about_deleted_text_only_is_cancelled() {
    let mut desk =
        ReviewFixture::proposing("Keep this. Teh first one.", "Keep this. The first one.");
    desk.types(" Teh first one.", "");
    assert_eq!(desk.request.status, RequestStatus::Cancelled);
    assert!(desk.request.report().is_error);
}

#[test]
fn hunks_are_mapped_over_updates_one_at_a_time_with_each_version_counted() {
    let mut desk = ReviewFixture::proposing("see teh cat", "see the cat");
    desk.types("|see", "a ");
    desk.types("cat|", "s");
    assert_eq!(desk.request.version, Version(2));
}

#[test]
fn hunks_that_arrive_conflicted_go_back_to_the_agent_with_the_persons_text() {
    let (base, new) = ("Teh first one. Than a second.", "The first one. Then a second.");
    let mut text = Text::new(base);
    let change =
        ChangeSet::of(text.len(), &[TextEdit { from: 0, to: 3, insert: "My".into() }]).unwrap();
    change.apply(&mut text).unwrap();
    let arrival =
        ArrivedHunks::map(&"req_1".into(), drafts(base, new), &Text::new(base), [&change]).unwrap();
    assert_eq!(arrival.hunks.len(), 1);
    assert_eq!(arrival.hunks[0].range(), 14..18);
    assert!(arrival.refusal().is_none());
    let expected = ReturnedHunk { base: "Teh".into(), proposed: "The".into(), now: "My".into() };
    assert_eq!(arrival.returned, [expected]);
    let request = proposal("update_full_document", json!({}), Preview::generic());
    let mut request =
        ApprovalRequest::open(request, arrival, Version(1), RequestTimes::start(0, 0));
    request.decide(&approve(), &ann(), &text, 1, &DecisionRequirements::default()).unwrap();
    assert_eq!(
        request.report().text,
        "Partly applied: 1 accepted, 1 conflicted.\n- accepted: \"Than\" → \"Then\"\n\
         - conflicted: you read \"Teh\", proposed \"The\"; it now reads \"My\""
    );
}

#[test]
fn if_all_hunks_conflict_there_is_no_request() {
    let base = "Teh end";
    let change = ChangeSet::of(7, &[TextEdit { from: 1, to: 2, insert: String::new() }]).unwrap();
    let arrival =
        ArrivedHunks::map(&"req_1".into(), drafts(base, "The end"), &Text::new(base), [&change])
            .unwrap();
    let refusal = arrival.refusal().unwrap();
    assert!(refusal.is_error);
    assert!(refusal.text.ends_with("proposed \"The\"; it now reads \"Th\""), "{}", refusal.text);
}
