//! Failures of the store: nothing is told, nothing is lost, and the room continues when the store
//! does.

use super::desk::{RoomFixture, edit, new_request, push};
use super::{member, who};
use crate::approvals::{Decision, RequestStatus, RequestVerdict};
use crate::auth;
use crate::ids::{RequestId, Version};
use crate::permissions::Action;
use crate::rooms::RoomError;
use crate::rooms::command::{ApprovalMode, CommitPrefix, ReplySender, RoomCommand};
use crate::store::{StoreOp, UpdateRecord};

const OLD: &str = "It was cold. It was late.";
const NEW: &str = "It was warm. It was early.";

/// Writes the next version to the store without the room, so that the room's next commit is
/// refused.
async fn somebody_else_writes(desk: &RoomFixture, insert: &str) {
    let now = desk.now().await;
    let update = UpdateRecord {
        client: "elsewhere".into(),
        changes: edit(&now.text, 0, 0, insert).into(),
        author: "zoe".into(),
        at_ms: 0,
        origin: None,
    };
    let document = desk.room.document().clone();
    let append = StoreOp::AppendUpdates { document, from: now.version, updates: vec![update] };
    desk.store.commit(append).await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_kept_is_told_to_nobody() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    let read = desk.now().await;
    desk.forget();
    desk.store.close().await;
    let failures = [
        desk.pushes("ana", Version(0), &[edit(&read.text, 0, 0, "x")]).await.err(),
        desk.proposes_on(&read, NEW, ApprovalMode::Ask).await.err(),
        desk.decides("ana", &request, Decision::plain(RequestVerdict::Approve)).await.err(),
        desk.room.rename("New".into(), who("ana")).await.err(),
        desk.room.open(member("bo"), None).await.err(),
    ];
    for failure in failures {
        assert!(matches!(failure, Some(RoomError::Store(_))), "{failure:?}");
    }
    assert_eq!(desk.heard("ana"), [""; 0]);
    assert_eq!(desk.heard("bo"), [""; 0]);
}

#[tokio::test]
async fn a_lost_race_is_answered_by_resync_and_everyone_gets_what_the_other_wrote() {
    let desk = RoomFixture::with(OLD).await;
    somebody_else_writes(&desk, "Yes! ").await;
    desk.forget();
    let lost = desk.pushes("ana", Version(0), &[edit(&desk_text(OLD), 25, 25, "!")]).await;
    assert!(matches!(lost, Err(RoomError::Resync)), "{lost:?}");
    assert_eq!(desk.heard("ana"), ["updates 0..1", "peers ana"]);
    desk.pushes("ana", Version(0), &[edit(&desk_text(OLD), 25, 25, "!")]).await.unwrap();
    assert_eq!(desk.text().await, "Yes! It was cold. It was late.!");
}

#[tokio::test]
async fn a_proposal_that_is_not_allowed_any_more_takes_nobody_elses_words_with_it() {
    let desk = RoomFixture::with(OLD).await;
    let read = desk.now().await;
    desk.forget();
    let (kept, heard) = ReplySender::channel();
    let gone = auth::provided(&"usr_gone".into(), Action::Ask, Some(desk.room.document()), 0);
    let preface = CommitPrefix { batch: gone.into(), said: Vec::new(), kept };
    let new = new_request(RequestId::generate(), &read, NEW, ApprovalMode::Ask);
    let (first, before) = ReplySender::channel();
    let (reply, proposed) = ReplySender::channel();
    let (last, after) = ReplySender::channel();
    // The commands wait together, so the room takes them in one turn.
    let typed = |at: usize, client: &str, insert: &str| {
        push(client, Version(0), &[edit(&desk_text(OLD), at, at, insert)])
    };
    desk.room.send(RoomCommand::Push(typed(0, "ana", "One "), first)).await;
    desk.room.send(RoomCommand::Propose(Box::new(new), Some(Box::new(preface)), reply)).await;
    desk.room.send(RoomCommand::Push(typed(25, "bo", " Two"), last)).await;
    assert_eq!(before.await.unwrap().unwrap(), Version(1));
    assert!(matches!(proposed.await.unwrap(), Err(RoomError::NotAllowed)));
    assert!(matches!(heard.await.unwrap(), Err(RoomError::NotAllowed)));
    assert_eq!(after.await.unwrap().unwrap(), Version(2));
    assert_eq!(desk.text().await, format!("One {OLD} Two"));
    assert!(desk.room.requests().await.unwrap().is_empty());
}

fn desk_text(text: &str) -> crate::document::Text {
    crate::document::Text::new(text)
}

