//! Changes as they are proposed, and the limits on the cost of finding them.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use copydesk_macros::names;

use crate::TextEdit;

/// Limits on the cost of [`diff`](super::diff).
#[derive(Clone, Copy, Debug, Default)]
pub struct DiffLimits {
    /// Time at which to stop looking for small changes; what is not compared by then becomes one
    /// large change. Only for long texts. `None`: compare to the end, with equal hunks every time.
    pub deadline: Option<Instant>,
}

/// Length of both texts, in bytes of UTF-8, up to which no clock is asked. They take at most some
/// 30 ms.
const SHORT: usize = 64 * 1024;

impl DiffLimits {
    /// Returns the limits for two texts. The clock says nothing about short ones: on a busy machine
    /// a thread may wait for the processor until any deadline is over, and one large change would
    /// take the place of words that other people type meanwhile.
    pub(super) fn for_texts(self, old: &str, new: &str) -> Self {
        if old.len() + new.len() <= SHORT { Self { deadline: None } } else { self }
    }
}

/// One replacement of words in a [`HunkDraft`], in UTF-16 units of the old text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftPart {
    /// First unit to replace.
    pub from: usize,
    /// End of the range to replace, exclusive; equal to `from` where words are only added.
    pub to: usize,
    /// Words in the range.
    pub base: String,
    /// Words to put in the range.
    pub insert: String,
}

impl DraftPart {
    /// Returns this part and the next one, which is right behind it, as one.
    pub(super) fn joined(mut self, next: Self) -> Self {
        let Self { from: _, to, base, insert } = next;
        self.to = to;
        self.base += &base;
        self.insert += &insert;
        self
    }
}

impl From<DraftPart> for TextEdit {
    fn from(DraftPart { from, to, base: _, insert }: DraftPart) -> Self {
        Self { from, to, insert }
    }
}

/// Kind of a change, by what it does to the text.
#[names(Hash, Deserialize, Serialize, wire, lowercase)]
pub enum HunkKind {
    /// One or two words, or punctuation, became similar ones; the rest of the sentence stays.
    Correction,
    /// Words, sentences or paragraphs were replaced, added or removed.
    Rewrite,
    /// Words were removed in one place and put in at another one.
    Moved,
}

/// The smallest change a person accepts or rejects: parts in order, disjoint, at least one. Between
/// the parts of a moved hunk, those of other hunks may lie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkDraft {
    /// Parts that change together.
    pub parts: Vec<DraftPart>,
    /// Reason for this hunk, if one was given for it alone.
    pub explanation: Option<String>,
    /// Kind of the change, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<HunkKind>,
    /// Number of the changed paragraph that the hunk is in, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
}

impl From<Vec<DraftPart>> for HunkDraft {
    fn from(parts: Vec<DraftPart>) -> Self {
        Self { parts, explanation: None, kind: None, group: None }
    }
}
