//! Tests of every tool that changes a document with every result of its request. (For files:
//! `workspace/editing.rs`.)

use std::sync::Arc;

use serde_json::{Value, json};

use copydesk_approvals::{
    ApprovalRequest, Decision, HunkChoice, HunkVerdict, RequestStatus, RequestVerdict,
};
use copydesk_ids::{MemberId, RequestId};
use copydesk_rooms::command::PushRequest;
use copydesk_rooms::{NewDocument, RoomError, RoomHandle};
use copydesk_tools::{ToolRegistry, ToolScope};

use super::fixture::{TestAgent, calls, owner, says};
use crate::StopFilter;

/// Text of the document at the beginning of each test.
const BEFORE: &str = "One two three.";

/// Tools that change no text, about which no one is asked, and the one that creates a document
/// instead (`plans.rs`).
const OTHERS: [&str; 5] = [
    "read_document",
    "list_documents",
    "respond_conversation_only",
    "create_new_document",
    "add_comment",
];

/// Tool that changes a document whose text is [`BEFORE`].
struct DocumentToolCase {
    tool: &'static str,
    input: Value,
    /// Text of the document after an approval.
    after: &'static str,
    /// Text of the document after its only change was accepted as `II`.
    edited: &'static str,
    /// Input of the right shape that is not possible, and the beginning of the message for the
    /// model.
    wrong: (Value, &'static str),
}

#[expect(clippy::too_many_lines, reason = "it is a table")]
fn cases() -> Vec<DocumentToolCase> {
    let full = |text: &str| json!({"new_content": text, "explanation": "Digits."});
    let selection = |start: i64, end: i64| {
        let range = json!({"start": start, "end": end});
        json!({"new_text": "2", "selection_range": range, "explanation": "Digits."})
    };
    let insert = |at: usize| json!({"new_text": "2 ", "position": at, "explanation": "Digits."});
    let find = |find: &str| json!({"find": find, "replace": "2", "explanation": "Digits."});
    let suggest = |original: &str| {
        let only = json!({"original": original, "replacement": "2", "reason": "Shorter."});
        json!({"suggestions": [only], "explanation": "Digits."})
    };
    let replace = |old: &str| json!({"command": "str_replace", "path": "/document.md", "old_str": old, "new_str": "2"});
    let (after, edited) = ("One 2 three.", "One II three.");
    let too_long = "x".repeat(100_001);
    vec![
        DocumentToolCase {
            tool: "update_full_document",
            input: full(after),
            after,
            edited,
            wrong: (full(&too_long), "Content too large"),
        },
        DocumentToolCase {
            tool: "update_selection",
            input: selection(4, 7),
            after,
            edited,
            wrong: (selection(7, 4), "Invalid selection range"),
        },
        DocumentToolCase {
            tool: "insert_at_cursor",
            input: insert(4),
            after: "One 2 two three.",
            edited: "One IItwo three.",
            wrong: (insert(99), "Invalid position"),
        },
        DocumentToolCase {
            tool: "find_and_replace",
            input: find("two"),
            after,
            edited,
            wrong: (find("four"), "No match for \"four\""),
        },
        DocumentToolCase {
            tool: "suggest_improvements",
            input: suggest("two"),
            after,
            edited,
            wrong: (suggest("four"), "Nothing was proposed"),
        },
        DocumentToolCase {
            tool: "str_replace_based_edit_tool",
            input: replace("two"),
            after,
            edited,
            wrong: (replace("four"), "Error: No match found"),
        },
        DocumentToolCase {
            tool: "update_document_by_id",
            input: full(after),
            after,
            edited,
            wrong: (full(&too_long), "Content too large"),
        },
    ]
}

/// Server on which the model has made the call of a case, and the document of the call.
struct DecidingFixture {
    stage: TestAgent,
    room: RoomHandle,
}

impl DecidingFixture {
    /// Makes the call with this input.
    async fn of(case: &DocumentToolCase, mut input: Value) -> Self {
        let mut stage = TestAgent::with(BEFORE).await;
        let mut room = stage.room.clone();
        if case.tool == "update_document_by_id" {
            let title = "Glossary".to_owned();
            let new = NewDocument { title, text: BEFORE.to_owned(), unlisted_owner: None };
            room = stage.rooms.create(new, &owner()).await.unwrap();
            stage.enter(&room).await;
            input["document_id"] = room.document().as_str().into();
            let read = json!({"document_id": room.document()});
            stage.model.plays([calls([("read_document", read)])]);
        }
        stage.model.plays([calls([(case.tool, input)]), says("Done.")]);
        stage.ask("Use digits").await;
        Self { stage, room }
    }

