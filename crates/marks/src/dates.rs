//! Dates, times of day and Roman numbers.

#![expect(clippy::cast_sign_loss, reason = "numbers of the lists are small and whole")]

use super::extract::Extractor;
use super::kinds::Language;
use super::lexicon::Role;
use super::numbers::{Digits, is_ordinal_ending, parse};
use super::reading::{ALL_CAPITALS, CAPITAL, CLAUSE, DOT, GLUED, TokenKind};

/// Returns the value of a Roman number.
pub(crate) fn roman(word: &str) -> Option<f64> {
    const SIGNS: &str = "m1000 cm900 d500 cd400 c100 xc90 l50 xl40 x10 ix9 v5 iv4 i1";
    let (mut rest, mut value) = (word, 0);
    for part in SIGNS.split(' ') {
        let (sign, worth) = part.split_at(part.find(|c: char| c.is_ascii_digit())?);
        let worth: u32 = worth.parse().ok()?;
        for _ in 0..3 {
            let Some(after) = rest.strip_prefix(sign) else { break };
            (rest, value) = (after, value + worth);
            if sign.len() == 2 || matches!(worth, 5 | 50 | 500) {
                break;
            }
        }
    }
    (rest.is_empty() && value > 0 && word.len() < 12).then_some(f64::from(value))
}

/// Returns the hour of noon or midnight.
fn noon(word: &str) -> Option<f64> {
    match word {
        "noon" | "midday" | "midi" => Some(12.0),
        "midnight" | "minuit" | "mitternacht" => Some(24.0),
        _ => None,
    }
}

