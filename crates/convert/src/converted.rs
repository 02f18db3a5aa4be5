//! What comes out of a file: Markdown, a report, and the tracked changes of a Word document.

use crate::Report;

/// Document as Markdown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    /// Title that the file names in its properties.
    pub title: Option<String>,
    /// Text as it is without the tracked changes: what was inserted is not in it, what was deleted
    /// is.
    pub markdown: String,
    /// Tracked changes, one entry for each author, in the order of their first changes.
    pub suggestions: Vec<ImportedSuggestion>,
    /// What was left out and decided.
    pub report: Report,
}

/// Tracked changes of one author of a Word document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSuggestion {
    /// Name of the author, as the file claims it.
    pub author: String,
    /// Time of the newest change in RFC 3339, as the file claims it.
    pub at: Option<String>,
    /// Changes as they were made, in the order of their places.
    pub changes: Vec<ImportedChange>,
}

/// One tracked change, which people decide as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedChange {
    /// Replacements in the order of their places, which do not overlap.
    pub parts: Vec<ImportedPart>,
}

/// Replacement in [`Converted::markdown`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedPart {
    /// First replaced position, in UTF-16 units.
    pub from: usize,
    /// Position after the last replaced one, in UTF-16 units.
    pub to: usize,
    /// Text that stands there instead.
    pub insert: String,
}
