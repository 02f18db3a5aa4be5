//! The words of a language that carry a meaning, read once from `data/`.
//!
//! A file has sections such as `[quantity frequency]`: a kind of marks, and an axis. Each line of a
//! section is a value on that axis with its synonyms, `often = often, frequently`. Two facts on one
//! axis are the same if they share a value. After the name, `!` says that the word counts on its
//! own, `~` that it does if the words around it stay, and `?` that it counts only against one that
//! does. Otherwise it counts against another value of its axis. In a synonym, `*` stands for any
//! ending, `...` for words between, `#` for a number before or after, and `^` for a capital. A line
//! of a section `[pairs ...]` is an axis of its own, with opposite values before and after `|`. A
//! line of `[equivalents]` has facts by axis and value that say the same as those after `|`. Other
//! sections are those of [`Role`].

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use super::kinds::{Language, MarkKind};
use super::reading::{CAPITAL, CLAUSE, Reading, Token, WordHash, joined};

mod reader;

/// Most letters of an ending that `*` stands for.
const LONGEST_ENDING: usize = 6;
/// Fewest letters of a word before `*`.
const SHORTEST_STEM: usize = 3;
/// Words within which the second part of a divided phrase stands.
const LONGEST_GAP: usize = 14;

/// Part of a word in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Carries a meaning of a kind.
    Mark(MarkKind),
    /// A number below a hundred, or an ordinal.
    Number,
    /// An article that is a number only before a multiplier.
    Article,
    /// A hundred, a thousand and so on.
    Multiplier,
    /// The lower part of a fraction.
    Denominator,
    Month,
    /// Follows a time of day.
    Clock,
    /// Decade of the twentieth century in words.
    Decade,
    /// Has no meaning of its own.
    Function,
    /// Typical of the language.
    Typical,
    /// Stands before a name.
    Title,
    /// Stands before a number that is a place in a text.
    Reference,
    Preposition,
    /// Stands before who acts, in a passive sentence.
    Agent,
    Coordinator,
    Copula,
    /// A name also at the beginning of a sentence.
    Known,
    /// A word that says the same as a negation of another one.
    Denial,
    /// A phrase whose words do not have their usual meaning.
    Filler,
}

/// Counterpart that a fact needs on the other side to be marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// One that is strong.
    Faint,
    /// Any other fact on its axis.
    Polar,
    /// Any other fact on its axis, or none if the words around it stay.
    Bound,
    /// None.
    Strong,
}

/// One meaning of a word or phrase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sense {
    pub role: Role,
    pub axis: u16,
    /// Bits of the values on the axis, or a number.
    pub value: u64,
    pub strength: Strength,
    number_before: bool,
    /// A number must follow.
    pub number_after: bool,
    capital: bool,
}

impl Sense {
    fn new(word: &str, role: Role, (axis, value): (u16, u64), strength: Strength) -> Self {
        let (number_before, number_after) = (word.starts_with('#'), word.ends_with('#'));
        let capital = word.starts_with('^');
        Self { role, axis, value, strength, number_before, number_after, capital }
    }
}

/// A word and the phrases that begin with it.
#[derive(Default)]
pub(crate) struct WordEntry {
    senses: Vec<Sense>,
    is_longer: bool,
    /// Second parts of divided phrases.
    gaps: Vec<(u64, Sense)>,
}

impl WordEntry {
    fn learn(&mut self, sense: Sense) {
        if !self.senses.contains(&sense) {
            self.senses.push(sense);
        }
    }

    /// Returns the number of a role that the word has.
    pub(crate) fn number(&self, role: Role) -> Option<f64> {
        self.sense(role).map(|sense| f64::from_bits(sense.value))
    }

    pub(crate) fn sense(&self, role: Role) -> Option<&Sense> {
        self.senses.iter().find(|sense| sense.role == role)
    }

    pub(crate) fn is(&self, role: Role) -> bool {
        self.sense(role).is_some()
    }

    /// Returns `true` if both words have a meaning on one axis.
    pub(crate) fn shares(&self, other: &Self) -> bool {
        let is_mark = |sense: &&Sense| matches!(sense.role, Role::Mark(_));
        self.senses
            .iter()
            .filter(is_mark)
            .any(|it| other.senses.iter().any(|that| that.axis == it.axis))
    }

    /// Returns `true` if one of the meanings fits.
    pub(crate) fn senses_any(&self, is: impl Fn(&Sense) -> bool) -> bool {
        self.senses.iter().any(is)
    }

    pub(crate) fn has_meaning(&self) -> bool {
        self.senses.iter().any(|sense| matches!(sense.role, Role::Mark(_)))
    }
}

/// A phrase that was found in a text.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    /// Number of tokens that follow each other.
    pub length: usize,
    /// The last token of a divided phrase.
    pub last: Option<usize>,
    senses: &'a [Sense],
    /// Meanings of all words with the same beginning.
    by_stem: &'a [Sense],
}

