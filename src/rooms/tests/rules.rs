//! Rules made with an approval: stored with it, applied when a proposal arrives, ended by people or
//! with their session.

use std::sync::Arc;

use serde_json::json;

use super::desk::{RoomFixture, START_MS, code, issue};
use super::who;
use crate::approvals::{
    ApprovalRequest, ApprovalRule, Decision, DecisionPolicy, HunkStatus, RememberWish,
    RequestStatus, RequestVerdict, RuleScope, ToolPolicy,
};
use crate::rooms::RoomError;
use crate::rooms::command::{ApprovalMode, ProposalOutcome, SettingsChange};
use crate::rooms::event::RoomEvent;
use crate::rooms::settings::OwnSettings;
use crate::rooms::state::rules::MOST_RULES;
use crate::store::{SessionRecord, StoreOp};

const OLD: &str = "It was cold. It was late. It was dark.";
/// Text with a change of eight UTF-16 units: "cold" is deleted, "warm" inserted.
const SMALL: &str = "It was warm. It was late. It was dark.";
const LARGE: &str = "It was warm. It was early. It was light.";

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

fn remembering(scope: RuleScope, max_units: Option<usize>) -> Decision {
    let id = crate::ids::RuleId::generate();
    let remember = Some(RememberWish { id, scope, path: None, max_units });
    Decision { remember, ..Decision::plain(RequestVerdict::Approve) }
}

/// Creates a document, tokens of people, so that their permissions can be looked up, and the
/// session that asks.
async fn with_people(text: &str) -> RoomFixture {
    let desk = RoomFixture::with(text).await;
    for name in ["ana", "bo", "cy"] {
        issue(&desk, name, None).await;
    }
    use_session(&desk, START_MS).await;
    desk
}

async fn use_session(desk: &RoomFixture, seen_ms: u64) {
    let session = SessionRecord {
        id: "ses_1".into(),
        user: "bo".into(),
        created_ms: START_MS,
        seen_ms,
        permission_mode: None,
        body: json!({}),
    };
    desk.store.commit(StoreOp::PutSession(session)).await.unwrap();
}

/// Approves a small correction with a rule for the future, and then restores the text.
async fn remembers(
    desk: &RoomFixture,
    name: &str,
    scope: RuleScope,
    max_units: usize,
) -> Arc<ApprovalRule> {
    let request = desk.proposes(SMALL).await;
    let decision = remembering(scope, Some(max_units));
    desk.decides(name, &request, decision).await.unwrap();
    desk.undoes("ana", &request).await.unwrap();
    desk.rejects("ana", &request).await;
    desk.forget();
    desk.room.rules().await.unwrap().last().unwrap().clone()
}

/// Proposes this text for a run that Bo started; returns the immediate outcome.
async fn proposing(desk: &RoomFixture, text: &str) -> ProposalOutcome {
    let now = desk.now().await;
    desk.proposes_on(&now, text, ApprovalMode::Ask).await.unwrap()
}

async fn asks(desk: &RoomFixture, text: &str) -> Arc<ApprovalRequest> {
    match proposing(desk, text).await {
        ProposalOutcome::Waiting(request) => request,
        other => panic!("nobody was asked: {other:?}"),
    }
}

async fn status(desk: &RoomFixture, text: &str) -> RequestStatus {
    match proposing(desk, text).await {
        ProposalOutcome::Resolved(settled) => settled.resolution.status,
        ProposalOutcome::Waiting(request) => request.status,
        other => panic!("{other:?}"),
    }
}

async fn policies(desk: &RoomFixture, own: OwnSettings) -> Result<(), RoomError> {
    desk.room.configure(SettingsChange { own, frozen: None }, who("ana")).await.map(drop)
}

async fn policy(desk: &RoomFixture, policy: DecisionPolicy) {
    let own = OwnSettings { policy: Some(policy), ..OwnSettings::default() };
    policies(desk, own).await.unwrap();
}

