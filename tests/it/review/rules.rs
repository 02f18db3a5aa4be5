//! Not being asked again: rules made with an approval, what they let through, and stricter policies
//! for tools and sizes.

use copydesk_store::{Store, StoreAccess};
use serde_json::{Value, json};

use crate::support::http::ask;
use crate::support::script::full;
use crate::support::{Ack, Person, Request, Role, Script, TestServer};

const START: &str = "Teh keeper wrote. He recieved letters. It was dark.\n";
/// "Teh" goes, "The" comes: 6 units.
const FIRST: &str = "The keeper wrote. He recieved letters. It was dark.\n";
/// "recieved" goes, "received" comes: 16 units.
const SECOND: &str = "The keeper wrote. He received letters. It was dark.\n";
const THIRD: &str =
    "The keeper wrote. He received letters. The lamp burned until the morning came.\n";

/// A model that corrects one word, then another, then rewrites a sentence.
fn correcting() -> Script {
    Script::default()
        .answering("first", "update_full_document", &full(FIRST))
        .answering("second", "update_full_document", &full(SECOND))
        .answering("third", "update_full_document", &full(THIRD))
        .closing("Done.")
}

fn up_to(max_units: usize) -> Value {
    json!({"scope": "document", "max_units": max_units})
}

/// Ana writes and asks, Ben sits beside her, the owner's is the document.
struct Table {
    copydesk: TestServer,
    owner: Person,
    ana: Person,
    ben: Person,
}

impl Table {
    fn set() -> Self {
        let copydesk = TestServer::scripted(correcting());
        let (owner, ana, ben) = (copydesk.owner(), copydesk.editor("Ana"), copydesk.editor("Ben"));
        owner.creates(START);
        ana.opens(&owner.document());
        ben.opens(&owner.document());
        Self { copydesk, owner, ana, ben }
    }

    /// Ana has asked for the first correction, and a person has accepted it with a rule.
    fn with_rule(by: fn(&Self) -> &Person, remember: Value) -> Self {
        let table = Self::set();
        let request = table.asks("first");
        let decision = json!({"approved": true, "remember": remember});
        by(&table).decides(&request, decision).ok();
        table.ana.sees("rules:changed");
        table.ana.comes_to_read(FIRST);
        table
    }

    fn asks(&self, prompt: &str) -> Request {
        let run = self.ana.asks(prompt);
        self.ana.sees_request_of(&run)
    }

    /// Returns `true` if a request of Ana's waits for people after the run has come so far.
    fn waits(&self, request: &Request) -> bool {
        self.ana.pending().iter().any(|it| it.id() == request.id())
    }

    /// Returns what a program learns about the document.
    fn fetches(&self, what: &str) -> Value {
        let route = format!("GET /api/v1/documents/{}/{what}", self.owner.document());
        let (host, bearer) = (self.copydesk.address(), format!("Bearer {}", self.ana.token));
        let response = ask(host, &route, &[("Host", host), ("Authorization", &bearer)]);
        serde_json::from_str(&response.body).unwrap()
    }

    fn settings(&self, settings: Value) -> Ack {
        let mut payload = settings;
        payload["documentId"] = json!(self.owner.document());
        self.owner.emit("document:settings", &payload)
    }
}

fn rules(person: &Person) -> Vec<Value> {
    let ack = person.emit("rules:list", &json!({"documentId": person.document()})).ok();
    ack["rules"].as_array().unwrap().clone()
}

#[test]
fn a_rule_lets_the_second_small_correction_through_and_the_third_larger_one_asks() {
    let table = Table::with_rule(|it| &it.ana, up_to(16));
    let second = table.asks("second");
    let resolved = table.ben.sees_resolved(&second);
    assert_eq!((&resolved["status"], &resolved["by"]), (&json!("approved"), &table.ana.user()));
    assert_eq!(resolved["rule"], rules(&table.ben)[0]["id"]);
    assert_eq!(resolved["hunks"][0]["rule"], resolved["rule"], "each change says so too");
    assert_eq!((table.ana.text().as_str(), table.ben.text().as_str()), (SECOND, SECOND));
    let third = table.asks("third");
    assert!(table.waits(&third), "the larger one was not asked about");
    assert_eq!(table.ben.text(), SECOND);
}

