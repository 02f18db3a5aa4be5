//! Mentions: a person finds them in the list of documents, and has read them on all devices at
//! once.

use serde_json::{Value, json};

use crate::support::{Person, Role, TestServer};

fn mentions(person: &Person, document: &str) -> Value {
    let list = person.emit("document:list", &json!({})).ok();
    let lines = list["documents"].as_array().unwrap();
    let line = lines.iter().find(|line| line["id"] == document);
    line.map(|line| line["mentions"].clone()).unwrap_or_default()
}

#[test]
fn a_mention_marks_the_document_until_it_is_read_on_any_device() {
    let mut copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor_with("Ben", &["comments"]));
    let document = ana.creates("The lamp was lit.\n");
    let there = json!({"documentId": document});
    let window = |copydesk: &TestServer, of: &Person| {
        Person::arrive_with(copydesk.url(), &of.token, &["comments"])
    };
    let phone = window(&copydesk, &ben);
    let says = |text: &str, mentioned: &Value| {
        let wish = json!({"documentId": document, "text": text, "mentions": mentioned});
        ana.emit("comment:create", &wish).ok()["thread"].clone()
    };
    let ben_id = ben.user()["id"].clone();
    let thread = says("@Ben and @Ana?", &json!([ben_id, ana.user()["id"]]));
    says("Nobody", &json!([]));
    let told = phone.sees("comment:unread");
    assert_eq!(told, json!({"documentId": document, "mentions": 1, "read": []}));
    assert_eq!((mentions(&ben, &document), mentions(&ana, &document)), (json!(1), json!(0)));
    let reply = json!({"threadId": thread["id"], "text": "@Ben?", "mentions": [ben_id]});
    ana.emit("comment:reply", &reply).ok();
    assert_eq!(mentions(&ben, &document), 1, "threads are counted");
    copydesk.is_killed_and_restarted();
    let (ben, phone) = (window(&copydesk, &ben), window(&copydesk, &ben));
    let ana = window(&copydesk, &ana);
    assert_eq!(mentions(&ben, &document), 1);
    let one = json!({"documentId": document, "threadIds": [thread["id"]]});
    ben.emit("comment:read", &one).ok();
    let told = phone.sees("comment:unread");
    let read = json!([{"id": thread["id"], "comments": 2}]);
    assert_eq!((&told["mentions"], &told["read"]), (&json!(0), &read));
    assert_eq!(mentions(&phone, &document), 0);
    assert!(ana.saw("comment:unread").is_empty(), "it is nobody else's");
    // Settled matters need nobody, and what is deleted mentions nobody.
    ana.emit("comment:reply", &reply).ok();
    assert_eq!(mentions(&ben, &document), 1);
    let settled = json!({"threadId": thread["id"], "resolved": true});
    ana.emit("comment:resolve", &settled).ok();
    assert_eq!(mentions(&ben, &document), 0);
    ana.emit("comment:resolve", &json!({"threadId": thread["id"], "resolved": false})).ok();
    let answers = ana.emit("comment:list", &there).ok();
    let third = &answers["threads"][1]["comments"][2]["id"];
    ana.emit("comment:delete", &json!({"commentId": third})).ok();
    assert_eq!(mentions(&ben, &document), 0);
    drop((ana, ben, phone));
    copydesk.checks_its_data();
}

#[test]
fn who_cannot_read_a_document_is_not_told_of_a_mention_there() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    let (document, other) = (ana.creates("One.\n"), ana.creates("Two.\n"));
    let guest = copydesk.guest(Role::Editor, &other);
    let wish = json!({"documentId": document, "text": "@Guest", "mentions": [guest.user()["id"]]});
    ana.emit("comment:create", &wish).ok();
    assert_eq!(mentions(&guest, &document), Value::Null, "it is not in the list");
    guest.is_fine();
    assert!(guest.saw("comment:unread").is_empty());
    assert_eq!(mentions(&ben, &document), 0);
}

#[test]
fn people_who_may_read_a_document_are_offered_to_those_who_may_comment() {
    let copydesk = TestServer::quiet();
    let (ana, rex) = (copydesk.editor("Ana"), copydesk.person("Rex", Role::Reviewer));
    let (document, other) = (ana.creates("One.\n"), ana.creates("Two.\n"));
    let guest = copydesk.guest(Role::Viewer, &other);
    let there = json!({"documentId": document});
    let offered = rex.emit("comment:people", &there).ok()["people"].clone();
    let offered: Vec<_> = offered.as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    assert!(offered.contains(&ana.user()["id"]) && !offered.contains(&rex.user()["id"]));
    assert!(!offered.contains(&guest.user()["id"]), "who may not read it is not offered");
    let own = json!({"documentId": other});
    guest.emit("comment:people", &own).refused_with("not_allowed");
}
