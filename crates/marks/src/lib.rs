//! Marks of changed meaning: whether a proposed change of a text says something else, and where.
//!
//! [`marks`] compares a passage before and after a change. It reads *facts* from both sides:
//! numbers, dates, units, names, negations, words of certainty, quantity, comparison and order,
//! quotations, links and code. A fact has a normal form, so that `12` and `twelve` are the same.
//! Facts that both sides have cancel each other, and what is left is marked. No model is asked, and
//! nothing is read or written.
//!
//! Words are in `data/`, a file for each language. In other languages than English, German and
//! French, only numbers, names, quotations, links and code are compared.
//!
//! Choices that another reader could make differently:
//!
//! - Two names that change places are marked as [`MarkKind::Name`], other words that do as
//!   [`MarkKind::Order`] or, if they are numbers, as [`MarkKind::Number`].
//! - Two negations cancel each other: `not uncommon` is `common`, `did not reject` is `accepted`.
//! - A word of duty or permission that only disappears is no mark, since instructions are written
//!   with and without them (`you must click`, `click`). A word of doubt is one (`allegedly`).
//! - A negation that goes is none if the other side has a word of denial (`not hurt`, `unhurt`).
//! - Removed quotation marks are a mark, even if the words stay.
//!
//! # Limits
//!
//! At most 32 marks are returned, each side of a mark with at most 120 characters. Beyond 64 KB on
//! a side the order of words is not compared. The time grows with the length of the text.
//!
//! Changes that are not found, by kind:
//!
//! - number: counts in words of other languages, if they are no simple numbers.
//! - date: feasts and seasons that are in no list.
//! - unit: units that are in no list; the case of a letter (`MW` and `mW`).
//! - name: a name at the beginning of a sentence that becomes a pronoun; German nouns that are used
//!   as names, unless the name is known or follows a title; names without capitals, as in Japanese.
//! - negation and comparison: opposites that are in no list; a negation that moves to an irregular
//!   verb (`did not say she left`, `said she did not leave`).
//! - modality: who says something, if the words around the claim change too.
//! - quantity: `some` and `many` that only disappear in the middle of a sentence; `only` that moves
//!   to another word with the same neighbours.
//! - order: steps that change places while their words change too; German nouns that change places
//!   with other endings.
//! - quote, link and code: nothing that is known.
//!
//! Words that are no name and stand in no list are not compared at all (`cat` for `dog`).
//!
//! Wrong marks come from sentences that say the same in quite other words: a negation or a quantity
//! that the other side puts into a word which is in no list (`not on time`, `late`).

mod amounts;
mod compare;
mod dates;
mod extract;
mod kinds;
mod language;
mod lexicon;
mod links;
mod moves;
mod names;
mod numbers;
mod reading;
mod scanner;
mod side;
mod weight;

pub use kinds::{Language, Mark, MarkKind};

use lexicon::Lexicon;
use reading::Reading;

/// Returns the changed meanings of a passage, in the order of the text.
///
/// `before` and `after` are the whole passage, normally a sentence, in Markdown.
pub fn marks(before: &str, after: &str, language: Language) -> Vec<Mark> {
    if before == after {
        return Vec::new();
    }
    let lexicon = Lexicon::of(language);
    let (before, after) = (Reading::of(before, language), Reading::of(after, language));
    let old = extract::facts(&before, lexicon, language);
    let new = extract::facts(&after, lexicon, language);
    compare::marks(&before, old, &after, new, lexicon)
}
