//! What the server says of what was: histories, who wrote what, differences, the audit log.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
#[cfg(test)]
use ts_rs::TS;

use super::rules::Remember;
use super::server::Person;

/// One line of `document:history`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct HistoryLine {
    /// The version this update made.
    pub version: u64,
    /// Who made it.
    pub author: Person,
    /// When, RFC 3339.
    pub at: String,
    /// The request it came from, if not from typing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// `typed`, `accepted` (changes of a request), `taken_back` (changes that had been accepted) or `restored`.
    pub act: String,
    /// With `restored`: the version whose text it is again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored: Option<u64>,
}

/// Who wrote a stretch of the text, in `document:provenance`. Positions are of the version that comes with it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct ProvenanceSpan {
    /// First unit.
    pub from: usize,
    /// One past the last.
    pub to: usize,
    /// `person`, `ai`, or `beginning`: the document was created with it.
    pub kind: String,
    /// Who wrote it; `ai`: for whom; `beginning`: who created the document.
    pub author: Person,
    /// With `ai`: the request it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// With `ai`: which of its changes, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunk: Option<String>,
    /// With `ai`: who let it in; missing where approvals are off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approver: Option<Person>,
    /// With `approver`: the rule that let it in, in the approver's place. It may have ended since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleCredit>,
    /// `true`: a person put other words in place of the proposed ones before they went in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<bool>,
    /// When it came into the text, RFC 3339; typing is dated to the minute.
    pub at: String,
}

/// A rule that let words in, in `document:provenance`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct RuleCredit {
    /// The rule.
    pub id: String,
    /// Who made it.
    pub by: Person,
    /// The tool it is about.
    pub tool: String,
    /// What it allows.
    pub remember: Remember,
}

/// What is different between two versions, in `document:compare`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct Difference {
    /// First unit in the text of the first version.
    pub from: usize,
    /// One past the last.
    pub to: usize,
    /// The words that stood there.
    pub base: String,
    /// The words that stand there in the other version.
    pub insert: String,
}

/// A line of the audit log, in `GET /api/v1/audit` and `GET /api/v1/documents/{id}/audit`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuditLine {
    /// Its place in the log of the whole server, from 1.
    pub seq: u64,
    /// When, RFC 3339.
    pub at: String,
    /// Who; `server` where nobody did it.
    pub actor: Person,
    /// What, as `noun.verb`.
    pub action: String,
    /// The document it touched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// The request it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Everything else.
    pub detail: Value,
    /// The `hash` of the line before it, of whichever document.
    pub prev_hash: String,
    /// SHA-256 over `prev_hash` and this line.
    pub hash: String,
}
