//! Calls that wait for people.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::http::send;
use crate::support::mcp::Mcp;
use crate::support::{OWNER, Role, TestServer};

use super::{FIXED, TEXT, file, notes, owner_of, rewrite, test_server, waiting};

#[test]
fn a_file_is_written_once_someone_approves_it() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let call = coder.calls_as("toolu_42", "atlas_write", file("test.txt", "hello world"));
    assert!(call.head.contains("text/event-stream"), "{}", call.head);
    assert_eq!(call.progress(), "Asking the people who decide");
    let request = owner.sees_request();
    assert_eq!(call.progress(), format!("Request {} waits for people to decide", request.id()));
    assert_eq!((&request["source"], &request["tool_name"]), (&json!("mcp"), &json!("Write")));
    assert_eq!(request["tool_use_id"], "toolu_42");
    assert_eq!(request["author"]["name"], "Owner (coder)");
    assert_eq!(copydesk.file("test.txt"), None);
    owner.accepts_all(&request);
    assert_eq!(call.progress(), format!("Request {} is resolved; working on it", request.id()));
    assert_eq!(call.result(), ("Successfully wrote to test.txt".to_owned(), false));
    assert_eq!(copydesk.file("test.txt").as_deref(), Some("hello world"));
}

#[test]
fn a_rejection_is_told_with_its_feedback_and_is_no_protocol_error() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let call = coder.calls("atlas_write", file("test.txt", "hello world"));
    owner.rejects(&owner.sees_request(), "Not there");
    assert_eq!(call.result(), ("[DENIED] Write rejected: Not there".to_owned(), true));
    let edit = json!({"file_path": "a.txt", "old_string": "two", "new_string": "2"});
    let call = coder.calls("atlas_edit", edit);
    owner.rejects(&owner.sees_request(), "No");
    assert_eq!(call.result(), ("[DENIED] Edit rejected: No".to_owned(), true));
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("one two one\n"));
}

#[test]
fn edits_of_a_file_are_made_as_they_were_shown() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let edits = json!({"file_path": "a.txt", "edits": [
        {"old_string": "two", "new_string": "2"},
        {"old_string": "one", "new_string": "1", "replace_all": true},
    ]});
    let call = coder.calls("atlas_multi_edit", edits);
    owner.accepts_all(&owner.sees_request());
    assert_eq!(call.result(), ("Applied 2 edits to a.txt (3 occurrences)".to_owned(), false));
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("1 2 1\n"));
    let (tool_result, is_error) = coder
        .gets("atlas_edit", json!({"file_path": "b.txt", "old_string": "x", "new_string": "y"}));
    assert_eq!((tool_result.as_str(), is_error), ("Error: b.txt does not exist", true));
}

#[test]
fn a_document_is_read_changed_and_decided_in_its_own_room() {
    let copydesk = test_server();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(TEXT);
    let coder = Mcp::arrives(&copydesk, &copydesk.token("Bo", Role::Editor, &[]), "coder");
    assert!(coder.reads(&document).contains(TEXT.trim_end()));
    // Words that came after the reading stay.
    ana.types(0, "Once. ");
    let call = coder.calls("update_full_document", rewrite(&document, FIXED));
    let request = ana.sees_request();
    assert_eq!((&request["source"], &request["document_id"]), (&json!("mcp"), &json!(document)));
    assert_eq!(request["author"]["name"], "Bo (coder)");
    ana.accepts_all(&request);
    let (tool_result, is_error) = call.result();
    assert!(!is_error && tool_result.starts_with("Applied: 1 accepted."), "{tool_result}");
    assert!(tool_result.contains("Once. "), "{tool_result}");
    assert_eq!(ana.text(), format!("Once. {FIXED}"));
}

#[test]
fn no_one_changes_a_document_they_have_not_read() {
    let copydesk = test_server();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(TEXT);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let (tool_result, is_error) = coder.gets("update_full_document", rewrite(&document, FIXED));
    assert!(is_error && tool_result.contains("read_document"), "{tool_result}");
    // A program that knows the version from elsewhere says so.
    let mut known = rewrite(&document, FIXED);
    known["base_version"] = json!(ana.version());
    let call = coder.calls("update_full_document", known);
    ana.accepts_all(&ana.sees_request());
    assert!(!call.result().1);
    let mut ahead = rewrite(&document, TEXT);
    ahead["base_version"] = json!(77);
    let (tool_result, is_error) = coder.gets("update_full_document", ahead);
    assert!(is_error, "{tool_result}");
}

