//! Ends of the sentences of a paragraph.
//!
//! UAX 29 proposes them; those behind abbreviations, initials and ordinal numbers, before a
//! sentence that goes on in lower case, and inside brackets are not ends.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// Width in bytes of a line of prose that was probably wrapped by hand and continues in the next
/// line.
const WRAPPED_WIDTH: Range<usize> = 45..121;

/// Abbreviations that stand before what they belong to, in lower case, without the last full stop.
/// `no` is one only before a number.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "mt", "rev", "hon", "gen", "col", "lt", "sgt", "capt",
    "messrs", "fig", "figs", "vol", "pp", "eds", "vs", "cf", "e.g", "i.e", "approx", "ca", "nos",
    "sect", "ch", "esp", "resp", "viz", "dept", "gov", "sen", "rep", "pres", // German
    "hr", "fr", "nr", "bzw", "z.b", "z. b", "d.h", "d. h", "u.a", "u. a", "bd", "evtl", "ggf",
    "sog", "str", "vgl", "inkl", "zzgl", "mio", "mrd", "dipl", "ing", "geb", "tel", "abs", "hl",
    "m", "mm", "mme", "mmes", "mlle", "mgr", "pr", "ste", "av", "env", "boul", "bd", "chap", "n°",
    "c.-à-d", "p. ex", "p.ex",
];

/// Abbreviations that stand before a number.
const BEFORE_NUMBERS: &[&str] = &["no", "p", "s", "art", "op", "sec", "§", "ver", "v", "ref", "c"];

/// Months and other words behind an ordinal number such as `3.` in German.
const BEHIND_ORDINALS: &[&str] = &[
    "januar",
    "jänner",
    "februar",
    "märz",
    "april",
    "mai",
    "juni",
    "juli",
    "august",
    "september",
    "oktober",
    "november",
    "dezember",
    "jahrhundert",
    "stock",
    "klasse",
    "platz",
    "mal",
    "tag",
    "woche",
    "etage",
    "kapitel",
    "juillet",
    "jahrhunderts",
];

/// Most bytes read before and behind a place to find the brackets around it.
const BRACKETED: usize = 1_000;

const CLOSERS: &[char] = &['"', '\'', ')', ']', '}', '”', '’', '»', '“', '‘', '«', '*', '_'];

/// Returns the ends of the sentences of a paragraph in bytes, the end of the paragraph included.
pub(in crate::diff) fn sentence_ends(paragraph: &str) -> Vec<usize> {
    let body = paragraph.trim_end().len();
    let mut ends: Vec<usize> = Vec::new();
    // UAX 29 ends a sentence at every line end; a wrapped line continues, so its end is read as a
    // space.
    for run in wrapped_runs(&paragraph[..body]) {
        let flat = paragraph[run.clone()].replace('\n', " ");
        let mut begin = 0;
        let mut at = 0;
        for piece in flat.split_sentence_bounds() {
            at += piece.len();
            if at == flat.len() || is_end(&flat[begin..at], &flat[at..]) {
                ends.push(run.start + at);
                begin = at;
            }
        }
    }
    // Blank space at the end belongs to the last sentence.
    ends.pop();
    ends.push(paragraph.len());
    ends
}

/// Returns `true` if a sentence ends between `before`, the text from its start, and `behind`.
fn is_end(before: &str, behind: &str) -> bool {
    let text = before.trim_end();
    let bare = text.trim_end_matches(CLOSERS);
    let next = behind.chars().find(|c| c.is_alphanumeric());
    if next.is_some_and(char::is_lowercase) && bare.ends_with(['.', '!', '?', '…']) {
        return false;
    }
    if has_open_bracket(text) && closes_bracket(behind) {
        return false;
    }
    // A closing quotation mark or bracket shows that the stop ends something.
    if bare.len() < text.len() {
        return true;
    }
    let Some(words) = bare.strip_suffix('.') else { return true };
    !is_abbreviation(words, behind)
}

