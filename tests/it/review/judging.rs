//! A decision is judged as it will be applied: an edited input, a person's own words in a change, a
//! fresh preview.

use serde_json::{Value, json};

use crate::support::http::send;
use crate::support::script::full;
use crate::support::{Ack, Person, Request, Role, Script, TestServer};

const START: &str = "one two three\n";
const CHANGED: &str = "one TWO three\n";

/// A model that writes five characters into `a.txt`, on a server where owners decide about more
/// than 100 units.
fn server_with_limit(files: &[(&str, &str)]) -> (TestServer, Person) {
    let input = json!({"file_path": "a.txt", "content": "short"});
    let script = Script::default().answering(".", "Write", &input).closing("Done.");
    let copydesk = TestServer::plan().script(script).workspace(files).start();
    let owner = copydesk.owner();
    configure(&owner, "desk", &json!([{"over": 100, "policy": "owner"}]));
    (copydesk, owner)
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
fn document_with_limit() -> (TestServer, Person, Request) {
    let copydesk = TestServer::scripted(Script::rewriting(CHANGED));
    let owner = copydesk.owner();
    owner.creates(START);
    configure(&owner, &owner.document(), &json!([{"over": 50, "policy": "owner"}]));
    owner.asks("Shout");
    let request = owner.sees_request();
    assert_eq!((&request["units"], &request["policies"]), (&json!(6), &json!(["any"])));
    (copydesk, owner, request)
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
    let (copydesk, owner) = server_with_limit(&[]);
    let ed = copydesk.editor("Ed");
    let request = asks_for_a_file(&owner);
    assert_eq!((&request["units"], &request["policies"]), (&json!(5), &json!(["any"])));
    let refused = writes_instead(&ed, &request, "a.txt", &"R".repeat(101));
    let error = refused.refused_with("not_allowed");
    assert!(error["message"].as_str().unwrap().contains("owner"), "{error}");
    assert_eq!(copydesk.file("a.txt"), None);
    writes_instead(&ed, &request, "a.txt", &"R".repeat(100)).ok();
    copydesk.file_comes_to_read("a.txt", &"R".repeat(100));
}

#[test]
fn an_owner_may_write_more_than_the_limit() {
    let (copydesk, owner) = server_with_limit(&[]);
    let request = asks_for_a_file(&owner);
    writes_instead(&owner, &request, "a.txt", &"R".repeat(5_000)).ok();
    copydesk.file_comes_to_read("a.txt", &"R".repeat(5_000));
}

#[test]
fn a_fresh_preview_says_whom_it_takes_and_is_decided_by_them_alone() {
    let (copydesk, owner) = server_with_limit(&[("a.txt", "shirt")]);
    let ed = copydesk.editor("Ed");
    let request = asks_for_a_file(&owner);
    assert_eq!((&request["units"], &request["policies"]), (&json!(2), &json!(["any"])));
    let long = "A person wrote this. ".repeat(200);
    copydesk.overwrites("a.txt", &long);
    let stale = ed.decides(&request, json!({"approved": true})).refused_with("stale_preview");
    let fresh = Request(stale["details"].clone());
    assert_eq!((&fresh["policies"], &fresh["policy"]), (&json!(["owner"]), &json!("owner")));
    let event = ed.sees_where("tool_approval_update", |it| it["fresh"].is_object());
    assert_eq!(
        event["policies"],
        json!(["owner"]),
        "a person who may not decide it now hears of it too"
    );
    ed.decides(&fresh, json!({"approved": true})).refused_with("not_allowed");
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(long.as_str()));
    owner.decides(&fresh, json!({"approved": true})).ok();
    copydesk.file_comes_to_read("a.txt", "short");
    assert_eq!(ed.sees_resolved(&fresh)["status"], "approved");
}

#[test]
fn a_fresh_preview_that_is_smaller_takes_no_less_than_what_was_proposed() {
    let (copydesk, owner) = server_with_limit(&[("a.txt", &"A".repeat(200))]);
    let ed = copydesk.editor("Ed");
    let request = asks_for_a_file(&owner);
    assert_eq!(request["policies"], json!(["owner"]));
    copydesk.overwrites("a.txt", "shirt");
    let stale = owner.decides(&request, json!({"approved": true})).refused_with("stale_preview");
    let fresh = Request(stale["details"].clone());
    assert_eq!((&fresh["units"], &fresh["policies"]), (&json!(2), &json!(["owner"])));
    ed.decides(&fresh, json!({"approved": true})).refused_with("not_allowed");
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("shirt"));
}

