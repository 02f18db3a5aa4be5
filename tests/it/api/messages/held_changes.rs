//! Changes that wait for people while a program waits for the answer.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::messages_client::{Events, MessagesClient};
use crate::support::script::full;
use crate::support::{Role, Script, TestServer};

use super::{call, calls, result, rewriting, text, tool, types, user, with_document, words};

#[test]
fn a_change_waits_for_people_and_the_program_hears_what_they_decided() {
    let (_server, ana, program) = with_document(rewriting(), &["--approval-timeout", "5"]);
    for (decide, end) in [
        ("accept", "I see. Accepted."),
        ("reject", "I see. Rejected."),
        ("wait", "I see. Nobody came."),
    ] {
        ana.creates("It was very dark.\n");
        let program = program.clone().header("x-copydesk-document", &ana.document());
        let asking =
            std::thread::spawn(move || program.asks(&json!([user("Rewrite it")]), &json!({})).ok());
        let request = ana.sees_request();
        assert_eq!(request.0["source"], "messages_api", "{}", request.0);
        match decide {
            "accept" => drop(ana.accepts_all(&request)),
            "reject" => drop(ana.rejects(&request, "Keep it")),
            _ => drop(ana.sees_resolved(&request)),
        }
        let message = asking.join().expect("an answer");
        assert_eq!((words(&message).as_str(), &message["stop_reason"]), (end, &json!("end_turn")));
        assert_eq!(
            calls(&message),
            Vec::<Value>::new(),
            "what runs here is not the program's affair"
        );
        let expected = if decide == "accept" { "It was dark.\n" } else { "It was very dark.\n" };
        ana.comes_to_read(expected);
    }
}

#[test]
fn a_mixed_turn_runs_ours_first_and_goes_on_when_the_program_has_answered() {
    let script = Script::default()
        .answering("Both", "read_document", &json!({}))
        .turn(json!({"when": {"tool_result": "Units 0 to"}, "content": [
            text("Now both."), call("weather", &json!({"city": "Paris"})), call("update_full_document", &full("It was dark.\n"))]}))
        .after_result("(?s)^Applied.*Rain$", "Done both.")
        .closing("?");
    let (_server, ana, program) = with_document(script, &[]);
    let more = json!({"tools": [tool("weather")]});
    let mut stream = program.streams(&json!([user("Both")]), &more);
    assert_eq!(stream.next().expect("an event")["type"], "message_start");
    let request = ana.sees_request();
    ana.accepts_all(&request);
    ana.comes_to_read("It was dark.\n");
    let events = stream.rest();
    let start = |event: &&Value| event["content_block"]["type"] == "tool_use";
    let made: Vec<_> = events.iter().filter(start).map(|event| &event["content_block"]).collect();
    assert_eq!(made.len(), 1, "only the program's own");
    // As a client without any of our field order would send it back.
    let said = json!([
        user("Both"),
        {"role": "assistant", "content": [text("Now both."), {"type": "tool_use", "id": made[0]["id"], "name": "weather", "input": {"city": "Paris"}, "cache_control": {"type": "ephemeral"}}]},
        user(json!([result(made[0], "Rain")])),
    ]);
    assert_eq!(words(&program.asks(&said, &more).ok()), "Done both.");
}

