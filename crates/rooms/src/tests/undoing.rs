//! Undo of accepted hunks, and reopening of refused ones.

use super::fixture::{RoomFixture, code, edit, hunk, push};
use super::who;
use crate::RoomError;
use crate::command::{ProposeAgain, ReplySender, RoomCommand, UndoChange, ViewerChange};
use copydesk_approvals::{ApprovalRequest, DecisionError, HunkStatus, RequestStatus};

const OLD: &str = "It was cold. It was late.";
const NEW: &str = "It was warm. It was early.";

#[tokio::test]
async fn undo_takes_back_only_what_was_accepted_also_after_later_typing() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.accepts("ana", &request).await;
    fixture.writes("bo", 0, 0, "Yes! ").await;
    fixture.forget();
    let undone = fixture.undoes("rex", &request).await.unwrap();
    assert_eq!(fixture.text().await, "Yes! It was cold. It was late.");
    assert_eq!((undone.status, undone.clock.expires_ms), (RequestStatus::Pending, None));
    assert_eq!(
        fixture.heard("ana"),
        ["updates 2..3 +1 +2", "requested", "changed pending pending"]
    );
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Approved);
    assert_eq!(fixture.text().await, "Yes! It was warm. It was early.");
}

#[tokio::test]
async fn undo_works_long_after_and_after_a_restart() {
    let mut fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.accepts("ana", &request).await;
    for _ in 0..70 {
        let other = fixture.proposes("Something else.").await;
        fixture.rejects("ana", &other).await;
        fixture.writes("bo", 0, 0, "x").await;
    }
    fixture.restarts().await;
    fixture.undoes("ana", &request).await.unwrap();
    assert_eq!(fixture.text().await, format!("{}{OLD}", "x".repeat(70)));
}

#[tokio::test]
async fn undo_of_touched_words_needs_force() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.accepts("ana", &request).await;
    fixture.writes("bo", 8, 9, "").await;
    assert_eq!(code(fixture.undoes("ana", &request).await), "conflicted");
    let hunks = Some(vec![hunk(&request, 2)]);
    let undo = UndoChange {
        request: request.id().clone(),
        hunks,
        force: false,
        seen: None,
        votes_only: false,
    };
    fixture.room.undo(undo, who("ana")).await.unwrap();
    let undo = UndoChange {
        request: request.id().clone(),
        hunks: None,
        force: true,
        seen: None,
        votes_only: false,
    };
    fixture.room.undo(undo, who("ana")).await.unwrap();
    assert_eq!(fixture.text().await, OLD);
}

#[tokio::test]
async fn undo_in_the_same_moment_as_typing_is_not_lost() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.accepts("ana", &request).await;
    let now = fixture.now().await;
    let typed = push("bo", now.version, &[edit(&now.text, 0, 0, "Yes! ")]);
    fixture.room.send(RoomCommand::Push(typed, ReplySender::channel().0)).await;
    fixture.undoes("ana", &request).await.unwrap();
    assert_eq!(fixture.text().await, "Yes! It was cold. It was late.");
}

#[tokio::test]
async fn undo_of_one_change_of_a_request_that_is_open_leaves_its_countdown_alone() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.takes("ana", &request, 1).await.unwrap();
    let undone = fixture.undoes("ana", &request).await.unwrap();
    assert_eq!(undone.clock.expires_ms, request.clock.expires_ms, "someone still waits for it");
    assert_eq!(fixture.text().await, OLD);
}

#[tokio::test]
async fn only_who_may_decide_may_undo() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.accepts("ana", &request).await;
    assert_eq!(code(fixture.undoes("vic", &request).await), "not_allowed");
    assert_eq!(fixture.text().await, NEW);
}

#[tokio::test]
async fn rejected_changes_stay_readable_and_can_be_proposed_again_on_todays_text() {
    let mut fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.rejects("ana", &request).await;
    fixture.writes("bo", 0, 0, "Yes! ").await;
    fixture.restarts().await;
    assert_eq!(fixture.kept(&request).await.hunks[0].status, HunkStatus::Rejected);
    fixture.forget();
    let again = fixture.reopens("ana", &request).await.unwrap();
    assert_eq!(again.hunks[0].parts[0].from, 12);
    assert_eq!(
        fixture.heard("ana"),
        ["updates 1..1 +1 +2", "requested", "changed pending pending"]
    );
    fixture.accepts("ana", &request).await;
    assert_eq!(fixture.text().await, "Yes! It was warm. It was early.");
}

