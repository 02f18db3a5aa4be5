//! A document says which models may see its text, and the server keeps to it wherever a model is
//! called.

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::messages_client::MessagesClient;
use crate::support::script::full;
use crate::support::{OWNER, Person, Provider, RestClient, Role, TestServer};

const TEXT: &str = "It was very dark.\n";
const LOCAL_ONLY: &str = "This document may only be shown to models on this machine.";
/// An address for documentation, at which no server answers: a model that is not on this machine.
const ELSEWHERE: &str = "http://192.0.2.1:9/v1";

/// The built-in editor, and a model elsewhere.
fn harper_and_another() -> (TestServer, Person) {
    let plan = TestServer::plan().model("harper,openai:far");
    let copydesk = plan.variable("OPENAI_BASE_URL", ELSEWHERE).start();
    let owner = copydesk.owner();
    owner.creates(TEXT);
    (copydesk, owner)
}

fn allows(owner: &Person, access: Value) -> Value {
    let payload = json!({"documentId": owner.document(), "modelAccess": access});
    owner.emit("document:settings", &payload).ok()["settings"]["modelAccess"].clone()
}

fn words(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// Returns the refusal of a question to this model about the open document; empty if the question
/// is taken.
fn asked_over_sockets(person: &Person, model: &str) -> String {
    let context = json!({"documentId": person.document()});
    let ask = json!({"sessionId": person.session(), "prompt": "Hello", "model": model, "context": context});
    let ack = person.emit("askClaudeCode", &ask);
    if ack.body()["ok"] == true {
        person.answer(ack.body()["requestId"].as_str().expect("a run"));
        return String::new();
    }
    let error = ack.refused_with("model_not_allowed");
    error["message"].as_str().expect("words").to_owned()
}

#[test]
fn a_document_for_this_machine_alone_is_shown_to_no_model_elsewhere_whichever_way_it_is_asked() {
    let (copydesk, owner) = harper_and_another();
    let document = owner.document();
    assert_eq!(owner.registered()["local_models"], json!(["harper"]));
    let hand = RestClient::new(&copydesk, OWNER);
    let program = MessagesClient::with(&copydesk, OWNER);
    program.opts_in(&json!(["document"]));
    let program = program.header("x-copydesk-document", &document);
    let hello = json!([{"role": "user", "content": "Hello"}]);
    let over_rest = |model: &str| {
        let ask = json!({"prompt": "Hello", "model": model, "context": {"documentId": document}});
        hand.posts("runs", &ask)
    };
    let named = |names: &[&str]| json!({"allow": "named", "names": names});
    let far_only = "This document may only be shown to these models: openai:other.";
    for (access, refusal) in
        [(json!({"allow": "local"}), LOCAL_ONLY), (named(&["openai:other"]), far_only)]
    {
        assert_eq!(allows(&owner, access.clone()), access);
        assert_eq!(asked_over_sockets(&owner, "openai:far"), refusal);
        let answer = over_rest("openai:far");
        answer.refused_with(403, "model_not_allowed");
        assert_eq!(answer.body["detail"], refusal, "{}", answer.body);
        let far = json!({"model": "openai:far"});
        let refused = program.asks(&hello, &far).refused(403, "permission_error");
        assert_eq!(refused, refusal);
        let count = json!({"model": "openai:far", "messages": hello}).to_string();
        let refused = program.call("POST /v1/messages/count_tokens", &count);
        assert_eq!(refused.refused(403, "permission_error"), refusal);
    }
    // The built-in editor is on this machine, and a named model is the one that is named.
    for access in [json!({"allow": "local"}), named(&["harper"]), json!({"allow": "any"})] {
        allows(&owner, access);
        assert_eq!(asked_over_sockets(&owner, "harper"), "");
        assert_eq!(over_rest("harper").status, 202);
        program.asks(&hello, &json!({"model": "harper"})).ok();
    }
}

#[test]
fn a_setting_holds_for_the_next_call_of_a_run_that_has_begun() {
    let input = json!({"new_content": "It was dark.\n", "explanation": "Shorter."});
    let rewrite = json!([{"type": "tool_use", "name": "update_full_document", "input": input}]);
    let provider = Provider::answering(vec![rewrite, words("Done.")]);
    let plan = TestServer::plan().model("openai:near,harper");
    let copydesk = plan.variable("OPENAI_BASE_URL", &provider.url).start();
    let owner = copydesk.owner();
    owner.creates(TEXT);
    // A provider at a loopback address is on this machine.
    assert_eq!(owner.registered()["local_models"][0], "openai:near");
    allows(&owner, json!({"allow": "local"}));
    let run = owner.asks("Tighten this");
    let request = owner.sees_request();
    provider.asked(1);
    allows(&owner, json!({"allow": "named", "names": ["harper"]}));
    owner.accepts_all(&request);
    let answer = owner.answer(&run);
    assert_eq!(answer["error"]["code"], "model_not_allowed", "{answer}");
    let refusal = "This document may only be shown to these models: harper.";
    assert_eq!(answer["error"]["message"], refusal);
    assert_eq!(owner.text(), "It was dark.\n", "what people accepted stays");
}

#[test]
fn a_run_elsewhere_does_not_read_a_document_that_its_model_may_not_see() {
    let provider = Provider::answering(vec![words("Hello.")]);
    let plan = TestServer::plan().model("openai:near,harper");
    let copydesk = plan.variable("OPENAI_BASE_URL", &provider.url).start();
    let owner = copydesk.owner();
    let closed = owner.creates("The secret is a lamp.\n");
    allows(&owner, json!({"allow": "named", "names": ["harper"]}));
    owner.creates(TEXT);
    let call =
        |name: &str, input: &Value| json!([{"type": "tool_use", "name": name, "input": input}]);
    let mut rewrite = full("No lamp.\n");
    rewrite["document_id"] = closed.clone().into();
    provider.plays(vec![
        call("read_document", &json!({"document_id": closed})),
        call("update_document_by_id", &rewrite),
        words("Done."),
    ]);
    let run = owner.asks("Compare it with the other document");
    owner.answer(&run);
    for number in [2, 3] {
        let model_input = provider.asked(number)["messages"].to_string();
        assert!(model_input.contains("may only be shown to these models: harper"), "{model_input}");
        assert!(!model_input.contains("secret"), "{model_input}");
    }
}

#[test]
fn a_run_in_the_workspace_finds_nothing_in_the_file_of_such_a_document() {
    let provider = Provider::answering(vec![words("Hello.")]);
    let plan = TestServer::plan().model("openai:near,harper").workspace(&[
        ("closed.txt", "The lamp is a secret.\n"),
        ("open.txt", "The lamp is lit.\n"),
    ]);
    let copydesk = plan.variable("OPENAI_BASE_URL", &provider.url).start();
    let owner = copydesk.owner();
    owner.opens_file("closed.txt");
    allows(&owner, json!({"allow": "named", "names": ["harper"]}));
    owner.closes();
    let call =
        |name: &str, input: &Value| json!([{"type": "tool_use", "name": name, "input": input}]);
    provider.plays(vec![
        call("Grep", &json!({"pattern": "lamp"})),
        call("Read", &json!({"file_path": "closed.txt"})),
        words("Done."),
    ]);
    let ask = json!({"prompt": "Where is the lamp?", "permission_mode": "sdk", "auto_approve_safe": true});
    let run = owner.emit("run", &ask).ok()["requestId"].clone();
    owner.sees_where("agent_event", |it| it["requestId"] == run && it["type"] == "result");
    let model_input = provider.asked(3)["messages"].to_string();
    assert!(model_input.contains("open.txt") && !model_input.contains("secret"), "{model_input}");
    assert!(model_input.contains("may only be shown to these models: harper"), "{model_input}");
}

#[test]
fn only_owners_change_the_setting_it_is_logged_and_it_outlives_the_server() {
    let (mut copydesk, owner) = harper_and_another();
    let document = owner.document();
    let ana = copydesk.editor("Ana");
    let local = json!({"allow": "local"});
    assert_eq!(
        ana.opens(&document)["document"]["settings"]["modelAccess"],
        json!({"allow": "any"})
    );
    let wish = json!({"documentId": document, "modelAccess": local});
    ana.emit("document:settings", &wish).refused_with("not_allowed");
    let bad = [
        json!({"allow": "named"}),
        json!({"allow": "named", "names": []}),
        json!({"allow": "local", "names": ["harper"]}),
    ];
    for access in bad {
        let wish = json!({"documentId": document, "modelAccess": access});
        owner.emit("document:settings", &wish).refused_with("invalid_payload");
    }
    let hand = RestClient::new(&copydesk, OWNER);
    let path = format!("documents/{document}/settings");
    let body = json!({"modelAccess": local}).to_string();
    let type_header = [("Content-Type", "application/json")];
    hand.says(&format!("PATCH /api/v1/{path}"), &type_header, &body).ok();
    let event = ana.sees_where("document:changed", |it| it["settings"].is_object());
    assert_eq!(event["settings"]["modelAccess"], local);
    let log = hand.gets(&format!("documents/{document}/audit?limit=100")).ok().to_string();
    assert!(log.contains("document.configure") && log.contains("\"models\":\"local\""), "{log}");

    copydesk.is_killed_and_restarted();
    let owner = owner.comes_back(&copydesk);
    owner.opens_again();
    assert_eq!(RestClient::new(&copydesk, OWNER).gets(&path).ok()["modelAccess"], local);
    assert_eq!(asked_over_sockets(&owner, "openai:far"), LOCAL_ONLY);
    // Other settings leave it as it is.
    let wish = json!({"documentId": document, "timeoutSeconds": 60});
    assert_eq!(owner.emit("document:settings", &wish).ok()["settings"]["modelAccess"], local);
}

#[test]
fn a_program_that_calls_tools_itself_is_no_model_of_this_server() {
    let (copydesk, owner) = harper_and_another();
    allows(&owner, json!({"allow": "local"}));
    let token = copydesk.token("Program", Role::Editor, &[]);
    let coder = Mcp::arrives(&copydesk, &token, "coder");
    assert!(coder.reads(&owner.document()).contains(TEXT.trim()));
}