#[tokio::test]
async fn a_rule_lets_a_small_change_through_and_everyone_sees_the_card_and_the_end_of_it() {
    let desk = with_people(OLD).await;
    let rule = remembers(&desk, "ana", RuleScope::Document, 8).await;
    assert_eq!(status(&desk, SMALL).await, RequestStatus::Approved);
    assert_eq!(desk.text().await, SMALL);
    let events = desk.events("ana");
    let [
        RoomEvent::Requested(asked),
        RoomEvent::Updates { updates, drop, .. },
        RoomEvent::Resolved(ended),
    ] = events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert_eq!((asked.status, updates.len(), drop.len()), (RequestStatus::Pending, 1, 1));
    let closed = ended.closed.clone().unwrap();
    assert_eq!((closed.by.unwrap().name.as_str(), closed.rule.as_ref()), ("ANA", Some(rule.id())));
}

#[tokio::test]
async fn one_unit_more_than_the_rule_allows_asks() {
    let desk = with_people(OLD).await;
    remembers(&desk, "ana", RuleScope::Document, 8).await;
    let request = asks(&desk, "It was warmer. It was late. It was dark.").await;
    assert_eq!(request.units(), Some(10));
    assert_eq!(asks(&desk, LARGE).await.status, RequestStatus::Pending);
    assert_eq!(desk.text().await, OLD);
}

#[tokio::test]
async fn an_automatic_approval_is_an_update_of_the_rules_maker_and_the_log_names_the_rule() {
    let desk = with_people(OLD).await;
    let rule = remembers(&desk, "cy", RuleScope::Document, 8).await;
    status(&desk, SMALL).await;
    let history = desk.store.history(desk.room.document(), None, 1).await.unwrap();
    assert_eq!(history[0].author, who("cy").user);
    let line = &desk.store.audit(Some(desk.room.document()), None, 1).await.unwrap()[0].entry;
    assert_eq!((line.action.as_str(), line.actor.as_str()), ("request.decide", "cy"));
    assert_eq!(line.detail["decision"]["rule"], rule.id().as_str());
    desk.store.verify_audit().await.unwrap();
}

#[tokio::test]
async fn making_and_revoking_a_rule_is_in_the_log_and_told() {
    let desk = with_people(OLD).await;
    let request = desk.proposes(SMALL).await;
    desk.forget();
    desk.decides("cy", &request, remembering(RuleScope::Document, Some(8))).await.unwrap();
    assert_eq!(desk.heard("ana"), ["updates 0..1 -1", "rules 1", "resolved approved"]);
    let rule = desk.room.rules().await.unwrap()[0].clone();
    desk.room.revoke(rule.id().clone(), who("cy")).await.unwrap();
    assert_eq!(desk.heard("ana"), ["rules 0"]);
    let lines = desk.store.audit(Some(desk.room.document()), None, 9).await.unwrap();
    let actions: Vec<_> = lines.iter().map(|line| line.entry.action.as_str()).collect();
    assert_eq!(actions[..3], ["rule.revoke", "rule.create", "request.decide"]);
    assert_eq!(lines[1].entry.detail["max_units"], 8);
    desk.store.verify_audit().await.unwrap();
}

#[tokio::test]
async fn what_a_rule_approved_can_be_undone_and_is_then_asked_about() {
    let desk = with_people(OLD).await;
    remembers(&desk, "ana", RuleScope::Document, 8).await;
    let ProposalOutcome::Resolved(settled) = proposing(&desk, SMALL).await else {
        panic!("it asked")
    };
    let ended = settled.resolution.request.clone();
    let undo =
        crate::rooms::command::UndoChange { request: ended, hunks: None, force: false, seen: None };
    let again = desk.room.undo(undo, who("cy")).await.unwrap();
    assert_eq!((again.status, desk.text().await.as_str()), (RequestStatus::Pending, OLD));
    assert_eq!(again.hunks[0].status, HunkStatus::Pending);
    assert_eq!(again.hunks[0].decided, None);
}

