//! The passage of a text that is most like a quotation that is not in it.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use super::folding::{FoldedText, Folding, TextEnd};
use super::{NearestPassage, alike};

/// Maximum number of words of a quotation that are compared.
const MOST_WORDS: usize = 200;
/// Smallest likeness (share of equal pairs of letters) of a single word.
const ALIKE: f64 = 0.5;

/// Returns the passage that is most like the quotation; `None` if nothing is like it.
pub(super) fn nearest(text: &str, quoted: &str) -> Option<NearestPassage> {
    for (folding, differs) in [
        (Folding::LookAlike, "quotes, dashes, spaces or composed letters"),
        (Folding::AnyCase, "upper and lower case"),
        (Folding::Loose, "accents, ellipses or similar signs"),
    ] {
        if let Some(range) = alike(text, quoted, folding).into_iter().next() {
            return Some(NearestPassage { range, differs: Some(differs) });
        }
    }
    let wanted: Vec<String> = words(quoted).take(MOST_WORDS).map(|(_, word)| word).collect();
    let range = match wanted.as_slice() {
        [] => return None,
        [word] => similar_word(text, word)?,
        several => best_window(text, several)?,
    };
    Some(NearestPassage { range, differs: None })
}

/// Returns the passage of as many words as `wanted` that has most of them; `None` if no passage has
/// half of them.
fn best_window(text: &str, wanted: &[String]) -> Option<Range<usize>> {
    let mut missing: HashMap<&str, isize> = HashMap::new();
    for word in wanted {
        *missing.entry(word).or_default() += 1;
    }
    let mut window: VecDeque<(Range<usize>, Option<&str>)> = VecDeque::new();
    let (mut found, mut best, mut place) = (0_usize, 0, None);
    for (range, word) in words(text) {
        let known = missing.get_key_value(word.as_str()).map(|(known, _)| *known);
        if let Some(count) = known.and_then(|word| missing.get_mut(word)) {
            found += usize::from(*count > 0);
            *count -= 1;
        }
        window.push_back((range, known));
        if window.len() > wanted.len()
            && let Some((_, Some(gone))) = window.pop_front()
            && let Some(count) = missing.get_mut(gone)
        {
            *count += 1;
            found -= usize::from(*count > 0);
        }
        if found > best
            && let (Some((first, _)), Some((last, _))) = (window.front(), window.back())
        {
            (best, place) = (found, Some(first.start..last.end));
        }
    }
    place.filter(|_| best * 2 >= wanted.len())
}

/// Returns the word that is most like `wanted`.
fn similar_word(text: &str, wanted: &str) -> Option<Range<usize>> {
    let pairs = |word: &str| -> Vec<(char, char)> {
        let framed: Vec<char> = [' '].into_iter().chain(word.chars()).chain([' ']).collect();
        let mut pairs: Vec<_> = framed.windows(2).map(|pair| (pair[0], pair[1])).collect();
        pairs.sort_unstable();
        pairs
    };
    let sought = pairs(wanted);
    let mut known: HashMap<String, f64> = HashMap::new();
    let mut best: Option<(f64, Range<usize>)> = None;
    for (range, word) in words(text) {
        let likeness = *known.entry(word).or_insert_with_key(|word| {
            let these = pairs(word);
            let (mut equal, mut at) = (0, 0);
            for pair in &sought {
                at += these[at..].partition_point(|it| it < pair);
                if these.get(at) == Some(pair) {
                    (equal, at) = (equal + 1, at + 1);
                }
            }
            f64::from(2 * equal) / (sought.len() + these.len()) as f64
        });
        if likeness >= ALIKE && best.as_ref().is_none_or(|(most, _)| likeness > *most) {
            best = Some((likeness, range));
        }
    }
    best.map(|(_, range)| range)
}

/// Returns the words of a text in their loosest form, with their ranges in bytes. Each character of
/// a script without spaces is a word.
fn words(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(char::is_alphanumeric)?;
        let rest = &text[start..];
        let first = rest.chars().next()?;
        let is_part = |c: char| c.is_alphanumeric() && !stands_alone(c);
        let len = if stands_alone(first) {
            first.len_utf8()
        } else {
            rest.find(|c: char| !is_part(c)).unwrap_or(rest.len())
        };
        at = start + len;
        let word = &rest[..len];
        let loose = if word.is_ascii() {
            word.to_ascii_lowercase()
        } else {
            FoldedText::new(word, Folding::Loose, TextEnd::OfQuotation).folded
        };
        Some((start..at, loose))
    })
}

fn stands_alone(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
