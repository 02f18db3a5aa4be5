//! The Messages API: other programs talk to this server's models as they would to Anthropic's.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::http::ask;
use crate::support::messages_client::{Events, MessagesClient};
use crate::support::script::full;
use crate::support::{Person, Provider, RestClient, Role, Script, TestServer};

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "name": name, "input": input})
}

fn user(content: impl Into<Value>) -> Value {
    let content: Value = content.into();
    json!({"role": "user", "content": content})
}

/// A tool of the program's own.
fn tool(name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    json!({"name": name, "description": "Of the program.", "input_schema": schema})
}

fn result(call: &Value, said: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": call["id"], "content": said})
}

fn calls(message: &Value) -> Vec<Value> {
    let blocks = message["content"].as_array().expect("blocks");
    blocks.iter().filter(|block| block["type"] == "tool_use").cloned().collect()
}

/// All text of an answer.
fn words(message: &Value) -> String {
    let blocks = message["content"].as_array().expect("blocks").iter();
    blocks.filter_map(|block| block["text"].as_str()).collect()
}

/// The program of an editor whose token is named nowhere else.
fn program(copydesk: &TestServer) -> MessagesClient {
    MessagesClient::with(copydesk, &copydesk.token("Program", Role::Editor, &[]))
}

/// A desk with Ana, her program, which may use the document tools, and a document.
fn with_document(script: Script, flags: &[&str]) -> (TestServer, Person, MessagesClient) {
    let copydesk = TestServer::plan().script(script).flags(flags).start();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("It was very dark.\n");
    let program = MessagesClient::with(&copydesk, &ana.token);
    program.opts_in(&json!(["document"]));
    let program = program.header("x-copydesk-document", &document);
    (copydesk, ana, program)
}

/// The model reads the document, rewrites it, and says what it was told.
fn rewriting() -> Script {
    Script::default()
        .answering("Rewrite", "read_document", &json!({}))
        .turn(json!({"when": {"tool_result": "Units 0 to"}, "content": [text("I see. "), call("update_full_document", &full("It was dark.\n"))]}))
        .told("^Applied", "Accepted.")
        .told("User rejected: Keep it", "Rejected.")
        .told("timed out", "Nobody came.")
        .closing("What?")
}

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

