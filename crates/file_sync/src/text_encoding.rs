//! Encoding of a file's text: its byte order mark and its line ends. Pure.
//!
//! A document has lines, but not the line ends of its file. So every unedited passage is taken from
//! the file byte for byte, and only new text gets the line ends of its neighbours.

use copydesk_document::Text;
use copydesk_document::diff::{DiffLimits, DraftPart, diff_in_order};

const MARK: char = '\u{feff}';

/// Encoding of a file when it was last read; for a file that is gone and is created again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextEncoding {
    has_mark: bool,
    ends_in_crlf: bool,
}

impl TextEncoding {
    pub(super) fn of(content: &str) -> Self {
        let ends = content.matches('\n').count();
        let crlf = content.matches("\r\n").count();
        Self { has_mark: content.starts_with(MARK), ends_in_crlf: crlf * 2 > ends }
    }

    /// Returns the name under which it is stored.
    pub(super) fn name(self) -> &'static str {
        match (self.has_mark, self.ends_in_crlf) {
            (false, false) => "lf",
            (false, true) => "crlf",
            (true, false) => "bom lf",
            (true, true) => "bom crlf",
        }
    }

    /// Returns the encoding of a stored name; the default for anything else.
    pub(super) fn named(name: &str) -> Self {
        Self { has_mark: name.starts_with("bom"), ends_in_crlf: name.ends_with("crlf") }
    }

    fn line_end(self) -> &'static str {
        if self.ends_in_crlf { "\r\n" } else { "\n" }
    }
}

/// Returns the text of a file's content.
pub fn read(content: &str) -> Text {
    Text::new(content.strip_prefix(MARK).unwrap_or(content))
}

/// Returns the content of a new file with this text.
pub(super) fn made(text: &str, form: TextEncoding) -> String {
    let mut content = String::with_capacity(text.len() + 3);
    content.extend(form.has_mark.then_some(MARK));
    push_lines(&mut content, text, "", form.line_end());
    content
}

/// Returns the file `content` with its text changed to `text`: unchanged passages stay as they are.
pub(super) fn written(content: &str, text: &str, limits: &DiffLimits) -> String {
    let parts = || {
        diff_in_order(&read(content).to_string(), text, limits).into_iter().flat_map(|it| it.parts)
    };
    rewritten(content, text, parts)
}

/// Returns the file `content` with these parts of its text replaced, in order, which makes its text
/// `text`. New text gets the line ends of the text it replaces, or of the text before it.
/// Deterministic.
pub fn replaced(content: &str, text: &str, parts: impl IntoIterator<Item = DraftPart>) -> String {
    rewritten(content, text, || parts)
}

/// Returns new content for a whole file with the byte order mark of the old, and with its line ends
/// if they are all `\r\n`. A new content that has any `\r` keeps its own line ends.
pub fn succeeding(old: &str, new: &str) -> String {
    let is_plain = !new.contains('\r');
    let form = TextEncoding::of(old);
    let ends_in_crlf = form.ends_in_crlf && is_alike(old) && is_plain;
    let has_mark = form.has_mark || new.starts_with(MARK);
    made(new.strip_prefix(MARK).unwrap_or(new), TextEncoding { has_mark, ends_in_crlf })
}

/// Returns `true` if both contents have line ends, and of different kinds.
pub fn end_differently(one: &str, other: &str) -> bool {
    let ends = |content: &str| {
        let crlf = content.matches("\r\n").count();
        let (cr, lf) = (content.matches('\r').count(), content.matches('\n').count());
        [crlf > 0, cr > crlf, lf > crlf]
    };
    let (one, other) = (ends(one), ends(other));
    one.contains(&true) && other.contains(&true) && one != other
}

/// Returns `true` if all lines end in `\n`, or all in `\r\n`.
fn is_alike(content: &str) -> bool {
    let breaks = content.matches(['\r', '\n']).count();
    !content.contains('\r') || breaks == content.matches("\r\n").count() * 2
}

fn rewritten<P>(content: &str, text: &str, parts: impl FnOnce() -> P) -> String
where
    P: IntoIterator<Item = DraftPart>,
{
    let form = TextEncoding::of(content);
    // Only the text can differ.
    if is_alike(content) {
        return made(text, form);
    }
    let mut written = String::with_capacity(content.len());
    written.extend(form.has_mark.then_some(MARK));
    let mut place = FileOffset { rest: content.strip_prefix(MARK).unwrap_or(content), at: 0 };
    for DraftPart { from, to, base: _, insert } in parts() {
        written.push_str(place.advance(from));
        let old = place.advance(to);
        let end = last_line_end(old).or_else(|| last_line_end(&written));
        push_lines(&mut written, &insert, old, end.unwrap_or_else(|| form.line_end()));
    }
    written.push_str(place.rest);
    // If the words between them were deleted, two line ends can become one.
    if read(&written).to_string() == text { written } else { made(text, form) }
}

