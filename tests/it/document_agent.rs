//! The document agent protocol, line by line: sessions, the three tools, the hooks, the context,
//! the streamed answer, the response.

use serde_json::{Value, json};

use crate::support::script::{full, selection};
use crate::support::{Person, Provider, Script, TestServer};

const OPENING: &str = "It was a dark night. The keeper slept.\n";

/// A private document with this text, and nothing else.
fn about(text: &str) -> Value {
    json!({"documentContent": text})
}

// Sessions (document agent protocol: `registerSession`, `sessionRegistered`).

#[test]
fn a_session_is_registered_on_connect() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    assert_eq!(ana.registered()["user"]["name"], "Ana");
    assert_eq!(ana.registered()["role"], "editor");
    assert_eq!(ana.registered()["protocol"], 1);
    assert_eq!(ana.registered()["permission_mode"], "sdk");
    assert!(!ana.session().is_empty());
}

#[test]
fn every_connection_has_a_session_of_its_own_and_can_come_back_to_it() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let window = ana.second_window();
    assert_ne!(window.session(), ana.session());
    assert_eq!(window.user(), ana.user());
    ana.loses_connection();
    assert_eq!(ana.comes_back(&copydesk).session(), ana.session());
}

#[test]
fn a_session_that_comes_back_hears_what_its_own_run_says_and_what_waits() {
    let mut copydesk = TestServer::scripted(Script::rewriting("Short text."));
    let mut ana = copydesk.editor("Ana");
    let run = ana.asks_about("Summarize to 50 words", &about("Long text..."));
    let request = ana.sees_request();
    for comes_back in [false, true] {
        if comes_back {
            copydesk.is_killed_and_restarted();
        } else {
            ana.loses_connection();
        }
        ana = ana.comes_back(&copydesk);
        assert_eq!(ana.sees_request_of(&run).id(), request.id());
    }
    ana.accepts_all(&request);
    ana.sees_resolved(&request);
    ana.answer(&run);
    assert_eq!(ana.told(&run).len(), 1, "the result is heard again too");
    let window = ana.second_window();
    assert!(window.heard("tool_approval_request").is_empty());
}

// The agent's decision (document agent protocol: integration tests).

#[test]
fn test_agent_conversation() {
    let copydesk = TestServer::playing("conversation");
    let ana = copydesk.editor("Ana");
    let response = ana.is_answered("What makes a good opening?", &about("..."));
    assert_eq!(response["updateType"], "none");
    assert_eq!(
        response["conversationMessage"],
        "A good opening makes a promise the ending keeps.\nAsk me for an edit whenever you like."
    );
    assert_eq!(response.get("documentUpdate"), None);
    assert_eq!(response.get("selectionRange"), None);
    assert!(ana.saw("tool_approval_request").is_empty(), "a conversation needs no approval");
}

#[test]
fn test_agent_full_document_update() {
    let copydesk = TestServer::scripted(Script::rewriting("Short text."));
    let ana = copydesk.editor("Ana");
    let run = ana.asks_about("Summarize to 50 words", &about("Long text..."));
    let request = ana.sees_request();
    assert_eq!(request["tool_name"], "update_full_document");
    ana.accepts_all(&request);
    let response = ana.answer(&run);
    assert_eq!(response["updateType"], "full");
    assert_eq!(response["documentUpdate"], "Short text.");
    assert_eq!(response.get("selectionRange"), None);
}

#[test]
fn a_selection_is_updated_and_the_rest_stays() {
    let copydesk =
        TestServer::scripted(Script::calling("update_selection", &selection(0, 20, "Night fell.")));
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let selected = json!({"text": "It was a dark night.", "start": 0, "end": 20});
    let context = json!({"documentId": ana.document(), "selection": selected});
    let run = ana.asks_about("Make this more concise", &context);
    ana.accepts_all(&ana.sees_request());
    let response = ana.answer(&run);
    assert_eq!(response["updateType"], "partial");
    assert_eq!(response["documentUpdate"], "Night fell.");
    assert_eq!(response["selectionRange"], json!({"start": 0, "end": 20}));
    assert_eq!(ana.text(), "Night fell. The keeper slept.\n");
    assert_eq!(response["documentVersion"], ana.version());
}

