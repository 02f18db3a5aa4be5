//! Ranges of a document that the model has not read. The model may work on the document, but not
//! remove words that it has never seen, because its rewrite would not take them into account.

use std::fmt;

use serde::{Deserialize, Serialize};

use copydesk_document::diff::ChangedPassage;

/// Maximum number of ranges that are named.
const MOST_NAMED: usize = 4;

/// Ranges of a document in UTF-16 units: in order, disjoint, none empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadRanges(Vec<(usize, usize)>);

impl UnreadRanges {
    /// Returns the ranges of a document of length `len` of which nothing was read.
    pub fn all(len: usize) -> Self {
        let mut all = Self::default();
        all.add(0, len);
        all
    }

    /// Returns `true` if everything was read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a range that others wrote and whose text the model has not seen.
    pub fn add(&mut self, from: usize, to: usize) {
        if from >= to {
            return;
        }
        let (near, apart) = self
            .0
            .iter()
            .copied()
            .partition::<Vec<_>, _>(|&(start, end)| start <= to && from <= end);
        let joined =
            near.iter().fold((from, to), |(a, b), &(start, end)| (a.min(start), b.max(end)));
        self.0 = apart;
        self.0.push(joined);
        self.0.sort_unstable();
    }

    /// Removes a range whose text the model has seen.
    pub fn read(&mut self, from: usize, to: usize) {
        let left = |&(start, end): &(usize, usize)| [(start, end.min(from)), (start.max(to), end)];
        self.0 = self.0.iter().flat_map(left).filter(|(start, end)| start < end).collect();
    }

    /// Returns the ranges in positions after `passages` have changed.
    #[must_use]
    pub fn moved(&self, passages: &[ChangedPassage]) -> Self {
        let mut moved = Self::default();
        for &(start, end) in &self.0 {
            let start = place(passages, start, |passage| passage.new.start);
            let end = place(passages, end, |passage| passage.new.end);
            moved.add(start, end);
        }
        moved
    }

    /// Returns `true` if any unread unit lies in this range.
    pub fn touches(&self, from: usize, to: usize) -> bool {
        self.0.iter().any(|&(start, end)| start < to && from < end)
    }
}

fn place(passages: &[ChangedPassage], at: usize, edge: fn(&ChangedPassage) -> usize) -> usize {
    match passages.iter().rev().find(|passage| passage.old.start < at) {
        Some(passage) if at < passage.old.end => edge(passage),
        Some(passage) => at - passage.old.end + passage.new.end,
        None => at,
    }
}

impl fmt::Display for UnreadRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (start, end)) in self.0.iter().take(MOST_NAMED).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{start} to {end}")?;
        }
        match self.0.len().saturating_sub(MOST_NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} other ranges"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unread(ranges: &[(usize, usize)]) -> UnreadRanges {
        let mut unread = UnreadRanges::default();
        for &(from, to) in ranges {
            unread.add(from, to);
        }
        unread
    }

    #[test]
    fn ranges_that_touch_are_one() {
        assert_eq!(unread(&[(5, 7), (1, 2), (7, 9), (3, 3)]), UnreadRanges(vec![(1, 2), (5, 9)]));
    }

    #[test]
    fn what_is_read_is_no_longer_unread() {
        let mut all = UnreadRanges::all(10);
        all.read(2, 4);
        assert_eq!(all, unread(&[(0, 2), (4, 10)]));
        assert!(all.touches(1, 3) && all.touches(3, 5) && !all.touches(2, 4) && !all.touches(4, 4));
        all.read(0, 10);
        assert!(all.is_empty());
    }

    #[test]
    fn it_moves_with_what_is_written_elsewhere() {
        let longer = [ChangedPassage { old: 2..3, new: 2..6 }];
        assert_eq!(unread(&[(0, 2), (4, 8)]).moved(&longer), unread(&[(0, 2), (7, 11)]));
        // What was rewritten around it is still unread.
        assert_eq!(unread(&[(2, 3)]).moved(&longer), unread(&[(2, 6)]));
        // So is what was put at its beginning, until the model sees it.
        let first = [ChangedPassage { old: 0..0, new: 0..4 }];
        assert_eq!(unread(&[(0, 2)]).moved(&first), unread(&[(0, 6)]));
    }

    #[test]
    fn people_and_models_are_told_the_first_few() {
        assert_eq!(unread(&[(1, 2), (4, 6)]).to_string(), "1 to 2, 4 to 6");
        let many: Vec<_> = (0..6).map(|at| (at * 10, at * 10 + 1)).collect();
        assert_eq!(
            unread(&many).to_string(),
            "0 to 1, 10 to 11, 20 to 21, 30 to 31 and 2 other ranges"
        );
    }
}
