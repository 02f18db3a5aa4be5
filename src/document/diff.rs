//! Text to text as changes a person wants to take one at a time: blocks, then sentences, then
//! words.
//!
//! The stages narrow down. Blocks (paragraphs, headings, list items, lines of code) that are equal
//! anchor the rest; what lies between is cut into sentences, aligned by likeness, and each pair is
//! compared word by word. Changes a word apart within a sentence make one [`HunkDraft`]; nothing
//! ever joins across the end of a sentence or a paragraph. A new paragraph is one change, and so is
//! one that goes away; a very long one is several, cut at the ends of sentences (`pieces`). A very
//! long sentence is cut at the best places there are (`seams`).
//!
//! Applying all hunks of [`diff`] gives exactly the new text. A deadline makes the result depend on
//! the clock, so compute it once and keep it. Long texts take milliseconds: run it on a blocking
//! thread.

mod align;
mod assemble;
mod blocks;
mod lcs;
mod passages;
mod pipeline;
mod sentence;
mod split_paragraphs;
mod split_points;
mod words;

#[cfg(test)]
mod quality;
#[cfg(test)]
mod tests;

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::TextEdit;

pub use passages::{ChangedPassage, common_ends, passages};

/// What the comparison may cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiffLimits {
    /// When to stop looking for small changes; what is not compared by then becomes one large
    /// change. `None`: look to the end, and give the same hunks every time.
    pub deadline: Option<Instant>,
}

/// One replacement of words, in UTF-16 units of the old text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftPart {
    /// First unit to replace.
    pub from: usize,
    /// One past the last; equal to `from` where words are only added.
    pub to: usize,
    /// The words that stand there.
    pub base: String,
    /// The words that shall stand there.
    pub insert: String,
}

impl From<DraftPart> for TextEdit {
    fn from(DraftPart { from, to, base: _, insert }: DraftPart) -> Self {
        Self { from, to, insert }
    }
}

/// The smallest thing a person accepts or rejects: parts in order, disjoint, at least one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkDraft {
    /// The words that change together.
    pub parts: Vec<DraftPart>,
    /// Why this one, if a reason was given for it alone.
    pub explanation: Option<String>,
}

impl From<Vec<DraftPart>> for HunkDraft {
    fn from(parts: Vec<DraftPart>) -> Self {
        Self { parts, explanation: None }
    }
}

/// The changes so far of a text that is still being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialDraft {
    /// Up to the last block that is complete. They can still change: what follows may show that a
    /// block became another one.
    pub hunks: Vec<HunkDraft>,
    /// How many blocks (paragraphs, headings, list items, lines of code) are complete.
    pub blocks: usize,
}

/// The changes that turn `old` into a text of which `written` is the beginning.
///
/// The last block may still grow and is left out, and what of `old` comes after is not taken for
/// removed.
pub fn diff_so_far(old: &str, written: &str, limits: &DiffLimits) -> PartialDraft {
    let blocks = blocks::blocks(written);
    let Some(last) = blocks.last() else { return PartialDraft::default() };
    let hunks = diff_whole(old, &written[..last.range.start], limits);
    let mut hunks =
        split_paragraphs::cut(split_paragraphs::SplitContext { before: "", old, after: "" }, hunks);
    // A removal is known for one only when something stands behind it again.
    let mut end = super::utf16_len(old);
    while let Some(part) = hunks.last_mut().and_then(|hunk| hunk.parts.last_mut()) {
        if part.to < end || !part.insert.is_empty() {
            break;
        }
        end = part.from;
        let Some(hunk) = hunks.last_mut() else { break };
        hunk.parts.pop();
        if hunk.parts.is_empty() {
            hunks.pop();
        }
    }
    PartialDraft { hunks, blocks: blocks.len() - 1 }
}

/// The changes that turn `old` into `new`, in order and disjoint; empty if the texts are equal.
///
/// Both texts must have their line ends normalised to `\n`, as [`super::Text`] does.
pub fn diff(old: &str, new: &str, limits: &DiffLimits) -> Vec<HunkDraft> {
    diff_between("", (old, new), "", limits)
}

/// The same where `old` is a part of a document: it stands between `before` and `after`. Positions
/// are of `old`.
pub fn diff_between(
    before: &str,
    (old, new): (&str, &str),
    after: &str,
    limits: &DiffLimits,
) -> Vec<HunkDraft> {
    let place = split_paragraphs::SplitContext { before, old, after };
    let hunks = split_paragraphs::cut_removed(place, new, diff_whole(old, new, limits));
    split_paragraphs::cut(place, hunks)
}

/// The same with every paragraph that comes or goes in one piece, however long it is.
pub fn diff_whole(old: &str, new: &str, limits: &DiffLimits) -> Vec<HunkDraft> {
    if old == new {
        return Vec::new();
    }
    let changes = pipeline::changes(old, new, limits);
    assemble::hunks(old, new, &changes)
}
