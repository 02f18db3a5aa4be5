//! Approving and rejecting: what people see, what they may do, what becomes of the text, and what
//! the model is told.

use serde_json::{Value, json};

use crate::support::script::{full, selection};
use crate::support::{Person, Request, Role, Script, TestServer};

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n\nThe lamp was allways lit.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n\nThe lamp was always lit.\n";

/// A model that corrects three words, and says "Done." to whatever comes of it.
fn correcting() -> Script {
    Script::rewriting(AFTER)
}

/// Ana has asked for three corrections; Ben sits beside her.
fn three_changes(copydesk: &TestServer) -> (Person, Person, String, Request) {
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request();
    ben.sees_request();
    (ana, ben, run, request)
}

// The request.

#[test]
fn everyone_in_the_document_sees_the_same_request() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request();
    assert_eq!(request.0, ben.sees_request().0);
    assert_eq!(request["requestId"], run);
    assert_eq!(request["tool_input"], full(AFTER));
    assert_eq!(request["preview_type"], "diff");
    assert_eq!(
        (&request["original_content"], &request["new_content"]),
        (&json!(BEFORE), &json!(AFTER))
    );
    assert_eq!(request["author"], ana.user());
    assert_eq!(request["explanation"], "Rewrote it.");
    assert_eq!((&request["base_version"], &request["version"]), (&json!(0), &json!(0)));
    assert_eq!(request["approvals"], json!({"have": 0, "need": 1}));
}

#[test]
fn a_rewrite_becomes_changes_a_person_would_take_one_at_a_time() {
    let copydesk = TestServer::scripted(correcting());
    let (_ana, _ben, _, request) = three_changes(&copydesk);
    let words: Vec<_> = (1..=request.hunks().len()).map(|number| request.words(number)).collect();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(
        words,
        [pair("Teh", "The"), pair("recieved", "received"), pair("allways", "always")]
    );
    assert_eq!(request.statuses(), ["pending", "pending", "pending"]);
    let lines = request["diff_lines"].as_array().unwrap();
    assert!(lines.contains(&json!("-Teh keeper wrote every night.")), "{lines:?}");
    assert!(lines.contains(&json!("+The keeper wrote every night.")), "{lines:?}");
}

#[test]
fn nothing_is_in_the_text_before_somebody_says_so() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, ..) = three_changes(&copydesk);
    assert_eq!((ana.text().as_str(), ben.text().as_str()), (BEFORE, BEFORE));
    assert_eq!(ben.opens(&ana.document())["document"]["version"], 0);
}

#[test]
fn a_change_that_changes_nothing_asks_nobody() {
    let copydesk = TestServer::scripted(Script::rewriting(BEFORE));
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    assert_eq!(ana.answer(&run)["updateType"], "none");
    assert!(ana.saw("tool_approval_request").is_empty());
}

#[test]
fn a_person_outside_the_document_is_not_asked() {
    let copydesk = TestServer::scripted(correcting());
    let carl = copydesk.editor("Carl");
    let (..) = three_changes(&copydesk);
    assert!(carl.saw("tool_approval_request").is_empty());
}

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
            .told("Mind the tone", "I will.")
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
fn whoever_starts_the_server_with_approvals_has_them_whatever_was_set_before() {
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
    let told = &ana.told(&run)[0];
    assert_eq!(
        (&told["content"], &told["is_error"]),
        (&json!("User rejected: Too stiff"), &json!(true))
    );
}

#[test]
fn a_rejection_without_feedback_says_only_that() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, run, request) = three_changes(&copydesk);
    ana.decides(&request, json!({"approved": false})).ok();
    ana.answer(&run);
    assert_eq!(ana.told(&run)[0]["content"], "User rejected the operation");
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

// Change by change.

#[test]
fn some_are_accepted_and_the_rest_rejected_with_a_reason() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    assert_eq!(ana.accepts(&request, &[1, 3])["status"], "pending");
    assert_eq!(ben.text(), AFTER.replace("received", "recieved"));
    assert_eq!(ben.rejects_some(&request, &[2], "an old spelling")["status"], "partly");
    assert_eq!(ana.sees_resolved(&request)["status"], "partly");
    ana.answer(&run);
    let told = &ana.told(&run)[0];
    let text = told["content"].as_str().unwrap();
    assert!(text.starts_with("Partly applied: 2 accepted, 1 rejected"), "{text}");
    assert!(text.contains("User feedback: an old spelling"), "{text}");
    assert_eq!(told["is_error"], false);
}

