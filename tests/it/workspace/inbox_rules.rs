//! Rules in the workspace inbox: files that a remembered rule lets through, and what owners
//! deny, want to be asked about, or allow.

use copydesk_store::{AuditRecord, Store, StoreAccess};
use serde_json::{Value, json};

use crate::support::{OWNER, Person, Request, RestClient, Script, TestServer};

/// A model that writes the file which the prompt names, whatever is asked.
fn writing(files: &[&str]) -> TestServer {
    let write = |script: Script, file: &&str| {
        let input = json!({"file_path": file, "content": format!("This is {file}.\n")});
        script.answering(&regex(file), "Write", &input)
    };
    let script = files.iter().fold(Script::default(), write).closing("Done.");
    TestServer::plan().script(script).workspace(&[]).start()
}

fn regex(file: &str) -> String {
    file.replace('.', "\\.")
}

fn runs(person: &Person, prompt: &str) -> String {
    let ack = person.emit("run", &json!({"prompt": prompt})).ok();
    ack["requestId"].as_str().expect("a run has a name").to_owned()
}

fn ends(person: &Person, run: &str) -> Value {
    person.sees_where("agent_event", |it| it["requestId"] == run && it["type"] == "result")
}

/// The request for a file, and whether it waits for people.
fn asks(person: &Person, file: &str) -> (Request, bool) {
    let run = runs(person, file);
    let request = person.sees_request_of(&run);
    let ack = person.emit("list_pending_approvals", &json!({})).ok();
    let pending = ack["requests"].as_array().expect("requests");
    let waits = pending.iter().any(|it| it["request_id"] == request.id());
    if !waits {
        ends(person, &run);
    }
    (request, waits)
}

fn rules(person: &Person) -> Vec<Value> {
    person.emit("rules:list", &json!({})).ok()["rules"].as_array().unwrap().clone()
}

/// Ed has let the model write `a.txt`, and does not want to be asked about such files again.
fn with_rule(remember: &Value) -> (TestServer, Person) {
    let copydesk = writing(&["a.txt", "b.txt", "c.md", "d.txt"]);
    let ed = copydesk.editor("Ed");
    let (first, waits) = asks(&ed, "a.txt");
    assert!(waits);
    ed.decides(&first, json!({"approved": true, "remember": remember})).ok();
    ed.sees_where("agent_event", |it| it["type"] == "result");
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("This is a.txt.\n"));
    (copydesk, ed)
}

/// The whole audit log, newest first; its chain holds.
fn log(copydesk: &mut TestServer) -> Vec<AuditRecord> {
    copydesk.stops();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Store::open(copydesk.store(), StoreAccess::Visit).await.unwrap();
        store.verify_audit().await.unwrap();
        store.audit(None, None, 100).await.unwrap()
    })
}

#[test]
fn a_remembered_rule_writes_the_next_file_and_everybody_sees_whose_rule_it_was() {
    let (mut copydesk, ed) = with_rule(&json!({"scope": "session", "path": "*.txt"}));
    let owner = copydesk.owner();
    let rule = rules(&ed).remove(0);
    assert_eq!(
        (&rule["tool"], &rule["documentId"], &rule["by"]),
        (&json!("Write"), &Value::Null, &ed.user())
    );
    let run = runs(&ed, "b.txt");
    let request = owner.sees_request_of(&run);
    let resolved = owner.sees_resolved(&request);
    assert_eq!((&resolved["status"], &resolved["by"]), (&json!("approved"), &ed.user()));
    assert_eq!(resolved["rule"], rule["id"]);
    ends(&ed, &run);
    assert_eq!(ed.tool_results(&run)[0]["content"], "Wrote 15 characters to b.txt");
    assert_eq!(copydesk.file("b.txt").as_deref(), Some("This is b.txt.\n"));

    let lines = log(&mut copydesk);
    let decided = lines.iter().find(|it| it.entry.action == "request.decide").unwrap();
    assert_eq!(decided.entry.request.as_ref().unwrap().as_str(), request.id());
    assert_eq!(decided.entry.detail["decision"]["rule"], rule["id"]);
    assert!(ed.user()["id"] == decided.entry.actor.as_str());
}

#[test]
fn a_file_that_the_rule_does_not_name_waits_for_people() {
    let (copydesk, ed) = with_rule(&json!({"scope": "session", "path": "*.txt"}));
    let (markdown, waits) = asks(&ed, "c.md");
    assert!(waits && copydesk.file("c.md").is_none());
    ed.rejects(&markdown, "");
    let (_, waits) = asks(&ed, "b.txt");
    assert!(!waits);
}

