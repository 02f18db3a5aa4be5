//! Agent event objects: what people are shown of a conversation.

use serde_json::{Value, json};

use copydesk_ids::RunId;
use copydesk_rooms::event::AgentEventSubtype::{
    Clear, Ended, Prompt, Text, TextDelta, ToolResult, ToolUse,
};
use copydesk_rooms::event::AgentEventType::{Assistant, Result, User};
use copydesk_rooms::event::AgentObject;
use copydesk_store::RunEndKind;
use copydesk_tools::{ToolCall, ToolOutcome};

use crate::run::end_reason::RunEndReason;
use crate::run::usage::UsageTotals;

pub(crate) fn prompt(name: &str, text: &str) -> AgentObject {
    AgentObject::new(User, Prompt, json!({"text": text, "name": name}))
}

pub(crate) fn text_delta(text: &str) -> AgentObject {
    AgentObject::new(Assistant, TextDelta, json!({"text": text}))
}

pub(crate) fn text(text: &str) -> AgentObject {
    AgentObject::new(Assistant, Text, json!({"text": text}))
}

pub(crate) fn tool_use(call: &ToolCall) -> AgentObject {
    let ToolCall { id, name, .. } = call;
    let input = call.shown_input();
    AgentObject::new(Assistant, ToolUse, json!({"id": id, "name": name, "input": input}))
}

pub(crate) fn tool_result(answer: &ToolOutcome) -> AgentObject {
    let mut content = answer.about.clone();
    content.insert("tool_use_id".into(), json!(answer.tool_use_id));
    content.insert("content".into(), json!(answer.text));
    content.insert("is_error".into(), json!(answer.is_error));
    AgentObject::new(User, ToolResult, Value::Object(content))
}

/// Returns the event of a conversation that was cleared or continued from an earlier run.
pub(crate) fn cleared(name: &str, from: Option<&RunId>) -> AgentObject {
    AgentObject::new(User, Clear, json!({"name": name, "from": from}))
}

/// Returns the event of the end of a run: `{message, reasonCode?, model?, usage?, cost_usd?}`.
pub(crate) fn result(
    kind: RunEndKind,
    message: &str,
    reason: Option<&RunEndReason>,
    spent: &UsageTotals,
) -> AgentObject {
    let mut content = spent.shown().unwrap_or_else(|| json!({}));
    content["message"] = json!(message);
    if let Some(reason) = reason {
        content["reasonCode"] = json!(reason.as_str());
    }
    AgentObject::new(Result, Ended(kind), content)
}
