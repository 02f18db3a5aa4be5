//! Answers in one piece and as a stream, and the models that give them.

use serde_json::json;

use crate::support::messages_client::MessagesClient;
use crate::support::{Role, Script, TestServer};

use super::{call, calls, program, result, text, tool, types, user, with_document, words};

#[test]
fn an_answer_in_one_piece_is_a_message() {
    let copydesk = TestServer::quiet();
    let program = program(&copydesk);
    for program in [
        program.clone(),
        program.clone().without("anthropic-version"),
        program.clone().header("anthropic-version", "2023-06-01"),
    ] {
        let answer = program.asks(
            &json!([user("Hello")]),
            &json!({"temperature": 1, "metadata": {"user_id": "x"}, "unheard_of": []}),
        );
        assert!(answer.header("request-id").starts_with("req_"));
        let message = answer.ok();
        assert!(message["id"].as_str().is_some_and(|id| id.starts_with("msg_")));
        let rest = json!({"type": "message", "role": "assistant", "model": program.model(), "content": [text("I see.")],
            "stop_reason": "end_turn", "stop_sequence": null});
        for (name, expected) in rest.as_object().expect("fields") {
            assert_eq!(&message[name], expected, "{name}");
        }
        assert!(
            message["usage"]["input_tokens"].is_u64() && message["usage"]["output_tokens"].is_u64()
        );
    }
}

#[test]
fn the_key_comes_in_either_header() {
    let copydesk = TestServer::quiet();
    let token = copydesk.token("Program", Role::Editor, &[]);
    let program = MessagesClient::with(&copydesk, &token)
        .without("Authorization")
        .header("x-api-key", &token);
    assert_eq!(words(&program.asks(&json!([user("Hello")]), &json!({})).ok()), "I see.");
}

#[test]
fn a_stream_has_the_events_of_the_api_in_its_order() {
    let turn = json!({"content": [text("Let me see."), call("weather", &json!({"city": "Paris"}))], "chunk_chars": 6});
    let copydesk = TestServer::scripted(Script::default().turn(turn));
    let program = program(&copydesk);
    let stream = program.streams(&json!([user("Weather?")]), &json!({"tools": [tool("weather")]}));
    assert!(stream.head.contains("content-type: text/event-stream"), "{}", stream.head);
    assert!(stream.head.contains("request-id: req_"), "{}", stream.head);
    let events = stream.rest();
    let expected = [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta text_delta",
        "content_block_delta text_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta input_json_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    assert_eq!(types(&events), expected);
    assert_eq!(events[0]["message"]["content"], json!([]));
    assert_eq!(events[6]["content_block"]["input"], json!({}));
    assert_eq!((&events[6]["index"], &events[8]["index"]), (&json!(1), &json!(1)));
    assert_eq!(events[7]["delta"]["partial_json"], "{\"city\":\"Paris\"}");
    assert_eq!(events[9]["delta"]["stop_reason"], "tool_use");
    assert!(events[9]["usage"]["output_tokens"].is_u64());
}

#[test]
fn a_programs_tools_are_its_own_and_their_calls_go_back_all_at_once() {
    let both = json!({"content": [call("weather", &json!({"city": "Paris"})), call("update_full_document", &json!({"city": "Rome"}))]});
    let (_server, ana, program) = with_document(
        Script::default().turn(both).after_result("Rain\nSun", "Rain and sun.").closing("?"),
        &[],
    );
    // Also one that is called like a tool of the server.
    let more = json!({"tools": [tool("weather"), tool("update_full_document")]});
    let mut said = json!([user("Weather?")]);
    let first = program.asks(&said, &more).ok();
    let made = calls(&first);
    assert_eq!((made.len(), first["stop_reason"].as_str()), (2, Some("tool_use")));
    let results = json!([result(&made[0], "Rain"), result(&made[1], "Sun")]);
    let said = said.as_array_mut().expect("a list");
    said.push(json!({"role": "assistant", "content": first["content"]}));
    said.push(user(results));
    assert_eq!(words(&program.asks(&json!(said), &more).ok()), "Rain and sun.");
    assert_eq!(ana.text(), "It was very dark.\n");
    assert!(ana.saw("tool_approval_request").is_empty());
}

#[test]
fn models_are_listed_and_described() {
    let copydesk = TestServer::plan().model("harper").start();
    let program = program(&copydesk);
    let harper = json!({"type": "model", "id": "harper", "display_name": "harper", "created_at": "1970-01-01T00:00:00Z"});
    let page =
        json!({"data": [harper], "has_more": false, "first_id": "harper", "last_id": "harper"});
    assert_eq!(program.call("GET /v1/models?limit=5", "").ok(), page);
    assert_eq!(program.call("GET /v1/models/harper", "").ok(), harper);
    program.call("GET /v1/models/gpt", "").refused(404, "not_found_error");
    program.call("GET /v1/models?limit=x", "").refused(400, "invalid_request_error");
    let hello = MessagesClient::with(&copydesk, "nobody")
        .without("Authorization")
        .call("HEAD /api/hello", "");
    assert_eq!(hello.status, 200);
    let counted = program.call(
        "POST /v1/messages/count_tokens",
        &json!({"model": "harper", "messages": [user("x".repeat(400))]}).to_string(),
    );
    let tokens = counted.ok()["input_tokens"].as_u64().expect("a number");
    assert!((100..150).contains(&tokens), "{tokens}");
    let nothing = program.asks(&json!([user("Hello")]), &json!({"max_tokens": 0})).ok();
    assert_eq!((&nothing["content"], &nothing["stop_reason"]), (&json!([]), &json!("max_tokens")));
}
