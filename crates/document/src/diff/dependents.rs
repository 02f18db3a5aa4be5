//! Neighbours that read well only together, or else leave a doubled word or a missing space.

use super::draft::HunkKind;
use super::pipeline::{Adjacency, ByteHunk};

/// Bytes read on either side of the place where two changes meet.
const NEAR: usize = 32;

/// Returns `hunks`, in order, with those that depend on each other as one.
pub(super) fn with_dependents(old: &str, new: &str, hunks: Vec<ByteHunk>) -> Vec<ByteHunk> {
    let mut joined: Vec<ByteHunk> = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        joined.push(hunk);
        while let [.., left, right] = joined.as_slice()
            && is_one_text(left, right)
            && clash(old, new, left, right)
        {
            join_last(&mut joined);
        }
    }
    joined
}

fn join_last(hunks: &mut Vec<ByteHunk>) {
    let Some(other) = hunks.pop() else { return };
    let Some(hunk) = hunks.last_mut() else { return };
    for part in other.parts {
        match hunk.parts.last_mut() {
            Some(last) if last.old.end == part.old.start && last.new.end == part.new.start => {
                (last.old.end, last.new.end) = (part.old.end, part.new.end);
            }
            _ => hunk.parts.push(part),
        }
    }
    hunk.kind = HunkKind::Rewrite;
    hunk.adjacency = Adjacency::Apart;
}

/// Returns `true` if two hunks may be joined: they change words of one paragraph.
fn is_one_text(left: &ByteHunk, right: &ByteHunk) -> bool {
    left.paragraph == right.paragraph
        && left.adjacency != Adjacency::Line
        && right.adjacency != Adjacency::Line
}

/// Returns `true` if the text reads worse with one of two neighbours accepted than with both or
/// with neither.
fn clash(old: &str, new: &str, left: &ByteHunk, right: &ByteHunk) -> bool {
    let (Some(left), Some(right)) = (left.parts.last(), right.parts.first()) else { return false };
    let between = &old[left.old.end..right.old.start];
    if between.len() > NEAR || between.contains(char::is_alphanumeric) {
        return false;
    }
    let end = |piece: &str| {
        let before = tail(&old[..left.old.start], NEAR.saturating_sub(piece.len()));
        last_words(&format!("{before}{}", tail(piece, NEAR))).to_owned()
    };
    let start = |piece: &str| {
        let behind = head(&old[right.old.end..], NEAR.saturating_sub(piece.len()));
        first_words(&format!("{}{behind}", head(piece, NEAR))).to_owned()
    };
    let (left_old, left_new) = (end(&old[left.old.clone()]), end(&new[left.new.clone()]));
    let (right_old, right_new) = (start(&old[right.old.clone()]), start(&new[right.new.clone()]));
    // Most neighbours read well whatever is accepted.
    let (first, second) =
        (flaws(&left_new, between, &right_old), flaws(&left_old, between, &right_new));
    first.max(second) > 0
        && first.max(second)
            > flaws(&left_old, between, &right_old).max(flaws(&left_new, between, &right_new))
}

/// Words on either side of the place where two changes meet that can read badly there.
const MEETING_WORDS: usize = 2;

fn last_words(text: &str) -> &str {
    let mut words = 0;
    let mut is_word = false;
    for (at, c) in text.char_indices().rev() {
        words += usize::from(c.is_whitespace() && is_word);
        is_word = !c.is_whitespace();
        if words == MEETING_WORDS {
            return &text[at..];
        }
    }
    text
}

fn first_words(text: &str) -> &str {
    let mut words = 0;
    let mut is_word = false;
    for (at, c) in text.char_indices() {
        words += usize::from(c.is_whitespace() && is_word);
        is_word = !c.is_whitespace();
        if words == MEETING_WORDS {
            return &text[..at + c.len_utf8()];
        }
    }
    text
}

fn tail(text: &str, length: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(length))..]
}

fn head(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}

/// Counts doubled words, spaces and stops, and words without a space between them.
fn flaws(left: &str, between: &str, right: &str) -> usize {
    let glued = |left: Option<char>, right: Option<char>| {
        left.is_some_and(char::is_alphanumeric) && right.is_some_and(char::is_alphanumeric)
    };
    let mut count = 0;
    if between.is_empty() {
        count += usize::from(glued(left.chars().next_back(), right.chars().next()));
    }
    let text = [left, between, right].concat();
    let mut chars = text.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        count += usize::from(match (c, next) {
            (' ', Some(' ' | '.' | ',' | ')' | '\n'))
            | (',' | ';' | ':', Some('.' | ',' | ';' | ':')) => true,
            ('.', Some(',' | ';' | ':')) => before.is_some_and(char::is_whitespace),
            ('.', Some('.')) => before != Some('.') && !text.contains("..."),
            ('.' | '!' | '?' | ',' | ';', Some(next)) => {
                next.is_uppercase() && before.is_some_and(char::is_lowercase)
            }
            _ => false,
        });
        before = Some(c);
    }
    let mut last: Option<&str> = None;
    for word in text.split(char::is_whitespace).filter(|it| !it.is_empty()) {
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        count += usize::from(last == Some(bare) && !bare.is_empty());
        last = Some(word);
    }
    count
}
