//! The scanner that divides Markdown into tokens, once from the beginning to the end.

use std::ops::Range;

use copydesk_unseen_characters::is_unseen;

use super::kinds::Language;
use super::reading::{
    ALL_CAPITALS, APOSTROPHES, CAPITAL, CLAUSE, DOT, GLUED, HIDDEN, IN_PARENTHESES, ITEM, MIXED,
    NEGATIVE, POSSESSIVE, Quotation, Reading, START, Token, TokenKind, digit, fold, hash,
    is_accent,
};

mod digits;
mod markup;

/// Signs that are tokens of their own.
const SYMBOLS: &str = "%‰°$€£¥₹§&<>≤≥≈±×²³";
/// Quotation marks that open, and those that close them.
const QUOTES: [(char, &str); 8] = [
    ('"', "\"“”"),
    ('“', "”\"“"),
    ('„', "“”\""),
    ('«', "»"),
    ('»', "«"),
    ('‹', "›"),
    ('‘', "’'"),
    ('\'', "'’"),
];
/// Words of two and more letters after which a full stop ends no sentence.
const SHORTENED: [&str; 16] = [
    "mrs", "fig", "vol", "prof", "sen", "gen", "gov", "abb", "art", "abs", "tab", "sec", "approx",
    "bzw", "mme", "inkl",
];
/// Beginnings of French words that an apostrophe divides from the next word.
const ELISIONS: [&str; 13] =
    ["l", "d", "j", "n", "s", "c", "m", "t", "qu", "jusqu", "lorsqu", "puisqu", "quelqu"];

struct OpenQuote {
    closers: &'static str,
    is_single: bool,
    from: usize,
    token: usize,
}