#[test]
fn finish_decides_the_rest() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, request) = three_changes(&copydesk);
    let hunks = request.each(&[2], "accept");
    let decided =
        ana.decides(&request, json!({"approved": true, "hunks": hunks, "finish": "reject"})).ok();
    assert_eq!(decided["status"], "partly");
    assert_eq!(ana.text(), BEFORE.replace("recieved", "received"));
}

#[test]
fn a_change_can_be_edited_before_it_is_accepted() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, run, request) = three_changes(&copydesk);
    let hunks = json!([{"id": request.hunk(2), "decision": "accept", "text": "welcomed"}]);
    ana.decides(&request, json!({"approved": true, "hunks": hunks, "finish": "reject"})).ok();
    assert_eq!(ana.text(), BEFORE.replace("recieved", "welcomed"));
    ana.answer(&run);
    let told = ana.told(&run)[0]["content"].as_str().unwrap().to_owned();
    assert!(told.contains("welcomed"), "the model is told what stands there now: {told}");
}

#[test]
fn the_others_are_told_which_changes_are_left() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ana.accepts(&request, &[2]);
    let message = ben.sees("document:updates");
    assert_eq!(message["hunks"]["drop"], json!([request.hunk(2)]));
    let left = &ben.pending()[0];
    let open: Vec<_> = (1..=3).filter(|&number| left.statuses()[number - 1] == "pending").collect();
    assert_eq!(open, [1, 3]);
    ben.accepts_all(left);
    assert_eq!(ana.text(), AFTER);
}

#[test]
fn rejecting_one_change_is_told_without_an_update_of_the_text() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ana.rejects_some(&request, &[2], "");
    let update = ben.sees_where("tool_approval_update", |it| it["request_id"] == request.id());
    let hunk = &update["hunks"][0];
    assert_eq!((&hunk["id"], &hunk["status"]), (&json!(request.hunk(2)), &json!("rejected")));
    assert_eq!(hunk["by"], ana.user());
    ben.accepts_all(&request);
    assert_eq!(ana.text(), AFTER.replace("received", "recieved"));
}

#[test]
fn deciding_all_one_by_one_approves_the_request() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    ana.accepts(&request, &[3]);
    ben.accepts(&request, &[1]);
    assert_eq!(ana.accepts(&request, &[2])["status"], "approved");
    assert_eq!(ana.answer(&run)["documentUpdate"], AFTER);
}

#[test]
fn positions_count_utf16_units_also_behind_emoji() {
    let (before, after) =
        ("😀😀 teh cat 😀 saw teh dog run away.\n", "😀😀 the cat 😀 saw the dog run away.\n");
    let copydesk = TestServer::scripted(Script::rewriting(after));
    let ana = copydesk.editor("Ana");
    ana.creates(before);
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    for hunk in request.hunks() {
        for part in hunk["parts"].as_array().unwrap() {
            let units: Vec<u16> = before.encode_utf16().collect();
            let (from, to) =
                (part["from"].as_u64().unwrap() as usize, part["to"].as_u64().unwrap() as usize);
            assert_eq!(
                String::from_utf16(&units[from..to]).unwrap(),
                part["base"].as_str().unwrap()
            );
        }
    }
    ana.accepts_all(&request);
    assert_eq!(ana.text(), after);
}

// Time.

#[test]
fn a_request_nobody_decides_expires_and_the_model_is_told() {
    let copydesk =
        TestServer::plan().script(correcting()).flags(&["--approval-timeout", "1"]).start();
    let (ana, ben, run, request) = three_changes(&copydesk);
    assert!(request["expires_at"].is_string());
    let resolved = ben.sees_resolved(&request);
    assert_eq!((&resolved["status"], &resolved["by"]), (&json!("expired"), &Value::Null));
    ana.answer(&run);
    let told = &ana.told(&run)[0];
    let words = "Approval timed out after 1s; the tool was not executed. Do not retry unless the user asks.";
    assert_eq!((&told["content"], &told["is_error"]), (&json!(words), &json!(true)));
    ben.decides(&request, json!({"approved": true})).refused_with("expired");
    assert_eq!(ben.text(), BEFORE);
}

