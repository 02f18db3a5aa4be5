//! Decisions of people: once, by hunk, in one message with the words.

use super::fixture::{RoomFixture, code, hunk, only, only_these};
use super::who;
use crate::RoomError;
use crate::event::RoomEvent;
use copydesk_approvals::{
    Decision, HunkChoice, HunkReason, HunkStatus, HunkVerdict, RequestStatus, RequestVerdict,
};
use copydesk_ids::Version;

const OLD: &str = "It was cold. It was late. It was dark.";
const NEW: &str = "It was warm. It was early. It was light.";

#[tokio::test]
async fn accepted_words_and_the_change_they_settle_come_in_one_message() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.forget();
    fixture.takes("ana", &request, 2).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["updates 0..1 -2", "changed accepted"]);
    assert_eq!(fixture.text().await, "It was cold. It was early. It was dark.");
}

#[tokio::test]
async fn what_was_accepted_is_an_update_of_who_accepted_it_that_names_the_request() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.accepts("ana", &request).await;
    let history = fixture.store.history(fixture.room.document(), None, 10).await.unwrap();
    assert_eq!(history[0].author, who("ana").user);
    assert_eq!(history[0].origin.as_deref(), Some(request.id().as_str()));
}

#[tokio::test]
async fn the_other_changes_of_a_request_and_of_other_requests_stay_on_their_words() {
    let fixture = RoomFixture::with(OLD).await;
    let one = fixture.proposes("It was unbelievably cold. It was late. It was dark.").await;
    let two = fixture.proposes(NEW).await;
    fixture.takes("ana", &one, 1).await.unwrap();
    let open = fixture.room.requests().await.unwrap();
    assert_eq!(open.len(), 1);
    let text = fixture.now().await.text;
    for part in open[0].hunks.iter().flat_map(|hunk| &hunk.parts) {
        assert_eq!(text.slice(part.from..part.to).unwrap(), part.base);
    }
    assert_eq!(fixture.accepts("ana", &two).await, RequestStatus::Approved);
    assert_eq!(fixture.text().await, "It was unbelievably warm. It was early. It was light.");
}

/// Text of so many paragraphs, each of which says this.
fn paragraphs(word: &str) -> String {
    let paragraphs: Vec<_> =
        (0..60).map(|number| format!("Paragraph {number} is {word}.\n\n")).collect();
    paragraphs.concat()
}

#[tokio::test]
async fn a_decision_on_one_of_many_changes_stores_that_change_alone() {
    let mut fixture = RoomFixture::with(&paragraphs("dark")).await;
    let request = fixture.proposes(&paragraphs("bright")).await;
    assert_eq!(request.hunks.len(), 60);
    let whole = fixture.store.request(request.id()).await.unwrap().unwrap();
    fixture.takes("ana", &request, 30).await.unwrap();
    fixture.writes("bo", 0, 0, "Yes! ").await;
    fixture.takes("ana", &request, 10).await.unwrap();
    let stored = fixture.store.request(request.id()).await.unwrap().unwrap();
    assert_eq!(stored.body, whole.body, "the other changes are not written again");
    let mut parts: Vec<_> = stored.changed.iter().map(|part| part.hunk.clone()).collect();
    parts.sort();
    let decided = [10, 30].map(|number| hunk(&request, number).to_string());
    assert_eq!(parts[0], "");
    assert_eq!(parts[1..], decided);
    let bytes: usize = stored.changed.iter().map(|part| part.body.len()).sum();
    assert!(bytes * 4 < stored.body.len(), "{bytes} of {}", stored.body.len());

    // After a crash everything is where it was.
    let before = fixture.room.requests().await.unwrap();
    fixture.starts().await;
    assert_eq!(fixture.room.requests().await.unwrap(), before);
    assert_eq!(before[0].hunks[29].status, HunkStatus::Accepted);
    fixture.takes("ana", &request, 60).await.unwrap();
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Approved);
    assert_eq!(fixture.text().await, format!("Yes! {}", paragraphs("bright")));
    let stored = fixture.store.request(request.id()).await.unwrap().unwrap();
    assert_eq!(stored.changed, [], "what has ended is stored as a whole");
}

#[tokio::test]
async fn a_refused_decision_leaves_the_request_where_it_was() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    let before = fixture.room.requests().await.unwrap();
    let stale = Decision { preview_hash: Some("sha256:0".into()), ..only(Vec::new()) };
    let accept = HunkVerdict::plain(hunk(&request, 1), HunkChoice::Accept);
    let stale = Decision { hunks: Some(vec![accept]), ..stale };
    assert_eq!(code(fixture.decides("ana", &request, stale).await), "stale_preview");
    assert_eq!(code(fixture.undoes("ana", &request).await), "invalid_decision");
    assert_eq!(fixture.room.requests().await.unwrap(), before);
}