#[test]
fn once_the_rule_is_revoked_people_are_asked_again() {
    let (mut copydesk, ed) = with_rule(&json!({"scope": "session"}));
    assert!(!asks(&ed, "b.txt").1);
    let id = rules(&ed)[0]["id"].clone();
    copydesk.editor("Eve").emit("rules:revoke", &json!({"id": id})).refused_with("not_allowed");
    copydesk.owner().emit("rules:revoke", &json!({"id": id})).ok();
    assert_eq!(rules(&ed), [Value::Null; 0]);
    let (request, waits) = asks(&ed, "d.txt");
    assert!(waits && copydesk.file("d.txt").is_none());
    ed.accepts_all(&request);
    ed.sees_where("agent_event", |it| it["type"] == "result");
    assert_eq!(copydesk.file("d.txt").as_deref(), Some("This is d.txt.\n"));
    assert!(log(&mut copydesk).iter().any(|it| it.entry.action == "rule.revoke"));
}

#[test]
fn a_rule_of_the_inbox_decides_after_a_power_cut_too_and_for_no_one_elses_session() {
    let (mut copydesk, ed) = with_rule(&json!({"scope": "session"}));
    copydesk.is_killed_and_restarted();
    let ed = ed.comes_back(&copydesk);
    assert!(!asks(&ed, "b.txt").1);
    let (_, waits) = asks(&copydesk.editor("Eve"), "c.md");
    assert!(waits, "the rule is for another session");
}

/// The owner makes a rule in the workspace inbox; the rule.
fn adds(owner: &Person, rule: Value) -> Value {
    let mut payload = rule;
    payload["documentId"] = json!("desk");
    owner.emit("rules:add", &payload).ok()["rule"].clone()
}

#[test]
fn the_inbox_is_named_in_lists_as_in_other_events() {
    let copydesk = writing(&["a.txt", "b.txt"]);
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    owner.creates("A document of its own.");
    let rule = adds(&owner, json!({"effect": "deny", "path": "secret*"}));
    let (request, waits) = asks(&ed, "a.txt");
    assert!(waits);
    let inbox = || json!({"documentId": "desk"});
    let rules = owner.emit("rules:list", &inbox()).ok();
    assert_eq!(rules["rules"], json!([rule]));
    assert_eq!(ed.emit("rules:list", &inbox()).ok()["rules"], json!([]), "it is not his");
    let open = owner.emit("list_pending_approvals", &inbox()).ok();
    assert_eq!(open["requests"].as_array().unwrap().len(), 1);
    assert_eq!(open["requests"][0]["request_id"], request.id());
    let over_rest = RestClient::new(&copydesk, OWNER).gets("rules?documentId=desk").ok();
    assert_eq!(over_rest["rules"], json!([rule]));
}

/// Returns what the model learns of a call about which no one is asked.
fn unasked_result(person: &Person, prompt: &str) -> Value {
    let run = runs(person, prompt);
    ends(person, &run);
    assert!(person.saw("tool_approval_request").iter().all(|it| it["requestId"] != run));
    person.tool_results(&run).remove(0)
}

#[test]
fn what_an_owner_denied_is_not_done_no_one_is_asked_and_the_log_says_so() {
    let mut copydesk = writing(&["a.txt", "b.txt", "c.md"]);
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    let rule = adds(&owner, json!({"effect": "deny", "tool": "Write", "path": "*.TXT"}));
    assert_eq!(
        (&rule["effect"], &rule["remember"]["scope"]),
        (&json!("deny"), &json!("workspace"))
    );
    let denied = unasked_result(&ed, "a.txt");
    assert_eq!(denied["is_error"], true);
    let reason = "Denied by a rule of this workspace: it does not allow Write on files like *.TXT";
    assert!(denied["content"].as_str().unwrap().starts_with(reason), "{denied}");
    assert_eq!(copydesk.file("a.txt"), None);
    let (other, waits) = asks(&ed, "c.md");
    assert!(waits, "another file is asked about");
    ed.rejects(&other, "");

    ed.emit("rules:revoke", &json!({"id": rule["id"]})).refused_with("not_allowed");
    owner.emit("rules:revoke", &json!({"id": rule["id"]})).ok();
    assert!(asks(&ed, "b.txt").1);
    let lines = log(&mut copydesk);
    let denial = lines.iter().find(|it| it.entry.action == "rule.deny").unwrap();
    assert_eq!(denial.entry.detail["rule"], rule["id"]);
    assert_eq!(denial.entry.detail["file"], "a.txt");
    assert!(ed.user()["id"] == denial.entry.actor.as_str());
}

#[test]
fn a_denial_survives_a_power_cut_and_holds_where_approvals_are_off() {
    let mut copydesk = writing(&["a.txt", "b.txt"]);
    let owner = copydesk.owner();
    adds(&owner, json!({"effect": "deny", "path": "a.*"}));
    copydesk.is_killed_and_restarted();
    let owner = copydesk.owner();
    owner.emit("settings:set", &json!({"approvals": "off"})).ok();
    assert_eq!(unasked_result(&owner, "a.txt")["is_error"], true);
    let (_, waits) = asks(&owner, "b.txt");
    assert!(!waits && copydesk.file("b.txt").is_some() && copydesk.file("a.txt").is_none());
}

