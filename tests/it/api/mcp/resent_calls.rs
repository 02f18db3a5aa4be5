//! Calls that are sent again.

use serde_json::{Value, json};

use crate::support::mcp::{Answer, Mcp};
use crate::support::{OWNER, Request, Role};

use super::{FIXED, TEXT, file, owner_of, rewrite, test_server, waiting};

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
    // What was decided is sent once more, and not done once more.
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
fn a_call_that_is_sent_again_waits_as_long_as_its_newest_caller() {
    let mut copydesk = test_server();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(TEXT);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    coder.reads(&document);
    let sends = |id: u64, timeout: &str| {
        let named = json!({"progressToken": "p", "claudecode/toolUseId": "toolu_1"});
        let params = json!({
            "name": "update_full_document", "arguments": rewrite(&document, FIXED), "_meta": named,
        });
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let answer = coder.post(&call, &[("Copydesk-Timeout-Ms", timeout)]);
        assert_eq!(answer.progress(), "Asking the people who decide");
        answer
    };
    let first = sends(91, "60000");
    let request = ana.sees_request();
    let text_of = |ends: &Value| {
        let is_later = |it: &Value| it["expires_at"].as_str() > ends.as_str();
        ana.sees_where("tool_approval_update", is_later)["expires_at"].clone()
    };
    first.disconnects();
    let second = sends(92, "120000");
    let ends = text_of(&request["expires_at"]);
    let open = waiting(&ana);
    assert_eq!((open.len(), open[0].id(), &open[0]["expires_at"]), (1, request.id(), &ends));
    // A caller that waits for less time takes none away.
    second.disconnects();
    let third = sends(93, "30000");
    assert!(third.progress().contains(request.id()));
    third.disconnects();
    let fourth = sends(94, "180000");
    let ends = text_of(&ends);
    copydesk.is_killed_and_restarted();
    drop(fourth);
    let ana = ana.comes_back(&copydesk);
    ana.opens(&document);
    assert_eq!(waiting(&ana)[0]["expires_at"], ends, "and it is stored");
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
    let (tool_result, is_error) = again.result();
    assert!(!is_error && tool_result.starts_with("Applied: 1 accepted."), "{tool_result}");
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
    // Neither learns what came of the other's.
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
fn a_person_who_waits_at_an_orderly_stop_is_told_that_the_request_stays() {
    let mut copydesk = test_server();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    let call = coder.calls("atlas_write", file("test.txt", "hello"));
    let request = owner.sees_request();
    copydesk.stops();
    let (tool_result, is_error) = call.result();
    assert!(is_error && tool_result.starts_with("The server is stopping."), "{tool_result}");
    assert!(tool_result.contains(request.id()), "{tool_result}");
    copydesk.starts();
    assert_eq!(waiting(&copydesk.owner()).len(), 1);
}
