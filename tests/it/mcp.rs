//! Other people's agents at the desk: tools, resources and prompts over MCP, and who decides about
//! their calls.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::http::{ask, send};
use crate::support::mcp::{Answer, Mcp, initialize};
use crate::support::{OWNER, Person, Request, Role, TestServer, copydesk_command, python};

const TEXT: &str = "Teh keeper wrote every night.\n";
const FIXED: &str = "The keeper wrote every night.\n";

fn test_server() -> TestServer {
    TestServer::plan().workspace(&[("a.txt", "one two one\n")]).start()
}

fn owner_of(copydesk: &TestServer) -> Person {
    copydesk.owner()
}

/// What waits at the desk.
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

fn revoked(copydesk: &TestServer, token: &str) {
    let headers = [("Host", copydesk.address()), ("Authorization", &format!("Bearer {OWNER}"))];
    let list = ask(copydesk.address(), "GET /api/v1/tokens", &headers);
    let list: Value = serde_json::from_str(&list.body).unwrap();
    let line = list["tokens"].as_array().unwrap().last().unwrap();
    assert!(!token.is_empty());
    let path = format!("DELETE /api/v1/tokens/{}", line["id"].as_str().unwrap());
    assert_eq!(ask(copydesk.address(), &path, &headers).status, 204);
}

// Calls.

#[test]
fn a_file_is_written_once_somebody_approves_it() {
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
    let (told, is_error) = coder
        .gets("atlas_edit", json!({"file_path": "b.txt", "old_string": "x", "new_string": "y"}));
    assert_eq!((told.as_str(), is_error), ("Error: b.txt does not exist", true));
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
    let (told, is_error) = call.result();
    assert!(!is_error && told.starts_with("Applied: 1 accepted."), "{told}");
    assert!(told.contains("Once. "), "{told}");
    assert_eq!(ana.text(), format!("Once. {FIXED}"));
}

#[test]
fn nobody_changes_a_document_they_have_not_read() {
    let copydesk = test_server();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(TEXT);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let (told, is_error) = coder.gets("update_full_document", rewrite(&document, FIXED));
    assert!(is_error && told.contains("read_document"), "{told}");
    // A program that knows the version from elsewhere says so.
    let mut known = rewrite(&document, FIXED);
    known["base_version"] = json!(ana.version());
    let call = coder.calls("update_full_document", known);
    ana.accepts_all(&ana.sees_request());
    assert!(!call.result().1);
    let mut ahead = rewrite(&document, TEXT);
    ahead["base_version"] = json!(77);
    let (told, is_error) = coder.gets("update_full_document", ahead);
    assert!(is_error, "{told}");
}

#[test]
fn a_document_is_made_once_somebody_approves_it_and_its_caller_may_go_on_with_it() {
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
        let (told, is_error) = coder.gets("create_new_document", arguments);
        assert!(is_error && told.contains(words), "{told}");
    }
    let call = coder.calls("create_new_document", notes("Three"));
    let edit = json!({"decision": "edit", "updated_input": {"title": "Four", "new_content": "x"}});
    owner.decides(&owner.sees_request(), edit).ok();
    let (told, is_error) = call.result();
    assert!(!is_error && told.contains("Created “Four”"), "{told}");
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
fn a_request_nobody_decides_in_time_is_told_as_denied() {
    let copydesk = TestServer::plan().workspace(&[]).flags(&["--approval-timeout", "1"]).start();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let call = coder.calls("atlas_write", file("test.txt", "x"));
    let request = owner.sees_request();
    let (told, is_error) = call.result();
    assert!(is_error && told.starts_with("[DENIED] Approval timed out after 1s"), "{told}");
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
    // Also while somebody looks at it.
    owner.emit("approval:focus", &json!({"request_id": request.id(), "on": true})).ok();
    let (told, is_error) = answer.result();
    assert!(is_error && told.starts_with("[DENIED] Approval timed out after 1s"), "{told}");
}

#[test]
fn every_answer_says_when_the_caller_gives_up_and_nobody_is_promised_more_time() {
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
    // From now on nobody would hear of it, so nobody can approve it.
    owner.decides(&request, json!({"approved": true})).refused();
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    assert_eq!(copydesk.file("test.txt"), None);
    assert_eq!(coder.begins("tools/list", json!({})).status, 404);
}

