//! Numbers, dates and times, in digits and in words.

#![expect(clippy::float_cmp, reason = "numbers of the lists are small and whole")]

use super::extract::Extractor;
use super::kinds::{Language, MarkKind};
use super::lexicon::Role;
use super::reading::{CAPITAL, CLAUSE, GLUED, Token, TokenKind};

/// Beginnings of German numbers.
const BEGINNINGS: [&str; 16] = [
    "ein", "zwe", "zwa", "drei", "vier", "fün", "sech", "sieb", "acht", "neun", "zehn", "elf",
    "zwö", "hund", "taus", "ander",
];
/// Digits beyond which a number is compared as it is written.
const MOST_DIGITS: usize = 15;

/// A number as digits say it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Digits {
    Value(f64),
    /// Day, month and year, 0 where it is not said.
    Date(u32, u32, u32),
    /// Hours, and minutes as hundredths, so that `6:15` and `6.15` are the same.
    Time(f64),
    /// A version, an address or the like.
    Text,
}

/// A number that was found in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numeral {
    pub value: f64,
    /// Number of tokens.
    pub length: usize,
    /// A word that often means no number (`one`).
    pub is_faint: bool,
}

/// Reads a number in digits by the separators of a language.
pub(crate) fn parse(text: &str, language: Language) -> Digits {
    let number = |text: &str| text.parse::<u32>().ok();
    let parts: Vec<&str> = text.split(['.', ',', '/', ':', '-', '\'', '’', ' ']).collect();
    let numbers: Vec<u32> = parts.iter().filter_map(|part| number(part)).collect();
    let has = |c: char| text.contains(c);
    if let Some(value) = with_fraction(text) {
        return Digits::Value(value);
    }
    if !text.bytes().all(|byte| byte.is_ascii()) && !has('’') {
        return Digits::Text;
    }
    match numbers[..] {
        [year, month, day] if has('-') => return Digits::Date(day, month, year),
        [first, second, third] if has('/') || is_dotted_date(&parts, &numbers) => {
            let is_month_first = has('/') && language == Language::English && first <= 12;
            let (day, month) =
                if is_month_first || second > 12 { (second, first) } else { (first, second) };
            let century =
                if third < 100 && parts.last().is_some_and(|it| it.len() == 2) { 2000 } else { 0 };
            return Digits::Date(day, month, third + century);
        }
        [first, second] if has('/') && second > 0 => {
            return Digits::Value(f64::from(first) / f64::from(second));
        }
        [hours, minutes] if has(':') && hours <= 24 && minutes < 60 && parts[1].len() == 2 => {
            return Digits::Time(f64::from(hours) + f64::from(minutes) / 100.0);
        }
        _ if has(':') || has('-') || has('/') => return Digits::Text,
        _ => {}
    }
    grouped(text, &parts, language).map_or(Digits::Text, Digits::Value)
}

fn is_dotted_date(parts: &[&str], numbers: &[u32]) -> bool {
    let fits = matches!(numbers, [1..=31, 1..=12, _]);
    fits && parts.last().is_some_and(|year| matches!(year.len(), 2 | 4))
}

/// Reads a number with groups of three digits and a decimal sign.
fn grouped(text: &str, parts: &[&str], language: Language) -> Option<f64> {
    if text.bytes().filter(u8::is_ascii_digit).count() > MOST_DIGITS {
        return None;
    }
    let separators: Vec<char> = text.chars().filter(|c| !c.is_ascii_digit()).collect();
    let is_group = |part: &&str| part.len() == 3;
    let [head, middle @ .., last] = parts else { return text.parse().ok() };
    let all = |parts: &[&str]| [&[*head], parts].concat().concat().parse::<f64>().ok();
    let sign = *separators.last()?;
    let same = separators.iter().all(|it| *it == sign);
    let is_whole = head.len() <= 3 && parts.get(1..)?.iter().all(is_group);
    let decimal = match language {
        Language::English => sign == '.',
        Language::German | Language::French => sign == ',',
        Language::Other => false,
    };
    if same && is_whole && (separators.len() > 1 || !decimal) && (*head != "0") {
        return all(parts.get(1..)?);
    }
    let is_decimal = matches!(sign, '.' | ',')
        && middle.iter().all(is_group)
        && (separators.len() == 1 || !same);
    if !is_decimal {
        return None;
    }
    let whole = all(middle)?;
    let fraction: f64 = ["0.", last].concat().parse().ok()?;
    Some(whole + fraction)
}

