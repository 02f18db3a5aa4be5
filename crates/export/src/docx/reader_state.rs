//! Place of the reader in a text: the blocks and styles around it.

use super::super::markdown::CommentFilter;
use super::flow::{Alignment, CharStyle, ListKind, Paragraph, ParagraphKind};

/// Block that encloses the reader's place.
pub(super) enum ReaderContext {
    Quote,
    List(ListKind),
    Item { is_new: bool },
    Note(u32),
}

impl ReaderContext {
    pub fn note(&self) -> Option<u32> {
        match self {
            Self::Note(note) => Some(*note),
            Self::Quote | Self::List(_) | Self::Item { .. } => None,
        }
    }
}

/// Picture whose description is being read.
pub(super) struct OpenPicture {
    pub address: String,
    pub is_linked: bool,
    /// `true` if there are no words yet.
    pub is_empty: bool,
}

/// Blocks and styles around the reader's place, and its paragraph.
#[derive(Default)]
pub(super) struct ReaderState {
    pub around: Vec<ReaderContext>,
    /// Footnote that is being read.
    pub note: Option<u32>,
    /// Kind of the current paragraph, if it is no text.
    pub block: Option<ParagraphKind>,
    pub looks: Vec<CharStyle>,
    pub pictures: Vec<OpenPicture>,
    pub comments: CommentFilter,
    /// Alignments of the columns of the table.
    pub columns: Vec<Alignment>,
    /// Column of the current cell.
    pub column: u32,
    pub is_head: bool,
    /// `true` if characters of the paragraph have been read.
    pub is_open: bool,
    /// End of the source that was read, in bytes.
    pub end: usize,
    /// `true` between the label of a note that stays in the text and its first words.
    pub is_after_label: bool,
}

impl ReaderState {
    /// Enters a style within the current one: both apply.
    pub fn look(&mut self, style: u8, link: Option<u32>) {
        let around = self.looks.last().copied().unwrap_or_default();
        self.looks.push(CharStyle {
            style: around.style | style,
            link: link.or(around.link),
            note: None,
        });
    }

    /// Returns the style of characters here, with `style`.
    pub fn style(&self, style: u8) -> CharStyle {
        let around = self.looks.last().copied().unwrap_or_default();
        CharStyle { style: around.style | style, note: self.note, ..around }
    }

    /// Returns a paragraph here, with the blocks around it.
    pub fn paragraph(&self, kind: ParagraphKind) -> Paragraph {
        let mut paragraph = Paragraph { kind, ..Paragraph::default() };
        let mut list = None;
        for around in &self.around {
            match around {
                ReaderContext::Quote => paragraph.quotes = paragraph.quotes.saturating_add(1),
                ReaderContext::List(kind) => {
                    list = Some(*kind);
                    paragraph.lists = paragraph.lists.saturating_add(1);
                }
                ReaderContext::Item { is_new } => paragraph.item = list.filter(|_| *is_new),
                ReaderContext::Note(note) => {
                    paragraph = Paragraph { kind, note: Some(*note), ..Paragraph::default() };
                }
            }
        }
        paragraph
    }
}