#[test]
fn a_session_that_is_closed_while_somebody_listens_to_its_call_takes_that_back_too() {
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
    let told = answer.expect("the answer")["result"]["content"][0]["text"].clone();
    assert_eq!(told, "Successfully wrote to test.txt");
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

// Calls that are sent again.

#[test]
fn a_call_that_is_sent_again_joins_the_request_that_waits_and_is_never_made_twice() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let write = file("test.txt", "hello");
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let first = coder.calls_as("toolu_1", "atlas_write", write.clone());
    let request = owner.sees_request();
    first.disconnects();
    let again = coder.calls_as("toolu_1", "atlas_write", write.clone());
    assert_eq!(again.progress(), "Asking the people who decide");
    assert_eq!(again.progress(), format!("Request {} waits for people to decide", request.id()));
    assert_eq!(waiting(&owner).len(), 1);
    owner.accepts_all(&request);
    let written = ("Successfully wrote to test.txt".to_owned(), false);
    assert_eq!(again.result(), written);
    // What was decided is told once more, and not done once more.
    copydesk.overwrites("test.txt", "else");
    assert_eq!(coder.calls_as("toolu_1", "atlas_write", write.clone()).result(), written);
    assert_eq!(copydesk.file("test.txt").as_deref(), Some("else"));
    let call = coder.calls_as("toolu_2", "atlas_write", file("b.txt", "b"));
    owner.rejects(&owner.sees_request(), "No");
    let denied = ("[DENIED] Write rejected: No".to_owned(), true);
    assert_eq!(call.result(), denied);
    assert_eq!(coder.calls_as("toolu_2", "atlas_write", file("b.txt", "b")).result(), denied);
    assert!(waiting(&owner).is_empty());
    // The same name for something else is something else.
    let other = coder.calls_as("toolu_2", "atlas_write", file("c.txt", "c"));
    owner.accepts_all(&owner.sees_request());
    assert!(!other.result().1);
    assert_eq!([copydesk.file("b.txt"), copydesk.file("c.txt")], [None, Some("c".to_owned())]);
}

#[test]
fn names_that_another_conversation_gives_again_are_other_calls() {
    let mut copydesk = test_server();
    let owner = owner_of(&copydesk);
    let write = || file("test.txt", "hello");
    let written = ("Successfully wrote to test.txt".to_owned(), false);
    let one = Mcp::arrives(&copydesk, OWNER, "coder");
    let first = one.calls_as("call_0", "atlas_write", write());
    owner.accepts_all(&owner.sees_request());
    assert_eq!(first.result(), written);
    copydesk.overwrites("test.txt", "else");
    // Another one begins to count anew: what it wants was not done.
    let two = Mcp::arrives(&copydesk, OWNER, "coder");
    let second = two.calls_as("call_0", "atlas_write", write());
    let request = owner.sees_request();
    // And two at once have a request each.
    let third = one.calls_as("call_1", "atlas_write", write());
    let asked = owner.sees_request();
    let fourth = two.calls_as("call_1", "atlas_write", write());
    assert_ne!(owner.sees_request().id(), asked.id());
    drop((third, fourth));
    owner.accepts_all(&request);
    assert_eq!(second.result(), written);
    assert_eq!(copydesk.file("test.txt").as_deref(), Some("hello"));
    // Also after a restart.
    copydesk.overwrites("test.txt", "else");
    copydesk.is_killed_and_restarted();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let again = coder.calls_as("call_0", "atlas_write", write());
    let request = owner.sees_where("tool_approval_request", |it| {
        it["tool_use_id"] == "call_0" && it["status"] == "pending"
    });
    assert_eq!(request["tool_name"], "Write");
    drop(again);
}

