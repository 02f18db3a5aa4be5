//! A file written without a document is taken back, proposed again, and found in the bin of the
//! workspace inbox.

use serde_json::{Value, json};

use crate::operations::check::{copy_of, is_found_in, left_by};
use crate::support::{OWNER, Person, Request, RestClient, Role, Script, TestServer};

const OLD: &str = "\u{feff}Old.\r\nStill old.\r\n";
const NEW: &str = "New.\n";
/// Text that it makes of the old file, which keeps its form.
const WRITTEN: &str = "\u{feff}New.\r\n";

/// A model that writes this into `a.txt` however often it is asked.
fn writing() -> Script {
    let input = json!({"file_path": "a.txt", "content": NEW});
    let call = json!({"type": "tool_use", "name": "Write", "input": input});
    let turn = json!({"when": {"user": "."}, "content": [call], "repeat": true});
    Script::default().turn(turn).closing("Done.")
}

fn test_server() -> TestServer {
    TestServer::plan().script(writing()).workspace(&[("a.txt", OLD)]).start()
}

fn commanding(command: &str) -> TestServer {
    let script = Script::calling("Bash", &json!({"command": command}));
    TestServer::plan().script(script).workspace(&[]).flags(&["--enable-bash"]).start()
}

fn runs(person: &Person, more: Value) -> String {
    let mut run = json!({"prompt": "Write it"});
    run.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let ack = person.emit("run", &run).ok();
    ack["requestId"].as_str().expect("a run has a name").to_owned()
}

fn ends(person: &Person, run: &str) {
    person.sees_where("agent_event", |it| it["requestId"] == run && it["type"] == "result");
}

/// The person asks, and what the model wants is approved.
fn written(person: &Person) -> Request {
    let run = runs(person, json!({}));
    let request = person.sees_request_of(&run);
    person.decides(&request, json!({"approved": true})).ok();
    ends(person, &run);
    request
}

/// The same, and it is rejected.
fn rejected(person: &Person) -> Request {
    let run = runs(person, json!({}));
    let request = person.sees_request_of(&run);
    person.rejects(&request, "Not now");
    ends(person, &run);
    request
}

fn named(request: &Request) -> Value {
    json!({"request_id": request.id()})
}

/// Waits for what is new about a request that has ended.
fn aftermath(person: &Person, request: &Request, fits: impl Fn(&Value) -> bool) -> Value {
    let update = person.sees_where("tool_approval_update", |it| {
        it["request_id"] == request.id() && it["aftermath"].is_object() && fits(&it["aftermath"])
    });
    update["aftermath"].clone()
}

fn bin(person: &Person, more: Value) -> Value {
    person.emit("approval:list", &more).ok()
}

#[test]
fn an_approved_file_is_put_back_byte_for_byte_and_everybody_sees_it() {
    let copydesk = test_server();
    let (owner, rex) = (copydesk.owner(), copydesk.person("Rex", Role::Reviewer));
    let request = written(&owner);
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(WRITTEN));
    assert_eq!(aftermath(&rex, &request, |it| it["can_undo"] == true)["can_reopen"], false);
    let ack = rex.emit("approval:undo", &named(&request)).ok();
    assert_eq!(ack["status"], "approved");
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(OLD));
    let event = aftermath(&owner, &request, |it| it["undone"].is_object());
    assert_eq!((&event["undone"]["by"], &event["undone"]["forced"]), (&rex.user(), &json!(false)));
    assert_eq!((&event["can_undo"], &event["can_reopen"]), (&json!(false), &json!(true)));
    let binned = bin(&owner, json!({}))["requests"][0].clone();
    assert_eq!(
        (&binned["request_id"], &binned["status"]),
        (&json!(request.id()), &json!("approved"))
    );
    assert_eq!(binned["aftermath"]["undone"], event["undone"]);
    assert!(
        binned["report"]
            .as_str()
            .unwrap()
            .ends_with("Rex has undone this since: a.txt is as it was before.")
    );
    owner.emit("approval:undo", &named(&request)).refused_with("invalid_decision");
}

