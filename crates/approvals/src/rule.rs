//! Rules: approvals given in advance together with an approval, and rules that owners make.
//!
//! Of all rules that match a request the strictest counts: one that denies, then one that asks,
//! then those that allow. Only owners may deny and ask, also with approvals switched off.
//!
//! A rule has the rights of its maker, as of now, and no more. Where two must agree, it is one
//! vote. It never covers a command, a request with a warning, or words in conflict.

use serde::{Deserialize, Serialize};

use super::{MarkKind, PathPattern, Person, RequesterIds, ToolCatalog};
use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{DocumentId, RequestId, RuleId, SessionId};
use copydesk_macros::names;

/// Effect of a rule. The strictest matching rule wins: `deny`, `ask`, `allow`.
#[names(Default, PartialOrd, Ord, Hash, Deserialize, Serialize, wire, lowercase)]
pub enum RuleEffect {
    /// The call is approved in the name of the rule's maker.
    #[default]
    Allow,
    /// People are asked, whatever else was allowed.
    Ask,
    /// The call is refused, and nobody is asked.
    Deny,
}

impl RuleEffect {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_allow(&self) -> bool {
        *self == Self::Allow
    }
}

/// Wildcard in place of a tool's name: every tool.
pub const EVERY_TOOL: &str = "*";

/// Name in place of a tool's: changes that people suggest, also those of an imported file. Only
/// people decide them: no rule allows one, and a rule stops one only if it has this name.
pub const SUGGESTION_TOOL: &str = "suggestion";

/// Scope of an [`ApprovalRule`]. No scope includes another document.
#[names(Deserialize, Serialize, wire, lowercase)]
pub enum RuleScope {
    /// The session that asked, as long as it lasts.
    Session,
    /// The document, for every session.
    Document,
    /// Work without a document, for every session.
    Workspace,
}

/// Wish to have requests of this kind approved without being asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberWish {
    /// Id of the rule to be; made before the wish is sent, so that the decision's record has it.
    pub id: RuleId,
    /// Scope of the rule.
    pub scope: RuleScope,
    /// Pattern that the file must match; not for tools that change a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathPattern>,
    /// Largest change in [units](super::ApprovalRequest::units); `None`: every size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_units: Option<usize>,
    /// Person who must have asked, with the name at that time; `None`: any person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Person>,
    /// `true` if the rule is only for hunks without marks, and not for requests without hunks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmarked: bool,
}

impl RememberWish {
    pub(super) fn is_about(&self, requester: RequesterIds<'_>) -> bool {
        self.author.as_ref().is_none_or(|author| requester.contains(&author.user))
    }
}

/// A rule, remembered with an approval or made by an owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRule {
    /// Wish that the rule was made of.
    #[serde(flatten)]
    pub remember: RememberWish,
    /// Effect on matching requests.
    #[serde(default, skip_serializing_if = "RuleEffect::is_allow")]
    pub effect: RuleEffect,
    /// Size in [units](super::ApprovalRequest::units) above which a rule that denies or asks
    /// applies; `None`: every size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<usize>,
    /// Name of the tool, or [`EVERY_TOOL`].
    pub tool: String,
    /// Session whose request was approved, or in which an owner made the rule.
    pub session: SessionId,
    /// Document the rule was made in; it applies to no other.
    pub document: Option<DocumentId>,
    /// Request that was approved; `None`: an owner made the rule.
    pub request: Option<RequestId>,
    /// Person who made the rule.
    pub by: Person,
    /// Time when it was made, in milliseconds since 1970.
    pub at_ms: u64,
    /// End of the rule, if it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<RuleEnd>,
}

/// End of an [`ApprovalRule`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleEnd {
    /// Person who revoked the rule; `None`: its session is over.
    pub by: Option<Person>,
    /// Time of the end, in milliseconds since 1970.
    pub at_ms: u64,
}

