//! Words that move, and words that are changed only together.

use super::*;
use crate::diff::DraftPart;

const FOG: &str = "The fog had come in over the pier before anybody saw it there.";
const LAMP: &str = "Nobody in the town could say who had lit the lamp that night.";
const BOATS: &str = "Every boat in the harbour had turned its bow towards the storm before the \
                     night came. Nobody slept in the town, and the bells rang until the morning.";
const SHIPS: &str = "Each ship in the harbour had turned to the gale before dark. Hardly anybody \
                     slept, and bells rang all night.";

/// Returns what is removed and what is put in by the only moved hunk, and the number of the others.
fn moved(old: &str, new: &str) -> (String, String, usize) {
    let (moved, others): (Vec<_>, Vec<_>) =
        hunks(old, new).into_iter().partition(|it| it.kind == Some(HunkKind::Moved));
    let [moved] = moved.as_slice() else { panic!("{moved:?} and {others:?}") };
    let side = |side: fn(&DraftPart) -> &String| {
        moved.parts.iter().map(|it| side(it).trim()).collect::<String>()
    };
    (side(|it| &it.base), side(|it| &it.insert), others.len())
}

#[test]
fn a_sentence_that_moves_to_another_paragraph_is_one_hunk() {
    let old = format!("It rained. {FOG} He slept.\n\nTeh lamp was out. It was late.\n");
    let new = format!("It rained. He slept.\n\nThe lamp was out. {FOG} It was late.\n");
    assert_eq!(moved(&old, &new), (FOG.to_owned(), FOG.to_owned(), 1));
    let hunks = hunks(&old, &new);
    assert_eq!(hunks[0].group, hunks[1].group, "the paragraph where the words are put in");
    assert_eq!(hunks[1].kind, Some(HunkKind::Moved), "{hunks:?}");
}

#[test]
fn a_sentence_that_moves_and_changes_a_little_is_one_hunk() {
    let other = "The fog came in over the pier before anybody saw it.";
    let old = format!("It rained. {FOG} He slept.\n\nIt was late. She left.\n");
    let new = format!("It rained. He slept.\n\nIt was late. {other} She left.\n");
    assert_eq!(moved(&old, &new), (FOG.to_owned(), other.to_owned(), 0));
}

#[test]
fn fewer_than_eight_words_do_not_move() {
    let hunks =
        hunks("It rained. He slept there well.\n\nA.\n", "It rained.\n\nHe slept there well. A.\n");
    assert!(hunks.iter().all(|it| it.kind != Some(HunkKind::Moved)), "{hunks:?}");
}

#[test]
fn a_paragraph_that_moves_past_a_rewritten_one_is_one_hunk() {
    for (old, new) in [
        (format!("A.\n\n{LAMP}\n\n{BOATS}\n\nB.\n"), format!("A.\n\n{SHIPS}\n\n{LAMP}\n\nB.\n")),
        (format!("A.\n\n{BOATS}\n\n{LAMP}\n\nB.\n"), format!("A.\n\n{LAMP}\n\n{SHIPS}\n\nB.\n")),
        (format!("{BOATS}\n\n{LAMP}"), format!("{LAMP}\n\n{SHIPS}")),
        (format!("{LAMP}\n\n{BOATS}"), format!("{SHIPS}\n\n{LAMP}")),
    ] {
        assert_eq!(moved(&old, &new), (LAMP.to_owned(), LAMP.to_owned(), 2), "{old:?}");
    }
}

#[test]
fn a_sentence_that_moves_past_a_rewritten_one_is_one_hunk() {
    let boats =
        "Every boat in the harbour had turned its bow towards the storm before the night came.";
    let ships = "Each ship in the harbour had turned to the gale before dark.";
    let old = format!("It rained. {FOG} {boats} He slept.");
    let new = format!("It rained. {ships} {FOG} He slept.");
    assert_eq!(moved(&old, &new), (FOG.to_owned(), FOG.to_owned(), 1));
    assert_eq!(moved(&new, &old), (FOG.to_owned(), FOG.to_owned(), 1));
}

#[test]
fn a_section_that_moves_is_one_hunk() {
    let section = format!("## The night\n\n{LAMP}\n\nIt was late.");
    let old = format!("# A\n\n{section}\n\n## The day\n\n{BOATS}\n\n{FOG}\n\nSnow fell.\n");
    let new = format!("# A\n\n## The day\n\n{BOATS}\n\n{FOG}\n\nSnow fell.\n\n{section}\n");
    assert_eq!(moved(&old, &new), (section.clone(), section.clone(), 0));
}

#[test]
fn a_paragraph_that_moves_to_where_another_one_is_removed_is_one_hunk() {
    let old = format!("A.\n\n{FOG}\n\nB.\n\nC.\n\n{LAMP}\n\nD.\n");
    let new = format!("A.\n\nB.\n\nC.\n\n{FOG}\n\nD.\n");
    assert_eq!(moved(&old, &new), (FOG.to_owned(), FOG.to_owned(), 1));
}