#[test]
fn an_automatic_approval_is_shown_like_any_other_and_can_be_undone() {
    let table = Table::with_rule(|it| &it.ana, up_to(16));
    let second = table.asks("second");
    table.ben.sees_resolved(&second);
    table.ben.saw_in_order(&[
        "tool_approval_request",
        "document:updates",
        "tool_approval_resolved",
    ]);
    table.ben.emit("approval:undo", &json!({"request_id": second.id()})).ok();
    assert_eq!(table.ana.text(), FIRST);
    assert!(table.waits(&second), "once undone, a person decides");
}

#[test]
fn the_model_hears_of_an_automatic_approval_what_it_hears_of_any() {
    let table = Table::with_rule(|it| &it.ana, up_to(16));
    let run = table.ana.asks("second");
    assert_eq!(table.ana.answer(&run)["documentUpdate"], SECOND);
    let tool_results = table.ana.tool_results(&run);
    assert_eq!((tool_results.len(), &tool_results[0]["is_error"]), (1, &json!(false)));
}

#[test]
fn exactly_the_size_a_rule_allows_passes_and_one_unit_more_asks() {
    let table = Table::with_rule(|it| &it.ana, up_to(15));
    let second = table.asks("second");
    assert_eq!(second["units"], 16);
    assert!(table.waits(&second));
}

#[test]
fn a_reviewers_rule_decides_what_others_ask_for_in_the_reviewers_name() {
    let copydesk = TestServer::scripted(correcting());
    let (ana, rex) = (copydesk.editor("Ana"), copydesk.person("Rex", Role::Reviewer));
    rex.opens(&ana.creates(START));
    ana.asks("first");
    rex.decides(&rex.sees_request(), json!({"approved": true, "remember": up_to(16)})).ok();
    let run = ana.asks("second");
    let second = ana.sees_request_of(&run);
    assert_eq!(ana.sees_resolved(&second)["by"], rex.user());
    let history = ana.emit("document:history", &json!({"documentId": ana.document()})).ok();
    assert_eq!(history["versions"][0]["author"], rex.user());
    assert_eq!(history["versions"][0]["origin"], second.id());
}

#[test]
fn a_rule_is_revoked_by_its_maker_or_an_owner_and_only_once() {
    let table = Table::with_rule(|it| &it.ben, up_to(16));
    let id = rules(&table.ana)[0]["id"].clone();
    let revoke = |person: &Person| person.emit("rules:revoke", &json!({"id": id}));
    revoke(&table.ana).refused_with("not_allowed");
    revoke(&table.owner).ok();
    assert_eq!(
        table.ben.sees_where("rules:changed", |it| it["rules"] == json!([]))["rules"],
        json!([])
    );
    let late = revoke(&table.ben).refused_with("already_resolved");
    assert_eq!(late["details"]["by"], table.owner.user());
    table.ana.emit("rules:revoke", &json!({"id": "rul_none"})).refused_with("not_found");
    assert!(table.waits(&table.asks("second")));
}

#[test]
fn a_rule_survives_a_power_cut_and_goes_on_deciding() {
    let mut table = Table::with_rule(|it| &it.ana, up_to(16));
    let before = rules(&table.ana);
    table.copydesk.is_killed_and_restarted();
    let ana = table.ana.comes_back(&table.copydesk);
    ana.opens_again();
    assert_eq!(rules(&ana), before);
    let run = ana.asks("second");
    assert_eq!(ana.sees_resolved(&ana.sees_request_of(&run))["rule"], before[0]["id"]);
    assert_eq!(ana.text(), SECOND);
}

#[test]
fn a_rejection_with_a_rule_is_refused_and_nothing_is_decided() {
    let table = Table::set();
    let request = table.asks("first");
    let some = request.each(&[1], "reject");
    for no in [
        json!({"approved": false, "remember": up_to(16)}),
        json!({"decision": "respond", "message": "No.", "remember": up_to(16)}),
        json!({"hunks": some, "remember": up_to(16)}),
        json!({"approved": true, "remember": up_to(0)}),
        json!({"approved": true, "remember": {"scope": "document", "path": "*.md"}}),
    ] {
        table.ana.decides(&request, no).refused_with("invalid_decision");
    }
    assert!(table.waits(&request) && rules(&table.ana).is_empty());
}