#[test]
fn own_words_over_the_limit_take_whom_the_limit_asks_for() {
    let (copydesk, owner, request) = document_with_limit();
    let ed = copydesk.editor("Ed");
    ed.opens(&owner.document());
    accepts_with(&ed, &request, &"Z".repeat(48)).refused_with("not_allowed");
    assert_eq!(owner.text(), START);
    accepts_with(&ed, &request, &"Z".repeat(47)).ok();
    assert_eq!(owner.text(), format!("one {} three\n", "Z".repeat(47)));
}

#[test]
fn own_words_are_denied_by_a_rule_that_denies_so_much() {
    let (copydesk, owner, request) = document_with_limit();
    let ed = copydesk.editor("Ed");
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
fn what_the_model_would_be_told_is_refused_as_the_decision_would_be() {
    let (copydesk, owner, request) = document_with_limit();
    let ed = copydesk.editor("Ed");
    ed.opens(&owner.document());
    let with = |text: &str| {
        let hunk = json!({"id": request.hunk(1), "decision": "accept", "text": text});
        request.decision(json!({"approved": true, "hunks": [hunk]}))
    };
    ed.emit("approval:told", &with(&"Z".repeat(48))).refused_with("not_allowed");
    assert_eq!(ed.emit("approval:told", &with("deux")).ok()["state"], "complete");
    configure(&owner, &owner.document(), &json!([{"over": 10, "policy": "two"}]));
    let answer = ed.emit("approval:told", &with(&"Z".repeat(48))).ok();
    assert_eq!(answer["state"], "waiting", "one vote of two: {answer}");
    let rule = json!({"documentId": owner.document(), "effect": "deny", "tool": "*", "over": 20});
    owner.emit("rules:add", &rule).ok();
    ed.emit("approval:told", &with(&"Z".repeat(48))).refused_with("not_allowed");
    assert_eq!((ed.pending()[0].statuses(), ed.text().as_str()), (vec!["pending"], START));
}

#[test]
fn a_reviewer_decides_and_does_not_type() {
    let (copydesk, owner, request) = document_with_limit();
    let rex = copydesk.person("Rex", Role::Reviewer);
    rex.opens(&owner.document());
    let error = accepts_with(&rex, &request, "Two").refused_with("not_allowed");
    assert!(error["message"].as_str().unwrap().contains("permission to write"), "{error}");
    assert_eq!(owner.text(), START);
    // The model's own words, sent back, are no one else's.
    accepts_with(&rex, &request, "TWO").ok();
    assert_eq!(owner.text(), "one TWO three\n");
}

#[test]
fn a_reviewer_writes_no_file() {
    let (copydesk, owner) = server_with_limit(&[]);
    let rex = copydesk.person("Rex", Role::Reviewer);
    let request = asks_for_a_file(&owner);
    for file in ["a.txt", "rev.txt"] {
        let error = writes_instead(&rex, &request, file, "mine").refused_with("not_allowed");
        assert!(error["message"].as_str().unwrap().contains("permission to write"), "{error}");
        assert_eq!(copydesk.file(file), None);
    }
    rex.accepts_all(&request);
    copydesk.file_comes_to_read("a.txt", "short");
}

#[test]
fn what_was_accepted_already_counts() {
    let after = "One two three.\n\nFour five six.\n\nSeven eight nine.\n";
    let before = "Won two three.\n\nFore five six.\n\nSeven ate nine.\n";
    let copydesk = TestServer::scripted(Script::default().answering(
        ".",
        "update_full_document",
        &full(after),
    ));
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    owner.creates(before);
    ed.opens(&owner.document());
    configure(&owner, &owner.document(), &json!([{"over": 50, "policy": "owner"}]));
    owner.asks("Correct it");
    let request = owner.sees_request();
    assert_eq!((request.hunks().len(), &request["policies"]), (3, &json!(["any"])));
    accepts_with(&ed, &request, &"Z".repeat(45)).ok();
    // "Fore" goes, "Four" comes: eight more would be 56.
    ed.decides(&request, json!({"hunks": request.each(&[2], "accept")}))
        .refused_with("not_allowed");
    let rest = json!({"hunks": request.each(&[2], "reject"), "finish": "accept"});
    ed.decides(&request, rest).refused_with("not_allowed");
    ed.decides(&request, json!({"hunks": request.each(&[2], "reject")})).ok();
    owner.decides(&request, json!({"approved": true})).ok();
    assert!(owner.text().ends_with("Seven eight nine.\n"));
}

/// Returns the answer to a person over HTTP: status and body.
fn posts(copydesk: &TestServer, person: &Person, route: &str, body: &Value) -> (u16, Value) {
    let bearer = format!("Bearer {}", person.token);
    let host = copydesk.address();
    let headers =
        [("Host", host), ("Authorization", &bearer), ("Content-Type", "application/json")];
    let answer = send(host, &format!("POST /api/v1/requests/{route}"), &headers, &body.to_string());
    (answer.status, serde_json::from_str(&answer.body).unwrap())
}

/// The undo is refused at both doors.
fn may_not_undo(copydesk: &TestServer, person: &Person, request: &Request, force: bool) {
    let body = json!({"force": force});
    let (status, problem) = posts(copydesk, person, &format!("{}/undo", request.id()), &body);
    assert_eq!((status, &problem["code"]), (403, &json!("not_allowed")), "{problem}");
    let undo = json!({"request_id": request.id(), "force": force});
    person.emit("approval:undo", &undo).refused_with("not_allowed");
}

#[test]
fn an_undo_takes_whom_so_many_words_take() {
    let (copydesk, owner, request) = document_with_limit();
    let ed = copydesk.editor("Ed");
    ed.opens(&owner.document());
    accepts_with(&owner, &request, &"Z".repeat(200)).ok();
    may_not_undo(&copydesk, &ed, &request, false);
    owner.emit("approval:undo", &json!({"request_id": request.id()})).ok();
    assert_eq!(ed.text(), START);
}

#[test]
fn an_undo_by_force_takes_whom_the_words_it_overwrites_take() {
    let (copydesk, owner, request) = document_with_limit();
    let ed = copydesk.editor("Ed");
    ed.opens(&owner.document());
    ed.accepts_all(&request);
    let long = format!("T{}WO", "-".repeat(100));
    owner.overwrites("TWO", &long);
    may_not_undo(&copydesk, &ed, &request, true);
    assert_eq!(ed.text(), format!("one {long} three\n"));
    let force = json!({"request_id": request.id(), "force": true});
    owner.emit("approval:undo", &force).ok();
    assert_eq!(ed.text(), START);
}

/// The owner's request is carried out with this content.
fn written(copydesk: &TestServer, owner: &Person, content: &str) -> Request {
    let request = asks_for_a_file(owner);
    writes_instead(owner, &request, "a.txt", content).ok();
    copydesk.file_comes_to_read("a.txt", content);
    owner.sees_where("agent_event", |it| it["type"] == "result");
    request
}

#[test]
fn a_file_is_taken_back_by_those_whom_so_much_takes() {
    let (copydesk, owner) = server_with_limit(&[("a.txt", "old")]);
    let ed = copydesk.editor("Ed");
    let request = written(&copydesk, &owner, &"N".repeat(200));
    may_not_undo(&copydesk, &ed, &request, false);
    owner.emit("approval:undo", &json!({"request_id": request.id()})).ok();
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("old"));
    // What it was carried out with is judged anew where it is proposed again.
    let again = owner.emit("approval:reopen", &json!({"request_id": request.id()})).ok();
    let fits = |it: &Value| it["request_id"] == again["request_id"];
    let again = Request(owner.sees_where("tool_approval_request", fits));
    assert_eq!(again["policies"], json!(["owner"]));
    ed.decides(&again, json!({"approved": true})).refused_with("not_allowed");
}

