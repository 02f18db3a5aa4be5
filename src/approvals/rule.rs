//! Rules: approvals given in advance together with an approval, and rules that owners make.
//!
//! Of all rules that match a request the strictest counts: one that denies, then one that asks,
//! then those that allow. Only owners may deny and ask, and these rules hold whatever anybody has
//! allowed, also with approvals switched off.
//!
//! A rule has the rights of the person who made it and no more. Where two must agree, it is one
//! vote. Where the requester may not decide, the requester's rule does not either. A rule has no
//! effect once its maker may no longer decide. It never covers a command, a request with a warning,
//! or words in conflict; people are always asked about those.

use serde::{Deserialize, Serialize};

use super::{
    ApprovalRequest, Decision, DecisionError, DecisionOutcome, HunkStatus, InvalidDecisionReason,
    PathPattern, Person, Preview, PreviewKind, RequestStatus, RequestVerdict,
};
use crate::approvals::hunks::apply::DecidedBy;
use crate::ids::{DocumentId, RequestId, RuleId, SessionId, UserId};
use crate::permissions::{Action, Principal};

/// Effect of an [`ApprovalRule`] on the requests it matches, from the mildest to the strictest.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum RuleEffect {
    /// The request is approved in the name of the rule's maker.
    #[default]
    Allow,
    /// People are asked, whatever else was allowed.
    Ask,
    /// The call is refused; nobody is asked.
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

/// Tool that proposes a plan. No rule approves it: a person who wants a plan wants to see it.
pub const PLAN_TOOL: &str = "ExitPlanMode";

/// Tool, and the tool that does the first one's work several times in one call: a rule that stops
/// the first stops the second.
const SEVERAL_TIMES: (&str, &str) = ("Edit", "MultiEdit");

/// Returns `true` if a rule or a policy that names one tool means a call of another.
pub(super) fn is_meant(named: &str, called: &str) -> bool {
    named == called || (named, called) == SEVERAL_TIMES
}

/// Scope of an [`ApprovalRule`]. No scope includes another document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleScope {
    /// The session that asked, as long as it lasts.
    Session,
    /// The document, for every session.
    Document,
    /// Work without a document, for every session.
    Workspace,
}

impl RuleScope {
    /// Returns the name used on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Document => "document",
            Self::Workspace => "workspace",
        }
    }
}

/// Wish to have requests of this kind approved in future without being asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberWish {
    /// Id of the rule to be; made before the wish is sent, so that the decision's record has it.
    pub id: RuleId,
    /// Scope of the rule.
    pub scope: RuleScope,
    /// Pattern that the file must match; not for tools that change a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathPattern>,
    /// Largest change in [units](ApprovalRequest::units); `None`: every size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_units: Option<usize>,
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
    /// Size in [units](ApprovalRequest::units) above which a rule that denies or asks applies;
    /// `None`: every size.
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

    /// Returns `true` if the rule allows `request`. Does not check that the maker may decide the
    /// request.
    pub fn covers(&self, request: &ApprovalRequest) -> bool {
        let RememberWish { id: _, scope, path, max_units } = &self.remember;
        let proposal = &request.proposal;
        let fits = |max: usize| request.units().is_some_and(|units| units <= max);
        let file =
            proposal.action.preview.file_path.as_deref().filter(|_| proposal.document.is_none());
        self.ended.is_none()
            && self.effect == RuleEffect::Allow
            && self.tool == proposal.origin.tool
            && self.document == proposal.document
            && (*scope != RuleScope::Session || self.session == proposal.origin.session)
            && max_units.is_none_or(fits)
            && path.as_ref().is_none_or(|path| file.is_some_and(|file| path.covers(file)))
            && !request.is_always_asked_about()
    }

    /// Returns `true` if the rule denies `matter` or requires that people are asked about it.
    pub fn stops(&self, matter: &RuleSubject) -> bool {
        let &RuleSubject { tool, document, file, units } = matter;
        let RememberWish { path, .. } = &self.remember;
        self.ended.is_none()
            && self.effect != RuleEffect::Allow
            && (self.tool == EVERY_TOOL || is_meant(&self.tool, tool))
            && self.document.as_ref() == document
            && self.over.is_none_or(|over| units.is_none_or(|units| units > over))
            && path.as_ref().is_none_or(|path| file.is_some_and(|file| path.touches(file)))
    }

    /// Returns `true` if both rules have equal maker, tool, effect, document and reach.
    pub fn repeats(&self, other: &Self) -> bool {
        let reach = |rule: &Self| {
            let session = Some(&rule.session).filter(|_| rule.remember.scope == RuleScope::Session);
            (session.cloned(), rule.remember.path.clone(), rule.remember.max_units, rule.over)
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
        let Self { over, document, remember: RememberWish { path, .. }, .. } = self;
        let tool = if self.tool == EVERY_TOOL { "every tool" } else { &self.tool };
        let files = path.as_ref().map(|it| format!(" on files like {}", it.as_str()));
        let size = over.map(|over| format!(" for changes of more than {over} UTF-16 units"));
        let place = if document.is_some() { "document" } else { "workspace" };
        format!(
            "Denied by a rule of this {place}: it does not allow {tool}{}{}. Nothing was done and nobody was asked. Do not try \
             to reach the same in another way; tell the user.",
            files.unwrap_or_default(),
            size.unwrap_or_default(),
        )
    }
}

/// Facts about a call that rules look at.
#[derive(Clone, Copy, Debug)]
pub struct RuleSubject<'a> {
    /// Name of the tool.
    pub tool: &'a str,
    /// Document that the call would change.
    pub document: Option<&'a DocumentId>,
    /// File that the call names, for work without a document.
    pub file: Option<&'a str>,
    /// Size of the change in UTF-16 units; `None`: unknown, which counts as large.
    pub units: Option<usize>,
}

