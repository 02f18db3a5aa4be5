//! Line of Markdown before its escapes.

use super::flanking::CharacterClass;

/// Line of Markdown whose literal characters are not escaped yet.
#[derive(Debug, Default)]
pub struct Line {
    /// The characters, breaks as `\n`.
    pub text: String,
    /// For each byte of the text, whether it is a literal character that people saw.
    pub is_literal: Vec<bool>,
    /// Words of links, as ranges of bytes.
    pub link_words: Vec<(usize, usize)>,
    /// Edges of changes: number, whether it is the beginning, and byte.
    pub edges: Vec<(usize, bool, usize)>,
}

impl Line {
    /// Returns the kind of the character before a byte, or before the tildes of marks there.
    pub fn class_before(&self, mut at: usize, skips_tildes: bool) -> CharacterClass {
        while skips_tildes && at > 0 && self.is_tilde_of_mark(at - 1) {
            at -= 1;
        }
        CharacterClass::of(self.text[..at].chars().next_back())
    }

    /// Returns the kind of the character at a byte, or behind the tildes of marks there.
    pub fn class_behind(&self, mut at: usize, skips_tildes: bool) -> CharacterClass {
        while skips_tildes && self.is_tilde_of_mark(at) {
            at += 1;
        }
        CharacterClass::of(self.text[at..].chars().next())
    }

    fn is_tilde_of_mark(&self, at: usize) -> bool {
        self.is_literal.get(at) == Some(&false) && self.text.as_bytes()[at] == b'~'
    }
}
