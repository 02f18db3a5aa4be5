//! Countdown: it runs out, is paused while a person views the request, and can be extended.

use super::fixture::{RoomFixture, START_MS, new_request};
use super::who;
use crate::RoomError;
use crate::command::{ApprovalMode, NewApprovalRequest, SettingsChange, ViewerChange};
use crate::settings::OwnSettings;
use copydesk_approvals::{ApprovalRequest, HunkStatus, RequestStatus};
use copydesk_clock::WallClock;
use copydesk_ids::Version;

const OLD: &str = "It was cold. It was late.";
const NEW: &str = "It was warm. It was early.";

async fn look(fixture: &RoomFixture, request: &ApprovalRequest, name: &str, focus: ViewerChange) {
    fixture.room.focus(request.id().clone(), name.into(), focus).await.unwrap();
}

async fn is_open(fixture: &RoomFixture) -> bool {
    !fixture.room.requests().await.unwrap().is_empty()
}

/// Returns the times at which the countdown was paused, and at which it ends.
async fn expiry(fixture: &RoomFixture) -> (Option<u64>, Option<u64>) {
    let clock = fixture.room.requests().await.unwrap()[0].clock;
    (clock.paused_ms, clock.expires_ms)
}

#[tokio::test]
async fn what_no_one_decides_in_time_expires_and_the_agent_is_told_so() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    let waiting = fixture.waits(&request);
    fixture.forget();
    fixture.clock.advance_ms(299_999);
    assert!(is_open(&fixture).await);
    fixture.clock.advance_ms(1);
    let settled = {
        fixture.now().await;
        waiting.await.unwrap().unwrap()
    };
    assert!(settled.resolution.report.text.starts_with("Approval timed out after 300s"));
    assert_eq!(fixture.heard("ana"), ["updates 0..0 -1 -2", "resolved expired"]);
    assert_eq!(fixture.text().await, OLD);
}

#[tokio::test]
async fn what_was_accepted_before_it_expired_stays() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.takes("ana", &request, 1).await.unwrap();
    fixture.clock.advance_ms(300_000);
    assert!(!is_open(&fixture).await);
    let kept = fixture.kept(&request).await;
    assert_eq!(kept.status, RequestStatus::Partly);
    assert_eq!(kept.hunks[1].status, HunkStatus::Expired);
    assert_eq!(fixture.text().await, "It was warm. It was late.");
}

#[tokio::test]
async fn the_countdown_stands_still_while_someone_looks() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.clock.advance_ms(295_000);
    for _ in 0..100 {
        look(&fixture, &request, "ana", ViewerChange::On).await;
        fixture.clock.advance_ms(10_000);
    }
    look(&fixture, &request, "ana", ViewerChange::Off).await;
    fixture.clock.advance_ms(4_999);
    assert!(is_open(&fixture).await);
    fixture.clock.advance_ms(1);
    assert!(!is_open(&fixture).await);
}

#[tokio::test]
async fn a_look_that_is_not_repeated_lapses_and_the_countdown_goes_on() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    look(&fixture, &request, "ana", ViewerChange::On).await;
    fixture.clock.advance_ms(15_000);
    assert!(is_open(&fixture).await);
    fixture.clock.advance_ms(300_000);
    assert!(!is_open(&fixture).await);
}

#[tokio::test]
async fn everyone_sees_who_looks_and_the_last_one_to_leave_sets_it_going_again() {
    let fixture = RoomFixture::with(OLD).await;
    fixture.enters("bo").await;
    let request = fixture.proposes(NEW).await;
    look(&fixture, &request, "ana", ViewerChange::On).await;
    fixture.forget();
    look(&fixture, &request, "ana", ViewerChange::On).await;
    assert_eq!(fixture.heard("ana"), [""; 0]);
    look(&fixture, &request, "bo", ViewerChange::On).await;
    assert_eq!(fixture.heard("ana"), ["changed"]);
    look(&fixture, &request, "ana", ViewerChange::Off).await;
    assert!(fixture.room.requests().await.unwrap()[0].clock.paused_ms.is_some());
    fixture.room.leave("bo".into()).await;
    assert!(fixture.room.requests().await.unwrap()[0].clock.paused_ms.is_none());
}

