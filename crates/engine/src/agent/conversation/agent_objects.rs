//! Agent event objects: what people are shown of a conversation. Pure.

use serde_json::{Value, json};

use crate::ids::RunId;
use crate::rooms::event::AgentEventSubtype::{
    Clear, Ended, Prompt, Text, TextDelta, ToolResult, ToolUse,
};
use crate::rooms::event::AgentEventType::{Assistant, Result, User};
use crate::rooms::event::AgentObject;
use crate::store::RunEndKind;
use crate::tools::{ToolCall, ToolOutcome};

use crate::agent::run::end_reason::RunEndReason;
use crate::agent::run::usage::UsageTotals;

impl AgentObject {
    /// Returns the event of a person's prompt.
    pub fn prompt(name: &str, text: &str) -> Self {
        Self::new(User, Prompt, json!({"text": text, "name": name}))
    }

    /// Returns the event of a piece of a text block that is still being written.
    pub fn text_delta(text: &str) -> Self {
        Self::new(Assistant, TextDelta, json!({"text": text}))
    }

    /// Returns the event of a complete text block.
    pub fn text(text: &str) -> Self {
        Self::new(Assistant, Text, json!({"text": text}))
    }

    /// Returns the event of a call of the model.
    pub fn tool_use(call: &ToolCall) -> Self {
        let ToolCall { id, name, .. } = call;
        let input = call.shown_input();
        Self::new(Assistant, ToolUse, json!({"id": id, "name": name, "input": input}))
    }

    /// Returns the event of a call's outcome.
    pub fn tool_result(answer: &ToolOutcome) -> Self {
        let mut content = answer.about.clone();
        content.insert("tool_use_id".into(), json!(answer.tool_use_id));
        content.insert("content".into(), json!(answer.text));
        content.insert("is_error".into(), json!(answer.is_error));
        Self::new(User, ToolResult, Value::Object(content))
    }

    /// Returns the event of a conversation that was cleared or continued from an earlier run.
    pub fn cleared(name: &str, from: Option<&RunId>) -> Self {
        Self::new(User, Clear, json!({"name": name, "from": from}))
    }

    /// Returns the event of the end of a run and its usage:
    /// `{message, reasonCode?, model?, usage?, cost_usd?}`.
    pub fn result(
        kind: RunEndKind,
        message: &str,
        reason: Option<&RunEndReason>,
        spent: &UsageTotals,
    ) -> Self {
        let mut content = spent.shown().unwrap_or_else(|| json!({}));
        content["message"] = json!(message);
        if let Some(reason) = reason {
            content["reasonCode"] = json!(reason.as_str());
        }
        Self::new(Result, Ended(kind), content)
    }
}
