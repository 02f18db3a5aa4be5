//! Plan mode, documents that the agent makes, conversations that begin anew, and answers for who
//! comes back.

use serde_json::{Value, json};

use crate::support::script::full;
use crate::support::{Person, Request, Role, Script, TestServer};

const TEXT: &str = "Teh keeper wrote every night.\n";

/// Asks in plan mode; the run.
fn plans(person: &Person) -> String {
    let ask = json!({
        "sessionId": person.session(),
        "prompt": "Tidy up",
        "permission_mode": "toolApproval",
        "context": {"documentId": person.document()},
    });
    person.emit("askClaudeCode", &ask).ok()["requestId"].as_str().unwrap().to_owned()
}

fn plan_of(request: &Request) -> String {
    assert_eq!(request["tool_name"], "ExitPlanMode");
    assert_eq!((&request["preview_type"], request.hunks().len()), (&json!("generic"), 0));
    request["tool_input"]["plan"].as_str().unwrap().to_owned()
}

/// The change that follows an approved plan.
fn change(person: &Person) -> Request {
    Request(person.sees_where("tool_approval_request", |it| it["tool_name"] == "find_and_replace"))
}

#[test]
fn a_plan_is_rejected_edited_and_carried_out_change_by_change() {
    let copydesk = TestServer::playing("plan-first");
    let (owner, rex) = (copydesk.owner(), copydesk.person("Rex", Role::Reviewer));
    let modes = owner.registered()["permission_modes"].as_array().unwrap().clone();
    assert_eq!(modes, [json!("toolApproval"), json!("sdk")]);
    rex.opens(&owner.creates(TEXT));
    let run = plans(&owner);
    let first = rex.sees_request_of(&run);
    assert!(plan_of(&first).starts_with("# Tidy up"));
    assert_eq!(first["document_id"], owner.document());
    let denied = owner.tool_results(&run).remove(0);
    assert!(denied["content"].as_str().unwrap().starts_with("Plan mode:"), "{denied}");
    rex.decides(&first, json!({"approved": false, "feedback": "Less."})).ok();
    let second = rex.sees_request_of(&run);
    // People go on typing meanwhile; a plan has no positions.
    owner.types(0, "1. ");
    let bad = json!({"decision": "edit", "updated_input": {"plan": ""}});
    owner.decides(&second, bad).refused_with("invalid_decision");
    let edited = json!({"decision": "edit", "updated_input": {"plan": "Correct it."}});
    rex.decides(&second, edited.clone()).refused_with("not_allowed");
    owner.decides(&second, edited).ok();
    rex.decides(&second, json!({"approved": true})).refused_with("already_resolved");
    let change = change(&owner);
    let tool_result =
        owner.tool_results(&run).pop().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(tool_result.starts_with("Note: the user edited this call"), "{tool_result}");
    assert!(tool_result.ends_with("Correct it."), "{tool_result}");
    owner.accepts_all(&change);
    owner.answer(&run);
    rex.comes_to_read("1. The keeper wrote every night.\n");
}

#[test]
fn a_plan_survives_a_power_cut_before_and_after_it_is_approved() {
    let mut copydesk = TestServer::playing("plan-first");
    let owner = copydesk.owner();
    owner.creates(TEXT);
    let run = plans(&owner);
    let request = owner.sees_request_of(&run);
    copydesk.is_killed_and_restarted();
    let owner = owner.comes_back(&copydesk);
    owner.opens_again();
    assert_eq!(owner.pending()[0].id(), request.id());
    owner.decides(&request, json!({"approved": true})).ok();
    let change = change(&owner);
    copydesk.is_killed_and_restarted();
    let owner = owner.comes_back(&copydesk);
    owner.opens_again();
    owner.accepts_all(&change);
    owner.answer(&run);
    owner.comes_to_read("The keeper wrote every night.\n");
}

#[test]
fn a_person_who_may_only_read_decides_no_plan() {
    let copydesk = TestServer::playing("plan-first");
    let (owner, vic) = (copydesk.owner(), copydesk.person("Vic", Role::Viewer));
    vic.opens(&owner.creates(TEXT));
    let request = vic.sees_request_of(&plans(&owner));
    vic.decides(&request, json!({"approved": true})).refused_with("not_allowed");
}

/// The model makes a document of this title, then says that it is done.
fn new_document() -> Script {
    let input = json!({"title": "Notes", "new_content": "One.\nTwo.", "explanation": "Notes."});
    Script::calling("create_new_document", &input)
}