#[tokio::test]
async fn the_first_decision_on_a_change_wins() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.takes("ana", &request, 1).await.unwrap();
    let no = HunkVerdict::plain(hunk(&request, 1), HunkChoice::Reject);
    assert_eq!(code(fixture.decides("bo", &request, only(vec![no])).await), "already_resolved");
    fixture.takes("bo", &request, 2).await.unwrap();
    fixture.takes("cy", &request, 3).await.unwrap();
    assert_eq!(code(fixture.takes("dee", &request, 3).await), "already_resolved");
    assert_eq!(fixture.text().await, NEW);
}

#[tokio::test]
async fn decisions_at_the_same_moment_are_taken_one_after_the_other() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    let yes = fixture.decides("ana", &request, Decision::plain(RequestVerdict::Approve));
    let no = fixture.decides("bo", &request, Decision::plain(RequestVerdict::Reject));
    let (yes, no) = tokio::join!(yes, no);
    assert_eq!(yes.unwrap().status, RequestStatus::Approved);
    assert_eq!(code(no), "already_resolved");
}

#[tokio::test]
async fn a_decision_on_a_request_that_ended_before_a_restart_says_who_was_first() {
    let mut fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.rejects("ana", &request).await;
    fixture.restarts().await;
    let refused = fixture.decides("bo", &request, Decision::plain(RequestVerdict::Approve)).await;
    let Err(RoomError::Decision(error)) = refused else { panic!("{refused:?}") };
    assert!(error.to_string().contains("ANA"), "{error}");
}

#[tokio::test]
async fn typing_beside_a_change_moves_it_and_typing_in_it_makes_a_conflict() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes("It was warm. It was late. It was dark.").await;
    fixture.writes("bo", 0, 0, "Yes! ").await;
    fixture.forget();
    fixture.writes("bo", 13, 14, "").await;
    assert_eq!(fixture.heard("ana"), ["updates 1..2", "changed conflict"]);
    let refused = fixture.decides("ana", &request, Decision::plain(RequestVerdict::Approve)).await;
    assert_eq!(code(refused), "conflicted");
    fixture.writes("bo", 13, 13, "o").await;
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Approved);
    assert_eq!(fixture.text().await, "Yes! It was warm. It was late. It was dark.");
}

#[tokio::test]
async fn a_conflict_that_comes_and_goes_in_one_push_is_no_news() {
    let fixture = RoomFixture::with("cold").await;
    fixture.writes("bo", 4, 4, "!").await;
    fixture.proposes("warm!").await;
    fixture.forget();
    let away = super::fixture::edit(&fixture.now().await.text, 1, 2, "");
    let back = super::fixture::edit(&copydesk_document::Text::new("cld!"), 1, 1, "o");
    fixture.pushes("bo", Version(1), &[away, back]).await.unwrap();
    let events = fixture.events("ana");
    let RoomEvent::RequestUpdated(update) = &events[1] else { panic!("{events:?}") };
    assert_eq!(update.changed[0].1, HunkStatus::Pending);
    assert_eq!(update.request.version, Version(3), "it is announced as of the newest version");
}

#[tokio::test]
async fn a_request_ends_when_people_delete_all_it_was_about() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes("It was warm. It was late. It was dark.").await;
    let waiting = fixture.waits(&request);
    fixture.forget();
    fixture.writes("bo", 0, 13, "").await;
    assert_eq!(fixture.heard("ana"), ["updates 0..1", "resolved cancelled"]);
    let settled = waiting.await.unwrap().unwrap();
    assert!(settled.resolution.report.is_error);
    assert_eq!(fixture.kept(&request).await.status, RequestStatus::Cancelled);
}

#[tokio::test]
async fn a_person_who_waits_is_told_how_it_ended_and_what_the_text_is_then() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    let waiting = fixture.waits(&request);
    let yes = HunkVerdict::plain(hunk(&request, 1), HunkChoice::Accept);
    fixture.decides("ana", &request, only_these(vec![yes])).await.unwrap();
    let settled = waiting.await.unwrap().unwrap();
    assert_eq!(settled.resolution.status, RequestStatus::Partly);
    assert_eq!(settled.reading.text.to_string(), "It was warm. It was late. It was dark.");
    assert_eq!(settled.resolution.version, settled.reading.version);
}

