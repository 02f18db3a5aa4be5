//! What people say in advance: rules made together with an approval, rules that owners make, and the requests they speak of.
//!
//! Of all rules that speak of a request the strictest counts: one that denies, then one that asks, then those that allow. To
//! deny and to ask is the owners' alone, and holds whatever anybody has allowed, approvals switched off included.
//!
//! A rule speaks for the person who made it, never louder: where two must agree it is one vote, where the requester may not
//! decide the requester's rule does not either, and it is silent once its maker may not decide any more. It never covers a
//! command, a request with a warning, or words in conflict; those are always asked about.

use serde::{Deserialize, Serialize};

use super::apply::DecidedBy;
use super::{
    ApprovalRequest, Decision, DecisionError, DecisionOutcome, HunkStatus, PathPattern, Person,
    Preview, PreviewKind, RequestStatus, RequestVerdict,
};
use crate::ids::{DocumentId, RequestId, RuleId, SessionId, UserId};
use crate::permissions::{Action, Principal};

/// What a rule does with what it speaks of, from the mildest to the strictest.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum RuleEffect {
    /// It is approved in the maker's name.
    #[default]
    Allow,
    /// People are asked, whatever else was allowed.
    Ask,
    /// It is not done; nobody is asked.
    Deny,
}

impl RuleEffect {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// The effect of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|effect| effect.as_str() == name)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_allow(&self) -> bool {
        *self == Self::Allow
    }
}

/// In place of a tool's name: every tool.
pub const EVERY_TOOL: &str = "*";

/// The tool that proposes a plan. Whoever wants one wants to see it, so no rule approves it.
pub const PLAN_TOOL: &str = "ExitPlanMode";

/// The tool that does several times in one call what another does once: whoever denies the one denies the other.
const SEVERAL_TIMES: (&str, &str) = ("Edit", "MultiEdit");

/// Whether a rule or a policy that names one tool means a call of another.
pub(super) fn is_meant(named: &str, called: &str) -> bool {
    named == called || (named, called) == SEVERAL_TIMES
}

/// How far a rule reaches. None reaches into another document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleScope {
    /// The session that asked, as long as it lives.
    Session,
    /// The document, whoever asks.
    Document,
    /// Work without a document, whoever asks.
    Workspace,
}

impl RuleScope {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Document => "document",
            Self::Workspace => "workspace",
        }
    }
}

/// A wish to have the same thing approved in future without being asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberWish {
    /// The name the rule will have; made before it is sent, so that the decision's record has it.
    pub id: RuleId,
    /// How far it reaches.
    pub scope: RuleScope,
    /// Only files that match this pattern; not for tools that change a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathPattern>,
    /// Only changes of at most this many [units](ApprovalRequest::units); `None`: of every size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_units: Option<usize>,
}

/// A rule, remembered with an approval or made by an owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRule {
    /// What was wished.
    #[serde(flatten)]
    pub remember: RememberWish,
    /// What it does.
    #[serde(default, skip_serializing_if = "RuleEffect::is_allow")]
    pub effect: RuleEffect,
    /// Where it does not allow: only changes of more than this many [units](ApprovalRequest::units); `None`: of every size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<usize>,
    /// The tool it is about, or [`EVERY_TOOL`].
    pub tool: String,
    /// The session whose request was approved, or in which an owner made it.
    pub session: SessionId,
    /// The document it was made in; it reaches nowhere else.
    pub document: Option<DocumentId>,
    /// The request that was approved; `None`: an owner made it.
    pub request: Option<RequestId>,
    /// Who made it.
    pub by: Person,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// How it ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<RuleEnd>,
}

/// How a rule ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleEnd {
    /// Who revoked it; `None`: its session is over.
    pub by: Option<Person>,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

impl ApprovalRule {
    /// Its name.
    pub fn id(&self) -> &RuleId {
        &self.remember.id
    }

    /// Whether it allows such a request. Says nothing about whether its maker may decide it.
    pub fn covers(&self, request: &ApprovalRequest) -> bool {
        let RememberWish { id: _, scope, path, max_units } = &self.remember;
        let proposal = &request.proposal;
        let fits = |max: usize| request.units().is_some_and(|units| units <= max);
        let file = proposal.preview.file_path.as_deref().filter(|_| proposal.document.is_none());
        self.ended.is_none()
            && self.effect == RuleEffect::Allow
            && self.tool == proposal.tool
            && self.document == proposal.document
            && (*scope != RuleScope::Session || self.session == proposal.session)
            && max_units.is_none_or(fits)
            && path.as_ref().is_none_or(|path| file.is_some_and(|file| path.covers(file)))
            && !request.is_always_asked_about()
    }

