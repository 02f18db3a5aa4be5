//! Requests that are seen again later, and decided in batches.

use serde_json::{Value, json};

use crate::support::{Request, TestServer};

use super::{AFTER, BEFORE, correcting, three_changes};

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
    let tool_results = ana.tool_results(&run);
    let calls: Vec<_> = tool_results.iter().map(|it| it["tool_use_id"].clone()).collect();
    assert_eq!(calls, ["toolu_first", "toolu_second"]);
    assert_eq!(ana.text(), "One and 2wo.\n");
}
