//! Stages of the comparison: equal blocks, equal sentences, sentences that became others, words.

use std::ops::Range;

use super::align::{UnitLists, UnitSwap, WordedUnit, align};
use super::blocks::{BlockKind, TextBlock, blocks, lines_apart, units};
use super::clusters::clusters;
use super::crossings::{crossed, moved_apart, regions};
use super::draft::{DiffLimits, HunkKind};
use super::lcs::gaps;
use super::reshaped::{is_reshaped, reshaped_apart};
use super::sentence::{PairHunk, pair, several};
use super::split_points::{at_sentence_marks, is_long_sentence};
use super::words::WordNumbers;

/// A replacement, in bytes of both texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ByteChange {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// Relation of a [`ByteHunk`] to those that it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Adjacency {
    /// The hunk stays alone.
    Apart,
    /// The hunk is whole sentences with the space beside them: a [`Self::Space`] joins it.
    Sentences,
    /// The hunk is the space between two sentences.
    Space,
    /// The hunk is a line of code: it joins the line of code right before it.
    Line,
}

/// A change that a person decides at once: parts in order, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ByteHunk {
    pub parts: Vec<ByteChange>,
    pub kind: HunkKind,
    pub adjacency: Adjacency,
    pub paragraph: ParagraphKey,
}

impl ByteHunk {
    pub fn range(&self) -> ByteChange {
        let (first, last) = (&self.parts[0], &self.parts[self.parts.len() - 1]);
        ByteChange { old: first.old.start..last.old.end, new: first.new.start..last.new.end }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParagraphKey {
    Old(usize),
    New(usize),
}

/// Returns all changes from `old` to `new`, in order.
pub(super) fn changes(old: &str, new: &str, limits: &DiffLimits) -> Vec<ByteHunk> {
    let (mut old_blocks, mut new_blocks) = (blocks(old), blocks(new));
    lines_apart((old, &mut old_blocks), (new, &mut new_blocks));
    let mut stage =
        DiffStage { old, new, limits, words: WordNumbers::default(), hunks: Vec::new() };
    let gaps = block_gaps((old, &old_blocks), (new, &new_blocks), limits);
    let gaps = moved_apart((old, &old_blocks), (new, &new_blocks), gaps);
    for (o, n) in regions((old, &old_blocks), (new, &new_blocks), gaps) {
        let end = BytePlace {
            old: start_of(old, &old_blocks, o.end),
            new: start_of(new, &new_blocks, n.end),
        };
        let old_units = stage.sentences(old, &old_blocks[o.clone()], o.start);
        let new_units = stage.sentences(new, &new_blocks[n.clone()], n.start);
        let is_long = old_units.iter().any(|it| is_long_sentence(old, it))
            || new_units.iter().any(|it| is_long_sentence(new, it));
        if is_long {
            // Both sides are cut alike, so that unchanged text is found again.
            let finer = (at_sentence_marks(old, &old_units), at_sentence_marks(new, &new_units));
            stage.region(&finer.0, &finer.1, end);
        } else {
            stage.region(&old_units, &new_units, end);
        }
    }
    stage.hunks
}

/// Returns the blocks between those that both texts have, in order.
pub(super) fn block_gaps(
    (old, old_blocks): (&str, &[TextBlock]),
    (new, new_blocks): (&str, &[TextBlock]),
    limits: &DiffLimits,
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut names = WordNumbers::default();
    let mut ids = |text, blocks: &[TextBlock]| -> Vec<u32> {
        blocks.iter().map(|b| names.id(slice(text, &b.range))).collect()
    };
    let (old_ids, new_ids) = (ids(old, old_blocks), ids(new, new_blocks));
    gaps(&old_ids, &new_ids, limits)
}

/// Returns the start of a block in bytes; for the index after the last block, the end of the text.
pub(super) fn start_of(text: &str, blocks: &[TextBlock], index: usize) -> usize {
    blocks.get(index).map_or(text.len(), |block| block.range.start)
}

fn slice<'a>(text: &'a str, range: &Range<usize>) -> &'a str {
    &text[range.clone()]
}

#[derive(Clone, Copy)]
struct BytePlace {
    old: usize,
    new: usize,
}

struct DiffStage<'a> {
    old: &'a str,
    new: &'a str,
    limits: &'a DiffLimits,
    words: WordNumbers<'a>,
    hunks: Vec<ByteHunk>,
}

