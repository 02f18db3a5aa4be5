//! Provenance: the author of every range of a text, computed from the log on demand
//! ([`ProvenanceReplay`]).
//!
//! Words belong to the person who typed them, dated to the minute, or, if their request was
//! accepted, to the AI. **Words that come back belong to their earlier author:** undoing an accept,
//! and restoring an old version, put back words that had been there, as such an update states
//! ([`PlacementOrigin::Stood`]). Equal text is not a reason to guess it: a person who types
//! another's words again has written them.

mod replay;
mod runs;

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use copydesk_ids::{HunkId, RequestId, RuleId, UserId, Version};

use super::change_set::{ChangeResult, ChangeSet};

pub use replay::{ProvenanceReplay, ReplayEntry};

use runs::{SourceRun, SourceRuns};

/// Granularity of the time of typing, in milliseconds, so that continuous typing is one span.
const MINUTE_MS: u64 = 60_000;

/// Source of words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanSource {
    /// Text the document was created with.
    Beginning,
    /// A person wrote the words.
    Person {
        /// Person who wrote them.
        user: UserId,
        /// Minute in which they were written, in milliseconds since 1970.
        at_ms: u64,
    },
    /// An AI wrote the words, or a person suggested them, and a person accepted them.
    Request {
        /// Request they came from.
        request: RequestId,
        /// Hunk they came from, if known.
        hunk: Option<HunkId>,
        /// `true` if a person replaced the proposed words before they were accepted.
        edited: bool,
        /// Person who asked the AI or imported the suggestion, if known.
        requester: Option<UserId>,
        /// Author of the words as an imported file names them; they are no AI's then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claimed_author: Option<String>,
        /// `true` if the requester wrote the words, as a suggestion.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        suggested: bool,
        /// Person who accepted them; `None` where approvals are off.
        approver: Option<UserId>,
        /// Rule that accepted them, in the approver's place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<RuleId>,
        /// Time of the accept, in milliseconds since 1970.
        at_ms: u64,
    },
}

/// Words that an update of the server put into the text, as stored beside the update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdatePlacements {
    /// Kind of the update.
    pub act: ServerAct,
    /// Person who asked the AI or imported the suggestion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester: Option<UserId>,
    /// Author of the words as an imported file names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_author: Option<String>,
    /// `true` if the requester wrote the words, as a suggestion.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suggested: bool,
    /// `true` if no one was asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unasked: bool,
    /// Rule that accepted, in the author's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    /// Placements from left to right; words that none covers are the author's own.
    pub placed: Vec<WordPlacement>,
}

/// Kind of an update made by the server, in [`UpdatePlacements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerAct {
    /// Changes of a request were accepted.
    Accepted,
    /// Accepted changes were undone.
    TakenBack,
    /// The text of this version was restored.
    Restored(Version),
}

/// Words that an update of the server put into the text, in positions of the text after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordPlacement {
    /// First unit.
    pub from: usize,
    /// End of the range, exclusive; equal to `from` where words were only deleted.
    pub to: usize,
    /// Hunk of a request that put the words there, or whose earlier change the update undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk: Option<HunkId>,
    /// Reason for the words.
    pub origin: PlacementOrigin,
}

/// Reason why words were put into the text, in a [`WordPlacement`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlacementOrigin {
    /// The words were proposed and accepted.
    Proposed,
    /// A person put the words in place of the proposed ones.
    Edited,
    /// The words were in the text before, at this place.
    Stood(FormerPlace),
}

/// Place of words before they were deleted, for [`PlacementOrigin::Stood`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerPlace {
    /// Version in which they were in the text.
    pub version: Version,
    /// First unit in the text of that version.
    pub at: usize,
}

/// A range of text with one [`SpanSource`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpan {
    /// First unit.
    pub from: usize,
    /// End of the range, exclusive.
    pub to: usize,
    /// Source of the words.
    pub source: SpanSource,
}

/// [`SpanSource`] of every unit of a text.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    runs: SourceRuns,
    sources: Vec<SpanSource>,
    numbers: HashMap<SpanSource, u32>,
}

