//! New paragraphs too long for one change: whichever pieces are taken, what comes of it is well
//! formed.

use super::LONGEST;
use crate::diff::{DiffLimits, HunkDraft, diff, diff_between};
use crate::utf16_len;

/// `count` different sentences of some 60 units.
fn sentences(name: &str, count: usize) -> Vec<String> {
    let one = |n| format!("{name} number {n} is here and says what there is to say about {n}.");
    (1..=count).map(one).collect()
}

fn paragraph(name: &str, count: usize) -> String {
    sentences(name, count).join(" ")
}

/// The text with only those changes for which `take` says yes.
fn taken(old: &str, hunks: &[HunkDraft], take: impl Fn(usize) -> bool) -> String {
    let old: Vec<u16> = old.encode_utf16().collect();
    let (mut new, mut at) = (Vec::new(), 0);
    let taken = hunks.iter().enumerate().filter(|(index, _)| take(*index));
    let mut parts: Vec<_> = taken.flat_map(|(_, hunk)| &hunk.parts).collect();
    parts.sort_by_key(|part| (part.from, part.to));
    for part in parts {
        new.extend_from_slice(&old[at..part.from]);
        new.extend(part.insert.encode_utf16());
        at = part.to;
    }
    new.extend_from_slice(&old[at..]);
    String::from_utf16(&new).unwrap()
}

fn longest(hunks: &[HunkDraft]) -> usize {
    let inserted = |hunk: &HunkDraft| hunk.parts.iter().map(|it| utf16_len(&it.insert)).sum();
    hunks.iter().map(inserted).max().unwrap_or_default()
}

/// Every choice of changes leaves the lines in `lines` alone and glues no words together; all of
/// them give `new`.
#[track_caller]
fn any_choice_is_well_formed(old: &str, new: &str, lines: &[&str]) -> Vec<HunkDraft> {
    let hunks = diff(old, new, &DiffLimits::default());
    assert_eq!(taken(old, &hunks, |_| true), new);
    assert!(hunks.len() <= 12, "{}", hunks.len());
    for choice in 0..1_usize << hunks.len() {
        let text = taken(old, &hunks, |index| choice & (1 << index) != 0);
        let glued =
            text.as_bytes().windows(2).any(|two| two[0] == b'.' && two[1].is_ascii_alphanumeric());
        assert!(!glued, "words are glued together by {choice:b}: {text:?}");
        let stands = |line: &&&str| text.lines().any(|it| it == **line);
        let missing: Vec<_> = lines.iter().filter(|line| !stands(line)).collect();
        assert!(missing.is_empty(), "{missing:?} is gone with {choice:b}: {text:?}");
        assert_eq!(
            text.matches('#').count(),
            text.lines().filter(|it| it.starts_with('#')).count()
        );
    }
    hunks
}

#[test]
fn a_long_new_paragraph_behind_another_is_taken_piece_by_piece() {
    let old = "# One\n\nIt was cold.\n\n# Two\n\nIt was late.\n";
    let long = paragraph("Sentence", 60);
    let new = old.replace("cold.\n", &format!("cold.\n\n{long}\n"));
    let hunks = any_choice_is_well_formed(old, &new, &["# One", "# Two", "It was late."]);
    assert_eq!(hunks.len(), 4);
    assert!(longest(&hunks) <= LONGEST + 2);
    // With the first piece, a paragraph of its own; without it, the others go on with the one
    // before.
    let first = taken(old, &hunks, |index| index == 0);
    assert!(first.contains("It was cold.\n\nSentence number 1 ") && first.contains(".\n\n# Two"));
    let second = taken(old, &hunks, |index| index == 1);
    assert!(second.contains("It was cold. Sentence number "), "{second}");
}

#[test]
fn a_long_new_paragraph_before_another_is_taken_piece_by_piece() {
    let old = "# One\n\nIt was cold.\n";
    let long = paragraph("Sentence", 40);
    let new = old.replace("It was", &format!("{long}\n\nIt was"));
    let hunks = any_choice_is_well_formed(old, &new, &["# One"]);
    assert_eq!(hunks.len(), 3);
    let last = taken(old, &hunks, |index| index == 2);
    assert!(last.ends_with(".\n\nIt was cold.\n") && last.starts_with("# One\n\nSentence"));
    assert!(taken(old, &hunks, |index| index == 0).ends_with("about 18. It was cold.\n"));
}