#[test]
fn what_was_accepted_before_the_time_was_up_stays() {
    let copydesk =
        TestServer::plan().script(correcting()).flags(&["--approval-timeout", "1"]).start();
    let (ana, _ben, run, request) = three_changes(&copydesk);
    ana.accepts(&request, &[1]);
    let resolved = ana.sees_resolved(&request);
    assert_eq!(resolved["status"], "partly");
    let statuses: Vec<_> =
        resolved["hunks"].as_array().unwrap().iter().map(|it| it["status"].clone()).collect();
    assert_eq!(statuses, ["accepted", "expired", "expired"]);
    ana.answer(&run);
    assert_eq!(ana.told(&run)[0]["is_error"], false);
    assert_eq!(ana.text(), BEFORE.replace("Teh", "The"));
}

#[test]
fn zero_waits_for_ever() {
    let copydesk =
        TestServer::plan().script(correcting()).flags(&["--approval-timeout", "0"]).start();
    let (.., request) = three_changes(&copydesk);
    assert_eq!(request["expires_at"], Value::Null);
}

#[test]
fn the_countdown_stands_still_while_somebody_looks() {
    let copydesk =
        TestServer::plan().script(correcting()).flags(&["--approval-timeout", "1"]).start();
    let (ana, ben, _, request) = three_changes(&copydesk);
    ben.emit("approval:focus", &json!({"request_id": request.id(), "on": true})).ok();
    let update = ana.sees_where("tool_approval_update", |it| it["paused"] == true);
    assert_eq!(update["focused_by"], json!([ben.user()]));
    // Longer than the timeout: the one story that has to wait for time to pass.
    std::thread::sleep(std::time::Duration::from_millis(1_300));
    assert_eq!(ana.pending().len(), 1, "it expired while Ben was looking");
    ben.emit("approval:focus", &json!({"request_id": request.id(), "on": false})).ok();
    assert_eq!(ana.sees_resolved(&request)["status"], "expired");
}

#[test]
fn in_a_document_nothing_waits_against_the_clock_unless_a_limit_is_set() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _, _, request) = three_changes(&copydesk);
    assert_eq!(request["expires_at"], Value::Null);
    let waiting = || ana.emit("document:list", &json!({})).ok()["documents"][0]["waiting"].clone();
    assert_eq!(waiting(), 3);
    ana.accepts(&request, &[1]);
    assert_eq!(waiting(), 2);
    let settings = ana.emit("settings:get", &json!({})).ok()["settings"].clone();
    assert_eq!(
        (&settings["documentTimeoutSeconds"], &settings["timeoutSeconds"]),
        (&json!(0), &json!(300))
    );
    let owner = copydesk.owner();
    owner.emit("settings:set", &json!({"timeoutSeconds": 60})).ok();
    let (.., request) = three_changes(&copydesk);
    assert!(request["expires_at"].is_string());
}

#[test]
fn people_can_ask_for_more_time() {
    let copydesk =
        TestServer::plan().script(correcting()).flags(&["--approval-timeout", "300"]).start();
    let (ana, ben, _, request) = three_changes(&copydesk);
    ben.emit("approval:extend", &json!({"request_id": request.id()})).ok();
    let update = ana.sees_where("tool_approval_update", |it| it["request_id"] == request.id());
    let end = |it: &Value| it.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(end(&update["expires_at"]) > end(&request["expires_at"]), "{update}");
}

// Who was first.

#[test]
fn the_second_decision_hears_who_was_first_and_when() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ana.accepts_all(&request);
    let error = ben.decides(&request, json!({"approved": false})).refused_with("already_resolved");
    assert_eq!(error["details"]["by"], ana.user(), "{error}");
    assert!(error["details"]["at"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok(), "{error}");
    assert_eq!(ben.text(), AFTER);
}

#[test]
fn a_change_that_was_decided_is_decided() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ana.accepts(&request, &[1]);
    let again = json!({"approved": false, "hunks": request.each(&[1], "reject")});
    let error = ben.decides(&request, again).refused_with("already_resolved");
    assert_eq!(error["details"]["by"], ana.user(), "{error}");
    let both = json!({"approved": true, "hunks": request.each(&[1, 2], "accept")});
    ben.decides(&request, both).refused_with("already_resolved");
    assert_eq!(ben.pending()[0].statuses(), ["accepted", "pending", "pending"], "all or nothing");
}

