//! Reasons that a model gives for single changes of a call: each belongs to the change that has its
//! quotation, and people see it there.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

use copydesk_document::Text;
use copydesk_document::diff::{DraftPart, HunkDraft};
use copydesk_document::quotation::{self, Folding};
use copydesk_rooms::command::DocumentSnapshot;

use super::text_changes;
use crate::{DocumentProposal, ToolError, ToolResult};

/// Maximum number of reasons of one call.
const MOST_REASONS: usize = 200;
/// Maximum length of a quotation, and of a reason, in Unicode scalars.
const MOST_CHARS: usize = 300;
/// Maximum length of a quotation in the request's explanation, in Unicode scalars.
const SHOWN_CHARS: usize = 80;

/// Reasons for single changes, a few words each, which people read beside the change. At most 200.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ChangeReasons(Vec<ChangeReason>);

/// One reason.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChangeReason {
    /// Changed words, exactly as in the new text; if words are only removed, these words of the old
    /// text. At most 300 characters.
    quote: String,
    /// Reason for this change alone. At most 300 characters.
    why: String,
}

/// Range of one part of a hunk in the old text and in the new one, in bytes.
struct PartPlace {
    /// Index of the hunk.
    hunk: usize,
    old: Range<usize>,
    new: Range<usize>,
}

impl ChangeReasons {
    /// Gives each change of a proposal for the document `base` its reason. Those that belong to no
    /// change are left for the request's explanation.
    pub async fn assign_to(
        self,
        base: &DocumentSnapshot,
        mut proposal: DocumentProposal,
    ) -> ToolResult<DocumentProposal> {
        self.check()?;
        if self.0.is_empty() {
            return Ok(proposal);
        }
        let old = base.text.clone();
        text_changes::blocking(move |_| {
            let unplaced = self.assign(&mut proposal.hunks, &old, &proposal.text);
            DocumentProposal { unplaced_reasons: unplaced, ..proposal }
        })
        .await
    }

    fn check(&self) -> Result<(), ToolError> {
        let refused = |problem| Err(ToolError::Denied(format!("{problem}; nothing was proposed")));
        if self.0.len() > MOST_REASONS {
            return refused(format!("At most {MOST_REASONS} `reasons` at once"));
        }
        let mut fields =
            self.0.iter().zip(1..).flat_map(|(ChangeReason { quote, why }, number)| {
                [("quote", quote, number), ("why", why, number)]
            });
        match fields.find(|(_, text, _)| text.trim().chars().count() > MOST_CHARS) {
            Some((field, _, number)) => refused(format!(
                "`{field}` of reason {number} has more than {MOST_CHARS} characters"
            )),
            None => Ok(()),
        }
    }

    /// Gives each hunk between two texts its reason: the first hunk that has words of the quotation
    /// and no reason yet. Returns one line for each reason that belongs to none.
    fn assign(self, hunks: &mut [HunkDraft], old: &Text, new: &Text) -> Vec<String> {
        let parts = part_places(hunks, old);
        let (old, new) = (old.to_string(), new.to_string());
        let mut unplaced = Vec::new();
        for ChangeReason { quote, why } in self.0 {
            let (quote, why) = (quote.trim(), why.trim());
            if why.is_empty() {
                continue;
            }
            let is_free = |part: &PartPlace| hunks[part.hunk].explanation.is_none();
            let removes = |part: &PartPlace| is_free(part) && !part.old.is_empty();
            let found = first_overlap(&parts, &new, quote, |part| &part.new, is_free)
                .or_else(|| first_overlap(&parts, &old, quote, |part| &part.old, removes));
            match found {
                Some(hunk) => hunks[hunk].explanation = Some(why.to_owned()),
                None => unplaced.push(unplaced_line(quote, why)),
            }
        }
        unplaced
    }
}