    /// Whether it denies such a matter, or wants people to be asked about it.
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

    /// Whether it says exactly what another rule of the same person says.
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

    /// Whether a person may revoke it: its maker, or an owner. What an owner denied, only an owner takes back.
    pub fn may_be_revoked_by(&self, who: &Principal) -> bool {
        let is_own = self.by.user == who.user && self.effect == RuleEffect::Allow;
        is_own || who.may(Action::Manage, self.document.as_ref())
    }

    /// What the model is told that this rule denied: a reason it can act on.
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

/// What a call is about, as far as rules look at it.
#[derive(Clone, Copy, Debug)]
pub struct RuleSubject<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The document it would change.
    pub document: Option<&'a DocumentId>,
    /// The file that it names, for work without a document.
    pub file: Option<&'a str>,
    /// How much it would change, in UTF-16 units; `None`: nobody can tell, so it counts as much.
    pub units: Option<usize>,
}

/// The strictest of the rules that deny a matter or want people to be asked, if one does.
pub fn ruling<'r>(
    rules: impl IntoIterator<Item = &'r ApprovalRule>,
    matter: &RuleSubject,
) -> Option<&'r ApprovalRule> {
    rules.into_iter().filter(|rule| rule.stops(matter)).max_by_key(|rule| rule.effect)
}

impl ApprovalRequest {
    /// Whether people want to see it whatever they have approved before.
    fn is_always_asked_about(&self) -> bool {
        let Preview { kind, warnings, .. } = &self.proposal.preview;
        self.status != RequestStatus::Pending
            || *kind == PreviewKind::Command
            || !warnings.is_empty()
    }

    /// The rules that decide this request now, oldest first, and in whose place: one for each person who has made one that
    /// covers it and may decide it. `people` are all who hold a good token now; somebody with two is in there twice.
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
                // The right is today's, the name the one under which they made the rule.
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
            return invalid("a rule is made with an approval, never with a rejection");
        }
        if self.proposal.preview.kind == PreviewKind::Command {
            return invalid("commands are asked about every time");
        }
        if self.proposal.tool == PLAN_TOOL {
            return invalid("plans are asked about every time");
        }
        if wish.scope != RuleScope::Session && self.proposal.document.is_none() {
            return invalid("this request is about no document; a rule can be for the session");
        }
        if wish.path.is_some() && self.proposal.document.is_some() {
            return invalid("a path pattern is for tools that change files");
        }
        if wish.max_units == Some(0) {
            return invalid("a rule that allows nothing is none");
        }
        let edited = decision.revised.as_ref().map(|fresh| fresh.preview.file_path.as_deref());
        let covers = |file: Option<&str>| {
            wish.path.as_ref().is_none_or(|it| file.is_some_and(|file| it.covers(file)))
        };
        if matches!(decision.verdict, RequestVerdict::Edit { .. }) && !edited.is_none_or(covers) {
            return invalid("the path of the rule does not match the file that you approve");
        }
        Ok(())
    }

    /// The rules to be made now, after a decision: with something that was accepted, those whose makers voted for it. A wish
    /// whose vote was not enough waits with the request.
    pub fn granted(&mut self, outcome: &DecisionOutcome) -> Vec<ApprovalRule> {
        if let Some(rule) = &outcome.rule {
            self.wishes.retain(|wish| wish.by.user != rule.by.user);
            self.wishes.push(rule.clone());
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
            let input = self.edited_input.as_ref().map(ToString::to_string);
            let agree = self.votes.iter().filter(|vote| vote.text == input);
            makers.extend(agree.map(|vote| vote.by.user.clone()));
        }
        let is_made = |wish: &ApprovalRule| makers.contains(&wish.by.user);
        let (made, waiting) = std::mem::take(&mut self.wishes).into_iter().partition(is_made);
        self.wishes = waiting;
        made
    }

    /// The rule that a wish becomes.
    pub(super) fn rule(&self, wish: RememberWish, moment: &DecidedBy) -> ApprovalRule {
        ApprovalRule {
            remember: wish,
            effect: RuleEffect::Allow,
            over: None,
            tool: self.proposal.tool.clone(),
            session: self.proposal.session.clone(),
            document: self.proposal.document.clone(),
            request: Some(self.id().clone()),
            by: moment.by.clone(),
            at_ms: moment.at_ms,
            ended: None,
        }
    }
}
