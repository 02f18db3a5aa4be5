//! Incremental parser for the input of a call that the model is still writing: the text so far, and
//! the other fields that are complete.
//!
//! Pieces may be cut anywhere, also within an escape or between the halves of a surrogate pair. The
//! text so far is always a prefix of the text that `serde_json` reads in the end. Input that is no
//! JSON object stops growing. Nothing is executed from here: the complete answer is checked first.

use serde_json::{Map, Value};

/// Maximum size in bytes of another field before the end; longer ones are known only then.
const OTHER_LIMIT: usize = 4_096;

/// JSON object that is being written.
#[derive(Debug)]
pub struct PartialInput {
    field: &'static str,
    text: String,
    others: Map<String, Value>,
    place: JsonPlace,
}

#[derive(Debug)]
enum JsonPlace {
    Outside,
    BeforeName,
    Name(String, EscapePending),
    AfterName(String),
    BeforeValue(String),
    Text(StringState),
    Other(String, RawValueState),
    /// Place after the object, or in input that cannot be read.
    Over,
}

/// `Yes` if the last character was a backslash that escapes the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EscapePending {
    No,
    Yes,
}

/// State within a string; `high` is the first half of a surrogate pair that lacks the second.
#[derive(Clone, Copy, Debug)]
struct StringState {
    escape: EscapeState,
    high: Option<u16>,
}

#[derive(Clone, Copy, Debug)]
enum EscapeState {
    None,
    Slash,
    /// Within `\u`: the number of hexadecimal digits so far, and their value.
    Hex(u8, u16),
}

#[derive(Debug, Default)]
struct RawValueState {
    json: String,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl PartialInput {
    /// Creates a parser that has read nothing yet; the text is the string in `field`.
    pub fn new(field: &'static str) -> Self {
        Self { field, text: String::new(), others: Map::new(), place: JsonPlace::Outside }
    }

    /// Reads the next piece of the JSON.
    pub fn feed(&mut self, piece: &str) {
        for c in piece.chars() {
            let place = std::mem::replace(&mut self.place, JsonPlace::Over);
            self.place = self.step(place, c);
        }
    }

    /// Returns the text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the other fields that are complete, as an object.
    pub fn others(&self) -> Value {
        Value::Object(self.others.clone())
    }

    fn step(&mut self, place: JsonPlace, c: char) -> JsonPlace {
        match place {
            JsonPlace::Outside if c == '{' => JsonPlace::BeforeName,
            JsonPlace::BeforeName if c == '"' => JsonPlace::Name("\"".into(), EscapePending::No),
            JsonPlace::BeforeName if c == ',' || is_space(c) => JsonPlace::BeforeName,
            JsonPlace::AfterName(name) if c == ':' => JsonPlace::BeforeValue(name),
            JsonPlace::Outside | JsonPlace::AfterName(_) | JsonPlace::BeforeValue(_)
                if is_space(c) =>
            {
                place
            }
            JsonPlace::Name(mut json, slash) => {
                json.push(c);
                match (slash, c) {
                    (EscapePending::No, '"') => {
                        serde_json::from_str(&json).map_or(JsonPlace::Over, JsonPlace::AfterName)
                    }
                    (EscapePending::No, '\\') => JsonPlace::Name(json, EscapePending::Yes),
                    _ if json.len() > OTHER_LIMIT => JsonPlace::Over,
                    _ => JsonPlace::Name(json, EscapePending::No),
                }
            }
            JsonPlace::BeforeValue(name) if name == self.field && c == '"' => {
                self.text.clear();
                JsonPlace::Text(StringState { escape: EscapeState::None, high: None })
            }
            JsonPlace::BeforeValue(name) => self.collect(name, RawValueState::default(), c),
            JsonPlace::Text(unit) => self.letter(unit, c),
            JsonPlace::Other(name, raw) => self.collect(name, raw, c),
            JsonPlace::Outside
            | JsonPlace::BeforeName
            | JsonPlace::AfterName(_)
            | JsonPlace::Over => JsonPlace::Over,
        }
    }

    fn letter(&mut self, StringState { escape, high }: StringState, c: char) -> JsonPlace {
        let goes_on = |escape, high| JsonPlace::Text(StringState { escape, high });
        match (escape, c) {
            (EscapeState::None, '\\') => return goes_on(EscapeState::Slash, high),
            (EscapeState::Slash, 'u') => return goes_on(EscapeState::Hex(0, 0), high),
            (EscapeState::Hex(count, value), digit) => {
                let Some(digit) = digit.to_digit(16) else { return JsonPlace::Over };
                let value = value << 4 | digit as u16;
                if count < 3 {
                    return goes_on(EscapeState::Hex(count + 1, value), high);
                }
                return goes_on(EscapeState::None, self.unit(high, value));
            }
            (EscapeState::None | EscapeState::Slash, _) => {}
        }
        if high.is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        match (escape, c) {
            (EscapeState::None, '"') => return JsonPlace::BeforeName,
            (EscapeState::None, c) => self.text.push(c),
            (_, '"' | '\\' | '/') => self.text.push(c),
            (_, 'b') => self.text.push('\u{8}'),
            (_, 'f') => self.text.push('\u{c}'),
            (_, 'n') => self.text.push('\n'),
            (_, 'r') => self.text.push('\r'),
            (_, 't') => self.text.push('\t'),
            _ => return JsonPlace::Over,
        }
        goes_on(EscapeState::None, None)
    }

    /// Adds one escaped UTF-16 unit. Returns the first half of a pair, which waits for the second.
    fn unit(&mut self, high: Option<u16>, unit: u16) -> Option<u16> {
        let pair = high.and_then(|high| char::decode_utf16([high, unit]).next()?.ok());
        if let Some(pair) = pair {
            self.text.push(pair);
            return None;
        }
        if high.is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        if (0xD800..0xDC00).contains(&unit) {
            return Some(unit);
        }
        self.text.push(char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER));
        None
    }

