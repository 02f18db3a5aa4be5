//! Counts of what makes the code readable for a stranger, beside the same counts of five projects
//! that are known to read well, and limits for them.
//!
//! `cargo test --test tidy readability -- --nocapture` prints the table.

use std::collections::BTreeMap;

use super::{File, files, root, settle, sources};

/// Columns that a line of a comment may have.
const COMMENT_COLUMNS: usize = 100;
/// First words of a doc comment that say too little on their own.
const QUESTION_WORDS: [&str; 8] =
    ["What", "Who", "Whose", "Whether", "How", "Where", "When", "Why"];

/// One count, its limit, and the same count of crates.io's server, rust-analyzer, helix,
/// mini-redis and axum, where it was taken.
struct Measure {
    name: &'static str,
    value: f64,
    limit: Limit,
    models: &'static str,
}

enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Measure {
    fn is_kept(&self) -> bool {
        match self.limit {
            Limit::AtMost(most) => self.value <= most,
            Limit::AtLeast(least) => self.value >= least,
        }
    }
}

#[test]
fn the_code_reads_as_well_as_its_models() {
    let sources = sources();
    let measures =
        [names(&sources), docs(&sources), readme()].into_iter().flatten().collect::<Vec<_>>();
    println!("{:46} {:>8}   {:18} models", "", "here", "limit");
    for it in &measures {
        let limit = match it.limit {
            Limit::AtMost(most) => format!("at most {most}"),
            Limit::AtLeast(least) => format!("at least {least}"),
        };
        println!("{:46} {:8.1}   {limit:18} {}", it.name, it.value, it.models);
    }
    let broken = measures.iter().filter(|it| !it.is_kept());
    let complaints: Vec<_> = broken.map(|it| format!("{}: {:.1}", it.name, it.value)).collect();
    settle("Counts of readability are beyond their limits:", &complaints);
}

/// Counts the names of types.
fn names(sources: &[File]) -> Vec<Measure> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for name in sources.iter().flat_map(File::code).filter_map(defined_type) {
        *places.entry(name).or_default() += 1;
    }
    let all: usize = places.values().sum();
    let shared: usize = places.values().filter(|count| **count > 1).sum();
    let one_word = |name: &str| name.chars().filter(|c| c.is_uppercase()).count() == 1;
    let short: usize =
        places.iter().filter(|(name, _)| one_word(name)).map(|(_, count)| count).sum();
    vec![
        Measure {
            name: "types of one word, %",
            value: percent(short, all),
            limit: Limit::AtMost(40.0),
            models: "17, 13, 32, 83, -",
        },
        Measure {
            name: "types that share their name, %",
            value: percent(shared, all),
            limit: Limit::AtMost(18.0),
            models: "16, 9, 12, 25, -",
        },
    ]
}

/// Returns the name of the type that a line of code defines.
pub fn defined_type(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with(['(', ' ']) => rest.split_once(' ')?.1,
        _ => line,
    };
    let kinds = ["struct ", "enum ", "trait ", "type "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    (!name.is_empty()).then_some(name)
}

/// Counts doc comments: their first words, their links, and comments that are too wide.
fn docs(sources: &[File]) -> Vec<Measure> {
    let comments: Vec<String> = sources.iter().flat_map(|file| doc_comments(&file.text)).collect();
    let asks = |comment: &&String| {
        comment
            .split(|c: char| !c.is_alphabetic())
            .next()
            .is_some_and(|word| QUESTION_WORDS.contains(&word))
    };
    let questions = comments.iter().filter(asks).count();
    let links: usize = comments.iter().map(|comment| comment.matches("[`").count()).sum();
    let wide = sources.iter().map(wide_comments).sum::<usize>();
    let of_tests =
        ["tests", "benches", "examples", "web/src", "web/e2e"].into_iter().flat_map(files);
    let wide_elsewhere: usize =
        of_tests.filter(|it| !it.path.ends_with("generated.ts")).map(|it| wide_comments(&it)).sum();
    vec![
        Measure {
            name: "doc comments that begin with a question word, %",
            value: percent(questions, comments.len()),
            limit: Limit::AtMost(1.0),
            models: "2, 4, 5, -, 1",
        },
        Measure {
            name: "links in 100 doc comments",
            value: percent(links, comments.len()),
            limit: Limit::AtLeast(10.0),
            models: "13, 11, -, -, 125",
        },
        Measure {
            name: "lines of comments beyond 100 columns",
            value: wide as f64,
            limit: Limit::AtMost(0.0),
            models: "31, 246, -, -, -",
        },
        Measure {
            name: "the same in tests and in the editor",
            value: wide_elsewhere as f64,
            limit: Limit::AtMost(0.0),
            models: "",
        },
    ]
}

/// Counts the lines of comments that are too wide, in Rust, TypeScript and style sheets.
fn wide_comments(file: &File) -> usize {
    let endings = [".rs", ".ts", ".tsx", ".js", ".mjs", ".css"];
    if !endings.iter().any(|ending| file.path.ends_with(ending)) {
        return 0;
    }
    let is_comment = |line: &str| ["//", "/*", "* "].iter().any(|it| line.starts_with(it));
    let is_wide =
        |line: &&str| is_comment(line.trim_start()) && line.chars().count() > COMMENT_COLUMNS;
    file.text.lines().filter(is_wide).count()
}

/// Returns the doc comments of a file, each as one line.
fn doc_comments(text: &str) -> Vec<String> {
    let mut comments: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let line = line.trim_start();
        let Some(words) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            is_open = false;
            continue;
        };
        match comments.last_mut().filter(|_| is_open) {
            Some(last) => last.push_str(words),
            None => comments.push(words.trim_start().to_owned()),
        }
        is_open = true;
    }
    comments
}

/// Counts the README: its length, and the words of its sentences.
fn readme() -> Vec<Measure> {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let mut is_code = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.starts_with(['#', '|', '!', '<']) {
            // An item of a list is a sentence of its own.
            let is_item = line.trim_start().starts_with(['-', '*']) || line.trim().is_empty();
            prose.push_str(if is_item { ". " } else { " " });
            prose.push_str(line.trim_start_matches(['-', '*', ' ']));
        }
    }
    let sentences: Vec<usize> = prose
        .split(['.', '!', '?'])
        .map(|sentence| sentence.split_whitespace().filter(|it| is_word(it)).count())
        .filter(|words| *words > 1)
        .collect();
    vec![
        Measure {
            name: "README, bytes",
            value: text.len() as f64,
            limit: Limit::AtMost(8.0 * 1024.0),
            models: "",
        },
        Measure {
            name: "README, words in a sentence",
            value: sentences.iter().sum::<usize>() as f64 / sentences.len().max(1) as f64,
            limit: Limit::AtMost(18.0),
            models: "",
        },
    ]
}

fn is_word(word: &str) -> bool {
    word.contains(char::is_alphabetic)
}

fn percent(part: usize, all: usize) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}
