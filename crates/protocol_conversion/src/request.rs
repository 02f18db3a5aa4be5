//! Requests, hunks and decisions, on the wire.

use std::sync::Arc;

use serde_json::{Value, json};

use copydesk_agent::ReopenOutcome;
use copydesk_approvals as approvals;
use copydesk_approvals::{
    ApprovalRequest, CallOrigin, DecisionError, FileNow, Person, PreviewKind, ProposedAction,
    ProposedCall, ReportState, RequestStatus, ToolReport, TouchedSince, UnaskedReason, VoteCount,
};
use copydesk_ids::{DocumentId, HunkId};
use copydesk_rooms::event::{RequestNews, RequestUpdate, StreamingPreview};

use super::hunk::{changed_states, hunk, hunk_state, hunk_states};
use super::{principal, time};
use copydesk_protocol::names::DecisionKind;
use copydesk_protocol::{rest, server};

/// Returns a complete request.
pub fn request(request: &ApprovalRequest) -> server::ToolApprovalRequest {
    let ProposedCall { origin, document, requester, action, claimed_author, .. } =
        &request.proposal;
    let CallOrigin { id, tool, input, tool_use, session, run } = origin;
    let ProposedAction { prompt, base_version, scope: _, explanation, preview, touched: _, source } =
        action;
    let approvals::Preview {
        kind, data, file_path, original_content, new_content, diff_lines, ..
    } = preview;
    let feedback = feedback(request);
    server::ToolApprovalRequest {
        kind: "tool_approval_request".to_owned(),
        request_id: id.to_string(),
        tool_name: tool.clone(),
        tool_input: input.clone(),
        tool_use_id: tool_use.to_string(),
        preview_type: *kind,
        preview_data: data.clone(),
        file_path: file_path.clone(),
        original_content: original_content.clone(),
        new_content: new_content.clone(),
        diff_lines: diff_lines.clone(),
        session_id: session.to_string(),
        run_id: run.to_string(),
        document_id: document.as_ref().map(ToString::to_string),
        base_version: base_version.0,
        version: request.version.0,
        status: request.status,
        hunks: request.hunks.iter().map(|h| hunk(id, h)).collect(),
        explanation: explanation.clone(),
        prompt: prompt.clone(),
        author: person(requester),
        claimed_author: claimed_author.clone(),
        created_at: time(request.clock.created_ms),
        expires_at: request.clock.ends_ms().map(time),
        paused: request.clock.paused_ms.is_some(),
        warnings: preview.warnings.clone(),
        allowed_decisions: allowed_decisions(request),
        preview_hash: request.preview_hash(),
        policy: request.requires().strictest(),
        policies: request.requires().policies(),
        units: request.units(),
        approvals: request.votes(),
        // What needs a second look is never approved by one stray key.
        default_to_no: *kind == PreviewKind::Command
            || (request.hunks.is_empty() && !preview.warnings.is_empty()),
        source: *source,
        revision: request.revision(),
        by: request.decisions.closed.as_ref().and_then(|closed| closed.by.as_ref()).map(person),
        rule: rule(request),
        unasked: unasked(request),
        feedback,
        report: request.report().text,
        aftermath: remarkable(request),
    }
}

fn allowed_decisions(request: &ApprovalRequest) -> Vec<DecisionKind> {
    use DecisionKind::{Approve, Edit, Reject, Respond};
    if request.hunks.is_empty() {
        vec![Approve, Reject, Edit, Respond]
    } else {
        vec![Approve, Reject, Respond]
    }
}

/// Returns the rule that resolved the request in a person's place.
fn rule(request: &ApprovalRequest) -> Option<String> {
    request.decisions.closed.as_ref()?.rule.as_ref().map(ToString::to_string)
}

fn unasked(request: &ApprovalRequest) -> Option<UnaskedReason> {
    request.decisions.closed.as_ref()?.unasked
}

/// Returns the events after the decision.
fn aftermath(request: &ApprovalRequest) -> server::Aftermath {
    server::Aftermath {
        can_undo: request.can_be_undone(),
        can_reopen: request.can_be_proposed_again(),
        undone: request.undone().map(undone),
        again_of: request.proposal.again_of.as_ref().map(ToString::to_string),
        again_as: request.aftermath.again_as.as_ref().map(ToString::to_string),
    }
}

