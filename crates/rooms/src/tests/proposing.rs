//! Proposals: held, returned to the model, or applied at once.

use super::fixture::{RoomFixture, new_request};
use super::who;
use crate::RoomError;
use crate::command::{ApprovalMode, ProposalOutcome, SettingsChange};
use crate::settings::OwnSettings;
use copydesk_approvals::ApprovalSwitch;
use copydesk_approvals::{HunkStatus, RequestStatus, UnaskedReason};
use copydesk_ids::{RequestId, Version};

#[tokio::test]
async fn a_request_is_durable_before_anybody_is_told_of_it() {
    let fixture = RoomFixture::with("It was cold.").await;
    fixture.forget();
    let before = fixture.store.counts().batches;
    let request = fixture.proposes("It was warm.").await;
    assert_eq!(fixture.kept_when_told(), before + 1);
    assert_eq!(fixture.kept(&request).await, *request);
    assert_eq!(fixture.heard("ana"), ["requested"]);
    assert_eq!(fixture.text().await, "It was cold.");
}

#[tokio::test]
async fn a_proposal_on_an_older_text_is_mapped_to_today() {
    let fixture = RoomFixture::with("It was cold.").await;
    let read = fixture.now().await;
    fixture.writes("ana", 0, 0, "Yes. ").await;
    let proposed = fixture.proposes_on(&read, "It was warm.", ApprovalMode::Ask).await.unwrap();
    let ProposalOutcome::Waiting(request) = proposed else { panic!("{proposed:?}") };
    assert_eq!((request.version, request.hunks[0].parts[0].from), (Version(1), 12));
}

#[tokio::test]
async fn a_proposal_on_a_text_from_before_a_restart_is_mapped_too() {
    let mut fixture = RoomFixture::with("It was cold.").await;
    let read = fixture.now().await;
    fixture.writes("ana", 0, 0, "Yes. ").await;
    fixture.restarts().await;
    let proposed = fixture.proposes_on(&read, "It was warm.", ApprovalMode::Ask).await.unwrap();
    let ProposalOutcome::Waiting(request) = proposed else { panic!("{proposed:?}") };
    assert_eq!(request.hunks[0].parts[0].from, 12);
}

#[tokio::test]
async fn what_people_changed_meanwhile_goes_back_to_the_agent() {
    let fixture = RoomFixture::with("It was cold.").await;
    let read = fixture.now().await;
    fixture.writes("ana", 7, 11, "freezing").await;
    fixture.forget();
    let proposed = fixture.proposes_on(&read, "It was warm.", ApprovalMode::Ask).await.unwrap();
    let ProposalOutcome::Conflicted(conflict) = proposed else { panic!("{proposed:?}") };
    assert!(conflict.contains("freezing"), "{conflict}");
    assert_eq!(fixture.heard("ana"), [""; 0]);
}

#[tokio::test]
async fn a_proposal_that_is_made_again_is_the_same_one() {
    let fixture = RoomFixture::with("It was cold.").await;
    let read = fixture.now().await;
    let new = || new_request("req_1".into(), &read, "It was warm.", ApprovalMode::Ask);
    fixture.room.propose(new()).await.unwrap();
    fixture.forget();
    let again = fixture.room.propose(new()).await.unwrap();
    assert!(matches!(again, ProposalOutcome::Waiting(request) if request.id().as_str() == "req_1"));
    assert_eq!(fixture.heard("ana"), [""; 0]);
}

#[tokio::test]
async fn a_proposal_that_is_made_again_after_it_was_decided_and_a_restart_is_not_applied_twice() {
    let mut fixture = RoomFixture::with("It was cold.").await;
    let read = fixture.now().await;
    let new = || new_request("req_1".into(), &read, "It was warm.", ApprovalMode::Ask);
    let ProposalOutcome::Waiting(request) = fixture.room.propose(new()).await.unwrap() else {
        panic!()
    };
    fixture.accepts("ana", &request).await;
    fixture.restarts().await;
    let ProposalOutcome::Resolved(settled) = fixture.room.propose(new()).await.unwrap() else {
        panic!()
    };
    assert_eq!(settled.resolution.status, RequestStatus::Approved);
    let awaited = fixture.room.resolution("req_1".into()).await.unwrap();
    assert_eq!(awaited.resolution, settled.resolution);
    assert_eq!(fixture.text().await, "It was warm.");
}

