//! Undo of accepted hunks, and reopening of refused ones.

use super::desk::{RoomFixture, code, edit, hunk, push};
use super::who;
use crate::approvals::{ApprovalRequest, DecisionError, HunkStatus, RequestStatus};
use crate::rooms::RoomError;
use crate::rooms::command::{ProposeAgain, ReplySender, RoomCommand, UndoChange, ViewerChange};

const OLD: &str = "It was cold. It was late.";
const NEW: &str = "It was warm. It was early.";

#[tokio::test]
async fn undo_takes_back_only_what_was_accepted_also_after_later_typing() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.accepts("ana", &request).await;
    desk.writes("bo", 0, 0, "Yes! ").await;
    desk.forget();
    let undone = desk.undoes("rex", &request).await.unwrap();
    assert_eq!(desk.text().await, "Yes! It was cold. It was late.");
    assert_eq!((undone.status, undone.clock.expires_ms), (RequestStatus::Pending, None));
    assert_eq!(desk.heard("ana"), ["updates 2..3 +1 +2", "requested", "changed pending pending"]);
    assert_eq!(desk.accepts("ana", &request).await, RequestStatus::Approved);
    assert_eq!(desk.text().await, "Yes! It was warm. It was early.");
}

#[tokio::test]
async fn undo_works_long_after_and_after_a_restart() {
    let mut desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.accepts("ana", &request).await;
    for _ in 0..70 {
        let other = desk.proposes("Something else.").await;
        desk.rejects("ana", &other).await;
        desk.writes("bo", 0, 0, "x").await;
    }
    desk.restarts().await;
    desk.undoes("ana", &request).await.unwrap();
    assert_eq!(desk.text().await, format!("{}{OLD}", "x".repeat(70)));
}

#[tokio::test]
async fn undo_of_touched_words_needs_force() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.accepts("ana", &request).await;
    desk.writes("bo", 8, 9, "").await;
    assert_eq!(code(desk.undoes("ana", &request).await), "conflicted");
    let hunks = Some(vec![hunk(&request, 2)]);
    let undo = UndoChange { request: request.id().clone(), hunks, force: false, seen: None };
    desk.room.undo(undo, who("ana")).await.unwrap();
    let undo = UndoChange { request: request.id().clone(), hunks: None, force: true, seen: None };
    desk.room.undo(undo, who("ana")).await.unwrap();
    assert_eq!(desk.text().await, OLD);
}

#[tokio::test]
async fn undo_in_the_same_moment_as_typing_is_not_lost() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.accepts("ana", &request).await;
    let now = desk.now().await;
    let typed = push("bo", now.version, &[edit(&now.text, 0, 0, "Yes! ")]);
    desk.room.send(RoomCommand::Push(typed, ReplySender::channel().0)).await;
    desk.undoes("ana", &request).await.unwrap();
    assert_eq!(desk.text().await, "Yes! It was cold. It was late.");
}

#[tokio::test]
async fn undo_of_one_change_of_a_request_that_is_open_leaves_its_countdown_alone() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.takes("ana", &request, 1).await.unwrap();
    let undone = desk.undoes("ana", &request).await.unwrap();
    assert_eq!(undone.clock.expires_ms, request.clock.expires_ms, "somebody still waits for it");
    assert_eq!(desk.text().await, OLD);
}

#[tokio::test]
async fn only_who_may_decide_may_undo() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.accepts("ana", &request).await;
    assert_eq!(code(desk.undoes("vic", &request).await), "not_allowed");
    assert_eq!(desk.text().await, NEW);
}

#[tokio::test]
async fn rejected_changes_stay_readable_and_can_be_proposed_again_on_todays_text() {
    let mut desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.rejects("ana", &request).await;
    desk.writes("bo", 0, 0, "Yes! ").await;
    desk.restarts().await;
    assert_eq!(desk.kept(&request).await.hunks[0].status, HunkStatus::Rejected);
    desk.forget();
    let again = desk.reopens("ana", &request).await.unwrap();
    assert_eq!(again.hunks[0].parts[0].from, 12);
    assert_eq!(desk.heard("ana"), ["updates 1..1 +1 +2", "requested", "changed pending pending"]);
    desk.accepts("ana", &request).await;
    assert_eq!(desk.text().await, "Yes! It was warm. It was early.");
}

