//! The facts of a passage: what it says, in a form that does not depend on how it is written.

use std::borrow::Cow;
use std::ops::Range;

use super::kinds::{Language, MarkKind};
use super::lexicon::{Lexicon, NEGATION_AXIS, Role, Sense, Strength, WordEntry};
use super::reading::{
    ALL_CAPITALS, CAPITAL, CLAUSE, HIDDEN, Reading, START, Token, TokenKind, hash, joined,
};

/// Axes of facts that are in no list.
pub(crate) const NUMBER: u16 = 0;
pub(crate) const DATE: u16 = 1;
pub(crate) const NAME: u16 = 2;
pub(crate) const QUOTE: u16 = 3;
pub(crate) const LINK: u16 = 4;
pub(crate) const CODE: u16 = 5;

/// Beginnings of German verbs that are no prepositions.
const VERB_PREFIXES: &str = " ein her hin fest zurück weiter bereit teil statt frei ";
/// Role of units.
const UNIT: Role = Role::Mark(MarkKind::Unit);

/// Something that a passage says.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub kind: MarkKind,
    /// Facts are compared on one axis.
    pub axis: u16,
    /// Hash or number if the fact is exact, and bits of values otherwise.
    pub value: u64,
    pub is_exact: bool,
    pub strength: Strength,
    /// Place in the text, in bytes.
    pub place: Range<usize>,
    /// First token.
    pub token: usize,
    /// Token after the last one.
    pub end: usize,
    /// Token of the number that a unit belongs to.
    pub owner: usize,
    /// Axis of the unit, and the number in its basic unit.
    pub amount: Option<(u16, u64)>,
    /// Written with characters that are unseen or look like others.
    pub is_hidden: bool,
    /// The token before it belongs to the same name.
    pub is_joined: bool,
}

impl Fact {
    /// Returns `true` if both facts say the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_equal =
            if self.is_exact { self.value == other.value } else { self.value & other.value != 0 };
        self.axis == other.axis && is_equal
    }
}

/// Returns a number as the value of a fact. Errors of calculation in the last digits do not count.
pub(crate) fn number_value(number: f64) -> u64 {
    number.to_bits().wrapping_add(1 << 7) >> 8
}

/// Returns a word without the accent of its first letter, which capitals are often written without.
pub(crate) fn bare(word: &str) -> Cow<'_, str> {
    let plain = match word.chars().next() {
        Some('é' | 'è' | 'ê') => "e",
        Some('à' | 'â') => "a",
        Some('ç') => "c",
        Some('î') => "i",
        Some('ô') => "o",
        _ => return Cow::Borrowed(word),
    };
    Cow::Owned([plain, word.get(2..).unwrap_or_default()].concat())
}

/// Reads the facts of a passage, token by token.
pub(crate) struct Extractor<'a> {
    pub reading: &'a Reading<'a>,
    pub lexicon: &'a Lexicon,
    pub language: Language,
    nodes: Vec<Option<&'a WordEntry>>,
    used: Vec<bool>,
    pub facts: Vec<Fact>,
}

/// Returns the facts of a passage, in the order of the text.
pub(crate) fn facts(reading: &Reading, lexicon: &Lexicon, language: Language) -> Vec<Fact> {
    let nodes = reading.tokens.iter().map(|token| match token.kind {
        TokenKind::Word | TokenKind::Symbol => lexicon.word(reading, token),
        _ => None,
    });
    let mut extractor = Extractor {
        reading,
        lexicon,
        language,
        nodes: nodes.collect(),
        used: vec![false; reading.tokens.len()],
        facts: Vec::with_capacity(reading.tokens.len() / 2),
    };
    extractor.quotations();
    let mut at = 0;
    while at < reading.tokens.len() {
        at += extractor.token_facts(at).max(1);
    }
    extractor.join_denied();
    extractor.facts
}