#[test]
fn people_are_asked_whatever_was_allowed_where_an_owner_wants_it() {
    let (copydesk, ed) = with_rule(&json!({"scope": "session"}));
    let owner = copydesk.owner();
    let ask = adds(&owner, json!({"effect": "ask", "path": "b.*"}));
    assert_eq!(adds(&owner, json!({"effect": "ask", "path": "b.*"}))["id"], ask["id"]);
    let (request, waits) = asks(&ed, "b.txt");
    assert!(waits && copydesk.file("b.txt").is_none());
    ed.accepts_all(&request);
    ed.sees_where("agent_event", |it| it["type"] == "result");
    assert!(!asks(&ed, "d.txt").1, "elsewhere the remembered rule decides");
    owner.emit("settings:set", &json!({"approvals": "off"})).ok();
    adds(&owner, json!({"effect": "ask"}));
    assert!(asks(&ed, "c.md").1);
}

#[test]
fn what_an_owner_allows_is_done_in_the_owners_name_unless_it_is_larger() {
    let copydesk = writing(&["a.txt", "long-file-name.txt"]);
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    let allow = adds(&owner, json!({"effect": "allow", "tool": "Write", "max_units": 15}));
    assert_eq!(allow["request_id"], Value::Null);
    let run = runs(&ed, "a.txt");
    let resolved = ed.sees_resolved(&ed.sees_request_of(&run));
    assert_eq!((&resolved["by"], &resolved["rule"]), (&owner.user(), &allow["id"]));
    ends(&ed, &run);
    assert!(asks(&ed, "long-file-name.txt").1);
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("This is a.txt.\n"));
}

#[test]
fn a_file_may_not_be_read_where_an_owner_denied_it() {
    let read = |file: &str| json!({"file_path": file});
    let script = Script::default()
        .answering("secret", "Read", &read("secret.txt"))
        .answering("open", "Read", &read("open.txt"))
        .closing("Done.");
    let files = [("secret.txt", "hidden"), ("open.txt", "shown")];
    let copydesk = TestServer::plan().script(script).workspace(&files).start();
    let owner = copydesk.owner();
    adds(&owner, json!({"effect": "deny", "path": "secret*"}));
    assert_eq!(unasked_result(&owner, "secret")["is_error"], true);
    assert_eq!(unasked_result(&owner, "open")["content"], "shown");
}

#[test]
fn a_search_leaves_out_files_that_a_rule_denies_and_shows_no_words_of_those_to_be_asked_about() {
    let answers = |script: Script, (prompt, tool, input): (&str, &str, Value)| {
        let call = json!({"type": "tool_use", "name": tool, "input": input});
        script.turn(json!({"when": {"user": prompt}, "content": [call], "repeat": true}))
    };
    let searches = [
        ("names", "Glob", json!({"pattern": "*.txt"})),
        ("words", "Grep", json!({"pattern": "lamp"})),
        ("in it", "Grep", json!({"pattern": "lamp", "path": "./secret.txt"})),
        ("nowhere", "Grep", json!({"pattern": "lamp", "path": "secret-of-old.txt"})),
    ];
    let script = searches.into_iter().fold(Script::default(), answers).closing("Done.");
    let lit = "The lamp was lit.\n";
    let files = [("secret.txt", lit), ("draft.txt", lit), ("open.txt", lit)];
    let copydesk = TestServer::plan().script(script).workspace(&files).start();
    let owner = copydesk.owner();
    let unasked_result =
        |prompt: &str| unasked_result(&owner, prompt)["content"].as_str().unwrap().to_owned();
    assert_eq!(unasked_result("names"), "draft.txt\nopen.txt\nsecret.txt");
    adds(&owner, json!({"effect": "deny", "path": "SECRET*"}));
    adds(&owner, json!({"effect": "ask", "tool": "Read", "path": "draft*"}));
    adds(&owner, json!({"effect": "deny", "tool": "Write", "path": "open.txt"}));
    let said = "[files that rules of this workspace keep from searches are left out]";
    assert_eq!(unasked_result("names"), format!("draft.txt\nopen.txt\n{said}"));
    assert_eq!(unasked_result("words"), format!("open.txt:1:The lamp was lit.\n{said}"));
    // Whether there is such a file is not reported either.
    assert_eq!(unasked_result("in it"), format!("No matches found\n{said}"));
    assert_eq!(unasked_result("nowhere"), unasked_result("in it"));
}

#[test]
fn what_waits_is_not_approved_once_an_owner_has_denied_it() {
    let copydesk = writing(&["a.txt"]);
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    let (request, waits) = asks(&ed, "a.txt");
    assert!(waits);
    let rule = adds(&owner, json!({"effect": "deny", "tool": "Write"}));
    for person in [&owner, &ed] {
        person.decides(&request, json!({"approved": true})).refused_with("not_allowed");
    }
    owner.emit("rules:revoke", &json!({"id": rule["id"]})).ok();
    ed.accepts_all(&request);
    ed.sees_where("agent_event", |it| it["type"] == "result");
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("This is a.txt.\n"));
}