#[test]
fn the_response_of_a_rejected_change_is_none() {
    let copydesk = TestServer::scripted(Script::rewriting("Other words."));
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let run = ana.asks("Rewrite this");
    ana.rejects(&ana.sees_request(), "I like it as it is");
    let response = ana.answer(&run);
    assert_eq!(response["updateType"], "none");
    assert_eq!(response.get("documentUpdate"), None);
    assert_eq!(ana.text(), OPENING);
}

#[test]
fn a_partly_accepted_selection_tells_what_now_stands_there() {
    let (before, after) = (
        "Teh cat sat there.\n\nIt was quite hapy indeed.\n",
        "The cat sat there.\n\nIt was quite happy indeed.\n",
    );
    let end = before.len();
    let copydesk =
        TestServer::scripted(Script::calling("update_selection", &selection(0, end, after)));
    let ana = copydesk.editor("Ana");
    ana.creates(before);
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request();
    ana.accepts(&request, &[1]);
    ana.rejects_some(&request, &[2], "a name");
    let response = ana.answer(&run);
    assert_eq!(response["updateType"], "partial");
    assert_eq!(response["documentUpdate"], "The cat sat there.\n\nIt was quite hapy indeed.\n");
    assert_eq!(response["selectionRange"], json!({"start": 0, "end": end}));
}

#[test]
fn the_latest_of_two_changes_wins_and_both_are_listed() {
    let script = Script::default()
        .answering(".", "update_full_document", &full("First.\n"))
        .turn(json!({"when": {"tool_result": "."}, "content": [
            {"type": "tool_use", "name": "update_selection", "input": selection(0, 5, "Second")}]}))
        .closing("Done.");
    let copydesk = TestServer::scripted(script);
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let run = ana.asks("Rewrite this twice");
    ana.accepts_all(&ana.sees_request());
    ana.accepts_all(&ana.sees_request());
    let response = ana.answer(&run);
    assert_eq!(ana.text(), "Second.\n");
    let kinds: Vec<_> =
        response["updates"].as_array().unwrap().iter().map(|it| &it["updateType"]).collect();
    assert_eq!(kinds, ["full", "partial"]);
}

#[test]
fn the_message_is_everything_the_model_said_in_order() {
    let script = Script::default()
        .turn(json!({"when": {"user": "."}, "content": [
            {"type": "text", "text": "First."},
            {"type": "tool_use", "name": "respond_conversation_only", "input": {"response": "Second."}}]}))
        .closing("Third.");
    let copydesk = TestServer::scripted(script);
    let ana = copydesk.editor("Ana");
    let response = ana.is_answered("Explain passive voice", &about(OPENING));
    assert_eq!(response["conversationMessage"], "First.\nSecond.\nThird.");
}

