//! Rewrites and the changes a person would expect to take one at a time (`fixtures/rewrites/`).

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::diff::{DiffLimits, DraftPart, HunkDraft, diff};
use crate::utf16_len;

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
            check(include_str!(concat!("../../../../../fixtures/rewrites/", $file)));
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
        toml::from_str(include_str!("../../../../../fixtures/rewrites/letter.toml")).unwrap();
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

/// Rewrite of the corpus, with the changes that a person marked in it.
struct MarkedRewrite {
    name: String,
    before: String,
    after: String,
    /// Changes by their ids, which say their kind.
    marked: BTreeMap<String, Vec<DraftPart>>,
}

impl MarkedRewrite {
    /// Reads a text with marks `⟦id|old|new⟧`, as `fixtures/rewrites/README.md` describes them.
    fn read(name: String, file: &str) -> Self {
        let (_, text) = file.split_once("\n\n").expect("a header and a text");
        let (mut before, mut after) = (String::new(), String::new());
        let mut marked: BTreeMap<String, Vec<DraftPart>> = BTreeMap::new();
        let mut pieces = text.split('⟦');
        let first = pieces.next().unwrap_or_default();
        before.push_str(first);
        after.push_str(first);
        for piece in pieces {
            let (mark, rest) = piece.split_once('⟧').expect("a mark has an end");
            let [id, old, new] = mark.split('|').collect::<Vec<_>>()[..] else {
                panic!("a mark has an id and two texts: {mark:?}")
            };
            let from = utf16_len(&before);
            let (base, insert) = (old.to_owned(), new.to_owned());
            let part = DraftPart { from, to: from + utf16_len(old), base, insert };
            marked.entry(id.to_owned()).or_default().push(part);
            before.extend([old, rest]);
            after.extend([new, rest]);
        }
        Self { name, before, after, marked }
    }

    /// Returns the corpus.
    fn all() -> Vec<Self> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/rewrites");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let texts = files.filter(|path| path.extension().is_some_and(|it| it == "txt"));
        let mut all: Vec<Self> = texts
            .map(|path| {
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                Self::read(name, &std::fs::read_to_string(&path).unwrap())
            })
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        assert!(all.len() >= 48, "the corpus is not there: {}", all.len());
        all
    }

    fn hunks(&self) -> Vec<HunkDraft> {
        diff(&self.before, &self.after, &DiffLimits::default())
    }

    /// Returns the text with some changes of the text before.
    fn with<'p>(&self, parts: impl IntoIterator<Item = &'p DraftPart>) -> String {
        let mut parts: Vec<_> = parts.into_iter().collect();
        parts.sort_by_key(|part| (part.from, part.to));
        let before: Vec<u16> = self.before.encode_utf16().collect();
        let (mut text, mut at) = (Vec::new(), 0);
        for part in parts {
            text.extend_from_slice(&before[at..part.from]);
            text.extend(part.insert.encode_utf16());
            at = part.to;
        }
        text.extend_from_slice(&before[at..]);
        String::from_utf16(&text).unwrap()
    }
}

/// Changes for each one that a person marks, at most: over the whole corpus, and in one text. They
/// may only fall.
const MOST_OVER_ALL: f64 = 1.005;
const MOST_IN_ONE: f64 = 1.8;

/// Changes for each rewritten sentence, at most.
const MOST_FOR_A_SENTENCE: f64 = 1.01;

/// Changes that a person marked and that are found exactly, at least. It may only rise.
const LEAST_EXACT: f64 = 0.99;

