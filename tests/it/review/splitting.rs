//! Changes of several parts that a person makes one change for each part.

use serde_json::{Value, json};

use crate::support::{OWNER, Person, Request, RestClient, Role, Script, TestServer};

const BEFORE: &str = "The keeper of the lamp wrote a rather long letter to his only sister almost every night.\n\nHe recieved few visitors there.\n";
const AFTER: &str = "The keeper of the lighthouse lamp wrote a letter to his only sister in town almost every night.\n\nHe received few visitors there.\n";

/// Asks for the rewrite; its first change has several parts.
fn rewriting(person: &Person) -> Request {
    person.asks("Tighten it");
    let request = person.sees_request();
    let parts = request.hunks()[0]["parts"].as_array().unwrap();
    assert_eq!((request.hunks().len(), parts.len()), (2, 3), "{request:?}");
    request
}

fn split(request: &Request, number: usize) -> Value {
    json!({"request_id": request.id(), "hunk_id": request.hunk(number)})
}

/// Returns the state of an open request that a person has seen last.
fn now(person: &Person) -> Request {
    person.pending().remove(0)
}

#[test]
fn the_parts_of_a_change_can_be_decided_one_by_one() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    ben.opens(&owner.creates(BEFORE));
    let request = rewriting(&owner);
    let whole = &request.hunks()[0];
    assert_eq!((&whole["kind"], &whole["group"]), (&json!("rewrite"), &json!(1)));
    let other = &request.hunks()[1];
    assert_eq!((&other["kind"], &other["group"]), (&json!("correction"), &json!(2)));

    let ack = ben.emit("approval:split", &split(&request, 1)).ok();
    let event = owner.sees_where("tool_approval_update", |it| it["fresh"].is_object());
    let fresh = Request(event["fresh"].clone());
    assert_eq!(fresh.hash(), ack["preview_hash"]);
    assert_ne!(fresh.hash(), request.hash());
    assert_eq!(fresh.statuses(), ["pending"; 4]);
    let parts: Vec<_> = (1..=3).map(|number| fresh.words(number)).collect();
    let text = |part: &Value, name: &str| part[name].as_str().unwrap().to_owned();
    let whole = whole["parts"].as_array().unwrap().iter();
    let expected = whole.map(|part| (text(part, "base"), text(part, "insert")));
    assert_eq!(parts, expected.collect::<Vec<_>>());
    assert!((1..=3).all(|number| fresh.hunk(number) != request.hunk(1)));
    assert_eq!(fresh.hunk(4), request.hunk(2), "the other change stays");

    ben.decides(&fresh, json!({"approved": true, "hunks": fresh.each(&[2], "accept")})).ok();
    assert_eq!(owner.text(), BEFORE.replace("rather long ", ""));
    ben.types(0, "Later. ");
    let rest = now(&owner);
    assert_eq!(rest.statuses(), ["pending", "accepted", "pending", "pending"]);
    owner.rejects_some(&rest, &[1], "No lighthouse.");
    owner.accepts_all(&now(&owner));
    let text = AFTER.replace("lighthouse ", "");
    assert_eq!(ben.text(), format!("Later. {text}"));
    assert_eq!(ben.sees_resolved(&request)["status"], "partly");

    let undo = json!({"request_id": request.id(), "hunks": [fresh.hunk(2)]});
    ben.emit("approval:undo", &undo).ok();
    assert!(owner.text().contains("rather long letter"), "{}", owner.text());
}

#[test]
fn a_decision_on_the_change_as_it_was_is_shown_the_parts_first() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let owner = copydesk.owner();
    owner.creates(BEFORE);
    let request = rewriting(&owner);
    owner.emit("approval:split", &split(&request, 1)).ok();
    let old = json!({"approved": true, "hunks": request.each(&[1], "accept")});
    for hash in [json!(request.hash()), json!(now(&owner).hash()), Value::Null] {
        let mut decision = old.clone();
        decision["request_id"] = request.id().into();
        if hash.is_string() {
            decision["preview_hash"] = hash;
        }
        let error = owner.emit("tool_approval_response", &decision).refused_with("stale_preview");
        assert_eq!(error["details"]["hunks"].as_array().map(Vec::len), Some(4), "{error}");
    }
    // A person who saw only the first preview has not seen these changes.
    let blind = json!({"request_id": request.id(), "approved": true});
    owner.emit("tool_approval_response", &blind).refused_with("stale_preview");
    assert_eq!(owner.text(), BEFORE);
    assert_eq!(owner.accepts_all(&now(&owner))["status"], "approved");
    assert_eq!(owner.text(), AFTER);
}

