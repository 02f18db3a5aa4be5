//! Differences between two texts as changes that a person accepts one at a time.
//!
//! Equal blocks (paragraphs, headings, list items, lines of code) anchor the rest; the text between
//! them is cut into sentences (`sentence_ends`), aligned by likeness, and compared word by word.
//! The unit of decision is the sentence, or each correction in it (`corrections`); changes that
//! read only together are one (`clusters`, `dependents`, `structure`), and so are both places of a
//! move (`moves`).
//!
//! Applying all hunks of [`diff`] gives exactly the new text. A deadline makes the result of long
//! texts depend on the clock, so compute it once and store it, on a blocking thread.

mod align;
mod assemble;
mod blocks;
mod clusters;
mod corrections;
mod crossings;
mod dependents;
mod draft;
mod lcs;
mod moves;
mod neighbours;
mod passages;
mod pipeline;
mod reshaped;
mod sentence;
mod split_paragraphs;
mod split_points;
mod structure;
mod word_edits;
mod words;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use moves::MoveHalves;

pub use draft::{DiffLimits, DraftPart, HunkDraft, HunkKind};
pub use passages::{ChangedPassage, common_ends, passages};
pub use structure::part_groups;
pub use word_edits::word_edits;

/// Changes so far of a text that is still being written, given by [`diff_so_far`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialDraft {
    /// Hunks up to the last complete block; later text may show that a block became another one.
    pub hunks: Vec<HunkDraft>,
    /// Number of complete blocks (paragraphs, headings, list items, lines of code).
    pub blocks: usize,
}

/// Returns the changes that turn `old` into a text that begins with `written`. The last block may
/// still grow and is left out; the rest of `old` does not count as removed.
pub fn diff_so_far(old: &str, written: &str, limits: &DiffLimits) -> PartialDraft {
    let blocks = blocks::blocks(written);
    let Some(last) = blocks.last() else { return PartialDraft::default() };
    let hunks = diff_whole(old, &written[..last.range.start], limits);
    let mut hunks =
        split_paragraphs::cut(split_paragraphs::SplitContext { before: "", old, after: "" }, hunks);
    // A removal is certain only when later text follows it.
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

/// Returns the changes that turn `old` into `new`; empty if the texts are equal.
///
/// The parts of all hunks are disjoint. Hunks are in order, a moved one where its words are put in;
/// so the hunks that put words in at one place are in the order of those words.
///
/// Both texts must have their line ends normalised to `\n`, as [`super::Text`] does.
pub fn diff(old: &str, new: &str, limits: &DiffLimits) -> Vec<HunkDraft> {
    diff_between("", (old, new), "", limits)
}

/// Returns the changes as [`diff`] does, where `old` is between `before` and `after` in a document.
/// Positions are of `old`.
pub fn diff_between(
    before: &str,
    (old, new): (&str, &str),
    after: &str,
    limits: &DiffLimits,
) -> Vec<HunkDraft> {
    let place = split_paragraphs::SplitContext { before, old, after };
    let limits = &limits.for_texts(old, new);
    let mut halves = MoveHalves::of(compared(old, new, limits), limits);
    halves.hunks = cut_long(place, new, halves.hunks);
    structure::joined(place, new, halves.joined())
}

/// Returns the changes as [`diff`] does, but all parts in order: words that move are two hunks.
pub fn diff_in_order(old: &str, new: &str, limits: &DiffLimits) -> Vec<HunkDraft> {
    let place = split_paragraphs::SplitContext { before: "", old, after: "" };
    structure::joined(place, new, cut_long(place, new, compared(old, new, limits)))
}

fn cut_long(
    place: split_paragraphs::SplitContext,
    new: &str,
    hunks: Vec<HunkDraft>,
) -> Vec<HunkDraft> {
    let cut = split_paragraphs::cut(place, split_paragraphs::cut_removed(place, new, hunks));
    neighbours::joined(cut)
}

/// Returns the ranges of two lists of words that differ, in order; neighbours are one.
pub(super) fn token_gaps<'t>(
    old: &[&'t str],
    new: &[&'t str],
    limits: &DiffLimits,
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut number = |word: &'t str| {
        let next = numbers.len() as u32;
        *numbers.entry(word).or_insert(next)
    };
    let old: Vec<_> = old.iter().copied().map(&mut number).collect();
    let new: Vec<_> = new.iter().copied().map(&mut number).collect();
    lcs::gaps(&old, &new, limits)
}

/// Returns the changes as [`diff_in_order`] does, with every added or removed paragraph in one
/// piece.
pub fn diff_whole(old: &str, new: &str, limits: &DiffLimits) -> Vec<HunkDraft> {
    let place = split_paragraphs::SplitContext { before: "", old, after: "" };
    structure::joined(place, new, compared(old, new, limits))
}

/// Returns the changes in order, whatever they do to marks.
fn compared(old: &str, new: &str, limits: &DiffLimits) -> Vec<HunkDraft> {
    let limits = &limits.for_texts(old, new);
    if old == new {
        return Vec::new();
    }
    let changes = pipeline::changes(old, new, limits);
    assemble::drafts(old, new, changes)
}
