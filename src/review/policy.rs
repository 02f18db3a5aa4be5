//! Who may decide, and how many must agree.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Person, Request};
use crate::ids::{DocumentId, RuleId, UserId};
use crate::who::{Action, Principal};

/// Who may decide the requests of a document, from the mildest to the strictest.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Any editor or reviewer.
    #[default]
    Any,
    /// Any editor or reviewer but the one who asked.
    NotRequester,
    /// Two different people; the one who asked may be one of them.
    Two,
    /// An owner.
    Owner,
}

impl Policy {
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

    /// How many people must say yes.
    pub fn need(self) -> u32 {
        match self {
            Self::Any | Self::NotRequester | Self::Owner => 1,
            Self::Two => 2,
        }
    }

    /// Whether `who` may decide what `requester` asked for in `document`.
    pub fn admits(
        self,
        who: &Principal,
        requester: &UserId,
        document: Option<&DocumentId>,
    ) -> bool {
        who.may(Action::Decide, document)
            && match self {
                Self::Any | Self::Two => true,
                Self::NotRequester => who.user != *requester,
                Self::Owner => who.may(Action::Overrule, document),
            }
    }
}

/// A stricter policy for some requests: those of one tool, those over a size, or both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolPolicy {
    /// Only requests of this tool; `None`: of every tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only requests of more than this many [units](Request::units); `None`: of every size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<usize>,
    /// Who may decide those.
    pub policy: Policy,
}

impl ToolPolicy {
    /// Whether it speaks of a request. One whose size nobody can tell counts as large.
    fn is_for(&self, request: &Request) -> bool {
        self.tool.as_ref().is_none_or(|tool| *tool == request.proposal.tool)
            && self.over.is_none_or(|over| request.units().is_none_or(|units| units > over))
    }
}

impl Policy {
    /// The policy for one request where `self` is the document's and `others` may tighten it: the strictest wins.
    #[must_use]
    pub fn of(self, request: &Request, others: &[ToolPolicy]) -> Self {
        let matching = others.iter().filter(|other| other.is_for(request));
        matching.map(|other| other.policy).fold(self, Self::max)
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
    /// The changed words it may overwrite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// The remembered rule that gave it in their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
}

impl Vote {
    fn agrees(&self, other: &Self) -> bool {
        self.text == other.text && self.seen == other.seen
    }
}

/// Adds a vote, in place of an earlier one of the same person; returns how many agree with it.
pub(super) fn cast(votes: &mut Vec<Vote>, vote: &Vote) -> u32 {
    votes.retain(|v| v.by.user != vote.by.user);
    votes.push(vote.clone());
    votes.iter().filter(|v| v.agrees(vote)).count() as u32
}

/// The greatest number of votes that agree.
pub(super) fn agreeing(votes: &[Vote]) -> u32 {
    let counts = votes.iter().map(|v| votes.iter().filter(|w| w.agrees(v)).count());
    counts.max().unwrap_or_default() as u32
}

impl Request {
    /// Who has voted, where one vote is not enough; somebody may be named more than once.
    pub fn voters(&self) -> impl Iterator<Item = &UserId> {
        let on_hunks =
            self.hunks.iter().filter(|hunk| hunk.status.is_open()).flat_map(|h| &h.votes);
        self.votes.iter().chain(on_hunks).map(|vote| &vote.by.user)
    }

    /// Takes back the votes of people who may no longer decide; returns who they are. What two people decided together
    /// before stays decided.
    pub fn keep_votes(&mut self, may: impl Fn(&UserId) -> bool) -> BTreeSet<UserId> {
        let lost: BTreeSet<_> = self.voters().filter(|user| !may(user)).cloned().collect();
        self.votes.retain(|vote| !lost.contains(&vote.by.user));
        for hunk in self.hunks.iter_mut().filter(|hunk| hunk.status.is_open()) {
            hunk.votes.retain(|vote| !lost.contains(&vote.by.user));
        }
        lost
    }
}

/// How many people said yes, and how many must.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Votes {
    /// People who said yes to every change that is still open.
    pub have: u32,
    /// People needed.
    pub need: u32,
}
