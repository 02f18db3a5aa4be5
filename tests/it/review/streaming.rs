//! Changes that the model is still writing: everyone in the document watches, no one can decide,
//! nothing is left over.

use serde_json::{Value, json};

use crate::support::script::{full, selection};
use crate::support::{Person, Script, TestServer};

const OLD: &str = "Teh lamp was lit.\n\nThe fog came in.\n\nNobody answered teh horn.\n\nShe wrote the name down.\n";
const NEW: &str = "The lamp was lit.\n\nThe fog rolled in.\n\nNobody answered the horn.\n\nShe wrote the name down.\n";

/// To any prompt, the model slowly writes this input of a tool, in some two seconds.
fn writing(tool: &str, input: &Value) -> Script {
    let call = json!({"type": "tool_use", "name": tool, "input": input});
    let chunk_chars = (input.to_string().chars().count() / 20).max(1);
    Script::default()
        .turn(json!({"when": {"user": "."}, "content": [call], "chunk_chars": chunk_chars, "delay_ms": 100}))
        .closing("Done.")
}

fn rewriting() -> TestServer {
    TestServer::scripted(writing("update_full_document", &full(NEW)))
}

/// Waits until a person sees so many paragraphs of what the model is writing.
fn sees_written(person: &Person, paragraphs: u64) -> Value {
    person.sees_where("tool_approval_update", |it| {
        it["status"] == "streaming" && it["paragraphs"].as_u64() >= Some(paragraphs)
    })
}

/// Waits until a person sees that nothing comes of it.
fn sees_it_go(person: &Person, written: &Value) {
    let id = &written["request_id"];
    let gone = person.sees_where("tool_approval_update", |it| {
        it["request_id"] == *id && it["status"] == "cancelled"
    });
    assert_eq!(gone.get("text"), None);
}

/// The ids of the streaming changes that a person was shown and that were not dropped again.
fn shown(person: &Person) -> Vec<Value> {
    person.catches_up();
    let mut shown = Vec::new();
    for message in person.saw("document:updates") {
        let hunks = &message["hunks"];
        let drop = hunks["drop"].as_array().cloned().unwrap_or_default();
        shown.retain(|id| !drop.contains(id));
        let put = hunks["put"].as_array().into_iter().flatten();
        let streaming = put.filter(|hunk| hunk["status"] == "streaming").map(|it| it["id"].clone());
        for id in streaming {
            shown.retain(|other| *other != id);
            shown.push(id);
        }
    }
    shown
}

#[test]
fn a_second_person_watches_it_grow_and_it_becomes_the_request() {
    let copydesk = rewriting();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(OLD);
    let bo = copydesk.editor("Bo");
    bo.opens(&document);
    let run = ana.asks("Fix this");
    let written = sees_written(&bo, 2);
    assert_eq!(
        (&written["requestId"], &written["tool_name"]),
        (&json!(run), &json!("update_full_document"))
    );
    assert_eq!(
        (&written["session_id"], &written["author"]["name"]),
        (&json!(ana.session()), &json!("Ana"))
    );
    assert!(NEW.starts_with(written["text"].as_str().unwrap()), "{written}");
    assert!(bo.pending().is_empty(), "there is nothing to decide yet");
    let request = bo.sees_request();
    assert_eq!(request.id(), written["request_id"]);
    assert!(!shown_ever(&bo).is_empty(), "changes were seen paragraph by paragraph");
    // Answered by the room, so after everything it has announced of the request.
    assert_eq!(bo.pending().len(), 1);
    assert!(shown(&bo).is_empty(), "only those of the request are left");
    bo.accepts_all(&request);
    ana.answer(&run);
    assert_eq!(bo.text(), NEW);
}

fn shown_ever(person: &Person) -> Vec<Value> {
    let puts = person
        .saw("document:updates")
        .into_iter()
        .flat_map(|it| it["hunks"]["put"].as_array().cloned().unwrap_or_default());
    puts.filter(|hunk| hunk["status"] == "streaming").collect()
}

