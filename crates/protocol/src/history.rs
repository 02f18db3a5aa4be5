//! Histories, authors, differences, and the audit log.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
#[cfg(test)]
use ts_rs::TS;

use super::names::{HistoryAct, SpanKind};
use super::rules::Remember;
use super::server::Person;

/// Entry of `document:history`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct HistoryLine {
    /// Version that the update made.
    pub version: u64,
    /// Person who made it.
    pub author: Person,
    /// Time of the update, in RFC 3339.
    pub at: String,
    /// Request that the update came from; missing: it was typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Kind of the update.
    pub act: HistoryAct,
    /// With `restored`: the version that was restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored: Option<u64>,
    /// `true` if the update removed 200 UTF-16 units or more, or inserted a long text: the version
    /// before it is worth showing by itself. Missing otherwise.
    #[serde(rename = "isLarge", skip_serializing_if = "Option::is_none")]
    pub is_large: Option<bool>,
}

/// Passage and its author, in `document:provenance`. Positions are of the version that comes with
/// it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct ProvenanceSpan {
    /// First code unit.
    pub from: usize,
    /// Code unit after the last one.
    pub to: usize,
    /// Origin of the passage.
    pub kind: SpanKind,
    /// Person who wrote it; with `ai`: the person who asked; with `import`: the person who imported
    /// the file; with `beginning`: the person who created the document.
    pub author: Person,
    /// With `import`: the author as the file names them.
    #[serde(rename = "claimedAuthor", skip_serializing_if = "Option::is_none")]
    pub claimed_author: Option<String>,
    /// With `ai` and `import`: the request that it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// With `ai` and `import`: the hunk that it came from, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunk: Option<String>,
    /// With `ai` and `import`: the person who accepted it; missing: approvals were off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approver: Option<Person>,
    /// With `approver`: the rule that accepted it in the approver's place. It may have ended since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleCredit>,
    /// `true`: a person replaced the proposed words before they were accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<bool>,
    /// Time at which it came into the text, in RFC 3339; typing is dated to the minute.
    pub at: String,
}

/// Rule that accepted words, in `document:provenance`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct RuleCredit {
    /// Identifier of the rule.
    pub id: String,
    /// Person who made it.
    pub by: Person,
    /// Tool that it is about.
    pub tool: String,
    /// Scope and limits of the rule.
    pub remember: Remember,
}

/// Difference between two versions, in `document:compare`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct Difference {
    /// First code unit in the text of the first version.
    pub from: usize,
    /// Code unit after the last one.
    pub to: usize,
    /// Words in the first version.
    pub base: String,
    /// Words in the other version.
    pub insert: String,
}

/// Entry of the audit log, in `GET /api/v1/audit` and `GET /api/v1/documents/{id}/audit`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuditLine {
    /// Position in the log of the whole server, from 1.
    pub seq: u64,
    /// Time of the entry, in RFC 3339.
    pub at: String,
    /// Person who acted; `server`: nobody did.
    pub actor: Person,
    /// Action, as `noun.verb`.
    pub action: String,
    /// Document that was affected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// Request that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Further facts.
    pub detail: Value,
    /// `hash` of the entry before, of whichever document.
    pub prev_hash: String,
    /// SHA-256 over `prev_hash` and this entry.
    pub hash: String,
}
