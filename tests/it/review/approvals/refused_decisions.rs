//! Decisions that do not count, and the order in which they are checked.

use serde_json::json;

use crate::support::{Role, TestServer};

use super::{AFTER, BEFORE, correcting, three_changes};

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
        json!({"approved": true, "decision": "respond", "message": "no"}),
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