#[test]
fn a_person_who_comes_late_sees_what_there_is() {
    let copydesk = rewriting();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(OLD);
    ana.asks("Fix this");
    let written = sees_written(&ana, 2);
    let bo = copydesk.editor("Bo");
    let opened = bo.opens(&document);
    let card = &opened["streaming"][0];
    assert_eq!(card["update"]["request_id"], written["request_id"]);
    assert!(card["update"]["paragraphs"].as_u64() >= Some(2), "{card}");
    assert_eq!(card["hunks"][0]["parts"][0]["base"], "Teh");
    assert_eq!(opened["requests"], json!([]));
    assert_eq!(bo.sees_request().id(), written["request_id"]);
}

#[test]
fn it_comes_a_few_times_a_second_however_fast_the_model_writes() {
    let call =
        json!({"type": "tool_use", "name": "update_full_document", "input": full(&NEW.repeat(8))});
    let script = Script::default()
        .turn(json!({"when": {"user": "."}, "content": [call], "chunk_chars": 1, "delay_ms": 1}))
        .closing("Done.");
    let copydesk = TestServer::scripted(script);
    let ana = copydesk.editor("Ana");
    ana.creates(OLD);
    let began = std::time::Instant::now();
    ana.asks("Fix this");
    ana.sees_request();
    let tenths = began.elapsed().as_millis() / 100;
    let seen = ana.saw("tool_approval_update");
    assert!(seen.len() >= 2, "{}", seen.len());
    assert!(seen.len() as u128 <= tenths + 1, "{} in {tenths} tenths of a second", seen.len());
}

#[test]
fn cancelling_in_the_middle_leaves_nothing() {
    let copydesk = rewriting();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(OLD);
    let bo = copydesk.editor("Bo");
    bo.opens(&document);
    let run = ana.asks("Fix this");
    let written = sees_written(&bo, 2);
    ana.emit("cancel", &json!({"requestId": run})).ok();
    sees_it_go(&bo, &written);
    assert_eq!(ana.answer(&run)["error"]["code"], "cancelled");
    assert!(shown(&bo).is_empty() && bo.pending().is_empty());
    assert_eq!(bo.opens_again()["streaming"], json!([]));
    assert!(
        bo.saw("tool_approval_request").is_empty() && bo.saw("tool_approval_resolved").is_empty()
    );
    assert_eq!((bo.text().as_str(), bo.version()), (OLD, 0));
}

#[test]
fn a_kill_in_the_middle_leaves_nothing_and_the_model_is_asked_again() {
    let mut copydesk = rewriting();
    let ana = copydesk.editor("Ana");
    ana.creates(OLD);
    ana.asks("Fix this");
    let written = sees_written(&ana, 2);
    copydesk.is_killed_and_restarted();
    let back = ana.comes_back(&copydesk);
    let opened = back.opens_again();
    let requests: Vec<_> = back.pending();
    assert!(requests.iter().all(|it| it.id() != written["request_id"]));
    let cards = opened["streaming"].as_array().unwrap();
    assert!(cards.iter().all(|card| card["update"]["request_id"] != written["request_id"]));
    let request = back.sees_request();
    assert_ne!(request.id(), written["request_id"]);
    back.accepts_all(&request);
    back.comes_to_read(NEW);
}

#[test]
fn a_stream_that_breaks_leaves_nothing() {
    let call = json!({"type": "tool_use", "name": "update_full_document", "input": full(NEW)});
    let script = Script::default().turn(json!({
        "when": {"user": "."}, "content": [call], "chunk_chars": 12, "delay_ms": 40, "cut": true}));
    let copydesk = TestServer::scripted(script.closing("Done."));
    let ana = copydesk.editor("Ana");
    ana.creates(OLD);
    let run = ana.asks("Fix this");
    let written = sees_written(&ana, 1);
    sees_it_go(&ana, &written);
    assert_eq!(ana.answer(&run)["error"]["code"], "model_cut_off");
    assert!(shown(&ana).is_empty() && ana.pending().is_empty());
}

