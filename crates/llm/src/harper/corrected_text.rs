//! Text with its corrections, and the reason of each correction.

use serde::Serialize;

use super::edits;
use super::proofread::TextCorrection;
use super::wording;

/// Maximum number of reasons that the tools take.
const MAX_REASONS: usize = 200;
/// Maximum length of a quotation, and of a reason, that the tools take, in Unicode scalars.
const MAX_CHARS: usize = 300;

/// Reason of one correction, as the tools take it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct CorrectionReason {
    /// Corrected words and some words around them; the former words if the correction removes any.
    quote: String,
    /// Kind of the mistake, and the rule in Harper's words.
    why: String,
}

/// Applies [`TextCorrection`]s to `text`, which begins at scalar `first` of the text they refer to.
/// Also returns their reasons.
pub(super) fn apply(
    text: &str,
    first: usize,
    corrections: &[TextCorrection],
) -> (String, Vec<CorrectionReason>) {
    let bytes: Vec<_> = text.char_indices().map(|(byte, _)| byte).chain([text.len()]).collect();
    let mut result = String::with_capacity(text.len());
    let (mut done, mut reasons) = (0, Vec::new());
    for (index, one) in corrections.iter().enumerate() {
        let (from, to) = (bytes[one.from - first], bytes[one.to - first]);
        result.push_str(&text[done..from]);
        let next = corrections.get(index + 1).map_or(text.len(), |next| bytes[next.from - first]);
        let words = |text: &str| text.split_whitespace().count();
        let (before, here) = if words(&one.right) < words(&one.wrong) {
            (&text[..from], &one.wrong)
        } else {
            (&*result, &one.right)
        };
        let quote = [last_words(before), here, next_word(&text[to..next])].concat();
        if reasons.len() < MAX_REASONS && quote.chars().count() <= MAX_CHARS {
            reasons.push(CorrectionReason { quote, why: why(one) });
        }
        result.push_str(&one.right);
        done = to;
    }
    result.push_str(&text[done..]);
    (result, reasons)
}

/// Returns the last two or three words of the line that `text` ends with.
fn last_words(text: &str) -> &str {
    let line = &text[text.rfind('\n').map_or(0, |end| end + 1)..];
    line.rmatch_indices(' ').nth(2).map_or(line, |(space, _)| &line[space + 1..])
}

/// Returns `text` to the end of its first word, or of its first line.
fn next_word(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let start = line.len() - line.trim_start().len();
    let end = line[start..].find(char::is_whitespace).map_or(line.len(), |end| start + end);
    &line[..end]
}

/// Returns the reason for a correction: `Spelling`, `Grammar: Incorrect indefinite article.`
fn why(one: &TextCorrection) -> String {
    let kind = edits::capitalized(wording::kind_name(one.kind));
    if one.message.is_empty() {
        return kind;
    }
    let rule = one.message.replace('`', "\"");
    format!("{kind}: {rule}").chars().take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harper::proofread;

    fn reasons(text: &str) -> Vec<String> {
        let (_, reasons) = apply(text, 0, &proofread(text));
        reasons.into_iter().map(|it| format!("{}: {}", it.quote, it.why)).collect()
    }

    #[test]
    fn each_correction_has_its_rule_and_words_around_it() {
        let text = "She told the men twice that it was a honest lamp.\n\nTeh wick ,she said, lit the the fog.";
        let expected = [
            "it was an honest: Grammar: Incorrect indefinite article.",
            "The wick: Spelling",
            "The wick, she: Punctuation: Don't use a space before a comma. Use a space after a comma.",
            "said, lit the the fog.: Repeated word: Did you mean to repeat this word?",
        ];
        assert_eq!(reasons(text), expected);
    }

    #[test]
    fn there_are_never_more_reasons_or_longer_ones_than_the_tools_take() {
        let text = format!("{} teh end. {}", "é".repeat(400), "Teh fog. ".repeat(250));
        let (corrected, reasons) = apply(&text, 0, &proofread(&text));
        assert!(!corrected.contains("teh") && reasons.len() == MAX_REASONS);
        assert!(reasons.iter().all(|it| it.quote.chars().count() <= MAX_CHARS));
    }
}
