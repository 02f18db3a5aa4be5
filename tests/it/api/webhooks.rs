//! Webhooks: a person who is not there is sent what waits and what was decided, in order, signed,
//! and also after a crash.

use std::time::Duration;

use copydesk_api::webhooks::SigningSecret;
use serde_json::{Value, json};

use crate::support::{OWNER, Person, Receiver, RestClient, Script, TestServer, found};

const TEXT: &str = "Teh keeper wrote every night.\n";
const FIXED: &str = "The keeper wrote every night.\n";

/// A server that may tell receivers on this machine; its owner's program; Ana, who asks.
fn test_server() -> (TestServer, RestClient, Person) {
    let input = json!({"new_content": FIXED, "explanation": "Fixed."});
    let call = json!({"type": "tool_use", "name": "update_full_document", "input": input});
    let turn = json!({"when": {"user": "."}, "content": [call], "repeat": true});
    let script = Script::default().turn(turn).closing("Done.");
    let copydesk = TestServer::plan().script(script).flags(&["--allow-private-webhooks"]).start();
    let owner = RestClient::new(&copydesk, OWNER);
    let ana = copydesk.editor("Ana");
    ana.creates(TEXT);
    (copydesk, owner, ana)
}

fn registers(owner: &RestClient, url: &str) -> Value {
    owner.posts("webhooks", &json!({"url": url})).ok()
}

fn id(hook: &Value) -> String {
    hook["id"].as_str().expect("a webhook has a name").to_owned()
}

/// Waits until the list says this of a webhook.
fn comes_to_say(owner: &RestClient, hook: &Value, fits: impl Fn(&Value) -> bool) -> Value {
    found(|| {
        let state = owner.gets(&format!("webhooks/{}", id(hook))).ok();
        if fits(&state) { Ok(state) } else { Err(state) }
    })
}

#[test]
fn a_receiver_is_told_of_a_request_and_of_its_end_signed_and_in_order() {
    let (_server, owner, ana) = test_server();
    let receiver = Receiver::start();
    let hook = registers(&owner, &receiver.url());
    ana.asks("Fix it");
    let request = ana.sees_request();
    let waiting = receiver.takes();
    assert_eq!(waiting.body["type"], "tool_approval_request");
    assert_eq!(waiting.body["data"]["request_id"], request["request_id"]);
    assert_eq!(waiting.body["data"]["hunks"], request["hunks"]);
    let secret = SigningSecret::read(hook["secret"].as_str().unwrap()).unwrap();
    let (name, at) = (waiting.header("webhook-id"), waiting.header("webhook-timestamp"));
    let signature = secret.sign(name, at.parse().unwrap(), &waiting.text).unwrap();
    assert_eq!(waiting.header("webhook-signature"), signature);
    ana.accepts_all(&request);
    let resolved = receiver.takes();
    assert_eq!(resolved.body["type"], "tool_approval_resolved");
    assert_eq!(resolved.body["data"]["status"], "approved");
    assert_eq!(resolved.body["data"]["by"]["name"], "Ana");
    assert_ne!(resolved.header("webhook-id"), name);
    let state = comes_to_say(&owner, &hook, |it| it["waiting"] == 0);
    assert_eq!((&state["state"], &state["error"]), (&json!("active"), &Value::Null));
    let list = owner.gets("webhooks").ok();
    assert!(!list.to_string().contains("whsec_"), "{list}");
}

#[test]
fn a_receiver_that_refuses_is_tried_again_with_the_same_words_and_nothing_overtakes() {
    let (_server, owner, ana) = test_server();
    let receiver = Receiver::start();
    receiver.answers(500);
    let hook = registers(&owner, &receiver.url());
    ana.asks("Fix it");
    let request = ana.sees_request();
    ana.rejects(&request, "No.");
    let first = receiver.takes();
    let state = comes_to_say(&owner, &hook, |it| it["state"] == "failing");
    assert_eq!((&state["waiting"], &state["dropped"]), (&json!(2), &json!(0)));
    assert!(state["error"].as_str().unwrap().contains("500"), "{state}");
    receiver.answers(204);
    let again = receiver.takes();
    assert_eq!(again.header("webhook-id"), first.header("webhook-id"));
    assert_eq!(again.text, first.text);
    assert_eq!(receiver.takes().body["data"]["status"], "rejected");
    comes_to_say(&owner, &hook, |it| it["state"] == "active" && it["waiting"] == 0);
}

