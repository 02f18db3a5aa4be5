//! Sentences of the review's rules that are about several decisions, one after the other: votes,
//! undo, and proposing again.

use serde_json::{Value, json};

use crate::support::{Person, Provider, Request, Role, Script, TestServer};

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n\nThe lamp was allways lit.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n\nThe lamp was always lit.\n";

/// The owner's document under some settings, with Ana and Ben beside the owner.
fn document(copydesk: &TestServer, settings: &Value) -> (Person, Person, Person) {
    let (owner, ana, ben) = (copydesk.owner(), copydesk.editor("Ana"), copydesk.editor("Ben"));
    owner.creates(BEFORE);
    let mut payload = settings.clone();
    payload["documentId"] = owner.document().into();
    owner.emit("document:settings", &payload).ok();
    ana.opens(&owner.document());
    ben.opens(&owner.document());
    (owner, ana, ben)
}

fn accepting(request: &Request, number: usize, text: Option<&str>) -> Value {
    let mut hunk = json!({"id": request.hunk(number), "decision": "accept"});
    if let Some(text) = text {
        hunk["text"] = text.into();
    }
    json!({"approved": true, "hunks": [hunk]})
}

#[test]
fn votes_count_for_the_text_they_are_for() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ana, ben) = document(&copydesk, &json!({"policy": "two"}));
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    ana.decides(&request, accepting(&request, 1, Some("Our"))).ok();
    ben.decides(&request, accepting(&request, 1, None)).ok();
    assert_eq!(ana.pending()[0].statuses(), ["pending"; 3], "they want different words");
    owner.decides(&request, accepting(&request, 1, Some("Our"))).ok();
    assert_eq!(ben.pending()[0].statuses(), ["accepted", "pending", "pending"]);
    assert_eq!(ben.text(), BEFORE.replace("Teh", "Our"));
}

#[test]
fn one_of_two_people_may_change_their_mind_until_the_other_agrees() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (_owner, ana, ben) = document(&copydesk, &json!({"policy": "two"}));
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    ana.decides(&request, accepting(&request, 1, None)).ok();
    ana.decides(&request, accepting(&request, 1, Some("Our"))).ok();
    ben.decides(&request, accepting(&request, 1, None)).ok();
    assert_eq!(ben.text(), BEFORE, "no one wants the first any more but Ben");
    ben.decides(&request, accepting(&request, 1, Some("Our"))).ok();
    assert_eq!(ana.text(), BEFORE.replace("Teh", "Our"));
}

#[test]
fn the_asking_document_sees_title_and_status_of_what_waits_in_another_one() {
    let provider = Provider::answering(vec![json!([])]);
    let copydesk = TestServer::behind(&provider);
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let other = owner.creates(BEFORE);
    let asking = ana.creates("Mine.\n");
    let guest = copydesk.guest(Role::Viewer, &asking);
    guest.opens(&asking);
    let call =
        |tool: &str, input: Value| json!([{"type": "tool_use", "name": tool, "input": input}]);
    let rewrite = json!({"document_id": other, "new_content": AFTER, "explanation": "Spelling."});
    provider.plays(vec![
        call("read_document", json!({"document_id": other})),
        call("update_document_by_id", rewrite),
        json!([{"type": "text", "text": "Done."}]),
    ]);
    let run = ana.asks("Fix the spelling there");
    // The guest may not read the other document, so a person is asked before the model does.
    let read = owner.sees_request_of(&run);
    assert_eq!(ana.sees_request_of(&run).id(), read.id());
    owner.decides(&read, json!({"approved": true})).ok();
    let request = owner.sees_request_of(&run);
    let is_the_change =
        |it: &Value| it["subtype"] == "waiting" && it["content"]["request_id"] == request.id();
    let waits = guest.sees_where("agent_event", is_the_change);
    let content = &waits["content"];
    assert_eq!((&waits["documentId"], &waits["requestId"]), (&json!(asking), &json!(run)));
    assert_eq!(
        (&content["request_id"], &content["status"], &content["document_id"]),
        (&json!(request.id()), &json!("pending"), &json!(other))
    );
    let title = content["title"].as_str().unwrap();
    assert_eq!(content["text"], format!("“{title}” ({other}): pending."));
    assert!(!waits.to_string().contains("keeper"), "{waits}");
    // Ana may read the other document, so she has the request itself, though she has not opened
    // that.
    let hers = ana.sees_request_of(&run);
    assert_eq!(hers.id(), request.id());
    owner.emit("approval:focus", &json!({"request_id": request.id(), "on": true})).ok();
    ana.sees_where("tool_approval_update", |it| it["request_id"] == request.id());
    assert_eq!(ana.accepts_all(&hers)["status"], "approved");
    assert_eq!(ana.sees_resolved(&hers)["status"], "approved");
    ana.answer(&run);
    guest.answer(&run);
    for event in ["tool_approval_request", "tool_approval_update", "tool_approval_resolved"] {
        assert_eq!(guest.heard(event), [] as [Value; 0]);
    }
    assert_eq!(owner.saw("tool_approval_request").len(), 2, "no one is asked twice");
    let words = guest.events().iter().map(|(_, it)| it.to_string()).collect::<String>();
    assert!(!words.contains("keeper"), "{words}");
}

