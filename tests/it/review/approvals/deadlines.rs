//! Requests that end after a time.

use serde_json::{Value, json};

use crate::support::TestServer;

use super::{BEFORE, correcting, three_changes};

#[test]
fn a_request_no_one_decides_expires_and_the_model_is_told() {
    let copydesk =
        TestServer::plan().script(correcting()).flags(&["--approval-timeout", "1"]).start();
    let (ana, ben, run, request) = three_changes(&copydesk);
    assert!(request["expires_at"].is_string());
    let resolved = ben.sees_resolved(&request);
    assert_eq!((&resolved["status"], &resolved["by"]), (&json!("expired"), &Value::Null));
    ana.answer(&run);
    let tool_result = &ana.tool_results(&run)[0];
    let words = "Approval timed out after 1s; the tool was not executed. Do not retry unless the user asks.";
    assert_eq!((&tool_result["content"], &tool_result["is_error"]), (&json!(words), &json!(true)));
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
    assert_eq!(ana.tool_results(&run)[0]["is_error"], false);
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
fn the_countdown_stands_still_while_someone_looks() {
    let copydesk =
        TestServer::plan().script(correcting()).flags(&["--approval-timeout", "1"]).start();
    let (ana, ben, _, request) = three_changes(&copydesk);
    ben.emit("approval:focus", &json!({"request_id": request.id(), "on": true})).ok();
    let update = ana.sees_where("tool_approval_update", |it| it["paused"] == true);
    assert_eq!(update["focused_by"], json!([ben.user()]));
    // A later one that no one looks at has expired: so the time of this one is over too.
    let (other, .., later) = three_changes(&copydesk);
    assert_eq!(other.sees_resolved(&later)["status"], "expired");
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
