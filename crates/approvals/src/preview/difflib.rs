//! Lines that two texts have in common, as Python's `difflib` finds them, so that a diff reads as
//! the one that clients of the tool approval protocol know.
//!
//! A port of `SequenceMatcher` with `isjunk=None`: the longest run of equal lines first, then the
//! ranges on either side of it. A line that makes up more than a hundredth of a text of 200 lines
//! or more begins no run (`autojunk`). It stops after a fixed number of steps, because it can take
//! the square of the length and more.

use std::collections::HashMap;
use std::ops::Range;

/// Steps that a comparison may take: some tens of milliseconds.
pub(crate) const MOST_STEPS: usize = 4_000_000;
/// Number of lines from which a text can have popular lines.
const AUTOJUNK_LINES: usize = 200;
/// Largest number of replaced lines, on either side, for which [`both_ends`] is tried.
const MOST_REPLACED: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EqualLines {
    pub(crate) old: usize,
    pub(crate) new: usize,
    pub(crate) len: usize,
}

/// Returns the runs of equal lines, in order; `None`: it takes more than `steps`.
pub(crate) fn matching_blocks(old: &[&str], new: &[&str], steps: usize) -> Option<Vec<EqualLines>> {
    both_ends(old, new).or_else(|| by_longest(old, new, steps))
}

/// Returns the runs at the start and at the end, where there are no others: as in most proposals,
/// some lines in the middle are replaced by others that occur nowhere else.
///
/// Then no run is longer than the longer of these two, and no run of that length comes before it,
/// so it is found first, and the other one in what is left.
fn both_ends(old: &[&str], new: &[&str]) -> Option<Vec<EqualLines>> {
    let (head, tail) = same_ends(old, new);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let (replaced, by) = (&old[head..old_end], &new[head..new_end]);
    let is_short = |lines: &[&str]| (1..=MOST_REPLACED).contains(&lines.len());
    let is_none_in = |other: &[&str], lines: &[&str]| !lines.iter().any(|it| other.contains(it));
    // Popular lines begin no run, so where there may be some, equal lines are not always found.
    let holds = new.len() < AUTOJUNK_LINES
        && is_short(replaced)
        && is_short(by)
        && is_none_in(new, replaced)
        && is_none_in(old, by);
    let ends = [
        EqualLines { old: 0, new: 0, len: head },
        EqualLines { old: old_end, new: new_end, len: tail },
    ];
    holds.then(|| ends.into_iter().filter(|block| block.len > 0).collect())
}

fn same_ends(old: &[&str], new: &[&str]) -> (usize, usize) {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(new).take_while(same).count();
    let rest = old[head..].iter().rev().zip(new[head..].iter().rev());
    (head, rest.take_while(same).count())
}

fn by_longest(old: &[&str], new: &[&str], steps: usize) -> Option<Vec<EqualLines>> {
    let mut matcher = LineMatcher::of(old, new, steps);
    let mut queue = vec![(0..old.len(), 0..new.len())];
    let mut found = Vec::new();
    while let Some((o, n)) = queue.pop() {
        let block = matcher.longest(o.clone(), n.clone())?;
        if block.len == 0 {
            continue;
        }
        found.push(block);
        let (o_end, n_end) = (block.old + block.len, block.new + block.len);
        if o.start < block.old && n.start < block.new {
            queue.push((o.start..block.old, n.start..block.new));
        }
        if o_end < o.end && n_end < n.end {
            queue.push((o_end..o.end, n_end..n.end));
        }
    }
    found.sort_unstable();
    Some(joined(found))
}

fn joined(found: Vec<EqualLines>) -> Vec<EqualLines> {
    let mut blocks: Vec<EqualLines> = Vec::new();
    for block in found {
        match blocks.last_mut() {
            Some(last) if (last.old + last.len, last.new + last.len) == (block.old, block.new) => {
                last.len += block.len;
            }
            _ => blocks.push(block),
        }
    }
    blocks
}

struct LineMatcher {
    /// Numbers of the lines; equal lines have equal numbers.
    old: Vec<usize>,
    new: Vec<usize>,
    /// Places in the new text, by the number of a line; none if the line is popular.
    places: Vec<Vec<usize>>,
    /// Length of the run that ends at a place of the new text, by that place plus one: at the
    /// current line of the old text, and at the line before.
    runs: Vec<usize>,
    runs_before: Vec<usize>,
    steps_left: usize,
}

