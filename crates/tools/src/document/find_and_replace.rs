//! Tool that replaces every match of a text or a pattern; each match becomes a hunk of its own.

use std::ops::Range;

use regex::{Captures, Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use unicode_segmentation::UnicodeSegmentation as _;

use copydesk_document::diff::{DiffLimits, DraftPart, HunkDraft};
use copydesk_document::quotation::{self, Folding, QuotationPlace};
use copydesk_document::{Text, utf16_len};

use super::template::ReplacementTemplate;
use super::text_changes;
use crate::pipeline::input_hooks::CONTENT_LIMIT;
use crate::text_range::TextRange;
use crate::{
    DocumentProposal, EditableRange, ProgramOffer, ProposeTool, Proposed, ReplacedText, Tool,
    ToolContext, ToolError, ToolResult,
};

/// Maximum number of matches of one call, beyond what people would review.
const MOST_MATCHES: usize = 500;
/// Maximum size of a compiled pattern, in bytes. Matching takes linear time for every pattern.
const PATTERN_SIZE: usize = 1 << 20;
/// Maximum size of all replacements together, in bytes: that of a document at its limit.
const MOST_INSERTED: usize = CONTENT_LIMIT * 4;

/// Tool `find_and_replace`.
pub struct FindAndReplace;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
// Models are to explain themselves; a call that does not is still understood.
#[schemars(extend("required" = ["find", "replace", "explanation"]))]
pub struct Input {
    /// Text to find, or a regular expression (Rust syntax: no look-around, no back-references).
    find: String,
    /// Replacement. With a regular expression, `${1}`, `${name}` and `\1` stand for its groups, and
    /// `$$` for a dollar sign; unknown groups are refused.
    replace: String,
    /// Meaning of `find`.
    #[serde(default)]
    mode: SearchMode,
    /// Case sensitivity.
    #[serde(default)]
    case: CaseMode,
    /// `true`: match whole words only.
    #[serde(default)]
    whole_word: bool,
    /// Expected number of matches; with another number nothing is proposed.
    expected_matches: Option<usize>,
    /// Range to search: half-open, in UTF-16 code units of the document as shown; missing: the
    /// selection, or everything if nothing is selected.
    range: Option<TextRange>,
    /// One sentence for the people who decide: what changes, and why.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the stored input, which counts after a restart")]
    explanation: String,
}

/// Meaning of a search text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SearchMode {
    /// Literal text.
    #[default]
    Literal,
    /// Regular expression.
    Regex,
}

/// Case rule of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CaseMode {
    /// Upper and lower case differ.
    #[default]
    Match,
    /// Upper and lower case are equal.
    Ignore,
}

impl Tool for FindAndReplace {
    const NAME: &'static str = "find_and_replace";
    const TITLE: &'static str = "Find and replace";
    const DESCRIPTION: &'static str = "Find every occurrence of a text (or of a regular expression) and replace it. People \
         review each occurrence on its own. Use it for names, terms and spellings that recur, instead of rewriting the document. \
         A literal text is not found inside a joined character, such as one person of a family emoji. If it is nowhere, a single \
         passage with other quotes, dashes or spaces is taken.";
    const WHEN: &'static str =
        "Use when the same words are to be replaced wherever they occur (names, terms, spellings)";
    const PROGRAM: Option<ProgramOffer> = Some(ProgramOffer::new(Self::NAME, "Find and replace"));
    type Input = Input;
}

impl ProposeTool for FindAndReplace {
    const REPLACES: ReplacedText = ReplacedText::Quoted;
    const SUBSTITUTES: bool = true;

    async fn propose(&self, context: ToolContext, input: Input) -> ToolResult<Proposed> {
        let base = context.document()?;
        let everywhere = match context.view.editable {
            EditableRange::Only(start, end) => TextRange { start, end },
            EditableRange::Everything | EditableRange::Nothing => {
                TextRange { start: 0, end: base.text.len() }
            }
        };
        let range = input.range.unwrap_or(everywhere);
        range.within(&base.text)?;
        let text = base.text.clone();
        let units = text.len();
        let is_literal = input.mode == SearchMode::Literal;
        let found = move |_: &DiffLimits| matches(&text, range, &input);
        // The time that a regular expression takes does not depend on the length of the text alone.
        let FoundMatches { hunks, note } = if is_literal {
            text_changes::linear(units, found).await??
        } else {
            text_changes::blocking(found).await??
        };
        let proposal = text_changes::compose(base, hunks).await?;
        Ok(Proposed::Change(DocumentProposal { note, ..proposal }))
    }
}

