//! Precision and recall of the corrections on `fixtures/grammar/` and other texts.

use std::collections::BTreeMap;
use std::path::Path;

use super::proofread::found_by_rule;

/// Smallest part of the slips in `slips.txt` that is mended.
const LEAST_RECALL: f64 = 0.65;

/// Smallest part of the changed sentences that is right afterwards.
const LEAST_PRECISION: f64 = 0.98;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/grammar").join(name);
    std::fs::read_to_string(path).expect("a fixture")
}

/// Lists the corrections of a text, each with its rule and the text before it.
fn proposals(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let found = found_by_rule(text).into_iter();
    let shown = found.map(|(rule, one)| {
        let before: String = letters[one.from.saturating_sub(40)..one.from].iter().collect();
        format!("{rule}: {before:?} {:?} -> {:?}", one.wrong, one.right)
    });
    shown.collect()
}

/// Applies the corrections of a text; also returns the rules by the line that they change.
fn mended(text: &str) -> (String, BTreeMap<usize, String>) {
    let letters: Vec<char> = text.chars().collect();
    let (mut right, mut end, mut rules) = (String::new(), 0, BTreeMap::new());
    for (rule, one) in found_by_rule(text) {
        right.extend(&letters[end..one.from]);
        right.push_str(&one.right);
        end = one.to;
        let line = letters[..one.from].iter().filter(|letter| **letter == '\n').count();
        rules.insert(line, rule);
    }
    right.extend(&letters[end..]);
    (right, rules)
}

#[test]
fn right_sentences_get_no_proposal() {
    assert_eq!(proposals(&fixture("right.md")), Vec::<String>::new());
}

#[test]
fn identifiers_and_markdown_get_no_proposal() {
    assert_eq!(proposals(&fixture("untouched.md")), Vec::<String>::new());
}

#[test]
fn slips_are_mended_and_the_right_sentences_stay() {
    let slips = fixture("slips.txt");
    let pairs: Vec<_> = slips.lines().filter_map(|line| line.split_once(" => ")).collect();
    assert!(pairs.len() >= 150, "{} pairs", pairs.len());
    // Two line ends a sentence: each is a paragraph of its own.
    let wrong: Vec<&str> = pairs.iter().map(|(wrong, _)| *wrong).collect();
    let right: Vec<&str> = pairs.iter().map(|(_, right)| *right).collect();
    assert_eq!(proposals(&right.join("\n\n")), Vec::<String>::new());

    let (text, rules) = mended(&wrong.join("\n\n"));
    let (mut good, mut bad) = (0_u32, Vec::new());
    let mut by_rule: BTreeMap<&str, u32> = BTreeMap::new();
    for (at, (line, right)) in text.split("\n\n").zip(&right).enumerate() {
        let Some(rule) = rules.get(&(2 * at)) else { continue };
        if line == *right {
            good += 1;
            *by_rule.entry(rule).or_default() += 1;
        } else {
            bad.push(format!("{rule}: {line:?}, not {right:?}"));
        }
    }
    let changed = f64::from(good) + f64::from(u32::try_from(bad.len()).expect("few"));
    let all = f64::from(u32::try_from(pairs.len()).expect("few"));
    let (precision, recall) = (f64::from(good) / changed, f64::from(good) / all);
    println!("precision {precision:.3}, recall {recall:.3} of {all}; {by_rule:?}; {bad:#?}");
    assert!(precision >= LEAST_PRECISION, "precision {precision:.3}: {bad:#?}");
    assert!(recall >= LEAST_RECALL, "recall {recall:.3}");
}

/// Prints what would be changed in the texts of the folder that `COPYDESK_PROSE` names.
#[test]
#[ignore = "measures texts that are not in the repository"]
fn measured_on_a_folder_of_right_texts() {
    let folder = std::env::var_os("COPYDESK_PROSE").expect("COPYDESK_PROSE names a folder");
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        println!("{} bytes: {} {:#?}", text.len(), path.display(), proposals(&text));
    }
}
