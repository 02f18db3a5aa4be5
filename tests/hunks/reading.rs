//! Flaws by which a reader notices that half of a change was accepted.

use std::collections::BTreeSet;

/// Fewest words of a sentence that stands in a text once.
const FEWEST_WORDS: usize = 5;

/// Returns what does not read in a Markdown text: marks without their other half, doubled or
/// unfinished sentences, doubled words, broken tables and lists.
pub fn flaws(text: &str) -> BTreeSet<String> {
    let mut flaws = marks(text);
    flaws.extend(sentences(text));
    flaws.extend(tables(text));
    flaws.extend(text.split("\n\n").flat_map(words));
    let is_child = |line: &str| line.starts_with("  ") && line.trim_start().starts_with("- ");
    for (before, line) in text.lines().zip(text.lines().skip(1)) {
        if is_child(line) && before.trim().is_empty() {
            flaws.insert(format!("an entry below nothing: {line}"));
        }
    }
    flaws
}

fn marks(text: &str) -> BTreeSet<String> {
    let count = |mark: &str| text.matches(mark).count();
    let odd = ["**", "~~", "```", "\""].into_iter().filter(|it| count(it) % 2 == 1);
    let pairs = [("(", ")"), ("[", "]"), ("“", "”"), ("„", "“")].into_iter();
    let is_german = text.contains('„');
    let half = pairs.filter(|(open, close)| {
        !(is_german && *close == "”") && (is_german || *open != "„") && count(open) != count(close)
    });
    odd.map(|it| format!("odd {it}")).chain(half.map(|(it, _)| format!("half {it}"))).collect()
}

/// Sentences that stand in a text twice, and paragraphs that do not end.
fn sentences(text: &str) -> BTreeSet<String> {
    let (mut seen, mut flaws) = (BTreeSet::new(), BTreeSet::new());
    for sentence in text.split_inclusive(['.', '!', '?', '\n']) {
        let sentence = sentence.trim().to_lowercase();
        let is_long = sentence.split(' ').count() >= FEWEST_WORDS;
        if is_long && !seen.insert(sentence.clone()) {
            flaws.insert(format!("twice: {sentence}"));
        }
    }
    for paragraph in text.split("\n\n").map(str::trim) {
        let is_prose = paragraph.split(' ').count() > 12
            && !paragraph.starts_with(['|', '-', '#', '`', '1', '=']);
        let ends = |c: char| ".!?:\"”“*".contains(c);
        if is_prose && !paragraph.ends_with(ends) {
            flaws.insert(format!("does not end: {paragraph}"));
        }
    }
    flaws
}

fn tables(text: &str) -> BTreeSet<String> {
    let bars = |line: &str| line.matches('|').count();
    let is_row = |line: &str| line.starts_with('|');
    let lines: Vec<&str> = text.lines().collect();
    let mut flaws = BTreeSet::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| is_row(line)) {
        let before = at.checked_sub(1).map_or("", |it| lines[it]);
        if is_row(before) && bars(before) != bars(line) {
            flaws.insert(format!("other columns: {line}"));
        }
        let next = lines.get(at + 1).copied().unwrap_or_default();
        if !is_row(before) && !next.starts_with("| ---") {
            flaws.insert(format!("a row without a table: {line}"));
        }
    }
    flaws
}

/// Doubled words and blanks, and stops without a blank behind them.
fn words(paragraph: &str) -> BTreeSet<String> {
    let mut flaws = BTreeSet::new();
    for line in paragraph.lines().map(str::trim).filter(|it| !it.starts_with('|')) {
        let words: Vec<&str> = line.split(' ').collect();
        for pair in words.windows(2) {
            let right = pair[1].trim_end_matches(|c: char| !c.is_alphanumeric());
            if pair[1].is_empty() || pair[0].to_lowercase() == right.to_lowercase() {
                flaws.insert(format!("doubled: {} {}", pair[0], pair[1]));
            }
        }
        for word in words {
            let letters: Vec<char> = word.chars().collect();
            let is_glued = |it: &[char]| {
                it[0].is_lowercase() && ".!?,".contains(it[1]) && it[2].is_uppercase()
            };
            if letters.windows(3).any(is_glued) {
                flaws.insert(format!("no blank behind a stop: {word}"));
            }
        }
    }
    flaws
}