impl<'a> Found<'a> {
    pub(crate) fn senses(&self) -> impl Iterator<Item = &'a Sense> + use<'a> {
        let senses = self.senses;
        let is_new = move |sense: &&Sense| senses.iter().all(|it| it.axis != sense.axis);
        senses.iter().chain(self.by_stem.iter().filter(is_new))
    }

    /// Returns the meanings that hold where the phrase stands.
    pub(crate) fn meanings(
        &self,
        token: &Token,
        before: bool,
        after: bool,
    ) -> impl Iterator<Item = &'a Sense> + use<'a> {
        let is_capital = token.has(CAPITAL);
        self.senses().filter(move |sense| {
            (matches!(sense.role, Role::Mark(_) | Role::Filler))
                && (before || !sense.number_before)
                && (after || !sense.number_after)
                && (is_capital || !sense.capital)
        })
    }
}

/// Hasher of values that are hashes already.
#[derive(Default)]
pub(crate) struct NoHash(u64);

impl Hasher for NoHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

type ByHash<T> = HashMap<u64, T, BuildHasherDefault<NoHash>>;

/// All that is known about a language.
#[derive(Default)]
pub(crate) struct Lexicon {
    words: ByHash<WordEntry>,
    stems: ByHash<WordEntry>,
    /// Basic forms of irregular words.
    forms: ByHash<u64>,
    /// The beginnings of words in `stems`.
    stem_words: HashSet<String>,
    typical: HashSet<u64, BuildHasherDefault<NoHash>>,
    /// Beginnings or endings of words with opposite meanings, such as `un` and nothing.
    pub opposites: Vec<(String, String)>,
    axes: HashMap<String, (u16, Vec<String>)>,
    /// Facts that say the same together.
    pub equivalents: Vec<(Vec<FactPattern>, Vec<FactPattern>)>,
}

/// A fact by its axis and bits of values, and whether both sides have it and keep it.
pub(crate) type FactPattern = (u16, u64, bool);

/// Hash of the word that makes the next `que` another one.
static WHATEVER: LazyLock<u64> = LazyLock::new(|| super::reading::hash(b"quoi"));

/// Hash of a negation that no `que` turns into another one.
static NOT: LazyLock<u64> = LazyLock::new(|| super::reading::hash(b"pas"));

/// First number of the axes of the data; those below are of numbers, names and so on.
const FIRST_AXIS: u16 = 16;
/// Axis of negations, which is known to the comparison.
pub(crate) const NEGATION_AXIS: u16 = 15;

static LEXICONS: LazyLock<[Lexicon; 4]> = LazyLock::new(|| {
    let common = include_str!("../data/all_languages.txt");
    let read = |text: &str| {
        let mut lexicon = Lexicon::default();
        lexicon.read(common);
        lexicon.read(text);
        lexicon.read(include_str!("../data/equivalents.txt"));
        lexicon.join_stems();
        lexicon
    };
    [
        read(include_str!("../data/en.txt")),
        read(include_str!("../data/de.txt")),
        read(include_str!("../data/fr.txt")),
        read(include_str!("../data/other.txt")),
    ]
});