#[tokio::test]
async fn a_request_that_is_open_again_does_not_expire_and_is_there_after_a_restart() {
    let mut desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.clock.advance_ms(300_000);
    desk.now().await;
    desk.reopens("ana", &request).await.unwrap();
    desk.clock.advance_ms(1_000_000);
    desk.restarts().await;
    assert_eq!(desk.room.requests().await.unwrap()[0].id(), request.id());
}

#[tokio::test]
async fn one_change_is_proposed_again_told_kept_and_decided_and_the_other_stays_refused() {
    let mut desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.rejects("ana", &request).await;
    desk.writes("bo", 0, 0, "Yes! ").await;
    desk.forget();
    let only = Some(vec![hunk(&request, 2)]);
    let wish = ProposeAgain { request: request.id().clone(), hunks: only };
    let again = desk.room.reopen(wish.clone(), who("bo")).await.unwrap();
    let statuses =
        |request: &ApprovalRequest| request.hunks.iter().map(|h| h.status).collect::<Vec<_>>();
    assert_eq!(statuses(&again), [HunkStatus::Rejected, HunkStatus::Pending]);
    assert_eq!(desk.heard("ana"), ["updates 1..1 +2", "requested", "changed pending"]);
    desk.restarts().await;
    assert_eq!(statuses(&desk.room.requests().await.unwrap()[0]), statuses(&again));
    assert_eq!(code(desk.room.reopen(wish, who("bo")).await), "invalid_decision");
    assert_eq!(desk.accepts("ana", &request).await, RequestStatus::Partly);
    assert_eq!(desk.text().await, "Yes! It was cold. It was early.");
}

/// Found by history 271 of the simulation.
#[tokio::test]
async fn what_somebody_looked_at_when_it_ended_does_not_stand_still_when_it_is_open_again() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.room.focus(request.id().clone(), "ana".into(), ViewerChange::On).await.unwrap();
    desk.rejects("ana", &request).await;
    let again = desk.reopens("ana", &request).await.unwrap();
    assert_eq!(again.clock.paused_ms, None);
}

#[tokio::test]
async fn nothing_can_be_undone_in_a_deleted_document() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.accepts("ana", &request).await;
    let other = desk.proposes(OLD).await;
    desk.room.delete(who("ana")).await.unwrap();
    let undone = desk.undoes("ana", &request).await;
    assert!(matches!(undone, Err(RoomError::NoDocument)), "{undone:?}");
    let reopened = desk.reopens("ana", &other).await;
    assert!(matches!(reopened, Err(RoomError::NoDocument)), "{reopened:?}");
}

#[tokio::test]
async fn a_forced_undo_leaves_words_alone_that_nobody_was_shown() {
    let desk = RoomFixture::with("Teh cat.").await;
    let request = desk.proposes("The cat.").await;
    desk.accepts("ana", &request).await;
    desk.writes("bo", 0, 3, "My own sentence. A").await;
    let over = async |seen: &str| {
        let seen = Some([(hunk(&request, 1), seen.to_owned())].into());
        let undo = UndoChange { request: request.id().clone(), hunks: None, force: true, seen };
        desk.room.undo(undo, who("ana")).await
    };
    let refused = over("The").await;
    let Err(RoomError::Decision(DecisionError::Touched { hunks })) = refused else {
        panic!("{refused:?}")
    };
    let told = (hunks[0].stands.as_str(), hunks[0].restores.as_str());
    assert_eq!(told, ("My own sentence. A", "Teh"));
    assert_eq!(desk.text().await, "My own sentence. A cat.");
    over("My own sentence. A").await.unwrap();
    assert_eq!(desk.text().await, "Teh cat.");
}