#[test]
fn a_wish_of_the_wrong_shape_decides_nothing() {
    let table = Table::set();
    let request = table.asks("first");
    for remember in [
        json!({}),
        json!("session"),
        json!({"scope": "everything"}),
        json!({"scope": "document", "max_units": -1}),
        json!({"scope": "document", "max_units": "few"}),
        // A limit that is misspelled must not be no limit.
        json!({"scope": "document", "maxUnits": 16}),
        json!({"scope": "session", "path": "notes/[a"}),
    ] {
        let payload = request.decision(json!({"approved": true, "remember": remember}));
        let ack = table.ana.send_args("tool_approval_response", &json!([payload]));
        table.ana.ack(ack).refused_with("invalid_payload");
    }
    assert!(table.waits(&request) && rules(&table.ana).is_empty());
}

#[test]
fn not_the_requester_is_not_the_requesters_rule_either() {
    let table = Table::with_rule(|it| &it.ana, up_to(16));
    table.settings(json!({"policy": "not_requester"})).ok();
    let second = table.asks("second");
    assert_eq!((&second["policy"], table.waits(&second)), (&json!("not_requester"), true));
    table.ben.accepts_all(&second);
}

#[test]
fn where_two_must_agree_a_rule_is_one_of_them() {
    let table = Table::with_rule(|it| &it.ana, up_to(16));
    table.settings(json!({"policy": "two"})).ok();
    let second = table.asks("second");
    let vote = table.ben.sees_where("tool_approval_update", |it| it["request_id"] == second.id());
    assert_eq!(
        (&vote["approvals"], &vote["by"]),
        (&json!({"have": 1, "need": 2}), &table.ana.user())
    );
    assert_eq!(table.ben.accepts_all(&second)["status"], "approved");
    assert_eq!(table.ana.text(), SECOND);
}

#[test]
fn a_rule_that_is_revoked_is_no_longer_one_of_the_two_who_agree() {
    let table = Table::with_rule(|it| &it.ana, up_to(16));
    table.settings(json!({"policy": "two"})).ok();
    let second = table.asks("second");
    let id = rules(&table.ana)[0]["id"].clone();
    table.owner.emit("rules:revoke", &json!({"id": id})).ok();
    let is_recount = |it: &Value| it["request_id"] == second.id() && it["approvals"]["have"] == 0;
    table.ben.sees_where("tool_approval_update", is_recount);
    assert_eq!(table.ben.accepts_all(&second)["status"], "pending");
    assert_eq!(table.ben.text(), FIRST);
    assert_eq!(table.owner.accepts_all(&second)["status"], "approved");
    assert_eq!(table.ana.text(), SECOND);
}

#[test]
fn the_owners_policy_hears_an_owners_rule_and_no_one_elses() {
    let table = Table::with_rule(|it| &it.ana, up_to(16));
    table.settings(json!({"policy": "owner"})).ok();
    let second = table.asks("second");
    assert!(table.waits(&second));
    table.owner.decides(&second, json!({"approved": true, "remember": up_to(500)})).ok();
    let third = table.asks("third");
    assert_eq!(table.ana.sees_resolved(&third)["by"], table.owner.user());
}

#[test]
fn words_that_were_frozen_stay_whatever_a_rule_allows() {
    let table = Table::with_rule(|it| &it.ana, up_to(16));
    let version = table.ana.version();
    let frozen = json!({"version": version, "ranges": [{"from": 0, "to": 38}]});
    table.settings(json!({"frozen": frozen})).ok();
    let run = table.ana.asks("second");
    assert_eq!(table.ana.answer(&run)["updateType"], "none");
    assert_eq!(table.ana.text(), FIRST);
}

#[test]
fn a_rule_for_a_session_is_not_for_the_other_window() {
    let table = Table::with_rule(|it| &it.ana, json!({"scope": "session"}));
    let other = table.ana.second_window();
    other.opens(&table.owner.document());
    let run = other.asks("second");
    let request = other.sees_request_of(&run);
    assert!(table.waits(&request));
    table.ben.rejects(&request, "");
    let third = table.asks("third");
    assert!(!table.waits(&third), "the session that has the rule was asked");
}