#[test]
fn an_explanation_is_the_message_only_if_nothing_else_was_said() {
    let call =
        json!([{"type": "tool_use", "name": "update_full_document", "input": full("New.\n")}]);
    let provider = Provider::answering(vec![call, json!([])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    let run = ana.asks_about("Rewrite this", &about(OPENING));
    ana.accepts_all(&ana.sees_request());
    assert_eq!(ana.answer(&run)["conversationMessage"], "Rewrote it.");
}

// Streaming.

#[test]
fn the_answer_is_streamed_in_pieces() {
    let script = Script::default().turn(json!({
        "content": [{"type": "text", "text": "Every word counts."}], "chunk_chars": 5, "delay_ms": 100, "repeat": true}));
    let copydesk = TestServer::scripted(script);
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let run = ana.asks("What counts?");
    ana.answer(&run);
    ana.saw_in_order(&[
        "claudeStreamStart",
        "claudeStreamChunk",
        "claudeStreamChunk",
        "claudeStreamEnd",
        "claudeResponse",
    ]);
    let chunks = ana.saw("claudeStreamChunk");
    assert!(chunks.len() >= 3, "{chunks:?}");
    let text: String = chunks.iter().filter_map(|it| it["text"].as_str()).collect();
    assert_eq!(text, "Every word counts.");
    assert!(chunks.iter().all(|it| it["requestId"] == run && it["sessionId"] == ana.session()));
}

#[test]
fn one_call_is_told_in_order() {
    let copydesk = TestServer::playing("tighten-the-opening");
    let ana = copydesk.editor("Ana");
    ana.creates("It was dark. The keeper slept.\n");
    let run = ana.asks("Tighten the opening");
    ana.accepts_all(&ana.sees_request());
    ana.answer(&run);
    let steps: Vec<_> = told_in_order(&ana, &run);
    assert_eq!(
        steps,
        [
            "assistant text",
            "assistant tool_use",
            "request",
            "resolved",
            "user tool_result",
            "assistant text",
            "result success",
            "response"
        ]
    );
}

/// The steps of a run as a person saw them, without prompts and deltas.
fn told_in_order(person: &Person, run: &str) -> Vec<String> {
    let mut steps = Vec::new();
    for (name, body) in person.events() {
        if body["requestId"] != run && name != "tool_approval_resolved" {
            continue;
        }
        match name.as_str() {
            "tool_approval_request" => steps.push("request".to_owned()),
            "tool_approval_resolved" => steps.push("resolved".to_owned()),
            "claudeResponse" => steps.push("response".to_owned()),
            "agent_event" if body["subtype"] != "prompt" && body["subtype"] != "text_delta" => {
                steps.push(format!(
                    "{} {}",
                    body["type"].as_str().unwrap(),
                    body["subtype"].as_str().unwrap()
                ));
            }
            _ => {}
        }
    }
    steps
}

// Hooks: validation before (document agent protocol: `validate_document_operation`).

#[test]
fn test_validate_document_operation() {
    let copydesk =
        TestServer::scripted(Script::calling("update_selection", &selection(100, 50, "x")));
    let ana = copydesk.editor("Ana");
    let run = ana.asks_about("Fix this", &about("x".repeat(200).as_str()));
    assert_eq!(ana.answer(&run)["updateType"], "none");
    let told = &ana.told(&run)[0];
    assert_eq!(told["permissionDecision"], "deny");
    assert_eq!(told["permissionDecisionReason"], "Invalid selection range");
    assert_eq!(told["is_error"], true);
}

#[test]
fn the_model_hears_of_a_denial_and_can_say_so() {
    let copydesk = TestServer::playing("invalid-range");
    let ana = copydesk.editor("Ana");
    let response = ana.is_answered("Turn it around", &about(OPENING));
    assert_eq!(response["conversationMessage"], "That range does not exist.");
    assert_eq!(response["updateType"], "none");
}

#[test]
fn every_invalid_selection_range_is_denied() {
    // "a😀bc": the pair stands at 1 and 2, the end is 5.
    let cases = [
        ("missing", json!({"new_text": "x", "explanation": "e"})),
        (
            "missing start",
            json!({"new_text": "x", "selection_range": {"end": 3}, "explanation": "e"}),
        ),
        (
            "missing end",
            json!({"new_text": "x", "selection_range": {"start": 3}, "explanation": "e"}),
        ),
        ("negative", selection(-1, 3, "x")),
        ("reversed", selection(4, 3, "x")),
        ("past the end", selection(0, 6, "x")),
        ("start inside a pair", selection(2, 3, "x")),
        ("end inside a pair", selection(0, 2, "x")),
        ("a word", selection("one", 3, "x")),
        ("a fraction", selection(0.5, 3, "x")),
        ("null", selection(Value::Null, 3, "x")),
    ];
    let script = cases.iter().fold(Script::default(), |script, (name, input)| {
        script.answering(&format!("^{name}$"), "update_selection", input)
    });
    let copydesk = TestServer::scripted(script.closing("Done."));
    let ana = copydesk.editor("Ana");
    ana.creates("a😀bc");
    for (name, _) in &cases {
        let run = ana.asks(name);
        assert_eq!(ana.answer(&run)["updateType"], "none", "{name}");
        let told = ana.told(&run);
        assert_eq!(told[0]["content"], "Invalid selection range", "{name}");
        assert_eq!(told[0]["is_error"], true, "{name}");
    }
    assert!(
        ana.saw("tool_approval_request").is_empty(),
        "nobody was asked about what cannot be done"
    );
    assert_eq!(ana.text(), "a😀bc");
}

#[test]
fn an_empty_selection_inserts() {
    let copydesk = TestServer::scripted(Script::calling("update_selection", &selection(3, 3, "!")));
    let ana = copydesk.editor("Ana");
    ana.creates("a😀bc");
    ana.asks("Exclaim");
    ana.accepts_all(&ana.sees_request());
    assert_eq!(ana.text(), "a😀!bc");
}

#[test]
fn one_scalar_too_many_is_too_large() {
    // Astral characters: scalars are counted, not UTF-16 units and not bytes.
    let copydesk = TestServer::scripted(Script::rewriting(&"😀".repeat(100_001)));
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let run = ana.asks("Make it long");
    assert_eq!(ana.answer(&run)["updateType"], "none");
    let told = &ana.told(&run)[0];
    assert_eq!((&told["content"], &told["is_error"]), (&json!("Content too large"), &json!(true)));
    assert!(ana.saw("tool_approval_request").is_empty());
}

#[test]
fn exactly_the_limit_is_not_too_large() {
    let long = "😀".repeat(100_000);
    let copydesk = TestServer::scripted(Script::rewriting(&long));
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let run = ana.asks("Make it long");
    ana.accepts_all(&ana.sees_request());
    assert_eq!(ana.answer(&run)["updateType"], "full");
    assert_eq!(ana.text(), long);
}

#[test]
fn a_small_change_of_a_long_document_is_not_too_large() {
    let copydesk = TestServer::scripted(Script::calling(
        "update_selection",
        &selection(0, 0, &"y".repeat(11)),
    ));
    let ana = copydesk.editor("Ana");
    ana.creates(&"x".repeat(99_990));
    ana.asks("Add a little");
    ana.accepts_all(&ana.sees_request());
    assert_eq!(ana.text().len(), 100_001);
}

#[test]
fn no_tool_touches_a_frozen_range() {
    let script = Script::default()
        .answering("first", "update_selection", &selection(0, 3, "Two"))
        .answering("second", "update_selection", &selection(5, 8, "Three"))
        .closing("Done.");
    let copydesk = TestServer::scripted(script);
    let owner = copydesk.owner();
    let document = owner.creates("One. Two.\n");
    let frozen = json!({"version": 0, "ranges": [{"from": 0, "to": 4}]});
    owner.emit("document:settings", &json!({"documentId": document, "frozen": frozen})).ok();
    let run = owner.asks("first");
    owner.answer(&run);
    assert_eq!(owner.told(&run)[0]["permissionDecision"], "deny");
    owner.asks("second");
    owner.accepts_all(&owner.sees_request());
    assert_eq!(owner.text(), "One. Three.\n");
}

#[test]
fn the_model_is_told_which_frozen_words_it_tried_to_change() {
    let script = Script::rewriting("Uno. Dos.\n");
    let copydesk = TestServer::scripted(script);
    let owner = copydesk.owner();
    let document = owner.creates("One. Two.\n");
    let frozen = json!({"version": 0, "ranges": [{"from": 5, "to": 9}]});
    owner.emit("document:settings", &json!({"documentId": document, "frozen": frozen})).ok();
    let run = owner.asks("Translate");
    owner.answer(&run);
    let told = &owner.told(&run)[0];
    assert_eq!((&told["is_error"], &told["permissionDecision"]), (&json!(true), &json!("deny")));
    assert!(told["content"].as_str().unwrap().contains("units 5 to 9: \"Two.\""), "{told}");
    assert!(owner.saw("tool_approval_request").is_empty());
}

#[test]
fn whatever_tool_the_model_uses_only_the_selection_may_differ() {
    let script = Script::default()
        .answering(".", "update_full_document", &full("It was dark. She slept.\n"))
        .turn(json!({"when": {"tool_result": "only the selected text may be changed, units 0 to 20"}, "content": [
            {"type": "tool_use", "name": "update_full_document", "input": full("It was dark. The keeper slept.\n")}]}))
        .closing("Done.");
    let copydesk = TestServer::scripted(script);
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let selected = json!({"text": "It was a dark night.", "start": 0, "end": 20});
    let context = json!({"documentId": ana.document(), "selection": selected});
    let run = ana.asks_about("Shorter", &context);
    ana.accepts_all(&ana.sees_request());
    ana.answer(&run);
    let told = ana.told(&run);
    assert_eq!((&told[0]["is_error"], &told[1]["is_error"]), (&json!(true), &json!(false)));
    assert_eq!(ana.text(), "It was dark. The keeper slept.\n");
    assert_eq!(ana.saw("tool_approval_request").len(), 1);
}

#[test]
fn a_caret_is_no_selection() {
    let copydesk = TestServer::scripted(Script::rewriting("Night fell.\n"));
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let caret = json!({"text": "", "start": 3, "end": 3});
    let context = json!({"documentId": ana.document(), "selection": caret});
    let run = ana.asks_about("Shorter", &context);
    ana.accepts_all(&ana.sees_request());
    ana.answer(&run);
    assert_eq!(ana.text(), "Night fell.\n");
}

#[test]
fn a_selection_that_is_out_of_date_is_refused_at_once() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let ask = |selection: Value| {
        let context = json!({"documentId": ana.document(), "selection": selection});
        let ask = json!({"sessionId": ana.session(), "prompt": "Hello", "context": context});
        ana.emit("askClaudeCode", &ask)
    };
    ask(json!({"text": "no such words", "start": 0, "end": 13})).refused_with("invalid_payload");
    ask(json!({"start": 0, "end": 1_000})).refused_with("invalid_payload");
    ask(json!({"start": 0, "end": 20})).ok();
}

#[test]
fn a_call_that_makes_no_sense_is_answered_and_the_run_goes_on() {
    let script = Script::default()
        .answering("^tool$", "delete_everything", &json!({}))
        .answering("^input$", "update_full_document", &json!({"new_content": 7}))
        .answering(
            "^field$",
            "update_full_document",
            &json!({"new_content": "x", "explanation": "e", "mode": "force"}),
        )
        .closing("Never mind.");
    let copydesk = TestServer::scripted(script);
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    for (prompt, names) in
        [("tool", "update_full_document"), ("input", "new_content"), ("field", "mode")]
    {
        let run = ana.asks(prompt);
        assert_eq!(ana.answer(&run)["conversationMessage"], "Never mind.");
        let told = &ana.told(&run)[0];
        assert_eq!(told["is_error"], true);
        assert!(told["content"].as_str().unwrap().contains(names), "{prompt}: {told}");
    }
    assert_eq!(ana.text(), OPENING);
}

// Hooks: format and log after (document agent protocol: `format_response`).

#[test]
fn every_result_has_a_time_and_its_session() {
    let script = Script::default()
        .answering("talk", "respond_conversation_only", &json!({"response": "Hello."}))
        .answering("change", "update_full_document", &full("New.\n"))
        .answering("fail", "update_selection", &selection(9, 3, "x"))
        .closing("Done.");
    let copydesk = TestServer::scripted(script);
    let ana = copydesk.editor("Ana");
    ana.creates("Old words.\n");
    for (prompt, update) in [("talk", "none"), ("change", "full"), ("fail", "none")] {
        let run = ana.asks(prompt);
        if prompt == "change" {
            ana.accepts_all(&ana.sees_request());
        }
        let response = ana.answer(&run);
        let told = &ana.told(&run)[0];
        assert_eq!(told["sessionId"], ana.session(), "{prompt}");
        assert_eq!(told["updateType"], update, "{prompt}");
        let time =
            |it: &Value| it["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        assert!(time(told) <= time(&response), "{prompt}: {told}");
    }
}

#[test]
fn every_tool_that_was_used_is_logged() {
    let copydesk =
        TestServer::plan().playing("conversation").variable("COPYDESK_LOG", "info").start();
    let ana = copydesk.editor("Ana");
    ana.is_answered("What makes a good opening?", &about("..."));
    let log = copydesk.complaints();
    assert!(log.contains("respond_conversation_only") && log.contains(&ana.session()), "{log}");
}

// Context (document agent protocol: `_format_prompt_with_context`), as the model really gets it.

#[test]
fn the_model_is_told_instructions_document_selection_history_and_request_in_order() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "A lighthouse."}])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    let context = json!({
        "documentContent": OPENING,
        "selection": {"text": "The keeper slept.", "start": 21, "end": 38},
        "conversationHistory": [{"role": "user", "content": "Where are we?"}, {"role": "assistant", "content": "At sea."}],
        "systemInstructions": "Keep British spelling.",
    });
    ana.is_answered("Who is the keeper?", &context);
    let told = provider.told(1);
    let mut rest = told.as_str();
    for piece in [
        "Instructions: Keep British spelling.",
        "Current Document:",
        OPENING.trim(),
        "Selected Text (chars 21-38):",
        "The keeper slept.",
        "Where are we?",
        "At sea.",
        "User Request: Who is the keeper?",
        "Available Tools:",
        "- update_full_document: Use when request requires replacing entire document",
        "- update_selection: Use when request targets selected text only",
        "- respond_conversation_only: Use for questions, discussions, no edits",
    ] {
        let at = rest
            .find(piece)
            .unwrap_or_else(|| panic!("{piece:?} is missing or too early in\n{told}"));
        rest = &rest[at + piece.len()..];
    }
}

