//! Alignment of sentences by likeness, where their counts differ.

use std::ops::Range;

use super::blocks::{BlockKind, DiffUnit};
use super::words::{TokenKind, WordBag, WordToken, bag, weight};

/// Consecutive old units that became consecutive new ones, as indices; either run may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnitSwap {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

impl UnitSwap {
    pub fn units<'a>(&self, sides: UnitLists<'a>) -> (&'a [WordedUnit], &'a [WordedUnit]) {
        (&sides.old[self.old.clone()], &sides.new[self.new.clone()])
    }
}

/// Likeness below which two sentences are not versions of each other.
pub(super) const ALIKE: f32 = 0.35;

/// Share of the words of a sentence that a longer one has, if the sentence is a piece of it.
const PIECE: f32 = 0.7;

/// Maximum number of sentences that one without a likeness is replaced by, or that it replaces.
const MOST_FOR_ONE: usize = 3;

/// Maximum number of pairs compared for each gap (plus a narrow band, so that the cost stays
/// linear).
const CELLS: usize = 60_000;

pub(super) struct WordedUnit {
    pub unit: DiffUnit,
    pub tokens: Vec<WordToken>,
    /// End of the text, before the white space that follows it, in bytes.
    pub body_end: usize,
    /// Numbers and sizes of the words, sorted.
    pub bag: WordBag,
    pub weight: u32,
}

impl WordedUnit {
    pub fn new(tokens: Vec<WordToken>, unit: DiffUnit) -> Self {
        let solid = tokens.iter().rposition(|t| t.stuff != TokenKind::Space);
        let body_end = solid.map_or(unit.range.start, |at| tokens[at].range.end);
        let bag = bag(&tokens);
        let weight = weight(&bag);
        Self { unit, tokens, body_end, bag, weight }
    }

    pub fn gap(&self) -> Range<usize> {
        self.body_end..self.unit.range.end
    }

    /// Returns the tokens without the white space behind the text.
    pub fn body(&self) -> &[WordToken] {
        let solid = self.tokens.iter().rposition(|t| t.stuff != TokenKind::Space);
        &self.tokens[..solid.map_or(0, |at| at + 1)]
    }

    fn can_become(&self, other: &Self) -> bool {
        (self.unit.kind == BlockKind::Code) == (other.unit.kind == BlockKind::Code)
    }

    /// Returns `true` if this unit may be replaced by another one without a likeness.
    fn can_replace(&self, other: &Self) -> bool {
        self.unit.kind == other.unit.kind
    }

    /// Returns `true` if most words of this sentence are in the longer one, in the same kind of
    /// block.
    fn is_piece_of(&self, whole: &Self) -> bool {
        self.unit.kind == BlockKind::Prose
            && whole.unit.kind == BlockKind::Prose
            && self.weight < whole.weight
            && common(&self.bag, &whole.bag, |_| ()) as f32 >= PIECE * self.weight as f32
    }

    /// Returns the likeness, 0 to 1: the share of common words, weighted by length, in any order.
    pub fn likeness(&self, other: &Self) -> f32 {
        likeness(&self.bag, &other.bag, self.weight + other.weight)
    }
}

/// Returns the words of units in no order.
pub(super) fn bag_of(units: &[WordedUnit]) -> WordBag {
    let mut bag: WordBag = units.iter().flat_map(|it| it.bag.iter().copied()).collect();
    bag.sort_unstable();
    bag
}

/// Returns the likeness, 0 to 1, of two sorted bags of words that weigh `all` together.
pub(super) fn likeness(a: &[(u32, u32)], b: &[(u32, u32)], all: u32) -> f32 {
    2.0 * common(a, b, |_| ()) as f32 / all.max(1) as f32
}

/// Returns the weight of the words that are in both sorted bags.
pub(super) fn common(a: &[(u32, u32)], b: &[(u32, u32)], mut found: impl FnMut(u32)) -> u32 {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut shared = 0;
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        match x.0.cmp(&y.0) {
            std::cmp::Ordering::Less => drop(a.next()),
            std::cmp::Ordering::Greater => drop(b.next()),
            std::cmp::Ordering::Equal => {
                shared += x.1;
                found(x.0);
                a.next();
                b.next();
            }
        }
    }
    shared
}

#[derive(Clone, Copy)]
pub(super) struct UnitLists<'a> {
    pub old_text: &'a str,
    pub new_text: &'a str,
    pub old: &'a [WordedUnit],
    pub new: &'a [WordedUnit],
    /// A paragraph became a list, or the reverse, so that its sentences may be entries.
    pub is_reshaped: bool,
}

impl UnitLists<'_> {
    /// Returns `true` if an old unit can be an earlier version of a new one. A sentence is none of
    /// a list entry, where the rest of its paragraph would be left beside the entry.
    fn can_pair(&self, old: &WordedUnit, new: &WordedUnit) -> bool {
        let is_beside =
            |part: &WordedUnit, other: &WordedUnit| part.unit.is_part && other.unit.kind.is_whole();
        old.can_become(new) && (self.is_reshaped || !is_beside(old, new) && !is_beside(new, old))
    }
}

