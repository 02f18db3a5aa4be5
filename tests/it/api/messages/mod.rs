//! The Messages API: other programs talk to this server's models as they would to Anthropic's.

use serde_json::{Value, json};

use crate::support::messages_client::MessagesClient;
use crate::support::script::full;
use crate::support::{Person, Role, Script, TestServer};

mod answers;
mod clients;
mod conversations;
mod held_changes;
mod limits;
mod tools_and_providers;

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

/// A server with Ana, her program, which may use the document tools, and a document.
fn with_document(script: Script, flags: &[&str]) -> (TestServer, Person, MessagesClient) {
    let copydesk = TestServer::plan().script(script).flags(flags).start();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("It was very dark.\n");
    let program = MessagesClient::with(&copydesk, &ana.token);
    program.opts_in(&json!(["document"]));
    let program = program.header("x-copydesk-document", &document);
    (copydesk, ana, program)
}

/// The model reads the document, rewrites it, and says what it was sent.
fn rewriting() -> Script {
    Script::default()
        .answering("Rewrite", "read_document", &json!({}))
        .turn(json!({"when": {"tool_result": "Units 0 to"}, "content": [text("I see. "), call("update_full_document", &full("It was dark.\n"))]}))
        .after_result("^Applied", "Accepted.")
        .after_result("User rejected: Keep it", "Rejected.")
        .after_result("timed out", "Nobody came.")
        .closing("What?")
}

/// Types of events, those of deltas besides.
fn types(events: &[Value]) -> Vec<String> {
    let name = |event: &Value| {
        let delta = event["delta"]["type"].as_str().map(|delta| format!(" {delta}"));
        event["type"].as_str().expect("a type").to_owned() + &delta.unwrap_or_default()
    };
    events.iter().map(name).collect()
}