#[test]
fn a_call_that_is_sent_again_after_a_power_cut_joins_the_request_that_waited_over_it() {
    let mut copydesk = test_server();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(TEXT);
    let token = copydesk.token("Bo", Role::Editor, &[]);
    let coder = Mcp::arrives_over("brg_1", &copydesk, &token, "coder");
    coder.reads(&document);
    let call = coder.calls_as("toolu_1", "update_full_document", rewrite(&document, FIXED));
    let request = ana.sees_request();
    copydesk.is_killed_and_restarted();
    drop(call);
    let ana = ana.comes_back(&copydesk);
    ana.opens(&document);
    // It has read nothing since the restart, and need not: it was asked already.
    let coder = Mcp::arrives_over("brg_1", &copydesk, &token, "coder");
    let again = coder.calls_as("toolu_1", "update_full_document", rewrite(&document, FIXED));
    assert_eq!(again.progress(), "Asking the people who decide");
    assert_eq!(again.progress(), format!("Request {} waits for people to decide", request.id()));
    assert_eq!(waiting(&ana).len(), 1);
    ana.accepts_all(&request);
    let (told, is_error) = again.result();
    assert!(!is_error && told.starts_with("Applied: 1 accepted."), "{told}");
    assert_eq!(ana.text(), FIXED);
}

#[test]
fn calls_of_two_people_never_meet_whatever_they_are_called() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let bo = Mcp::arrives(&copydesk, &copydesk.token("Bo", Role::Editor, &[]), "coder");
    let cy = Mcp::arrives(&copydesk, &copydesk.token("Cy", Role::Editor, &[]), "coder");
    let write = || file("test.txt", "hello");
    let bos = bo.calls_as("toolu_1", "atlas_write", write());
    let asked_bo = owner.sees_request();
    let cys = cy.calls_as("toolu_1", "atlas_write", write());
    let asked_cy = owner.sees_request();
    assert_ne!(asked_bo.id(), asked_cy.id());
    assert_eq!(asked_cy["author"]["name"], "Cy (coder)");
    owner.rejects(&asked_cy, "No");
    assert!(cys.result().1);
    owner.accepts_all(&asked_bo);
    assert!(!bos.result().1);
    // Neither is told what came of the other's.
    assert!(cy.calls_as("toolu_1", "atlas_write", write()).result().1);
    assert!(!bo.calls_as("toolu_1", "atlas_write", write()).result().1);
}

#[test]
fn a_call_is_its_newest_callers_to_take_back_and_then_it_can_be_made_anew() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let write = || coder.calls_as("toolu_1", "atlas_write", file("test.txt", "hello"));
    let first = write();
    let request = owner.sees_request();
    let again = write();
    assert_eq!(again.progress(), "Asking the people who decide");
    assert!(again.progress().contains(request.id()));
    // What the connection before it says at last takes nothing back.
    let taken_back = |call: &Answer| json!({"requestId": call.id(), "reason": "gone"});
    coder.says("notifications/cancelled", &taken_back(&first));
    coder.asks("tools/list", json!({}));
    assert_eq!(waiting(&owner).len(), 1);
    coder.says("notifications/cancelled", &taken_back(&again));
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    let anew = write();
    let second = owner.sees_request();
    assert_ne!(second.id(), request.id());
    owner.accepts_all(&second);
    assert_eq!(anew.result(), ("Successfully wrote to test.txt".to_owned(), false));
    assert!(!write().result().1, "and is known by that from then on");
}

#[test]
fn what_waited_when_the_server_was_killed_is_carried_out_once_after_it() {
    let mut copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let call = coder.calls("atlas_write", file("test.txt", "hello"));
    let request = owner.sees_request();
    copydesk.is_killed_and_restarted();
    assert!(std::iter::from_fn(|| call.may_go_on()).all(|it| it.get("result").is_none()));
    let owner = owner_of(&copydesk);
    let open: Vec<Request> = waiting(&owner);
    assert_eq!((open.len(), open[0].id()), (1, request.id()));
    owner.accepts_all(&open[0]);
    owner.sees_where("tool_approval_update", |it| {
        it["request_id"] == request.id() && it["report"].is_string()
    });
    assert_eq!(copydesk.file("test.txt").as_deref(), Some("hello"));
}

#[test]
fn whoever_waits_at_an_orderly_stop_is_told_that_the_request_stays() {
    let mut copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let call = coder.calls("atlas_write", file("test.txt", "hello"));
    let request = owner.sees_request();
    copydesk.stops();
    let (told, is_error) = call.result();
    assert!(is_error && told.starts_with("The server is stopping."), "{told}");
    assert!(told.contains(request.id()), "{told}");
    copydesk.starts();
    assert_eq!(waiting(&copydesk.owner()).len(), 1);
}

