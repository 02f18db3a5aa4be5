//! Countdown of requests: it is paused while a person views the request, can be extended, and runs
//! out. An outside caller's own deadline bounds it. No input or output.

use std::sync::Arc;

use serde_json::json;

use copydesk_approvals::{ApprovalRequest, DecisionError, InvalidDecisionReason};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{MemberId, RequestId};

use super::requests::{
    changed_record, is_open, open_request, place, place_changed, queue_request_event,
};
use super::{decisions, suggestions};
use crate::actor::room_effects::RoomEffects;
use crate::command::ViewerChange;
use crate::state::{ApplyContext, RoomState};
use crate::{RequestResult, RoomError};

/// Extension in ms where requests have no timeout of their own.
const EXTENSION_MS: u64 = 300_000;

/// Ends requests whose time is over, and views that were not repeated; announces who came and left.
pub(crate) fn expire(state: &mut RoomState, now: &ApplyContext, effects: &mut RoomEffects) {
    state.announce_peers(now.ms, effects);
    let lapsed = state.focuses.lapse(now.ms);
    let left: Vec<_> = left_paused(state).cloned().collect();
    for id in lapsed.into_iter().chain(left) {
        looked(state, &id, now, effects);
    }
    suggestions::end_writing(state, now, effects);
    let is_due = |request: &&Arc<ApprovalRequest>| request.clock.is_due(now.ms);
    let due: Vec<_> = state.open.values().filter(is_due).cloned().collect();
    for request in due {
        let mut request = ApprovalRequest::clone(&request);
        let Some(expired) = request.expire(now.ms) else { continue };
        decisions::end(state, request, expired, "request.expire", None, now, effects);
    }
}

/// Returns the requests that people were viewing when the server died. Their countdown goes on from
/// where it stood: no one can have decided meanwhile, and people who were reading shall not come
/// back to find it expired.
fn left_paused(state: &RoomState) -> impl Iterator<Item = &RequestId> {
    let paused = state.open.iter().filter(|(_, request)| request.clock.paused_ms.is_some());
    paused.map(|(id, _)| id).filter(|id| !state.focuses.any(id))
}

/// Returns the time, in milliseconds since 1970, at which a request or a view may end, or a
/// countdown must resume, or there is something to announce.
pub(crate) fn next_deadline_ms(state: &RoomState) -> Option<u64> {
    if left_paused(state).next().is_some() {
        return Some(0);
    }
    let due = state.open.values().filter_map(|request| request.clock.due_ms());
    let writing = state.open.values().filter_map(|request| request.writing_ends_ms());
    due.chain(writing).chain(state.focuses.next_lapse_ms()).chain(state.presence.due_ms()).min()
}

pub(crate) fn look(
    state: &mut RoomState,
    id: &RequestId,
    member: &MemberId,
    focus: ViewerChange,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let request = is_open(state, id)?;
    if !is_shown(request, state.principal_of(member).as_ref()) {
        return Err(RoomError::NotAllowed);
    }
    let is_news = match focus {
        ViewerChange::On => state.focuses.look(id, member, now.ms),
        ViewerChange::Off => state.focuses.stop_viewing(id, member),
    };
    if is_news {
        looked(state, id, now, effects);
    }
    state.open.get(id).cloned().ok_or(RoomError::NoRequest)
}

/// Returns `true` if the request is shown to this person. A request without a document concerns
/// only its requester and those who may decide it.
fn is_shown(request: &ApprovalRequest, who: Option<&Principal>) -> bool {
    request.proposal.document.is_some() || who.is_some_and(|who| request.concerns(who))
}

pub(crate) fn stop_viewing_all(
    state: &mut RoomState,
    member: &MemberId,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    for id in state.focuses.of(member) {
        state.focuses.stop_viewing(&id, member);
        looked(state, &id, now, effects);
    }
}

/// Pauses the countdown while the request has viewers, otherwise resumes it.
fn looked(state: &mut RoomState, id: &RequestId, now: &ApplyContext, effects: &mut RoomEffects) {
    let anybody = state.focuses.any(id);
    let Some(request) = state.open.get_mut(id) else { return };
    let stood_still = request.clock.paused_ms.is_some();
    if anybody != stood_still {
        let clock = &mut Arc::make_mut(request).clock;
        if anybody { clock.pause(now.ms) } else { clock.resume(now.ms) }
    }
    let request = Arc::clone(request);
    if anybody != stood_still {
        effects.keep(changed_record(&request, None));
    }
    queue_request_event(state, &request, &[], None, now, effects);
}

/// Pauses the countdown of viewed requests, if that could not be stored. Other countdowns resume at
/// the next batch.
pub(crate) fn agree_with_focus(state: &mut RoomState, now: &ApplyContext) {
    for (id, request) in &mut state.open {
        if request.clock.paused_ms.is_none() && state.focuses.any(id) {
            Arc::make_mut(request).clock.pause(now.ms);
        }
    }
}

/// Resumes all paused countdowns because the room closes; the time of viewing does not count.
pub(crate) fn stop_looking(state: &mut RoomState, now: &ApplyContext, effects: &mut RoomEffects) {
    let stands_still = |request: &&Arc<ApprovalRequest>| request.clock.paused_ms.is_some();
    let paused: Vec<_> = state.open.values().filter(stands_still).cloned().collect();
    for mut request in paused {
        Arc::make_mut(&mut request).clock.resume(now.ms);
        place(state, request, effects);
    }
}

/// Gives people more time. Refused where an outside caller gives up before.
pub(crate) fn extend(
    state: &mut RoomState,
    id: &RequestId,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
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
        let reason = InvalidDecisionReason::CallerDeadline;
        return Err(DecisionError::InvalidDecision { reason }.into());
    }
    let request = Arc::new(request);
    let detail = json!({ "by_ms": by_ms });
    effects.keep(state.audit("request.extend", by.user.as_str(), Some(id), detail, now));
    place(state, Arc::clone(&request), effects);
    queue_request_event(state, &request, &[], Some(by), now, effects);
    Ok(request)
}

/// Moves the time when the outside caller gives up: it sent its call again, and waits longer now.
/// An earlier time changes nothing.
pub(crate) fn move_deadline(
    state: &mut RoomState,
    id: &RequestId,
    deadline_ms: Option<u64>,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let mut request = open_request(state, id)?;
    let is_later = request.clock.move_deadline(deadline_ms);
    let request = Arc::new(request);
    if is_later {
        place_changed(state, Arc::clone(&request), None, effects);
        queue_request_event(state, &request, &[], None, now, effects);
    }
    Ok(request)
}
