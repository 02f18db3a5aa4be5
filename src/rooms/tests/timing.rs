//! Countdown: it runs out, is paused while somebody views the request, and can be extended.

use super::desk::{RoomFixture, START_MS, new_request};
use super::who;
use crate::approvals::{ApprovalRequest, HunkStatus, RequestStatus};
use crate::ids::Version;
use crate::rooms::RoomError;
use crate::rooms::clock::WallClock;
use crate::rooms::command::{ApprovalMode, NewApprovalRequest, SettingsChange, ViewerChange};
use crate::rooms::settings::OwnSettings;

const OLD: &str = "It was cold. It was late.";
const NEW: &str = "It was warm. It was early.";

async fn look(desk: &RoomFixture, request: &ApprovalRequest, name: &str, focus: ViewerChange) {
    desk.room.focus(request.id().clone(), name.into(), focus).await.unwrap();
}

async fn is_open(desk: &RoomFixture) -> bool {
    !desk.room.requests().await.unwrap().is_empty()
}

/// Returns the times at which the countdown was paused, and at which it ends.
async fn expiry(desk: &RoomFixture) -> (Option<u64>, Option<u64>) {
    let clock = desk.room.requests().await.unwrap()[0].clock;
    (clock.paused_ms, clock.expires_ms)
}

#[tokio::test]
async fn what_nobody_decides_in_time_expires_and_the_agent_is_told_so() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    let waiting = desk.waits(&request);
    desk.forget();
    desk.clock.advance_ms(299_999);
    assert!(is_open(&desk).await);
    desk.clock.advance_ms(1);
    let settled = {
        desk.now().await;
        waiting.await.unwrap().unwrap()
    };
    assert!(settled.resolution.report.text.starts_with("Approval timed out after 300s"));
    assert_eq!(desk.heard("ana"), ["updates 0..0 -1 -2", "resolved expired"]);
    assert_eq!(desk.text().await, OLD);
}

#[tokio::test]
async fn what_was_accepted_before_it_expired_stays() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.takes("ana", &request, 1).await.unwrap();
    desk.clock.advance_ms(300_000);
    assert!(!is_open(&desk).await);
    let kept = desk.kept(&request).await;
    assert_eq!(kept.status, RequestStatus::Partly);
    assert_eq!(kept.hunks[1].status, HunkStatus::Expired);
    assert_eq!(desk.text().await, "It was warm. It was late.");
}

#[tokio::test]
async fn the_countdown_stands_still_while_somebody_looks() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.clock.advance_ms(295_000);
    for _ in 0..100 {
        look(&desk, &request, "ana", ViewerChange::On).await;
        desk.clock.advance_ms(10_000);
    }
    look(&desk, &request, "ana", ViewerChange::Off).await;
    desk.clock.advance_ms(4_999);
    assert!(is_open(&desk).await);
    desk.clock.advance_ms(1);
    assert!(!is_open(&desk).await);
}

#[tokio::test]
async fn a_look_that_is_not_repeated_lapses_and_the_countdown_goes_on() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    look(&desk, &request, "ana", ViewerChange::On).await;
    desk.clock.advance_ms(15_000);
    assert!(is_open(&desk).await);
    desk.clock.advance_ms(300_000);
    assert!(!is_open(&desk).await);
}

#[tokio::test]
async fn everyone_sees_who_looks_and_the_last_one_to_leave_sets_it_going_again() {
    let desk = RoomFixture::with(OLD).await;
    desk.enters("bo").await;
    let request = desk.proposes(NEW).await;
    look(&desk, &request, "ana", ViewerChange::On).await;
    desk.forget();
    look(&desk, &request, "ana", ViewerChange::On).await;
    assert_eq!(desk.heard("ana"), [""; 0]);
    look(&desk, &request, "bo", ViewerChange::On).await;
    assert_eq!(desk.heard("ana"), ["changed"]);
    look(&desk, &request, "ana", ViewerChange::Off).await;
    assert!(desk.room.requests().await.unwrap()[0].clock.paused_ms.is_some());
    desk.room.leave("bo".into()).await;
    assert!(desk.room.requests().await.unwrap()[0].clock.paused_ms.is_none());
}

