//! Rules, and files of the workspace.

use serde_json::{Value, json};

use crate::support::{OWNER, RestClient, Role, Script, TestServer};

use super::{FIXED, TEXT, text, with_document};

// Rules.

#[test]
fn an_owners_rule_is_made_over_http_once_and_holds_at_once() {
    let (copydesk, ana, document) = with_document();
    let owner = RestClient::new(&copydesk, OWNER);
    let wish = json!({"documentId": document, "effect": "deny", "tool": "update_full_document"});
    ana.posts("rules", &wish).refused_with(403, "not_allowed");
    let rule = owner.posts("rules", &wish).ok()["rule"].clone();
    assert_eq!((&rule["effect"], &rule["by"]["name"]), (&json!("deny"), &json!("Owner")));
    assert_eq!(owner.posts("rules", &wish).ok()["rule"]["id"], rule["id"], "it is there already");
    assert_eq!(ana.gets(&format!("rules?documentId={document}")).ok()["rules"], json!([rule]));
    let ask = json!({"prompt": "Fix the spelling", "context": {"documentId": document}});
    let run = ana.posts("runs", &ask).ok();
    let url = text(&run["url"]).strip_prefix("/api/v1/").unwrap();
    let over = ana.gets(&format!("{url}?wait=30")).ok();
    assert_eq!((&over["state"], &over["waiting"]), (&json!("success"), &json!([])));
    let desks = json!({"documentId": "desk", "effect": "ask", "path": "*.txt"});
    let desks = owner.posts_once("k", "rules", &desks).ok()["rule"].clone();
    assert_eq!((&desks["documentId"], &desks["tool"]), (&Value::Null, &json!("*")));
    for id in [&rule["id"], &desks["id"]] {
        let end = format!("DELETE /api/v1/rules/{}", text(id));
        assert_eq!(owner.says(&end, &[], "").status, 204);
    }
    assert_eq!(owner.gets("rules").ok()["rules"], json!([]));
}

// Files.

#[test]
fn a_file_is_opened_as_a_document_edited_and_follows() {
    let copydesk =
        TestServer::plan().workspace(&[("notes.md", TEXT), ("picture.png", "a\0b")]).start();
    let ana = RestClient::new(&copydesk, &copydesk.token("Ana", Role::Editor, &[]));
    assert_eq!(ana.gets("files").ok(), json!({"files": [{"path": "notes.md"}], "isCut": false}));
    let open = json!({"path": "./notes.md"});
    let opened = ana.posts_once("k", "files", &open).ok();
    let document = text(&opened["id"]);
    assert_eq!(opened["title"], "notes.md");
    assert_eq!(ana.posts("files", &json!({"path": "notes.md"})).ok()["id"], document);
    assert_eq!(ana.gets("files").ok()["files"][0]["documentId"], document);
    let read = ana.gets(&format!("documents/{document}")).ok();
    assert_eq!((&read["text"], &read["file"]["status"]), (&json!(TEXT), &json!("saved")));
    let edit = json!({"version": read["version"], "text": FIXED});
    let made = ana.posts(&format!("documents/{document}/edits"), &edit).ok()["version"].clone();
    copydesk.file_comes_to_read("notes.md", FIXED);
    let state = ana.gets(&format!("documents/{document}")).ok()["file"].clone();
    assert_eq!(state, json!({"path": "notes.md", "status": "saved", "version": made}));
    // What someone else writes is there when it is read, though no one is connected.
    copydesk.overwrites("notes.md", TEXT);
    let read = ana.gets(&format!("documents/{document}")).ok();
    assert_eq!(read["text"], TEXT);
    std::fs::remove_file(copydesk.folder().join("notes.md")).unwrap();
    let state = ana.gets(&format!("documents/{document}")).ok()["file"].clone();
    assert_eq!(state["status"], "missing");
    let owner = RestClient::new(&copydesk, OWNER);
    let edit = json!({"version": read["version"], "text": FIXED});
    owner.posts(&format!("documents/{document}/edits"), &edit).ok();
    // Deleted at once, the document leaves its file with everything that was acknowledged.
    assert_eq!(owner.says(&format!("DELETE /api/v1/documents/{document}"), &[], "").status, 204);
    assert_eq!(copydesk.file("notes.md").as_deref(), Some(FIXED));
    assert_ne!(owner.posts("files", &open).ok()["id"], document);
}

#[test]
fn what_is_no_text_file_of_the_workspace_is_not_opened() {
    let copydesk =
        TestServer::plan().workspace(&[("notes.md", TEXT), ("picture.png", "a\0b")]).start();
    let owner = RestClient::new(&copydesk, OWNER);
    let long = "x".repeat(5_000);
    for (path, status, code) in [
        ("none.md", 404, "not_found"),
        ("../notes.md", 422, "invalid_request"),
        ("/etc/passwd", 422, "invalid_request"),
        ("", 422, "invalid_request"),
        ("a\0b", 422, "invalid_request"),
        (long.as_str(), 422, "invalid_request"),
        (".git/config", 403, "not_allowed"),
        ("picture.png", 422, "unsupported"),
        ("notes.md/x", 422, "unsupported"),
    ] {
        owner.posts("files", &json!({"path": path})).refused_with(status, code);
    }
    owner.posts("files", &json!({"path": 7})).refused_with(422, "invalid_request");
    for query in ["limit=0", "limit=201", "cursor=x", &format!("pattern={long}")] {
        owner.gets(&format!("files?{query}")).refused_with(400, "invalid_request");
    }
    let viewer = RestClient::new(&copydesk, &copydesk.token("Vic", Role::Viewer, &[]));
    viewer.gets("files").refused_with(403, "not_allowed");
    viewer.posts("files", &json!({"path": "notes.md"})).refused_with(403, "not_allowed");
}

#[test]
fn one_persons_runs_are_bounded_in_all_their_sessions_and_other_peoples_go_on() {
    // Says a letter in a minute.
    let slow = json!({"content": [{"type": "text", "text": "Well, well."}], "chunk_chars": 1, "delay_ms": 60_000, "repeat": true});
    let copydesk = TestServer::scripted(Script::default().turn(slow));
    let of = |name: &str| RestClient::new(&copydesk, &copydesk.token(name, Role::Editor, &[]));
    let (ana, ben) = (of("Ana"), of("Ben"));
    // Each is in a session of its own.
    let begins = |hand: &RestClient| hand.posts("runs", &json!({"prompt": "Well?"}));
    let runs: Vec<_> = (0..64).map(|_| begins(&ana).ok()).collect();
    begins(&ana).refused_with(429, "too_many_requests");
    begins(&ben).ok();
    let first = text(&runs[0]["url"]).strip_prefix("/api/v1/").unwrap();
    assert_eq!(ana.posts(&format!("{first}/cancel"), &json!({})).status, 204);
    assert_eq!(ana.gets(&format!("{first}?wait=30")).ok()["state"], "cancelled");
    begins(&ana).ok();
    begins(&ana).refused_with(429, "too_many_requests");
}
