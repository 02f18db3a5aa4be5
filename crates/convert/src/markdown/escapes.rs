//! Escapes: a backslash only before characters that would otherwise be read as Markdown.

use super::flanking::{CharacterClass, may_open, underscore_may_open};
use super::line::Line;

/// Bytes that the name of an entity has at most.
const LONGEST_ENTITY: usize = 40;

/// Place of a line, which decides which signs at its beginning are read as Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Paragraph.
    Paragraph,
    /// First paragraph of an entry of a list, where brackets can be a box to tick.
    Entry,
    /// Heading of one line.
    Heading,
    /// Cell of a table.
    Cell,
    /// Description of a picture.
    Description,
}

/// Returns the bytes of a line before which a backslash is needed, in order.
pub fn needed(line: &Line, place: Place) -> Vec<usize> {
    let mut escapes = Escapes {
        text: &line.text,
        bytes: line.text.as_bytes(),
        is_literal: &line.is_literal,
        place,
        is_needed: vec![false; line.text.len()],
    };
    escapes.marks(b'*', may_open);
    escapes.marks(b'_', underscore_may_open);
    escapes.marks(b'~', may_open);
    escapes.code();
    escapes.formulas();
    escapes.brackets(&line.link_words);
    escapes.tags_and_entities();
    if matches!(place, Place::Paragraph | Place::Entry) {
        super::line_starts::escape(&mut escapes);
    }
    if place == Place::Heading {
        escapes.closing_hashes();
    }
    escapes.backslashes();
    (0..escapes.is_needed.len()).filter(|at| escapes.is_needed[*at]).collect()
}

/// Line whose escapes are looked for.
pub struct Escapes<'a> {
    text: &'a str,
    bytes: &'a [u8],
    is_literal: &'a [bool],
    place: Place,
    is_needed: Vec<bool>,
}

impl<'a> Escapes<'a> {
    /// Returns the text of the line.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns whether the line begins an entry of a list.
    pub fn begins_entry(&self) -> bool {
        self.place == Place::Entry
    }

    /// Returns whether a literal character is at the byte.
    pub fn is_literal(&self, at: usize) -> bool {
        self.is_literal.get(at) == Some(&true)
    }

    /// Asks for a backslash, if the character at the byte is a literal one.
    pub fn escape(&mut self, at: usize) {
        if self.is_literal(at) {
            self.is_needed[at] = true;
        }
    }

