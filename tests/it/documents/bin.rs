//! Requests that were refused, expired, were taken back or lost their words stay readable, and can
//! be proposed again.

use serde_json::{Value, json};

use crate::support::script::full;
use crate::support::{Person, Request, Role, Script, TestServer};

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n\nThe lamp was allways lit.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n\nThe lamp was always lit.\n";

/// A model that proposes the same three corrections however often it is asked.
fn correcting() -> Script {
    let call = json!({"type": "tool_use", "name": "update_full_document", "input": full(AFTER)});
    Script::default()
        .turn(json!({"when": {"user": "."}, "content": [call], "repeat": true}))
        .closing("Done.")
}

fn asked(person: &Person) -> Request {
    let run = person.asks("Fix the spelling");
    person.sees_request_of(&run)
}

fn page(person: &Person, more: Value) -> Value {
    let mut payload = json!({"documentId": person.document()});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    person.emit("approval:list", &payload).ok()
}

fn ids(page: &Value) -> Vec<String> {
    let requests = page["requests"].as_array().unwrap().iter();
    requests.map(|it| it["request_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_rejected_request_is_in_the_bin_with_who_when_why_and_what() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    let request = asked(&ana);
    ben.rejects(&request, "Too early");
    let binned = &page(&ana, json!({}))["requests"][0];
    assert_eq!(binned["request_id"], request.id());
    assert_eq!((&binned["status"], &binned["by"]), (&json!("rejected"), &ben.user()));
    assert_eq!(
        (&binned["feedback"], &binned["prompt"]),
        (&json!("Too early"), &json!("Fix the spelling"))
    );
    assert_eq!(binned["hunks"][0]["decided"]["by"], ben.user());
    assert_eq!(binned["hunks"][0]["parts"][0]["insert"], "The");
}

#[test]
fn what_people_can_still_decide_is_not_in_the_bin() {
    let copydesk = TestServer::scripted(correcting());
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let request = asked(&ana);
    ana.rejects_some(&request, &[1], "");
    assert_eq!(page(&ana, json!({})), json!({"ok": true, "requests": [], "more": false}));
}

#[test]
fn a_person_sees_only_how_it_ended_what_they_ask_for() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    let (rejected, withdrawn) = (asked(&ana), asked(&ben));
    ana.rejects(&rejected, "");
    ben.emit("approval:withdraw", &json!({"request_id": withdrawn.id()})).ok();
    assert_eq!(ids(&page(&ana, json!({"status": ["rejected"]}))), [rejected.id()]);
    assert_eq!(ids(&page(&ana, json!({"status": ["cancelled", "expired"]}))), [withdrawn.id()]);
    assert_eq!(ids(&page(&ana, json!({"status": []}))), [withdrawn.id(), rejected.id()]);
}

#[test]
fn the_bin_is_read_page_by_page_newest_first() {
    let copydesk = TestServer::scripted(correcting());
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let mut made: Vec<String> = Vec::new();
    for _ in 0..5 {
        let request = asked(&ana);
        ana.rejects(&request, "no");
        made.insert(0, request.id().to_owned());
    }
    let first = page(&ana, json!({"limit": 2}));
    assert_eq!((ids(&first), &first["more"]), (made[..2].to_vec(), &json!(true)));
    let second = page(&ana, json!({"limit": 2, "before": made[1]}));
    assert_eq!((ids(&second), &second["more"]), (made[2..4].to_vec(), &json!(true)));
    let last = page(&ana, json!({"limit": 2, "before": made[3]}));
    assert_eq!((ids(&last), &last["more"]), (made[4..].to_vec(), &json!(false)));
}

#[test]
fn a_page_of_long_texts_ends_early_and_the_rest_follows() {
    let long = format!("{}{BEFORE}", "All was quiet that night. ".repeat(3_700));
    let rewrite = full(&long.replace("Teh", "The"));
    let call = json!({"type": "tool_use", "name": "update_full_document", "input": rewrite});
    let turn = json!({"when": {"user": "."}, "content": [call], "repeat": true});
    let copydesk = TestServer::scripted(Script::default().turn(turn).closing("Done."));
    let ana = copydesk.editor("Ana");
    ana.creates(&long);
    for _ in 0..9 {
        let request = asked(&ana);
        ana.rejects(&request, "");
    }
    let mut found = page(&ana, json!({}));
    let mut got = ids(&found);
    assert!((1..9).contains(&got.len()) && found["more"] == true, "{} requests", got.len());
    while found["more"] == true {
        found = page(&ana, json!({"before": got.last().unwrap()}));
        got.extend(ids(&found));
    }
    got.dedup();
    assert_eq!(got.len(), 9);
}

#[test]
fn a_person_who_may_read_a_document_may_look_into_its_bin_and_no_one_else() {
    let copydesk = TestServer::scripted(correcting());
    let ana = copydesk.editor("Ana");
    let other = ana.creates("Another.");
    let document = ana.creates(BEFORE);
    let request = asked(&ana);
    ana.rejects(&request, "");
    let viewer = copydesk.person("Vic", Role::Viewer);
    viewer.opens(&document);
    assert_eq!(ids(&page(&viewer, json!({}))), [request.id()]);
    viewer
        .emit("approval:reopen", &json!({"request_id": request.id()}))
        .refused_with("not_allowed");
    let guest = copydesk.guest(Role::Editor, &other);
    guest.emit("approval:list", &json!({"documentId": document})).refused_with("not_allowed");
}

#[test]
fn the_bin_is_the_same_after_a_power_cut() {
    let mut copydesk = TestServer::scripted(correcting());
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let request = asked(&ana);
    ana.rejects(&request, "Too early");
    let before = page(&ana, json!({}));
    copydesk.is_killed_and_restarted();
    assert_eq!(page(&ana.comes_back(&copydesk), json!({})), before);
}

#[test]
fn what_was_rejected_can_be_proposed_again_on_todays_text() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    let request = asked(&ana);
    ana.rejects(&request, "");
    ben.types(0, "Well. ");
    let again = ana.emit("approval:reopen", &json!({"request_id": request.id()})).ok();
    assert_eq!((&again["status"], &again["unplaced"]), (&json!("pending"), &json!([])));
    ben.accepts_all(&ben.pending()[0]);
    assert_eq!(ana.text(), format!("Well. {AFTER}"));
}

