//! News of a run for people: streamed words, steps, results and the response.

use serde_json::{Value, json};

use super::{OPENING, about};
use crate::support::script::{full, selection};
use crate::support::{Person, Provider, Script, TestServer};

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
    let steps: Vec<_> = results_in_order(&ana, &run);
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
fn results_in_order(person: &Person, run: &str) -> Vec<String> {
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
        let tool_result = &ana.tool_results(&run)[0];
        assert_eq!(tool_result["sessionId"], ana.session(), "{prompt}");
        assert_eq!(tool_result["updateType"], update, "{prompt}");
        let time =
            |it: &Value| it["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        assert!(time(tool_result) <= time(&response), "{prompt}: {tool_result}");
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