    fn next_sign(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    /// Finds the literal bytes of that value.
    fn literals(&self, sign: u8) -> Vec<usize> {
        (0..self.bytes.len()).filter(|at| self.bytes[*at] == sign && self.is_literal[*at]).collect()
    }

    fn is_sign_of_mark(&self, at: usize) -> bool {
        self.is_literal.get(at) == Some(&false) && matches!(self.bytes[at], b'*' | b'~')
    }

    fn has_syntax(&self, sign: u8) -> bool {
        self.bytes.iter().zip(self.is_literal).any(|(byte, literal)| *byte == sign && !literal)
    }

    /// Escapes signs of emphasis that could open or close a mark.
    fn marks(&mut self, sign: u8, opens: fn(CharacterClass, CharacterClass) -> bool) {
        let literals = self.literals(sign);
        let mut runs = Vec::new();
        for run in literals.chunk_by(|one, next| one + 1 == *next) {
            let (first, behind) = (run[0], run[run.len() - 1] + 1);
            let before = CharacterClass::of(self.text[..first].chars().next_back());
            let after = CharacterClass::of(self.next_sign(behind));
            // Three tildes and more are no mark.
            let is_mark = sign != b'~' || run.len() < 3;
            let (can_open, can_close) = (opens(before, after), opens(after, before));
            if self.is_sign_of_mark(first.wrapping_sub(1)) || self.is_sign_of_mark(behind) {
                for at in run {
                    self.is_needed[*at] = true;
                }
            }
            runs.push((run, is_mark && can_open, is_mark && can_close));
        }
        let has_marks = self.has_syntax(sign);
        let first_opener = runs.iter().position(|(_, can_open, _)| *can_open);
        let last_closer = runs.iter().rposition(|(_, _, can_close)| *can_close);
        for (at, (run, can_open, can_close)) in runs.iter().enumerate() {
            let is_opened = *can_open && last_closer.is_some_and(|last| last > at);
            let is_closed = *can_close && first_opener.is_some_and(|first| first < at);
            if is_opened || is_closed || (has_marks && (*can_open || *can_close)) {
                for at in *run {
                    self.is_needed[*at] = true;
                }
            }
        }
    }

    /// Escapes backticks if there are several stretches of them.
    fn code(&mut self) {
        let literals = self.literals(b'`');
        let runs = literals.chunk_by(|one, next| one + 1 == *next).count();
        if runs > 1 || self.has_syntax(b'`') || self.place == Place::Description {
            for at in literals {
                self.is_needed[at] = true;
            }
        }
    }

    /// Escapes dollar signs that could enclose a formula.
    fn formulas(&mut self) {
        let literals = self.literals(b'$');
        let is_blank = |sign: Option<&u8>| sign.is_none_or(u8::is_ascii_whitespace);
        let can_open = |at: usize| !is_blank(self.bytes.get(at + 1));
        let can_close = |at: usize| {
            !is_blank(at.checked_sub(1).and_then(|before| self.bytes.get(before)))
                && !self.bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
        };
        let first = literals.iter().position(|at| can_open(*at));
        let last = literals.iter().rposition(|at| can_close(*at));
        let is_pair = first.zip(last).is_some_and(|(first, last)| first < last);
        let is_double = literals.windows(2).filter(|two| two[0] + 1 == two[1]).count() > 1;
        if is_pair || is_double || self.has_syntax(b'$') || self.place == Place::Description {
            for at in literals {
                self.is_needed[at] = true;
            }
        }
    }

    /// Escapes brackets that could be a link, a definition, a note or a box to tick.
    fn brackets(&mut self, link_words: &[(usize, usize)]) {
        let mut open = Vec::new();
        for at in 0..self.bytes.len() {
            match self.bytes[at] {
                b'[' if self.is_literal[at] => {
                    open.push(at);
                    if self.bytes.get(at + 1) == Some(&b'^') || (at > 0 && self.ends_note(at - 1)) {
                        self.is_needed[at] = true;
                    }
                }
                b']' if self.is_literal[at] => {
                    if let Some(start) = open.pop()
                        && self.is_link_like(start, at)
                    {
                        self.is_needed[start] = true;
                        self.is_needed[at] = true;
                    }
                }
                // Behind a reference to a note, these would make it a link or a definition.
                b'(' | b':' if at > 0 && self.ends_note(at - 1) => self.escape(at),
                // An exclamation mark before a link would make it a picture.
                b'[' if at > 0 && self.bytes[at - 1] == b'!' => self.escape(at - 1),
                _ => {}
            }
        }
        let whole = [(0, self.bytes.len())];
        let inside = if self.place == Place::Description { &whole } else { link_words };
        for (from, to) in inside {
            for at in *from..*to {
                if matches!(self.bytes[at], b'[' | b']') {
                    self.escape(at);
                }
            }
        }
    }

    fn ends_note(&self, at: usize) -> bool {
        self.bytes[at] == b']' && !self.is_literal[at]
    }

    fn is_link_like(&self, start: usize, end: usize) -> bool {
        let is_line_start = self.text[..start].ends_with('\n') || start == 0;
        let is_box =
            self.begins_entry() && start == 0 && matches!(&self.text[1..end], " " | "x" | "X" | "");
        match self.bytes.get(end + 1) {
            Some(b'(' | b'[') => true,
            Some(b':') => is_line_start || is_box,
            _ => is_box,
        }
    }

    /// Escapes signs that begin a tag, an address or an entity.
    fn tags_and_entities(&mut self) {
        let last_end = self.bytes.iter().rposition(|byte| *byte == b'>');
        for at in 0..self.bytes.len() {
            match self.bytes[at] {
                b'<' if self.begins_tag(at) => {
                    let is_line_start = at == 0 || self.bytes[at - 1] == b'\n';
                    let is_alone = self.place == Place::Description || is_line_start;
                    if is_alone || last_end.is_some_and(|end| end > at) {
                        self.escape(at);
                    }
                }
                b'&' if is_entity(&self.text[at..]) => self.escape(at),
                b'|' if self.place == Place::Cell => self.escape(at),
                _ => {}
            }
        }
    }

    /// Returns whether a tag, a comment or an address in angle brackets could begin.
    fn begins_tag(&self, at: usize) -> bool {
        let rest = &self.bytes[at + 1..];
        let ends = |sign: &u8| sign.is_ascii_whitespace() || matches!(sign, b'<' | b'>');
        let is_mail = || rest.iter().take_while(|sign| !ends(sign)).any(|sign| *sign == b'@');
        let next = rest.first().copied().unwrap_or(b' ');
        next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?') || is_mail()
    }

    /// Escapes hashes at the end of a heading, which would not be shown.
    fn closing_hashes(&mut self) {
        let rest = self.text.trim_end_matches('#');
        if rest.len() < self.text.len() && (rest.is_empty() || rest.ends_with(' ')) {
            self.escape(self.text.len() - 1);
        }
    }

    /// Escapes backslashes before punctuation, from right to left: what follows may be escaped.
    fn backslashes(&mut self) {
        for at in (0..self.bytes.len()).rev() {
            if self.bytes[at] == b'\\' && self.is_literal[at] {
                let is_before_sign = self
                    .bytes
                    .get(at + 1)
                    .is_some_and(|next| next.is_ascii_punctuation() || *next == b'\n');
                self.is_needed[at] = is_before_sign || self.place == Place::Description;
            }
        }
    }
}

/// Returns whether a text begins with an entity, such as `&amp;` or `&#38;`.
pub fn is_entity(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('&') else { return false };
    let Some(end) = rest.bytes().take(LONGEST_ENTITY).position(|sign| sign == b';') else {
        return false;
    };
    let name = &rest[..end];
    let is_all = |digits: &str, is_one: fn(&char) -> bool| {
        !digits.is_empty() && digits.chars().all(|sign| is_one(&sign))
    };
    match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(digits) => is_all(digits, char::is_ascii_hexdigit),
            None => is_all(number, char::is_ascii_digit),
        },
        None => is_all(name, char::is_ascii_alphanumeric),
    }
}

