//! Proposals: a tool's change is held for people to decide, or goes back to the model. No input or
//! output but the log.

use std::sync::Arc;

use serde_json::json;

use copydesk_approvals::{
    ApprovalRequest, ApprovalRequirement, ArrivedHunks, Decision, DecisionOutcome,
    DecisionRequirements, Hunk, PeopleAsked, Person, PreviewKind, ProposedCall, RequestTimes,
    RequestVerdict, UnaskedReason,
};
use copydesk_document::{ChangeSet, Update};
use copydesk_failpoint as failpoint;
use copydesk_ids::permissions::{Action, Principal, Role};

use super::rules::OwnerRuling;
use super::{comments, decisions, requests, rules, streaming_previews};
use crate::actor::room_effects::RoomEffects;
use crate::command::{ApprovalMode, NewApprovalRequest, ProposalOutcome};
use crate::event::RoomEvent;
use crate::settings::{DocumentSettings, frozen_by, frozen_words};
use crate::state::{ApplyContext, RoomState};
use crate::{RoomError, RoomResult};
use copydesk_approvals::ApprovalSwitch;

/// Holds a change, mapped from the version it was made on to the newest. `older` holds the updates
/// between that version and the log at hand; `None` if they are no longer available. `people` hold
/// a valid token now; it is needed only if there are rules.
pub(crate) fn propose(
    state: &mut RoomState,
    new: NewApprovalRequest,
    older: Option<Vec<Arc<Update>>>,
    people: &[Principal],
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RoomResult<ProposalOutcome> {
    state.exists()?;
    if let Some(known) = state.request(&new.origin.id) {
        // The request was proposed again after a crash; people may have decided meanwhile.
        return Ok(proposed(state, Arc::clone(known), now));
    }
    check_capacity(state, &new.requester)?;
    let missed = requests::missed(state, new.action.base_version, older)?;
    let missed = missed.iter().map(|update| update.change_set()).collect::<Result<Vec<_>, _>>();
    let missed = missed.map_err(|source| RoomError::BadUpdate { index: 0, source })?;
    let has_hunks = !new.hunks.is_empty();
    // A command that an owner must approve is applied at once only for an owner.
    let waits = new.action.preview.kind == PreviewKind::Command
        && !new.requester.may(Action::Command, state.about().as_ref());
    // A request that a person proposes again is decided by people, whatever else would decide it.
    let is_again = new.again_of.is_some();
    let approval_mode = if is_again { ApprovalMode::People } else { new.approval_mode };
    let settings = state.in_force(now);
    let request = match arrive(state, new, &missed, &settings, now)? {
        ArrivalOutcome::Conflicted(message) => return Ok(ProposalOutcome::Conflicted(message)),
        ArrivalOutcome::Request(request) => *request,
    };
    if has_hunks && request.hunks.is_empty() {
        return Ok(ProposalOutcome::Unchanged);
    }
    if let Some(message) = frozen(state, &request.hunks) {
        return Ok(ProposalOutcome::Frozen(message));
    }
    let ruled = rules::judge(state, &request, now, effects);
    if let OwnerRuling::Deny(message) = ruled {
        return Ok(ProposalOutcome::Denied(message));
    }
    let waits = waits || matches!(ruled, OwnerRuling::Ask);
    let unasked = match approval_mode {
        ApprovalMode::Ask => {
            (settings.approvals == ApprovalSwitch::Off).then_some(UnaskedReason::ApprovalsOff)
        }
        ApprovalMode::People => None,
        ApprovalMode::Bypass => Some(UnaskedReason::Bypass),
    };
    if let Some(why) = unasked.filter(|_| !waits) {
        return apply_at_once(state, request, why, now, effects);
    }
    let request = Arc::new(request);
    announce(state, &request, now, effects);
    let request = match (ruled, approval_mode) {
        (OwnerRuling::Ask, _) | (_, ApprovalMode::People) => request,
        (OwnerRuling::Open | OwnerRuling::Deny(_), ApprovalMode::Ask | ApprovalMode::Bypass) => {
            rules::decide_by_rules(state, request, people, now, effects)
        }
    };
    Ok(proposed(state, request, now))
}

pub(crate) fn check_capacity(state: &RoomState, requester: &Principal) -> RoomResult<()> {
    let of = |request: &&Arc<ApprovalRequest>| request.proposal.requester.user == requester.user;
    if state.open.values().filter(of).count() >= requests::MOST_OPEN_EACH {
        return Err(RoomError::TooManyRequests { limit: requests::MOST_OPEN_EACH });
    }
    if state.open.len() >= requests::MOST_OPEN {
        return Err(RoomError::TooManyRequests { limit: requests::MOST_OPEN });
    }
    Ok(())
}

fn proposed(
    state: &RoomState,
    request: Arc<ApprovalRequest>,
    now: &ApplyContext,
) -> ProposalOutcome {
    match requests::settled(state, &request, now) {
        Some(settled) => ProposalOutcome::Resolved(Box::new(settled)),
        None => ProposalOutcome::Waiting(request),
    }
}

pub(crate) fn announce(
    state: &mut RoomState,
    request: &Arc<ApprovalRequest>,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    let proposal = &request.proposal;
    let detail = json!({ "tool": proposal.origin.tool, "hunks": request.hunks.len() });
    let actor = proposal.requester.user.as_str();
    effects.keep(state.audit("request.create", actor, Some(request.id()), detail, now));
    effects.keep(requests::record(request));
    state.open.insert(request.id().clone(), Arc::clone(request));
    effects.queue_event(RoomEvent::Requested(Arc::clone(request)));
    comments::note_request(state, request, effects);
    streaming_previews::become_request(state, request.id(), effects);
    failpoint::pass("room.proposed");
}

enum ArrivalOutcome {
    Request(Box<ApprovalRequest>),
    /// Conflict: people had changed all of it before it arrived. The text is for the model.
    Conflicted(String),
}

fn arrive(
    state: &RoomState,
    new: NewApprovalRequest,
    missed: &[ChangeSet],
    settings: &DocumentSettings,
    now: &ApplyContext,
) -> RoomResult<ArrivalOutcome> {
    let NewApprovalRequest {
        origin,
        requester,
        action,
        base,
        hunks,
        approval_mode: _,
        deadline_ms,
        after_restart: _,
        again_of,
    } = new;
    let timeout_ms =
        if action.is_from_outside() { settings.outside_timeout_ms } else { settings.timeout_ms };
    let arrival = ArrivedHunks::map(&origin.id, hunks, &base, missed)
        .map_err(|source| RoomError::BadUpdate { index: 0, source })?;
    if let Some(refusal) = arrival.refusal() {
        return Ok(ArrivalOutcome::Conflicted(refusal.text));
    }
    let proposal = ProposedCall {
        origin,
        document: state.about(),
        requester: Person::from(&requester),
        requester_former: requester.former,
        action,
        policy: settings.policy.into(),
        claimed_author: None,
        again_of,
    };
    let clock = RequestTimes { deadline_ms, ..RequestTimes::start(now.ms, timeout_ms) };
    let mut request = ApprovalRequest::open(proposal, arrival, state.version(), clock);
    request.set_policy(&state.requirements(settings, now));
    for change in missed {
        requests::move_scope(&mut request, change);
    }
    Ok(ArrivalOutcome::Request(Box::new(request)))
}

fn frozen(state: &RoomState, hunks: &[Hunk]) -> Option<String> {
    let parts = hunks.iter().flat_map(|hunk| &hunk.parts);
    let touched = parts.filter_map(|part| frozen_by(&state.own.frozen, (part.from, part.to)));
    let mut touched: Vec<_> = touched.collect();
    touched.sort_unstable();
    touched.dedup();
    if touched.is_empty() {
        return None;
    }
    let words = touched
        .into_iter()
        .map(|range| (range, state.document.text().slice(range.0..range.1).unwrap_or_default()));
    Some(frozen_words(words))
}

/// Applies a request at once, because approvals are off or the run was started with
/// `bypassPermissions`. It is logged, shown and undoable like any other. If it cannot be applied,
/// it waits for people.
fn apply_at_once(
    state: &mut RoomState,
    request: ApprovalRequest,
    why: UnaskedReason,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RoomResult<ProposalOutcome> {
    let by = requester(&request);
    let decision = Decision::plain(RequestVerdict::Approve);
    let mut approved = request.clone();
    approved.proposal.policy = ApprovalRequirement::default();
    let checked = check_at_once(state, &mut approved, &decision, &by, now);
    let request = Arc::new(request);
    announce(state, &request, now, effects);
    let outcome = match checked {
        Ok(outcome) => outcome,
        Err(error) => {
            tracing::warn!(%error, request.id = %request.id(), "cannot apply a change without approval");
            return Ok(ProposalOutcome::Waiting(request));
        }
    };
    if let Some(closed) = &mut approved.decisions.closed {
        closed.unasked = Some(why);
    }
    let ended = decisions::apply_decision(
        state,
        Arc::new(approved),
        &outcome,
        &decision,
        &by,
        now,
        effects,
    )?;
    Ok(proposed(state, ended, now))
}

fn check_at_once(
    state: &RoomState,
    request: &mut ApprovalRequest,
    decision: &Decision,
    by: &Principal,
    now: &ApplyContext,
) -> RoomResult<DecisionOutcome> {
    let nothing = DecisionRequirements::default();
    let outcome =
        request.judge_and_carry_out(decision, by, state.document.text(), now.ms, &nothing)?;
    decisions::check(state, outcome.changes.as_ref())?;
    Ok(DecisionOutcome { asked: PeopleAsked::Nobody, ..outcome })
}

/// Returns the person who asked, with the permission that the settings or the run gave.
fn requester(request: &ApprovalRequest) -> Principal {
    let Person { user, name } = request.proposal.requester.clone();
    Principal::new(user, name, Role::Owner)
}
