//! Acknowledged data are there after a power cut: text, pending requests, conversations, and runs
//! that were waiting.

use serde_json::json;

use crate::support::{Person, Provider, Request, Script, TestServer};

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n";

#[test]
fn acknowledged_text_survives_a_power_cut() {
    let mut copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    ana.creates("");
    for at in 0..30 {
        ana.types(at, "x");
    }
    copydesk.is_killed_and_restarted();
    let back = ana.comes_back(&copydesk);
    let opened = back.opens(&ana.document());
    assert_eq!(
        (&opened["document"]["text"], &opened["document"]["version"]),
        (&json!("x".repeat(30)), &json!(30))
    );
}

#[test]
fn many_pushes_on_their_way_lose_none_that_was_acknowledged() {
    let mut copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    ana.creates("");
    let push = json!({"documentId": ana.document(), "version": 0, "updates": [{"clientID": ana.client(), "changes": [[0, "x"]]}]});
    let first = ana.send("document:push", &push);
    ana.ack(first).ok();
    let sent: Vec<_> = (1..100_u64)
        .map(|at| {
            let updates = json!([{"clientID": ana.client(), "changes": [at, [0, "x"]]}]);
            ana.send(
                "document:push",
                &json!({"documentId": ana.document(), "version": at, "updates": updates}),
            )
        })
        .collect();
    ana.ack(sent[40]).ok();
    copydesk.is_killed_and_restarted();
    let back = ana.comes_back(&copydesk);
    let text = back.opens(&ana.document())["document"]["text"].as_str().unwrap().to_owned();
    assert!((42..=100).contains(&text.len()), "{} of 100, 42 of them acknowledged", text.len());
}

#[test]
fn a_list_has_changes_where_they_are_now_before_anybody_opens_the_document() {
    let mut copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let request = ana.sees_request_of(&ana.asks("Fix it"));
    ana.types(0, "Well. ");
    // Stored at a later version than the other changes of the request.
    ana.rejects_some(&request, &[1], "as it was");
    ana.types(0, "Oh! ");
    copydesk.is_killed_and_restarted();
    let back = ana.comes_back(&copydesk);
    let listed = back.emit("list_pending_approvals", &json!({})).ok();
    back.opens_again();
    let opened = back.pending();
    assert_eq!(opened.len(), 1, "{listed}");
    for field in ["version", "hunks"] {
        assert_eq!(listed["requests"][0][field], opened[0].0[field], "{field}");
    }
}

#[test]
fn an_editor_goes_on_after_a_restart_as_if_nothing_had_happened() {
    let mut copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates("abc"));
    ana.types(3, "d");
    copydesk.is_killed_and_restarted();
    let (ana, ben) = (ana.comes_back(&copydesk), ben.comes_back(&copydesk));
    assert_eq!(ana.opens_again()["updates"], json!([]));
    ben.opens_again();
    // Sent again because its ack was lost: still recognised.
    assert_eq!(ana.pushes(0, &[json!([3, [0, "d"]])]).ok()["version"], 1);
    ana.types(4, "e");
    ben.comes_to_read("abcde");
}

#[test]
fn an_editor_goes_on_after_a_stop_in_good_order_as_if_nothing_had_happened() {
    let mut copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.owner(), copydesk.editor("Ben"));
    ben.opens(&ana.creates("abc"));
    ana.types(3, "d");
    ben.comes_to_read("abcd");
    assert!(copydesk.stops().success(), "{}", copydesk.complaints());
    copydesk.starts();
    let (ana, ben) = (ana.comes_back(&copydesk), ben.comes_back(&copydesk));
    assert_eq!(ana.opens_again()["updates"], json!([]));
    ben.opens_again();
    // Sent again because its ack was lost: still recognised.
    assert_eq!(ana.pushes(0, &[json!([3, [0, "d"]])]).ok()["version"], 1);
    // Typed before Ana's letter came: rebased.
    assert_eq!(ben.pushes(0, &[json!([[0, ">"], 3])]).ok()["version"], 2);
    ana.comes_to_read(">abcd");
    let frozen = json!({"version": 0, "ranges": [{"from": 1, "to": 3}]});
    let freeze = json!({"documentId": ana.document(), "frozen": frozen});
    let settings = ana.emit("document:settings", &freeze).ok()["settings"].clone();
    assert_eq!(settings["frozen"], json!([{"from": 2, "to": 4}]));
}

