//! Change sets as JSON: byte for byte the output of CodeMirror's `ChangeSet.toJSON`; anything else
//! is refused.
//!
//! `5` keeps five units, `[5]` deletes them, `[5,"a","b"]` replaces them by `a\nb`. CodeMirror's
//! `fromJSON` checks almost nothing, so the checks here are our own: a set that is accepted is
//! exactly one that CodeMirror could have written.

use std::borrow::Cow;
use std::ops::Range;

use super::change_set::{
    ChangeError, ChangeLimits, ChangeResult, ChangeSection, ChangeSet, KEEP, MAX_UNITS,
};
use super::json_reader::JsonReader;
use super::text::utf16_len;

impl ChangeSet {
    /// Parses a change set that came from outside.
    pub fn parse(json: &str, limits: &ChangeLimits) -> ChangeResult<Self> {
        let mut set = Self::default();
        set.parse_into(json, limits)?;
        Ok(set)
    }

    /// Returns the set as JSON; parsing it gives an equal set.
    pub fn to_json(&self) -> String {
        let mut json = String::with_capacity(2 + self.sections.len() * 8 + self.inserted.len());
        let mut inserted = self.inserted.as_str();
        json.push('[');
        for (index, section) in self.sections.iter().enumerate() {
            if index > 0 {
                json.push(',');
            }
            if section.ins == KEEP {
                write_number(&mut json, section.len);
                continue;
            }
            let (text, rest) = inserted.split_at(section.bytes as usize);
            inserted = rest;
            json.push('[');
            write_number(&mut json, section.len);
            if section.ins > 0 {
                text.split('\n').for_each(|line| write_line(&mut json, line));
            }
            json.push(']');
        }
        json.push(']');
        json
    }

    /// Parses a change set as [`Self::parse`] does, into a set whose buffers are reused.
    pub(super) fn parse_into(&mut self, json: &str, limits: &ChangeLimits) -> ChangeResult<()> {
        self.sections.clear();
        self.inserted.clear();
        let mut reader = JsonReader::new(json);
        let (mut old_units, mut inserted_units) = (0, 0);
        reader.expect(b'[', "a change set")?;
        if !reader.take(b']') {
            loop {
                let section = reader.section(&mut self.inserted)?;
                self.add_canonical(section, reader.at())?;
                old_units += section.len as usize;
                inserted_units += usize::try_from(section.ins).unwrap_or(0);
                if self.sections.len() > limits.max_sections {
                    return Err(ChangeError::TooManySections { max: limits.max_sections });
                }
                if inserted_units > limits.max_inserted {
                    return Err(ChangeError::TooMuchInserted { max: limits.max_inserted });
                }
                if !reader.take(b',') {
                    break;
                }
            }
            reader.expect(b']', "`,` or `]` after a section")?;
        }
        reader.end()?;
        if old_units.max(inserted_units) > MAX_UNITS {
            return Err(ChangeError::TooLong { max: MAX_UNITS });
        }
        Ok(())
    }

    fn add_canonical(&mut self, new: ChangeSection, at: usize) -> ChangeResult<()> {
        let joins = self.sections.last().is_some_and(|last| last.is_alike(new));
        if joins || new.len == 0 && new.ins <= 0 {
            return Err(ChangeError::NotCanonical { at });
        }
        self.sections.push(new);
        Ok(())
    }
}

/// Change in one place, as made by typing: nearly every change is one. Parsed without copying where
/// possible.
pub(super) struct TypedChange<'a> {
    pub len: usize,
    /// Replaced range, in UTF-16 units.
    pub range: Range<usize>,
    /// Text that replaces it.
    pub insert: Cow<'a, str>,
    /// Length of `insert` in UTF-16 units.
    pub units: usize,
}

impl<'a> TypedChange<'a> {
    /// Parses `json` if it is a change in one place exactly as CodeMirror writes it; otherwise it
    /// may still be valid.
    #[inline]
    pub fn read(json: &'a str) -> Option<Self> {
        let mut reader = JsonReader::new(json);
        reader.next(b'[')?;
        let mut from = 0;
        if reader.next(b'[').is_none() {
            from = reader.kept()?;
            reader.next(b',')?;
            reader.next(b'[')?;
        }
        let deleted = reader.digits()?;
        let mut insert = Cow::Borrowed("");
        if reader.next(b',').is_some() {
            insert = reader.plain_lines()?;
            if insert.is_empty() {
                return None;
            }
        }
        reader.next(b']')?;
        let mut rest = 0;
        if reader.next(b',').is_some() {
            rest = reader.kept()?;
        }
        reader.next(b']')?;
        let units = utf16_len(&insert);
        let [from, deleted, rest] = [from, deleted, rest].map(|length| length as usize);
        let len = from + deleted + rest;
        let valid = reader.is_done() && deleted + units > 0 && len.max(units) <= MAX_UNITS;
        valid.then_some(Self { len, range: from..from + deleted, insert, units })
    }
}

