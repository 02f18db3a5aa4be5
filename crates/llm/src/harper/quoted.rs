//! Finds the quotations of a text: speech between quotation marks, and block quotes.

use std::ops::Range;

/// Quoted ranges in Unicode scalars, in order.
pub(super) struct QuotedRanges(Vec<Range<usize>>);

impl QuotedRanges {
    /// Finds quotations paragraph by paragraph: one that is not closed ends with its paragraph.
    pub(super) fn in_text(text: &[char]) -> Self {
        let mut ranges = Vec::new();
        let mut open = None;
        for (line, from) in lines(text) {
            let first = line.iter().find(|letter| !letter.is_whitespace());
            if first.is_none() || first == Some(&'>') {
                ranges.extend(open.take().map(|quotation: OpenQuotation| quotation.from..from));
            }
            if first == Some(&'>') {
                ranges.push(from..from + line.len());
            } else {
                in_line(line, from, &mut open, &mut ranges);
            }
        }
        ranges.extend(open.map(|quotation| quotation.from..text.len()));
        Self(ranges)
    }

    pub(super) fn ranges(&self) -> impl Iterator<Item = &Range<usize>> {
        self.0.iter()
    }

    /// Returns `true` if any part of `from..to` is quoted.
    pub(super) fn touches(&self, from: usize, to: usize) -> bool {
        self.0.iter().any(|range| from < range.end && range.start < to)
    }
}

struct OpenQuotation {
    from: usize,
    close: char,
}

/// Splits the text into lines with their line ends, each with the index of its first scalar.
fn lines(text: &[char]) -> impl Iterator<Item = (&[char], usize)> {
    text.split_inclusive(|letter| *letter == '\n').scan(0, |next, line| {
        let from = *next;
        *next += line.len();
        Some((line, from))
    })
}

fn in_line(
    line: &[char],
    from: usize,
    open: &mut Option<OpenQuotation>,
    ranges: &mut Vec<Range<usize>>,
) {
    for (at, letter) in line.iter().enumerate() {
        match open {
            None => *open = closing(*letter).map(|close| OpenQuotation { from: from + at, close }),
            Some(quotation) if *letter == quotation.close && !is_apostrophe(line, at) => {
                ranges.push(quotation.from..from + at + 1);
                *open = None;
            }
            Some(_) => {}
        }
    }
}

/// Returns the mark that closes a quotation opened by `mark`.
fn closing(mark: char) -> Option<char> {
    match mark {
        '“' => Some('”'),
        '‘' => Some('’'),
        '"' => Some('"'),
        '«' => Some('»'),
        '„' => Some('“'),
        _ => None,
    }
}

/// Returns `true` if the single closing mark is an apostrophe inside a word.
fn is_apostrophe(line: &[char], at: usize) -> bool {
    line[at] == '’' && line.get(at + 1).is_some_and(|next| next.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the quoted parts of `text`.
    fn quoted(text: &str) -> Vec<String> {
        let letters: Vec<char> = text.chars().collect();
        let QuotedRanges(ranges) = QuotedRanges::in_text(&letters);
        ranges.into_iter().map(|range| letters[range].iter().collect()).collect()
    }

    #[test]
    fn speech_is_what_stands_between_marks_of_any_kind() {
        assert_eq!(quoted("a “b” c \"d\" e «f» g „h“ i"), ["“b”", "\"d\"", "«f»", "„h“"]);
        assert_eq!(quoted("‘It’s ‘I’, he said"), ["‘It’s ‘I’"]);
        assert_eq!(quoted("the keeper’s lamp, '90s"), Vec::<String>::new());
    }

    #[test]
    fn speech_goes_on_over_lines_but_not_over_paragraphs() {
        assert_eq!(quoted("“a\nb” c\n“d\n\ne” f"), ["“a\nb”", "“d\n"]);
    }

    #[test]
    fn block_quotes_are_quoted() {
        assert_eq!(quoted("a “b\n> c\nd"), ["“b\n", "> c\n"]);
    }
}