#[test]
fn what_was_not_delivered_is_delivered_after_a_crash() {
    let (mut copydesk, owner, ana) = test_server();
    let receiver = Receiver::start();
    receiver.answers(503);
    let hook = registers(&owner, &receiver.url());
    ana.asks("Fix it");
    let request = ana.sees_request();
    receiver.takes();
    copydesk.is_killed_and_restarted();
    receiver.answers(204);
    let owner = RestClient::new(&copydesk, OWNER);
    let event = receiver.takes();
    assert_eq!(event.body["data"]["request_id"], request["request_id"]);
    comes_to_say(&owner, &hook, |it| it["waiting"] == 0);
}

#[test]
fn redirects_are_not_followed() {
    let (_server, owner, ana) = test_server();
    let receiver = Receiver::start();
    receiver.answers(307);
    let hook = registers(&owner, &receiver.url());
    ana.asks("Fix it");
    receiver.takes();
    let state = comes_to_say(&owner, &hook, |it| it["state"] == "failing");
    assert!(state["error"].as_str().unwrap().contains("307"), "{state}");
}

#[test]
fn a_webhook_of_a_document_hears_of_that_document_only_and_none_of_private_ones() {
    let (_server, owner, ana) = test_server();
    let (all, one) = (Receiver::start(), Receiver::start());
    registers(&owner, &all.url());
    let elsewhere = ana.creates(TEXT);
    let wish = json!({"url": one.url(), "documentId": elsewhere});
    assert_eq!(owner.posts("webhooks", &wish).ok()["documentId"], json!(elsewhere));
    ana.asks_about("Fix it", &json!({"documentContent": "Mine."}));
    ana.sees_request();
    ana.creates(TEXT);
    ana.asks("Fix it");
    let request = ana.sees_request();
    assert_eq!(all.takes().body["data"]["request_id"], request["request_id"]);
    one.takes_nothing(Duration::from_millis(300));
}

#[test]
fn a_webhook_is_paused_moved_and_deleted() {
    let (_server, owner, ana) = test_server();
    let (here, there) = (Receiver::start(), Receiver::start());
    let hook = registers(&owner, &here.url());
    let path = format!("PATCH /api/v1/webhooks/{}", id(&hook));
    let paused = owner.says(&path, &[], r#"{"active": false}"#).ok();
    assert_eq!(paused["state"], "paused");
    ana.asks("Fix it");
    let request = ana.sees_request();
    here.takes_nothing(Duration::from_millis(300));
    let moved = json!({"active": true, "url": there.url()}).to_string();
    assert_eq!(owner.says(&path, &[], &moved).ok()["url"], json!(there.url()));
    ana.accepts_all(&request);
    assert_eq!(there.takes().body["type"], "tool_approval_resolved");
    let gone = owner.says(&path.replace("PATCH", "DELETE"), &[], "");
    assert_eq!(gone.status, 204);
    owner.gets(&format!("webhooks/{}", id(&hook))).refused_with(404, "not_found");
    ana.asks("Fix it");
    there.takes_nothing(Duration::from_millis(300));
}

#[test]
fn a_receiver_that_never_answers_holds_up_no_one() {
    let (_server, owner, ana) = test_server();
    // Accepts connections, and says nothing.
    let deaf = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    registers(&owner, &format!("http://{}/", deaf.local_addr().unwrap()));
    let receiver = Receiver::start();
    registers(&owner, &receiver.url());
    ana.asks("Fix it");
    let request = ana.sees_request();
    ana.accepts_all(&request);
    assert_eq!(receiver.takes().body["type"], "tool_approval_request");
    assert_eq!(receiver.takes().body["type"], "tool_approval_resolved");
}

#[test]
fn a_name_that_leads_home_by_the_time_it_is_told_something_is_told_nothing() {
    let call = json!({"type": "tool_use", "name": "update_full_document", "input": {"new_content": FIXED, "explanation": "Fixed."}});
    let copydesk = TestServer::scripted(Script::default().turn(json!({"content": [call]})));
    let (owner, ana) = (RestClient::new(&copydesk, OWNER), copydesk.editor("Ana"));
    ana.creates(TEXT);
    let home = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    home.set_nonblocking(true).unwrap();
    let url = format!("https://localhost:{}/hook", home.local_addr().unwrap().port());
    // A name may mean anything once something is sent; only then it is looked up.
    let hook = registers(&owner, &url);
    ana.asks("Fix it");
    let state = comes_to_say(&owner, &hook, |it| it["state"] == "failing");
    assert!(state["error"].as_str().unwrap().contains("is not a public address"), "{state}");
    assert!(home.accept().is_err(), "someone came home");
}
