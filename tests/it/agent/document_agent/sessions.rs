//! Sessions (`registerSession`, `sessionRegistered`): who has one, and what it remembers.

use serde_json::json;

use super::about;
use crate::support::{Provider, Script, TestServer};

#[test]
fn a_session_is_registered_on_connect() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    assert_eq!(ana.registered()["user"]["name"], "Ana");
    assert_eq!(ana.registered()["role"], "editor");
    assert_eq!(ana.registered()["protocol"], 1);
    assert_eq!(ana.registered()["permission_mode"], "sdk");
    assert!(!ana.session().is_empty());
}

#[test]
fn every_connection_has_a_session_of_its_own_and_can_come_back_to_it() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let window = ana.second_window();
    assert_ne!(window.session(), ana.session());
    assert_eq!(window.user(), ana.user());
    ana.loses_connection();
    assert_eq!(ana.comes_back(&copydesk).session(), ana.session());
}

#[test]
fn a_session_that_comes_back_hears_what_its_own_run_says_and_what_waits() {
    let mut copydesk = TestServer::scripted(Script::rewriting("Short text."));
    let mut ana = copydesk.editor("Ana");
    let run = ana.asks_about("Summarize to 50 words", &about("Long text..."));
    let request = ana.sees_request();
    for comes_back in [false, true] {
        if comes_back {
            copydesk.is_killed_and_restarted();
        } else {
            ana.loses_connection();
        }
        ana = ana.comes_back(&copydesk);
        assert_eq!(ana.sees_request_of(&run).id(), request.id());
    }
    ana.accepts_all(&request);
    ana.sees_resolved(&request);
    ana.answer(&run);
    assert_eq!(ana.tool_results(&run).len(), 1, "the result is heard again too");
    let window = ana.second_window();
    assert!(window.heard("tool_approval_request").is_empty());
}

#[test]
fn a_session_remembers_and_another_does_not() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Noted."}])]);
    let copydesk = TestServer::behind(&provider);
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ana.is_answered("My cat is called Mog.", &json!({}));
    ana.is_answered("What is my cat called?", &json!({}));
    ben.is_answered("What is her cat called?", &json!({}));
    let second = provider.asked(2)["messages"].to_string();
    assert!(second.contains("My cat is called Mog.") && second.contains("Noted."), "{second}");
    assert!(!provider.asked(3)["messages"].to_string().contains("Mog"), "Ben hears of Ana's cat");
}

#[test]
fn a_conversation_can_be_begun_afresh() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Noted."}])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    ana.is_answered("My cat is called Mog.", &json!({}));
    let ask = json!({"sessionId": ana.session(), "prompt": "What is my cat called?", "continue": false, "context": {}});
    let run = ana.emit("askClaudeCode", &ask).ok()["requestId"].as_str().unwrap().to_owned();
    ana.answer(&run);
    assert!(!provider.asked(2)["messages"].to_string().contains("Mog"));
}
