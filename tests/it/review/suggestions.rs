//! Suggestions of people: written in one window, decided in another one, and only by people.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::support::{OWNER, Person, Request, RestClient, Role, TestServer};

const TEXT: &str =
    "The keeper wrote every night. He had few visitors.\n\nThe lamp went out at nine.\n";

/// A person who suggests, with the revision of their suggestion that they know.
struct Writer {
    person: Person,
    revision: Cell<u64>,
}

impl Writer {
    fn new(person: Person) -> Self {
        Self { person, revision: Cell::new(0) }
    }

    /// Suggestion of the open text with some words replaced.
    fn update(&self, replacements: &[(&str, &str)]) -> Value {
        json!({"documentId": self.person.document(), "version": self.person.version(),
            "revision": self.revision.get(), "changes": changes(&self.person.text(), replacements)})
    }

    fn suggests(&self, replacements: &[(&str, &str)]) -> Value {
        let ack = self.person.emit("suggestion:update", &self.update(replacements)).ok();
        self.revision.set(ack["revision"].as_u64().unwrap());
        ack
    }
}

/// The change set that replaces words, each where it is first, in the order of the text.
fn changes(text: &str, replacements: &[(&str, &str)]) -> Value {
    let mut sections = Vec::new();
    let mut at = 0;
    for (words, new) in replacements {
        let from = at + text[at..].find(words).unwrap();
        if from > at {
            sections.push(json!(from - at));
        }
        let lines = new.split('\n').map(|line| json!(line));
        sections.push([json!(words.len())].into_iter().chain(lines).collect());
        at = from + words.len();
    }
    if text.len() > at {
        sections.push(json!(text.len() - at));
    }
    Value::Array(sections)
}

/// Sue suggests, Ana writes and Rex reviews; all have the document open.
fn three_people() -> (TestServer, Writer, Person, Person) {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let [sue, rex] =
        [("Sue", Role::Suggester), ("Rex", Role::Reviewer)].map(|it| copydesk.person(it.0, it.1));
    ana.creates(TEXT);
    sue.opens(&ana.document());
    rex.opens(&ana.document());
    (copydesk, Writer::new(sue), ana, rex)
}

fn has_paused(who: &Person, hunk: &Value) {
    who.sees_where("document:updates", |it| {
        let put = it["hunks"]["put"].as_array();
        put.is_some_and(|put| {
            put.iter().any(|one| one["id"] == *hunk && one.get("writing").is_none())
        })
    });
}

fn decision(request: &Value, hunk: &Value, decision: &str) -> Value {
    json!({"request_id": request, "approved": true,
        "hunks": [{"id": hunk["id"], "decision": decision, "hash": hunk["hash"]}]})
}

#[test]
fn a_suggestion_is_seen_at_once_and_decided_while_another_sentence_is_written() {
    let (copydesk, sue, ana, rex) = three_people();
    let ack = sue.suggests(&[("few", "very few")]);
    assert_eq!((&ack["revision"], &ack["version"]), (&json!(1), &json!(0)));
    let request = rex.sees_request();
    assert_eq!(
        (&request["source"], &request["tool_name"]),
        (&json!("person"), &json!("suggestion"))
    );
    assert_eq!((&request["tool_input"], &request["expires_at"]), (&json!({}), &Value::Null));
    assert_eq!((&request["author"]["name"], &request["revision"]), (&json!("Sue"), &json!(1)));
    let hunk = request.hunks()[0].clone();
    assert_eq!((&hunk["writing"], &ack["hunks"][0]), (&json!(true), &hunk));
    sue.person.saw_in_order(&["tool_approval_request", "ack suggestion:update"]);

    let early = rex.emit("tool_approval_response", &decision(&ack["request_id"], &hunk, "accept"));
    let refused = early.refused_with("invalid_decision");
    assert_eq!(refused["reasonCode"], "still_writing");
    let own = decision(&ack["request_id"], &hunk, "accept");
    sue.person.emit("tool_approval_response", &own).refused_with("not_allowed");
    // The writer is in another sentence now, so this one can be decided.
    let second = sue.suggests(&[("few", "very few"), ("nine", "ten")]);
    assert_eq!(second["hunks"].as_array().map(Vec::len), Some(2));
    assert_eq!(second["hunks"][0]["id"], hunk["id"], "it keeps its name");
    let told = rex.sees_where("tool_approval_update", |it| it["revision"] == 2);
    assert_eq!(told["preview_hash"], second["preview_hash"]);
    has_paused(&rex, &hunk["id"]);
    let accept = decision(&ack["request_id"], &hunk, "accept");
    rex.emit("tool_approval_response", &accept).ok();
    let message =
        ana.sees_where("document:updates", |it| it["hunks"]["drop"] == json!([hunk["id"]]));
    assert_eq!(message["updates"][0]["origin"], ack["request_id"], "words and hunk in one message");
    ana.comes_to_read(&TEXT.replace("few", "very few"));
    let told = sue.person.sees_where("tool_approval_update", |it| it["revision"] == 3);
    assert_eq!(told["hunks"][0]["status"], "accepted");
    rex.emit("tool_approval_response", &accept).refused_with("already_resolved");

    sue.revision.set(3);
    sue.person.comes_to_version(1);
    let third = sue.suggests(&[("nine", "ten past")]);
    assert_eq!(third["hunks"][0]["id"], second["hunks"][1]["id"]);
    has_paused(&rex, &third["hunks"][0]["id"]);
    let stale = decision(&ack["request_id"], &second["hunks"][1], "accept");
    let refused = rex.emit("tool_approval_response", &stale).refused_with("stale_preview");
    assert_eq!(refused["details"]["revision"], 4);
    rex.emit("tool_approval_response", &decision(&ack["request_id"], &third["hunks"][0], "reject"))
        .ok();
    let end = sue.person.sees("tool_approval_resolved");
    assert_eq!((&end["status"], &end["revision"]), (&json!("partly"), &json!(5)));

    let spans = json!({"documentId": ana.document()});
    let spans = ana.emit("document:provenance", &spans).ok()["spans"].clone();
    let of_sue = spans.as_array().unwrap().iter().find(|it| it["kind"] == "suggestion").unwrap();
    assert_eq!(
        (&of_sue["author"]["name"], &of_sue["approver"]["name"]),
        (&json!("Sue"), &json!("Rex"))
    );
    drop((sue, ana, rex));
    copydesk.checks_its_data();
}