#[test]
fn a_name_still_belongs_to_its_person_after_a_restart() {
    let mut copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates("abc"));
    ana.types(0, "x");
    copydesk.is_killed_and_restarted();
    let ben = ben.comes_back(&copydesk);
    ben.opens_again();
    ben.pushes_as(&ana.client(), 1, &[json!([4, [0, "y"]])]).refused_with("not_allowed");
}

#[test]
fn a_pending_request_is_as_it_was_and_its_run_goes_on() {
    let script = Script::rewriting(AFTER);
    let mut copydesk = TestServer::scripted(script);
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request();
    ben.overwrites("every night", "at noon");
    ana.accepts(&request, &[1]);
    let before = ana.pending()[0].clone();
    copydesk.is_killed_and_restarted();
    let ana = ana.comes_back(&copydesk);
    let opened = ana.opens(&ben.document());
    let after = Request(opened["requests"][0].clone());
    assert_eq!(after.0, before.0, "the same request, hunk by hunk");
    assert_eq!(ana.text(), BEFORE.replace("Teh", "The").replace("every night", "at noon"));
    ana.accepts_all(&after);
    let response = ana.answer(&run);
    assert_eq!(response["conversationMessage"], "Done.", "the model heard of it and said so");
    assert_eq!(response["documentUpdate"], AFTER.replace("every night", "at noon"));
}

#[test]
fn a_waiting_run_hears_of_a_rejection_after_a_restart() {
    let script = Script::default()
        .answering(".", "update_full_document", &crate::support::script::full(AFTER))
        .after_result("User rejected: not today", "As you like.")
        .closing("Done.");
    let mut copydesk = TestServer::scripted(script);
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request();
    copydesk.is_killed_and_restarted();
    let ana = ana.comes_back(&copydesk);
    ana.opens_again();
    ana.rejects(&request, "not today");
    assert_eq!(ana.answer(&run)["conversationMessage"], "As you like.");
    assert_eq!(ana.text(), BEFORE);
}

#[test]
fn a_decision_is_made_once_also_when_the_power_is_cut_after_it() {
    let mut copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    ana.asks("Fix the spelling");
    let request = ana.sees_request();
    ana.accepts_all(&request);
    copydesk.is_killed_and_restarted();
    let ana = ana.comes_back(&copydesk);
    ana.opens(&ana.document());
    assert_eq!((ana.text().as_str(), ana.version()), (AFTER, 1));
    ana.decides(&request, json!({"approved": false})).refused_with("already_resolved");
}

#[test]
fn the_timer_goes_on_after_a_restart() {
    let mut copydesk = TestServer::plan()
        .script(Script::rewriting(AFTER))
        .flags(&["--approval-timeout", "3"])
        .start();
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request();
    copydesk.is_killed_and_restarted();
    let ana = ana.comes_back(&copydesk);
    assert_eq!(ana.opens_again()["requests"][0]["expires_at"], request["expires_at"]);
    assert_eq!(ana.sees_resolved(&request)["status"], "expired");
    assert_eq!(ana.answer(&run)["updateType"], "none");
}

#[test]
fn everybody_in_a_document_reads_the_same_transcript() {
    let copydesk = TestServer::playing("second-attempt");
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ana.creates("Words to be replaced.\n");
    let run = ana.asks("Rewrite this");
    ana.rejects(&ana.sees_request(), "Too stiff");
    ana.accepts_all(&ana.sees_request());
    ana.answer(&run);
    let read = |person: &Person| {
        let document = json!({"sessionId": person.session(), "documentId": ana.document()});
        person.emit("transcript:get", &document).ok()
    };
    assert_eq!(read(&ben), read(&ana));
    assert_eq!(read(&ben)["entries"][0]["content"]["name"], "Ana");
}

