//! Marks of Markdown that mean something only together, and the changes that share them.
//!
//! A change that touches a mark is joined with those that touch the other marks of its pair, so
//! that accepting one of them never opens what another one closes. Where a mark stays and gets
//! another partner, the old pair and the new one count as one. Changes are never joined for marks
//! that stay as they are.

mod html;
mod joined;
mod quotes;
mod scan;
mod seams;
mod table;
mod touched;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub(super) use joined::joined;
pub use joined::part_groups;
pub(super) use table::cells;

/// Marks of one text that are decided together, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MarkPair {
    /// Opening and closing mark. A heading has its underline only.
    marks: Vec<Range<usize>>,
    /// Range of which every change belongs to the marks once one of those changes: lines of code
    /// read as code only between their fences.
    content: Option<Range<usize>>,
}

/// A list entry that has lists, or further paragraphs, below it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EntryTree {
    text: Range<usize>,
    range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Table {
    range: Range<usize>,
    /// Beginning of the line below the header.
    rule: usize,
    /// Header cells, as written.
    columns: Vec<String>,
}

impl Table {
    /// Returns `true` if the other table has as many columns, and those with the same name in the
    /// same places.
    fn keeps_columns(&self, other: &Self) -> bool {
        let is_elsewhere = |(index, name): (usize, &String)| {
            other.columns.contains(name) && other.columns[index] != *name
        };
        self.columns.len() == other.columns.len()
            && !self.columns.iter().enumerate().any(is_elsewhere)
    }
}

#[derive(Debug, Default)]
struct Structures {
    /// In the order of their ends.
    pairs: Vec<MarkPair>,
    entries: Vec<EntryTree>,
    /// Markers of each list that stands in no other one.
    lists: Vec<Vec<Range<usize>>>,
    tables: Vec<Table>,
}
