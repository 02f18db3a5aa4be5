//! Who wrote every span of a text, followed through its updates.
//!
//! The log with its authors and origins is the truth; this is worked out from it, when somebody
//! asks ([`replay`]), so a keystroke pays nothing. The rules:
//!
//! - Words belong to whoever typed them, dated to the minute; words a request put in belong to the
//!   AI, with the request, the change and the person who let it in.
//! - Deleting and moving past words changes nothing about those that stay: spans are trimmed, split
//!   and joined again.
//! - **Words that come back belong to whoever wrote them before.** Undoing an accept, and restoring
//!   an old version, put back words that had stood there; such an update says so
//!   ([`PlacementOrigin::Stood`]), and never makes them the undoer's. That is said by the update,
//!   not guessed from equal text: whoever types somebody's words again has written them.

mod replay;
mod runs;

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::ids::{HunkId, RequestId, RuleId, UserId, Version};

use super::change_set::{ChangeError, ChangeSet};

pub use replay::{ProvenanceReplay, ReplayEntry};

use runs::{SourceRun, SourceRuns};

/// Milliseconds to which typing is dated, so that what is typed in one go is one span.
const MINUTE_MS: u64 = 60_000;

/// Where words come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanSource {
    /// The text the document was created with.
    Beginning,
    /// A person wrote them.
    Person {
        /// Who.
        user: UserId,
        /// The minute, in milliseconds since 1970.
        at_ms: u64,
    },
    /// An AI wrote them and a person let them in.
    Request {
        /// The request they came from.
        request: RequestId,
        /// Which of its changes, if that is known.
        hunk: Option<HunkId>,
        /// Whether a person put other words in place of the proposed ones before they went in.
        edited: bool,
        /// Whom the AI wrote for, if that is known.
        requester: Option<UserId>,
        /// Who let them in; nobody where approvals are off.
        approver: Option<UserId>,
        /// The rule that let them in, in the approver's place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<RuleId>,
        /// When, in milliseconds since 1970.
        at_ms: u64,
    },
}

/// What an update of the server put into the text, as it is kept beside the update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdatePlacements {
    /// What the update did.
    pub act: ServerAct,
    /// Whom the AI wrote for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester: Option<UserId>,
    /// Whether nobody was asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unasked: bool,
    /// The rule that accepted, in the author's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleId>,
    /// From left to right; what is not covered is the author's own.
    pub placed: Vec<WordPlacement>,
}

/// What an update of the server did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerAct {
    /// Changes of a request were accepted.
    Accepted,
    /// Accepted changes were taken back.
    TakenBack,
    /// The text became again what it was at this version.
    Restored(Version),
}

/// Words that an update of the server put into the text, in positions of the text after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordPlacement {
    /// First unit.
    pub from: usize,
    /// One past the last; equal to `from` where words were only taken out.
    pub to: usize,
    /// Which change of a request put them there, or took back what it had put there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk: Option<HunkId>,
    /// Why they are there.
    pub origin: PlacementOrigin,
}

/// Why words were put into the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlacementOrigin {
    /// They were proposed, and accepted.
    Proposed,
    /// A person put them in place of the proposed ones.
    Edited,
    /// They come back.
    Stood(FormerPlace),
}

/// Where words stood before they were taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerPlace {
    /// The version.
    pub version: Version,
    /// The first unit in its text.
    pub at: usize,
}

/// A stretch of text with one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpan {
    /// First unit.
    pub from: usize,
    /// One past the last.
    pub to: usize,
    /// Where its words come from.
    pub source: SpanSource,
}

/// Where every unit of a text comes from.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    runs: SourceRuns,
    sources: Vec<SpanSource>,
    numbers: HashMap<SpanSource, u32>,
}

/// As it is kept: lengths and sources.
#[derive(Serialize, Deserialize)]
struct StoredSources {
    sources: Vec<SpanSource>,
    runs: Vec<(u32, u32)>,
}

/// Words that an update puts in, from left to right.
struct InsertedWords {
    from: usize,
    runs: Vec<SourceRun>,
}

impl Provenance {
    /// Of a text of `len` units as the document was created with it.
    pub fn beginning(len: usize) -> Self {
        let mut new = Self::default();
        let source = new.number(SpanSource::Beginning);
        new.runs.splice(0..0, &[SourceRun { len: len as u32, source }]);
        new
    }

    /// Length of the text.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The spans of a range, from left to right; neighbours have different sources. Nothing outside
    /// the text.
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

    /// As JSON, to be kept; only the sources that are still in the text.
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
        // Strings and numbers: nothing that cannot be written.
        serde_json::to_string(&kept).unwrap_or_default()
    }

    /// Reads what [`Self::to_json`] wrote.
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

    /// Follows one update: `author` wrote what it inserts, but for `words`. Gives how many of these
    /// it does insert.
    fn follow(
        &mut self,
        change: &ChangeSet,
        author: SpanSource,
        words: &[InsertedWords],
    ) -> Result<usize, ChangeError> {
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
    /// A person who types at a time.
    pub fn person(user: &UserId, at_ms: u64) -> Self {
        Self::Person { user: user.clone(), at_ms: at_ms - at_ms % MINUTE_MS }
    }
}

#[cfg(test)]
mod tests;
