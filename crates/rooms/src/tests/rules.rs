//! Rules made with an approval: stored with it, applied when a proposal arrives, ended by people or
//! with their session.

use std::sync::Arc;

use serde_json::json;

use super::fixture::{RoomFixture, START_MS, code, hunk, issue, only};
use super::who;
use crate::RoomError;
use crate::command::{ApprovalMode, NewRule, ProposalOutcome, SettingsChange};
use crate::event::RoomEvent;
use crate::settings::OwnSettings;
use crate::state::rules::MOST_RULES;
use copydesk_approvals::{
    ApprovalRequest, ApprovalRule, Decision, DecisionPolicy, HunkChoice, HunkStatus, HunkVerdict,
    RememberWish, RequestStatus, RequestVerdict, RuleEffect, RuleScope, ToolPolicy,
};
use copydesk_store::{SessionRecord, StoreOp};

const OLD: &str = "It was cold. It was late. It was dark.";
/// Text with a change of eight UTF-16 units: "cold" is deleted, "warm" inserted.
const SMALL: &str = "It was warm. It was late. It was dark.";
const LARGE: &str = "It was warm. It was early. It was light.";

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

fn remembering(scope: RuleScope, max_units: Option<usize>) -> Decision {
    let id = copydesk_ids::RuleId::generate();
    let remember =
        Some(RememberWish { id, scope, path: None, max_units, author: None, unmarked: false });
    Decision { remember, ..Decision::plain(RequestVerdict::Approve) }
}

/// Creates a document, tokens of people, so that their permissions can be looked up, and the
/// session that asks.
async fn with_people(text: &str) -> RoomFixture {
    let fixture = RoomFixture::with(text).await;
    for name in ["ana", "bo", "cy"] {
        issue(&fixture, name, None).await;
    }
    use_session(&fixture, START_MS).await;
    fixture
}

async fn use_session(fixture: &RoomFixture, seen_ms: u64) {
    let session = SessionRecord {
        id: "ses_1".into(),
        user: "bo".into(),
        created_ms: START_MS,
        seen_ms,
        permission_mode: None,
        body: json!({}),
    };
    fixture.store.commit(StoreOp::PutSession(session)).await.unwrap();
}

/// Approves a small correction with a rule for the future, and then restores the text.
async fn remembers(
    fixture: &RoomFixture,
    name: &str,
    scope: RuleScope,
    max_units: usize,
) -> Arc<ApprovalRule> {
    let request = fixture.proposes(SMALL).await;
    let decision = remembering(scope, Some(max_units));
    fixture.decides(name, &request, decision).await.unwrap();
    fixture.undoes("ana", &request).await.unwrap();
    fixture.rejects("ana", &request).await;
    fixture.forget();
    fixture.room.rules().await.unwrap().last().unwrap().clone()
}

/// Proposes this text for a run that Bo started; returns the immediate outcome.
async fn proposing(fixture: &RoomFixture, text: &str) -> ProposalOutcome {
    let now = fixture.now().await;
    fixture.proposes_on(&now, text, ApprovalMode::Ask).await.unwrap()
}

async fn asks(fixture: &RoomFixture, text: &str) -> Arc<ApprovalRequest> {
    match proposing(fixture, text).await {
        ProposalOutcome::Waiting(request) => request,
        other => panic!("no one was asked: {other:?}"),
    }
}

async fn status(fixture: &RoomFixture, text: &str) -> RequestStatus {
    match proposing(fixture, text).await {
        ProposalOutcome::Resolved(settled) => settled.resolution.status,
        ProposalOutcome::Waiting(request) => request.status,
        other => panic!("{other:?}"),
    }
}

async fn policies(fixture: &RoomFixture, own: OwnSettings) -> Result<(), RoomError> {
    fixture.room.configure(SettingsChange { own, frozen: None }, who("ana")).await.map(drop)
}

async fn policy(fixture: &RoomFixture, policy: DecisionPolicy) {
    let own = OwnSettings { policy: Some(policy), ..OwnSettings::default() };
    policies(fixture, own).await.unwrap();
}

