//! Calls about files that people have open as documents. Such a call works in the room of the
//! document, so that its people see and decide it, and no change of theirs is overwritten on the
//! disk.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::approvals::{PreviewWarning, RequestStatus};
use crate::file_sync::{FileSync, text_encoding};
use crate::rooms::RoomHandle;
use crate::rooms::command::ApprovalMode;
use crate::rooms::event::{RunEvent, RunEventKind};

use super::cross_document::ReadDocuments;
use super::file_warnings;
use crate::tools::document::text_changes;
use crate::tools::pipeline::approval;
use crate::tools::registered_tool::RegisteredTool;
use crate::tools::registry::refused;
use crate::tools::{
    DocumentProposal, FinishedCall, PreparedCall, ProposalResult, ToolCall, ToolContext,
    ToolEffect, ToolError, ToolRegistry, UnreadRanges,
};

impl ToolRegistry {
    /// Returns the path of the file that a call names, with the registry of files that may be
    /// documents.
    pub(crate) fn named_file(
        &self,
        tool: &RegisteredTool,
        context: &ToolContext,
        input: &Value,
    ) -> Option<(&FileSync, String)> {
        let files = self.files.as_ref().filter(|_| context.workspace.is_some())?;
        Some((files, (tool.file)(input)?))
    }

    /// Fails if an action approved in the workspace inbox would change a file that is open as a
    /// document by now. The people of the document would not be asked, and its frozen passages
    /// would not be checked.
    pub(crate) async fn check_closed(
        &self,
        tool: &RegisteredTool,
        context: &ToolContext,
        input: &Value,
    ) -> Result<(), ToolError> {
        let Some((files, path)) = self.named_file(tool, context, input) else { return Ok(()) };
        if tool.effect != ToolEffect::Acts || files.live(&path).await.is_none() {
            return Ok(());
        }
        Err(ToolError::Failed(format!(
            "{path} is open as a document now; nothing was written. Propose it again there"
        )))
    }

    /// Resumes a call that may have become a request in the room of its file.
    pub(crate) async fn resume_live(
        &self,
        tool: &RegisteredTool,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Option<FinishedCall> {
        let (files, path) = self.named_file(tool, context, &call.input)?;
        let room = context.rooms.open(&files.document_of(&path)?).await.ok()?;
        let entered = enter(context, files, &path, room, tool.effect).await.ok()?;
        Some(match approval::resume(&entered, call, None, cancel).await? {
            Ok(verdict) => {
                told(&entered, (tool.finish)(&entered, &verdict), Some((&verdict, None)))
            }
            Err(error) => told(&entered, refused(&entered, &error).await, None),
        })
    }
}

/// Returns the context of the call in the room of the file it names.
pub(crate) async fn enter(
    context: &ToolContext,
    files: &FileSync,
    path: &str,
    room: RoomHandle,
    effect: ToolEffect,
) -> Result<ToolContext, ToolError> {
    let now = room.read().await?;
    // The version that the model has read counts, because people may have written since. If the
    // model has never read the file, it may remove words only where people review the change.
    let read = context.read.as_ref().and_then(|read| read.get(room.document()).cloned());
    let (base, unread) = read.unwrap_or_else(|| {
        let is_seen = effect == ToolEffect::Acts && context.gate != ApprovalMode::Bypass;
        let is_known = context.read.is_none() || is_seen;
        let unread =
            if is_known { UnreadRanges::default() } else { UnreadRanges::all(now.text.len()) };
        (now, unread)
    });
    let path = files.path_of(room.document()).unwrap_or_else(|| path.to_owned());
    Ok(ToolContext {
        room,
        shown: Some(base.clone()),
        base: Some(base),
        unread: unread.clone(),
        still_unread: unread,
        selection: None,
        live: Some(path),
        ..context.clone()
    })
}

/// Returns a warning if the run has never read any of an open file. For calls that do not quote the
/// words they remove.
pub(crate) fn unread(context: &ToolContext) -> Option<PreviewWarning> {
    let is_read = |read: &Arc<ReadDocuments>| read.contains_key(context.room.document());
    context.read.as_ref().filter(|read| !is_read(read)).map(|_| PreviewWarning {
        code: "unread".into(),
        text: "The AI has not read this file, and does not know what it takes away.".into(),
    })
}

/// Proposes a change of the file's text to the people of its document. `told` is the text for the
/// model if they accept everything unchanged.
pub(crate) async fn propose(
    context: &ToolContext,
    path: &str,
    new: &str,
    told: String,
    warning: Option<PreviewWarning>,
) -> Result<PreparedCall, ToolError> {
    let base = context.document()?;
    let mut warnings = file_warnings::of_file(path, Some(&base.text.to_string()), new);
    warnings.extend(warning);
    let proposal = text_changes::propose(base, text_encoding::read(new), None, warnings).await?;
    Ok(PreparedCall::Propose(DocumentProposal { told: Some(told), ..proposal }))
}

/// Tells the workspace inbox that the call waits in the room of the document instead.
pub(crate) async fn tell_desk(context: &ToolContext, call: &ToolCall) {
    let Some(path) = &context.live else { return };
    let told = json!({
        "tool": call.name,
        "tool_use_id": call.id,
        "request_id": context.request,
        "status": RequestStatus::Pending.as_str(),
        "file_path": path,
        "document_id": context.room.document(),
        "text": format!("{path} is open as a document; what is to change waits there."),
    });
    let said = RunEvent {
        session: context.session.clone(),
        run: context.run.clone(),
        document: None,
        at_ms: context.clock.now_ms(),
        saying: RunEventKind::Agent("system", "waiting", told),
    };
    context.desk.say(said).await;
}

/// Completes the outcome of a call that worked in the room of a file. If people accepted it
/// unchanged, the model is told the usual words for a file.
pub(crate) fn told(
    context: &ToolContext,
    mut finished: FinishedCall,
    decided: Option<(&ProposalResult, Option<String>)>,
) -> FinishedCall {
    if context.live.is_none() {
        return finished;
    }
    // The conversation has no document, so the outcome has no change of its own.
    finished.outcome.change = None;
    finished.outcome.about.insert("updateType".into(), "none".into());
    let document = context.room.document().clone();
    finished.outcome.about.insert("document_id".into(), document.as_str().into());
    finished.read = finished.now.take().map(|now| (document, now));
    if let Some((verdict, Some(told))) = decided
        && verdict.as_proposed
        && verdict.resolution.status == RequestStatus::Approved
    {
        finished.outcome.text = told;
    }
    finished
}
