//! What a file has besides its text: a byte order mark, its line ends. Pure.
//!
//! A document knows lines, not how a file ends them. So whatever nobody edited is taken from the file as it is, byte for
//! byte, and only what people wrote gets the line ends of its neighbours.

use crate::document::Text;
use crate::document::diff::{DiffLimits, DraftPart, diff};

const MARK: char = '\u{feff}';

/// What a file had besides its text when it was last seen; for a file that is gone and is made again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    has_mark: bool,
    ends_in_crlf: bool,
}

impl Form {
    pub(super) fn of(content: &str) -> Self {
        let ends = content.matches('\n').count();
        let crlf = content.matches("\r\n").count();
        Self { has_mark: content.starts_with(MARK), ends_in_crlf: crlf * 2 > ends }
    }

    /// As it is kept.
    pub(super) fn name(self) -> &'static str {
        match (self.has_mark, self.ends_in_crlf) {
            (false, false) => "lf",
            (false, true) => "crlf",
            (true, false) => "bom lf",
            (true, true) => "bom crlf",
        }
    }

    /// As it was kept; the usual form for anything else.
    pub(super) fn named(name: &str) -> Self {
        Self { has_mark: name.starts_with("bom"), ends_in_crlf: name.ends_with("crlf") }
    }

    fn line_end(self) -> &'static str {
        if self.ends_in_crlf { "\r\n" } else { "\n" }
    }
}

/// The text of a file.
pub(super) fn read(content: &str) -> Text {
    Text::new(content.strip_prefix(MARK).unwrap_or(content))
}

/// A file with this text, made anew.
pub(super) fn made(text: &str, form: Form) -> String {
    let mut content = String::with_capacity(text.len() + 3);
    content.extend(form.has_mark.then_some(MARK));
    push_lines(&mut content, text, form.line_end());
    content
}

/// The file `content` with this text: what is the same in both stays as it stands.
pub(super) fn written(content: &str, text: &str, limits: &DiffLimits) -> String {
    let form = Form::of(content);
    let body = content.strip_prefix(MARK).unwrap_or(content);
    let breaks = body.matches(['\r', '\n']).count();
    let crlf = body.matches("\r\n").count();
    // All line ends alike: nothing but the text can differ.
    if !body.contains('\r') || breaks == crlf * 2 {
        return made(text, form);
    }
    let mut written = String::with_capacity(content.len());
    written.extend(form.has_mark.then_some(MARK));
    let mut place = Place { rest: body, at: 0 };
    let parts = diff(&read(content).to_string(), text, limits).into_iter().flat_map(|it| it.parts);
    for DraftPart { from, to, base: _, insert } in parts {
        written.push_str(place.advance(from));
        place.advance(to);
        let end = last_line_end(&written).unwrap_or_else(|| form.line_end());
        push_lines(&mut written, &insert, end);
    }
    written.push_str(place.rest);
    // Where the words between them went, two kinds of line ends can become one.
    if read(&written).to_string() == text { written } else { made(text, form) }
}

fn push_lines(content: &mut String, text: &str, end: &str) {
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            content.push_str(end);
        }
        content.push_str(line);
    }
}

fn last_line_end(content: &str) -> Option<&'static str> {
    let at = content.rfind(['\r', '\n'])?;
    Some(match content.as_bytes()[at] {
        b'\r' => "\r",
        _ if content[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    })
}

/// A place in a file, counted in units of its text.
struct Place<'a> {
    rest: &'a str,
    at: usize,
}

impl<'a> Place<'a> {
    /// What lies between here and the unit `to`, as the file has it.
    fn advance(&mut self, to: usize) -> &'a str {
        let mut bytes = 0;
        let mut characters = self.rest.chars().peekable();
        while self.at < to {
            let Some(character) = characters.next() else { break };
            bytes += character.len_utf8();
            if character == '\r' && characters.peek() == Some(&'\n') {
                characters.next();
                bytes += 1;
            }
            self.at += character.len_utf16();
        }
        let (passed, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        passed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rewritten(content: &str, text: &str) -> String {
        written(content, text, &DiffLimits::default())
    }

    #[test]
    fn the_form_of_a_file_is_kept() {
        let cases = [
            ("a\nb", "a\nb\nc", "a\nb\nc"),
            ("a\r\nb\r\n", "a\nb\nc\n", "a\r\nb\r\nc\r\n"),
            ("\u{feff}a\r\nb", "a\nc", "\u{feff}a\r\nc"),
            ("\u{feff}a", "a\nb", "\u{feff}a\nb"),
            ("", "a\n", "a\n"),
            ("a\n", "", ""),
            ("no end", "no end at all", "no end at all"),
        ];
        for (content, text, expected) in cases {
            assert_eq!(rewritten(content, text), expected, "{content:?} {text:?}");
        }
    }

    #[test]
    fn of_mixed_line_ends_each_stays_where_nobody_wrote() {
        let content = "one\r\ntwo\nthree\rfour\r\nfive";
        assert_eq!(rewritten(content, "one\ntwo\nthree\nfour\nfive"), content);
        assert_eq!(
            rewritten(content, "one\ntwo\nthree\nfour\nfive and six"),
            "one\r\ntwo\nthree\rfour\r\nfive and six"
        );
        let more = rewritten(content, "one\nand a half\ntwo\nthree\nfour\nfive");
        assert_eq!(more, "one\r\nand a half\r\ntwo\nthree\rfour\r\nfive");
    }

    #[test]
    fn a_file_that_is_gone_is_made_as_it_was() {
        let form = Form::named(Form::of("\u{feff}a\r\nb\r\n").name());
        assert_eq!(made("x\ny\n", form), "\u{feff}x\r\ny\r\n");
        assert_eq!(Form::named("anything else"), Form::default());
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_the_text(content in "[ab \r\n\u{feff}😀]{0,40}", text in "[ab \n😀]{0,40}") {
            let text = Text::new(&text);
            let file = rewritten(&content, &text.to_string());
            // A first character that is a mark by itself is taken for one, as everywhere.
            prop_assert_eq!(read(&file), text);
        }

        #[test]
        fn nothing_changes_where_nobody_wrote(content in "[ab \r\n😀]{0,40}") {
            prop_assert_eq!(rewritten(&content, &read(&content).to_string()), content);
        }
    }
}