#[test]
fn of_two_decisions_at_once_exactly_one_counts() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    let yes = ana.send("tool_approval_response", &request.decision(json!({"approved": true})));
    let no = ben.send("tool_approval_response", &request.decision(json!({"approved": false})));
    let (yes, no) = (ana.ack(yes), ben.ack(no));
    let (won, lost) = if yes.body()["ok"] == true { (yes, no) } else { (no, yes) };
    let status = won.ok()["status"].clone();
    lost.refused_with("already_resolved");
    assert_eq!(ana.sees_resolved(&request)["status"], status);
    assert_eq!(ana.text(), if status == "approved" { AFTER } else { BEFORE });
}

#[test]
fn of_ten_sockets_racing_exactly_one_wins() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, request) = three_changes(&copydesk);
    let racers: Vec<_> = (0..10).map(|_| ana.second_window()).collect();
    let decision = request.decision(json!({"approved": true}));
    let sent: Vec<_> =
        racers.iter().map(|it| it.send("tool_approval_response", &decision)).collect();
    let acks: Vec<_> = racers.iter().zip(sent).map(|(it, pending)| it.ack(pending)).collect();
    let won = acks.iter().filter(|ack| ack.body()["ok"] == true).count();
    assert_eq!(won, 1);
    ana.comes_to_read(AFTER);
    assert_eq!(ana.version(), 1, "it was applied once");
}

// Who may.

#[test]
fn a_viewer_sees_but_may_not_decide() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, request) = three_changes(&copydesk);
    let vera = copydesk.person("Vera", Role::Viewer);
    vera.opens(&ana.document());
    assert_eq!(vera.pending()[0].id(), request.id());
    vera.decides(&request, json!({"approved": true})).refused_with("not_allowed");
    assert_eq!(ana.text(), BEFORE);
}

#[test]
fn a_reviewer_may_decide_but_not_write_or_ask() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, request) = three_changes(&copydesk);
    let rita = copydesk.person("Rita", Role::Reviewer);
    rita.opens(&ana.document());
    rita.pushes(0, &[json!([BEFORE.len(), [0, "x"]])]).refused_with("not_allowed");
    let ask = json!({"sessionId": rita.session(), "prompt": "Fix", "context": {"documentId": rita.document()}});
    rita.emit("askClaudeCode", &ask).refused_with("not_allowed");
    rita.accepts_all(&request);
    assert_eq!(ana.text(), AFTER);
}

#[test]
fn a_token_for_one_document_decides_nothing_elsewhere() {
    let copydesk = TestServer::scripted(correcting());
    let (_ana, ben, _, request) = three_changes(&copydesk);
    let other = ben.creates("Another document.\n");
    let guest = copydesk.guest(Role::Editor, &other);
    let code = guest.decides(&request, json!({"approved": true})).refused()["code"].clone();
    assert!(code == "not_allowed" || code == "not_found", "{code}");
    assert!(
        guest.emit("list_pending_approvals", &json!({})).ok()["requests"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn nobody_decides_in_anothers_private_document() {
    let copydesk = TestServer::scripted(Script::rewriting("Mine, better.\n"));
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ana.asks_about("Rewrite this", &json!({"documentContent": "Mine.\n"}));
    let request = ana.sees_request();
    ben.decides(&request, json!({"approved": true})).refused();
    ana.accepts_all(&request);
}

#[test]
fn two_people_means_two_people() {
    let copydesk = TestServer::scripted(correcting());
    let owner = copydesk.owner();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    owner.creates(BEFORE);
    owner.emit("document:settings", &json!({"documentId": owner.document(), "policy": "two"})).ok();
    ana.opens(&owner.document());
    ben.opens(&owner.document());
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    let first = ana.accepts_all(&request);
    assert_eq!(
        (&first["status"], &first["approvals"]),
        (&json!("pending"), &json!({"have": 1, "need": 2}))
    );
    ana.second_window().decides(&request, json!({"approved": true})).body();
    assert_eq!(ben.text(), BEFORE, "two windows are one person");
    assert_eq!(ben.accepts_all(&request)["status"], "approved");
    assert_eq!(ana.text(), AFTER);
}

#[test]
fn two_people_cannot_be_asked_for_where_there_is_one() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    owner.creates(BEFORE);
    owner
        .emit("document:settings", &json!({"documentId": owner.document(), "policy": "two"}))
        .refused();
}

#[test]
fn not_the_requester_means_somebody_else() {
    let copydesk = TestServer::scripted(correcting());
    let owner = copydesk.owner();
    let ana = copydesk.editor("Ana");
    owner.creates(BEFORE);
    owner
        .emit(
            "document:settings",
            &json!({"documentId": owner.document(), "policy": "not_requester"}),
        )
        .ok();
    ana.opens(&owner.document());
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    ana.decides(&request, json!({"approved": true})).refused_with("not_allowed");
    owner.accepts_all(&request);
    assert_eq!(ana.text(), AFTER);
}

#[test]
fn the_owners_policy_leaves_it_to_the_owner() {
    let copydesk = TestServer::scripted(correcting());
    let owner = copydesk.owner();
    let ana = copydesk.editor("Ana");
    owner.creates(BEFORE);
    owner
        .emit("document:settings", &json!({"documentId": owner.document(), "policy": "owner"}))
        .ok();
    ana.opens(&owner.document());
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    ana.decides(&request, json!({"approved": true})).refused_with("not_allowed");
    owner.accepts_all(&request);
}

// What does not count, and in which order it is checked.

#[test]
fn an_unknown_request_is_not_found() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let decision = json!({"request_id": "01939d7e-0000-7000-8000-000000000000", "approved": true});
    ana.emit("tool_approval_response", &decision).refused_with("not_found");
}

#[test]
fn the_errors_of_a_decision_come_in_the_order_of_the_contract() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    let vera = copydesk.person("Vera", Role::Viewer);
    vera.opens(&ana.document());
    let id = request.hunk(1);
    let wrong = json!([{"id": id, "decision": "accept"}, {"id": id, "decision": "reject"}]);
    // Contradiction and wrong hash: the decision itself is checked before the preview.
    ben.decides(&request, json!({"approved": true, "hunks": wrong, "preview_hash": "0"}))
        .refused_with("invalid_decision");
    // Wrong shape and unknown request: the shape is checked first.
    let shape = json!({"request_id": "nowhere", "approved": "yes"});
    ben.ack(ben.send_args("tool_approval_response", &json!([shape])))
        .refused_with("invalid_payload");
    ana.accepts_all(&request);
    // Resolved, and not allowed: who asks comes before what it is about.
    vera.decides(&request, json!({"approved": true})).refused_with("not_allowed");
    // Resolved, and a contradiction.
    ben.decides(&request, json!({"approved": true, "hunks": wrong}))
        .refused_with("already_resolved");
}

