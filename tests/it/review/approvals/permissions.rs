//! People who may decide, and the number who must.

use serde_json::json;

use crate::support::{Role, Script, TestServer};

use super::{AFTER, BEFORE, correcting, three_changes};

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
fn no_one_decides_in_anothers_private_document() {
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
fn not_the_requester_means_someone_else() {
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
