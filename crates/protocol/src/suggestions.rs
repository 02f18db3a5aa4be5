//! Suggestions of people: what they send, and what they get back.

use copydesk_macros::wire;
use serde_json::Value;

use super::server::Hunk;

/// Payload of `suggestion:update`, and body of `PUT /api/v1/documents/{id}/suggestion`: a person's
/// whole suggestion, which takes the place of their open, undecided hunks.
#[wire(Deserialize, TS, camelCase)]
pub struct UpdateSuggestion {
    /// Document that the person suggests to change.
    pub document_id: String,
    /// Version that `changes` start from.
    pub version: u64,
    /// Revision of the person's newest suggestion that `changes` take the place of; 0: there is
    /// none that can still be decided.
    pub revision: u64,
    /// `ChangeSet.toJSON()` of `@codemirror/state`: from the document at `version` to the document
    /// as the person suggests it. Without a change, the open hunks are withdrawn.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub changes: Value,
}

/// Answer to a suggestion, once it is stored.
#[wire(Serialize, TS, null)]
pub struct SuggestionAnswer {
    /// Request that holds the suggestion; `null`: there was nothing to withdraw.
    pub request_id: Option<String>,
    /// Revision of the suggestion now.
    pub revision: u64,
    /// Version that the positions of the hunks are of.
    pub version: u64,
    /// All open hunks of the suggestion, in the order of the text.
    pub hunks: Vec<Hunk>,
    /// Hash of everything shown, as in the request.
    pub preview_hash: String,
}
