//! List of all tools, and the approval step: schema, pre hooks, prepare, approval, finish, post
//! hooks, in this order.

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::file_sync::FileSync;
use crate::permissions::Action;
use crate::rooms::command::{OriginRequests, SnapshotWithUpdates};
use crate::workspace::Workspace;

use super::pipeline::{self, CallInput, CallOutlook, CompletedCall, HOOKS, HookLists, approval};
use super::registered_tool::RegisteredTool;
use super::schema::expected;
use super::{
    ActionPreview, DocumentProposal, EarlyPreparation, FinishedCall, PlanMode, PreparedCall,
    ReplacedText, SafeTools, ToolAnswer, ToolCall, ToolContext, ToolEffect, ToolError, ToolOutcome,
    ToolScope, document_updates,
};
use crate::tools::conversation::exit_plan_mode::ExitPlanMode;
use crate::tools::conversation::respond_conversation_only::RespondConversationOnly;
use crate::tools::document::create_new_document::CreateNewDocument;
use crate::tools::document::find_and_replace::FindAndReplace;
use crate::tools::document::insert_at_cursor::InsertAtCursor;
use crate::tools::document::list_documents::ListDocuments;
use crate::tools::document::read_document::ReadDocument;
use crate::tools::document::str_replace_based_edit_tool::StrReplaceBasedEditTool;
use crate::tools::document::suggest_improvements::SuggestImprovements;
use crate::tools::document::update_document_by_id::UpdateDocumentById;
use crate::tools::document::update_full_document::UpdateFullDocument;
use crate::tools::document::update_selection::UpdateSelection;
use crate::tools::pipeline::inbox_approval;
use crate::tools::pipeline::inbox_approval::AskerState;
use crate::tools::pipeline::{cross_document, open_file};
#[cfg(unix)]
use crate::tools::workspace::bash::BashTool;
use crate::tools::workspace::edit::EditTool;
use crate::tools::workspace::glob::GlobTool;
use crate::tools::workspace::grep::GrepTool;
use crate::tools::workspace::multi_edit::MultiEdit;
use crate::tools::workspace::read::ReadTool;
use crate::tools::workspace::write::WriteTool;

/// Returns all tools, one line each.
fn all() -> Vec<RegisteredTool> {
    vec![
        RegisteredTool::of::<UpdateFullDocument>(),
        RegisteredTool::of::<UpdateSelection>(),
        RegisteredTool::of::<InsertAtCursor>(),
        RegisteredTool::of::<FindAndReplace>(),
        RegisteredTool::of::<SuggestImprovements>(),
        RegisteredTool::of::<StrReplaceBasedEditTool>(),
        RegisteredTool::of::<ReadDocument>(),
        RegisteredTool::of::<ListDocuments>(),
        RegisteredTool::of::<UpdateDocumentById>(),
        RegisteredTool::of::<CreateNewDocument>(),
        RegisteredTool::of::<RespondConversationOnly>(),
        RegisteredTool::of::<ReadTool>(),
        RegisteredTool::of::<GlobTool>(),
        RegisteredTool::of::<GrepTool>(),
        RegisteredTool::of::<WriteTool>(),
        RegisteredTool::of::<EditTool>(),
        RegisteredTool::of::<MultiEdit>(),
        RegisteredTool::of::<ExitPlanMode>(),
    ]
}

/// Tools of a server, and the approval step that their calls pass.
#[derive(Debug)]
pub struct ToolRegistry {
    pub(super) tools: Vec<RegisteredTool>,
    hooks: HookLists,
    pub(super) workspace: Option<Workspace>,
    pub(super) files: Option<FileSync>,
}

impl Default for ToolRegistry {
    fn default() -> Self {
        Self { tools: all(), hooks: HOOKS, workspace: None, files: None }
    }
}

impl ToolRegistry {
    /// Replaces the hooks.
    #[must_use]
    pub fn with_hooks(mut self, hooks: HookLists) -> Self {
        self.hooks = hooks;
        self
    }

