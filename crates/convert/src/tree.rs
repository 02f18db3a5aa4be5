//! A document as blocks and words, whatever program it came from.
//!
//! Readers make this tree and need not know Markdown: escapes, fences, nesting and blanks beside
//! marks are the writer's business. Texts hold the characters that people saw.

/// Document that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Title that the file names in its properties, not a heading of its text.
    pub title: Option<String>,
    /// Content from top to bottom.
    pub blocks: Vec<Block>,
    /// Footnotes and endnotes, in the order of their first references.
    pub notes: Vec<Note>,
}

/// Footnote or endnote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Label that [`Inline::NoteReference`] names, such as `1`.
    pub label: String,
    /// Content of the note.
    pub blocks: Vec<Block>,
}

/// Part of a document that begins on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Paragraph.
    Paragraph(Vec<Inline>),
    /// Heading of level 1 to 6.
    Heading {
        /// Level, 1 to 6.
        level: u8,
        /// Words of the heading.
        content: Vec<Inline>,
    },
    /// Code, exactly as it was, without a last line end.
    Code {
        /// Name of the language, empty if none is known.
        language: String,
        /// Lines of the code.
        text: String,
    },
    /// Formula on lines of its own, in the notation of TeX.
    Formula(String),
    /// Quotation.
    Quote(Vec<Block>),
    /// List.
    List(List),
    /// Table.
    Table(Table),
    /// Line between two parts.
    Rule,
}

/// List with entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// Number of the first entry; nothing for a list with bullets.
    pub start: Option<u64>,
    /// `true` if blank lines stand between its entries.
    pub loose: bool,
    /// Entries.
    pub entries: Vec<Entry>,
}

/// Entry of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// `true` if a task is done; `None` for an entry that is no task.
    pub done: Option<bool>,
    /// Content: paragraphs, inner lists, code.
    pub blocks: Vec<Block>,
}

/// Table whose rows all have as many cells as it has columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Alignment of each column.
    pub columns: Vec<Alignment>,
    /// Cells of the heading row, empty cells if the source had no heading.
    pub heading: Vec<Vec<Inline>>,
    /// Other rows.
    pub rows: Vec<Vec<Vec<Inline>>>,
}

/// Alignment of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alignment {
    /// As the reader's program does it.
    #[default]
    Unset,
    /// At the left.
    Left,
    /// In the middle.
    Center,
    /// At the right.
    Right,
}

/// Words and what is marked in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inline {
    /// Characters as people saw them, nothing in them is Markdown.
    Text(String),
    /// Emphasis, set in italics.
    Emphasis(Vec<Inline>),
    /// Strong emphasis, set in bold.
    Strong(Vec<Inline>),
    /// Struck out.
    Strikethrough(Vec<Inline>),
    /// Code within a line.
    Code(String),
    /// Formula within a line, in the notation of TeX.
    Formula(String),
    /// Link.
    Link {
        /// Address, of a scheme that is safe to follow.
        url: String,
        /// Title, empty if there is none.
        title: String,
        /// Words of the link.
        content: Vec<Inline>,
    },
    /// Picture at an address of the web. It is not loaded.
    Picture {
        /// Address.
        url: String,
        /// Title, empty if there is none.
        title: String,
        /// Description.
        description: String,
    },
    /// Line break within a paragraph.
    Break,
    /// Reference to a footnote, by its label.
    NoteReference(String),
    /// Beginning of what a tracked change with that number inserted or deleted. It has no width and
    /// is written as nothing; the writer says where it stands.
    ChangeStart(usize),
    /// End of the same.
    ChangeEnd(usize),
}
