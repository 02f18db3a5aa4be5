//! What is decided is judged as it will be applied: an edited input, a person's own words in a change, a fresh preview.

use serde_json::{Value, json};

use crate::support::script::full;
use crate::support::{Ack, Desk, Person, Request, Role, Script};

const START: &str = "one two three\n";

/// A model that writes five characters into `a.txt`, at a desk where owners decide about more than 100 units.
fn desk_with_limit(files: &[(&str, &str)]) -> (Desk, Person) {
    let input = json!({"file_path": "a.txt", "content": "short"});
    let script = Script::default().answering(".", "Write", &input).closing("Done.");
    let desk = Desk::plan().script(script).workspace(files).start();
    let owner = desk.owner();
    configure(&owner, "desk", &json!([{"over": 100, "policy": "owner"}]));
    (desk, owner)
}

fn configure(owner: &Person, document: &str, policies: &Value) {
    let payload = json!({"documentId": document, "policies": policies});
    owner.emit("document:settings", &payload).ok();
}

/// A request of the owner's for a file.
fn asks_for_a_file(owner: &Person) -> Request {
    let run = owner.emit("run", &json!({"prompt": "Write it"})).ok();
    owner.sees_request_of(run["requestId"].as_str().unwrap())
}

/// A document in which owners decide about more than 50 units, and a change of six.
fn document_with_limit() -> (Desk, Person, Request) {
    let desk = Desk::scripted(Script::rewriting("one TWO three\n"));
    let owner = desk.owner();
    owner.creates(START);
    configure(&owner, &owner.document(), &json!([{"over": 50, "policy": "owner"}]));
    owner.asks("Shout");
    let request = owner.sees_request();
    assert_eq!((&request["units"], &request["policies"]), (&json!(6), &json!(["any"])));
    (desk, owner, request)
}

fn writes_instead(person: &Person, request: &Request, file: &str, content: &str) -> Ack {
    let input = json!({"file_path": file, "content": content});
    person.decides(request, json!({"decision": "edit", "updated_input": input}))
}

fn accepts_with(person: &Person, request: &Request, text: &str) -> Ack {
    let hunk = json!({"id": request.hunk(1), "decision": "accept", "text": text});
    person.decides(request, json!({"approved": true, "hunks": [hunk]}))
}

#[test]
fn an_edited_input_over_the_limit_takes_whom_the_limit_asks_for() {
    let (desk, owner) = desk_with_limit(&[]);
    let ed = desk.editor("Ed");
    let request = asks_for_a_file(&owner);
    assert_eq!((&request["units"], &request["policies"]), (&json!(5), &json!(["any"])));
    let refused = writes_instead(&ed, &request, "a.txt", &"R".repeat(101));
    let error = refused.refused_with("not_allowed");
    assert!(error["message"].as_str().unwrap().contains("owner"), "{error}");
    assert_eq!(desk.file("a.txt"), None);
    writes_instead(&ed, &request, "a.txt", &"R".repeat(100)).ok();
    desk.file_comes_to_read("a.txt", &"R".repeat(100));
}

#[test]
fn an_owner_may_write_more_than_the_limit() {
    let (desk, owner) = desk_with_limit(&[]);
    let request = asks_for_a_file(&owner);
    writes_instead(&owner, &request, "a.txt", &"R".repeat(5_000)).ok();
    desk.file_comes_to_read("a.txt", &"R".repeat(5_000));
}

#[test]
fn a_fresh_preview_says_whom_it_takes_and_is_decided_by_them_alone() {
    let (desk, owner) = desk_with_limit(&[("a.txt", "shirt")]);
    let ed = desk.editor("Ed");
    let request = asks_for_a_file(&owner);
    assert_eq!((&request["units"], &request["policies"]), (&json!(2), &json!(["any"])));
    let long = "A person wrote this. ".repeat(200);
    desk.overwrites("a.txt", &long);
    let stale = ed.decides(&request, json!({"approved": true})).refused_with("stale_preview");
    let fresh = Request(stale["details"].clone());
    assert_eq!((&fresh["policies"], &fresh["policy"]), (&json!(["owner"]), &json!("owner")));
    let told = ed.sees_where("tool_approval_update", |it| it["fresh"].is_object());
    assert_eq!(told["policies"], json!(["owner"]), "whoever may not decide it now hears of it too");
    ed.decides(&fresh, json!({"approved": true})).refused_with("not_allowed");
    assert_eq!(desk.file("a.txt").as_deref(), Some(long.as_str()));
    owner.decides(&fresh, json!({"approved": true})).ok();
    desk.file_comes_to_read("a.txt", "short");
    assert_eq!(ed.sees_resolved(&fresh)["status"], "approved");
}

