//! Changes of a word or two that stand for themselves: spelling, grammar, punctuation, spacing.

mod typos;

use std::ops::Range;

use typos::is_typo;

use super::words::{TokenKind, TokenSwap, WordToken, count_words};

/// Most words on either side of a correction.
const MOST_WORDS: usize = 2;

/// Most letters of a word that a correction may add or remove, such as an article.
const SMALL: usize = 3;

/// Most letters of words that a correction may exchange although they look different: `of` for
/// `have`.
const SHORT: usize = 5;

/// Small words that are longer than [`SMALL`].
const SMALL_WORDS: &[&str] =
    &["been", "have", "more", "most", "some", "eine", "einen", "einem", "einer", "dans", "pour"];

/// Words with which another verb forms a tense, so that it changes where they come or go.
const AUXILIARIES: &[&str] = &[
    "am", "are", "be", "been", "being", "did", "do", "does", "had", "has", "have", "is", "was",
    "were", "will", "would", //
    "hat", "hatte", "hatten", "haben", "ist", "sind", "war", "waren", "wird", "wurde", "wurden",
    "würde", //
    "a", "ai", "ont", "avait", "avaient", "est", "sont", "était", "étaient",
];

/// Most words between an auxiliary and its verb, such as `never`.
const MOST_ADVERBS: usize = 2;

#[derive(Clone, Copy)]
pub(super) struct Wording<'a> {
    pub old: (&'a str, &'a [WordToken]),
    pub new: (&'a str, &'a [WordToken]),
}

