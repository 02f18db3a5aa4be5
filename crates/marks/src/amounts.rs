//! Numbers with their units, dates, and numbered parts of a text.

#![expect(clippy::cast_sign_loss, reason = "numbers of the lists are small and whole")]

use std::ops::Range;

use super::dates::roman;
use super::extract::{DATE, Extractor, LINK, NUMBER, number_value};
use super::kinds::{Language, MarkKind};
use super::lexicon::{Role, Sense, Strength};
use super::numbers::is_ordinal;
use super::reading::{
    CAPITAL, CLAUSE, GLUED, IN_PARENTHESES, ITEM, NEGATIVE, START, Token, TokenKind, hash, joined,
};

/// Ends of German adjectives of duration, with the unit that they mean.
const UNITS_IN_WORDS: [(&str, &str); 7] = [
    ("stund", "stunde"),
    ("monatig", "monat"),
    ("jährig", "jahr"),
    ("tägig", "tag"),
    ("wöchig", "woche"),
    ("stündig", "stunde"),
    ("minütig", "minute"),
];

impl Extractor<'_> {
    /// Reads a numbered part of a text: `Figure 3`, `§ 12`, `Chapter IV`.
    pub(crate) fn reference(&mut self, at: usize) -> Option<usize> {
        let found = self.lexicon.find(self.reading, self.node(at)?, at)?;
        let sense = found.senses().find(|sense| sense.role == Role::Reference)?;
        let place = at + found.length;
        let token = self.token(place)?;
        let word = self.word_at(place)?;
        let is_letter = word.len() == 1 && token.has(CAPITAL) && !token.has(START | CLAUSE);
        let is_word = || self.is(place, Role::Number).then(|| self.numeral(place)).flatten();
        let number = match roman(word).filter(|_| token.has(CAPITAL)) {
            Some(value) => value.to_string(),
            None if token.kind == TokenKind::Digits || is_letter => word.to_owned(),
            None => is_word()?.value.to_string(),
        };
        // `Figure 3b`, `Lemma A.3`
        let letter = self.token(place + 1).filter(|it| {
            (it.has(GLUED) && it.is_word() && it.folded.len() == 1)
                || (is_letter
                    && it.kind == TokenKind::Digits
                    && it.place.start <= token.place.end + 1)
        });
        let length = found.length + 1 + usize::from(letter.is_some());
        let suffix = letter.map_or(0, |letter| letter.hash);
        let value = joined([sense.value, hash(number.as_bytes()), suffix]);
        let kind = if self.is(place, Role::Number) { MarkKind::Number } else { MarkKind::Link };
        self.push_strong((kind, LINK), value, at..at + length);
        Some(length)
    }

    /// Reads a date or a time of day.
    pub(crate) fn dated(&mut self, at: usize) -> Option<usize> {
        if let Some(((day, month, year), length)) = self.date(at) {
            let value = joined([day, month, year].map(u64::from));
            self.push_strong((MarkKind::Date, DATE), value, at..at + length);
            return Some(length);
        }
        if let Some((time, length)) = self.time(at) {
            let value = number_value(time);
            self.push_strong((MarkKind::Date, NUMBER), value, at..at + length);
            return Some(length);
        }
        let (decade, length) = self.decade(at)?;
        self.push_strong((MarkKind::Date, DATE), joined([decade]), at..at + length);
        Some(length)
    }

    fn decade(&self, at: usize) -> Option<(u64, usize)> {
        if let Some(decade) = self.node(at)?.number(Role::Decade) {
            return Some((1900 + decade as u64, 1));
        }
        None
    }

    /// Reads a number with its unit.
    pub(crate) fn number(&mut self, at: usize) -> Option<usize> {
        let token = self.token(at)?;
        if token.kind == TokenKind::Digits && token.has(ITEM) {
            return Some(1);
        }
        if let Some(value) = self.roman_numeral(at) {
            self.push_strong((MarkKind::Number, NUMBER), number_value(value), at..at + 1);
            return Some(1);
        }
        // `twice as many`, `one or more`
        if let Some(node) = self.node(at).filter(|node| node.is(Role::Number))
            && let Some(phrase) = self.lexicon.find(self.reading, node, at)
            && phrase.length > 1
            && phrase.meanings(token, true, true).next().is_some()
        {
            return None;
        }
        if let Some(length) = self.unit_and_half(at).or_else(|| self.unit_in_word(at)) {
            return Some(length);
        }
        let Some(numeral) = self.numeral(at) else {
            return (token.kind == TokenKind::Digits).then(|| self.text_number(at));
        };
        if let Some(decade) = self.written_decade(at, numeral.value) {
            return Some(decade);
        }
        let sign = if token.has(NEGATIVE) { -1.0 } else { 1.0 };
        let value = numeral.value * sign;
        let end = at + numeral.length;
        let kind = self.number_kind(at, end);
        // `1 h`, `une heure`
        let is_one = number_value(value) == number_value(1.0) && self.is_unit(end);
        let strength = if numeral.is_faint || is_one { Strength::Faint } else { Strength::Strong };
        self.push((kind, NUMBER), number_value(value), strength, at..end);
        if numeral.is_faint {
            return Some(self.phrase(at).unwrap_or(numeral.length));
        }
        let length = numeral.length + self.unit(at, end, value);
        if value.fract() != 0.0
            && let Some(fact) = self.facts.last_mut().filter(|it| it.token == at)
        {
            // `a fifth` is `20 %`.
            fact.amount =
                self.lexicon.axis("share").map(|axis| (axis, number_value(value * 100.0)));
        }
        Some(length)
    }

    /// Reads `an hour and a half`.
    fn unit_and_half(&mut self, at: usize) -> Option<usize> {
        let (half, more) = self.and_a_half(at + 2);
        let value = self.plain_number(at).filter(|_| more > 0)? + half;
        let sense = *self.node(at + 1)?.sense(Role::Mark(MarkKind::Unit))?;
        self.push_strong((MarkKind::Number, NUMBER), number_value(value), at..at + 2 + more);
        self.attach(at, value, &sense);
        self.push_strong((MarkKind::Unit, sense.axis), sense.value, at + 1..at + 2);
        if let Some(fact) = self.facts.last_mut() {
            fact.owner = at;
        }
        Some(2 + more)
    }

    /// Reads the number and the unit of a German adjective: `dreimonatig`.
    fn unit_in_word(&mut self, at: usize) -> Option<usize> {
        let word = self.word_at(at).filter(|_| self.language == Language::German)?;
        let stem = word.trim_end_matches(['e', 'n', 'r', 's', 'm']);
        let find =
            |(ending, unit): &(&str, &'static str)| Some((stem.strip_suffix(ending)?, *unit));
        let (number, unit) = UNITS_IN_WORDS.iter().find_map(find)?;
        let value = self.compound(number).or_else(|| {
            let node = self.lexicon.known(number)?;
            let part = || node.number(Role::Denominator).map(f64::recip);
            node.number(Role::Number).or_else(|| node.number(Role::Article)).or_else(part)
        })?;
        let sense = *self.lexicon.known(unit)?.sense(Role::Mark(MarkKind::Unit))?;
        self.push_strong((MarkKind::Number, NUMBER), number_value(value), at..at + 1);
        self.attach(at, value, &sense);
        self.push_strong((MarkKind::Unit, sense.axis), sense.value, at..at + 1);
        Some(1)
    }

    /// Appends a number that is compared as it is written.
    fn text_number(&mut self, at: usize) -> usize {
        let value = self.token(at).map_or(0, |token| token.hash);
        self.push_strong((MarkKind::Number, NUMBER), value, at..at + 1);
        1
    }

    /// Reads `1980s`, `'80s` and `1980er`.
    fn written_decade(&mut self, at: usize, value: f64) -> Option<usize> {
        let end = self.token(at)?.place.end;
        let is_near = |it: &&Token| it.has(GLUED) || self.is_apostrophe(end..it.place.start);
        let ending = self.token(at + 1).filter(is_near)?;
        if !matches!(self.reading.word(ending), "s" | "er") || value % 10.0 != 0.0 {
            return None;
        }
        let decade = if value < 100.0 { value + 1900.0 } else { value };
        self.push_strong((MarkKind::Date, DATE), joined([decade as u64]), at..at + 2);
        Some(2)
    }

    fn is_apostrophe(&self, place: Range<usize>) -> bool {
        matches!(self.reading.source.get(place), Some("'" | "’"))
    }

    /// Returns the kind of a number: a year is a date, and so is the year of a citation a link.
    fn number_kind(&self, at: usize, end: usize) -> MarkKind {
        let word = self.word_at(at).unwrap_or_default();
        let is_year = word.len() == 4
            && word.parse::<u32>().is_ok_and(|year| (1000..=2100).contains(&year))
            && !self.is_unit(end);
        if !is_year {
            let is_day = self.is(end, Role::Mark(MarkKind::Date)) && is_ordinal(word);
            return if is_day { MarkKind::Date } else { MarkKind::Number };
        }
        let token = self.token(at);
        let is_inside = token.is_some_and(|token| token.has(IN_PARENTHESES));
        let before = at.checked_sub(1).and_then(|at| self.token(at));
        let is_cited = before.is_some_and(|it| it.has(CAPITAL) || self.reading.word(it) == "al");
        if is_inside && is_cited {
            return MarkKind::Link;
        }
        let is_counted =
            self.token(end).is_some_and(|next| next.is_word() && !next.has(CLAUSE | START))
                && !self.is(end, Role::Function);
        let follows =
            at > 0 && (self.is(at - 1, Role::Preposition) || self.is(at - 1, Role::Function));
        if is_counted && !follows { MarkKind::Number } else { MarkKind::Date }
    }

    /// Reads the unit after a number. Returns the number of its tokens.
    fn unit(&mut self, owner: usize, mut at: usize, number: f64) -> usize {
        let start = at;
        // `half a metre`, `a quarter of an hour`
        if number < 1.0 {
            at += usize::from(matches!(self.word_at(at), Some("of" | "d")));
            at += usize::from(matches!(self.word_at(at), Some("a" | "an")));
        }
        let found = self.node(at).and_then(|node| self.lexicon.find(self.reading, node, at));
        let Some(found) = found.filter(|_| !self.token(at).is_some_and(|it| it.has(CLAUSE))) else {
            return 0;
        };
        let role = Role::Mark(MarkKind::Unit);
        // `2013 s'est` has no second.
        let next = self.token(at).map_or(0, |token| token.place.end);
        if [1, '’'.len_utf8()].iter().any(|it| self.is_apostrophe(next..next + it)) {
            return 0;
        }
        let Some(sense) = found.senses().find(|sense| sense.role == role) else { return 0 };
        self.attach(owner, number, sense);
        self.push_strong((MarkKind::Unit, sense.axis), sense.value, at..at + found.length);
        if let Some(fact) = self.facts.last_mut() {
            fact.owner = owner;
        }
        at + found.length - start
    }

    /// Adds the amount in the basic unit to the number that was read last.
    fn attach(&mut self, owner: usize, number: f64, sense: &Sense) {
        let factor = f64::from_bits(sense.value);
        if let Some(fact) = self.facts.last_mut().filter(|fact| fact.token == owner && factor > 0.0)
        {
            fact.amount = Some((sense.axis, number_value(number * factor)));
        }
    }

    pub(crate) fn is_money(&self, at: usize) -> bool {
        let is_symbol = self.token(at).is_some_and(|token| token.kind == TokenKind::Symbol);
        is_symbol && self.token(at + 1).is_some_and(|token| token.kind == TokenKind::Digits)
    }

    /// A unit before its number counts on its own, any other one against another unit.
    pub(crate) fn unit_alone(&mut self, end: usize, number_after: bool) {
        if let Some(fact) = self.facts.last_mut() {
            fact.strength = if number_after { Strength::Strong } else { Strength::Polar };
            fact.owner = if number_after { end } else { fact.token };
        }
    }
}
