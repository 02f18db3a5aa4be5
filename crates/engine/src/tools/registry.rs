//! List of all tools, and the approval step: hooks on the input, schema, prepare, hooks on the
//! proposal, approval, finish, hooks on the outcome, in this order.

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::file_sync::FileSync;
use crate::permissions::Action;
use crate::rooms::RoomHandle;
use crate::rooms::command::{OriginRequests, SnapshotWithUpdates};
use crate::workspace::Workspace;

use super::dyn_tool::{DynTool, boxed};
use super::pipeline::{self, CallInput, CallOutlook, CompletedCall, HOOKS, HookLists, approval};
use super::schema::expected;
use super::{
    ActionPreview, CallAttempt, DocumentProposal, FinishedCall, PlanMode, PreparedCall,
    ReadToolPolicy, ReplacedText, Tool, ToolAnswer, ToolCall, ToolContext, ToolEffect, ToolError,
    ToolOutcome, ToolScope, model_notes,
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
use crate::tools::pipeline::inbox_approval::AskerState;
use crate::tools::pipeline::{cross_document, inbox_approval, open_file};
#[cfg(unix)]
use crate::tools::workspace::bash::BashTool;
use crate::tools::workspace::edit::EditTool;
use crate::tools::workspace::glob::GlobTool;
use crate::tools::workspace::grep::GrepTool;
use crate::tools::workspace::multi_edit::MultiEdit;
use crate::tools::workspace::read::ReadTool;
use crate::tools::workspace::write::WriteTool;

/// Returns the tools of every server. Those for commands are added by
/// [`ToolRegistry::with_commands`].
fn all() -> Vec<Box<dyn DynTool>> {
    vec![
        boxed(UpdateFullDocument),
        boxed(UpdateSelection),
        boxed(InsertAtCursor),
        boxed(FindAndReplace),
        boxed(SuggestImprovements),
        boxed(StrReplaceBasedEditTool),
        boxed(ReadDocument),
        boxed(ListDocuments),
        boxed(UpdateDocumentById),
        boxed(CreateNewDocument),
        boxed(RespondConversationOnly),
        boxed(ReadTool),
        boxed(GlobTool),
        boxed(GrepTool),
        boxed(WriteTool),
        boxed(EditTool),
        boxed(MultiEdit),
        boxed(ExitPlanMode),
    ]
}

/// Tools of a server, and the approval step that their calls pass.
#[derive(Debug)]
pub struct ToolRegistry {
    pub(super) tools: Vec<Box<dyn DynTool>>,
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
        self.tools.push(boxed(BashTool));
        self
    }

    /// Adds a tool that is not part of this crate.
    #[must_use]
    pub fn with_tool(mut self, tool: impl Tool) -> Self {
        self.tools.push(boxed(tool));
        self
    }

    /// Returns the folder for work without a document.
    pub fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    /// Runs a call through the approval step. Never fails: errors are part of the outcome. Waits
    /// for people, for days if need be; `cancel` withdraws the request. If another server of
    /// several has the room in which people are to be asked, nobody is asked, and that server is to
    /// make the call.
    pub async fn attempt(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> CallAttempt {
        let finished = match self.context_in_target_room(context, call).await {
            Ok(context) => match self.approve_and_run(&context, call, cancel).await {
                Ok(finished) => cross_document::redact(&context, finished),
                Err(error) => {
                    if let Some(place) = self.elsewhere(&context, call, &error) {
                        return CallAttempt::Elsewhere(place);
                    }
                    let refused = open_file::complete_outcome(
                        &context,
                        model_notes::refused(&context, &error).await,
                        None,
                    );
                    cross_document::redact(&context, refused)
                }
            },
            Err(error) => model_notes::refused(context, &error).await,
        };
        CallAttempt::Over(Box::new(self.run_post_hooks(context, call, finished)))
    }

    /// Returns the context of the call in the room of the document or open file that it names.
    async fn context_in_target_room(
        &self,
        context: &ToolContext,
        call: &ToolCall,
    ) -> Result<ToolContext, ToolError> {
        let tool = self.called(context, &call.name)?;
        self.check_allowed(tool, context, call)?;
        if let Some((files, path)) = self.named_file(tool, context, &call.input)
            && let Some(room) = files.open_room(&path).await
        {
            check_model(context, &room).await?;
            return open_file::enter(context, files, &path, room, tool.spec().effect).await;
        }
        let document = tool.target(&call.input).document();
        let (effect, only_reads) = (tool.spec().effect, tool.only_reads(&call.input));
        let other = cross_document::enter(context, document, effect, only_reads).await;
        let other =
            other.map_err(|error| match (tool.not_found_message(context, &call.input), error) {
                (Some(message), ToolError::NoSuchDocument(_)) => ToolError::Denied(message),
                (_, error) => error,
            })?;
        let mut context = other.unwrap_or_else(|| context.clone());
        check_model(&context, &context.room).await?;
        if let (Some(files), Some(model), GrepTool::NAME) =
            (&self.files, &context.environment.model, tool.spec().name)
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
        tool: &dyn DynTool,
        context: &ToolContext,
        call: &ToolCall,
    ) -> Result<(), ToolError> {
        match (tool.spec().effect, context.environment.plan) {
            (ToolEffect::Plans, PlanMode::Off) => {
                return Err(self.unknown_here(context, tool.spec().name));
            }
            (ToolEffect::Plans, PlanMode::Approved) => return Err(ToolError::PlanApproved),
            (effect, PlanMode::Planning) if effect.changes() && !tool.only_reads(&call.input) => {
                return Err(ToolError::NoPlan(tool.spec().name));
            }
            _ => {}
        }
        if tool.spec().effect == ToolEffect::Creates
            && !context.call.requester.may(Action::Create, None)
        {
            let reason = "The person who asks may not create documents";
            return Err(ToolError::Denied(reason.into()));
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
    ) -> Option<CallAttempt> {
        let over =
            |finished| CallAttempt::Over(Box::new(self.run_post_hooks(context, call, finished)));
        let tool = self.find(&call.name)?;
        if let Some(finished) = self.resume_in_file_room(tool, context, call, cancel).await {
            return Some(over(finished));
        }
        if tool.spec().scope == ToolScope::Workspace || tool.spec().effect.concludes() {
            let finished = match inbox_approval::resume(context, tool.spec().effect, cancel).await?
            {
                Ok(settled) => {
                    self.execute_approved(tool, context, settled, AskerState::BeforeRestart, cancel)
                        .await
                }
                Err(error) => match self.elsewhere(context, call, &error) {
                    Some(place) => return Some(CallAttempt::Elsewhere(place)),
                    None => model_notes::refused(context, &error).await,
                },
            };
            return Some(over(finished));
        }
        // If the other document cannot be opened any more, the call is made again, and reports
        // that.
        let entered = self.context_in_target_room(context, call).await.ok()?;
        let scope = tool.edited_range(&entered, &call.input);
        let finished = match approval::resume(&entered, call, scope, cancel).await? {
            Ok(verdict) => model_notes::report(&entered, &verdict),
            Err(error) => match self.elsewhere(&entered, call, &error) {
                // Nobody was asked in the room of a document that is only read.
                Some(_) if tool.only_reads(&call.input) => return None,
                Some(place) => return Some(CallAttempt::Elsewhere(place)),
                None => model_notes::refused(&entered, &error).await,
            },
        };
        Some(over(cross_document::redact(&entered, finished)))
    }

    /// Runs a call through the approval step in the room to which it belongs.
    async fn approve_and_run(
        &self,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Result<FinishedCall, ToolError> {
        let tool = self.called(context, &call.name)?;
        // On the heap: a call waits long, and the future that awaits it would be large otherwise.
        match Box::pin(self.ask_to_disclose(tool, context, call, cancel)).await? {
            Some(refused) => Ok(refused),
            None => Box::pin(self.run_with_approval(tool, context, call, cancel)).await,
        }
    }

    async fn run_with_approval(
        &self,
        tool: &dyn DynTool,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Result<FinishedCall, ToolError> {
        // The arguments that a model wrote may be no JSON at all; nobody is asked about that.
        if !call.input.is_object() {
            let reason = "invalid JSON arguments".to_owned();
            let expected = expected(&tool.spec().schema);
            return Err(ToolError::Input { tool: tool.spec().name, reason, expected });
        }
        if tool.spec().scope == ToolScope::Workspace && context.environment.workspace.is_none() {
            return Err(self.unknown_here(context, &call.name));
        }
        self.check_reveals_nothing(tool, context, call).await?;
        let asks = context.environment.read_tools == ReadToolPolicy::Ask;
        if tool.spec().effect == ToolEffect::Reads
            && (asks || inbox_approval::is_ruled(context, call).await?)
        {
            self.check(tool, context, &call.input)?;
            let preview = inbox_approval::read_preview(&call.input);
            let intent = ActionPreview { preview, touched: None };
            return self.ask_inbox(tool, context, call, intent, cancel).await;
        }
        match (tool.spec().effect, self.prepare(tool, context, &call.input).await?) {
            // An answer is less than a proposal, so it is allowed.
            (
                ToolEffect::Safe | ToolEffect::Reads | ToolEffect::Proposes,
                PreparedCall::Answer(answer),
            ) => Ok(open_file::complete_outcome(context, answer.into(), None)),
            (ToolEffect::Acts, PreparedCall::Propose(proposal)) if context.open_file.is_some() => {
                self.check_proposal(tool, context, &proposal).await?;
                open_file::ask(context, call, proposal, cancel).await
            }
            (
                ToolEffect::Acts | ToolEffect::Plans | ToolEffect::Creates,
                PreparedCall::Act(intent),
            ) => self.ask_inbox(tool, context, call, intent, cancel).await,
            (ToolEffect::Proposes, PreparedCall::Propose(proposal)) => {
                self.check_proposal(tool, context, &proposal).await?;
                let mode = self.approval_mode_for(tool, context, call, &proposal.hunks).await?;
                let scope = tool.edited_range(context, &call.input);
                let asking = &context.with_approval_mode(mode);
                let verdict = approval::ask(asking, call, scope, proposal, cancel).await?;
                Ok(model_notes::report(context, &verdict))
            }
            (_, PreparedCall::Propose(_))
            | (ToolEffect::Safe | ToolEffect::Reads | ToolEffect::Proposes, PreparedCall::Act(_))
            | (
                ToolEffect::Acts | ToolEffect::Plans | ToolEffect::Creates,
                PreparedCall::Answer(_),
            ) => Err(ToolError::Effect(tool.spec().name)),
        }
    }

    /// Asks people in the workspace inbox, and executes the call if they approve it.
    async fn ask_inbox(
        &self,
        tool: &dyn DynTool,
        context: &ToolContext,
        call: &ToolCall,
        intent: ActionPreview,
        cancel: &CancellationToken,
    ) -> Result<FinishedCall, ToolError> {
        let settled =
            inbox_approval::ask(context, tool.spec().effect, call, intent, cancel).await?;
        Ok(self.execute_approved(tool, context, settled, AskerState::Now, cancel).await)
    }

    /// Prepares a call, after the hooks and the tool have checked its input.
    pub(super) async fn prepare(
        &self,
        tool: &dyn DynTool,
        context: &ToolContext,
        input: &Value,
    ) -> Result<PreparedCall, ToolError> {
        self.check(tool, context, input)?;
        tool.prepare(context.clone(), input).await
    }

    /// Checks an input with the hooks and the tool.
    pub(super) fn check(
        &self,
        tool: &dyn DynTool,
        context: &ToolContext,
        input: &Value,
    ) -> Result<(), ToolError> {
        let text = context.view.base.as_ref().map(|reading| &reading.text);
        let shaped = tool.shaped(input);
        let subject = CallInput { schema: &tool.spec().schema, input: &shaped, text };
        for hook in self.hooks.before {
            pipeline::run_hook(|| hook(&subject))?;
        }
        tool.check(input)
    }

    /// Runs the hooks that check a proposal.
    async fn check_proposal(
        &self,
        tool: &dyn DynTool,
        context: &ToolContext,
        proposal: &DocumentProposal,
    ) -> Result<(), ToolError> {
        let base = context.document()?;
        let is_newest = context.room.room_status().version == base.version;
        // If nothing was frozen when the text was read, the room itself checks passages that were
        // frozen since.
        let caught_up = if is_newest && base.settings.frozen.is_empty() {
            SnapshotWithUpdates { now: base.clone(), missed: Vec::new(), causes: Vec::new() }
        } else {
            // Only proposals for the whole text are compared with earlier proposals
            // (`tools/pipeline/unread.rs`).
            let is_whole = tool.spec().replaces == ReplacedText::Document;
            let causes = if is_whole { OriginRequests::Named } else { OriginRequests::LeftOut };
            context.room.catch_up(base.version, causes).await?
        };
        let outlook = CallOutlook {
            proposal,
            base,
            unread: &context.view.base_unread,
            replaces: tool.spec().replaces,
            reads_with: context.reads_with(),
            caught_up: &caught_up,
            allowed: context.view.editable,
            session: &context.call.session,
        };
        self.hooks.proposed.iter().try_for_each(|hook| pipeline::run_hook(|| hook(&outlook)))
    }

    pub(super) fn run_post_hooks(
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

impl From<ToolAnswer> for FinishedCall {
    fn from(ToolAnswer { text, note, of, now, unread, response }: ToolAnswer) -> Self {
        let mut outcome = ToolOutcome { text, note, of, said: response, ..ToolOutcome::default() };
        outcome.about.insert("updateType".into(), "none".into());
        Self { outcome, now, unread, ..Self::default() }
    }
}

/// Refuses a call about a document that the model may not see: the result would quote it.
async fn check_model(context: &ToolContext, room: &RoomHandle) -> Result<(), ToolError> {
    let Some(model) = &context.environment.model else { return Ok(()) };
    let access = room.read().await?.settings.models;
    if access.admits(model) { Ok(()) } else { Err(ToolError::Denied(access.refusal())) }
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
                    "new_text": {"type": "string", "description": "Text that replaces the range."},
                    "selection_range": {
                        "type": "object",
                        "description": "Range to replace, in UTF-16 code units of the document as shown; an empty range inserts.",
                        "additionalProperties": false,
                        "properties": {
                            "start": {"type": "integer", "minimum": 0, "description": "First code unit."},
                            "end": {"type": "integer", "minimum": 0, "description": "Code unit after the last one."},
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
