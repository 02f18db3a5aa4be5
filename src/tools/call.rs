//! A call of the model, and what came of it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{DocumentId, RequestId, Version};
use crate::llm::messages_api::ContentBlock;

use super::Tool as _;
use crate::tools::document::str_replace_based_edit_tool::StrReplaceBasedEditTool;

/// A call of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// As the model named it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its input.
    pub input: Value,
}

impl ToolCall {
    /// The input as everyone in the conversation's document may see it: the words of another document stay with
    /// those who may read that.
    pub fn shown_input(&self) -> Value {
        let mut input = self.input.clone();
        let elsewhere = self.elsewhere().is_some();
        if let Some(fields) = input.as_object_mut().filter(|_| elsewhere) {
            fields.retain(|name, _| ["document_id", "path", "command", "range"].contains(&&**name));
        }
        input
    }

    /// The document that it names, if that is not the conversation's own; however a path is written, whatever is not that
    /// one is another.
    pub fn elsewhere(&self) -> Option<DocumentId> {
        let named = self.input.get("document_id").map(|id| id.as_str().unwrap_or_default().into());
        let target = || StrReplaceBasedEditTool::target(&self.input);
        named.or_else(|| (self.name == StrReplaceBasedEditTool::NAME).then(target).flatten())
    }

    /// The call in a block, if it is one.
    pub fn of(block: &ContentBlock) -> Option<Self> {
        match block {
            ContentBlock::ToolUse { id, name, input } => {
                Some(Self { id: id.clone(), name: name.clone(), input: input.clone() })
            }
            ContentBlock::Text { .. }
            | ContentBlock::ToolResult { .. }
            | ContentBlock::Thinking { .. }
            | ContentBlock::RedactedThinking { .. }
            | ContentBlock::Other(_) => None,
        }
    }
}

/// What came of a call. Kept in the transcript as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolOutcome {
    /// The call, as the model named it.
    pub tool_use_id: String,
    /// What the model and the people are told.
    pub text: String,
    /// Nothing was done.
    pub is_error: bool,
    /// What the model is told besides: how the document reads now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Other documents of which `note` tells words or titles: they are for those who may read all of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<DocumentId>,
    /// What people are told besides: the document agent protocol's `tool_result` (`updateType`, `timestamp`, `sessionId`, …) and the decision.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub about: Map<String, Value>,
    /// What was said to the person by `respond_conversation_only`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// What the model said the change does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The plan that people approved with it, as they approved it: from now on the run may change things.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// What people decided about a change of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<DecidedChange>,
}

impl ToolOutcome {
    /// Why nothing was done.
    pub fn failed(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        let (tool_use_id, text) = (tool_use_id.into(), text.into());
        Self { tool_use_id, text, is_error: true, ..Self::default() }
    }
}

/// A change of the document that people decided about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecidedChange {
    /// The request.
    pub request: RequestId,
    /// What became of it, as the wire calls it.
    pub status: String,
    /// Whether anything of it was applied.
    pub applied: bool,
    /// The document's version afterwards.
    pub version: Version,
    /// For a change of a range: where it was, and what stood there afterwards.
    pub range: Option<RewrittenRange>,
}

/// A range that was rewritten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewrittenRange {
    /// First UTF-16 unit, as the model named it.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// What stood there after the decision.
    pub text: String,
}

impl DecidedChange {
    /// `partial` or `full`, as `updateType` calls it.
    pub fn kind(&self) -> &'static str {
        if self.range.is_some() { "partial" } else { "full" }
    }
}