/// Returns the backticks around code within a line, and the blank between them and the code.
pub fn code_fence(code: &str) -> (String, &'static str) {
    let is_padded = code.starts_with(' ') && code.ends_with(' ') && !code.trim().is_empty();
    let pad = if code.starts_with('`') || code.ends_with('`') || is_padded { " " } else { "" };
    ("`".repeat(longest_run(code, '`', 1)), pad)
}

/// Returns a number of signs that no stretch of them in the text has, at least `least`.
pub fn longest_run(text: &str, sign: char, least: usize) -> usize {
    let mut longest = 0;
    let mut current = 0;
    for it in text.chars() {
        current = if it == sign { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    least.max(if longest >= least { longest + 1 } else { least })
}

/// Returns a description of a picture, in one line.
pub fn description(words: &str) -> String {
    let text = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = Line { is_literal: vec![true; text.len()], text, ..Line::default() };
    with_escapes(&line.text, &needed(&line, Place::Description))
}

/// Returns a text with backslashes before those bytes.
pub fn with_escapes(text: &str, escapes: &[usize]) -> String {
    let mut made = String::with_capacity(text.len() + escapes.len());
    let mut from = 0;
    for at in escapes {
        made.push_str(&text[from..*at]);
        made.push('\\');
        from = *at;
    }
    made.push_str(&text[from..]);
    made
}
