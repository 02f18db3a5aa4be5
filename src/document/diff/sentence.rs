//! Changes within one sentence: the words that change, and the changes that belong together.

use std::ops::Range;

use super::DiffLimits;
use super::align::{UnitLists, WordedUnit};
use super::blocks::BlockKind;
use super::pipeline::{Adjacency, ByteChange};
use super::split_points::{LONGEST, evenly, is_long_sentence, size};
use super::words::{TokenKind, TokenSwap, WordToken, compare, is_spelling};

/// Likeness below which a sentence is replaced as a whole.
const HALF: f64 = 0.5;

/// Number of parts above which a hunk that keeps less than [`KEPT`] of its words is made one
/// replacement, which is easier to read.
const MANY_PARTS: usize = 4;
const KEPT: f64 = 0.35;

/// Least words (and UTF-16 units) in a row that are kept where a long sentence is replaced.
const STAYING_WORDS: usize = 5;
const STAYING_UNITS: usize = 24;

/// Returns the changes that turn `old` into `new`.
pub(super) fn pair(
    sides: UnitLists,
    old: &WordedUnit,
    new: &WordedUnit,
    limits: &DiffLimits,
) -> Vec<ByteChange> {
    let whole = |adjacency| ByteChange {
        old: old.unit.range.clone(),
        new: new.unit.range.clone(),
        adjacency,
    };
    if old.unit.kind == BlockKind::Code || new.unit.kind == BlockKind::Code {
        return vec![whole(Adjacency::Line)];
    }
    let texts = (sides.old_text, sides.new_text);
    let found = compare(&old.tokens, &new.tokens, texts, limits);
    let pair = SentencePair { sides, old: &old.tokens, new: &new.tokens };
    let one_hunk = old.unit.kind == BlockKind::Whole || new.unit.kind == BlockKind::Whole;
    let is_long = is_long_sentence(texts.0, old) || is_long_sentence(texts.1, new);
    if found.likeness < HALF {
        let in_pieces = is_long && !one_hunk;
        return if in_pieces {
            pair.rewritten(&found.swaps)
        } else {
            vec![whole(Adjacency::Apart)]
        };
    }
    let swaps = pair.phrases(found.swaps);
    let mut changes = Vec::with_capacity(swaps.len());
    for group in pair.groups(&swaps, one_hunk) {
        if one_hunk || !is_long {
            changes.extend(pair.hunk(group));
            continue;
        }
        for group in pair.short_groups(group) {
            match group {
                [one] => changes.extend(pair.pieces(one)),
                several => changes.extend(pair.hunk(several)),
            }
        }
    }
    changes
}

/// Two sentences as words.
struct SentencePair<'a> {
    sides: UnitLists<'a>,
    old: &'a [WordToken],
    new: &'a [WordToken],
}