#[tokio::test]
async fn a_rule_lets_a_small_change_through_and_everyone_sees_the_card_and_the_end_of_it() {
    let fixture = with_people(OLD).await;
    let rule = remembers(&fixture, "ana", RuleScope::Document, 8).await;
    assert_eq!(status(&fixture, SMALL).await, RequestStatus::Approved);
    assert_eq!(fixture.text().await, SMALL);
    let events = fixture.events("ana");
    let [
        RoomEvent::Requested(asked),
        RoomEvent::Updates { updates, drop, .. },
        RoomEvent::Resolved(ended),
    ] = events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert_eq!((asked.status, updates.len(), drop.len()), (RequestStatus::Pending, 1, 1));
    let closed = ended.decisions.closed.clone().unwrap();
    assert_eq!((closed.by.unwrap().name.as_str(), closed.rule.as_ref()), ("ANA", Some(rule.id())));
}

#[tokio::test]
async fn one_unit_more_than_the_rule_allows_asks() {
    let fixture = with_people(OLD).await;
    remembers(&fixture, "ana", RuleScope::Document, 8).await;
    let request = asks(&fixture, "It was warmer. It was late. It was dark.").await;
    assert_eq!(request.units(), Some(10));
    assert_eq!(asks(&fixture, LARGE).await.status, RequestStatus::Pending);
    assert_eq!(fixture.text().await, OLD);
}

#[tokio::test]
async fn an_automatic_approval_is_an_update_of_the_rules_maker_and_the_log_names_the_rule() {
    let fixture = with_people(OLD).await;
    let rule = remembers(&fixture, "cy", RuleScope::Document, 8).await;
    status(&fixture, SMALL).await;
    let history = fixture.store.history(fixture.room.document(), None, 1).await.unwrap();
    assert_eq!(history[0].author, who("cy").user);
    let line = &fixture.store.audit(Some(fixture.room.document()), None, 1).await.unwrap()[0].entry;
    assert_eq!((line.action.as_str(), line.actor.as_str()), ("request.decide", "cy"));
    assert_eq!(line.detail["decision"]["rule"], rule.id().as_str());
    fixture.store.verify_audit().await.unwrap();
}

#[tokio::test]
async fn making_and_revoking_a_rule_is_in_the_log_and_told() {
    let fixture = with_people(OLD).await;
    let request = fixture.proposes(SMALL).await;
    fixture.forget();
    fixture.decides("cy", &request, remembering(RuleScope::Document, Some(8))).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["updates 0..1 -1", "rules 1", "resolved approved"]);
    let rule = fixture.room.rules().await.unwrap()[0].clone();
    fixture.room.revoke(rule.id().clone(), who("cy")).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["rules 0"]);
    let lines = fixture.store.audit(Some(fixture.room.document()), None, 9).await.unwrap();
    let actions: Vec<_> = lines.iter().map(|line| line.entry.action.as_str()).collect();
    assert_eq!(actions[..3], ["rule.revoke", "rule.create", "request.decide"]);
    assert_eq!(lines[1].entry.detail["max_units"], 8);
    fixture.store.verify_audit().await.unwrap();
}

#[tokio::test]
async fn what_a_rule_approved_can_be_undone_and_is_then_asked_about() {
    let fixture = with_people(OLD).await;
    remembers(&fixture, "ana", RuleScope::Document, 8).await;
    let ProposalOutcome::Resolved(settled) = proposing(&fixture, SMALL).await else {
        panic!("it asked")
    };
    let ended = settled.resolution.request.clone();
    let undo = crate::command::UndoChange {
        request: ended,
        hunks: None,
        force: false,
        seen: None,
        votes_only: false,
    };
    let again = fixture.room.undo(undo, who("cy")).await.unwrap();
    assert_eq!((again.status, fixture.text().await.as_str()), (RequestStatus::Pending, OLD));
    assert_eq!(again.hunks[0].status, HunkStatus::Pending);
    assert_eq!(again.hunks[0].decided, None);
}

#[tokio::test]
async fn a_rule_survives_a_restart_and_a_revoked_one_does_not_come_back() {
    let mut fixture = with_people(OLD).await;
    let rule = remembers(&fixture, "ana", RuleScope::Document, 8).await;
    fixture.starts().await;
    assert_eq!(fixture.room.rules().await.unwrap(), std::slice::from_ref(&rule));
    fixture.room.revoke(rule.id().clone(), who("ana")).await.unwrap();
    fixture.starts().await;
    assert_eq!(fixture.room.rules().await.unwrap(), []);
    asks(&fixture, SMALL).await;
}