#[test]
fn a_file_that_someone_has_rewritten_is_taken_back_by_those_whom_that_takes() {
    let (copydesk, owner) = server_with_limit(&[("a.txt", "old")]);
    let ed = copydesk.editor("Ed");
    let request = written(&copydesk, &owner, "new");
    let long = "A person wrote this. ".repeat(20);
    copydesk.overwrites("a.txt", &long);
    may_not_undo(&copydesk, &ed, &request, true);
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(long.as_str()));
    owner.emit("approval:undo", &json!({"request_id": request.id(), "force": true})).ok();
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("old"));
}

#[test]
fn a_change_that_is_proposed_again_is_judged_by_the_settings_of_today() {
    let (copydesk, owner, request) = document_with_limit();
    let ed = copydesk.editor("Ed");
    ed.opens(&owner.document());
    ed.rejects(&request, "No");
    configure(&owner, &owner.document(), &json!([{"over": 5, "policy": "owner"}]));
    let reopen = json!({"request_id": request.id()});
    ed.emit("approval:reopen", &reopen).refused_with("not_allowed");
    configure(&owner, &owner.document(), &json!([{"over": 20, "policy": "owner"}]));
    ed.emit("approval:reopen", &reopen).ok();
    accepts_with(&ed, &request, &"Z".repeat(18)).refused_with("not_allowed");
    accepts_with(&ed, &request, &"Z".repeat(17)).ok();
}