// Bad input.

#[test]
fn what_makes_no_sense_is_told_and_asks_nobody() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let document = owner.creates(TEXT);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    coder.reads(&document);
    for (tool, arguments, words) in [
        ("atlas_write", json!({}), "Invalid input for Write"),
        ("atlas_write", json!({"file_path": 7, "content": "x"}), "Invalid input for Write"),
        ("atlas_write", file("../out.txt", "x"), "Error: "),
        (
            "update_full_document",
            json!({"new_content": "x"}),
            "[DENIED] Invalid input: document_id",
        ),
        ("update_full_document", rewrite("doc_none", "x"), "[DENIED] There is no such document"),
        (
            "update_full_document",
            rewrite(&document, &"x".repeat(100_001)),
            "[DENIED] Content too large",
        ),
        (
            "update_selection",
            json!({"document_id": document, "new_text": "x", "selection_range": {"start": 9, "end": 3}, "explanation": ""}),
            "[DENIED] Invalid selection range",
        ),
        ("read_document", json!({}), "[DENIED] Invalid input: document_id"),
        ("read_document", json!({"document_id": "desk"}), "There is no document"),
    ] {
        let (told, is_error) = coder.gets(tool, arguments);
        assert!(is_error && told.contains(words), "{tool}: {told}");
    }
    let unknown = coder.asks("tools/call", json!({"name": "Write", "arguments": file("x", "x")}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert!(unknown["error"]["message"].as_str().unwrap().contains("atlas_write"), "{unknown}");
    assert_eq!(coder.asks("no/such/method", json!({}))["error"]["code"], -32601);
    assert!(waiting(&owner).is_empty());
    owner.is_fine();
}

#[test]
fn requests_that_are_no_mcp_are_refused() {
    let copydesk = test_server();
    let coder = Mcp::silent(&copydesk, OWNER);
    assert_eq!(
        coder.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}), &[]).status,
        400
    );
    assert_eq!(coder.post(&initialize(1, "x"), &[("Accept", "text/html")]).status, 406);
    assert_eq!(coder.post(&initialize(1, "x"), &[("Content-Type", "text/plain")]).status, 415);
    let made_up = [("Mcp-Session-Id", "made-up")];
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(coder.post(&list, &made_up).status, 404);
    let host = [("Host", copydesk.address()), ("Authorization", &format!("Bearer {OWNER}"))];
    assert_eq!(ask(copydesk.address(), "PUT /mcp", &host).status, 405);
    let json =
        [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let headers = [&host[..], &json[..]].concat();
    let broken = send(copydesk.address(), "POST /mcp", &headers, "{\"jsonrpc\":");
    assert!((400..500).contains(&broken.status), "{broken:?}");
}

// Who may.

#[test]
fn nobody_comes_in_without_a_good_token_or_from_another_origin() {
    let copydesk = test_server();
    for token in ["", "Bearer wrong", "Basic abc"] {
        let answer =
            Mcp::silent(&copydesk, OWNER).post(&initialize(1, "x"), &[("Authorization", token)]);
        assert_eq!(answer.status, 401, "{token}");
        assert!(answer.head.contains("www-authenticate: bearer"), "{}", answer.head);
        assert_eq!(answer.next()["code"], "unauthorized");
    }
    for headers in [("Origin", "http://evil.example"), ("Host", "evil.example")] {
        let answer = Mcp::silent(&copydesk, OWNER).post(&initialize(1, "x"), &[headers]);
        assert_eq!(answer.status, 403, "{headers:?}");
    }
    let own = format!("http://{}", copydesk.address());
    let answer = Mcp::silent(&copydesk, OWNER).post(&initialize(1, "x"), &[("Origin", &own)]);
    assert_eq!(answer.status, 200);
}

