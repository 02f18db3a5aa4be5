//! Changes within one sentence: the words that change, and the changes that belong together.

mod rows;

use std::ops::Range;

use super::align::{UnitLists, WordedUnit};
use super::blocks::{BlockKind, lead};
use super::corrections::Wording;
use super::draft::{DiffLimits, HunkKind};
use super::lcs::gaps;
use super::pipeline::{Adjacency, ByteChange};
use super::split_points::{LONGEST, evenly, is_long_sentence, size};
use super::words::{SentenceComparison, TokenKind, TokenSwap, WordToken, compare, is_spelling};

/// Likeness below which a sentence is replaced as a whole.
const HALF: f64 = 0.5;

/// Number of parts above which a hunk that keeps less than [`KEPT`] of its words is one
/// replacement.
const MANY_PARTS: usize = 4;
const KEPT: f64 = 0.35;

/// Fewest bytes of a word that stays within a phrase that is replaced.
const COMMON: usize = 5;

/// Minimum number of words (and UTF-16 units) in a row that are kept where a long sentence is
/// replaced.
const STAYING_WORDS: usize = 5;
const STAYING_UNITS: usize = 24;

/// A hunk of a pair of sentences.
pub(super) struct PairHunk {
    pub parts: Vec<ByteChange>,
    pub kind: HunkKind,
    pub adjacency: Adjacency,
}

impl PairHunk {
    fn rewrite(parts: Vec<ByteChange>) -> Self {
        Self { parts, kind: HunkKind::Rewrite, adjacency: Adjacency::Apart }
    }
}

/// Returns the hunks that turn the sentence `old` into `new`: one for each correction if there is
/// nothing else, otherwise one. White space behind the sentences is left out, except in code.
pub(super) fn pair(
    sides: UnitLists,
    old: &WordedUnit,
    new: &WordedUnit,
    limits: &DiffLimits,
) -> Vec<PairHunk> {
    if old.unit.kind == BlockKind::Code || new.unit.kind == BlockKind::Code {
        let all = ByteChange { old: old.unit.range.clone(), new: new.unit.range.clone() };
        return vec![PairHunk { adjacency: Adjacency::Line, ..PairHunk::rewrite(vec![all]) }];
    }
    let texts = (sides.old_text, sides.new_text);
    let start = (old.unit.range.start, new.unit.range.start);
    let pair = SentencePair { sides, old: old.body(), new: new.body(), start };
    let words = Wording { old: (texts.0, pair.old), new: (texts.1, pair.new) };
    if let Some(swaps) = rows::swaps(words, (old.unit.kind, new.unit.kind), limits) {
        return pair.row(words, &swaps);
    }
    let found = compare(pair.old, pair.new, texts, limits);
    if found.swaps.is_empty() {
        return Vec::new();
    }
    let is_whole = old.unit.kind.is_whole() || new.unit.kind.is_whole();
    let is_long = is_long_sentence(texts.0, old) || is_long_sentence(texts.1, new);
    if is_long && !is_whole {
        return pair.long(found);
    }
    if found.likeness < HALF {
        return vec![PairHunk::rewrite(pair.replaced((old.unit.kind, new.unit.kind)))];
    }
    let swaps = pair.phrases(found.swaps);
    if !words.are_independent_corrections(&swaps) {
        return vec![PairHunk::rewrite(pair.hunk(&swaps))];
    }
    pair.corrections(words, &swaps)
}

/// Returns the hunk that turns sentences into others: they split, merged or changed places.
pub(super) fn several(
    sides: UnitLists,
    (old, new): (&[WordedUnit], &[WordedUnit]),
    limits: &DiffLimits,
) -> Vec<PairHunk> {
    let body = |list: &[WordedUnit]| {
        let end = list.last().map_or(0, |it| it.body_end);
        let tokens = list.iter().flat_map(|it| &it.tokens).filter(|it| it.range.end <= end);
        tokens.cloned().collect::<Vec<WordToken>>()
    };
    let start = (old[0].unit.range.start, new[0].unit.range.start);
    let (old, new) = (body(old), body(new));
    let pair = SentencePair { sides, old: &old, new: &new, start };
    let found = compare(&old, &new, (sides.old_text, sides.new_text), limits);
    if found.swaps.is_empty() {
        return Vec::new();
    }
    let is_other = found.likeness < HALF;
    let parts = if is_other { vec![pair.all()] } else { pair.hunk(&pair.phrases(found.swaps)) };
    vec![PairHunk::rewrite(parts)]
}