#[test]
fn what_a_mixed_turn_holds_outlives_a_power_cut_and_is_not_done_again() {
    let script = Script::default()
        .answering("Both", "read_document", &json!({}))
        .turn(json!({"when": {"tool_result": "Units 0 to"}, "content": [
            text("Now both."), call("weather", &json!({"city": "Paris"})), call("update_full_document", &full("It was dark.\n"))]}))
        .after_result("(?s)^Applied.*Rain$", "Done both.")
        .answering("More", "update_full_document", &full("It was light.\n"))
        .after_result("^Applied", "Done more.")
        .closing("?");
    let (mut copydesk, ana, program) = with_document(script, &[]);
    let more = json!({"tools": [tool("weather")]});
    let waiting = std::thread::spawn({
        let (program, more) = (program.clone(), more.clone());
        move || program.asks(&json!([user("Both")]), &more).ok()
    });
    let request = ana.sees_request();
    ana.accepts_all(&request);
    let first = waiting.join().unwrap();
    let made = calls(&first);
    assert_eq!(made.len(), 1, "only the program's own: {first}");
    copydesk.is_killed_and_restarted();
    let ana = ana.comes_back(&copydesk);
    ana.opens_again();
    let program =
        MessagesClient::with(&copydesk, &ana.token).header("x-copydesk-document", &ana.document());
    let mut said = json!([
        user("Both"),
        {"role": "assistant", "content": first["content"]},
        user(json!([result(&made[0], "Rain")])),
    ]);
    // Another person's program knows nothing of it, whatever it says was said.
    let other = copydesk.token("Ben", Role::Editor, &[]);
    let other = MessagesClient::with(&copydesk, &other);
    other.opts_in(&json!(["document"]));
    let other = other.header("x-copydesk-document", &ana.document());
    assert_eq!(words(&other.asks(&said, &more).ok()), "?");
    let second = program.asks(&said, &more).ok();
    assert_eq!(words(&second), "Done both.");
    // It was done once, and what the model has read is known too.
    assert_eq!(ana.text(), "It was dark.\n");
    let said = said.as_array_mut().unwrap();
    said.push(json!({"role": "assistant", "content": second["content"]}));
    said.push(user("More"));
    let said = json!(said);
    let waiting = std::thread::spawn(move || program.asks(&said, &more).ok());
    let again = ana.sees_request();
    assert_eq!(again["sessionId"], request["sessionId"]);
    ana.accepts_all(&again);
    assert_eq!(words(&waiting.join().unwrap()), "Done more.");
    assert_eq!(ana.text(), "It was light.\n");
}

#[test]
fn a_result_for_a_call_that_was_not_shown_is_refused() {
    let script = Script::default()
        .turn(json!({"content": [call("weather", &json!({})), {"type": "tool_use", "id": "toolu_ours", "name": "read_document", "input": {}}]}))
        .closing("?");
    let (_server, _ana, program) = with_document(script, &[]);
    let more = json!({"tools": [tool("weather")]});
    let first = program.asks(&json!([user("Both")]), &more).ok();
    let made = calls(&first);
    let forged = json!({"id": "toolu_ours"});
    let said = json!([user("Both"), {"role": "assistant", "content": first["content"]},
        user(json!([result(&made[0], "Rain"), result(&forged, "Applied")]))]);
    let why = program.asks(&said, &more).refused(400, "invalid_request_error");
    assert!(why.contains("toolu_ours"), "{why}");
}

#[test]
fn a_program_that_hangs_up_takes_its_request_back() {
    for streamed in [true, false] {
        let (_server, ana, program) = with_document(rewriting(), &[]);
        let hung: Box<dyn FnOnce()> = if streamed {
            let stream: Events = program.streams(&json!([user("Rewrite it")]), &json!({}));
            Box::new(move || drop(stream))
        } else {
            let body = program.request(&json!([user("Rewrite it")]), &json!({})).to_string();
            let stream = program.open("POST /v1/messages", &body);
            Box::new(move || drop(stream))
        };
        let request = ana.sees_request();
        hung();
        assert_eq!(ana.sees_resolved(&request)["status"], "cancelled");
        assert_eq!(ana.text(), "It was very dark.\n");
    }
}