#[test]
fn everybody_is_offered_what_they_may_do_and_can_do_no_more() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let (document, other) = (owner.creates(TEXT), owner.creates("Elsewhere."));
    let all = Mcp::arrives(&copydesk, OWNER, "coder").tools();
    for name in ["atlas_write", "atlas_edit", "atlas_multi_edit", "read_document"] {
        assert!(all.contains(&name.to_owned()), "{all:?}");
    }
    assert!(!all.contains(&"atlas_bash".to_owned()), "commands are off");
    for role in [Role::Viewer, Role::Reviewer] {
        let reader = Mcp::arrives(&copydesk, &copydesk.token("Vi", role, &[]), "reader");
        assert_eq!(reader.tools(), ["read_document", "list_documents"]);
        reader.reads(&document);
        for (tool, arguments) in
            [("atlas_write", file("x", "x")), ("update_full_document", rewrite(&document, "x"))]
        {
            assert_eq!(reader.gets(tool, arguments), ("[DENIED] you may not do that".into(), true));
        }
    }
    let bound = Mcp::arrives(
        &copydesk,
        &copydesk.token("Bo", Role::Editor, &["--document", &document]),
        "coder",
    );
    assert!(!bound.tools().contains(&"atlas_write".to_owned()));
    bound.reads(&document);
    assert!(bound.gets("read_document", json!({"document_id": other})).1);
    assert!(bound.gets("update_full_document", rewrite(&other, "x")).1);
    assert!(bound.gets("atlas_write", file("x", "x")).1);
    let listed = bound.asks("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"].as_array().unwrap().len(), 1, "{listed}");
    let uri = format!("copydesk://documents/{other}");
    assert!(bound.asks("resources/read", json!({"uri": uri})).get("error").is_some());
    let private = bound.asks("resources/read", json!({"uri": "copydesk://documents/desk"}));
    assert!(private.get("error").is_some(), "{private}");
    assert!(waiting(&owner).is_empty());
}

#[test]
fn commands_are_decided_by_owners_and_only_where_they_are_switched_on() {
    let copydesk = TestServer::plan().workspace(&[]).flags(&["--enable-bash"]).start();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, &copydesk.token("Bo", Role::Editor, &[]), "coder");
    let call = coder.calls("atlas_bash", json!({"command": "echo hello", "description": "Greets"}));
    owner.accepts_all(&owner.sees_request());
    assert_eq!(call.result(), ("hello\n".to_owned(), false));
    let call = coder.calls("atlas_bash", json!({"command": "exit 3"}));
    owner.rejects(&owner.sees_request(), "No");
    assert_eq!(call.result(), ("[DENIED] Bash rejected: No".to_owned(), true));
}

#[test]
fn a_session_is_its_holders_own_and_ends_with_their_token() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let token = copydesk.token("Bo", Role::Editor, &[]);
    let coder = Mcp::arrives(&copydesk, &token, "coder");
    assert_eq!(coder.with_token(OWNER).begins("tools/list", json!({})).status, 404);
    let call = coder.calls("atlas_write", file("test.txt", "x"));
    let request = owner.sees_request();
    revoked(&copydesk, &token);
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    drop(call);
    assert_eq!(coder.begins("tools/list", json!({})).status, 401);
}

// Resources and prompts.

#[test]
fn documents_are_resources_and_tell_when_they_change() {
    let copydesk = test_server();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(TEXT);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let uri = format!("copydesk://documents/{document}");
    let listed = coder.asks("resources/list", json!({}));
    let listed = listed["result"]["resources"].as_array().unwrap().clone();
    let found = listed.iter().find(|it| it["uri"] == uri).unwrap();
    assert_eq!(found["mimeType"], "text/markdown");
    let templates = coder.asks("resources/templates/list", json!({}));
    let template = &templates["result"]["resourceTemplates"][0]["uriTemplate"];
    assert_eq!(*template, "copydesk://documents/{id}");
    let heard = coder.send("GET", None, &[("Accept", "text/event-stream")]);
    assert_eq!(heard.status, 200);
    coder.asks("resources/subscribe", json!({"uri": uri}));
    for _ in 0..5 {
        ana.types(0, "x");
    }
    let update = heard.next();
    assert_eq!(update["method"], "notifications/resources/updated");
    assert_eq!(update["params"]["uri"], uri);
    let read = coder.asks("resources/read", json!({"uri": uri}));
    assert_eq!(read["result"]["contents"][0]["text"], ana.text());
    // Whoever has read it may change it.
    let call = coder.calls("update_full_document", rewrite(&document, FIXED));
    ana.accepts_all(&ana.sees_request());
    assert!(!call.result().1);
    let unknown = coder.asks("resources/read", json!({"uri": "copydesk://documents/none"}));
    assert_eq!(unknown["error"]["code"], -32002, "{unknown}");
    assert_eq!(unknown["error"]["data"]["uri"], "copydesk://documents/none", "{unknown}");
}