/// Returns the places of all parts, in order: in both texts they follow one another.
fn part_places<'h>(hunks: &'h [HunkDraft], old: &Text) -> Vec<PartPlace> {
    let of_hunk =
        |(hunk, draft): (usize, &'h HunkDraft)| draft.parts.iter().map(move |it| (hunk, it));
    let mut parts: Vec<_> = hunks.iter().enumerate().flat_map(of_hunk).collect();
    parts.sort_by_key(|(_, part)| (part.from, part.to));
    let (mut unit, mut old_end, mut new_end) = (0, 0, 0);
    let place = |(hunk, part): (usize, &'h DraftPart)| {
        let kept = old.slice(unit..part.from).map_or(0, |words| words.len());
        let (old, new) = (old_end + kept, new_end + kept);
        unit = part.to;
        (old_end, new_end) = (old + part.base.len(), new + part.insert.len());
        PartPlace { hunk, old: old..old_end, new: new..new_end }
    };
    parts.into_iter().map(place).collect()
}

/// Returns the first hunk that fits and has a part inside a quoted passage of `text`, or across its
/// end.
fn first_overlap(
    parts: &[PartPlace],
    text: &str,
    quote: &str,
    range: impl Fn(&PartPlace) -> &Range<usize>,
    fits: impl Fn(&PartPlace) -> bool,
) -> Option<usize> {
    let mut passages = quotation::alike(text, quote, Folding::LookAlike);
    // “the” is also in “other”; whole words come first.
    passages.sort_by_key(|passage| cuts_word(text, passage));
    passages.into_iter().find_map(|passage| {
        let behind = parts.partition_point(|part| range(part).end <= passage.start);
        let mut inside = parts[behind..].iter().take_while(|part| range(part).start < passage.end);
        inside.find(|part| fits(part)).map(|part| part.hunk)
    })
}

/// Returns `true` if a range begins or ends inside of a word. Scripts without upper and lower case
/// have no spaces in some languages, so their letters do not count.
fn cuts_word(text: &str, range: &Range<usize>) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_lowercase() || c.is_uppercase());
    [range.start, range.end]
        .into_iter()
        .any(|at| is_letter(text[..at].chars().next_back()) && is_letter(text[at..].chars().next()))
}