#[test]
fn what_is_not_in_the_context_is_not_in_the_prompt() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Yes."}])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    ana.is_answered("Are you there?", &json!({}));
    let told = provider.told(1);
    for absent in ["Instructions:", "Current Document:", "Selected Text"] {
        assert!(!told.contains(absent), "{absent} in {told}");
    }
    assert!(told.contains("User Request: Are you there?"));
}

#[test]
fn the_model_is_offered_the_three_tools() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Yes."}])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    ana.is_answered("Are you there?", &about(OPENING));
    let tools = &provider.asked(1)["tools"];
    let fields = |name: &str| {
        let tool = tools.as_array().unwrap().iter().find(|it| it["name"] == name);
        let tool = tool.unwrap_or_else(|| panic!("{name} is not offered: {tools}"));
        assert!(tool["description"].as_str().is_some_and(|it| !it.is_empty()));
        let mut fields: Vec<_> =
            tool["input_schema"]["properties"].as_object().unwrap().keys().cloned().collect();
        fields.sort();
        fields
    };
    assert_eq!(fields("update_full_document"), ["explanation", "new_content"]);
    assert_eq!(fields("update_selection"), ["explanation", "new_text", "selection_range"]);
    assert_eq!(fields("respond_conversation_only"), ["response"]);
}

