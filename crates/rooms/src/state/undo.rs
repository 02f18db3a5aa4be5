//! Undo of accepted hunks, and reopening of refused ones. The actor has brought the request up to
//! the newest version before ([`crate::persistence::loading::caught_up`]).

use std::sync::Arc;

use serde_json::json;

use copydesk_approvals::{
    ApprovalRequest, DecisionOutcome, HunkStatus, OpenUndo, TouchedPolicy, UndoScope,
};
use copydesk_document::provenance::ServerAct;
use copydesk_failpoint as failpoint;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{HunkId, RequestId};

use super::comments::moved_passages;
use super::decisions::{check_fits, replace_hunks};
use super::requests::{
    MOST_OPEN, move_scope, place, place_changed, placements, put, queue_hunk_changes,
    queue_request_event, writer,
};
use crate::actor::room_effects::RoomEffects;
use crate::command::{ProposeAgain, UndoChange};
use crate::event::RoomEvent;
use crate::state::{ApplyContext, ChangeAuthor, HunkChanges, RoomState};
use crate::{RequestResult, RoomError, RoomResult};

/// Undoes accepted hunks, which are then open again, by one update; also own votes and splits.
pub(crate) fn undo(
    state: &mut RoomState,
    wish: &UndoChange,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let id = &wish.request;
    let mut request = Arc::clone(current(state, id)?);
    // Taken out, so that it is not copied; a refusal puts it back as it was.
    state.open.remove(id);
    let was_open = request.status.is_open();
    let known = Arc::make_mut(&mut request);
    let accepted = known.hunks.iter().filter(|it| it.status == HunkStatus::Accepted);
    let moves = accepted.filter(|it| it.is_moved()).map(|it| it.inverse.as_slice());
    let moves = moved_passages(moves);
    let (policy, required) = (known.proposal.policy, known.decisions.required);
    let outcome = match take_back(state, known, wish, by, now) {
        Ok(TakenBack::Text(outcome)) => outcome,
        Ok(TakenBack::Open(undone)) => {
            return Ok(still_open(state, request, undone, by, now, effects));
        }
        Err(refusal) => {
            (known.proposal.policy, known.decisions.required) = (policy, required);
            if was_open {
                state.open.insert(id.clone(), request);
            }
            return Err(refusal);
        }
    };
    let hunks = HunkChanges { drop: Vec::new(), put: put(&request, &outcome.put) };
    match &outcome.changes {
        Some(changes) => {
            let placements = Some(placements(&request, ServerAct::TakenBack, &outcome, None));
            let (client, user, origin) = (writer(id), &by.user, Some(id));
            let author = ChangeAuthor { client, user, origin, placements, moves };
            state.apply_server_change(changes, &author, hunks, now, effects)?;
            move_scope(Arc::make_mut(&mut request), changes);
        }
        None => queue_hunk_changes(state, hunks, effects),
    }
    let detail = json!({ "hunks": outcome.put, "force": wish.force });
    effects.keep(state.audit("request.undo", by.user.as_str(), Some(id), detail, now));
    failpoint::pass("room.undone");
    if !was_open {
        return Ok(open_again(state, request, &outcome.put, by, now, effects));
    }
    let changed = outcome.put.iter().chain(&outcome.displaced);
    place_changed(state, Arc::clone(&request), changed, effects);
    // A hunk that was forced over deleted words has nothing to change once it is undone.
    if request.status.is_open() {
        effects.queue_event(RoomEvent::RequestedAgain(Arc::clone(&request)));
    }
    queue_request_event(state, &request, &outcome.put, Some(by), now, effects);
    Ok(request)
}

enum TakenBack {
    Open(OpenUndo),
    /// Accepted hunks were undone; the change is still to be committed.
    Text(Box<DecisionOutcome>),
}

