//! THE list of tools, and the gate: schema, pre hooks, prepare, approval, finish, post hooks, in this order.

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::files::Files;
use crate::room::command::{CaughtUp, Causes};
use crate::who::Action;
use crate::wire::messages::ToolDefinition;
use crate::workspace::Workspace;

#[cfg(unix)]
use super::bash::Bash;
use super::create_new_document::CreateNewDocument;
use super::desk::{self, Asked};
use super::edit::Edit;
use super::entry::Entry;
use super::exit_plan_mode::ExitPlanMode;
use super::find_and_replace::FindAndReplace;
use super::glob::Glob;
use super::grep::Grep;
use super::hooks::{self, Activity, HOOKS, Hooks, Outlook, Subject, approval};
use super::insert_at_cursor::InsertAtCursor;
use super::list_documents::ListDocuments;
use super::multi_edit::MultiEdit;
use super::read::Read;
use super::read_document::ReadDocument;
use super::respond_conversation_only::RespondConversationOnly;
use super::schema::expected;
use super::str_replace_based_edit_tool::StrReplaceBasedEditTool;
use super::suggest_improvements::SuggestImprovements;
use super::update_document_by_id::UpdateDocumentById;
use super::update_full_document::UpdateFullDocument;
use super::update_selection::UpdateSelection;
use super::write::Write;
use super::{
    Ahead, Answer, Call, Context, Effect, Finished, Ground, Intent, Outcome, PlanMode, Prepared,
    Proposal, SafeTools, Takes, ToolError, Writes, elsewhere, live, told,
};

/// Every tool there is, one line each.
fn all() -> Vec<Entry> {
    vec![
        Entry::of::<UpdateFullDocument>(),
        Entry::of::<UpdateSelection>(),
        Entry::of::<InsertAtCursor>(),
        Entry::of::<FindAndReplace>(),
        Entry::of::<SuggestImprovements>(),
        Entry::of::<StrReplaceBasedEditTool>(),
        Entry::of::<ReadDocument>(),
        Entry::of::<ListDocuments>(),
        Entry::of::<UpdateDocumentById>(),
        Entry::of::<CreateNewDocument>(),
        Entry::of::<RespondConversationOnly>(),
        Entry::of::<Read>(),
        Entry::of::<Glob>(),
        Entry::of::<Grep>(),
        Entry::of::<Write>(),
        Entry::of::<Edit>(),
        Entry::of::<MultiEdit>(),
        Entry::of::<ExitPlanMode>(),
    ]
}

/// A tool as it is offered to outside callers.
#[derive(Clone, Debug)]
pub struct Offer {
    /// Name, description and schema.
    pub definition: ToolDefinition,
    /// What it does to the world.
    pub effect: Effect,
    /// What it needs to be of use.
    pub ground: Ground,
}

/// The tools of a server, behind the gate.
#[derive(Debug)]
pub struct Registry {
    pub(super) tools: Vec<Entry>,
    hooks: Hooks,
    workspace: Option<Workspace>,
    pub(super) files: Option<Files>,
}

impl Default for Registry {
    fn default() -> Self {
        Self { tools: all(), hooks: HOOKS, workspace: None, files: None }
    }
}

