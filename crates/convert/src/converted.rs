//! Results of a conversion: Markdown, a report, and the tracked changes and comments of a Word
//! document.

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
    /// Threads of comments, in the order of the file.
    pub threads: Vec<ImportedThread>,
    /// Things that were left out, and decisions of the reader.
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
    /// Explanation that this server exported with the change.
    pub explanation: Option<String>,
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

/// Comment of a Word document, and the answers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedThread {
    /// Passage in [`Converted::markdown`], in UTF-16 units; `None`: the whole document, or a
    /// change that only inserts.
    pub range: Option<(usize, usize)>,
    /// Change that it is about: the index of a suggestion, and of a change in it.
    pub about: Option<(usize, usize)>,
    /// Words that the thread was on before they were deleted, in a document of this server.
    pub deleted_words: Option<String>,
    /// Comments in the order of the file, at least one.
    pub comments: Vec<ImportedComment>,
    /// `true` if the discussion has ended.
    pub is_resolved: bool,
}

/// One comment of a Word document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedComment {
    /// Name of the author, as the file claims it.
    pub author: String,
    /// Time in RFC 3339, as the file claims it.
    pub at: Option<String>,
    /// Text, which is not empty.
    pub text: String,
}