/// Returns the events after the decision, or `None` if there is nothing to say.
fn remarkable(request: &ApprovalRequest) -> Option<server::Aftermath> {
    let aftermath = aftermath(request);
    let server::Aftermath { can_undo, can_reopen, undone, again_of, again_as } = &aftermath;
    let is_remarkable =
        *can_undo || *can_reopen || undone.is_some() || again_of.is_some() || again_as.is_some();
    is_remarkable.then_some(aftermath)
}

fn undone(reversal: &approvals::FileUndo) -> server::Undone {
    let approvals::FileUndo { by, at_ms, forced, found: _, done_ms: _ } = reversal;
    server::Undone { by: person(by), at: time(*at_ms), forced: *forced }
}

fn feedback(request: &ApprovalRequest) -> Option<String> {
    let said: Vec<_> =
        request.decisions.remarks.iter().filter_map(|remark| remark.feedback.as_deref()).collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

pub(crate) fn person(of: &Person) -> server::Person {
    let Person { user, name } = of;
    server::Person { id: user.to_string(), name: name.clone() }
}

/// Returns the update of an open request.
pub(crate) fn update(update: &RequestUpdate) -> server::ToolApprovalUpdate {
    let RequestUpdate { request, changed, by, focused, news } = update;
    let tells_end = match news {
        RequestNews::Result | RequestNews::Aftermath => true,
        RequestNews::Nothing | RequestNews::Preview => false,
    };
    server::ToolApprovalUpdate {
        request_id: request.id().to_string(),
        document_id: request.proposal.document.as_ref().map(ToString::to_string),
        status: request.status,
        expires_at: request.clock.ends_ms().map(time),
        paused: request.clock.paused_ms.is_some(),
        focused_by: focused.iter().map(principal).collect(),
        preview_hash: request.preview_hash(),
        revision: request.revision(),
        policies: Some(request.requires().policies()),
        approvals: request.votes(),
        hunks: changed_states(request, changed),
        by: by.as_ref().map(principal),
        text: None,
        paragraphs: None,
        tool_name: None,
        tool_use_id: None,
        session_id: None,
        run_id: None,
        author: None,
        fresh: (*news == RequestNews::Preview).then(|| Box::new(self::request(request))),
        report: tells_end.then(|| request.report().text),
        aftermath: tells_end.then(|| aftermath(request)),
    }
}

/// Returns the update of a change that the model is writing.
pub(crate) fn preview_update(
    document: &DocumentId,
    streaming_preview: &StreamingPreview,
) -> server::ToolApprovalUpdate {
    let StreamingPreview {
        id,
        tool,
        tool_use,
        session,
        run,
        author,
        text,
        paragraphs,
        base_version: _,
        base: _,
        hunks: _,
    } = streaming_preview;
    server::ToolApprovalUpdate {
        request_id: id.to_string(),
        document_id: Some(document.to_string()),
        status: RequestStatus::Streaming,
        expires_at: None,
        paused: false,
        focused_by: Vec::new(),
        preview_hash: String::new(),
        revision: None,
        policies: None,
        approvals: VoteCount { have: 0, need: 0 },
        hunks: Vec::new(),
        by: None,
        text: Some(text.clone()),
        paragraphs: Some(*paragraphs),
        tool_name: Some(tool.clone()),
        tool_use_id: Some(tool_use.to_string()),
        session_id: Some(session.to_string()),
        run_id: Some(run.to_string()),
        author: Some(person(author)),
        fresh: None,
        report: None,
        aftermath: None,
    }
}

/// Returns the update for the end of a change that came to nothing.
pub(crate) fn preview_end(
    document: &DocumentId,
    streaming_preview: &StreamingPreview,
) -> server::ToolApprovalUpdate {
    let status = RequestStatus::Cancelled;
    let (text, paragraphs) = (None, None);
    server::ToolApprovalUpdate {
        status,
        text,
        paragraphs,
        ..preview_update(document, streaming_preview)
    }
}

/// Returns a change that the model is writing, for a client that opens the document.
pub(crate) fn streaming(
    document: &DocumentId,
    (streaming_preview, hunks): &(Arc<StreamingPreview>, Vec<approvals::Hunk>),
) -> server::Streaming {
    let update = preview_update(document, streaming_preview);
    let hunks = hunks.iter().map(|it| hunk(&streaming_preview.id, it)).collect();
    server::Streaming { update, hunks }
}

/// Returns the `tool_approval_resolved` event.
pub fn resolved(request: &ApprovalRequest) -> server::ToolApprovalResolved {
    server::ToolApprovalResolved {
        request_id: request.id().to_string(),
        document_id: request.proposal.document.as_ref().map(ToString::to_string),
        status: request.status,
        by: request.decisions.closed.as_ref().and_then(|closed| closed.by.as_ref()).map(person),
        rule: rule(request),
        unasked: unasked(request),
        feedback: feedback(request),
        hunks: hunk_states(request),
        revision: request.revision(),
        report: request.report().text,
        aftermath: remarkable(request),
    }
}

/// Returns the answer to a decision, with the states of all hunks.
pub fn decision(request: &ApprovalRequest) -> server::Decided {
    decision_on(request, None)
}

/// Returns the answer to a decision, with the states of the hunks that it named; `None`: of all.
pub fn decision_on(request: &ApprovalRequest, named: Option<&[HunkId]>) -> server::Decided {
    let state = |hunk: &approvals::Hunk| hunk_state(hunk, hunk.status);
    let of = |ids| request.hunks_named(ids).into_iter().map(state).collect();
    server::Decided {
        status: request.status,
        hunks: named.map_or_else(|| hunk_states(request), of),
        preview_hash: request.preview_hash(),
        approvals: request.votes(),
    }
}

/// Returns the report that the model would be given.
pub fn told((report, state): (ToolReport, ReportState)) -> server::Told {
    let ToolReport { text, is_error } = report;
    server::Told { text, is_error, state }
}

/// Returns the state of a request after an action other than a decision.
pub fn request_state(request: &ApprovalRequest) -> rest::RequestState {
    rest::RequestState {
        status: request.status,
        expires_at: request.clock.ends_ms().map(time),
        unplaced: None,
        request_id: None,
    }
}

/// Returns the state of a request that was proposed again, with the hunks whose words are no longer
/// in the text.
pub fn reopened((reopened, unplaced): (ReopenOutcome, Vec<HunkId>)) -> rest::RequestState {
    let again = reopened.request();
    let unplaced = Some(unplaced.iter().map(ToString::to_string).collect());
    let request_id = Some(again.id().to_string());
    rest::RequestState { unplaced, request_id, ..request_state(again) }
}

/// Returns the reason of a refused decision, where its code has several.
pub(super) fn reason_code(error: &DecisionError) -> Option<String> {
    let reason = match error {
        DecisionError::NotAllowed { reason } => json!(reason),
        DecisionError::InvalidDecision { reason } => json!(reason),
        _ => return None,
    };
    reason.as_str().map(str::to_owned)
}

/// Returns the facts about a refused decision.
pub(super) fn decision_details(error: &DecisionError) -> Option<Value> {
    match error {
        DecisionError::NotFound { hunk } => Some(json!({ "hunk": hunk })),
        DecisionError::NotAllowed { .. } | DecisionError::InvalidDecision { .. } => None,
        DecisionError::Expired { at_ms } => Some(json!({ "at": time(*at_ms) })),
        DecisionError::AlreadyResolved { status, hunk, by, at_ms } => Some(json!({
            "status": status.as_str(),
            "hunk": hunk.as_ref().map(|(id, status)| json!({ "id": id, "status": status.as_str() })),
            "by": by.as_ref().map(person),
            "at": at_ms.map(time),
        })),
        DecisionError::StalePreview { current } => Some(json!({ "preview_hash": current })),
        DecisionError::Conflicted { hunks } => Some(json!({ "hunks": hunks })),
        DecisionError::Touched { hunks } => {
            let ids: Vec<_> = hunks.iter().map(|hunk| &hunk.id).collect();
            let touched = |TouchedSince { id, stands, restores }: &TouchedSince| json!({ "id": id, "stands": stands, "restores": restores });
            let touched: Vec<_> = hunks.iter().map(touched).collect();
            Some(json!({ "hunks": ids, "touched": touched }))
        }
        DecisionError::FileChanged { file } => {
            let FileNow { path, is_there, diff_lines, document } = &**file;
            Some(json!({
                "hunks": [],
                "file_path": path,
                "exists": is_there,
                "diff_lines": diff_lines,
                "document_id": document,
            }))
        }
    }
}
