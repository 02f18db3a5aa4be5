//! Looking after a server: what owners see of everybody's work and of what is stored, and how they
//! stop it.

use serde_json::{Value, json};

use crate::support::script::full;
use crate::support::{OWNER, Person, RestClient, Role, Script, Server, StoryDatabase, TestServer};

/// Answers `slow` for hours, and proposes a change otherwise.
fn script() -> Script {
    let words = json!([{"type": "text", "text": "word ".repeat(10_000)}]);
    let slow = json!({"when": {"user": "slow"}, "content": words, "chunk_chars": 1, "delay_ms": 200, "repeat": true});
    Script::default()
        .turn(slow)
        .answering("edit", "update_full_document", &full("It was dark.\n"))
        .closing("Done.")
}

fn work(owner: &Person) -> Value {
    owner.emit("server:work", &json!({})).ok()
}

fn stops(owner: &Person, of: &Person, run: &str) -> Value {
    owner.emit("server:stop", &json!({"sessionId": of.session(), "requestId": run})).ok()
}

fn end_of(person: &Person, run: &str) -> Value {
    person.sees_where("agent_event", |it| it["requestId"] == run && it["type"] == "result")
}

#[test]
fn an_owner_sees_everybodys_runs_and_stops_one() {
    let copydesk = TestServer::scripted(script());
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let document = ana.creates("It was very dark.\n");
    assert_eq!(work(&owner)["runs"], json!([]));
    let (first, second) = (ana.asks("slow"), ana.asks("slow again"));
    ana.sees("claudeStreamChunk");
    let runs = work(&owner)["runs"].clone();
    let states: Vec<_> = runs.as_array().unwrap().iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["running", "queued"]);
    let run = &runs[0];
    assert_eq!((&run["by"]["name"], &run["documentId"]), (&json!("Ana"), &json!(document)));
    assert_eq!((&run["requestId"], &run["sessionId"]), (&json!(first), &json!(ana.session())));
    stops(&owner, &ana, &first);
    assert_eq!(end_of(&ana, &first)["subtype"], "cancelled");
    // The other one goes on, until it is stopped too.
    stops(&owner, &ana, &second);
    assert_eq!(end_of(&ana, &second)["subtype"], "cancelled");
    // What has ended stays as it is, and what never was is nothing.
    stops(&owner, &ana, &first);
    let unknown = json!({"sessionId": ana.session(), "requestId": "none"});
    owner.emit("server:stop", &unknown).refused_with("not_found");
    let log = RestClient::new(&copydesk, OWNER).gets("audit").ok();
    let lines = log["lines"].as_array().unwrap().iter();
    let stopped: Vec<_> = lines.filter(|line| line["action"] == "run.stopped").collect();
    assert_eq!(stopped.len(), 2, "{log}");
    assert_eq!(stopped[0]["detail"]["run"], json!(second));
    for event in ["server:work", "server:storage"] {
        ana.emit(event, &json!({})).refused_with("not_allowed");
    }
    let own = json!({"sessionId": ana.session(), "requestId": first});
    ana.emit("server:stop", &own).refused_with("not_allowed");
    for wrong in [json!({"sessionId": ana.session()}), json!({"requestId": "x"}), json!({})] {
        owner.ack(owner.send_args("server:stop", &json!([wrong]))).refused_with("invalid_payload");
    }
}

#[test]
fn what_waits_for_people_is_counted_and_what_is_stored_is_measured() {
    let copydesk = TestServer::scripted(script());
    let (owner, ana) = (copydesk.owner(), copydesk.editor("Ana"));
    let sizes = || owner.emit("server:storage", &json!({})).ok();
    let size = |of: &Value, name: &str| of[name].as_u64().expect("a number");
    let before = sizes();
    ana.creates("It was very dark.\n");
    ana.types(0, "Once. ");
    let run = ana.asks("edit");
    let request = ana.sees_request_of(&run);
    assert_eq!(work(&owner)["openRequests"], 1);
    let now = sizes();
    for name in ["documents", "updates"] {
        assert_eq!(size(&now, name), size(&before, name) + 1, "{name}: {now}");
    }
    let grown = size(&now, "textBytes") - size(&before, "textBytes");
    assert!(grown >= "It was very dark.\n".len() as u64, "{now}");
    assert!(size(&now, "updateBytes") > size(&before, "updateBytes"), "{now}");
    assert!(size(&now, "databaseBytes") > size(&now, "textBytes"), "{now}");
    ana.rejects(&request, "No.");
    ana.answer(&run);
    assert_eq!(work(&owner)["openRequests"], 0);
    owner.emit("document:delete", &json!({"documentId": ana.document()})).ok();
    let then = sizes();
    assert_eq!(size(&then, "deletedDocuments"), size(&before, "deletedDocuments") + 1, "{then}");
}

#[test]
fn programs_see_and_stop_runs_too() {
    let copydesk = TestServer::scripted(script());
    let ana = copydesk.editor("Ana");
    ana.creates("It was very dark.\n");
    let run = ana.asks("slow");
    ana.sees("claudeStreamChunk");
    let hand = RestClient::new(&copydesk, OWNER);
    assert_eq!(hand.gets("server/work").ok()["runs"][0]["requestId"], json!(run));
    let named = json!({"sessionId": ana.session(), "requestId": run});
    let editor = RestClient::new(&copydesk, &copydesk.token("Ben", Role::Editor, &[]));
    editor.posts("server/stop", &named).refused_with(403, "not_allowed");
    assert_eq!(hand.posts("server/stop", &named).status, 204);
    assert_eq!(end_of(&ana, &run)["subtype"], "cancelled");
    assert!(hand.gets("server/storage").ok()["databaseBytes"].as_u64() > Some(0));
}

#[test]
fn a_run_on_another_server_is_listed_and_stopped() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let plan = TestServer::plan().script(script()).flags(&["--cluster"]);
    let first = plan.start_on(Some(database));
    let second: Server = first.another_node();
    let ana = Person::arrive(first.url(), &first.token("Ana", Role::Editor, &[]), "Ana");
    ana.creates("It was very dark.\n");
    let run = ana.asks("slow");
    ana.sees("claudeStreamChunk");
    let owner = Person::arrive(&second.url, OWNER, "Owner");
    assert_eq!(work(&owner)["runs"][0]["requestId"], json!(run));
    stops(&owner, &ana, &run);
    assert_eq!(end_of(&ana, &run)["subtype"], "cancelled");
}
