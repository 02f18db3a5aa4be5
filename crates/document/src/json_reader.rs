//! Reader for the few forms of JSON that a change set is made of.

use std::borrow::Cow;

use super::change_set::{ChangeError, ChangeResult, ChangeSection, KEEP, MAX_UNITS};
use super::text::utf16_len;

const MAX_DIGITS: usize = 10;

/// Position in the JSON: a byte offset at a character boundary.
pub(super) struct JsonReader<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> JsonReader<'a> {
    pub fn new(json: &'a str) -> Self {
        Self { json, at: 0 }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn is_done(&self) -> bool {
        self.at == self.json.len()
    }

    /// Reads a section and appends its inserted text to `inserted`.
    pub fn section(&mut self, inserted: &mut String) -> ChangeResult<ChangeSection> {
        if !self.take(b'[') {
            return Ok(ChangeSection { len: self.number()?, ins: KEEP, bytes: 0 });
        }
        let len = self.number()?;
        let (start, mut ins, mut lines) = (inserted.len(), 0, 0);
        while self.take(b',') {
            let line = self.line()?;
            if lines > 0 {
                inserted.push('\n');
                ins += 1;
            }
            inserted.push_str(&line);
            ins += utf16_len(&line);
            lines += 1;
        }
        if lines == 1 && ins == 0 {
            return Err(ChangeError::NotCanonical { at: self.at });
        }
        self.expect(b']', "a string, `,` or `]`")?;
        let ins = i32::try_from(ins).map_err(|_| ChangeError::TooLong { max: MAX_UNITS })?;
        Ok(ChangeSection { len, ins, bytes: (inserted.len() - start) as u32 })
    }

    /// Reads a whole number below 2^31, without sign, fraction or leading zero.
    fn number(&mut self) -> ChangeResult<u32> {
        self.skip_space();
        let at = self.at;
        self.digits().ok_or(ChangeError::Malformed { at, expected: "a length" })
    }

    /// Reads a string without line breaks; borrowed unless it has escapes.
    fn line(&mut self) -> ChangeResult<Cow<'a, str>> {
        self.skip_space();
        let start = self.at;
        if let Some(line) = self.plain_line() {
            return Ok(Cow::Borrowed(line));
        }
        // Anything else is rare; `serde_json` handles it, also half a surrogate pair.
        let mut strings =
            serde_json::Deserializer::from_str(&self.json[start..]).into_iter::<String>();
        let line = match strings.next() {
            Some(Ok(line)) => line,
            Some(Err(source)) if self.json.as_bytes()[start] == b'"' => {
                return Err(ChangeError::InvalidString { at: start, source });
            }
            Some(Err(_)) | None => {
                return Err(ChangeError::Malformed { at: start, expected: "a string" });
            }
        };
        self.at = start + strings.byte_offset();
        if line.contains(['\n', '\r']) {
            return Err(ChangeError::LineBreakInLine { at: start });
        }
        Ok(Cow::Owned(line))
    }

    /// Reads a string without escapes, if one is next.
    #[inline]
    pub fn plain_line(&mut self) -> Option<&'a str> {
        let rest = &self.json.as_bytes()[self.at..];
        let (b'"', text) = rest.split_first()? else { return None };
        let line = &text[..text.iter().position(|&byte| byte == b'"')?];
        // No early exit, so that the compiler vectorizes the loop. An escaped quote is detected by
        // its backslash.
        let special = |byte: u8| u8::from(byte < b' ') | u8::from(byte == b'\\');
        if line.iter().fold(0, |found, &byte| found | special(byte)) > 0 {
            return None;
        }
        let start = self.at + 1;
        self.at = start + line.len() + 1;
        Some(&self.json[start..self.at - 1])
    }

    #[inline]
    pub fn kept(&mut self) -> Option<u32> {
        match self.digits() {
            Some(0) | None => None,
            length => length,
        }
    }

    /// Reads lines as CodeMirror writes them, joined by line breaks; `None` if their form is
    /// unusual.
    #[inline]
    pub fn plain_lines(&mut self) -> Option<Cow<'a, str>> {
        let first = self.plain_line();
        match first {
            Some(line) if self.next(b',').is_none() => Some(Cow::Borrowed(line)),
            first => self.joined_lines(first).map(Cow::Owned),
        }
    }

    /// Reads the remaining lines, after the `first` and its comma if that has been read.
    fn joined_lines(&mut self, first: Option<&str>) -> Option<String> {
        let mut text = String::with_capacity(self.json.len() - self.at);
        if let Some(first) = first {
            text.push_str(first);
            text.push('\n');
        }
        loop {
            match self.plain_line() {
                Some(line) => text.push_str(line),
                None => self.push_line(&mut text)?,
            }
            if self.next(b',').is_none() {
                return Some(text);
            }
            text.push('\n');
        }
    }

    /// Appends a string whose escapes are of the short kind.
    fn push_line(&mut self, text: &mut String) -> Option<()> {
        self.next(b'"')?;
        let (mut start, bytes) = (self.at, self.json.as_bytes());
        loop {
            let byte = *bytes.get(self.at)?;
            if byte >= b' ' && byte != b'"' && byte != b'\\' {
                self.at += 1;
                continue;
            }
            text.push_str(&self.json[start..self.at]);
            match byte {
                b'"' => return self.next(b'"'),
                b'\\' => text.push(short_escape(*bytes.get(self.at + 1)?)?),
                _ => return None,
            }
            self.at += 2;
            start = self.at;
        }
    }

    /// Reads digits, if they make a length.
    #[inline]
    pub fn digits(&mut self) -> Option<u32> {
        let rest = &self.json.as_bytes()[self.at..];
        let (mut value, mut count) = (0_u64, 0);
        for byte in rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            // Wraps only if there are far too many digits.
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            count += 1;
        }
        self.at += count;
        let leading_zero = count > 1 && rest[0] == b'0';
        let fits = (1..=MAX_DIGITS).contains(&count) && !leading_zero && value <= MAX_UNITS as u64;
        fits.then_some(value as u32)
    }

    /// Checks that nothing but white space is left.
    pub fn end(&mut self) -> ChangeResult<()> {
        self.skip_space();
        if self.is_done() {
            Ok(())
        } else {
            Err(ChangeError::Malformed { at: self.at, expected: "nothing more" })
        }
    }

    /// Moves over `byte`, after white space.
    pub fn expect(&mut self, byte: u8, expected: &'static str) -> ChangeResult<()> {
        if self.take(byte) { Ok(()) } else { Err(ChangeError::Malformed { at: self.at, expected }) }
    }

    pub fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        self.next(byte).is_some()
    }

    #[inline]
    pub fn next(&mut self, byte: u8) -> Option<()> {
        (self.json.as_bytes().get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.json.as_bytes().get(self.at) {
            self.at += 1;
        }
    }
}

/// Returns the character that `JSON.stringify` writes as a backslash and this letter; `None` for
/// line breaks, which are not allowed in a line.
fn short_escape(letter: u8) -> Option<char> {
    match letter {
        b'"' => Some('"'),
        b'\\' => Some('\\'),
        b'b' => Some('\u{8}'),
        b'f' => Some('\u{c}'),
        b't' => Some('\t'),
        _ => None,
    }
}
