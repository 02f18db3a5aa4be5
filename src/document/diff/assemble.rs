//! Conversion of changes to hunks: space goes with the words it belongs to, and bytes become UTF-16
//! units.

use std::ops::Range;

use super::pipeline::{Adjacency, ByteChange};
use super::words::{TokenKind, WordNumbers};
use super::{DraftPart, HunkDraft};

/// Most lines of code in one change: more are hard to read at once.
const MOST_LINES: usize = 24;

/// Returns the hunks that make `changes`, which are in order and disjoint.
pub(super) fn hunks(old: &str, new: &str, changes: &[ByteChange]) -> Vec<HunkDraft> {
    let mut hunks: Vec<HunkDraft> = Vec::new();
    let mut place = TextOffset { text: old, byte: 0, unit: 0 };
    let mut last_end = None;
    for change in merged(old, new, changes) {
        let (base, insert) = trimmed(old, new, &change);
        if old[base.clone()] == new[insert.clone()] {
            continue;
        }
        let joined = match change.adjacency {
            Adjacency::Apart => false,
            Adjacency::Joined => true,
            Adjacency::Line => {
                let is_short = hunks.last().is_some_and(|hunk| hunk.parts.len() < MOST_LINES);
                is_short && last_end == Some((change.old.start, change.new.start, Adjacency::Line))
            }
        };
        last_end = Some((change.old.end, change.new.end, change.adjacency));
        let part = DraftPart {
            from: place.unit_of(base.start),
            to: place.unit_of(base.end),
            base: old[base].to_owned(),
            insert: new[insert].to_owned(),
        };
        match hunks.last_mut() {
            Some(hunk) if joined => hunk.parts.push(part),
            _ => hunks.push(vec![part].into()),
        }
    }
    hunks
}

/// Joins a change that is only white space with the change it touches.
fn merged(old: &str, new: &str, changes: &[ByteChange]) -> Vec<ByteChange> {
    let blank = |change: &ByteChange| {
        old[change.old.clone()].trim().is_empty() && new[change.new.clone()].trim().is_empty()
    };
    let mut merged: Vec<ByteChange> = Vec::with_capacity(changes.len());
    for change in changes {
        match merged.last_mut() {
            Some(last)
                if last.old.end == change.old.start
                    && last.new.end == change.new.start
                    && (blank(last) || blank(change)) =>
            {
                if blank(last) && change.adjacency == Adjacency::Apart {
                    last.adjacency = Adjacency::Apart;
                }
                last.old.end = change.old.end;
                last.new.end = change.new.end;
            }
            _ => merged.push(change.clone()),
        }
    }
    merged
}

/// Returns the two sides without the space they have in common at their ends.
fn trimmed(old: &str, new: &str, change: &ByteChange) -> (Range<usize>, Range<usize>) {
    let (mut o, mut n) = (change.old.clone(), change.new.clone());
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
    (o, n)
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