#[test]
fn people_who_read_a_document_see_its_rules_and_no_one_else_does() {
    let table = Table::with_rule(|it| &it.ana, up_to(16));
    let vic = table.copydesk.person("Vic", Role::Viewer);
    vic.opens(&table.owner.document());
    let listed = rules(&vic);
    assert_eq!((&listed[0]["by"], &listed[0]["remember"]), (&table.ana.user(), &up_to(16)));
    vic.emit("rules:revoke", &json!({"id": listed[0]["id"]})).refused_with("not_allowed");

    let elsewhere = table.ben.creates("Elsewhere.\n");
    let token = table.copydesk.token("Gus", Role::Editor, &["--document", &elsewhere]);
    let gus = Person::arrive(table.copydesk.url(), &token, "Gus");
    assert_eq!(gus.emit("rules:list", &json!({})).ok()["rules"], json!([]));
    let named = json!({"documentId": table.owner.document()});
    gus.emit("rules:list", &named).refused_with("not_allowed");
    gus.emit("rules:revoke", &json!({"id": listed[0]["id"]})).refused_with("not_allowed");
    assert_eq!(table.ben.emit("rules:list", &json!({})).ok()["rules"], json!(listed));
}

#[test]
fn the_log_names_the_rule_that_decided_and_its_chain_holds() {
    let mut table = Table::with_rule(|it| &it.ana, up_to(16));
    let rule = rules(&table.ana)[0]["id"].clone();
    let second = table.asks("second");
    table.ana.sees_resolved(&second);
    table.copydesk.stops();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let lines = runtime.block_on(async {
        let store = Store::open(table.copydesk.store(), StoreAccess::Visit).await.unwrap();
        store.verify_audit().await.unwrap();
        store.audit(Some(&table.owner.document().into()), None, 100).await.unwrap()
    });
    let decided = lines.iter().find(|it| it.entry.action == "request.decide").unwrap();
    assert_eq!(decided.entry.request.as_ref().unwrap().as_str(), second.id());
    assert_eq!(decided.entry.detail["decision"]["rule"], rule);
    assert!(table.ana.user()["id"] == decided.entry.actor.as_str());
    assert!(lines.iter().any(|it| it.entry.action == "rule.create"));
}

#[test]
fn words_that_a_rule_let_in_say_which_rule_of_whom_it_was_even_when_it_is_over() {
    let table = Table::with_rule(|it| &it.ben, up_to(16));
    let rule = rules(&table.ana).remove(0);
    let second = table.asks("second");
    table.ana.sees_resolved(&second);
    table.ben.emit("rules:revoke", &json!({"id": rule["id"]})).ok();
    let expected = json!({
        "id": rule["id"],
        "by": table.ben.user(),
        "tool": "update_full_document",
        "remember": up_to(16),
    });
    let payload = json!({"documentId": table.ana.document()});
    let socket = table.ana.emit("document:provenance", &payload).ok();
    for spans in [socket["spans"].clone(), table.fetches("provenance")["spans"].clone()] {
        let of = |request: &str| {
            let mut spans = spans.as_array().unwrap().iter();
            spans.find(|it| it["request"] == request).unwrap()["rule"].clone()
        };
        assert_eq!(of(second.id()), expected);
        assert!(spans[0]["request"] != second.id() && spans[0].get("rule").is_none());
    }
    let exported = table.fetches("export?format=json")["provenance"].clone();
    assert!(exported.as_array().unwrap().iter().any(|it| it["rule"] == expected), "{exported}");
}

#[test]
fn a_stricter_policy_for_large_changes_is_on_the_card_and_holds() {
    let table = Table::set();
    let large = json!({"tool": "update_full_document", "over": 16, "policy": "owner"});
    let ack = table.settings(json!({"policies": [large]})).ok();
    assert_eq!(ack["settings"]["policies"], json!([large]));
    let first = table.asks("first");
    assert_eq!((&first["policy"], &first["units"]), (&json!("any"), &json!(6)));
    table.ana.accepts_all(&first);
    let third = table.asks("third");
    assert_eq!(third["policy"], "owner");
    table.ana.decides(&third, json!({"approved": true})).refused_with("not_allowed");
    table.owner.accepts_all(&third);
    assert_eq!(table.ana.text(), THIRD);
}

#[test]
fn all_policies_for_a_change_hold_together_and_are_on_the_card() {
    let table = Table::set();
    let large = json!({"over": 8, "policy": "two"});
    table.settings(json!({"policy": "not_requester", "policies": [large]})).ok();
    let first = table.asks("first");
    assert_eq!(first["policies"], json!(["not_requester"]));
    table.ben.accepts_all(&first);
    let second = table.asks("second");
    assert_eq!(
        (&second["policy"], &second["policies"], &second["approvals"]),
        (&json!("two"), &json!(["not_requester", "two"]), &json!({"have": 0, "need": 2}))
    );
    table.ana.decides(&second, json!({"approved": true})).refused_with("not_allowed");
    assert_eq!(table.ben.accepts_all(&second)["status"], "pending");
    assert_eq!(table.owner.accepts_all(&second)["status"], "approved");
    assert_eq!(table.ana.text(), SECOND);
}

