//! Markdown out of the tree: read back as the same tree by a reader of `CommonMark` with GitHub's
//! tables, tasks, notes and strike-through, with no escape that would be read the same without.
//!
//! 1. [`blocks`] writes paragraphs, lists and quotations, [`tables`] tables, all into [`output`].
//! 2. [`marked_text`] makes a row of words, the [`segments`], out of marks within marks.
//! 3. [`inlines`] opens and closes the marks of a row, in a [`mod@line`]. [`delimiters`] reads them
//!    back, and [`repairs`] mends those that would not be read.
//! 4. [`escapes`] and [`line_starts`] find the characters that need a backslash.

mod blocks;
mod change_edges;
mod delimiters;
mod escapes;
mod flanking;
mod inlines;
mod line;
mod line_starts;
mod links;
mod marked_text;
mod output;
mod repairs;
mod segments;
mod stretches;
mod tables;

#[cfg(test)]
mod tests;

use crate::tree::Document;

/// Document as Markdown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The text, without a line end at its end.
    pub markdown: String,
    /// Edges of tracked changes, in the order of their places.
    pub changes: Vec<ChangeEdge>,
}

/// Beginning or end of a tracked change in the Markdown.
///
/// An edge beside a mark is outside of the mark's signs if all words of the mark are in the change,
/// else inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeEdge {
    /// Number of the change in the tree.
    pub change: usize,
    /// `true` if the change begins here.
    pub is_start: bool,
    /// Place, in bytes of the Markdown.
    pub at: usize,
}

/// Writes a document as Markdown.
pub fn write(document: &Document) -> Written {
    let mut output = output::Output::default();
    blocks::write_document(&mut output, &document.blocks, &document.notes);
    let (markdown, changes) = output.finish();
    Written { markdown, changes }
}
