//! Changes that wait while people type.

use serde_json::{Value, json};

use crate::support::script::full;
use crate::support::{Request, Script, TestServer};

use super::{AFTER, BEFORE, correcting, three_changes};

#[test]
fn pending_changes_move_with_the_text() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ben.overwrites("every night", "whenever it rained");
    let now = &ana.pending()[0];
    assert_eq!(now.statuses(), ["pending"; 3]);
    assert_eq!(now["version"], 1);
    let shift = "whenever it rained".len() - "every night".len();
    let from = |request: &Request, number: usize| {
        request.hunks()[number - 1]["parts"][0]["from"].as_u64().unwrap()
    };
    assert_eq!(from(now, 1), from(&request, 1));
    assert_eq!(from(now, 3), from(&request, 3) + shift as u64);
}

#[test]
fn whatever_people_type_pending_changes_replace_the_words_they_say() {
    let seed = std::env::var("COPYDESK_SEED").ok().and_then(|it| it.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("COPYDESK_SEED={seed}");
    let mut dice = fastrand::Rng::with_seed(seed);
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, ..) = three_changes(&copydesk);
    for _ in 0..40 {
        let (_, len) = ben.page();
        let from = dice.usize(..=len);
        let to = (from + [0, 0, 0, 1, 4, 9][dice.usize(..6)]).min(len);
        let text = ["x", "two words", "\n\n", "é", ""][dice.usize(..if from < to { 5 } else { 4 })];
        let version = ben.replaces(from, to, text);
        ana.comes_to_version(version);
        // Compares every pending change with the text.
        let Some(request) = ana.pending().pop() else { return };
        assert_eq!(request["version"], version);
    }
    let left = ana.pending().remove(0);
    if left.statuses().contains(&"pending") {
        ana.accepts_all(&left);
    }
    assert_eq!(ana.text(), ben.text());
}

#[test]
fn typing_at_the_edge_of_a_change_is_no_conflict() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ben.types(0, "Once, ");
    ben.types(9, "!");
    assert_eq!(ben.text(), BEFORE.replace("Teh", "Once, Teh!"));
    ana.accepts_all(&request);
    assert_eq!(ben.text(), AFTER.replace("The keeper", "Once, The! keeper"));
}

#[test]
fn a_change_whose_words_were_changed_is_in_conflict_and_the_others_are_not() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ben.overwrites("ieve", "ei");
    let update = ana.sees("tool_approval_update");
    assert_eq!(update["hunks"], json!([{"id": request.hunk(2), "status": "conflict"}]));
    assert_eq!(ana.pending()[0].statuses(), ["pending", "conflict", "pending"]);
    ana.saw_in_order(&["document:updates", "tool_approval_update"]);
}

#[test]
fn a_conflict_is_never_applied_by_accident() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ben.overwrites("ieve", "ei");
    let one = json!({"approved": true, "hunks": request.each(&[2], "accept")});
    ana.decides(&request, one).refused_with("conflicted");
    let blind = json!([{"id": request.hunk(2), "decision": "accept", "force": true}]);
    ana.decides(&request, json!({"approved": true, "hunks": blind})).refused();
    let stale =
        json!([{"id": request.hunk(2), "decision": "accept", "force": true, "seen": "recieved"}]);
    ana.decides(&request, json!({"approved": true, "hunks": stale})).refused_with("conflicted");
    assert_eq!(ana.text(), BEFORE.replace("recieved", "receid"));
}

#[test]
fn a_conflict_is_applied_over_words_the_person_has_seen() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ben.overwrites("ieve", "ei");
    let seen =
        json!([{"id": request.hunk(2), "decision": "accept", "force": true, "seen": "receid"}]);
    ana.decides(&request, json!({"approved": true, "hunks": seen, "finish": "accept"})).ok();
    assert_eq!(ben.text(), AFTER);
}

#[test]
fn accepting_all_leaves_conflicts_open_and_rejecting_all_does_not() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ben.overwrites("ieve", "ei");
    assert_eq!(ana.accepts_all(&request)["status"], "pending");
    assert_eq!(ana.pending()[0].statuses(), ["accepted", "conflict", "accepted"]);
    assert_eq!(ana.rejects(&request, "leave it")["status"], "partly");
    assert_eq!(ben.text(), AFTER.replace("received", "receid"));
}

#[test]
fn a_conflict_clears_when_the_words_are_back() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ben.overwrites("ecie", "ecXie");
    assert_eq!(ana.pending()[0].statuses()[1], "conflict");
    ben.overwrites("ecXie", "ecie");
    assert_eq!(ana.pending()[0].statuses(), ["pending"; 3]);
    ana.accepts_all(&request);
    assert_eq!(ben.text(), AFTER);
}

#[test]
fn a_change_whose_place_is_gone_is_obsolete_and_its_siblings_live() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ben.overwrites("He recieved few visitors there.\n\n", "");
    assert_eq!(ana.pending()[0].statuses(), ["pending", "obsolete", "pending"]);
    ana.accepts_all(&request);
    assert_eq!(ben.text(), AFTER.replace("He received few visitors there.\n\n", ""));
}

#[test]
fn two_requests_for_the_same_words_never_both_apply() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, first) = three_changes(&copydesk);
    let other = ben.asks("Fix the spelling too");
    let second = ben.sees_request_of(&other);
    ana.accepts_all(&first);
    assert_eq!(ben.sees_resolved(&second)["status"], "cancelled");
    assert!(ben.pending().is_empty());
    assert_eq!(ben.text(), AFTER);
    ben.answer(&other);
}

#[test]
fn a_request_whose_words_were_all_deleted_is_over() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    ben.replaces(0, BEFORE.len(), "");
    let resolved = ana.sees_resolved(&request);
    assert_eq!((&resolved["status"], &resolved["by"]), (&json!("cancelled"), &Value::Null));
    assert_eq!(ana.answer(&run)["updateType"], "none");
    assert!(ana.pending().is_empty());
}

#[test]
fn deleting_the_document_ends_the_runs_that_wait_in_it() {
    let copydesk = TestServer::scripted(correcting());
    let owner = copydesk.owner();
    owner.creates(BEFORE);
    let run = owner.asks("Fix the spelling");
    let request = owner.sees_request();
    owner.emit("document:delete", &json!({"documentId": owner.document()})).ok();
    let response = owner.answer(&run);
    assert_eq!(response["updateType"], "none");
    owner.decides(&request, json!({"approved": true})).refused();
    owner.is_fine();
}

#[test]
fn an_edited_text_is_normalised_like_any_other() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, request) = three_changes(&copydesk);
    let hunks = json!([{"id": request.hunk(2), "decision": "accept", "text": "one\r\ntwo\rthree"}]);
    ana.decides(&request, json!({"approved": true, "hunks": hunks, "finish": "reject"})).ok();
    assert_eq!(ana.text(), BEFORE.replace("recieved", "one\ntwo\nthree"));
}

#[test]
fn what_was_typed_while_the_model_was_thinking_is_respected() {
    let slow = json!({"when": {"user": "."}, "chunk_chars": 6, "delay_ms": 20, "content": [
        {"type": "text", "text": "Let me think."},
        {"type": "tool_use", "name": "update_full_document", "input": full(AFTER)}]});
    let copydesk = TestServer::scripted(Script::default().turn(slow).closing("Done."));
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    ana.asks("Fix the spelling");
    ana.sees("claudeStreamChunk");
    ben.overwrites("every night", "at noon");
    let request = ana.sees_request();
    ana.accepts_all(&request);
    assert_eq!(ben.text(), AFTER.replace("every night", "at noon"));
}
