//! Budgets: what one person makes the server work out, or keep in memory, is not paid for by the
//! others.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Person, Role, TestServer};

/// An update of a text of `len` units that touches every second place.
fn everywhere(len: usize) -> Value {
    Value::Array((0..len / 2).flat_map(|_| [json!([1, "y"]), json!(1)]).collect())
}

/// The longest of some keystrokes.
fn slowest_keystroke(person: &Person, count: usize) -> Duration {
    let keystroke = |_| {
        let began = Instant::now();
        person.types(0, "x");
        began.elapsed()
    };
    (0..count).map(keystroke).max().unwrap_or_default()
}

#[test]
fn two_editors_who_send_what_costs_much_hold_up_no_one_else() {
    let copydesk = TestServer::quiet();
    let len = 40_000;
    let hostile: Vec<_> = ["Mallory", "Trudy"].map(|name| copydesk.editor(name)).into();
    for person in &hostile {
        person.creates(&"x".repeat(len));
        let typed: Vec<_> = (0..150).map(|at| json!([[0, "z"], len + at])).collect();
        person.pushes(0, &typed).ok();
    }
    let ana = copydesk.editor("Ana");
    ana.creates("Hello.");
    let control = slowest_keystroke(&ana, 20);
    // Each of both sends two updates that touch every second place, and would have to be moved over
    // those.
    let began = Instant::now();
    let sent: Vec<_> = hostile
        .iter()
        .map(|person| {
            let late = json!([
                {"clientID": "late", "changes": everywhere(len)},
                {"clientID": "late", "changes": everywhere(len)},
            ]);
            let push = json!({"documentId": person.document(), "version": 0, "updates": late});
            (person, person.send("document:push", &push))
        })
        .collect();
    let during = slowest_keystroke(&ana, 20);
    for (person, pending) in sent {
        let error = person.ack(pending).refused_with("resync");
        assert!(error["message"].as_str().unwrap().contains("load the document again"), "{error}");
    }
    let attack = began.elapsed();
    assert!(
        during < control + attack / 2,
        "a keystroke took {during:?}, {control:?} before; the others were refused after {attack:?}"
    );
    // Nothing was lost, and nothing changed: who catches up can write.
    for person in &hostile {
        let ack = person.opens(&person.document());
        assert_eq!(ack["document"]["version"], 150);
        person.types(0, "z");
    }
}

#[test]
fn long_updates_leave_the_memory_and_a_person_who_missed_them_gets_them_all() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    let document = ana.creates("x");
    ben.opens(&document);
    ben.loses_connection();
    let mut len = 1;
    for letter in 'a'..='t' {
        // Twenty of them: twice what a document keeps in memory of its log.
        ana.replaces(0, len, &letter.to_string().repeat(800_000));
        len = 800_000;
    }
    let ben = ben.comes_back(&copydesk);
    let ack = ben.emit("document:resync", &json!({"documentId": document, "version": 0})).ok();
    assert_eq!(ack["from"], 0, "not the whole text");
    assert_eq!(ack["updates"].as_array().unwrap().len(), 20);
    ben.comes_to_version(20);
    ana.types(0, "!");
    ben.comes_to_version(21);
    assert_eq!(ben.text(), ana.text());
}

#[test]
fn an_editor_instance_for_each_keystroke_is_not_told_to_everybody_for_ever() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    let document = ana.creates("");
    for version in 0..40 {
        let changes = if version == 0 { json!([[0, "x"]]) } else { json!([version, [0, "x"]]) };
        ana.pushes_as(&format!("instance-{version}"), version, &[changes]).ok();
    }
    let peers = ben.opens(&document)["peers"].clone();
    let clients = peers[0]["clientIDs"].as_array().unwrap().clone();
    assert_eq!(clients.len(), 8, "{peers}");
    assert_eq!(clients[7], "instance-39");
    // One that no one is notified of any more is still hers alone.
    let changes = json!([40, [0, "y"]]);
    ben.pushes_as("instance-0", 40, std::slice::from_ref(&changes)).refused_with("not_allowed");
    ana.pushes_as("instance-0", 40, &[changes]).ok();
}

#[test]
fn a_push_with_hundreds_of_editor_instances_is_refused() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("");
    let updates: Vec<_> =
        (0..200).map(|at| json!({"clientID": format!("c{at}"), "changes": []})).collect();
    let push = json!({"documentId": document, "version": 0, "updates": updates});
    ana.emit("document:push", &push).refused_with("invalid_payload");
    ana.types(0, "x");
}

#[test]
fn a_list_has_what_the_person_may_see_whole_and_by_pages() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let list = || ana.emit("document:list", &json!({})).ok();
    let first = list();
    let mut made: Vec<String> = (0..230)
        .map(|number| {
            let ack = ana.emit("document:create", &json!({"title": format!("No. {number}")})).ok();
            ack["document"]["id"].as_str().unwrap().to_owned()
        })
        .collect();
    let ids = |list: &Value| -> Vec<String> {
        let list = list["documents"].as_array().unwrap();
        let mut ids: Vec<_> =
            list.iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    let one = made[7].clone();
    made.extend(ids(&first));
    made.sort();
    assert!(ids(&list()) == made, "not each of {} documents once", made.len());
    let (mut paged, mut page) = (Vec::new(), json!({"limit": 100}));
    loop {
        let part = ana.emit("document:list", &page).ok();
        paged.extend(ids(&part));
        let Some(next) = part["next"].as_str() else { break };
        assert_eq!(part["documents"].as_array().map(Vec::len), Some(100));
        page = json!({"limit": 100, "before": next});
    }
    paged.sort();
    assert!(paged == made, "not each of {} documents once, page by page", made.len());
    let only = copydesk.guest(Role::Editor, &one);
    assert_eq!(ids(&only.emit("document:list", &json!({})).ok()), [one]);
    only.emit("list_pending_approvals", &json!({})).ok();
}