#[tokio::test]
async fn a_rule_survives_a_restart_and_a_revoked_one_does_not_come_back() {
    let mut desk = with_people(OLD).await;
    let rule = remembers(&desk, "ana", RuleScope::Document, 8).await;
    desk.starts().await;
    assert_eq!(desk.room.rules().await.unwrap(), std::slice::from_ref(&rule));
    desk.room.revoke(rule.id().clone(), who("ana")).await.unwrap();
    desk.starts().await;
    assert_eq!(desk.room.rules().await.unwrap(), []);
    asks(&desk, SMALL).await;
}

#[tokio::test]
async fn a_rule_that_was_not_kept_does_not_exist() {
    let desk = with_people(OLD).await;
    let request = desk.proposes(SMALL).await;
    desk.forget();
    desk.store.close().await;
    let lost = desk.decides("ana", &request, remembering(RuleScope::Document, Some(8))).await;
    assert!(matches!(lost, Err(RoomError::Store(_))), "{lost:?}");
    assert_eq!(desk.heard("ana"), [""; 0]);
}

#[tokio::test]
async fn a_rule_of_somebody_whose_token_was_revoked_or_whose_role_changed_asks() {
    let desk = with_people(OLD).await;
    remembers(&desk, "cy", RuleScope::Document, 8).await;
    issue(&desk, "cy", Some(START_MS)).await;
    let request = asks(&desk, SMALL).await;
    desk.rejects("ana", &request).await;
    issue(&desk, "cy", None).await;
    assert_eq!(status(&desk, SMALL).await, RequestStatus::Approved);
}

#[tokio::test]
async fn the_policy_of_the_moment_counts_for_rules_too() {
    let desk = with_people(OLD).await;
    remembers(&desk, "bo", RuleScope::Document, 8).await;
    // Bo asks, so Bo's rule is the requester's.
    policy(&desk, DecisionPolicy::NotRequester).await;
    let request = asks(&desk, SMALL).await;
    desk.rejects("ana", &request).await;
    policy(&desk, DecisionPolicy::Owner).await;
    let request = asks(&desk, SMALL).await;
    desk.rejects("ana", &request).await;
    policy(&desk, DecisionPolicy::Any).await;
    assert_eq!(status(&desk, SMALL).await, RequestStatus::Approved);
}

#[tokio::test]
async fn where_two_must_agree_a_rule_is_one_vote_and_two_rules_are_two() {
    let desk = with_people(OLD).await;
    remembers(&desk, "bo", RuleScope::Document, 8).await;
    policy(&desk, DecisionPolicy::Two).await;
    let request = asks(&desk, SMALL).await;
    assert_eq!((request.votes().have, desk.text().await.as_str()), (1, OLD));
    assert_eq!(
        code(desk.decides("vic", &request, remembering(RuleScope::Document, None)).await),
        "not_allowed"
    );
    let accepted =
        desk.decides("cy", &request, remembering(RuleScope::Document, Some(8))).await.unwrap();
    assert_eq!((accepted.status, desk.text().await.as_str()), (RequestStatus::Approved, SMALL));
    assert_eq!(status(&desk, OLD).await, RequestStatus::Approved);
    assert_eq!(desk.text().await, OLD);
}

#[tokio::test]
async fn a_vote_of_a_rule_is_told_like_any_vote() {
    let desk = with_people(OLD).await;
    remembers(&desk, "bo", RuleScope::Document, 8).await;
    policy(&desk, DecisionPolicy::Two).await;
    desk.forget();
    asks(&desk, SMALL).await;
    assert_eq!(desk.heard("ana"), ["requested", "changed"]);
}

#[tokio::test]
async fn frozen_words_are_never_changed_by_a_rule() {
    let desk = with_people(OLD).await;
    remembers(&desk, "ana", RuleScope::Document, 8).await;
    let version = desk.now().await.version;
    let configure =
        SettingsChange { own: OwnSettings::default(), frozen: Some((version, vec![(0, 12)])) };
    desk.room.configure(configure, who("ana")).await.unwrap();
    assert!(matches!(proposing(&desk, SMALL).await, ProposalOutcome::Frozen(_)));
    assert_eq!(desk.text().await, OLD);
}

