//! The two sides of a comparison, and what the steps of it share.

use super::extract::{Fact, QUOTE};
use super::kinds::{MOST_MARKS, MarkKind};
use super::lexicon::{NEGATION_AXIS, Strength};
use super::reading::{Reading, Token};

/// Facts of a side that are compared with each one of the other side.
pub(crate) const MOST_COMPARED: usize = 256;
/// Words of a side among which opposites are looked for.
const MOST_WORDS: usize = 48;

/// A passage with its facts, and those that the other one does not have.
pub(crate) struct Side<'a> {
    pub reading: &'a Reading<'a>,
    pub facts: Vec<Fact>,
    pub left: Vec<Fact>,
}

/// Facts of both sides that belong together.
pub(crate) type Change = (Option<Fact>, Option<Fact>);

impl Side<'_> {
    /// Drops what stands inside a quotation that differs as a whole.
    pub fn forget_quoted(&mut self) {
        let quoted: Vec<_> =
            self.left.iter().filter(|it| it.axis == QUOTE).map(|it| it.place.clone()).collect();
        self.left.retain(|fact| {
            fact.axis == QUOTE
                || !quoted.iter().take(MOST_MARKS).any(|place| place.contains(&fact.place.start))
        });
    }
}

/// Returns a fact about one word.
pub(crate) fn word_fact(kind: MarkKind, at: usize, token: &Token) -> Fact {
    Fact {
        kind,
        axis: NEGATION_AXIS,
        value: 0,
        is_exact: true,
        strength: Strength::Strong,
        place: token.place.clone(),
        token: at,
        end: at + 1,
        owner: at,
        amount: None,
        is_hidden: false,
        is_joined: false,
    }
}

/// Returns the words of a side that the other one does not have.
pub(crate) fn own_words<'a>(reading: &'a Reading, other: &Reading) -> Vec<(usize, &'a Token)> {
    let mut words: Vec<u64> = other.tokens.iter().map(|token| token.hash).collect();
    words.sort_unstable();
    let own = reading.tokens.iter().enumerate().filter(|(_, token)| {
        token.is_word() && token.folded.len() > 3 && words.binary_search(&token.hash).is_err()
    });
    own.take(MOST_WORDS).collect()
}