#[test]
fn an_update_over_an_old_revision_is_stale_and_one_that_comes_again_is_the_same() {
    let (mut copydesk, sue, ana, _rex) = three_people();
    let first = sue.update(&[("few", "some")]);
    let ack = sue.person.emit("suggestion:update", &first).ok();
    assert_eq!(sue.person.emit("suggestion:update", &first).ok(), ack, "the answer was lost");
    let window = sue.person.second_window();
    window.opens(&sue.person.document());
    let other = sue.update(&[("nine", "ten")]);
    let refused = window.emit("suggestion:update", &other).refused_with("stale_suggestion");
    assert_eq!(refused["details"]["request_id"], ack["request_id"]);
    assert_eq!(refused["details"]["hunks"][0]["parts"][0]["insert"], "some");
    let mut ahead = other;
    ahead["revision"] = json!(7);
    window.emit("suggestion:update", &ahead).refused_with("stale_suggestion");
    has_paused(&ana, &ack["hunks"][0]["id"]);
    ana.emit("tool_approval_response", &decision(&ack["request_id"], &ack["hunks"][0], "reject"))
        .ok();
    let refused = sue.person.emit("suggestion:update", &first).refused_with("stale_suggestion");
    assert_eq!(refused["details"]["status"], "rejected");
    copydesk.is_killed_and_restarted();
    let back = sue.person.comes_back(&copydesk);
    let refused = back.emit("suggestion:update", &first).refused_with("stale_suggestion");
    assert_eq!(refused["details"]["request_id"], ack["request_id"], "no second one of these words");
    let ana = ana.comes_back(&copydesk);
    ana.opens_again();
    assert_eq!(ana.pending().len(), 0);
    back.opens_again();
    let sue = Writer::new(back);
    let next = sue.suggests(&[("few", "many")]);
    assert_eq!((&next["revision"], next["request_id"] != ack["request_id"]), (&json!(3), true));
    drop((sue, ana, window));
    copydesk.checks_its_data();
}