/// Returns the steps from the units `o` of the old list to the units `n` of the new list.
pub(super) fn align(sides: UnitLists, o: Range<usize>, n: Range<usize>) -> Vec<UnitSwap> {
    let mut steps = Vec::new();
    let (mut i, mut j) = (o.start, n.start);
    let pairs = alike_pairs(sides, o.clone(), n.clone());
    for (at, &(pi, pj)) in pairs.iter().enumerate() {
        let end = pairs.get(at + 1).map_or((o.end, n.end), |&next| next);
        let pair = with_pieces(sides, (i, j), (pi, pj), end);
        unlike(sides, i..pair.old.start, j..pair.new.start, &mut steps);
        (i, j) = (pair.old.end, pair.new.end);
        steps.push(pair);
    }
    unlike(sides, i..o.end, j..n.end, &mut steps);
    steps
}

/// Returns the change of a pair of sentences, with the sentences beside it that are pieces of one
/// of the two: it was split, or pieces were merged. The pieces are between `from` and `end`. Where
/// nothing stands on the other side that a piece could be mistaken for, it is found later.
fn with_pieces(
    sides: UnitLists,
    from: (usize, usize),
    (i, j): (usize, usize),
    end: (usize, usize),
) -> UnitSwap {
    let (old, new) = (&sides.old[i], &sides.new[j]);
    let (before, after) = ((i - from.0, j - from.1), (end.0 - i - 1, end.1 - j - 1));
    let mut pair = UnitSwap { old: i..i + 1, new: j..j + 1 };
    let is_contested = |gap: (usize, usize)| gap.0 > 0 && gap.1 > 0;
    // Pieces on both sides would be more than a split.
    let pieces = |of_new: &mut dyn Iterator<Item = &WordedUnit>,
                  of_old: &mut dyn Iterator<Item = &WordedUnit>| {
        let merged = of_new.take_while(|it| it.is_piece_of(new)).count();
        let split = of_old.take_while(|it| it.is_piece_of(old)).count();
        if merged > 0 && split > 0 { (0, 0) } else { (merged, split) }
    };
    if is_contested(before) {
        let of_new = &mut sides.old[from.0..i].iter().rev();
        let (merged, split) = pieces(of_new, &mut sides.new[from.1..j].iter().rev());
        pair.old.start -= merged;
        pair.new.start -= split;
    }
    if is_contested(after) {
        let of_new = &mut sides.old[i + 1..end.0].iter();
        let (merged, split) = pieces(of_new, &mut sides.new[j + 1..end.1].iter());
        pair.old.end += merged;
        pair.new.end += split;
    }
    pair
}

/// Aligns units without a likeness. Within a paragraph, sentences are replaced by those that stand
/// in their place. Other units are replaced one by one, from the front and from the back, as long
/// as their kinds fit and the white space behind them is equal. Units between them are removed and
/// added.
fn unlike(sides: UnitLists, o: Range<usize>, n: Range<usize>, steps: &mut Vec<UnitSwap>) {
    let count = o.len().min(n.len());
    if is_same_place(sides, &o, &n) && o.len().max(n.len()) <= MOST_FOR_ONE * count {
        let share = |run: &Range<usize>, k: usize| {
            run.start + run.len() * k / count..run.start + run.len() * (k + 1) / count
        };
        steps.extend((0..count).map(|k| UnitSwap { old: share(&o, k), new: share(&n, k) }));
        return;
    }
    let (left, right) = (in_blocks(sides.old, o.clone()), in_blocks(sides.new, n.clone()));
    if left.len() == right.len() && left.len() > 1 {
        for (o, n) in left.into_iter().zip(right) {
            unlike(sides, o, n, steps);
        }
        return;
    }
    let same_gap = |i: usize, j: usize| {
        let (old, new) = (&sides.old[i], &sides.new[j]);
        old.can_replace(new) && sides.old_text[old.gap()] == sides.new_text[new.gap()]
    };
    let paired = o.clone().zip(n.clone()).take_while(|&(i, j)| same_gap(i, j)).count();
    let (left, right) = (o.start + paired..o.end, n.start + paired..n.end);
    let back = left.clone().rev().zip(right.clone().rev());
    let last = back.take_while(|&(i, j)| same_gap(i, j)).count();
    let (left, right) = (left.start..left.end - last, right.start..right.end - last);
    let one = |i: usize, j: usize| UnitSwap { old: i..i + 1, new: j..j + 1 };
    steps.extend((0..paired).map(|k| one(o.start + k, n.start + k)));
    let (old_at, new_at) = (left.end, right.start);
    let removed = whole_blocks(sides.old, left.clone()).into_iter();
    steps.extend(removed.map(|old| UnitSwap { old, new: new_at..new_at }));
    let added = whole_blocks(sides.new, right.clone()).into_iter();
    steps.extend(added.map(|new| UnitSwap { old: old_at..old_at, new }));
    steps.extend((0..last).map(|k| one(left.end + k, right.end + k)));
}

