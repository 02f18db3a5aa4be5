//! Sentences of the copy editor: short, and only true statements.

use super::proofread::TextCorrection;
use super::rules::CorrectionKind;
use crate::ToolResultView;

/// Commands of the copy editor and the way to get more, for prompts that it cannot serve.
pub(super) const WHAT_I_CAN_DO: &str = "\
I am the built-in copy editor: I work without a network and cannot write or rewrite. What I can do:

- correct spelling and grammar: “Fix the grammar”
- replace words: “Replace “Ines” with “Agnes””
- change the selection to UPPERCASE, lowercase or Title Case
- make the selection a list or a numbered list, or sort its lines
- remove double spaces, or turn quotation marks straight or curly

For anything else, connect a language model: start Copydesk with ANTHROPIC_API_KEY set (and \
ANTHROPIC_BASE_URL for a compatible server), or choose one with --model.";

/// Answer to a further prompt that it cannot serve, once [`WHAT_I_CAN_DO`] is in the conversation.
pub(super) const BEYOND_ME: &str = "\
That takes a language model, too. I can correct, replace and tidy up words: my first answer lists the commands.";

/// Sentence before a plan that people approve first.
pub(super) const HERE_IS_A_PLAN: &str = "Here is what I would do.";

/// Builds the plan for an edit, in Markdown.
pub(super) fn proposed(explanation: &str, is_selection: bool) -> String {
    let place = if is_selection { "the selection" } else { "the document" };
    format!(
        "1. Change {place}. {explanation}\n2. Show each change in the text. None is made before somebody accepts it."
    )
}

/// Builds "16 corrections: 6 spelling, 7 grammar, 3 other."
pub(super) fn found(corrections: &[TextCorrection], is_selection: bool) -> String {
    let count_of = |kind| corrections.iter().filter(|one| one.kind == kind).count();
    let (spelling, grammar) =
        (count_of(CorrectionKind::Spelling), count_of(CorrectionKind::Grammar));
    let other = corrections.len() - spelling - grammar;
    let kinds: Vec<_> = [(spelling, "spelling"), (grammar, "grammar"), (other, "other")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    let place = if is_selection { " in the selection" } else { "" };
    match corrections.len() {
        1 => format!("1 correction{place}: {}.", kinds.concat().trim_start_matches("1 ")),
        count => format!("{count} corrections{place}: {}.", kinds.join(", ")),
    }
}

/// Builds "Corrections such as “teh” → “the” (spelling), “was” → “were” (grammar)."
pub(super) fn corrected(corrections: &[TextCorrection]) -> String {
    let first_of = |kind| corrections.iter().find(|one| one.kind == kind);
    let examples: Vec<_> = CorrectionKind::ALL
        .into_iter()
        .filter_map(first_of)
        .map(|one| format!("{} ({})", example(one), kind_name(one.kind)))
        .collect();
    let what = if corrections.len() == 1 { "Correction:" } else { "Corrections such as" };
    format!("{what} {}.", examples.join(", "))
}

fn example(one: &TextCorrection) -> String {
    match (one.wrong.trim(), one.right.trim()) {
        ("", _) => "a space too many".to_owned(),
        (wrong, "") => format!("“{wrong}” removed"),
        (wrong, right) => format!("“{wrong}” → “{right}”"),
    }
}

pub(super) fn kind_name(kind: CorrectionKind) -> &'static str {
    match kind {
        CorrectionKind::Spelling => "spelling",
        CorrectionKind::Grammar => "grammar",
        CorrectionKind::WordChoice => "word choice",
        CorrectionKind::Repetition => "repeated word",
        CorrectionKind::Capital => "capital letter",
        CorrectionKind::Punctuation => "punctuation",
    }
}

/// Builds the sentence for a part of the request that needs a language model.
pub(super) fn beyond(word: &str) -> String {
    format!(" The other part (“{word}”) takes a language model.")
}

/// Builds "1 place", "7 places".
pub(super) fn places(count: usize) -> String {
    if count == 1 { "1 place".into() } else { format!("{count} places") }
}