#[test]
fn what_a_rule_or_a_bypass_wrote_says_so_and_is_undone() {
    let script = writing();
    let plan = TestServer::plan().script(script).workspace(&[("a.txt", OLD)]);
    let copydesk = plan.flags(&["--allow-bypass"]).start();
    let owner = copydesk.owner();
    let bypassed = runs(&owner, json!({"permission_mode": "bypassPermissions"}));
    let request = owner.sees_request_of(&bypassed);
    let resolved = owner.sees_resolved(&request);
    assert_eq!((&resolved["by"], &resolved["rule"]), (&owner.user(), &Value::Null));
    assert_eq!(resolved["unasked"], "bypass");
    ends(&owner, &bypassed);
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(WRITTEN));
    owner.emit("approval:undo", &named(&request)).ok();
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(OLD));

    let allow = json!({"documentId": "desk", "effect": "allow", "tool": "Write"});
    let rule = owner.emit("rules:add", &allow).ok()["rule"].clone();
    let ruled = runs(&owner, json!({}));
    let request = owner.sees_request_of(&ruled);
    let resolved = owner.sees_resolved(&request);
    assert_eq!((&resolved["by"], &resolved["rule"]), (&owner.user(), &rule["id"]));
    ends(&owner, &ruled);
    owner.emit("approval:undo", &named(&request)).ok();
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(OLD));
    let binned = bin(&owner, json!({}))["requests"].clone();
    assert_eq!((&binned[0]["rule"], &binned[0]["by"]), (&rule["id"], &owner.user()));
    assert_eq!(binned[1]["unasked"], "bypass");

    // Proposed again it is for people, whatever the rule says.
    let again = owner.emit("approval:reopen", &named(&request)).ok();
    assert_eq!(again["status"], "pending");
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(OLD));
}

#[test]
fn a_file_that_changed_since_is_shown_and_overwritten_by_force_alone() {
    let copydesk = test_server();
    let owner = copydesk.owner();
    let request = written(&owner);
    copydesk.overwrites("a.txt", "New.\nMine.\n");
    let refused = owner.emit("approval:undo", &named(&request)).refused_with("conflicted");
    let details = &refused["details"];
    assert_eq!((&details["file_path"], &details["exists"]), (&json!("a.txt"), &json!(true)));
    assert!(details["diff_lines"].to_string().contains("+Mine."), "{details}");
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("New.\nMine.\n"));
    let force = json!({"request_id": request.id(), "force": true});
    owner.emit("approval:undo", &force).ok();
    assert_eq!(
        aftermath(&owner, &request, |it| it["undone"].is_object())["undone"]["forced"],
        true
    );
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(OLD));
}

#[test]
fn a_file_that_is_open_as_a_document_is_undone_in_its_text() {
    let copydesk = TestServer::plan().script(writing()).workspace(&[("a.txt", "Old.\n")]).start();
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let request = written(&owner);
    ana.opens_file("a.txt");
    assert_eq!(ana.text(), NEW);
    let rex = copydesk.person("Rex", Role::Reviewer);
    rex.emit("approval:undo", &named(&request)).refused_with("not_allowed");
    ana.types(0, "Mine. ");
    let refused = owner.emit("approval:undo", &named(&request)).refused_with("conflicted");
    assert_eq!(refused["details"]["document_id"], ana.document());
    ana.replaces(0, 6, "");
    owner.emit("approval:undo", &named(&request)).ok();
    ana.comes_to_read("Old.\n");
    copydesk.file_comes_to_read("a.txt", "Old.\n");
}

#[test]
fn a_new_file_that_is_open_as_a_document_stays() {
    let copydesk = TestServer::plan().script(writing()).workspace(&[]).start();
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let request = written(&owner);
    ana.opens_file("a.txt");
    owner.emit("approval:undo", &named(&request)).refused_with("invalid_decision");
    assert_eq!((ana.text().as_str(), copydesk.file("a.txt").as_deref()), (NEW, Some(NEW)));
}

