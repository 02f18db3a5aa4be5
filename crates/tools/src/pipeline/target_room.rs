//! Room in which a call works: of the document or open file that it names, or of the conversation.

use super::{cross_document, open_file};
use crate::{
    PlanMode, RegisteredTool, ToolCall, ToolContext, ToolEffect, ToolError, ToolFacts,
    ToolRegistry, ToolResult, WordsRead,
};
use copydesk_ids::permissions::Action;
use copydesk_rooms::RoomHandle;

impl ToolRegistry {
    pub(crate) async fn enter(
        &self,
        context: &ToolContext,
        call: &ToolCall,
    ) -> ToolResult<(&RegisteredTool, ToolContext)> {
        let tool = self.called(context, &call.name)?;
        Ok((tool, self.target_room(tool.facts(), context, call).await?))
    }

    async fn target_room(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        call: &ToolCall,
    ) -> ToolResult<ToolContext> {
        self.check_allowed(tool, context, call)?;
        if let Some((files, path)) = self.named_file(tool, context, &call.input)
            && let Some(room) = files.open_room(&path).await
        {
            check_model(context, &room).await?;
            return open_file::enter(context, files, &path, room, tool.effect).await;
        }
        let document = tool.target(&call.input).document();
        let (effect, only_reads) = (tool.effect, tool.only_reads(&call.input));
        let other = cross_document::enter(context, document, effect, only_reads).await;
        let other =
            other.map_err(|error| match (tool.not_found_message(context, &call.input), error) {
                (Some(message), ToolError::NoSuchDocument(_)) => ToolError::Denied(message),
                (_, error) => error,
            })?;
        let mut context = other.unwrap_or_else(|| context.clone());
        check_model(&context, &context.room).await?;
        if tool.reads == WordsRead::OfManyFiles
            && let (Some(files), Some(model)) = (&self.files, &context.environment.model)
        {
            context.environment.unseen_files = files.files_hidden_from(model).await.into();
        }
        self.may_read(tool, &context, call).await?;
        Ok(context)
    }

    /// Checks if a call of this tool may be made at all in the present plan mode and by this
    /// person.
    fn check_allowed(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        call: &ToolCall,
    ) -> ToolResult<()> {
        match (tool.effect, context.environment.plan) {
            (ToolEffect::Plans, PlanMode::Off) => {
                return Err(self.unknown_here(context, tool.name));
            }
            (ToolEffect::Plans, PlanMode::Approved) => return Err(ToolError::PlanApproved),
            (effect, PlanMode::Planning) if effect.changes() && !tool.only_reads(&call.input) => {
                return Err(ToolError::NoPlan(tool.name));
            }
            _ => {}
        }
        if tool.effect == ToolEffect::Creates && !context.call.requester.may(Action::Create, None) {
            let reason = "The person who asks may not create documents";
            return Err(ToolError::Denied(reason.into()));
        }
        Ok(())
    }
}

/// Refuses a call about a document that the model may not see: the result would quote it.
async fn check_model(context: &ToolContext, room: &RoomHandle) -> ToolResult<()> {
    let Some(model) = &context.environment.model else { return Ok(()) };
    let access = room.read().await?.settings.models;
    if access.admits(model) { Ok(()) } else { Err(ToolError::Denied(access.refusal())) }
}