#[tokio::test]
async fn a_decision_that_was_not_kept_was_not_taken_and_can_be_taken_again() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    let waiting = desk.waits(&request);
    tokio::task::yield_now().await;
    somebody_else_writes(&desk, "Yes! ").await;
    desk.forget();
    let lost = desk.decides("ana", &request, Decision::plain(RequestVerdict::Approve)).await;
    assert!(matches!(lost, Err(RoomError::Resync)), "{lost:?}");
    assert_eq!(desk.heard("ana"), ["updates 0..1", "requested", "peers ana"]);
    assert_eq!(desk.kept(&request).await.status, RequestStatus::Pending);
    assert!(!waiting.is_finished());
    assert_eq!(desk.accepts("ana", &request).await, RequestStatus::Approved);
    assert_eq!(desk.text().await, "Yes! It was warm. It was early.");
    let settled = waiting.await.unwrap().unwrap();
    assert_eq!(settled.resolution.status, RequestStatus::Approved);
}

#[tokio::test]
async fn nobody_is_told_that_somebody_was_first_who_was_not() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    somebody_else_writes(&desk, "Yes! ").await;
    let yes = desk.decides("ana", &request, Decision::plain(RequestVerdict::Approve));
    let no = desk.decides("bo", &request, Decision::plain(RequestVerdict::Reject));
    let (yes, no) = tokio::join!(yes, no);
    assert!(matches!(yes, Err(RoomError::Resync)), "{yes:?}");
    assert!(matches!(no, Err(RoomError::Resync)), "{no:?}");
    assert_eq!(desk.rejects("bo", &request).await, RequestStatus::Rejected);
}

#[tokio::test]
async fn whoever_could_not_be_let_in_is_not_shown_to_the_others() {
    let desk = RoomFixture::with(OLD).await;
    somebody_else_writes(&desk, "Yes! ").await;
    let (reply, opened) = ReplySender::channel();
    let (answer, pushed) = ReplySender::channel();
    desk.room.send(RoomCommand::Open(member("bo"), None, reply)).await;
    let change = [edit(&desk_text(OLD), 0, 0, "x")];
    desk.room.send(RoomCommand::Push(push("ana", Version(0), &change), answer)).await;
    assert!(pushed.await.unwrap().is_err());
    assert!(opened.await.unwrap().is_err());
    assert_eq!(desk.heard("ana").last().map(String::as_str), Some("peers ana"));
    assert_eq!(desk.heard("bo"), [""; 0]);
}

#[tokio::test]
async fn an_editor_that_was_claimed_elsewhere_fails_its_turn_and_is_foreign_from_then_on() {
    let desk = RoomFixture::with(OLD).await;
    let bad = desk.pushes("ana", Version(0), &["[1]".to_owned()]).await;
    assert!(matches!(bad, Err(RoomError::BadUpdate { .. })));
    let (document, client) = (desk.room.document().clone(), "c-ana".into());
    desk.store.commit(StoreOp::ClaimClient { document, client, user: "zoe".into() }).await.unwrap();
    desk.forget();
    let change = [edit(&desk_text(OLD), 0, 0, "x")];
    assert!(matches!(desk.pushes("ana", Version(0), &change).await, Err(RoomError::Store(_))));
    assert_eq!(desk.heard("ana"), ["peers ana"]);
    assert!(matches!(desk.pushes("ana", Version(0), &change).await, Err(RoomError::ForeignClient)));
    assert_eq!(desk.text().await, OLD);
}

#[tokio::test]
async fn a_document_that_was_deleted_elsewhere_is_gone_once_the_room_learns_of_it() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    let waiting = desk.waits(&request);
    somebody_else_writes(&desk, "x").await;
    let mut record = desk.store.document(desk.room.document()).await.unwrap().unwrap();
    record.deleted = true;
    desk.store.commit(StoreOp::PutDocument(record)).await.unwrap();
    desk.forget();
    let change = [edit(&desk_text(OLD), 0, 0, "x")];
    assert!(desk.pushes("ana", Version(0), &change).await.is_err());
    assert!(matches!(desk.room.read().await, Err(RoomError::NoDocument)));
    assert_eq!(desk.heard("ana"), ["deleted"]);
    assert!(matches!(waiting.await.unwrap(), Err(RoomError::NoDocument)));
}

#[tokio::test]
async fn people_can_leave_a_room_whose_store_is_gone() {
    let desk = RoomFixture::with(OLD).await;
    desk.store.close().await;
    assert!(desk.room.rename("New".into(), who("ana")).await.is_err());
    desk.room.leave("ana".into()).await;
    assert!(matches!(desk.room.read().await, Err(RoomError::Store(_))));
    desk.rooms.close().await;
}
