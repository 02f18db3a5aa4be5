//! A text as people see it: its words without what is unseen, in one spelling of each letter.

use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;
use std::sync::LazyLock;

use copydesk_unseen_characters::is_unseen;
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

use super::kinds::Language;
use super::scanner::Scanner;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    /// A number in digits, with its separators.
    Digits,
    /// A sign that has a meaning, such as `%` or `§`.
    Symbol,
    /// Code, without its backticks.
    Code,
    /// An address, or a reference in brackets.
    Link,
}

/// The first letter is a capital.
pub(crate) const CAPITAL: u16 = 1;
/// All letters are capitals, and there are at least two.
pub(crate) const ALL_CAPITALS: u16 = 1 << 1;
/// A capital after the first letter, or a digit: `iPhone`, `A4`.
pub(crate) const MIXED: u16 = 1 << 2;
/// Written with characters that are unseen or look like others.
pub(crate) const HIDDEN: u16 = 1 << 3;
/// First word of a sentence.
pub(crate) const START: u16 = 1 << 4;
/// Nothing stands between the token and the one before it.
pub(crate) const GLUED: u16 = 1 << 5;
/// A comma, bracket or the like stands before it.
pub(crate) const CLAUSE: u16 = 1 << 6;
/// Inside parentheses.
pub(crate) const IN_PARENTHESES: u16 = 1 << 7;
/// A minus stands before the number.
pub(crate) const NEGATIVE: u16 = 1 << 8;
/// A full stop follows that ends no sentence.
pub(crate) const DOT: u16 = 1 << 9;
/// The number of an item of a list.
pub(crate) const ITEM: u16 = 1 << 10;
/// Followed by the `'s` of a possessive or of `is`.
pub(crate) const POSSESSIVE: u16 = 1 << 11;

/// A word, a number or a sign of a text.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    /// Place in the text, in bytes.
    pub place: Range<usize>,
    /// Place in [`Reading::folded`].
    pub folded: Range<usize>,
    /// Hash of the folded word.
    pub hash: u64,
    flags: u16,
}

impl Token {
    pub(crate) fn new(
        kind: TokenKind,
        place: Range<usize>,
        folded: Range<usize>,
        hash: u64,
        flags: u16,
    ) -> Self {
        Self { kind, place, folded, hash, flags }
    }

    pub(crate) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn add(&mut self, flag: u16) {
        self.flags |= flag;
    }

    pub(crate) fn is_word(&self) -> bool {
        self.kind == TokenKind::Word
    }
}

/// Words in quotation marks.
pub(crate) struct Quotation {
    /// Place in the text, without the quotation marks, in bytes.
    pub place: Range<usize>,
    /// Tokens of the words.
    pub tokens: Range<usize>,
}

/// A text as its tokens.
pub(crate) struct Reading<'a> {
    pub source: &'a str,
    /// Words in lower case, one after the other.
    pub folded: String,
    pub tokens: Vec<Token>,
    pub quotations: Vec<Quotation>,
}

impl<'a> Reading<'a> {
    pub(crate) fn of(source: &'a str, language: Language) -> Self {
        Scanner::new(source, language).read()
    }

    /// Returns the folded word of a token.
    pub(crate) fn word(&self, token: &Token) -> &str {
        self.folded.get(token.folded.clone()).unwrap_or_default()
    }
}

/// Value that the hash of a word begins with. It differs in each process, so that no text can be
/// made in which two words have one hash.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0_u64) | 1);

/// Hash that grows byte by byte, so that the hashes of all beginnings of a word are known.
#[derive(Clone, Copy)]
pub(crate) struct WordHash(u64);

impl WordHash {
    pub(crate) fn new() -> Self {
        Self(*SEED)
    }