#[test]
fn the_same_over_rest() {
    let copydesk = test_server();
    let owner = copydesk.owner();
    let request = written(&owner);
    let viewer = RestClient::new(&copydesk, &copydesk.token("Vic", Role::Viewer, &[]));
    let (ana, own) = (
        RestClient::new(&copydesk, &copydesk.token("Ana", Role::Editor, &[])),
        RestClient::new(&copydesk, OWNER),
    );
    let at = |what: &str| format!("requests/{}/{what}", request.id());
    assert_eq!(viewer.posts(&at("undo"), &json!({})).status, 403);
    copydesk.overwrites("a.txt", "Mine.\n");
    let refused = ana.posts(&at("undo"), &json!({}));
    assert_eq!((refused.status, &refused.body["code"]), (409, &json!("conflicted")));
    assert_eq!(refused.body["details"]["file_path"], "a.txt");
    assert_eq!(ana.posts(&at("undo"), &json!({"force": true})).ok()["status"], "approved");
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(OLD));
    assert_eq!(ana.posts(&at("undo"), &json!({})).status, 422);

    assert_eq!(viewer.posts(&at("reopen"), &json!({})).status, 403);
    let again = ana.posts(&at("reopen"), &json!({})).ok();
    let newer = ana.gets(&format!("requests/{}", again["request_id"].as_str().unwrap())).ok();
    assert_eq!((&again["status"], &newer["status"]), (&json!("pending"), &json!("pending")));
    assert_eq!(newer["aftermath"]["again_of"], request.id());
    assert_eq!(newer["author"]["name"], "Ana");
    let older = own.gets(&format!("requests/{}", request.id())).ok();
    assert_eq!(older["aftermath"]["again_as"], again["request_id"]);
    assert_eq!(older["aftermath"]["can_reopen"], false);
    assert_eq!(
        own.gets("requests?documentId=desk").ok()["requests"][0]["request_id"],
        again["request_id"]
    );
    let ended = own.gets("requests?documentId=desk&state=ended").ok();
    assert_eq!(ended["requests"][0]["request_id"], request.id());
}

#[test]
fn who_may_not_decide_is_told_that_before_anything_else_about_an_undo() {
    let copydesk = test_server();
    let (owner, rex) = (copydesk.owner(), copydesk.person("Rex", Role::Reviewer));
    let request = written(&owner);
    owner.emit("document:settings", &json!({"documentId": "desk", "policy": "owner"})).ok();
    let change = json!({"request_id": request.id(), "hunks": ["h1"]});
    rex.emit("approval:undo", &change).refused_with("not_allowed");
    let refused = owner.emit("approval:undo", &change).refused_with("invalid_decision");
    assert_eq!(refused["reasonCode"], "no_changes_to_undo");
    let unknown = json!({"request_id": "req_unknown", "hunks": ["h1"]});
    rex.emit("approval:undo", &unknown).refused_with("not_found");
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(WRITTEN));
}

#[test]
fn no_one_undoes_or_proposes_again_what_they_may_not_decide() {
    let copydesk = test_server();
    let owner = copydesk.owner();
    let document = owner.creates("Elsewhere.");
    let guest = copydesk.guest(Role::Editor, &document);
    let viewer = copydesk.person("Vic", Role::Viewer);
    let request = written(&owner);
    for outsider in [&guest, &viewer] {
        outsider.emit("approval:undo", &named(&request)).refused_with("not_allowed");
    }
    owner.emit("approval:undo", &named(&request)).ok();
    for outsider in [&guest, &viewer] {
        outsider.emit("approval:reopen", &named(&request)).refused_with("not_allowed");
    }
    // A reviewer decides, and asks for nothing.
    let rex = copydesk.person("Rex", Role::Reviewer);
    rex.emit("approval:reopen", &named(&request)).refused_with("not_allowed");
    guest.emit("approval:list", &json!({})).refused_with("not_allowed");
    assert_eq!(bin(&viewer, json!({})), json!({"ok": true, "requests": [], "more": false}));
}

#[test]
fn an_undo_that_a_power_cut_interrupts_is_found_out_and_not_repeated() {
    for (walk, after) in [("tools.undoing", WRITTEN), ("tools.undone", OLD)] {
        let mut copydesk = test_server();
        drop(copydesk.owner());
        copydesk.stops();
        copydesk.starts_to_die_at(walk).expect("it serves before it dies");
        let owner = copydesk.owner();
        let request = written(&owner);
        owner.tries("approval:undo", &named(&request));
        copydesk.dies();
        assert_eq!(copydesk.file("a.txt").as_deref(), Some(after), "{walk}");
        copydesk.starts();
        let owner = owner.comes_back(&copydesk);
        assert_eq!(copydesk.file("a.txt").as_deref(), Some(after), "{walk}: nothing is repeated");
        let binned = bin(&owner, json!({}))["requests"][0].clone();
        let is_undone = binned["aftermath"]["undone"].is_object();
        assert_eq!(
            (is_undone, &binned["aftermath"]["can_undo"]),
            (after == OLD, &json!(after == WRITTEN))
        );
        let ack = owner.emit("approval:undo", &named(&request));
        if is_undone {
            drop(ack.refused_with("invalid_decision"));
        } else {
            drop(ack.ok());
        }
        assert_eq!(copydesk.file("a.txt").as_deref(), Some(OLD));
    }
}