#[test]
fn only_people_decide_whatever_approvals_and_rules_say() {
    let (copydesk, sue, ana, rex) = three_people();
    let owner = copydesk.owner();
    owner.opens(&ana.document());
    let off = json!({"documentId": ana.document(), "approvals": "off"});
    owner.emit("document:settings", &off).ok();
    owner.emit("settings:set", &json!({"approvals": "off"})).ok();
    let allow = json!({"documentId": ana.document(), "tool": "suggestion", "effect": "allow"});
    owner.emit("rules:add", &allow).refused_with("invalid_payload");
    let every = json!({"documentId": ana.document(), "tool": "*", "effect": "deny"});
    owner.emit("rules:add", &every).ok();
    let ack = sue.suggests(&[("few", "many")]);
    assert_eq!(ana.text(), TEXT);
    assert_eq!(ana.sees_request().id(), ack["request_id"]);
    has_paused(&rex, &ack["hunks"][0]["id"]);
    let mut remembers = decision(&ack["request_id"], &ack["hunks"][0], "accept");
    remembers["remember"] = json!({"scope": "document"});
    let refused = rex.emit("tool_approval_response", &remembers).refused_with("invalid_decision");
    assert_eq!(refused["reasonCode"], "rule_for_suggestion");
    // An editor accepts their own unless the policy says otherwise.
    let ana = Writer::new(ana);
    let own = ana.suggests(&[("nine", "ten")]);
    has_paused(&rex, &own["hunks"][0]["id"]);
    let other = json!({"documentId": ana.person.document(), "policy": "not_requester"});
    owner.emit("document:settings", &other).ok();
    let accept = decision(&own["request_id"], &own["hunks"][0], "accept");
    ana.person.emit("tool_approval_response", &accept).refused_with("not_allowed");
    let any = json!({"documentId": ana.person.document(), "policy": "any"});
    owner.emit("document:settings", &any).ok();
    ana.person.emit("tool_approval_response", &accept).ok();
    let named =
        json!({"documentId": ana.person.document(), "tool": "suggestion", "effect": "deny"});
    owner.emit("rules:add", &named).ok();
    rex.emit("tool_approval_response", &decision(&ack["request_id"], &ack["hunks"][0], "accept"))
        .refused_with("not_allowed");
    sue.person.comes_to_version(1);
    let more = sue.update(&[("few", "many more")]);
    let refused = sue.person.emit("suggestion:update", &more).refused_with("not_allowed");
    assert_eq!(refused["reasonCode"], "denied_by_rule");
}

#[test]
fn a_vote_fixes_its_words_and_further_ones_are_another_hunk() {
    let (copydesk, sue, ana, rex) = three_people();
    let owner = copydesk.owner();
    owner.opens(&ana.document());
    owner.emit("document:settings", &json!({"documentId": ana.document(), "policy": "two"})).ok();
    let ack = sue.suggests(&[("few", "very few")]);
    let voted = ack["hunks"][0].clone();
    let about = json!({"documentId": ana.document(), "request_id": ack["request_id"],
        "hunk_id": voted["id"], "text": "Why?"});
    let thread = ana.emit("comment:create", &about).ok()["thread"].clone();
    assert_eq!((&thread["hunk_id"], thread.get("requestId")), (&voted["id"], None), "no run");
    has_paused(&rex, &voted["id"]);
    let accept = decision(&ack["request_id"], &voted, "accept");
    rex.emit("tool_approval_response", &accept).ok();
    sue.revision.set(2);
    let more = sue.suggests(&[("few visitors", "very few old visitors")]);
    assert_eq!(more["hunks"].as_array().map(Vec::len), Some(2), "{more}");
    let kept = more["hunks"].as_array().unwrap().iter().find(|it| it["id"] == voted["id"]).unwrap();
    assert_eq!((&kept["hash"], &kept["votes"][0]["name"]), (&voted["hash"], &json!("Rex")));
    ana.emit("tool_approval_response", &accept).ok();
    ana.comes_to_read(&TEXT.replace("few", "very few"));
    drop((sue, ana, rex, owner));
    copydesk.checks_its_data();
}

#[test]
fn a_suggestion_moves_with_the_text_and_survives_a_crash() {
    let (mut copydesk, sue, ana, _rex) = three_people();
    let late = sue.update(&[("few", "many"), ("nine", "ten")]);
    ana.types(0, "So. ");
    // Made on the version before.
    let ack = sue.person.emit("suggestion:update", &late).ok();
    assert_eq!((&ack["version"], &ack["hunks"][0]["parts"][0]["from"]), (&json!(1), &json!(41)));
    ana.overwrites("nine", "nin");
    let conflict = |it: &Value| it["hunks"][0]["status"] == "conflict";
    let told = sue.person.sees_where("tool_approval_update", conflict);
    assert_eq!(told["revision"], 1, "typing is no decision");
    sue.revision.set(1);
    sue.person.comes_to_version(2);
    let next = sue.suggests(&[("few", "many more")]);
    let hunks = next["hunks"].as_array().unwrap();
    let statuses: Vec<_> = hunks.iter().map(|it| it["status"].clone()).collect();
    assert_eq!(statuses, ["pending", "conflict"], "what is in conflict stays");
    copydesk.is_killed_and_restarted();
    let (back, ana) = (sue.person.comes_back(&copydesk), ana.comes_back(&copydesk));
    ana.opens_again();
    let opened = back.opens_again();
    let request = Request(opened["requests"][0].clone());
    assert_eq!(
        (&request["revision"], request.statuses()),
        (&json!(2), vec!["pending", "conflict"])
    );
    assert_eq!(request["preview_hash"], next["preview_hash"]);
    assert!(request.hunks().iter().all(|hunk| hunk.get("writing").is_none()));
    let sue = Writer { person: back, revision: Cell::new(2) };
    let gone = sue.suggests(&[]);
    assert_eq!((&gone["hunks"], &gone["revision"]), (&json!([]), &json!(3)));
    let end = ana.sees("tool_approval_resolved");
    assert_eq!((&end["status"], &end["by"]["name"]), (&json!("cancelled"), &json!("Sue")));
    sue.revision.set(0);
    assert_eq!(sue.suggests(&[])["request_id"], Value::Null, "there is nothing to withdraw");
    drop((sue, ana));
    copydesk.checks_its_data();
}