#[test]
fn two_people_must_want_the_same_where_what_they_put_in_takes_two() {
    let (copydesk, owner) = server_with_limit(&[]);
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    configure(&owner, "desk", &json!([{"over": 100, "policy": "two"}]));
    let request = asks_for_a_file(&owner);
    let votes = |person: &Person, letter: &str| {
        let input = json!({"file_path": "a.txt", "content": letter.repeat(101)});
        let decision = request.decision(json!({"decision": "edit", "updated_input": input}));
        let (status, body) =
            posts(&copydesk, person, &format!("{}/decision", request.id()), &decision);
        assert_eq!(status, 200, "{body}");
        (body["status"].clone(), body["approvals"].clone())
    };
    let counted = (json!("pending"), json!({"have": 1, "need": 2}));
    assert_eq!(votes(&ana, "A"), counted);
    assert_eq!(votes(&ana, "A"), counted, "the same person twice");
    assert_eq!(votes(&ben, "B"), counted, "they want different words");
    assert_eq!(copydesk.file("a.txt"), None);
    assert_eq!(votes(&ben, "A").0, "approved");
    copydesk.file_comes_to_read("a.txt", &"A".repeat(101));
}

#[test]
fn a_vote_that_was_given_when_it_took_less_counts_no_more() {
    let (copydesk, owner) = server_with_limit(&[]);
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    configure(&owner, "desk", &json!([{"over": 100, "policy": "two"}]));
    let request = asks_for_a_file(&owner);
    let long = "A".repeat(101);
    writes_instead(&owner, &request, "a.txt", &long).ok();
    // The owner asked for it.
    configure(
        &owner,
        "desk",
        &json!([{"over": 100, "policy": "two"}, {"over": 100, "policy": "not_requester"}]),
    );
    writes_instead(&owner, &request, "a.txt", &long).refused_with("not_allowed");
    assert_eq!(writes_instead(&ana, &request, "a.txt", &long).ok()["status"], "pending");
    assert_eq!(copydesk.file("a.txt"), None);
    assert_eq!(writes_instead(&ben, &request, "a.txt", &long).ok()["status"], "approved");
}

#[test]
fn an_edited_path_is_judged_as_that_path() {
    let (copydesk, owner) = server_with_limit(&[("open.txt", "words")]);
    let ed = copydesk.editor("Ed");
    let deny = json!({"documentId": "desk", "effect": "deny", "path": "secret*"});
    owner.emit("rules:add", &deny).ok();
    let request = asks_for_a_file(&owner);
    owner.opens_file("open.txt");
    writes_instead(&ed, &request, "open.txt", "mine").refused_with("invalid_decision");
    writes_instead(&ed, &request, "secret.txt", "mine").refused_with("not_allowed");
    // No one is asked to vote for what is denied either.
    configure(&owner, "desk", &json!([{"policy": "two"}]));
    writes_instead(&ed, &request, "secret.txt", "mine").refused_with("not_allowed");
    for file in ["open.txt", "secret.txt"] {
        assert_ne!(copydesk.file(file).as_deref(), Some("mine"));
    }
}