#[tokio::test]
async fn a_rule_that_was_not_kept_does_not_exist() {
    let fixture = with_people(OLD).await;
    let request = fixture.proposes(SMALL).await;
    fixture.forget();
    fixture.store.close().await;
    let lost = fixture.decides("ana", &request, remembering(RuleScope::Document, Some(8))).await;
    assert!(matches!(lost, Err(RoomError::Store(_))), "{lost:?}");
    assert_eq!(fixture.heard("ana"), [""; 0]);
}

#[tokio::test]
async fn a_rule_of_someone_whose_token_was_revoked_or_whose_role_changed_asks() {
    let fixture = with_people(OLD).await;
    remembers(&fixture, "cy", RuleScope::Document, 8).await;
    issue(&fixture, "cy", Some(START_MS)).await;
    let request = asks(&fixture, SMALL).await;
    fixture.rejects("ana", &request).await;
    issue(&fixture, "cy", None).await;
    assert_eq!(status(&fixture, SMALL).await, RequestStatus::Approved);
}

#[tokio::test]
async fn the_policy_of_the_moment_counts_for_rules_too() {
    let fixture = with_people(OLD).await;
    remembers(&fixture, "bo", RuleScope::Document, 8).await;
    // Bo asks, so Bo's rule is the requester's.
    policy(&fixture, DecisionPolicy::NotRequester).await;
    let request = asks(&fixture, SMALL).await;
    fixture.rejects("ana", &request).await;
    policy(&fixture, DecisionPolicy::Owner).await;
    let request = asks(&fixture, SMALL).await;
    fixture.rejects("ana", &request).await;
    policy(&fixture, DecisionPolicy::Any).await;
    assert_eq!(status(&fixture, SMALL).await, RequestStatus::Approved);
}

#[tokio::test]
async fn where_two_must_agree_a_rule_is_one_vote_and_two_rules_are_two() {
    let fixture = with_people(OLD).await;
    remembers(&fixture, "bo", RuleScope::Document, 8).await;
    policy(&fixture, DecisionPolicy::Two).await;
    let request = asks(&fixture, SMALL).await;
    assert_eq!((request.votes().have, fixture.text().await.as_str()), (1, OLD));
    assert_eq!(
        code(fixture.decides("vic", &request, remembering(RuleScope::Document, None)).await),
        "not_allowed"
    );
    let accepted =
        fixture.decides("cy", &request, remembering(RuleScope::Document, Some(8))).await.unwrap();
    assert_eq!((accepted.status, fixture.text().await.as_str()), (RequestStatus::Approved, SMALL));
    assert_eq!(status(&fixture, OLD).await, RequestStatus::Approved);
    assert_eq!(fixture.text().await, OLD);
}

#[tokio::test]
async fn a_vote_of_a_rule_is_told_like_any_vote() {
    let fixture = with_people(OLD).await;
    remembers(&fixture, "bo", RuleScope::Document, 8).await;
    policy(&fixture, DecisionPolicy::Two).await;
    fixture.forget();
    asks(&fixture, SMALL).await;
    assert_eq!(fixture.heard("ana"), ["requested", "changed pending"]);
}

#[tokio::test]
async fn a_rule_that_is_revoked_takes_its_vote_along_durably_and_people_are_told() {
    let mut fixture = with_people(OLD).await;
    let rule = remembers(&fixture, "bo", RuleScope::Document, 8).await;
    policy(&fixture, DecisionPolicy::Two).await;
    let request = asks(&fixture, SMALL).await;
    let other = asks(&fixture, LARGE).await;
    fixture.decides("cy", &other, Decision::plain(RequestVerdict::Approve)).await.unwrap();
    fixture.forget();
    fixture.room.revoke(rule.id().clone(), who("ana")).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["rules 0", "changed pending"]);
    assert_eq!(fixture.kept(&request).await.votes().have, 0);
    assert_eq!(fixture.kept(&other).await.votes().have, 1, "a vote of a person stays");
    fixture.starts().await;
    assert_eq!(fixture.accepts("cy", &request).await, RequestStatus::Pending);
    assert_eq!(fixture.text().await, OLD);
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Approved);
    fixture.store.verify_audit().await.unwrap();
}

