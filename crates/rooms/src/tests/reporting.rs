//! Report for the model before a decision is taken: as the room would judge it, and nothing
//! changes.

use super::fixture::{RoomFixture, code, hunk, issue, only};
use super::who;
use crate::command::{NewRule, SettingsChange, UntakenDecision};
use crate::settings::OwnSettings;
use crate::{RoomError, RoomResult};
use copydesk_approvals::{
    ApprovalRequest, Decision, DecisionPolicy, EVERY_TOOL, HunkChoice, HunkVerdict, RememberWish,
    ReportState, RequestVerdict, RuleEffect, RuleScope, ToolPolicy, ToolReport,
};
use copydesk_ids::RuleId;

const OLD: &str = "It was cold. It was late. It was dark.";
const NEW: &str = "It was warm. It was early. It was light.";

fn approve() -> Decision {
    Decision::plain(RequestVerdict::Approve)
}

/// Asks as Bo what the model would learn; checks that nothing has changed by that.
async fn would_be_told(
    fixture: &RoomFixture,
    request: &ApprovalRequest,
    decision: Decision,
) -> RoomResult<(ToolReport, ReportState)> {
    let before = (fixture.kept(request).await, fixture.text().await);
    fixture.forget();
    let request_id = request.id().clone();
    let untaken = UntakenDecision { request: request_id, decision, by: who("bo"), fresh: None };
    let report = fixture.room.report_decision(untaken).await;
    assert_eq!(fixture.heard("ana"), [""; 0]);
    assert_eq!((fixture.kept(request).await, fixture.text().await), before);
    report
}

/// Takes a decision as Bo after asking what the model would learn of it, and compares the two.
async fn is_told_alike(
    fixture: &RoomFixture,
    request: &ApprovalRequest,
    decision: Decision,
) -> RoomResult<ReportState> {
    let would = would_be_told(fixture, request, decision.clone()).await;
    match (would, fixture.decides("bo", request, decision).await) {
        (Ok(would), Ok(taken)) => {
            assert_eq!(would, (taken.report(), taken.report_state()));
            Ok(would.1)
        }
        (Err(would), Err(refused)) => {
            assert_eq!(would.to_string(), refused.to_string());
            Err(would)
        }
        other => panic!("{other:?}"),
    }
}

async fn set(fixture: &RoomFixture, own: OwnSettings, frozen: &[(usize, usize)]) {
    let version = fixture.now().await.version;
    let frozen = (!frozen.is_empty()).then(|| (version, frozen.to_vec()));
    fixture.room.configure(SettingsChange { own, frozen }, who("ana")).await.unwrap();
}

#[tokio::test]
async fn changes_on_frozen_words_are_still_open_in_the_report() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    set(&fixture, OwnSettings::default(), &[(0, 12)]).await;
    let state = is_told_alike(&fixture, &request, approve()).await.unwrap();
    let ReportState::Waiting { so_far } = state else { panic!("{state:?}") };
    assert!(so_far.contains("pending: \"cold\""), "{so_far}");
    let named = HunkVerdict::plain(hunk(&request, 1), HunkChoice::Accept);
    let refused = is_told_alike(&fixture, &request, only(vec![named])).await;
    assert_eq!(code(refused), "invalid_decision");
}

#[tokio::test]
async fn words_of_ones_own_over_a_size_are_one_vote_of_two_in_the_report() {
    let fixture = RoomFixture::with(OLD).await;
    for name in ["ana", "bo"] {
        issue(&fixture, name, None).await;
    }
    let request = fixture.proposes(NEW).await;
    let large =
        ToolPolicy { tool: None, over: Some(100), policy: DecisionPolicy::Two, marks: None };
    set(&fixture, OwnSettings { policies: Some(vec![large]), ..OwnSettings::default() }, &[]).await;
    let own = |number: usize, text: String| {
        let verdict = HunkVerdict::plain(hunk(&request, number), HunkChoice::Accept);
        only(vec![HunkVerdict { text: Some(text), ..verdict }])
    };
    let state = is_told_alike(&fixture, &request, own(1, "x".repeat(200))).await.unwrap();
    let ReportState::Waiting { so_far } = state else { panic!("{state:?}") };
    assert!(so_far.contains("pending: \"cold\""), "{so_far}");
    let state = is_told_alike(&fixture, &request, own(2, "soon".into())).await.unwrap();
    let ReportState::Waiting { so_far } = state else { panic!("{state:?}") };
    assert!(so_far.contains("accepted, edited by the user: \"late\""), "{so_far}");
}

#[tokio::test]
async fn a_decision_that_a_rule_denies_is_told_no_one() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    let (id, scope) = (RuleId::generate(), RuleScope::Document);
    let remember =
        RememberWish { id, scope, path: None, max_units: None, author: None, unmarked: false };
    let (effect, tool) = (RuleEffect::Deny, EVERY_TOOL.to_owned());
    let deny = NewRule { remember, effect, over: None, tool, session: "ses_1".into() };
    fixture.room.add_rule(deny, who("ana")).await.unwrap();
    let refused = is_told_alike(&fixture, &request, approve()).await;
    assert_eq!(code(refused), "not_allowed");
}

#[tokio::test]
async fn of_a_request_that_has_ended_nothing_would_be_told() {
    let fixture = RoomFixture::with(OLD).await;
    let request = fixture.proposes(NEW).await;
    let reject = Decision::plain(RequestVerdict::Reject);
    let state = is_told_alike(&fixture, &request, reject).await.unwrap();
    assert_eq!(state, ReportState::Complete);
    let late = would_be_told(&fixture, &request, approve()).await;
    assert!(matches!(late, Err(RoomError::NoRequest)), "{late:?}");
}