    pub(crate) fn with(self, byte: u8) -> Self {
        let product =
            u128::from(self.0 ^ u64::from(byte).wrapping_add(1 << 32)) * 0x9e37_79b9_7f4a_7c15_u128;
        Self((product >> 64) as u64 ^ (product as u64) ^ *SEED)
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

/// Returns the hash of some bytes.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(WordHash::new(), |hash, byte| hash.with(*byte)).value()
}

/// Returns the hash of several hashes in their order.
pub(crate) fn joined(hashes: impl IntoIterator<Item = u64>) -> u64 {
    let bytes = hashes.into_iter().flat_map(u64::to_le_bytes);
    bytes.fold(WordHash::new(), WordHash::with).value()
}

/// First characters of the ten decimal digits in scripts that have their own.
const DIGITS: [u32; 24] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50,
    0xed0, 0xf20, 0x1040, 0x17e0, 0x1810, 0xff10, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6,
];

/// Apostrophes, which a word is read without.
pub(crate) const APOSTROPHES: [char; 3] = ['\'', '’', 'ʼ'];

/// Returns a digit of any script as one of ASCII.
pub(crate) fn digit(c: char) -> Option<char> {
    if c.is_ascii() {
        return c.is_ascii_digit().then_some(c);
    }
    let code = u32::from(c);
    let first = DIGITS.iter().find(|first| (**first..**first + 10).contains(&code))?;
    char::from_digit(code - first, 10)
}

/// Letters of other scripts that look like those of Latin, and what they look like.
const LOOK_ALIKES: &str = "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwӏlАAВBЕEКKМMНHОOРPСCТTХXУYІIЈJЅSкkмmтtнhвbзzпnгr\
     αaοoνvρpιiκkτtυuχxεeηnωwΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX\
     օoսuոnհhցgԼLՏSꓐBꓟMꓢSꓣRꓮAꓰEꓳOᴀaᴄcᴏoᴠvᴡwᴢzɑaɡgıiɪiℓl";

/// Returns the letter of Latin that a letter of another script looks like.
fn look_alike(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    let mut letters = LOOK_ALIKES.chars();
    while let (Some(alike), Some(latin)) = (letters.next(), letters.next()) {
        if alike == c {
            return Some(latin);
        }
    }
    None
}

/// Returns `true` for a letter of Latin with or without accents.
fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic() || (matches!(c, '\u{c0}'..='\u{24f}') && c.is_alphabetic())
}

/// Returns `true` for an accent and the like, which stands on the letter before it.
pub(crate) fn is_accent(c: char) -> bool {
    c >= '\u{300}' && is_combining_mark(c)
}

/// Returns the plain form of a character that is a variant of another one (`Ａ`, `𝐀`).
fn plain(c: char) -> Option<char> {
    matches!(c, '\u{ff00}'..='\u{ffef}' | '\u{1d400}'..='\u{1d7ff}' | '\u{2460}'..='\u{24ff}')
        .then(|| std::iter::once(c).nfkc().next())
        .flatten()
}

/// Appends a word in lower case, as people see it. Returns `true` if it is written with characters
/// that are unseen or look like others.
pub(crate) fn fold(word: &str, folded: &mut String) -> bool {
    if word.is_ascii() {
        let letters = word.chars().filter(|c| *c != '\'');
        folded.extend(letters.map(|c| c.to_ascii_lowercase()));
        return false;
    }
    let is_foreign = |c: char| !c.is_ascii() && !is_latin(c) && look_alike(c).is_some();
    let is_mixed = word.chars().any(is_latin) && word.chars().any(is_foreign);
    let mut is_hidden = false;
    let mut seen = String::with_capacity(word.len());
    for c in word.chars() {
        let shown = if is_mixed { look_alike(c) } else { None }.or_else(|| plain(c));
        is_hidden |= shown.is_some() || is_unseen(c);
        if !is_unseen(c) && !APOSTROPHES.contains(&c) {
            seen.push(shown.unwrap_or(c));
        }
    }
    let is_latin_word = seen.chars().any(is_latin) || seen.chars().any(|c| c.is_ascii_digit());
    for c in seen.nfc() {
        if is_accent(c) && is_latin_word {
            // An accent that makes no letter strikes another one through or covers it.
            is_hidden = true;
        } else if c == 'ß' {
            folded.push_str("ss");
        } else if c == 'œ' || c == 'Œ' {
            folded.push_str("oe");
        } else {
            folded.extend(c.to_lowercase());
        }
    }
    is_hidden
}