fn with_fraction(text: &str) -> Option<f64> {
    let last = text.chars().next_back()?;
    let at = "½¼¾⅓⅔⅛".chars().position(|it| it == last)?;
    let value = [0.5, 0.25, 0.75, 1.0 / 3.0, 2.0 / 3.0, 0.125].get(at)?;
    let whole = text.strip_suffix(last).filter(|whole| !whole.is_empty());
    whole.map_or(Some(0.0), |whole| whole.trim().parse().ok()).map(|whole: f64| whole + value)
}

impl Extractor<'_> {
    /// Returns the number that begins at a token, in digits or words.
    pub(crate) fn numeral(&self, at: usize) -> Option<Numeral> {
        let token = self.token(at)?;
        match token.kind {
            TokenKind::Digits => self.fraction_of(at).or_else(|| self.digits(at, token)),
            TokenKind::Word => self.fraction_of(at).or_else(|| self.number_words(at)),
            _ => None,
        }
    }

    fn digits(&self, at: usize, token: &Token) -> Option<Numeral> {
        let Digits::Value(mut value) = parse(self.reading.word(token), self.language) else {
            return None;
        };
        let mut length = 1;
        if let Some(Digits::Value(lower)) = self
            .token(at + 1)
            .filter(|next| {
                next.kind == TokenKind::Digits && !next.has(CLAUSE) && value.fract() == 0.0
            })
            .map(|next| parse(self.reading.word(next), self.language))
            && lower < 1.0
            && lower > 0.0
        {
            (value, length) = (value + lower, 2);
        }
        let ordinal = self.token(at + length).filter(|next| next.has(GLUED));
        if ordinal.is_some_and(|next| is_ordinal_ending(self.reading.word(next))) {
            length += 1;
        }
        let after_symbol =
            at > 0 && self.token(at - 1).is_some_and(|it| it.kind == TokenKind::Symbol);
        let is_money = after_symbol || (at > 0 && self.is_unit(at - 1));
        while let Some(factor) = self.multiplier(at + length, is_money) {
            (value, length) = (value * factor, length + 1);
        }
        Some(Numeral { value, length, is_faint: false })
    }

    fn multiplier(&self, at: usize, is_money: bool) -> Option<f64> {
        let token = self.token(at).filter(|token| !token.has(CLAUSE))?;
        match self.reading.word(token) {
            "k" if token.has(GLUED) => Some(1e3),
            "m" if (token.has(GLUED) && is_money) || self.is_symbol(at + 1) => Some(1e6),
            "bn" | "b" if token.has(GLUED) => Some(1e9),
            _ => self.node(at)?.number(Role::Multiplier).filter(|factor| *factor > 12.0),
        }
    }

    fn is_symbol(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.kind == TokenKind::Symbol)
    }

    /// Reads `one in four`, `one out of four` and `every fourth`.
    fn fraction_of(&self, at: usize) -> Option<Numeral> {
        let first = self.plain_number(at).filter(|_| self.word_at(at) != Some("first"));
        let part = |at: usize| {
            let whole = match self.token(at)?.kind {
                TokenKind::Digits => self.digits(at, self.token(at)?),
                _ => self.number_words(at),
            }?;
            (2.0..1000.0).contains(&whole.value).then_some(whole)
        };
        let word = |at: usize| self.token(at).map_or("", |token| self.reading.word(token));
        let (start, value) = match (first, word(at + 1), word(at + 2)) {
            (Some(value), "in" | "sur" | "von", _) => (2, value),
            (Some(value), "out", "of") | (Some(value), _, "sur" | "von") => (3, value),
            (Some(value), _, "out") if word(at + 3) == "of" => (4, value),
            // `une personne interrogée sur trois`
            (Some(value), ..) if word(at + 3) == "sur" => (4, value),
            _ => match (word(at), self.language) {
                ("every" | "each", Language::English)
                | ("jeder" | "jede" | "jedes" | "jeden" | "jedem", _) => {
                    // `every two weeks` is no fraction.
                    if self.node(at + 1)?.number(Role::Number).is_none()
                        || !is_ordinal(word(at + 1))
                    {
                        return None;
                    }
                    (1, 1.0)
                }
                _ => return None,
            },
        };
        let whole = part(at + start)?;
        let end = at + start + whole.length;
        // `eine Länge von drei Metern`, `eine Gruppe von drei Kindern`
        let is_size = start == 3
            && word(at + 2) == "von"
            && (self.is_unit(end) || self.token(end).is_some_and(|it| it.has(CAPITAL)));
        if is_size || whole.value.fract() != 0.0 {
            return None;
        }
        // `every second hour` is every two hours.
        if start == 1 && self.is_interval(end) {
            return None;
        }
        (value < whole.value).then_some(Numeral {
            value: value / whole.value,
            length: start + whole.length,
            is_faint: false,
        })
    }

    fn is_interval(&self, at: usize) -> bool {
        self.is_unit(at) || self.is(at, Role::Mark(MarkKind::Date))
    }

    pub(crate) fn plain_number(&self, at: usize) -> Option<f64> {
        if let Some(token) = self.token(at).filter(|token| token.kind == TokenKind::Digits) {
            return self.reading.word(token).parse().ok().filter(|value| *value < 100.0);
        }
        let node = self.node(at)?;
        node.number(Role::Number).or_else(|| node.number(Role::Article))
    }

    /// Reads a number in words, such as `two hundred and five` or `quatre-vingt-dix`.
    fn number_words(&self, at: usize) -> Option<Numeral> {
        let (mut total, mut part, mut length) = (0.0, 0.0, 0);
        let mut is_faint = true;
        let mut is_article = true;
        loop {
            let place = at + length;
            let Some(token) = self.token(place).filter(|it| length == 0 || !it.has(CLAUSE)) else {
                break;
            };
            let word = self.reading.word(token);
            let node = self.node(place);
            let number = node.and_then(|node| node.number(Role::Number));
            if let Some(factor) = node.and_then(|node| node.number(Role::Multiplier)) {
                part = if part == 0.0 { 1.0 } else { part };
                if factor >= 1000.0 {
                    (total, part) = (total + part * factor, 0.0);
                } else {
                    part *= factor;
                }
                (is_faint, is_article) = (false, false);
            } else if let Some(value) = number.or_else(|| self.compound(word)) {
                let Some(sum) = self.added(part, value, length) else { break };
                part = sum;
                let sense = node.and_then(|node| node.sense(Role::Number));
                is_faint &= sense.is_some_and(|it| it.strength == super::lexicon::Strength::Faint);
                is_article = false;
            } else if let Some(value) =
                node.and_then(|node| node.number(Role::Article)).filter(|_| length == 0)
            {
                if !self.is_before_multiplier(place) {
                    return None;
                }
                part = value;
            } else if let Some(lower) = node.and_then(|node| node.number(Role::Denominator)) {
                if length > 0 {
                    let value = (total + part) / lower;
                    return Some(Numeral { value, length: length + 1, is_faint: false });
                }
                let numeral = Numeral { value: 1.0 / lower, length: 1, is_faint: false };
                // `the previous quarter`
                let is_part = word != "quarter" || self.word_at(at + 1) == Some("of");
                return (lower <= 2.0 || (at > 0 && is_part)).then_some(numeral);
            } else if length > 0
                && matches!(word, "and" | "et" | "und")
                && self.joins(place + 1, part)
            {
                // The number goes on.
            } else {
                break;
            }
            length += 1;
        }
        if length == 0 || is_article {
            return None;
        }
        let (half, more) = self.and_a_half(at + length);
        Some(Numeral {
            value: total + part + half,
            length: length + more,
            is_faint: is_faint && more == 0,
        })
    }

    fn is_before_multiplier(&self, at: usize) -> bool {
        let next = self.node(at + 1);
        next.is_some_and(|next| next.is(Role::Multiplier) || next.is(Role::Denominator))
    }

    /// Returns `true` if a number goes on with what stands after `and`.
    fn joins(&self, at: usize, part: f64) -> bool {
        let next = self.node(at).and_then(|node| node.number(Role::Number));
        next.is_some_and(|next| {
            part % 100.0 == 0.0 && part > 0.0
                || (part % 10.0 == 0.0
                    && part >= 20.0
                    && next < 20.0
                    && self.language == Language::French)
        })
    }

    /// Returns the sum of a number and the word after it, or `None` if that is another number.
    fn added(&self, part: f64, value: f64, length: usize) -> Option<f64> {
        if length == 0 || part == 0.0 {
            return Some(value);
        }
        let (tens, rest) = (part % 100.0, value);
        if self.language == Language::French && part % 100.0 == 4.0 && value == 20.0 {
            return Some(part - 4.0 + 80.0);
        }
        let french =
            self.language == Language::French && (tens == 60.0 || tens == 80.0) && rest < 20.0;
        let french = french
            || (self.language == Language::French && tens == 10.0 && (7.0..10.0).contains(&rest));
        let fits =
            (tens == 0.0 && rest < 100.0) || (tens % 10.0 == 0.0 && tens >= 20.0 && rest < 10.0);
        (french || fits).then_some(part + value)
    }

    /// Returns the half of `two and a half`, and the number of its words.
    pub(crate) fn and_a_half(&self, at: usize) -> (f64, usize) {
        let word = |at: usize| self.token(at).map_or("", |token| self.reading.word(token));
        match (word(at), word(at + 1), word(at + 2)) {
            ("and", "a", "half") | ("und", "eine", "halbe") => (0.5, 3),
            ("et", "demi" | "demie", _) => (0.5, 2),
            _ => (0.0, 0),
        }
    }

    /// Returns the value of a compound of German, such as `einundzwanzig`.
    pub(crate) fn compound(&self, word: &str) -> Option<f64> {
        if self.language != Language::German
            || word.len() < 6
            || word.len() > 60
            || !BEGINNINGS.iter().any(|it| word.starts_with(it))
        {
            return None;
        }
        let simple = |word: &str| -> Option<f64> {
            let node = self.lexicon.known(word)?;
            node.number(Role::Number)
                .or_else(|| node.number(Role::Multiplier))
                .or_else(|| node.number(Role::Article))
        };
        if let Some(value) = simple(word) {
            return Some(value);
        }
        if let Some(half) = word.strip_suffix("einhalb") {
            return simple(half).map(|value| value + 0.5);
        }
        if let Some(times) = word.strip_suffix("mal").or_else(|| word.strip_suffix("fach")) {
            return compound_part(times, &simple);
        }
        let stem = word.trim_end_matches(['e', 'n', 'r', 's', 'm']);
        let stem = stem.strip_suffix("st").unwrap_or(word);
        compound_part(stem, &simple)
    }
}

pub(crate) fn is_ordinal_ending(word: &str) -> bool {
    matches!(word, "st" | "nd" | "rd" | "th" | "er" | "re" | "e" | "ème" | "eme" | "ère")
}

/// Returns `true` for an ordinal in words, by its ending.
pub(crate) fn is_ordinal(word: &str) -> bool {
    ["th", "second", "third", "fth", "te", "ten", "ter", "tes", "tem"]
        .iter()
        .any(|it| word.ends_with(it))
}

/// Returns the value of a part of a compound.
fn compound_part(word: &str, simple: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    if word.is_empty() {
        return None;
    }
    for (name, factor) in [("tausend", 1000.0), ("hundert", 100.0)] {
        if let Some((left, right)) = word.split_once(name) {
            let left = if left.is_empty() { 1.0 } else { compound_part(left, simple)? };
            let right = right.strip_prefix("und").unwrap_or(right);
            let right = if right.is_empty() { 0.0 } else { compound_part(right, simple)? };
            return Some(left * factor + right);
        }
    }
    match word.split_once("und") {
        Some((units, tens)) if !units.is_empty() => Some(simple(units)? + simple(tens)?),
        _ => simple(word).filter(|value| *value < 100.0),
    }
}
