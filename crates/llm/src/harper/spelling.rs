//! Spelling: finds unknown words that are typing mistakes, and the words that were meant.
//!
//! Harper's own spell checker offers something for every unknown word. In prose most unknown words
//! are right: names, rare words, coinages, other dialects. So a word is corrected only when it is a
//! well-known misspelling, or one typical mistake away from exactly one common word.

use std::collections::HashMap;
use std::sync::OnceLock;

use harper_core::Dialect;
use harper_core::spell::{Dictionary, FstDictionary};

/// Sorted misspellings that the mistakes below do not reach clearly: wrong word, right word.
const WELL_KNOWN: &str = include_str!("misspellings.txt");

/// Smallest number of letters in a corrected word: shorter words have too many neighbours.
const SHORTEST_SLIP: usize = 5;

/// Fewest letters for a missing letter or a wrong vowel: shorter words have too many neighbours.
const SHORTEST_LETTER_SLIP: usize = 8;

/// Largest number of letters: a longer "word" is not a word.
const LONGEST: usize = 24;

/// Dictionary, and the dialect to correct to.
pub(super) struct SpellChecker<'a> {
    pub(super) dictionary: &'a FstDictionary,
    pub(super) dialect: Dialect,
}

impl SpellChecker<'_> {
    /// Returns the word that `word` stands for, in its letter case; `None` if that is unclear.
    pub(super) fn correct(&self, word: &str) -> Option<String> {
        let lower = word.to_lowercase();
        if let Some(meant) = well_known(&lower) {
            return (!self.is_known(word)).then(|| in_case_of(word, meant));
        }
        let letters: Vec<char> = word.chars().collect();
        let plain = letters.iter().all(char::is_ascii_lowercase);
        if !plain || !(SHORTEST_SLIP..=LONGEST).contains(&letters.len()) || self.is_known(word) {
            return None;
        }
        self.only_common(swapped(&letters).chain(doubled(&letters)).chain(undoubled(&letters)))
            .or_else(|| {
                let long = letters.len() >= SHORTEST_LETTER_SLIP;
                long.then(|| self.only_common(dropped(&letters).chain(vowels(&letters))))?
            })
    }

    /// Returns `true` if the dictionary has the word, in some capitalisation and some dialect.
    fn is_known(&self, word: &str) -> bool {
        self.dictionary.contains_word_str(word)
    }

    /// Returns the one common word among the candidates; with several, the meaning is not known.
    fn only_common(&self, candidates: impl Iterator<Item = Vec<char>>) -> Option<String> {
        let mut common: Vec<_> = candidates.filter(|candidate| self.is_common(candidate)).collect();
        common.sort();
        common.dedup();
        match common.as_slice() {
            [only] => Some(only.iter().collect()),
            _ => None,
        }
    }

    fn is_common(&self, word: &[char]) -> bool {
        self.dictionary.get_word_metadata_exact(word).is_some_and(|metadata| {
            metadata.common && metadata.dialects.is_dialect_enabled(self.dialect)
        })
    }
}

fn well_known(word: &str) -> Option<&'static str> {
    static BY_WORD: OnceLock<HashMap<&str, &str>> = OnceLock::new();
    let by_word = BY_WORD
        .get_or_init(|| WELL_KNOWN.lines().filter_map(|line| line.split_once(' ')).collect());
    by_word.get(word).copied()
}

fn edited<T>(letters: &[char], edit: impl FnOnce(&mut Vec<char>) -> T) -> Vec<char> {
    let mut word = letters.to_vec();
    edit(&mut word);
    word
}

/// Swaps each two neighbouring letters, except the first letter, which is hardly ever wrong.
fn swapped(letters: &[char]) -> impl Iterator<Item = Vec<char>> {
    (2..letters.len()).map(move |at| edited(letters, |word| word.swap(at - 1, at)))
}

/// Doubles each letter, because one of a pair may be missing.
fn doubled(letters: &[char]) -> impl Iterator<Item = Vec<char>> {
    (1..letters.len()).map(move |at| edited(letters, |word| word.insert(at, letters[at])))
}

