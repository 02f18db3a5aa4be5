//! Finds quotations in a text whose characters look like those of the text but are others.
//!
//! Models quote with `'` and plain spaces where a text has `’` and no-break spaces, or compose
//! letters differently. Only where the exact words are not in the text, a passage that differs in
//! nothing that people see counts, if it is the only one.

mod folding;
mod nearest;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::diff::{DiffLimits, token_gaps};

pub use folding::Folding;
use folding::{FoldedText, TextEnd};

/// Maximum number of characters of a passage that a sentence shows.
const SHOWN_CHARS: usize = 200;
/// Maximum number of lines that a sentence names.
const MOST_LINES: usize = 5;

/// Place of a quotation in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuotationPlace {
    /// The exact words are there, once or more often.
    Exact,
    /// Only this passage looks like the words. Range in bytes.
    Alike(Range<usize>),
    /// Several passages look like the words. Ranges in bytes.
    Several(Vec<Range<usize>>),
    /// No passage looks like the words.
    Missing,
}

/// Finds a quotation. An empty one is missing.
pub fn find(text: &str, quoted: &str, folding: Folding) -> QuotationPlace {
    if quoted.is_empty() {
        return QuotationPlace::Missing;
    }
    if text.contains(quoted) {
        return QuotationPlace::Exact;
    }
    let mut found = alike(text, quoted, folding);
    match (found.pop(), found.is_empty()) {
        (None, _) => QuotationPlace::Missing,
        (Some(only), true) => QuotationPlace::Alike(only),
        (Some(last), false) => {
            found.push(last);
            QuotationPlace::Several(found)
        }
    }
}

/// Returns the passages that look like a quotation, in order and disjoint. Ranges in bytes.
pub fn alike(text: &str, quoted: &str, folding: Folding) -> Vec<Range<usize>> {
    let wanted = FoldedText::new(quoted, folding, TextEnd::OfQuotation).folded;
    if wanted.trim().is_empty() {
        return Vec::new();
    }
    let within = FoldedText::new(text, folding, TextEnd::OfDocument);
    let places = |wanted: &str, is_end: bool| -> Vec<Range<usize>> {
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(from) = within.folded[at..].find(wanted).map(|from| at + from) {
            let to = from + wanted.len();
            let ends_line = || matches!(within.folded.as_bytes().get(to), None | Some(b'\n'));
            let range = within.original(&(from..to)).filter(|range| is_whole(text, range));
            match range.filter(|_| !is_end || ends_line()) {
                Some(range) => {
                    found.push(range);
                    at = to;
                }
                None => at = from + within.folded[from..].chars().next().map_or(1, char::len_utf8),
            }
        }
        found
    };
    let found = places(&wanted, false);
    // Blanks at the end of the quotation may be those before the end of a line.
    match wanted.strip_suffix(' ') {
        Some(wanted) if found.is_empty() => places(wanted, true),
        _ => found,
    }
}

/// Returns `true` if a range neither begins with an accent nor ends before one.
fn is_whole(text: &str, range: &Range<usize>) -> bool {
    let is_mark = |at: usize| text[at..].chars().next().is_some_and(is_combining_mark);
    !is_mark(range.start) && !is_mark(range.end)
}

/// Returns the new words of a passage `found` that looks like `quoted`: everything that differs
/// between `quoted` and `replacement` is changed, and every other character of the passage stays.
pub fn rewritten(found: &str, quoted: &str, replacement: &str, folding: Folding) -> String {
    changed(found, quoted, replacement, folding).unwrap_or_else(|| replacement.to_owned())
}

/// Returns the new words as [`rewritten`] does; `None` if a change would cut a character of `found`
/// in two.
fn changed(found: &str, quoted: &str, replacement: &str, folding: Folding) -> Option<String> {
    let (old_tokens, new_tokens) = (tokens(quoted), tokens(replacement));
    let gaps = token_gaps(
        &words(quoted, &old_tokens),
        &words(replacement, &new_tokens),
        &DiffLimits::default(),
    );
    let old = FoldedText::new(quoted, folding, TextEnd::OfQuotation);
    let now = FoldedText::new(found, folding, TextEnd::OfQuotation);
    let (mut made, mut at) = (String::with_capacity(replacement.len()), 0);
    for (gone, new) in gaps {
        let gone = bytes(&old_tokens, &gone, quoted.len());
        let new = bytes(&new_tokens, &new, replacement.len());
        let (gone, new) = trimmed(quoted, &gone, replacement, &new);
        let (from, to) = place(&old, &now, &gone)?;
        let from = from.clamp(at, found.len());
        let to = to.clamp(from, found.len());
        made.push_str(&found[at..from]);
        made.push_str(&replacement[new]);
        at = to;
    }
    made.push_str(&found[at..]);
    Some(made)
}

/// Returns the range of the present text that stands for a range of the quotation.
fn place(old: &FoldedText, now: &FoldedText, gone: &Range<usize>) -> Option<(usize, usize)> {
    let (from, to) = (old.folded_at(gone.start, true), old.folded_at(gone.end, false));
    let is_insertion = gone.is_empty();
    if from >= to {
        // Only blanks that do not count are removed; the same ones of the text go.
        let end = if is_insertion { now.end(from)? } else { now.start(from)? };
        return Some((now.end(from)?, end));
    }
    Some((now.start(from)?, now.end(to)?))
}

