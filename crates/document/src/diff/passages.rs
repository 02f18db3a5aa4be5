//! Differences between two texts in a few large passages: for reports on changes.

use std::ops::Range;

use crate::utf16_len;

use super::blocks::blocks;
use super::draft::DiffLimits;
use super::pipeline::{block_gaps, start_of};

/// A passage that differs, in UTF-16 units: `old` became `new`. Either may be empty, not both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedPassage {
    /// Range in the old text.
    pub old: Range<usize>,
    /// Range in the new text.
    pub new: Range<usize>,
}

/// Returns the passages in which `old` and `new` differ, in order. Equal blocks (paragraphs, list
/// items, lines of code) separate the passages; within a passage only the common start and end are
/// left out.
pub fn passages(old: &str, new: &str, limits: &DiffLimits) -> Vec<ChangedPassage> {
    let (old_blocks, new_blocks) = (blocks(old), blocks(new));
    let (mut old_at, mut new_at) = (UnitCounter::of(old), UnitCounter::of(new));
    let mut found = Vec::new();
    for (o, n) in block_gaps((old, &old_blocks), (new, &new_blocks), limits) {
        let within = |text, blocks, range: &Range<usize>| {
            start_of(text, blocks, range.start)..start_of(text, blocks, range.end)
        };
        let (o, n) = (within(old, &old_blocks, &o), within(new, &new_blocks, &n));
        let (head, tail) = common_ends(&old[o.clone()], &new[n.clone()]);
        let (o, n) = (o.start + head..o.end - tail, n.start + head..n.end - tail);
        if !o.is_empty() || !n.is_empty() {
            found.push(ChangedPassage { old: old_at.range(&o), new: new_at.range(&n) });
        }
    }
    found
}

/// Returns the number of common bytes at the start and at the end of two texts; together never more
/// than the shorter one.
pub fn common_ends(old: &str, new: &str) -> (usize, usize) {
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let whole = STEP * equal(a.chunks_exact(STEP).zip(b.chunks_exact(STEP)));
    let mut head = whole + equal(a[whole..].iter().zip(&b[whole..]));
    while !(old.is_char_boundary(head) && new.is_char_boundary(head)) {
        head -= 1;
    }
    let (old, new) = (&old[head..], &new[head..]);
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let whole = STEP * equal(a.rchunks_exact(STEP).zip(b.rchunks_exact(STEP)));
    let (a, b) = (&a[..a.len() - whole], &b[..b.len() - whole]);
    let mut tail = whole + equal(a.iter().rev().zip(b.iter().rev()));
    while !(old.is_char_boundary(old.len() - tail) && new.is_char_boundary(new.len() - tail)) {
        tail -= 1;
    }
    (head, tail)
}

/// Bytes compared at once, which is much faster than one by one.
const STEP: usize = 256;

/// Counts the equal pairs before the first unequal one.
fn equal<T: PartialEq>(pairs: impl Iterator<Item = (T, T)>) -> usize {
    pairs.take_while(|(a, b)| a == b).count()
}

/// Counter of the UTF-16 units of a text up to increasing places.
struct UnitCounter<'t> {
    text: &'t str,
    bytes: usize,
    units: usize,
}

impl<'t> UnitCounter<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, bytes: 0, units: 0 }
    }

    fn range(&mut self, bytes: &Range<usize>) -> Range<usize> {
        self.go(bytes.start)..self.go(bytes.end)
    }

    fn go(&mut self, to: usize) -> usize {
        self.units += utf16_len(&self.text[self.bytes..to]);
        self.bytes = to;
        self.units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(old: &str, new: &str) -> Vec<(Range<usize>, Range<usize>)> {
        let passages = passages(old, new, &DiffLimits::default());
        passages.into_iter().map(|it| (it.old, it.new)).collect()
    }

    #[test]
    fn what_was_written_in_two_places_is_two_passages() {
        let old = "One.\n\nTwo 😀.\n\nThree.";
        assert_eq!(found(old, old), []);
        assert_eq!(found(old, "Oné.\n\nTwo 😀.\n\nThree!"), [(2..3, 2..3), (20..21, 20..21)]);
        assert_eq!(found(old, "One.\n\nTwo 😀!.\n\nThree."), [(12..12, 12..13)]);
        assert_eq!(found("", "New."), [(0..0, 0..4)]);
    }

    #[test]
    fn ends_are_the_same_wherever_a_step_or_a_character_ends() {
        for length in [0, 1, 84, 85, 86, 127, 128, 129, 300] {
            // Three bytes and four, of which the first ones are the same.
            let (head, tail) = ("€".repeat(length), "😀".repeat(length));
            let text = |middle: &str| format!("{head}{middle}{tail}");
            let ends = common_ends(&text("ä"), &text("ö"));
            assert_eq!(ends, (head.len(), tail.len()), "{length}");
            assert_eq!(common_ends(&text("x"), &text("x")), (text("x").len(), 0));
            let (ahead, _) = common_ends(&text("a"), &head);
            assert_eq!(ahead, head.len());
        }
    }

    #[test]
    fn outside_of_the_passages_both_texts_are_the_same() {
        let mut random = fastrand::Rng::with_seed(7);
        let words = ["a", "b 😀", "c.", "\n\n", "- d\n", "\n"];
        let mut text =
            || -> String { (0..40).map(|_| words[random.usize(..words.len())]).collect() };
        for _ in 0..2_000 {
            let (old, new) = (text(), text());
            let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
            let (before, after) = (units(&old), units(&new));
            let (mut made, mut at) = (Vec::new(), 0);
            for ChangedPassage { old, new } in passages(&old, &new, &DiffLimits::default()) {
                made.extend(&before[at..old.start]);
                made.extend(&after[new]);
                at = old.end;
            }
            made.extend(&before[at..]);
            assert_eq!(String::from_utf16(&made).unwrap(), new, "{old:?}");
        }
    }
}