impl Registry {
    /// Another order of hooks, or other hooks.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// With a folder for work without a document.
    #[must_use]
    pub fn in_workspace(mut self, workspace: Workspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Whose files may be documents that people have open.
    #[must_use]
    pub fn with_files(mut self, files: Files) -> Self {
        self.files = Some(files);
        self
    }

    /// With a tool that runs shell commands there, once an owner has approved them.
    #[cfg(unix)]
    #[must_use]
    pub fn with_commands(mut self) -> Self {
        self.tools.push(Entry::of::<Bash>());
        self
    }

    /// The folder for work without a document.
    pub fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    /// The tools that make sense, for the model, where people need not approve a plan first; always in the same order,
    /// because the prompt cache depends on it.
    pub fn definitions(&self, ground: Ground) -> Vec<ToolDefinition> {
        self.offered(ground).map(Entry::definition).collect()
    }

    /// Every tool that works on this server, for outside callers.
    pub fn offers(&self) -> Vec<Offer> {
        // A plan is a run's own, and a caller has none.
        let works = |tool: &&Entry| {
            (self.workspace.is_some() || tool.ground != Ground::Workspace)
                && tool.effect != Effect::Plans
        };
        let offer = |tool: &Entry| Offer {
            definition: tool.definition(),
            effect: tool.effect,
            ground: tool.ground,
        };
        self.tools.iter().filter(works).map(offer).collect()
    }

    /// What a tool does to the world; `None`: there is none of this name.
    pub fn effect(&self, tool: &str) -> Option<Effect> {
        self.tools.iter().find(|known| known.name == tool).map(|tool| tool.effect)
    }

    /// The tool that proposes a plan, for runs in plan mode: what the model is sent of it, and its occasion.
    pub fn planning(&self) -> Option<(ToolDefinition, (&'static str, &'static str))> {
        let tool = self.tools.iter().find(|tool| tool.effect == Effect::Plans)?;
        Some((tool.definition(), (tool.name, tool.when)))
    }

    /// Name and occasion of the same tools, for the prompt.
    pub fn occasions(&self, ground: Ground) -> Vec<(&'static str, &'static str)> {
        self.offered(ground).map(|tool| (tool.name, tool.when)).collect()
    }

    pub(super) fn offered(&self, ground: Ground) -> impl Iterator<Item = &Entry> {
        let tools = self.tools.iter().filter(|tool| tool.effect != Effect::Plans);
        tools.filter(move |tool| match ground {
            Ground::Document => tool.ground != Ground::Workspace,
            Ground::Conversation => tool.ground == Ground::Conversation,
            Ground::Workspace => tool.ground != Ground::Document,
        })
    }

    /// What people can watch of a call of this tool while the model writes it.
    pub fn writes(&self, tool: &str) -> Option<Writes> {
        self.tools.iter().find(|known| known.name == tool)?.writes
    }

    /// The range that a call of this tool is about, if `input` says so already.
    pub fn scope(&self, context: &Context, tool: &str, input: &Value) -> Option<(usize, usize)> {
        let tool = self.tools.iter().find(|known| known.name == tool)?;
        (tool.scope)(context, input)
    }

    /// Runs a call through the gate. Never fails: what went wrong is the outcome. Waits for people, for days if need be;
    /// `cancel` takes the request back.
    pub async fn call(
        &self,
        context: &Context,
        call: &Call,
        cancel: &CancellationToken,
    ) -> Finished {
        self.call_with(context, call, None, cancel).await
    }

    /// The same for a call of which it is known already what it would do.
    pub async fn call_with(
        &self,
        context: &Context,
        call: &Call,
        ahead: Option<Ahead>,
        cancel: &CancellationToken,
    ) -> Finished {
        let finished = match self.enter(context, call).await {
            Ok(context) => match self.admit(&context, call, ahead, cancel).await {
                Ok(finished) => elsewhere::discreet(&context, finished),
                Err(error) => {
                    let refused = live::told(&context, refused(&context, &error).await, None);
                    elsewhere::discreet(&context, refused)
                }
            },
            Err(error) => refused(context, &error).await,
        };
        self.sign_off(context, call, finished)
    }

    /// The call in the room of the document it names.
    async fn enter(&self, context: &Context, call: &Call) -> Result<Context, ToolError> {
        let tool = self.called(context, &call.name)?;
        self.permit(tool, context, call)?;
        if let Some((files, path)) = self.named_file(tool, context, &call.input)
            && let Some(room) = files.live(&path).await
        {
            return live::enter(context, files, &path, room, tool.effect).await;
        }
        let other = elsewhere::enter(context, (tool.target)(&call.input), tool.effect).await;
        let other = other.map_err(|error| match ((tool.missing)(context, &call.input), error) {
            (Some(told), ToolError::NoSuchDocument(_)) => ToolError::Denied(told),
            (_, error) => error,
        })?;
        let context = other.unwrap_or_else(|| context.clone());
        self.may_read(tool, &context, call).await?;
        Ok(context)
    }

    /// Whether a call of this tool may be made at all, whatever its input.
    fn permit(&self, tool: &Entry, context: &Context, call: &Call) -> Result<(), ToolError> {
        match (tool.effect, context.plan) {
            (Effect::Plans, PlanMode::Off) => return Err(self.unknown_here(context, tool.name)),
            (Effect::Plans, PlanMode::Approved) => return Err(ToolError::PlanApproved),
            (effect, PlanMode::Planning) if effect.changes() && !(tool.only_looks)(&call.input) => {
                return Err(ToolError::NoPlan(tool.name));
            }
            _ => {}
        }
        if tool.effect == Effect::Creates && !context.requester.may(Action::Create, None) {
            let told = "The person who asks may not create documents";
            return Err(ToolError::Denied(told.into()));
        }
        Ok(())
    }

    /// Takes a call up again after a restart: if its request was made, its decision is awaited, and it is never made again.
    pub async fn resume(
        &self,
        context: &Context,
        call: &Call,
        cancel: &CancellationToken,
    ) -> Option<Finished> {
        let tool = self.tools.iter().find(|tool| tool.name == call.name)?;
        if let Some(finished) = self.resume_live(tool, context, call, cancel).await {
            return Some(self.sign_off(context, call, finished));
        }
        if tool.ground == Ground::Workspace || tool.effect.concludes() {
            let finished = match desk::resume(context, tool.effect, cancel).await? {
                Ok(settled) => {
                    self.carry_out(tool, context, settled, Asked::BeforeRestart, cancel).await
                }
                Err(error) => refused(context, &error).await,
            };
            return Some(self.sign_off(context, call, finished));
        }
        // If the other document cannot be opened any more, the call is made again, and says so.
        let entered = self.enter(context, call).await.ok()?;
        let scope = (tool.scope)(&entered, &call.input);
        let finished = match approval::resume(&entered, call, scope, cancel).await? {
            Ok(verdict) => (tool.finish)(&entered, &verdict),
            Err(error) => refused(&entered, &error).await,
        };
        Some(self.sign_off(context, call, elsewhere::discreet(&entered, finished)))
    }

    /// Lets a call through the gate that may be made where it was asked for.
    async fn admit(
        &self,
        context: &Context,
        call: &Call,
        ahead: Option<Ahead>,
        cancel: &CancellationToken,
    ) -> Result<Finished, ToolError> {
        let tool = self.called(context, &call.name)?;
        // On the heap: a call waits long, and what waits for it would be large otherwise.
        match Box::pin(self.disclose(tool, context, call, cancel)).await? {
            Some(refused) => Ok(refused),
            None => Box::pin(self.gate(tool, context, call, ahead, cancel)).await,
        }
    }

    async fn gate(
        &self,
        tool: &Entry,
        context: &Context,
        call: &Call,
        ahead: Option<Ahead>,
        cancel: &CancellationToken,
    ) -> Result<Finished, ToolError> {
        // What a model wrote as arguments may be no JSON at all; nobody is asked about that.
        if !call.input.is_object() {
            let reason = "invalid JSON arguments".to_owned();
            let expected = expected(&tool.schema);
            return Err(ToolError::Input { tool: tool.name, reason, expected });
        }
        if tool.ground == Ground::Workspace && context.workspace.is_none() {
            return Err(self.unknown_here(context, &call.name));
        }
        let reads = tool.effect == Effect::Reads;
        if reads && (context.safe_tools == SafeTools::Ask || desk::is_ruled(context, call).await?) {
            self.check(tool, context, &call.input)?;
            let intent = Intent { preview: desk::looking(&call.input), touched: None };
            let settled = desk::ask(context, tool.effect, call, intent, cancel).await?;
            return Ok(self.carry_out(tool, context, settled, Asked::Now, cancel).await);
        }
        let prepared = match ahead {
            Some(Ahead(prepared)) => prepared?,
            None => self.prepare(tool, context, &call.input).await?,
        };
        match (tool.effect, prepared) {
            // To answer is less than to propose.
            (Effect::Safe | Effect::Reads | Effect::Proposes, Prepared::Answer(answer)) => {
                Ok(live::told(context, answer.into(), None))
            }
            (Effect::Acts, Prepared::Propose(mut proposal)) if context.live.is_some() => {
                let told = proposal.told.take();
                self.look_over(tool, context, &proposal).await?;
                let gate = desk::gate_of_file(context, call, &proposal.hunks).await?;
                let context = &Context { gate, ..context.clone() };
                live::tell_desk(context, call).await;
                let verdict = approval::ask(context, call, None, proposal, cancel).await?;
                let finished = (tool.finish)(context, &verdict);
                Ok(live::told(context, finished, Some((&verdict, told))))
            }
            (Effect::Acts | Effect::Plans | Effect::Creates, Prepared::Act(intent)) => {
                let settled = desk::ask(context, tool.effect, call, intent, cancel).await?;
                Ok(self.carry_out(tool, context, settled, Asked::Now, cancel).await)
            }
            (Effect::Proposes, Prepared::Propose(proposal)) => {
                self.look_over(tool, context, &proposal).await?;
                let gate = self.gate_of(tool, context, call, &proposal.hunks).await?;
                let verdict = approval::ask(
                    &Context { gate, ..context.clone() },
                    call,
                    (tool.scope)(context, &call.input),
                    proposal,
                    cancel,
                )
                .await?;
                Ok((tool.finish)(context, &verdict))
            }
            (_, Prepared::Propose(_))
            | (Effect::Safe | Effect::Reads | Effect::Proposes, Prepared::Act(_))
            | (Effect::Acts | Effect::Plans | Effect::Creates, Prepared::Answer(_)) => {
                Err(ToolError::Effect(tool.name))
            }
        }
    }

    /// What a call would do, if its input is one that the hooks and the tool take.
    pub(super) async fn prepare(
        &self,
        tool: &Entry,
        context: &Context,
        input: &Value,
    ) -> Result<Prepared, ToolError> {
        self.check(tool, context, input)?;
        (tool.prepare)(context.clone(), input.clone()).await
    }

    /// Whether the hooks and the tool take an input.
    pub(super) fn check(
        &self,
        tool: &Entry,
        context: &Context,
        input: &Value,
    ) -> Result<(), ToolError> {
        let text = context.base.as_ref().map(|reading| &reading.text);
        let subject = Subject { schema: &tool.schema, input, text };
        for hook in self.hooks.before {
            hooks::ask(|| hook(&subject))?;
        }
        (tool.check)(input)
    }

    /// Asks the hooks that know what the call would do.
    async fn look_over(
        &self,
        tool: &Entry,
        context: &Context,
        proposal: &Proposal,
    ) -> Result<(), ToolError> {
        let base = context.document()?;
        let is_newest = context.room.pulse().version == base.version;
        // Where nothing was frozen when it was read, the room itself says what has been since.
        let caught_up = if is_newest && base.settings.frozen.is_empty() {
            CaughtUp { now: base.clone(), missed: Vec::new(), causes: Vec::new() }
        } else {
            // Only what says how all of it is to read is held against earlier proposals (`hooks/unread.rs`).
            let is_whole = tool.takes == Takes::TheRest;
            let causes = if is_whole { Causes::Named } else { Causes::LeftOut };
            context.room.catch_up(base.version, causes).await?
        };
        let outlook = Outlook {
            proposal,
            base,
            unread: &context.unread,
            takes: tool.takes,
            reads_with: context.reads_with(),
            caught_up: &caught_up,
            allowed: context.allowed,
            session: &context.session,
        };
        self.hooks.proposed.iter().try_for_each(|hook| hooks::ask(|| hook(&outlook)))
    }

    fn sign_off(&self, context: &Context, call: &Call, mut finished: Finished) -> Finished {
        finished.outcome.tool_use_id.clone_from(&call.id);
        let activity = Activity {
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

impl From<Answer> for Finished {
    fn from(Answer { text, note, of, now, unread, said }: Answer) -> Self {
        let mut outcome = Outcome { text, note, of, said, ..Outcome::default() };
        outcome.about.insert("updateType".into(), "none".into());
        Self { outcome, now, unread, ..Self::default() }
    }
}

pub(super) async fn refused(context: &Context, error: &ToolError) -> Finished {
    let mut outcome = Outcome::failed("", error.to_string());
    outcome.about.insert("updateType".into(), "none".into());
    if let ToolError::Denied(_) | ToolError::NoSuchDocument(_) = error {
        // As seed 5's PreToolUse hook calls it.
        outcome.about.insert("permissionDecision".into(), "deny".into());
        outcome.about.insert("permissionDecisionReason".into(), error.to_string().into());
    }
    let mut finished = Finished { outcome, ..Finished::default() };
    told::refresh(context, &mut finished).await;
    finished
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_schemas_are_plain_and_closed() {
        let definitions = Registry::default().definitions(Ground::Document);
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
        let occasions = Registry::default().occasions(Ground::Conversation);
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