/// Returns `true` if both runs are sentences of one paragraph and at the same place in it.
fn is_same_place(sides: UnitLists, o: &Range<usize>, n: &Range<usize>) -> bool {
    let ends = |list: &[WordedUnit], run: &Range<usize>| {
        let (first, last) = (list.get(run.start)?, list.get(run.end.checked_sub(1)?)?);
        let is_other =
            |it: Option<&WordedUnit>| it.is_none_or(|it| it.unit.block != first.unit.block);
        let is_paragraph =
            first.unit.kind == BlockKind::Prose && first.unit.block == last.unit.block;
        let begins = is_other(run.start.checked_sub(1).and_then(|at| list.get(at)));
        is_paragraph.then(|| (begins, is_other(list.get(run.end))))
    };
    !o.is_empty()
        && !n.is_empty()
        && ends(sides.old, o).is_some_and(|old| ends(sides.new, n) == Some(old))
}

/// Cuts a run of units at the ends of blocks.
pub(super) fn in_blocks(list: &[WordedUnit], range: Range<usize>) -> Vec<Range<usize>> {
    let mut from = range.start;
    let runs = list[range].chunk_by(|a, b| a.unit.block == b.unit.block);
    let run = |units: &[WordedUnit]| {
        from += units.len();
        from - units.len()..from
    };
    runs.map(run).collect()
}

/// Groups units that make up a whole block; the others stay alone.
pub(super) fn whole_blocks(list: &[WordedUnit], range: Range<usize>) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let block = list[at].unit.block;
        let same = |i: usize| list.get(i).is_some_and(|s| s.unit.block == block);
        let len = (at..range.end).take_while(|&i| same(i)).count();
        let complete = (at == 0 || !same(at - 1)) && !same(at + len);
        if complete {
            groups.push(at..at + len);
        } else {
            groups.extend((at..at + len).map(|i| i..i + 1));
        }
        at += len;
    }
    groups
}

/// Path by which the best sum up to a pair was reached.
#[derive(Clone, Copy)]
enum AlignPath {
    /// The old unit has no partner.
    Old,
    /// The new unit has no partner.
    New,
    /// Both units are partners.
    Both,
}

/// Returns the pairs with the greatest sum of likeness, in order.
fn alike_pairs(sides: UnitLists, o: Range<usize>, n: Range<usize>) -> Vec<(usize, usize)> {
    let (rows, columns) = (o.len(), n.len());
    match (rows, columns) {
        (0, _) | (_, 0) => return Vec::new(),
        (1, 1) if sides.old[o.start].can_replace(&sides.new[n.start]) => {
            return vec![(o.start, n.start)];
        }
        _ => {}
    }
    // A band around the diagonal bounds the cost of long rewrites; for short ones it includes every
    // pair.
    let reach = (CELLS / (2 * rows)).max(8).max(columns.div_ceil(rows));
    let band = |row: usize| {
        let middle = (row * columns) / rows;
        middle.saturating_sub(reach)..(middle + reach + 1).min(columns)
    };
    // best[c]: the greatest sum for the rows so far and the first c columns. It grows with c, so to
    // the right of the bands so far, where nothing was written, it equals the value at their end.
    let mut best = vec![0.0_f32; columns + 1];
    let mut trace: Vec<Vec<AlignPath>> = Vec::with_capacity(rows);
    for row in 0..rows {
        let old = &sides.old[o.start + row];
        let (mut diagonal, mut left) = (best[band(row).start], best[band(row).start]);
        let mut trail = Vec::with_capacity(band(row).len());
        for column in band(row) {
            let new = &sides.new[n.start + column];
            let likeness = if sides.can_pair(old, new) { old.likeness(new) } else { 0.0 };
            let above = best[column + 1].max(diagonal);
            let (mut value, mut via) =
                if left > above { (left, AlignPath::New) } else { (above, AlignPath::Old) };
            if likeness >= ALIKE && diagonal + likeness > value {
                (value, via) = (diagonal + likeness, AlignPath::Both);
            }
            (diagonal, left) = (above, value);
            best[column + 1] = value;
            trail.push(via);
        }
        trace.push(trail);
    }
    let pairs = follow(&trace, band, columns);
    pairs.into_iter().map(|(row, column)| (o.start + row, n.start + column)).collect()
}

/// Follows the trace back from the end and returns the pairs, in order.
fn follow(
    trace: &[Vec<AlignPath>],
    band: impl Fn(usize) -> Range<usize>,
    columns: usize,
) -> Vec<(usize, usize)> {
    let (mut row, mut column) = (trace.len(), columns);
    let mut pairs = Vec::new();
    while row > 0 && column > 0 {
        let band = band(row - 1);
        if column > band.end {
            column -= 1;
        } else if column <= band.start {
            row -= 1;
        } else {
            match trace[row - 1][column - 1 - band.start] {
                AlignPath::Both => {
                    pairs.push((row - 1, column - 1));
                    row -= 1;
                    column -= 1;
                }
                AlignPath::New => column -= 1,
                AlignPath::Old => row -= 1,
            }
        }
    }
    pairs.reverse();
    pairs
}
