//! Generators of random edits, proposals and people.

use copydesk_document::diff::{DiffLimits, DraftPart, HunkDraft, diff};
use copydesk_document::{Text, TextEdit};
use copydesk_ids::permissions::{Principal, Role};
use fastrand::Rng;

const WORDS: [&str; 14] = [
    "the", "a", "cat", "sat", "😀", "naïve", "recieve", "then", "東京", "x", "more", "ö", "12",
    "not",
];

/// The names of all people.
pub const PEOPLE: [&str; 5] = ["ana", "bob", "cem", "rex", "vic"];

/// Length from which texts only shrink, so that histories stay fast.
const MAX_TEXT_LENGTH: usize = 220;

/// Returns the person of a name. The name determines the role.
pub fn principal_named(name: &str) -> Principal {
    let role = match name {
        "ana" => Role::Owner,
        "rex" => Role::Reviewer,
        "vic" => Role::Viewer,
        "sue" => Role::Suggester,
        _ => Role::Editor,
    };
    Principal::new(name, name, role)
}

/// Generates some words, with or without the end of a sentence or a paragraph.
pub fn random_words(random: &mut Rng, max_words: usize) -> String {
    let mut words = String::new();
    for _ in 0..random.usize(1..=max_words) {
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

/// Returns the next position that is not inside a surrogate pair.
pub fn next_boundary(text: &Text, at: usize) -> usize {
    if at >= text.len() {
        text.len()
    } else if text.is_boundary(at) {
        at
    } else {
        at + 1
    }
}

/// Generates one or two edits, mostly near one of the hotspots.
pub fn random_edits(random: &mut Rng, text: &Text, hotspots: &[usize]) -> Vec<TextEdit> {
    let mut edits = Vec::new();
    let mut at = 0;
    for _ in 0..random.usize(1..=2) {
        let near = if hotspots.is_empty() || random.u8(0..4) == 0 {
            random.usize(at..=text.len().max(at))
        } else {
            (hotspots[random.usize(..hotspots.len())] + random.usize(0..5)).saturating_sub(2)
        };
        let from = next_boundary(text, near.max(at));
        let to = if random.bool() { from } else { next_boundary(text, from + random.usize(1..10)) };
        let is_long = text.len() > MAX_TEXT_LENGTH;
        let insert = if is_long || to > from && random.bool() {
            String::new()
        } else {
            random_words(random, 2)
        };
        if from < at || (from == to && insert.is_empty()) {
            continue;
        }
        at = to;
        edits.push(TextEdit { from, to, insert });
    }
    edits
}

/// Generates the hunks of a proposal: now and then by a real diff, mostly at random, which is
/// harder for the core.
pub fn random_hunks(random: &mut Rng, text: &Text) -> Vec<HunkDraft> {
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
            let from = next_boundary(text, at + random.usize(0..16));
            let to = if random.u8(0..4) == 0 {
                from
            } else {
                next_boundary(text, from + random.usize(1..9))
            };
            let base = text.slice(from..to).unwrap();
            let insert = if base.is_empty() || random.u8(0..4) > 0 {
                random_words(random, 2)
            } else {
                String::new()
            };
            // Parts that touch each other would be one part.
            let is_separate = parts.last().is_none_or(|last| last.to < from);
            if is_separate && base != insert {
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
