//! Events and results of runs.

use serde_json::Value;

use super::super::names::{AgentEventSubtype, AgentEventType, UpdateType};
use super::WireError;
use copydesk_approvals::RequestStatus;
use copydesk_macros::wire;

/// `claudeStreamStart`, `claudeStreamChunk` and `claudeStreamEnd` (document agent protocol).
#[wire(Serialize, TS, camelCase)]
pub struct ClaudeStream {
    /// Session that asked.
    pub session_id: String,
    /// Identifier of the run.
    pub request_id: String,
    /// Document that the run is about.
    #[null]
    #[cfg_attr(test, ts(optional))]
    pub document_id: Option<String>,
    /// With `claudeStreamChunk`: more text.
    pub text: Option<String>,
}

/// `agent_event`: event objects of the tool approval protocol; also the entries of
/// `transcript:get`.
#[wire(Serialize, TS, camelCase, null)]
pub struct AgentEvent {
    /// `user`, `assistant`, `result`, or `system` with `waiting`: a call waits in the document of
    /// its file.
    #[serde(rename = "type")]
    #[cfg_attr(test, ts(type = "AgentEventType | (string & {})"))]
    pub kind: AgentEventType,
    /// `prompt`, `text`, `text_delta`, `tool_use`, `tool_result`, `success`, `error`, …
    #[cfg_attr(test, ts(type = "AgentEventSubtype | (string & {})"))]
    pub subtype: AgentEventSubtype,
    /// Content as in the tool approval protocol. A `result` also has `model`, `usage` (tokens, as
    /// in the Messages API) and `cost_usd`, where they are known, `notice` if people should know
    /// something about the answer, and `reasonCode` unless the run was a success.
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub content: Value,
    /// Session that asked.
    pub session_id: String,
    /// Identifier of the run.
    pub request_id: String,
    /// Document that the run is about.
    #[cfg_attr(test, ts(optional))]
    pub document_id: Option<String>,
    /// Time of the event, in RFC 3339.
    pub at: String,
}

/// `claudeResponse` (document agent protocol): the result of a run.
#[wire(Serialize, TS, camelCase)]
pub struct ClaudeResponse {
    /// Session that asked.
    pub session_id: String,
    /// Identifier of the run.
    pub request_id: String,
    /// Text that the model wrote.
    pub conversation_message: String,
    /// Extent of the document update.
    pub update_type: UpdateType,
    /// `full`: the resulting document. `partial`: the text that now stands in the original range.
    pub document_update: Option<String>,
    /// With `partial`: the original range.
    pub selection_range: Option<SelectionRange>,
    /// Version of the document after the run.
    pub document_version: Option<u64>,
    /// All changes of documents that the run made, in order.
    pub updates: Option<Vec<ResponseUpdate>>,
    /// Time of the end, in RFC 3339.
    pub timestamp: String,
    /// Reason that there is no answer.
    pub error: Option<WireError>,
}

/// Change in `claudeResponse.updates`.
#[wire(Serialize, TS, camelCase)]
pub struct ResponseUpdate {
    /// Extent of the change: `full` or `partial`.
    pub update_type: UpdateType,
    /// Request that people decided.
    #[serde(rename = "request_id")]
    pub request_id: String,
    /// Status of the request.
    pub status: RequestStatus,
    /// Version of the document after the change.
    pub document_version: u64,
}

/// Selection as the document agent protocol writes it: UTF-16 code units, half-open.
#[wire(Copy, Serialize, TS)]
pub struct SelectionRange {
    /// First code unit.
    pub start: usize,
    /// Code unit after the last one.
    pub end: usize,
}
