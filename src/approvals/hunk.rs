//! The smallest thing a person accepts or rejects: a few words that change together.

use serde::{Deserialize, Serialize};

use super::{DraftPart, HunkDraft, Person, Vote};
use crate::document::provenance::FormerPlace;
use crate::document::{PositionError, Text};
use crate::ids::{HunkId, RequestId, RuleId};

/// A replacement of words, in UTF-16 units of the request's version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkPart {
    /// First unit to replace.
    pub from: usize,
    /// One past the last; equal to `from` where words are only added.
    pub to: usize,
    /// The words that stood there when this was proposed. While the part is not in conflict, they still do.
    pub base: String,
    /// The words that shall stand there.
    pub insert: String,
    /// Whether somebody changed the words it would replace, or removed the place it would go.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conflict: bool,
    /// Of a part that would take an accept back: where its words stood before, so that they go back to whoever wrote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stood: Option<FormerPlace>,
}

impl HunkPart {
    /// Whether it only adds words.
    pub fn is_insertion(&self) -> bool {
        self.base.is_empty()
    }

    /// Whether all the words it would replace were deleted.
    pub(super) fn is_gone(&self) -> bool {
        !self.base.is_empty() && self.from == self.to
    }
}

impl From<DraftPart> for HunkPart {
    fn from(DraftPart { from, to, base, insert }: DraftPart) -> Self {
        Self { from, to, base, insert, conflict: false, stood: None }
    }
}

/// Where a hunk is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HunkStatus {
    /// The model still writes it.
    Streaming,
    /// People can decide.
    Pending,
    /// Somebody changed the words it would replace; accepting it needs force.
    Conflict,
    /// The words it would replace are gone.
    Obsolete,
    /// In the text.
    Accepted,
    /// Refused.
    Rejected,
    /// Nobody decided in time.
    Expired,
}

impl HunkStatus {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Streaming => "streaming",
            Self::Pending => "pending",
            Self::Conflict => "conflict",
            Self::Obsolete => "obsolete",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
        }
    }

    /// Whether it can still be decided.
    pub fn is_open(self) -> bool {
        match self {
            Self::Streaming | Self::Pending | Self::Conflict => true,
            Self::Obsolete | Self::Accepted | Self::Rejected | Self::Expired => false,
        }
    }
}

/// How a hunk was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkDecision {
    /// By whom; with two votes, by whoever gave the second.
    pub by: Person,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// The text that was put there instead of the proposed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The words it overwrote although they had been changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced_over: Option<String>,
    /// The remembered rule that decided in their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
}

/// A few words that change together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Unique within its document.
    pub id: HunkId,
    /// What changes, left to right; positions are of the request's version. Once accepted, they stay what they were then.
    pub parts: Vec<HunkPart>,
    /// Where it is in its life.
    pub status: HunkStatus,
    /// Why it is in that state, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the model says about this change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// How it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<HunkDecision>,
    /// People who want it accepted, where one is not enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// What stood between its parts when it was proposed; one fewer than there are parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
    /// What stood before and after it when it was proposed, a little of each.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub around: (String, String),
    /// Once accepted: the parts that would take it back, kept true like the parts of an open hunk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inverse: Vec<HunkPart>,
}

impl Hunk {
    /// A hunk as proposed on `base`; `number` counts from 1 within the request.
    pub fn new(
        request: &RequestId,
        number: usize,
        draft: HunkDraft,
        base: &Text,
    ) -> Result<Self, PositionError> {
        let HunkDraft { parts, explanation } = draft;
        let parts: Vec<HunkPart> = parts.into_iter().map(HunkPart::from).collect();
        let gaps = parts.windows(2).map(|pair| base.slice(pair[0].to..pair[1].from));
        let gaps = gaps.collect::<Result<_, _>>()?;
        let range = parts.first().map_or(0, |p| p.from)..parts.last().map_or(0, |p| p.to);
        let around = Self::around(base, &range);
        Ok(Self {
            id: HunkId::from(format!("{request}.{number}")),
            parts,
            status: HunkStatus::Pending,
            reason: None,
            explanation,
            decided: None,
            votes: Vec::new(),
            gaps,
            around,
            inverse: Vec::new(),
        })
    }

    /// From its first `from` to its last `to`.
    pub fn range(&self) -> std::ops::Range<usize> {
        let from = self.parts.first().map_or(0, |p| p.from);
        from..self.parts.last().map_or(from, |p| p.to).max(from)
    }

    /// What stood in its range when it was proposed.
    pub fn base(&self) -> String {
        self.with_gaps(|part| &part.base)
    }

    /// What would stand in its range.
    pub fn proposed(&self) -> String {
        self.with_gaps(|part| &part.insert)
    }

    /// Whether accepting it as it is puts `text` there. Over words that changed that is only known of a single part, whose place is
    /// all that is overwritten.
    pub(super) fn would_read(&self, text: &str, force: bool) -> bool {
        (!force || self.parts.len() == 1) && self.proposed() == text
    }

    fn with_gaps<'a>(&'a self, words: impl Fn(&'a HunkPart) -> &'a str) -> String {
        let gaps = self.gaps.iter().map(String::as_str).chain(std::iter::once(""));
        self.parts.iter().zip(gaps).flat_map(|(part, gap)| [words(part), gap]).collect()
    }
}

fn is_nothing((before, after): &(String, String)) -> bool {
    before.is_empty() && after.is_empty()
}
