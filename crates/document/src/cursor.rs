//! Cursor over the sections of a change set (`SectionIter` in codemirror/state `change.ts`).

use super::change_set::{ChangeResult, ChangeSection, ChangeSet, KEEP};
use super::text::PositionError;

/// Value of `ins` past the last section.
const END: i32 = -2;

/// Cursor in a change set: the rest of one section.
pub(super) struct SectionCursor<'a> {
    sections: &'a [ChangeSection],
    /// Inserted text after the current section's.
    later: &'a str,
    /// Inserted text of the current section, of which `text_off` bytes have been taken.
    text: &'a str,
    text_off: usize,
    /// Units of the old text left in this section.
    pub len: u32,
    /// Units the section inserts, [`KEEP`], or [`END`] past the last section.
    pub ins: i32,
    /// Units of this section that have been passed.
    pub off: u32,
    /// Number of the current section, from 1; stays at the end.
    pub number: usize,
}

impl<'a> SectionCursor<'a> {
    pub fn new(set: &'a ChangeSet) -> Self {
        let mut cursor = Self {
            sections: &set.sections,
            later: &set.inserted,
            text: "",
            text_off: 0,
            len: 0,
            ins: END,
            off: 0,
            number: 0,
        };
        cursor.next();
        cursor
    }

    pub fn done(&self) -> bool {
        self.ins == END
    }

    pub fn next(&mut self) {
        self.off = 0;
        self.text_off = 0;
        if let Some((&ChangeSection { len, ins, bytes }, rest)) = self.sections.split_first() {
            (self.len, self.ins, self.sections) = (len, ins, rest);
            (self.text, self.later) = self.later.split_at(bytes as usize);
            self.number += 1;
        } else {
            (self.len, self.ins, self.text) = (0, END, "");
        }
    }

    /// Returns the units of the new text left in this section, unless it is past the end.
    pub fn new_len(&self) -> u32 {
        if self.ins < 0 { self.len } else { self.ins.cast_unsigned() }
    }

    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Moves over `len` units of the old text.
    pub fn forward(&mut self, len: u32) {
        if len == self.len {
            self.next();
        } else {
            self.len -= len;
            self.off += len;
        }
    }

    /// Moves over `len` units of the new text and returns the text this section inserts there.
    pub fn forward_new(&mut self, len: u32) -> ChangeResult<&'a str> {
        if self.ins == KEEP {
            self.forward(len);
            return Ok("");
        }
        let piece = self.piece(len)?;
        if len.cast_signed() == self.ins {
            self.next();
        } else {
            self.ins -= len.cast_signed();
            self.off += len;
            self.text_off += piece.len();
        }
        Ok(piece)
    }

    /// Returns the next `len` units of inserted text (`textBit`).
    fn piece(&self, len: u32) -> ChangeResult<&'a str> {
        let rest = &self.text[self.text_off..];
        // Fast paths: the rest of the section, or as many bytes as units.
        if len.cast_signed() == self.ins {
            return Ok(rest);
        }
        if rest.len() == self.new_len() as usize {
            return Ok(&rest[..len as usize]);
        }
        let mut units = 0;
        for (byte, char) in rest.char_indices() {
            if units >= len {
                break_inside(units, len)?;
                return Ok(&rest[..byte]);
            }
            units += char.len_utf16() as u32;
        }
        break_inside(units, len)?;
        Ok(rest)
    }
}

fn break_inside(units: u32, len: u32) -> Result<(), PositionError> {
    if units == len { Ok(()) } else { Err(PositionError::InsideCharacter { at: len as usize }) }
}
