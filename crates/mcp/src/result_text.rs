//! Texts for an outside agent about a call that is over, in the words of the MCP proxy protocol.

use serde_json::Value;

use copydesk_agent::{AskError, CallResult};
use copydesk_approvals::RequestStatus;
use copydesk_rooms::RoomError;
use copydesk_tools::ProgramOffer;

/// Prefix of every text about a call that a person or a rule refused.
const DENIED: &str = "[DENIED]";
/// Text for a caller without a session that has not named the version it has read.
pub(crate) const SAY_WHICH_VERSION: &str = "Say which version of the document you have read, as base_version: read_document, \
     resources and prompts name it. Without a session nobody here knows what you read before.";
/// Beginning of a rejection in the text that other agents get.
const REJECTED: &str = "User rejected: ";

/// Returns the text for the caller, and whether it is an error.
pub(crate) fn result_text(offer: &ProgramOffer, called: &CallResult) -> (String, bool) {
    let outcome = &called.outcome;
    let text = called.text();
    if !outcome.is_error {
        return ((offer.result)(&text), false);
    }
    let noun = offer.noun;
    let decision = outcome.about.get("permissionDecision").and_then(Value::as_str);
    let text = match (outcome.status(), decision) {
        (Some(RequestStatus::Rejected), _) => match text.strip_prefix(REJECTED) {
            Some(feedback) => format!("{DENIED} {noun} rejected: {feedback}"),
            None => format!("{DENIED} {noun} rejected. {text}"),
        },
        (Some(RequestStatus::Expired | RequestStatus::Cancelled), _) | (_, Some("deny")) => {
            format!("{DENIED} {text}")
        }
        _ => text,
    };
    (text, true)
}

/// Returns the text about a call that was not accepted, so that no one was asked and nothing was
/// done.
pub(crate) fn refused(error: &AskError) -> String {
    match error {
        AskError::Room(RoomError::NoDocument) => {
            denied("There is no such document that you may open")
        }
        other => denied(&other.to_string()),
    }
}

/// Returns a refusal in one sentence.
pub(crate) fn denied(why: &str) -> String {
    format!("{DENIED} {why}")
}

/// Returns a name from outside, short enough for a message.
pub(crate) fn short(name: &str) -> String {
    name.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use copydesk_tools::{ToolOutcome, ToolRegistry};

    /// Returns the offer of a tool.
    fn offer(tool: &str) -> ProgramOffer {
        let offers = ToolRegistry::default().offers_in(true);
        offers.iter().find(|it| it.name == tool).unwrap().program.unwrap()
    }

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
            let text =
                result_text(&offer("Write"), &called(text, true, &json!({"status": status})));
            assert_eq!(text, (expected.to_owned(), true));
        }
        let hook = called("Content too large", true, &json!({"permissionDecision": "deny"}));
        assert_eq!(
            result_text(&offer("insert_at_cursor"), &hook),
            ("[DENIED] Content too large".to_owned(), true)
        );
    }

    #[test]
    fn what_was_tried_and_failed_was_not_denied() {
        let failed = called("Error: a.txt does not exist", true, &json!({"status": "failed"}));
        assert_eq!(result_text(&offer("Edit"), &failed).0, "Error: a.txt does not exist");
    }

    #[test]
    fn what_was_written_is_told_in_the_words_of_the_protocol() {
        let text = "Note: the user edited this call before it ran; …\nWrote 11 characters to notes/a b.md\nUser note: ok";
        let done = called(text, false, &json!({"status": "approved"}));
        let expected = "Note: the user edited this call before it ran; …\nSuccessfully wrote to notes/a b.md\nUser note: ok";
        assert_eq!(result_text(&offer("Write"), &done), (expected.to_owned(), false));
        assert_eq!(
            result_text(
                &offer("insert_at_cursor"),
                &called("Wrote 1 characters to x", false, &json!({}))
            )
            .0,
            "Wrote 1 characters to x"
        );
    }
}