#[test]
fn prompts_come_with_their_document() {
    let copydesk = test_server();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(TEXT);
    ana.types(0, "Once. ");
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let listed = coder.asks("prompts/list", json!({}));
    assert!(listed["result"]["prompts"].as_array().unwrap().len() >= 4, "{listed}");
    let get = |name: &str, arguments: Value| {
        coder.asks("prompts/get", json!({"name": name, "arguments": arguments}))
    };
    let prompt = get("fix_grammar", json!({"document_id": document}));
    assert!(prompt["result"].to_string().contains("Once. Teh keeper"), "{prompt}");
    let compared = get("summarise_changes", json!({"document_id": document, "since_version": "0"}));
    assert_eq!(compared["result"].to_string().matches("Teh keeper").count(), 2, "{compared}");
    for bad in [
        get("no_such", json!({"document_id": document})),
        get("tighten", json!({})),
        get("tighten", json!({"document_id": "none"})),
        get("summarise_changes", json!({"document_id": document, "since_version": "x"})),
    ] {
        assert!(bad.get("error").is_some(), "{bad}");
    }
}

// Over standard input and output.

/// `copydesk mcp` as a client starts it.
struct Bridge {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Bridge {
    fn starts(copydesk: &TestServer, more: &[&str]) -> Self {
        let mut process = copydesk_command()
            .args(["mcp", "--url", copydesk.url()])
            .args(more)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary is built");
        let output = process.stdout.take().expect("stdout is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line);
                sender.send(message.unwrap_or_else(|_| panic!("no protocol: {line}"))).ok();
            }
        });
        Self { input: process.stdin.take(), process, lines }
    }

    fn sends(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("stdin is open");
        writeln!(input, "{message}").expect("the bridge reads");
    }

    fn calls(&mut self, id: u64, tool: &str, arguments: Value) {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
        self.sends(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }

    fn begins(&mut self) {
        self.sends(&initialize(0, "stdio-coder"));
        assert_eq!(self.answer(0)["result"]["serverInfo"]["name"], "copydesk");
        self.sends(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    fn answer(&self, id: u64) -> Value {
        loop {
            let message = self.lines.recv_timeout(Duration::from_secs(30)).expect("an answer");
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().expect("it was started");
    }
}

#[test]
fn the_bridge_carries_calls_and_takes_them_back_when_its_client_is_done() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let mut bridge = Bridge::starts(&copydesk, &["--token", OWNER]);
    bridge.begins();
    bridge.sends(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert!(bridge.answer(1)["result"]["tools"].to_string().contains("atlas_write"));
    bridge.calls(2, "atlas_write", file("test.txt", "hello"));
    let request = owner.sees_request();
    assert_eq!(request["author"]["name"], "Owner (stdio-coder)");
    owner.accepts_all(&request);
    let answer = bridge.answer(2);
    assert_eq!(answer["result"]["content"][0]["text"], "Successfully wrote to test.txt");
    bridge.calls(3, "atlas_write", file("b.txt", "b"));
    let request = owner.sees_request();
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}});
    bridge.sends(&cancel);
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    bridge.calls(4, "atlas_write", file("c.txt", "c"));
    let request = owner.sees_request();
    bridge.input = None;
    assert!(bridge.process.wait().unwrap().success());
    owner.decides(&request, json!({"approved": true})).refused();
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    assert_eq!([copydesk.file("b.txt"), copydesk.file("c.txt")], [None, None]);
}

#[test]
fn a_line_that_is_no_message_does_not_end_the_conversation() {
    let copydesk = test_server();
    let mut bridge = Bridge::starts(&copydesk, &["--token", OWNER]);
    bridge.begins();
    for line in [&b"caf\xe9\n"[..], b"\xff\xfe\n", b"no JSON\n"] {
        bridge.input.as_mut().unwrap().write_all(line).unwrap();
        let refused = bridge.lines.recv_timeout(Duration::from_secs(30)).expect("an answer");
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32700)));
    }
    bridge.sends(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert!(bridge.answer(1)["result"]["tools"].to_string().contains("atlas_write"));
}

