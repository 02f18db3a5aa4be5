//! Approval of a change of a document: the call waits for the decision in the room of the document.

use tokio_util::sync::CancellationToken;

use crate::model_notes::TextDifference;
use crate::pipeline::{cross_document, invisible_chars};
use crate::{
    ApprovalWait, DocumentProposal, ProposalResult, RewrittenRange, ToolCall, ToolContext,
    ToolError,
};
use copydesk_approvals::{HunkDraft, HunkStatus, Preview, ProposedAction, RequestStatus};
use copydesk_failpoint as failpoint;
use copydesk_ids::RequestId;
use copydesk_rooms::command::{
    DocumentSnapshot, NewApprovalRequest, ProposalOutcome, ResolvedRequest,
};
use copydesk_rooms::{RoomError, RoomHandle};

/// Proposes a change and waits for the decision. Only the room applies changes, and only those of
/// the stored proposal.
///
/// # Errors
/// [`ToolError::Unchanged`], [`ToolError::Conflicted`] or [`ToolError::Denied`] if nothing was
/// proposed; errors of the room.
pub async fn ask(
    context: &ToolContext,
    call: &ToolCall,
    scope: Option<(usize, usize)>,
    proposal: DocumentProposal,
    cancel: &CancellationToken,
) -> Result<ProposalResult, ToolError> {
    let base = context.document()?;
    let DocumentProposal { hunks, text, preview, success_text: _, note, unplaced_reasons } =
        proposal;
    if hunks.is_empty() {
        return Err(ToolError::Unchanged);
    }
    let mut request = new_request(context, call, base, preview, hunks, &unplaced_reasons);
    request.action.scope = scope;
    failpoint::pass("tools.proposing");
    let settled = match context.room.propose(request).await? {
        ProposalOutcome::Waiting(_) => {
            context.report_progress(ApprovalWait::Waits);
            if let Some(asking) = context.asking_room() {
                context.room.notify_also(asking, &context.call.request).await;
            }
            cross_document::notify_asking_document(context, call).await;
            let settled = wait(&context.room, &context.call.request, cancel).await?;
            context.report_progress(ApprovalWait::Resolved);
            settled
        }
        ProposalOutcome::Resolved(settled) => *settled,
        ProposalOutcome::Conflicted(words) => return Err(ToolError::Conflicted(words)),
        ProposalOutcome::Frozen(words) | ProposalOutcome::Denied(words) => {
            return Err(ToolError::Denied(words));
        }
        ProposalOutcome::Unchanged => return Err(ToolError::Unchanged),
    };
    Ok(ProposalResult { proposed: Some(text), note, ..verdict(context, call, scope, settled) })
}

/// Builds the request of a call, as people are asked about it by the terms of `context`. Reasons
/// that belong to none of the hunks are lines of the explanation.
pub fn new_request(
    context: &ToolContext,
    call: &ToolCall,
    base: &DocumentSnapshot,
    mut preview: Preview,
    hunks: Vec<HunkDraft>,
    unplaced_reasons: &[String],
) -> NewApprovalRequest {
    let also = unplaced_reasons.iter().map(String::as_str);
    let reasons = hunks.iter().filter_map(|hunk| hunk.explanation.as_deref()).chain(also.clone());
    preview.warnings.extend(invisible_chars::of_own_words(&call.input, reasons));
    NewApprovalRequest {
        origin: context.call.origin(call),
        requester: context.call.requester.clone(),
        action: ProposedAction {
            prompt: context.call.prompt.to_string(),
            base_version: base.version,
            scope: None,
            explanation: explanation(call).into_iter().chain(also).collect::<Vec<_>>().join("\n"),
            preview,
            touched: None,
            source: context.call.source,
        },
        base: base.text.clone(),
        hunks,
        approval_mode: context.approval.mode,
        deadline_ms: context.approval.deadline_ms,
        after_restart: context.call.after_restart,
        again_of: context.call.again_of.clone(),
    }
}

/// Waits again for a request made before a restart; `None` if it was never made.
pub async fn resume(
    context: &ToolContext,
    call: &ToolCall,
    scope: Option<(usize, usize)>,
    cancel: &CancellationToken,
) -> Option<Result<ProposalResult, ToolError>> {
    match wait(&context.room, &context.call.request, cancel).await {
        Err(RoomError::NoRequest) => None,
        Err(error) => Some(Err(error.into())),
        Ok(settled) => Some(Ok(verdict(context, call, scope, settled))),
    }
}

/// Waits until a request has ended; withdraws it if the run is stopped.
pub async fn wait(
    room: &RoomHandle,
    request: &RequestId,
    cancel: &CancellationToken,
) -> Result<ResolvedRequest, RoomError> {
    let request = || request.clone();
    tokio::select! {
        biased;
        settled = room.resolution(request()) => settled,
        () = cancel.cancelled() => {
            // A decision may come at the same moment; it then counts.
            drop(room.withdraw(request(), None).await);
            room.resolution(request()).await
        }
    }
}

fn verdict(
    context: &ToolContext,
    call: &ToolCall,
    scope: Option<(usize, usize)>,
    settled: ResolvedRequest,
) -> ProposalResult {
    failpoint::pass("tools.settled");
    let applied =
        matches!(settled.resolution.status, RequestStatus::Approved | RequestStatus::Partly);
    let range = scope.map(|scope| text_in_range(context, scope, &settled));
    let explanation = explanation(call).map(str::to_owned);
    let as_proposed = settled.request.hunks.iter().all(|hunk| {
        hunk.status == HunkStatus::Accepted
            && hunk.decided.as_ref().is_some_and(|decided| decided.text.is_none())
    });
    let ResolvedRequest { resolution, reading: now, .. } = settled;
    ProposalResult {
        resolution,
        applied,
        as_proposed,
        now,
        range,
        explanation,
        proposed: None,
        note: None,
    }
}

/// Returns the present text of the original range; not known after a restart.
fn text_in_range(
    context: &ToolContext,
    (start, end): (usize, usize),
    settled: &ResolvedRequest,
) -> RewrittenRange {
    let now = &settled.reading.text;
    let guess = || {
        let base = context.view.base.as_ref()?;
        let difference = TextDifference::between(&base.text.to_string(), &now.to_string());
        Some(difference.map_or((start, end), |it| it.map((start, end))))
    };
    let text = settled.scope.or_else(guess).and_then(|(from, to)| now.slice(from..to).ok());
    RewrittenRange { start, end, text: text.unwrap_or_default() }
}

/// Returns the model's own explanation of a call.
pub fn explanation(call: &ToolCall) -> Option<&str> {
    let given = call.input.get("explanation").or_else(|| call.input.get("description"))?;
    given.as_str().filter(|text| !text.is_empty())
}