#[test]
fn frozen_words_and_what_is_no_change_of_the_text_are_refused_and_nothing_else_changes() {
    let (copydesk, sue, ana, _rex) = three_people();
    let owner = copydesk.owner();
    owner.opens(&ana.document());
    let ack = sue.suggests(&[("few", "many")]);
    let at = TEXT.find("The lamp").unwrap();
    let frozen = json!({"version": 0, "ranges": [{"from": at, "to": at + 8}]});
    owner.emit("document:settings", &json!({"documentId": ana.document(), "frozen": frozen})).ok();
    let update = sue.update(&[("few", "many"), ("lamp", "light")]);
    let refused = sue.person.emit("suggestion:update", &update).refused_with("frozen");
    assert_eq!(refused["details"], frozen);
    let mut wrong = sue.update(&[("few", "some")]);
    wrong["changes"] = json!([3, [1, "x"]]);
    sue.person.emit("suggestion:update", &wrong).refused_with("invalid_payload");
    wrong["changes"] = json!("all of it");
    sue.person.emit("suggestion:update", &wrong).refused_with("invalid_payload");
    wrong = sue.update(&[("few", "some")]);
    wrong["version"] = json!(99);
    sue.person.emit("suggestion:update", &wrong).refused_with("resync");
    let pending = ana.pending();
    assert_eq!(
        (pending[0].id(), &pending[0]["revision"]),
        (ack["request_id"].as_str().unwrap(), &json!(1))
    );
    assert_eq!(pending[0].words(1), ("few".to_owned(), "many".to_owned()));
}

#[test]
fn a_suggestion_is_made_over_rest_and_harmless_when_it_is_sent_again() {
    let copydesk = TestServer::quiet();
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    owner.creates(TEXT);
    ana.opens(&owner.document());
    let rest = RestClient::new(&copydesk, OWNER);
    let route = format!("PUT /api/v1/documents/{}/suggestion", owner.document());
    let puts = |words: &str| {
        let changes = changes(TEXT, &[("few", words)]);
        let body = json!({"version": 0, "revision": 0, "changes": changes});
        rest.says(&route, &[], &body.to_string())
    };
    let made = puts("many").ok();
    assert_eq!((&made["revision"], &made["hunks"][0]["status"]), (&json!(1), &json!("pending")));
    assert_eq!(ana.sees_request().id(), made["request_id"]);
    puts("some").refused_with(409, "stale_suggestion");
    assert_eq!(puts("many").ok(), made, "the same once more");
}

#[test]
fn the_same_words_are_suggested_again_after_they_were_rejected() {
    let (copydesk, sue, _ana, rex) = three_people();
    let words = [("few", "very few")];
    let ack = sue.suggests(&words);
    rex.sees_request();
    has_paused(&rex, &ack["hunks"][0]["id"]);
    rex.emit("tool_approval_response", &decision(&ack["request_id"], &ack["hunks"][0], "reject"))
        .ok();
    let ended = sue.person.sees("tool_approval_resolved");
    // Over none it is the first update again, whose answer may have been lost.
    sue.revision.set(0);
    let refused = sue.person.emit("suggestion:update", &sue.update(&words));
    let refused = refused.refused_with("stale_suggestion");
    assert_eq!(refused["details"]["revision"], ended["revision"]);
    sue.revision.set(ended["revision"].as_u64().unwrap());
    let again = sue.suggests(&words);
    assert_ne!(again["request_id"], ack["request_id"]);
    assert_eq!(again["hunks"][0]["parts"], ack["hunks"][0]["parts"]);
    drop((sue, rex));
    copydesk.checks_its_data();
}

