//! Numbers in digits, with their separators.

use copydesk_unseen_characters::is_unseen;

use super::super::reading::{HIDDEN, Token, TokenKind, digit, hash, is_accent};
use super::{Scanner, is_fraction, is_number};

/// Blanks that stand between the groups of a number.
const NARROW_BLANKS: [char; 3] = ['\u{a0}', '\u{202f}', '\u{2009}'];

impl Scanner<'_> {
    /// Reads a number in digits, with its separators.
    pub(super) fn digits(&mut self) {
        let start = self.at;
        let from = self.reading.folded.len();
        let mut is_hidden = false;
        let mut rest = self.rest();
        let mut group = 0;
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            if let Some(digit) = digit(c) {
                is_hidden |= digit != c;
                group += 1;
                self.reading.folded.push(digit);
            } else if is_fraction(c) || "⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c) {
                self.reading.folded.push(c);
            } else if is_unseen(c) || is_accent(c) {
                is_hidden = true;
            } else if is_number(after) && self.is_separator(c, after, group, from) {
                group = 0;
                self.reading.folded.push(if NARROW_BLANKS.contains(&c) { ' ' } else { c });
            } else {
                break;
            }
            rest = after;
        }
        self.at = self.source.len() - rest.len();
        let folded = from..self.reading.folded.len();
        let hash = hash(self.reading.folded.get(folded.clone()).unwrap_or_default().as_bytes());
        let flags = self.flags(start) | if is_hidden { HIDDEN } else { 0 };
        let token = Token::new(TokenKind::Digits, start..self.at, folded, hash, flags);
        self.reading.tokens.push(token);
    }

    /// Returns `true` if a character between digits belongs to the number.
    fn is_separator(&self, c: char, after: &str, group: usize, from: usize) -> bool {
        let digits = after.chars().take(4).take_while(|c| digit(*c).is_some()).count();
        let number = self.reading.folded.get(from..).unwrap_or_default().as_bytes();
        match c {
            '.' | ',' | '/' | ':' => true,
            '\'' | '’' => digits == 3,
            ' ' => digits == 3 && group <= 3,
            // A date such as 2024-03-12, and no range such as 2024-25.
            '-' if number.len() == 4 => digits == 2 && after.as_bytes().get(2) == Some(&b'-'),
            '-' => digits == 2 && number.len() == 7 && number.get(4) == Some(&b'-'),
            _ => NARROW_BLANKS.contains(&c) && digits == 3 && group <= 3,
        }
    }
}
