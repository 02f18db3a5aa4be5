//! Checks of a call before people are asked, and the hooks after its end.

use serde_json::Value;

use super::hooks::{CallInput, CallOutlook, CompletedCall, run_hook};
use crate::schema::expected;
use crate::{
    DocumentProposal, FinishedCall, ReplacedText, ToolCall, ToolContext, ToolError, ToolFacts,
    ToolRegistry, ToolResult, ToolScope,
};
use copydesk_rooms::command::{OriginRequests, SnapshotWithUpdates};

impl ToolRegistry {
    /// Checks a call before anything of it is prepared: that its input fits, and that its result
    /// reveals nothing that rules keep from the model.
    pub(crate) async fn validate(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        call: &ToolCall,
    ) -> ToolResult<()> {
        // The arguments that a model wrote may be no JSON at all; people are not asked about that.
        if !call.input.is_object() {
            let reason = "invalid JSON arguments".to_owned();
            let expected = expected(&tool.schema);
            return Err(ToolError::Input { tool: tool.name, reason, expected });
        }
        if tool.scope == ToolScope::Workspace && context.environment.workspace.is_none() {
            return Err(self.unknown_here(context, tool.name));
        }
        self.check_reveals_nothing(tool, context, call).await?;
        self.check(tool, context, &call.input)
    }

    pub(crate) fn check(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        input: &Value,
    ) -> ToolResult<()> {
        let text = context.view.base.as_ref().map(|reading| &reading.text);
        let shaped = tool.shaped(input);
        let subject = CallInput { schema: &tool.schema, input: &shaped, text };
        for hook in self.hooks.before {
            run_hook(|| hook(&subject))?;
        }
        tool.check(input)
    }

    pub(crate) async fn check_proposal(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        proposal: &DocumentProposal,
    ) -> ToolResult<()> {
        let base = context.document()?;
        let is_newest = context.room.room_status().version == base.version;
        // If nothing was frozen when the text was read, the room itself checks passages that were
        // frozen since.
        let caught_up = if is_newest && base.settings.frozen.is_empty() {
            SnapshotWithUpdates { now: base.clone(), missed: Vec::new(), causes: Vec::new() }
        } else {
            // Only proposals for the whole text are compared with earlier proposals
            // (`tools/pipeline/unread.rs`).
            let is_whole = tool.input.replaces == ReplacedText::Document;
            let causes = if is_whole { OriginRequests::Named } else { OriginRequests::LeftOut };
            context.room.catch_up(base.version, causes).await?
        };
        let outlook = CallOutlook {
            proposal,
            base,
            unread: &context.view.base_unread,
            replaces: tool.input.replaces,
            reads_with: context.reads_with(),
            caught_up: &caught_up,
            allowed: context.view.editable,
            session: &context.call.session,
        };
        self.hooks.proposed.iter().try_for_each(|hook| run_hook(|| hook(&outlook)))
    }

    pub(crate) fn run_post_hooks(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        mut finished: FinishedCall,
    ) -> FinishedCall {
        finished.outcome.tool_use_id.clone_from(&call.id);
        let activity = CompletedCall {
            call,
            session: &context.call.session,
            run: &context.call.run,
            at_ms: context.environment.clock.now_ms(),
        };
        for hook in self.hooks.after {
            hook(&activity, &mut finished);
        }
        finished
    }
}
