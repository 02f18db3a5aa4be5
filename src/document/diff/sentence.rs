//! How one sentence became another: which words change, and which changes belong together.

use std::ops::Range;

use super::DiffLimits;
use super::align::{Sentence, Sides};
use super::blocks::Kind;
use super::stages::{Bond, Change};
use super::words::{Stuff, Swap, Token, compare, is_spelling};

/// A sentence less alike than this is replaced as a whole.
const HALF: f64 = 0.5;

/// A hunk with more parts than this, or more, that keeps less than [`KEPT`] of its words reads better as one replacement.
const MANY_PARTS: usize = 4;
const KEPT: f64 = 0.35;

/// The changes that turn `old` into `new`.
pub(super) fn pair(
    sides: Sides,
    old: &Sentence,
    new: &Sentence,
    limits: &DiffLimits,
) -> Vec<Change> {
    let whole = |bond| Change { old: old.unit.range.clone(), new: new.unit.range.clone(), bond };
    if old.unit.kind == Kind::Code || new.unit.kind == Kind::Code {
        return vec![whole(Bond::Line)];
    }
    let texts = (sides.old_text, sides.new_text);
    let found = compare(&old.tokens, &new.tokens, texts, limits);
    if found.likeness < HALF {
        return vec![whole(Bond::Apart)];
    }
    let pair = Pair { sides, old: &old.tokens, new: &new.tokens };
    let one_hunk = old.unit.kind == Kind::Whole || new.unit.kind == Kind::Whole;
    let swaps = pair.phrases(found.swaps);
    let mut changes = Vec::with_capacity(swaps.len());
    for group in pair.groups(&swaps, one_hunk) {
        changes.extend(pair.hunk(group));
    }
    changes
}

/// Two sentences in words.
struct Pair<'a> {
    sides: Sides<'a>,
    old: &'a [Token],
    new: &'a [Token],
}

impl Pair<'_> {
    /// Joins neighbouring replacements into phrases where no word stands between them, except corrected spellings.
    fn phrases(&self, swaps: Vec<Swap>) -> Vec<Swap> {
        let mut phrases: Vec<Swap> = Vec::with_capacity(swaps.len());
        for swap in swaps {
            match phrases.last_mut() {
                Some(last)
                    if self.words_between(last, &swap) == 0
                        && !(self.is_spelling(last) && self.is_spelling(&swap)) =>
                {
                    last.old.end = swap.old.end;
                    last.new.end = swap.new.end;
                }
                _ => phrases.push(swap),
            }
        }
        phrases
    }

    /// Replacements a word or less apart make one hunk; in an indivisible block all of them do.
    fn groups<'s>(&self, swaps: &'s [Swap], one_hunk: bool) -> Vec<&'s [Swap]> {
        if one_hunk {
            return vec![swaps];
        }
        swaps.chunk_by(|left, right| self.words_between(left, right) <= 1).collect()
    }

    fn words_between(&self, left: &Swap, right: &Swap) -> usize {
        let gap = &self.old[left.old.end..right.old.start];
        gap.iter().filter(|t| t.stuff == Stuff::Word).count()
    }

    /// Whether one word was replaced by a similar one.
    fn is_spelling(&self, swap: &Swap) -> bool {
        match (&self.old[swap.old.clone()], &self.new[swap.new.clone()]) {
            ([old], [new]) => {
                old.stuff == Stuff::Word
                    && is_spelling(
                        &self.sides.old_text[old.range.clone()],
                        &self.sides.new_text[new.range.clone()],
                    )
            }
            _ => false,
        }
    }

    /// The parts of one hunk.
    fn hunk(&self, group: &[Swap]) -> Vec<Change> {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return Vec::new() };
        let all = Swap { old: first.old.start..last.old.end, new: first.new.start..last.new.end };
        let words = |range: &Range<usize>| {
            self.old[range.clone()].iter().filter(|t| t.stuff == Stuff::Word).count()
        };
        let changed: usize = group.iter().map(|s| words(&s.old)).sum();
        let span = words(&all.old);
        let kept = (span - changed) as f64;
        if group.len() > MANY_PARTS && kept < KEPT * span as f64 {
            return vec![self.change(&all, Bond::Apart)];
        }
        let bonds = std::iter::once(Bond::Apart).chain(std::iter::repeat(Bond::Joined));
        group.iter().zip(bonds).map(|(swap, bond)| self.change(swap, bond)).collect()
    }

    fn change(&self, swap: &Swap, bond: Bond) -> Change {
        Change { old: bytes(self.old, &swap.old), new: bytes(self.new, &swap.new), bond }
    }
}

/// Where a run of tokens stands; an empty run stands before the token it points to.
fn bytes(tokens: &[Token], run: &Range<usize>) -> Range<usize> {
    let end = tokens.last().map_or(0, |t| t.range.end);
    let at = |index: usize| tokens.get(index).map_or(end, |t| t.range.start);
    at(run.start)..if run.is_empty() { at(run.start) } else { tokens[run.end - 1].range.end }
}