#[test]
fn a_denial_at_the_end_leaves_nothing() {
    let copydesk = rewriting();
    let owner = copydesk.owner();
    let document = owner.creates(OLD);
    let frozen = json!({"version": 0, "ranges": [{"from": 0, "to": 17}]});
    owner.emit("document:settings", &json!({"documentId": document, "frozen": frozen})).ok();
    let run = owner.asks("Fix this");
    let written = sees_written(&owner, 2);
    sees_it_go(&owner, &written);
    owner.answer(&run);
    assert_eq!(owner.tool_results(&run)[0]["permissionDecision"], "deny");
    assert!(shown(&owner).is_empty() && owner.saw("tool_approval_request").is_empty());
}

#[test]
fn people_type_while_the_model_writes() {
    let copydesk = rewriting();
    let ana = copydesk.editor("Ana");
    let document = ana.creates(OLD);
    let bo = copydesk.editor("Bo");
    bo.opens(&document);
    let run = ana.asks("Fix this");
    sees_written(&bo, 1);
    bo.types(0, "Once. ");
    sees_written(&bo, 2);
    bo.overwrites("name down", "names down");
    let request = bo.sees_request();
    assert_eq!(bo.pending().len(), 1, "and its changes fit the text");
    bo.accepts_all(&request);
    ana.answer(&run);
    assert_eq!(bo.text(), format!("Once. {}", NEW.replace("name down", "names down")));
    assert_eq!(ana.text(), bo.text());
}

#[test]
fn no_one_decides_what_is_still_being_written() {
    let copydesk = rewriting();
    let ana = copydesk.editor("Ana");
    ana.creates(OLD);
    ana.asks("Fix this");
    let written = sees_written(&ana, 1);
    let early = json!({"request_id": written["request_id"], "approved": true});
    ana.emit("tool_approval_response", &early).refused_with("not_found");
    assert_eq!(ana.text(), OLD);
    ana.accepts_all(&ana.sees_request());
}

#[test]
fn a_selection_grows_in_its_place() {
    let input = selection(0, 17, "The old lamp had been lit for an hour already.");
    let copydesk = TestServer::scripted(writing("update_selection", &input));
    let ana = copydesk.editor("Ana");
    ana.creates(OLD);
    let selected = json!({"text": "Teh lamp was lit.", "start": 0, "end": 17});
    let context = json!({"documentId": ana.document(), "selection": selected});
    ana.asks_about("More", &context);
    ana.accepts_all(&ana.sees_request());
    let hunks = shown_ever(&ana);
    assert!(hunks.len() >= 2, "{hunks:?}");
    assert!(hunks.iter().all(|it| it["parts"][0]["from"] == 0 && it["parts"][0]["to"] == 17));
}

#[test]
fn the_transcript_tells_what_was_decided_and_what_was_asked_for() {
    let copydesk = TestServer::scripted(Script::rewriting(NEW));
    let ana = copydesk.editor("Ana");
    ana.creates(OLD);
    let run = ana.asks("Fix this");
    let request = ana.sees_request();
    ana.rejects(&request, "I like it as it is");
    ana.answer(&run);
    let read = json!({"sessionId": ana.session(), "documentId": ana.document()});
    let transcript = ana.emit("transcript:get", &read).ok();
    let answer = &transcript["requests"][0];
    assert_eq!(
        (&answer["request_id"], &answer["status"]),
        (&json!(request.id()), &json!("rejected"))
    );
    assert_eq!(answer["feedback"], "I like it as it is");
    assert_eq!(answer["hunks"].as_array().unwrap().len(), request.hunks().len());
}