#[derive(Debug, Default)]
struct FoundMatches {
    hunks: Vec<HunkDraft>,
    note: Option<String>,
}

fn matches(text: &Text, range: TextRange, input: &Input) -> Result<FoundMatches, ToolError> {
    let pattern = compile(input)?;
    let TextRange { start, end } = range;
    let bytes = |units: Range<usize>| {
        let words = text.slice(units).map_err(|error| ToolError::Internal(error.to_string()));
        words.map(|words| words.len())
    };
    // The words around the range decide where words and lines begin and end in it.
    let hay = text.to_string();
    let first = bytes(0..start)?;
    let within = first..first + bytes(start..end)?;
    // Line ends of the replacement are normalised, as in every text.
    let template = template(input, &pattern)?;
    let joints = MatchBoundaries::for_mode(input.mode, &hay);
    let (mut hunks, mut found, mut inserted, mut inside) = (Vec::new(), 0, 0, 0);
    let (mut byte, mut unit) = (first, start);
    let all = RangeMatches { pattern: &pattern, hay: &hay, within: within.clone(), ended: None };
    for FoundMatch { range, groups } in all {
        if !joints.are_at(&range) {
            inside += 1;
            continue;
        }
        found += 1;
        if found > MOST_MATCHES {
            return Err(ToolError::Denied(format!(
                "More than {MOST_MATCHES} matches; narrow `find`, or give a `range`"
            )));
        }
        let (words, starts) = (&hay[range.clone()], range.start);
        let insert = template.fill(|group| groups.as_ref()?.get(group).map(|it| it.as_str()));
        inserted += insert.len();
        if inserted > MOST_INSERTED {
            return Err(ToolError::Denied("Content too large".into()));
        }
        unit += utf16_len(&hay[byte..starts]);
        let from = unit;
        unit += utf16_len(words);
        byte = range.end;
        if insert != words {
            let base = words.to_owned();
            hunks.push(vec![DraftPart { from, to: unit, base, insert }].into());
        }
    }
    let mut matches = FoundMatches { hunks, note: None };
    if found == 0
        && inside == 0
        && let Some(range) = alike(&hay, &within, input, &joints)
    {
        found = 1;
        matches = look_alike(&hay, &range, input);
    }
    let hint = || if found == 0 { hint(&hay, &within, input) } else { String::new() };
    expect_matches(input, found, inside, hint).map(|()| matches)
}

/// Checks the number of matches. `inside` is how many lie inside of joined characters.
fn expect_matches(
    input: &Input,
    found: usize,
    inside: usize,
    hint: impl FnOnce() -> String,
) -> Result<(), ToolError> {
    let inside = match inside {
        0 => String::new(),
        inside => {
            format!(". {inside} inside of joined characters do not count; mode regex finds them")
        }
    };
    let find = &input.find;
    match input.expected_matches {
        Some(expected) if expected != found => Err(ToolError::Denied(format!(
            "Expected {expected} matches of {find:?}, found {found}; nothing was proposed{}{inside}",
            hint()
        ))),
        _ if found == 0 => Err(ToolError::Denied(format!(
            "No match for {find:?}; nothing was proposed. Check spelling, case and line breaks{}{inside}",
            hint()
        ))),
        _ => Ok(()),
    }
}

/// Returns the only passage of a range that looks like the text to find, in bytes.
fn alike(
    hay: &str,
    within: &Range<usize>,
    input: &Input,
    joints: &MatchBoundaries,
) -> Option<Range<usize>> {
    if input.mode != SearchMode::Literal {
        return None;
    }
    let (words, folding) = (Text::new(&input.find).to_string(), folding(input));
    let place = quotation::find(&hay[within.clone()], &words, folding);
    let range = match place {
        QuotationPlace::Alike(range) => within.start + range.start..within.start + range.end,
        QuotationPlace::Exact | QuotationPlace::Several(_) | QuotationPlace::Missing => {
            return None;
        }
    };
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let goes_on =
        hay[..range.start].ends_with(is_letter) || hay[range.end..].starts_with(is_letter);
    (joints.are_at(&range) && !(input.whole_word && goes_on)).then_some(range)
}

fn folding(input: &Input) -> Folding {
    match input.case {
        CaseMode::Match => Folding::LookAlike,
        CaseMode::Ignore => Folding::AnyCase,
    }
}

fn look_alike(hay: &str, range: &Range<usize>, input: &Input) -> FoundMatches {
    let (old, new) = (Text::new(&input.find).to_string(), Text::new(&input.replace).to_string());
    let folding = folding(input);
    let found = &hay[range.clone()];
    let new = quotation::rewritten(found, &old, &new, folding);
    let hunk = text_changes::one_hunk(found, &new, utf16_len(&hay[..range.start]), None);
    let hunks = [hunk].into_iter().filter(|hunk| !hunk.parts.is_empty()).collect();
    FoundMatches { hunks, note: Some(quotation::found_alike(found, folding)) }
}