impl<'a> Extractor<'a> {
    /// Makes what must not be and what may not be the same.
    fn join_denied(&mut self) {
        let Some(axis) = self.lexicon.axis("modal") else { return };
        let (must, may) = (self.lexicon.bit("modal", "must"), self.lexicon.bit("modal", "permit"));
        let nodes = &self.nodes;
        let is_denial = |at: usize| {
            let node = nodes.get(at).copied().flatten();
            node.is_some_and(|it| it.senses_any(|sense| sense.axis == NEGATION_AXIS))
        };
        for fact in
            self.facts.iter_mut().filter(|it| it.axis == axis && it.value & (must | may) > 0)
        {
            if is_denial(fact.end) || fact.token.checked_sub(1).is_some_and(is_denial) {
                fact.value |= must | may;
            }
        }
    }

    pub(crate) fn token(&self, at: usize) -> Option<&'a Token> {
        self.reading.tokens.get(at)
    }

    pub(crate) fn node(&self, at: usize) -> Option<&'a WordEntry> {
        self.nodes.get(at).copied().flatten()
    }

    pub(crate) fn word_at(&self, at: usize) -> Option<&'a str> {
        self.token(at).map(|token| self.reading.word(token))
    }

    pub(crate) fn is(&self, at: usize, role: Role) -> bool {
        self.node(at).is_some_and(|node| node.is(role))
    }

    pub(crate) fn is_unit(&self, at: usize) -> bool {
        self.is(at, Role::Mark(MarkKind::Unit))
    }

    /// Appends an exact fact about some tokens.
    pub(crate) fn push(
        &mut self,
        (kind, axis): (MarkKind, u16),
        value: u64,
        strength: Strength,
        tokens: Range<usize>,
    ) {
        let Some(all) = self.reading.tokens.get(tokens.clone()) else { return };
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return };
        self.facts.push(Fact {
            kind,
            axis,
            value,
            is_exact: true,
            strength,
            place: first.place.start..last.place.end.max(first.place.end),
            token: tokens.start,
            end: tokens.end,
            owner: tokens.start,
            amount: None,
            is_hidden: all.iter().any(|token| token.has(HIDDEN)),
            is_joined: false,
        });
    }

    pub(crate) fn push_strong(&mut self, kind: (MarkKind, u16), value: u64, tokens: Range<usize>) {
        self.push(kind, value, Strength::Strong, tokens);
    }

    fn quotations(&mut self) {
        for quotation in &self.reading.quotations {
            let tokens = self.reading.tokens.get(quotation.tokens.clone()).unwrap_or_default();
            let word = |token: &Token| hash(bare(self.reading.word(token)).as_bytes());
            let hashes = tokens.iter().map(|it| if it.has(CAPITAL) { word(it) } else { it.hash });
            let value = joined(hashes);
            let kind = (MarkKind::Quote, QUOTE);
            self.push_strong(kind, value, quotation.tokens.clone());
            if let Some(fact) = self.facts.last_mut() {
                fact.place = quotation.place.clone();
            }
        }
    }

    /// Reads the facts that begin at a token. Returns the number of tokens that they take.
    fn token_facts(&mut self, at: usize) -> usize {
        let Some(token) = self.token(at).filter(|_| !self.used.get(at).is_some_and(|it| *it))
        else {
            return 1;
        };
        match token.kind {
            TokenKind::Code => {
                let code = self.reading.source.get(token.place.clone()).unwrap_or_default();
                self.push_strong((MarkKind::Code, CODE), hash(code.as_bytes()), at..at + 1);
                1
            }
            TokenKind::Link => {
                let target: String = self.reading.word(token).split(' ').collect();
                let value = hash(target.replace('–', "-").as_bytes());
                self.push_strong((MarkKind::Link, LINK), value, at..at + 1);
                1
            }
            _ => self
                .reference(at)
                .or_else(|| self.dated(at))
                .or_else(|| self.number(at))
                .or_else(|| self.bare_negation(at))
                .or_else(|| self.phrase(at))
                .or_else(|| self.duty(at))
                .or_else(|| self.conditional(at))
                .unwrap_or_else(|| self.name(at)),
        }
    }

    /// Reads a word or phrase of the lists.
    pub(crate) fn phrase(&mut self, at: usize) -> Option<usize> {
        let token = self.token(at)?;
        let node = self.node(at)?;
        let mut found = self.lexicon.find(self.reading, node, at)?;
        let end = at + found.length;
        // `les deux tiers`
        if found.length > 1 && self.is(end - 1, Role::Number) && self.is(end, Role::Denominator) {
            return None;
        }
        let is_titled = at > 0 && self.is(at - 1, Role::Title) && token.has(CAPITAL);
        if (is_titled || self.is_name_in_lists(token, node)) && found.length == 1 {
            return None;
        }
        // `fährt ab`
        let is_last = self.token(end).is_none_or(|next| next.has(CLAUSE | START))
            || self.is(end, Role::Coordinator);
        let is_time = |sense: &Sense| Some(sense.axis) == self.lexicon.axis("time");
        let is_separable =
            self.language == Language::German && self.is_verb_prefix(self.reading.word(token));
        if found.length == 1 && is_last && is_separable && node.senses_any(is_time) {
            return None;
        }
        // `ab 1. April` is no bound.
        let is_digits = self.token(end).is_some_and(|it| it.kind == TokenKind::Digits)
            && self.date(end).is_none();
        let number_after = is_digits
            || (found.senses().any(|sense| sense.number_after || sense.role == UNIT)
                && ((self.numeral(end).is_some() && self.date(end).is_none())
                    || self.is_money(end)));
        let number_before =
            at > 0 && self.token(at - 1).is_some_and(|it| it.kind == TokenKind::Digits);
        let mut length = None;
        // `higher than` with a number is a bound, without one it begins with `higher`.
        let mut meanings = found.meanings(token, number_before, number_after).peekable();
        let alone = self.lexicon.alone(node, self.reading.word(token));
        let mut single = alone.meanings(token, number_before, number_after).peekable();
        if meanings.peek().is_none() && single.peek().is_some() {
            (found, meanings) = (alone, single);
        }
        let end = at + found.length;
        for sense in meanings {
            length = Some(found.length);
            if let Role::Mark(kind) = sense.role {
                self.push_sense(kind, sense, at..end);
                if kind == MarkKind::Unit {
                    let is_code = token.kind == TokenKind::Symbol || token.has(ALL_CAPITALS);
                    self.unit_alone(end, number_after && is_code);
                }
            }
        }
        if let Some(last) = found.last.filter(|_| length.is_some()) {
            // `only` belongs to what follows the second word, a negation to the verb.
            if let Some(fact) = self.facts.last_mut().filter(|it| it.axis != NEGATION_AXIS) {
                fact.end = last + 1;
            }
            if let Some(used) = self.used.get_mut(last) {
                *used = true;
            }
        }
        length
    }

    /// Reads the German infinitive of a duty, whose `zu` is inside the word: `einzureichen`.
    fn duty(&mut self, at: usize) -> Option<usize> {
        let word = self.word_at(at).filter(|_| self.language == Language::German)?;
        let (prefix, verb) = word.split_once("zu").filter(|(prefix, _)| prefix.len() >= 2)?;
        let from = (at.saturating_sub(16)..=at)
            .rev()
            .find(|at| self.token(*at).is_some_and(|token| token.has(START)));
        let has = |at: usize| {
            matches!(self.word_at(at), Some("ist" | "sind" | "war" | "waren" | "hat" | "haben"))
        };
        let is_infinitive = verb.len() > 4
            && verb.ends_with('n')
            && self.is_verb_prefix(prefix)
            && (from.unwrap_or(at.saturating_sub(16))..at).any(has);
        let sense = self.lexicon.known("muss")?.sense(Role::Mark(MarkKind::Modality))?;
        is_infinitive.then(|| {
            self.push_sense(MarkKind::Modality, sense, at..at + 1);
            if let Some(fact) = self.facts.last_mut() {
                fact.strength = Strength::Polar;
            }
            1
        })
    }

    /// Reads the French conditional, by which a report is doubted: `il viendrait`.
    fn conditional(&mut self, at: usize) -> Option<usize> {
        let word = self.word_at(at).filter(|_| self.language == Language::French)?;
        let stem = word.strip_suffix("rait").or_else(|| word.strip_suffix("raient"))?;
        let sense = self.lexicon.known("serait")?.sense(Role::Mark(MarkKind::Modality))?;
        (stem.len() > 2 && !stem.ends_with(['t', 'o', 'a'])).then(|| {
            self.push_sense(MarkKind::Modality, sense, at..at + 1);
            1
        })
    }

    /// Reads the French negation of one word: `il ne peut venir`, `on ne saurait dire`.
    fn bare_negation(&mut self, at: usize) -> Option<usize> {
        let word = self.word_at(at).filter(|_| self.language == Language::French)?;
        let verb = self.word_at(at + 1).filter(|_| matches!(word, "ne" | "n"))?;
        let is_bare = ["peu", "pouv", "pourr", "puis", "sau", "sach", "cess", "ose", "osa"];
        let others = ["pas", "plus", "jamais", "rien", "guère", "que", "qu", "y", "en", "l"];
        let is_alone = is_bare.iter().any(|it| verb.starts_with(it))
            && !self.word_at(at + 2).is_some_and(|it| others.contains(&it))
            // `ne peut céder qu'avec`
            && !(at + 3..at + 14).any(|at| {
                matches!(self.word_at(at), Some("que" | "qu")) && self.is(at + 1, Role::Preposition)
            });
        let sense = self.lexicon.known("sans")?.sense(Role::Mark(MarkKind::Negation))?;
        is_alone.then(|| {
            self.push_sense(MarkKind::Negation, sense, at..at + 1);
            1
        })
    }

    fn is_verb_prefix(&self, word: &str) -> bool {
        self.lexicon.known(word).is_some_and(|node| node.is(Role::Preposition))
            || VERB_PREFIXES.contains(&[" ", word, " "].concat())
    }

    /// Returns `true` for a capital in a sentence, which makes a word of the lists a name.
    fn is_name_in_lists(&self, token: &Token, node: &WordEntry) -> bool {
        let is_name = token.has(CAPITAL) && !token.has(START) && self.language != Language::German;
        let is_plain = node.is(Role::Function)
            || node.senses_any(|sense| {
                matches!(sense.role, Role::Mark(MarkKind::Date | MarkKind::Unit | MarkKind::Name))
            });
        is_name && !is_plain && !token.has(ALL_CAPITALS)
    }

    fn push_sense(&mut self, kind: MarkKind, sense: &Sense, tokens: Range<usize>) {
        // `personne n'a rien dit` has one negation in several words.
        let is_first = kind == MarkKind::Quantity
            && sense.strength != Strength::Faint
            && self.token(tokens.start).is_some_and(|token| token.has(START));
        // A party of a contract is named by its role: `the Supplier`.
        let is_party = kind == MarkKind::Name
            && self.language != Language::German
            && self.token(tokens.start).is_some_and(|it| it.has(CAPITAL) && !it.has(START));
        let strength = if is_first || is_party { Strength::Strong } else { sense.strength };
        let is_again = self.language == Language::French && sense.axis == NEGATION_AXIS;
        let near = |fact: &Fact| {
            let is_subject = matches!(
                self.word_at(fact.token),
                Some("aucun" | "aucune" | "personne" | "rien" | "nul" | "nulle" | "jamais")
            );
            let reach = if is_subject { 5 } else { 1 };
            fact.axis == sense.axis && fact.end + reach >= tokens.start
        };
        if is_again && self.facts.last().is_some_and(near) {
            return;
        }
        self.push((kind, sense.axis), sense.value, strength, tokens);
        if let Some(fact) = self.facts.last_mut() {
            fact.is_exact = kind == MarkKind::Unit;
        }
    }
}