/// Appends lines with the line ends of `old`, one after the other; further lines end in `then`.
fn push_lines(content: &mut String, text: &str, old: &str, then: &'static str) {
    let mut old = old;
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            content.push_str(next_line_end(&mut old).unwrap_or(then));
        }
        content.push_str(line);
    }
}

fn next_line_end(rest: &mut &str) -> Option<&'static str> {
    let at = rest.find(['\r', '\n'])?;
    let found = &rest[at..];
    let end = ["\r\n", "\r", "\n"].into_iter().find(|end| found.starts_with(end))?;
    *rest = &found[end.len()..];
    Some(end)
}

fn last_line_end(content: &str) -> Option<&'static str> {
    let at = content.rfind(['\r', '\n'])?;
    Some(match content.as_bytes()[at] {
        b'\r' => "\r",
        _ if content[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    })
}

/// Offset in a file, in UTF-16 code units of its text.
struct FileOffset<'a> {
    rest: &'a str,
    at: usize,
}

impl<'a> FileOffset<'a> {
    /// Advances to the unit `to`; returns the content in between, as it is in the file.
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

    fn with_text(content: &str, text: &str) -> String {
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
            assert_eq!(with_text(content, text), expected, "{content:?} {text:?}");
        }
    }

    #[test]
    fn of_mixed_line_ends_each_stays_where_no_one_wrote() {
        let content = "one\r\ntwo\nthree\rfour\r\nfive";
        assert_eq!(with_text(content, "one\ntwo\nthree\nfour\nfive"), content);
        assert_eq!(
            with_text(content, "one\ntwo\nthree\nfour\nfive and six"),
            "one\r\ntwo\nthree\rfour\r\nfive and six"
        );
        let more = with_text(content, "one\nand a half\ntwo\nthree\nfour\nfive");
        assert_eq!(more, "one\r\nand a half\r\ntwo\nthree\rfour\r\nfive");
    }

    #[test]
    fn what_replaces_words_ends_its_lines_as_they_did() {
        let part = |from, to, insert: &str| DraftPart {
            from,
            to,
            base: String::new(),
            insert: insert.to_owned(),
        };
        let content = "one\r\ntwo\nthree\rfour\r\nfive";
        let cases = [
            ("one\n2\n3\nfour\nfive", part(4, 13, "2\n3"), "one\r\n2\n3\rfour\r\nfive"),
            ("one\ntwo\n3\n3a\n4\nfive", part(8, 18, "3\n3a\n4"), "one\r\ntwo\n3\r3a\r4\r\nfive"),
            (
                "0\n1\ntwo\nthree\nfour\nfive",
                part(0, 3, "0\n1"),
                "0\r\n1\r\ntwo\nthree\rfour\r\nfive",
            ),
            (
                "one\ntwo\nthree\nfour\n5\n6",
                part(19, 23, "5\n6"),
                "one\r\ntwo\nthree\rfour\r\n5\r\n6",
            ),
        ];
        for (text, part, expected) in cases {
            assert_eq!(replaced(content, text, [part]), expected, "{text:?}");
        }
    }

    #[test]
    fn what_replaces_all_of_a_file_keeps_its_form() {
        let cases = [
            ("a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n"),
            ("a\r\nb\r\n", "x\ny\r\n", "x\ny\r\n"),
            ("a\r\nb\n", "x\ny\n", "x\ny\n"),
            ("a\nb\n", "x\r\ny\r\n", "x\r\ny\r\n"),
            ("\u{feff}a\r\n", "x\n", "\u{feff}x\r\n"),
            ("\u{feff}a\r\n", "\u{feff}x\n", "\u{feff}x\r\n"),
            ("a", "\u{feff}x\n", "\u{feff}x\n"),
            ("", "x\n", "x\n"),
        ];
        for (old, new, expected) in cases {
            assert_eq!(succeeding(old, new), expected, "{old:?} {new:?}");
        }
        assert!(end_differently("a\r\n", "a\n") && end_differently("a\r\nb\n", "a\nb\n"));
        assert!(!end_differently("a\r\n", "a\r\nb\r\n") && !end_differently("a", "a\r\n"));
    }

    #[test]
    fn a_file_that_is_gone_is_made_as_it_was() {
        let form = TextEncoding::named(TextEncoding::of("\u{feff}a\r\nb\r\n").name());
        assert_eq!(made("x\ny\n", form), "\u{feff}x\r\ny\r\n");
        assert_eq!(TextEncoding::named("anything else"), TextEncoding::default());
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_the_text(content in "[ab \r\n\u{feff}😀]{0,40}", text in "[ab \n😀]{0,40}") {
            let text = Text::new(&text);
            let file = with_text(&content, &text.to_string());
            // A first character that is a mark by itself is taken for one, as everywhere.
            prop_assert_eq!(read(&file), text);
        }

        #[test]
        fn nothing_changes_where_no_one_wrote(content in "[ab \r\n😀]{0,40}") {
            prop_assert_eq!(with_text(&content, &read(&content).to_string()), content);
        }
    }
}
