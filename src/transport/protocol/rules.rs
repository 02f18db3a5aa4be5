//! What clients and server say to each other about rules and about policies for tools and sizes.
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
    /// In rules that are told also `workspace`: work without a document, whoever asks.
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
    /// The tool it is about; `*`: every tool.
    pub tool: String,
    /// What it does: `deny`, `ask` or `allow`. Of all rules that speak of a call the strictest counts, in this order.
    pub effect: String,
    /// With `deny` and `ask`: only calls that change more than this many UTF-16 units; missing: of every size.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub over: Option<usize>,
    /// What it allows; with `deny` and `ask`, where it holds.
    pub remember: Remember,
    /// The session whose request was approved, or in which an owner made the rule.
    pub session_id: String,
    /// The request that was approved; `null`: an owner made the rule.
    #[serde(rename = "request_id")]
    pub request_id: Option<String>,
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

/// `rules:add`: an owner's rule. Of all rules that speak of a call the strictest counts: `deny`, `ask`, `allow`.
///
/// An unknown field is refused: a limit that was misspelled would be none.
#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct AddRule {
    /// The document; `desk`: work without a document.
    #[serde(rename = "documentId")]
    pub document_id: String,
    /// `deny`: the model is told no at once, also where approvals are off. `ask`: people are asked, whatever was allowed.
    /// `allow`: approved in the owner's name, but never a command, or what has a warning.
    pub effect: String,
    /// The tool, by the server's own name for it; missing, with `deny` and `ask`: every tool. `Edit` denies and asks about
    /// `MultiEdit` too.
    pub tool: Option<String>,
    /// At the desk: only calls that name a file like this (`*`, `?`, `[a-z]`, `**` for any folders), from the top of the
    /// workspace. With `deny` and `ask` a name without `/` is meant in every folder, and a folder with all that is in it. Where
    /// such a rule denies reading, Glob and Grep leave the file out; where it asks, Grep does. Bash names none: deny it as a tool.
    pub path: Option<String>,
    /// With `allow`: only calls that change at most this many UTF-16 units, at least 1.
    pub max_units: Option<usize>,
    /// With `deny` and `ask`: only calls that change more than this many UTF-16 units, or nobody can tell how many.
    pub over: Option<usize>,
}

/// The ack of `rules:add`: the rule, also if it was there already.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct RuleAdded {
    /// The rule.
    pub rule: Rule,
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

/// A stricter policy for some requests, in `document:settings`. All that is said for a request holds: of `not_requester`, `two`
/// and `owner` together, two owners decide, and neither of them asked.
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
