//! Document as a sequence of characters, references to notes, and ends of paragraphs.

use std::collections::HashMap;

pub(super) use pulldown_cmark::Alignment;

use super::super::markdown::note_key;

/// Number of languages of code that have a style of their own.
const MOST_LANGUAGES: usize = 200;
/// Longest name of such a language, in bytes.
const LONGEST_LANGUAGE: usize = 40;

/// Style of a character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CharStyle {
    /// Sum of [`BOLD`], [`ITALIC`], [`STRUCK`], [`CODE`], [`PICTURE`] and [`FORMULA`].
    pub style: u8,
    /// Address of its link, by number in [`FlowNames`].
    pub link: Option<u32>,
    /// Footnote that it is in, by number in [`FlowNames`].
    pub note: Option<u32>,
}

pub(super) const BOLD: u8 = 1;
pub(super) const ITALIC: u8 = 2;
pub(super) const STRUCK: u8 = 4;
pub(super) const CODE: u8 = 8;
/// Description of a picture; its link is the picture's address.
pub(super) const PICTURE: u8 = 16;
/// Formula, with the dollar signs around it.
pub(super) const FORMULA: u8 = 32;

/// Paragraph: what it is, and what it is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Paragraph {
    pub kind: ParagraphKind,
    /// List that it begins an item of.
    pub item: Option<ListKind>,
    /// Number of lists around it.
    pub lists: u8,
    /// Number of quotations around it.
    pub quotes: u8,
    /// Footnote that it is in, by number in [`FlowNames`].
    pub note: Option<u32>,
}

impl Paragraph {
    pub fn cell(self) -> Option<TableCell> {
        match self.kind {
            ParagraphKind::Cell(cell) => Some(cell),
            _ => None,
        }
    }
}

/// Kind of a paragraph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ParagraphKind {
    #[default]
    Text,
    /// Heading of level 1 to 6.
    Heading(u8),
    /// One line of code; its language by number in [`FlowNames`].
    Code(Option<u8>),
    Rule,
    Cell(TableCell),
}

/// Cell of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TableCell {
    /// Column, counted from 0.
    pub column: u32,
    /// Number of columns of its row.
    pub columns: u32,
    /// `true` in the heading row.
    pub is_head: bool,
    pub alignment: Alignment,
}

impl Eq for TableCell {}

impl TableCell {
    /// Returns the column and the number of columns.
    pub fn place(self) -> (u32, u32) {
        (self.column, self.columns)
    }
}

/// Kind of a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum ListKind {
    Bullets,
    /// Numbered list. Its place in the source (`id`) distinguishes it from other lists, which count
    /// anew.
    Numbers {
        id: u32,
        start: u32,
    },
}

/// Ignores the place of a list, because it moves with the text before the list.
impl PartialEq for ListKind {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bullets, Self::Bullets) => true,
            (Self::Numbers { start, .. }, Self::Numbers { start: theirs, .. }) => start == theirs,
            (Self::Bullets, Self::Numbers { .. }) | (Self::Numbers { .. }, Self::Bullets) => false,
        }
    }
}

impl Eq for ListKind {}

/// Item of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowItem {
    /// Character; `\n` breaks the line within a paragraph.
    Char(char, CharStyle),
    /// Reference to a footnote, by number in [`FlowNames`].
    Note(u32, CharStyle),
    /// End of a paragraph.
    End(Paragraph),
}

/// Item and the byte of the source it comes from. Places never decrease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlowToken {
    pub at: usize,
    pub glyph: FlowItem,
}

/// Names that both texts of a document share, numbered in the order of their first use.
#[derive(Debug, Default)]
pub(super) struct FlowNames {
    links: HashMap<String, u32>,
    /// Addresses of links.
    pub addresses: Vec<String>,
    /// Footnotes that are referred to, by their keys.
    notes: HashMap<String, u32>,
    /// Languages of code.
    pub languages: Vec<String>,
}

impl FlowNames {
    /// Returns the number of an address; `None` for a scheme that is not safe to link.
    pub fn link(&mut self, address: &str) -> Option<u32> {
        let scheme = address.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        if !matches!(scheme.as_deref(), Some("http" | "https" | "mailto")) {
            return None;
        }
        if let Some(number) = self.links.get(address) {
            return Some(*number);
        }
        let number = self.addresses.len() as u32;
        self.links.insert(address.to_owned(), number);
        self.addresses.push(address.to_owned());
        Some(number)
    }

    /// Adds footnotes that a text refers to, by their keys.
    pub fn refer_to(&mut self, keys: impl IntoIterator<Item = String>) {
        for key in keys {
            let next = self.notes.len() as u32;
            self.notes.entry(key).or_insert(next);
        }
    }

    /// Returns the number of a footnote; `None` if no text refers to it.
    pub fn note(&self, label: &str) -> Option<u32> {
        self.notes.get(&note_key(label)).copied()
    }

    /// Returns the number of the language of a block of code, from the words after its fence;
    /// `None` if it has none, or one that can be no name.
    pub fn language(&mut self, info: &str) -> Option<u8> {
        let name = info.split_whitespace().next()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_+-#.".contains(c);
        if name.len() > LONGEST_LANGUAGE || !name.chars().all(is_plain) {
            return None;
        }
        let known = self.languages.iter().position(|known| known == name);
        if known.is_none() && self.languages.len() < MOST_LANGUAGES {
            self.languages.push(name.to_owned());
            return u8::try_from(self.languages.len() - 1).ok();
        }
        known.and_then(|known| u8::try_from(known).ok())
    }
}