#[test]
fn what_was_applied_without_asking_can_be_taken_back_by_anybody_who_may_decide() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, _ana, ben) = document(&copydesk, &json!({"approvals": "off"}));
    let run = owner.asks("Fix the spelling");
    let request = Request(ben.sees("tool_approval_request"));
    assert_eq!(ben.sees_resolved(&request)["status"], "approved");
    owner.answer(&run);
    ben.types(0, "Later. ");
    ben.emit("approval:undo", &json!({"request_id": request.id()})).ok();
    assert_eq!(owner.text(), format!("Later. {BEFORE}"));
    assert_eq!(owner.pending()[0].statuses(), ["pending"; 3], "it waits for people now");
}

#[test]
fn what_expired_can_be_proposed_again_beside_what_was_accepted() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (_owner, ana, ben) = document(&copydesk, &json!({"timeoutSeconds": 1}));
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request();
    ana.accepts(&request, &[1]);
    assert_eq!(ben.sees_resolved(&request)["status"], "partly");
    ana.answer(&run);
    ben.types(0, "Today. ");
    ben.emit("approval:reopen", &json!({"request_id": request.id()})).ok();
    let again = ana.pending().remove(0);
    assert_eq!(again.statuses(), ["accepted", "pending", "pending"]);
    assert_eq!(again["expires_at"], Value::Null, "no one waits for it any more");
    ana.accepts_all(&again);
    assert_eq!(ben.text(), format!("Today. {AFTER}"));
}

#[test]
fn words_that_were_touched_since_are_taken_back_only_by_force() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (_owner, ana, ben) = document(&copydesk, &json!({}));
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request();
    ana.accepts_all(&request);
    ana.answer(&run);
    ben.overwrites("received", "receXived");
    let undo = |force: bool| json!({"request_id": request.id(), "hunks": [request.hunk(2)], "force": force});
    let refused = ana.emit("approval:undo", &undo(false)).refused_with("conflicted");
    let touched = json!([{"id": request.hunk(2), "stands": "receXived", "restores": "recieved"}]);
    assert_eq!(refused["details"]["touched"], touched);
    let over = |seen: &str| {
        let mut over = undo(true);
        over["seen"] = json!([{"id": request.hunk(2), "stands": seen}]);
        over
    };
    ana.emit("approval:undo", &over("received")).refused_with("conflicted");
    ana.emit("approval:undo", &over("receXived")).ok();
    assert_eq!(ben.text(), AFTER.replace("received", "recieved"));
    ana.emit("approval:undo", &undo(true)).refused_with("invalid_decision");
}

#[test]
fn a_change_that_was_taken_back_is_decided_anew_and_the_first_decision_wins_again() {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (_owner, ana, ben) = document(&copydesk, &json!({}));
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request();
    ana.accepts_all(&request);
    ana.answer(&run);
    ben.emit("approval:undo", &json!({"request_id": request.id(), "hunks": [request.hunk(1)]}))
        .ok();
    ana.rejects_some(&request, &[1], "as it was");
    ben.decides(&request, accepting(&request, 1, None)).refused_with("already_resolved");
    assert_eq!(ben.text(), AFTER.replace("The keeper", "Teh keeper"));
}

#[test]
fn words_of_another_document_stay_with_its_people_however_a_call_names_it() {
    let provider = Provider::answering(vec![json!([])]);
    let copydesk = TestServer::behind(&provider);
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let other = owner.creates(BEFORE);
    let frozen = json!({"version": owner.version(), "ranges": [{"from": 0, "to": 3}]});
    owner.emit("document:settings", &json!({"documentId": other, "frozen": frozen})).ok();
    let asking = ana.creates("Mine.\n");
    let guest = copydesk.guest(Role::Viewer, &asking);
    guest.opens(&asking);
    let call =
        |tool: &str, input: Value| json!([{"type": "tool_use", "name": tool, "input": input}]);
    provider.plays(vec![
        call("read_document", json!({"document_id": other})),
        call(
            "str_replace_based_edit_tool",
            json!({"command": "str_replace", "path": format!("{other}.md"),
            "old_str": "keeper", "new_str": "warden of the keeper"}),
        ),
        // Frozen words are named to the model alone.
        call(
            "update_document_by_id",
            json!({"document_id": other, "new_content": "keeper", "explanation": "All."}),
        ),
        json!([{"type": "text", "text": "Done."}]),
    ]);
    let run = ana.asks("Fix it there");
    owner.decides(&owner.sees_request_of(&run), json!({"approved": true})).ok();
    owner.rejects(&owner.sees_request_of(&run), "No");
    guest.answer(&run);
    let tool_results = guest.tool_results(&run);
    assert_eq!(tool_results.len(), 3, "{tool_results:?}");
    assert_eq!(tool_results[2]["permissionDecision"], "deny", "{:?}", tool_results[2]);
    let heard = guest.events().iter().map(|(_, it)| it.to_string()).collect::<String>();
    let said =
        guest.emit("transcript:get", &json!({"sessionId": guest.session(), "documentId": asking}));
    for words in [heard, said.ok().to_string()] {
        assert!(!words.contains("keeper") && !words.contains("Teh"), "{words}");
    }
}