#[test]
fn the_shared_documents_own_text_is_the_one_that_counts() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Yes."}])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    ana.creates("What the server knows.\n");
    let context =
        json!({"documentId": ana.document(), "documentContent": "What the client thinks.\n"});
    ana.is_answered("Are you there?", &context);
    assert!(provider.told(1).contains("What the server knows."));
    assert!(!provider.told(1).contains("What the client thinks."));
}

// The private document of a session.

#[test]
fn a_session_without_a_shared_document_has_a_private_one() {
    let copydesk = TestServer::scripted(Script::rewriting("Mine, better.\n"));
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    let run = ana.asks_about("Rewrite this", &about("Mine.\n"));
    let request = ana.sees_request();
    assert!(ben.saw("tool_approval_request").is_empty(), "nobody else is told");
    ana.accepts_all(&request);
    assert_eq!(ana.answer(&run)["documentUpdate"], "Mine, better.\n");
    let listed = ben.emit("document:list", &json!({})).ok();
    assert!(
        listed["documents"].as_array().unwrap().iter().all(|it| it["title"] != "Private"),
        "{listed}"
    );
}

#[test]
fn the_private_document_is_brought_to_the_text_that_is_sent() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Yes."}])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    ana.is_answered("One?", &about("The first text.\n"));
    ana.is_answered("Two?", &about("The second text.\n"));
    assert!(provider.told(1).contains("The first text."));
    assert!(provider.told(2).contains("The second text."));
}

