//! THE list of tools, and the gate: schema, pre hooks, prepare, approval, finish, post hooks, in this order.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::Deserialize as _;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::review::{Fresh, Preview, Report, Request, RequestStatus};
use crate::room::command::Settled;
use crate::wire::messages::ToolDefinition;
use crate::workspace::Workspace;

#[cfg(unix)]
use super::bash::Bash;
use super::desk::{self, Asked, Next};
use super::edit::Edit;
use super::glob::Glob;
use super::grep::Grep;
use super::hooks::{self, Activity, HOOKS, Hooks, Outlook, Subject, approval};
use super::multi_edit::MultiEdit;
use super::read::Read;
use super::respond_conversation_only::RespondConversationOnly;
use super::schema::{expected, schema};
use super::update_full_document::UpdateFullDocument;
use super::update_selection::UpdateSelection;
use super::write::Write;
use super::{
    Answer, Call, Context, Effect, Errand, Finished, Intent, Outcome, Prepared, Proposal,
    SafeTools, Tool, ToolError, Verdict, changes, told,
};

/// Every tool there is, one line each.
fn all() -> Vec<Entry> {
    vec![
        Entry::of::<UpdateFullDocument>(),
        Entry::of::<UpdateSelection>(),
        Entry::of::<RespondConversationOnly>(),
        Entry::of::<Read>(),
        Entry::of::<Glob>(),
        Entry::of::<Grep>(),
        Entry::of::<Write>(),
        Entry::of::<Edit>(),
        Entry::of::<MultiEdit>(),
    ]
}

/// The tools of a server, behind the gate.
#[derive(Debug)]
pub struct Registry {
    tools: Vec<Entry>,
    hooks: Hooks,
    workspace: Option<Workspace>,
}

#[derive(Debug)]
struct Entry {
    name: &'static str,
    description: &'static str,
    when: &'static str,
    effect: Effect,
    schema: Value,
    prepare: fn(Context, Value) -> BoxFuture<'static, Result<Prepared, ToolError>>,
    check: fn(&Value) -> Result<(), ToolError>,
    act: fn(Errand, Value) -> BoxFuture<'static, Result<String, ToolError>>,
    scope: fn(&Value) -> Option<(usize, usize)>,
    finish: fn(&Context, &Verdict) -> Finished,
}

