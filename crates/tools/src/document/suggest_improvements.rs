//! Tool that makes several suggestions in one request, each with its own reason and decision.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

use copydesk_document::diff::HunkDraft;
use copydesk_document::quotation::{self, Folding, QuotationPlace};
use copydesk_document::{Text, utf16_len};

use super::text_changes;
use crate::{
    DocumentProposal, ProgramOffer, ProposeTool, Proposed, ReplacedText, Tool, ToolContext,
    ToolError, ToolResult,
};

/// Maximum number of suggestions of one call, beyond what people would review.
const MOST_SUGGESTIONS: usize = 200;
/// Maximum length of a passage that an error quotes, in characters.
const QUOTE_CHARS: usize = 80;

/// Tool `suggest_improvements`.
pub struct SuggestImprovements;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
// Models are to explain themselves; a call that does not is still understood.
#[schemars(extend("required" = ["suggestions", "explanation"]))]
pub struct Input {
    /// Suggestions; they must not overlap.
    suggestions: Vec<SuggestedChange>,
    /// One sentence for the people who decide: what the suggestions have in common.
    #[serde(default)]
    #[expect(dead_code, reason = "read from the stored input, which counts after a restart")]
    explanation: String,
}

/// One suggestion.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SuggestedChange {
    /// Exact passage of the document; long enough to occur only once.
    original: String,
    /// Replacement; empty removes the passage.
    replacement: String,
    /// Reason, in one short sentence for the people who decide.
    reason: String,
    /// Occurrence of `original`, counted from 1; only needed if there are several.
    occurrence: Option<usize>,
}

impl Tool for SuggestImprovements {
    const NAME: &'static str = "suggest_improvements";
    const TITLE: &'static str = "Suggestions";
    const DESCRIPTION: &'static str = "Suggest many independent improvements at once, each with its own reason. People accept or \
         reject each one on its own, so suggestions must not depend on one another and must not overlap.";
    const WHEN: &'static str =
        "Use when asked for feedback, corrections or improvements of several separate passages";
    const PROGRAM: Option<ProgramOffer> =
        Some(ProgramOffer::new(Self::NAME, "Suggest improvements"));
    type Input = Input;
}

impl ProposeTool for SuggestImprovements {
    const REPLACES: ReplacedText = ReplacedText::Quoted;

    async fn propose(&self, context: ToolContext, input: Input) -> ToolResult<Proposed> {
        let base = context.document()?;
        let text = base.text.clone();
        let (hunks, note) =
            text_changes::blocking(move |_| hunks(&text, &input.suggestions)).await??;
        let proposal = text_changes::compose(base, hunks).await?;
        Ok(Proposed::Change(DocumentProposal { note, ..proposal }))
    }
}

#[derive(Debug)]
struct SuggestionPlace {
    range: Range<usize>,
    new: String,
    /// `true` if the passage only looks like the quoted one.
    is_alike: bool,
}

/// Returns the changes, and a note if passages read otherwise than quoted.
fn hunks(
    text: &Text,
    suggestions: &[SuggestedChange],
) -> Result<(Vec<HunkDraft>, Option<String>), ToolError> {
    if suggestions.is_empty() {
        return Err(ToolError::Denied("There are no suggestions".into()));
    }
    if suggestions.len() > MOST_SUGGESTIONS {
        return Err(ToolError::Denied(format!("At most {MOST_SUGGESTIONS} suggestions at once")));
    }
    let text = text.to_string();
    let mut placed = Vec::with_capacity(suggestions.len());
    let mut problems = Vec::new();
    for (index, suggestion) in suggestions.iter().enumerate() {
        match suggestion.place(&text) {
            Ok(place) => placed.push((place, index)),
            Err(problem) => problems.push(format!("- suggestion {}: {problem}", index + 1)),
        }
    }
    placed.sort_by_key(|(place, index)| (place.range.start, place.range.end, *index));
    for pair in placed.windows(2) {
        if let [(first, one), (second, other)] = pair
            && second.range.start < first.range.end
        {
            problems.push(format!("- suggestions {} and {} overlap", one + 1, other + 1));
        }
    }
    if !problems.is_empty() {
        return Err(ToolError::Denied(format!("Nothing was proposed:\n{}", problems.join("\n"))));
    }
    let notes = placed.iter().filter(|(place, _)| place.is_alike).map(|(place, index)| {
        let words = quotation::found_alike(&text[place.range.clone()], Folding::LookAlike);
        format!("suggestion {}: {words}", index + 1)
    });
    let notes: Vec<_> = notes.collect();
    let note = (!notes.is_empty()).then(|| notes.join(". "));
    let (mut byte, mut unit, mut hunks) = (0, 0, Vec::with_capacity(placed.len()));
    for (SuggestionPlace { range, new, .. }, index) in placed {
        unit += utf16_len(&text[byte..range.start]);
        byte = range.start;
        let reason = suggestions[index].reason.trim();
        let reason = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
        let found = text_changes::corrections_apart(&text[range], &new, unit, reason);
        hunks.extend(found.into_iter().filter(|hunk| !hunk.parts.is_empty()));
    }
    Ok((hunks, note))
}

impl SuggestedChange {
    fn place(&self, text: &str) -> Result<SuggestionPlace, String> {
        let QuotedPassage { range, original, is_alike } =
            passage(text, ("original", &self.original), self.occurrence)?;
        let new = Text::new(&self.replacement).to_string();
        if !is_alike {
            return Ok(SuggestionPlace { range, new, is_alike });
        }
        let found = &text[range.clone()];
        let new = quotation::rewritten(found, &original, &new, Folding::LookAlike);
        Ok(SuggestionPlace { range, new, is_alike })
    }
}