    fn collect(&mut self, name: String, mut raw: RawValueState, c: char) -> JsonPlace {
        let ends = !raw.in_string && raw.depth == 0 && matches!(c, ',' | '}');
        if ends {
            if let Ok(value) = serde_json::from_str(&raw.json) {
                self.others.insert(name, value);
            }
            return if c == ',' { JsonPlace::BeforeName } else { JsonPlace::Over };
        }
        raw.take(c);
        JsonPlace::Other(name, raw)
    }
}

impl RawValueState {
    fn take(&mut self, c: char) {
        if self.json.len() < OTHER_LIMIT {
            self.json.push(c);
        }
        let escaped = std::mem::take(&mut self.escaped);
        match c {
            '\\' if self.in_string => self.escaped = !escaped,
            '"' if !escaped => self.in_string = !self.in_string,
            '{' | '[' if !self.in_string => self.depth += 1,
            '}' | ']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(pieces: &[&str]) -> PartialInput {
        let mut growing = PartialInput::new("new_text");
        for piece in pieces {
            growing.feed(piece);
        }
        growing
    }

    /// Escapes every character, as some providers do.
    fn escaped(text: &str) -> String {
        text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat()
    }

    proptest! {
        #[test]
        fn cut_anywhere_it_is_the_beginning_of_what_it_becomes(
            text in "\\PC*|[a\"\\\\\n\t/😀é]{0,12}",
            other in "\\PC{0,8}",
            late in any::<bool>(),
        ) {
            let (name, text_json) = (serde_json::to_string(&other).unwrap(), json!(text).to_string());
            let rest = format!(r#""explanation": {name}, "selection_range":{{"start":1,"end":[2,"}}"]}}"#);
            let whole = if late {
                format!(" {{\"new_text\" :\n{text_json} , {rest}}}")
            } else {
                format!("{{{rest},\"new_text\":\"{}\"}}", escaped(&text))
            };
            for (cut, _) in whole.char_indices() {
                let head = read(&[&whole[..cut]]);
                prop_assert!(text.starts_with(head.text()), "{:?} of {whole}", head.text());
                let both = read(&[&whole[..cut], &whole[cut..]]);
                prop_assert_eq!(both.text(), &text);
                prop_assert_eq!(both.others(), json!({"explanation": other, "selection_range": {"start": 1, "end": [2, "}"]}}));
            }
        }

        #[test]
        fn whatever_comes_it_only_stops_growing(pieces in prop::collection::vec("[{}\\[\\],:\"\\\\u0dD89a]{0,6}", 0..12)) {
            let mut growing = PartialInput::new("u");
            for piece in &pieces {
                growing.feed(piece);
            }
            prop_assert!(growing.text().len() <= pieces.concat().len());
        }
    }

    #[test]
    fn half_a_pair_waits_for_its_other_half() {
        let mut growing = read(&[r#"{"new_text":"a\ud83d"#]);
        assert_eq!(growing.text(), "a");
        growing.feed(r"\ude0");
        assert_eq!(growing.text(), "a");
        growing.feed("0b");
        assert_eq!(growing.text(), "a😀b");
    }

    #[test]
    fn half_a_pair_that_stays_alone_is_replaced() {
        assert_eq!(read(&[r#"{"new_text":"\ud83dx"#]).text(), "\u{fffd}x");
        assert_eq!(read(&[r#"{"new_text":"\ud83d\ud83d\ude00"#]).text(), "\u{fffd}😀");
        assert_eq!(read(&[r#"{"new_text":"\ude00""#]).text(), "\u{fffd}");
    }

    #[test]
    fn a_field_of_the_same_name_further_inside_is_another() {
        let growing = read(&[r#"{"edits":[{"new_text":"no"}],"new_text":"yes"}"#]);
        assert_eq!(growing.text(), "yes");
        let reasons = json!([{"quote": "\"new_text\": ]}", "why": "[{,\\"}]);
        let growing = read(&[&format!(r#"{{"reasons":{reasons},"new_text":"ye"#)]);
        assert_eq!((growing.text(), growing.others()), ("ye", json!({"reasons": reasons})));
    }

    #[test]
    fn what_is_no_object_does_not_grow() {
        for json in ["", "7", "[\"new_text\"]", "{\"new_text\": 7}", "{\"new_text\":\"\\x\"}"] {
            assert_eq!(read(&[json]).text(), "", "{json}");
        }
    }
}