#[test]
fn rewrites_are_cut_into_the_changes_that_a_person_marks() {
    let (mut found, mut marked, mut exact, mut worst) = (0, 0, 0, Vec::new());
    let (mut rewrites, mut sentences) = (0, 0);
    for rewrite in MarkedRewrite::all() {
        let (name, hunks) = (&rewrite.name, rewrite.hunks());
        let expected: BTreeMap<String, &String> =
            rewrite.marked.iter().map(|(id, parts)| (rewrite.with(parts), id)).collect();
        let hit: BTreeSet<&String> =
            hunks.iter().filter_map(|it| expected.get(&rewrite.with(&it.parts)).copied()).collect();
        let (count, wanted) = (hunks.len(), rewrite.marked.len());
        println!("{name:<40} {count:>4} changes, {wanted:>3} marked, {:>3} exact", hit.len());
        let ratio = count as f64 / wanted as f64;
        worst.extend((ratio > MOST_IN_ONE).then_some((name.clone(), ratio)));
        (found, marked, exact) = (found + count, marked + wanted, exact + hit.len());
        sentences += rewrite.marked.keys().filter(|id| !id.starts_with('c')).count();
        rewrites += count - hit.iter().filter(|id| id.starts_with('c')).count();
    }
    println!("{found} changes, {marked} marked, {exact} exact");
    println!("{rewrites} changes for {sentences} rewritten sentences");
    assert!(marked > 400, "the corpus is not there: {marked}");
    assert!(found as f64 <= MOST_OVER_ALL * marked as f64, "{found} changes for {marked} marked");
    assert!(exact as f64 >= LEAST_EXACT * marked as f64, "{exact} exact of {marked}");
    let ratio = f64::from(rewrites as u32) / f64::from(sentences as u32);
    assert!(ratio <= MOST_FOR_A_SENTENCE, "{ratio:.3} changes for each rewritten sentence");
    assert!(worst.is_empty(), "{worst:?}");
}

/// Returns what does not read in a text: doubled words, doubled spaces, stops that are doubled or
/// have a space before or none behind.
fn flaws(text: &str) -> BTreeSet<String> {
    let mut flaws = BTreeSet::new();
    for line in text.lines() {
        let line = line.trim_start();
        let words: Vec<&str> = line.split(' ').collect();
        for pair in words.windows(2) {
            let [left, right] = pair else { continue };
            let bare = right.trim_end_matches(|c: char| !c.is_alphanumeric());
            if left.is_empty() || right.is_empty() || *left == bare {
                flaws.insert(format!("doubled: {left} {right}"));
            }
            if right.starts_with('.') && !right.starts_with("..") && right.len() < 3 {
                flaws.insert(format!("space before a stop: {left} {right}"));
            }
        }
        for word in words {
            let inner: Vec<char> = word.chars().collect();
            let is_glued = |it: &[char]| {
                matches!(it[1], '.' | '!' | '?' | ',')
                    && it[0].is_lowercase()
                    && it[2].is_uppercase()
            };
            if inner.windows(3).any(is_glued) {
                flaws.insert(format!("no space behind a stop: {word}"));
            }
            if word.contains("..") && !word.contains("...") || word.contains(",,") {
                flaws.insert(format!("doubled stop: {word}"));
            }
        }
    }
    flaws
}

/// With `--nocapture`, 200 of the texts are printed, for people to read.
#[test]
fn any_of_the_changes_can_be_accepted_without_the_others() {
    let mut wrong = Vec::new();
    let all = MarkedRewrite::all();
    for (number, rewrite) in all.iter().enumerate() {
        let hunks = rewrite.hunks();
        let known: BTreeSet<_> =
            flaws(&rewrite.before).union(&flaws(&rewrite.after)).cloned().collect();
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let accepted: Vec<_> = hunks.iter().filter(|_| random.bool()).collect();
            let text = rewrite.with(accepted.iter().flat_map(|hunk| &hunk.parts));
            if seed as usize % all.len() == number {
                let (some, of) = (accepted.len(), hunks.len());
                println!("=== {}, seed {seed}: {some} of {of}\n{text}\n", rewrite.name);
            }
            let new: Vec<_> = flaws(&text).difference(&known).cloned().collect();
            if !new.is_empty() {
                wrong.push(format!("{} seed {seed}: {new:?}", rewrite.name));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn flaws_are_seen() {
    let text = "It was was late. He  left . Then.. So it ended.Now,, go...";
    assert_eq!(flaws(text).len(), 7, "{:?}", flaws(text));
    assert_eq!(flaws("- e.g. No. 5 ... 3.5 “Yes.” He is.\n  So. So he is."), BTreeSet::new());
}
