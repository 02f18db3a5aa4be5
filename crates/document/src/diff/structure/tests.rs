//! No subset of changes leaves half of a structure, on generated Markdown.

use std::collections::BTreeSet;

use fastrand::Rng;

use crate::diff::{DiffLimits, DraftPart, HunkDraft, diff};

const WORDS: &[&str] = &[
    "lamp", "river", "slowly", "under", "the", "crossed", "old", "bridge", "saw", "and", "harbour",
    "keeper", "wrote", "fog", "seven", "ledger", "rope", "quiet", "morning", "window",
];

/// Marks around words: opening, closing.
const SPANS: &[(&str, &str)] = &[
    ("**", "**"),
    ("*", "*"),
    ("~~", "~~"),
    ("`", "`"),
    ("$", "$"),
    ("<b>", "</b>"),
    ("[", "](https://a.example/l)"),
    ("“", "”"),
    ("(", ")"),
];

/// Lines around whole paragraphs.
const FRAMES: &[(&str, &str)] = &[
    ("```sh", "```"),
    ("~~~", "~~~"),
    ("<!--", "-->"),
    ("<details>\n", "\n</details>"),
    ("::: note\n", "\n:::"),
    ("$$", "$$"),
];

#[derive(Clone, Debug)]
enum Block {
    Heading {
        is_underlined: bool,
        words: Vec<String>,
    },
    /// Words, the range of those that stand between marks, and the marks.
    Paragraph {
        words: Vec<String>,
        span: Option<(usize, usize, usize)>,
    },
    Framed {
        frame: usize,
        lines: Vec<String>,
    },
    /// Entries, each with its number, words and the entries below it.
    List(Vec<(u32, Vec<String>, Vec<String>)>),
    Table(Vec<Vec<String>>),
}

fn words(random: &mut Rng, count: std::ops::Range<usize>) -> Vec<String> {
    let count = random.usize(count);
    (0..count).map(|_| random.choice(WORDS.iter().copied()).unwrap_or("lamp").to_owned()).collect()
}

fn prose(random: &mut Rng) -> Vec<String> {
    let mut words = words(random, 6..30);
    for at in 0..words.len() {
        if at == 0 || words[at - 1].ends_with('.') {
            words[at] = words[at][..1].to_uppercase() + &words[at][1..];
        }
        if at + 1 == words.len() || at > 2 && random.u8(..7) == 0 {
            words[at].push('.');
        }
    }
    words
}

fn entry(random: &mut Rng) -> (u32, Vec<String>, Vec<String>) {
    let count = random.usize(..4);
    let below = (0..count).map(|_| words(random, 1..6).join(" ")).collect();
    (random.u32(..1_000_000), words(random, 1..8), below)
}

fn span(random: &mut Rng, count: usize) -> Option<(usize, usize, usize)> {
    let from = random.usize(..count);
    random.bool().then(|| (from, random.usize(from + 1..=count), random.usize(..SPANS.len())))
}

fn block(random: &mut Rng) -> Block {
    match random.u8(..9) {
        0 => Block::Heading { is_underlined: random.bool(), words: words(random, 1..6) },
        1 | 2 => {
            let count = random.usize(1..6);
            Block::List((0..count).map(|_| entry(random)).collect())
        }
        3 | 4 => {
            let columns = random.usize(2..5);
            let row =
                |random: &mut Rng| (0..columns).map(|_| words(random, 1..3).join(" ")).collect();
            let count = random.usize(2..6);
            Block::Table((0..count).map(|_| row(random)).collect())
        }
        5 => {
            let count = random.usize(1..7);
            let lines = (0..count).map(|_| words(random, 2..6).join(" ")).collect();
            Block::Framed { frame: random.usize(..FRAMES.len()), lines }
        }
        _ => {
            let words = prose(random);
            let span = span(random, words.len());
            Block::Paragraph { words, span }
        }
    }
}

fn rendered(blocks: &[Block]) -> String {
    let all: Vec<String> = blocks.iter().map(rendered_block).collect();
    all.join("\n\n") + "\n"
}