#[derive(Serialize, Deserialize)]
struct StoredSources {
    sources: Vec<SpanSource>,
    runs: Vec<(u32, u32)>,
}

/// Words that an update inserts, from left to right.
struct InsertedWords {
    from: usize,
    runs: Vec<SourceRun>,
}

impl Provenance {
    /// Returns the provenance of a text of `len` units that a document was created with.
    pub fn beginning(len: usize) -> Self {
        let mut new = Self::default();
        let source = new.number(SpanSource::Beginning);
        new.runs.splice(0..0, &[SourceRun { len: len as u32, source }]);
        new
    }

    /// Returns the length of the text.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns `true` if there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the spans of a range, from left to right; neighbours have different sources. Empty
    /// outside the text.
    pub fn spans(&self, range: Range<usize>) -> Vec<SourceSpan> {
        let mut from = range.start;
        let runs = self.runs.slice(range);
        let span = |SourceRun { len, source }: SourceRun| {
            let start = from;
            from += len as usize;
            SourceSpan { from: start, to: from, source: self.sources[source as usize].clone() }
        };
        runs.into_iter().map(span).collect()
    }

    /// Returns JSON for storage, with only the sources that are still in the text.
    pub fn to_json(&self) -> String {
        let mut kept = StoredSources { sources: Vec::new(), runs: Vec::new() };
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        for SourceRun { len, source } in self.runs.slice(0..self.len()) {
            let number = *numbers.entry(source).or_insert_with(|| {
                kept.sources.push(self.sources[source as usize].clone());
                kept.sources.len() as u32 - 1
            });
            kept.runs.push((len, number));
        }
        serde_json::to_string(&kept).unwrap_or_default()
    }

    /// Reads the JSON that [`Self::to_json`] wrote.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        let StoredSources { sources, runs } = serde_json::from_str(json)?;
        let mut read = Self::default();
        let numbers: Vec<u32> = sources.into_iter().map(|source| read.number(source)).collect();
        let run = |(len, source): (u32, u32)| {
            let source = numbers.get(source as usize).copied();
            source.map(|source| SourceRun { len, source })
        };
        let runs: Option<Vec<SourceRun>> = runs.into_iter().map(run).collect();
        let runs = runs.ok_or_else(|| serde::de::Error::custom("a run of an unknown source"))?;
        read.runs.splice(0..0, &runs);
        Ok(read)
    }

    /// Applies one update: `author` wrote its insertions, except `words`. Returns the number of
    /// `words` entries that the update does insert.
    fn follow(
        &mut self,
        change: &ChangeSet,
        author: SpanSource,
        words: &[InsertedWords],
    ) -> ChangeResult<usize> {
        change.starts_from(self.len())?;
        let author = self.number(author);
        let mut found = 0;
        for range in change.changed_ranges() {
            let mut new = Vec::new();
            let mut at = range.from_b;
            for words in words {
                let len: usize = words.runs.iter().map(|run| run.len as usize).sum();
                if words.from < at || words.from + len > range.to_b {
                    continue;
                }
                new.push(SourceRun { len: (words.from - at) as u32, source: author });
                new.extend_from_slice(&words.runs);
                at = words.from + len;
                found += 1;
            }
            new.push(SourceRun { len: (range.to_b - at) as u32, source: author });
            let replaced = range.from_b..range.from_b + (range.to_a - range.from_a);
            self.runs.splice(replaced, &new);
        }
        Ok(found)
    }

    fn number(&mut self, source: SpanSource) -> u32 {
        if let Some(&number) = self.numbers.get(&source) {
            return number;
        }
        let number = self.sources.len() as u32;
        self.sources.push(source.clone());
        self.numbers.insert(source, number);
        number
    }
}

impl PartialEq for Provenance {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.spans(0..self.len()) == other.spans(0..other.len())
    }
}

impl SpanSource {
    /// Returns the source for a person who types at `at_ms`.
    pub fn person(user: &UserId, at_ms: u64) -> Self {
        Self::Person { user: user.clone(), at_ms: at_ms - at_ms % MINUTE_MS }
    }
}

#[cfg(test)]
mod tests;
