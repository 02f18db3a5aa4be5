//! Texts in which characters that look alike are one, with the way back to the original.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

/// Differences that a [`FoldedText`] leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folding {
    /// Line ends and blanks before them.
    LineEnds,
    /// Also quotes, dashes, kinds and numbers of blanks, and composed letters.
    LookAlike,
    /// Also upper and lower case.
    AnyCase,
    /// Also accents, ellipses, and characters that stand for others (`ﬁ`, `①`, full width).
    Loose,
}

/// End of a text that is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextEnd {
    /// The document ends here: blanks before it are trailing ones.
    OfDocument,
    /// A quotation ends here, perhaps in the middle of a line: blanks before it count.
    OfQuotation,
}

#[derive(Debug)]
pub(super) struct FoldedText {
    /// Text without the differences that do not count.
    pub(super) folded: String,
    /// Passages whose folded form differs from the original, in order. Between them both are equal.
    spans: Vec<FoldedSpan>,
}

/// A passage that reads differently when it is folded. Ranges in bytes.
#[derive(Clone, Debug)]
struct FoldedSpan {
    folded: Range<usize>,
    original: Range<usize>,
}

impl FoldedText {
    pub(super) fn new(text: &str, folding: Folding, end: TextEnd) -> Self {
        let mut this = Self { folded: String::with_capacity(text.len()), spans: Vec::new() };
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let taken = at..at + taken(&text[at..], first, folding);
            let start = this.folded.len();
            let is_trailing = || {
                let next = text[taken.end..].chars().next();
                next.map_or(end == TextEnd::OfDocument, is_line_end)
            };
            push(&mut this.folded, &text[taken.clone()], first, folding, is_trailing);
            if this.folded[start..] != text[taken.clone()] {
                let folded = start..this.folded.len();
                this.spans.push(FoldedSpan { folded, original: taken.clone() });
            }
            at = taken.end;
        }
        this
    }

    /// Returns the original range of a folded one; `None` if a character would be cut in two.
    pub(super) fn original(&self, folded: &Range<usize>) -> Option<Range<usize>> {
        Some(self.start(folded.start)?..self.end(folded.end)?)
    }

    /// Returns the original position of a folded one, behind blanks that are left out there.
    pub(super) fn start(&self, folded: usize) -> Option<usize> {
        let index = self.spans.partition_point(|span| span.folded.end <= folded);
        let is_inside = self.spans.get(index).is_some_and(|span| span.folded.start < folded);
        (!is_inside).then(|| self.behind(index, folded))
    }

    /// Returns the original position of a folded one, before blanks that are left out there.
    pub(super) fn end(&self, folded: usize) -> Option<usize> {
        let index = self.spans.partition_point(|span| span.folded.start < folded);
        let is_inside = index > 0 && self.spans[index - 1].folded.end > folded;
        (!is_inside).then(|| self.behind(index, folded))
    }

    fn behind(&self, index: usize, folded: usize) -> usize {
        match index.checked_sub(1).map(|last| &self.spans[last]) {
            Some(span) => span.original.end + (folded - span.folded.end),
            None => folded,
        }
    }

    /// Returns the folded position of an original one. Inside of a passage that is folded into one
    /// character, it is the position behind it if `after`, otherwise the one before it.
    pub(super) fn folded_at(&self, original: usize, after: bool) -> usize {
        let index = self.spans.partition_point(|span| span.original.end <= original);
        match self.spans.get(index) {
            Some(span) if span.original.start < original => {
                if after {
                    span.folded.end
                } else {
                    span.folded.start
                }
            }
            _ => match index.checked_sub(1).map(|last| &self.spans[last]) {
                Some(span) => span.folded.end + (original - span.original.end),
                None => original,
            },
        }
    }
}

/// Returns the number of bytes at the beginning of `rest` that are folded together.
fn taken(rest: &str, first: char, folding: Folding) -> usize {
    let run = |is_part: fn(char) -> bool| rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
    if is_line_end(first) {
        return if rest.starts_with("\r\n") { 2 } else { first.len_utf8() };
    }
    if is_blank(first) {
        return run(is_blank);
    }
    if folding == Folding::LineEnds {
        return first.len_utf8();
    }
    if is_dash(first) {
        return run(is_dash);
    }
    let marks = &rest[first.len_utf8()..];
    let end = marks.find(|c: char| c.is_ascii() || canonical_combining_class(c) == 0);
    first.len_utf8() + end.unwrap_or(marks.len())
}

fn push(
    folded: &mut String,
    words: &str,
    first: char,
    folding: Folding,
    is_trailing: impl FnOnce() -> bool,
) {
    if is_line_end(first) {
        return folded.push('\n');
    }
    if is_blank(first) {
        return match (is_trailing(), folding) {
            (true, _) => {}
            (false, Folding::LineEnds) => folded.push_str(words),
            (false, _) => folded.push(' '),
        };
    }
    if folding == Folding::LineEnds {
        return folded.push_str(words);
    }
    if is_dash(first) {
        return folded.push('-');
    }
    if let Some(quote) = plain_quote(first) {
        folded.push(quote);
        return folded.push_str(&words[first.len_utf8()..]);
    }
    match folding {
        Folding::LineEnds | Folding::LookAlike if words.is_ascii() => folded.push_str(words),
        Folding::LineEnds | Folding::LookAlike => folded.extend(words.nfd()),
        Folding::AnyCase => folded.extend(words.nfd().flat_map(char::to_lowercase)),
        Folding::Loose => {
            let letters = words.nfkd().filter(|&c| !is_combining_mark(c));
            folded.extend(letters.flat_map(char::to_lowercase));
        }
    }
}

pub(super) fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() && !is_line_end(c)
}

/// Returns `true` for hyphens, dashes and minus signs. A row of them counts as one, because `--`
/// stands for a dash.
fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2043}'
                | '\u{2212}'
                | '\u{2e3a}'
                | '\u{2e3b}'
                | '\u{fe58}'
                | '\u{fe63}'
                | '\u{ff0d}'
    )
}

/// Returns the plain form of a quotation mark or an apostrophe.
fn plain_quote(c: char) -> Option<char> {
    match c {
        '\'' | '´' | 'ʹ' | 'ʻ' | 'ʼ' | 'ʽ' | '‘' | '’' | '‚' | '‛' | '′' | '‹' | '›' | '＇' => {
            Some('\'')
        }
        '"' | '«' | '»' | 'ʺ' | '“' | '”' | '„' | '‟' | '″' | '〝' | '〞' | '〟' | '＂' => {
            Some('"')
        }
        _ => None,
    }
}