#[tokio::test]
async fn only_its_maker_or_an_owner_revokes_a_rule_and_only_once() {
    let mut desk = with_people(OLD).await;
    let rule = remembers(&desk, "cy", RuleScope::Document, 8).await.id().clone();
    let by_another = desk.room.revoke(rule.clone(), who("bo")).await;
    assert!(matches!(by_another, Err(RoomError::NotAllowed)), "{by_another:?}");
    let first = desk.room.revoke(rule.clone(), who("ana"));
    let second = desk.room.revoke(rule.clone(), who("cy"));
    let (first, second) = tokio::join!(first, second);
    first.unwrap();
    assert_eq!(second.unwrap_err().to_string(), "this rule was already revoked, by ANA");
    desk.starts().await;
    let late = desk.room.revoke(rule, who("cy")).await;
    assert!(matches!(late, Err(RoomError::RuleEnded(_))), "{late:?}");
    let unknown = desk.room.revoke("rul_none".into(), who("ana")).await;
    assert!(matches!(unknown, Err(RoomError::NoRule)), "{unknown:?}");
}

#[tokio::test]
async fn a_rule_of_another_document_is_not_there() {
    let desk = with_people(OLD).await;
    let rule = remembers(&desk, "ana", RuleScope::Document, 8).await.id().clone();
    let other = crate::rooms::NewDocument { text: OLD.into(), ..Default::default() };
    let other = desk.rooms.create(other, &who("ana")).await.unwrap();
    assert_eq!(other.rules().await.unwrap(), []);
    assert!(matches!(other.revoke(rule, who("ana")).await, Err(RoomError::NoRule)));
}

#[tokio::test]
async fn a_rule_for_the_session_ends_with_it() {
    let desk = with_people(OLD).await;
    remembers(&desk, "ana", RuleScope::Session, 8).await;
    assert_eq!(status(&desk, SMALL).await, RequestStatus::Approved);
    desk.forget();
    desk.clock.advance_ms(31 * DAY_MS);
    asks(&desk, OLD).await;
    assert_eq!(desk.heard("ana"), ["rules 0", "requested"]);
    let line = &desk.store.audit(Some(desk.room.document()), None, 2).await.unwrap()[1].entry;
    assert_eq!((line.action.as_str(), line.actor.as_str()), ("rule.expire", "server"));
}

#[tokio::test]
async fn a_rule_for_a_session_that_is_over_is_not_listed_and_one_for_the_document_stays() {
    let desk = with_people(OLD).await;
    remembers(&desk, "ana", RuleScope::Session, 7).await;
    remembers(&desk, "ana", RuleScope::Document, 8).await;
    assert_eq!(desk.room.rules().await.unwrap().len(), 2);
    desk.clock.advance_ms(31 * DAY_MS);
    let left = desk.room.rules().await.unwrap();
    assert_eq!(
        left.iter().map(|rule| rule.remember.scope).collect::<Vec<_>>(),
        [RuleScope::Document]
    );
}

#[tokio::test]
async fn the_same_wish_twice_is_one_rule() {
    let desk = with_people(OLD).await;
    let first = remembers(&desk, "ana", RuleScope::Document, 7).await;
    let request = asks(&desk, SMALL).await;
    desk.forget();
    desk.decides("ana", &request, remembering(RuleScope::Document, Some(7))).await.unwrap();
    assert_eq!(desk.room.rules().await.unwrap(), [first]);
    assert_eq!(desk.heard("ana"), ["updates 2..3 -1", "resolved approved"]);
}

#[tokio::test]
async fn a_document_has_so_many_rules_and_the_decision_says_so() {
    let desk = with_people(OLD).await;
    let request = desk.proposes(SMALL).await;
    for units in 1..=MOST_RULES {
        let decision = remembering(RuleScope::Document, Some(100_000 + units));
        let decided = desk.decides("ana", &request, decision).await.unwrap();
        assert_eq!(decided.status, RequestStatus::Approved);
        desk.undoes("ana", &request).await.unwrap();
    }
    let refused = desk.decides("ana", &request, remembering(RuleScope::Document, Some(8))).await;
    assert!(matches!(refused, Err(RoomError::Invalid(_))), "{refused:?}");
    assert_eq!(desk.text().await, OLD);
}