#[test]
fn at_the_end_of_a_text_and_in_an_empty_one_pieces_stand_for_themselves() {
    let long = paragraph("Sentence", 40);
    assert_eq!(any_choice_is_well_formed("", &format!("{long}\n"), &[]).len(), 3);
    let old = "# One\n\nIt was cold.\n";
    let new = format!("{old}\n{long}\n");
    let hunks = any_choice_is_well_formed(old, &new, &["# One"]);
    assert!(hunks.len() >= 3 && longest(&hunks) <= LONGEST + 2, "{hunks:?}");
}

#[test]
fn several_long_new_paragraphs_stay_apart() {
    let (a, b) = (paragraph("Apple", 30), paragraph("Pear", 30));
    let old = "It was cold.\n\n- one\n- two\n";
    let new = format!("It was cold.\n\n{a}\n\n{b}\n\n- one\n- two\n");
    let hunks = any_choice_is_well_formed(old, &new, &["- one", "- two"]);
    assert_eq!(hunks.len(), 4);
    let pears = taken(old, &hunks, |index| index >= 2);
    assert!(pears.starts_with("It was cold.\n\nPear number 1 "), "{pears}");
}

#[test]
fn between_headings_a_new_paragraph_stays_whole() {
    let old = "# One\n\n# Two\n";
    let new = format!("# One\n\n{}\n\n# Two\n", paragraph("Sentence", 40));
    assert_eq!(any_choice_is_well_formed(old, &new, &["# One", "# Two"]).len(), 1);
    let new = format!("# One\n\n# New\n\n{}\n\n# Two\n", paragraph("Sentence", 40));
    any_choice_is_well_formed(old, &new, &["# One", "# Two"]);
}

#[test]
fn nothing_is_cut_inside_a_quotation_or_what_is_in_bold() {
    for (open, close) in [("**", "**"), ("“", "”"), ("(", ")"), ("\"", "\""), ("`", "`")] {
        let long = format!("{open}{}{close}", paragraph("Sentence", 40));
        let new = format!("It was cold.\n\n{long}\n");
        assert_eq!(diff("It was cold.\n", &new, &DiffLimits::default()).len(), 1, "{open}");
    }
    for before in ["> ", "- ", "    ", "[^1]: ", "<p>"] {
        let new =
            format!("It was cold.\n\n{before}{}\n\nIt was late.\n", paragraph("Sentence", 40));
        let hunks = diff("It was cold.\n\nIt was late.\n", &new, &DiffLimits::default());
        assert_eq!(hunks.len(), 1, "{before}");
    }
}

#[test]
fn a_sentence_is_never_cut_however_long_it_is() {
    let endless = "and on it goes ".repeat(200);
    let new = format!("It was cold.\n\n{endless}.\n");
    assert_eq!(diff("It was cold.\n", &new, &DiffLimits::default()).len(), 1);
}

#[test]
fn what_stays_in_the_selection_counts_with_what_stands_around_it() {
    let long = format!("{}\n\n", paragraph("Sentence", 40));
    let pieces = |before: &str, after: &str| {
        diff_between(before, ("", &long), after, &DiffLimits::default())
    };
    assert_eq!(pieces("# One\n\n", "It was late.\n").len(), 3);
    assert_eq!(pieces("# One\n\n", "# Two\n").len(), 1);
    // In front of the selection nothing may change, so the pieces cannot begin there.
    assert_eq!(pieces("It was cold.\n\n", "# Two\n").len(), 1);
    assert!(pieces("It was cold.\n\n", "It was late.\n").iter().all(|it| it.parts[0].from == 0));
    // Inside code there are no sentences.
    assert_eq!(pieces("```\n", "It was late.\n```\n").len(), 1);
}

#[test]
fn a_paragraph_that_is_written_anew_changes_sentence_by_sentence() {
    let old = format!("# One\n\n{}\n\n# Two\n", paragraph("Apple", 2));
    let anew = (1..=60).map(|n| format!("Nobody knew {n} lamps would burn until dawn."));
    let anew = anew.collect::<Vec<_>>().join(" ");
    let hunks = diff(&old, &format!("# One\n\n{anew}\n\n# Two\n"), &DiffLimits::default());
    assert!(longest(&hunks) < 200, "{}", longest(&hunks));
    for one in 0..hunks.len() {
        let text = taken(&old, &hunks, |index| index == one);
        assert!(text.ends_with("\n\n# Two\n"), "{one}: {text}");
    }
}

