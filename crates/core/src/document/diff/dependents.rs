//! Changes that read well only together: each half of a pair of marks, and neighbours that would
//! leave a doubled word or a missing space if one were accepted without the other.

use super::draft::HunkKind;
use super::pipeline::{Adjacency, ByteChange, ByteHunk};

/// Most hunks between the two halves of a pair of marks.
const MOST_BETWEEN: usize = 3;

/// Bytes read on either side of the place where two changes meet.
const NEAR: usize = 32;

/// Returns `hunks`, in order, with those that depend on each other as one.
pub(super) fn with_dependents(old: &str, new: &str, hunks: Vec<ByteHunk>) -> Vec<ByteHunk> {
    let mut joined: Vec<ByteHunk> = Vec::with_capacity(hunks.len());
    // Marks that each hunk opens or closes.
    let mut open: Vec<MarkBalance> = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        let balance = MarkBalance::of(old, new, &hunk);
        joined.push(hunk);
        open.push(balance);
        if let Some(first) = other_half(&joined, &open) {
            join_from(&mut joined, &mut open, first);
        }
        while let [.., left, right] = joined.as_slice()
            && is_one_text(left, right)
            && clash(old, new, left, right)
        {
            let first = joined.len() - 2;
            join_from(&mut joined, &mut open, first);
        }
    }
    joined
}

/// Joins all hunks from `first` on.
fn join_from(hunks: &mut Vec<ByteHunk>, open: &mut Vec<MarkBalance>, first: usize) {
    let rest = hunks.split_off(first + 1);
    let balance = open.split_off(first).into_iter().fold(MarkBalance::default(), MarkBalance::plus);
    open.push(balance);
    let Some(hunk) = hunks.last_mut() else { return };
    for other in rest {
        for part in other.parts {
            match hunk.parts.last_mut() {
                Some(last) if last.old.end == part.old.start && last.new.end == part.new.start => {
                    (last.old.end, last.new.end) = (part.old.end, part.new.end);
                }
                _ => hunk.parts.push(part),
            }
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

/// Returns the hunk that opens what the last one closes.
fn other_half(hunks: &[ByteHunk], open: &[MarkBalance]) -> Option<usize> {
    let (last, balance) = (hunks.last()?, open.last()?);
    if balance.is_even() {
        return None;
    }
    let mut sum = *balance;
    let before = hunks.iter().zip(open).enumerate().rev().skip(1).take(MOST_BETWEEN + 1);
    for (index, (_, marks)) in before.take_while(|(_, (hunk, _))| is_one_text(hunk, last)) {
        sum = sum.plus(*marks);
        if sum.is_even() && !marks.is_even() {
            return Some(index);
        }
    }
    None
}

/// Number of marks that a change opens and does not close; negative if it closes more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MarkBalance {
    round: i32,
    square: i32,
    /// Marks that look alike on both sides or change sides with the language: even or odd.
    quotes: [bool; 4],
}

/// Quotation marks and emphasis; each group is counted together.
const QUOTES: [&[char]; 4] = [&['"'], &['“', '”', '„'], &['«', '»'], &['*']];

impl MarkBalance {
    fn of(old: &str, new: &str, hunk: &ByteHunk) -> Self {
        let mut balance = Self::default();
        for ByteChange { old: gone, new: come } in &hunk.parts {
            balance.read(&old[gone.clone()], -1);
            balance.read(&new[come.clone()], 1);
        }
        balance
    }

    fn read(&mut self, text: &str, sign: i32) {
        for c in text.chars() {
            match c {
                '(' => self.round += sign,
                ')' => self.round -= sign,
                '[' => self.square += sign,
                ']' => self.square -= sign,
                '"' | '“' | '”' | '„' | '«' | '»' | '*' => {
                    for (odd, marks) in self.quotes.iter_mut().zip(QUOTES) {
                        *odd ^= marks.contains(&c);
                    }
                }
                _ => {}
            }
        }
    }

    fn plus(mut self, other: Self) -> Self {
        self.round += other.round;
        self.square += other.square;
        for (odd, other) in self.quotes.iter_mut().zip(other.quotes) {
            *odd ^= other;
        }
        self
    }

    fn is_even(&self) -> bool {
        *self == Self::default()
    }
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

/// Words on either side of the place where two changes meet that can read badly there: one that is
/// joined with a word of the other side, and the one beside it.
const MEETING_WORDS: usize = 2;

/// Returns the last [`MEETING_WORDS`] of a text, with the space before them.
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

/// Returns the first [`MEETING_WORDS`] of a text, with the space behind them.
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

/// Returns the end of a text, of about `length` bytes.
fn tail(text: &str, length: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(length))..]
}

/// Returns the start of a text, of about `length` bytes.
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
