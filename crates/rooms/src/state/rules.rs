//! Rules in a room: stored with the decision that makes them or when an owner adds them, applied
//! when a proposal arrives, ended by people or with their session. No input or output but the log.

use std::sync::Arc;

use serde_json::json;

use copydesk_approvals as approvals;
use copydesk_approvals::{
    ApprovalRequest, ApprovalRule, Decision, EVERY_TOOL, Person, RuleEffect, RuleEnd, RuleScope,
    RuleSubject, SUGGESTION_TOOL,
};
use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{RuleId, SessionId};
use copydesk_store::{RuleRecord, StoreOp};

use super::{decisions, votes};
use crate::actor::room_effects::RoomEffects;
use crate::command::NewRule;
use crate::event::RoomEvent;
use crate::settings::LONGEST_TOOL;
use crate::state::{ApplyContext, RoomState};
use crate::{RoomError, RoomResult};

pub(crate) const MOST_RULES: usize = 100;

pub(crate) fn record(rule: &ApprovalRule) -> RuleRecord {
    RuleRecord {
        id: rule.id().clone(),
        document: rule.document.clone(),
        session: rule.session.clone(),
        created_ms: rule.at_ms,
        ended_ms: rule.ended.as_ref().map(|ended| ended.at_ms),
        // A rule holds strings and numbers: nothing that cannot be serialised.
        body: serde_json::to_value(rule).unwrap_or_default(),
    }
}

pub(crate) fn check(state: &RoomState, decision: &Decision) -> RoomResult<()> {
    if decision.remember.is_some() { check_capacity(state) } else { Ok(()) }
}

fn check_capacity(state: &RoomState) -> RoomResult<()> {
    if state.rules.len() < MOST_RULES {
        return Ok(());
    }
    let reason = format!("this document already has {MOST_RULES} rules; revoke some first");
    Err(RoomError::Invalid(reason))
}

pub(crate) enum OwnerRuling {
    Open,
    Ask,
    /// Denial, with its text for the model.
    Deny(String),
}

/// Asks the owners' rules about a request. A denial is logged.
pub(crate) fn judge(
    state: &RoomState,
    request: &ApprovalRequest,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> OwnerRuling {
    let extent = request.proposed_extent();
    let matter = request.matter(&extent, &now.tools);
    match approvals::ruling(state.rules.values().map(AsRef::as_ref), &matter) {
        None => OwnerRuling::Open,
        Some(rule) if rule.effect == RuleEffect::Deny => {
            let RuleSubject { tool, file, units, .. } = matter;
            let run = &request.proposal.origin.run;
            let detail = json!({
                "rule": rule.id(), "tool": tool, "file": file, "units": units, "run": run,
            });
            let actor = request.proposal.requester.user.as_str();
            effects.keep(state.audit("rule.deny", actor, None, detail, now));
            OwnerRuling::Deny(rule.denial())
        }
        Some(_) => OwnerRuling::Ask,
    }
}

/// Returns what is wrong with an owner's new rule, in words for people.
fn contradiction(new: &NewRule, in_document: bool, now: &ApplyContext) -> Option<&'static str> {
    let NewRule { remember, effect, over, tool, session: _ } = new;
    let allows = match effect {
        RuleEffect::Allow => true,
        RuleEffect::Ask | RuleEffect::Deny => false,
    };
    let faults = [
        (
            tool.is_empty() || tool.len() > LONGEST_TOOL,
            "a rule names a tool of 1 to 100 characters, or * for every tool",
        ),
        (remember.path.is_some() && in_document, "a path pattern is for work without a document"),
        (allows && tool == EVERY_TOOL, "a rule allows one tool"),
        (allows && now.tools.is_plan(tool), "plans are asked about every time"),
        (
            allows && tool == SUGGESTION_TOOL,
            "suggestions of people are decided by people every time",
        ),
        (allows && over.is_some(), "`over` is for rules that deny or ask"),
        (allows && remember.max_units == Some(0), "a rule must allow something"),
        (remember.unmarked && !in_document, "`unmarked` is for rules of a document"),
        (remember.unmarked && !allows, "`unmarked` is for rules that allow"),
        (remember.max_units.is_some() && !allows, "`max_units` is for rules that allow"),
    ];
    faults.into_iter().find_map(|(is_wrong, reason)| is_wrong.then_some(reason))
}