/// Types of events, those of deltas besides.
fn types(events: &[Value]) -> Vec<String> {
    let name = |event: &Value| {
        let delta = event["delta"]["type"].as_str().map(|delta| format!(" {delta}"));
        event["type"].as_str().expect("a type").to_owned() + &delta.unwrap_or_default()
    };
    events.iter().map(name).collect()
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
    let (_desk, ana, program) = with_document(
        Script::default().turn(both).told("Rain\nSun", "Rain and sun.").closing("?"),
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
fn a_change_waits_for_people_and_the_program_hears_what_they_decided() {
    let (_desk, ana, program) = with_document(rewriting(), &["--approval-timeout", "5"]);
    for (decide, end) in [
        ("accept", "I see. Accepted."),
        ("reject", "I see. Rejected."),
        ("wait", "I see. Nobody came."),
    ] {
        ana.creates("It was very dark.\n");
        let program = program.clone().header("x-copydesk-document", &ana.document());
        let asking =
            std::thread::spawn(move || program.asks(&json!([user("Rewrite it")]), &json!({})).ok());
        let request = ana.sees_request();
        assert_eq!(request.0["source"], "messages_api", "{}", request.0);
        match decide {
            "accept" => drop(ana.accepts_all(&request)),
            "reject" => drop(ana.rejects(&request, "Keep it")),
            _ => drop(ana.sees_resolved(&request)),
        }
        let message = asking.join().expect("an answer");
        assert_eq!((words(&message).as_str(), &message["stop_reason"]), (end, &json!("end_turn")));
        assert_eq!(
            calls(&message),
            Vec::<Value>::new(),
            "what runs here is not the program's affair"
        );
        let expected = if decide == "accept" { "It was dark.\n" } else { "It was very dark.\n" };
        ana.comes_to_read(expected);
    }
}

#[test]
fn a_mixed_turn_runs_ours_first_and_goes_on_when_the_program_has_answered() {
    let script = Script::default()
        .answering("Both", "read_document", &json!({}))
        .turn(json!({"when": {"tool_result": "Units 0 to"}, "content": [
            text("Now both."), call("weather", &json!({"city": "Paris"})), call("update_full_document", &full("It was dark.\n"))]}))
        .told("(?s)^Applied.*Rain$", "Done both.")
        .closing("?");
    let (_desk, ana, program) = with_document(script, &[]);
    let more = json!({"tools": [tool("weather")]});
    let mut stream = program.streams(&json!([user("Both")]), &more);
    assert_eq!(stream.next().expect("an event")["type"], "message_start");
    let request = ana.sees_request();
    ana.accepts_all(&request);
    ana.comes_to_read("It was dark.\n");
    let events = stream.rest();
    let start = |event: &&Value| event["content_block"]["type"] == "tool_use";
    let made: Vec<_> = events.iter().filter(start).map(|event| &event["content_block"]).collect();
    assert_eq!(made.len(), 1, "only the program's own");
    // As a client without any of our field order would send it back.
    let said = json!([
        user("Both"),
        {"role": "assistant", "content": [text("Now both."), {"type": "tool_use", "id": made[0]["id"], "name": "weather", "input": {"city": "Paris"}, "cache_control": {"type": "ephemeral"}}]},
        user(json!([result(made[0], "Rain")])),
    ]);
    assert_eq!(words(&program.asks(&said, &more).ok()), "Done both.");
}

#[test]
fn what_a_mixed_turn_holds_outlives_a_power_cut_and_is_not_done_again() {
    let script = Script::default()
        .answering("Both", "read_document", &json!({}))
        .turn(json!({"when": {"tool_result": "Units 0 to"}, "content": [
            text("Now both."), call("weather", &json!({"city": "Paris"})), call("update_full_document", &full("It was dark.\n"))]}))
        .told("(?s)^Applied.*Rain$", "Done both.")
        .answering("More", "update_full_document", &full("It was light.\n"))
        .told("^Applied", "Done more.")
        .closing("?");
    let (mut copydesk, ana, program) = with_document(script, &[]);
    let more = json!({"tools": [tool("weather")]});
    let waiting = std::thread::spawn({
        let (program, more) = (program.clone(), more.clone());
        move || program.asks(&json!([user("Both")]), &more).ok()
    });
    let request = ana.sees_request();
    ana.accepts_all(&request);
    let first = waiting.join().unwrap();
    let made = calls(&first);
    assert_eq!(made.len(), 1, "only the program's own: {first}");
    copydesk.is_killed_and_restarted();
    let ana = ana.comes_back(&copydesk);
    ana.opens_again();
    let program =
        MessagesClient::with(&copydesk, &ana.token).header("x-copydesk-document", &ana.document());
    let mut said = json!([
        user("Both"),
        {"role": "assistant", "content": first["content"]},
        user(json!([result(&made[0], "Rain")])),
    ]);
    // Somebody else's program knows nothing of it, whatever it says was said.
    let other = copydesk.token("Ben", Role::Editor, &[]);
    let other = MessagesClient::with(&copydesk, &other);
    other.opts_in(&json!(["document"]));
    let other = other.header("x-copydesk-document", &ana.document());
    assert_eq!(words(&other.asks(&said, &more).ok()), "?");
    let second = program.asks(&said, &more).ok();
    assert_eq!(words(&second), "Done both.");
    // It was done once, and what the model has read is known too.
    assert_eq!(ana.text(), "It was dark.\n");
    let said = said.as_array_mut().unwrap();
    said.push(json!({"role": "assistant", "content": second["content"]}));
    said.push(user("More"));
    let said = json!(said);
    let waiting = std::thread::spawn(move || program.asks(&said, &more).ok());
    let again = ana.sees_request();
    assert_eq!(again["sessionId"], request["sessionId"]);
    ana.accepts_all(&again);
    assert_eq!(words(&waiting.join().unwrap()), "Done more.");
    assert_eq!(ana.text(), "It was light.\n");
}

#[test]
fn a_request_that_is_sent_again_after_a_power_cut_asks_nobody_twice() {
    for decided in ["before it is sent again", "after"] {
        let script = Script::default()
            .answering("Both", "read_document", &json!({}))
            .turn(json!({"when": {"tool_result": "Units 0 to"}, "content": [
                text("Now both."), call("weather", &json!({"city": "Paris"})), call("update_full_document", &full("It was dark.\n"))]}))
            .told("(?s)^Applied.*Rain$", "Done both.")
            .closing("?");
        let (mut copydesk, ana, program) = with_document(script, &[]);
        let more = json!({"tools": [tool("weather")]});
        let asked = json!([user("Both")]);
        let mut stream = program.streams(&asked, &more);
        assert_eq!(stream.next().expect("an event")["type"], "message_start");
        let request = ana.sees_request();
        copydesk.is_killed_and_restarted();
        drop(stream);
        let ana = ana.comes_back(&copydesk);
        ana.opens_again();
        assert_eq!(ana.pending()[0].id(), request.id());
        if decided != "after" {
            ana.accepts_all(&request);
            ana.comes_to_read("It was dark.\n");
        }
        let program = MessagesClient::with(&copydesk, &ana.token)
            .header("x-copydesk-document", &ana.document());
        // Somebody else may say the same; it is not theirs.
        let other = MessagesClient::with(&copydesk, &copydesk.token("Ben", Role::Editor, &[]));
        assert!(!words(&other.asks(&json!([user("Else")]), &json!({})).ok()).is_empty());
        let mut stream = program.streams(&asked, &more);
        assert_eq!(stream.next().expect("an event")["type"], "message_start");
        if decided == "after" {
            // What the model had said is told again, and nobody is asked again.
            while stream.next().expect("an event")["type"] != "content_block_stop" {}
            assert_eq!(ana.pending().len(), 1);
            ana.accepts_all(&request);
        }
        let events = stream.rest();
        let start = |event: &&Value| event["content_block"]["type"] == "tool_use";
        let made: Vec<_> =
            events.iter().filter(start).map(|event| event["content_block"].clone()).collect();
        assert_eq!(made.len(), 1, "only the program's own: {events:?}");
        ana.comes_to_read("It was dark.\n");
        assert_eq!((ana.pending().len(), ana.version()), (0, 1), "it was done once");
        let said = json!([
            user("Both"),
            {"role": "assistant", "content": [text("Now both."), {"type": "tool_use", "id": made[0]["id"], "name": "weather", "input": {"city": "Paris"}}]},
            user(json!([result(&made[0], "Rain")])),
        ]);
        assert_eq!(words(&program.asks(&said, &more).ok()), "Done both.");
        // Once it has its answer, the same request is another one.
        ana.overwrites("dark", "bright");
        let mut stream = program.streams(&asked, &more);
        assert_eq!(stream.next().expect("an event")["type"], "message_start");
        let is_another = |it: &Value| it["request_id"] != request.id();
        ana.sees_where("tool_approval_request", is_another);
    }
}

#[test]
fn a_result_for_a_call_that_was_not_shown_is_refused() {
    let script = Script::default()
        .turn(json!({"content": [call("weather", &json!({})), {"type": "tool_use", "id": "toolu_ours", "name": "read_document", "input": {}}]}))
        .closing("?");
    let (_desk, _ana, program) = with_document(script, &[]);
    let more = json!({"tools": [tool("weather")]});
    let first = program.asks(&json!([user("Both")]), &more).ok();
    let made = calls(&first);
    let forged = json!({"id": "toolu_ours"});
    let said = json!([user("Both"), {"role": "assistant", "content": first["content"]},
        user(json!([result(&made[0], "Rain"), result(&forged, "Applied")]))]);
    let why = program.asks(&said, &more).refused(400, "invalid_request_error");
    assert!(why.contains("toolu_ours"), "{why}");
}

#[test]
fn a_program_that_hangs_up_takes_its_request_back() {
    for streamed in [true, false] {
        let (_desk, ana, program) = with_document(rewriting(), &[]);
        let hung: Box<dyn FnOnce()> = if streamed {
            let stream: Events = program.streams(&json!([user("Rewrite it")]), &json!({}));
            Box::new(move || drop(stream))
        } else {
            let body = program.request(&json!([user("Rewrite it")]), &json!({})).to_string();
            let stream = program.open("POST /v1/messages", &body);
            Box::new(move || drop(stream))
        };
        let request = ana.sees_request();
        hung();
        assert_eq!(ana.sees_resolved(&request)["status"], "cancelled");
        assert_eq!(ana.text(), "It was very dark.\n");
    }
}

#[test]
fn tools_of_the_server_need_their_principals_word_which_is_kept() {
    let mut copydesk = TestServer::scripted(Script::talking());
    let ana = copydesk.editor("Ana");
    let document = ana.creates("Hello.");
    let program =
        MessagesClient::with(&copydesk, &ana.token).header("x-copydesk-document", &document);
    let said = json!([user("Hello")]);
    let why = program.asks(&said, &json!({})).refused(403, "permission_error");
    assert!(why.contains("PUT /api/v1/server-tools"), "{why}");
    program.opts_in(&json!(["document"]));
    copydesk.is_killed_and_restarted();
    let ana_again =
        MessagesClient::with(&copydesk, &ana.token).header("x-copydesk-document", &document);
    ana_again.asks(&said, &json!({})).ok();
    // Ben's word is his own.
    let ben = copydesk.token("Ben", Role::Editor, &[]);
    let ben = MessagesClient::with(&copydesk, &ben).header("x-copydesk-document", &document);
    ben.asks(&said, &json!({})).refused(403, "permission_error");
    let lost = ana_again.clone().header("x-copydesk-document", "doc_none");
    lost.asks(&said, &json!({})).refused(404, "not_found_error");
    ana_again.opts_in(&json!([]));
    ana_again.asks(&said, &json!({})).refused(403, "permission_error");
    let wrong = ana_again.call("PUT /api/v1/server-tools", r#"{"tools": ["bash"]}"#);
    assert_eq!(wrong.status, 422);
}

#[test]
fn files_of_the_workspace_are_written_once_somebody_has_approved() {
    let script = Script::default()
        .answering("Write", "Write", &json!({"file_path": "a.txt", "content": "Hello."}))
        .told("^Wrote 6 characters", "Written.")
        .closing("What?");
    let copydesk = TestServer::plan().script(script).workspace(&[]).start();
    let ana = copydesk.editor("Ana");
    let program = MessagesClient::with(&copydesk, &ana.token);
    let said = json!([user("Write it")]);
    // Without Ana's word the call is nobody's but the program's.
    assert_eq!(program.asks(&said, &json!({})).ok()["stop_reason"], "tool_use");
    program.opts_in(&json!(["workspace"]));
    let asking = std::thread::spawn(move || program.asks(&said, &json!({})).ok());
    let request = ana.sees_request();
    assert_eq!(copydesk.file("a.txt"), None);
    ana.decides(&request, json!({"approved": true})).ok();
    assert_eq!(words(&asking.join().expect("an answer")), "Written.");
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("Hello."));
}

#[test]
fn the_choice_of_tools_holds() {
    let three = json!({"content": [text("So."), call("a", &json!({})), call("b", &json!({})), call("a", &json!({}))], "repeat": true});
    let copydesk = TestServer::scripted(Script::default().turn(three));
    let program = program(&copydesk);
    let made = |choice: Value| {
        let more = json!({"tools": [tool("a"), tool("b")], "tool_choice": choice});
        let message = program.asks(&json!([user("Go")]), &more).ok();
        let names: Vec<_> = calls(&message)
            .iter()
            .map(|call| call["name"].as_str().unwrap_or_default().to_owned())
            .collect();
        (names.join(""), message["stop_reason"].as_str().unwrap_or_default().to_owned())
    };
    let told = |calls: &str, stop: &str| (calls.to_owned(), stop.to_owned());
    assert_eq!(made(json!({"type": "auto"})), told("aba", "tool_use"));
    assert_eq!(
        made(json!({"type": "auto", "disable_parallel_tool_use": true})),
        told("a", "tool_use")
    );
    assert_eq!(
        made(json!({"type": "any", "disable_parallel_tool_use": true})),
        told("a", "tool_use")
    );
    assert_eq!(made(json!({"type": "tool", "name": "b"})), told("b", "tool_use"));
    assert_eq!(made(json!({"type": "none"})), told("", "end_turn"));
}

#[test]
fn a_program_that_wants_no_tools_gets_none_of_ours_either() {
    let (_desk, ana, program) = with_document(rewriting(), &[]);
    let message =
        program.asks(&json!([user("Rewrite it")]), &json!({"tool_choice": {"type": "none"}})).ok();
    assert_eq!((words(&message).as_str(), &message["stop_reason"]), ("", &json!("end_turn")));
    assert!(ana.saw("tool_approval_request").is_empty());
}

#[test]
fn a_provider_is_told_what_the_program_wants() {
    let provider =
        Provider::answering(vec![json!([{"type": "thinking", "thinking": "Hm."}, text("Hello.")])]);
    let copydesk = TestServer::behind(&provider);
    let program = program(&copydesk);
    let mut body = program.request(&json!([user("Hello"), {"role": "system", "content": "Be brief."}]), &json!({
        "model": "claude-opus-5-5", "stop_sequences": ["END"], "temperature": 1, "tools": [tool("a")],
        "tool_choice": {"type": "any"}, "thinking": {"type": "adaptive", "display": "updates"},
        "system": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two.", "cache_control": {"type": "ephemeral"}}]}));
    let message = program.sends(&body.to_string()).ok();
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="});
    assert_eq!(message["content"], json!([thinking, text("Hello.")]));
    assert_eq!(message["model"], "claude-opus-5-5");
    assert_eq!(
        (&message["usage"]["input_tokens"], &message["usage"]["output_tokens"]),
        (&json!(1), &json!(1))
    );
    let asked = provider.asked(1);
    let expected = json!({"model": "claude-opus-5-5", "max_tokens": 100, "stop_sequences": ["END"], "tool_choice": {"type": "any"},
        "thinking": {"type": "adaptive"}, "stream": true});
    for (name, value) in expected.as_object().expect("fields") {
        assert_eq!(&asked[name], value, "{name}");
    }
    let kept =
        json!({"type": "text", "text": "One.\n\nTwo.", "cache_control": {"type": "ephemeral"}});
    assert_eq!((&asked["system"][0], &asked["cache_control"]), (&kept, &Value::Null));
    assert_eq!(asked["messages"][1]["role"], "system");
    assert!(asked.get("temperature").is_none(), "{asked}");
    // A client that drops the reasoning gets it back where it was.
    body["messages"] =
        json!([user("Hello"), {"role": "assistant", "content": "Hello."}, user("And?")]);
    program.sends(&body.to_string()).ok();
    assert_eq!(provider.asked(2)["messages"][1]["content"][0], thinking);
    // Another model of the same provider too.
    body["model"] = json!("claude-sonnet-5-5");
    program.sends(&body.to_string()).ok();
    assert_eq!(provider.asked(3)["messages"][1]["content"][0], thinking);
    let counted = program.call("POST /v1/messages/count_tokens", &body.to_string()).ok();
    assert_eq!(counted, json!({"input_tokens": 7}));
    assert_eq!(provider.counted()[0]["messages"][2]["content"][0]["text"], "And?");
}

#[test]
fn a_provider_keeps_of_a_request_what_the_program_wants_kept_and_nothing_else() {
    let provider = Provider::answering(vec![json!([text("Hello.")])]);
    let copydesk = TestServer::behind(&provider);
    let program = program(&copydesk);
    program.asks(&json!([user("Hello")]), &json!({"system": "Rules."})).ok();
    let asked = provider.asked(1);
    assert!(!asked.to_string().contains("cache_control"), "nobody pays unasked: {asked}");
    let mark = json!({"type": "ephemeral", "ttl": "1h"});
    let marked = |words: &str| json!({"type": "text", "text": words, "cache_control": mark});
    let said = json!([
        user(json!([marked("A long book.")])),
        {"role": "assistant", "content": "Read."},
        user(json!([text("And?"), marked("Well?")])),
    ]);
    program.asks(&said, &json!({})).ok();
    let asked = provider.asked(2);
    assert_eq!(asked["cache_control"], mark);
    assert_eq!(asked["messages"][0]["content"], json!([marked("A long book.")]));
    assert_eq!(asked["messages"][2]["content"], json!([text("And?"), text("Well?")]));
}

#[test]
fn what_a_provider_refuses_is_passed_on_at_once_with_when_to_come_again() {
    let refusal = |status: u16, kind: &str, code: &str| {
        let error = json!({"type": kind, "message": "Later.", "details": {"error_code": code}});
        let body = json!({"type": "error", "error": error});
        json!({"status": status, "headers": "retry-after: 30\r\n", "body": body})
    };
    let provider =
        Provider::answering(vec![refusal(429, "rate_limit_error", "ramp_limit_exceeded")]);
    let copydesk = TestServer::behind(&provider);
    let program = program(&copydesk);
    let asks = |stream: bool| {
        let body = program.request(&json!([user("Hello")]), &json!({"stream": stream}));
        program.call_once("POST /v1/messages", &body.to_string())
    };
    for stream in [false, true] {
        let began = Instant::now();
        let answer = asks(stream);
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        assert_eq!((answer.status, answer.header("retry-after")), (429, "30"), "{answer:?}");
        assert_eq!(answer.body["error"]["details"]["error_code"], "ramp_limit_exceeded");
        answer.refused(429, "rate_limit_error");
    }
    assert_eq!(provider.all_asked().len(), 2, "whoever asks tries again by itself");
    provider.plays(vec![refusal(402, "billing_error", "credit_balance_too_low")]);
    let unpaid = asks(false);
    assert_eq!(unpaid.body["error"]["details"]["error_code"], "credit_balance_too_low");
    unpaid.refused(402, "billing_error");
}

#[test]
fn blocks_come_back_as_the_model_wrote_them() {
    let weather = |id: &str| json!({"type": "tool_use", "id": id, "name": "weather", "input": {}});
    let plain = json!([text("First."), text("Second.")]);
    let mixed = json!([text("A"), weather("toolu_1"), text("B"), weather("toolu_2")]);
    let answers = [&plain, &mixed, &plain, &mixed].map(Value::clone);
    let provider = Provider::answering(answers.into());
    let copydesk = TestServer::behind(&provider);
    let program = program(&copydesk);
    let more = json!({"tools": [tool("weather")]});
    for expected in [&plain, &mixed] {
        let message = program.asks(&json!([user("Go")]), &more).ok();
        assert_eq!(&message["content"], expected);
    }
    for expected in [&plain, &mixed] {
        let events = program.streams(&json!([user("Go")]), &more).rest();
        let mut blocks: Vec<Value> = Vec::new();
        for event in &events {
            match event["type"].as_str().expect("a type") {
                "content_block_start" => blocks.push(event["content_block"].clone()),
                "content_block_delta" if event["delta"]["type"] == "text_delta" => {
                    let block = blocks.last_mut().expect("a block");
                    let words = [&block["text"], &event["delta"]["text"]].map(|it| it.as_str());
                    block["text"] = words.into_iter().flatten().collect::<String>().into();
                }
                _ => {}
            }
        }
        assert_eq!(&json!(blocks), expected);
    }
}

#[test]
fn a_program_that_waits_only_so_long_is_answered_before_it_gives_up() {
    let rewrites =
        || json!([text("I see. "), call("update_full_document", &full("It was dark.\n"))]);
    let script = Script::default()
        .answering("Rewrite", "read_document", &json!({}))
        .turn(json!({"when": {"tool_result": "Units 0 to"}, "content": rewrites()}))
        .turn(json!({"when": {"tool_result": "timed out"}, "content": rewrites()}))
        .told("no time was left", "Later, then.")
        .closing("?");
    let (_desk, ana, program) = with_document(script, &[]);
    let program = program.header("x-stainless-timeout", "8");
    let began = Instant::now();
    let message = program.asks(&json!([user("Rewrite it")]), &json!({})).ok();
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert_eq!(message["stop_reason"], "pause_turn", "{message}");
    // One card, however often the model tries: nobody would wait for the others.
    assert_eq!(ana.saw("tool_approval_request").len(), 1);
    assert!(ana.pending().is_empty());
    let said = json!([user("Rewrite it"), {"role": "assistant", "content": message["content"]}]);
    assert_eq!(words(&program.asks(&said, &json!({})).ok()), "Later, then.");
}

#[test]
fn a_program_may_insist_on_a_tool_of_the_server() {
    let (_desk, ana, program) = with_document(rewriting(), &[]);
    let insists = |name: &str| {
        let choice = json!({"tool_choice": {"type": "tool", "name": name}});
        program.asks(&json!([user("Rewrite it")]), &choice)
    };
    let why = insists("write_poem").refused(400, "invalid_request_error");
    assert!(why.starts_with("tool_choice: "), "{why}");
    let asking = std::thread::scope(|threads| {
        let asking = threads.spawn(|| insists("read_document"));
        ana.rejects(&ana.sees_request(), "Keep it");
        asking.join().expect("an answer")
    });
    assert_eq!(words(&asking.ok()), "I see. Rejected.");
}

#[test]
fn tools_that_claude_was_taught_reach_it_and_no_other_model() {
    let run =
        json!({"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "ls"}});
    let provider = Provider::answering(vec![json!([run])]);
    let copydesk = TestServer::behind(&provider);
    let program = program(&copydesk);
    let bash = json!({"type": "bash_20250124", "name": "bash"});
    let more = json!({"tools": [tool("a"), bash], "tool_choice": {"type": "tool", "name": "bash"}});
    let message = program.asks(&json!([user("List it")]), &more).ok();
    let made = calls(&message);
    assert_eq!((&made[0]["name"], &made[0]["input"]), (&json!("bash"), &run["input"]));
    let asked = provider.asked(1);
    let tools = asked["tools"].as_array().expect("tools");
    assert_eq!((tools.len(), &tools[0], &tools[1]["name"]), (2, &bash, &json!("a")));
    assert_eq!(asked["tool_choice"], json!({"type": "tool", "name": "bash"}));
    let mut other = more.clone();
    other["model"] = json!("harper");
    let why = program.asks(&json!([user("List it")]), &other).refused(400, "invalid_request_error");
    assert!(why.contains("bash_20250124"), "{why}");
}

#[test]
fn reasoning_that_a_program_sends_once_more_brings_nothing_back_twice() {
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="});
    let provider = Provider::answering(vec![json!([thinking, text("Hello.")])]);
    let copydesk = TestServer::behind(&provider);
    let program = program(&copydesk);
    let model = json!({"model": "claude-opus-5-5"});
    program.asks(&json!([user("Hello")]), &model).ok();
    let system = json!({"role": "system", "content": "Be brief."});
    let said = json!([user("Hello"), {"role": "assistant", "content": "Hello."}, system,
        {"role": "assistant", "content": [thinking]}, user("And?")]);
    program.asks(&said, &model).ok();
    let asked = provider.asked(2);
    let messages = asked["messages"].as_array().expect("messages").iter();
    let hello = messages.filter(|it| it["role"] == "assistant" && it.to_string().contains("Hello"));
    assert_eq!(hello.count(), 1, "{asked}");
}

#[test]
fn whoever_may_not_ask_is_refused_before_anything_is_read() {
    let copydesk = TestServer::quiet();
    let token = format!("Bearer {}", copydesk.token("Vi", Role::Viewer, &[]));
    for path in ["/v1/messages", "/v1/messages/count_tokens"] {
        let headers = [
            ("Host", copydesk.address()),
            ("Authorization", token.as_str()),
            ("Content-Type", "application/json"),
            // Of a body that never comes: whoever waits for it waits in vain.
            ("Content-Length", "30000000"),
        ];
        let answer = ask(copydesk.address(), &format!("POST {path}"), &headers);
        assert_eq!(answer.status, 403, "{}", answer.body);
    }
}

#[test]
fn an_answer_too_many_is_refused_before_anything_of_it_is_read() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (program(&copydesk), program(&copydesk));
    let announces = |program: &MessagesClient| {
        let length = program.clone().header("Content-Length", "1000");
        length.header("Content-Type", "application/json").open("POST /v1/messages", "")
    };
    let mut open: Vec<_> = (0..64).map(|_| announces(&ana)).collect();
    // One of the few that come then is too many, whichever comes in first.
    let refused = (0..4).find_map(|_| {
        let mut stream = announces(&ana);
        stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout can be set");
        let mut head = [0; 12];
        let read = stream.read_exact(&mut head).is_ok();
        open.push(stream);
        read.then_some(head)
    });
    assert_eq!(refused.as_ref(), Some(b"HTTP/1.1 429"));
    ben.asks(&json!([user("Hello")]), &json!({})).ok();
}

#[test]
fn what_is_read_of_one_person_at_once_is_bounded() {
    let copydesk = TestServer::quiet();
    let (ana, ben) =
        (copydesk.token("Ana", Role::Editor, &[]), copydesk.token("Ben", Role::Editor, &[]));
    let hand = RestClient::new(&copydesk, &ana);
    let (ana, ben) = (MessagesClient::with(&copydesk, &ana), MessagesClient::with(&copydesk, &ben));
    let long = ana.clone().header("Content-Length", "33554432");
    let long = long.header("Content-Type", "application/json");
    let spaces = " ".repeat(32 * 1024 * 1024 - 1);
    // A body of which all has come but the end.
    let begins = || {
        let mut stream = long.open("POST /v1/messages", "");
        // Refused, it is not read to its end.
        stream.write_all(spaces.as_bytes()).ok();
        stream
    };
    let hello = |program: &MessagesClient| {
        let request = program.request(&json!([user("Hello")]), &json!({})).to_string();
        program.call_once("POST /v1/messages", &format!("{}{request}", &spaces[..1 << 20]))
    };
    let until = Instant::now() + Duration::from_mins(2);
    let in_time = || assert!(Instant::now() < until, "it did not come to that");
    let mut unfinished = vec![begins(), begins()];
    loop {
        // What is written is not read yet; somebody else's request gives the server time.
        hello(&ben).ok();
        if hello(&ana).status == 429 {
            break;
        }
        // Her own request took the place of the end of one of them, which is refused then.
        in_time();
        unfinished.clear();
        unfinished.extend([begins(), begins()]);
    }
    let document = json!({"title": "Long", "text": &spaces[..1 << 20]});
    hand.posts("documents", &document).refused_with(429, "rate_limited");
    hello(&ben).ok();
    drop(unfinished);
    while hello(&ana).status != 200 {
        in_time();
    }
    hand.posts("documents", &document).ok();
}

#[test]
fn every_error_has_its_type_and_its_name() {
    let script = Script::default()
        .turn(json!({"when": {"user": "busy"}, "error": {"status": 529, "type": "overloaded_error"}, "repeat": true}))
        .turn(json!({"when": {"user": "limit"}, "error": {"status": 429, "type": "rate_limit_error"}, "repeat": true}))
        .turn(json!({"when": {"user": "broken"}, "content": [text("Well")], "cut": true, "repeat": true}))
        .turn(json!({"when": {"user": "refused"}, "error": {"status": 401, "type": "authentication_error"}, "repeat": true}))
        .turn(json!({"when": {"user": "fine"}, "content": [text("Fine.")], "repeat": true}));
    let copydesk = TestServer::scripted(script);
    let program = program(&copydesk);
    let said = |words: &str| json!([user(words)]);
    let none = json!({});
    let viewer = MessagesClient::with(&copydesk, &copydesk.token("Vi", Role::Viewer, &[]));
    viewer.asks(&said("fine"), &none).refused(403, "permission_error");
    let stranger = program.clone().header("Authorization", "Bearer nobody");
    stranger.asks(&said("fine"), &none).refused(401, "authentication_error");
    stranger.call("GET /v1/models", "").refused(401, "authentication_error");
    let keyless = program.clone().without("Authorization");
    keyless.asks(&said("fine"), &none).refused(401, "authentication_error");
    program.asks(&said("fine"), &json!({"model": "gpt"})).refused(404, "not_found_error");
    program.asks(&said("busy"), &none).refused(529, "overloaded_error");
    program.asks(&said("broken"), &none).refused(500, "api_error");
    let ours = program.asks(&said("refused"), &none).refused(500, "api_error");
    assert!(!ours.contains("scripted"), "the server's own key is not the program's affair: {ours}");
    let limited =
        program.call_once("POST /v1/messages", &program.request(&said("limit"), &none).to_string());
    limited.refused(429, "rate_limit_error");
    program.asks(&said("nobody knows"), &none).refused(400, "invalid_request_error");
    program.sends("{").refused(400, "invalid_request_error");
    program.sends("[]").refused(400, "invalid_request_error");
    program.sends(&("[".repeat(5_000) + &"]".repeat(5_000))).refused(400, "invalid_request_error");
    let old = program.clone().header("anthropic-version", "2020-01-01");
    old.asks(&said("fine"), &none).refused(400, "invalid_request_error");
    let thread = program.asks(&said("fine"), &json!({"thread": {"type": "create"}}));
    let details = json!({"error_code": "thread_unsupported_request", "unsupported": ["thread"]});
    assert_eq!(thread.body["error"]["details"], details);
    thread.refused(400, "invalid_request_error");
    let prefill = json!([user("fine"), {"role": "assistant", "content": "I"}]);
    program.asks(&prefill, &none).refused(400, "invalid_request_error");
    let image =
        json!([user(json!([{"type": "image", "source": {"type": "url", "url": "http://x"}}]))]);
    program.asks(&image, &none).refused(400, "invalid_request_error");
    program.call("GET /v1/messages", "").refused(405, "invalid_request_error");
    program.call("GET /v1/nothing", "").refused(404, "not_found_error");
    let long = program.request(&said(&"x".repeat(33 * 1024 * 1024)), &none);
    program.sends(&long.to_string()).refused(413, "request_too_large");
    // In the middle of a stream the status is told already.
    let events = program.streams(&said("broken"), &none).rest();
    let last = events.last().expect("an event");
    assert_eq!((&last["type"], &last["error"]["type"]), (&json!("error"), &json!("api_error")));
    assert_eq!(events[3]["delta"]["text"], "Well");
    // Before its first words it is not.
    let stream = program.streams(&said("busy"), &none);
    assert!(stream.head.starts_with("http/1.1 529"), "{}", stream.head);
    assert_eq!(words(&program.asks(&said("fine"), &none).ok()), "Fine.");
}

#[test]
fn whoever_asks_too_often_is_told_when_to_come_again() {
    let copydesk = TestServer::quiet();
    let (eager, calm) = (program(&copydesk), program(&copydesk));
    let many: Vec<_> = (0..8)
        .map(|_| {
            let eager = eager.clone();
            std::thread::spawn(move || {
                (0..1_000).find_map(|_| {
                    let answer = eager.call_once("GET /v1/models", "");
                    (answer.status == 429).then_some(answer)
                })
            })
        })
        .collect();
    let refused: Vec<_> =
        many.into_iter().filter_map(|asked| asked.join().expect("answers")).collect();
    let refused = refused.into_iter().next().expect("a limit");
    assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds >= 1));
    refused.refused(429, "rate_limit_error");
    calm.call_once("GET /v1/models", "").ok();
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

#[test]
fn the_built_in_editor_proposes_over_this_door_too() {
    let copydesk = TestServer::plan().model("harper").start();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("He could of slept.\n");
    let program = MessagesClient::with(&copydesk, &ana.token);
    program.opts_in(&json!(["document"]));
    let program = program.header("x-copydesk-document", &document);
    let asking = std::thread::spawn(move || {
        program.asks(&json!([user("Fix the grammar")]), &json!({})).ok()
    });
    ana.accepts_all(&ana.sees_request());
    ana.comes_to_read("He could have slept.\n");
    assert_eq!(asking.join().expect("an answer")["stop_reason"], "end_turn");
}

/// Turns that are used up one after the other in each session.
fn counting() -> Script {
    ["one", "two", "three"]
        .into_iter()
        .fold(Script::default(), |script, word| script.turn(json!({"content": [text(word)]})))
}

/// The same conversation as different clients write it down.
fn spelt(number: usize, said: &str) -> String {
    let ask = format!("Chat {number}");
    match number % 4 {
        0 => format!(
            r#"[{{"role":"user","content":"{ask}"}},{{"role":"assistant","content":[{{"type":"text","text":"{said}"}}]}},{{"role":"user","content":"On"}}]"#
        ),
        1 => format!(
            r#"[{{"content":[{{"text":"{ask}","type":"text"}}],"role":"user"}},{{"content":[{{"citations":null,"text":"{said}","type":"text"}}],"role":"assistant"}},{{"content":"On","role":"user"}}]"#
        ),
        2 => format!(
            r#"[{{"role":"system","content":[]}},{{"role":"user","content":[{{"type":"text","text":"{ask}","cache_control":{{"type":"ephemeral"}}}}]}},{{"role":"assistant","content":"{said}"}},{{"role":"user","content":[{{"type":"text","text":"On","cache_control":{{"type":"ephemeral"}}}}]}}]"#
        ),
        _ => format!(
            r#"[{{"role":"user","content":"{ask}"}},{{"role":"system","content":"Today."}},{{"role":"assistant","content":[{{"type":"thinking","thinking":"x","signature":"y"}},{{"type":"text","text":"{said}","cache_control":{{"type":"ephemeral","ttl":"1h"}}}}]}},{{"role":"user","content":"On"}}]"#
        ),
    }
}

#[test]
fn two_principals_with_a_thousand_conversations_each_go_on_with_their_own() {
    const CONVERSATIONS: usize = 1_000;
    let copydesk = TestServer::scripted(counting());
    // The same words of both, at the same time: if they met, one of them would be at "three".
    let both: Vec<_> = ["Ana", "Ben"]
        .map(|name| MessagesClient::with(&copydesk, &copydesk.token(name, Role::Editor, &[])))
        .into_iter()
        .map(|program| {
            std::thread::spawn(move || {
                for number in 0..CONVERSATIONS {
                    let first =
                        program.asks(&json!([user(format!("Chat {number}"))]), &json!({})).ok();
                    assert_eq!(words(&first), "one", "{number}");
                }
                for number in (0..CONVERSATIONS).rev() {
                    let body = format!(
                        r#"{{"messages":{},"max_tokens":10,"model":{}}}"#,
                        spelt(number, "one"),
                        json!(program.model())
                    );
                    assert_eq!(words(&program.sends(&body).ok()), "two", "{number}");
                }
            })
        })
        .collect();
    for one in both {
        one.join().expect("every conversation goes on");
    }
}

#[test]
fn what_is_not_remembered_is_what_the_program_says() {
    let mut copydesk = TestServer::scripted(counting());
    let token = copydesk.token("Program", Role::Editor, &[]);
    let program = MessagesClient::with(&copydesk, &token);
    program.asks(&json!([user("Chat 0")]), &json!({})).ok();
    copydesk.is_killed_and_restarted();
    let program = MessagesClient::with(&copydesk, &token);
    let said: Value = serde_json::from_str(&spelt(0, "one")).expect("messages");
    // A new session, whose script begins at its beginning; the request is answered all the same.
    assert_eq!(words(&program.asks(&said, &json!({})).ok()), "one");
    // The same beginning may be gone on with more than once.
    let again: Vec<_> = (0..4)
        .map(|_| {
            let (program, said) = (program.clone(), json!([user("Chat 0"), {"role": "assistant", "content": "one"}, user("On"), {"role": "assistant", "content": "one"}, user("More")]));
            std::thread::spawn(move || program.call_once("POST /v1/messages", &program.request(&said, &json!({})).to_string()).status)
        })
        .collect();
    let mut statuses: Vec<_> =
        again.into_iter().map(|one| one.join().expect("an answer")).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 400, 400], "two turns were left of the session's script");
}

#[test]
fn a_person_deciding_slowly_does_not_cut_the_stream() {
    let (_desk, ana, program) = with_document(rewriting(), &[]);
    let mut stream = program.streams(&json!([user("Rewrite it")]), &json!({}));
    let request = ana.sees_request();
    let events: Vec<_> =
        stream.by_ref().take_while(|event| event["type"] != "content_block_stop").collect();
    assert_eq!(events.last().map(|event| event["delta"]["text"].clone()), Some(json!("I see. ")));
    // The only way to see a ping is to wait for one.
    std::thread::sleep(Duration::from_secs(16));
    ana.accepts_all(&request);
    let rest = types(&stream.rest());
    assert_eq!(rest[0], "ping", "{rest:?}");
    assert_eq!(rest.last().map(String::as_str), Some("message_stop"));
}