/// Passage that a call quotes.
pub(super) struct QuotedPassage {
    /// Range in bytes.
    pub range: Range<usize>,
    /// Words as the call quotes them.
    pub original: String,
    /// `true` if the passage only looks like these words.
    pub is_alike: bool,
}

/// Finds the passage that a call quotes in a field; the error says why there is none.
pub(super) fn passage(
    text: &str,
    (field, quote): (&str, &str),
    occurrence: Option<usize>,
) -> Result<QuotedPassage, String> {
    let original = Text::new(quote).to_string();
    if original.is_empty() {
        return Err(format!("`{field}` is empty"));
    }
    let quoted: String = original.chars().take(QUOTE_CHARS).collect();
    let mut places = text.match_indices(&original).map(|(from, _)| from);
    let place = match (occurrence, places.next(), places.next()) {
        (_, None, _) => return look_alike(text, original, &quoted, occurrence),
        (None | Some(1), Some(only), None) | (Some(1), Some(only), _) => only,
        (None, Some(_), Some(_)) => {
            let places = || text.match_indices(&original).map(|(from, _)| from);
            return Err(format!(
                "{quoted:?} occurs {} times ({}); give `occurrence`, or a longer passage",
                places().count(),
                quotation::lines(text, places())
            ));
        }
        (Some(number), ..) => {
            let nth = number.checked_sub(1);
            let found = nth.and_then(|nth| text.match_indices(&original).nth(nth));
            found.ok_or_else(|| format!("there is no occurrence {number} of {quoted:?}"))?.0
        }
    };
    Ok(QuotedPassage { range: place..place + original.len(), original, is_alike: false })
}

fn look_alike(
    text: &str,
    original: String,
    quoted: &str,
    occurrence: Option<usize>,
) -> Result<QuotedPassage, String> {
    let place = quotation::find(text, &original, Folding::LookAlike);
    if let (QuotationPlace::Alike(range), None | Some(1)) = (place, occurrence) {
        return Ok(QuotedPassage { range, original, is_alike: true });
    }
    let hint = quotation::hint(text, 0..text.len(), &original, Folding::LookAlike);
    let hint = if hint.is_empty() { hint } else { format!(". {hint}") };
    Err(format!("{quoted:?} is not in the document{hint}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn suggested(
        text: &str,
        suggestions: &[(&str, &str, Option<usize>)],
    ) -> Result<String, String> {
        let suggestion = |&(original, replacement, occurrence): &(&str, &str, Option<usize>)| {
            serde_json::from_value(json!({
                "original": original, "replacement": replacement, "reason": "Why.", "occurrence": occurrence,
            }))
        };
        let suggestions: Vec<SuggestedChange> =
            suggestions.iter().map(suggestion).collect::<Result<_, _>>().unwrap();
        let (hunks, _) =
            hunks(&Text::new(text), &suggestions).map_err(|error| error.to_string())?;
        let parts = hunks.iter().map(|hunk| {
            assert_eq!(hunk.explanation.as_deref(), Some("Why."));
            let words =
                hunk.parts.iter().map(|part| format!("{}-{} {}", part.from, part.to, part.insert));
            words.collect::<Vec<_>>().join(" + ")
        });
        Ok(parts.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn each_suggestion_is_one_change_of_the_words_that_differ() {
        let text = "😀 He could of slept. It were late.";
        let outcome = suggested(
            text,
            &[("It were late", "It was late", None), ("could of slept", "could have slept", None)],
        );
        assert_eq!(outcome.unwrap(), "12-14 have; 25-29 was");
    }

    #[test]
    fn a_passage_that_only_looks_alike_keeps_its_characters() {
        let text = "It’s the keeper’s log. It were late.";
        let outcome = suggested(text, &[("It's the keeper's log", "It's the keeper's book", None)]);
        assert_eq!(outcome.unwrap(), "18-21 book");
        let refused = suggested("it’s\nit’s", &[("it's", "it is", None)]).unwrap_err();
        assert!(refused.contains("2 passages look like it (lines 1, 2)"), "{refused}");
        let refused = suggested(text, &[("the Keeper’s log", "x", None)]).unwrap_err();
        assert!(
            refused.contains("line 1, reads \"the keeper’s log\" and differs in upper"),
            "{refused}"
        );
    }

    #[test]
    fn a_passage_that_recurs_needs_a_number() {
        let outcome = suggested("no no no", &[("no", "yes", None)]).unwrap_err();
        assert!(outcome.contains("\"no\" occurs 3 times"), "{outcome}");
        assert_eq!(suggested("no no no", &[("no", "yes", Some(2))]).unwrap(), "3-5 yes");
        assert!(
            suggested("no no", &[("no", "yes", Some(3))]).unwrap_err().contains("no occurrence 3")
        );
        assert!(
            suggested("no no", &[("no", "yes", Some(0))]).unwrap_err().contains("no occurrence 0")
        );
    }

    #[test]
    fn every_problem_is_named_at_once_and_nothing_is_proposed() {
        let outcome = suggested(
            "one two three",
            &[
                ("one two", "1", None),
                ("two three", "2", None),
                ("four", "4", None),
                ("", "5", None),
            ],
        );
        let outcome = outcome.unwrap_err();
        for part in [
            "suggestions 1 and 2 overlap",
            "suggestion 3: \"four\" is not in the document",
            "suggestion 4: `original` is empty",
        ] {
            assert!(outcome.contains(part), "{outcome}");
        }
        assert!(suggested("one", &[]).is_err());
    }

    #[test]
    fn neighbouring_suggestions_stay_apart() {
        assert_eq!(
            suggested("ab cd", &[("ab ", "x ", None), ("cd", "y", None)]).unwrap(),
            "0-2 x; 3-5 y"
        );
    }
}