#[test]
fn a_rule_decides_no_more_than_its_maker_may() {
    let input = |content: &str| json!({"file_path": "a.txt", "content": content});
    let script = Script::default()
        .answering("short", "Write", &input("short"))
        .answering("long", "Write", &input(&"L".repeat(101)))
        .closing("Done.");
    let copydesk = TestServer::plan().script(script).workspace(&[]).start();
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    configure(&owner, "desk", &json!([{"over": 100, "policy": "owner"}]));
    let asks = |prompt: &str| {
        let run = ed.emit("run", &json!({"prompt": prompt})).ok();
        ed.sees_request_of(run["requestId"].as_str().unwrap())
    };
    let request = asks("short");
    let input = json!({"file_path": "b.md", "content": "mine"});
    let edit = |path: &str| {
        let remember = json!({"scope": "session", "path": path});
        json!({"decision": "edit", "updated_input": input, "remember": remember})
    };
    ed.decides(&request, edit("*.txt")).refused_with("invalid_decision");
    let remember = json!({"approved": true, "remember": {"scope": "session"}});
    ed.decides(&request, remember).ok();
    ed.sees_where("agent_event", |it| it["type"] == "result");
    let long = asks("long");
    let open = ed.emit("list_pending_approvals", &json!({})).ok();
    assert_eq!(open["requests"][0]["request_id"], long.id(), "it waits for an owner");
    owner.decides(&long, json!({"approved": true})).ok();
    copydesk.file_comes_to_read("a.txt", &"L".repeat(101));
}

#[test]
fn own_words_in_a_file_that_is_open_are_denied_by_the_rules_of_the_inbox() {
    let input = json!({"file_path": "a.txt", "content": CHANGED});
    let script = Script::default().answering(".", "Write", &input).closing("Done.");
    let copydesk = TestServer::plan().script(script).workspace(&[("a.txt", START)]).start();
    let owner = copydesk.owner();
    let deny = json!({"documentId": "desk", "effect": "deny", "tool": "Write", "over": 50});
    owner.emit("rules:add", &deny).ok();
    owner.opens_file("a.txt");
    let request = asks_for_a_file(&owner);
    assert_eq!(request["document_id"], owner.document());
    accepts_with(&owner, &request, &"Z".repeat(48)).refused_with("not_allowed");
    assert_eq!(owner.text(), START);
    accepts_with(&owner, &request, &"Z".repeat(47)).ok();
}

#[test]
fn a_file_that_someone_has_rewritten_is_not_taken_back_against_a_rule() {
    let (copydesk, owner) = server_with_limit(&[("a.txt", "old")]);
    let rex = copydesk.person("Rex", Role::Reviewer);
    let request = written(&copydesk, &owner, "new");
    copydesk.overwrites("a.txt", "A person wrote this.");
    let deny = json!({"documentId": "desk", "effect": "deny", "tool": "*", "path": "a.txt"});
    let rule = owner.emit("rules:add", &deny).ok();
    may_not_undo(&copydesk, &rex, &request, true);
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("A person wrote this."));
    let rule = rule["rule"]["id"].clone();
    owner.emit("rules:revoke", &json!({"id": rule})).ok();
    rex.emit("approval:undo", &json!({"request_id": request.id(), "force": true})).ok();
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("old"));
}

#[test]
fn an_approval_with_another_input_is_not_taken_for_the_models() {
    let (copydesk, owner) = server_with_limit(&[]);
    let request = asks_for_a_file(&owner);
    let with = |content: &str| {
        let input = json!({"file_path": "a.txt", "content": content});
        json!({"approved": true, "updated_input": input})
    };
    owner.decides(&request, with("mine")).refused_with("invalid_payload");
    let decision = request.decision(with("mine"));
    let (_, problem) = posts(&copydesk, &owner, &format!("{}/decision", request.id()), &decision);
    assert_eq!(problem["code"], "invalid_request", "{problem}");
    assert_eq!(copydesk.file("a.txt"), None);
    owner.decides(&request, with("short")).ok();
    copydesk.file_comes_to_read("a.txt", "short");
}

#[test]
fn an_edit_does_not_overwrite_another_file_that_no_one_was_shown() {
    let (copydesk, owner) = server_with_limit(&[("other.txt", "words of a person")]);
    let request = asks_for_a_file(&owner);
    writes_instead(&owner, &request, "other.txt", "mine").refused_with("invalid_decision");
    assert_eq!(copydesk.file("other.txt").as_deref(), Some("words of a person"));
    writes_instead(&owner, &request, "new.txt", "mine").ok();
    copydesk.file_comes_to_read("new.txt", "mine");
}