fn rendered_block(block: &Block) -> String {
    match block {
        Block::Heading { is_underlined: true, words } => format!("{}\n=====", words.join(" ")),
        Block::Heading { words, .. } => format!("## {}", words.join(" ")),
        Block::Paragraph { words, span } => {
            let mut words = words.clone();
            if let Some((from, to, marks)) = *span {
                words[from].insert_str(0, SPANS[marks].0);
                words[to - 1].push_str(SPANS[marks].1);
            }
            words.join(" ")
        }
        Block::Framed { frame, lines } => {
            format!("{}\n{}\n{}", FRAMES[*frame].0, lines.join("\n"), FRAMES[*frame].1)
        }
        Block::List(entries) => {
            let mut lines = Vec::new();
            for (number, words, below) in entries {
                lines.push(format!("- {} n{number}", words.join(" ")));
                lines.extend(below.iter().map(|it| format!("  - {it} b{number}")));
            }
            lines.join("\n")
        }
        Block::Table(rows) => {
            let row = |cells: &Vec<String>| format!("| {} |", cells.join(" | "));
            let mut lines: Vec<String> = rows.iter().map(row).collect();
            lines.insert(1, format!("|{}", " --- |".repeat(rows[0].len())));
            lines.join("\n")
        }
    }
}

/// Changes a document as people and models do.
fn edit(random: &mut Rng, blocks: &mut Vec<Block>) {
    let at = random.usize(..blocks.len());
    match random.u8(..8) {
        0 => blocks.insert(at, block(random)),
        1 if blocks.len() > 1 => drop(blocks.remove(at)),
        2 => {
            let moved = blocks.remove(at);
            blocks.insert(random.usize(..=blocks.len()), moved);
        }
        _ => edit_block(random, &mut blocks[at]),
    }
}

fn edit_block(random: &mut Rng, block: &mut Block) {
    let word = random.choice(WORDS.iter().copied()).unwrap_or("lamp").to_owned();
    match block {
        Block::Heading { is_underlined, words } => {
            *is_underlined ^= random.bool();
            words.push(word);
        }
        Block::Paragraph { words, span: marks } => match random.u8(..4) {
            0 => *marks = span(random, words.len()),
            1 if marks.is_none() => {
                let lines = words.chunks(4).map(|it| it.join(" ")).collect();
                *block = Block::Framed { frame: random.usize(..FRAMES.len()), lines };
            }
            _ => {
                let at = random.usize(..words.len());
                words[at] = if words[at].ends_with('.') { word + "." } else { word };
            }
        },
        Block::Framed { lines, .. } => match random.u8(..3) {
            0 => {
                let words = lines.join(" ").split(' ').map(str::to_owned).collect();
                *block = Block::Paragraph { words, span: None };
            }
            1 => lines.insert(random.usize(..=lines.len()), format!("{word} {word}")),
            _ => {
                let at = random.usize(..lines.len());
                lines[at] = format!("{word} {}", lines[at]);
            }
        },
        Block::List(entries) => {
            let at = random.usize(..entries.len());
            match random.u8(..4) {
                0 => entries.insert(at, entry(random)),
                1 if entries.len() > 1 => drop(entries.remove(at)),
                2 => {
                    let moved = entries.remove(at);
                    entries.insert(random.usize(..=entries.len()), moved);
                }
                _ => entries[at].1 = words(random, 1..8),
            }
        }
        Block::Table(rows) => {
            let column = random.usize(..rows[0].len());
            match random.u8(..5) {
                0 => rows.iter_mut().for_each(|it| it.insert(column, word.clone())),
                1 if rows[0].len() > 2 => rows.iter_mut().for_each(|it| drop(it.remove(column))),
                2 => {
                    let cells = (0..rows[0].len()).map(|_| word.clone()).collect();
                    rows.insert(random.usize(1..=rows.len()), cells);
                }
                3 if rows.len() > 2 => drop(rows.remove(1)),
                _ => {
                    let row = random.usize(..rows.len());
                    rows[row][column] = word;
                }
            }
        }
    }
}