impl ApprovalRule {
    /// Returns the id of the rule.
    pub fn id(&self) -> &RuleId {
        &self.remember.id
    }

    /// Returns `true` if the rule denies `matter` or requires that people are asked about it.
    pub fn stops(&self, matter: &RuleSubject) -> bool {
        let &RuleSubject { tools, tool, document, file, units, requester, marks: _ } = matter;
        let RememberWish { path, .. } = &self.remember;
        self.ended.is_none()
            && self.effect != RuleEffect::Allow
            && (self.tool == EVERY_TOOL && tool != SUGGESTION_TOOL
                || tools.is_meant(&self.tool, tool))
            && self.document.as_ref() == document
            && self.remember.is_about(requester)
            && self.over.is_none_or(|over| units.is_none_or(|units| units > over))
            && path.as_ref().is_none_or(|path| file.is_some_and(|file| path.touches(file)))
    }

    /// Returns `true` if both rules have equal maker, tool, effect, document and reach.
    pub fn repeats(&self, other: &Self) -> bool {
        let reach = |rule: &Self| {
            let session = Some(&rule.session).filter(|_| rule.remember.scope == RuleScope::Session);
            let RememberWish { id: _, scope: _, path, max_units, author, unmarked } =
                rule.remember.clone();
            let author = author.map(|author| author.user);
            (session.cloned(), path, max_units, author, unmarked, rule.over)
        };
        self.tool == other.tool
            && self.effect == other.effect
            && self.document == other.document
            && self.by.user == other.by.user
            && reach(self) == reach(other)
    }

    /// Returns `true` if `who` may revoke the rule: its maker, or an owner. A rule that denies or
    /// asks can be revoked only by an owner.
    pub fn may_be_revoked_by(&self, who: &Principal) -> bool {
        let is_own = self.by.user == who.user && self.effect == RuleEffect::Allow;
        is_own || who.may(Action::Manage, self.document.as_ref())
    }

    /// Returns the message to the model for a call that this rule denied: a reason it can act on.
    pub fn denial(&self) -> String {
        let Self { over, document, remember: RememberWish { path, author, .. }, .. } = self;
        let tool = if self.tool == EVERY_TOOL { "every tool" } else { &self.tool };
        let files = path.as_ref().map(|it| format!(" on files like {}", it.as_str()));
        let size = over.map(|over| format!(" for changes of more than {over} UTF-16 units"));
        let asker = author.as_ref().map(|author| format!(" for what {} asks", author.name));
        let place = if document.is_some() { "document" } else { "workspace" };
        format!(
            "Denied by a rule of this {place}: it does not allow {tool}{}{}{}. Nothing was done and nobody was asked. Do not try \
             to reach the same in another way; tell the user.",
            files.unwrap_or_default(),
            size.unwrap_or_default(),
            asker.unwrap_or_default(),
        )
    }
}

/// Facts about a call that rules look at.
#[derive(Clone, Copy, Debug)]
pub struct RuleSubject<'a> {
    /// Tools of the server.
    pub tools: &'a ToolCatalog,
    /// Name of the tool.
    pub tool: &'a str,
    /// Document that the call would change.
    pub document: Option<&'a DocumentId>,
    /// File that the call names, for work without a document.
    pub file: Option<&'a str>,
    /// Size of the change in UTF-16 units; `None`: unknown, which counts as large.
    pub units: Option<usize>,
    /// Person who asked for it.
    pub requester: RequesterIds<'a>,
    /// Kinds of the marks of a hunk; empty for a request as a whole.
    pub marks: &'a [MarkKind],
}

/// Returns the strictest rule that denies `matter` or asks about it, if there is one.
pub fn ruling<'r>(
    rules: impl IntoIterator<Item = &'r ApprovalRule>,
    matter: &RuleSubject,
) -> Option<&'r ApprovalRule> {
    rules.into_iter().filter(|rule| rule.stops(matter)).max_by_key(|rule| rule.effect)
}