#[tokio::test]
async fn the_time_somebody_looked_is_not_lost_when_the_server_restarts() {
    let mut desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    for _ in 0..40 {
        look(&desk, &request, "ana", ViewerChange::On).await;
        desk.clock.advance_ms(10_000);
    }
    desk.restarts().await;
    assert_eq!(expiry(&desk).await, (None, Some(START_MS + 700_000)));
}

#[tokio::test]
async fn a_request_goes_on_counting_down_after_a_crash() {
    let mut desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.clock.advance_ms(100_000);
    desk.starts().await;
    assert_eq!(desk.room.requests().await.unwrap()[0].id(), request.id());
    desk.clock.advance_ms(200_000);
    assert!(!is_open(&desk).await);
}

#[tokio::test]
async fn what_somebody_was_reading_has_its_time_left_after_a_crash() {
    let mut desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.clock.advance_ms(100_000);
    look(&desk, &request, "ana", ViewerChange::On).await;
    desk.clock.advance_ms(400_000);
    desk.starts().await;
    assert_eq!(expiry(&desk).await, (None, Some(START_MS + 700_000)));
    // The resumed countdown is stored: another crash does not extend it further.
    desk.clock.advance_ms(150_000);
    desk.starts().await;
    assert_eq!(expiry(&desk).await, (None, Some(START_MS + 700_000)));
    desk.clock.advance_ms(50_000);
    assert!(!is_open(&desk).await);
    assert_eq!(desk.kept(&request).await.status, RequestStatus::Expired);
}

#[tokio::test]
async fn a_request_of_an_older_version_stands_on_its_words_after_a_crash() {
    let mut desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    for word in ["a", "b", "c"] {
        desk.writes("bo", 0, 0, word).await;
    }
    let before = desk.room.requests().await.unwrap();
    desk.starts().await;
    assert_eq!(desk.kept(&request).await.version, Version(0));
    assert_eq!(desk.room.requests().await.unwrap(), before);
    assert_eq!(before[0].hunks[0].parts[0].from, 10);
}

#[tokio::test]
async fn people_can_ask_for_more_time() {
    let desk = RoomFixture::with(OLD).await;
    let request = desk.proposes(NEW).await;
    desk.clock.advance_ms(200_000);
    desk.forget();
    let extended = desk.room.extend(request.id().clone(), who("bo")).await.unwrap();
    assert_eq!(extended.clock.expires_ms, Some(START_MS + 600_000));
    assert_eq!(desk.heard("ana"), ["changed"]);
    assert_eq!(desk.kept(&request).await.clock.expires_ms, Some(START_MS + 600_000));
}

#[tokio::test]
async fn there_is_no_more_time_than_an_outside_caller_has() {
    let desk = RoomFixture::with(OLD).await;
    let deadline_ms = Some(START_MS + 400_000);
    let new = new_request("req_1".into(), &desk.now().await, NEW, ApprovalMode::Ask);
    desk.room.propose(NewApprovalRequest { deadline_ms, ..new }).await.unwrap();
    let extend = async || desk.room.extend("req_1".into(), who("bo")).await;
    assert_eq!(extend().await.unwrap().clock.ends_ms(), deadline_ms);
    let before = desk.room.requests().await.unwrap();
    let refused = extend().await;
    assert!(matches!(refused, Err(RoomError::Decision(_))), "{refused:?}");
    assert_eq!(desk.room.requests().await.unwrap(), before);
}

#[tokio::test]
async fn the_room_wakes_by_itself_when_a_request_is_due() {
    let mut desk = RoomFixture::with(OLD).await;
    desk.clock = WallClock::system();
    desk.restarts().await;
    let own = OwnSettings { timeout_ms: Some(1), ..OwnSettings::default() };
    desk.room.configure(SettingsChange { own, frozen: None }, who("ana")).await.unwrap();
    let request = desk.proposes(NEW).await;
    let settled = desk.room.resolution(request.id().clone()).await.unwrap();
    assert_eq!(settled.resolution.status, RequestStatus::Expired);
}