#[test]
fn a_bridge_that_was_killed_leaves_no_request_behind() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let mut bridge = Bridge::starts(&copydesk, &["--token", OWNER]);
    bridge.begins();
    bridge.calls(1, "atlas_write", file("test.txt", "hello"));
    let request = owner.sees_request();
    bridge.process.kill().unwrap();
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    assert_eq!(copydesk.file("test.txt"), None);
}

#[test]
fn what_is_too_long_for_a_message_is_refused_with_how_long_it_may_be() {
    let copydesk = test_server();
    let mut bridge = Bridge::starts(&copydesk, &["--token", OWNER]);
    bridge.begins();
    bridge.calls(1, "atlas_write", file("a.txt", &"x".repeat(5 * 1024 * 1024)));
    let answer = bridge.answer(1);
    let words = answer["error"]["message"].as_str().unwrap();
    assert!(words.contains("at most 4194304 bytes"), "{answer}");
    bridge.calls(2, "list_documents", json!({}));
    assert!(bridge.answer(2)["result"].is_object());
}

#[test]
fn the_bridge_goes_on_when_the_server_was_started_again() {
    let mut copydesk = TestServer::plan().workspace(&[]).start();
    // The port must stay the same for an address to be worth knowing.
    let mut bridge = Bridge::starts(&copydesk, &["--token", OWNER]);
    bridge.begins();
    copydesk.stops();
    bridge.calls(1, "list_documents", json!({}));
    let answer = bridge.answer(1);
    assert!(answer["error"]["message"].as_str().unwrap().contains("is it running?"), "{answer}");
    drop(bridge);
    copydesk.starts();
}

#[test]
fn the_bridge_says_on_standard_error_why_it_cannot_work() {
    let copydesk = test_server();
    let run = |arguments: &[&str]| {
        let output = copydesk_command()
            .arg("mcp")
            .args(arguments)
            .current_dir(copydesk.data())
            .stdin(Stdio::null())
            .output()
            .expect("the binary is built");
        assert!(output.stdout.is_empty(), "standard output is only the protocol");
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let nobody = run(&["--url", "http://127.0.0.1:9", "--token", OWNER]);
    assert!(nobody.contains("does not answer; is it running?"), "{nobody}");
    let wrong = run(&["--url", copydesk.url(), "--token", "wrong"]);
    assert!(wrong.contains("unknown token"), "{wrong}");
    let none = run(&["--url", copydesk.url(), "--data", "nowhere"]);
    assert!(none.contains("no owner's token"), "{none}");
}

// The official client.

/// Runs the official client while somebody decides: the first request is approved, the second
/// rejected, the third left.
fn the_official_client_works(over: &str, mode: &str) {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let document = owner.creates(TEXT);
    let Some(python) = python("MCP with the official client") else { return };
    let mut child = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/mcp_client.py"))
        .args([over, mode, copydesk.url(), OWNER, env!("CARGO_BIN_EXE_copydesk"), &document])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Python can be started");
    owner.accepts_all(&owner.sees_request());
    owner.rejects(&owner.sees_request(), "Not there");
    let request = owner.sees_request();
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    owner.accepts_all(&owner.sees_request());
    let status = child.wait().expect("the script ends");
    let mut words = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        std::io::Read::read_to_string(&mut stderr, &mut words).ok();
    }
    assert!(status.success(), "{words}");
    assert_eq!(copydesk.file("official.txt").as_deref(), Some("hello"));
    assert_eq!(copydesk.file("rejected.txt"), None);
    owner.comes_to_read(FIXED);
}

#[test]
fn the_official_client_works_over_http_in_a_session() {
    the_official_client_works("http", "legacy");
}

#[test]
fn the_official_client_works_over_http_without_one() {
    the_official_client_works("http", "auto");
}

#[test]
fn the_official_client_works_over_standard_input_and_output_in_a_session() {
    the_official_client_works("stdio", "legacy");
}

#[test]
fn the_official_client_works_over_standard_input_and_output_without_one() {
    the_official_client_works("stdio", "auto");
}
