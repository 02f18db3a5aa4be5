//! What a run says while it works, and what it comes to.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
#[cfg(test)]
use ts_rs::TS;

use super::WireError;

/// `claudeStreamStart`, `claudeStreamChunk`, `claudeStreamEnd` (document agent protocol)
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClaudeStream {
    /// The session that asked.
    pub session_id: String,
    /// The run.
    pub request_id: String,
    /// The document, if the run is about one.
    pub document_id: Option<String>,
    /// With `claudeStreamChunk`: more text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// `agent_event`: the agent event objects of the tool approval protocol. Also the entries of `transcript:get`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct AgentEvent {
    /// `user`, `assistant`, `result`; `system` with `waiting`: a call waits in the document that its file is.
    #[serde(rename = "type")]
    pub kind: String,
    /// `prompt`, `text`, `text_delta`, `tool_use`, `tool_result`, `success`, `error`, …
    pub subtype: String,
    /// What the tool approval protocol puts there. With a `result`, if tokens were counted, also `model`, `usage` (tokens, as in the Messages
    /// API) and, where the price is known, `cost_usd`; `notice` if people should know something about the answer.
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub content: Value,
    /// The session that asked.
    pub session_id: String,
    /// The run.
    pub request_id: String,
    /// The document, if the run is about one.
    pub document_id: Option<String>,
    /// When, RFC 3339.
    pub at: String,
}

/// `claudeResponse` (document agent protocol)
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ClaudeResponse {
    /// The session that asked.
    pub session_id: String,
    /// The run.
    pub request_id: String,
    /// What the model said.
    pub conversation_message: String,
    /// `none`, `full` or `partial`.
    pub update_type: String,
    /// `full`: the resulting document. `partial`: what now stands in the original range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_update: Option<String>,
    /// With `partial`: the original range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection_range: Option<SelectionRange>,
    /// The document's version afterwards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_version: Option<u64>,
    /// Every document change of the run, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updates: Option<Vec<ResponseUpdate>>,
    /// RFC 3339.
    pub timestamp: String,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<WireError>,
}

/// One change in `claudeResponse.updates`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ResponseUpdate {
    /// `full` or `partial`.
    pub update_type: String,
    /// The request people decided.
    #[serde(rename = "request_id")]
    pub request_id: String,
    /// What they decided.
    pub status: String,
    /// The document's version afterwards.
    pub document_version: u64,
}

/// A selection as the document agent protocol writes it: UTF-16 code units, half-open.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct SelectionRange {
    /// First unit.
    pub start: usize,
    /// One past the last unit.
    pub end: usize,
}
