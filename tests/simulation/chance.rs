//! What people and agents come up with.

use copydesk::document::diff::{DiffLimits, DraftPart, HunkDraft, diff};
use copydesk::document::{Text, TextEdit};
use copydesk::permissions::{Principal, Role};
use fastrand::Rng;

const WORDS: [&str; 12] =
    ["the", "a", "cat", "sat", "😀", "naïve", "recieve", "then", "東京", "x", "more", "ö"];

/// Everybody there is.
pub const PEOPLE: [&str; 5] = ["ana", "bob", "cem", "rex", "vic"];

/// Longer texts only shrink, so that histories stay quick.
const LONG: usize = 220;

/// Somebody by name: the first letter says what they may.
pub fn person(name: &str) -> Principal {
    let role = match name {
        "ana" => Role::Owner,
        "rex" => Role::Reviewer,
        "vic" => Role::Viewer,
        _ => Role::Editor,
    };
    Principal::new(name, name, role)
}

/// A few words, perhaps with the end of a sentence or a paragraph.
pub fn words(random: &mut Rng, most: usize) -> String {
    let mut words = String::new();
    for _ in 0..random.usize(1..=most) {
        words.push_str(WORDS[random.usize(..WORDS.len())]);
        words.push(' ');
    }
    match random.u8(0..8) {
        0 => words.push('\n'),
        1..4 => words.truncate(words.len() - 1),
        _ => {}
    }
    words
}

/// The next place that is not inside a surrogate pair.
pub fn boundary(text: &Text, at: usize) -> usize {
    if at >= text.len() {
        text.len()
    } else if text.is_boundary(at) {
        at
    } else {
        at + 1
    }
}

/// One or two edits, mostly near a place where it is interesting.
pub fn edits(random: &mut Rng, text: &Text, places: &[usize]) -> Vec<TextEdit> {
    let mut edits = Vec::new();
    let mut at = 0;
    for _ in 0..random.usize(1..=2) {
        let near = if places.is_empty() || random.u8(0..4) == 0 {
            random.usize(at..=text.len().max(at))
        } else {
            (places[random.usize(..places.len())] + random.usize(0..5)).saturating_sub(2)
        };
        let from = boundary(text, near.max(at));
        let to = if random.bool() { from } else { boundary(text, from + random.usize(1..10)) };
        let long = text.len() > LONG;
        let insert =
            if long || to > from && random.bool() { String::new() } else { words(random, 2) };
        if from < at || (from == to && insert.is_empty()) {
            continue;
        }
        at = to;
        edits.push(TextEdit { from, to, insert });
    }
    edits
}

/// Changes an agent wants in a text: now and then by a real comparison, mostly drawn, which is
/// harder on the rules.
pub fn drafts(random: &mut Rng, text: &Text) -> Vec<HunkDraft> {
    if random.u8(0..16) == 0 {
        let old = text.to_string();
        let new = old
            .replacen("recieve", "receive", 1)
            .replacen("the ", "The ", 2)
            .replacen("  ", " ", 1);
        return diff(&old, &new, &DiffLimits::default());
    }
    let (mut hunks, mut at) = (Vec::new(), 0);
    for _ in 0..random.usize(1..=4) {
        let mut parts: Vec<DraftPart> = Vec::new();
        for _ in 0..[1, 1, 1, 2, 3][random.usize(..5)] {
            let from = boundary(text, at + random.usize(0..16));
            let to =
                if random.u8(0..4) == 0 { from } else { boundary(text, from + random.usize(1..9)) };
            let base = text.slice(from..to).unwrap();
            let insert = if base.is_empty() || random.u8(0..4) > 0 {
                words(random, 2)
            } else {
                String::new()
            };
            // Parts that touch each other would be one.
            let apart = parts.last().is_none_or(|last| last.to < from);
            if apart && base != insert {
                at = to + 1;
                parts.push(DraftPart { from, to, base, insert });
            }
            if at >= text.len() {
                break;
            }
        }
        if !parts.is_empty() {
            hunks.push(HunkDraft::from(parts));
        }
        if at >= text.len() {
            break;
        }
    }
    hunks
}
