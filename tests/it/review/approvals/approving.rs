//! Approving everything, and rejecting everything.

use serde_json::json;

use crate::support::script::full;
use crate::support::{Script, TestServer};

use super::{AFTER, BEFORE, correcting, three_changes};

// Approve.

#[test]
fn approving_everything_changes_the_text_for_everyone() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    let decided = ben.accepts_all(&request);
    assert_eq!(decided["status"], "approved");
    assert_eq!((ana.text().as_str(), ben.text().as_str()), (AFTER, AFTER));
    let resolved = ana.sees_resolved(&request);
    assert_eq!((&resolved["status"], &resolved["by"]), (&json!("approved"), &ben.user()));
    let response = ana.answer(&run);
    assert_eq!(
        (&response["updateType"], &response["documentUpdate"]),
        (&json!("full"), &json!(AFTER))
    );
    assert_eq!(response["documentVersion"], ana.version());
}

#[test]
fn an_accepted_change_is_one_update_of_the_accepter() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ben.accepts_all(&request);
    assert_eq!(ben.version(), 1);
    let update = &ana.sees("document:updates")["updates"][0];
    assert_eq!(update["origin"], request.id());
    let history = ana.emit("document:history", &json!({"documentId": ana.document()})).ok();
    assert_eq!(history["versions"][0]["author"], ben.user());
    assert_eq!(history["versions"][0]["origin"], request.id());
}

#[test]
fn the_text_and_the_hunks_travel_in_one_message_before_the_resolution_and_the_ack() {
    let copydesk = TestServer::scripted(correcting());
    let (_ana, ben, _, request) = three_changes(&copydesk);
    ben.accepts_all(&request);
    ben.saw_in_order(&[
        "tool_approval_request",
        "document:updates",
        "tool_approval_resolved",
        "ack tool_approval_response",
    ]);
    let message = ben.sees("document:updates");
    let dropped = message["hunks"]["drop"].as_array().unwrap();
    assert_eq!(dropped.len(), 3, "{message}");
    assert_eq!(message["updates"].as_array().unwrap().len(), 1);
}

#[test]
fn clients_may_send_nothing_but_approved() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, request) = three_changes(&copydesk);
    ana.emit("tool_approval_response", &json!({"request_id": request.id(), "approved": true})).ok();
    assert_eq!(ana.text(), AFTER);
}

#[test]
fn a_note_reaches_the_model_with_the_approval() {
    let copydesk = TestServer::scripted(
        Script::default()
            .answering(".", "update_full_document", &full(AFTER))
            .after_result("Mind the tone", "I will.")
            .closing("Done."),
    );
    let (ana, _ben, run, request) = three_changes(&copydesk);
    ana.decides(&request, json!({"approved": true, "note": "Mind the tone"})).ok();
    assert_eq!(ana.answer(&run)["conversationMessage"], "I will.");
}

#[test]
fn without_approvals_a_change_is_applied_at_once_and_says_so() {
    let copydesk = TestServer::scripted(correcting());
    let owner = copydesk.owner();
    owner.creates(BEFORE);
    owner
        .emit("document:settings", &json!({"documentId": owner.document(), "approvals": "off"}))
        .ok();
    let run = owner.asks("Fix the spelling");
    assert_eq!(owner.answer(&run)["updateType"], "full");
    assert_eq!(owner.text(), AFTER);
}

#[test]
fn the_switch_of_the_environment_is_honoured_and_shown() {
    let copydesk =
        TestServer::plan().script(correcting()).variable("TOOL_APPROVAL_ENABLED", "false").start();
    let ana = copydesk.editor("Ana");
    assert_eq!(ana.registered()["settings"]["approvals"], "off");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    assert_eq!(ana.answer(&run)["updateType"], "full");
}

#[test]
fn a_person_who_starts_the_server_with_approvals_has_them_whatever_was_set_before() {
    let mut copydesk = TestServer::scripted(correcting());
    copydesk.owner().emit("settings:set", &json!({"approvals": "off"})).ok();
    assert!(copydesk.stops().success());
    copydesk.starts();
    assert_eq!(copydesk.owner().registered()["settings"]["approvals"], "off", "nothing was said");
    assert!(copydesk.stops().success());
    copydesk.starts_with("TOOL_APPROVAL_ENABLED", "true");
    assert_eq!(copydesk.owner().registered()["settings"]["approvals"], "on");
}

// Reject.

#[test]
fn a_rejection_with_feedback_reaches_the_model_which_may_try_otherwise() {
    let copydesk = TestServer::playing("second-attempt");
    let ana = copydesk.editor("Ana");
    ana.creates("Words to be replaced.\n");
    let run = ana.asks("Rewrite this");
    let first = ana.sees_request();
    assert_eq!(ana.rejects(&first, "Too stiff")["status"], "rejected");
    assert_eq!(ana.sees_resolved(&first)["feedback"], "Too stiff");
    ana.accepts_all(&ana.sees_request());
    assert_eq!(ana.answer(&run)["documentUpdate"], "Second attempt.\n");
    let tool_result = &ana.tool_results(&run)[0];
    assert_eq!(
        (&tool_result["content"], &tool_result["is_error"]),
        (&json!("User rejected: Too stiff"), &json!(true))
    );
}

#[test]
fn a_rejection_without_feedback_says_only_that() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, run, request) = three_changes(&copydesk);
    ana.decides(&request, json!({"approved": false})).ok();
    ana.answer(&run);
    assert_eq!(ana.tool_results(&run)[0]["content"], "User rejected the operation");
    assert_eq!(ana.text(), BEFORE);
}

#[test]
fn rejecting_changes_no_version() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ana.rejects(&request, "no");
    ben.sees_resolved(&request);
    assert_eq!(ben.opens(&ana.document())["document"]["version"], 0);
    assert!(ben.pending().is_empty());
}