/// Returns a sentence about the nearest passage, after a full stop; empty if there is none.
fn hint(hay: &str, within: &Range<usize>, input: &Input) -> String {
    if input.mode != SearchMode::Literal {
        return String::new();
    }
    let words = Text::new(&input.find).to_string();
    let hint = quotation::hint(hay, within.clone(), &words, folding(input));
    if hint.is_empty() { hint } else { format!(". {hint}") }
}

fn template(input: &Input, pattern: &SearchPattern) -> Result<ReplacementTemplate, ToolError> {
    let replace = Text::new(&input.replace).to_string();
    let (SearchMode::Regex, SearchPattern::Expression(pattern)) = (input.mode, pattern) else {
        return Ok(ReplacementTemplate::plain(&replace));
    };
    let groups: Vec<_> = pattern.capture_names().collect();
    let refused = |reason| ToolError::Denied(format!("{reason}; nothing was proposed"));
    ReplacementTemplate::read(&replace, &groups).map_err(refused)
}

/// Places where a match may begin and end; for literal text the boundaries of grapheme clusters.
enum MatchBoundaries {
    Everywhere,
    At(Vec<usize>),
}

impl MatchBoundaries {
    fn for_mode(mode: SearchMode, text: &str) -> Self {
        if mode == SearchMode::Literal { Self::of(text) } else { Self::Everywhere }
    }

    fn of(text: &str) -> Self {
        // A [`Text`] has no `\r`, so every ASCII character is a grapheme cluster of its own.
        if text.is_ascii() {
            return Self::Everywhere;
        }
        let ends = std::iter::once(text.len());
        Self::At(text.grapheme_indices(true).map(|(at, _)| at).chain(ends).collect())
    }

    fn are_at(&self, range: &Range<usize>) -> bool {
        match self {
            Self::Everywhere => true,
            Self::At(places) => {
                [range.start, range.end].iter().all(|at| places.binary_search(at).is_ok())
            }
        }
    }
}

enum SearchPattern {
    /// Exact words, searched for without compiling an expression.
    Words(String),
    Expression(Regex),
}

struct FoundMatch<'h> {
    range: Range<usize>,
    groups: Option<Captures<'h>>,
}

impl SearchPattern {
    fn find<'h>(&self, hay: &'h str, from: usize) -> Option<FoundMatch<'h>> {
        match self {
            Self::Words(words) => {
                let start = from + hay[from..].find(words)?;
                Some(FoundMatch { range: start..start + words.len(), groups: None })
            }
            Self::Expression(expression) => {
                let groups = expression.captures_at(hay, from)?;
                Some(FoundMatch { range: groups.get_match().range(), groups: Some(groups) })
            }
        }
    }
}

/// Iterator over the matches in a range. Each begins at or after the end of the previous one.
struct RangeMatches<'h> {
    pattern: &'h SearchPattern,
    hay: &'h str,
    /// Remaining range in bytes; its start advances.
    within: Range<usize>,
    /// End of the latest match, in bytes.
    ended: Option<usize>,
}

impl<'h> Iterator for RangeMatches<'h> {
    type Item = FoundMatch<'h>;

    fn next(&mut self) -> Option<FoundMatch<'h>> {
        while self.within.start <= self.within.end {
            let found = self.pattern.find(self.hay, self.within.start)?;
            let range = &found.range;
            let step = |at: usize| at + self.hay[at..].chars().next().map_or(1, char::len_utf8);
            let repeats = range.is_empty() && self.ended == Some(range.end);
            if range.end > self.within.end || repeats {
                // Another match may begin inside the one that extends too far.
                self.within.start = step(range.start);
                continue;
            }
            self.within.start = range.end;
            self.ended = Some(range.end);
            return Some(found);
        }
        None
    }
}

