//! Footnotes of a Word document.
//!
//! In Word a footnote belongs to one reference. Of several references to one note the first is the
//! footnote's own and others are cross-references to it. What a change deletes and what it inserts
//! have footnotes of their own, so that each is whole whatever is decided.

use std::collections::HashMap;
use std::io::{self, Write};

use super::steps::RevisionMark;

/// Beginning of the first paragraph of each footnote: its number.
pub(super) const NUMBER: &str = "<w:r><w:rPr><w:rStyle w:val=\"FootnoteReference\"/></w:rPr><w:footnoteRef/></w:r>\
    <w:r><w:t xml:space=\"preserve\"> </w:t></w:r>";

/// References that were written.
#[derive(Default)]
pub(super) struct WrittenNotes {
    /// Number of the footnote, by note and kind of mark.
    known: HashMap<(u32, u8), usize>,
    /// Notes in the order of their footnotes.
    notes: Vec<u32>,
}

/// Reference to a footnote.
#[derive(Clone, Copy)]
pub(super) struct NoteReference {
    /// Number of the footnote, from 1.
    number: usize,
    is_first: bool,
}

impl WrittenNotes {
    /// Returns the reference for a note that is referred to.
    pub fn refer(&mut self, note: u32, mark: RevisionMark) -> NoteReference {
        let kind = match mark {
            RevisionMark::Stays => 0,
            RevisionMark::Deleted(_) => 1,
            RevisionMark::Inserted(_) => 2,
        };
        let next = self.notes.len() + 1;
        let number = *self.known.entry((note, kind)).or_insert(next);
        let is_first = number == next;
        if is_first {
            self.notes.push(note);
        }
        NoteReference { number, is_first }
    }

    /// Writes the footnotes; `contents` are their paragraphs, by note.
    pub fn write(&self, contents: &HashMap<u32, String>, out: &mut impl Write) -> io::Result<()> {
        for (index, note) in self.notes.iter().enumerate() {
            let id = index + 1;
            let empty = format!("<w:p>{NUMBER}</w:p>");
            let content = contents.get(note).unwrap_or(&empty);
            writeln!(out, "<w:footnote w:id=\"{id}\">{content}</w:footnote>")?;
        }
        Ok(())
    }
}

impl NoteReference {
    /// Returns what stands around the run of the reference.
    pub fn around(self) -> (String, String) {
        let number = self.number;
        if self.is_first {
            let name = format!("<w:bookmarkStart w:id=\"{number}\" w:name=\"_RefNote{number}\"/>");
            (name, format!("<w:bookmarkEnd w:id=\"{number}\"/>"))
        } else {
            // A field of several runs: programs that do not know it show its result.
            let mark = |kind| format!("<w:r><w:fldChar w:fldCharType=\"{kind}\"/></w:r>");
            let name = format!(
                "<w:r><w:instrText xml:space=\"preserve\"> NOTEREF _RefNote{number} \\h </w:instrText></w:r>"
            );
            (format!("{}{name}{}", mark("begin"), mark("separate")), mark("end"))
        }
    }

    /// Returns the content of the run, whose words have the element `text_element`.
    pub fn content(self, text_element: &str) -> String {
        if self.is_first {
            format!("<w:footnoteReference w:id=\"{}\"/>", self.number)
        } else {
            format!("<{text_element}>{}</{text_element}>", self.number)
        }
    }
}