#[test]
fn a_document_is_made_once_someone_approves_it_and_its_caller_may_go_on_with_it() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, &copydesk.token("Bo", Role::Editor, &[]), "coder");
    let call = coder.calls("create_new_document", notes("Notes"));
    let request = owner.sees_request();
    assert_eq!((&request["source"], &request["document_id"]), (&json!("mcp"), &Value::Null));
    assert_eq!((&request["file_path"], &request["new_content"]), (&json!("Notes"), &json!(TEXT)));
    assert_eq!(request["author"]["name"], "Bo (coder)");
    owner.accepts_all(&request);
    let made = owner.sees_where("document:created", |it| it["document"]["title"] == "Notes");
    let document = made["document"]["id"].as_str().unwrap();
    assert_eq!(call.result(), (format!("Created “Notes”; its id is {document}."), false));
    // It knows its own words: nothing needs to be read before they are changed.
    owner.opens(document);
    let call = coder.calls("update_full_document", rewrite(document, FIXED));
    owner.accepts_all(&owner.sees_request());
    assert!(!call.result().1);
    assert_eq!(owner.text(), FIXED);
}

#[test]
fn a_document_is_not_made_if_it_is_rejected_taken_back_or_makes_no_sense_and_made_as_it_was_edited()
{
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let call = coder.calls("create_new_document", notes("One"));
    owner.rejects(&owner.sees_request(), "We have one");
    assert_eq!(call.result(), ("[DENIED] Document rejected: We have one".to_owned(), true));
    let call = coder.calls("create_new_document", notes("Two"));
    let request = owner.sees_request();
    coder.says("notifications/cancelled", &json!({"requestId": call.id()}));
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    for (arguments, words) in [
        (json!({}), "Invalid input for create_new_document"),
        (notes(" "), "[DENIED] The title is empty"),
        (notes("a\nb"), "[DENIED] The title is one line"),
    ] {
        let (tool_result, is_error) = coder.gets("create_new_document", arguments);
        assert!(is_error && tool_result.contains(words), "{tool_result}");
    }
    let call = coder.calls("create_new_document", notes("Three"));
    let edit = json!({"decision": "edit", "updated_input": {"title": "Four", "new_content": "x"}});
    owner.decides(&owner.sees_request(), edit).ok();
    let (tool_result, is_error) = call.result();
    assert!(!is_error && tool_result.contains("Created “Four”"), "{tool_result}");
    let listed = owner.emit("document:list", &json!({})).ok()["documents"].to_string();
    let made = |title: &str| listed.contains(&format!("\"title\":\"{title}\""));
    assert_eq!(["One", "Two", "Three", "Four"].map(made), [false, false, false, true], "{listed}");
    let document = owner.creates(TEXT);
    let bound = Mcp::arrives(
        &copydesk,
        &copydesk.token("Bo", Role::Editor, &["--document", &document]),
        "coder",
    );
    assert!(!bound.tools().contains(&"create_new_document".to_owned()));
    let refused = ("[DENIED] you may not do that".to_owned(), true);
    assert_eq!(bound.gets("create_new_document", notes("Five")), refused);
}

#[test]
fn a_request_no_one_decides_in_time_is_told_as_denied() {
    let copydesk = TestServer::plan().workspace(&[]).flags(&["--approval-timeout", "1"]).start();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let call = coder.calls("atlas_write", file("test.txt", "x"));
    let request = owner.sees_request();
    let (tool_result, is_error) = call.result();
    assert!(
        is_error && tool_result.starts_with("[DENIED] Approval timed out after 1s"),
        "{tool_result}"
    );
    assert_eq!(owner.sees_resolved(&request)["status"], "expired");
}

#[test]
fn a_caller_that_gives_up_by_itself_is_told_before_it_does() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let call = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {
        "name": "atlas_write", "arguments": file("test.txt", "x"),
    }});
    let answer = coder.post(&call, &[("Copydesk-Timeout-Ms", "3000")]);
    let request = owner.sees_request();
    // Also while a person looks at it.
    owner.emit("approval:focus", &json!({"request_id": request.id(), "on": true})).ok();
    let (tool_result, is_error) = answer.result();
    assert!(
        is_error && tool_result.starts_with("[DENIED] Approval timed out after 1s"),
        "{tool_result}"
    );
}

#[test]
fn every_answer_says_when_the_caller_gives_up_and_no_one_is_promised_more_time() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let call = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {
        "name": "atlas_write", "arguments": file("test.txt", "x"),
    }});
    let answer = coder.post(&call, &[("Copydesk-Timeout-Ms", "60000")]);
    let request = owner.sees_request();
    let ends = &request["expires_at"];
    let looked = owner.emit("approval:focus", &json!({"request_id": request.id(), "on": true}));
    assert_eq!(looked.ok()["expires_at"], *ends);
    let more = owner.emit("approval:extend", &json!({"request_id": request.id()}));
    more.refused_with("invalid_decision");
    let bearer = format!("Bearer {OWNER}");
    let headers = [
        ("Host", copydesk.address()),
        ("Authorization", &bearer),
        ("Content-Type", "application/json"),
    ];
    let withdraw = format!("POST /api/v1/requests/{}/withdraw", request.id());
    let withdrawn = send(copydesk.address(), &withdraw, &headers, "{}");
    let withdrawn: Value = serde_json::from_str(&withdrawn.body).unwrap();
    assert_eq!((&withdrawn["status"], &withdrawn["expires_at"]), (&json!("cancelled"), ends));
    assert!(answer.result().1);
}

