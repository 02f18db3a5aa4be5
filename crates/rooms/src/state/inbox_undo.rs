//! Undo and repetition of calls in the workspace inbox: their records, and the events about them.
//! The room does not touch the file: the caller that writes it first begins the undo here, durably,
//! and then reports its outcome here.

use std::sync::Arc;

use serde_json::json;

use copydesk_approvals::{ApprovalRequest, FileUndoOutcome};
use copydesk_failpoint as failpoint;
use copydesk_ids::RequestId;
use copydesk_ids::permissions::Principal;
use copydesk_store::StoreOp;

use super::workspace_inbox::retell;
use crate::actor::room_effects::RoomEffects;
use crate::command::UndoFileChange;
use crate::event::RequestNews;
use crate::state::{ApplyContext, RoomState};
use crate::{RequestResult, RoomError};

/// Begins to undo, once, what a call did to a file, under the policy in force; announced.
pub(crate) fn begin(
    state: &mut RoomState,
    undoing: UndoFileChange,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let UndoFileChange { request: id, found } = undoing;
    state.exists()?;
    let mut request = ApprovalRequest::clone(state.request(&id).ok_or(RoomError::NoRequest)?);
    let settings = state.in_force(now);
    let requirements = state.requirements(&settings, now);
    request.set_policy(&requirements);
    let file = &request.proposal.action.preview.file_path;
    let detail = json!({ "file": file, "found": found.stamp, "force": found.forced });
    request.begin_reversal(by, found, now.ms, &requirements)?;
    effects.keep(state.audit("request.undo.begin", by.user.as_str(), Some(&id), detail, now));
    let request = retell(state, request, RequestNews::Aftermath, effects);
    effects.keep(StoreOp::BeginUndo(id));
    Ok(request)
}

pub(crate) fn end(
    state: &mut RoomState,
    id: &RequestId,
    reversed: &FileUndoOutcome,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let mut request = ApprovalRequest::clone(state.request(id).ok_or(RoomError::NoRequest)?);
    let Some(reversal) = request.aftermath.reversal.clone() else { return Ok(Arc::new(request)) };
    if !request.end_reversal(reversed, now.ms) {
        return Ok(Arc::new(request));
    }
    let file = &request.proposal.action.preview.file_path;
    let (action, actor, detail) = match reversed {
        FileUndoOutcome::Done => {
            let detail = json!({ "file": file, "force": reversal.forced });
            ("request.undo", reversal.by.user.as_str(), detail)
        }
        FileUndoOutcome::Not(why) => {
            ("request.undo.fail", "server", json!({ "file": file, "why": why }))
        }
    };
    effects.keep(state.audit(action, actor, Some(id), detail, now));
    effects.keep(StoreOp::EndUndo(id.clone()));
    failpoint::pass("room.undone");
    Ok(retell(state, request, RequestNews::Aftermath, effects))
}

/// Records that a person proposed a request again; viewers of the request are led to the newer one.
pub(crate) fn repeated(
    state: &mut RoomState,
    id: &RequestId,
    again: RequestId,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let mut request = ApprovalRequest::clone(state.request(id).ok_or(RoomError::NoRequest)?);
    let detail = json!({ "again": again });
    request.repeated_as(again);
    effects.keep(state.audit("request.reopen", by.user.as_str(), Some(id), detail, now));
    Ok(retell(state, request, RequestNews::Aftermath, effects))
}