    /// Sets the folder for work without a document.
    #[must_use]
    pub fn in_workspace(mut self, workspace: Workspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Sets the files that may be open as documents.
    #[must_use]
    pub fn with_files(mut self, files: FileSync) -> Self {
        self.files = Some(files);
        self
    }

    /// Adds the tool that runs shell commands in the workspace, each after the approval of an
    /// owner.
    #[cfg(unix)]
    #[must_use]
    pub fn with_commands(mut self) -> Self {
        self.tools.push(RegisteredTool::of::<BashTool>());
        self
    }

    /// Returns the folder for work without a document.
    pub fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    /// Runs a call through the approval step. Never fails: errors are part of the outcome. Waits
    /// for people, for days if need be; `cancel` withdraws the request.
    pub async fn call(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> FinishedCall {
        self.call_with(context, call, None, cancel).await
    }

    /// Runs a call through the approval step, with its preparation if that was made before.
    pub async fn call_with(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        ahead: Option<EarlyPreparation>,
        cancel: &CancellationToken,
    ) -> FinishedCall {
        let finished = match self.enter(context, call).await {
            Ok(context) => match self.admit(&context, call, ahead, cancel).await {
                Ok(finished) => cross_document::discreet(&context, finished),
                Err(error) => {
                    let refused = open_file::told(&context, refused(&context, &error).await, None);
                    cross_document::discreet(&context, refused)
                }
            },
            Err(error) => refused(context, &error).await,
        };
        self.sign_off(context, call, finished)
    }

    /// Returns the context of the call in the room of the document or open file that it names.
    async fn enter(
        &self,
        context: &ToolContext,
        call: &ToolCall,
    ) -> Result<ToolContext, ToolError> {
        let tool = self.called(context, &call.name)?;
        self.permit(tool, context, call)?;
        if let Some((files, path)) = self.named_file(tool, context, &call.input)
            && let Some(room) = files.live(&path).await
        {
            return open_file::enter(context, files, &path, room, tool.effect).await;
        }
        let other = cross_document::enter(context, (tool.target)(&call.input), tool.effect).await;
        let other = other.map_err(|error| match ((tool.missing)(context, &call.input), error) {
            (Some(told), ToolError::NoSuchDocument(_)) => ToolError::Denied(told),
            (_, error) => error,
        })?;
        let context = other.unwrap_or_else(|| context.clone());
        self.may_read(tool, &context, call).await?;
        Ok(context)
    }

    /// Checks if a call of this tool may be made at all in the present plan mode and by this
    /// person.
    fn permit(
        &self,
        tool: &RegisteredTool,
        context: &ToolContext,
        call: &ToolCall,
    ) -> Result<(), ToolError> {
        match (tool.effect, context.plan) {
            (ToolEffect::Plans, PlanMode::Off) => return Err(self.unknown_here(context, tool.name)),
            (ToolEffect::Plans, PlanMode::Approved) => return Err(ToolError::PlanApproved),
            (effect, PlanMode::Planning) if effect.changes() && !(tool.only_looks)(&call.input) => {
                return Err(ToolError::NoPlan(tool.name));
            }
            _ => {}
        }
        if tool.effect == ToolEffect::Creates && !context.requester.may(Action::Create, None) {
            let told = "The person who asks may not create documents";
            return Err(ToolError::Denied(told.into()));
        }
        Ok(())
    }

    /// Resumes a call after a restart. If its request was made, this waits for the decision, and
    /// the request is never made again. Returns `None` if it was not made.
    pub async fn resume(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Option<FinishedCall> {
        let tool = self.tools.iter().find(|tool| tool.name == call.name)?;
        if let Some(finished) = self.resume_live(tool, context, call, cancel).await {
            return Some(self.sign_off(context, call, finished));
        }
        if tool.ground == ToolScope::Workspace || tool.effect.concludes() {
            let finished = match inbox_approval::resume(context, tool.effect, cancel).await? {
                Ok(settled) => {
                    self.carry_out(tool, context, settled, AskerState::BeforeRestart, cancel).await
                }
                Err(error) => refused(context, &error).await,
            };
            return Some(self.sign_off(context, call, finished));
        }
        // If the other document cannot be opened any more, the call is made again, and reports
        // that.
        let entered = self.enter(context, call).await.ok()?;
        let scope = (tool.scope)(&entered, &call.input);
        let finished = match approval::resume(&entered, call, scope, cancel).await? {
            Ok(verdict) => (tool.finish)(&entered, &verdict),
            Err(error) => refused(&entered, &error).await,
        };
        Some(self.sign_off(context, call, cross_document::discreet(&entered, finished)))
    }

    /// Runs a call through the approval step in the room to which it belongs.
    async fn admit(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        ahead: Option<EarlyPreparation>,
        cancel: &CancellationToken,
    ) -> Result<FinishedCall, ToolError> {
        let tool = self.called(context, &call.name)?;
        // On the heap: a call waits long, and the future that awaits it would be large otherwise.
        match Box::pin(self.disclose(tool, context, call, cancel)).await? {
            Some(refused) => Ok(refused),
            None => Box::pin(self.gate(tool, context, call, ahead, cancel)).await,
        }
    }

    async fn gate(
        &self,
        tool: &RegisteredTool,
        context: &ToolContext,
        call: &ToolCall,
        ahead: Option<EarlyPreparation>,
        cancel: &CancellationToken,
    ) -> Result<FinishedCall, ToolError> {
        // The arguments that a model wrote may be no JSON at all; nobody is asked about that.
        if !call.input.is_object() {
            let reason = "invalid JSON arguments".to_owned();
            let expected = expected(&tool.schema);
            return Err(ToolError::Input { tool: tool.name, reason, expected });
        }
        if tool.ground == ToolScope::Workspace && context.workspace.is_none() {
            return Err(self.unknown_here(context, &call.name));
        }
        let asks = context.safe_tools == SafeTools::Ask;
        if tool.effect == ToolEffect::Reads
            && (asks || inbox_approval::is_ruled(context, call).await?)
        {
            self.check(tool, context, &call.input)?;
            let preview = inbox_approval::looking(&call.input);
            let intent = ActionPreview { preview, touched: None };
            return self.ask_inbox(tool, context, call, intent, cancel).await;
        }
        let prepared = match ahead {
            Some(EarlyPreparation(prepared)) => prepared?,
            None => self.prepare(tool, context, &call.input).await?,
        };
        match (tool.effect, prepared) {
            // An answer is less than a proposal, so it is allowed.
            (
                ToolEffect::Safe | ToolEffect::Reads | ToolEffect::Proposes,
                PreparedCall::Answer(answer),
            ) => Ok(open_file::told(context, answer.into(), None)),
            (ToolEffect::Acts, PreparedCall::Propose(mut proposal)) if context.live.is_some() => {
                let told = proposal.told.take();
                self.look_over(tool, context, &proposal).await?;
                let gate = inbox_approval::gate_of_file(context, call, &proposal.hunks).await?;
                let context = &ToolContext { gate, ..context.clone() };
                open_file::tell_desk(context, call).await;
                let verdict = approval::ask(context, call, None, proposal, cancel).await?;
                let finished = (tool.finish)(context, &verdict);
                Ok(open_file::told(context, finished, Some((&verdict, told))))
            }
            (
                ToolEffect::Acts | ToolEffect::Plans | ToolEffect::Creates,
                PreparedCall::Act(intent),
            ) => self.ask_inbox(tool, context, call, intent, cancel).await,
            (ToolEffect::Proposes, PreparedCall::Propose(proposal)) => {
                self.look_over(tool, context, &proposal).await?;
                let gate = self.gate_of(tool, context, call, &proposal.hunks).await?;
                let scope = (tool.scope)(context, &call.input);
                let asking = &ToolContext { gate, ..context.clone() };
                let verdict = approval::ask(asking, call, scope, proposal, cancel).await?;
                Ok((tool.finish)(context, &verdict))
            }
            (_, PreparedCall::Propose(_))
            | (ToolEffect::Safe | ToolEffect::Reads | ToolEffect::Proposes, PreparedCall::Act(_))
            | (
                ToolEffect::Acts | ToolEffect::Plans | ToolEffect::Creates,
                PreparedCall::Answer(_),
            ) => Err(ToolError::Effect(tool.name)),
        }
    }

    /// Asks people in the workspace inbox, and executes the call if they approve it.
    async fn ask_inbox(
        &self,
        tool: &RegisteredTool,
        context: &ToolContext,
        call: &ToolCall,
        intent: ActionPreview,
        cancel: &CancellationToken,
    ) -> Result<FinishedCall, ToolError> {
        let settled = inbox_approval::ask(context, tool.effect, call, intent, cancel).await?;
        Ok(self.carry_out(tool, context, settled, AskerState::Now, cancel).await)
    }

    /// Prepares a call, after the hooks and the tool have checked its input.
    pub(super) async fn prepare(
        &self,
        tool: &RegisteredTool,
        context: &ToolContext,
        input: &Value,
    ) -> Result<PreparedCall, ToolError> {
        self.check(tool, context, input)?;
        (tool.prepare)(context.clone(), input.clone()).await
    }

    /// Checks an input with the hooks and the tool.
    pub(super) fn check(
        &self,
        tool: &RegisteredTool,
        context: &ToolContext,
        input: &Value,
    ) -> Result<(), ToolError> {
        let text = context.base.as_ref().map(|reading| &reading.text);
        let subject = CallInput { schema: &tool.schema, input, text };
        for hook in self.hooks.before {
            pipeline::ask(|| hook(&subject))?;
        }
        (tool.check)(input)
    }

    /// Runs the hooks that check a proposal.
    async fn look_over(
        &self,
        tool: &RegisteredTool,
        context: &ToolContext,
        proposal: &DocumentProposal,
    ) -> Result<(), ToolError> {
        let base = context.document()?;
        let is_newest = context.room.pulse().version == base.version;
        // If nothing was frozen when the text was read, the room itself checks passages that were
        // frozen since.
        let caught_up = if is_newest && base.settings.frozen.is_empty() {
            SnapshotWithUpdates { now: base.clone(), missed: Vec::new(), causes: Vec::new() }
        } else {
            // Only proposals for the whole text are compared with earlier proposals
            // (`tools/pipeline/unread.rs`).
            let is_whole = tool.takes == ReplacedText::TheRest;
            let causes = if is_whole { OriginRequests::Named } else { OriginRequests::LeftOut };
            context.room.catch_up(base.version, causes).await?
        };
        let outlook = CallOutlook {
            proposal,
            base,
            unread: &context.unread,
            takes: tool.takes,
            reads_with: context.reads_with(),
            caught_up: &caught_up,
            allowed: context.allowed,
            session: &context.session,
        };
        self.hooks.proposed.iter().try_for_each(|hook| pipeline::ask(|| hook(&outlook)))
    }

    fn sign_off(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        mut finished: FinishedCall,
    ) -> FinishedCall {
        finished.outcome.tool_use_id.clone_from(&call.id);
        let activity = CompletedCall {
            call,
            session: &context.session,
            run: &context.run,
            at_ms: context.clock.now_ms(),
        };
        for hook in self.hooks.after {
            hook(&activity, &mut finished);
        }
        finished
    }
}

impl From<ToolAnswer> for FinishedCall {
    fn from(ToolAnswer { text, note, of, now, unread, said }: ToolAnswer) -> Self {
        let mut outcome = ToolOutcome { text, note, of, said, ..ToolOutcome::default() };
        outcome.about.insert("updateType".into(), "none".into());
        Self { outcome, now, unread, ..Self::default() }
    }
}

pub(super) async fn refused(context: &ToolContext, error: &ToolError) -> FinishedCall {
    let mut outcome = ToolOutcome::failed("", error.to_string());
    outcome.about.insert("updateType".into(), "none".into());
    if let ToolError::Denied(_) | ToolError::NoSuchDocument(_) = error {
        // Names of the document agent protocol's `PreToolUse` hook.
        outcome.about.insert("permissionDecision".into(), "deny".into());
        outcome.about.insert("permissionDecisionReason".into(), error.to_string().into());
    }
    let mut finished = FinishedCall { outcome, ..FinishedCall::default() };
    document_updates::refresh(context, &mut finished).await;
    finished
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_schemas_are_plain_and_closed() {
        let definitions = ToolRegistry::default().definitions(ToolScope::Document);
        let names: Vec<_> = definitions.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "update_full_document",
                "update_selection",
                "insert_at_cursor",
                "find_and_replace",
                "suggest_improvements",
                "str_replace_based_edit_tool",
                "read_document",
                "list_documents",
                "update_document_by_id",
                "create_new_document",
                "respond_conversation_only",
            ]
        );
        assert_eq!(
            definitions[1].input_schema,
            json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "new_text": {"type": "string", "description": "The text that replaces the range."},
                    "selection_range": {
                        "type": "object",
                        "description": "The range to replace, in UTF-16 code units of the document as shown; `start` equal to `end` inserts.",
                        "additionalProperties": false,
                        "properties": {
                            "start": {"type": "integer", "minimum": 0, "description": "First unit."},
                            "end": {"type": "integer", "minimum": 0, "description": "One past the last unit."},
                        },
                        "required": ["start", "end"],
                    },
                    "explanation": {
                        "type": "string",
                        "description": "One sentence for the people who decide: what changes, and why.",
                    },
                },
                "required": ["new_text", "selection_range", "explanation"],
            })
        );
    }

    #[test]
    fn without_a_document_there_are_only_talking_and_other_documents() {
        let occasions = ToolRegistry::default().occasions(ToolScope::Conversation);
        let names: Vec<_> = occasions.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            [
                "str_replace_based_edit_tool",
                "read_document",
                "list_documents",
                "update_document_by_id",
                "create_new_document",
                "respond_conversation_only",
            ]
        );
    }
}
