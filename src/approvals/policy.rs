//! Who may decide, and how many must agree.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::rule::is_meant;
use super::{ApprovalRequest, DecisionRequirements, Person, ProposedCall, RuleSubject};
use crate::ids::{DocumentId, RuleId, UserId};
use crate::permissions::{Action, Principal};

/// Who may decide the requests of a document, from the mildest to the strictest.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum DecisionPolicy {
    /// Any editor or reviewer.
    #[default]
    Any,
    /// Any editor or reviewer but the one who asked.
    NotRequester,
    /// Two different people; the one who asked may be one of them, unless another policy says otherwise.
    Two,
    /// An owner.
    Owner,
}

impl DecisionPolicy {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::NotRequester => "not_requester",
            Self::Two => "two",
            Self::Owner => "owner",
        }
    }

    /// The policy of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Any, Self::NotRequester, Self::Two, Self::Owner]
            .into_iter()
            .find(|policy| policy.as_str() == name)
    }
}

/// What it takes to decide one request: all policies that are said for it, together. Each of them holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "StoredRequirement", into = "StoredRequirement")]
pub struct ApprovalRequirement {
    need: u32,
    others_only: bool,
    owners_only: bool,
}

/// A consent as it is kept: one policy by its name, as ever; several as a list.
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
    /// What this and a policy ask for.
    #[must_use]
    pub fn and(self, policy: DecisionPolicy) -> Self {
        let other = Self::from(policy);
        Self {
            need: self.need.max(other.need),
            others_only: self.others_only || other.others_only,
            owners_only: self.owners_only || other.owners_only,
        }
    }

    /// What this and another consent ask for.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        other.policies().into_iter().fold(self, Self::and)
    }

    /// This, or nothing where `other` asks for all of it.
    #[must_use]
    pub fn beyond(self, other: Self) -> Self {
        if other.includes(self) { Self::default() } else { self }
    }

    /// Whether this asks for all that `other` asks for.
    pub fn includes(self, other: Self) -> bool {
        self.with(other) == self
    }

    /// The policies that say this together, from the mildest to the strictest.
    pub fn policies(self) -> Vec<DecisionPolicy> {
        let asked =
            [DecisionPolicy::NotRequester, DecisionPolicy::Two, DecisionPolicy::Owner].into_iter();
        let asked: Vec<_> = asked.filter(|policy| self.and(*policy) == self).collect();
        if asked.is_empty() { vec![DecisionPolicy::Any] } else { asked }
    }

    /// The strictest of them.
    pub fn strictest(self) -> DecisionPolicy {
        self.policies().last().copied().unwrap_or_default()
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_any(&self) -> bool {
        *self == Self::default()
    }

    /// How many people must say yes.
    pub fn need(self) -> u32 {
        self.need
    }

    /// How many people there must be who could, so that there are enough whoever asks.
    pub fn people(self) -> usize {
        self.need as usize + usize::from(self.others_only)
    }

    /// What those people must be able to do.
    pub fn action(self) -> Action {
        if self.owners_only { Action::Overrule } else { Action::Decide }
    }

    /// Whether `who` may decide what `requester` asked for in `document`.
    pub fn admits(
        self,
        who: &Principal,
        requester: &UserId,
        document: Option<&DocumentId>,
    ) -> bool {
        who.may(Action::Decide, document)
            && who.may(self.action(), document)
            && !(self.others_only && who.user == *requester)
    }
}

/// A stricter policy for some requests: those of one tool, those over a size, or both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolPolicy {
    /// Only requests of this tool; `None`: of every tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only requests of more than this many [units](ApprovalRequest::units); `None`: of every size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<usize>,
    /// Who may decide those.
    pub policy: DecisionPolicy,
}

impl ToolPolicy {
    /// Whether it speaks of a change. One whose size nobody can tell counts as large.
    fn is_for(&self, matter: &RuleSubject) -> bool {
        self.tool.as_ref().is_none_or(|tool| is_meant(tool, matter.tool))
            && self.over.is_none_or(|over| matter.units.is_none_or(|units| units > over))
    }
}

impl DecisionPolicy {
    /// What one change takes where `self` is the document's policy and `others` may tighten it.
    pub fn of(self, matter: &RuleSubject, others: &[ToolPolicy]) -> ApprovalRequirement {
        let matching = others.iter().filter(|other| other.is_for(matter));
        matching.map(|other| other.policy).chain([self]).collect()
    }