fn compile(input: &Input) -> Result<SearchPattern, ToolError> {
    let invalid = |reason: String| ToolError::Denied(format!("Invalid pattern: {reason}"));
    if input.find.is_empty() {
        return Err(invalid("`find` is empty".into()));
    }
    let mut pattern = match input.mode {
        SearchMode::Literal => {
            let words = Text::new(&input.find).to_string();
            if input.case == CaseMode::Match && !input.whole_word {
                return Ok(SearchPattern::Words(words));
            }
            regex::escape(&words)
        }
        SearchMode::Regex => format!("(?:{})", input.find),
    };
    if input.whole_word {
        pattern = format!(r"\b{{start-half}}{pattern}\b{{end-half}}");
    }
    RegexBuilder::new(&pattern)
        .case_insensitive(input.case == CaseMode::Ignore)
        .multi_line(true)
        .size_limit(PATTERN_SIZE)
        .build()
        .map(SearchPattern::Expression)
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
        let range = input.range.unwrap_or(TextRange { start: 0, end: text.len() });
        let hunks = matches(&text, range, &input).map_err(|error| error.to_string())?;
        let parts = hunks.hunks.into_iter().flat_map(|hunk| hunk.parts);
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
    fn a_group_that_the_pattern_does_not_have_is_refused() {
        for replace in ["$1ur", "$1USD", "$50", "$3", r"\3"] {
            let input = json!({"find": "(col)(or)", "replace": replace, "mode": "regex"});
            let refused = found("color", &input).unwrap_err();
            assert!(
                refused.contains("names a group that `find` does not have; it has 2."),
                "{refused}"
            );
            assert!(refused.ends_with("; nothing was proposed"), "{refused}");
        }
        let swap = json!({"find": "(col)(or)", "replace": r"\2\1", "mode": "regex"});
        assert_eq!(found("color", &swap).unwrap(), [(0, 5, "orcol".into())]);
        let price = json!({"find": "(5) euros", "replace": "$$${1}0", "mode": "regex"});
        assert_eq!(found("5 euros", &price).unwrap(), [(0, 7, "$50".into())]);
    }

    #[test]
    fn a_literal_text_is_not_found_inside_a_joined_character() {
        let woman = json!({"find": "👩", "replace": "x"});
        assert_eq!(found("👩‍👩‍👧 and 👩", &woman).unwrap(), [(13, 15, "x".into())]);
        let refused = found("👩‍👩‍👧", &woman).unwrap_err();
        assert!(
            refused
                .ends_with(". 2 inside of joined characters do not count; mode regex finds them"),
            "{refused}"
        );
        // A letter and its accent, written as two.
        let letter = json!({"find": "e", "replace": "x"});
        assert_eq!(found("e\u{301}e", &letter).unwrap(), [(2, 3, "x".into())]);
        let accents = json!({"find": "\u{301}", "replace": "", "mode": "regex"});
        assert_eq!(found("e\u{301}", &accents).unwrap(), [(1, 2, String::new())]);
        let one = json!({"find": "👩", "replace": "x", "expected_matches": 3});
        assert!(
            found("👩‍👩‍👧 and 👩", &one)
                .unwrap_err()
                .contains("found 1; nothing was proposed. 2 inside")
        );
    }

    #[test]
    fn a_text_that_only_looks_alike_is_found_once_and_keeps_its_characters() {
        let input = json!({"find": "the keeper's \"log\"", "replace": "the guard's \"log\""});
        let text = "Then the keeper’s “log” lay.";
        assert_eq!(found(text, &input).unwrap(), [(9, 17, "guard’s".into())]);
        let twice = found("it’s, and it’s", &json!({"find": "it's", "replace": "it is"}));
        let refused = twice.unwrap_err();
        assert!(refused.contains("2 passages look like it (line 1)"), "{refused}");
        let both = json!({"find": "it's", "replace": "it is"});
        assert_eq!(found("it’s, and it's", &both).unwrap(), [(10, 14, "it is".into())]);
        let word = json!({"find": "it's", "replace": "x", "whole_word": true});
        assert!(found("bit’s", &word).is_err());
        let any_case = json!({"find": "it's", "replace": "it is", "case": "ignore"});
        assert_eq!(found("IT’S", &any_case).unwrap().len(), 1);
        let range = json!({"find": "it's", "replace": "x", "range": {"start": 5, "end": 9}});
        assert_eq!(found("it’s it’s", &range).unwrap(), [(5, 9, "x".into())]);
        let pattern = json!({"find": "it's", "replace": "x", "mode": "regex"});
        assert!(found("it’s", &pattern).is_err());
        let expected = json!({"find": "it's", "replace": "x", "expected_matches": 2});
        assert!(found("it’s", &expected).unwrap_err().contains("found 1; nothing"));
    }

    #[test]
    fn a_refusal_shows_what_stands_there() {
        let refused = found("A\nthe Keeper", &json!({"find": "the keeper", "replace": "x"}));
        assert_eq!(
            refused.unwrap_err(),
            "No match for \"the keeper\"; nothing was proposed. Check spelling, case and line breaks. The nearest passage, \
             line 2, reads \"the Keeper\" and differs in upper and lower case"
        );
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
