//! Replace every match of a text or a pattern; each match is a change of its own.

use std::ops::Range;

use regex::{Captures, NoExpand, Regex, RegexBuilder, Replacer};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::document::diff::{DraftPart, HunkDraft};
use crate::document::{Text, utf16_len};

use super::hooks::validate::CONTENT_LIMIT;
use super::span::Span;
use super::{Allowed, Context, Effect, Prepared, Tool, ToolError, changes};

/// Matches of one call; more are not reviewed by anybody.
const MOST_MATCHES: usize = 500;
/// Bytes of a compiled pattern. Matching takes linear time whatever the pattern.
const PATTERN_SIZE: usize = 1 << 20;
/// Bytes that all replacements together may have: a document at its limit.
const MOST_INSERTED: usize = CONTENT_LIMIT * 4;

/// Find and replace.
pub struct FindAndReplace;

/// What the model gives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
// Models are to explain themselves; a call that does not is still understood.
#[schemars(extend("required" = ["find", "replace", "explanation"]))]
pub struct Input {
    /// The text to find, or a regular expression (Rust syntax: no look-around, no back-references).
    find: String,
    /// What stands there instead. With a regular expression, `$1` and `${name}` stand for its groups.
    replace: String,
    /// How `find` is meant.
    #[serde(default)]
    mode: Mode,
    /// Whether upper and lower case must agree.
    #[serde(default)]
    case: Case,
    /// Match whole words only.
    #[serde(default)]
    whole_word: bool,
    /// How many matches you expect; with another number nothing is proposed.
    expected_matches: Option<usize>,
    /// Look only here: a half-open range in UTF-16 code units of the document as shown. Without it, in the selection,
    /// or everywhere if nothing is selected.
    range: Option<Span>,
    /// One sentence for the people who decide: what changes, and why.
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "read from the stored input, which is what counts after a restart"
    )]
    explanation: String,
}

/// How a search text is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// As it stands.
    #[default]
    Literal,
    /// A regular expression.
    Regex,
}

/// Whether upper and lower case must agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Case {
    /// They must.
    #[default]
    Match,
    /// They need not.
    Ignore,
}

impl Tool for FindAndReplace {
    const NAME: &'static str = "find_and_replace";
    const DESCRIPTION: &'static str = "Find every occurrence of a text (or of a regular expression) and replace it. People \
         review each occurrence on its own. Use it for names, terms and spellings that recur, instead of rewriting the document.";
    const WHEN: &'static str =
        "Use when the same words are to be replaced wherever they occur (names, terms, spellings)";
    const EFFECT: Effect = Effect::Proposes;
    type Input = Input;

    async fn prepare(context: Context, input: Input) -> Result<Prepared, ToolError> {
        let base = context.document()?;
        let everywhere = match context.allowed {
            Allowed::Only(start, end) => Span { start, end },
            Allowed::Everything | Allowed::Nothing => Span { start: 0, end: base.text.len() },
        };
        let range = input.range.unwrap_or(everywhere);
        range.within(&base.text)?;
        let text = base.text.clone();
        let hunks = changes::blocking(move |_| matches(&text, range, &input)).await??;
        changes::compose(base, hunks, Vec::new()).await.map(Prepared::Propose)
    }
}

