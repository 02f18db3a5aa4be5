//! Changes within a table row, cell by cell.

use std::collections::HashMap;
use std::ops::Range;

use crate::diff::blocks::BlockKind;
use crate::diff::corrections::Wording;
use crate::diff::draft::DiffLimits;
use crate::diff::lcs::gaps;
use crate::diff::structure::cells;
use crate::diff::words::{TokenKind, TokenSwap, WordToken, compare};

/// Likeness below which a cell is replaced as a whole.
const HALF: f64 = 0.5;

/// Returns the replacements in a row, none of which crosses the border of a cell; `None` if these
/// are not two rows. Where the numbers of cells differ, equal cells stay, and others come and go
/// with a bar.
pub(super) fn swaps(
    row: Wording,
    kinds: (BlockKind, BlockKind),
    limits: &DiffLimits,
) -> Option<Vec<TokenSwap>> {
    if kinds != (BlockKind::Row, BlockKind::Row) {
        return None;
    }
    let (old, new) = (RowCells::of(row.old), RowCells::of(row.new));
    let mut swaps = Vec::new();
    if old.cells.len() == new.cells.len() {
        let cells = old.cells.iter().zip(&new.cells);
        swaps.extend(cells.flat_map(|(o, n)| in_cell(row, o, n, limits)));
        return is_complete(row, &swaps).then_some(swaps);
    }
    if !old.is_closed || !new.is_closed {
        return None;
    }
    let mut names = HashMap::new();
    let (old_ids, new_ids) = (old.ids(row.old, &mut names), new.ids(row.new, &mut names));
    for (o, n) in gaps(&old_ids, &new_ids, limits) {
        let both = o.len().min(n.len());
        for (o, n) in (o.start..o.start + both).zip(n.start..) {
            swaps.extend(in_cell(row, &old.cells[o], &new.cells[n], limits));
        }
        let (o, n) = (o.start + both..o.end, n.start + both..n.end);
        if !o.is_empty() || !n.is_empty() {
            swaps.push(TokenSwap { old: old.with_bars(&o), new: new.with_bars(&n) });
        }
    }
    is_complete(row, &swaps).then_some(swaps)
}

/// Returns `true` if all that is between the replacements is equal: also the indentation of the
/// row, and bars that form one character with the mark behind them.
fn is_complete(row: Wording, swaps: &[TokenSwap]) -> bool {
    let end =
        TokenSwap { old: row.old.1.len()..row.old.1.len(), new: row.new.1.len()..row.new.1.len() };
    let (mut old_at, mut new_at) = (0, 0);
    swaps.iter().chain([&end]).all(|swap| {
        let is_in_order = old_at <= swap.old.start && new_at <= swap.new.start;
        let is_equal = is_in_order && {
            let (old, new) =
                (&row.old.1[old_at..swap.old.start], &row.new.1[new_at..swap.new.start]);
            old.iter().map(|it| it.id).eq(new.iter().map(|it| it.id))
        };
        (old_at, new_at) = (swap.old.end, swap.new.end);
        is_equal
    })
}

/// Cells of a row, as runs of its tokens.
struct RowCells {
    cells: Vec<Range<usize>>,
    /// A bar stands behind the last cell.
    is_closed: bool,
}

impl RowCells {
    fn of((text, tokens): (&str, &[WordToken])) -> Self {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return Self { cells: Vec::new(), is_closed: false };
        };
        let start = first.range.start;
        let line = &text[start..last.range.end];
        let index = |byte: usize| tokens.partition_point(|it| it.range.start < start + byte);
        let cells = cells(line).into_iter().map(|it| index(it.start)..index(it.end));
        Self { cells: cells.collect(), is_closed: line.ends_with('|') }
    }

    /// Returns a number for each cell; equal ones have equal numbers.
    fn ids(
        &self,
        (text, tokens): (&str, &[WordToken]),
        names: &mut HashMap<String, u32>,
    ) -> Vec<u32> {
        let name = |cell: &Range<usize>| -> String {
            let words = tokens[cell.clone()].iter().filter(|it| it.stuff != TokenKind::Space);
            words.map(|it| &text[it.range.clone()]).collect()
        };
        let mut id = |cell| {
            let next = names.len() as u32;
            *names.entry(name(cell)).or_insert(next)
        };
        self.cells.iter().map(&mut id).collect()
    }

    /// Returns the tokens of a run of cells, each with the bar behind it.
    fn with_bars(&self, run: &Range<usize>) -> Range<usize> {
        let end =
            |cell: Option<usize>| cell.and_then(|it| self.cells.get(it)).map_or(0, |it| it.end + 1);
        let start = match self.cells.get(run.start) {
            Some(cell) => cell.start,
            None => end(self.cells.len().checked_sub(1)),
        };
        start..if run.is_empty() { start } else { end(Some(run.end - 1)) }
    }
}

/// Returns the replacements between two cells; those with only blanks between them are one.
fn in_cell(
    row: Wording,
    o: &Range<usize>,
    n: &Range<usize>,
    limits: &DiffLimits,
) -> Vec<TokenSwap> {
    let (old, new) = (&row.old.1[o.clone()], &row.new.1[n.clone()]);
    let found = compare(old, new, (row.old.0, row.new.0), limits);
    if found.swaps.is_empty() {
        return Vec::new();
    }
    if found.likeness < HALF {
        let ends = |tokens: &[WordToken]| {
            let is_space = |it: &WordToken| it.stuff == TokenKind::Space;
            (
                tokens.first().filter(|it| is_space(it)).map(|it| it.id),
                tokens.last().filter(|it| is_space(it)).map(|it| it.id),
            )
        };
        let ((old_head, old_tail), (new_head, new_tail)) = (ends(old), ends(new));
        let words = old.len() > 2 && new.len() > 2;
        let head = usize::from(words && old_head.is_some() && old_head == new_head);
        let tail = usize::from(words && old_tail.is_some() && old_tail == new_tail);
        let within = |cell: &Range<usize>| cell.start + head..cell.end - tail;
        return vec![TokenSwap { old: within(o), new: within(n) }];
    }
    let mut swaps: Vec<TokenSwap> = Vec::with_capacity(found.swaps.len());
    for TokenSwap { old, new } in found.swaps {
        let swap = TokenSwap {
            old: o.start + old.start..o.start + old.end,
            new: n.start + new.start..n.start + new.end,
        };
        let is_near = |last: &&mut TokenSwap| {
            let between = &row.old.1[last.old.end..swap.old.start];
            between.iter().all(|it| it.stuff == TokenKind::Space)
        };
        match swaps.last_mut().filter(is_near) {
            Some(last) => (last.old.end, last.new.end) = (swap.old.end, swap.new.end),
            None => swaps.push(swap),
        }
    }
    swaps
}
