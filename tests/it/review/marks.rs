//! Changes that alter the meaning: their marks, the policies by them, and the rules that leave them
//! to people.

use serde_json::{Value, json};

use crate::support::http::ask;
use crate::support::script::full;
use crate::support::{Person, Request, Script, TestServer};

const BEFORE: &str = "Teh keeper had 12 lamps.\n\nHe recieved few visitors there.\n";
const AFTER: &str = "The keeper had 21 lamps.\n\nHe received few visitors there.\n";

/// A document of the owner under these settings, in which Ana has asked and Ben looks on.
fn asked(settings: Value) -> (TestServer, Person, Person, Person, Request) {
    let copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let (owner, ana, ben) = (copydesk.owner(), copydesk.editor("Ana"), copydesk.editor("Ben"));
    owner.creates(BEFORE);
    configure(&owner, settings);
    ana.opens(&owner.document());
    ben.opens(&owner.document());
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    ben.sees_request();
    (copydesk, owner, ana, ben, request)
}

fn configure(owner: &Person, mut settings: Value) {
    settings["documentId"] = json!(owner.document());
    owner.emit("document:settings", &settings).ok();
}

fn numbers_need(policy: &str) -> Value {
    json!({"policies": [{"marks": ["number", "name"], "policy": policy}]})
}

/// The number of the change with marks, from 1, and the numbers of the others.
fn marked(request: &Request) -> (usize, Vec<usize>) {
    let has_marks = |number: &usize| request.hunks()[number - 1].get("marks").is_some();
    let (marked, others) = (1..=request.hunks().len()).partition::<Vec<_>, _>(has_marks);
    assert_eq!(marked.len(), 1, "{}", request.0);
    (marked[0], others)
}

#[test]
fn a_change_says_which_facts_it_alters_wherever_it_is_read() {
    let (mut copydesk, owner, ana, _ben, request) = asked(json!({"policy": "any"}));
    let (number, _) = marked(&request);
    let marks = json!([{"kind": "number", "was": "12", "now": "21"}]);
    assert_eq!(request.hunks()[number - 1]["marks"], marks);
    assert_eq!(request.hunks()[number - 1].get("policies"), None);
    let (host, bearer) = (copydesk.address().to_owned(), format!("Bearer {}", ana.token));
    let fetch = |what: &str| {
        let route = format!("GET /api/v1/{what}");
        ask(&host, &route, &[("Host", &host), ("Authorization", &bearer)]).body
    };
    let alone: Value = serde_json::from_str(&fetch(&format!("requests/{}", request.id()))).unwrap();
    assert_eq!(alone["hunks"][number - 1]["marks"], marks, "{alone}");
    let export = format!("documents/{}/export", owner.document());
    let exported: Value = serde_json::from_str(&fetch(&format!("{export}?format=json"))).unwrap();
    assert_eq!(exported["requests"][0]["hunks"][number - 1]["marks"], marks);
    let annotated = fetch(&format!("{export}?format=criticmarkup"));
    assert!(annotated.contains("Changes the meaning: number 12 → 21."), "{annotated}");
    let told = ana.emit("approval:told", &request.decision(json!({"approved": true})));
    let told = told.ok()["text"].as_str().unwrap().to_owned();
    assert!(!told.contains("changes the meaning"), "all is accepted, so nothing is listed: {told}");
    ana.accepts(&request, &[number]);
    let rest = json!({"approved": false, "finish": "reject"});
    let told = ana.emit("approval:told", &request.decision(rest)).ok();
    let told = told["text"].as_str().unwrap();
    assert!(told.contains("(changes the meaning: number 12 → 21)"), "{told}");
    copydesk.is_killed_and_restarted();
    let ana = ana.comes_back(&copydesk);
    ana.opens_again();
    assert_eq!(ana.pending()[0].hunks()[number - 1]["marks"], marks);
}