/// One hunk for each match that would change something.
fn matches(text: &Text, range: Span, input: &Input) -> Result<Vec<HunkDraft>, ToolError> {
    let pattern = compile(input)?;
    let Span { start, end } = range;
    let bytes = |units: Range<usize>| {
        let words = text.slice(units).map_err(|error| ToolError::Internal(error.to_string()));
        words.map(|words| words.len())
    };
    // The words around the range say where words and lines begin and end in it.
    let hay = text.to_string();
    let first = bytes(0..start)?;
    let within = first..first + bytes(start..end)?;
    // The replacement's own line ends are normalised, as all text is.
    let replace = Text::new(&input.replace).to_string();
    let (mut hunks, mut found, mut inserted) = (Vec::new(), 0, 0);
    let (mut byte, mut unit) = (first, start);
    let all = Matches { pattern: &pattern, hay: &hay, within, ended: None };
    for captures in all {
        let whole = captures.get_match();
        found += 1;
        if found > MOST_MATCHES {
            return Err(ToolError::Denied(format!(
                "More than {MOST_MATCHES} matches; narrow `find`, or give a `range`"
            )));
        }
        let mut insert = String::new();
        match input.mode {
            Mode::Literal => NoExpand(&replace).replace_append(&captures, &mut insert),
            Mode::Regex => captures.expand(&replace, &mut insert),
        }
        inserted += insert.len();
        if inserted > MOST_INSERTED {
            return Err(ToolError::Denied("Content too large".into()));
        }
        unit += utf16_len(&hay[byte..whole.start()]);
        let from = unit;
        unit += utf16_len(whole.as_str());
        byte = whole.end();
        if insert != whole.as_str() {
            let base = whole.as_str().to_owned();
            hunks.push(vec![DraftPart { from, to: unit, base, insert }].into());
        }
    }
    match input.expected_matches {
        Some(expected) if expected != found => Err(ToolError::Denied(format!(
            "Expected {expected} matches of {:?}, found {found}; nothing was proposed",
            input.find
        ))),
        _ if found == 0 => Err(ToolError::Denied(format!(
            "No match for {:?}; nothing was proposed. Check spelling, case and line breaks",
            input.find
        ))),
        _ => Ok(hunks),
    }
}

/// The matches that lie in a range, each beginning where the one before it has ended.
struct Matches<'h> {
    pattern: &'h Regex,
    hay: &'h str,
    /// In bytes; its start moves on.
    within: Range<usize>,
    /// Where the latest match ended.
    ended: Option<usize>,
}

impl<'h> Iterator for Matches<'h> {
    type Item = Captures<'h>;

    fn next(&mut self) -> Option<Captures<'h>> {
        while self.within.start <= self.within.end {
            let captures = self.pattern.captures_at(self.hay, self.within.start)?;
            let found = captures.get_match();
            let step = |at: usize| at + self.hay[at..].chars().next().map_or(1, char::len_utf8);
            let repeats = found.is_empty() && self.ended == Some(found.end());
            if found.end() > self.within.end || repeats {
                // Another one may begin in the middle of what reaches too far.
                self.within.start = step(found.start());
                continue;
            }
            self.within.start = found.end();
            self.ended = Some(found.end());
            return Some(captures);
        }
        None
    }
}