#[tokio::test]
async fn a_rule_that_ends_with_its_session_takes_its_vote_along() {
    let fixture = with_people(OLD).await;
    remembers(&fixture, "bo", RuleScope::Session, 8).await;
    let (policy, timeout_ms) = (Some(DecisionPolicy::Two), Some(0));
    policies(&fixture, OwnSettings { policy, timeout_ms, ..OwnSettings::default() }).await.unwrap();
    let request = asks(&fixture, SMALL).await;
    assert_eq!(request.votes().have, 1);
    fixture.clock.advance_ms(31 * DAY_MS);
    assert_eq!(fixture.accepts("cy", &request).await, RequestStatus::Pending);
    assert_eq!(fixture.kept(&request).await.votes().have, 1, "that of Cy");
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Approved);
}

#[tokio::test]
async fn frozen_words_are_never_changed_by_a_rule() {
    let fixture = with_people(OLD).await;
    remembers(&fixture, "ana", RuleScope::Document, 8).await;
    let version = fixture.now().await.version;
    let configure =
        SettingsChange { own: OwnSettings::default(), frozen: Some((version, vec![(0, 12)])) };
    fixture.room.configure(configure, who("ana")).await.unwrap();
    assert!(matches!(proposing(&fixture, SMALL).await, ProposalOutcome::Frozen(_)));
    assert_eq!(fixture.text().await, OLD);
}

#[tokio::test]
async fn only_its_maker_or_an_owner_revokes_a_rule_and_only_once() {
    let mut fixture = with_people(OLD).await;
    let rule = remembers(&fixture, "cy", RuleScope::Document, 8).await.id().clone();
    let by_another = fixture.room.revoke(rule.clone(), who("bo")).await;
    assert!(matches!(by_another, Err(RoomError::NotAllowed)), "{by_another:?}");
    let first = fixture.room.revoke(rule.clone(), who("ana"));
    let second = fixture.room.revoke(rule.clone(), who("cy"));
    let (first, second) = tokio::join!(first, second);
    first.unwrap();
    assert_eq!(second.unwrap_err().to_string(), "this rule was already revoked, by ANA");
    fixture.starts().await;
    let late = fixture.room.revoke(rule, who("cy")).await;
    assert!(matches!(late, Err(RoomError::RuleEnded(_))), "{late:?}");
    let unknown = fixture.room.revoke("rul_none".into(), who("ana")).await;
    assert!(matches!(unknown, Err(RoomError::NoRule)), "{unknown:?}");
}

#[tokio::test]
async fn a_rule_of_another_document_is_not_there() {
    let fixture = with_people(OLD).await;
    let rule = remembers(&fixture, "ana", RuleScope::Document, 8).await.id().clone();
    let other = crate::NewDocument { text: OLD.into(), ..Default::default() };
    let other = fixture.rooms.create(other, &who("ana")).await.unwrap();
    assert_eq!(other.rules().await.unwrap(), []);
    assert!(matches!(other.revoke(rule, who("ana")).await, Err(RoomError::NoRule)));
}

#[tokio::test]
async fn a_rule_for_the_session_ends_with_it() {
    let fixture = with_people(OLD).await;
    remembers(&fixture, "ana", RuleScope::Session, 8).await;
    assert_eq!(status(&fixture, SMALL).await, RequestStatus::Approved);
    fixture.forget();
    fixture.clock.advance_ms(31 * DAY_MS);
    asks(&fixture, OLD).await;
    assert_eq!(fixture.heard("ana"), ["rules 0", "requested"]);
    let line = &fixture.store.audit(Some(fixture.room.document()), None, 2).await.unwrap()[1].entry;
    assert_eq!((line.action.as_str(), line.actor.as_str()), ("rule.expire", "server"));
}

#[tokio::test]
async fn a_rule_for_a_session_that_is_over_is_not_listed_and_one_for_the_document_stays() {
    let fixture = with_people(OLD).await;
    remembers(&fixture, "ana", RuleScope::Session, 7).await;
    remembers(&fixture, "ana", RuleScope::Document, 8).await;
    assert_eq!(fixture.room.rules().await.unwrap().len(), 2);
    fixture.clock.advance_ms(31 * DAY_MS);
    let left = fixture.room.rules().await.unwrap();
    assert_eq!(
        left.iter().map(|rule| rule.remember.scope).collect::<Vec<_>>(),
        [RuleScope::Document]
    );
}