#[tokio::test]
async fn a_bypassed_proposal_is_shown_applied_and_ended_in_this_order() {
    let fixture = RoomFixture::with("It was cold.").await;
    let read = fixture.now().await;
    fixture.forget();
    let proposed = fixture.proposes_on(&read, "It was warm.", ApprovalMode::Bypass).await.unwrap();
    let ProposalOutcome::Resolved(settled) = proposed else { panic!("{proposed:?}") };
    assert_eq!(settled.reading.text.to_string(), "It was warm.");
    assert_eq!(fixture.heard("ana"), ["requested", "updates 0..1 -1", "resolved approved"]);
    let closed = fixture.kept(&settled.request).await.decisions.closed.unwrap();
    assert_eq!(closed.unasked, Some(UnaskedReason::Bypass));
}

#[tokio::test]
async fn with_approvals_off_no_one_is_asked_whatever_the_policy() {
    let fixture = RoomFixture::with("It was cold.").await;
    let own = OwnSettings {
        approvals: Some(ApprovalSwitch::Off),
        policy: Some(copydesk_approvals::DecisionPolicy::NotRequester),
        ..OwnSettings::default()
    };
    fixture.room.configure(SettingsChange { own, frozen: None }, who("ana")).await.unwrap();
    let read = fixture.now().await;
    let proposed = fixture.proposes_on(&read, "It was warm.", ApprovalMode::Ask).await.unwrap();
    let ProposalOutcome::Resolved(settled) = proposed else { panic!("{proposed:?}") };
    let record = fixture.store.request(&settled.resolution.request).await.unwrap().unwrap();
    assert_eq!(
        (record.status.as_str(), fixture.text().await.as_str()),
        ("approved", "It was warm.")
    );
    let closed = fixture.kept(&settled.request).await.decisions.closed.unwrap();
    assert_eq!(closed.unasked, Some(UnaskedReason::ApprovalsOff));
    let decisions = fixture.store.decisions(&settled.resolution.request).await.unwrap();
    assert_eq!(decisions[0].user, who("bo").user);
}

#[tokio::test]
async fn a_document_has_a_limit_of_open_requests() {
    let fixture = RoomFixture::with("It was cold.").await;
    for _ in 0..64 {
        fixture.proposes("It was warm.").await;
    }
    let read = fixture.now().await;
    let refused = fixture.proposes_on(&read, "It was hot.", ApprovalMode::Ask).await;
    assert!(matches!(refused, Err(RoomError::TooManyRequests { limit: 64 })), "{refused:?}");
}

#[tokio::test]
async fn a_proposal_on_a_version_that_has_not_happened_is_refused() {
    let fixture = RoomFixture::with("It was cold.").await;
    let mut read = fixture.now().await;
    read.version = Version(9);
    let refused = fixture.proposes_on(&read, "It was warm.", ApprovalMode::Ask).await;
    assert!(matches!(refused, Err(RoomError::Ahead { .. })), "{refused:?}");
}

#[tokio::test]
async fn frozen_words_may_not_be_proposed_to_change() {
    let fixture = RoomFixture::with("It was cold. It was late.").await;
    let frozen = Some((Version(0), vec![(0, 12)]));
    let configure = SettingsChange { own: OwnSettings::default(), frozen };
    fixture.room.configure(configure, who("ana")).await.unwrap();
    let read = fixture.now().await;
    let refused =
        fixture.proposes_on(&read, "It was warm. It was early.", ApprovalMode::Bypass).await;
    let Ok(ProposalOutcome::Frozen(frozen)) = refused else { panic!("{refused:?}") };
    assert!(frozen.contains("\"It was cold.\""), "{frozen}");
    assert_eq!(fixture.text().await, "It was cold. It was late.");
    let request = fixture.proposes("It was cold. It was early.").await;
    assert_eq!(request.hunks[0].status, HunkStatus::Pending);
}

#[tokio::test]
async fn waiting_for_a_request_there_never_was_is_refused() {
    let fixture = RoomFixture::with("text").await;
    let refused = fixture.room.resolution(RequestId::from("req_none")).await;
    assert!(matches!(refused, Err(RoomError::NoRequest)), "{refused:?}");
}