fn titles(person: &Person) -> Vec<String> {
    let list = person.emit("document:list", &json!({})).ok();
    let lines = list["documents"].as_array().unwrap().iter();
    lines.map(|line| line["title"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_new_document_is_made_once_it_is_approved_and_everybody_hears_of_it() {
    let copydesk = TestServer::scripted(new_document());
    let (owner, rex) = (copydesk.owner(), copydesk.person("Rex", Role::Reviewer));
    let vic = copydesk.person("Vic", Role::Viewer);
    owner.creates(TEXT);
    let run = owner.asks("Make notes");
    let request = rex.sees_request_of(&run);
    assert_eq!((&request["document_id"], &request["file_path"]), (&Value::Null, &json!("Notes")));
    assert_eq!(request["new_content"], "One.\nTwo.");
    assert!(!titles(&owner).contains(&"Notes".to_owned()));
    rex.decides(&request, json!({"approved": true})).ok();
    let made = vic.sees_where("document:created", |it| it["document"]["title"] == "Notes");
    let id = made["document"]["id"].as_str().unwrap();
    owner.answer(&run);
    let tool_result = owner.tool_results(&run)[0]["content"].as_str().unwrap().to_owned();
    assert_eq!(tool_result, format!("Created “Notes”; its id is {id}."));
    owner.opens(id);
    assert_eq!(owner.text(), "One.\nTwo.");
    let spans = owner.emit("document:provenance", &json!({"documentId": id})).ok()["spans"].clone();
    assert_eq!(spans.as_array().unwrap().len(), 1, "{spans}");
    assert_eq!(spans[0]["kind"], "ai", "{spans}");
    assert!(spans.to_string().contains("Rex"), "{spans}");
}

#[test]
fn a_power_cut_between_approval_and_telling_makes_one_document() {
    for walk in ["tools.begun", "tools.acted"] {
        let mut copydesk = TestServer::scripted(new_document());
        copydesk.stops();
        copydesk.starts_to_die_at(walk).expect("it serves first");
        let owner = copydesk.owner();
        owner.creates(TEXT);
        let run = owner.asks("Make notes");
        let request = owner.sees_request_of(&run);
        owner.tries("tool_approval_response", &request.decision(json!({"approved": true})));
        copydesk.dies();
        copydesk.starts();
        let owner = owner.comes_back(&copydesk);
        let answer = owner.sees("claudeResponse");
        assert_eq!(answer["requestId"], json!(run));
        let made = titles(&owner).iter().filter(|title| *title == "Notes").count();
        assert_eq!(made, 1, "{walk}");
    }
}

#[test]
fn a_conversation_begins_anew_and_goes_on_from_an_earlier_question() {
    let copydesk = TestServer::quiet();
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    ed.opens(&owner.creates(TEXT));
    let (first, second) = (owner.asks("One"), owner.asks("Two"));
    owner.answer(&first);
    owner.answer(&second);
    let mine = json!({"sessionId": owner.session(), "documentId": owner.document()});
    owner.emit("transcript:clear", &mine).ok();
    ed.sees_where("agent_event", |it| it["subtype"] == "clear" && it["content"]["name"] == "Owner");
    // Everybody's record is as it was.
    let theirs = json!({"sessionId": ed.session(), "documentId": owner.document()});
    let record = ed.emit("transcript:get", &theirs).ok()["entries"].clone();
    let prompts = record.as_array().unwrap().iter().filter(|it| it["subtype"] == "prompt").count();
    assert_eq!(prompts, 2);
    // Anybody in the document goes on from there, in a conversation of their own.
    let fork = json!({"sessionId": ed.session(), "documentId": owner.document(), "requestId": first, "fromSessionId": owner.session()});
    ed.emit("transcript:fork", &fork).ok();
    owner.sees_where("agent_event", |it| it["content"]["from"] == first);
    let third = ed.asks("Three");
    ed.answer(&third);
}

#[test]
fn a_conversation_is_its_owners_and_is_left_alone_while_a_run_is_at_work() {
    let copydesk = TestServer::scripted(Script::rewriting("The keeper wrote.\n"));
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    ed.opens(&owner.creates(TEXT));
    let mine = json!({"sessionId": owner.session(), "documentId": owner.document()});
    ed.emit("transcript:clear", &mine).refused_with("not_allowed");
    let fork = |run: &str| {
        let mut fork = mine.clone();
        fork["requestId"] = run.into();
        fork
    };
    ed.emit("transcript:fork", &fork("any")).refused_with("not_allowed");
    owner.emit("transcript:fork", &fork("any")).refused_with("not_found");
    let run = owner.asks("Shorter");
    let request = owner.sees_request_of(&run);
    owner.emit("transcript:clear", &mine).refused_with("busy");
    owner.emit("transcript:fork", &fork(&run)).refused_with("busy");
    owner.rejects(&request, "No.");
    owner.answer(&run);
    owner.emit("transcript:fork", &fork(&run)).ok();
}

#[test]
fn what_ended_while_someone_was_away_is_told_when_they_come_back_and_once() {
    let mut copydesk = TestServer::scripted(
        Script::default().answering("Long", "update_full_document", &full("x")).closing("Done."),
    );
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    ed.opens(&owner.creates(TEXT));
    let heard = owner.asks("Short");
    owner.answer(&heard);
    let run = owner.asks("Long");
    let request = ed.sees_request_of(&run);
    owner.loses_connection();
    ed.decides(&request, json!({"approved": false})).ok();
    ed.sees_where("agent_event", |it| it["requestId"] == run && it["type"] == "result");
    let owner = owner.comes_back(&copydesk);
    let answer = owner.sees("claudeResponse");
    assert_eq!(answer["requestId"], json!(run), "what was received is not sent again");
    assert_eq!(answer["conversationMessage"], "Done.");
    owner.sees_where("agent_event", |it| it["requestId"] == run && it["type"] == "result");
    owner.loses_connection();
    let owner = owner.comes_back(&copydesk);
    owner.catches_up();
    assert_eq!(owner.saw("claudeResponse"), [Value::Null; 0]);
    // Also when the server was started again meanwhile.
    owner.opens_again();
    let run = owner.asks("Short");
    owner.answer(&run);
    copydesk.stops();
    copydesk.starts();
    let owner = owner.comes_back(&copydesk);
    owner.catches_up();
    assert_eq!(owner.saw("claudeResponse"), [Value::Null; 0]);
}

#[test]
fn the_servers_permission_mode_is_told_to_everybody_and_holds_for_runs_that_name_none() {
    let copydesk = TestServer::plan()
        .script(Script::rewriting("The keeper wrote.\n"))
        .flags(&["--allow-bypass"])
        .start();
    let (owner, ed) = (copydesk.owner(), copydesk.editor("Ed"));
    ed.emit("settings:set", &json!({"permission_mode": "toolApproval"}))
        .refused_with("not_allowed");
    owner.emit("settings:set", &json!({"permission_mode": "bypassPermissions"})).ok();
    let event = ed.sees("settings:changed");
    assert_eq!(event["settings"]["permission_mode"], "bypassPermissions");
    // Only owners may skip approvals, so an editor's runs are reviewed.
    assert_eq!(copydesk.editor("Eve").registered()["permission_mode"], "sdk");
    let olga = copydesk.owner();
    assert_eq!(olga.registered()["permission_mode"], "bypassPermissions");
    olga.creates(TEXT);
    let run = olga.asks("Shorter");
    olga.answer(&run);
    assert_eq!(olga.text(), "The keeper wrote.\n");
    let both = json!({"approvals": "on", "permission_mode": "bypassPermissions"});
    owner.emit("settings:set", &both).refused_with("invalid_payload");
    let settings = owner.emit("settings:set", &json!({"approvals": "on"})).ok()["settings"].clone();
    assert_eq!(settings["permission_mode"], "sdk");
}

#[test]
fn a_mode_the_server_no_longer_offers_is_not_in_force_and_the_settings_say_so() {
    let mut copydesk = TestServer::plan()
        .script(Script::rewriting("The keeper wrote.\n"))
        .flags(&["--allow-bypass"])
        .start();
    let owner = copydesk.owner();
    owner.emit("settings:set", &json!({"permission_mode": "bypassPermissions"})).ok();
    copydesk.stops();
    copydesk.starts_without("--allow-bypass");
    let olga = copydesk.owner();
    let settings = olga.emit("settings:get", &json!({})).ok()["settings"].clone();
    assert_eq!(settings["permission_mode"], "sdk");
    let event = olga.registered();
    assert_eq!((&event["permission_mode"], &event["settings"]), (&json!("sdk"), &settings));
    olga.creates(TEXT);
    let run = olga.asks("Shorter");
    olga.rejects(&olga.sees_request_of(&run), "Review it first");
    assert_eq!(olga.text(), TEXT);
    assert!(copydesk.complaints().contains("skipping approvals by default needs --allow-bypass"));
}