impl Wording<'_> {
    /// Returns `true` if every change of a sentence is a correction that does not depend on another
    /// one.
    pub fn are_independent_corrections(&self, swaps: &[TokenSwap]) -> bool {
        if !swaps.iter().all(|swap| self.is_correction(swap)) {
            return false;
        }
        if swaps.len() < 2 {
            return true;
        }
        let solid = |(text, tokens): (&str, &[WordToken]), run: &Range<usize>| -> Vec<String> {
            let solid = tokens[run.clone()].iter().filter(|it| it.stuff != TokenKind::Space);
            solid.map(|it| text[it.range.clone()].to_lowercase()).collect()
        };
        let changes: Vec<(Vec<String>, Vec<String>)> =
            swaps.iter().map(|it| (solid(self.old, &it.old), solid(self.new, &it.new))).collect();
        if (1..swaps.len()).any(|right| self.belong_together(swaps, &changes, right)) {
            return false;
        }
        let (mut marks, mut words_added, mut words_removed) = (0, 0, 0);
        for (index, (old, new)) in changes.iter().enumerate() {
            // A word or mark that moves.
            let moves = |(k, (gone, come)): (usize, &(Vec<String>, Vec<String>))| {
                k != index
                    && old
                        .iter()
                        .any(|it| come.contains(it) && !new.contains(it) && !gone.contains(it))
            };
            if changes.iter().enumerate().any(moves) {
                return false;
            }
            let (old_words, new_words) = (
                old.iter().filter(|it| is_word(it)).count(),
                new.iter().filter(|it| is_word(it)).count(),
            );
            match (old_words, new_words) {
                (0, 0) if old.is_empty() != new.is_empty() => {
                    marks += usize::from(old.iter().chain(new).any(|it| may_enclose(it)));
                }
                (0, 1..) => words_added += 1,
                (1.., 0) if !self.is_doubled(&swaps[index]) => words_removed += 1,
                _ => {}
            }
        }
        // Two commas may enclose a phrase; an added word may stand for a removed one.
        marks < 2 && (words_added == 0 || words_removed == 0)
    }

    /// Returns `true` if a word that comes or goes belongs to the changed word that is next: it is
    /// directly beside that, or it is an auxiliary before it, as in `had never seen` → `never saw`.
    /// One without the other would read wrong.
    fn belong_together(
        &self,
        swaps: &[TokenSwap],
        changes: &[(Vec<String>, Vec<String>)],
        right: usize,
    ) -> bool {
        let words = |(old, new): &(Vec<String>, Vec<String>)| {
            [old, new].map(|side| side.iter().any(|it| is_word(it)))
        };
        let left = right - 1;
        let comes_or_goes = |at: usize| {
            let [old, new] = words(&changes[at]);
            old != new && !(old && self.is_doubled(&swaps[at]))
        };
        let changes_word = |at: usize| words(&changes[at]) == [true; 2];
        let is_auxiliary = |(old, new): &(Vec<String>, Vec<String>)| {
            old.iter().chain(new).all(|it| AUXILIARIES.contains(&it.as_str()))
        };
        let between = &self.old.1[swaps[left].old.end..swaps[right].old.start];
        let is_tense = comes_or_goes(left)
            && is_auxiliary(&changes[left])
            && count_words(between) <= MOST_ADVERBS;
        let is_beside = between.iter().all(|it| it.stuff == TokenKind::Space);
        is_tense && changes_word(right)
            || is_beside
                && (comes_or_goes(left) && changes_word(right)
                    || changes_word(left) && comes_or_goes(right))
    }

    /// Returns the words on both sides, in lower case.
    fn words(&self, swap: &TokenSwap) -> (Vec<String>, Vec<String>) {
        let words = |(text, tokens): (&str, &[WordToken]), run: &Range<usize>| -> Vec<String> {
            let words = tokens[run.clone()].iter().filter(|it| it.stuff == TokenKind::Word);
            words.map(|it| text[it.range.clone()].to_lowercase()).collect()
        };
        (words(self.old, &swap.old), words(self.new, &swap.new))
    }

    /// Returns `true` if only spelling, case, spacing or punctuation changed, or a doubled word was
    /// removed: the sentence says what it said.
    pub fn is_mere_correction(&self, swap: &TokenSwap) -> bool {
        let (old, new) = self.words(swap);
        letters(&old) == letters(&new)
            || new.is_empty() && self.is_doubled(swap)
            || old.len() == new.len() && old.iter().zip(&new).all(|(a, b)| a == b || is_typo(a, b))
    }

    /// Returns `true` if a word or two became similar ones.
    fn is_correction(&self, swap: &TokenSwap) -> bool {
        let (old, new) = self.words(swap);
        if old.len().max(new.len()) > MOST_WORDS + 1 {
            return false;
        }
        let (left, right) = (letters(&old), letters(&new));
        if left == right {
            return true;
        }
        match (old.as_slice(), new.as_slice()) {
            ([], [one]) | ([one], []) if is_small(one) => true,
            ([], _) => false,
            (_, []) => self.is_doubled(swap),
            _ if old.len().max(new.len()) > MOST_WORDS => false,
            // One word of two is exchanged.
            ([a, b], [c, d]) if a == c => is_similar_word(b, d),
            ([a, b], [c, d]) if b == d => is_similar_word(a, c),
            ([one], [other]) => is_similar_word(one, other),
            // A small word comes or goes beside another one.
            ([one], [small, other] | [other, small]) | ([small, other] | [other, small], [one])
                if one == other && is_small(small) =>
            {
                true
            }
            _ => is_similar(&left, &right),
        }
    }

    /// Returns `true` if removed words are there a second time, right beside.
    fn is_doubled(&self, swap: &TokenSwap) -> bool {
        let (text, tokens) = self.old;
        let word = |it: &WordToken| {
            (it.stuff == TokenKind::Word).then(|| text[it.range.clone()].to_lowercase())
        };
        let gone: Vec<String> = tokens[swap.old.clone()].iter().filter_map(word).collect();
        let behind = tokens[swap.old.end..].iter().filter_map(word).take(gone.len());
        let before = tokens[..swap.old.start].iter().rev().filter_map(word).take(gone.len());
        !gone.is_empty()
            && (behind.eq(gone.iter().cloned()) || before.eq(gone.iter().rev().cloned()))
    }
}

fn is_word(piece: &str) -> bool {
    piece.chars().any(char::is_alphanumeric)
}

/// Returns `true` for marks that stand on both sides of a phrase, such as commas.
fn may_enclose(mark: &str) -> bool {
    mark.contains([
        ',', ';', '–', '—', '(', ')', '"', '“', '”', '„', '«', '»', '*', '_', '、', '，',
    ])
}

fn is_small(word: &str) -> bool {
    word.chars().count() <= SMALL || SMALL_WORDS.contains(&word)
}

fn letters(words: &[String]) -> Vec<char> {
    words.iter().flat_map(|it| it.chars()).filter(|c| c.is_alphanumeric()).collect()
}

fn is_similar_word(old: &str, new: &str) -> bool {
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let is_short = |word: &[char]| word.len() <= SHORT && word.iter().all(|c| *c < '\u{590}');
    is_short(&old) && is_short(&new) || is_similar(&old, &new)
}

/// Returns `true` if half of the letters of two words are the same, in the same order.
fn is_similar(old: &[char], new: &[char]) -> bool {
    let mut row = vec![0_usize; new.len() + 1];
    for a in old {
        let mut diagonal = 0;
        for (column, b) in new.iter().enumerate() {
            let above = row[column + 1];
            row[column + 1] = if a == b { diagonal + 1 } else { row[column].max(above) };
            diagonal = above;
        }
    }
    4 * row[new.len()] >= old.len() + new.len()
}