#[test]
fn a_decision_that_contradicts_itself_is_invalid() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, request) = three_changes(&copydesk);
    let id = request.hunk(1);
    let cases = [
        json!({}),
        json!({"approved": true, "hunks": []}),
        json!({"approved": true, "hunks": [{"id": id, "decision": "maybe"}]}),
        json!({"approved": true, "hunks": [{"id": id, "decision": "accept"}, {"id": id, "decision": "reject"}]}),
        json!({"approved": false, "hunks": [{"id": id, "decision": "reject", "text": "x"}]}),
        json!({"decision": "perhaps"}),
        json!({"decision": "edit", "updated_input": {"new_content": "x"}}),
        json!({"approved": true, "finish": "later"}),
        json!({"approved": false, "decision": "approve"}),
        json!({"approved": true, "decision": "reject"}),
        json!({"approved": false, "hunks": [{"id": id, "decision": "accept"}]}),
        json!({"approved": true, "hunks": [{"id": id, "decision": "accept", "text": "a\0b"}]}),
        json!({"approved": false, "feedback": "x".repeat(20_001)}),
    ];
    for case in cases {
        let pending =
            ana.send_args("tool_approval_response", &json!([request.decision(case.clone())]));
        let code = ana.ack(pending).refused()["code"].clone();
        assert!(code == "invalid_decision" || code == "invalid_payload", "{case}: {code}");
    }
    assert_eq!(ana.pending()[0].statuses(), ["pending"; 3]);
}

#[test]
fn a_preview_that_is_not_the_current_one_is_refused_with_the_fresh_one() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, request) = three_changes(&copydesk);
    let error = ana
        .decides(&request, json!({"approved": true, "preview_hash": "0".repeat(64)}))
        .refused_with("stale_preview");
    let fresh = &error["details"];
    assert_eq!(
        (&fresh["request_id"], &fresh["preview_hash"]),
        (&request["request_id"], &request["preview_hash"]),
        "{error}"
    );
    assert_eq!(ana.text(), BEFORE);
}

#[test]
fn people_typing_elsewhere_never_make_a_preview_stale() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ben.types(0, "A story.\n\n");
    ana.accepts(&request, &[2]);
    assert_eq!(ana.pending()[0].hash(), request.hash());
    ana.accepts_all(&request);
    assert_eq!(ben.text(), format!("A story.\n\n{AFTER}"));
}

