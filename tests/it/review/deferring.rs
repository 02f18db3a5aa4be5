//! Changes that a person puts at the end of their own list.

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::{OWNER, Person, Request, RestClient, Role, Script, TestServer};

const BEFORE: &str = "Teh keeper wrote.\n\nThe keeper of the lamp wrote a rather long letter to his only sister almost every night.\n";
const AFTER: &str = "The keeper wrote.\n\nThe keeper of the lighthouse lamp wrote a letter to his only sister in town almost every night.\n";

fn defer(request: &Request, number: usize, on: bool) -> Value {
    json!({"request_id": request.id(), "hunk_id": request.hunk(number), "on": on})
}

/// Returns the changes at the end of a person's own list.
fn deferred(person: &Person) -> Vec<String> {
    let list = person.emit("approval:deferred", &json!({"documentId": person.document()})).ok();
    let hunks = list["hunks"].as_array().unwrap().iter();
    hunks.map(|it| it["hunk_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_change_is_put_off_on_all_devices_of_a_person_and_for_nobody_else() {
    let mut copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ben) = (copydesk.owner(), copydesk.person("Ben", Role::Viewer));
    ben.opens(&owner.creates(BEFORE));
    owner.asks("Tighten it");
    let request = owner.sees_request();
    let first = request.hunk(1).to_owned();
    let answer = ben.emit("approval:defer", &defer(&request, 1, true)).ok();
    assert_eq!(answer["status"], "pending");
    ben.emit("approval:defer", &defer(&request, 1, true)).ok();
    assert_eq!(deferred(&ben), std::slice::from_ref(&first), "who reads has a list, too");
    assert!(deferred(&owner).is_empty());
    let other = ben.second_window();
    other.opens(&owner.document());
    assert_eq!(deferred(&other), std::slice::from_ref(&first));
    owner.catches_up();
    assert!(owner.saw("tool_approval_update").is_empty(), "nobody else is told");

    copydesk.is_killed_and_restarted();
    let (owner, ben) = (owner.comes_back(&copydesk), ben.comes_back(&copydesk));
    owner.opens(&owner.document());
    ben.opens(&owner.document());
    assert_eq!(deferred(&ben), [first]);
    ben.emit("approval:defer", &defer(&request, 1, false)).ok();
    assert!(deferred(&ben).is_empty());
    drop((owner, ben, other));
    copydesk.checks_its_data();
}

#[test]
fn the_parts_of_a_change_keep_it_and_it_ends_with_the_change() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    ben.opens(&owner.creates(BEFORE));
    owner.asks("Tighten it");
    let request = owner.sees_request();
    owner.emit("approval:defer", &defer(&request, 2, true)).ok();
    let split = json!({"request_id": request.id(), "hunk_id": request.hunk(2)});
    ben.emit("approval:split", &split).ok();
    let fresh = owner.pending().remove(0);
    let parts: Vec<_> = (2..=4).map(|number| fresh.hunk(number).to_owned()).collect();
    assert_eq!(deferred(&owner), parts);
    owner.emit("approval:defer", &defer(&request, 2, false)).refused_with("stale_preview");
    owner.emit("approval:defer", &defer(&fresh, 3, false)).ok();
    assert_eq!(deferred(&owner), [parts[0].clone(), parts[2].clone()]);

    ben.accepts_all(&fresh);
    assert!(deferred(&owner).is_empty());
    owner.emit("approval:defer", &defer(&fresh, 2, true)).refused_with("already_resolved");
    ben.emit("approval:undo", &json!({"request_id": request.id()})).ok();
    assert_eq!(owner.text(), BEFORE);
    assert!(deferred(&owner).is_empty(), "what is open again is not for later");
}

#[test]
fn a_list_is_kept_and_read_over_rest() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let owner = copydesk.owner();
    let document = owner.creates(BEFORE);
    owner.asks("Tighten it");
    let request = owner.sees_request();
    let rest = RestClient::new(&copydesk, OWNER);
    let path = format!("requests/{}/defer", request.id());
    let body = json!({"hunk_id": request.hunk(1), "on": true});
    assert_eq!(rest.posts(&path, &body).ok()["status"], "pending");
    let list = rest.gets(&format!("documents/{document}/deferred")).ok();
    let named = json!([{"request_id": request.id(), "hunk_id": request.hunk(1)}]);
    assert_eq!(list["hunks"], named);
    assert_eq!(deferred(&owner), [request.hunk(1).to_owned()]);
}

#[test]
fn a_refusal_repeats_little_of_what_was_sent() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let owner = copydesk.owner();
    owner.creates(BEFORE);
    owner.asks("Tighten it");
    let (request, long) = (owner.sees_request(), "x".repeat(100_000));
    let is_short = |message: &Value| {
        let message = message.as_str().unwrap();
        assert!((1..=1_000).contains(&message.len()), "{} of {:.100}", message.len(), message);
    };
    let on_hunk = json!({"request_id": request.id(), "hunk_id": long, "on": true});
    is_short(&owner.emit("approval:defer", &on_hunk).refused_with("not_found")["message"]);
    let on_hunk = json!({"request_id": request.id(), "hunk_id": long});
    is_short(&owner.emit("approval:split", &on_hunk).refused_with("not_found")["message"]);
    let asks = json!({"documentId": owner.document(), "text": "@AI?", "mentions": ["ai"],
        "model": long});
    is_short(&owner.emit("comment:create", &asks).refused_with("invalid_payload")["message"]);
    let rest = RestClient::new(&copydesk, OWNER);
    let refused =
        rest.posts(&format!("requests/{}/split", request.id()), &json!({"hunk_id": long}));
    refused.refused_with(404, "not_found");
    is_short(&refused.body["detail"]);
    let coder = Mcp::arrives(&copydesk, OWNER, "coder");
    for (method, params) in [
        ("tools/call", json!({"name": long, "arguments": {}})),
        ("prompts/get", json!({"name": long})),
        ("resources/read", json!({"uri": format!("copydesk://{long}")})),
    ] {
        is_short(&coder.asks(method, params)["error"]["message"]);
    }
    let (said, failed) =
        coder.gets("add_comment", json!({"document_id": owner.document(), &*long: 1}));
    assert!(failed && said.len() < 1_000, "{said:.100}");
}
