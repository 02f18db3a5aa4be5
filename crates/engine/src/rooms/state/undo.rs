//! Undo of accepted hunks, and reopening of refused ones. Pure.
//!
//! The actor has brought the request up to the newest version before
//! ([`crate::rooms::persistence::loading::caught_up`]).

use std::sync::Arc;

use serde_json::json;

use crate::approvals::{ApprovalRequest, OpenUndo, TouchedPolicy, UndoScope};
use crate::document::provenance::ServerAct;
use crate::failpoint;
use crate::ids::{HunkId, RequestId};
use crate::permissions::Principal;

use super::decisions::replace_hunks;
use super::requests::{
    MOST_OPEN, move_scope, notify, notify_hunks, place, placements, put, writer,
};
use crate::rooms::actor::room_effects::RoomEffects;
use crate::rooms::command::{ProposeAgain, UndoChange};
use crate::rooms::event::RoomEvent;
use crate::rooms::state::{ApplyContext, ChangeAuthor, HunkChanges, RoomState};
use crate::rooms::{RequestResult, RoomError, RoomResult};

/// Undoes accepted hunks by one update; they are open again. Votes of the person and splits are
/// undone too.
pub(crate) fn undo(
    state: &mut RoomState,
    wish: &UndoChange,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let mut request = current(state, &wish.request, now)?;
    if wish.votes_only {
        let hunks = request.withdraw_own_votes(wish.hunks.as_deref(), by, now.ms)?;
        return Ok(still_open(state, request, OpenUndo::Votes(hunks), by, now, effects));
    }
    if let Some(undone) = request.undo_open(wish.hunks.as_deref(), by, now.ms)? {
        return Ok(still_open(state, request, undone, by, now, effects));
    }
    let touched = match &wish.seen {
        _ if !wish.force => TouchedPolicy::Refuse,
        None => TouchedPolicy::Overwrite,
        Some(seen) => TouchedPolicy::OverwriteSeen(seen),
    };
    let scope = UndoScope { hunks: wish.hunks.as_deref(), touched };
    let settings = state.in_force(now);
    let requirements = state.requirements(&settings, now);
    let outcome = request.undo(scope, by, state.document.text(), now.ms, &requirements)?;
    let hunks = HunkChanges { drop: Vec::new(), put: put(&request, &outcome.put) };
    match &outcome.changes {
        Some(changes) => {
            let id = request.id().clone();
            let placements = Some(placements(&request, ServerAct::TakenBack, &outcome, None));
            let author =
                ChangeAuthor { client: writer(&id), user: &by.user, origin: Some(&id), placements };
            state.apply_server_change(changes, &author, hunks, now, effects)?;
            move_scope(&mut request, changes);
        }
        None => notify_hunks(state, hunks, effects),
    }
    let detail = json!({ "hunks": outcome.put, "force": wish.force });
    effects.keep(state.audit("request.undo", by.user.as_str(), Some(request.id()), detail, now));
    failpoint::pass("room.undone");
    Ok(open_again(state, request, &outcome.put, by, now, effects))
}

/// Stores and announces a request whose split or votes were undone.
fn still_open(
    state: &mut RoomState,
    request: ApprovalRequest,
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
            let request = Arc::new(request);
            place(state, Arc::clone(&request), effects);
            notify(state, &request, &hunks, Some(by), now, effects);
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
    let mut request = current(state, id, now)?;
    if !state.open.contains_key(id) && state.open.len() >= MOST_OPEN {
        return Err(RoomError::TooManyRequests { limit: MOST_OPEN });
    }
    let again = request.reopen(wish.hunks.as_deref(), by, state.document.text())?;
    request.update_required(&state.requirements(&state.in_force(now), now));
    let detail = json!({ "hunks": again });
    effects.keep(state.audit("request.reopen", by.user.as_str(), Some(id), detail, now));
    notify_hunks(state, HunkChanges { drop: Vec::new(), put: put(&request, &again) }, effects);
    Ok(open_again(state, request, &again, by, now, effects))
}

/// Stores a request that has open hunks again, and announces it like a new one.
fn open_again(
    state: &mut RoomState,
    mut request: ApprovalRequest,
    again: &[HunkId],
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> Arc<ApprovalRequest> {
    if !state.focuses.any(request.id()) {
        // Somebody viewed the request when it ended.
        request.clock.paused_ms = None;
    }
    let request = Arc::new(request);
    place(state, Arc::clone(&request), effects);
    // A hunk that was forced over deleted words has nothing to change once it is undone.
    if request.status.is_open() {
        effects.notify(RoomEvent::Requested(Arc::clone(&request)));
    }
    notify(state, &request, again, Some(by), now, effects);
    request
}

/// Returns the request at the newest version, with the requirements of the settings in force.
fn current(state: &RoomState, id: &RequestId, now: &ApplyContext) -> RoomResult<ApprovalRequest> {
    state.exists()?;
    let request = state.request(id).ok_or(RoomError::NoRequest)?;
    if request.version != state.version() {
        return Err(RoomError::Invalid("the document has just changed; try again".to_owned()));
    }
    let mut request = ApprovalRequest::clone(request);
    request.set_policy(&state.requirements(&state.in_force(now), now));
    Ok(request)
}