fn words<'t>(text: &'t str, tokens: &[Range<usize>]) -> Vec<&'t str> {
    tokens.iter().map(|token| &text[token.clone()]).collect()
}

/// Cuts a text into words, accents with their letters, and single other characters. Ranges in
/// bytes.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens: Vec<Range<usize>> = Vec::new();
    let mut is_word = false;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let goes_on = is_combining_mark(c) || (is_word && c.is_alphanumeric());
        match tokens.last_mut() {
            Some(last) if goes_on => last.end = end,
            _ => {
                tokens.push(at..end);
                is_word = c.is_alphanumeric();
            }
        }
    }
    tokens
}

fn bytes(tokens: &[Range<usize>], range: &Range<usize>, len: usize) -> Range<usize> {
    let start = |index: usize| tokens.get(index).map_or(len, |token| token.start);
    start(range.start)..start(range.end)
}

/// Returns two ranges without the characters that both begin and end with, accents with their
/// letters.
fn trimmed<'t>(
    old: &'t str,
    gone: &Range<usize>,
    new: &'t str,
    added: &Range<usize>,
) -> (Range<usize>, Range<usize>) {
    let letters = |text: &str| -> Vec<usize> {
        let starts = text.char_indices().filter(|(_, c)| !is_combining_mark(*c));
        starts.map(|(at, _)| at).chain([text.len()]).collect()
    };
    let (one, other) = (&old[gone.clone()], &new[added.clone()]);
    let (ones, others) = (letters(one), letters(other));
    let most = ones.len().min(others.len()) - 1;
    let equal = |i: usize| one[..ones[i]] == other[..others[i]];
    let head = (0..most).take_while(|&i| equal(i + 1)).count();
    let behind =
        |text: &'t str, starts: &[usize], back: usize| &text[starts[starts.len() - 1 - back]..];
    let ends_equal = |back: usize| behind(one, &ones, back) == behind(other, &others, back);
    let tail = (0..most - head).take_while(|&i| ends_equal(i + 1)).count();
    let inner =
        |starts: &[usize], at: usize| at + starts[head]..at + starts[starts.len() - 1 - tail];
    (inner(&ones, gone.start), inner(&others, added.start))
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct NearestPassage {
    range: Range<usize>,
    /// Difference, if it is the only one.
    differs: Option<&'static str>,
}

/// Returns a sentence about a quotation that is not in the range `within` of `text` (in bytes) as
/// it was given: the nearest passage, or the passages that look like it.
pub fn hint(text: &str, within: Range<usize>, quoted: &str, folding: Folding) -> String {
    let (start, part) = (within.start, &text[within]);
    if let QuotationPlace::Several(found) = find(part, quoted, folding) {
        return format!(
            "{} passages look like it ({}); quote one of them exactly, with more of the text around it",
            found.len(),
            lines(text, found.iter().map(|range| start + range.start)),
        );
    }
    let Some(NearestPassage { range, differs }) = nearest::nearest(part, quoted) else {
        return String::new();
    };
    let line = lines(text, [start + range.start]);
    let mut sentence = format!("The nearest passage, {line}, reads {}", shown(&part[range]));
    if let Some(differs) = differs {
        let _ = write!(sentence, " and differs in {differs}");
    }
    sentence
}

/// Returns a sentence for the model about a passage that was found though its characters differ.
pub fn found_alike(found: &str, folding: Folding) -> String {
    let what = match folding {
        Folding::LineEnds => "line ends or blanks before them",
        Folding::LookAlike => "quotes, dashes, spaces, line ends or composed letters",
        Folding::AnyCase | Folding::Loose => "letters or signs",
    };
    format!(
        "The quoted text differs from the document in {what}; the passage that was found reads {}, and keeps its \
         own characters where you changed nothing",
        shown(found)
    )
}

/// Returns the numbers of the lines of positions in bytes, in words: `line 3`, `lines 1, 4 and 2
/// more`.
pub fn lines(text: &str, places: impl IntoIterator<Item = usize>) -> String {
    let (mut line, mut at, mut numbers) = (1, 0, Vec::new());
    for place in places {
        line += text[at..place].matches('\n').count();
        at = place;
        numbers.push(line);
    }
    numbers.dedup();
    let named: Vec<_> = numbers.iter().take(MOST_LINES).map(ToString::to_string).collect();
    let more = match numbers.len().saturating_sub(MOST_LINES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let noun = if numbers.len() == 1 { "line" } else { "lines" };
    format!("{noun} {}{more}", named.join(", "))
}

fn shown(passage: &str) -> String {
    let short: String = passage.chars().take(SHOWN_CHARS).collect();
    let more = if short.len() < passage.len() { "…" } else { "" };
    let blanks = |c: char| if is_odd_blank(c) { c.escape_unicode().to_string() } else { c.into() };
    let quoted: String = format!("{short:?}").chars().map(blanks).collect();
    quoted + more
}

/// Returns `true` for a blank that looks like a space and is another character.
fn is_odd_blank(c: char) -> bool {
    c.is_whitespace() && !c.is_ascii()
}