impl<'a> DiffStage<'a> {
    fn sentences(&mut self, text: &'a str, blocks: &[TextBlock], first: usize) -> Vec<WordedUnit> {
        let units = units(text, blocks, first).into_iter();
        units.map(|u| WordedUnit::new(self.words.tokens(text, u.range.clone()), u)).collect()
    }

    /// Compares runs of blocks that differ and end at `end`.
    fn region(&mut self, old: &[WordedUnit], new: &[WordedUnit], end: BytePlace) {
        let mut names = WordNumbers::default();
        let mut ids = |text: &'a str, list: &[WordedUnit]| -> Vec<u32> {
            list.iter().map(|s| names.id(slice(text, &s.unit.range))).collect()
        };
        let (old_ids, new_ids) = (ids(self.old, old), ids(self.new, new));
        let sides =
            UnitLists { old_text: self.old, new_text: self.new, old, new, is_reshaped: false };
        let mut swaps = Vec::new();
        let gaps = gaps(&old_ids, &new_ids, self.limits).into_iter();
        for (o, n) in gaps.flat_map(|gap| reshaped_apart(sides, gap)) {
            if is_reshaped(&old[o.clone()], &new[n.clone()]) {
                self.unit_swaps(sides, &std::mem::take(&mut swaps), end);
                let begun = self.hunks.len();
                let sides = UnitLists { is_reshaped: true, ..sides };
                self.sentences_changed(sides, &align(sides, o.clone(), n), end);
                let found = self.hunks.drain(begun..).flat_map(|it| it.parts);
                let parts = fused(found);
                if !parts.is_empty() {
                    let paragraph = ParagraphKey::Old(old[o.start].unit.block);
                    self.push(parts, HunkKind::Rewrite, Adjacency::Apart, paragraph);
                }
            } else {
                swaps.extend(align(sides, o, n));
            }
        }
        self.unit_swaps(sides, &swaps, end);
    }

    /// Adds the hunks of sentences that changed, those that belong together as one.
    fn unit_swaps(&mut self, sides: UnitLists, swaps: &[UnitSwap], end: BytePlace) {
        let swaps = clusters(sides, crossed(sides, swaps, self.limits));
        self.sentences_changed(sides, &swaps, end);
    }

    /// Adds the hunks of sentences that changed; `end` is the end of the region.
    fn sentences_changed(&mut self, sides: UnitLists, mut swaps: &[UnitSwap], end: BytePlace) {
        while let Some((swap, rest)) = swaps.split_first() {
            swaps = rest;
            if swap.old.is_empty() || swap.new.is_empty() {
                let at = BytePlace {
                    old: sides.old.get(swap.old.start).map_or(end.old, |s| s.unit.range.start),
                    new: sides.new.get(swap.new.start).map_or(end.new, |s| s.unit.range.start),
                };
                let all = ByteChange {
                    old: at.old..sides.old[swap.old.clone()].last().map_or(at.old, end_of),
                    new: at.new..sides.new[swap.new.clone()].last().map_or(at.new, end_of),
                };
                let adjacency = match sides.old[swap.old.clone()].first() {
                    None => adjacency(&sides.new[swap.new.start]),
                    Some(first) => adjacency(first),
                };
                self.push(vec![all], HunkKind::Rewrite, adjacency, paragraph(sides, swap));
                continue;
            }
            self.replaced(sides, swap);
            let run = run_behind(swap, rest);
            swaps = &rest[self.turned(sides, swap, &rest[..run])..];
        }
    }

    fn push(
        &mut self,
        parts: Vec<ByteChange>,
        kind: HunkKind,
        adjacency: Adjacency,
        paragraph: ParagraphKey,
    ) {
        self.hunks.push(ByteHunk { parts, kind, adjacency, paragraph });
    }

    /// Adds the hunks of sentences that became others, without the white space behind them.
    fn replaced(&mut self, sides: UnitLists, swap: &UnitSwap) {
        let (old, new) = (&sides.old[swap.old.clone()], &sides.new[swap.new.clone()]);
        let paragraph = paragraph(sides, swap);
        let found = match (old, new) {
            ([old], [new]) => pair(sides, old, new, self.limits),
            _ => several(sides, (old, new), self.limits),
        };
        for PairHunk { parts, kind, adjacency } in found {
            self.push(parts, kind, adjacency, paragraph);
        }
    }

    /// Adds the change of the white space behind a sentence, together with the sentences added (or
    /// removed) right behind it: `A.⏎` → `A. B. C.⏎` reads as `␣B.` and `␣C.` added, not as `⏎` →
    /// `␣B.␣C.⏎`. Returns the number of changes of `run` that are added.
    fn turned(&mut self, sides: UnitLists, swap: &UnitSwap, run: &[UnitSwap]) -> usize {
        let (old, new) = (&sides.old[swap.old.end - 1], &sides.new[swap.new.end - 1]);
        if old.unit.kind == BlockKind::Code || new.unit.kind == BlockKind::Code {
            return 0;
        }
        let inserts = run.iter().all(|it| it.old.is_empty());
        let deletes = run.iter().all(|it| it.new.is_empty());
        let gap = ByteChange { old: old.gap(), new: new.gap() };
        if slice(self.old, &gap.old) == slice(self.new, &gap.new) {
            return 0;
        }
        if run.is_empty() || !(inserts || deletes) {
            let is_spacing = !slice(self.old, &gap.old).contains('\n')
                && !slice(self.new, &gap.new).contains('\n');
            let kind = if is_spacing { HunkKind::Correction } else { HunkKind::Rewrite };
            self.push(vec![gap], kind, Adjacency::Space, paragraph(sides, swap));
            return 0;
        }
        let mut at = BytePlace { old: old.body_end, new: new.body_end };
        for (index, step) in run.iter().enumerate() {
            let unit =
                if inserts { &sides.new[step.new.end - 1] } else { &sides.old[step.old.end - 1] };
            let gaps = if inserts { (old.gap(), unit.gap()) } else { (unit.gap(), new.gap()) };
            let level = slice(self.old, &gaps.0) == slice(self.new, &gaps.1);
            let stop = if index + 1 == run.len() && !level {
                BytePlace { old: gaps.0.end, new: gaps.1.end }
            } else if inserts {
                BytePlace { old: at.old, new: unit.body_end }
            } else {
                BytePlace { old: unit.body_end, new: at.new }
            };
            let change = ByteChange { old: at.old..stop.old, new: at.new..stop.new };
            let adjacency = Adjacency::Sentences;
            self.push(vec![change], HunkKind::Rewrite, adjacency, paragraph(sides, step));
            at = stop;
        }
        run.len()
    }
}

