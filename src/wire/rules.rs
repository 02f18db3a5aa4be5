//! What clients and server say to each other about remembered rules and about policies for tools and sizes.
//!
//! A size is counted in UTF-16 units: everything a request deletes and everything it inserts, together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::server::Person;

/// What is to be approved in future without being asked: `remember` of `tool_approval_response`.
///
/// An unknown field is refused: a limit that was misspelled would be none.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Remember {
    /// `session`: as long as the session that asked lives. `document`: whoever asks. Neither reaches into another document.
    pub scope: String,
    /// Only files that match this pattern (`*`, `?`, `[a-z]`, `**` for any folders); not for tools that change a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Only requests that delete and insert at most this many UTF-16 units together, at least 1; missing: of every size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_units: Option<usize>,
}

/// A rule in force.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// The rule.
    pub id: String,
    /// The document it is for; `null`: work without a document.
    pub document_id: Option<String>,
    /// The tool it is about.
    pub tool: String,
    /// What it allows.
    pub remember: Remember,
    /// The session whose request was approved.
    pub session_id: String,
    /// The request that was approved.
    #[serde(rename = "request_id")]
    pub request_id: String,
    /// Who made it, and in whose place it decides.
    pub by: Person,
    /// When, RFC 3339.
    pub created_at: String,
}

/// `rules:list`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ListRules {
    /// Only this document's rules; missing: those of every document the person may read, and those for work without a
    /// document that the person may revoke.
    pub document_id: Option<String>,
}

/// The ack of `rules:list`: the rules in force, oldest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct Rules {
    /// All of them.
    pub rules: Vec<Rule>,
}

/// `rules:revoke`
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct RevokeRule {
    /// The rule.
    pub id: String,
}

/// `rules:changed`, to everyone in the document.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct RulesChanged {
    /// The document.
    pub document_id: String,
    /// The rules now in force, oldest first.
    pub rules: Vec<Rule>,
}

/// A stricter policy for some requests, in `document:settings`. The strictest of what is said for a request wins: `any`,
/// `not_requester`, `two`, `owner`, from the mildest.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct ToolPolicy {
    /// Only requests of this tool; missing: of every tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only requests that delete and insert more than this many UTF-16 units together; missing: of every size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<usize>,
    /// Who may decide those.
    pub policy: String,
}