#[test]
fn line_ends_are_normalised_before_positions_count() {
    let copydesk =
        TestServer::scripted(Script::calling("update_selection", &selection(4, 7, "TWO")));
    let ana = copydesk.editor("Ana");
    let run = ana.asks_about("Shout", &about("one\r\ntwo\r\n"));
    let request = ana.sees_request();
    assert_eq!(request["original_content"], "one\ntwo\n");
    ana.accepts_all(&request);
    assert_eq!(ana.answer(&run)["documentUpdate"], "TWO");
}

// Memory (document agent protocol: "Session-based conversation memory").

#[test]
fn a_session_remembers_and_another_does_not() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Noted."}])]);
    let copydesk = TestServer::behind(&provider);
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ana.is_answered("My cat is called Mog.", &json!({}));
    ana.is_answered("What is my cat called?", &json!({}));
    ben.is_answered("What is her cat called?", &json!({}));
    let second = provider.asked(2)["messages"].to_string();
    assert!(second.contains("My cat is called Mog.") && second.contains("Noted."), "{second}");
    assert!(!provider.asked(3)["messages"].to_string().contains("Mog"), "Ben hears of Ana's cat");
}

#[test]
fn a_conversation_can_be_begun_afresh() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Noted."}])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    ana.is_answered("My cat is called Mog.", &json!({}));
    let ask = json!({"sessionId": ana.session(), "prompt": "What is my cat called?", "continue": false, "context": {}});
    let run = ana.emit("askClaudeCode", &ask).ok()["requestId"].as_str().unwrap().to_owned();
    ana.answer(&run);
    assert!(!provider.asked(2)["messages"].to_string().contains("Mog"));
}