/// Counts the changes right behind `swap`, with no unchanged sentence between, up to the next one
/// that replaces sentences.
fn run_behind(swap: &UnitSwap, rest: &[UnitSwap]) -> usize {
    let mut at = (swap.old.end, swap.new.end);
    let follows = |it: &&UnitSwap| {
        let is_next = (it.old.start, it.new.start) == at;
        at = (it.old.end, it.new.end);
        is_next && (it.old.is_empty() || it.new.is_empty())
    };
    rest.iter().take_while(follows).count()
}

fn fused(parts: impl Iterator<Item = ByteChange>) -> Vec<ByteChange> {
    let mut fused: Vec<ByteChange> = Vec::new();
    for part in parts {
        match fused.last_mut() {
            Some(last) if (last.old.end, last.new.end) == (part.old.start, part.new.start) => {
                (last.old.end, last.new.end) = (part.old.end, part.new.end);
            }
            _ => fused.push(part),
        }
    }
    fused
}

fn end_of(unit: &WordedUnit) -> usize {
    unit.unit.range.end
}

fn adjacency(sentence: &WordedUnit) -> Adjacency {
    if sentence.unit.kind == BlockKind::Code { Adjacency::Line } else { Adjacency::Sentences }
}

/// Returns the paragraph that sentences are in; a sentence added to a paragraph is in that one.
fn paragraph(sides: UnitLists, swap: &UnitSwap) -> ParagraphKey {
    if let Some(old) = sides.old[swap.old.clone()].first() {
        return ParagraphKey::Old(old.unit.block);
    }
    let block = sides.new[swap.new.start].unit.block;
    let is_whole = |at: Option<usize>| {
        at.and_then(|at| sides.new.get(at)).is_none_or(|it| it.unit.block != block)
    };
    let (begins, ends) = (is_whole(swap.new.start.checked_sub(1)), is_whole(Some(swap.new.end)));
    let neighbour = if begins { Some(swap.old.start) } else { swap.old.start.checked_sub(1) };
    match neighbour.and_then(|at| sides.old.get(at)) {
        Some(old) if !(begins && ends) => ParagraphKey::Old(old.unit.block),
        _ => ParagraphKey::New(block),
    }
}
