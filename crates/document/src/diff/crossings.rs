//! Sentences and paragraphs that moved past one that was rewritten. An alignment in order keeps one
//! of the two in place and removes and adds the other one. Here that is the one that moved: it is
//! found again as a move (`moves`), and the rewritten one changes in its place.

use std::collections::HashSet;
use std::ops::Range;

use super::align::{ALIKE, UnitLists, UnitSwap, WordedUnit, align, bag_of, likeness, whole_blocks};
use super::blocks::{BlockKind, TextBlock};
use super::draft::DiffLimits;
use super::lcs::{Gap, gaps};
use super::moves::{FEWEST_WORDS, SAME};
use super::words::{WordNumbers, bag, count_words, weight};

/// Most blocks, or sentences of a paragraph, that count as moved past others.
const MOST_MOVED: usize = 4;

/// Returns the differences between the blocks, cut so that a paragraph which moved is not taken for
/// the rewrite of one that stood in its new place, or the reverse.
pub(super) fn moved_apart(
    (old, old_blocks): (&str, &[TextBlock]),
    (new, new_blocks): (&str, &[TextBlock]),
    gaps: Vec<Gap>,
) -> Vec<Gap> {
    let removed = || gaps.iter().flat_map(|(o, _)| texts(old, &old_blocks[o.clone()]));
    let added = || gaps.iter().flat_map(|(_, n)| texts(new, &new_blocks[n.clone()]));
    let gone: HashSet<&str> = removed().collect();
    let moved: HashSet<&str> = added()
        .filter(|it| gone.contains(it) && it.split_whitespace().count() >= FEWEST_WORDS)
        .collect();
    if moved.is_empty() {
        return gaps;
    }
    let mut apart = Vec::with_capacity(gaps.len());
    for (o, n) in gaps {
        if o.is_empty() || n.is_empty() {
            apart.push((o, n));
            continue;
        }
        let left: Vec<&str> = texts(old, &old_blocks[o.clone()]).collect();
        let right: Vec<&str> = texts(new, &new_blocks[n.clone()]).collect();
        let (all_left, all_right): (HashSet<&str>, HashSet<&str>) =
            (left.iter().copied().collect(), right.iter().copied().collect());
        let leaves = |text: &&&str| moved.contains(**text) && !all_right.contains(**text);
        let comes = |text: &&&str| moved.contains(**text) && !all_left.contains(**text);
        let (old_at, new_at) = (
            o.start + left.iter().take_while(leaves).count(),
            n.start + right.iter().take_while(comes).count(),
        );
        let old_end = o.end - left[old_at - o.start..].iter().rev().take_while(leaves).count();
        let new_end = n.end - right[new_at - n.start..].iter().rev().take_while(comes).count();
        apart.extend([
            (o.start..o.start, n.start..new_at),
            (o.start..old_at, new_at..new_at),
            (old_at..old_end, new_at..new_end),
            (old_end..o.end, new_end..new_end),
            (o.end..o.end, new_end..n.end),
        ]);
    }
    apart.retain(|(o, n)| !o.is_empty() || !n.is_empty());
    apart
}

fn texts<'a>(text: &'a str, blocks: &[TextBlock]) -> impl Iterator<Item = &'a str> {
    blocks.iter().map(|it| &text[it.range.clone()])
}

