//! Files that people have open as documents: a call about one works in its room, so that its people see and decide it, and
//! nothing they have written is overwritten by way of the disk.

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
    /// The file that a call names, where it may be a document.
    pub(crate) fn named_file(
        &self,
        tool: &RegisteredTool,
        context: &ToolContext,
        input: &Value,
    ) -> Option<(&FileSync, String)> {
        let files = self.files.as_ref().filter(|_| context.workspace.is_some())?;
        Some((files, (tool.file)(input)?))
    }

    /// Fails where what the desk decides would change a file that is a document by now: its people would not be asked, and
    /// what they have frozen would not be looked at.
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

    /// A call that may have become a request in the room of its file, taken up again there.
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

/// The same call in the room of the file it names.
pub(crate) async fn enter(
    context: &ToolContext,
    files: &FileSync,
    path: &str,
    room: RoomHandle,
    effect: ToolEffect,
) -> Result<ToolContext, ToolError> {
    let now = room.read().await?;
    // What the model has read of it counts: people may have written since. What it has never read it takes away only where
    // somebody looks at that.
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

/// For a call that names no words of an open file: whether the run has never read any of it.
pub(crate) fn unread(context: &ToolContext) -> Option<PreviewWarning> {
    let is_read = |read: &Arc<ReadDocuments>| read.contains_key(context.room.document());
    context.read.as_ref().filter(|read| !is_read(read)).map(|_| PreviewWarning {
        code: "unread".into(),
        text: "The AI has not read this file, and does not know what it takes away.".into(),
    })
}

/// A change of the file's text, for its people; `told`: what the model is told if they take all of it.
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

/// Tells the desk where a call waits that would otherwise wait there.
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

/// What the model is told of a call that worked in the room of a file: where people took it as it was, the words that it
/// is told of any file.
pub(crate) fn told(
    context: &ToolContext,
    mut finished: FinishedCall,
    decided: Option<(&ProposalResult, Option<String>)>,
) -> FinishedCall {
    if context.live.is_none() {
        return finished;
    }
    // The conversation is about no document, so it has no changes of its own.
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