    /// Everything that requests can take by the same settings: those of each tool that is named, and of all others,
    /// however large they are.
    pub fn at_most(self, others: &[ToolPolicy]) -> Vec<ApprovalRequirement> {
        let tools = others.iter().map(|other| other.tool.as_ref()).chain([None]);
        let for_tool = |tool: Option<&String>| {
            let is_for = |it: &&ToolPolicy| {
                let named = it.tool.as_ref();
                named.is_none_or(|named| tool.is_some_and(|tool| is_meant(named, tool)))
            };
            let matching = others.iter().filter(is_for);
            matching.map(|other| other.policy).chain([self]).collect()
        };
        tools.map(for_tool).collect()
    }
}

/// A wish to accept, where one is not enough. Wishes count together only if they are for the same text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// Whose it is.
    pub by: Person,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// The text to put there instead of the proposed one (or the input to run instead, as JSON).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The changed words it may overwrite (or what tells the content of the file that an edited input would change).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// The remembered rule that gave it in their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    /// What it took when it was given, beyond what the request takes as it was proposed.
    #[serde(default, skip_serializing_if = "ApprovalRequirement::is_any")]
    pub under: ApprovalRequirement,
}

impl Vote {
    fn agrees(&self, other: &Self) -> bool {
        self.text == other.text && self.seen == other.seen
    }
}

/// Adds a vote, in place of an earlier one of the same person; returns how many agree with it. Votes for the same text that were
/// given when it took less count no more; `policy` is what the request takes as it was proposed.
pub(super) fn cast(votes: &mut Vec<Vote>, vote: &Vote, policy: ApprovalRequirement) -> u32 {
    let takes = policy.with(vote.under);
    let is_milder = |v: &Vote| v.agrees(vote) && !policy.with(v.under).includes(takes);
    votes.retain(|v| v.by.user != vote.by.user && !is_milder(v));
    votes.push(vote.clone());
    votes.iter().filter(|v| v.agrees(vote)).count() as u32
}

/// The most votes that agree, and what one of them was given under.
pub(super) fn agreeing(votes: &[Vote]) -> (u32, ApprovalRequirement) {
    let agreeing = |vote: &Vote| votes.iter().filter(|other| other.agrees(vote)).count() as u32;
    let most = votes.iter().map(|vote| (agreeing(vote), vote.under));
    most.max_by_key(|(count, _)| *count).unwrap_or_default()
}

impl ApprovalRequest {
    /// The votes on what is open, where one is not enough.
    fn open_votes(&self) -> impl Iterator<Item = &Vote> {
        let on_hunks =
            self.hunks.iter().filter(|hunk| hunk.status.is_open()).flat_map(|h| &h.votes);
        self.votes.iter().chain(on_hunks)
    }

    /// Who has voted, where one vote is not enough; somebody may be named more than once.
    pub fn voters(&self) -> impl Iterator<Item = &UserId> {
        self.open_votes().map(|vote| &vote.by.user)
    }

    /// Who has voted and may no longer decide what they voted for. `people` are all who hold a good token now.
    pub fn lost_voters(&self, people: &[Principal]) -> BTreeSet<UserId> {
        let ProposedCall { policy, requester, document, .. } = &self.proposal;
        let may = |vote: &&Vote| {
            let takes = policy.with(vote.under);
            people.iter().any(|who| {
                who.user == vote.by.user
                    && self.check_allowed(who).is_ok()
                    && takes.admits(who, &requester.user, document.as_ref())
            })
        };
        self.open_votes().filter(|vote| !may(vote)).map(|vote| vote.by.user.clone()).collect()
    }

    /// Takes what today's settings ask for, whatever it took before.
    pub fn set_policy(&mut self, requirements: &DecisionRequirements) {
        (self.proposal.policy, self.required) = self.judge(requirements);
    }

    /// Is decided by other policies from now on. Votes that are enough by them are cleared, for nobody meant theirs to be the
    /// last word: whoever still wants it says so once more.
    pub fn follow_policy(&mut self, requirements: &DecisionRequirements) {
        self.set_policy(requirements);
        let policy = self.proposal.policy;
        let open = self.hunks.iter_mut().filter(|hunk| hunk.status.is_open());
        for votes in open.map(|hunk| &mut hunk.votes).chain([&mut self.votes]) {
            let (have, under) = agreeing(votes);
            if have >= policy.with(under).need() {
                votes.clear();
            }
        }
    }

    /// Takes back the votes of people who may no longer decide; returns who they are. What two people decided together
    /// before stays decided.
    pub fn keep_votes(&mut self, people: &[Principal]) -> BTreeSet<UserId> {
        let lost = self.lost_voters(people);
        self.votes.retain(|vote| !lost.contains(&vote.by.user));
        for hunk in self.hunks.iter_mut().filter(|hunk| hunk.status.is_open()) {
            hunk.votes.retain(|vote| !lost.contains(&vote.by.user));
        }
        lost
    }
}

/// How many people said yes, and how many must.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteCount {
    /// People who said yes to every change that is still open.
    pub have: u32,
    /// People needed.
    pub need: u32,
}
