//! Policies: the people who may decide, and the number of them who must agree.

use serde::{Deserialize, Serialize};

use super::{MarkKind, Person, RuleSubject, ToolCatalog};
use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{DocumentId, RuleId, UserId};
use copydesk_macros::names;

/// Switch that says whether changes wait for a person.
#[names(Deserialize, Serialize, wire, lowercase)]
pub enum ApprovalSwitch {
    /// Every change waits for a person.
    On,
    /// The server applies changes at once; they are logged and can be undone.
    Off,
}

/// Policy that says who may decide a request.
#[names(Default, PartialOrd, Ord, Hash, Deserialize, Serialize, wire, snake_case)]
pub enum DecisionPolicy {
    /// Any editor or reviewer.
    #[default]
    Any,
    /// Any editor or reviewer except the requester.
    NotRequester,
    /// Two different people.
    Two,
    /// An owner.
    Owner,
}

/// Requirement for deciding one request: every [`DecisionPolicy`] that applies to it, together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "StoredRequirement", into = "StoredRequirement")]
pub struct ApprovalRequirement {
    need: u32,
    others_only: bool,
    owners_only: bool,
}

/// Stored form: a single policy by its name, as in earlier versions; several as a list.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredRequirement {
    One(DecisionPolicy),
    Several(Vec<DecisionPolicy>),
}

impl Default for ApprovalRequirement {
    fn default() -> Self {
        Self { need: 1, others_only: false, owners_only: false }
    }
}

impl From<DecisionPolicy> for ApprovalRequirement {
    fn from(policy: DecisionPolicy) -> Self {
        Self {
            need: if policy == DecisionPolicy::Two { 2 } else { 1 },
            others_only: policy == DecisionPolicy::NotRequester,
            owners_only: policy == DecisionPolicy::Owner,
        }
    }
}

impl FromIterator<DecisionPolicy> for ApprovalRequirement {
    fn from_iter<I: IntoIterator<Item = DecisionPolicy>>(policies: I) -> Self {
        policies.into_iter().fold(Self::default(), Self::and)
    }
}

impl From<StoredRequirement> for ApprovalRequirement {
    fn from(kept: StoredRequirement) -> Self {
        match kept {
            StoredRequirement::One(policy) => policy.into(),
            StoredRequirement::Several(policies) => policies.into_iter().collect(),
        }
    }
}

impl From<ApprovalRequirement> for StoredRequirement {
    fn from(consent: ApprovalRequirement) -> Self {
        let policies = consent.policies();
        if let [one] = policies.as_slice() { Self::One(*one) } else { Self::Several(policies) }
    }
}

impl ApprovalRequirement {
    /// Returns the requirement of `self` and `policy` together.
    #[must_use]
    pub fn and(self, policy: DecisionPolicy) -> Self {
        let other = Self::from(policy);
        Self {
            need: self.need.max(other.need),
            others_only: self.others_only || other.others_only,
            owners_only: self.owners_only || other.owners_only,
        }
    }

