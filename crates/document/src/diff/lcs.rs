//! Differences between two lists of numbers; long lists are compared in runs first.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};

use super::draft::DiffLimits;

/// Maximum length of lists that are compared item by item. Myers' algorithm takes quadratic time
/// where little is alike: some 30 ms for two lists of this length.
const LONG: usize = 16_000;

/// Number of items that decide whether a run ends behind them.
const WINDOW: usize = 4;

/// A run of items in the first list that another run replaced in the second; either may be empty.
pub(super) type Gap = (Range<usize>, Range<usize>);

/// Returns the differences between two lists, in order; neighbours are one gap.
///
/// Long lists are cut into runs at places that the items themselves determine, so that equal ranges
/// are cut alike wherever they are, and only the items between equal runs are compared closely (as
/// in content-defined chunking). Items that have nothing in common even then are one gap.
pub(super) fn gaps(old: &[u32], new: &[u32], limits: &DiffLimits) -> Vec<Gap> {
    let long = old.len().min(new.len());
    if long <= LONG {
        return compare(old, new, limits);
    }
    let size = (2 * long / LONG) as u32;
    let (old_runs, new_runs) = (runs(old, size), runs(new, size));
    let mut names = HashMap::new();
    let mut ids = |list, runs: &[Range<usize>]| -> Vec<u32> {
        runs.iter().map(|run| name(&mut names, list, run)).collect()
    };
    let (old_ids, new_ids) = (ids(old, &old_runs), ids(new, &new_runs));
    let mut gaps = Vec::new();
    for (o, n) in compare(&old_ids, &new_ids, limits) {
        let (o, n) = (items(&old_runs, &o, old.len()), items(&new_runs, &n, new.len()));
        if o.len().min(n.len()) > long / 2 {
            gaps.push(trimmed(old, new, (o, n)));
            continue;
        }
        let inside = self::gaps(&old[o.clone()], &new[n.clone()], limits);
        let shifted = |range: Range<usize>, by: usize| range.start + by..range.end + by;
        gaps.extend(
            inside.into_iter().map(|(io, in_)| (shifted(io, o.start), shifted(in_, n.start))),
        );
    }
    gaps
}

fn compare(old: &[u32], new: &[u32], limits: &DiffLimits) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::new();
    for op in capture_diff_slices_deadline(Algorithm::Myers, old, new, limits.deadline) {
        let (tag, o, n) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            continue;
        }
        match gaps.last_mut() {
            Some((last_o, last_n)) if last_o.end == o.start && last_n.end == n.start => {
                (last_o.end, last_n.end) = (o.end, n.end);
            }
            _ => gaps.push((o, n)),
        }
    }
    gaps
}

/// Cuts a list into runs of about `size` items.
fn runs(list: &[u32], size: u32) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut from = 0;
    for (at, window) in list.windows(WINDOW).enumerate() {
        let mixed = window.iter().fold(0_u32, |mixed, &id| (mixed ^ id).wrapping_mul(0x9e37_79b1));
        // Upper half: the lower bits of a product depend on few bits of its factors.
        if (mixed >> 16).is_multiple_of(size) {
            let to = at + WINDOW;
            runs.push(from..to);
            from = to;
        }
    }
    if from < list.len() {
        runs.push(from..list.len());
    }
    runs
}

/// Returns the number of a run; equal runs have equal numbers.
fn name<'a>(names: &mut HashMap<&'a [u32], u32>, list: &'a [u32], run: &Range<usize>) -> u32 {
    let next = names.len() as u32;
    *names.entry(&list[run.clone()]).or_insert(next)
}

fn items(runs: &[Range<usize>], which: &Range<usize>, len: usize) -> Range<usize> {
    let start = |index: usize| runs.get(index).map_or(len, |run| run.start);
    start(which.start)..start(which.end)
}

/// Returns a gap without the items that both sides begin and end with.
fn trimmed(old: &[u32], new: &[u32], (o, n): Gap) -> Gap {
    let (left, right) = (&old[o.clone()], &new[n.clone()]);
    let head = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    let tail = left[head..].iter().rev().zip(right[head..].iter().rev());
    let tail = tail.take_while(|(l, r)| l == r).count();
    (o.start + head..o.end - tail, n.start + head..n.end - tail)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    /// Returns the first list with the gaps filled from the second.
    fn filled(old: &[u32], new: &[u32], gaps: &[Gap]) -> Vec<u32> {
        let (mut made, mut at) = (Vec::new(), 0);
        for (o, n) in gaps {
            made.extend(&old[at..o.start]);
            made.extend(&new[n.clone()]);
            at = o.end;
        }
        made.extend(&old[at..]);
        made
    }

    fn compared(old: &[u32], new: &[u32]) -> Vec<Gap> {
        let gaps = gaps(old, new, &DiffLimits::default());
        assert_eq!(filled(old, new, &gaps), new);
        gaps
    }

    fn numbers(seed: u64, len: usize, kinds: u32) -> Vec<u32> {
        let mut random = Rng::with_seed(seed);
        (0..len).map(|_| random.u32(..kinds)).collect()
    }

    #[test]
    fn a_few_changes_in_a_long_list_are_found_exactly() {
        let old = numbers(1, 10 * LONG, 5_000);
        let mut new = old.clone();
        new[9 * LONG] = 7_000;
        new.drain(5 * LONG..5 * LONG + 3);
        new.splice(LONG..LONG, [9_000, 9_001]);
        let at = 5 * LONG;
        let expected = [
            (LONG..LONG, LONG..LONG + 2),
            (at..at + 3, at + 2..at + 2),
            (9 * LONG..9 * LONG + 1, 9 * LONG - 1..9 * LONG),
        ];
        assert_eq!(compared(&old, &new), expected);
    }

    #[test]
    fn long_lists_with_many_changes_keep_most_of_what_is_equal() {
        let old = numbers(2, 3 * LONG, 3_000);
        let mut random = Rng::with_seed(3);
        let new: Vec<u32> = old
            .iter()
            .map(|&id| if random.u8(..10) == 0 { random.u32(..3_000) } else { id })
            .collect();
        let replaced: usize = compared(&old, &new).iter().map(|(o, _)| o.len()).sum();
        assert!(replaced < old.len() / 8, "{replaced} of {}", old.len());
    }

    #[test]
    fn long_lists_of_few_kinds_and_nothing_in_common_still_add_up() {
        for (seed, kinds) in [(1, 1), (2, 2), (3, 4), (4, 100_000)] {
            compared(&numbers(seed, 4 * LONG, kinds), &numbers(seed + 9, 4 * LONG + 5, kinds));
        }
        let (old, new) = (numbers(5, 2 * LONG, 9), vec![10; 2 * LONG]);
        assert_eq!(compared(&old, &new), [(0..2 * LONG, 0..2 * LONG)]);
    }
}