/// Returns the length of the longest text that one change deletes.
fn longest_gone(hunks: &[HunkDraft]) -> usize {
    let gone = |hunk: &HunkDraft| hunk.parts.iter().map(|it| it.to - it.from).sum();
    hunks.iter().map(gone).max().unwrap_or_default()
}

#[test]
fn a_long_paragraph_goes_away_piece_by_piece() {
    let long = paragraph("Sentence", 60);
    let new = "# One\n\nIt was cold.\n\n# Two\n\nIt was late.\n";
    let old = new.replace("cold.\n", &format!("cold.\n\n{long}\n"));
    let hunks = any_choice_is_well_formed(&old, new, &["# One", "# Two", "It was late."]);
    assert_eq!(hunks.len(), 4);
    assert!(longest_gone(&hunks) <= LONGEST + 2);
    let second = taken(&old, &hunks, |index| index == 1);
    assert!(second.contains("It was cold.\n\nSentence number 1 "), "{second}");
    // Before another one, at the end, and all there is.
    let old = format!("# One\n\n{long}\n\nIt was cold.\n");
    any_choice_is_well_formed(&old, "# One\n\nIt was cold.\n", &["# One"]);
    let old = format!("# One\n\nIt was cold.\n\n{long}\n");
    let hunks = any_choice_is_well_formed(&old, "# One\n\nIt was cold.\n", &["# One"]);
    assert!(hunks.len() == 4 && longest_gone(&hunks) <= LONGEST + 2, "{hunks:?}");
    assert_eq!(any_choice_is_well_formed(&format!("{long}\n"), "", &[]).len(), 4);
}

#[test]
fn a_long_paragraph_between_headings_goes_away_as_a_whole() {
    let old = format!("# One\n\n{}\n\n# Two\n", paragraph("Sentence", 40));
    assert_eq!(any_choice_is_well_formed(&old, "# One\n\n# Two\n", &["# One", "# Two"]).len(), 1);
}

#[test]
fn sentences_that_begin_in_lower_case_come_and_go_in_pieces() {
    let long = paragraph("sentence", 60);
    let (without, with) = ("It was cold.\n", format!("It was cold.\n\n{long}\n"));
    assert_eq!(any_choice_is_well_formed(without, &with, &[]).len(), 4);
    assert_eq!(any_choice_is_well_formed(&with, without, &[]).len(), 4);
}

#[test]
fn random_paragraphs_that_come_or_go_in_random_texts_can_be_taken_in_any_choice() {
    for seed in 0..400 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut old = Vec::new();
        for n in 0..random.usize(0..5) {
            old.push(match random.u8(0..4) {
                0 => format!("# Heading {n}"),
                1 => format!("- item {n}"),
                _ => paragraph(&format!("Old {n}"), random.usize(1..4)),
            });
        }
        let mut new = old.clone();
        for n in 0..random.usize(1..3) {
            let at = random.usize(0..=new.len());
            new.insert(at, paragraph(&format!("New {n}"), random.usize(1..60)));
        }
        let text = |blocks: &[String]| blocks.join("\n\n") + "\n\n";
        let (mut old, mut new) = (text(&old), text(&new));
        if seed % 2 == 0 {
            (old, new) = (new, old);
        }
        let hunks = diff(&old, &new, &DiffLimits::default());
        assert_eq!(taken(&old, &hunks, |_| true), new, "seed {seed}");
        for _ in 0..20 {
            let choice = random.u64(..);
            let text = taken(&old, &hunks, |index| choice & (1 << (index % 64)) != 0);
            let glued = text
                .as_bytes()
                .windows(2)
                .any(|two| two[0] == b'.' && two[1].is_ascii_alphanumeric());
            assert!(!glued, "seed {seed}: {text:?}");
            for mark in ["# ", "- item"] {
                let lines = text.lines().filter(|it| it.starts_with(mark)).count();
                assert_eq!(text.matches(mark).count(), lines, "seed {seed}: {text:?}");
            }
        }
    }
}