/// Returns the runs of blocks to compare: the differences between the blocks, and as one run those
/// where a block was rewritten that others moved past.
pub(super) fn regions(
    (old, old_blocks): (&str, &[TextBlock]),
    (new, new_blocks): (&str, &[TextBlock]),
    gaps: Vec<Gap>,
) -> Vec<Gap> {
    let mut regions: Vec<Gap> = Vec::with_capacity(gaps.len());
    let is_alike = |old_run: Range<usize>, new_run: Range<usize>| {
        let mut numbers = WordNumbers::default();
        let start = |blocks: &[TextBlock], at: usize| blocks[at].range.start;
        let end = |blocks: &[TextBlock], at: usize| blocks[at - 1].range.end;
        let gone = start(old_blocks, old_run.start)..end(old_blocks, old_run.end);
        let come = start(new_blocks, new_run.start)..end(new_blocks, new_run.end);
        let (gone, come) = (bag(&numbers.tokens(old, gone)), bag(&numbers.tokens(new, come)));
        likeness(&gone, &come, weight(&gone) + weight(&come)) >= ALIKE
    };
    for (o, n) in gaps {
        // Blocks beyond as many on the other side: those of the first difference are at its end,
        // those of the second one at its start, beside what they moved past.
        let is_crossing = regions.last().is_some_and(|(last_o, last_n)| {
            let (here, before) = (o.len().abs_diff(n.len()), last_o.len().abs_diff(last_n.len()));
            o.start - last_o.end <= MOST_MOVED
                && if o.len() > n.len() && last_n.len() > last_o.len() {
                    is_alike(o.start..o.start + here, last_n.end - before..last_n.end)
                } else if n.len() > o.len() && last_o.len() > last_n.len() {
                    is_alike(last_o.end - before..last_o.end, n.start..n.start + here)
                } else {
                    false
                }
        });
        match regions.last_mut() {
            Some(last) if is_crossing => (last.0.end, last.1.end) = (o.end, n.end),
            _ => regions.push((o, n)),
        }
    }
    regions
}

/// Returns the changes of units, in order, so that units which were rewritten change in their place
/// and those that moved past them are removed and added.
pub(super) fn crossed(sides: UnitLists, swaps: &[UnitSwap], limits: &DiffLimits) -> Vec<UnitSwap> {
    let mut crossed: Vec<UnitSwap> = Vec::with_capacity(swaps.len());
    let mut rest = swaps;
    while let Some(first) = run(rest) {
        let (run, behind) = rest.split_at(first.count);
        rest = behind;
        let found = crossing(sides, &first, behind);
        let Some((crossing, count)) = found else {
            crossed.extend_from_slice(run);
            continue;
        };
        crossed.extend(crossing.swaps(sides, limits));
        rest = &behind[count..];
    }
    crossed
}

/// Consecutive changes at the start of a list: those that only remove, those that only add, or one
/// that replaces.
struct SwapRun {
    all: UnitSwap,
    count: usize,
}

fn run(swaps: &[UnitSwap]) -> Option<SwapRun> {
    let mut all = swaps.first()?.clone();
    let mut count = 1;
    for swap in &swaps[1..] {
        let touches = (all.old.end, all.new.end) == (swap.old.start, swap.new.start);
        let is_alike =
            all.old.is_empty() && swap.old.is_empty() || all.new.is_empty() && swap.new.is_empty();
        if !touches || !is_alike {
            break;
        }
        (all.old.end, all.new.end) = (swap.old.end, swap.new.end);
        count += 1;
    }
    Some(SwapRun { all, count })
}

/// Units that were rewritten, and units that moved past them, before and after.
struct Crossing {
    rewritten: UnitSwap,
    moved: UnitSwap,
}

/// Returns the crossing that begins with units which are removed or added, and the number of the
/// changes in `behind` that belong to it.
fn crossing(sides: UnitLists, first: &SwapRun, behind: &[UnitSwap]) -> Option<(Crossing, usize)> {
    let removes = first.all.new.is_empty();
    if !removes && !first.all.old.is_empty() {
        return None;
    }
    let mut passed = 0;
    while let Some(other) = run(&behind[passed..]) {
        let moved = UnitSwap {
            old: first.all.old.end..other.all.old.start,
            new: first.all.new.end..other.all.new.start,
        };
        if moved.old.len().max(moved.new.len()) > MOST_MOVED {
            return None;
        }
        passed += other.count;
        let fits = if removes { other.all.old.is_empty() } else { other.all.new.is_empty() };
        let rewritten = if removes {
            UnitSwap { old: first.all.old.clone(), new: other.all.new }
        } else {
            UnitSwap { old: other.all.old, new: first.all.new.clone() }
        };
        let crossing = Crossing { rewritten, moved };
        if fits && !crossing.rewritten.new.is_empty() && crossing.is_likely(sides) {
            return Some((crossing, passed));
        }
    }
    None
}

