//! Agents of other programs: tools, resources and prompts over MCP, and who decides about their
//! calls.

use serde_json::{Value, json};

use crate::support::{Person, Request, TestServer};

mod bad_input;
mod calls;
mod clients;
mod official_client;
mod permissions;
mod resent_calls;
mod resources;
mod sessions;
mod stdio_bridge;

const TEXT: &str = "Teh keeper wrote every night.\n";
const FIXED: &str = "The keeper wrote every night.\n";

fn test_server() -> TestServer {
    TestServer::plan().workspace(&[("a.txt", "one two one\n")]).start()
}

fn owner_of(copydesk: &TestServer) -> Person {
    copydesk.owner()
}

/// Returns the requests that wait in the workspace inbox.
fn waiting(person: &Person) -> Vec<Request> {
    let ack = person.emit("list_pending_approvals", &json!({})).ok();
    ack["requests"].as_array().expect("requests").iter().cloned().map(Request).collect()
}

fn rewrite(document: &str, text: &str) -> Value {
    json!({"document_id": document, "new_content": text, "explanation": "Spelling."})
}

fn notes(title: &str) -> Value {
    json!({"title": title, "new_content": TEXT, "explanation": "For the archive."})
}

fn file(name: &str, content: &str) -> Value {
    json!({"file_path": name, "content": content})
}