impl Default for Registry {
    fn default() -> Self {
        Self { tools: all(), hooks: HOOKS, workspace: None }
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

    /// The tools that make sense, for the model; always in the same order, because the prompt cache depends on it.
    pub fn definitions(&self, ground: Ground) -> Vec<ToolDefinition> {
        let define = |tool: &Entry| ToolDefinition {
            name: tool.name.into(),
            description: tool.description.into(),
            input_schema: tool.schema.clone(),
            strict: None,
        };
        self.offered(ground).map(define).collect()
    }

    /// Name and occasion of the same tools, for the prompt.
    pub fn occasions(&self, ground: Ground) -> Vec<(&'static str, &'static str)> {
        self.offered(ground).map(|tool| (tool.name, tool.when)).collect()
    }

    fn offered(&self, ground: Ground) -> impl Iterator<Item = &Entry> {
        self.tools.iter().filter(move |tool| match ground {
            Ground::Document => matches!(tool.effect, Effect::Safe | Effect::Proposes),
            Ground::Conversation => tool.effect == Effect::Safe,
            Ground::Workspace => tool.effect != Effect::Proposes,
        })
    }

    /// Runs a call through the gate. Never fails: what went wrong is the outcome. Waits for people, for days if need be;
    /// `cancel` takes the request back.
    pub async fn call(
        &self,
        context: &Context,
        call: &Call,
        cancel: &CancellationToken,
    ) -> Finished {
        let finished = match self.gate(context, call, cancel).await {
            Ok(finished) => finished,
            Err(error) => refused(context, &error).await,
        };
        self.sign_off(context, call, finished)
    }

    /// Takes a call up again after a restart: if its request was made, its decision is awaited, and it is never made again.
    pub async fn resume(
        &self,
        context: &Context,
        call: &Call,
        cancel: &CancellationToken,
    ) -> Option<Finished> {
        let tool = self.tools.iter().find(|tool| tool.name == call.name)?;
        if matches!(tool.effect, Effect::Reads | Effect::Acts) {
            let finished = match desk::resume(context, cancel).await? {
                Ok(settled) => {
                    self.carry_out(tool, context, settled, Asked::BeforeRestart, cancel).await
                }
                Err(error) => refused(context, &error).await,
            };
            return Some(self.sign_off(context, call, finished));
        }
        let scope = (tool.scope)(&call.input);
        let finished = match approval::resume(context, call, scope, cancel).await? {
            Ok(verdict) => (tool.finish)(context, &verdict),
            Err(error) => refused(context, &error).await,
        };
        Some(self.sign_off(context, call, finished))
    }

    async fn gate(
        &self,
        context: &Context,
        call: &Call,
        cancel: &CancellationToken,
    ) -> Result<Finished, ToolError> {
        let tool = self.tool(&call.name)?;
        // What a model wrote as arguments may be no JSON at all; nobody is asked about that.
        if !call.input.is_object() {
            let reason = "invalid JSON arguments".to_owned();
            let expected = expected(&tool.schema);
            return Err(ToolError::Input { tool: tool.name, reason, expected });
        }
        let text = context.base.as_ref().map(|reading| &reading.text);
        if tool.effect == Effect::Proposes && text.is_none() {
            return Err(ToolError::NoDocument);
        }
        if matches!(tool.effect, Effect::Reads | Effect::Acts) && context.workspace.is_none() {
            return Err(self.unknown(&call.name));
        }
        if tool.effect == Effect::Reads && context.safe_tools == SafeTools::Ask {
            self.check(tool, context, &call.input)?;
            let intent = Intent { preview: Preview::generic(), touched: None };
            let settled = desk::ask(context, call, intent, cancel).await?;
            return Ok(self.carry_out(tool, context, settled, Asked::Now, cancel).await);
        }
        let prepared = self.prepare(tool, context, &call.input).await?;
        match (tool.effect, prepared) {
            (Effect::Safe | Effect::Reads, Prepared::Answer(answer)) => Ok(answer.into()),
            (Effect::Acts, Prepared::Act(intent)) => {
                let settled = desk::ask(context, call, intent, cancel).await?;
                Ok(self.carry_out(tool, context, settled, Asked::Now, cancel).await)
            }
            (Effect::Proposes, Prepared::Propose(proposal)) => {
                self.look_over(context, &proposal).await?;
                let verdict =
                    approval::ask(context, call, (tool.scope)(&call.input), proposal, cancel)
                        .await?;
                Ok((tool.finish)(context, &verdict))
            }
            (Effect::Safe | Effect::Reads | Effect::Acts, Prepared::Propose(_))
            | (Effect::Safe | Effect::Reads | Effect::Proposes, Prepared::Act(_))
            | (Effect::Proposes | Effect::Acts, Prepared::Answer(_)) => {
                Err(ToolError::Effect(tool.name))
            }
        }
    }

    /// Does what people approved, once, and tells the desk what came of it.
    async fn carry_out(
        &self,
        tool: &Entry,
        context: &Context,
        settled: Settled,
        asked: Asked,
        cancel: &CancellationToken,
    ) -> Finished {
        let Settled { request, resolution, .. } = settled;
        let report = match (desk::next(&request, asked), &context.workspace) {
            (Next::Report(report), _) if request.status != RequestStatus::Approved => {
                return desk::outcome(&request, report);
            }
            (Next::Report(report), _) => report,
            (_, None) => desk::failed(&ToolError::NoWorkspace.to_string()),
            (Next::LookBack, Some(workspace)) => {
                let (request, workspace) = (Arc::clone(&request), workspace.clone());
                let looked = changes::blocking(move |_| desk::look_back(&request, &workspace));
                looked.await.unwrap_or_else(|error| desk::failed(&error.to_string()))
            }
            (Next::Act, Some(_)) if cancel.is_cancelled() => {
                desk::failed("The run was cancelled; this call was not executed")
            }
            (Next::Act, Some(workspace)) => {
                if let Err(error) = context.desk.begin(request.id().clone()).await {
                    return refused(context, &error.into()).await;
                }
                let touched = request.proposal.touched.clone();
                let (workspace, cancel) = (workspace.clone(), cancel.clone());
                let errand = Errand { workspace, touched, request: request.id().clone(), cancel };
                match run(tool, context, errand, resolution.input).await {
                    Ok(text) => Report { text, is_error: false },
                    Err(error) => desk::failed(&error.to_string()),
                }
            }
        };
        desk::done(&context.desk, &request, report).await
    }

    /// What the call of a request would do now; `input`: with this input instead of its own.
    pub async fn look_again(
        &self,
        context: &Context,
        request: &Request,
        input: &Value,
    ) -> Result<Fresh, ToolError> {
        let tool = self.tool(&request.proposal.tool)?;
        if tool.effect == Effect::Reads {
            self.check(tool, context, input)?;
            return Ok(Fresh { preview: Preview::generic(), touched: None });
        }
        match self.prepare(tool, context, input).await? {
            Prepared::Act(Intent { preview, touched }) => Ok(Fresh { preview, touched }),
            Prepared::Answer(_) | Prepared::Propose(_) => Err(ToolError::Effect(tool.name)),
        }
    }

    async fn prepare(
        &self,
        tool: &Entry,
        context: &Context,
        input: &Value,
    ) -> Result<Prepared, ToolError> {
        self.check(tool, context, input)?;
        (tool.prepare)(context.clone(), input.clone()).await
    }

    fn check(&self, tool: &Entry, context: &Context, input: &Value) -> Result<(), ToolError> {
        let text = context.base.as_ref().map(|reading| &reading.text);
        let subject = Subject { schema: &tool.schema, input, text };
        for hook in self.hooks.before {
            hooks::ask(|| hook(&subject))?;
        }
        (tool.check)(input)
    }

    /// Asks the hooks that know what the call would do.
    async fn look_over(&self, context: &Context, proposal: &Proposal) -> Result<(), ToolError> {
        let base = context.document()?;
        let caught_up = context.room.catch_up(base.version).await?;
        let outlook = Outlook { proposal, base, caught_up: &caught_up, allowed: context.allowed };
        self.hooks.proposed.iter().try_for_each(|hook| hooks::ask(|| hook(&outlook)))
    }

    fn tool(&self, name: &str) -> Result<&Entry, ToolError> {
        self.tools.iter().find(|tool| tool.name == name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> ToolError {
        let here = |tool: &&Entry| {
            self.workspace.is_some() || !matches!(tool.effect, Effect::Reads | Effect::Acts)
        };
        let names: Vec<_> = self.tools.iter().filter(here).map(|tool| tool.name).collect();
        ToolError::Unknown { name: name.into(), available: names.join(", ") }
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

/// What a conversation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// A document.
    Document,
    /// Nothing but the conversation.
    Conversation,
    /// A folder of files.
    Workspace,
}

impl From<Answer> for Finished {
    fn from(Answer { text, said }: Answer) -> Self {
        let mut outcome = Outcome { text, said, ..Outcome::default() };
        outcome.about.insert("updateType".into(), "none".into());
        Self { outcome, now: None, audit: None }
    }
}

impl Entry {
    fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            description: T::DESCRIPTION,
            when: T::WHEN,
            effect: T::EFFECT,
            schema: schema::<T::Input>(),
            prepare: prepare::<T>,
            check: check::<T>,
            act: act::<T>,
            scope: T::scope,
            finish: T::finish,
        }
    }
}

fn prepare<T: Tool>(
    context: Context,
    input: Value,
) -> BoxFuture<'static, Result<Prepared, ToolError>> {
    async move { T::prepare(context, read::<T>(&input)?).await }.boxed()
}

fn act<T: Tool>(errand: Errand, input: Value) -> BoxFuture<'static, Result<String, ToolError>> {
    async move { T::act(errand, read::<T>(&input)?).await }.boxed()
}

