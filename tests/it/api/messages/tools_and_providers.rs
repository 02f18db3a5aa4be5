//! The choice of tools, and what a provider is sent.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Provider, Script, TestServer};

use super::{call, calls, program, rewriting, text, tool, user, with_document, words};

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
    let outcome = |calls: &str, stop: &str| (calls.to_owned(), stop.to_owned());
    assert_eq!(made(json!({"type": "auto"})), outcome("aba", "tool_use"));
    assert_eq!(
        made(json!({"type": "auto", "disable_parallel_tool_use": true})),
        outcome("a", "tool_use")
    );
    assert_eq!(
        made(json!({"type": "any", "disable_parallel_tool_use": true})),
        outcome("a", "tool_use")
    );
    assert_eq!(made(json!({"type": "tool", "name": "b"})), outcome("b", "tool_use"));
    assert_eq!(made(json!({"type": "none"})), outcome("", "end_turn"));
}

#[test]
fn a_program_that_wants_no_tools_gets_none_of_ours_either() {
    let (_server, ana, program) = with_document(rewriting(), &[]);
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
    assert!(!asked.to_string().contains("cache_control"), "no one pays unasked: {asked}");
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
    assert_eq!(provider.all_asked().len(), 2, "a program that asks tries again by itself");
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
fn a_program_may_insist_on_a_tool_of_the_server() {
    let (_server, ana, program) = with_document(rewriting(), &[]);
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
