//! The smallest change a person accepts or rejects: a few words that change together.

use serde::{Deserialize, Serialize};

use super::{
    ApprovalRequirement, DraftPart, HunkDraft, HunkKind, HunkReason, Mark, MarkKind, Person,
    SuggestedHunk, Vote,
};
use copydesk_document::provenance::FormerPlace;
use copydesk_document::{PositionError, Text};
use copydesk_ids::{HunkId, RequestId, RuleId, UserId};
use copydesk_macros::names;

/// A replacement of words in a [`Hunk`], in UTF-16 units of the request's version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkPart {
    /// First unit to replace.
    pub from: usize,
    /// End of the range to replace, exclusive; equal to `from` where words are only added.
    pub to: usize,
    /// Words in the range when the change was proposed, and now unless the part is in conflict.
    pub base: String,
    /// Words to put in the range.
    pub insert: String,
    /// `true` if the words to replace were changed, or the place for the insertion was removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conflict: bool,
    /// Former place of the words, for a part that would undo an accepted one, so that they are
    /// credited to their earlier author again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stood: Option<FormerPlace>,
    /// Number of the place among all that the request changes, from 1 in the order of the text; 0
    /// where the hunks are in that order. Words put in at one place are in this order.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rank: u32,
}

impl HunkPart {
    /// Returns `true` if the part only adds words.
    pub fn is_insertion(&self) -> bool {
        self.base.is_empty()
    }

    pub(super) fn is_gone(&self) -> bool {
        !self.base.is_empty() && self.from == self.to
    }
}

impl From<DraftPart> for HunkPart {
    fn from(DraftPart { from, to, base, insert }: DraftPart) -> Self {
        Self { from, to, base, insert, conflict: false, stood: None, rank: 0 }
    }
}

/// Status of a hunk.
#[names(Hash, Deserialize, Serialize, wire, lowercase)]
pub enum HunkStatus {
    /// The model is still writing it.
    Streaming,
    /// The request waits for people.
    Pending,
    /// The words to replace were changed; it can be accepted with `force` and `seen`.
    Conflict,
    /// The words to replace are gone.
    Obsolete,
    /// The change is in the text.
    Accepted,
    /// The change was rejected.
    Rejected,
    /// No decision was made in time.
    Expired,
}

impl HunkStatus {
    /// Returns `true` while the hunk can still be decided.
    pub fn is_open(self) -> bool {
        match self {
            Self::Streaming | Self::Pending | Self::Conflict => true,
            Self::Obsolete | Self::Accepted | Self::Rejected | Self::Expired => false,
        }
    }
}

/// Decision on a [`Hunk`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkDecision {
    /// Person who decided; where several votes are needed, the one who gave the last.
    pub by: Person,
    /// Time of the decision, in milliseconds since 1970.
    pub at_ms: u64,
    /// Text that was put in place of the proposed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Changed words that the decision overwrote by force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced_over: Option<String>,
    /// Remembered rule that decided in place of `by`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    /// Reason that was given for a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

/// A few words that change together, as a list of [`HunkPart`]s.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Unique within its document.
    pub id: HunkId,
    /// Replacements from left to right, in positions of the request's version or of the acceptance.
    pub parts: Vec<HunkPart>,
    /// Current status.
    pub status: HunkStatus,
    /// Reason for the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<HunkReason>,
    /// Explanation that the model gives for this change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// Decision on the hunk, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<HunkDecision>,
    /// Votes for the hunk, where one is not enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// Texts between the parts when the hunk was proposed; empty if the hunk is moved, because what
    /// is between its places is not its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
    /// Texts just before and after the hunk when it was proposed, or around a moved one's removed
    /// words.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub around: (String, String),
    /// Parts that would undo the hunk once it is accepted; rebased like the parts of an open hunk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inverse: Vec<HunkPart>,
    /// Kind of the change, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<HunkKind>,
    /// Facts that the change alters; `None`: not worked out, of a hunk that is not in a request or
    /// was stored by an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<Vec<Mark>>,
    /// Kinds of the marks of the hunk that this one was a part of, before the split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks_of_whole: Vec<MarkKind>,
    /// Requirement as of now for accepting this hunk, if its marks take more than the request does;
    /// else the default.
    #[serde(default, skip_serializing_if = "ApprovalRequirement::is_any")]
    pub required: ApprovalRequirement,
    /// Number of the changed paragraph that the hunk is in, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// Hunk of several parts that this one was a part of, before the split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_of: Option<HunkId>,
    /// Text between this part and the next one of the hunk that was split, when it was proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_gap: Option<String>,
    /// People who put the hunk at the end of their own list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deferred_by: Vec<UserId>,
    /// Facts about a hunk that a person suggests; `None`: the hunk of another request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested: Option<SuggestedHunk>,
}

impl Hunk {
    /// Creates a hunk as proposed on `base`; `number` counts from 1 within the request.
    pub fn new(
        request: &RequestId,
        number: usize,
        draft: HunkDraft,
        base: &Text,
    ) -> Result<Self, PositionError> {
        let HunkDraft { parts, explanation, kind, group } = draft;
        let parts: Vec<HunkPart> = parts.into_iter().map(HunkPart::from).collect();
        let is_moved = kind == Some(HunkKind::Moved);
        let gaps = parts.windows(2).map(|pair| {
            if is_moved { Ok(String::new()) } else { base.slice(pair[0].to..pair[1].from) }
        });
        let gaps = gaps.collect::<Result<_, _>>()?;
        let removed = parts.iter().find(|part| is_moved && !part.is_insertion());
        let (first, last) = (removed.or(parts.first()), removed.or(parts.last()));
        let range = first.map_or(0, |p| p.from)..last.map_or(0, |p| p.to);
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
            kind,
            marks: None,
            marks_of_whole: Vec::new(),
            required: ApprovalRequirement::default(),
            group,
            split_of: None,
            split_gap: None,
            deferred_by: Vec::new(),
            suggested: None,
        })
    }

    /// Returns `true` if the hunk takes words from one place to another, perhaps past other hunks.
    pub fn is_moved(&self) -> bool {
        self.kind == Some(HunkKind::Moved)
    }

    /// Returns the words of `text` in the range of the hunk, or in its parts if it is moved.
    pub fn standing(&self, text: &Text) -> Result<String, PositionError> {
        if self.is_moved() {
            self.parts.iter().map(|part| text.slice(part.from..part.to)).collect()
        } else {
            text.slice(self.range())
        }
    }

    /// Returns the range from the first part to the last; of a moved hunk with words not its own.
    pub fn range(&self) -> std::ops::Range<usize> {
        let from = self.parts.first().map_or(0, |p| p.from);
        from..self.parts.last().map_or(from, |p| p.to).max(from)
    }

    /// Returns the text of the range when the hunk was proposed; if it is moved, the removed words.
    pub fn base(&self) -> String {
        self.with_gaps(|part| &part.base)
    }

    /// Returns the text of the range after an acceptance, or the words that a moved hunk puts in.
    pub fn proposed(&self) -> String {
        self.with_gaps(|part| &part.insert)
    }

    /// Returns `true` if accepting the hunk as proposed puts `text` in its range. With force over
    /// changed words this is known only for a single part, whose range is all that is overwritten.
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(rank: &u32) -> bool {
    *rank == 0
}
