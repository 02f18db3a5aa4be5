//! Histories, authors, differences, and the audit log.

use copydesk_macros::wire;
use serde_json::Value;

use super::names::{HistoryAct, SpanKind};
use super::people::Person;
use super::rules::Remember;

/// Entry of `document:history`.
#[wire(Serialize, TS)]
pub struct HistoryLine {
    /// Version that the update made.
    pub version: u64,
    /// Person who made it.
    pub author: Person,
    /// Time of the update, in RFC 3339.
    pub at: String,
    /// Request that the update came from; missing: it was typed.
    pub origin: Option<String>,
    /// Kind of the update.
    pub act: HistoryAct,
    /// With `restored`: the version that was restored.
    pub restored: Option<u64>,
    /// `true` if the update removed 200 UTF-16 units or more, or inserted a long text: the version
    /// before it is worth showing by itself. Missing otherwise.
    #[serde(rename = "isLarge")]
    pub is_large: Option<bool>,
}

/// Passage and its author, in `document:provenance`. Positions are of the version that comes with
/// it.
#[wire(Serialize, TS)]
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
    #[serde(rename = "claimedAuthor")]
    pub claimed_author: Option<String>,
    /// With `ai`, `import` and `suggestion`: the request that it came from.
    pub request: Option<String>,
    /// With `ai`, `import` and `suggestion`: the hunk that it came from, if known.
    pub hunk: Option<String>,
    /// With `ai`, `import` and `suggestion`: the person who accepted it; missing: approvals were
    /// off.
    pub approver: Option<Person>,
    /// With `approver`: the rule that accepted it in the approver's place. It may have ended since.
    pub rule: Option<RuleCredit>,
    /// `true`: a person replaced the proposed words before they were accepted.
    pub edited: Option<bool>,
    /// Threads of comments about the change that it came from, oldest first, at most ten.
    pub threads: Option<Vec<String>>,
    /// Time at which it came into the text, in RFC 3339; typing is dated to the minute.
    pub at: String,
}

/// Rule that accepted words, in `document:provenance`.
#[wire(Serialize, TS)]
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
#[wire(Serialize, TS)]
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
#[wire(Serialize)]
pub struct AuditLine {
    /// Position in the log of the whole server, from 1.
    pub seq: u64,
    /// Time of the entry, in RFC 3339.
    pub at: String,
    /// Person who acted; `server`: no one did.
    pub actor: Person,
    /// Action, as `noun.verb`.
    pub action: String,
    /// Document that was affected.
    pub document: Option<String>,
    /// Request that it belongs to.
    pub request: Option<String>,
    /// Further facts.
    pub detail: Value,
    /// `hash` of the entry before, of whichever document.
    pub prev_hash: String,
    /// SHA-256 over `prev_hash` and this entry.
    pub hash: String,
}
