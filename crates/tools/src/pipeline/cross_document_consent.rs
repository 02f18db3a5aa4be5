//! Asks people before words of one document reach people of another document who may not read it.
//!
//! The text of a document can make a model read other documents, and everyone in the document sees
//! the model's answers. So if a person may read the asking document but not the other one, the
//! reading waits in the workspace inbox for people who may open both.

use tokio_util::sync::CancellationToken;

use copydesk_approvals::{Preview, PreviewWarning, RequestStatus, ToolReport};

use super::{cross_document, inbox_approval};
use crate::{
    ActionPreview, FinishedCall, ToolCall, ToolContext, ToolFacts, ToolRegistry, ToolResult,
};

impl ToolRegistry {
    /// Asks people if another document may be read for this conversation; returns the outcome if
    /// not.
    pub(crate) async fn ask_to_disclose(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> ToolResult<Option<FinishedCall>> {
        let only_reads = tool.only_reads(&call.input);
        let Some(asking) = context.conversation_room.as_ref().filter(|_| only_reads) else {
            return Ok(None);
        };
        let (here, there) = (asking.document(), context.room.document());
        // An approval is valid for the whole run. A private document belongs to its session alone.
        let is_read = context.view.others.as_ref().is_some_and(|read| read.contains_key(there));
        let is_known = is_read || asking.unlisted_owner().is_some();
        if is_known || context.environment.rooms.readers(here).await?.may_all_read(there) {
            return Ok(None);
        }
        let (ours, theirs) = (asking.read().await?.title, context.room.read().await?.title);
        let preview = Preview {
            file_path: Some(theirs.clone()),
            warnings: vec![PreviewWarning {
                code: "discloses".into(),
                text: format!(
                    "Some people who may read “{ours}” may not read “{theirs}”, but will see what the AI says about it."
                ),
            }],
            ..inbox_approval::read_preview(&call.input)
        };
        cross_document::notify_asking_document(context, call).await;
        let intent = ActionPreview { preview, touched: None };
        let settled = inbox_approval::ask(context, tool.effect, call, intent, cancel).await?;
        let (request, report) = (settled.request, settled.resolution.report);
        if request.status != RequestStatus::Approved {
            return Ok(Some(inbox_approval::outcome(&request, report)));
        }
        if request.aftermath.execution.is_none() {
            context.environment.workspace_inbox.begin(request.id().clone()).await?;
            let report = ToolReport { text: format!("“{theirs}” was read."), is_error: false };
            inbox_approval::done(&context.environment.workspace_inbox, &request, report).await;
        }
        Ok(None)
    }
}