    async fn request(&mut self) -> Arc<ApprovalRequest> {
        let request = self.stage.request().await;
        assert_eq!(self.text().await, BEFORE, "nothing changes before someone says so");
        assert_eq!(request.proposal.document.as_ref(), Some(self.room.document()));
        request
    }

    async fn decide(
        &self,
        request: &RequestId,
        decision: Decision,
    ) -> Result<Arc<ApprovalRequest>, RoomError> {
        self.room.decide(request.clone(), decision, owner()).await
    }

    /// Waits for the end of the run; returns the model's result of its call.
    async fn tool_result(&mut self) -> (String, bool) {
        self.stage.response().await;
        self.stage.model.tool_results().remove(0)
    }

    async fn text(&self) -> String {
        self.room.read().await.unwrap().text.to_string()
    }
}

fn accept(request: &ApprovalRequest, text: Option<&str>) -> Decision {
    let verdict = |id| HunkVerdict {
        text: text.map(str::to_owned),
        ..HunkVerdict::plain(id, HunkChoice::Accept)
    };
    let hunks = request.hunks.iter().map(|hunk| verdict(hunk.id.clone())).collect();
    Decision { hunks: Some(hunks), ..Decision::plain(RequestVerdict::Approve) }
}

#[test]
fn every_tool_that_changes_a_document_is_in_the_table() {
    let cases = cases();
    let definitions = ToolRegistry::default().definitions(ToolScope::Document);
    let mut missing = definitions
        .iter()
        .map(|tool| tool.name.as_str())
        .filter(|name| !OTHERS.contains(name) && !cases.iter().any(|case| case.tool == *name));
    assert_eq!(missing.next(), None);
}

#[tokio::test]
async fn approved_it_is_applied_and_the_model_told_what_it_reads_now() {
    for case in cases() {
        let mut asked = DecidingFixture::of(&case, case.input.clone()).await;
        let request = asked.request().await;
        let decided =
            asked.decide(request.id(), Decision::plain(RequestVerdict::Approve)).await.unwrap();
        assert_eq!(decided.status, RequestStatus::Approved, "{}", case.tool);
        let (tool_result, is_error) = asked.tool_result().await;
        assert!(!is_error && tool_result.contains("Applied"), "{}: {tool_result}", case.tool);
        assert_eq!(asked.text().await, case.after, "{}", case.tool);
    }
}

#[tokio::test]
async fn rejected_nothing_changes_and_the_reason_reaches_the_model() {
    for case in cases() {
        let mut asked = DecidingFixture::of(&case, case.input.clone()).await;
        let request = asked.request().await;
        let feedback = Some("Spell it out".to_owned());
        let decision = Decision { feedback, ..Decision::plain(RequestVerdict::Reject) };
        let decided = asked.decide(request.id(), decision).await.unwrap();
        assert_eq!(decided.status, RequestStatus::Rejected, "{}", case.tool);
        let (tool_result, is_error) = asked.tool_result().await;
        let reason = tool_result.lines().any(|line| line == "User rejected: Spell it out");
        assert!(is_error && reason, "{}: {tool_result}", case.tool);
        assert_eq!(asked.text().await, BEFORE, "{}", case.tool);
    }
}

#[tokio::test]
async fn edited_it_is_applied_as_edited_and_the_model_is_told() {
    for case in cases() {
        let mut asked = DecidingFixture::of(&case, case.input.clone()).await;
        let request = asked.request().await;
        assert_eq!(request.hunks.len(), 1, "{}", case.tool);
        asked.decide(request.id(), accept(&request, Some("II"))).await.unwrap();
        let (tool_result, is_error) = asked.tool_result().await;
        assert!(!is_error && tool_result.contains("edited"), "{}: {tool_result}", case.tool);
        assert_eq!(asked.text().await, case.edited, "{}", case.tool);
    }
}

#[tokio::test]
async fn undecided_it_expires_and_the_model_is_told_not_to_insist() {
    for case in cases() {
        let mut asked = DecidingFixture::of(&case, case.input.clone()).await;
        let request = asked.request().await;
        asked.stage.clock.advance_ms(300_000);
        let late = asked.decide(request.id(), Decision::plain(RequestVerdict::Approve)).await;
        assert_eq!(code(late), "expired", "{}", case.tool);
        let words = "Approval timed out after 300s; the tool was not executed. Do not retry unless the user asks.";
        let (tool_result, is_error) = asked.tool_result().await;
        assert!(
            is_error && tool_result.lines().any(|line| line == words),
            "{}: {tool_result}",
            case.tool
        );
        assert_eq!(asked.text().await, BEFORE, "{}", case.tool);
    }
}

#[tokio::test]
async fn an_approval_of_something_else_than_what_was_shown_is_stale() {
    for case in cases() {
        let mut asked = DecidingFixture::of(&case, case.input.clone()).await;
        let request = asked.request().await;
        let preview_hash = Some("another preview".to_owned());
        let stale = Decision { preview_hash, ..Decision::plain(RequestVerdict::Approve) };
        let refused = asked.decide(request.id(), stale).await;
        assert_eq!(code(refused), "stale_preview", "{}", case.tool);
        assert_eq!(asked.text().await, BEFORE, "{}", case.tool);
        // The request still waits, for a person who has seen it.
        let preview_hash = Some(request.preview_hash());
        let seen = Decision { preview_hash, ..Decision::plain(RequestVerdict::Approve) };
        asked.decide(request.id(), seen).await.unwrap();
        asked.tool_result().await;
        assert_eq!(asked.text().await, case.after, "{}", case.tool);
    }
}

#[tokio::test]
async fn someone_who_edits_the_same_words_is_never_overwritten() {
    for case in cases() {
        let mut asked = DecidingFixture::of(&case, case.input.clone()).await;
        let request = asked.request().await;
        // The whole text is deleted, and with it the words or the place of the change.
        let now = asked.room.read().await.unwrap();
        let push = PushRequest {
            member: MemberId::generate(),
            principal: owner(),
            base: now.version,
            updates: vec![("typist".into(), json!([[now.text.len(), "Mine."]]).to_string().into())],
        };
        asked.room.push(push).await.unwrap();
        let refused = asked.decide(request.id(), accept(&request, None)).await;
        assert!(refused.is_err(), "{}: {refused:?}", case.tool);
        assert_eq!(asked.text().await, "Mine.", "{}", case.tool);
    }
}

#[tokio::test]
async fn what_cannot_be_done_is_told_and_no_one_is_asked() {
    for case in cases() {
        let shapeless = (json!({"unknown": true}), "Invalid");
        for (input, expected) in [case.wrong.clone(), shapeless] {
            let mut asked = DecidingFixture::of(&case, input).await;
            let (tool_result, is_error) = asked.tool_result().await;
            assert!(is_error && tool_result.contains(expected), "{}: {tool_result}", case.tool);
            assert_eq!(asked.room.requests().await.unwrap(), [], "{}", case.tool);
            assert_eq!(asked.text().await, BEFORE, "{}", case.tool);
        }
    }
}

#[tokio::test]
async fn cancelled_the_request_is_taken_back() {
    for case in cases() {
        let mut asked = DecidingFixture::of(&case, case.input.clone()).await;
        let request = asked.request().await;
        let session = Some(asked.stage.session.clone());
        asked.stage.agents.cancel(StopFilter { session, run: None }).await.unwrap();
        let response = asked.stage.response().await;
        assert_eq!(response.error.unwrap().0, "cancelled", "{}", case.tool);
        let late = asked.decide(request.id(), Decision::plain(RequestVerdict::Approve)).await;
        assert_eq!(code(late), "already_resolved", "{}", case.tool);
        assert_eq!(asked.text().await, BEFORE, "{}", case.tool);
    }
}

/// Returns the code with which a decision was refused.
fn code<T: std::fmt::Debug>(decided: Result<T, RoomError>) -> &'static str {
    match decided {
        Err(RoomError::Decision(error)) => error.code(),
        other => panic!("{other:?}"),
    }
}