impl LineMatcher {
    fn of<'t>(old: &[&'t str], new: &[&'t str], steps: usize) -> Self {
        let mut numbers: HashMap<&'t str, usize> = HashMap::new();
        let mut number = |line: &&'t str| {
            let next = numbers.len();
            *numbers.entry(*line).or_insert(next)
        };
        // Most lines are equal at both ends and need not be looked up twice.
        let (head, tail) = same_ends(old, new);
        let middle = &new[head..new.len() - tail];
        let old: Vec<usize> = old.iter().map(&mut number).collect();
        let middle: Vec<usize> = middle.iter().map(&mut number).collect();
        let new = [&old[..head], &middle, &old[old.len() - tail..]].concat();
        let mut places = vec![Vec::new(); numbers.len()];
        for (place, &line) in new.iter().enumerate() {
            places[line].push(place);
        }
        if new.len() >= AUTOJUNK_LINES {
            let most = new.len() / 100 + 1;
            places.iter_mut().filter(|it| it.len() > most).for_each(Vec::clear);
        }
        let runs = vec![0; new.len() + 1];
        Self { old, new, places, runs_before: runs.clone(), runs, steps_left: steps }
    }

    /// Returns the longest run of equal lines in two ranges: of several the first in the old text,
    /// then the first in the new one. `None`: no steps are left.
    fn longest(&mut self, old: Range<usize>, new: Range<usize>) -> Option<EqualLines> {
        let mut best = EqualLines { old: old.start, new: new.start, len: 0 };
        let Self { old: lines, places, runs, runs_before, steps_left, .. } = self;
        let mut noted: &[usize] = &[];
        for at in old.clone() {
            let all = &places[lines[at]];
            let within = |end: usize| all.partition_point(|&place| place < end);
            let here = &all[within(new.start)..within(new.end)];
            *steps_left = steps_left.checked_sub(1 + here.len())?;
            let mut longest_here = 0;
            for &place in here {
                let len = runs_before[place] + 1;
                runs[place + 1] = len;
                longest_here = longest_here.max(len);
                if len > best.len {
                    best = EqualLines { old: at + 1 - len, new: place + 1 - len, len };
                }
            }
            for &place in noted {
                runs_before[place + 1] = 0;
            }
            noted = here;
            std::mem::swap(runs, runs_before);
            // Runs that go on from here or begin later get no longer than the best.
            if longest_here + (old.end - at - 1) <= best.len {
                break;
            }
        }
        for &place in noted {
            runs_before[place + 1] = 0;
        }
        Some(self.extended(best, &old, &new))
    }

    fn extended(
        &self,
        mut block: EqualLines,
        old: &Range<usize>,
        new: &Range<usize>,
    ) -> EqualLines {
        let same = |o: usize, n: usize| self.old[o] == self.new[n];
        while block.old > old.start && block.new > new.start && same(block.old - 1, block.new - 1) {
            block = EqualLines { old: block.old - 1, new: block.new - 1, len: block.len + 1 };
        }
        while block.old + block.len < old.end
            && block.new + block.len < new.end
            && same(block.old + block.len, block.new + block.len)
        {
            block.len += 1;
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_in_the_middle_is_found_as_any_other_change_is() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut found = 0;
        for _ in 0..20_000 {
            // Few lines, so that many of them are there more than once.
            let mut lines = |kinds: &[&'static str]| -> Vec<&str> {
                (0..random.usize(0..5)).map(|_| kinds[random.usize(0..kinds.len())]).collect()
            };
            let (head, tail) = (lines(&["a", "b"]), lines(&["a", "b"]));
            let (replaced, by) = (lines(&["a", "x", "y"]), lines(&["b", "z"]));
            let (old, new) =
                ([&*head, &*replaced, &*tail].concat(), [&*head, &*by, &*tail].concat());
            let Some(ends) = both_ends(&old, &new) else { continue };
            found += 1;
            assert_eq!(Some(ends), by_longest(&old, &new, MOST_STEPS), "{old:?} {new:?}");
        }
        assert!(found > 1_000, "{found}");
    }
}