#[test]
fn one_change_of_a_rejected_request_can_be_proposed_again() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    let request = asked(&ana);
    ana.rejects(&request, "");
    ben.types(0, "Well. ");
    let one = json!({"request_id": request.id(), "hunks": [request.hunk(2)]});
    let again = ben.emit("approval:reopen", &one).ok();
    assert_eq!((&again["status"], &again["unplaced"]), (&json!("pending"), &json!([])));
    let pending = &ana.pending()[0];
    assert_eq!(pending.statuses(), ["rejected", "pending", "rejected"]);
    ana.emit("approval:reopen", &one).refused_with("invalid_decision");
    ana.accepts_all(pending);
    assert_eq!(ben.text(), format!("Well. {}", BEFORE.replace("recieved", "received")));
    let unknown = json!({"request_id": request.id(), "hunks": ["none"]});
    ana.emit("approval:reopen", &unknown).refused_with("not_found");
}

#[test]
fn changes_whose_words_were_deleted_and_came_back_can_be_proposed_again() {
    let copydesk = TestServer::scripted(correcting());
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request_of(&run);
    let (_, len) = ana.page();
    ana.replaces(0, len, "");
    assert_eq!(ana.sees_resolved(&request)["status"], "cancelled");
    ana.types(0, BEFORE);
    let again = ana.emit("approval:reopen", &json!({"request_id": request.id()})).ok();
    assert_eq!(again["unplaced"], json!([]));
    let pending = &ana.pending()[0];
    assert_eq!(pending.statuses(), ["pending"; 3]);
    ana.accepts_all(pending);
    assert_eq!(ana.text(), AFTER);
}

#[test]
fn what_finds_no_place_today_is_named() {
    let copydesk = TestServer::scripted(correcting());
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let request = asked(&ana);
    ana.overwrites("He recieved few visitors there.\n\n", "");
    ana.rejects(&request, "");
    let again = ana.emit("approval:reopen", &json!({"request_id": request.id()})).ok();
    assert_eq!(again["unplaced"], json!([request.hunk(2)]));
    assert_eq!(ana.pending()[0].statuses(), ["pending", "obsolete", "pending"]);
}

#[test]
fn nothing_can_be_proposed_again_where_none_of_its_words_are_left() {
    let copydesk = TestServer::scripted(correcting());
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let request = asked(&ana);
    let (_, len) = ana.page();
    ana.replaces(0, len, "");
    ana.types(0, "Gone.");
    ana.sees_resolved(&request);
    let reopen = json!({"request_id": request.id()});
    let error = ana.emit("approval:reopen", &reopen).refused_with("invalid_decision");
    assert_eq!(error["message"], "the words it would change are no longer in the text");
}

#[test]
fn every_change_says_who_decided_it() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    let request = asked(&ana);
    ana.accepts(&request, &[1]);
    let edited = json!([{"id": request.hunk(2), "decision": "accept", "text": "welcomed"}]);
    let ack =
        ben.decides(&request, json!({"approved": true, "hunks": edited, "finish": "reject"})).ok();
    let who: Vec<_> = ack["hunks"].as_array().unwrap().iter().map(|it| it["by"].clone()).collect();
    assert_eq!(who, [ana.user(), ben.user(), ben.user()]);
    assert_eq!(ack["hunks"][1]["text"], "welcomed");
    assert_eq!(ana.sees_resolved(&request)["hunks"], ack["hunks"]);
    let event = ben.sees_where("tool_approval_update", |it| it["request_id"] == request.id());
    assert_eq!(event["hunks"][0]["by"], ana.user());
}

#[test]
fn who_comes_too_late_hears_who_was_first_and_when() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    let request = asked(&ana);
    ana.accepts(&request, &[1]);
    let late =
        ben.decides(&request, json!({"approved": false, "hunks": request.each(&[1], "reject")}));
    let details = late.refused_with("already_resolved")["details"].clone();
    assert_eq!((&details["by"], &details["hunk"]["status"]), (&ana.user(), &json!("accepted")));
    assert!(details["at"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok(), "{details}");
}