#[test]
fn what_was_rejected_is_proposed_again_on_todays_file_and_done_once() {
    let copydesk = test_server();
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let request = rejected(&owner);
    assert_eq!(owner.sees_resolved(&request)["aftermath"]["can_reopen"], true);
    copydesk.overwrites("a.txt", "Today.\n");
    let ack = ana.emit("approval:reopen", &named(&request)).ok();
    assert_eq!((&ack["status"], &ack["unplaced"]), (&json!("pending"), &json!([])));
    let again =
        owner.sees_where("tool_approval_request", |it| it["request_id"] == ack["request_id"]);
    let again = Request(again);
    assert_eq!(
        (&again["original_content"], &again["new_content"]),
        (&json!("Today.\n"), &json!(NEW))
    );
    assert_eq!((&again["author"], &again["source"]), (&ana.user(), &json!("desk")));
    assert_eq!(again["aftermath"]["again_of"], request.id());
    let led = aftermath(&owner, &request, |it| it["again_as"].is_string());
    assert_eq!((&led["again_as"], &led["can_reopen"]), (&ack["request_id"], &json!(false)));
    ana.emit("approval:reopen", &named(&request)).refused_with("invalid_decision");
    owner.decides(&again, json!({"approved": true})).ok();
    aftermath(&owner, &again, |it| it["can_undo"] == true);
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(NEW));
}

#[test]
fn what_expired_can_be_proposed_again_and_waits_over_a_power_cut() {
    let plan = TestServer::plan().script(writing()).workspace(&[("a.txt", OLD)]);
    let mut copydesk = plan.flags(&["--approval-timeout", "1"]).start();
    let owner = copydesk.owner();
    let run = runs(&owner, json!({}));
    let request = owner.sees_request_of(&run);
    assert_eq!(owner.sees_resolved(&request)["status"], "expired");
    ends(&owner, &run);
    owner.emit("settings:set", &json!({"timeoutSeconds": 0})).ok();
    let ack = owner.emit("approval:reopen", &named(&request)).ok();
    copydesk.is_killed_and_restarted();
    let owner = owner.comes_back(&copydesk);
    let again =
        owner.sees_where("tool_approval_request", |it| it["request_id"] == ack["request_id"]);
    let again = Request(again);
    owner.decides(&again, json!({"approved": true})).ok();
    aftermath(&owner, &again, |it| it["can_undo"] == true);
    assert_eq!(copydesk.file("a.txt").as_deref(), Some(WRITTEN));
}

#[test]
fn a_command_is_proposed_again_by_who_asked_decided_by_an_owner_and_run_once() {
    let copydesk = commanding("echo once >> made.txt");
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    let run = runs(&ed, json!({}));
    let request = owner.sees_request_of(&run);
    owner.rejects(&request, "");
    ends(&ed, &run);
    let ack = ed.emit("approval:reopen", &named(&request)).ok();
    let again = |person: &Person| {
        Request(
            person.sees_where("tool_approval_request", |it| it["request_id"] == ack["request_id"]),
        )
    };
    let mine = again(&owner);
    assert_eq!(mine["default_to_no"], true);
    ed.decides(&again(&ed), json!({"approved": true})).refused_with("not_allowed");
    assert_eq!(copydesk.file("made.txt"), None);
    owner.decides(&mine, json!({"approved": true})).ok();
    let over = aftermath(&owner, &mine, |_| true);
    assert_eq!((&over["can_undo"], &over["can_reopen"]), (&json!(false), &json!(false)));
    assert_eq!(copydesk.file("made.txt").as_deref(), Some("once\n"));
    let why = owner.emit("approval:undo", &named(&mine)).refused_with("invalid_decision");
    assert!(why["message"].as_str().unwrap().starts_with("a command cannot be undone"), "{why}");
}

