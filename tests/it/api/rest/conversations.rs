//! Conversations and runs.

use serde_json::{Value, json};

use crate::support::{OWNER, RestClient, Role, TestServer, eventually};

use super::{TEXT, text, waits, with_request};

#[test]
fn a_run_that_has_ended_can_be_stopped_and_stays_as_it_is() {
    let (_server, ana, _document, run, _request) = with_request();
    let stop = format!("{run}/cancel");
    assert_eq!(ana.posts(&stop, &json!({})).status, 204);
    eventually("the end of the run", || !ana.gets(&run).ok()["finishedAt"].is_null());
    assert_eq!(ana.posts(&stop, &json!({})).status, 204);
    assert_eq!(ana.gets(&run).ok()["state"], "cancelled");
    let (session, _) = run.split_once("/runs/").unwrap();
    ana.posts(&format!("{session}/runs/none/cancel"), &json!({})).refused_with(404, "not_found");
}

#[test]
fn what_is_described_says_which_files_and_headers_there_are() {
    let copydesk = TestServer::quiet();
    let described = RestClient::new(&copydesk, OWNER).gets("openapi.json").ok();
    let paths = &described["paths"];
    let itself = &paths["/api/v1/openapi.json"]["get"]["responses"]["200"]["content"];
    let schema = &itself["application/json"]["schema"];
    assert_eq!(schema["type"], "object", "programs that write clients know no other: {schema}");
    let export = &paths["/api/v1/documents/{id}/export"]["get"]["responses"]["200"]["content"];
    let kinds: Vec<_> = export.as_object().unwrap().keys().map(String::as_str).collect();
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    assert_eq!(kinds, ["application/json", word, "text/html", "text/markdown"]);
    let made = &paths["/api/v1/documents"]["post"]["responses"]["201"]["headers"];
    assert!(made["Location"].is_object() && made["Idempotency-Replayed"].is_object(), "{made}");
    let refused = &described["components"]["responses"]["Problem"]["headers"];
    assert!(refused["Retry-After"].is_object(), "{refused}");
}

#[test]
fn a_conversation_begins_anew_and_goes_on_from_an_earlier_question_over_http() {
    let copydesk = TestServer::quiet();
    let (ana, ben) =
        (copydesk.token("Ana", Role::Editor, &[]), copydesk.token("Ben", Role::Editor, &[]));
    let (ana, ben) = (RestClient::new(&copydesk, &ana), RestClient::new(&copydesk, &ben));
    let document = ana.posts("documents", &json!({"text": TEXT})).ok()["id"].clone();
    let asks = |hand: &RestClient, session: Option<&Value>, prompt: &str| {
        let mut ask = json!({"prompt": prompt, "context": {"documentId": document}});
        if let Some(session) = session {
            ask["sessionId"] = session.clone();
        }
        let run = hand.posts("runs", &ask).ok();
        let url = text(&run["url"]).strip_prefix("/api/v1/").unwrap();
        assert_eq!(hand.gets(&format!("{url}?wait=30")).ok()["state"], "success");
        run
    };
    let first = asks(&ana, None, "One");
    asks(&ana, Some(&first["sessionId"]), "Two");
    let about = json!({"documentId": document});
    let of = |run: &Value, rest: &str| {
        format!("sessions/{}/transcript{rest}", run["sessionId"].as_str().unwrap())
    };
    assert_eq!(ana.posts(&of(&first, "/clear"), &about).status, 204);
    let elsewhere = json!({"documentId": document, "requestId": first["id"]});
    ben.posts(&of(&first, "/clear"), &about).refused_with(403, "not_allowed");
    ben.posts(&of(&first, "/fork"), &elsewhere).refused_with(403, "not_allowed");
    // What was said about a document is everybody's to go on from.
    let bens = asks(&ben, None, "Three");
    let fork = json!({"documentId": document, "requestId": first["id"], "fromSessionId": first["sessionId"]});
    assert_eq!(ben.posts(&of(&bens, "/fork"), &fork).status, 204);
    let said = ben.gets(&of(&bens, &format!("?documentId={}", text(&document)))).ok();
    let entries = said["entries"].as_array().unwrap();
    let marks: Vec<_> = entries.iter().filter(|it| it["subtype"] == "clear").collect();
    assert_eq!(marks.len(), 2, "{said}");
    assert_eq!(marks[1]["content"]["from"], first["id"]);
    let prompts: Vec<_> = entries.iter().filter(|it| it["subtype"] == "prompt").collect();
    assert_eq!(prompts.len(), 3, "the record is as it was: {said}");
}

#[test]
fn a_conversation_is_left_alone_while_a_run_is_at_work_and_all_its_runs_can_be_stopped() {
    let (_server, ana, document, run, _) = with_request();
    let session = text(&ana.gets(&run).ok()["sessionId"]).to_owned();
    let about = json!({"documentId": document});
    let clear = format!("sessions/{session}/transcript/clear");
    ana.posts(&clear, &about).refused_with(409, "busy");
    let fork = json!({"documentId": document, "requestId": run.rsplit('/').next()});
    let forked = format!("sessions/{session}/transcript/fork");
    ana.posts(&forked, &fork).refused_with(409, "busy");
    assert_eq!(ana.posts(&format!("sessions/{session}/cancel"), &json!({})).status, 204);
    assert_eq!(ana.gets(&format!("{run}?wait=30")).ok()["state"], "cancelled");
    assert_eq!(ana.posts_once("k", &clear, &about).status, 204);
    let again = ana.posts_once("k", &clear, &about);
    assert!(again.status == 204 && again.head.contains("idempotency-replayed"), "{again:?}");
    assert_eq!(ana.posts(&forked, &fork).status, 204);
}

#[test]
fn a_plan_is_rewritten_over_http() {
    let copydesk = TestServer::playing("plan-first");
    let owner = RestClient::new(&copydesk, OWNER);
    let me = owner.gets("me").ok();
    assert_eq!(me["permission_modes"], json!(["toolApproval", "sdk"]), "{me}");
    assert_eq!(me["permission_mode"], "sdk");
    let document = owner.posts("documents", &json!({"text": TEXT})).ok()["id"].clone();
    let ask = json!({"prompt": "Tidy up", "permission_mode": "toolApproval", "context": {"documentId": document}});
    let run = owner.posts("runs", &ask).ok();
    let url = text(&run["url"]).strip_prefix("/api/v1/").unwrap();
    let decision = format!("requests/{}/decision", waits(&owner, url));
    let edit = |plan: &str| json!({"decision": "edit", "updated_input": {"plan": plan}});
    owner.posts(&decision, &edit("")).refused_with(422, "invalid_decision");
    assert_eq!(owner.posts(&decision, &edit("Correct it.")).ok()["status"], "approved");
    let change = waits(&owner, url);
    owner.posts(&format!("requests/{change}/decision"), &json!({"approved": true})).ok();
    let session = text(&run["sessionId"]);
    let here = format!("sessions/{session}/transcript?documentId={}", text(&document));
    let said = owner.gets(&here).ok().to_string();
    assert!(said.contains("The approved plan:") && said.contains("Correct it."), "{said}");
}