impl Crossing {
    fn is_likely(&self, sides: UnitLists) -> bool {
        let (gone, come) = self.rewritten.units(sides);
        let (from, to) = self.moved.units(sides);
        let is_code = |it: &WordedUnit| it.unit.kind == BlockKind::Code;
        let words =
            |units: &[WordedUnit]| units.iter().map(|it| count_words(&it.tokens)).sum::<usize>();
        let rewritten = alike(gone, come);
        // Of two that changed places, a reader takes the shorter one for the one that moved.
        let is_shorter = size(from) < size(gone).min(size(come));
        !gone.iter().chain(come).chain(from).chain(to).any(is_code)
            && words(from).min(words(to)) >= FEWEST_WORDS
            && (ALIKE..1.0).contains(&rewritten)
            && alike(from, to) >= SAME
            && if self.is_one_paragraph(sides) || self.is_whole_blocks(sides) {
                rewritten < SAME || is_shorter
            } else {
                // The end of a paragraph stays where it is, so what is around it does too.
                rewritten >= SAME && is_one_block(from) && is_one_block(to) && !is_one_block(gone)
            }
    }

    fn all(&self) -> UnitSwap {
        let hull = |a: &Range<usize>, b: &Range<usize>| a.start.min(b.start)..a.end.max(b.end);
        UnitSwap {
            old: hull(&self.rewritten.old, &self.moved.old),
            new: hull(&self.rewritten.new, &self.moved.new),
        }
    }

    fn is_one_paragraph(&self, sides: UnitLists) -> bool {
        let (old, new) = self.all().units(sides);
        let is_prose = |it: &WordedUnit| it.unit.kind == BlockKind::Prose;
        is_one_block(old) && is_one_block(new) && old.iter().chain(new).all(is_prose)
    }

    fn is_whole_blocks(&self, sides: UnitLists) -> bool {
        let is_whole = |list: &[WordedUnit], run: &Range<usize>| {
            [run.start, run.end].into_iter().all(|at| {
                at == 0 || at == list.len() || list[at - 1].unit.block != list[at].unit.block
            })
        };
        [&self.rewritten, &self.moved]
            .into_iter()
            .all(|it| is_whole(sides.old, &it.old) && is_whole(sides.new, &it.new))
    }

    /// Returns the changes in order: what moved is removed and added around what was rewritten.
    fn swaps(&self, sides: UnitLists, limits: &DiffLimits) -> Vec<UnitSwap> {
        let all = self.all();
        let (old_at, new_at) = (&self.rewritten.old, &self.rewritten.new);
        let leaves_first = self.moved.old.start == all.old.start;
        let new_place = if leaves_first { all.new.start } else { all.new.end };
        let old_place = if leaves_first { all.old.end } else { all.old.start };
        let removed = whole_blocks(sides.old, self.moved.old.clone()).into_iter();
        let removed = removed.map(|old| UnitSwap { old, new: new_place..new_place });
        let added = whole_blocks(sides.new, self.moved.new.clone()).into_iter();
        let added = added.map(|new| UnitSwap { old: old_place..old_place, new });
        let rewritten = between(sides, (old_at, new_at), limits);
        if leaves_first {
            removed.chain(rewritten).chain(added).collect()
        } else {
            added.chain(rewritten).chain(removed).collect()
        }
    }
}

/// Returns the changes between two runs of units.
fn between(
    sides: UnitLists,
    (o, n): (&Range<usize>, &Range<usize>),
    limits: &DiffLimits,
) -> Vec<UnitSwap> {
    let mut names = WordNumbers::default();
    let old: Vec<u32> = sides.old[o.clone()]
        .iter()
        .map(|it| names.id(&sides.old_text[it.unit.range.clone()]))
        .collect();
    let new: Vec<u32> = sides.new[n.clone()]
        .iter()
        .map(|it| names.id(&sides.new_text[it.unit.range.clone()]))
        .collect();
    let found = gaps(&old, &new, limits).into_iter();
    let shifted = |range: Range<usize>, by: usize| range.start + by..range.end + by;
    found.flat_map(|(a, b)| align(sides, shifted(a, o.start), shifted(b, n.start))).collect()
}

fn is_one_block(units: &[WordedUnit]) -> bool {
    units.first().map(|it| it.unit.block) == units.last().map(|it| it.unit.block)
}

fn size(units: &[WordedUnit]) -> u32 {
    units.iter().map(|it| it.weight).sum()
}

fn alike(old: &[WordedUnit], new: &[WordedUnit]) -> f32 {
    likeness(&bag_of(old), &bag_of(new), size(old) + size(new))
}
