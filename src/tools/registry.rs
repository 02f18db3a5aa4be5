//! THE list of tools, and the gate: schema, pre hooks, prepare, approval, finish, post hooks, in this order.

use std::fmt::Write as _;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::ids::DocumentId;
use crate::wire::messages::ToolDefinition;

use super::find_and_replace::FindAndReplace;
use super::hooks::{self, Activity, HOOKS, Hooks, Outlook, Subject, approval};
use super::insert_at_cursor::InsertAtCursor;
use super::list_documents::ListDocuments;
use super::read_document::ReadDocument;
use super::respond_conversation_only::RespondConversationOnly;
use super::str_replace_based_edit_tool::StrReplaceBasedEditTool;
use super::suggest_improvements::SuggestImprovements;
use super::update_document_by_id::UpdateDocumentById;
use super::update_full_document::UpdateFullDocument;
use super::update_selection::UpdateSelection;
use super::{
    Answer, Call, Context, Effect, Finished, Ground, Outcome, Prepared, Proposal, Tool, ToolError,
    Verdict, elsewhere, told,
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
        Entry::of::<RespondConversationOnly>(),
    ]
}

/// The tools of a server, behind the gate.
#[derive(Debug)]
pub struct Registry {
    tools: Vec<Entry>,
    hooks: Hooks,
}

#[derive(Debug)]
struct Entry {
    name: &'static str,
    description: &'static str,
    when: &'static str,
    effect: Effect,
    ground: Ground,
    schema: Value,
    prepare: fn(Context, Value) -> BoxFuture<'static, Result<Prepared, ToolError>>,
    scope: fn(&Context, &Value) -> Option<(usize, usize)>,
    target: fn(&Value) -> Option<DocumentId>,
    finish: fn(&Context, &Verdict) -> Finished,
}

impl Default for Registry {
    fn default() -> Self {
        Self { tools: all(), hooks: HOOKS }
    }
}

impl Registry {
    /// Another order of hooks, or other hooks.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
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
            Ground::Document => true,
            Ground::Conversation => tool.ground == Ground::Conversation,
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
        let finished = match self.enter(context, call).await {
            Ok(context) => match self.gate(&context, call, cancel).await {
                Ok(finished) => elsewhere::discreet(&context, finished),
                Err(error) => elsewhere::discreet(&context, refused(&context, &error).await),
            },
            Err(error) => refused(context, &error).await,
        };
        self.sign_off(context, call, finished)
    }

    /// The call in the room of the document it names.
    async fn enter(&self, context: &Context, call: &Call) -> Result<Context, ToolError> {
        let tool = self.tool(&call.name)?;
        let other = elsewhere::enter(context, (tool.target)(&call.input), tool.effect).await?;
        Ok(other.unwrap_or_else(|| context.clone()))
    }

    /// Takes a call up again after a restart: if its request was made, its decision is awaited, and it is never made again.
    pub async fn resume(
        &self,
        context: &Context,
        call: &Call,
        cancel: &CancellationToken,
    ) -> Option<Finished> {
        let tool = self.tools.iter().find(|tool| tool.name == call.name)?;
        // If the other document cannot be opened any more, the call is made again, and says so.
        let entered = self.enter(context, call).await.ok()?;
        let scope = (tool.scope)(&entered, &call.input);
        let finished = match approval::resume(&entered, call, scope, cancel).await? {
            Ok(verdict) => (tool.finish)(&entered, &verdict),
            Err(error) => refused(&entered, &error).await,
        };
        Some(self.sign_off(context, call, elsewhere::discreet(&entered, finished)))
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
        let subject = Subject { schema: &tool.schema, input: &call.input, text };
        for hook in self.hooks.before {
            hooks::ask(|| hook(&subject))?;
        }
        let prepared = (tool.prepare)(context.clone(), call.input.clone()).await?;
        match (tool.effect, prepared) {
            // To answer is less than to propose.
            (Effect::Safe | Effect::Proposes, Prepared::Answer(answer)) => Ok(answer.into()),
            (Effect::Proposes, Prepared::Propose(proposal)) => {
                self.look_over(context, &proposal).await?;
                let verdict = approval::ask(
                    context,
                    call,
                    (tool.scope)(context, &call.input),
                    proposal,
                    cancel,
                )
                .await?;
                Ok((tool.finish)(context, &verdict))
            }
            (Effect::Safe | Effect::Acts, Prepared::Propose(_))
            | (Effect::Acts, Prepared::Answer(_)) => Err(ToolError::Effect(tool.name)),
        }
    }

    /// Asks the hooks that know what the call would do.
    async fn look_over(&self, context: &Context, proposal: &Proposal) -> Result<(), ToolError> {
        let base = context.document()?;
        let caught_up = context.room.catch_up(base.version).await?;
        let outlook = Outlook { proposal, base, caught_up: &caught_up, allowed: context.allowed };
        self.hooks.proposed.iter().try_for_each(|hook| hooks::ask(|| hook(&outlook)))
    }

    fn tool(&self, name: &str) -> Result<&Entry, ToolError> {
        self.tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
            let names: Vec<_> = self.tools.iter().map(|tool| tool.name).collect();
            ToolError::Unknown { name: name.into(), available: names.join(", ") }
        })
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
    fn from(Answer { text, note, now, said }: Answer) -> Self {
        let mut outcome = Outcome { text, note, said, ..Outcome::default() };
        outcome.about.insert("updateType".into(), "none".into());
        Self { outcome, now, ..Self::default() }
    }
}

