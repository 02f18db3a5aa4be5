//! Failures of the store: nothing is announced, nothing is lost, and the room continues when the
//! store does.

use super::fixture::{RoomFixture, edit, push};
use super::{member, who};
use crate::RoomError;
use crate::command::{ApprovalMode, ReplySender, RoomCommand};
use copydesk_approvals::{Decision, RequestStatus, RequestVerdict};
use copydesk_ids::Version;
use copydesk_store::{StoreOp, UpdateRecord};

const OLD: &str = "It was cold. It was late.";
const NEW: &str = "It was warm. It was early.";

/// Writes the next version to the store without the room, so that the room's next commit is
/// refused.
async fn someone_else_writes(fixture: &RoomFixture, insert: &str) {
    let now = fixture.now().await;
    let update = UpdateRecord {
        client: "elsewhere".into(),
        changes: edit(&now.text, 0, 0, insert).into(),
        author: "zoe".into(),
        at_ms: 0,
        origin: None,
    };
    let document = fixture.room.document().clone();
    let append = StoreOp::AppendUpdates { document, from: now.version, updates: vec![update] };
    fixture.store.commit(append).await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_kept_is_told_to_no_one() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    let read = fixture.now().await;
    fixture.forget();
    fixture.store.close().await;
    let failures = [
        fixture.pushes("ana", Version(0), &[edit(&read.text, 0, 0, "x")]).await.err(),
        fixture.proposes_on(&read, NEW, ApprovalMode::Ask).await.err(),
        fixture.decides("ana", &request, Decision::plain(RequestVerdict::Approve)).await.err(),
        fixture.room.rename("New".into(), who("ana")).await.err(),
        fixture.room.open(member("bo"), None).await.err(),
    ];
    for failure in failures {
        assert!(matches!(failure, Some(RoomError::Store(_))), "{failure:?}");
    }
    assert_eq!(fixture.heard("ana"), [""; 0]);
    assert_eq!(fixture.heard("bo"), [""; 0]);
}

#[tokio::test]
async fn a_lost_race_is_answered_by_resync_and_everyone_gets_what_the_other_wrote() {
    let fixture = RoomFixture::with(OLD).await;
    someone_else_writes(&fixture, "Yes! ").await;
    fixture.forget();
    let lost = fixture.pushes("ana", Version(0), &[edit(&text_of(OLD), 25, 25, "!")]).await;
    assert!(matches!(lost, Err(RoomError::Resync)), "{lost:?}");
    assert_eq!(fixture.heard("ana"), ["updates 0..1", "peers ana"]);
    fixture.pushes("ana", Version(0), &[edit(&text_of(OLD), 25, 25, "!")]).await.unwrap();
    assert_eq!(fixture.text().await, "Yes! It was cold. It was late.!");
}

fn text_of(text: &str) -> copydesk_document::Text {
    copydesk_document::Text::new(text)
}

#[tokio::test]
async fn a_decision_that_was_not_kept_was_not_taken_and_can_be_taken_again() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    let waiting = fixture.waits(&request);
    tokio::task::yield_now().await;
    someone_else_writes(&fixture, "Yes! ").await;
    fixture.forget();
    let lost = fixture.decides("ana", &request, Decision::plain(RequestVerdict::Approve)).await;
    assert!(matches!(lost, Err(RoomError::Resync)), "{lost:?}");
    assert_eq!(fixture.heard("ana"), ["updates 0..1", "requested", "peers ana"]);
    assert_eq!(fixture.kept(&request).await.status, RequestStatus::Pending);
    assert!(!waiting.is_finished());
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Approved);
    assert_eq!(fixture.text().await, "Yes! It was warm. It was early.");
    let settled = waiting.await.unwrap().unwrap();
    assert_eq!(settled.resolution.status, RequestStatus::Approved);
}

#[tokio::test]
async fn no_one_is_told_that_someone_was_first_who_was_not() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    someone_else_writes(&fixture, "Yes! ").await;
    let yes = fixture.decides("ana", &request, Decision::plain(RequestVerdict::Approve));
    let no = fixture.decides("bo", &request, Decision::plain(RequestVerdict::Reject));
    let (yes, no) = tokio::join!(yes, no);
    assert!(matches!(yes, Err(RoomError::Resync)), "{yes:?}");
    assert!(matches!(no, Err(RoomError::Resync)), "{no:?}");
    assert_eq!(fixture.rejects("bo", &request).await, RequestStatus::Rejected);
}

#[tokio::test]
async fn a_person_who_could_not_be_let_in_is_not_shown_to_the_others() {
    let fixture = RoomFixture::with(OLD).await;
    someone_else_writes(&fixture, "Yes! ").await;
    let (reply, opened) = ReplySender::channel();
    let (answer, pushed) = ReplySender::channel();
    fixture.room.send(RoomCommand::Open(member("bo"), None, reply)).await;
    let change = [edit(&text_of(OLD), 0, 0, "x")];
    fixture.room.send(RoomCommand::Push(push("ana", Version(0), &change), answer)).await;
    assert!(pushed.await.unwrap().is_err());
    assert!(opened.await.unwrap().is_err());
    assert_eq!(fixture.heard("ana").last().map(String::as_str), Some("peers ana"));
    assert_eq!(fixture.heard("bo"), [""; 0]);
}

#[tokio::test]
async fn an_editor_that_was_claimed_elsewhere_fails_its_batch_and_is_foreign_from_then_on() {
    let fixture = RoomFixture::with(OLD).await;
    let bad = fixture.pushes("ana", Version(0), &["[1]".to_owned()]).await;
    assert!(matches!(bad, Err(RoomError::BadUpdate { .. })));
    let (document, client) = (fixture.room.document().clone(), "c-ana".into());
    fixture
        .store
        .commit(StoreOp::ClaimClient { document, client, user: "zoe".into() })
        .await
        .unwrap();
    fixture.forget();
    let change = [edit(&text_of(OLD), 0, 0, "x")];
    assert!(matches!(fixture.pushes("ana", Version(0), &change).await, Err(RoomError::Store(_))));
    assert_eq!(fixture.heard("ana"), ["peers ana"]);
    assert!(matches!(
        fixture.pushes("ana", Version(0), &change).await,
        Err(RoomError::ForeignClient)
    ));
    assert_eq!(fixture.text().await, OLD);
}

#[tokio::test]
async fn a_document_that_was_deleted_elsewhere_is_gone_once_the_room_learns_of_it() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    let waiting = fixture.waits(&request);
    someone_else_writes(&fixture, "x").await;
    let mut record = fixture.store.document(fixture.room.document()).await.unwrap().unwrap();
    record.deleted = true;
    fixture.store.commit(StoreOp::PutDocument(record)).await.unwrap();
    fixture.forget();
    let change = [edit(&text_of(OLD), 0, 0, "x")];
    assert!(fixture.pushes("ana", Version(0), &change).await.is_err());
    assert!(matches!(fixture.room.read().await, Err(RoomError::NoDocument)));
    assert_eq!(fixture.heard("ana"), ["deleted"]);
    assert!(matches!(waiting.await.unwrap(), Err(RoomError::NoDocument)));
}

#[tokio::test]
async fn people_can_leave_a_room_whose_store_is_gone() {
    let fixture = RoomFixture::with(OLD).await;
    fixture.store.close().await;
    assert!(fixture.room.rename("New".into(), who("ana")).await.is_err());
    fixture.room.leave("ana".into()).await;
    assert!(matches!(fixture.room.read().await, Err(RoomError::Store(_))));
    fixture.rooms.close().await;
}
