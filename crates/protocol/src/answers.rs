//! Acknowledgements of events whose fields have no type elsewhere. Long parts are encoded before.

use copydesk_macros::wire;
use serde_json::value::RawValue;

use super::server::{AgentEvent, DocumentLine, ToolApprovalRequest};

/// Documents that a person may open, last changed first: answer of `document:list`.
#[wire(Serialize, TS)]
pub struct DocumentList {
    /// Documents of this page.
    #[schemars(with = "Vec<DocumentLine>")]
    #[cfg_attr(test, ts(type = "Array<DocumentLine>"))]
    pub documents: Box<RawValue>,
    /// Value of `before` for the documents after these; missing: there are none.
    pub next: Option<String>,
}

/// Text of a version: answer of `document:at`.
#[wire(Serialize, TS)]
pub struct TextOfVersion {
    /// The text.
    #[schemars(with = "String")]
    #[cfg_attr(test, ts(type = "string"))]
    pub text: Box<RawValue>,
}

/// Run that was started: answer of `askClaudeCode` and `run`, before anything is done.
#[wire(Serialize, TS, camelCase)]
pub struct AskedRun {
    /// Identifier of the run.
    pub request_id: String,
}

/// Page of a conversation: answer of `transcript:get`.
#[wire(Serialize, TS)]
pub struct TranscriptPart {
    /// Prompts, answers and calls, in order.
    pub entries: Vec<AgentEvent>,
    /// Ended requests of the conversation, only with the newest entries; open ones come with
    /// `document:open`.
    pub requests: Vec<ToolApprovalRequest>,
    /// Place before which there are more entries, to be sent back unchanged.
    pub before: Option<String>,
}

/// Requests that can still be decided: answer of `list_pending_approvals`.
#[wire(Serialize, TS)]
pub struct PendingRequests {
    /// The requests, each complete.
    #[schemars(with = "Vec<ToolApprovalRequest>")]
    #[cfg_attr(test, ts(type = "Array<ToolApprovalRequest>"))]
    pub requests: Box<RawValue>,
}

/// Requests that have ended, newest first: answer of `approval:list`.
#[wire(Serialize, TS)]
pub struct EndedRequests {
    /// Requests of this page, each complete.
    #[schemars(with = "Vec<ToolApprovalRequest>")]
    #[cfg_attr(test, ts(type = "Array<ToolApprovalRequest>"))]
    pub requests: Vec<Box<RawValue>>,
    /// `true` if there are older ones.
    pub more: bool,
}
