//! Requests that are refused.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::http::ask;
use crate::support::messages_client::MessagesClient;
use crate::support::{RestClient, Role, Script, TestServer};

use super::{program, text, user, words};

#[test]
fn a_person_who_may_not_ask_is_refused_before_anything_is_read() {
    let copydesk = TestServer::quiet();
    let token = format!("Bearer {}", copydesk.token("Vi", Role::Viewer, &[]));
    for path in ["/v1/messages", "/v1/messages/count_tokens"] {
        let headers = [
            ("Host", copydesk.address()),
            ("Authorization", token.as_str()),
            ("Content-Type", "application/json"),
            // Of a body that never comes: a server that waits for it waits in vain.
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
        // What is written is not read yet; another person's request gives the server time.
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
    // In the middle of a stream the status is sent already.
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
fn a_person_who_asks_too_often_is_told_when_to_come_again() {
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
