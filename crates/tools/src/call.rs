//! Call of a tool by the model, and its outcome.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use copydesk_approvals::RequestStatus;
use copydesk_ids::{DocumentId, RequestId, Version};
use copydesk_llm::messages_api::ContentBlock;
use copydesk_rooms::event::UpdateExtent;

/// Call of a tool, as the model made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Identifier that the model gave the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Input of the call; it may have any JSON shape.
    pub input: Value,
}

impl ToolCall {
    /// Returns the call in a block of a message, if the block is one.
    pub fn of(block: &ContentBlock) -> Option<Self> {
        let ContentBlock::ToolUse { id, name, input } = block else { return None };
        Some(Self { id: id.clone(), name: name.clone(), input: input.clone() })
    }
}

/// Outcome of a call. The transcript keeps it unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolOutcome {
    /// Identifier of the call, as the model gave it.
    pub tool_use_id: String,
    /// Result text for the model and for people.
    pub text: String,
    /// `true` if nothing was done.
    pub is_error: bool,
    /// Additional text for the model only: how the document reads now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Other documents whose words or titles are in `note`. Only people who may read all of them
    /// may see it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<DocumentId>,
    /// Additional fields for people: the document agent protocol's `tool_result` (`updateType`,
    /// `timestamp`, `sessionId`, …) and the decision.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub about: Map<String, Value>,
    /// Answer to the person, given by `respond_conversation_only`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The model's own explanation of the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// Plan that people approved with this call, as they approved it. From then on the run may
    /// change things.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Change of the document that people decided about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<DecidedChange>,
}

impl ToolOutcome {
    /// Returns the outcome of a call that failed; `text` is the reason.
    pub fn failed(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        let (tool_use_id, text) = (tool_use_id.into(), text.into());
        Self { tool_use_id, text, is_error: true, ..Self::default() }
    }

    /// Returns the status of the request that people were asked about, if there was one.
    pub fn status(&self) -> Option<RequestStatus> {
        RequestStatus::from_name(self.about.get("status")?.as_str()?)
    }
}

/// Change of the document that people decided about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecidedChange {
    /// Request of the change.
    pub request: RequestId,
    /// Final status of the request.
    pub status: RequestStatus,
    /// `true` if anything of the change was applied.
    pub applied: bool,
    /// Version of the document afterwards.
    pub version: Version,
    /// For a change of a range: its original position and its text afterwards.
    pub range: Option<RewrittenRange>,
}

/// Range of the document that a call rewrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewrittenRange {
    /// First UTF-16 unit, as the model named it.
    pub start: usize,
    /// One past the last UTF-16 unit, as the model named it.
    pub end: usize,
    /// Text of the range after the decision.
    pub text: String,
}

impl DecidedChange {
    /// Returns the document agent protocol's `updateType`.
    pub fn extent(&self) -> UpdateExtent {
        if self.range.is_some() { UpdateExtent::Partial } else { UpdateExtent::Full }
    }
}
