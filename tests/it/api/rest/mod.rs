//! REST: what programs do that do not stay connected.

use serde_json::{Value, json};

use crate::support::{RestClient, Role, Script, TestServer, found};

mod bad_input;
mod conversations;
mod documents;
mod idempotency;
mod requests;
mod rules_and_files;

const TEXT: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n";
const FIXED: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n";

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// Ana's program has made a document.
fn with_document() -> (TestServer, RestClient, String) {
    with_document_at(TestServer::scripted(Script::rewriting(FIXED)))
}

fn with_document_at(copydesk: TestServer) -> (TestServer, RestClient, String) {
    let ana = RestClient::new(&copydesk, &copydesk.token("Ana", Role::Editor, &[]));
    let made = ana.posts("documents", &json!({"title": "A story", "text": TEXT})).ok();
    let document = text(&made["id"]).to_owned();
    (copydesk, ana, document)
}

/// And has asked for corrections, which wait: the run's address, and the request.
fn with_request() -> (TestServer, RestClient, String, String, Value) {
    with_request_at(TestServer::scripted(Script::rewriting(FIXED)))
}

fn with_request_at(copydesk: TestServer) -> (TestServer, RestClient, String, String, Value) {
    let (copydesk, ana, document) = with_document_at(copydesk);
    let ask = json!({"prompt": "Fix the spelling", "context": {"documentId": document}});
    let run = ana.posts("runs", &ask);
    assert_eq!(run.status, 202);
    let url = text(&run.body["url"]).strip_prefix("/api/v1/").unwrap().to_owned();
    let request = waits(&ana, &url);
    let request = ana.gets(&format!("requests/{request}")).ok();
    (copydesk, ana, document, url, request)
}

/// Waits until a run has a request that waits for people.
fn waits(hand: &RestClient, run: &str) -> String {
    found(|| {
        let state = hand.gets(run).ok();
        state["waiting"].get(0).map(|request| text(request).to_owned()).ok_or(state)
    })
}