struct SentencePair<'a> {
    sides: UnitLists<'a>,
    old: &'a [WordToken],
    new: &'a [WordToken],
    /// Start of both, in bytes.
    start: (usize, usize),
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
                        && !(self.is_spelling(&swap)
                            && (self.is_spelling(last) || self.is_mark(last))) =>
                {
                    last.old.end = swap.old.end;
                    last.new.end = swap.new.end;
                }
                _ => phrases.push(swap),
            }
        }
        phrases.into_iter().flat_map(|it| self.around_common_words(it)).collect()
    }

    /// Returns the replacements around the words that both sides of a phrase have in order. Blanks
    /// count as much as words when sentences are compared, so a word may be lost for one.
    fn around_common_words(&self, swap: TokenSwap) -> Vec<TokenSwap> {
        let words = |tokens: &[WordToken], run: &Range<usize>| -> Vec<usize> {
            run.clone().filter(|at| tokens[*at].stuff == TokenKind::Word).collect()
        };
        let (old, new) = (words(self.old, &swap.old), words(self.new, &swap.new));
        if old.len().max(new.len()) < 2 || old.is_empty() || new.is_empty() {
            return vec![swap];
        }
        let ids = |tokens: &[WordToken], words: &[usize]| -> Vec<u32> {
            words.iter().map(|at| tokens[*at].id).collect()
        };
        let (old_ids, new_ids) = (ids(self.old, &old), ids(self.new, &new));
        let changed = gaps(&old_ids, &new_ids, &DiffLimits::default());
        let (mut apart, mut from) = (Vec::new(), (swap.old.start, swap.new.start));
        let (mut o, mut n) = (0, 0);
        let ends = std::iter::once((old.len()..old.len(), new.len()..new.len()));
        for (gone, come) in changed.into_iter().chain(ends) {
            while o < gone.start {
                let token = &self.old[old[o]];
                if token.range.len() >= COMMON {
                    let between = TokenSwap { old: from.0..old[o], new: from.1..new[n] };
                    apart.extend(self.without_equal_ends(between));
                    from = (old[o] + 1, new[n] + 1);
                }
                (o, n) = (o + 1, n + 1);
            }
            (o, n) = (gone.end, come.end);
        }
        let rest = TokenSwap { old: from.0..swap.old.end, new: from.1..swap.new.end };
        apart.extend(self.without_equal_ends(rest));
        apart
    }

    /// Returns a replacement without the tokens that both sides begin and end with; `None` if they
    /// are equal.
    fn without_equal_ends(&self, mut swap: TokenSwap) -> Option<TokenSwap> {
        let is_equal = |o: usize, n: usize| self.old[o].id == self.new[n].id;
        let is_open = |swap: &TokenSwap| !swap.old.is_empty() && !swap.new.is_empty();
        while is_open(&swap) && is_equal(swap.old.start, swap.new.start) {
            (swap.old.start, swap.new.start) = (swap.old.start + 1, swap.new.start + 1);
        }
        while is_open(&swap) && is_equal(swap.old.end - 1, swap.new.end - 1) {
            (swap.old.end, swap.new.end) = (swap.old.end - 1, swap.new.end - 1);
        }
        (!swap.old.is_empty() || !swap.new.is_empty()).then_some(swap)
    }

    /// Returns one hunk for each replacement.
    fn corrections(&self, words: Wording, swaps: &[TokenSwap]) -> Vec<PairHunk> {
        let hunk = |swap| {
            let hunk = PairHunk::rewrite(vec![self.change(swap)]);
            if words.is_mere_correction(swap) {
                PairHunk { kind: HunkKind::Correction, ..hunk }
            } else {
                hunk
            }
        };
        swaps.iter().map(hunk).collect()
    }

    /// Returns the hunks of a table row, of which no part crosses the border of a cell.
    fn row(&self, words: Wording, swaps: &[TokenSwap]) -> Vec<PairHunk> {
        if swaps.is_empty() {
            return Vec::new();
        }
        if words.are_independent_corrections(swaps) {
            return self.corrections(words, swaps);
        }
        vec![PairHunk::rewrite(swaps.iter().map(|swap| self.change(swap)).collect())]
    }

    /// Returns the replacement of a sentence that says something else. The marks of a list entry or
    /// a heading are no words of it.
    fn replaced(&self, kinds: (BlockKind, BlockKind)) -> Vec<ByteChange> {
        let count = |text: &str, tokens: &[WordToken], kind| {
            let Some((first, last)) = tokens.first().zip(tokens.last()) else { return 0 };
            let end = first.range.start + lead(&text[first.range.start..last.range.end], kind);
            tokens.partition_point(|it| it.range.end <= end)
        };
        let old = count(self.sides.old_text, self.old, kinds.0);
        let new = count(self.sides.new_text, self.new, kinds.1);
        if old == 0 || new == 0 {
            return vec![self.all()];
        }
        let marks = self.change(&TokenSwap { old: 0..old, new: 0..new });
        let words = self.change(&TokenSwap { old: old..self.old.len(), new: new..self.new.len() });
        let are_equal =
            self.sides.old_text[marks.old.clone()] == self.sides.new_text[marks.new.clone()];
        if are_equal { vec![words] } else { vec![marks, words] }
    }

    fn all(&self) -> ByteChange {
        self.change(&TokenSwap { old: 0..self.old.len(), new: 0..self.new.len() })
    }

    /// Returns the hunks of a sentence that is too long for one: replacements that are a word or
    /// less apart are together.
    fn long(&self, found: SentenceComparison) -> Vec<PairHunk> {
        if found.likeness < HALF {
            return self.rewritten(&found.swaps);
        }
        let swaps = self.phrases(found.swaps);
        let mut hunks = Vec::new();
        for group in swaps.chunk_by(|left, right| self.words_between(left, right) <= 1) {
            for group in self.short_groups(group) {
                match group {
                    [one] => hunks.extend(self.pieces(one)),
                    several => hunks.push(PairHunk::rewrite(self.hunk(several))),
                }
            }
        }
        hunks
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
    fn rewritten(&self, swaps: &[TokenSwap]) -> Vec<PairHunk> {
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

    fn pieces(&self, swap: &TokenSwap) -> Vec<PairHunk> {
        let (old, new) = ((self.sides.old_text, self.old), (self.sides.new_text, self.new));
        let hunk = |piece| PairHunk::rewrite(vec![self.change(piece)]);
        evenly(old, new, swap).iter().map(hunk).collect()
    }

    fn size(&self, swap: &TokenSwap) -> usize {
        let old = size((self.sides.old_text, self.old), &swap.old);
        old.max(size((self.sides.new_text, self.new), &swap.new))
    }

    fn words_between(&self, left: &TokenSwap, right: &TokenSwap) -> usize {
        let gap = &self.old[left.old.end..right.old.start];
        gap.iter().filter(|t| t.stuff == TokenKind::Word).count()
    }

    /// Returns `true` if one mark was replaced by another one.
    fn is_mark(&self, swap: &TokenSwap) -> bool {
        let is_one = |run: &[WordToken]| matches!(run, [one] if one.stuff == TokenKind::Mark);
        is_one(&self.old[swap.old.clone()]) && is_one(&self.new[swap.new.clone()])
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
            return vec![self.change(&all)];
        }
        group.iter().map(|swap| self.change(swap)).collect()
    }

    fn change(&self, swap: &TokenSwap) -> ByteChange {
        let (old_start, new_start) = self.start;
        ByteChange {
            old: bytes(self.old, old_start, &swap.old),
            new: bytes(self.new, new_start, &swap.new),
        }
    }
}

fn covering(first: &TokenSwap, last: &TokenSwap) -> TokenSwap {
    TokenSwap { old: first.old.start..last.old.end, new: first.new.start..last.new.end }
}

/// Returns the bytes of a run of tokens that begin at `start`; an empty run is before the token it
/// points to.
fn bytes(tokens: &[WordToken], start: usize, run: &Range<usize>) -> Range<usize> {
    let end = tokens.last().map_or(start, |t| t.range.end);
    let at = |index: usize| tokens.get(index).map_or(end, |t| t.range.start);
    at(run.start)..if run.is_empty() { at(run.start) } else { tokens[run.end - 1].range.end }
}
