//! A Word document as it was read: paragraphs and tables with all tracked changes in them.

use super::properties::ParagraphProperties;

/// Bold.
pub(super) const BOLD: u8 = 1;
/// Italic.
pub(super) const ITALIC: u8 = 2;
/// Struck out.
pub(super) const STRUCK: u8 = 4;
/// Code, by its style.
pub(super) const CODE: u8 = 8;
/// Letters of one width, which are code unless the whole document is set in them.
pub(super) const MONOSPACED: u8 = 16;
/// Description of a picture of the web; its link is the picture's address.
pub(super) const PICTURE: u8 = 32;
/// Formula as TeX between dollar signs.
pub(super) const FORMULA: u8 = 64;

/// Number of the first thread among the edges in paragraphs; smaller ones are of tracked changes.
pub(super) const FIRST_THREAD: usize = usize::MAX / 2;

/// Tracked state of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tracked {
    /// Insertion, by its index in [`Findings::revisions`](super::story::Findings::revisions).
    pub inserted: Option<usize>,
    /// Deletion, by the same index.
    pub deleted: Option<usize>,
}

impl Tracked {
    /// Returns whether it is in a view of the document.
    pub fn is_in(self, view: View) -> bool {
        match view {
            View::Rejected => self.inserted.is_none(),
            View::Accepted => self.deleted.is_none(),
        }
    }

    /// Returns the revision that it is decided by: nothing for what stays, and the insertion for
    /// what another person deleted in it.
    pub fn revision(self) -> Option<usize> {
        self.inserted.or(self.deleted)
    }

    /// Returns this state inside of something that is tracked itself.
    pub fn within(self, outer: Self) -> Self {
        Self { inserted: self.inserted.or(outer.inserted), deleted: self.deleted.or(outer.deleted) }
    }
}

/// View of the text in which all changes are decided the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// All changes are rejected.
    Rejected,
    /// All changes are accepted.
    Accepted,
}

/// Tracked change of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Revision {
    /// Author, as the file claims.
    pub author: String,
    /// Time in RFC 3339, as the file claims.
    pub at: Option<String>,
    /// Name of the move that it is one half of, or of the bookmark by which this server tells its
    /// changes apart.
    pub move_name: Option<String>,
}

/// Address of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LinkTarget {
    pub url: String,
    pub title: String,
}

/// Look of characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// Sum of [`BOLD`], [`ITALIC`], [`STRUCK`], [`CODE`], [`MONOSPACED`], [`PICTURE`] and
    /// [`FORMULA`].
    pub marks: u8,
    /// Link, by its index in [`Findings::links`](super::story::Findings::links).
    pub link: Option<usize>,
}

/// Smallest part of a paragraph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Atom {
    pub content: Content,
    pub look: Look,
    pub tracked: Tracked,
}

/// Kind of an [`Atom`].
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    Text(String),
    Break,
    /// Formula as TeX; on lines of its own if `is_block`.
    Formula {
        tex: String,
        is_block: bool,
    },
    /// Picture of the web.
    Picture {
        url: String,
        description: String,
    },
    /// Reference to a note, by its label.
    Note(String),
    /// Line from margin to margin.
    Rule,
    /// Edge of a tracked change, or of the passage of a thread from [`FIRST_THREAD`]
    /// on.
    Edge {
        site: usize,
        is_start: bool,
    },
}

/// Paragraph.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Paragraph {
    pub properties: ParagraphProperties,
    pub atoms: Vec<Atom>,
    /// State of the paragraph's end.
    pub mark: Tracked,
    /// Tracked change that made it another kind of paragraph.
    pub before: Option<RestyledParagraph>,
}

/// Tracked change of the kind of a paragraph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RestyledParagraph {
    /// Properties before the change.
    pub properties: ParagraphProperties,
    /// Change, by its index in [`Findings::revisions`](super::story::Findings::revisions).
    pub revision: usize,
}

impl Paragraph {
    /// Returns whether there is something in it that people see.
    pub fn has_content(&self) -> bool {
        self.atoms.iter().any(|atom| !matches!(atom.content, Content::Edge { .. }))
    }
}

/// Part of a document that begins on a line of its own.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StoryBlock {
    Paragraph(Paragraph),
    Table(StoryTable),
}

/// Table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StoryTable {
    pub rows: Vec<StoryRow>,
    /// `true` if its style sets the first row apart.
    pub has_heading: bool,
}

/// Row of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StoryRow {
    pub cells: Vec<StoryCell>,
    /// Number of columns that are left free before the first cell.
    pub skipped: usize,
    /// `true` if it is repeated on each page.
    pub is_heading: bool,
    pub tracked: Tracked,
}

/// Cell of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StoryCell {
    /// Number of columns that it covers.
    pub span: usize,
    /// `true` for the lower part of a cell that covers several rows.
    pub goes_on: bool,
    /// `true` for the upper part of such a cell.
    pub begins_tall: bool,
    pub blocks: Vec<StoryBlock>,
}