#[test]
fn a_cancelled_call_takes_its_request_back() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let call = coder.calls("atlas_write", file("test.txt", "x"));
    let request = owner.sees_request();
    let reason = json!({"requestId": call.id(), "reason": "SdkError: Request timed out"});
    coder.says("notifications/cancelled", &reason);
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    owner.decides(&request, json!({"approved": true})).refused();
    assert_eq!(copydesk.file("test.txt"), None);
}

#[test]
fn a_session_that_is_closed_takes_its_requests_with_it() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let call = coder.calls("atlas_write", file("test.txt", "x"));
    let request = owner.sees_request();
    call.disconnects();
    // A session outlives its connections, so the request waits on.
    assert_eq!(waiting(&owner).len(), 1);
    assert_eq!(coder.send("DELETE", None, &[]).status, 204);
    // From now on no one would hear of it, so no one can approve it.
    owner.decides(&request, json!({"approved": true})).refused();
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    assert_eq!(copydesk.file("test.txt"), None);
    assert_eq!(coder.begins("tools/list", json!({})).status, 404);
}

#[test]
fn a_session_that_is_closed_while_someone_listens_to_its_call_takes_that_back_too() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let _call = coder.calls("atlas_write", file("test.txt", "x"));
    let request = owner.sees_request();
    let began = Instant::now();
    assert_eq!(coder.send("DELETE", None, &[]).status, 204);
    // The library that speaks the protocol lets calls go on for five seconds.
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    owner.decides(&request, json!({"approved": true})).refused();
    assert_eq!(copydesk.file("test.txt"), None);
}

#[test]
fn a_session_that_lost_its_connection_is_resumed_and_hears_what_was_decided() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let call = coder.calls("atlas_write", file("test.txt", "x"));
    let request = owner.sees_request();
    call.progress();
    call.progress();
    let id = call.id().clone();
    let seen = call.disconnects();
    owner.accepts_all(&request);
    let resumed = [("Accept", "text/event-stream"), ("Last-Event-ID", seen.as_str())];
    let resumed = coder.send("GET", None, &resumed);
    let answer = std::iter::from_fn(|| resumed.may_go_on()).find(|it| it["id"] == id);
    let text = answer.expect("the answer")["result"]["content"][0]["text"].clone();
    assert_eq!(text, "Successfully wrote to test.txt");
}

#[test]
fn a_request_that_stands_for_itself_lives_by_its_connection() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::silent(&copydesk, OWNER);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "new-coder", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 1,
        "claudecode/toolUseId": "toolu_1",
    });
    let call = |id: u64| {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "atlas_write", "arguments": file("test.txt", "x"), "_meta": meta,
        }});
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "atlas_write"),
        ];
        coder.post(&message, &headers)
    };
    let first = call(1);
    assert_eq!(first.status, 200);
    let request = owner.sees_request();
    assert_eq!(request["author"]["name"], "Owner (new-coder)");
    first.disconnects();
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    // What it took back it may ask for anew.
    let second = call(2);
    let request = owner.sees_request();
    assert_eq!(second.progress(), "Asking the people who decide");
    // Without a session, nothing tells that a call is the same one: it is another call.
    let third = call(3);
    assert_eq!(third.progress(), "Asking the people who decide");
    let other = owner.sees_request();
    assert_ne!(other.id(), request.id());
    assert!(third.progress().contains(other.id()));
    second.disconnects();
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    let request = other;
    coder.post(&json!({"jsonrpc": "2.0", "id": 4, "method": "ping"}), &[]);
    assert_eq!(waiting(&owner).len(), 1);
    owner.accepts_all(&request);
    assert_eq!(third.result(), ("Successfully wrote to test.txt".to_owned(), false));
}

#[test]
fn two_clients_do_not_stand_in_each_others_way() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let one = Mcp::arrives(&copydesk, OWNER, "one");
    let two = Mcp::arrives(&copydesk, OWNER, "two");
    let first = one.calls("atlas_write", file("1.txt", "1"));
    let asked_first = owner.sees_request();
    let second = two.calls("atlas_write", file("2.txt", "2"));
    let third = two.calls("atlas_write", file("3.txt", "3"));
    let mut asked = [owner.sees_request(), owner.sees_request()];
    asked.sort_by_key(|request| request["tool_input"]["file_path"].to_string());
    let [asked_second, asked_third] = asked;
    owner.rejects(&asked_third, "No");
    owner.accepts_all(&asked_second);
    owner.accepts_all(&asked_first);
    assert_eq!([first.result().1, second.result().1, third.result().1], [false, false, true]);
    assert_eq!(
        [copydesk.file("1.txt"), copydesk.file("2.txt")],
        [Some("1".into()), Some("2".into())]
    );
}
