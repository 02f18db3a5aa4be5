//! What an outside agent is told of a call that is over (MCP proxy protocol's words). Pure.

use serde_json::Value;

use crate::agent::{AskError, CallResult};
use crate::rooms::RoomError;

/// What stands before everything that was not done because somebody, or a rule, said no.
const DENIED: &str = "[DENIED]";
/// Said to a caller that the server cannot tell from others, and that has not said what it knows.
pub(crate) const SAY_WHICH_VERSION: &str = "Say which version of the document you have read, as base_version: read_document, \
     resources and prompts name it. Without a session nobody here knows what you read before.";
/// How a rejection begins, as everybody else is told of it.
const REJECTED: &str = "User rejected: ";

/// The words for the caller, and whether they are an error.
pub(crate) fn told(noun: &str, called: &CallResult) -> (String, bool) {
    let outcome = &called.outcome;
    let text = called.text();
    if !outcome.is_error {
        return (if noun == "Write" { written(&text) } else { text }, false);
    }
    let about = |name: &str| outcome.about.get(name).and_then(Value::as_str);
    let told = match (about("status"), about("permissionDecision")) {
        (Some("rejected"), _) => match text.strip_prefix(REJECTED) {
            Some(feedback) => format!("{DENIED} {noun} rejected: {feedback}"),
            None => format!("{DENIED} {noun} rejected. {text}"),
        },
        (Some("expired" | "cancelled"), _) | (_, Some("deny")) => format!("{DENIED} {text}"),
        _ => text,
    };
    (told, true)
}

/// `Wrote 11 characters to notes.md`, as the MCP proxy protocol says it; everything around it stays.
fn written(text: &str) -> String {
    let line = |line: &str| {
        let path = line
            .strip_prefix("Wrote ")
            .and_then(|rest| rest.split_once(" characters to "))
            .filter(|(count, _)| count.bytes().all(|byte| byte.is_ascii_digit()));
        match path {
            Some((_, path)) => format!("Successfully wrote to {path}"),
            None => line.to_owned(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Why a call was not taken; nothing was asked and nothing done.
pub(crate) fn refused(error: &AskError) -> String {
    match error {
        AskError::Room(RoomError::NoDocument) => {
            denied("There is no such document that you may open")
        }
        other => denied(&other.to_string()),
    }
}

/// A refusal in one sentence.
pub(crate) fn denied(why: &str) -> String {
    format!("{DENIED} {why}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::ToolOutcome;

    fn called(text: &str, is_error: bool, about: &Value) -> CallResult {
        let about = about.as_object().cloned().unwrap();
        let outcome = ToolOutcome { text: text.into(), is_error, about, ..ToolOutcome::default() };
        CallResult { outcome, read: None }
    }

    #[test]
    fn what_was_not_done_is_marked_as_denied() {
        let cases = [
            ("User rejected: Not there", "rejected", "[DENIED] Write rejected: Not there"),
            (
                "User rejected the operation",
                "rejected",
                "[DENIED] Write rejected. User rejected the operation",
            ),
            (
                "Approval timed out after 300s; …",
                "expired",
                "[DENIED] Approval timed out after 300s; …",
            ),
            ("The request was withdrawn; …", "cancelled", "[DENIED] The request was withdrawn; …"),
        ];
        for (text, status, expected) in cases {
            let told = told("Write", &called(text, true, &json!({"status": status})));
            assert_eq!(told, (expected.to_owned(), true));
        }
        let hook = called("Content too large", true, &json!({"permissionDecision": "deny"}));
        assert_eq!(told("Change", &hook), ("[DENIED] Content too large".to_owned(), true));
    }

    #[test]
    fn what_was_tried_and_failed_was_not_denied() {
        let failed = called("Error: a.txt does not exist", true, &json!({"status": "failed"}));
        assert_eq!(told("Edit", &failed).0, "Error: a.txt does not exist");
    }

    #[test]
    fn what_was_written_is_told_in_seed_2s_words() {
        let text = "Note: the user edited this call before it ran; …\nWrote 11 characters to notes/a b.md\nUser note: ok";
        let done = called(text, false, &json!({"status": "approved"}));
        let expected = "Note: the user edited this call before it ran; …\nSuccessfully wrote to notes/a b.md\nUser note: ok";
        assert_eq!(told("Write", &done), (expected.to_owned(), false));
        assert_eq!(
            told("Change", &called("Wrote 1 characters to x", false, &json!({}))).0,
            "Wrote 1 characters to x"
        );
    }
}