#[test]
fn only_a_change_of_several_parts_that_is_open_can_be_split_and_only_once() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    ana.opens(&owner.creates(BEFORE));
    let viewer = copydesk.guest(Role::Viewer, &owner.document());
    viewer.opens(&owner.document());
    let elsewhere = ana.second_window();
    let other = elsewhere.creates("Mine.\n");
    let stranger = copydesk.guest(Role::Editor, &other);
    let request = rewriting(&owner);

    let error = ana.emit("approval:split", &split(&request, 2)).refused_with("invalid_decision");
    assert_eq!(error["reasonCode"], "split_one_part", "{error}");
    let unknown = json!({"request_id": request.id(), "hunk_id": "none"});
    ana.emit("approval:split", &unknown).refused_with("not_found");
    viewer.emit("approval:split", &split(&request, 1)).refused_with("not_allowed");
    stranger.emit("approval:split", &split(&request, 1)).refused();
    assert_eq!(now(&owner).hash(), request.hash());

    ana.emit("approval:split", &split(&request, 1)).ok();
    ana.emit("approval:split", &split(&request, 1)).refused_with("stale_preview");
    let parts = now(&ana);
    let error = ana.emit("approval:split", &split(&parts, 1)).refused_with("invalid_decision");
    assert_eq!(error["reasonCode"], "split_one_part", "{error}");
    owner.accepts_all(&parts);
    ana.emit("approval:split", &split(&request, 1)).refused_with("already_resolved");
    assert_eq!(owner.text(), AFTER);
}

#[test]
fn a_change_that_was_decided_is_not_split_any_more() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let owner = copydesk.owner();
    owner.creates(BEFORE);
    let request = rewriting(&owner);
    owner.accepts(&request, &[1]);
    owner.emit("approval:split", &split(&request, 1)).refused_with("already_resolved");
    // Once it is taken back, it is open like any other.
    let undo = json!({"request_id": request.id(), "hunks": [request.hunk(1)]});
    owner.emit("approval:undo", &undo).ok();
    owner.emit("approval:split", &split(&request, 1)).ok();
    assert_eq!(now(&owner).statuses(), ["pending"; 4]);
    owner.accepts_all(&now(&owner));
    assert_eq!(owner.text(), AFTER);
}

#[test]
fn votes_for_the_whole_count_for_each_part() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ana, ben) = (copydesk.owner(), copydesk.editor("Ana"), copydesk.editor("Ben"));
    owner.creates(BEFORE);
    let two = json!({"documentId": owner.document(), "policy": "two"});
    owner.emit("document:settings", &two).ok();
    ana.opens(&owner.document());
    ben.opens(&owner.document());
    let request = rewriting(&ana);
    ana.accepts(&request, &[1]);
    ben.emit("approval:split", &split(&request, 1)).ok();
    assert_eq!(ana.text(), BEFORE);
    ben.accepts(&now(&ben), &[1]);
    assert_eq!(now(&ana).statuses(), ["accepted", "pending", "pending", "pending"]);
    assert_eq!(ana.text(), BEFORE.replace("the lamp", "the lighthouse lamp"));
    // A vote for the person's own words was for the change as a whole.
    assert_eq!(ana.accepts(&now(&ana), &[2])["status"], "pending");
    assert_eq!(now(&ben).statuses(), ["accepted", "pending", "pending", "pending"]);
}

#[test]
fn a_vote_for_other_words_ends_with_the_change_it_was_for() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    owner.creates(BEFORE);
    let two = json!({"documentId": owner.document(), "policy": "two"});
    owner.emit("document:settings", &two).ok();
    ana.opens(&owner.document());
    let request = rewriting(&ana);
    let own = json!([{"id": request.hunk(1), "decision": "accept", "text": "lamp wrote home"}]);
    ana.decides(&request, json!({"approved": true, "hunks": own})).ok();
    owner.emit("approval:split", &split(&request, 1)).ok();
    owner.accepts(&now(&owner), &[1]);
    assert_eq!(now(&owner).statuses(), ["pending"; 4], "no one else wants these words yet");
    ana.accepts(&now(&ana), &[1]);
    assert_eq!(now(&owner).statuses(), ["accepted", "pending", "pending", "pending"]);
}

#[test]
fn a_part_whose_words_changed_is_in_conflict_alone() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    ben.opens(&owner.creates(BEFORE));
    let request = rewriting(&owner);
    ben.overwrites("rather", "very");
    assert_eq!(now(&owner).statuses(), ["conflict", "pending"]);
    owner.emit("approval:split", &split(&request, 1)).ok();
    assert_eq!(now(&owner).statuses(), ["pending", "conflict", "pending", "pending"]);
    owner.accepts_all(&now(&owner));
    assert_eq!(ben.text(), AFTER.replace("a letter", "a very long letter"));
}

