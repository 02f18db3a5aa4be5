//! Nothing changes before a person says so: a suite to copy, as `tests/review/main.rs` with
//! `copydesk.rs` beside it.

mod copydesk;

use serde_json::{Value, json};

use self::copydesk::{Person, Server};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/scripts/two-corrections.json");
const TEXT: &str = "He could of slept. It were late.";

/// A person with a document, of which two changes wait for them.
fn asked(server: &Server) -> (Person, String, Value) {
    let mut ana = server.person("Ana");
    let document = ana.opens(TEXT);
    ana.prompts(&document, "Correct this");
    let request = ana.hears("tool_approval_request");
    (ana, document, request)
}

#[test]
fn nothing_changes_before_someone_says_so_and_then_exactly_that() {
    let server = Server::start(SCRIPT, &[]);
    let (mut ana, document, request) = asked(&server);
    assert_eq!(ana.reads(&document), TEXT);
    let part = |number: usize| request["hunks"][number]["parts"][0].clone();
    assert_eq!([&part(0)["base"], &part(0)["insert"]], ["of", "have"]);
    assert_eq!([&part(1)["base"], &part(1)["insert"]], ["were", "was"]);
    let (id, seen) = (&request["request_id"], &request["preview_hash"]);
    let approval = json!({"request_id": id, "preview_hash": seen, "approved": true});
    assert_eq!(ana.asks("tool_approval_response", &approval)["status"], "approved");
    let answer = ana.hears("claudeResponse");
    assert_eq!(answer["updateType"], "full");
    assert_eq!(answer["documentUpdate"], "He could have slept. It was late.");
}

#[test]
fn one_change_is_taken_and_the_other_refused() {
    let server = Server::start(SCRIPT, &[]);
    let (mut ana, document, request) = asked(&server);
    let decided = |number: usize, decision: &str| json!({"id": request["hunks"][number]["id"], "decision": decision});
    let hunks = [decided(0, "accept"), decided(1, "reject")];
    let id = &request["request_id"];
    let decision = json!({"request_id": id, "approved": true, "hunks": hunks});
    ana.asks("tool_approval_response", &decision);
    assert_eq!(ana.hears("tool_approval_resolved")["status"], "partly");
    ana.hears("claudeResponse");
    assert_eq!(ana.reads(&document), "He could have slept. It were late.");
}

#[test]
fn a_rejection_reaches_the_model_in_the_persons_words() {
    let server = Server::start(SCRIPT, &[]);
    let (mut ana, document, request) = asked(&server);
    let id = &request["request_id"];
    let rejection = json!({"request_id": id, "approved": false, "feedback": "Leave it"});
    ana.asks("tool_approval_response", &rejection);
    let answer = ana.hears("claudeResponse");
    assert_eq!(answer["conversationMessage"], "Two slips.\nUnderstood.");
    assert_eq!(ana.reads(&document), TEXT);
}

#[test]
fn of_two_people_who_decide_the_first_wins_and_the_other_is_notified() {
    let server = Server::start(SCRIPT, &[]);
    let (mut ana, document, request) = asked(&server);
    let mut bo = server.person("Bo");
    bo.asks("document:open", &json!({"documentId": document}));
    let id = &request["request_id"];
    bo.asks("tool_approval_response", &json!({"request_id": id, "approved": true}));
    let late = json!({"request_id": id, "approved": false});
    let late = ana.asks("tool_approval_response", &late);
    assert_eq!(late["error"]["code"], "already_resolved");
}

#[test]
fn what_no_one_decides_in_time_is_not_applied() {
    let server = Server::start(SCRIPT, &["--approval-timeout", "1"]);
    let (mut ana, document, _) = asked(&server);
    assert_eq!(ana.hears("tool_approval_resolved")["status"], "expired");
    ana.hears("claudeResponse");
    assert_eq!(ana.reads(&document), TEXT);
}