/// Removes each letter that follows an equal one.
fn undoubled(letters: &[char]) -> impl Iterator<Item = Vec<char>> {
    let repeats = (1..letters.len()).filter(|at| letters[at - 1] == letters[*at]);
    repeats.map(move |at| edited(letters, |word| word.remove(at)))
}

/// Inserts each letter at each place inside the word.
fn dropped(letters: &[char]) -> impl Iterator<Item = Vec<char>> {
    (1..letters.len()).flat_map(move |at| {
        ('a'..='z').map(move |letter| edited(letters, |word| word.insert(at, letter)))
    })
}

/// Replaces each vowel inside the word by each vowel.
fn vowels(letters: &[char]) -> impl Iterator<Item = Vec<char>> {
    let is_vowel = |letter: char| "aeiou".contains(letter);
    (1..letters.len()).filter(move |at| is_vowel(letters[*at])).flat_map(move |at| {
        "aeiou".chars().map(move |letter| edited(letters, |word| word[at] = letter))
    })
}

/// Returns `meant` with the capitals of `word`.
fn in_case_of(word: &str, meant: &str) -> String {
    let shouted = word.chars().filter(|c| c.is_alphabetic()).all(char::is_uppercase);
    let mut letters = meant.chars();
    match (letters.next(), word.chars().next().is_some_and(char::is_uppercase)) {
        _ if shouted => meant.to_uppercase(),
        (Some(first), true) => first.to_uppercase().chain(letters).collect(),
        (Some(_), false) | (None, _) => meant.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn correct(word: &str) -> Option<String> {
        let dictionary = FstDictionary::curated();
        SpellChecker { dictionary: &dictionary, dialect: Dialect::American }.correct(word)
    }

    fn british(word: &str) -> Option<String> {
        let dictionary = FstDictionary::curated();
        SpellChecker { dictionary: &dictionary, dialect: Dialect::British }.correct(word)
    }

    #[test]
    fn every_well_known_misspelling_is_no_word_and_stands_for_words() {
        let dictionary = FstDictionary::curated();
        let pairs = || WELL_KNOWN.lines().filter_map(|line| line.split_once(' '));
        let is_word = |word: &str| dictionary.contains_word_str(word);
        let useless: Vec<_> = pairs().filter(|(wrong, _)| is_word(wrong)).collect();
        let harmful: Vec<_> = pairs().filter(|(_, meant)| !meant.split(' ').all(is_word)).collect();
        assert_eq!((useless, harmful), (vec![], vec![]));
        assert!(WELL_KNOWN.lines().is_sorted());
    }

    #[test]
    fn one_typical_slip_is_undone() {
        let slips = [
            ("reamin", "remain"),
            ("beginnning", "beginning"),
            ("lanttern", "lantern"),
            ("harrbor", "harbor"),
            ("lighthose", "lighthouse"),
            ("importent", "important"),
        ];
        for (slip, meant) in slips {
            assert_eq!(correct(slip).as_deref(), Some(meant), "{slip}");
        }
    }

    #[test]
    fn letter_case_is_kept() {
        assert_eq!(correct("Teh").as_deref(), Some("The"));
        assert_eq!(correct("TEH").as_deref(), Some("THE"));
        assert_eq!(correct("Alot").as_deref(), Some("A lot"));
    }

    #[test]
    fn what_may_be_right_or_is_not_clear_is_left_alone() {
        // Names, rare words, coinages, short words, other scripts, and words with two possible
        // meanings.
        let words = "Beleven Skerrow wherry postern bleared clamorously orgastic gaspumps acked sid thole \
            été naïvely don’t o’clock x acb brid wendered";
        for word in words.split_whitespace() {
            assert_eq!(correct(word), None, "{word}");
        }
    }

    #[test]
    fn corrections_speak_the_dialect_of_the_text() {
        assert_eq!(british("coluor").as_deref(), Some("colour"));
        assert_eq!(correct("coluor"), None);
    }
}