/// Returns the strictest rule that denies `matter` or requires that people are asked, if there is
/// one.
pub fn ruling<'r>(
    rules: impl IntoIterator<Item = &'r ApprovalRule>,
    matter: &RuleSubject,
) -> Option<&'r ApprovalRule> {
    rules.into_iter().filter(|rule| rule.stops(matter)).max_by_key(|rule| rule.effect)
}

impl ApprovalRequest {
    /// Returns `true` if people must be asked whatever they have approved before.
    fn is_always_asked_about(&self) -> bool {
        let Preview { kind, warnings, .. } = &self.proposal.action.preview;
        self.status != RequestStatus::Pending
            || *kind == PreviewKind::Command
            || !warnings.is_empty()
    }

    /// Returns the rules that decide this request now, oldest first, each with the person it
    /// decides for: one for each person who has made a rule that covers the request and who may
    /// decide it. `people` are all holders of a valid token; a person with two tokens is listed
    /// twice.
    pub fn deciding_rules<'r>(
        &self,
        rules: impl IntoIterator<Item = &'r ApprovalRule>,
        people: &[Principal],
    ) -> Vec<(RuleId, Principal)> {
        let mut deciding: Vec<(RuleId, Principal)> = Vec::new();
        for rule in rules.into_iter().filter(|rule| rule.covers(self)) {
            let maker = &rule.by.user;
            if deciding.iter().any(|(_, person)| person.user == *maker) {
                continue;
            }
            let may = |who: &&Principal| who.user == *maker && self.check_allowed(who).is_ok();
            if let Some(today) = people.iter().find(may) {
                // The rights are the current ones, the name is the one the rule was made under.
                let person = Principal { name: rule.by.name.clone(), ..today.clone() };
                deciding.push((rule.id().clone(), person));
            }
        }
        deciding
    }

    /// Refuses a wish that no rule can be made of.
    pub(super) fn check_wish(
        &self,
        wish: &RememberWish,
        decision: &Decision,
    ) -> Result<(), DecisionError> {
        let invalid = |reason| Err(DecisionError::InvalidDecision { reason });
        if decision.rejects() {
            return invalid(InvalidDecisionReason::RuleOfRejection);
        }
        if self.proposal.action.preview.kind == PreviewKind::Command {
            return invalid(InvalidDecisionReason::RuleForCommand);
        }
        if self.proposal.origin.tool == PLAN_TOOL {
            return invalid(InvalidDecisionReason::RuleForPlan);
        }
        if wish.scope != RuleScope::Session && self.proposal.document.is_none() {
            return invalid(InvalidDecisionReason::RuleWithoutDocument);
        }
        if wish.path.is_some() && self.proposal.document.is_some() {
            return invalid(InvalidDecisionReason::PatternForDocument);
        }
        if wish.max_units == Some(0) {
            return invalid(InvalidDecisionReason::EmptyRule);
        }
        let edited = decision.revised.as_ref().map(|fresh| fresh.preview.file_path.as_deref());
        let covers = |file: Option<&str>| {
            wish.path.as_ref().is_none_or(|it| file.is_some_and(|file| it.covers(file)))
        };
        if matches!(decision.verdict, RequestVerdict::Edit { .. }) && !edited.is_none_or(covers) {
            return invalid(InvalidDecisionReason::PatternMismatch);
        }
        Ok(())
    }

    /// Returns the rules to be made now, after a decision: for something that was accepted, the
    /// wishes of people who voted for it. A wish whose vote was not enough stays with the request.
    pub fn granted(&mut self, outcome: &DecisionOutcome) -> Vec<ApprovalRule> {
        if let Some(rule) = &outcome.rule {
            self.decisions.wishes.retain(|wish| wish.by.user != rule.by.user);
            self.decisions.wishes.push(rule.clone());
        }
        let accepted = self.hunks.iter().filter(|hunk| {
            hunk.status == HunkStatus::Accepted && outcome.decided.contains(&hunk.id)
        });
        let mut makers: Vec<UserId> = Vec::new();
        for hunk in accepted {
            let text = hunk.decided.as_ref().and_then(|decided| decided.text.as_ref());
            let agree = hunk.votes.iter().filter(|vote| vote.text.as_ref() == text);
            makers.extend(agree.map(|vote| vote.by.user.clone()));
        }
        if outcome.resolved == Some(RequestStatus::Approved) && self.hunks.is_empty() {
            let input = self.decisions.edited_input.as_ref().map(ToString::to_string);
            let agree = self.decisions.votes.iter().filter(|vote| vote.text == input);
            makers.extend(agree.map(|vote| vote.by.user.clone()));
        }
        let is_made = |wish: &ApprovalRule| makers.contains(&wish.by.user);
        let (made, waiting) =
            std::mem::take(&mut self.decisions.wishes).into_iter().partition(is_made);
        self.decisions.wishes = waiting;
        made
    }

    /// Makes the rule of a wish.
    pub(super) fn rule(&self, wish: RememberWish, moment: &DecidedBy) -> ApprovalRule {
        ApprovalRule {
            remember: wish,
            effect: RuleEffect::Allow,
            over: None,
            tool: self.proposal.origin.tool.clone(),
            session: self.proposal.origin.session.clone(),
            document: self.proposal.document.clone(),
            request: Some(self.id().clone()),
            by: moment.by.clone(),
            at_ms: moment.at_ms,
            ended: None,
        }
    }
}