/// Returns `true` if the full stop behind `words` belongs to an abbreviation, an initial or an
/// ordinal number.
fn is_abbreviation(words: &str, behind: &str) -> bool {
    let start = |c: char| c.is_whitespace() || CLOSERS.contains(&c) || "([{„“«–—/".contains(c);
    let at = words
        .rfind(start)
        .map_or(0, |at| at + words[at..].chars().next().map_or(1, char::len_utf8));
    let word = &words[at..];
    let before = words[..at].trim_end();
    let next_word: String =
        behind.chars().take_while(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is_number = |text: &str| text.chars().next().is_some_and(char::is_numeric);
    if !word.is_empty() && word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit()) {
        return before.is_empty() || BEHIND_ORDINALS.contains(&next_word.as_str());
    }
    let lower = word.to_lowercase();
    // In two words, such as `z. B.`
    let previous = before.rsplit(char::is_whitespace).next().unwrap_or_default().to_lowercase();
    let both = format!("{previous} {lower}");
    if [&lower, &both].iter().any(|it| ABBREVIATIONS.contains(&it.as_str())) {
        return true;
    }
    if BEFORE_NUMBERS.contains(&lower.as_str()) && is_number(behind) || is_short_title(word) {
        return true;
    }
    // Initials. `I` is one only behind another one.
    let mut letters = word.chars();
    match (letters.next(), letters.next()) {
        (Some('I'), None) => is_initial(&previous),
        (Some(c), None) => c.is_uppercase() || begins_with_initial(behind),
        _ => {
            let is_time = lower.strip_suffix('m').is_some_and(|rest| rest.ends_with('.'));
            is_initial(&lower) && word.chars().any(char::is_uppercase) && !is_time
        }
    }
}

/// Returns `true` for a capital and small letters without a vowel, as in `Cllr.`. A sound such as
/// `Hmm.` ends with the same letter twice.
fn is_short_title(word: &str) -> bool {
    let letters = word.as_bytes();
    let is_consonant =
        |b: &u8| b.is_ascii_alphabetic() && !b"aeiouy".contains(&b.to_ascii_lowercase());
    let [first, rest @ ..] = letters else { return false };
    first.is_ascii_uppercase()
        && !rest.is_empty()
        && rest.iter().all(u8::is_ascii_lowercase)
        && letters.iter().all(is_consonant)
        && !matches!(rest, [.., a, b] if a == b)
}

fn is_initial(word: &str) -> bool {
    word.contains('.') && word.split('.').all(|it| it.chars().count() <= 1)
}

/// Returns `true` if the text begins with a letter and a full stop, as the second half of `z. B.`
fn begins_with_initial(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(char::is_alphabetic) && chars.next() == Some('.')
}

/// Returns `true` if a bracket is open at the end of `text`.
fn has_open_bracket(text: &str) -> bool {
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(BRACKETED))..];
    let count = |marks: [char; 2]| text.chars().filter(|c| marks.contains(c)).count();
    count(['(', '[']) > count([')', ']'])
}

/// Returns `true` if `text` closes a bracket that was open before it.
fn closes_bracket(text: &str) -> bool {
    let text = &text[..text.floor_char_boundary(BRACKETED)];
    let mut open = 0;
    for c in text.chars() {
        match c {
            '(' | '[' => open += 1,
            ')' | ']' if open == 0 => return true,
            ')' | ']' => open -= 1,
            _ => {}
        }
    }
    false
}

/// Returns the runs of lines that continue from one to the next.
fn wrapped_runs(paragraph: &str) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in paragraph.split_inclusive('\n') {
        at += line.len();
        let goes_on = WRAPPED_WIDTH.contains(&line.len())
            && paragraph[at..].starts_with(|c: char| c.is_alphanumeric() || c == '>');
        if !goes_on {
            runs.push(start..at);
            start = at;
        }
    }
    if start < paragraph.len() {
        runs.push(start..paragraph.len());
    }
    runs
}