#[test]
fn a_paragraph_that_moves_past_a_rewritten_one_between_changed_ones_is_one_hunk() {
    let (first, last) = ("Teh sea was calm on that day.", "Evrybody went home in the end.");
    let old = format!("{first}\n\n{LAMP}\n\n{BOATS}\n\n{last}\n");
    let (first, last) = ("The sea was calm on that day.", "Everybody went home in the end.");
    let new = format!("{first}\n\n{SHIPS}\n\n{LAMP}\n\n{last}\n");
    let hunks = hunks(&old, &new);
    let moved: Vec<_> = hunks
        .iter()
        .filter(|it| it.kind == Some(HunkKind::Moved))
        .flat_map(|it| &it.parts)
        .collect();
    assert_eq!(moved.len(), 2, "{hunks:?}");
    assert!(moved.iter().all(|it| (it.base.clone() + &it.insert).trim() == LAMP), "{hunks:?}");
}

#[test]
fn an_auxiliary_and_its_verb_are_one_hunk() {
    let old = "She had never seen the lighthouse before that evening.";
    let new = "She never saw the lighthouse before that evening.";
    assert_eq!(described(old, new), ["had → + seen→saw"]);
    assert_eq!(hunks(old, new)[0].kind, Some(HunkKind::Rewrite));
    assert_eq!(described(new, old), ["→had  + saw→seen"]);
    let (old, new) = ("He had seen the lamp that night.", "He saw the lamp that night.");
    assert_eq!(described(old, new).len(), 1);
}

/// Prose in paragraphs of which some move, some sentences move, and some change.
fn rearranged(random: &mut fastrand::Rng) -> (String, String) {
    let words = ["lamp", "river", "slowly", "under", "a", "crossed", "old", "bridge", "saw", "sea"];
    let mut paragraphs: Vec<Vec<String>> = (0..random.usize(2..7))
        .map(|_| {
            let sentence = |random: &mut fastrand::Rng| {
                let count = random.usize(3..14);
                let middle: Vec<_> = (0..count).map(|_| words[random.usize(..10)]).collect();
                format!("Day {} {}.", random.u32(..9_999), middle.join(" "))
            };
            (0..random.usize(1..5)).map(|_| sentence(random)).collect()
        })
        .collect();
    let text = |it: &[Vec<String>], end: &str| {
        it.iter()
            .filter(|it| !it.is_empty())
            .map(|it| it.join(" "))
            .collect::<Vec<_>>()
            .join("\n\n")
            + end
    };
    let end = if random.bool() { "\n" } else { "" };
    let old = text(&paragraphs, end);
    for _ in 0..random.usize(1..5) {
        let from = random.usize(..paragraphs.len());
        match random.u8(..4) {
            0 => {
                let paragraph = paragraphs.remove(from);
                paragraphs.insert(random.usize(..=paragraphs.len()), paragraph);
            }
            1 if !paragraphs[from].is_empty() => {
                let at = random.usize(..paragraphs[from].len());
                let sentence = paragraphs[from].remove(at);
                let to = random.usize(..paragraphs.len());
                let place = random.usize(..=paragraphs[to].len());
                paragraphs[to].insert(place, sentence);
            }
            _ => {
                for sentence in &mut paragraphs[from] {
                    *sentence = sentence.replace("lamp", "lantern").replace(" a ", " the ");
                }
            }
        }
    }
    (old, text(&paragraphs, end))
}

#[test]
fn whatever_moves_any_of_the_hunks_can_be_accepted() {
    let mut moves = 0;
    for seed in 0..3_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (old, new) = rearranged(&mut random);
        let hunks = hunks(&old, &new);
        moves += hunks.iter().filter(|it| it.kind == Some(HunkKind::Moved)).count();
        for hunk in hunks.iter().filter(|it| it.kind == Some(HunkKind::Moved)) {
            assert_eq!(hunk.parts.len(), 2, "seed {seed}: {hunk:?}");
        }
        let accepted: Vec<_> = hunks.iter().filter(|_| random.bool()).cloned().collect();
        let text = apply(&old, &accepted);
        let is_wrong = |it: &&str| text.contains(*it) && !old.contains(*it) && !new.contains(*it);
        let wrong: Vec<_> =
            ["  ", " \n", "\n ", "\n\n\n", ".D"].into_iter().filter(is_wrong).collect();
        assert!(
            wrong.is_empty(),
            "seed {seed}: {wrong:?} in {text:?}\n{old:?}\n{new:?}\n{hunks:?}"
        );
    }
    assert!(moves > 1_000, "{moves}");
}

#[test]
fn a_sentence_that_moves_behind_a_rewritten_one_is_one_change() {
    let moved = "I have been a customer of yours for nineteen years and never wrote before.";
    let old = format!(
        "{moved} In May I bought a machine.\n\nPlease send somebody before the 15th. If you can’t, \
         take the machine back. I should like to hear from you soon.\n"
    );
    let new = format!(
        "In May I bought a machine.\n\nPlease send somebody before the 15th, or take the machine \
         back. {moved} I should like to hear from you soon.\n"
    );
    let hunks = diff(&old, &new, &DiffLimits::default());
    let kinds: Vec<_> = hunks.iter().map(|hunk| hunk.kind).collect();
    assert_eq!(kinds, [Some(HunkKind::Rewrite), Some(HunkKind::Moved)], "{hunks:#?}");
}