fn write_line(json: &mut String, line: &str) {
    json.push(',');
    if line.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        // `JSON.stringify` and serde_json escape text without lone surrogates alike.
        json.push_str(&serde_json::Value::from(line).to_string());
    } else {
        json.push('"');
        json.push_str(line);
        json.push('"');
    }
}

fn write_number(json: &mut String, number: u32) {
    let mut digits = [0; 10];
    let (mut start, mut rest) = (digits.len(), number);
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    json.extend(digits[start..].iter().map(|&digit| char::from(digit)));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: ChangeLimits = ChangeLimits { max_sections: 3, max_inserted: 4, max_length: 100 };

    fn refusal(json: &str) -> ChangeError {
        assert!(TypedChange::read(json).is_none(), "{json} passes as typing");
        match ChangeSet::parse(json, &ChangeLimits::NONE) {
            Err(error) => error,
            Ok(set) => panic!("{json} was taken as {set:?}"),
        }
    }

    #[test]
    fn what_codemirror_writes_comes_back_unchanged() {
        for json in [
            "[]",
            "[7]",
            r#"[3,[2],[0,"ab"],1]"#,
            r#"[[0,"",""]]"#,
            r#"[[4,"\"q\"\\","\u0000\u001f\b\t😀 é"]]"#,
        ] {
            assert_eq!(ChangeSet::parse(json, &ChangeLimits::NONE).unwrap().to_json(), json);
        }
    }

    #[test]
    fn white_space_and_escapes_are_read_but_not_written() {
        let set =
            ChangeSet::parse(r#" [ 1 , [ 0 , "\u0041\/\ud83d\ude00" ] ] "#, &ChangeLimits::NONE)
                .unwrap();
        assert_eq!(set.to_json(), r#"[1,[0,"A/😀"]]"#);
    }

    #[test]
    fn other_json_is_refused() {
        for json in [
            "",
            "{}",
            "null",
            "[",
            "[1",
            "[1,]",
            "[1]]",
            "[-1]",
            "[1.5]",
            "[1e3]",
            "[01]",
            "[2147483648]",
            "[99999999999999999999]",
            "[[]]",
            "[[\"a\"]]",
            "[[1,2]]",
            "[[1,]]",
            "[[1,\"a\"",
            "[true]",
            "[[1,null]]",
            "[\"a\"]",
            "[[1,[\"a\"]]]",
        ] {
            let error = refusal(json);
            assert!(matches!(error, ChangeError::Malformed { .. }), "{json}: {error}");
        }
    }

    #[test]
    fn strings_that_are_not_text_are_refused() {
        for json in [
            "[[0,\"a]]",
            "[[0,\"a\nb\"]]",
            r#"[[0,"a\"#,
            r#"[[0,"\x41"]]"#,
            r#"[[0,"\ud83d"]]"#,
            r#"[[0,"\ude01"]]"#,
            r#"[2,[1,"\ude01"],1]"#,
            r#"[[0,"\ud83dx"]]"#,
        ] {
            let error = refusal(json);
            assert!(matches!(error, ChangeError::InvalidString { .. }), "{json}: {error}");
        }
    }

    #[test]
    fn line_breaks_inside_a_line_are_refused() {
        for json in [r#"[[0,"a\nb"]]"#, r#"[[0,"a\r\n"]]"#, r#"[[0,"\u000d"]]"#] {
            let error = refusal(json);
            assert!(matches!(error, ChangeError::LineBreakInLine { .. }), "{json}: {error}");
        }
    }

    #[test]
    fn forms_codemirror_never_writes_are_refused() {
        for json in [
            "[0]",
            "[[0]]",
            r#"[[0,""]]"#,
            r#"[[3,""]]"#,
            "[2,2]",
            "[0,[1]]",
            "[[1],0]",
            "[[1],[2]]",
            r#"[[0,"a"],[0,"b"]]"#,
        ] {
            let error = refusal(json);
            assert!(matches!(error, ChangeError::NotCanonical { .. }), "{json}: {error}");
        }
    }

    #[test]
    fn limits_hold_exactly() {
        assert!(ChangeSet::parse(r#"[1,[0,"ab","c"],1]"#, &SMALL).is_ok());
        let error = ChangeSet::parse(r#"[1,[0,"😀","cd"]]"#, &SMALL).unwrap_err();
        assert!(matches!(error, ChangeError::TooMuchInserted { max: 4 }), "{error}");
        let error = ChangeSet::parse("[1,[1],1,[1]]", &SMALL).unwrap_err();
        assert!(matches!(error, ChangeError::TooManySections { max: 3 }), "{error}");
        let error = refusal("[2147483647,[2]]");
        assert!(matches!(error, ChangeError::TooLong { .. }), "{error}");
    }
}