// Exactly one answer, whatever happens.

/// How a run that was answered ended: the subtypes of its results and its responses.
fn endings(person: &Person, run: &str) -> (Vec<String>, Vec<Value>) {
    let mine = |it: &Value| it["requestId"] == run;
    let results =
        person.saw("agent_event").into_iter().filter(|it| mine(it) && it["type"] == "result");
    let responses = person.saw("claudeResponse").into_iter().filter(mine).collect();
    (results.map(|it| it["subtype"].as_str().unwrap().to_owned()).collect(), responses)
}

#[test]
fn every_way_a_model_can_fail_gives_one_result_and_one_response() {
    let copydesk = TestServer::playing("provider-errors");
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let cases = [
        ("overloaded", "error"),
        ("overloaded later", "error"),
        ("key", "error"),
        ("cut", "error"),
        ("too long", "max_tokens"),
        ("refuse", "refusal"),
        ("nothing the script knows", "error"),
    ];
    for (prompt, subtype) in cases {
        let run = ana.asks(prompt);
        ana.answer(&run);
        let (results, responses) = endings(&ana, &run);
        assert_eq!(results, [subtype], "{prompt}");
        assert_eq!(responses.len(), 1, "{prompt}");
        assert_eq!(responses[0]["updateType"], "none", "{prompt}");
        assert!(responses[0]["error"]["code"].is_string(), "{prompt}: {}", responses[0]);
    }
    assert!(ana.saw("tool_approval_request").is_empty(), "half an answer is not executed");
    assert_eq!(ana.text(), OPENING);
}

#[test]
fn a_cancelled_run_gives_one_result_and_one_response() {
    let copydesk = TestServer::playing("slow");
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let run = ana.asks("Talk to me");
    ana.sees("claudeStreamChunk");
    ana.emit("cancel", &json!({"requestId": run})).ok();
    assert_eq!(ana.answer(&run)["error"]["code"], "cancelled");
    let (results, responses) = endings(&ana, &run);
    assert_eq!((results.as_slice(), responses.len()), (&["cancelled".to_owned()][..], 1));
}

#[test]
fn a_run_is_cancelled_by_its_name_from_another_window_and_by_nobody_else() {
    let copydesk = TestServer::playing("slow");
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(OPENING));
    let run = ana.asks("Talk to me");
    ana.sees("claudeStreamChunk");
    ben.emit("cancel", &json!({"requestId": run})).refused_with("not_found");
    let window = ana.second_window();
    assert_ne!(window.session(), ana.session());
    window.emit("cancel", &json!({"requestId": run})).ok();
    assert_eq!(ana.answer(&run)["error"]["code"], "cancelled");
    window.emit("cancel", &json!({"requestId": run})).refused_with("not_found");
}

