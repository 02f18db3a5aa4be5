//! Mapping of many positions over one change.

use std::ops::Range;

use super::change_set::{ChangeSet, KEEP};
use super::map_options::InsertSide;

/// Sections between two marks: a lookup walks at most so many and finds the mark by binary search.
const SPACING: usize = 32;

/// Index of a [`ChangeSet`], for mapping many positions without walking all sections for each.
#[derive(Clone, Debug)]
pub struct PositionIndex<'a> {
    change: &'a ChangeSet,
    /// Marks in order; none for a change of few sections.
    marks: Vec<IndexMark>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IndexMark {
    pub section: usize,
    pub old: usize,
    pub new: usize,
}

impl ChangeSet {
    /// Returns an index of the change, for mapping many positions.
    pub fn index(&self) -> PositionIndex<'_> {
        let mut marks = Vec::with_capacity(self.sections.len() / SPACING);
        let mut here = IndexMark::default();
        if self.sections.len() > SPACING {
            for (at, section) in self.sections.iter().enumerate() {
                if at % SPACING == 0 && at > 0 {
                    marks.push(IndexMark { section: at, ..here });
                }
                here.old += section.len as usize;
                here.new += section.new_len() as usize;
            }
        }
        PositionIndex { change: self, marks }
    }
}

impl<'a> PositionIndex<'a> {
    /// Returns the indexed change.
    pub fn change(&self) -> &'a ChangeSet {
        self.change
    }

    /// Maps a position as [`ChangeSet::map_pos`] does.
    pub fn map_pos(&self, pos: usize, assoc: InsertSide) -> usize {
        self.change.map_pos_from(self.mark_before(pos), pos, assoc)
    }

    /// Returns the changed ranges of the old text as [`ChangeSet::changed_sections`] does, without
    /// some that end before `pos`.
    pub fn changed_sections_at(&self, pos: usize) -> impl Iterator<Item = Range<usize>> + Clone {
        let IndexMark { section, old, .. } = self.mark_before(pos);
        let sections = self.change.sections[section..].iter().scan(old, |at, section| {
            let from = *at;
            *at += section.len as usize;
            Some((section.ins != KEEP, from..*at))
        });
        sections.filter_map(|(changed, range)| changed.then_some(range))
    }

    /// Returns `true` if the change deletes a part of `[from, to)` or inserts strictly inside it.
    pub fn changes_inside(&self, from: usize, to: usize) -> bool {
        let sections = self.changed_sections_at(from).take_while(|section| section.start < to);
        sections.map(|section| section.end).any(|end| from < end)
    }

    /// Returns `true` if the change deletes the units on both sides of a position.
    pub fn removes_place(&self, at: usize) -> bool {
        self.changes_inside(at, at)
    }

    /// Returns the last mark strictly before `pos`: no section before it touches the position.
    fn mark_before(&self, pos: usize) -> IndexMark {
        let after = self.marks.partition_point(|mark| mark.old < pos);
        after.checked_sub(1).map_or_else(IndexMark::default, |at| self.marks[at])
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ChangeLimits, TextEdit};
    use super::*;

    /// Many sections of every kind, some of them side by side.
    fn busy_change() -> ChangeSet {
        let mut edits = Vec::new();
        for at in 0..300 {
            let from = at * 10;
            edits.push(match at % 4 {
                0 => TextEdit { from, to: from + 3, insert: String::new() },
                1 => TextEdit { from, to: from, insert: "new".into() },
                2 => TextEdit { from, to: from + 10, insert: "other words".into() },
                _ => TextEdit { from, to: from + 9, insert: "x".into() },
            });
        }
        let change = ChangeSet::of(3_050, &edits).unwrap();
        ChangeSet::parse(&change.to_json(), &ChangeLimits::NONE).unwrap()
    }

    #[test]
    fn every_position_goes_where_it_goes_without_the_index() {
        for change in [busy_change(), ChangeSet::identity(3_050)] {
            let index = change.index();
            for pos in 0..=3_060 {
                for assoc in [InsertSide::Before, InsertSide::After] {
                    let mapped = index.map_pos(pos, assoc);
                    assert_eq!(mapped, change.map_pos(pos, assoc), "{pos} {assoc:?}");
                }
                let all = change.changed_sections().filter(|range| range.end >= pos);
                let found = index.changed_sections_at(pos).filter(|range| range.end >= pos);
                assert!(all.eq(found), "{pos}");
            }
        }
    }

    #[test]
    fn a_lookup_walks_few_sections_of_a_change_with_many() {
        let change = busy_change();
        assert!(change.sections.len() > 400, "{}", change.sections.len());
        let index = change.index();
        let total = change.sections.len();
        for pos in (0..3_050).step_by(7) {
            let mark = index.mark_before(pos);
            let next = index.marks.iter().find(|it| it.old >= pos).map_or(total, |it| it.section);
            assert!(next - mark.section <= SPACING + 1, "{pos}: {mark:?} to {next}");
        }
    }
}