#[test]
fn a_transcript_is_as_it_was() {
    let mut copydesk = TestServer::playing("second-attempt");
    let ana = copydesk.editor("Ana");
    ana.creates("Words to be replaced.\n");
    let run = ana.asks("Rewrite this");
    ana.rejects(&ana.sees_request(), "Too stiff");
    ana.accepts_all(&ana.sees_request());
    ana.answer(&run);
    let read = json!({"sessionId": ana.session(), "documentId": ana.document()});
    let before = ana.emit("transcript:get", &read).ok();
    assert!(before.to_string().contains("User rejected: Too stiff"), "{before}");
    copydesk.is_killed_and_restarted();
    let after = ana.comes_back(&copydesk).emit("transcript:get", &read).ok();
    assert_eq!(after, before);
}

#[test]
fn sessions_tokens_and_titles_survive() {
    let mut copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("abc");
    ana.emit("document:rename", &json!({"documentId": document, "title": "Kept"})).ok();
    copydesk.is_killed_and_restarted();
    let back = ana.comes_back(&copydesk);
    assert_eq!((back.session(), back.user()), (ana.session(), ana.user()));
    assert_eq!(back.opens(&document)["document"]["title"], "Kept");
}

#[test]
fn a_documents_settings_survive() {
    let mut copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let document = owner.creates("abc");
    owner.emit("document:settings", &json!({"documentId": document, "timeoutSeconds": 60})).ok();
    copydesk.is_killed_and_restarted();
    let back = owner.comes_back(&copydesk);
    assert_eq!(back.opens(&document)["document"]["settings"]["timeoutSeconds"], 60);
}

#[test]
fn a_session_remembers_what_was_said_before_the_power_cut() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Noted."}])]);
    let mut copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    ana.is_answered("My cat is called Mog.", &json!({}));
    copydesk.is_killed_and_restarted();
    ana.comes_back(&copydesk).is_answered("What is my cat called?", &json!({}));
    let model_input = provider.asked(2)["messages"].to_string();
    assert!(
        model_input.contains("My cat is called Mog.") && model_input.contains("Noted."),
        "{model_input}"
    );
}

#[test]
fn a_run_that_was_speaking_when_the_power_was_cut_still_ends_once() {
    let mut copydesk = TestServer::playing("slow");
    let ana = copydesk.editor("Ana");
    ana.creates("abc");
    let run = ana.asks("Talk to me");
    ana.sees("claudeStreamChunk");
    copydesk.is_killed_and_restarted();
    let ana = ana.comes_back(&copydesk);
    ana.opens_again();
    let response = ana.answer(&run);
    assert_eq!(response["requestId"], run);
    let ends = ana.saw("agent_event").into_iter().filter(|it| it["type"] == "result").count();
    assert_eq!((ends, ana.saw("claudeResponse").len()), (1, 1));
}

#[test]
fn sigterm_stops_cleanly_and_people_find_everything_again() {
    let mut copydesk = TestServer::scripted(Script::rewriting(AFTER));
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request();
    assert_eq!(copydesk.stops().code(), Some(0), "{}", copydesk.complaints());
    ana.is_cut_off();
    copydesk.starts();
    let ana = ana.comes_back(&copydesk);
    ana.opens_again();
    ana.accepts_all(&request);
    assert_eq!(ana.answer(&run)["documentUpdate"], AFTER);
}

#[test]
fn sigint_stops_cleanly_too() {
    let mut copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    ana.creates(BEFORE);
    assert_eq!(copydesk.is_interrupted().code(), Some(0), "{}", copydesk.complaints());
    ana.is_cut_off();
    copydesk.starts();
    let ana = ana.comes_back(&copydesk);
    ana.opens_again();
    assert_eq!(ana.text(), BEFORE);
}

#[test]
fn one_data_directory_has_one_server() {
    let copydesk = TestServer::quiet();
    let flags = ["--model", "harper", "--no-auth"].map(str::to_owned);
    let second = crate::support::Server::try_start(&copydesk.data(), &flags, &[]);
    let said = second.err().expect("a second server on the same data must refuse");
    assert!(!said.is_empty(), "it says why");
    copydesk.owner().is_fine();
}
