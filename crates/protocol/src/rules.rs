//! Rules, and policies for tools and sizes.
//!
//! Sizes are in UTF-16 code units: everything a request deletes and inserts, together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::server::Person;
use copydesk_approvals::{DecisionPolicy, RuleEffect, RuleScope};

/// Rule for approving similar requests without asking: `remember` of `tool_approval_response`.
/// Unknown fields are refused, because a misspelled limit would be no limit.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct Remember {
    /// `session`: the session that asked, as long as it lasts. `document`: every session. Neither
    /// reaches other documents. Rules that the server reports can also be `workspace`: work without
    /// a document, for every session.
    pub scope: RuleScope,
    /// Only files that match this pattern (`*`, `?`, `[a-z]`, `**` for any folders); not for tools
    /// that change a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Only requests that delete and insert at most this many UTF-16 code units together, at least
    /// 1; missing: every size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_units: Option<usize>,
    /// Only requests of this person, by their user; with an approval: the `author` of the request.
    /// Missing: of everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
}

/// Rule in force.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Identifier of the rule.
    pub id: String,
    /// Document of the rule; `null`: work without a document.
    pub document_id: Option<String>,
    /// Tool that it is about; `*`: every tool.
    pub tool: String,
    /// Effect of the rule.
    pub effect: RuleEffect,
    /// With `deny` and `ask`: only calls that change more than this many UTF-16 code units;
    /// missing: every size.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub over: Option<usize>,
    /// Matters that it allows; with `deny` and `ask`: those to which it applies.
    pub remember: Remember,
    /// Only person whose requests it is about, with the name of the time when it was made; missing:
    /// everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub author: Option<Person>,
    /// Session whose request was approved, or in which an owner made the rule.
    pub session_id: String,
    /// Request that was approved; `null`: an owner made the rule.
    #[serde(rename = "request_id")]
    pub request_id: Option<String>,
    /// Person who made it, and in whose place it decides.
    pub by: Person,
    /// Time of its creation, in RFC 3339.
    pub created_at: String,
}

/// Payload of `rules:list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
pub struct ListRules {
    /// Document whose rules are listed; missing: those of all documents that the person may read,
    /// and those for work without a document that the person may revoke.
    pub document_id: Option<String>,
}

/// Answer of `rules:list`: the rules in force, oldest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct Rules {
    /// All rules.
    pub rules: Vec<Rule>,
}

/// Payload of `rules:add`: an owner's rule. The strictest matching rule wins: `deny`, `ask`,
/// `allow`. Unknown fields are refused, because a misspelled limit would be no limit.
#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct AddRule {
    /// Document of the rule; `desk`: work without a document.
    #[serde(rename = "documentId")]
    pub document_id: String,
    /// `deny`: the call is refused, also where approvals are off. `ask`: people are asked, whatever
    /// else was allowed. `allow`: the call is approved in the owner's name, but never a command, or
    /// a call with a warning.
    pub effect: RuleEffect,
    /// Tool, by the server's name for it; missing, with `deny` and `ask`: every tool. `Edit` also
    /// denies and asks about `MultiEdit`.
    pub tool: Option<String>,
    /// For work without a document: only calls that name a matching file (`*`, `?`, `[a-z]`, `**`
    /// for any folders), relative to the workspace. With `deny` and `ask`, a name without `/`
    /// matches in every folder, and a folder includes all files in it. Where such a rule denies
    /// reading, Glob and Grep leave the file out; where it asks, Grep does. Bash names no files:
    /// deny the tool.
    pub path: Option<String>,
    /// With `allow`: only calls that change at most this many UTF-16 code units, at least 1.
    pub max_units: Option<usize>,
    /// With `deny` and `ask`: only calls that change more than this many UTF-16 code units, or an
    /// unknown number.
    pub over: Option<usize>,
    /// Only what this person asks, by their user, who holds a token; missing: what anybody asks.
    pub author: Option<String>,
}

/// Answer of `rules:add`: the rule, also if it existed already.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct RuleAdded {
    /// New or existing rule.
    pub rule: Rule,
}

/// Payload of `rules:revoke`.
#[derive(Debug, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(TS))]
pub struct RevokeRule {
    /// Rule to revoke.
    pub id: String,
}

/// `rules:changed`: sent to everyone in the document.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct RulesChanged {
    /// Document of the rules.
    pub document_id: String,
    /// Rules now in force, oldest first.
    pub rules: Vec<Rule>,
}

/// Stricter policy for some requests, in `document:settings`. All that apply to a request hold:
/// with `not_requester`, `two` and `owner`, two owners other than the requester decide.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct ToolPolicy {
    /// Only requests of this tool; missing: every tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only requests that delete and insert more than this many UTF-16 code units together;
    /// missing: every size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<usize>,
    /// Policy that says who may decide them.
    pub policy: DecisionPolicy,
}
