//! Routing of calls about files that people have open as documents.

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use copydesk_file_sync::FileSync;

use super::approval;
use super::open_file::{complete_outcome, enter};
use crate::model_notes::{self, refused};
use crate::{
    FinishedCall, ToolCall, ToolContext, ToolEffect, ToolError, ToolFacts, ToolRegistry, ToolResult,
};

impl ToolRegistry {
    pub(crate) fn named_file(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        input: &Value,
    ) -> Option<(&FileSync, String)> {
        let files = self.files.as_ref().filter(|_| context.environment.workspace.is_some())?;
        Some((files, tool.target(input).file()?))
    }

    /// Fails if an action approved in the workspace inbox would change a file that is open by now:
    /// the document's people would not be asked, nor its frozen passages checked.
    pub(crate) async fn check_not_open(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        input: &Value,
    ) -> ToolResult<()> {
        let Some((files, path)) = self.named_file(tool, context, input) else { return Ok(()) };
        if tool.effect != ToolEffect::ChangesFile || files.open_room(&path).await.is_none() {
            return Ok(());
        }
        Err(ToolError::Failed(format!(
            "{path} is open as a document now; nothing was written. Propose it again there"
        )))
    }

    pub(crate) async fn resume_in_file_room(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Option<FinishedCall> {
        let (files, path) = self.named_file(tool, context, &call.input)?;
        let room = context.environment.rooms.open(&files.document_of(&path)?).await.ok()?;
        let entered = enter(context, files, &path, room, tool.effect).await.ok()?;
        Some(match approval::resume(&entered, call, None, cancel).await? {
            Ok(verdict) => complete_outcome(
                &entered,
                model_notes::report(&entered, &verdict),
                Some((&verdict, None)),
            ),
            Err(error) => complete_outcome(&entered, refused(&entered, &error).await, None),
        })
    }
}