#[test]
fn a_fresh_preview_that_is_smaller_takes_no_less_than_what_was_proposed() {
    let (desk, owner) = desk_with_limit(&[("a.txt", &"A".repeat(200))]);
    let ed = desk.editor("Ed");
    let request = asks_for_a_file(&owner);
    assert_eq!(request["policies"], json!(["owner"]));
    desk.overwrites("a.txt", "shirt");
    let stale = owner.decides(&request, json!({"approved": true})).refused_with("stale_preview");
    let fresh = Request(stale["details"].clone());
    assert_eq!((&fresh["units"], &fresh["policies"]), (&json!(2), &json!(["owner"])));
    ed.decides(&fresh, json!({"approved": true})).refused_with("not_allowed");
    assert_eq!(desk.file("a.txt").as_deref(), Some("shirt"));
}

#[test]
fn own_words_over_the_limit_take_whom_the_limit_asks_for() {
    let (desk, owner, request) = document_with_limit();
    let ed = desk.editor("Ed");
    ed.opens(&owner.document());
    accepts_with(&ed, &request, &"Z".repeat(48)).refused_with("not_allowed");
    assert_eq!(owner.text(), START);
    accepts_with(&ed, &request, &"Z".repeat(47)).ok();
    assert_eq!(owner.text(), format!("one {} three\n", "Z".repeat(47)));
}

#[test]
fn own_words_are_denied_by_a_rule_that_denies_so_much() {
    let (desk, owner, request) = document_with_limit();
    let ed = desk.editor("Ed");
    ed.opens(&owner.document());
    let rule = json!({"documentId": owner.document(), "effect": "deny", "tool": "*", "over": 20});
    owner.emit("rules:add", &rule).ok();
    for person in [&ed, &owner] {
        accepts_with(person, &request, &"Z".repeat(40)).refused_with("not_allowed");
    }
    assert_eq!(owner.text(), START);
    ed.accepts_all(&request);
}

#[test]
fn a_reviewer_decides_and_does_not_type() {
    let (desk, owner, request) = document_with_limit();
    let rex = desk.person("Rex", Role::Reviewer);
    rex.opens(&owner.document());
    let error = accepts_with(&rex, &request, "Two").refused_with("not_allowed");
    assert!(error["message"].as_str().unwrap().contains("right to write"), "{error}");
    assert_eq!(owner.text(), START);
    // The model's own words, sent back, are nobody else's.
    accepts_with(&rex, &request, "TWO").ok();
    assert_eq!(owner.text(), "one TWO three\n");
}

#[test]
fn a_reviewer_writes_no_file() {
    let (desk, owner) = desk_with_limit(&[]);
    let rex = desk.person("Rex", Role::Reviewer);
    let request = asks_for_a_file(&owner);
    for file in ["a.txt", "rev.txt"] {
        let error = writes_instead(&rex, &request, file, "mine").refused_with("not_allowed");
        assert!(error["message"].as_str().unwrap().contains("right to write"), "{error}");
        assert_eq!(desk.file(file), None);
    }
    rex.accepts_all(&request);
    desk.file_comes_to_read("a.txt", "short");
}

#[test]
fn what_was_accepted_already_counts() {
    let after = "One two three.\n\nFour five six.\n\nSeven eight nine.\n";
    let before = "Won two three.\n\nFore five six.\n\nSeven ate nine.\n";
    let desk = Desk::scripted(Script::default().answering(".", "update_full_document", &full(after)));
    let (owner, ed) = (desk.owner(), desk.editor("Ed"));
    owner.creates(before);
    ed.opens(&owner.document());
    configure(&owner, &owner.document(), &json!([{"over": 50, "policy": "owner"}]));
    owner.asks("Correct it");
    let request = owner.sees_request();
    assert_eq!((request.hunks().len(), &request["policies"]), (3, &json!(["any"])));
    accepts_with(&ed, &request, &"Z".repeat(45)).ok();
    // "Fore" goes, "Four" comes: eight more would be 56.
    ed.decides(&request, json!({"hunks": request.each(&[2], "accept")})).refused_with("not_allowed");
    let rest = json!({"hunks": request.each(&[2], "reject"), "finish": "accept"});
    ed.decides(&request, rest).refused_with("not_allowed");
    ed.decides(&request, json!({"hunks": request.each(&[2], "reject")})).ok();
    owner.decides(&request, json!({"approved": true})).ok();
    assert!(owner.text().ends_with("Seven eight nine.\n"));
}