#[tokio::test]
async fn a_policy_for_large_changes_leaves_small_ones_alone_and_is_on_the_card() {
    let desk = with_people(OLD).await;
    let small = desk.proposes(SMALL).await;
    let large = desk.proposes(LARGE).await;
    desk.forget();
    let owner = ToolPolicy { tool: None, over: Some(8), policy: DecisionPolicy::Owner };
    let own = OwnSettings { policies: Some(vec![owner]), ..OwnSettings::default() };
    policies(&desk, own).await.unwrap();
    assert_eq!(desk.heard("ana"), ["settings", "changed"]);
    let plain = || Decision::plain(RequestVerdict::Approve);
    assert_eq!(code(desk.decides("cy", &large, plain()).await), "not_allowed");
    assert_eq!(desk.kept(&large).await.proposal.policy, DecisionPolicy::Owner.into());
    assert_eq!(desk.accepts("cy", &small).await, RequestStatus::Approved);
    let fresh = asks(&desk, "It was hot. It was early. It was light.").await;
    assert_eq!(fresh.proposal.policy, DecisionPolicy::Owner.into());
}

#[tokio::test]
async fn policies_stay_over_a_restart_and_go_when_replaced_by_none() {
    let mut desk = with_people(OLD).await;
    let tool = Some("update_full_document".to_owned());
    let two = ToolPolicy { tool, over: None, policy: DecisionPolicy::Two };
    let own = OwnSettings { policies: Some(vec![two.clone()]), ..OwnSettings::default() };
    policies(&desk, own).await.unwrap();
    desk.starts().await;
    assert_eq!(desk.now().await.settings.policies, [two]);
    let own = OwnSettings { policies: Some(Vec::new()), ..OwnSettings::default() };
    policies(&desk, own).await.unwrap();
    assert_eq!(desk.now().await.settings.policies, []);
}

#[tokio::test]
async fn two_cannot_be_asked_for_in_a_corner_either_where_there_is_one() {
    let desk = RoomFixture::with(OLD).await;
    issue(&desk, "ana", None).await;
    let two = ToolPolicy { tool: Some("Bash".into()), over: None, policy: DecisionPolicy::Two };
    let own = OwnSettings { policies: Some(vec![two.clone()]), ..OwnSettings::default() };
    assert!(matches!(policies(&desk, own).await, Err(RoomError::Invalid(_))));
    let many = vec![ToolPolicy { policy: DecisionPolicy::Owner, ..two.clone() }; 51];
    let nameless =
        vec![ToolPolicy { tool: Some(String::new()), policy: DecisionPolicy::Owner, ..two }];
    for bad in [many, nameless] {
        let own = OwnSettings { policies: Some(bad), ..OwnSettings::default() };
        assert!(matches!(policies(&desk, own).await, Err(RoomError::Invalid(_))));
    }
}

#[tokio::test]
async fn a_vote_that_comes_to_nothing_makes_no_rule() {
    let desk = with_people(OLD).await;
    policy(&desk, DecisionPolicy::Two).await;
    let request = desk.proposes(SMALL).await;
    let decision = remembering(RuleScope::Document, Some(8));
    desk.decides("ana", &request, decision).await.unwrap();
    assert!(desk.room.rules().await.unwrap().is_empty());
    desk.rejects("bo", &request).await;
    assert!(desk.room.rules().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_vote_makes_its_rule_once_the_change_is_accepted() {
    let mut desk = with_people(OLD).await;
    policy(&desk, DecisionPolicy::Two).await;
    let request = desk.proposes(SMALL).await;
    desk.decides("ana", &request, remembering(RuleScope::Document, Some(8))).await.unwrap();
    desk.restarts().await;
    desk.clock.advance_ms(1_000);
    desk.accepts("bo", &request).await;
    let rules = desk.room.rules().await.unwrap();
    let made: Vec<_> = rules.iter().map(|it| (it.by.user.as_str(), it.at_ms)).collect();
    assert_eq!(made, [("ana", START_MS + 1_000)]);
    assert!(desk.kept(&request).await.wishes.is_empty());
}
