//! Tests of the document tools: their proposals, their refusals, and the messages for the model and
//! for people.

use serde_json::{Value, json};

use copydesk_approvals::{Decision, HunkChoice, HunkVerdict, RequestVerdict};
use copydesk_auth::{Authenticator, TokenGrant};
use copydesk_ids::DocumentId;
use copydesk_rooms::event::{ResponseUpdate, RunEventKind};

use super::fixture::{TestAgent, calls, owner, says};
use crate::AgentQuestion;

/// Lets the model make one call, and returns the result that the model was sent.
async fn result_after(stage: &mut TestAgent, tool: &str, input: Value) -> (String, bool) {
    stage.model.plays([calls([(tool, input)]), says("Done.")]);
    stage.ask("Please").await;
    stage.response().await;
    stage.model.tool_results().remove(0)
}

fn shown(stage: &TestAgent) -> String {
    let said = stage.said.iter().filter_map(|said| match &said.saying {
        RunEventKind::Agent(object) => Some(object.content.to_string()),
        _ => None,
    });
    said.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn words_are_added_at_the_cursor() {
    let mut stage = TestAgent::with("One three.").await;
    let input = json!({"new_text": "two ", "explanation": "The missing number."});
    stage.model.plays([calls([("insert_at_cursor", input)]), says("Added.")]);
    stage.ask_about(4, 4, "Add the missing number").await;
    let request = stage.request().await;
    stage.types_first("😀 ").await;
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    let response = stage.response().await;
    let ResponseUpdate::Partial { text, start, end, .. } = response.update else { panic!() };
    assert_eq!((text.as_str(), start, end), ("two ", 4, 4));
    assert_eq!(stage.text().await, "😀 One two three.");
}

#[tokio::test]
async fn without_a_cursor_a_position_must_be_named_and_fit() {
    let mut stage = TestAgent::with("a😀b").await;
    let input =
        |position: Value| json!({"new_text": "x", "explanation": "y", "position": position});
    let (tool_result, is_error) =
        result_after(&mut stage, "insert_at_cursor", input(Value::Null)).await;
    assert!(is_error && tool_result.contains("cursor is not known"), "{tool_result}");
    for position in [2, 5] {
        let (tool_result, _) =
            result_after(&mut stage, "insert_at_cursor", input(json!(position))).await;
        assert!(tool_result.starts_with("Invalid position"), "{tool_result}");
    }
    let (tool_result, _) = result_after(&mut stage, "insert_at_cursor", input(json!(-1))).await;
    assert!(tool_result.starts_with("Invalid input for insert_at_cursor"), "{tool_result}");
    stage.model.plays([calls([("insert_at_cursor", input(json!(3)))]), says("Done.")]);
    stage.ask("Please").await;
    stage.decide(RequestVerdict::Approve).await;
    stage.response().await;
    assert_eq!(stage.text().await, "a😀xb");
}

#[tokio::test]
async fn every_occurrence_is_decided_on_its_own() {
    let mut stage = TestAgent::with("Ana met Ana. Anatole saw Ana.").await;
    let input = json!({"find": "Ana", "replace": "Eva", "whole_word": true, "expected_matches": 3, "explanation": "Renamed."});
    stage.model.plays([calls([("find_and_replace", input)]), says("Done.")]);
    stage.ask("Call her Eva").await;
    let request = stage.request().await;
    assert_eq!(request.hunks.len(), 3);
    let verdicts =
        request.hunks.iter().zip([HunkChoice::Accept, HunkChoice::Reject, HunkChoice::Accept]);
    let hunks = verdicts
        .map(|(hunk, choice)| HunkVerdict::plain(hunk.id.clone(), choice))
        .collect::<Vec<_>>();
    let decision = Decision { hunks: Some(hunks), ..Decision::plain(RequestVerdict::Approve) };
    stage.room.decide(request.id().clone(), decision, owner()).await.unwrap();
    stage.response().await;
    assert_eq!(stage.text().await, "Eva met Ana. Anatole saw Eva.");
    let (tool_result, is_error) = stage.model.tool_results().remove(0);
    assert!(
        !is_error && tool_result.starts_with("Partly applied: 2 accepted, 1 rejected"),
        "{tool_result}"
    );
}

#[tokio::test]
async fn with_words_selected_only_they_are_searched() {
    let mut stage = TestAgent::with("Ana met Ana.").await;
    let input = json!({"find": "Ana", "replace": "Eva", "explanation": "Renamed."});
    stage.model.plays([calls([("find_and_replace", input)]), says("Done.")]);
    stage.ask_about(4, 12, "Call her Eva here").await;
    stage.decide(RequestVerdict::Approve).await;
    stage.response().await;
    assert_eq!(stage.text().await, "Ana met Eva.");
}

#[tokio::test]
async fn nothing_found_is_said_and_no_one_is_asked() {
    let mut stage = TestAgent::with("One two.").await;
    let input = json!({"find": "three", "replace": "3", "explanation": "Digits."});
    let (tool_result, is_error) = result_after(&mut stage, "find_and_replace", input).await;
    assert!(is_error && tool_result.starts_with("No match for \"three\""), "{tool_result}");
    let input = json!({"find": "two", "replace": "two", "explanation": "Nothing."});
    let (tool_result, _) = result_after(&mut stage, "find_and_replace", input).await;
    assert!(tool_result.starts_with("Nothing to change"), "{tool_result}");
    let input =
        json!({"find": "o", "replace": "0", "range": {"start": 5, "end": 99}, "explanation": "x"});
    let (tool_result, _) = result_after(&mut stage, "find_and_replace", input).await;
    assert!(tool_result.starts_with("Invalid range"), "{tool_result}");
}

#[tokio::test]
async fn each_suggestion_carries_its_own_reason() {
    let mut stage = TestAgent::with("He could of slept. It were late.").await;
    let input = json!({
        "suggestions": [
            {"original": "It were", "replacement": "It was", "reason": "Agreement."},
            {"original": "could of", "replacement": "could have", "reason": "“Of” is no verb."},
        ],
        "explanation": "Two slips.",
    });
    stage.model.plays([calls([("suggest_improvements", input)]), says("Done.")]);
    stage.ask("Any slips?").await;
    let request = stage.request().await;
    let reasons: Vec<_> =
        request.hunks.iter().map(|hunk| hunk.explanation.as_deref().unwrap()).collect();
    assert_eq!(reasons, ["“Of” is no verb.", "Agreement."]);
    stage
        .room
        .decide(request.id().clone(), Decision::plain(RequestVerdict::Approve), owner())
        .await
        .unwrap();
    stage.response().await;
    assert_eq!(stage.text().await, "He could have slept. It was late.");
}

#[tokio::test]
async fn reading_shows_the_newest_text_and_only_the_model_its_words() {
    let mut stage = TestAgent::with("One two three.").await;
    stage.model.plays([
        calls([("read_document", json!({"range": {"start": 4, "end": 7}}))]),
        says("It says two."),
    ]);
    stage.ask("What is in the middle?").await;
    stage.response().await;
    let (tool_result, is_error) = stage.model.tool_results().remove(0);
    assert!(
        !is_error
            && tool_result.contains("Units 4 to 7 of 14 (data):")
            && tool_result.contains("\ntwo\n"),
        "{tool_result}"
    );
    let (tool_result, _) =
        result_after(&mut stage, "read_document", json!({"range": {"start": 9, "end": 4}})).await;
    assert!(tool_result.starts_with("Invalid range"), "{tool_result}");
}

#[tokio::test]
async fn another_document_is_read_before_it_is_changed_and_its_people_decide() {
    let mut stage = TestAgent::with("Mine.").await;
    let other = stage.another("Glossary", "Lamp: a light.").await;
    let id = other.document().to_string();
    let rewrite = json!({"document_id": id, "new_content": "Lamp: a light that burns.", "explanation": "Clearer."});
    let (tool_result, is_error) =
        result_after(&mut stage, "update_document_by_id", rewrite.clone()).await;
    assert!(is_error && tool_result.contains("Read that document first"), "{tool_result}");

    stage.model.plays([
        calls([("read_document", json!({"document_id": id}))]),
        calls([("update_document_by_id", rewrite)]),
        says("Proposed it."),
    ]);
    stage.ask("Make the glossary clearer").await;
    let request = stage.request().await;
    assert_eq!(request.proposal.document.as_ref(), Some(other.document()));
    stage.hears("waiting").await;
    // Title and status; not everybody here may read the glossary.
    let waits = shown(&stage);
    assert!(waits.contains(&format!("“Glossary” ({id}): pending.")), "{waits}");
    assert!(waits.contains(request.id().as_str()) && !waits.contains("a light"), "{waits}");
    other
        .decide(request.id().clone(), Decision::plain(RequestVerdict::Approve), owner())
        .await
        .unwrap();
    let response = stage.response().await;
    assert!(matches!(response.update, ResponseUpdate::None), "{response:?}");
    assert_eq!(other.read().await.unwrap().text.to_string(), "Lamp: a light that burns.");
    assert_eq!(stage.text().await, "Mine.");
    let (tool_result, is_error) = stage.model.tool_results().remove(0);
    assert!(!is_error && tool_result.contains("reads as you proposed"), "{tool_result}");
    let shown = shown(&stage);
    assert!(shown.contains("Glossary") && shown.contains("approved"), "{shown}");
    assert!(!shown.contains("a light"), "{shown}");
}

#[tokio::test]
async fn what_the_person_may_not_open_the_model_may_not_either() {
    let mut stage = TestAgent::with("Mine.").await;
    let other = stage.another("Secret", "The words nobody may read.").await;
    let (auth, now_ms) = (Authenticator::new(stage.store.clone()), stage.clock.now_ms());
    let only = Some(stage.room.document().to_string());
    let grant =
        TokenGrant::read(copydesk_ids::permissions::Role::Editor, "Gus", only, None, now_ms)
            .unwrap();
    let guest = auth.issue(grant, &owner().user, now_ms).await.unwrap().principal;
    for (tool, input) in [
        ("read_document", json!({"document_id": other.document()})),
        (
            "update_document_by_id",
            json!({"document_id": other.document(), "new_content": "x", "explanation": "y"}),
        ),
        (
            "str_replace_based_edit_tool",
            json!({"command": "view", "path": format!("/documents/{}.md", other.document())}),
        ),
        ("str_replace_based_edit_tool", json!({"command": "view", "path": "/etc/passwd"})),
        ("read_document", json!({"document_id": DocumentId::generate()})),
        ("list_documents", json!({})),
    ] {
        stage.model.plays([calls([(tool, input)]), says("Done.")]);
        let ask = AgentQuestion { principal: guest.clone(), ..stage.question("Please") };
        stage.agents.ask(ask).await.unwrap();
        stage.response().await;
        let (tool_result, is_error) = stage.model.tool_results().remove(0);
        assert!(
            !tool_result.contains("Secret") && !tool_result.contains("words nobody"),
            "{tool_result}"
        );
        assert_eq!(is_error, tool != "list_documents", "{tool}: {tool_result}");
    }
}

#[tokio::test]
async fn a_request_in_another_document_survives_a_crash() {
    let mut stage = TestAgent::with("Mine.").await;
    let other = stage.another("Glossary", "Lamp: a light.").await;
    let id = other.document().clone();
    stage.model.plays([
        calls([("read_document", json!({"document_id": id}))]),
        calls([(
            "update_document_by_id",
            json!({"document_id": id, "new_content": "Lamp.", "explanation": "Shorter."}),
        )]),
        says("Done."),
    ]);
    stage.ask("Shorten the glossary").await;
    let request = stage.request().await;
    stage.crash().await;
    let other = stage.rooms.open(&id).await.unwrap();
    other
        .decide(request.id().clone(), Decision::plain(RequestVerdict::Approve), owner())
        .await
        .unwrap();
    let response = stage.response().await;
    assert!(response.error.is_none() && response.message.ends_with("Done."), "{response:?}");
    assert_eq!(other.read().await.unwrap().text.to_string(), "Lamp.");
    assert_eq!(stage.model.asked().len(), 3);
}

#[tokio::test]
async fn a_model_that_knows_the_text_editor_can_use_it() {
    let mut stage = TestAgent::with("One two.\nThree.").await;
    let tool = "str_replace_based_edit_tool";
    stage.model.plays([
        calls([(tool, json!({"command": "view", "path": "/document.md"}))]),
        calls([(tool, json!({"command": "str_replace", "path": "/document.md", "old_str": "two", "new_str": "2"}))]),
        says("Done."),
    ]);
    stage.ask("Use digits").await;
    stage.decide(RequestVerdict::Approve).await;
    stage.response().await;
    assert_eq!(stage.text().await, "One 2.\nThree.");
    let viewed = &stage.model.asked()[1].messages;
    assert!(format!("{viewed:?}").contains("1\\tOne two."), "{viewed:?}");
    let (tool_result, is_error) = result_after(
        &mut stage,
        tool,
        json!({"command": "str_replace", "path": "/document.md", "old_str": "absent"}),
    )
    .await;
    assert!(is_error && tool_result.starts_with("Error: No match found"), "{tool_result}");
}

#[tokio::test]
async fn a_model_that_guesses_paths_is_told_which_there_are() {
    let mut stage = TestAgent::with("One.").await;
    let tool = "str_replace_based_edit_tool";
    for path in ["document.md", "./document.md"] {
        let view = json!({"command": "view", "path": path});
        let (tool_result, is_error) = result_after(&mut stage, tool, view).await;
        assert!(!is_error && tool_result.contains("1\tOne."), "{path}: {tool_result}");
    }
    for path in [".", "", "./"] {
        let view = json!({"command": "view", "path": path});
        let (tool_result, is_error) = result_after(&mut stage, tool, view).await;
        assert!(!is_error && tool_result.contains("/document.md"), "{path}: {tool_result}");
    }
    for path in ["/new.md", "/documents/new.md", "notes/../new.md"] {
        let create = json!({"command": "create", "path": path, "file_text": "New."});
        let (tool_result, is_error) = result_after(&mut stage, tool, create).await;
        let wanted = format!("Error: File not found: {path}. The document is /document.md; `view`");
        assert!(is_error && tool_result.starts_with(&wanted), "{path}: {tool_result}");
        assert!(tool_result.contains("create_new_document"), "{tool_result}");
    }
}
