//! Texts that UAX 29 sees few sentences in, and paragraphs that go away: each change can be read at
//! one go.

use unicode_segmentation::UnicodeSegmentation;

use super::LONGEST;
use crate::diff::{DiffLimits, HunkDraft, HunkKind, diff};
use crate::utf16_len;

/// Returns the units that a change deletes or inserts, whichever is more.
fn size(hunk: &HunkDraft) -> usize {
    if hunk.kind == Some(HunkKind::Moved) {
        // It is as long as what moves.
        return 0;
    }
    let span = hunk.parts[hunk.parts.len() - 1].to - hunk.parts[0].from;
    span.max(hunk.parts.iter().map(|part| utf16_len(&part.insert)).sum())
}

/// The changes; they add up, none is long, and none begins or ends in a word or a grapheme.
#[track_caller]
fn readable(old: &str, new: &str) -> Vec<HunkDraft> {
    let hunks = diff(old, new, &DiffLimits::default());
    let units: Vec<u16> = old.encode_utf16().collect();
    let (mut made, mut at) = (Vec::new(), 0);
    let words = starts(old, old.split_word_bound_indices().map(|(at, _)| at));
    let graphemes = starts(old, old.grapheme_indices(true).map(|(at, _)| at));
    let mut parts: Vec<_> = hunks.iter().flat_map(|hunk| &hunk.parts).collect();
    parts.sort_by_key(|part| (part.from, part.to));
    for part in parts {
        for end in [part.from, part.to] {
            assert!(words.contains(&end) && graphemes.contains(&end), "{end} in {old:?}");
        }
        made.extend_from_slice(&units[at..part.from]);
        made.extend(part.insert.encode_utf16());
        at = part.to;
    }
    made.extend_from_slice(&units[at..]);
    assert_eq!(String::from_utf16(&made).unwrap(), new);
    let longest = hunks.iter().map(size).max().unwrap_or_default();
    assert!(longest <= LONGEST, "{longest} units in one of {} changes", hunks.len());
    hunks
}

fn starts(text: &str, starts: impl Iterator<Item = usize>) -> std::collections::HashSet<usize> {
    starts.chain([text.len()]).map(|at| utf16_len(&text[..at])).collect()
}

/// `count` words of a language in which every text is another one.
fn words(seed: u64, count: usize, letters: &[char]) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let word = |random: &mut fastrand::Rng| -> String {
        (0..random.usize(3..9)).map(|_| letters[random.usize(..letters.len())]).collect()
    };
    (0..count).map(|_| word(&mut random)).collect()
}

const LATIN: &[char] = &['a', 'e', 'i', 'k', 'l', 'm', 'n', 'o', 'r', 's', 't', 'u'];
const THAI: &[char] =
    &['ก', 'ข', 'ค', 'ง', 'จ', 'ต', 'น', 'ม', 'ร', 'ล', 'า', 'ี', 'ุ', '่', 'เ', 'แ'];

/// `count` sentences of ten words each, none of which begins with a capital.
fn lower_case(seed: u64, count: usize) -> Vec<String> {
    words(seed, count * 10, LATIN).chunks(10).map(|words| words.join(" ") + ".").collect()
}

#[test]
fn sentences_that_begin_in_lower_case_change_one_by_one() {
    let old = lower_case(1, 120);
    let hunks = readable(&old.join(" "), &lower_case(2, 120).join(" "));
    assert_eq!(hunks.len(), 120);
    // Those that stay are left alone.
    let mut new = old.clone();
    new[30..].clone_from_slice(&lower_case(3, 90));
    new[50] = old[50].clone();
    new[70] = old[70].replace('.', " twice.");
    let hunks = readable(&old.join(" "), &new.join(" "));
    assert_eq!(hunks.len(), 89);
    assert!(hunks[0].parts[0].base.starts_with(&old[30]), "{:?}", hunks[0]);
    let adds = |it: &&HunkDraft| it.parts[0].insert.trim() == "twice";
    assert!(hunks.iter().find(adds).is_some_and(|it| it.parts[0].base.is_empty()), "{hunks:?}");
}

#[test]
fn prose_without_marks_changes_in_pieces_between_words() {
    let (old, new) = (words(1, 600, LATIN).join(" "), words(2, 500, LATIN).join(" "));
    let hunks = readable(&old, &new);
    assert_eq!(hunks.len(), 5);
    let clauses = |seed| {
        words(seed, 500, LATIN).chunks(7).map(|it| it.join(" ")).collect::<Vec<_>>().join(", ")
    };
    let hunks = readable(&clauses(1), &clauses(2));
    let ends = hunks[..hunks.len() - 1].iter().map(|it| &it.parts[0]);
    assert!(ends.into_iter().all(|it| it.base.ends_with(',') && it.insert.ends_with(',')));
}

#[test]
fn words_in_a_row_that_stay_in_a_long_sentence_are_left_alone() {
    let stays = "these words were there before and will be there behind";
    let text = |seed| {
        [words(seed, 150, LATIN).join(" "), words(seed + 1, 150, LATIN).join(" ")]
            .join(&format!(" {stays} "))
    };
    let hunks = readable(&text(1), &text(5));
    assert!(hunks.iter().all(|it| !it.parts[0].base.contains("there before")), "{hunks:?}");
    let (old, new) = (words(1, 900, LATIN), words(2, 900, LATIN));
    // Of three words, two are others: many small replacements close to each other.
    let every_third = |(n, (old, new)): (usize, (&String, &String))| {
        if n % 3 == 0 { old.clone() } else { new.clone() }
    };
    let mixed: Vec<_> = old.iter().zip(&new).enumerate().map(every_third).collect();
    readable(&old.join(" "), &mixed.join(" "));
    let half = |(n, (old, new)): (usize, (&String, &String))| {
        if n % 2 == 0 { old.clone() } else { new.clone() }
    };
    let mixed: Vec<_> = old.iter().zip(&new).enumerate().map(half).collect();
    readable(&old.join(" "), &mixed.join(" "));
}

#[test]
fn a_script_without_spaces_changes_in_pieces_between_graphemes() {
    let (old, new) = (words(1, 400, THAI).concat(), words(2, 380, THAI).concat());
    assert!(readable(&old, &new).len() >= 3);
    let phrases = |seed| {
        words(seed, 400, THAI).chunks(8).map(<[String]>::concat).collect::<Vec<_>>().join(" ")
    };
    assert!(readable(&phrases(1), &phrases(2)).len() >= 3);
}

#[test]
fn a_long_sentence_that_becomes_a_short_one_is_not_mixed_with_it() {
    let long = words(1, 600, LATIN).join(" ");
    let hunks = readable(&long, "Nothing was said.");
    assert_eq!(hunks[0].parts[0].insert, "Nothing was said.");
    assert!(hunks[1..].iter().all(|it| it.parts[0].insert.is_empty()), "{hunks:?}");
}

#[test]
fn random_texts_without_sentences_add_up_and_stay_readable() {
    let pieces =
        ["a", "so", "then", "นำ้", "東京", "क्षि", "cafe\u{301}", "👩‍👩‍👧", "e.g.", "ไทย", "(x)"];
    let gaps = [" ", " ", " ", ", ", ". ", "; ", "、", "\n> ", " \u{301}"];
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (piece_count, gap_count) = (random.usize(2..=11), random.usize(1..=9));
        let mut text = || -> String {
            let one = |_| [pieces[random.usize(..piece_count)], gaps[random.usize(..gap_count)]];
            (0..700).flat_map(one).collect()
        };
        readable(&text(), &text());
    }
}
