//! Permissions for calls.

use serde_json::{Value, json};

use crate::support::http::ask;
use crate::support::mcp::{Mcp, initialize};
use crate::support::{OWNER, Role, TestServer};

use super::{TEXT, file, owner_of, rewrite, test_server, waiting};

fn revoked(copydesk: &TestServer, token: &str) {
    let headers = [("Host", copydesk.address()), ("Authorization", &format!("Bearer {OWNER}"))];
    let list = ask(copydesk.address(), "GET /api/v1/tokens", &headers);
    let list: Value = serde_json::from_str(&list.body).unwrap();
    let line = list["tokens"].as_array().unwrap().last().unwrap();
    assert!(!token.is_empty());
    let path = format!("DELETE /api/v1/tokens/{}", line["id"].as_str().unwrap());
    assert_eq!(ask(copydesk.address(), &path, &headers).status, 204);
}

#[test]
fn no_one_comes_in_without_a_good_token_or_from_another_origin() {
    let copydesk = test_server();
    for token in ["", "Bearer wrong", "Basic abc"] {
        let answer =
            Mcp::silent(&copydesk, OWNER).post(&initialize(1, "x"), &[("Authorization", token)]);
        assert_eq!(answer.status, 401, "{token}");
        assert!(answer.head.contains("www-authenticate: bearer"), "{}", answer.head);
        assert_eq!(answer.next()["code"], "unauthorized");
    }
    for headers in [("Origin", "http://evil.example"), ("Host", "evil.example")] {
        let answer = Mcp::silent(&copydesk, OWNER).post(&initialize(1, "x"), &[headers]);
        assert_eq!(answer.status, 403, "{headers:?}");
    }
    let own = format!("http://{}", copydesk.address());
    let answer = Mcp::silent(&copydesk, OWNER).post(&initialize(1, "x"), &[("Origin", &own)]);
    assert_eq!(answer.status, 200);
}

#[test]
fn everybody_is_offered_what_they_may_do_and_can_do_no_more() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let (document, other) = (owner.creates(TEXT), owner.creates("Elsewhere."));
    let all = Mcp::arrives(&copydesk, OWNER, "coder").tools();
    for name in ["atlas_write", "atlas_edit", "atlas_multi_edit", "read_document"] {
        assert!(all.contains(&name.to_owned()), "{all:?}");
    }
    assert!(!all.contains(&"atlas_bash".to_owned()), "commands are off");
    for role in [Role::Viewer, Role::Reviewer] {
        let reader = Mcp::arrives(&copydesk, &copydesk.token("Vi", role, &[]), "reader");
        let writes = ["add_comment", "resolve_comments"];
        let all = ["read_document", "list_documents", "list_comments"].into_iter().chain(writes);
        let offered = all.filter(|tool| matches!(role, Role::Reviewer) || !writes.contains(tool));
        assert_eq!(reader.tools(), offered.collect::<Vec<_>>());
        reader.reads(&document);
        for (tool, arguments) in
            [("atlas_write", file("x", "x")), ("update_full_document", rewrite(&document, "x"))]
        {
            assert_eq!(reader.gets(tool, arguments), ("[DENIED] you may not do that".into(), true));
        }
    }
    let bound = Mcp::arrives(
        &copydesk,
        &copydesk.token("Bo", Role::Editor, &["--document", &document]),
        "coder",
    );
    assert!(!bound.tools().contains(&"atlas_write".to_owned()));
    bound.reads(&document);
    assert!(bound.gets("read_document", json!({"document_id": other})).1);
    assert!(bound.gets("update_full_document", rewrite(&other, "x")).1);
    assert!(bound.gets("atlas_write", file("x", "x")).1);
    let listed = bound.asks("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"].as_array().unwrap().len(), 1, "{listed}");
    let uri = format!("copydesk://documents/{other}");
    assert!(bound.asks("resources/read", json!({"uri": uri})).get("error").is_some());
    let private = bound.asks("resources/read", json!({"uri": "copydesk://documents/desk"}));
    assert!(private.get("error").is_some(), "{private}");
    assert!(waiting(&owner).is_empty());
}

#[test]
fn commands_are_decided_by_owners_and_only_where_they_are_switched_on() {
    let copydesk = TestServer::plan().workspace(&[]).flags(&["--enable-bash"]).start();
    let owner = owner_of(&copydesk);
    let coder = Mcp::arrives(&copydesk, &copydesk.token("Bo", Role::Editor, &[]), "coder");
    let call = coder.calls("atlas_bash", json!({"command": "echo hello", "description": "Greets"}));
    owner.accepts_all(&owner.sees_request());
    assert_eq!(call.result(), ("hello\n".to_owned(), false));
    let call = coder.calls("atlas_bash", json!({"command": "exit 3"}));
    owner.rejects(&owner.sees_request(), "No");
    assert_eq!(call.result(), ("[DENIED] Bash rejected: No".to_owned(), true));
}

#[test]
fn a_session_is_its_holders_own_and_ends_with_their_token() {
    let copydesk = test_server();
    let owner = owner_of(&copydesk);
    let token = copydesk.token("Bo", Role::Editor, &[]);
    let coder = Mcp::arrives(&copydesk, &token, "coder");
    assert_eq!(coder.with_token(OWNER).begins("tools/list", json!({})).status, 404);
    let call = coder.calls("atlas_write", file("test.txt", "x"));
    let request = owner.sees_request();
    revoked(&copydesk, &token);
    assert_eq!(owner.sees_resolved(&request)["status"], "cancelled");
    drop(call);
    assert_eq!(coder.begins("tools/list", json!({})).status, 401);
}