impl Entry {
    fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            description: T::DESCRIPTION,
            when: T::WHEN,
            effect: T::EFFECT,
            ground: T::GROUND,
            schema: schema::<T::Input>(),
            prepare: prepare::<T>,
            scope: T::scope,
            target: T::target,
            finish: T::finish,
        }
    }
}

fn prepare<T: Tool>(
    context: Context,
    input: Value,
) -> BoxFuture<'static, Result<Prepared, ToolError>> {
    async move {
        let input = serde_json::from_value(input).map_err(|error| ToolError::Input {
            tool: T::NAME,
            reason: error.to_string(),
            expected: expected(&schema::<T::Input>()),
        })?;
        T::prepare(context, input).await
    }
    .boxed()
}

/// A plain JSON schema: no references, no titles, nothing a provider does not know.
fn schema<I: schemars::JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<I>().to_value();
    strip(&mut schema, Place::Schema);
    if let Some(root) = schema.as_object_mut() {
        // The description of the whole type is for readers of the code; the model has the tool's.
        root.remove("description");
    }
    schema
}

/// Where in a schema a JSON object stands: property names must not be mistaken for keywords.
#[derive(Clone, Copy)]
enum Place {
    Schema,
    Properties,
}

fn strip(value: &mut Value, place: Place) {
    let Some(object) = value.as_object_mut() else { return };
    if matches!(place, Place::Schema) {
        for keyword in ["$schema", "title", "format", "default"] {
            object.remove(keyword);
        }
        if object.contains_key("properties") {
            object.insert("additionalProperties".into(), Value::Bool(false));
        }
    }
    for (key, inner) in object {
        let inside = if key == "properties" { Place::Properties } else { Place::Schema };
        strip(inner, inside);
    }
}

/// The allowed input in one line, for a model that got it wrong.
fn expected(schema: &Value) -> String {
    let mut line = String::new();
    let required = schema["required"].as_array();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let must = required.is_some_and(|names| names.iter().any(|known| known == name));
        let kind = property["type"].as_str().unwrap_or("value");
        let need = if must { "required" } else { "optional" };
        let comma = if line.is_empty() { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(line, "{comma}{name} ({kind}, {need})");
    }
    line
}

async fn refused(context: &Context, error: &ToolError) -> Finished {
    let mut outcome = Outcome::failed("", error.to_string());
    outcome.about.insert("updateType".into(), "none".into());
    if let ToolError::Denied(reason) = error {
        // As seed 5's PreToolUse hook calls it.
        outcome.about.insert("permissionDecision".into(), "deny".into());
        outcome.about.insert("permissionDecisionReason".into(), reason.as_str().into());
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
                "respond_conversation_only",
            ]
        );
    }

    #[test]
    fn a_property_may_be_called_like_a_keyword() {
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Input {
            title: String,
        }
        assert_eq!(schema::<Input>()["properties"], json!({"title": {"type": "string"}}));
    }
}