/// Returns what is half of a structure in a text.
fn halves(text: &str) -> BTreeSet<String> {
    let mut halves = BTreeSet::new();
    let count = |mark: &str| text.matches(mark).count();
    for mark in ["**", "~~", "`", "$"] {
        let odd = count(mark) % 2 == 1;
        halves.extend(odd.then(|| format!("odd {mark}")));
    }
    let pairs = [("<b>", "</b>"), ("“", "”"), ("(", ")"), ("[", "]"), ("<!--", "-->")];
    for (open, close) in pairs.into_iter().chain([("<details>", "</details>")]) {
        halves.extend((count(open) != count(close)).then(|| format!("half {open}")));
    }
    let lines: Vec<&str> = text.lines().collect();
    let containers = |open: bool| {
        lines.iter().filter(|it| it.starts_with(":::") && (**it != ":::") == open).count()
    };
    halves.extend((containers(true) != containers(false)).then(|| "half :::".to_owned()));
    let bars = |line: &str| line.matches('|').count();
    let mut parent = None;
    for (at, line) in lines.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |at| lines[at]);
        let is_first = line.starts_with('|') && !before.starts_with('|');
        if is_first && !lines.get(at + 1).is_some_and(|it| it.starts_with("| ---")) {
            halves.insert(format!("no table: {line}"));
        }
        if line.starts_with('|') && !is_first && bars(line) != bars(before) {
            halves.insert(format!("other columns: {line}"));
        }
        if line.starts_with("=====") && before.trim().is_empty() {
            halves.insert("an underline without a heading".to_owned());
        }
        if line.starts_with("- ") {
            parent = line.rsplit(" n").next();
        } else if line.starts_with("  - ") {
            let is_below = line.rsplit(" b").next() == parent;
            halves.extend((!is_below).then(|| format!("below another entry: {line}")));
        } else {
            parent = None;
        }
    }
    halves
}

fn with<'p>(old: &str, hunks: impl Iterator<Item = &'p HunkDraft>) -> String {
    let mut parts: Vec<&DraftPart> = hunks.flat_map(|it| &it.parts).collect();
    parts.sort_by_key(|it| (it.from, it.to));
    let old: Vec<u16> = old.encode_utf16().collect();
    let (mut text, mut at) = (Vec::new(), 0);
    for part in parts {
        text.extend_from_slice(&old[at..part.from]);
        text.extend(part.insert.encode_utf16());
        at = part.to;
    }
    text.extend_from_slice(&old[at..]);
    String::from_utf16_lossy(&text)
}

/// Seeds of changes that once were half of a structure: a sentence put in before a list, an entry
/// that becomes one below another, an entry put in between another and what is below it.
const FOUND: [u64; 4] = [5_390, 6_897, 10_003, 10_931];

#[test]
fn no_subset_of_changes_leaves_half_of_a_structure() {
    let seeds = std::env::var("COPYDESK_STRUCTURE_SEEDS").map_or(1_500, |it| it.parse().unwrap());
    let (mut hunks_found, mut wrong) = (0, Vec::new());
    for seed in (0..seeds).chain(FOUND) {
        let mut random = Rng::with_seed(seed);
        let count = random.usize(2..9);
        let mut blocks: Vec<Block> = (0..count).map(|_| block(&mut random)).collect();
        let old = rendered(&blocks);
        for _ in 0..random.usize(1..6) {
            edit(&mut random, &mut blocks);
        }
        let new = rendered(&blocks);
        if !halves(&old).is_empty() || !halves(&new).is_empty() {
            continue;
        }
        let hunks = diff(&old, &new, &DiffLimits::default());
        hunks_found += hunks.len();
        assert_eq!(with(&old, hunks.iter()), new, "seed {seed}");
        assert_eq!(with(&old, std::iter::empty()), old, "seed {seed}");
        for round in 0..12_u8 {
            // Each alone first: that is what breaks most often.
            let accepted = hunks.iter().enumerate();
            let accepted: Vec<_> = accepted
                .filter(|(at, _)| {
                    if usize::from(round) < hunks.len() && round < 6 {
                        *at == usize::from(round)
                    } else {
                        random.bool()
                    }
                })
                .map(|(_, hunk)| hunk)
                .collect();
            let text = with(&old, accepted.iter().copied());
            let found = halves(&text);
            if !found.is_empty() {
                wrong.push(format!(
                    "seed {seed}: {found:?}\n--- old\n{old}\n--- new\n{new}\n--- text\n{text}\n--- {accepted:?}\n--- all {hunks:?}"
                ));
                break;
            }
        }
    }
    assert!(hunks_found > 3 * seeds as usize / 2, "{hunks_found}");
    let first = wrong.iter().take(4).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(wrong.is_empty(), "{} of {seeds}:\n{first}", wrong.len());
}