fn compile(input: &Input) -> Result<Regex, ToolError> {
    let invalid = |reason: String| ToolError::Denied(format!("Invalid pattern: {reason}"));
    if input.find.is_empty() {
        return Err(invalid("`find` is empty".into()));
    }
    let mut pattern = match input.mode {
        Mode::Literal => regex::escape(&Text::new(&input.find).to_string()),
        Mode::Regex => format!("(?:{})", input.find),
    };
    if input.whole_word {
        pattern = format!(r"\b{{start-half}}{pattern}\b{{end-half}}");
    }
    RegexBuilder::new(&pattern)
        .case_insensitive(input.case == Case::Ignore)
        .multi_line(true)
        .size_limit(PATTERN_SIZE)
        .build()
        .map_err(|error| invalid(error.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(text: &str, input: &Value) -> Result<Vec<(usize, usize, String)>, String> {
        let mut input = input.clone();
        input["explanation"] = json!("Because.");
        let input: Input = serde_json::from_value(input).unwrap();
        let text = Text::new(text);
        let range = input.range.unwrap_or(Span { start: 0, end: text.len() });
        let hunks = matches(&text, range, &input).map_err(|error| error.to_string())?;
        let parts = hunks.into_iter().flat_map(|hunk| hunk.parts);
        Ok(parts.map(|part| (part.from, part.to, part.insert)).collect())
    }

    #[test]
    fn every_match_is_a_change_of_its_own() {
        let found = found("😀 a.b a.b axb", &json!({"find": "a.b", "replace": "$1"}));
        assert_eq!(found.unwrap(), [(3, 6, "$1".into()), (7, 10, "$1".into())]);
    }

    #[test]
    fn groups_of_a_pattern_can_be_used_again() {
        let input =
            json!({"find": r"(\w+)@(?<host>\w+)", "replace": "${host} of $1", "mode": "regex"});
        assert_eq!(found("to ana@home", &input).unwrap(), [(3, 11, "home of ana".into())]);
    }

    #[test]
    fn whole_words_case_and_range_narrow_the_search() {
        let text = "Cat cat concat cat";
        let input = json!({"find": "cat", "replace": "dog", "whole_word": true});
        assert_eq!(found(text, &input).unwrap().len(), 2);
        let input = json!({"find": "cat", "replace": "dog", "whole_word": true, "case": "ignore"});
        assert_eq!(found(text, &input).unwrap().len(), 3);
        let input = json!({"find": "cat", "replace": "dog", "range": {"start": 8, "end": 14}});
        assert_eq!(found(text, &input).unwrap(), [(11, 14, "dog".into())]);
    }

    #[test]
    fn where_words_and_lines_begin_is_seen_outside_of_the_range() {
        let range = json!({"start": 1, "end": 7});
        let input = json!({"find": "cat", "replace": "dog", "whole_word": true, "range": range});
        assert!(
            found(
                "concat cat",
                &json!({"range": {"start": 3, "end": 10}, "find": "cat",
            "replace": "dog", "whole_word": true})
            )
            .unwrap()
                == [(7, 10, "dog".into())]
        );
        assert!(found("xcat catx", &input).unwrap_err().starts_with("No match"));
        let input =
            json!({"find": "^b", "replace": "c", "mode": "regex", "range": {"start": 1, "end": 4}});
        assert_eq!(found("ab\nb", &input).unwrap(), [(3, 4, "c".into())]);
        let input = json!({"find": "aa", "replace": "b", "range": {"start": 1, "end": 3}});
        assert_eq!(found("aaaa", &input).unwrap(), [(1, 3, "b".into())]);
    }

    #[test]
    fn a_pattern_can_match_between_characters() {
        let input = json!({"find": "^", "replace": "> ", "mode": "regex"});
        let lines = found("a\nb", &input).unwrap();
        assert_eq!(lines, [(0, 0, "> ".into()), (2, 2, "> ".into())]);
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        let refused = |input: Value| found("one two", &input).unwrap_err();
        assert!(
            refused(json!({"find": "three", "replace": ""})).starts_with("No match for \"three\"")
        );
        assert!(refused(json!({"find": "", "replace": ""})).starts_with("Invalid pattern"));
        assert!(
            refused(json!({"find": "(", "replace": "", "mode": "regex"}))
                .starts_with("Invalid pattern")
        );
        assert!(
            refused(json!({"find": r"\w{1000}{1000}", "replace": "", "mode": "regex"}))
                .starts_with("Invalid pattern")
        );
        let wrong = refused(json!({"find": "o", "replace": "0", "expected_matches": 3}));
        assert_eq!(wrong, "Expected 3 matches of \"o\", found 2; nothing was proposed");
        let many = json!({"find": "x", "replace": "y"});
        assert!(found(&"x".repeat(501), &many).unwrap_err().starts_with("More than 500 matches"));
        assert_eq!(found(&"x".repeat(500), &many).unwrap().len(), 500);
        let huge = json!({"find": "x", "replace": "y".repeat(90_000)});
        assert_eq!(found(&"x".repeat(5), &huge).unwrap_err(), "Content too large");
    }

    #[test]
    fn a_match_that_reads_the_same_already_is_no_change() {
        let input = json!({"find": "colou?r", "replace": "colour", "mode": "regex"});
        assert_eq!(found("color colour", &input).unwrap(), [(0, 5, "colour".into())]);
    }
}
