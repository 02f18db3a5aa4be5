//! Calls about files that are open as documents: they work in the room of the document, so that its
//! people see and decide them, and no change of theirs is overwritten on the disk.

use std::sync::Arc;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use copydesk_approvals::{PreviewWarning, RequestStatus};
use copydesk_file_sync::{FileSync, text_encoding};
use copydesk_rooms::RoomHandle;
use copydesk_rooms::command::ApprovalMode;
use copydesk_rooms::event::{AgentObject, RunEvent, RunEventKind};

use super::{file_warnings, inbox_approval};
use crate::document::text_changes;
use crate::pipeline::approval;
use crate::{
    DocumentProposal, DocumentView, FileEdit, FinishedCall, ProposalResult, ReadDocuments,
    ReplacedText, ToolCall, ToolContext, ToolEffect, ToolResult, UnreadRanges, model_notes,
};

pub(crate) async fn enter(
    context: &ToolContext,
    files: &FileSync,
    path: &str,
    room: RoomHandle,
    effect: ToolEffect,
) -> ToolResult<ToolContext> {
    let now = room.read().await?;
    // The version that the model has read counts, because people may have written since. If the
    // model has never read the file, it may remove words only where people review the change.
    let read = context.view.others.as_ref().and_then(|read| read.get(room.document()).cloned());
    let (base, unread) = read.unwrap_or_else(|| {
        let is_seen =
            effect == ToolEffect::ChangesFile && context.approval.mode != ApprovalMode::Bypass;
        let is_known = context.view.others.is_none() || is_seen;
        let unread =
            if is_known { UnreadRanges::default() } else { UnreadRanges::all(now.text.len()) };
        (now, unread)
    });
    let path = files.path_of(room.document()).unwrap_or_else(|| path.to_owned());
    let view = DocumentView {
        latest: Some(base.clone()),
        base: Some(base),
        base_unread: unread.clone(),
        latest_unread: unread,
        selection: None,
        ..context.view.clone()
    };
    Ok(ToolContext { room, open_file: Some(path), view, ..context.clone() })
}

pub(crate) async fn propose(
    context: &ToolContext,
    edit: FileEdit,
    replaces: ReplacedText,
) -> ToolResult<DocumentProposal> {
    let FileEdit { path, text: new, success_text } = edit;
    context.workspace()?.check(&path, &new)?;
    let base = context.document()?;
    let (before, after) = (base.text.to_string(), new.clone());
    let about_file = text_changes::blocking(move |limits| {
        file_warnings::of_file(&path, Some(&before), &after, limits)
    });
    let mut warnings = about_file.await?;
    warnings.extend(unread(context).filter(|_| replaces != ReplacedText::Quoted));
    let mut proposal = text_changes::propose(base, text_encoding::read(&new), None).await?;
    let is_new = |it: &PreviewWarning| warnings.iter().all(|other| other.code != it.code);
    let others: Vec<_> = proposal.preview.warnings.drain(..).filter(is_new).collect();
    warnings.extend(others);
    proposal.preview.warnings = warnings;
    proposal.success_text = Some(success_text);
    Ok(proposal)
}

/// Returns a warning if the run has never read any of an open file, for calls that do not quote.
fn unread(context: &ToolContext) -> Option<PreviewWarning> {
    let is_read = |read: &Arc<ReadDocuments>| read.contains_key(context.room.document());
    context.view.others.as_ref().filter(|read| !is_read(read)).map(|_| PreviewWarning {
        code: "unread".into(),
        text: "The AI has not read this file, and does not know what it takes away.".into(),
    })
}

pub(crate) async fn ask(
    context: &ToolContext,
    call: &ToolCall,
    mut proposal: DocumentProposal,
    cancel: &CancellationToken,
) -> ToolResult<FinishedCall> {
    let success_text = proposal.success_text.take();
    let mode = inbox_approval::approval_mode_for_file(context, call, &proposal.hunks).await?;
    let context = &context.with_approval_mode(mode);
    notify_inbox(context, call).await;
    let decided = approval::ask(context, call, None, proposal, cancel).await?;
    let finished = model_notes::report(context, &decided);
    Ok(complete_outcome(context, finished, Some((&decided, success_text))))
}

/// Notifies the workspace inbox that the call waits in the room of the document instead.
async fn notify_inbox(context: &ToolContext, call: &ToolCall) {
    let Some(path) = &context.open_file else { return };
    let details = json!({
        "tool": call.name,
        "tool_use_id": call.id,
        "request_id": context.call.request,
        "status": RequestStatus::Pending.as_str(),
        "file_path": path,
        "document_id": context.room.document(),
        "text": format!("{path} is open as a document; what is to change waits there."),
    });
    let event = RunEvent {
        session: context.call.session.clone(),
        run: context.call.run.clone(),
        document: None,
        at_ms: context.environment.clock.now_ms(),
        saying: RunEventKind::Agent(AgentObject::waiting(details)),
    };
    context.environment.workspace_inbox.publish(event).await;
}

/// Completes the outcome of a call that worked in the room of a file. If people accepted it
/// unchanged, the model gets the usual words for a file.
pub(crate) fn complete_outcome(
    context: &ToolContext,
    mut finished: FinishedCall,
    decided: Option<(&ProposalResult, Option<String>)>,
) -> FinishedCall {
    if context.open_file.is_none() {
        return finished;
    }
    // The conversation has no document, so the outcome has no change of its own.
    finished.outcome.change = None;
    finished.outcome.about.insert("updateType".into(), "none".into());
    let document = context.room.document().clone();
    finished.outcome.about.insert("document_id".into(), document.as_str().into());
    finished.read = finished.now.take().map(|now| (document, now));
    if let Some((verdict, Some(success_text))) = decided
        && verdict.as_proposed
        && verdict.resolution.status == RequestStatus::Approved
    {
        finished.outcome.text = success_text;
    }
    finished
}