#[tokio::test]
async fn the_same_wish_twice_is_one_rule() {
    let fixture = with_people(OLD).await;
    let first = remembers(&fixture, "ana", RuleScope::Document, 7).await;
    let request = asks(&fixture, SMALL).await;
    fixture.forget();
    fixture.decides("ana", &request, remembering(RuleScope::Document, Some(7))).await.unwrap();
    assert_eq!(fixture.room.rules().await.unwrap(), [first]);
    assert_eq!(fixture.heard("ana"), ["updates 2..3 -1", "resolved approved"]);
}

#[tokio::test]
async fn a_document_has_so_many_rules_and_the_decision_says_so() {
    let fixture = with_people(OLD).await;
    let request = fixture.proposes(SMALL).await;
    for units in 1..=MOST_RULES {
        let decision = remembering(RuleScope::Document, Some(100_000 + units));
        let decided = fixture.decides("ana", &request, decision).await.unwrap();
        assert_eq!(decided.status, RequestStatus::Approved);
        fixture.undoes("ana", &request).await.unwrap();
    }
    let refused = fixture.decides("ana", &request, remembering(RuleScope::Document, Some(8))).await;
    assert!(matches!(refused, Err(RoomError::Invalid(_))), "{refused:?}");
    assert_eq!(fixture.text().await, OLD);
}

#[tokio::test]
async fn a_policy_for_large_changes_leaves_small_ones_alone_and_is_on_the_card() {
    let fixture = with_people(OLD).await;
    let small = fixture.proposes(SMALL).await;
    let large = fixture.proposes(LARGE).await;
    fixture.forget();
    let owner =
        ToolPolicy { tool: None, over: Some(8), policy: DecisionPolicy::Owner, marks: None };
    let own = OwnSettings { policies: Some(vec![owner]), ..OwnSettings::default() };
    policies(&fixture, own).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["settings", "changed"]);
    let plain = || Decision::plain(RequestVerdict::Approve);
    assert_eq!(code(fixture.decides("cy", &large, plain()).await), "not_allowed");
    assert_eq!(fixture.kept(&large).await.proposal.policy, DecisionPolicy::Owner.into());
    assert_eq!(fixture.accepts("cy", &small).await, RequestStatus::Approved);
    let fresh = asks(&fixture, "It was hot. It was early. It was light.").await;
    assert_eq!(fresh.proposal.policy, DecisionPolicy::Owner.into());
}

#[tokio::test]
async fn policies_stay_over_a_restart_and_go_when_replaced_by_none() {
    let mut fixture = with_people(OLD).await;
    let tool = Some("update_full_document".to_owned());
    let two = ToolPolicy { tool, over: None, policy: DecisionPolicy::Two, marks: None };
    let own = OwnSettings { policies: Some(vec![two.clone()]), ..OwnSettings::default() };
    policies(&fixture, own).await.unwrap();
    fixture.starts().await;
    assert_eq!(fixture.now().await.settings.policies, [two]);
    let own = OwnSettings { policies: Some(Vec::new()), ..OwnSettings::default() };
    policies(&fixture, own).await.unwrap();
    assert_eq!(fixture.now().await.settings.policies, []);
}

#[tokio::test]
async fn two_cannot_be_asked_for_in_a_corner_either_where_there_is_one() {
    let fixture = RoomFixture::with(OLD).await;
    issue(&fixture, "ana", None).await;
    let two = ToolPolicy {
        tool: Some("Bash".into()),
        over: None,
        policy: DecisionPolicy::Two,
        marks: None,
    };
    let own = OwnSettings { policies: Some(vec![two.clone()]), ..OwnSettings::default() };
    assert!(matches!(policies(&fixture, own).await, Err(RoomError::Invalid(_))));
    let many = vec![ToolPolicy { policy: DecisionPolicy::Owner, ..two.clone() }; 51];
    let nameless =
        vec![ToolPolicy { tool: Some(String::new()), policy: DecisionPolicy::Owner, ..two }];
    for bad in [many, nameless] {
        let own = OwnSettings { policies: Some(bad), ..OwnSettings::default() };
        assert!(matches!(policies(&fixture, own).await, Err(RoomError::Invalid(_))));
    }
}

