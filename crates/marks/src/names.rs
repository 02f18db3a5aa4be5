//! Names, and words with a capital that are used as names.

use super::extract::{Extractor, NAME, bare};
use super::kinds::{Language, MarkKind};
use super::lexicon::{Role, Strength};
use super::reading::{ALL_CAPITALS, CAPITAL, CLAUSE, MIXED, POSSESSIVE, START, Token, hash};

/// Endings of German nouns that are no names.
const NOUN_ENDINGS: [&str; 14] = [
    "ung", "ungen", "heit", "heiten", "keit", "keiten", "schaft", "schaften", "tion", "tionen",
    "tät", "nis", "ismus", "ment",
];

/// Words before a name without an article.
const PLACES: &str = " in nach aus bei von zwischen bis gegen mit für ";

impl Extractor<'_> {
    /// Reads a name. Returns the number of its tokens.
    pub(crate) fn name(&mut self, at: usize) -> usize {
        let Some(token) = self.token(at) else { return 1 };
        let word = self.reading.word(token);
        if !token.is_word() || !(token.has(CAPITAL) || token.has(MIXED)) {
            return 1;
        }
        let is_listed = self.is(at, Role::Function) && !(token.has(ALL_CAPITALS) && word == "us");
        let is_title = self.is(at, Role::Title)
            && (self.token(at + 1).is_some_and(|next| next.has(CAPITAL))
                || !(at > 0 && self.is(at - 1, Role::Title)));
        if is_listed || is_title || word == "i" {
            return 1;
        }
        let strength = self.name_strength(at, token, word);
        self.push(
            (MarkKind::Name, NAME),
            hash(bare(name_stem(word)).as_bytes()),
            strength,
            at..at + 1,
        );
        let follows =
            self.facts.iter().rev().nth(1).is_some_and(|last| {
                last.axis == NAME && last.token + 1 == at && !token.has(CLAUSE)
            });
        if let Some(fact) = self.facts.last_mut() {
            fact.is_joined = follows;
            if follows && self.language == Language::German && fact.strength == Strength::Faint {
                fact.strength = Strength::Polar;
            }
        }
        1
    }

    fn name_strength(&self, at: usize, token: &Token, word: &str) -> Strength {
        let is_after_title = at > 0 && self.is(at - 1, Role::Title) && !token.has(CLAUSE);
        let is_known = self.is(at, Role::Known) && token.has(CAPITAL);
        if word.chars().count() == 1 {
            return Strength::Faint;
        }
        if is_known || token.has(MIXED) || is_after_title {
            return Strength::Strong;
        }
        if self.is_headline(at) {
            return Strength::Faint;
        }
        let (is_sure, is_likely) = match self.language {
            Language::German => (false, self.is_german_name(at, token, word)),
            _ => (!token.has(START), self.is_first_name(at, token, word)),
        };
        match (is_sure || token.has(ALL_CAPITALS), is_likely) {
            (true, _) => Strength::Strong,
            (_, true) => Strength::Polar,
            _ => Strength::Faint,
        }
    }

    /// Returns `true` in a line where all longer words have a capital.
    fn is_headline(&self, at: usize) -> bool {
        let starts = |at: &usize| self.token(*at).is_some_and(|token| token.has(START));
        let from = (at.saturating_sub(12)..=at).rev().find(starts).unwrap_or(at);
        let end = (at + 1..at + 12).find(|at| starts(at) || self.token(*at).is_none());
        let tokens = self.reading.tokens.get(from..end.unwrap_or(at + 12)).unwrap_or_default();
        let words = tokens.iter().filter(|token| token.is_word() && token.folded.len() > 3);
        let (capitals, small): (Vec<&Token>, Vec<&Token>) =
            words.partition(|token| token.has(CAPITAL));
        let shouted = tokens.iter().filter(|token| token.has(ALL_CAPITALS)).count();
        (capitals.len() > 2 && small.is_empty()) || shouted * 2 > tokens.len()
    }

    /// Returns `true` for a name at the beginning of a sentence: a noun without an article, and a
    /// verb in the singular.
    fn is_first_name(&self, at: usize, token: &Token, word: &str) -> bool {
        if self.node(at).is_some_and(super::lexicon::WordEntry::has_meaning) {
            return false;
        }
        let next = self.token(at + 1);
        let next_name = next.is_some_and(|next| {
            next.has(CAPITAL) && !next.has(START | CLAUSE) && !self.is(at + 1, Role::Function)
        });
        let is_verb = self.is_verb(at + 1, &["ed"]);
        let is_plain = ["s", "ly", "ing", "ed", "ion", "ity", "ness", "ment"];
        next_name
            || token.has(POSSESSIVE)
            || (is_verb && !is_plain.iter().any(|it| word.ends_with(it)))
    }

    /// Returns `true` for a verb in the singular, by the lists or by its ending.
    fn is_verb(&self, at: usize, endings: &[&str]) -> bool {
        let Some(token) = self.token(at).filter(|it| !it.has(CLAUSE | CAPITAL)) else {
            return false;
        };
        let word = self.reading.word(token);
        self.is(at, Role::Copula)
            || (self.lexicon.lemma(token).is_some() && !word.ends_with("en"))
            || endings.iter().any(|ending| word.ends_with(ending))
    }

    /// Returns `true` for a German noun without an article, before a verb in the singular or after
    /// another noun.
    fn is_german_name(&self, at: usize, token: &Token, word: &str) -> bool {
        if NOUN_ENDINGS.iter().any(|ending| word.ends_with(ending)) {
            return false;
        }
        let before = at.checked_sub(1).and_then(|at| self.token(at));
        if token.has(START) {
            return self.is_verb(at + 1, &["te"]) && !word.ends_with("en");
        }
        let Some(before) = before.filter(|_| !token.has(CLAUSE)) else { return false };
        let place = [" ", self.reading.word(before), " "].concat();
        let is_place = PLACES.contains(&place) && !word.ends_with(['e', 'n']);
        if is_place {
            return true;
        }
        before.has(CAPITAL)
            && before.is_word()
            && !self.is_unit(at - 1)
            && !self.is(at - 1, Role::Function)
            && !self.is(at - 1, Role::Month)
    }
}

/// Returns a name without the ending of a plural or genitive.
pub(crate) fn name_stem(word: &str) -> &str {
    let stem = word.strip_suffix('s').filter(|stem| stem.len() > 3 && !stem.ends_with('s'));
    stem.unwrap_or(word)
}