impl Extractor<'_> {
    /// Returns the date that begins at a token, and the number of its tokens.
    pub(crate) fn date(&self, at: usize) -> Option<((u32, u32, u32), usize)> {
        let token = self.token(at)?;
        if token.kind == TokenKind::Digits
            && let Digits::Date(day, month, year) = parse(self.reading.word(token), self.language)
        {
            return Some(((day, month, year), 1));
        }
        // `am 5.6.`
        if token.kind == TokenKind::Digits
            && token.has(DOT)
            && let Some((day, month)) = self.reading.word(token).split_once('.')
            && let (Ok(day @ 1..=31), Ok(month @ 1..=12)) = (day.parse(), month.parse())
        {
            return Some(((day, month, 0), 1));
        }
        if let Some((day, mut length)) = self.day(at) {
            if self.word_at(at + length).is_some_and(|word| matches!(word, "of" | "de")) {
                length += 1;
            }
            let month = self.month(at + length)?;
            let (year, more) = self.year(at + length + 1);
            return Some(((day, month, year), length + 1 + more));
        }
        let month = self.month(at)?;
        if let Some((day, length)) = self.day(at + 1).filter(|_| self.language == Language::English)
        {
            let (year, more) = self.year(at + 1 + length);
            return Some(((day, month, year), 1 + length + more));
        }
        let (year, more) = self.year(at + 1);
        Some(((0, month, year), 1 + more))
    }

    fn day(&self, at: usize) -> Option<(u32, usize)> {
        let token = self.token(at)?;
        let day = match token.kind {
            TokenKind::Digits => self.reading.word(token).parse().ok()?,
            _ => self.node(at)?.number(Role::Number)? as u32,
        };
        let next = self.token(at + 1).filter(|next| next.has(GLUED));
        let is_ordinal = next.is_some_and(|next| is_ordinal_ending(self.reading.word(next)));
        (1..=31).contains(&day).then_some((day, 1 + usize::from(is_ordinal)))
    }

    fn month(&self, at: usize) -> Option<u32> {
        let token = self.token(at)?;
        let sense = self.node(at)?.sense(Role::Month)?;
        let is_written = token.has(CAPITAL) || self.language == Language::French;
        let follows = at > 0 && self.token(at - 1).is_some_and(|it| it.kind == TokenKind::Digits);
        let is_short = self.reading.word(token).len() <= 3
            && !token.has(DOT)
            && self.reading.word(token) != "may"
            && self.reading.word(token) != "mai";
        let precedes = self.token(at + 1).is_some_and(|it| it.kind == TokenKind::Digits);
        (is_written && (!is_short || follows || precedes))
            .then(|| f64::from_bits(sense.value) as u32)
    }

    fn year(&self, at: usize) -> (u32, usize) {
        let Some(token) = self.token(at).filter(|token| token.kind == TokenKind::Digits) else {
            return (0, 0);
        };
        let word = self.reading.word(token);
        let year = word.parse().unwrap_or(0);
        if word.len() == 4 { (year, 1) } else { (0, 0) }
    }

    /// Returns the time of day that begins at a token, as hours and hundredths, and its length.
    pub(crate) fn time(&self, at: usize) -> Option<(f64, usize)> {
        let token = self.token(at)?;
        let word = self.reading.word(token);
        if let Some(hour) = noon(word) {
            return Some((hour, 1));
        }
        if token.kind != TokenKind::Digits {
            return self.spoken_time(at);
        }
        // `12 noon`
        if let Some(hour) = self.word_at(at + 1).and_then(noon).filter(|_| word == "12") {
            return Some((hour, 2));
        }
        let digits = parse(word, self.language);
        let (value, is_time) = match digits {
            Digits::Time(value) => (value, true),
            Digits::Value(value) if (0.0..=24.0).contains(&value) => {
                (word.replace(',', ".").parse().ok()?, false)
            }
            _ => return None,
        };
        let mut length = 1;
        let next = self.word_at(at + 1).unwrap_or_default();
        let next_glued = self.token(at + 1).is_some_and(|it| it.has(GLUED));
        // `14h30`, `14 h 30`
        let after_hours = next.strip_prefix('h').filter(|_| next_glued && next.len() == 3);
        if let Some(minutes) = after_hours.and_then(|it| it.parse::<f64>().ok()) {
            return Some((value + minutes / 100.0, 2));
        }
        let clock =
            self.node(at + 1).and_then(|node| self.lexicon.find(self.reading, node, at + 1));
        let Some((clock, sense)) = clock.and_then(|clock| {
            let sense = clock.senses().find(|sense| sense.role == Role::Clock)?;
            Some((clock, sense))
        }) else {
            let (hours, more) = self.part_of_day(at + 1, value);
            return (is_time || more > 1).then_some((hours, 1 + more));
        };
        length += clock.length;
        let mut hours = value;
        match f64::from_bits(sense.value) as u32 {
            12 if hours < 12.0 => hours += 12.0,
            1 if hours >= 12.0 => hours -= 12.0,
            24 => {
                let minutes = self
                    .token(at + length)
                    .filter(|it| it.kind == TokenKind::Digits && !it.has(CLAUSE));
                let minutes = minutes.map(|it| self.reading.word(it)).filter(|it| it.len() == 2);
                if let Some(minutes) = minutes.and_then(|it| it.parse::<f64>().ok()) {
                    (hours, length) = (hours + minutes / 100.0, length + 1);
                } else if next != "uhr" {
                    return None;
                }
            }
            _ => {}
        }
        let (hours, more) = self.part_of_day(at + length, hours);
        Some((hours, length + more))
    }

    /// Returns the hours by the part of the day after them, and the number of its words.
    fn part_of_day(&self, at: usize, hours: f64) -> (f64, usize) {
        let word = |at: usize| self.word_at(at).unwrap_or_default();
        let (part, length) = match (word(at), word(at + 1)) {
            ("in", "the") => (word(at + 2), 3),
            (part, _) => (part, 1),
        };
        match part {
            "evening" | "afternoon" | "abends" | "nachmittags" if hours < 12.0 => {
                (hours + 12.0, length)
            }
            "morning" | "morgens" | "vormittags" if hours < 12.0 => (hours, length),
            "mittags" if (11.0..15.0).contains(&hours) => (hours, length),
            _ => (hours, 0),
        }
    }

    /// Reads `halb acht`, `half past seven` and `acht Uhr abends`.
    fn spoken_time(&self, at: usize) -> Option<(f64, usize)> {
        let word = |at: usize| self.word_at(at).unwrap_or_default();
        let number = |at: usize| {
            let digits = || word(at).parse().ok();
            let named = self.node(at).and_then(|node| node.number(Role::Number)).or_else(digits);
            named.filter(|hours| (1.0..=24.0).contains(hours))
        };
        let (hours, length) = match (word(at), word(at + 1)) {
            ("halb", _) => (number(at + 1)? - 0.7, 2),
            ("half", "past") => (number(at + 2)? + 0.3, 3),
            ("quarter", "past") => (number(at + 2)? + 0.15, 3),
            ("quarter", "to") => (number(at + 2)? - 0.55, 3),
            (_, "uhr") => (number(at)?, 1),
            _ => return None,
        };
        let length = length + usize::from(word(at + length) == "uhr");
        let (hours, more) = self.part_of_day(at + length, hours);
        Some((hours, length + more))
    }

    /// Returns the Roman number at a token after a word with a capital.
    pub(crate) fn roman_numeral(&self, at: usize) -> Option<f64> {
        let token = self.token(at)?;
        let is_after_name = at > 0 && self.token(at - 1).is_some_and(|it| it.has(CAPITAL));
        let word = self.reading.word(token);
        let written = self.reading.source.get(token.place.clone()).unwrap_or_default();
        let century = written.strip_suffix('e').unwrap_or_default();
        let is_century = self.word_at(at + 1) == Some("siècle");
        let is_sign = |byte: u8| b"IVX".contains(&byte) || (is_century && b"ivx".contains(&byte));
        if !century.is_empty() && century.bytes().all(is_sign) {
            return roman(word.trim_end_matches('e'));
        }
        let may_be = token.has(CAPITAL) && (word.len() > 1 || matches!(word, "v" | "x" | "i"));
        let is_whole = token.has(ALL_CAPITALS) || word.len() == 1;
        (may_be && is_whole && is_after_name && !token.has(CLAUSE) && word != "i")
            .then(|| roman(word))
            .flatten()
    }
}