pub(crate) fn add(
    state: &mut RoomState,
    new: NewRule,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RoomResult<Arc<ApprovalRule>> {
    state.exists()?;
    let document = state.about();
    if !by.may(Action::Manage, document.as_ref()) {
        return Err(RoomError::NotAllowed);
    }
    if let Some(reason) = contradiction(&new, document.is_some(), now) {
        return Err(RoomError::Invalid(reason.to_owned()));
    }
    let NewRule { mut remember, effect, over, tool, session } = new;
    remember.scope = if document.is_some() { RuleScope::Document } else { RuleScope::Workspace };
    let (by, request) = (Person::from(by), None);
    let rule = ApprovalRule {
        remember,
        effect,
        over,
        tool,
        session,
        document,
        request,
        by,
        at_ms: now.ms,
        ended: None,
    };
    if let Some(known) = state.rules.values().find(|known| known.repeats(&rule)) {
        return Ok(Arc::clone(known));
    }
    check_capacity(state)?;
    let record = record(&rule);
    effects.keep(state.audit("rule.create", rule.by.user.as_str(), None, record.body.clone(), now));
    effects.keep(StoreOp::PutRule(record));
    let rule = Arc::new(rule);
    state.rules.insert(rule.id().clone(), Arc::clone(&rule));
    queue_rules_event(state, effects);
    Ok(rule)
}

/// Stores the rule that a decision made, in the decision's transaction. A rule that repeats one in
/// force is not stored, nor is one too many.
pub(crate) fn remember(
    state: &mut RoomState,
    rule: &ApprovalRule,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    if state.rules.values().any(|known| known.repeats(rule)) {
        return;
    }
    if state.rules.len() >= MOST_RULES {
        tracing::info!(rule.id = %rule.id(), "a rule was not made: there are as many as allowed");
        return;
    }
    let record = record(rule);
    let (actor, request) = (rule.by.user.as_str(), rule.request.as_ref());
    effects.keep(state.audit("rule.create", actor, request, record.body.clone(), now));
    effects.keep(StoreOp::PutRule(record));
    state.rules.insert(rule.id().clone(), Arc::new(rule.clone()));
    queue_rules_event(state, effects);
}

/// Lets the rules decide a request that has just been announced, each as its maker would by an
/// ordinary approval. `people` are all who hold a valid token now. What no rule decides, or cannot
/// be applied, waits for people.
pub(crate) fn decide_by_rules(
    state: &mut RoomState,
    mut request: Arc<ApprovalRequest>,
    people: &[Principal],
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> Arc<ApprovalRequest> {
    let deciding = request.deciding_rules(state.rules.values().map(AsRef::as_ref), people);
    for (rule, maker) in deciding {
        if !request.status.is_open() {
            break;
        }
        let known = state.rules.get(&rule);
        let Some(decision) = known.and_then(|known| request.approval_by(known, &maker)) else {
            continue;
        };
        match decisions::decide(state, request.id(), &decision, &maker, now, effects) {
            Ok(decided) => request = decided,
            Err(error) => {
                tracing::warn!(%error, rule.id = %rule, request.id = %request.id(), "cannot apply the decision of a rule");
            }
        }
    }
    request
}

/// Ends a rule: by its maker, or an owner. Its votes on what is open do not count any more.
pub(crate) fn revoke(
    state: &mut RoomState,
    id: &RuleId,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RoomResult<()> {
    let rule = state.rules.get(id).ok_or(RoomError::NoRule)?;
    if !rule.may_be_revoked_by(by) {
        return Err(RoomError::NotAllowed);
    }
    end(state, id, Some(by), now, effects);
    queue_rules_event(state, effects);
    votes::recount_rules(state, now, effects);
    Ok(())
}

/// Ends the rules for sessions that are over, and takes back their votes on what is open.
pub(crate) fn end_with_sessions(
    state: &mut RoomState,
    over: &[SessionId],
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    let ends = |rule: &&Arc<ApprovalRule>| is_for_session(rule) && over.contains(&rule.session);
    let ended: Vec<RuleId> =
        state.rules.values().filter(ends).map(|rule| rule.id().clone()).collect();
    for id in &ended {
        end(state, id, None, now, effects);
    }
    if !ended.is_empty() {
        queue_rules_event(state, effects);
        votes::recount_rules(state, now, effects);
    }
}

pub(crate) fn is_for_session(rule: &ApprovalRule) -> bool {
    match rule.remember.scope {
        RuleScope::Session => true,
        RuleScope::Document | RuleScope::Workspace => false,
    }
}

fn end(
    state: &mut RoomState,
    id: &RuleId,
    by: Option<&Principal>,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    let Some(mut rule) = state.rules.remove(id) else { return };
    Arc::make_mut(&mut rule).ended = Some(RuleEnd { by: by.map(Person::from), at_ms: now.ms });
    let (action, actor) = match by {
        Some(by) => ("rule.revoke", by.user.as_str()),
        None => ("rule.expire", "server"),
    };
    effects.keep(state.audit(action, actor, rule.request.as_ref(), json!({ "rule": id }), now));
    effects.keep(StoreOp::PutRule(record(&rule)));
}

pub(crate) fn queue_rules_event(state: &RoomState, effects: &mut RoomEffects) {
    effects.queue_event(RoomEvent::Rules(state.rules.values().cloned().collect()));
}
