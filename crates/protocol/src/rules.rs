//! Rules, and policies for tools and sizes.
//!
//! Sizes are in UTF-16 code units: everything a request deletes and inserts, together.

use super::people::Person;
use copydesk_approvals::{RuleEffect, RuleScope};
use copydesk_macros::wire;

/// Rule for approving similar requests without asking: `remember` of `tool_approval_response`.
/// Unknown fields are refused, because a misspelled limit would be no limit.
#[wire(Deserialize, Serialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Remember {
    /// `session`: the session that asked, as long as it lasts. `document`: every session. Neither
    /// reaches other documents. Rules that the server reports can also be `workspace`: work without
    /// a document, for every session.
    pub scope: RuleScope,
    /// Only files that match this pattern (`*`, `?`, `[a-z]`, `**` for any folders); not for tools
    /// that change a document.
    pub path: Option<String>,
    /// Only requests that delete and insert at most this many UTF-16 code units together, at least
    /// 1; missing: every size.
    pub max_units: Option<usize>,
    /// Only requests of this person, by their user; with an approval: the `author` of the request.
    /// Missing: of everybody.
    pub author: Option<String>,
    /// `true`: only changes without marks, which keep the meaning; not for tools that change no
    /// document.
    pub unmarked: Option<bool>,
}

/// Rule in force.
#[wire(Serialize, TS, camelCase)]
pub struct Rule {
    /// Identifier of the rule.
    pub id: String,
    /// Document of the rule; `null`: work without a document.
    #[null]
    pub document_id: Option<String>,
    /// Tool that it is about; `*`: every tool.
    pub tool: String,
    /// Effect of the rule.
    pub effect: RuleEffect,
    /// With `deny` and `ask`: only calls that change more than this many UTF-16 code units;
    /// missing: every size.
    pub over: Option<usize>,
    /// Matters that it allows; with `deny` and `ask`: those to which it applies.
    pub remember: Remember,
    /// Only person whose requests it is about, with the name of the time when it was made; missing:
    /// everybody.
    pub author: Option<Person>,
    /// Session whose request was approved, or in which an owner made the rule.
    pub session_id: String,
    /// Request that was approved; `null`: an owner made the rule.
    #[null]
    #[serde(rename = "request_id")]
    pub request_id: Option<String>,
    /// Person who made it, and in whose place it decides.
    pub by: Person,
    /// Time of its creation, in RFC 3339.
    pub created_at: String,
}

/// Payload of `rules:list`.
#[wire(Deserialize, TS, camelCase)]
pub struct ListRules {
    /// Document whose rules are listed; missing: those of all documents that the person may read,
    /// and those for work without a document that the person may revoke.
    pub document_id: Option<String>,
}

/// Answer of `rules:list`: the rules in force, oldest first.
#[wire(Serialize, TS)]
pub struct Rules {
    /// All rules.
    pub rules: Vec<Rule>,
}

/// Payload of `rules:add`: an owner's rule. The strictest matching rule wins: `deny`, `ask`,
/// `allow`. Unknown fields are refused, because a misspelled limit would be no limit.
#[wire(Deserialize, TS)]
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
    /// With `allow` in a document, `true`: only changes without marks, which keep the meaning.
    pub unmarked: Option<bool>,
}

/// Answer of `rules:add`: the rule, also if it existed already.
#[wire(Serialize, TS)]
pub struct RuleAdded {
    /// New or existing rule.
    pub rule: Rule,
}

/// Payload of `rules:revoke`.
#[wire(Deserialize, TS)]
pub struct RevokeRule {
    /// Rule to revoke.
    pub id: String,
}

/// `rules:changed`: sent to everyone in the document.
#[wire(Serialize, TS, camelCase)]
pub struct RulesChanged {
    /// Document of the rules.
    pub document_id: String,
    /// Rules now in force, oldest first.
    pub rules: Vec<Rule>,
}