fn check<T: Tool>(input: &Value) -> Result<(), ToolError> {
    read::<T>(input).map(drop)
}

fn read<T: Tool>(input: &Value) -> Result<T::Input, ToolError> {
    T::Input::deserialize(input).map_err(|error| ToolError::Input {
        tool: T::NAME,
        reason: error.to_string(),
        expected: expected(&schema::<T::Input>()),
    })
}

/// Carries out a call: one that only reads answers, one that acts acts.
async fn run(
    tool: &Entry,
    context: &Context,
    errand: Errand,
    input: Value,
) -> Result<String, ToolError> {
    if tool.effect == Effect::Acts {
        return (tool.act)(errand, input).await;
    }
    match (tool.prepare)(context.clone(), input).await? {
        Prepared::Answer(answer) => Ok(answer.text),
        Prepared::Propose(_) | Prepared::Act(_) => Err(ToolError::Effect(tool.name)),
    }
}

async fn refused(context: &Context, error: &ToolError) -> Finished {
    let mut outcome = Outcome::failed("", error.to_string());
    outcome.about.insert("updateType".into(), "none".into());
    if let ToolError::Denied(reason) = error {
        // As seed 5's PreToolUse hook calls it.
        outcome.about.insert("permissionDecision".into(), "deny".into());
        outcome.about.insert("permissionDecisionReason".into(), reason.as_str().into());
    }
    let mut finished = Finished { outcome, now: None, audit: None };
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
            ["update_full_document", "update_selection", "respond_conversation_only"]
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
                            "start": {"type": "integer", "minimum": 0, "description": "First unit to replace."},
                            "end": {"type": "integer", "minimum": 0, "description": "One past the last unit to replace."},
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
    fn without_a_document_only_talking_is_offered() {
        let occasions = Registry::default().occasions(Ground::Conversation);
        let expected = ("respond_conversation_only", "Use for questions, discussions, no edits");
        assert_eq!(occasions, [expected]);
    }
}