#[tokio::test]
async fn a_request_that_is_open_again_does_not_expire_and_is_there_after_a_restart() {
    let mut fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.clock.advance_ms(300_000);
    fixture.now().await;
    fixture.reopens("ana", &request).await.unwrap();
    fixture.clock.advance_ms(1_000_000);
    fixture.restarts().await;
    assert_eq!(fixture.room.requests().await.unwrap()[0].id(), request.id());
}

#[tokio::test]
async fn one_change_is_proposed_again_told_kept_and_decided_and_the_other_stays_refused() {
    let mut fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.rejects("ana", &request).await;
    fixture.writes("bo", 0, 0, "Yes! ").await;
    fixture.forget();
    let only = Some(vec![hunk(&request, 2)]);
    let wish = ProposeAgain { request: request.id().clone(), hunks: only };
    let again = fixture.room.reopen(wish.clone(), who("bo")).await.unwrap();
    let statuses =
        |request: &ApprovalRequest| request.hunks.iter().map(|h| h.status).collect::<Vec<_>>();
    assert_eq!(statuses(&again), [HunkStatus::Rejected, HunkStatus::Pending]);
    assert_eq!(fixture.heard("ana"), ["updates 1..1 +2", "requested", "changed pending"]);
    fixture.restarts().await;
    assert_eq!(statuses(&fixture.room.requests().await.unwrap()[0]), statuses(&again));
    assert_eq!(code(fixture.room.reopen(wish, who("bo")).await), "invalid_decision");
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Partly);
    assert_eq!(fixture.text().await, "Yes! It was cold. It was early.");
}

/// Found by history 271 of the simulation.
#[tokio::test]
async fn what_someone_looked_at_when_it_ended_does_not_stand_still_when_it_is_open_again() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.room.focus(request.id().clone(), "ana".into(), ViewerChange::On).await.unwrap();
    fixture.rejects("ana", &request).await;
    let again = fixture.reopens("ana", &request).await.unwrap();
    assert_eq!(again.clock.paused_ms, None);
}

#[tokio::test]
async fn nothing_can_be_undone_in_a_deleted_document() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.accepts("ana", &request).await;
    let other = fixture.proposes(OLD).await;
    fixture.room.delete(who("ana")).await.unwrap();
    let undone = fixture.undoes("ana", &request).await;
    assert!(matches!(undone, Err(RoomError::NoDocument)), "{undone:?}");
    let reopened = fixture.reopens("ana", &other).await;
    assert!(matches!(reopened, Err(RoomError::NoDocument)), "{reopened:?}");
}

#[tokio::test]
async fn a_forced_undo_leaves_words_alone_that_no_one_was_shown() {
    let fixture = RoomFixture::with("Teh cat.").await;
    let request = fixture.proposes("The cat.").await;
    fixture.accepts("ana", &request).await;
    fixture.writes("bo", 0, 3, "My own sentence. A").await;
    let over = async |seen: &str| {
        let seen = Some([(hunk(&request, 1), seen.to_owned())].into());
        let undo = UndoChange {
            request: request.id().clone(),
            hunks: None,
            force: true,
            seen,
            votes_only: false,
        };
        fixture.room.undo(undo, who("ana")).await
    };
    let refused = over("The").await;
    let Err(RoomError::Decision(DecisionError::Touched { hunks })) = refused else {
        panic!("{refused:?}")
    };
    let shown = (hunks[0].stands.as_str(), hunks[0].restores.as_str());
    assert_eq!(shown, ("My own sentence. A", "Teh"));
    assert_eq!(fixture.text().await, "My own sentence. A cat.");
    over("My own sentence. A").await.unwrap();
    assert_eq!(fixture.text().await, "Teh cat.");
}
