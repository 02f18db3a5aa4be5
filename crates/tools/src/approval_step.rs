//! The approval step, which every call of a tool passes.

use tokio_util::sync::CancellationToken;

use super::pipeline::inbox_approval::{self, AskerState};
use super::pipeline::{approval, cross_document, open_file};
use super::registered_tool::{ApprovedStep, RegisteredTool, ToolAction, WorkspaceStep};
use super::{
    ActionPreview, CallAttempt, DocumentProposal, FinishedCall, Proposed, ToolAnswer, ToolCall,
    ToolContext, ToolEffect, ToolError, ToolFacts, ToolRegistry, ToolResult, model_notes,
};

impl ToolRegistry {
    /// Runs a call through the approval step. Errors of the tool are part of the outcome. Waits
    /// for people, for days if need be; `cancel` withdraws the request. If another server has the
    /// room in which people are to be asked, no question is asked here, and that server is to make
    /// the call.
    ///
    /// # Errors
    /// The call, if another server is to make it.
    pub async fn attempt(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> CallAttempt {
        let finished = match self.enter(context, call).await {
            // On the heap: a call waits long, and the future that awaits it would be large
            // otherwise.
            Ok((tool, room)) => match Box::pin(self.run(tool, &room, call, cancel)).await {
                Ok(finished) => cross_document::redact(&room, finished),
                Err(error) => {
                    self.check_here(&room, call, &error)?;
                    refused_in(&room, &error).await
                }
            },
            Err(error) => model_notes::refused(context, &error).await,
        };
        Ok(self.run_post_hooks(context, call, finished))
    }

    /// Runs a call in the room to which it belongs: validates it, lets the tool say what it would
    /// do, asks people, and does what they approve.
    async fn run(
        &self,
        tool: &RegisteredTool,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> ToolResult<FinishedCall> {
        let (facts, input) = (tool.facts(), &call.input);
        self.validate(facts, context, call).await?;
        if let Some(refused) = self.ask_to_disclose(facts, context, call, cancel).await? {
            return Ok(refused);
        }
        let (preview, step) = match &tool.action {
            ToolAction::Read(read) => {
                if facts.effect == ToolEffect::Comments {
                    let rooms = &context.environment.rooms;
                    self.check_comment(rooms, &context.room, &context.call.requester).await?;
                }
                if !inbox_approval::asks_before_reading(facts, context, call).await? {
                    return Ok(answered(context, read(context.clone(), input).await?));
                }
                let preview = inbox_approval::read_preview(input);
                let step = WorkspaceStep::Read(read);
                (ActionPreview { preview, touched: None }, ApprovedStep::InWorkspace(step))
            }
            ToolAction::Propose(propose) => match propose(context.clone(), input).await? {
                Proposed::Answer(answer) => return Ok(answered(context, answer)),
                Proposed::Change(proposal) => {
                    return self.propose(facts, context, call, proposal, cancel).await;
                }
            },
            ToolAction::ChangeFile { propose, .. } if context.open_file.is_some() => {
                let proposal = propose(context.clone(), input).await?;
                self.check_proposal(facts, context, &proposal).await?;
                return open_file::ask(context, call, proposal, cancel).await;
            }
            ToolAction::ChangeFile { preview, execute, .. }
            | ToolAction::Act { preview, execute } => {
                let step = WorkspaceStep::Execute(execute);
                (preview(context.clone(), input).await?, ApprovedStep::InWorkspace(step))
            }
            ToolAction::CreateOrPlan { preview, complete } => {
                (preview(context.clone(), input).await?, ApprovedStep::CreateOrPlan(complete))
            }
        };
        let settled = inbox_approval::ask(context, facts.effect, call, preview, cancel).await?;
        Ok(self.execute_approved(facts, step, context, settled, AskerState::Now, cancel).await)
    }

    /// Proposes a change to the people of a document: only if it leaves alone what the model has
    /// not read, what is frozen and what is not selected. The room applies what they accept.
    async fn propose(
        &self,
        facts: &ToolFacts,
        context: &ToolContext,
        call: &ToolCall,
        proposal: DocumentProposal,
        cancel: &CancellationToken,
    ) -> ToolResult<FinishedCall> {
        self.check_proposal(facts, context, &proposal).await?;
        let mode = self.approval_mode_for(facts, context, call, &proposal.hunks).await?;
        let range = facts.edited_range(context, &call.input);
        let asking = &context.with_approval_mode(mode);
        let verdict = approval::ask(asking, call, range, proposal, cancel).await?;
        Ok(model_notes::report(context, &verdict))
    }

    /// Resumes a call after a restart. If its request was made, this waits for the decision, and
    /// the request is never made again. Returns `None` if it was not made.
    pub async fn resume(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Option<CallAttempt> {
        let tool = self.find(&call.name)?;
        if let Some(finished) = self.resume_in_file_room(tool.facts(), context, call, cancel).await
        {
            return Some(Ok(self.run_post_hooks(context, call, finished)));
        }
        if let Some(step) = tool.approved_step() {
            let effect = tool.facts().effect;
            let finished = match inbox_approval::resume(context, effect, cancel).await? {
                Ok(settled) => {
                    let asked = AskerState::BeforeRestart;
                    self.execute_approved(tool.facts(), step, context, settled, asked, cancel).await
                }
                Err(error) => match self.check_here(context, call, &error) {
                    Ok(()) => model_notes::refused(context, &error).await,
                    Err(there) => return Some(Err(there)),
                },
            };
            return Some(Ok(self.run_post_hooks(context, call, finished)));
        }
        // If the other document cannot be opened any more, the call is made again, and reports
        // that.
        let (_, room) = self.enter(context, call).await.ok()?;
        let range = tool.facts().edited_range(&room, &call.input);
        let finished = match approval::resume(&room, call, range, cancel).await? {
            Ok(verdict) => model_notes::report(&room, &verdict),
            Err(error) => match self.check_here(&room, call, &error) {
                Ok(()) => model_notes::refused(&room, &error).await,
                // No question was asked in the room of a document that is only read.
                Err(_) if tool.facts().only_reads(&call.input) => return None,
                Err(there) => return Some(Err(there)),
            },
        };
        let finished = cross_document::redact(&room, finished);
        Some(Ok(self.run_post_hooks(context, call, finished)))
    }
}

/// Returns the end of a call that was answered at once.
fn answered(context: &ToolContext, answer: ToolAnswer) -> FinishedCall {
    open_file::complete_outcome(context, answer.into(), None)
}

/// Returns the refusal of a call in the room of the document or file that it names.
async fn refused_in(room: &ToolContext, error: &ToolError) -> FinishedCall {
    let refused = model_notes::refused(room, error).await;
    cross_document::redact(room, open_file::complete_outcome(room, refused, None))
}
