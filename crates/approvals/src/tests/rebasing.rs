//! Rebase: people never stop typing.

use super::*;
use HunkStatus::{Conflict, Obsolete, Pending};

#[test]
fn typing_elsewhere_moves_a_hunk_with_its_words() {
    let mut fixture =
        ReviewFixture::proposing("It is teh end of it all.", "It is the end of it all.");
    fixture.types("|It is", "Oh. ");
    fixture.types("it all|", " folks");
    assert_eq!(fixture.statuses(), [Pending]);
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), "Oh. It is the end of it all folks.");
}

#[test]
fn typing_at_either_edge_stays_outside() {
    let mut fixture = ReviewFixture::proposing("see teh cat sit", "see the cat sit");
    fixture.types("|teh", "<");
    fixture.types("teh|", ">");
    assert_eq!(fixture.statuses(), [Pending]);
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), "see <the> cat sit");
}

#[test]
fn a_pure_insertion_stays_behind_what_is_typed_at_its_place() {
    let mut fixture = ReviewFixture::proposing("go to store now", "go to the store now");
    fixture.types("to |store", "my ");
    assert_eq!(fixture.statuses(), [Pending]);
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), "go to my the store now");
}

#[test]
fn a_deletion_that_overlaps_is_a_conflict() {
    let mut fixture = ReviewFixture::proposing("I like recieve most", "I like receive most");
    assert_eq!(fixture.types("recie", ""), [fixture.id(0)]);
    assert_eq!(fixture.statuses(), [Conflict]);
}

#[test]
fn an_insertion_strictly_inside_is_a_conflict() {
    let mut fixture = ReviewFixture::proposing("I like recieve most", "I like receive most");
    fixture.types("reci|eve", "x");
    assert_eq!(fixture.statuses(), [Conflict]);
}

#[test]
fn a_deletion_that_only_touches_an_edge_is_no_conflict() {
    let mut fixture =
        ReviewFixture::proposing("I like recieve most of all", "I like receive most of all");
    fixture.types("like ", "");
    fixture.types(" most", "");
    assert_eq!(fixture.statuses(), [Pending]);
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), "I receive of all");
}

#[test]
fn a_deletion_that_covers_the_place_of_an_insertion_is_a_conflict_that_does_not_clear() {
    let mut fixture = ReviewFixture::proposing("go to store now", "go to the store now");
    fixture.types("to store", "");
    assert_eq!(fixture.statuses(), [Conflict]);
    fixture.types("go |", "to store");
    assert_eq!(fixture.statuses(), [Conflict]);
}

#[test]
fn a_deletion_beside_the_place_of_an_insertion_is_no_conflict() {
    let mut fixture = ReviewFixture::proposing("go to store now", "go to the store now");
    fixture.types("to ", "");
    fixture.types("store", "");
    assert_eq!(fixture.statuses(), [Pending]);
}

#[test]
fn a_conflict_clears_when_the_words_are_back() {
    let mut fixture = ReviewFixture::proposing("I like recieve most", "I like receive most");
    for (old, new) in [("ieve", ""), ("rec|", "i"), ("|reci", "x")] {
        fixture.types(old, new);
        assert_ne!(fixture.statuses(), [Obsolete]);
    }
    assert_eq!(fixture.statuses(), [Conflict]);
    fixture.types("xreci", "reci");
    assert_eq!(fixture.types("reci|", "eve"), [fixture.id(0)]);
    assert_eq!(fixture.statuses(), [Pending]);
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), "I like receive most");
}

#[test]
fn what_is_typed_at_the_edge_of_a_conflict_belongs_to_it() {
    let mut fixture = ReviewFixture::proposing("I like recieve most", "I like receive most");
    fixture.types("ecieve", "");
    fixture.types("r|", "ead");
    assert_eq!(fixture.statuses(), [Conflict]);
    assert_eq!(fixture.stands(0), "read");
}

#[test]
fn a_hunk_whose_target_is_deleted_completely_is_obsolete_and_its_siblings_live() {
    let mut fixture =
        ReviewFixture::proposing("Teh first one. Than a second.", "The first one. Then a second.");
    let changed = fixture.types("Teh first one. ", "");
    assert_eq!(changed, [fixture.id(0)]);
    assert_eq!(fixture.statuses(), [Obsolete, Pending]);
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), "Then a second.");
    assert_eq!(fixture.request.status, RequestStatus::Partly);
}

#[test]
fn words_typed_over_are_a_conflict_that_shows_what_people_wrote() {
    let mut fixture = ReviewFixture::proposing("I like recieve most", "I like receive most");
    fixture.types("recieve", "get");
    assert_eq!(fixture.statuses(), [Conflict]);
    assert_eq!(fixture.stands(0), "get");
}

#[test]
fn one_part_in_conflict_holds_its_hunk_but_not_the_edges_of_its_other_parts() {
    let mut fixture =
        ReviewFixture::proposing("He go to store today", "He hurries to the store today");
    assert_eq!(fixture.request.hunks[0].parts.len(), 2);
    fixture.types("g|o to", "r");
    assert_eq!(fixture.statuses(), [Conflict]);
    fixture.types("to |store", "big ");
    fixture.types("gro", "go");
    assert_eq!(fixture.statuses(), [Pending]);
    fixture.decide(&approve()).unwrap();
    assert_eq!(fixture.text(), "He hurries to big the store today");
}

#[test]
fn a_hunk_with_one_part_deleted_and_another_alive_is_in_conflict() {
    let mut fixture = ReviewFixture::proposing("He go too the store", "He hurries to the store");
    assert_eq!(fixture.request.hunks.len(), 1);
    fixture.types("go", "");
    assert_eq!(fixture.statuses(), [Conflict]);
}

#[test]
fn a_request_about_deleted_text_only_is_cancelled() {
    let mut fixture =
        ReviewFixture::proposing("Keep this. Teh first one.", "Keep this. The first one.");
    fixture.types(" Teh first one.", "");
    assert_eq!(fixture.request.status, RequestStatus::Cancelled);
    assert!(fixture.request.report().is_error);
}

#[test]
fn hunks_are_mapped_over_updates_one_at_a_time_with_each_version_counted() {
    let mut fixture = ReviewFixture::proposing("see teh cat", "see the cat");
    fixture.types("|see", "a ");
    fixture.types("cat|", "s");
    assert_eq!(fixture.request.version, Version(2));
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
    request
        .judge_and_carry_out(&approve(), &ann(), &text, 1, &DecisionRequirements::default())
        .unwrap();
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