#[tokio::test]
async fn the_time_someone_looked_is_not_lost_when_the_server_restarts() {
    let mut fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    for _ in 0..40 {
        look(&fixture, &request, "ana", ViewerChange::On).await;
        fixture.clock.advance_ms(10_000);
    }
    fixture.restarts().await;
    assert_eq!(expiry(&fixture).await, (None, Some(START_MS + 700_000)));
}

#[tokio::test]
async fn a_request_goes_on_counting_down_after_a_crash() {
    let mut fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.clock.advance_ms(100_000);
    fixture.starts().await;
    assert_eq!(fixture.room.requests().await.unwrap()[0].id(), request.id());
    fixture.clock.advance_ms(200_000);
    assert!(!is_open(&fixture).await);
}

#[tokio::test]
async fn what_someone_was_reading_has_its_time_left_after_a_crash() {
    let mut fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.clock.advance_ms(100_000);
    look(&fixture, &request, "ana", ViewerChange::On).await;
    fixture.clock.advance_ms(400_000);
    fixture.starts().await;
    assert_eq!(expiry(&fixture).await, (None, Some(START_MS + 700_000)));
    // The resumed countdown is stored: another crash does not extend it further.
    fixture.clock.advance_ms(150_000);
    fixture.starts().await;
    assert_eq!(expiry(&fixture).await, (None, Some(START_MS + 700_000)));
    fixture.clock.advance_ms(50_000);
    assert!(!is_open(&fixture).await);
    assert_eq!(fixture.kept(&request).await.status, RequestStatus::Expired);
}

#[tokio::test]
async fn a_request_of_an_older_version_stands_on_its_words_after_a_crash() {
    let mut fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    for word in ["a", "b", "c"] {
        fixture.writes("bo", 0, 0, word).await;
    }
    let before = fixture.room.requests().await.unwrap();
    fixture.starts().await;
    assert_eq!(fixture.kept(&request).await.version, Version(0));
    assert_eq!(fixture.room.requests().await.unwrap(), before);
    assert_eq!(before[0].hunks[0].parts[0].from, 10);
}

#[tokio::test]
async fn people_can_ask_for_more_time() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    fixture.clock.advance_ms(200_000);
    fixture.forget();
    let extended = fixture.room.extend(request.id().clone(), who("bo")).await.unwrap();
    assert_eq!(extended.clock.expires_ms, Some(START_MS + 600_000));
    assert_eq!(fixture.heard("ana"), ["changed"]);
    assert_eq!(fixture.kept(&request).await.clock.expires_ms, Some(START_MS + 600_000));
}

#[tokio::test]
async fn there_is_no_more_time_than_an_outside_caller_has() {
    let fixture = RoomFixture::with(OLD).await;
    let deadline_ms = Some(START_MS + 400_000);
    let new = new_request("req_1".into(), &fixture.now().await, NEW, ApprovalMode::Ask);
    fixture.room.propose(NewApprovalRequest { deadline_ms, ..new }).await.unwrap();
    let extend = async || fixture.room.extend("req_1".into(), who("bo")).await;
    assert_eq!(extend().await.unwrap().clock.ends_ms(), deadline_ms);
    let before = fixture.room.requests().await.unwrap();
    let refused = extend().await;
    assert!(matches!(refused, Err(RoomError::Decision(_))), "{refused:?}");
    assert_eq!(fixture.room.requests().await.unwrap(), before);
}

#[tokio::test]
async fn the_room_wakes_by_itself_when_a_request_is_due() {
    let mut fixture = RoomFixture::with(OLD).await;
    fixture.clock = WallClock::system();
    fixture.restarts().await;
    let own = OwnSettings { timeout_ms: Some(1), ..OwnSettings::default() };
    fixture.room.configure(SettingsChange { own, frozen: None }, who("ana")).await.unwrap();
    let request = fixture.proposes(NEW).await;
    let settled = fixture.room.resolution(request.id().clone()).await.unwrap();
    assert_eq!(settled.resolution.status, RequestStatus::Expired);
}
