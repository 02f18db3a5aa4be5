//! Rules at the desk: files that a remembered rule lets through.

use copydesk::store::{Access, AuditRecord, Store};
use serde_json::{Value, json};

use crate::support::{Desk, Person, Request, Script};

/// A model that writes the file which the prompt names, whatever is asked.
fn writing(files: &[&str]) -> Desk {
    let write = |script: Script, file: &&str| {
        let input = json!({"file_path": file, "content": format!("This is {file}.\n")});
        script.answering(&regex(file), "Write", &input)
    };
    let script = files.iter().fold(Script::default(), write).closing("Done.");
    Desk::plan().script(script).workspace(&[]).start()
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
fn with_rule(remember: &Value) -> (Desk, Person) {
    let desk = writing(&["a.txt", "b.txt", "c.md", "d.txt"]);
    let ed = desk.editor("Ed");
    let (first, waits) = asks(&ed, "a.txt");
    assert!(waits);
    ed.decides(&first, json!({"approved": true, "remember": remember})).ok();
    ed.sees_where("agent_event", |it| it["type"] == "result");
    assert_eq!(desk.file("a.txt").as_deref(), Some("This is a.txt.\n"));
    (desk, ed)
}

/// The whole audit log, newest first; its chain holds.
fn log(desk: &mut Desk) -> Vec<AuditRecord> {
    desk.stops();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Store::open(&desk.data(), Access::Visit).await.unwrap();
        store.verify_audit().await.unwrap();
        store.audit(None, None, 100).await.unwrap()
    })
}

#[test]
fn a_remembered_rule_writes_the_next_file_and_everybody_sees_whose_rule_it_was() {
    let (mut desk, ed) = with_rule(&json!({"scope": "session", "path": "*.txt"}));
    let owner = desk.owner();
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
    assert_eq!(ed.told(&run)[0]["content"], "Wrote 15 characters to b.txt");
    assert_eq!(desk.file("b.txt").as_deref(), Some("This is b.txt.\n"));

    let lines = log(&mut desk);
    let decided = lines.iter().find(|it| it.entry.action == "request.decide").unwrap();
    assert_eq!(decided.entry.request.as_ref().unwrap().as_str(), request.id());
    assert_eq!(decided.entry.detail["decision"]["rule"], rule["id"]);
    assert!(ed.user()["id"] == decided.entry.actor.as_str());
}

#[test]
fn a_file_that_the_rule_does_not_name_waits_for_people() {
    let (desk, ed) = with_rule(&json!({"scope": "session", "path": "*.txt"}));
    let (markdown, waits) = asks(&ed, "c.md");
    assert!(waits && desk.file("c.md").is_none());
    ed.rejects(&markdown, "");
    let (_, waits) = asks(&ed, "b.txt");
    assert!(!waits);
}

#[test]
fn once_the_rule_is_revoked_people_are_asked_again() {
    let (mut desk, ed) = with_rule(&json!({"scope": "session"}));
    assert!(!asks(&ed, "b.txt").1);
    let id = rules(&ed)[0]["id"].clone();
    desk.editor("Eve").emit("rules:revoke", &json!({"id": id})).refused_with("not_allowed");
    desk.owner().emit("rules:revoke", &json!({"id": id})).ok();
    assert_eq!(rules(&ed), [Value::Null; 0]);
    let (request, waits) = asks(&ed, "d.txt");
    assert!(waits && desk.file("d.txt").is_none());
    ed.accepts_all(&request);
    ed.sees_where("agent_event", |it| it["type"] == "result");
    assert_eq!(desk.file("d.txt").as_deref(), Some("This is d.txt.\n"));
    assert!(log(&mut desk).iter().any(|it| it.entry.action == "rule.revoke"));
}

#[test]
fn a_rule_of_the_desk_decides_after_a_power_cut_too_and_for_nobody_elses_session() {
    let (mut desk, ed) = with_rule(&json!({"scope": "session"}));
    desk.is_killed_and_restarted();
    let ed = ed.comes_back(&desk);
    assert!(!asks(&ed, "b.txt").1);
    let (_, waits) = asks(&desk.editor("Eve"), "c.md");
    assert!(waits, "the rule is for another session");
}
