//! Undoing, withdrawing and proposing again.

use serde_json::{Value, json};

use crate::support::script::{full, selection};
use crate::support::{Role, Script, TestServer};

use super::{AFTER, BEFORE, correcting, three_changes};

#[test]
fn an_accepted_change_can_be_undone_and_decided_again() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    ana.accepts_all(&request);
    ana.answer(&run);
    ben.types(0, "Later. ");
    ben.emit("approval:undo", &json!({"request_id": request.id()})).ok();
    assert_eq!(ana.text(), format!("Later. {BEFORE}"));
    let again = &ana.pending()[0];
    assert_eq!((again.id(), again.statuses()), (request.id(), vec!["pending"; 3]));
    ana.accepts_all(again);
    assert_eq!(ben.text(), format!("Later. {AFTER}"));
}

#[test]
fn one_accepted_change_of_several_can_be_undone() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    ana.accepts_all(&request);
    ana.answer(&run);
    ben.emit("approval:undo", &json!({"request_id": request.id(), "hunks": [request.hunk(2)]}))
        .ok();
    assert_eq!(ana.text(), AFTER.replace("received", "recieved"));
}

#[test]
fn a_client_that_takes_changed_hunks_is_told_these_alone() {
    let copydesk = TestServer::scripted(correcting());
    let ana = copydesk.editor("Ana");
    let cy = copydesk.editor_with("Cy", &["hunk-changes"]);
    cy.opens(&ana.creates(BEFORE));
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    cy.sees_request();
    let of = |answer: &Value| answer["hunks"].as_array().expect("hunks").len();
    assert_eq!(of(&cy.accepts(&request, &[1])), 1, "the one that was named");
    assert_eq!(of(&ana.accepts(&request, &[2])), 3, "others are sent all");

    let undo = json!({"request_id": request.id(), "hunks": [request.hunk(1)]});
    cy.emit("approval:undo", &undo).ok();
    let put = |it: &Value| it["hunks"]["put"][0]["id"] == request.hunk(1);
    cy.sees_where("document:updates", put);
    let pending = |it: &Value| it["hunks"][0]["status"] == "pending";
    cy.sees_where("tool_approval_update", pending);
    assert_eq!(cy.saw("tool_approval_request").len(), 1, "it knows the request");
    assert_eq!(ana.saw("tool_approval_request").len(), 2);
    // What has ended is announced to everybody as a whole when it is open again.
    assert_eq!(of(&cy.accepts_all(&request)), 3);
    cy.sees_resolved(&request);
    cy.emit("approval:undo", &undo).ok();
    assert_eq!(cy.saw("tool_approval_request").len(), 2);
    assert_eq!(cy.pending()[0].statuses(), ["pending", "accepted", "accepted"]);
}

#[test]
fn what_was_touched_since_is_not_undone_by_accident() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    ana.accepts_all(&request);
    ana.answer(&run);
    ben.overwrites("received", "receXived");
    let undo = json!({"request_id": request.id(), "hunks": [request.hunk(2)]});
    ana.emit("approval:undo", &undo).refused_with("conflicted");
    assert_eq!(ben.text(), AFTER.replace("received", "receXived"));
}

#[test]
fn a_viewer_undoes_nothing() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, request) = three_changes(&copydesk);
    ana.accepts_all(&request);
    let vera = copydesk.person("Vera", Role::Viewer);
    vera.opens(&ana.document());
    for event in ["approval:undo", "approval:withdraw", "approval:extend"] {
        vera.emit(event, &json!({"request_id": request.id()})).refused_with("not_allowed");
    }
}

#[test]
fn a_request_can_be_withdrawn() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    ana.emit("approval:withdraw", &json!({"request_id": request.id()})).ok();
    assert_eq!(ben.sees_resolved(&request)["status"], "cancelled");
    ana.answer(&run);
    assert!(ben.pending().is_empty());
}

#[test]
fn a_rejected_change_can_be_proposed_again_on_todays_text() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    ana.rejects(&request, "not now");
    ana.answer(&run);
    ben.types(0, "Today. ");
    ben.emit("approval:reopen", &json!({"request_id": request.id()})).ok();
    let again = ana.pending().remove(0);
    assert_eq!(again.statuses(), ["pending"; 3]);
    ana.accepts_all(&again);
    assert_eq!(ben.text(), format!("Today. {AFTER}"));
}

#[test]
fn a_person_can_answer_instead_of_deciding() {
    let script = Script::default()
        .answering(".", "update_full_document", &full(AFTER))
        .after_result("Ask Carl first", "I will ask Carl.")
        .closing("Done.");
    let copydesk = TestServer::scripted(script);
    let (ana, _ben, run, request) = three_changes(&copydesk);
    assert!(request["allowed_decisions"].as_array().unwrap().contains(&json!("respond")));
    let answer = json!({"decision": "respond", "message": "Ask Carl first"});
    ana.decides(&request, answer).ok();
    assert_eq!(ana.answer(&run)["conversationMessage"], "I will ask Carl.");
    assert_eq!(ana.text(), BEFORE);
}

#[test]
fn people_can_read_before_they_decide_what_the_model_will_be_told() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    let hunks = request.each(&[1], "accept");
    let decision =
        json!({"approved": true, "hunks": hunks, "finish": "reject", "feedback": "Mine"});
    let one = request.decision(json!({"hunks": request.each(&[1], "accept")}));
    let waiting = ana.emit("approval:told", &one).ok();
    assert_eq!(waiting["state"], "waiting", "the others are open: {waiting}");
    assert!(waiting["so_far"].as_str().unwrap().contains("accepted: \"Teh\""), "{waiting}");
    let would = ana.emit("approval:told", &request.decision(decision.clone())).ok();
    assert_eq!(would["state"], "complete", "{would}");
    assert_eq!(ben.text(), BEFORE, "nothing was decided");
    ana.decides(&request, decision).ok();
    ana.answer(&run);
    let tool_result = &ana.tool_results(&run)[0];
    assert!(
        tool_result["content"].as_str().unwrap().starts_with(would["text"].as_str().unwrap()),
        "{would}"
    );
    assert_eq!(tool_result["is_error"], would["is_error"]);
}

#[test]
fn what_everybody_is_told_would_be_told_is_what_the_model_is_told() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    ana.accepts(&request, &[1]);
    ben.rejects_some(&request, &[2, 3], "leave those");
    let report = ana.sees_resolved(&request)["report"].as_str().unwrap().to_owned();
    ana.answer(&run);
    let tool_result = ana.tool_results(&run)[0]["content"].as_str().unwrap().to_owned();
    assert!(tool_result.starts_with(&report), "people: {report}\nthe model: {tool_result}");
}

#[test]
fn a_small_selection_is_one_change() {
    let copydesk =
        TestServer::scripted(Script::calling("update_selection", &selection(0, 3, "The")));
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    ana.asks("Fix the first word");
    let request = ana.sees_request();
    assert_eq!(request.words(1), ("Teh".to_owned(), "The".to_owned()));
    assert_eq!(request.hunks().len(), 1);
}