/// Undoes in the request what a wish names, as the settings in force require. A refusal changes
/// only the requirement that the request records.
fn take_back(
    state: &RoomState,
    request: &mut ApprovalRequest,
    wish: &UndoChange,
    by: &Principal,
    now: &ApplyContext,
) -> RoomResult<TakenBack> {
    let settings = state.in_force(now);
    let requirements = state.requirements(&settings, now);
    request.set_policy(&requirements);
    if wish.votes_only {
        let hunks = request.withdraw_own_votes(wish.hunks.as_deref(), by, now.ms)?;
        return Ok(TakenBack::Open(OpenUndo::Votes(hunks)));
    }
    if let Some(undone) = request.undo_open(wish.hunks.as_deref(), by, now.ms)? {
        return Ok(TakenBack::Open(undone));
    }
    let touched = match &wish.seen {
        _ if !wish.force => TouchedPolicy::Refuse,
        None => TouchedPolicy::Overwrite,
        Some(seen) => TouchedPolicy::OverwriteSeen(seen),
    };
    let scope = UndoScope { hunks: wish.hunks.as_deref(), touched };
    let text = state.document.text();
    let judged = request.judge_undo(scope, by, text, &requirements)?;
    if let Some(changes) = judged.changes() {
        check_fits(state, changes)?;
    }
    let outcome = request.carry_out_undo(judged, by, text, now.ms, &requirements);
    Ok(TakenBack::Text(Box::new(outcome)))
}

fn still_open(
    state: &mut RoomState,
    request: Arc<ApprovalRequest>,
    undone: OpenUndo,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> Arc<ApprovalRequest> {
    let actor = by.user.as_str();
    match undone {
        OpenUndo::Split(whole, parts) => {
            let detail = json!({ "hunk": whole, "parts": parts });
            effects.keep(state.audit("request.join", actor, Some(request.id()), detail, now));
            replace_hunks(state, request, parts, &[whole], by, now, effects)
        }
        OpenUndo::Votes(hunks) => {
            let detail = json!({ "hunks": hunks });
            effects.keep(state.audit("request.unvote", actor, Some(request.id()), detail, now));
            place_changed(state, Arc::clone(&request), &hunks, effects);
            queue_request_event(state, &request, &hunks, Some(by), now, effects);
            request
        }
    }
}

/// Opens hunks again that were refused, expired or obsolete, on the newest text.
pub(crate) fn reopen(
    state: &mut RoomState,
    wish: &ProposeAgain,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let id = &wish.request;
    let mut request = ApprovalRequest::clone(current(state, id)?);
    request.set_policy(&state.requirements(&state.in_force(now), now));
    if !state.open.contains_key(id) && state.open.len() >= MOST_OPEN {
        return Err(RoomError::TooManyRequests { limit: MOST_OPEN });
    }
    let again = request.reopen(wish.hunks.as_deref(), by, state.document.text())?;
    request.update_required(&state.requirements(&state.in_force(now), now));
    let detail = json!({ "hunks": again });
    effects.keep(state.audit("request.reopen", by.user.as_str(), Some(id), detail, now));
    queue_hunk_changes(
        state,
        HunkChanges { drop: Vec::new(), put: put(&request, &again) },
        effects,
    );
    Ok(open_again(state, Arc::new(request), &again, by, now, effects))
}

fn open_again(
    state: &mut RoomState,
    mut request: Arc<ApprovalRequest>,
    again: &[HunkId],
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> Arc<ApprovalRequest> {
    if !state.focuses.any(request.id()) {
        // People viewed the request when it ended.
        Arc::make_mut(&mut request).clock.paused_ms = None;
    }
    place(state, Arc::clone(&request), effects);
    // A hunk that was forced over deleted words has nothing to change once it is undone.
    if request.status.is_open() {
        effects.queue_event(RoomEvent::Requested(Arc::clone(&request)));
    }
    queue_request_event(state, &request, again, Some(by), now, effects);
    request
}

fn current<'s>(state: &'s RoomState, id: &RequestId) -> RoomResult<&'s Arc<ApprovalRequest>> {
    state.exists()?;
    let request = state.request(id).ok_or(RoomError::NoRequest)?;
    if request.version == state.version() {
        Ok(request)
    } else {
        Err(RoomError::Invalid("the document has just changed; try again".to_owned()))
    }
}