    /// Returns the requirement of `self` and `other` together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        other.policies().into_iter().fold(self, Self::and)
    }

    /// Returns `self`, or the default where `other` includes all of it.
    #[must_use]
    pub fn beyond(self, other: Self) -> Self {
        if other.includes(self) { Self::default() } else { self }
    }

    /// Returns `true` if `self` requires everything that `other` requires.
    pub fn includes(self, other: Self) -> bool {
        self.with(other) == self
    }

    /// Returns the policies that make up the requirement, from the mildest to the strictest.
    pub fn policies(self) -> Vec<DecisionPolicy> {
        let asked =
            [DecisionPolicy::NotRequester, DecisionPolicy::Two, DecisionPolicy::Owner].into_iter();
        let asked: Vec<_> = asked.filter(|policy| self.and(*policy) == self).collect();
        if asked.is_empty() { vec![DecisionPolicy::Any] } else { asked }
    }

    /// Returns the strictest policy of the requirement.
    pub fn strictest(self) -> DecisionPolicy {
        self.policies().last().copied().unwrap_or_default()
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(super) fn is_any(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the number of people who must accept.
    pub fn need(self) -> u32 {
        self.need
    }

    /// Returns the number of permitted people that must exist for any requester.
    pub fn people(self) -> usize {
        self.need as usize + usize::from(self.others_only)
    }

    /// Returns the action those people must be permitted to do.
    pub fn action(self) -> Action {
        if self.owners_only { Action::Overrule } else { Action::Decide }
    }

    /// Returns `true` if `who` may decide a request of `requester` in `document`.
    pub fn admits(
        self,
        who: &Principal,
        requester: &UserId,
        document: Option<&DocumentId>,
    ) -> bool {
        who.may(Action::Decide, document)
            && who.may(self.action(), document)
            && !(self.others_only && who.is(requester))
    }
}

/// Stricter policy for some requests, in `document:settings`. All that apply to a request hold:
/// with `not_requester`, `two` and `owner`, two owners other than the requester decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "wire", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields))]
#[serde(deny_unknown_fields)]
pub struct ToolPolicy {
    /// Only requests of this tool; missing: every tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only requests that delete and insert more than this many UTF-16 code units together;
    /// missing: every size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<usize>,
    /// Only changes that alter one of these kinds of facts, each on its own; missing: all changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<Vec<MarkKind>>,
    /// Policy that says who may decide them.
    pub policy: DecisionPolicy,
}

impl ToolPolicy {
    /// Returns `true` if the policy is for this change. A change of unknown size counts as large.
    fn is_for(&self, matter: &RuleSubject) -> bool {
        let is_marked = |kinds: &Vec<MarkKind>| kinds.iter().any(|it| matter.marks.contains(it));
        self.marks.as_ref().is_none_or(is_marked)
            && self.tool.as_ref().is_none_or(|tool| matter.tools.is_meant(tool, matter.tool))
            && self.over.is_none_or(|over| matter.units.is_none_or(|units| units > over))
    }
}

impl DecisionPolicy {
    /// Returns the requirement of one change where `others` may tighten the document's policy.
    pub fn of(self, matter: &RuleSubject, others: &[ToolPolicy]) -> ApprovalRequirement {
        let matching = others.iter().filter(|other| other.is_for(matter));
        matching.map(|other| other.policy).chain([self]).collect()
    }

    /// Returns every requirement that requests can have under these settings, at any size.
    pub fn at_most(self, others: &[ToolPolicy], tools: &ToolCatalog) -> Vec<ApprovalRequirement> {
        let names = others.iter().map(|other| other.tool.as_ref()).chain([None]);
        let for_tool = |tool: Option<&String>| {
            let is_for = |it: &&ToolPolicy| {
                let meant = it.tool.as_ref();
                meant.is_none_or(|meant| tool.is_some_and(|tool| tools.is_meant(meant, tool)))
            };
            let matching = others.iter().filter(is_for);
            matching.map(|other| other.policy).chain([self]).collect()
        };
        names.map(for_tool).collect()
    }
}

/// Vote to accept, where one is not enough. Only votes for equal text count together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// Person who voted.
    pub by: Person,
    /// Time of the vote, in milliseconds since 1970.
    pub at_ms: u64,
    /// Text to put in place of the proposed one (or the input to run instead, as JSON).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Changed words that the vote permits to overwrite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// Remembered rule that voted in place of `by`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    /// Rule that `by` wished for with the vote; it is made if the vote leads to an acceptance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wish: Option<RuleId>,
    /// Requirement when the vote was given, beyond what the request takes as it was proposed.
    #[serde(default, skip_serializing_if = "ApprovalRequirement::is_any")]
    pub under: ApprovalRequirement,
}

impl Vote {
    fn agrees(&self, other: &Self) -> bool {
        self.text == other.text && self.seen == other.seen
    }
}

/// Adds a vote in place of an earlier one of the same person, and returns the number of votes that
/// agree with it. Votes for the same text under a milder requirement are dropped.
pub(super) fn cast(votes: &mut Vec<Vote>, vote: &Vote, policy: ApprovalRequirement) -> u32 {
    let takes = policy.with(vote.under);
    let is_milder = |v: &Vote| v.agrees(vote) && !policy.with(v.under).includes(takes);
    votes.retain(|v| v.by.user != vote.by.user && !is_milder(v));
    votes.push(vote.clone());
    votes.iter().filter(|v| v.agrees(vote)).count() as u32
}

pub(super) fn agreeing(votes: &[&Vote]) -> (u32, ApprovalRequirement) {
    let agreeing = |vote: &Vote| votes.iter().filter(|other| other.agrees(vote)).count() as u32;
    let most = votes.iter().map(|vote| (agreeing(vote), vote.under));
    most.max_by_key(|(count, _)| *count).unwrap_or_default()
}

/// Number of votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "wire", derive(schemars::JsonSchema), schemars(rename = "Approvals"))]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "Approvals"))]
pub struct VoteCount {
    /// People who approved.
    pub have: u32,
    /// People who are needed.
    pub need: u32,
}
