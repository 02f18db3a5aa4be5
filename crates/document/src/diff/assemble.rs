//! Conversion of changes to hunks: space goes with its words, and bytes become UTF-16 units.

use super::dependents::with_dependents;
use super::draft::{DraftPart, HunkDraft};
use super::pipeline::{Adjacency, ByteChange, ByteHunk};
use super::words::{TokenKind, WordNumbers};

/// Maximum number of lines of code in one change: more are hard to read at once.
const MOST_LINES: usize = 24;

/// Returns the drafts of `hunks`, which are in order and disjoint.
pub(super) fn drafts(old: &str, new: &str, hunks: Vec<ByteHunk>) -> Vec<HunkDraft> {
    let mut hunks = lines_joined(spaces_joined(hunks));
    for part in hunks.iter_mut().flat_map(|hunk| &mut hunk.parts) {
        *part = trimmed(old, new, part);
    }
    let hunks = with_dependents(old, new, without_equal(old, new, hunks));
    let mut place = TextOffset { text: old, byte: 0, unit: 0 };
    let (mut group, mut last) = (0, None);
    let mut drafts = Vec::with_capacity(hunks.len());
    for ByteHunk { parts, kind, paragraph, .. } in without_equal(old, new, hunks) {
        if last.replace(paragraph) != Some(paragraph) {
            group += 1;
        }
        let draft = |part: ByteChange| DraftPart {
            from: place.unit_of(part.old.start),
            to: place.unit_of(part.old.end),
            base: old[part.old].to_owned(),
            insert: new[part.new].to_owned(),
        };
        let parts = parts.into_iter().map(draft).collect();
        drafts.push(HunkDraft { parts, explanation: None, kind: Some(kind), group: Some(group) });
    }
    drafts
}

fn without_equal(old: &str, new: &str, mut hunks: Vec<ByteHunk>) -> Vec<ByteHunk> {
    for hunk in &mut hunks {
        hunk.parts.retain(|part| old[part.old.clone()] != new[part.new.clone()]);
    }
    hunks.retain(|hunk| !hunk.parts.is_empty());
    hunks
}

/// Joins the space between two sentences with the added or removed sentences it touches.
fn spaces_joined(hunks: Vec<ByteHunk>) -> Vec<ByteHunk> {
    let mut joined: Vec<ByteHunk> = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        let Some(last) = joined.last_mut() else {
            joined.push(hunk);
            continue;
        };
        let (left, right) = (last.range(), hunk.range());
        let touch = left.old.end == right.old.start && left.new.end == right.new.start;
        match (last.adjacency, hunk.adjacency) {
            (Adjacency::Space, Adjacency::Sentences | Adjacency::Space)
            | (Adjacency::Sentences, Adjacency::Space)
                if touch =>
            {
                let part = ByteChange {
                    old: left.old.start..right.old.end,
                    new: left.new.start..right.new.end,
                };
                if last.adjacency == Adjacency::Space {
                    *last = hunk;
                }
                last.parts = vec![part];
            }
            _ => joined.push(hunk),
        }
    }
    joined
}

/// Joins lines of code right behind one another, up to [`MOST_LINES`].
fn lines_joined(hunks: Vec<ByteHunk>) -> Vec<ByteHunk> {
    let mut joined: Vec<ByteHunk> = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        match joined.last_mut() {
            Some(last)
                if (last.adjacency, hunk.adjacency) == (Adjacency::Line, Adjacency::Line)
                    && last.range().old.end == hunk.range().old.start
                    && last.range().new.end == hunk.range().new.start
                    && last.parts.len() < MOST_LINES =>
            {
                last.parts.extend(hunk.parts);
            }
            _ => joined.push(hunk),
        }
    }
    joined
}

fn trimmed(old: &str, new: &str, change: &ByteChange) -> ByteChange {
    let (mut o, mut n) = (change.old.clone(), change.new.clone());
    let (gone, come) = (&old[o.clone()], &new[n.clone()]);
    let both = |is_space: fn(&str) -> bool| is_space(gone) && is_space(come);
    if !both(|it| it.starts_with(char::is_whitespace))
        && !both(|it| it.ends_with(char::is_whitespace))
    {
        return change.clone();
    }
    let mut words = WordNumbers::default();
    let (old_tokens, new_tokens) = (words.tokens(old, o.clone()), words.tokens(new, n.clone()));
    let common = |(a, b): &(&super::words::WordToken, &super::words::WordToken)| {
        a.stuff == TokenKind::Space && a.id == b.id
    };
    for (_, b) in old_tokens.iter().rev().zip(new_tokens.iter().rev()).take_while(common) {
        o.end -= b.range.len();
        n.end -= b.range.len();
    }
    for (_, b) in old_tokens.iter().zip(&new_tokens).take_while(common) {
        if b.range.len() > o.len().min(n.len()) {
            break;
        }
        o.start += b.range.len();
        n.start += b.range.len();
    }
    ByteChange { old: o, new: n }
}

/// A place in a text, in bytes and in UTF-16 units; it only moves forward.
struct TextOffset<'a> {
    text: &'a str,
    byte: usize,
    unit: usize,
}

impl TextOffset<'_> {
    fn unit_of(&mut self, byte: usize) -> usize {
        let passed = &self.text[self.byte..byte];
        self.unit += if passed.is_ascii() { passed.len() } else { passed.encode_utf16().count() };
        self.byte = byte;
        self.unit
    }
}