/// A place in a text, and what was read before it.
pub(crate) struct Scanner<'a> {
    source: &'a str,
    at: usize,
    language: Language,
    reading: Reading<'a>,
    quote: Option<OpenQuote>,
    /// Flags of the next token.
    next: u16,
    /// The order of the characters is turned around.
    is_turned: bool,
    parentheses: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(source: &'a str, language: Language) -> Self {
        let folded = String::with_capacity(source.len() + 8);
        let tokens = Vec::with_capacity(source.len() / 5 + 4);
        let reading = Reading { source, folded, tokens, quotations: Vec::new() };
        let next = START | CLAUSE;
        Self {
            source,
            at: 0,
            language,
            reading,
            quote: None,
            next,
            is_turned: false,
            parentheses: 0,
        }
    }

    pub(crate) fn read(mut self) -> Reading<'a> {
        self.line_start();
        while let Some(c) = self.peek() {
            if !self.markup(c) {
                self.character(c);
            }
        }
        self.reading
    }

    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn previous(&self) -> Option<char> {
        self.source.get(..self.at).and_then(|before| before.chars().next_back())
    }

    /// Reads one character outside of links and code, or the word that begins with it.
    fn character(&mut self, c: char) {
        if digit(c).is_some() || is_fraction(c) {
            return self.digits();
        }
        if c.is_alphabetic() && !is_unseen(c) {
            return self.word();
        }
        let after = self.rest().get(c.len_utf8()..).unwrap_or_default();
        if self.quotation(c, after) {
            return;
        }
        self.at += c.len_utf8();
        match c {
            '\n' => {
                self.is_turned = false;
                self.line_start();
            }
            '\u{202a}'..='\u{202b}' | '\u{202d}'..='\u{202e}' | '\u{2066}'..='\u{2068}' => {
                self.is_turned = true;
            }
            '\u{202c}' | '\u{2069}' => self.is_turned = false,
            _ if is_unseen(c) => self.next |= HIDDEN,
            _ if SYMBOLS.contains(c) => {
                self.push(TokenKind::Symbol, self.at - c.len_utf8()..self.at);
            }
            _ => self.sign(c, after),
        }
    }

    /// Reads a sign that divides words.
    fn sign(&mut self, c: char, after: &str) {
        self.next &= !HIDDEN;
        let ends = after.is_empty() || after.starts_with(|c: char| !c.is_alphanumeric());
        match c {
            '.' if self.is_shortened() => self.mark_last(DOT),
            '.' | '!' | '?' | '…' | ':' if ends => self.next |= START | CLAUSE,
            '。' | '！' | '？' => self.next |= START | CLAUSE,
            '(' => {
                self.parentheses += 1;
                self.next |= CLAUSE;
            }
            ')' => {
                self.parentheses = self.parentheses.saturating_sub(1);
                self.next |= CLAUSE;
            }
            ',' | ';' | '—' | '、' | '，' | '|' => self.next |= CLAUSE,
            '–' if after.starts_with(' ') => self.next |= CLAUSE,
            '-' | '−' | '–' if is_number(after) && !self.is_after_word() => {
                self.next |= NEGATIVE;
            }
            _ => {}
        }
    }

    fn is_after_word(&self) -> bool {
        let before = self.source.get(..self.at).unwrap_or_default().chars().rev().nth(1);
        before.is_some_and(|c| !c.is_whitespace() && c != '(')
    }

    /// Returns `true` if the full stop before the place belongs to the word before it.
    fn is_shortened(&self) -> bool {
        let Some(last) = self.reading.tokens.last().filter(|last| last.place.end + 1 == self.at)
        else {
            return false;
        };
        let word = self.reading.word(last);
        match last.kind {
            TokenKind::Digits => self.language == Language::German,
            TokenKind::Word => {
                let letters = word.chars().count();
                letters == 1 || (letters == 2 && last.has(CAPITAL)) || SHORTENED.contains(&word)
            }
            _ => false,
        }
    }

    fn mark_last(&mut self, flag: u16) {
        if let Some(last) = self.reading.tokens.last_mut() {
            last.add(flag);
        }
    }

    /// Looks at what begins a line: an item of a list or a heading begins a sentence.
    fn line_start(&mut self) {
        let line = self.rest().trim_start_matches([' ', '\t']);
        let digits = line.bytes().take(4).take_while(u8::is_ascii_digit).count();
        let after = line.get(digits..).unwrap_or_default();
        if (1..=3).contains(&digits) && (after.starts_with(". ") || after.starts_with(") ")) {
            self.next |= ITEM | START | CLAUSE;
        } else if line.is_empty()
            || line.starts_with(['\n', '\r', '-', '*', '+', '#', '>', '|', '='])
        {
            self.next |= START | CLAUSE;
            if line.starts_with('\n') {
                self.quote = None;
            }
        }
    }

    /// Opens or closes a quotation.
    fn quotation(&mut self, c: char, after: &str) -> bool {
        let is_inside = after.starts_with(|c: char| c.is_alphanumeric() || is_unseen(c));
        if let Some(open) = &self.quote
            && open.closers.contains(c)
            && !(open.is_single && is_inside)
        {
            let (place, tokens) = (open.from..self.at, open.token..self.reading.tokens.len());
            if !tokens.is_empty() {
                self.reading.quotations.push(Quotation { place, tokens });
            }
            self.quote = None;
            self.at += c.len_utf8();
            self.next |= CLAUSE;
            return true;
        }
        let before = self.previous();
        let opens = !before.is_some_and(char::is_alphanumeric);
        let pair = QUOTES.iter().find(|(open, _)| *open == c).filter(|_| opens);
        let (None, Some((_, closers))) = (&self.quote, pair) else { return false };
        let is_single = matches!(c, '\'' | '‘');
        if is_single && !is_inside {
            return false;
        }
        self.at += c.len_utf8();
        let token = self.reading.tokens.len();
        self.quote = Some(OpenQuote { closers, is_single, from: self.at, token });
        self.next |= CLAUSE;
        if before.is_none_or(char::is_whitespace) {
            self.next |= START;
        }
        true
    }

    /// Reads a word, or two that an apostrophe joins.
    fn word(&mut self) {
        let start = self.at;
        let mut end = start;
        let mut is_joined = false;
        for (offset, c) in self.rest().char_indices() {
            // Scripts without blanks: a number is a token of its own there.
            if digit(c).is_some()
                && self.source.get(..start + offset).is_some_and(ends_without_blank)
            {
                break;
            }
            let is_part = c.is_alphanumeric() || is_accent(c) || is_unseen(c);
            let next = self.rest().get(offset + c.len_utf8()..).unwrap_or_default();
            if is_part {
                end = start + offset + c.len_utf8();
            } else if APOSTROPHES.contains(&c) && next.starts_with(char::is_alphabetic) {
                if self.apostrophe(start..start + offset, start + offset + c.len_utf8()) {
                    return;
                }
                is_joined = true;
            } else {
                break;
            }
        }
        self.at = end;
        self.push(TokenKind::Word, start..end);
        let written = self.source.get(start..end).unwrap_or_default();
        if is_joined && written.contains(char::is_uppercase) {
            self.mark_last(MIXED);
        }
    }

    /// Divides two words at an apostrophe. Returns `false` if they are one (`O'Brien`).
    fn apostrophe(&mut self, left: Range<usize>, right: usize) -> bool {
        let word = self.source.get(left.clone()).unwrap_or_default();
        let rest = self.source.get(right..).unwrap_or_default();
        let letters = rest.bytes().take(3).take_while(u8::is_ascii_alphabetic).count();
        let ending = rest.get(..letters).unwrap_or_default().to_ascii_lowercase();
        let end = right + letters;
        let is_negated = word.ends_with(['n', 'N']) && ending == "t";
        if ELISIONS.iter().any(|it| word.eq_ignore_ascii_case(it)) && !is_negated {
            self.push(TokenKind::Word, left);
            self.at = right;
            return true;
        }
        let added = match ending.as_str() {
            "t" if is_negated => "not",
            "ll" => "will",
            "s" | "re" | "ve" | "m" | "d" => "",
            _ => return false,
        };
        let stem = left.start..left.end - usize::from(is_negated);
        let word = match word.to_ascii_lowercase().as_str() {
            "can" if is_negated => "can",
            "won" if is_negated => "will",
            "shan" if is_negated => "shall",
            _ => "",
        };
        if word.is_empty() {
            self.push(TokenKind::Word, stem);
        } else {
            self.push_word(word, left.clone());
        }
        if added.is_empty() {
            self.mark_last(POSSESSIVE);
        } else {
            self.push_word(added, left.start..end);
        }
        self.at = end;
        true
    }

    fn flags(&mut self, start: usize) -> u16 {
        let last = self.reading.tokens.last().map_or(usize::MAX, |last| last.place.end);
        let mut flags = std::mem::take(&mut self.next);
        flags |= if last == start { GLUED } else { 0 };
        flags |= if self.is_turned { HIDDEN } else { 0 };
        flags | if self.parentheses > 0 { IN_PARENTHESES } else { 0 }
    }

    /// Appends a token as it is written.
    fn push(&mut self, kind: TokenKind, place: Range<usize>) {
        let flags = self.flags(place.start);
        let from = self.reading.folded.len();
        let word = self.source.get(place.clone()).unwrap_or_default();
        let is_hidden = kind == TokenKind::Word && fold(word, &mut self.reading.folded);
        if kind != TokenKind::Word {
            self.reading.folded.push_str(word);
        }
        let folded = from..self.reading.folded.len();
        let hash = hash(self.reading.folded.get(folded.clone()).unwrap_or_default().as_bytes());
        let flags = flags | if is_hidden { HIDDEN } else { 0 } | capitals(kind, word);
        self.reading.tokens.push(Token::new(kind, place, folded, hash, flags));
    }

    /// Appends a word that is written in another form.
    fn push_word(&mut self, word: &str, place: Range<usize>) {
        let flags = self.flags(place.start);
        let from = self.reading.folded.len();
        self.reading.folded.push_str(word);
        let folded = from..self.reading.folded.len();
        let token = Token::new(TokenKind::Word, place, folded, hash(word.as_bytes()), flags);
        self.reading.tokens.push(token);
    }
}