impl SentencePair<'_> {
    /// Joins neighbouring replacements into phrases where no word is between them, except corrected
    /// spellings.
    fn phrases(&self, swaps: Vec<TokenSwap>) -> Vec<TokenSwap> {
        let mut phrases: Vec<TokenSwap> = Vec::with_capacity(swaps.len());
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

    /// Groups replacements that are a word or less apart into one hunk; in an indivisible block,
    /// all of them.
    fn groups<'s>(&self, swaps: &'s [TokenSwap], one_hunk: bool) -> Vec<&'s [TokenSwap]> {
        if one_hunk {
            return vec![swaps];
        }
        swaps.chunk_by(|left, right| self.words_between(left, right) <= 1).collect()
    }

    /// Splits a group into groups of readable length; a single replacement may be longer.
    fn short_groups<'s>(&self, mut group: &'s [TokenSwap]) -> Vec<&'s [TokenSwap]> {
        let mut groups = Vec::new();
        while let Some(first) = group.first() {
            let fits = |last: &&TokenSwap| self.size(&covering(first, last)) <= LONGEST;
            let count = group.iter().take_while(fits).count().max(1);
            let (short, rest) = group.split_at(count);
            groups.push(short);
            group = rest;
        }
        groups
    }

    /// Returns the replacements of a long sentence that became another one: unchanged words in a
    /// row are kept, the rest is replaced.
    fn rewritten(&self, swaps: &[TokenSwap]) -> Vec<ByteChange> {
        let stay = |from: usize, to: usize| {
            let words = self.old[from..to].iter().filter(|t| t.stuff == TokenKind::Word).count();
            let units = size((self.sides.old_text, self.old), &(from..to));
            words >= STAYING_WORDS && units >= STAYING_UNITS
        };
        let mut hulls: Vec<TokenSwap> = swaps
            .chunk_by(|left, right| !stay(left.old.end, right.old.start))
            .filter_map(|group| Some(covering(group.first()?, group.last()?)))
            .collect();
        if let Some(first) = hulls.first_mut().filter(|first| !stay(0, first.old.start)) {
            (first.old.start, first.new.start) = (0, 0);
        }
        let (old_end, new_end) = (self.old.len(), self.new.len());
        if let Some(last) = hulls.last_mut().filter(|last| !stay(last.old.end, old_end)) {
            (last.old.end, last.new.end) = (old_end, new_end);
        }
        hulls.iter().flat_map(|covering| self.pieces(covering)).collect()
    }

    /// Returns one replacement, in pieces if it is long.
    fn pieces(&self, swap: &TokenSwap) -> Vec<ByteChange> {
        let (old, new) = ((self.sides.old_text, self.old), (self.sides.new_text, self.new));
        evenly(old, new, swap).iter().map(|piece| self.change(piece, Adjacency::Apart)).collect()
    }

    fn size(&self, swap: &TokenSwap) -> usize {
        let old = size((self.sides.old_text, self.old), &swap.old);
        old.max(size((self.sides.new_text, self.new), &swap.new))
    }

    fn words_between(&self, left: &TokenSwap, right: &TokenSwap) -> usize {
        let gap = &self.old[left.old.end..right.old.start];
        gap.iter().filter(|t| t.stuff == TokenKind::Word).count()
    }

    /// Returns `true` if one word was replaced by a similar one.
    fn is_spelling(&self, swap: &TokenSwap) -> bool {
        match (&self.old[swap.old.clone()], &self.new[swap.new.clone()]) {
            ([old], [new]) => {
                old.stuff == TokenKind::Word
                    && is_spelling(
                        &self.sides.old_text[old.range.clone()],
                        &self.sides.new_text[new.range.clone()],
                    )
            }
            _ => false,
        }
    }

    /// Returns the parts of one hunk.
    fn hunk(&self, group: &[TokenSwap]) -> Vec<ByteChange> {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return Vec::new() };
        let all = covering(first, last);
        let words = |range: &Range<usize>| {
            self.old[range.clone()].iter().filter(|t| t.stuff == TokenKind::Word).count()
        };
        let changed: usize = group.iter().map(|s| words(&s.old)).sum();
        let span = words(&all.old);
        let kept = (span - changed) as f64;
        if group.len() > MANY_PARTS && kept < KEPT * span as f64 {
            return vec![self.change(&all, Adjacency::Apart)];
        }
        let bonds = std::iter::once(Adjacency::Apart).chain(std::iter::repeat(Adjacency::Joined));
        group.iter().zip(bonds).map(|(swap, adjacency)| self.change(swap, adjacency)).collect()
    }

    fn change(&self, swap: &TokenSwap, adjacency: Adjacency) -> ByteChange {
        ByteChange { old: bytes(self.old, &swap.old), new: bytes(self.new, &swap.new), adjacency }
    }
}

/// Returns one replacement that covers all from `first` to `last`.
fn covering(first: &TokenSwap, last: &TokenSwap) -> TokenSwap {
    TokenSwap { old: first.old.start..last.old.end, new: first.new.start..last.new.end }
}

/// Returns the bytes of a run of tokens; an empty run is before the token it points to.
fn bytes(tokens: &[WordToken], run: &Range<usize>) -> Range<usize> {
    let end = tokens.last().map_or(0, |t| t.range.end);
    let at = |index: usize| tokens.get(index).map_or(end, |t| t.range.start);
    at(run.start)..if run.is_empty() { at(run.start) } else { tokens[run.end - 1].range.end }
}