#[tokio::test]
async fn only_the_requester_or_an_owner_takes_a_request_back() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    let withdraw = |name| fixture.room.withdraw(request.id().clone(), Some(who(name)));
    assert!(matches!(withdraw("cy").await, Err(RoomError::NotAllowed)));
    fixture.forget();
    assert_eq!(withdraw("bo").await.unwrap().status, RequestStatus::Cancelled);
    assert_eq!(fixture.heard("ana"), ["updates 0..0 -1 -2 -3", "resolved cancelled"]);
    assert_eq!(code(withdraw("ana").await), "already_resolved");
    let other = fixture.proposes(NEW).await;
    assert!(fixture.room.withdraw(other.id().clone(), Some(who("ana"))).await.is_ok());
}

#[tokio::test]
async fn an_accept_that_would_make_the_text_too_long_is_refused_and_changes_nothing() {
    let long = "x".repeat(8 * 1024 * 1024 - 5);
    let fixture = RoomFixture::with(&format!("{long} old")).await;
    let now = fixture.now().await;
    let draft = copydesk_document::diff::DraftPart {
        from: long.len() + 1,
        to: long.len() + 4,
        base: "old".into(),
        insert: "brand new".into(),
    };
    let mut new =
        super::fixture::new_request("req_1".into(), &now, "", crate::command::ApprovalMode::Bypass);
    new.hunks = vec![vec![draft].into()];
    let proposed = fixture.room.propose(new).await.unwrap();
    let crate::command::ProposalOutcome::Waiting(request) = proposed else { panic!() };
    let refused = fixture.decides("ana", &request, Decision::plain(RequestVerdict::Approve)).await;
    assert!(matches!(refused, Err(RoomError::Invalid(_))), "{refused:?}");
    assert_eq!(fixture.now().await.version, Version(0));
    assert_eq!(fixture.rejects("ana", &request).await, RequestStatus::Rejected);
}

#[tokio::test]
async fn what_another_request_has_put_into_the_text_already_is_settled_and_everyone_is_told() {
    let fixture = RoomFixture::with("Teh cat.").await;
    let one = fixture.proposes("The cat.").await;
    let two = fixture.proposes("The cat.").await;
    fixture.forget();
    fixture.accepts("ana", &one).await;
    assert_eq!(fixture.text().await, "The cat.");
    assert!(fixture.room.requests().await.unwrap().is_empty(), "nothing is left to decide");
    let kept = fixture.kept(&two).await;
    let hunk = &kept.hunks[0];
    assert_eq!((kept.status, hunk.status), (RequestStatus::Cancelled, HunkStatus::Obsolete));
    assert_eq!(hunk.reason, Some(HunkReason::AlreadyInText));
    let expected = "Nothing was applied: the text already reads as you proposed.";
    assert!(kept.report().text.starts_with(expected), "{:?}", kept.report());
    assert!(
        fixture.heard("ana").contains(&"updates 1..1 +1".to_owned()),
        "{:?}",
        fixture.heard("ana")
    );
}

#[tokio::test]
async fn the_rest_of_a_request_stays_open_when_a_part_is_in_the_text_already_also_over_a_restart() {
    let mut fixture = RoomFixture::with(OLD).await;
    let one = fixture.proposes("It was warm. It was late. It was dark.").await;
    let two = fixture.proposes(NEW).await;
    fixture.accepts("ana", &one).await;
    let statuses = async |fixture: &RoomFixture| {
        let open = fixture.room.requests().await.unwrap();
        open[0].hunks.iter().map(|hunk| hunk.status).collect::<Vec<_>>()
    };
    let expected = [HunkStatus::Obsolete, HunkStatus::Pending, HunkStatus::Pending];
    assert_eq!(statuses(&fixture).await, expected);
    fixture.starts().await;
    assert_eq!(statuses(&fixture).await, expected);
    assert_eq!(fixture.accepts("ana", &two).await, RequestStatus::Partly);
    assert_eq!(fixture.text().await, NEW);
    let tool_result = fixture.kept(&two).await.report().text;
    assert!(
        tool_result.starts_with("Partly applied: 2 accepted, 1 already in the text."),
        "{tool_result}"
    );
}

#[tokio::test]
async fn words_that_two_requests_would_add_are_added_once() {
    let fixture = RoomFixture::with("A cat.").await;
    let one = fixture.proposes("A black cat.").await;
    fixture.proposes("A black cat.").await;
    fixture.accepts("ana", &one).await;
    assert_eq!(fixture.text().await, "A black cat.");
    assert!(fixture.room.requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn what_a_person_types_is_no_accept_and_stays_a_conflict() {
    let fixture = RoomFixture::with("Teh cat.").await;
    fixture.proposes("The cat.").await;
    fixture.writes("bo", 0, 3, "The").await;
    let open = fixture.room.requests().await.unwrap();
    assert_eq!(open[0].hunks[0].status, HunkStatus::Conflict);
}