#[test]
fn tools_of_the_server_need_their_principals_word_which_is_kept() {
    let mut copydesk = TestServer::scripted(Script::talking());
    let ana = copydesk.editor("Ana");
    let document = ana.creates("Hello.");
    let program =
        MessagesClient::with(&copydesk, &ana.token).header("x-copydesk-document", &document);
    let said = json!([user("Hello")]);
    let why = program.asks(&said, &json!({})).refused(403, "permission_error");
    assert!(why.contains("PUT /api/v1/server-tools"), "{why}");
    program.opts_in(&json!(["document"]));
    copydesk.is_killed_and_restarted();
    let ana_again =
        MessagesClient::with(&copydesk, &ana.token).header("x-copydesk-document", &document);
    ana_again.asks(&said, &json!({})).ok();
    // Ben's word is his own.
    let ben = copydesk.token("Ben", Role::Editor, &[]);
    let ben = MessagesClient::with(&copydesk, &ben).header("x-copydesk-document", &document);
    ben.asks(&said, &json!({})).refused(403, "permission_error");
    let lost = ana_again.clone().header("x-copydesk-document", "doc_none");
    lost.asks(&said, &json!({})).refused(404, "not_found_error");
    ana_again.opts_in(&json!([]));
    ana_again.asks(&said, &json!({})).refused(403, "permission_error");
    let wrong = ana_again.call("PUT /api/v1/server-tools", r#"{"tools": ["bash"]}"#);
    assert_eq!(wrong.status, 422);
}

#[test]
fn files_of_the_workspace_are_written_once_someone_has_approved() {
    let script = Script::default()
        .answering("Write", "Write", &json!({"file_path": "a.txt", "content": "Hello."}))
        .after_result("^Wrote 6 characters", "Written.")
        .closing("What?");
    let copydesk = TestServer::plan().script(script).workspace(&[]).start();
    let ana = copydesk.editor("Ana");
    let program = MessagesClient::with(&copydesk, &ana.token);
    let said = json!([user("Write it")]);
    // Without Ana's word the call is no one's but the program's.
    assert_eq!(program.asks(&said, &json!({})).ok()["stop_reason"], "tool_use");
    program.opts_in(&json!(["workspace"]));
    let asking = std::thread::spawn(move || program.asks(&said, &json!({})).ok());
    let request = ana.sees_request();
    assert_eq!(copydesk.file("a.txt"), None);
    ana.decides(&request, json!({"approved": true})).ok();
    assert_eq!(words(&asking.join().expect("an answer")), "Written.");
    assert_eq!(copydesk.file("a.txt").as_deref(), Some("Hello."));
}

#[test]
fn a_program_that_waits_only_so_long_is_answered_before_it_gives_up() {
    let rewrites =
        || json!([text("I see. "), call("update_full_document", &full("It was dark.\n"))]);
    let script = Script::default()
        .answering("Rewrite", "read_document", &json!({}))
        .turn(json!({"when": {"tool_result": "Units 0 to"}, "content": rewrites()}))
        .turn(json!({"when": {"tool_result": "timed out"}, "content": rewrites()}))
        .after_result("no time was left", "Later, then.")
        .closing("?");
    let (_server, ana, program) = with_document(script, &[]);
    let program = program.header("x-stainless-timeout", "8");
    let began = Instant::now();
    let message = program.asks(&json!([user("Rewrite it")]), &json!({})).ok();
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert_eq!(message["stop_reason"], "pause_turn", "{message}");
    // One card, however often the model tries: no one would wait for the others.
    assert_eq!(ana.saw("tool_approval_request").len(), 1);
    assert!(ana.pending().is_empty());
    let said = json!([user("Rewrite it"), {"role": "assistant", "content": message["content"]}]);
    assert_eq!(words(&program.asks(&said, &json!({})).ok()), "Later, then.");
}

#[test]
fn the_built_in_editor_proposes_over_this_door_too() {
    let copydesk = TestServer::plan().model("harper").start();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("He could of slept.\n");
    let program = MessagesClient::with(&copydesk, &ana.token);
    program.opts_in(&json!(["document"]));
    let program = program.header("x-copydesk-document", &document);
    let asking = std::thread::spawn(move || {
        program.asks(&json!([user("Fix the grammar")]), &json!({})).ok()
    });
    ana.accepts_all(&ana.sees_request());
    ana.comes_to_read("He could have slept.\n");
    assert_eq!(asking.join().expect("an answer")["stop_reason"], "end_turn");
}

#[test]
fn a_person_deciding_slowly_does_not_cut_the_stream() {
    let (_server, ana, program) = with_document(rewriting(), &["--stream-ping", "1"]);
    let mut stream = program.streams(&json!([user("Rewrite it")]), &json!({}));
    let request = ana.sees_request();
    let events = stream.by_ref().take_while(|event| event["type"] != "content_block_stop");
    let said = events.filter(|event| event["type"] != "ping").last();
    assert_eq!(said.map(|event| event["delta"]["text"].clone()), Some(json!("I see. ")));
    for _ in 0..2 {
        assert_eq!(stream.next().expect("it goes on")["type"], "ping");
    }
    ana.accepts_all(&request);
    let rest = types(&stream.rest());
    assert_eq!(rest.last().map(String::as_str), Some("message_stop"));
}