#[test]
fn two_people_accept_what_alters_a_number_and_one_accepts_the_rest() {
    let (_copydesk, _owner, ana, ben, request) = asked(numbers_need("two"));
    let (number, others) = marked(&request);
    let hunk = &request.hunks()[number - 1];
    assert_eq!((&hunk["policies"], &request["policies"]), (&json!(["two"]), &json!(["any"])));
    assert_eq!(hunk["approvals"], json!({"have": 0, "need": 2}));
    ana.accepts_all(&request);
    let told = ben.sees_where("tool_approval_update", |it| it["request_id"] == request.id());
    let voted = told["hunks"].as_array().unwrap().iter().find(|it| it["id"] == hunk["id"]);
    assert_eq!(voted.unwrap()["approvals"], json!({"have": 1, "need": 2}), "{told}");
    let pending = ana.pending()[0].clone();
    let open = pending.statuses().into_iter().filter(|it| *it == "pending").count();
    assert_eq!(open, 1, "{}", pending.0);
    assert_eq!(pending.statuses()[others[0] - 1], "accepted");
    ben.accepts(&pending, &[number]);
    assert_eq!(ana.sees_resolved(&request)["status"], "approved");
    ana.comes_to_read(AFTER);
}

#[test]
fn a_person_whom_a_policy_by_marks_excludes_accepts_the_other_changes() {
    let (_copydesk, owner, ana, _ben, request) = asked(numbers_need("owner"));
    let (number, others) = marked(&request);
    let refused = ana.decides(&request, json!({"approved": true})).refused_with("not_allowed");
    assert_eq!(refused["reasonCode"], "marks_need_owner", "{refused}");
    ana.accepts(&request, &others);
    let own = json!([{"id": request.hunk(number), "decision": "accept", "text": "12"}]);
    let own = json!({"approved": true, "hunks": own});
    ana.decides(&request, own).refused_with("not_allowed");
    owner.accepts(&request, &[number]);
    ana.comes_to_read(AFTER);
    let undo = json!({"request_id": request.id(), "hunks": [request.hunk(number)]});
    ana.emit("approval:undo", &undo).refused_with("not_allowed");
    owner.emit("approval:undo", &undo).ok();
}

#[test]
fn a_policy_by_marks_holds_for_what_waits_as_soon_as_it_is_set() {
    let (_copydesk, owner, ana, ben, request) = asked(json!({"policy": "any"}));
    let (number, _) = marked(&request);
    configure(&owner, numbers_need("two"));
    let told = ben.sees_where("tool_approval_update", |it| it["request_id"] == request.id());
    assert_eq!(told["hunks"][0]["approvals"], json!({"have": 0, "need": 2}), "{told}");
    ana.accepts(&request, &[number]);
    assert_eq!(ana.pending()[0].statuses()[number - 1], "pending");
    configure(&owner, json!({"policies": []}));
    let now = ana.pending()[0].hunks()[number - 1].clone();
    assert_eq!((now.get("policies"), now.get("approvals")), (None, None), "{now}");
    ben.accepts(&request, &[number]);
    assert_eq!(ana.pending()[0].statuses()[number - 1], "accepted");
}

#[test]
fn a_rule_for_unmarked_changes_leaves_the_marked_one_to_people() {
    let script = Script::default()
        .answering("first", "update_full_document", &full(&BEFORE.replace("recieved", "received")))
        .answering("second", "update_full_document", &full(AFTER))
        .closing("Done.");
    let copydesk = TestServer::scripted(script);
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let first = ana.sees_request_of(&ana.asks("first"));
    let remember = json!({"scope": "document", "unmarked": true});
    ana.decides(&first, json!({"approved": true, "remember": remember})).ok();
    let rules = ana.sees("rules:changed");
    assert_eq!(rules["rules"][0]["remember"]["unmarked"], true, "{rules}");
    let second = ana.sees_request_of(&ana.asks("second"));
    ana.comes_to_read(&BEFORE.replace("recieved", "received").replace("Teh", "The"));
    let pending = ana.pending();
    let (number, others) = marked(&pending[0]);
    assert_eq!(pending[0].id(), second.id());
    assert_eq!(pending[0].statuses()[number - 1], "pending");
    let decided = &pending[0].hunks()[others[0] - 1]["decided"];
    assert_eq!(decided["rule"], rules["rules"][0]["id"], "{decided}");
}

#[test]
fn rules_without_marks_only_allow_and_only_in_documents() {
    let (_copydesk, owner, _ana, _ben, _request) = asked(json!({"policy": "any"}));
    let rule = |effect: &str, document: &str| {
        let tool = "update_full_document";
        let rule =
            json!({"documentId": document, "effect": effect, "tool": tool, "unmarked": true});
        owner.emit("rules:add", &rule)
    };
    rule("deny", &owner.document()).refused_with("invalid_payload");
    rule("allow", "desk").refused_with("invalid_payload");
    rule("allow", &owner.document()).ok();
}