#[test]
fn what_was_split_is_so_after_a_restart_and_the_store_holds_together() {
    let mut copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let owner = copydesk.owner();
    owner.creates(BEFORE);
    let request = rewriting(&owner);
    let path = format!("requests/{}/split", request.id());
    let program = RestClient::new(&copydesk, OWNER);
    program.posts(&path, &json!({"hunk_id": request.hunk(1)})).ok();
    let parts = now(&owner);
    copydesk.is_killed_and_restarted();
    let owner = owner.comes_back(&copydesk);
    owner.opens_again();
    assert_eq!(now(&owner).hunks(), parts.hunks());
    owner.accepts(&now(&owner), &[3]);
    let program = RestClient::new(&copydesk, OWNER);
    program.posts(&path, &json!({"hunk_id": request.hunk(1)})).refused_with(409, "stale_preview");
    assert_eq!(
        owner.text(),
        AFTER
            .replace("lighthouse ", "")
            .replace("wrote a letter", "wrote a rather long letter")
            .replace("received", "recieved")
    );
}

#[test]
fn a_split_is_undone_as_long_as_none_of_its_parts_was_decided() {
    let mut copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    ana.opens(&owner.creates(BEFORE));
    let viewer = copydesk.guest(Role::Viewer, &owner.document());
    viewer.opens(&owner.document());
    let stranger = copydesk.guest(Role::Editor, &ana.second_window().creates("Mine.\n"));
    let request = rewriting(&owner);
    let join = json!({"request_id": request.id(), "hunks": [request.hunk(1)]});
    let error = ana.emit("approval:undo", &join).refused_with("invalid_decision");
    assert_eq!(error["reasonCode"], "not_accepted", "nothing was split yet: {error}");

    owner.emit("approval:split", &split(&request, 1)).ok();
    let parts = now(&ana);
    viewer.emit("approval:undo", &join).refused_with("not_allowed");
    stranger.emit("approval:undo", &join).refused();
    let with_another = json!({"request_id": request.id(), "hunks": [request.hunk(1), "none"]});
    ana.emit("approval:undo", &with_another).refused_with("not_found");
    let a_part = json!({"request_id": request.id(), "hunks": [parts.hunk(1)]});
    ana.emit("approval:undo", &a_part).refused_with("invalid_decision");
    ana.types(0, "Later. ");
    ana.emit("approval:undo", &join).ok();
    let event = owner.sees_where("tool_approval_update", |it| {
        it["fresh"]["hunks"].as_array().is_some_and(|hunks| hunks.len() == 2)
    });
    assert_eq!(event["fresh"]["preview_hash"], request.hash(), "it is the change that it was");
    ana.emit("approval:undo", &join).refused_with("invalid_decision");
    let named = json!({"approved": true, "hunks": parts.each(&[1], "accept")});
    ana.decides(&parts, named).refused_with("stale_preview");

    copydesk.is_killed_and_restarted();
    let ana = ana.comes_back(&copydesk);
    ana.opens_again();
    let whole = now(&ana);
    assert_eq!((whole.hunk(1), whole.statuses()), (request.hunk(1), vec!["pending"; 2]));
    ana.emit("approval:split", &split(&request, 1)).ok();
    ana.accepts(&now(&ana), &[2]);
    let error = ana.emit("approval:undo", &join).refused_with("invalid_decision");
    assert_eq!(error["reasonCode"], "part_decided", "{error}");
    ana.accepts_all(&now(&ana));
    ana.emit("approval:undo", &join).refused_with("already_resolved");
    assert_eq!(ana.text(), format!("Later. {AFTER}"));
}

#[test]
fn parts_that_were_approved_singly_stay_parts_and_what_conflicts_is_joined_with_the_rest() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    owner.creates(BEFORE);
    let two = json!({"documentId": owner.document(), "policy": "two"});
    owner.emit("document:settings", &two).ok();
    ana.opens(&owner.document());
    let request = rewriting(&ana);
    let join = json!({"request_id": request.id(), "hunks": [request.hunk(1)]});
    ana.accepts(&request, &[1]);
    owner.emit("approval:split", &split(&request, 1)).ok();
    owner.emit("approval:undo", &join).ok();
    assert_eq!(now(&ana).hunks()[0]["votes"][0]["name"], "Ana", "her vote was for all of it");

    owner.emit("approval:split", &split(&request, 1)).ok();
    let parts = now(&ana);
    let one = json!({"request_id": request.id(), "hunks": [parts.hunk(1)]});
    ana.emit("approval:undo", &one).ok();
    let error = owner.emit("approval:undo", &join).refused_with("invalid_decision");
    assert_eq!(error["reasonCode"], "part_decided", "{error}");
    ana.accepts(&now(&ana), &[1]);
    let all = json!({"request_id": request.id()});
    ana.emit("approval:undo", &all).ok();
    ana.overwrites("rather", "very");
    owner.emit("approval:undo", &join).ok();
    assert_eq!(now(&owner).statuses(), ["conflict", "pending"]);
    ana.overwrites("very", "rather");
    owner.accepts_all(&now(&owner));
    ana.accepts_all(&now(&ana));
    assert_eq!(ana.text(), AFTER);
}