/// Returns a reason as one line of the request's explanation.
fn unplaced_line(quote: &str, why: &str) -> String {
    let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (quote, why) = (spaced(quote), spaced(why));
    let shown: String = quote.chars().take(SHOWN_CHARS).collect();
    let more = if shown.len() < quote.len() { "…" } else { "" };
    if quote.is_empty() {
        format!("Also: {why}")
    } else {
        format!("Also, for “{shown}{more}”: {why}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use copydesk_document::diff::{DiffLimits, diff};

    use super::*;

    /// Returns the reasons of the hunks between two texts, and the lines of the others.
    fn given(old: &str, new: &str, reasons: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let mut hunks = diff(old, new, &DiffLimits::default());
        let reason = |(quote, why): &(&str, &str)| json!({"quote": quote, "why": why});
        let reasons: Value = reasons.iter().map(reason).collect();
        let reasons: ChangeReasons = serde_json::from_value(reasons).unwrap();
        let unplaced = reasons.assign(&mut hunks, &Text::new(old), &Text::new(new));
        let shown = hunks.into_iter().map(|hunk| hunk.explanation.unwrap_or_default());
        (shown.collect(), unplaced)
    }

    const OLD: &str = "😀 He could of slept.\n\nIt were very late.\n\nThey was cold.";
    const NEW: &str = "😀 He could have slept.\n\nIt was late.\n\nThey were cold.";

    #[test]
    fn each_change_has_the_reason_whose_quotation_overlaps_it() {
        let reasons = [("They were", "Plural."), ("could have", "“Of” is no verb.")];
        let (shown, unplaced) = given(OLD, NEW, &reasons);
        assert_eq!(shown.first().map(String::as_str), Some("“Of” is no verb."));
        assert_eq!(shown.last().map(String::as_str), Some("Plural."));
        assert!(shown.iter().filter(|why| why.is_empty()).count() >= 1, "none is invented");
        assert!(unplaced.is_empty());
    }

    #[test]
    fn removed_words_are_quoted_from_the_old_text_or_by_the_words_around_them() {
        let (old, new) = ("It was very late. The men left.", "It was late. The men left.");
        for quote in ["very", "very late", "was late"] {
            assert_eq!(given(old, new, &[(quote, "Plainer.")]).0, ["Plainer."], "{quote}");
        }
        // Words that stay beside the change are not in it.
        let (shown, unplaced) = given(old, new, &[("The men", "Plainer.")]);
        assert_eq!(
            (shown, unplaced),
            (vec![String::new()], vec!["Also, for “The men”: Plainer.".into()])
        );
    }

    #[test]
    fn old_words_beside_an_insertion_do_not_name_it() {
        let (shown, unplaced) = given("One three.", "One two three.", &[("One three", "Gap.")]);
        assert_eq!((shown, unplaced.len()), (vec![String::new()], 1));
    }

    #[test]
    fn equal_quotations_go_to_one_change_after_the_other() {
        let (old, new) = (
            "Teh fog.\n\nOther.\n\nTeh men.\n\nTeh end.",
            "The fog.\n\nOther.\n\nThe men.\n\nThe end.",
        );
        let (shown, unplaced) = given(old, new, &[("The", "1"), ("The", "2")]);
        assert_eq!((shown, unplaced.len()), (vec!["1".into(), "2".into(), String::new()], 0));
        let four = [("The", "1"), ("The", "2"), ("The", "3"), ("The", "4")];
        let (shown, unplaced) = given(old, new, &four);
        assert_eq!((shown.join(""), unplaced), ("123".into(), vec!["Also, for “The”: 4".into()]));
    }

    #[test]
    fn a_quotation_over_two_changes_is_for_the_first_one() {
        let (old, new) = ("Teh fog.\n\nTeh men.", "The fog.\n\nThe men.");
        let (shown, _) = given(old, new, &[("The fog.\n\nThe men.", "Typing.")]);
        assert_eq!(shown, ["Typing.", ""]);
    }

    #[test]
    fn whole_words_come_before_parts_of_words() {
        let (old, new) = ("A mother.\n\nTeh end.", "Another mother.\n\nthe end.");
        assert_eq!(given(old, new, &[("the", "Typing.")]).0, ["", "Typing."]);
        assert_eq!(given(old, new, &[("noth", "Longer.")]).0, ["Longer.", ""]);
    }

    #[test]
    fn quotations_may_have_other_quotes_dashes_and_spaces() {
        let (old, new) = ("It is the men’s log – here.", "It’s the men’s\u{a0}book — here.");
        for quote in ["It's the", " men's book - here ", "book -- here"] {
            let (shown, unplaced) = given(old, new, &[(quote, "Shorter.")]);
            assert!(unplaced.is_empty() && shown.contains(&"Shorter.".to_owned()), "{quote}");
        }
    }

    #[test]
    fn a_sentence_that_moved_is_found_where_it_stands_now() {
        let old = "The fog rose over the bar at noon.\n\nNobody came to the lamp.\n\nThe men rowed out twice that day.";
        let new = "Nobody came to the lamp.\n\nThe men rowed out twice that day.\n\nThe fog rose over the bar at noon.";
        let (shown, unplaced) = given(old, new, &[("The fog rose over", "Last.")]);
        assert_eq!((shown, unplaced), (vec!["Last.".into()], vec![]));
    }

    #[test]
    fn what_belongs_to_no_change_becomes_a_line() {
        let long = "x".repeat(100);
        let reasons = [("", "All\nof it."), (&*long, "Long."), ("He slept", " "), ("…", "Dots.")];
        let (shown, unplaced) = given(OLD, NEW, &reasons);
        assert!(shown.iter().all(String::is_empty));
        let cut = format!("Also, for “{}…”: Long.", "x".repeat(80));
        assert_eq!(unplaced, ["Also: All of it.", &cut, "Also, for “…”: Dots."]);
    }

    #[test]
    fn too_many_and_too_long_ones_are_refused_by_their_limits() {
        let check = |reasons: Value| {
            let reasons: ChangeReasons = serde_json::from_value(reasons).unwrap();
            reasons.check().map_err(|error| error.to_string())
        };
        let reason = |quote: usize, why: usize| json!({"quote": "é".repeat(quote), "why": format!(" {} ", "w".repeat(why))});
        assert_eq!(check(json!([reason(300, 300)])), Ok(()));
        let refused = check(json!([reason(1, 1), reason(301, 1)])).unwrap_err();
        assert_eq!(
            refused,
            "`quote` of reason 2 has more than 300 characters; nothing was proposed"
        );
        let refused = check(json!([reason(1, 301)])).unwrap_err();
        assert_eq!(refused, "`why` of reason 1 has more than 300 characters; nothing was proposed");
        assert_eq!(check(vec![reason(1, 1); 200].into()), Ok(()));
        let refused = check(vec![reason(1, 1); 201].into()).unwrap_err();
        assert_eq!(refused, "At most 200 `reasons` at once; nothing was proposed");
    }
}