#[test]
fn cancelling_by_a_name_that_two_windows_use_stops_the_run_of_this_window() {
    let copydesk = TestServer::playing("slow");
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let window = ana.second_window();
    window.opens(&ana.document());
    for person in [&ana, &window] {
        let context = json!({"documentId": ana.document()});
        let ask = json!({"sessionId": person.session(), "prompt": "Talk to me", "requestId": "same", "context": context});
        person.emit("askClaudeCode", &ask).ok();
        person.sees_where("claudeStreamChunk", |it| it["sessionId"] == person.session());
    }
    window.emit("cancel", &json!({"requestId": "same"})).ok();
    let ended = ana.sees("claudeResponse");
    assert_eq!(ended["sessionId"], window.session(), "{ended}");
    window.emit("cancel", &json!({"requestId": "same"})).ok();
    let ended = ana.sees("claudeResponse");
    assert_eq!(ended["sessionId"], ana.session(), "{ended}");
}

#[test]
fn cancelling_while_people_look_at_a_change_takes_it_back() {
    let copydesk = TestServer::scripted(Script::rewriting("New.\n"));
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(OPENING));
    let run = ana.asks("Rewrite this");
    let request = ben.sees_request();
    ana.emit("cancel", &json!({"sessionId": ana.session()})).ok();
    assert_eq!(ben.sees_resolved(&request)["status"], "cancelled");
    ana.answer(&run);
    assert_eq!(endings(&ana, &run).0, ["cancelled"]);
    assert!(ben.pending().is_empty());
    ben.decides(&request, json!({"approved": true})).refused_with("already_resolved");
}

#[test]
fn runs_of_one_session_on_one_document_wait_for_each_other() {
    let script = Script::default()
        .answering("first", "update_full_document", &full("First.\n"))
        .closing("Done.");
    let copydesk = TestServer::scripted(script);
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    let first = ana.asks("first");
    let second = ana.asks("second");
    let request = ana.sees_request();
    assert!(ana.saw("claudeResponse").is_empty(), "the second waits for the first");
    ana.accepts_all(&request);
    let order =
        [ana.sees("claudeResponse"), ana.sees("claudeResponse")].map(|it| it["requestId"].clone());
    assert_eq!(order, [json!(first), json!(second)]);
}

#[test]
fn runs_on_different_documents_do_not_wait() {
    let script = Script::default()
        .answering("first", "update_full_document", &full("First.\n"))
        .closing("Done.");
    let copydesk = TestServer::scripted(script);
    let ana = copydesk.editor("Ana");
    ana.creates(OPENING);
    ana.asks("first");
    ana.sees_request();
    ana.creates("Another document.\n");
    let other = ana.asks("second");
    assert_eq!(ana.answer(&other)["conversationMessage"], "Done.");
}

#[test]
fn a_mode_that_this_server_does_not_have_or_allow_is_refused() {
    let copydesk = TestServer::quiet();
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let ask = |person: &Person, mode: &str| {
        let ask = json!({
            "sessionId": person.session(), "prompt": "Hello", "permission_mode": mode, "context": {}});
        person.emit("askClaudeCode", &ask)
    };
    ask(&ana, "sdk").ok();
    ask(&ana, "toolApproval").ok();
    ask(&ana, "mcpProxy").refused_with("unsupported");
    ask(&owner, "bypassPermissions").refused_with("not_allowed");
}

#[test]
fn only_an_owner_of_a_server_that_allows_it_skips_approval() {
    let plan = TestServer::plan().script(Script::rewriting("New.\n")).flags(&["--allow-bypass"]);
    let copydesk = plan.start();
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    ana.opens(&owner.creates("Old words.\n"));
    let ask = |person: &Person| {
        let context = json!({"documentId": person.document()});
        let ask = json!({"sessionId": person.session(), "prompt": "Rewrite",
            "permission_mode": "bypassPermissions", "context": context});
        person.emit("askClaudeCode", &ask)
    };
    ask(&ana).refused_with("not_allowed");
    let run = ask(&owner).ok()["requestId"].as_str().unwrap().to_owned();
    assert_eq!(owner.answer(&run)["documentUpdate"], "New.\n");
    ana.comes_to_read("New.\n");
}

#[test]
fn a_client_may_name_its_runs_but_not_twice() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let ask = json!({"sessionId": ana.session(), "prompt": "Hello", "requestId": "mine-1", "context": {}});
    assert_eq!(ana.emit("askClaudeCode", &ask).ok()["requestId"], "mine-1");
    ana.answer("mine-1");
    ana.emit("askClaudeCode", &ask).refused_with("already_exists");
    assert_eq!(endings(&ana, "mine-1").1.len(), 1);
}