impl Lexicon {
    pub(crate) fn of(language: Language) -> &'static Self {
        let [english, german, french, other] = &*LEXICONS;
        match language {
            Language::English => english,
            Language::German => german,
            Language::French => french,
            Language::Other => other,
        }
    }

    pub(crate) fn is_typical(&self, word: u64) -> bool {
        self.typical.contains(&word)
    }

    /// Returns the basic form of an irregular word.
    pub(crate) fn lemma(&self, token: &Token) -> Option<u64> {
        self.forms.get(&token.hash).copied()
    }

    /// Returns the number of an axis of the data.
    pub(crate) fn axis(&self, name: &str) -> Option<u16> {
        self.axes.get(name).map(|(axis, _)| *axis)
    }

    /// Returns the bit of a value on an axis of the data.
    pub(crate) fn bit(&self, axis: &str, value: &str) -> u64 {
        let values = self.axes.get(axis).map_or(&[][..], |(_, values)| values);
        values.iter().position(|it| it == value).map_or(0, |at| 1 << (at % 64))
    }

    /// Returns `true` for a word that may have an opposite by its beginning or ending.
    pub(crate) fn may_have_opposite(&self, word: &str) -> bool {
        self.opposites.iter().any(|(this, _)| match this.strip_prefix('-') {
            Some(ending) => word.ends_with(ending),
            None => word.starts_with(this.as_str()),
        })
    }

    /// Returns `true` if the second word is the opposite of the first by its beginning or ending.
    pub(crate) fn are_opposite(&self, first: &str, second: &str) -> bool {
        let is_same = |first: &str, second: &str| {
            let (shorter, longer) =
                if first.len() < second.len() { (first, second) } else { (second, first) };
            let common = shorter.bytes().zip(longer.bytes()).take_while(|(a, b)| a == b).count();
            (first == second && common > 2)
                || (common > 4 && common + 2 >= shorter.len() && common + 4 >= longer.len())
        };
        self.opposites.iter().any(|(this, that)| {
            let that = that.trim_start_matches('-');
            match this.strip_prefix('-') {
                Some(ending) => first.strip_suffix(ending).is_some_and(|stem| {
                    second.strip_suffix(that).is_some_and(|other| stem == other && stem.len() > 2)
                }),
                None => first.strip_prefix(this.as_str()).is_some_and(|rest| {
                    // `unsatt`, `halbsatt`
                    let ends = |other: &str| {
                        this == "un"
                            && rest.len().min(other.len()) > 5
                            && (rest.ends_with(other) || other.ends_with(rest))
                    };
                    second.strip_prefix(that).is_some_and(|it| is_same(rest, it) || ends(it))
                }),
            }
        })
    }

    /// Returns what is known about a word, by itself or by its beginning.
    pub(crate) fn word(&self, reading: &Reading, token: &Token) -> Option<&WordEntry> {
        self.words.get(&token.hash).or_else(|| self.stem(reading.word(token)))
    }

    /// Returns what is known about a word of the language that is written in lower case.
    pub(crate) fn known(&self, word: &str) -> Option<&WordEntry> {
        self.words.get(&super::reading::hash(word.as_bytes())).or_else(|| self.stem(word))
    }

    fn stem(&self, word: &str) -> Option<&WordEntry> {
        let mut hash = WordHash::new();
        let mut found = None;
        for (index, byte) in word.bytes().enumerate().take(64) {
            hash = hash.with(byte);
            let length = index + 1;
            if length >= SHORTEST_STEM && length + LONGEST_ENDING >= word.len() {
                found = self.stems.get(&hash.value()).or(found);
            }
        }
        found
    }

    /// Returns the longest phrase that begins at a token.
    pub(crate) fn find<'a>(
        &'a self,
        reading: &Reading,
        node: &'a WordEntry,
        at: usize,
    ) -> Option<Found<'a>> {
        let tokens = &reading.tokens;
        let (mut best, mut length) = (node, 1);
        let mut path = tokens.get(at)?.hash;
        let mut longer = node.is_longer;
        let mut offset = 1;
        while longer && let Some(token) = tokens.get(at + offset) {
            path = joined([path, token.hash]);
            let Some(next) = self.words.get(&path) else { break };
            offset += 1;
            longer = next.is_longer;
            if !next.senses.is_empty() {
                (best, length) = (next, offset);
            }
        }
        if length == 1
            && let Some((last, part)) = Self::gap(tokens, node, at)
        {
            let senses = std::slice::from_ref(part);
            return Some(Found { length: 1, last: Some(last), senses, by_stem: &[] });
        }
        let stem = (length == 1).then(|| self.stem(reading.word(tokens.get(at)?))).flatten();
        let by_stem =
            stem.filter(|stem| !std::ptr::eq(*stem, best)).map_or(&[][..], |it| &it.senses);
        let is_found = !(best.senses.is_empty() && by_stem.is_empty());
        is_found.then_some(Found { length, last: None, senses: &best.senses, by_stem })
    }

    /// Returns a word without the phrases that begin with it.
    pub(crate) fn alone<'a>(&'a self, node: &'a WordEntry, word: &str) -> Found<'a> {
        let stem = self.stem(word).filter(|stem| !std::ptr::eq(*stem, node));
        let by_stem = stem.map_or(&[][..], |it| &it.senses);
        Found { length: 1, last: None, senses: &node.senses, by_stem }
    }

    /// Returns the nearest second part of a divided phrase.
    fn gap<'a>(tokens: &[Token], node: &'a WordEntry, at: usize) -> Option<(usize, &'a Sense)> {
        let near = tokens.iter().enumerate().skip(at + 1).take(LONGEST_GAP);
        for (index, token) in near {
            // `quoi que ce soit`
            let is_other = tokens.get(index - 1).is_some_and(|before| before.hash == *WHATEVER);
            if token.has(CLAUSE) || is_other {
                return None;
            }
            let ends = |token: &Token| node.gaps.iter().find(|(last, _)| *last == token.hash);
            if let Some((_, sense)) = ends(token) {
                // `ne reste plus que`
                let next = tokens.get(index + 1).filter(|next| !next.has(CLAUSE));
                // `ne faut pas que`
                let next = next.filter(|_| token.hash != *NOT).and_then(ends);
                return Some(next.map_or((index, sense), |(_, sense)| (index + 1, sense)));
            }
        }
        None
    }
}
