//! Runs one after another and at once, their modes and their names.

use serde_json::json;

use super::{OPENING, results_and_responses};
use crate::support::script::full;
use crate::support::{Person, Script, TestServer};

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
    assert_eq!(results_and_responses(&ana, "mine-1").1.len(), 1);
}