/// Builds the sentence after people have decided; empty when the answer was already given in full.
pub(super) fn closing(tool: &str, outcome: &ToolResultView) -> String {
    let text = outcome.text.trim();
    if tool == "respond_conversation_only" && !outcome.is_error {
        return String::new();
    }
    if let Some(rest) = text.strip_prefix("Partly applied:") {
        return partly(rest);
    }
    if !outcome.is_error {
        return done(text);
    }
    if let Some(reason) = text.strip_prefix("User rejected") {
        return match feedback(reason) {
            Some(words) => {
                format!(
                    "Understood, the text stays as it was. You said: “{words}” {CANNOT_RETHINK}"
                )
            }
            None => "Understood, the text stays as it was.".into(),
        };
    }
    if text.starts_with("Approval timed out") {
        return "Nobody decided in time, so the text stays as it was. Ask again whenever you like."
            .into();
    }
    if text.starts_with("Invalid selection range") {
        return "The selection no longer fits the text. Select it again and ask once more.".into();
    }
    format!("That did not work, the text stays as it was: {text}")
}

/// Answer to feedback that asks for a different edit, which the copy editor cannot make.
const CANNOT_RETHINK: &str =
    "I can only offer the corrections I am sure of; a language model could try again your way.";

/// Returns the words of a rejection, which are in the first line: ": too bold" → "too bold".
fn feedback(reason: &str) -> Option<&str> {
    let line = reason.strip_prefix(':')?.lines().next()?.trim();
    (!line.is_empty()).then_some(line)
}

/// Builds the sentence for an applied edit: "Applied: 3 accepted." → "Done: 3 changes …"
fn done(report: &str) -> String {
    let edited = report.starts_with("Applied with edits");
    let line = report.lines().next().unwrap_or_default();
    let count = line.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty());
    let changes = match count.filter(|_| line.starts_with("Applied")) {
        Some("1") => "the change is".to_owned(),
        Some(count) => format!("{count} changes are"),
        None => "the changes are".to_owned(),
    };
    let edits = if edited { ", with your edits" } else { "" };
    format!("Done: {changes} in the text{edits}.")
}

/// Builds the sentence for a partly applied edit. The first line of the report has the numbers; a
/// line `User feedback: …` may follow.
fn partly(report: &str) -> String {
    let counts = report.lines().next().unwrap_or_default().trim().trim_end_matches('.');
    let feedback = report.lines().find_map(|line| line.trim().strip_prefix("User feedback:"));
    match feedback.map(str::trim).filter(|words| !words.is_empty()) {
        Some(words) => format!("Noted: {counts}. You said: “{words}”"),
        None => format!("Noted: {counts}. What was not accepted stays as it was."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closing_after(text: &str, is_error: bool) -> String {
        let outcome = ToolResultView { tool_use_id: "t".into(), text: text.into(), is_error };
        closing("update_full_document", &outcome)
    }

    #[test]
    fn the_last_sentence_says_what_became_of_the_text() {
        let applied = "Applied: 16 accepted.\nUser note: 3 cheers.";
        assert_eq!(closing_after(applied, false), "Done: 16 changes are in the text.");
        assert_eq!(
            closing_after("Applied: 1 accepted.", false),
            "Done: the change is in the text."
        );
        assert_eq!(closing_after("Approved.", false), "Done: the changes are in the text.");
        let edited = "Applied with edits by the user: 2 accepted.\n- edited";
        assert_eq!(
            closing_after(edited, false),
            "Done: 2 changes are in the text, with your edits."
        );
        let partly =
            "Partly applied: 2 accepted, 1 rejected.\n1. accepted\nUser feedback: keep “then”";
        assert_eq!(
            closing_after(partly, false),
            "Noted: 2 accepted, 1 rejected. You said: “keep “then””"
        );
        let stays = "Understood, the text stays as it was.";
        assert_eq!(closing_after("User rejected the operation", true), stays);
        let feedback =
            closing_after("User rejected: too bold\nThe document is at version 3.", true);
        assert!(
            feedback.starts_with(stays.trim_end_matches('.')) && feedback.contains("“too bold”"),
            "{feedback}"
        );
        let timeout =
            closing_after("Approval timed out after 300s; the tool was not executed.", true);
        assert!(timeout.starts_with("Nobody decided in time"), "{timeout}");
        assert!(closing_after("Content too large", true).ends_with("Content too large"));
    }

    #[test]
    fn an_answer_in_words_needs_no_closing() {
        let outcome =
            |is_error| ToolResultView { tool_use_id: "t".into(), text: "ok".into(), is_error };
        assert_eq!(closing("respond_conversation_only", &outcome(false)), "");
        assert_ne!(closing("respond_conversation_only", &outcome(true)), "");
    }
}