/// Returns `true` after a letter of Chinese, Japanese and the like.
fn ends_without_blank(text: &str) -> bool {
    text.chars().next_back().is_some_and(|c| ('\u{2e80}'..='\u{9fff}').contains(&c))
}

fn is_fraction(c: char) -> bool {
    matches!(c, '¼'..='¾' | '⅐'..='⅞')
}

fn is_number(text: &str) -> bool {
    text.chars().find(|c| !is_unseen(*c)).is_some_and(|c| digit(c).is_some())
}

fn capitals(kind: TokenKind, word: &str) -> u16 {
    if kind != TokenKind::Word {
        return 0;
    }
    let mut letters = word.chars().filter(|c| c.is_alphanumeric());
    let first = letters.next().is_some_and(char::is_uppercase);
    let (mut upper, mut lower, mut digits) = (0, 0, 0);
    for c in letters {
        upper += usize::from(c.is_uppercase());
        lower += usize::from(c.is_lowercase());
        digits += usize::from(c.is_numeric());
    }
    let mut flags = if first { CAPITAL } else { 0 };
    flags |= if first && upper > 0 && lower == 0 { ALL_CAPITALS } else { 0 };
    flags | if (upper > 0 && lower + usize::from(!first) > 0) || digits > 0 { MIXED } else { 0 }
}