// People never stop typing.

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

// Looking again.

#[test]
fn who_comes_later_is_shown_what_is_pending_before_the_answer() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, request) = three_changes(&copydesk);
    let carl = copydesk.editor("Carl");
    let ack = carl.opens(&ana.document());
    assert_eq!(ack["requests"][0]["request_id"], request.id());
    carl.saw_in_order(&["tool_approval_request", "ack document:open"]);
    assert_eq!(carl.sees_request().0, ack["requests"][0]);
}

#[test]
fn a_reconnect_finds_the_same_request() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, _, request) = three_changes(&copydesk);
    ana.loses_connection();
    ben.accepts(&request, &[1]);
    let back = ana.comes_back(&copydesk);
    let ack = back.opens_again();
    assert_eq!(ack["requests"][0]["request_id"], request.id());
    assert_eq!(Request(ack["requests"][0].clone()).statuses(), ["accepted", "pending", "pending"]);
    back.accepts_all(&request);
    assert_eq!(ben.text(), AFTER);
}

#[test]
fn pending_approvals_are_listed_for_one_document_or_for_all() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, first) = three_changes(&copydesk);
    let here = ana.document();
    ana.creates(BEFORE);
    let window = ana.second_window();
    window.opens(&ana.document());
    window.asks("Fix the spelling");
    let second = window.sees_request();
    let ids = |payload: &Value| -> Vec<String> {
        let ack = ana.emit("list_pending_approvals", payload).ok();
        ack["requests"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["request_id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&json!({"documentId": here})), [first.id()]);
    let mut both = [first.id(), second.id()];
    both.sort_unstable();
    let mut all = ids(&json!({}));
    all.sort_unstable();
    assert_eq!(all, both);
}

#[test]
fn each_decision_of_a_batch_is_taken_on_its_own() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, _ben, _, request) = three_changes(&copydesk);
    let responses = json!([
        request.decision(json!({"approved": true, "hunks": request.each(&[1], "accept")})),
        {"request_id": "nowhere", "approved": true},
        {"request_id": 7},
        request.decision(json!({"approved": false})),
    ]);
    let ack =
        ana.ack(ana.send_args("tool_approval_batch", &json!([{"responses": responses}]))).ok();
    let results = ack["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    assert_eq!((&results[0]["ok"], &results[0]["status"]), (&json!(true), &json!("pending")));
    assert_eq!(results[1]["error"]["code"], "not_found");
    assert_eq!(results[2]["error"]["code"], "invalid_payload");
    assert_eq!((&results[3]["ok"], &results[3]["status"]), (&json!(true), &json!("partly")));
    assert_eq!(ana.text(), BEFORE.replace("Teh", "The"));
}

#[test]
fn two_requests_of_one_answer_are_decided_one_after_the_other() {
    let copydesk = TestServer::playing("parallel-calls");
    let ana = copydesk.editor("Ana");
    ana.creates("one and 2wo.\n");
    let run = ana.asks("Correct both");
    ana.accepts_all(&ana.sees_request());
    ana.rejects(&ana.sees_request(), "no");
    ana.answer(&run);
    let told = ana.told(&run);
    let calls: Vec<_> = told.iter().map(|it| it["tool_use_id"].clone()).collect();
    assert_eq!(calls, ["toolu_first", "toolu_second"]);
    assert_eq!(ana.text(), "One and 2wo.\n");
}

// Taking back.

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
    assert_eq!(of(&ana.accepts(&request, &[2])), 3, "others are told all");

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
        .told("Ask Carl first", "I will ask Carl.")
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
    let told = &ana.told(&run)[0];
    assert!(
        told["content"].as_str().unwrap().starts_with(would["text"].as_str().unwrap()),
        "{would}"
    );
    assert_eq!(told["is_error"], would["is_error"]);
}

#[test]
fn what_everybody_is_told_would_be_told_is_what_the_model_is_told() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, ben, run, request) = three_changes(&copydesk);
    ana.accepts(&request, &[1]);
    ben.rejects_some(&request, &[2, 3], "leave those");
    let report = ana.sees_resolved(&request)["report"].as_str().unwrap().to_owned();
    ana.answer(&run);
    let told = ana.told(&run)[0]["content"].as_str().unwrap().to_owned();
    assert!(told.starts_with(&report), "people: {report}\nthe model: {told}");
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