#[test]
fn a_change_in_conflict_stays_when_others_have_made_what_else_is_suggested() {
    let (_copydesk, sue, ana, _rex) = three_people();
    sue.suggests(&[("night", "evening")]);
    ana.types(TEXT.find("ight").unwrap(), "zz");
    sue.person.comes_to_version(1);
    let (text, few) = (sue.person.text(), sue.person.text().find(" few").unwrap());
    let changes = json!([few, [4], text.len() - few - 4]);
    let version = sue.person.version();
    ana.replaces(few, few + 4, "");
    let update = json!({"documentId": ana.document(), "version": version,
        "revision": sue.revision.get(), "changes": changes});
    let ack = sue.person.emit("suggestion:update", &update).ok();
    assert_eq!(ack["hunks"].as_array().map(Vec::len), Some(1), "{ack}");
    assert_eq!(ack["hunks"][0]["status"], "conflict");
}

#[test]
fn words_that_others_change_while_an_update_is_on_its_way_are_in_conflict() {
    let (copydesk, sue, ana, _rex) = three_people();
    let status = |ack: &Value, hunk: &Value| {
        let hunks = ack["hunks"].as_array().unwrap();
        let hunk = hunks.iter().find(|it| it["id"] == *hunk).unwrap_or(&Value::Null);
        hunk["status"].as_str().unwrap_or("gone").to_owned()
    };
    let first = sue.suggests(&[("every night", "all day")])["hunks"][0]["id"].clone();
    let late = sue.update(&[("every night", "all day"), ("nine", "ten")]);
    ana.overwrites("every night", "every cold night");
    let ack = sue.person.emit("suggestion:update", &late).ok();
    assert_eq!(status(&ack, &first), "conflict", "{ack}");
    assert_eq!(ack["hunks"][1]["parts"][0]["insert"], "ten");
    assert_eq!(ack["hunks"].as_array().unwrap().len(), 2);
    // The same for words that come only now, and for what is written on in the meantime.
    sue.revision.set(2);
    sue.person.comes_to_version(1);
    let late = sue.update(&[("few visitors", "many guests"), ("nine", "ten past")]);
    ana.overwrites("few visitors", "few old visitors");
    ana.overwrites("at nine", "at around nine");
    let ack = sue.person.emit("suggestion:update", &late).ok();
    let second = ack["hunks"][1].clone();
    assert_eq!(
        (second["status"].as_str(), status(&ack, &first)),
        (Some("conflict"), "conflict".into())
    );
    assert_eq!(second["parts"][0]["base"], "He had few visitors.");
    assert_eq!(ack["hunks"][2]["parts"][0]["insert"], "ten past");
    ana.overwrites("few old visitors", "few visitors");
    let is_back = |hunk: &Value| hunk["id"] == second["id"] && hunk["status"] == "pending";
    let told = |it: &Value| it["hunks"].as_array().is_some_and(|all| all.iter().any(is_back));
    sue.person.sees_where("tool_approval_update", told);
    drop((sue, ana));
    copydesk.checks_its_data();
}

#[test]
fn words_after_an_undone_decision_are_another_change() {
    let (copydesk, sue, _ana, rex) = three_people();
    let ack = sue.suggests(&[("few", "very few"), ("nine", "ten")]);
    rex.sees_request();
    let first = ack["hunks"][0].clone();
    has_paused(&rex, &first["id"]);
    rex.emit("tool_approval_response", &decision(&ack["request_id"], &first, "accept")).ok();
    let undo = json!({"request_id": ack["request_id"], "hunks": [first["id"]]});
    rex.emit("approval:undo", &undo).ok();
    sue.person.comes_to_version(2);
    sue.revision.set(ack["revision"].as_u64().unwrap() + 2);
    let on = sue.suggests(&[("few", "very very few"), ("nine", "ten")]);
    assert_ne!(on["hunks"][0]["id"], first["id"]);
    assert_eq!(on["hunks"][1]["id"], ack["hunks"][1]["id"]);
    let late = rex.emit("tool_approval_response", &decision(&ack["request_id"], &first, "accept"));
    let fresh = late.refused_with("stale_preview");
    assert_eq!(
        fresh["details"]["revision"], on["revision"],
        "it was replaced, and the request is told"
    );
    drop((sue, rex));
    copydesk.checks_its_data();
}

#[test]
fn who_suggests_may_send_as_much_as_who_writes() {
    let (_copydesk, sue, _ana, _rex) = three_people();
    let long = format!("few {}", "and fewer ".repeat(30_000));
    let ack = sue.suggests(&[("few", &long)]);
    assert_eq!(ack["revision"], 1);
}
