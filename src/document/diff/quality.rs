//! Rewrites and the changes a person would expect to take one at a time (`fixtures/rewrites/`).

use std::collections::HashSet;

use serde::Deserialize;

use super::{DiffLimits, DraftPart, HunkDraft, diff};

#[derive(Deserialize)]
struct RewriteCase {
    before: String,
    after: String,
    /// For each hunk, `old → new`, with ` + ` between parts and `⏎` for a line break.
    changes: Vec<String>,
}

fn check(fixture: &str) {
    let rewrite: RewriteCase = toml::from_str(fixture).unwrap();
    let part = |p: &DraftPart| format!("{} → {}", p.base, p.insert).replace('\n', "⏎");
    let hunk = |h: &HunkDraft| h.parts.iter().map(part).collect::<Vec<_>>().join(" + ");
    let hunks = diff(&rewrite.before, &rewrite.after, &DiffLimits::default());
    let found: Vec<String> = hunks.iter().map(hunk).collect();
    assert_eq!(found, rewrite.changes, "found:\n{}", found.join("\n"));
}

macro_rules! rewrites {
    ($($(#[$doc:meta])* $name:ident: $file:literal,)*) => {$(
        #[test]
        fn $name() {
            check(include_str!(concat!("../../../fixtures/rewrites/", $file)));
        }
    )*};
}

rewrites! {
    each_mistake_in_a_letter_is_a_change_of_its_own: "letter.toml",
    sentences_that_stay_are_left_alone_when_others_are_tightened: "tighten.toml",
    a_markdown_guide_changes_block_by_block: "guide.toml",
    lines_wrapped_by_hand_read_on: "wrapped.toml",
    japanese_and_chinese_change_by_characters: "tokyo.toml",
    paragraphs_are_split_removed_and_kept: "paragraphs.toml",
    a_paragraph_becomes_a_list_as_a_whole: "list.toml",
    sentences_that_begin_in_lower_case_change_one_by_one: "lowercase.toml",
    a_long_paragraph_of_thai_changes_in_pieces: "thai.toml",
}

#[test]
fn a_letter_with_a_dozen_mistakes_gives_at_least_ten_changes() {
    let letter: RewriteCase =
        toml::from_str(include_str!("../../../fixtures/rewrites/letter.toml")).unwrap();
    assert!(diff(&letter.before, &letter.after, &DiffLimits::default()).len() >= 10);
}

/// Prose of which every fifth sentence changes: a word or two of it, or all, or it is removed, or
/// one is added behind it. Gives the texts and how many changes a person would count.
fn rewritten_prose(seed: u64) -> (String, String, usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    let words = ["lamp", "river", "slowly", "under", "a", "the", "crossed", "old", "bridge", "saw"];
    let sentence = |random: &mut fastrand::Rng| {
        let middle: Vec<_> = (0..random.usize(6..16)).map(|_| words[random.usize(..10)]).collect();
        format!("On day {} {}. ", random.u32(..), middle.join(" "))
    };
    let (mut old, mut new, mut changed) = (String::new(), String::new(), 0);
    for index in 0..300 {
        let before = sentence(&mut random);
        let after = match random.u8(..25) {
            0 => sentence(&mut random),
            1 => String::new(),
            2 => before.clone() + &sentence(&mut random),
            3..5 => {
                let mut pieces: Vec<_> = before.split(' ').collect();
                let at = random.usize(3..pieces.len() - 3);
                pieces.splice(at..=at + random.usize(..2), ["quite", "another"]);
                pieces.join(" ")
            }
            _ => before.clone(),
        };
        changed += usize::from(before != after);
        let end = if index % 6 == 5 { "\n\n" } else { "" };
        old += &(before + end);
        new += &(after + end);
    }
    (old, new, changed)
}

#[test]
fn a_changed_sentence_of_prose_is_about_one_change() {
    let (mut hunks, mut sentences) = (0, 0);
    for seed in 0..20 {
        let (old, new, changed) = rewritten_prose(seed);
        hunks += diff(&old, &new, &DiffLimits::default()).len();
        sentences += changed;
    }
    let ratio = hunks as f64 / sentences as f64;
    assert!((0.9..=1.4).contains(&ratio), "{hunks} changes for {sentences} sentences");
}

/// Rewrite of the corpus, with the number of changes that a person marked in it.
struct MarkedRewrite {
    before: String,
    after: String,
    marked: usize,
}

/// Reads a text with marks `⟦id|old|new⟧`, as `fixtures/rewrites/README.md` describes them.
fn marked_rewrite(file: &str) -> MarkedRewrite {
    let (_, text) = file.split_once("\n\n").expect("a header and a text");
    let (mut before, mut after, mut ids) = (String::new(), String::new(), HashSet::new());
    let mut pieces = text.split('⟦');
    let first = pieces.next().unwrap_or_default();
    before.push_str(first);
    after.push_str(first);
    for piece in pieces {
        let (mark, rest) = piece.split_once('⟧').expect("a mark has an end");
        let [id, old, new] = mark.split('|').collect::<Vec<_>>()[..] else {
            panic!("a mark has an id and two texts: {mark:?}")
        };
        ids.insert(id);
        before.extend([old, rest]);
        after.extend([new, rest]);
    }
    MarkedRewrite { before, after, marked: ids.len() }
}

/// Changes for each one that a person marks, at most: over the whole corpus, and in one text. They
/// may only fall.
const MOST_OVER_ALL: f64 = 1.25;
const MOST_IN_ONE: f64 = 2.3;

#[test]
fn rewrites_are_cut_into_few_more_changes_than_a_person_marks() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/rewrites");
    let (mut found, mut marked, mut worst) = (0, 0, Vec::new());
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|it| it != "txt") {
            continue;
        }
        let rewrite = marked_rewrite(&std::fs::read_to_string(&path).unwrap());
        let hunks = diff(&rewrite.before, &rewrite.after, &DiffLimits::default()).len();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        println!("{name:<40} {hunks:>4} changes, {:>3} marked", rewrite.marked);
        let ratio = hunks as f64 / rewrite.marked as f64;
        worst.extend((ratio > MOST_IN_ONE).then_some((name, ratio)));
        found += hunks;
        marked += rewrite.marked;
    }
    println!("{found} changes, {marked} marked");
    assert!(marked > 400, "the corpus is not there: {marked}");
    assert!(found as f64 <= MOST_OVER_ALL * marked as f64, "{found} changes for {marked} marked");
    assert!(worst.is_empty(), "{worst:?}");
}