#[test]
fn an_edit_is_not_told_whether_a_file_exists_that_a_rule_denies() {
    let (copydesk, owner) = server_with_limit(&[("hidden.txt", "words of a person")]);
    let request = asks_for_a_file(&owner);
    let rule = json!({"documentId": "desk", "effect": "deny", "path": "hidden*"});
    owner.emit("rules:add", &rule).ok();
    for path in ["hidden.txt", "hidden2.txt"] {
        writes_instead(&owner, &request, path, "mine").refused_with("not_allowed");
    }
    assert_eq!(copydesk.file("hidden.txt").as_deref(), Some("words of a person"));
}

/// A model that rewrites `a.txt`, on a server where owners decide.
fn server_of_owners() -> (TestServer, Person, Person) {
    let input = json!({"file_path": "a.txt", "content": CHANGED});
    let script = Script::default().answering(".", "Write", &input).closing("Done.");
    let copydesk = TestServer::plan().script(script).workspace(&[("a.txt", START)]).start();
    let (owner, rex) = (copydesk.owner(), copydesk.person("Rex", Role::Reviewer));
    owner.emit("document:settings", &json!({"documentId": "desk", "policy": "owner"})).ok();
    (copydesk, owner, rex)
}

#[test]
fn a_file_that_was_opened_once_is_decided_by_the_policy_of_the_inbox() {
    let (copydesk, owner, rex) = server_of_owners();
    owner.opens_file("a.txt");
    owner.closes();
    let request = asks_for_a_file(&owner);
    assert_eq!(request["policies"], json!(["owner"]), "{}", request["document_id"]);
    rex.decides(&request, json!({"approved": true})).refused_with("not_allowed");
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(START));
    owner.accepts_all(&request);
    copydesk.file_comes_to_read("a.txt", CHANGED);
}

#[test]
fn a_file_that_is_open_is_decided_by_the_policy_of_the_inbox_too() {
    let (copydesk, owner, rex) = server_of_owners();
    let document = owner.opens_file("a.txt");
    rex.opens(&document);
    let request = asks_for_a_file(&owner);
    assert_eq!(
        (&request["document_id"], &request["policies"]),
        (&json!(document), &json!(["owner"]))
    );
    rex.decides(&request, json!({"approved": true})).refused_with("not_allowed");
    owner.accepts_all(&request);
    copydesk.file_comes_to_read("a.txt", CHANGED);
    let undo = json!({"request_id": request.id()});
    rex.emit("approval:undo", &undo).refused_with("not_allowed");
    // What the workspace inbox asks for counts when it is decided, not only when it is proposed.
    configure_policy(&owner, "any");
    rex.emit("approval:undo", &undo).ok();
    configure_policy(&owner, "owner");
    rex.decides(&request, json!({"approved": true})).refused_with("not_allowed");
}

fn configure_policy(owner: &Person, policy: &str) {
    owner.emit("document:settings", &json!({"documentId": "desk", "policy": policy})).ok();
}

#[test]
fn a_vote_on_a_request_without_changes_is_withdrawn_by_the_person_who_gave_it() {
    let (copydesk, owner) = server_with_limit(&[]);
    let ana = copydesk.editor("Ana");
    configure(&owner, "desk", &json!([{"policy": "two"}]));
    let request = asks_for_a_file(&owner);
    let yes = || json!({"approved": true});
    assert_eq!(ana.decides(&request, yes()).ok()["status"], "pending");
    let undo = json!({"request_id": request.id()});
    let of_a_change = json!({"request_id": request.id(), "hunks": ["h1"]});
    ana.emit("approval:undo", &of_a_change).refused_with("invalid_decision");
    owner.emit("approval:undo", &undo).refused_with("invalid_decision");
    ana.emit("approval:undo", &undo).ok();
    owner.sees_where("tool_approval_update", |it| it["approvals"]["have"] == 0);
    ana.emit("approval:undo", &undo).refused_with("invalid_decision");
    assert_eq!(owner.decides(&request, yes()).ok()["status"], "pending", "one alone again");
    assert_eq!(ana.decides(&request, yes()).ok()["status"], "approved");
}