#[test]
fn policies_of_the_wrong_shape_change_nothing() {
    let table = Table::set();
    for policies in [
        json!({}),
        json!([7]),
        json!([{"tool": "update_full_document"}]),
        json!([{"policy": "nobody"}]),
        json!([{"policy": "owner", "tool": ""}]),
        json!([{"policy": "owner", "tool": "update_ful_document"}]),
        json!([{"policy": "owner", "over": -1}]),
        json!([{"policy": "owner", "ovr": 5}]),
        json!(vec![json!({"policy": "owner"}); 51]),
    ] {
        let payload = json!({"documentId": table.owner.document(), "policies": policies});
        let ack = table.owner.send_args("document:settings", &json!([payload]));
        table.owner.ack(ack).refused_with("invalid_payload");
    }
    assert_eq!(table.settings(json!({})).ok()["settings"]["policies"], json!([]));
}

#[test]
fn in_a_document_an_owner_denies_large_rewrites_and_has_small_ones_asked_about() {
    let table = Table::with_rule(|it| &it.ana, up_to(500));
    let add = |effect: &str, over: u64| {
        let rule = json!({"documentId": table.owner.document(), "effect": effect, "over": over});
        table.owner.emit("rules:add", &rule)
    };
    let ask = add("ask", 10).ok()["rule"].clone();
    assert_eq!(ask["tool"], "*");
    table.ben.sees_where("rules:changed", |it| it["rules"].as_array().unwrap().len() == 2);
    let second = table.asks("second");
    assert!(table.waits(&second), "the remembered rule would have let it in");
    table.ana.accepts_all(&second);
    add("deny", 20).ok();
    let run = table.ana.asks("third");
    assert_eq!(table.ana.answer(&run)["updateType"], "none");
    let tool_result = table.ana.tool_results(&run).remove(0);
    assert!(
        tool_result.to_string().contains("changes of more than 20 UTF-16 units"),
        "{tool_result}"
    );
    assert_eq!(table.ben.text(), SECOND);
    let pattern = json!({"documentId": table.owner.document(), "effect": "deny", "path": "*"});
    table.owner.emit("rules:add", &pattern).refused_with("invalid_payload");
}

#[test]
fn a_rule_about_what_one_person_asks_does_not_touch_what_another_asks() {
    let table = Table::set();
    let ana = table.ana.user()["id"].clone();
    let rule = json!({"documentId": table.owner.document(), "effect": "deny", "author": ana});
    let added = table.owner.emit("rules:add", &rule).ok()["rule"].clone();
    assert_eq!(added["author"], table.ana.user());
    let run = table.ana.asks("first");
    assert_eq!(table.ana.answer(&run)["updateType"], "none");
    let tool_result = table.ana.tool_results(&run).remove(0);
    assert!(tool_result.to_string().contains("for what Ana asks"), "{tool_result}");
    let bens = table.ben.asks("first");
    let bens = table.ben.sees_request_of(&bens);
    table.owner.accepts_all(&bens);
    table.ana.comes_to_read(FIRST);
    let by_author = json!({"documentId": table.owner.document(), "effect": "deny", "author": "x"});
    table.owner.emit("rules:add", &by_author).refused_with("invalid_payload");
}

#[test]
fn an_approval_is_remembered_for_what_its_author_asks_in_every_session() {
    let table = Table::set();
    let (ana, ben) = (table.ana.user(), table.ben.user());
    let about = |user: &Value| {
        let remember = json!({"scope": "document", "max_units": 500, "author": user["id"]});
        json!({"approved": true, "remember": remember})
    };
    let request = table.asks("first");
    table.ben.decides(&request, about(&ben)).refused_with("invalid_decision");
    table.ben.decides(&request, about(&ana)).ok();
    let event = table.ana.sees("rules:changed");
    assert_eq!(event["rules"][0]["author"], ana, "by name, too");
    let bens = table.ben.asks("second");
    let bens = table.ben.sees_request_of(&bens);
    assert!(table.waits(&bens), "Ben asked for it");
    table.ben.rejects(&bens, "");
    let window = table.ana.second_window();
    window.opens(&table.owner.document());
    window.asks("second");
    table.ben.comes_to_read(SECOND);
}