#[test]
fn what_waits_and_a_plan_cannot_be_proposed_again() {
    let copydesk = test_server();
    let owner = copydesk.owner();
    let run = runs(&owner, json!({}));
    let request = owner.sees_request_of(&run);
    owner.emit("approval:reopen", &named(&request)).refused_with("invalid_decision");
    owner.rejects(&request, "");
    let plan = json!({"plan": "Write a.txt."});
    let plans =
        TestServer::plan().script(Script::calling("ExitPlanMode", &plan)).workspace(&[]).start();
    let owner = plans.owner();
    let run = runs(&owner, json!({"permission_mode": "toolApproval"}));
    let request = owner.sees_request_of(&run);
    owner.rejects(&request, "");
    assert!(owner.sees_resolved(&request)["aftermath"].is_null());
    owner.emit("approval:reopen", &named(&request)).refused_with("invalid_decision");
}

#[test]
fn the_desks_bin_is_read_page_by_page_by_whose_business_it_is() {
    let copydesk = test_server();
    let (owner, rex) = (copydesk.owner(), copydesk.person("Rex", Role::Reviewer));
    let mut made: Vec<String> = Vec::new();
    for _ in 0..5 {
        made.insert(0, rejected(&owner).id().to_owned());
    }
    let ids = |page: &Value| -> Vec<String> {
        let requests = page["requests"].as_array().unwrap().iter();
        requests.map(|it| it["request_id"].as_str().unwrap().to_owned()).collect()
    };
    let first = bin(&rex, json!({"limit": 2}));
    assert_eq!((ids(&first), &first["more"]), (made[..2].to_vec(), &json!(true)));
    let second = bin(&rex, json!({"documentId": "desk", "limit": 2, "before": made[1]}));
    assert_eq!((ids(&second), &second["more"]), (made[2..4].to_vec(), &json!(true)));
    let last = bin(&rex, json!({"limit": 2, "before": made[3]}));
    assert_eq!((ids(&last), &last["more"]), (made[4..].to_vec(), &json!(false)));
    assert_eq!(ids(&bin(&rex, json!({"status": ["approved"]}))), [""; 0]);
    assert_eq!(last["requests"][0]["feedback"], "Not now");
}

#[test]
fn commands_are_passed_over_in_the_bin_of_people_who_do_not_decide_them() {
    let copydesk = commanding("true");
    let (owner, rex) = (copydesk.owner(), copydesk.person("Rex", Role::Reviewer));
    let run = runs(&owner, json!({}));
    let request = owner.sees_request_of(&run);
    owner.rejects(&request, "");
    ends(&owner, &run);
    assert_eq!(bin(&rex, json!({"limit": 1}))["requests"], json!([]));
    assert_eq!(bin(&owner, json!({}))["requests"][0]["request_id"], request.id());
}

#[test]
fn what_is_kept_of_an_undo_and_of_a_second_proposal_is_checked() {
    let copydesk = TestServer::plan().script(writing()).workspace(&[("a.txt", OLD)]);
    let copydesk = copydesk.on_sqlite("it looks into the file of the database").start();
    let owner = copydesk.owner();
    let request = written(&owner);
    owner.emit("approval:undo", &named(&request)).ok();
    owner.emit("approval:reopen", &named(&request)).ok();
    drop(owner);
    let left = left_by(copydesk);
    let is_found = |statement: &str, code: &str, words: &str| {
        let (_directory, data) = copy_of(&left);
        is_found_in(&data, statement, code, words);
    };
    let undos = "INSERT INTO undos SELECT id FROM requests WHERE NOT is_open";
    is_found(undos, "request.undo", "has one that is not in progress");
    let set = |change: &str| format!("UPDATE requests SET body = {change} WHERE NOT is_open");
    let begun = set("json_remove(body, '$.reversal.done_ms')");
    is_found(&begun, "request.undo", "missing from the list of undos");
    is_found(&set("json_remove(body, '$.reversal')"), "audit.undo", "accounts for an undo of it");
    is_found("DELETE FROM audit WHERE action = 'request.undo'", "audit.undo", "accounts for 0");
    is_found(&set("json_remove(body, '$.execution')"), "request", "nothing says that it was done");
    is_found(&set("json_set(body, '$.again_as', 'req_gone')"), "request.again", "req_gone");
}
