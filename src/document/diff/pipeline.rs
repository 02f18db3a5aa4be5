//! Stages of the comparison in order: equal blocks, equal sentences, sentences that became others,
//! words.

use std::ops::Range;

use super::DiffLimits;
use super::align::{AlignStep, UnitLists, WordedUnit, align, is_reshaped};
use super::blocks::{BlockKind, TextBlock, blocks, units};
use super::lcs::gaps;
use super::sentence::pair;
use super::split_points::{at_sentence_marks, is_long_sentence};
use super::words::WordNumbers;

/// A replacement, in bytes of both texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ByteChange {
    pub old: Range<usize>,
    pub new: Range<usize>,
    pub adjacency: Adjacency,
}

/// Relation of a change to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Adjacency {
    /// The change begins a hunk.
    Apart,
    /// The change is a further part of the hunk.
    Joined,
    /// The change is a line of code: it joins the line of code right before it.
    Line,
}

/// Returns all changes from `old` to `new`, in order.
pub(super) fn changes(old: &str, new: &str, limits: &DiffLimits) -> Vec<ByteChange> {
    let (old_blocks, new_blocks) = (blocks(old), blocks(new));
    let mut stage =
        DiffStage { old, new, limits, words: WordNumbers::default(), changes: Vec::new() };
    for (o, n) in block_gaps((old, &old_blocks), (new, &new_blocks), limits) {
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
    stage.changes
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

/// A place in both texts, in bytes.
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
    changes: Vec<ByteChange>,
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
        let sides = UnitLists { old_text: self.old, new_text: self.new, old, new };
        for (o, n) in gaps(&old_ids, &new_ids, self.limits) {
            let at = BytePlace {
                old: old.get(o.start).map_or(end.old, |s| s.unit.range.start),
                new: new.get(n.start).map_or(end.new, |s| s.unit.range.start),
            };
            let begun = self.changes.len();
            self.steps(sides, &align(sides, o.clone(), n.clone()), at);
            if is_reshaped(&old[o], &new[n]) {
                for change in self.changes[begun..].iter_mut().skip(1) {
                    change.adjacency = Adjacency::Joined;
                }
            }
        }
    }

    /// Turns steps that begin at `at` into changes.
    fn steps(&mut self, sides: UnitLists, mut steps: &[AlignStep], mut at: BytePlace) {
        while let Some((step, rest)) = steps.split_first() {
            steps = rest;
            match step {
                AlignStep::Pair(i, j) => {
                    let (old, new) = (&sides.old[*i], &sides.new[*j]);
                    let run = rest.iter().take_while(|s| !matches!(s, AlignStep::Pair(..))).count();
                    at = BytePlace { old: old.unit.range.end, new: new.unit.range.end };
                    if let Some(end) = self.turned(sides, (old, new), &rest[..run]) {
                        at = end;
                        steps = &rest[run..];
                    } else {
                        self.changes.extend(pair(sides, old, new, self.limits));
                    }
                }
                AlignStep::Delete(units) => {
                    let to = sides.old[units.end - 1].unit.range.end;
                    let adjacency = adjacency(&sides.old[units.start]);
                    self.changes.push(ByteChange {
                        old: at.old..to,
                        new: at.new..at.new,
                        adjacency,
                    });
                    at.old = to;
                }
                AlignStep::Insert(units) => {
                    let to = sides.new[units.end - 1].unit.range.end;
                    let adjacency = adjacency(&sides.new[units.start]);
                    self.changes.push(ByteChange {
                        old: at.old..at.old,
                        new: at.new..to,
                        adjacency,
                    });
                    at.new = to;
                }
            }
        }
    }

    /// Adds the changes for sentences added (or removed) behind one whose following space changes
    /// with them, as at the end of a paragraph: `A.⏎` → `A. B. C.⏎` reads as `␣B.` and `␣C.` added,
    /// not as `⏎` → `␣B.␣C.⏎`. Returns the place where the run ends, or `None` if this is no such
    /// run.
    fn turned(
        &mut self,
        sides: UnitLists,
        (old, new): (&WordedUnit, &WordedUnit),
        run: &[AlignStep],
    ) -> Option<BytePlace> {
        let inserts = run.iter().all(|s| matches!(s, AlignStep::Insert(_)));
        let deletes = run.iter().all(|s| matches!(s, AlignStep::Delete(_)));
        let same_space = slice(self.old, &old.gap()) == slice(self.new, &new.gap());
        if run.is_empty() || same_space || !(inserts || deletes) || old.unit.kind == BlockKind::Code
        {
            return None;
        }
        self.changes.extend(pair(sides, &old.without_gap(), &new.without_gap(), self.limits));
        let mut at = BytePlace { old: old.body_end, new: new.body_end };
        let mut last_gaps = (old.gap(), new.gap());
        for (index, step) in run.iter().enumerate() {
            let last = index + 1 == run.len();
            let (AlignStep::Insert(units) | AlignStep::Delete(units)) = step else { return None };
            let unit = &(if inserts { sides.new } else { sides.old })[units.end - 1];
            let gaps = if inserts { (old.gap(), unit.gap()) } else { (unit.gap(), new.gap()) };
            let stop = if inserts {
                BytePlace { old: at.old, new: unit.body_end }
            } else {
                BytePlace { old: unit.body_end, new: at.new }
            };
            last_gaps = gaps.clone();
            let level = slice(self.old, &gaps.0) == slice(self.new, &gaps.1);
            let stop =
                if last && !level { BytePlace { old: gaps.0.end, new: gaps.1.end } } else { stop };
            self.changes.push(ByteChange {
                old: at.old..stop.old,
                new: at.new..stop.new,
                adjacency: Adjacency::Apart,
            });
            at = stop;
        }
        Some(BytePlace { old: last_gaps.0.end, new: last_gaps.1.end })
    }
}

fn adjacency(sentence: &WordedUnit) -> Adjacency {
    if sentence.unit.kind == BlockKind::Code { Adjacency::Line } else { Adjacency::Apart }
}
