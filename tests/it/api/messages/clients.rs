//! The official SDKs talk to this server as they would to Anthropic's, and a person decides in
//! between.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::messages_client::MessagesClient;
use crate::support::script::full;
use crate::support::{Script, TestServer, eventually, packages, python};

fn script() -> Script {
    let text = |text: &str| json!({"type": "text", "text": text});
    let call = |name: &str, input: Value| json!({"type": "tool_use", "name": name, "input": input});
    let paris = || json!({"city": "Paris"});
    let when =
        |when: Value, content: Value| json!({"when": when, "content": content, "repeat": true});
    let asked = |words: &str, content: Value| when(json!({"user": words}), content);
    let after_result = |words: &str, content: Value| when(json!({"tool_result": words}), content);
    let mut hello = asked("Hello", json!([text("Hello there, and welcome.")]));
    hello["chunk_chars"] = json!(5);
    let busy = json!({"when": {"user": "busy"}, "error": {"status": 529, "type": "overloaded_error"}, "repeat": true});
    Script::default()
        .turn(hello)
        .turn(asked("weather", json!([text("Let me see."), call("get_weather", paris())])))
        .turn(asked("both", json!([call("get_weather", paris()), call("get_time", paris())])))
        .turn(asked("edit", json!([call("read_document", json!({}))])))
        .turn(busy)
        .turn(after_result("noon", json!([text("Rain at noon.")])))
        .turn(after_result("Rain", json!([text("It rains.")])))
        .turn(after_result(
            "Units 0 to",
            json!([call("update_full_document", full("It was dark.\n"))]),
        ))
        .turn(after_result("^Applied", json!([text("It was accepted.")])))
        .turn(after_result("User rejected", json!([text("It was rejected.")])))
        .turn(after_result("timed out", json!([text("Nobody decided.")])))
}

/// Runs a client to its end, while Ana accepts the first change, rejects the second, and lets the
/// third run out.
fn talks(program: &str, arguments: &[&str]) {
    let copydesk = TestServer::plan().script(script()).flags(&["--approval-timeout", "8"]).start();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("It was very dark.\n");
    let api = MessagesClient::with(&copydesk, &ana.token);
    api.opts_in(&json!(["document"]));
    let child = Command::new(program)
        .args(arguments)
        .args([copydesk.url(), &ana.token, api.model(), &document])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the client can be started");
    let client = std::thread::spawn(move || child.wait_with_output().expect("the client ends"));
    // A client that fails before it gets here has more to say than a request that never came.
    let request = || {
        eventually("a request", || client.is_finished() || !ana.pending().is_empty());
        (!client.is_finished()).then(|| ana.sees_request())
    };
    if let Some(request) = request() {
        ana.accepts_all(&request);
        ana.comes_to_read("It was dark.\n");
        ana.overwrites("dark", "very dark");
    }
    if let Some(request) = request() {
        ana.rejects(&request, "No.");
    }
    let output = client.join().expect("the client was waited for");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    let seen: Value = serde_json::from_slice(&output.stdout).expect("what it saw");
    let weather = json!(["get_weather", {"city": "Paris"}]);
    let expected = json!({
        "plain": ["Hello there, and welcome.", "end_turn", true, true],
        "stream": ["Hello there, and welcome.", true, "Hello there, and welcome.", "end_turn"],
        "tool": [[weather], "tool_use", "It rains."],
        "parallel": [[weather, ["get_time", {"city": "Paris"}]], "tool_use", "Rain at noon."],
        "choice": [["get_weather"], ["get_time"], [], ["get_weather"], ["get_time"]],
        "errors": [["AuthenticationError", 401, true], ["NotFoundError", 404, true], seen["errors"][2], ["BadRequestError", 400, true]],
        "runner": "It rains.",
        "models": [true, true],
        "too_long": 413,
        "thread": "thread_unsupported_request",
        "counted": true,
        "document": [["It was accepted.", "end_turn"], ["It was rejected.", "end_turn"], ["Nobody decided.", "end_turn"]],
    });
    assert_eq!(seen, expected, "{complaints}");
    assert_eq!((&seen["errors"][2][1], &seen["errors"][2][2]), (&json!(529), &json!(true)));
    assert_eq!(ana.text(), "It was very dark.\n");
}

#[test]
fn the_python_sdk_talks_to_this_server() {
    let Some(python) = python("the Messages API with an official SDK") else { return };
    talks(&python, &[concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/messages.py")]);
}

#[test]
fn the_typescript_sdk_talks_to_this_server() {
    let Some(modules) = packages("the Messages API with an official SDK") else { return };
    talks("node", &[concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/messages.mjs"), &modules]);
}
