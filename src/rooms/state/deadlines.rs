//! The countdown of requests: it stands still while somebody looks, it can be given more time, it runs out. Pure.

use std::sync::Arc;

use serde_json::json;

use crate::approvals::{ApprovalRequest, DecisionError};
use crate::ids::{MemberId, RequestId};
use crate::permissions::Principal;

use super::decisions;
use super::requests::{open_request, place, record, tell};
use crate::rooms::RoomError;
use crate::rooms::actor::turn_effects::TurnEffects;
use crate::rooms::command::ViewerChange;
use crate::rooms::state::{AppliedAt, RoomState};

/// How much time *more time* gives where requests do not expire by a timeout of their own.
const EXTENSION_MS: u64 = 300_000;

/// Ends what nobody decided in time, and the looks that were not repeated.
pub(crate) fn expire(state: &mut RoomState, now: &AppliedAt, step: &mut TurnEffects) {
    let lapsed = state.focuses.lapse(now.ms);
    let left: Vec<_> = left_paused(state).cloned().collect();
    for id in lapsed.into_iter().chain(left) {
        looked(state, &id, now, step);
    }
    let is_due = |request: &&Arc<ApprovalRequest>| request.clock.is_due(now.ms);
    let due: Vec<_> = state.open.values().filter(is_due).cloned().collect();
    for request in due {
        let mut request = ApprovalRequest::clone(&request);
        let Some(expired) = request.expire(now.ms) else { continue };
        decisions::end(state, request, expired, "request.expire", None, now, step);
    }
}

/// Requests that somebody was looking at when the server died. Their countdown goes on from where it stood, from now on:
/// nobody can have decided meanwhile, and whoever was reading shall not come back to find it expired.
fn left_paused(state: &RoomState) -> impl Iterator<Item = &RequestId> {
    let paused = state.open.iter().filter(|(_, request)| request.clock.paused_ms.is_some());
    paused.map(|(id, _)| id).filter(|id| !state.focuses.any(id))
}

/// When something may have to end, or a countdown to go on.
pub(crate) fn next_deadline_ms(state: &RoomState) -> Option<u64> {
    if left_paused(state).next().is_some() {
        return Some(0);
    }
    let due = state.open.values().filter_map(|request| request.clock.due_ms()).min();
    match (due, state.focuses.next_lapse_ms()) {
        (Some(due), Some(lapse)) => Some(due.min(lapse)),
        (due, lapse) => due.or(lapse),
    }
}

/// Somebody looks at a request, or no longer does.
pub(crate) fn look(
    state: &mut RoomState,
    id: &RequestId,
    member: &MemberId,
    focus: ViewerChange,
    now: &AppliedAt,
    step: &mut TurnEffects,
) -> Result<Arc<ApprovalRequest>, RoomError> {
    let request = open_request(state, id)?;
    if !is_shown(&request, state.principal_of(member).as_ref()) {
        return Err(RoomError::NotAllowed);
    }
    let is_news = match focus {
        ViewerChange::On => state.focuses.look(id, member, now.ms),
        ViewerChange::Off => state.focuses.look_away(id, member),
    };
    if is_news {
        looked(state, id, now, step);
    }
    state.open.get(id).cloned().ok_or(RoomError::NoRequest)
}

/// Whether somebody has the request before them: one without a document concerns only those who may decide it, and who asked.
fn is_shown(request: &ApprovalRequest, who: Option<&Principal>) -> bool {
    request.proposal.document.is_some() || who.is_some_and(|who| request.concerns(who))
}

/// A connection that is gone looks at nothing.
pub(crate) fn look_away_from_all(
    state: &mut RoomState,
    member: &MemberId,
    now: &AppliedAt,
    step: &mut TurnEffects,
) {
    for id in state.focuses.of(member) {
        state.focuses.look_away(&id, member);
        looked(state, &id, now, step);
    }
}

/// Other people look at a request than before: the countdown stands still as long as anybody does.
fn looked(state: &mut RoomState, id: &RequestId, now: &AppliedAt, step: &mut TurnEffects) {
    let anybody = state.focuses.any(id);
    let Some(request) = state.open.get_mut(id) else { return };
    let stood_still = request.clock.paused_ms.is_some();
    if anybody != stood_still {
        let clock = &mut Arc::make_mut(request).clock;
        if anybody { clock.pause(now.ms) } else { clock.resume(now.ms) }
    }
    let request = Arc::clone(request);
    if anybody != stood_still {
        step.keep(record(state, &request));
    }
    tell(state, &request, &[], None, now, step);
}

/// Stops the countdown of what somebody looks at, if that could not be kept. What nobody looks at goes on at the next turn.
pub(crate) fn agree_with_focus(state: &mut RoomState, now: &AppliedAt) {
    for (id, request) in &mut state.open {
        if request.clock.paused_ms.is_none() && state.focuses.any(id) {
            Arc::make_mut(request).clock.pause(now.ms);
        }
    }
}

/// The room closes: nobody looks any more, and the time they looked is not held against the request.
pub(crate) fn stop_looking(state: &mut RoomState, now: &AppliedAt, step: &mut TurnEffects) {
    let stands_still = |request: &&Arc<ApprovalRequest>| request.clock.paused_ms.is_some();
    let paused: Vec<_> = state.open.values().filter(stands_still).cloned().collect();
    for mut request in paused {
        Arc::make_mut(&mut request).clock.resume(now.ms);
        step.keep(record(state, &request));
        place(state, request);
    }
}

/// More time; refused where it would be none, because an outside caller gives up before.
pub(crate) fn extend(
    state: &mut RoomState,
    id: &RequestId,
    by: &Principal,
    now: &AppliedAt,
    step: &mut TurnEffects,
) -> Result<Arc<ApprovalRequest>, RoomError> {
    let mut request = open_request(state, id)?;
    if !is_shown(&request, Some(by)) {
        return Err(RoomError::NotAllowed);
    }
    let by_ms = match state.in_force(now).timeout_ms {
        0 => EXTENSION_MS,
        timeout_ms => timeout_ms,
    };
    let ended_ms = request.clock.ends_ms();
    request.clock.extend(by_ms);
    if ended_ms.is_some() && request.clock.ends_ms() == ended_ms {
        let reason = "whoever asked gives up then, so there is no more time to give";
        return Err(DecisionError::InvalidDecision { reason }.into());
    }
    let request = Arc::new(request);
    let detail = json!({ "by_ms": by_ms });
    step.keep(state.audit("request.extend", by.user.as_str(), Some(id), detail, now));
    step.keep(record(state, &request));
    place(state, Arc::clone(&request));
    tell(state, &request, &[], Some(by), now, step);
    Ok(request)
}