#[tokio::test]
async fn a_vote_that_comes_to_nothing_makes_no_rule() {
    let fixture = with_people(OLD).await;
    policy(&fixture, DecisionPolicy::Two).await;
    let request = fixture.proposes(SMALL).await;
    let decision = remembering(RuleScope::Document, Some(8));
    fixture.decides("ana", &request, decision).await.unwrap();
    assert!(fixture.room.rules().await.unwrap().is_empty());
    fixture.rejects("bo", &request).await;
    assert!(fixture.room.rules().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_vote_makes_its_rule_once_the_change_is_accepted() {
    let mut fixture = with_people(OLD).await;
    policy(&fixture, DecisionPolicy::Two).await;
    let request = fixture.proposes(SMALL).await;
    fixture.decides("ana", &request, remembering(RuleScope::Document, Some(8))).await.unwrap();
    fixture.restarts().await;
    fixture.clock.advance_ms(1_000);
    fixture.accepts("bo", &request).await;
    let rules = fixture.room.rules().await.unwrap();
    let made: Vec<_> = rules.iter().map(|it| (it.by.user.as_str(), it.at_ms)).collect();
    assert_eq!(made, [("ana", START_MS + 1_000)]);
    assert!(fixture.kept(&request).await.decisions.wishes.is_empty());
}

/// Returns the number of rules that a request has made, once this has changed something about Ana's
/// vote and then she and Bo have accepted without a wish.
async fn made_after(change: impl AsyncFnOnce(&RoomFixture, &ApprovalRequest)) -> usize {
    let fixture = with_people(OLD).await;
    policy(&fixture, DecisionPolicy::Two).await;
    let request = fixture.proposes(SMALL).await;
    fixture.decides("ana", &request, remembering(RuleScope::Document, Some(8))).await.unwrap();
    change(&fixture, &request).await;
    if fixture.accepts("ana", &request).await == RequestStatus::Pending {
        assert_eq!(fixture.accepts("bo", &request).await, RequestStatus::Approved);
    }
    assert!(fixture.kept(&request).await.decisions.wishes.is_empty());
    fixture.room.rules().await.unwrap().len()
}

#[tokio::test]
async fn a_wish_counts_only_with_the_vote_it_came_with() {
    assert_eq!(made_after(async |_, _| {}).await, 0, "she has voted anew, without it");
    let milder = async |fixture: &RoomFixture, _: &ApprovalRequest| {
        policy(fixture, DecisionPolicy::Any).await;
        policy(fixture, DecisionPolicy::Two).await;
    };
    assert_eq!(made_after(milder).await, 0, "votes that a setting made enough are cleared");
    let without_her = async |fixture: &RoomFixture, request: &ApprovalRequest| {
        issue(fixture, "ana", Some(START_MS)).await;
        fixture.accepts("cy", request).await;
        issue(fixture, "ana", None).await;
    };
    assert_eq!(made_after(without_her).await, 0, "she could decide no longer for a while");
    let own_words = async |fixture: &RoomFixture, request: &ApprovalRequest| {
        let words = HunkVerdict {
            text: Some("hot".into()),
            ..HunkVerdict::plain(hunk(request, 1), HunkChoice::Accept)
        };
        let wish = remembering(RuleScope::Document, Some(8));
        let wish = Decision { remember: wish.remember, ..only(vec![words]) };
        fixture.decides("ana", request, wish).await.unwrap();
        fixture.accepts("bo", request).await;
        assert_eq!(fixture.accepts("cy", request).await, RequestStatus::Approved);
        fixture.undoes("bo", request).await.unwrap();
    };
    assert_eq!(made_after(own_words).await, 0, "others have decided, and undone that");
}

#[tokio::test]
async fn a_wish_that_waited_makes_no_rule_too_many() {
    let fixture = with_people(OLD).await;
    policy(&fixture, DecisionPolicy::Two).await;
    let request = fixture.proposes(SMALL).await;
    fixture.decides("ana", &request, remembering(RuleScope::Document, Some(8))).await.unwrap();
    for units in 1..=MOST_RULES {
        let new = NewRule {
            remember: remembering(RuleScope::Document, Some(100_000 + units)).remember.unwrap(),
            effect: RuleEffect::Allow,
            over: None,
            tool: "update_full_document".into(),
            session: "ses_1".into(),
        };
        fixture.room.add_rule(new, who("ana")).await.unwrap();
    }
    assert_eq!(fixture.accepts("bo", &request).await, RequestStatus::Approved);
    assert_eq!(fixture.room.rules().await.unwrap().len(), MOST_RULES);
}
