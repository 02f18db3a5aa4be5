//! REST: what programs do that do not stay connected.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::http;
use crate::support::{Answer, OWNER, RestClient, Role, Script, TestServer};

const TEXT: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n";
const FIXED: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n";

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// Ana's program has made a document.
fn with_document() -> (TestServer, RestClient, String) {
    with_document_at(TestServer::scripted(Script::rewriting(FIXED)))
}

fn with_document_at(copydesk: TestServer) -> (TestServer, RestClient, String) {
    let ana = RestClient::new(&copydesk, &copydesk.token("Ana", Role::Editor, &[]));
    let made = ana.posts("documents", &json!({"title": "A story", "text": TEXT})).ok();
    let document = text(&made["id"]).to_owned();
    (copydesk, ana, document)
}

/// And has asked for corrections, which wait: the run's address, and the request.
fn with_request() -> (TestServer, RestClient, String, String, Value) {
    with_request_at(TestServer::scripted(Script::rewriting(FIXED)))
}

fn with_request_at(copydesk: TestServer) -> (TestServer, RestClient, String, String, Value) {
    let (copydesk, ana, document) = with_document_at(copydesk);
    let ask = json!({"prompt": "Fix the spelling", "context": {"documentId": document}});
    let run = ana.posts("runs", &ask);
    assert_eq!(run.status, 202);
    let url = text(&run.body["url"]).strip_prefix("/api/v1/").unwrap().to_owned();
    let request = waits(&ana, &url);
    let request = ana.gets(&format!("requests/{request}")).ok();
    (copydesk, ana, document, url, request)
}

/// Waits until a run has a request that waits for people.
fn waits(hand: &RestClient, run: &str) -> String {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let state = hand.gets(run).ok();
        if let Some(request) = state["waiting"].get(0) {
            return text(request).to_owned();
        }
        assert!(Instant::now() < until, "nothing waits: {state}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

// Documents.

#[test]
fn a_document_is_made_read_renamed_and_deleted() {
    let (copydesk, ana, document) = with_document();
    let here = format!("documents/{document}");
    let read = ana.gets(&here).ok();
    assert_eq!((&read["title"], &read["text"]), (&json!("A story"), &json!(TEXT)));
    let renamed = ana.says(&format!("PATCH /api/v1/{here}"), &[], r#"{"title": "Another"}"#);
    assert_eq!(renamed.status, 204);
    assert_eq!(ana.gets("documents").ok()["documents"][0]["title"], "Another");
    let owner = RestClient::new(&copydesk, OWNER);
    assert_eq!(owner.says(&format!("DELETE /api/v1/{here}"), &[], "").status, 204);
    ana.gets(&here).refused_with(404, "not_found");
}

#[test]
fn an_edit_leaves_alone_what_others_wrote_since() {
    let (copydesk, ana, document) = with_document();
    let ben = copydesk.editor("Ben");
    ben.opens(&document);
    ben.types(0, "So: ");
    let edits = format!("documents/{document}/edits");
    let made = ana.posts(&edits, &json!({"version": 0, "text": TEXT.replace("Teh", "The")})).ok();
    assert_eq!(made["version"], 2);
    // Made on the same version, by the same person: another edit.
    let more = json!({"version": 0, "text": TEXT.replace("recieved", "received")});
    assert_eq!(ana.posts(&edits, &more).ok()["version"], 3);
    ben.comes_to_read(&format!("So: {FIXED}"));
    let versions = ana.gets(&format!("documents/{document}/versions")).ok();
    assert_eq!(versions["versions"][0]["author"]["name"], "Ana");
    assert_eq!(ana.posts(&edits, &json!({"version": 3, "text": ben.text()})).ok()["version"], 3);
}

#[test]
fn a_large_reordering_is_taken_however_many_places_change() {
    let copydesk = TestServer::quiet();
    let ana = RestClient::new(&copydesk, &copydesk.token("Ana", Role::Editor, &[]));
    let mut sentences: Vec<_> =
        (0..30_000).map(|at| format!("Sentence {at} has words such as {}.\n", at * 7919)).collect();
    let ordered = sentences.concat();
    fastrand::Rng::with_seed(1).shuffle(&mut sentences);
    let shuffled = sentences.concat();
    let made = ana.posts("documents", &json!({"title": "Sentences", "text": ordered})).ok();
    let here = format!("documents/{}", made["id"].as_str().unwrap());
    let edit = json!({"version": 0, "text": shuffled});
    assert_eq!(ana.posts(&format!("{here}/edits"), &edit).ok()["version"], 1);
    assert!(ana.gets(&here).ok()["text"] == shuffled);
    let restored = ana.posts(&format!("{here}/restore"), &json!({"version": 0})).ok();
    assert_eq!(restored["version"], 2);
    assert!(ana.gets(&here).ok()["text"] == ordered);
}

#[test]
fn older_texts_are_read_compared_and_brought_back() {
    let (_desk, ana, document) = with_document();
    let here = |rest: &str| format!("documents/{document}/{rest}");
    ana.posts(&here("edits"), &json!({"version": 0, "text": FIXED})).ok();
    assert_eq!(ana.gets(&here("versions/0")).ok()["text"], TEXT);
    let parts = ana.gets(&here("compare?from=0")).ok()["parts"].clone();
    assert_eq!((&parts[0]["base"], &parts[0]["insert"]), (&json!("Teh"), &json!("The")));
    assert_eq!(ana.posts(&here("restore"), &json!({"version": 0})).ok()["version"], 2);
    assert_eq!(ana.gets(&format!("documents/{document}")).ok()["text"], TEXT);
    ana.posts(&here("restore"), &json!({"version": 0, "onlyAt": 1})).refused_with(409, "resync");
    ana.gets(&here("versions/9")).refused_with(404, "not_found");
}

#[test]
fn settings_are_read_and_changed_by_an_owner() {
    let (copydesk, ana, document) = with_document();
    let owner = RestClient::new(&copydesk, OWNER);
    let patch = |hand: &RestClient, path: &str, body: &str| {
        hand.says(&format!("PATCH /api/v1/{path}"), &[], body)
    };
    let here = format!("documents/{document}/settings");
    assert_eq!(patch(&owner, &here, r#"{"policy": "owner"}"#).ok()["policy"], "owner");
    assert_eq!(ana.gets(&here).ok()["policy"], "owner");
    patch(&ana, &here, r#"{"policy": "any"}"#).refused_with(403, "not_allowed");
    assert_eq!(patch(&owner, "settings", r#"{"timeoutSeconds": 7}"#).ok()["timeoutSeconds"], 7);
    assert_eq!(ana.gets("settings").ok()["timeoutSeconds"], 7);
}

#[test]
fn lists_are_read_to_their_end_page_by_page() {
    let (copydesk, ana, document) = with_document();
    for title in ["One", "Two", "Three", "Four"] {
        ana.posts("documents", &json!({"title": title})).ok();
    }
    let walk = |hand: &RestClient, first: &str, field: &str| {
        let (mut all, mut path) = (Vec::new(), Some(first.to_owned()));
        while let Some(here) = path {
            let page = hand.gets(&here).ok();
            let entries = page[field].as_array().unwrap();
            assert!(entries.len() <= 2, "{page}");
            all.extend(entries.clone());
            let next = page["next"].as_str();
            path = next.map(|next| next.strip_prefix("/api/v1/").unwrap().to_owned());
        }
        all
    };
    let all = walk(&ana, "documents?limit=2", "documents");
    assert_eq!(json!(all), ana.gets("documents?limit=200").ok()["documents"]);
    assert_eq!(all.len(), 6, "and the one that is there from the beginning");
    for version in 0..4 {
        let edit = json!({"version": version, "text": "x".repeat(version + 1)});
        ana.posts(&format!("documents/{document}/edits"), &edit).ok();
    }
    let versions = walk(&ana, &format!("documents/{document}/versions?limit=2"), "versions");
    let numbers: Vec<_> = versions.iter().map(|it| it["version"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [4, 3, 2, 1]);
    let files: Vec<_> = ["a", "a-b", "b", "c", "d"].map(|name| (name, "x")).into();
    let with_files = TestServer::plan().workspace(&files).start();
    for folder in ["a.d", "e"] {
        std::fs::create_dir(with_files.folder().join(folder)).unwrap();
        with_files.overwrites(&format!("{folder}/b"), "x");
    }
    let listed = walk(&RestClient::new(&with_files, OWNER), "files?limit=2", "files");
    let paths: Vec<_> = listed.iter().map(|it| text(&it["path"])).collect();
    assert_eq!(paths, ["a", "a-b", "a.d/b", "b", "c", "d", "e/b"]);
    let owner = RestClient::new(&copydesk, OWNER);
    let lines = walk(&owner, "audit?limit=2", "lines");
    let last = lines.last().unwrap();
    assert_eq!(last["seq"], 1, "to the first line there is");
    assert!(lines.iter().any(|line| line["document"] == json!(document)));
    let here = format!("documents/{document}/audit?limit=2");
    assert!(walk(&ana, &here, "lines").iter().all(|line| line["document"] == json!(document)));
}

// Requests.

#[test]
fn a_program_asks_decides_and_reads_what_came_of_it() {
    let (_desk, ana, document, run, request) = with_request();
    let open = ana.gets(&format!("requests?documentId={document}")).ok();
    assert_eq!(open["requests"][0], request);
    let here = format!("requests/{}", text(&request["request_id"]));
    let first = json!({"id": request["hunks"][0]["id"], "decision": "accept"});
    let preview = &request["preview_hash"];
    let some = json!({"hunks": [first], "preview_hash": preview});
    assert_eq!(ana.posts(&format!("{here}/decision"), &some).ok()["status"], "pending");
    let rest = json!({"approved": false, "feedback": "as he wrote it", "preview_hash": preview});
    let told = ana.posts(&format!("{here}/told"), &rest).ok();
    assert!(text(&told["text"]).starts_with("Partly applied"), "{told}");
    assert_eq!(ana.posts(&format!("{here}/decision"), &rest).ok()["status"], "partly");
    let over = ana.gets(&format!("{run}?wait=30")).ok();
    assert_eq!((&over["state"], &over["waiting"]), (&json!("success"), &json!([])));
    assert_eq!(over["result"]["conversationMessage"], "Done.");
    let now = TEXT.replace("Teh", "The");
    assert_eq!(ana.gets(&format!("documents/{document}")).ok()["text"], now);
    let ended = ana.gets(&format!("requests?documentId={document}&state=ended")).ok();
    assert_eq!(ana.gets("requests?state=ended").ok()["requests"], ended["requests"]);
    assert_eq!(ended["requests"][0]["status"], "partly");
    assert_eq!(ana.gets(&here).ok()["status"], "partly");
    assert_eq!(ana.posts(&format!("{here}/undo"), &json!({})).ok()["status"], "pending");
    assert_eq!(ana.gets(&format!("documents/{document}")).ok()["text"], TEXT);
    let no = json!({"approved": false, "preview_hash": preview});
    assert_eq!(ana.posts(&format!("{here}/decision"), &no).ok()["status"], "rejected");
    let one = json!({"hunks": [request["hunks"][0]["id"]]});
    let again = ana.posts(&format!("{here}/reopen"), &one).ok();
    assert_eq!((&again["status"], &again["unplaced"]), (&json!("pending"), &json!([])));
    let hunks = ana.gets(&here).ok()["hunks"].clone();
    assert_eq!((&hunks[0]["status"], &hunks[1]["status"]), (&json!("pending"), &json!("rejected")));
    let session = text(&over["sessionId"]);
    let said = ana.gets(&format!("sessions/{session}/transcript?documentId={document}")).ok();
    assert_eq!(said["entries"][0]["content"]["text"], "Fix the spelling");
    assert_eq!(ana.gets("sessions").ok()["sessions"][0]["id"], session);
}

#[test]
fn what_was_said_is_read_page_by_page_and_nothing_twice() {
    let copydesk = TestServer::scripted(Script::default().closing("Hello."));
    let (copydesk, ana, document) = with_document_at(copydesk);
    let ben = RestClient::new(&copydesk, &copydesk.token("Ben", Role::Editor, &[]));
    let ask = |hand: &RestClient, session: &Value, about: &Value| {
        let wish = json!({"prompt": "Hello there", "sessionId": session, "context": about, "continue": true});
        let run = hand.posts("runs", &wish).ok();
        let url = text(&run["url"]).strip_prefix("/api/v1/").unwrap().to_owned();
        hand.gets(&format!("{url}?wait=30")).ok();
        run["sessionId"].clone()
    };
    let about = json!({"documentId": document});
    let mut session = Value::Null;
    for _ in 0..3 {
        session = ask(&ana, &session, &about);
        ask(&ben, &Value::Null, &about);
        ask(&ana, &session, &json!({}));
    }
    for about in [format!("documentId={document}&"), String::new()] {
        let here = format!("sessions/{}/transcript?{about}", text(&session));
        let whole = ana.gets(&format!("{here}limit=200")).ok();
        assert_eq!(whole.get("next"), None);
        let expected = whole["entries"].as_array().unwrap().clone();
        assert!(expected.len() >= 6, "{whole}");
        for limit in [1, 2, 5] {
            let mut path = Some(format!("{here}limit={limit}"));
            let mut entries = Vec::new();
            while let Some(this) = path {
                let page = ana.gets(&this).ok();
                let found = page["entries"].as_array().unwrap();
                assert!((1..=limit).contains(&found.len()), "{page}");
                assert!(entries.is_empty() || page["requests"] == json!([]));
                entries.extend(found.iter().cloned());
                let next = page["next"].as_str();
                path = next.map(|next| next.strip_prefix("/api/v1/").unwrap().to_owned());
            }
            assert_eq!(entries, expected, "{limit} at once");
        }
        for wrong in ["limit=0", "limit=201", "limit=x", "cursor=x", "cursor=e30"] {
            ana.gets(&format!("{here}{wrong}")).refused_with(400, "invalid_request");
        }
        assert!(whole["requests"].is_array());
    }
}

#[test]
fn what_has_ended_elsewhere_is_listed_for_those_whose_business_it_is() {
    let write = json!({"file_path": "a.txt", "content": "Hello."});
    let copydesk =
        TestServer::plan().script(Script::calling("Write", &write)).workspace(&[]).start();
    let of = |name: &str, role| RestClient::new(&copydesk, &copydesk.token(name, role, &[]));
    let (ana, ben, vic) =
        (of("Ana", Role::Editor), of("Ben", Role::Editor), of("Vic", Role::Viewer));
    let run = ana.posts("runs", &json!({"prompt": "Write it"})).ok();
    let request = waits(&ana, text(&run["url"]).strip_prefix("/api/v1/").unwrap());
    let no = json!({"approved": false, "feedback": "No"});
    ben.posts(&format!("requests/{request}/decision"), &no).ok();
    let ended = |hand: &RestClient| hand.gets("requests?state=ended&limit=1").ok();
    for hand in [&ana, &ben] {
        assert_eq!(ended(hand)["requests"][0]["request_id"], json!(request));
    }
    assert_eq!(ended(&vic)["requests"], json!([]));
}

#[test]
fn a_decision_by_rest_is_one_like_any_other_and_comes_too_late_like_any_other() {
    let (copydesk, ana, document, _, request) = with_request();
    let ben = copydesk.editor("Ben");
    ben.opens(&document);
    let here = format!("requests/{}", text(&request["request_id"]));
    let decision = format!("{here}/decision");
    let stale = json!({"approved": true, "preview_hash": "of something else"});
    let refused = ana.posts(&decision, &stale);
    refused.refused_with(409, "stale_preview");
    assert_eq!(refused.body["details"]["preview_hash"], request["preview_hash"]);
    assert_eq!(ana.posts(&decision, &json!({"approved": true})).ok()["status"], "approved");
    ben.comes_to_read(FIXED);
    assert_eq!(ben.sees("tool_approval_resolved")["by"]["name"], "Ana");
    let late = ana.posts(&decision, &json!({"approved": true}));
    late.refused_with(409, "already_resolved");
    assert_eq!(late.body["details"]["by"]["name"], "Ana");
    let many = json!({"responses": [{"request_id": request["request_id"], "approved": true}, 7]});
    let results = ana.posts("requests/decisions", &many).ok()["results"].clone();
    assert_eq!(results[0]["error"]["code"], "already_resolved");
    assert_eq!(results[1]["ok"], false);
}

#[test]
fn who_waits_for_a_request_is_answered_when_it_is_decided() {
    let (copydesk, ana, document, _, request) = with_request();
    let here = format!("requests/{}", text(&request["request_id"]));
    let begun = Instant::now();
    assert_eq!(ana.gets(&format!("{here}?wait=1")).ok()["status"], "pending");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let waiting = std::thread::spawn({
        let (ana, here) = (RestClient::new(&copydesk, OWNER), here.clone());
        move || ana.gets(&format!("{here}?wait=60")).ok()
    });
    let ben = copydesk.editor("Ben");
    ben.opens(&document);
    ben.accepts_all(&ben.sees_request());
    let seen = waiting.join().unwrap();
    assert_eq!((&seen["status"], &seen["by"]["name"]), (&json!("approved"), &json!("Ben")));
    assert!(begun.elapsed() < Duration::from_secs(50));
}

#[test]
fn who_waits_with_a_token_that_is_revoked_is_told_nothing_more() {
    let (copydesk, _, _, _, request) = with_request();
    let owner = RestClient::new(&copydesk, OWNER);
    let issued = owner.posts("tokens", &json!({"role": "viewer", "name": "Vic"})).ok();
    let here = format!("requests/{}?wait=60", text(&request["request_id"]));
    let waiting = std::thread::spawn({
        let vic = RestClient::new(&copydesk, text(&issued["token"]));
        move || vic.gets(&here)
    });
    std::thread::sleep(Duration::from_millis(300));
    owner.says(&format!("DELETE /api/v1/tokens/{}", text(&issued["id"])), &[], "");
    waiting.join().unwrap().refused_with(401, "unauthorized");
}

#[test]
fn somebody_elses_session_is_not_ones_own() {
    let (copydesk, ana, _, run, _) = with_request();
    let ben = RestClient::new(&copydesk, &copydesk.token("Ben", Role::Editor, &[]));
    ben.gets(&run).refused_with(403, "not_allowed");
    ben.posts(&format!("{run}/cancel"), &json!({})).refused_with(403, "not_allowed");
    assert_eq!(ben.gets("sessions").ok()["sessions"], json!([]));
    assert_eq!(ana.posts(&format!("{run}/cancel"), &json!({})).status, 204);
    assert_eq!(ana.gets(&format!("{run}?wait=30")).ok()["state"], "cancelled");
}

// Conversations.

#[test]
fn a_run_that_has_ended_can_be_stopped_and_stays_as_it_is() {
    let (_desk, ana, _document, run, _request) = with_request();
    let stop = format!("{run}/cancel");
    assert_eq!(ana.posts(&stop, &json!({})).status, 204);
    let until = Instant::now() + Duration::from_secs(30);
    while ana.gets(&run).ok()["finishedAt"].is_null() {
        assert!(Instant::now() < until, "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
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
    let (_desk, ana, document, run, _) = with_request();
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

// Rules.

#[test]
fn an_owners_rule_is_made_over_http_once_and_holds_at_once() {
    let (copydesk, ana, document) = with_document();
    let owner = RestClient::new(&copydesk, OWNER);
    let wish = json!({"documentId": document, "effect": "deny", "tool": "update_full_document"});
    ana.posts("rules", &wish).refused_with(403, "not_allowed");
    let rule = owner.posts("rules", &wish).ok()["rule"].clone();
    assert_eq!((&rule["effect"], &rule["by"]["name"]), (&json!("deny"), &json!("Owner")));
    assert_eq!(owner.posts("rules", &wish).ok()["rule"]["id"], rule["id"], "it is there already");
    assert_eq!(ana.gets(&format!("rules?documentId={document}")).ok()["rules"], json!([rule]));
    let ask = json!({"prompt": "Fix the spelling", "context": {"documentId": document}});
    let run = ana.posts("runs", &ask).ok();
    let url = text(&run["url"]).strip_prefix("/api/v1/").unwrap();
    let over = ana.gets(&format!("{url}?wait=30")).ok();
    assert_eq!((&over["state"], &over["waiting"]), (&json!("success"), &json!([])));
    let desks = json!({"documentId": "desk", "effect": "ask", "path": "*.txt"});
    let desks = owner.posts_once("k", "rules", &desks).ok()["rule"].clone();
    assert_eq!((&desks["documentId"], &desks["tool"]), (&Value::Null, &json!("*")));
    for id in [&rule["id"], &desks["id"]] {
        let end = format!("DELETE /api/v1/rules/{}", text(id));
        assert_eq!(owner.says(&end, &[], "").status, 204);
    }
    assert_eq!(owner.gets("rules").ok()["rules"], json!([]));
}

// Files.

#[test]
fn a_file_is_opened_as_a_document_edited_and_follows() {
    let copydesk =
        TestServer::plan().workspace(&[("notes.md", TEXT), ("picture.png", "a\0b")]).start();
    let ana = RestClient::new(&copydesk, &copydesk.token("Ana", Role::Editor, &[]));
    assert_eq!(ana.gets("files").ok(), json!({"files": [{"path": "notes.md"}], "isCut": false}));
    let open = json!({"path": "./notes.md"});
    let opened = ana.posts_once("k", "files", &open).ok();
    let document = text(&opened["id"]);
    assert_eq!(opened["title"], "notes.md");
    assert_eq!(ana.posts("files", &json!({"path": "notes.md"})).ok()["id"], document);
    assert_eq!(ana.gets("files").ok()["files"][0]["documentId"], document);
    let read = ana.gets(&format!("documents/{document}")).ok();
    assert_eq!((&read["text"], &read["file"]["status"]), (&json!(TEXT), &json!("saved")));
    let edit = json!({"version": read["version"], "text": FIXED});
    let made = ana.posts(&format!("documents/{document}/edits"), &edit).ok()["version"].clone();
    copydesk.file_comes_to_read("notes.md", FIXED);
    let state = ana.gets(&format!("documents/{document}")).ok()["file"].clone();
    assert_eq!(state, json!({"path": "notes.md", "status": "saved", "version": made}));
    // What somebody else writes is there when it is read, though nobody is connected.
    copydesk.overwrites("notes.md", TEXT);
    let read = ana.gets(&format!("documents/{document}")).ok();
    assert_eq!(read["text"], TEXT);
    std::fs::remove_file(copydesk.folder().join("notes.md")).unwrap();
    let state = ana.gets(&format!("documents/{document}")).ok()["file"].clone();
    assert_eq!(state["status"], "missing");
    let owner = RestClient::new(&copydesk, OWNER);
    let edit = json!({"version": read["version"], "text": FIXED});
    owner.posts(&format!("documents/{document}/edits"), &edit).ok();
    // Deleted at once, the document leaves its file with everything that was acknowledged.
    assert_eq!(owner.says(&format!("DELETE /api/v1/documents/{document}"), &[], "").status, 204);
    assert_eq!(copydesk.file("notes.md").as_deref(), Some(FIXED));
    assert_ne!(owner.posts("files", &open).ok()["id"], document);
}

#[test]
fn what_is_no_text_file_of_the_workspace_is_not_opened() {
    let copydesk =
        TestServer::plan().workspace(&[("notes.md", TEXT), ("picture.png", "a\0b")]).start();
    let owner = RestClient::new(&copydesk, OWNER);
    let long = "x".repeat(5_000);
    for (path, status, code) in [
        ("none.md", 404, "not_found"),
        ("../notes.md", 422, "invalid_request"),
        ("/etc/passwd", 422, "invalid_request"),
        ("", 422, "invalid_request"),
        ("a\0b", 422, "invalid_request"),
        (long.as_str(), 422, "invalid_request"),
        (".git/config", 403, "not_allowed"),
        ("picture.png", 422, "unsupported"),
        ("notes.md/x", 422, "unsupported"),
    ] {
        owner.posts("files", &json!({"path": path})).refused_with(status, code);
    }
    owner.posts("files", &json!({"path": 7})).refused_with(422, "invalid_request");
    for query in ["limit=0", "limit=201", "cursor=x", &format!("pattern={long}")] {
        owner.gets(&format!("files?{query}")).refused_with(400, "invalid_request");
    }
    let viewer = RestClient::new(&copydesk, &copydesk.token("Vic", Role::Viewer, &[]));
    viewer.gets("files").refused_with(403, "not_allowed");
    viewer.posts("files", &json!({"path": "notes.md"})).refused_with(403, "not_allowed");
}

#[test]
fn one_persons_runs_are_bounded_in_all_their_sessions_and_other_peoples_go_on() {
    // Says a letter in a minute.
    let slow = json!({"content": [{"type": "text", "text": "Well, well."}], "chunk_chars": 1, "delay_ms": 60_000, "repeat": true});
    let copydesk = TestServer::scripted(Script::default().turn(slow));
    let of = |name: &str| RestClient::new(&copydesk, &copydesk.token(name, Role::Editor, &[]));
    let (ana, ben) = (of("Ana"), of("Ben"));
    // Each is in a session of its own.
    let begins = |hand: &RestClient| hand.posts("runs", &json!({"prompt": "Well?"}));
    let runs: Vec<_> = (0..64).map(|_| begins(&ana).ok()).collect();
    begins(&ana).refused_with(429, "too_many_requests");
    begins(&ben).ok();
    let first = text(&runs[0]["url"]).strip_prefix("/api/v1/").unwrap();
    assert_eq!(ana.posts(&format!("{first}/cancel"), &json!({})).status, 204);
    assert_eq!(ana.gets(&format!("{first}?wait=30")).ok()["state"], "cancelled");
    begins(&ana).ok();
    begins(&ana).refused_with(429, "too_many_requests");
}

// Keys.

#[test]
fn a_write_that_is_sent_again_with_its_key_is_not_done_again() {
    let (mut copydesk, ana, _) = with_document();
    let wish = json!({"title": "Once"});
    let first = ana.posts_once("k1", "documents", &wish);
    let again = ana.posts_once("k1", "documents", &wish);
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert!(again.head.contains("idempotency-replayed: true"), "{}", again.head);
    assert!(again.head.contains("location: /api/v1/documents/doc_"), "{}", again.head);
    ana.posts_once("k1", "documents", &json!({"title": "Else"})).refused_with(422, "key_reused");
    ana.posts_once("k1", "runs", &wish).refused_with(422, "key_reused");
    // Keys are everybody's own.
    let owner = RestClient::new(&copydesk, OWNER);
    assert_ne!(owner.posts_once("k1", "documents", &wish).ok(), first.body);
    // A refusal is an answer too.
    let wrong = json!({"title": "x".repeat(300)});
    let refused = ana.posts_once("k2", "documents", &json!({"text": 7}));
    assert_eq!(ana.posts_once("k2", "documents", &json!({"text": 7})).body, refused.body);
    ana.posts_once("k2", "documents", &wrong).refused_with(422, "key_reused");
    copydesk.is_killed_and_restarted();
    let token = copydesk.token("Later", Role::Editor, &[]);
    drop(token);
    let owner = RestClient::new(&copydesk, OWNER);
    let titles = owner.gets("documents").ok()["documents"].clone();
    let once = titles.as_array().unwrap().iter().filter(|it| it["title"] == "Once");
    assert_eq!(once.count(), 2);
    let kept = owner.posts_once("k1", "documents", &wish);
    assert!(kept.head.contains("idempotency-replayed: true"), "{}", kept.head);
}

#[test]
fn for_a_key_no_more_is_read_than_the_route_takes_from_this_person() {
    let copydesk = TestServer::quiet();
    let viewer = RestClient::new(&copydesk, &copydesk.token("Vic", Role::Viewer, &[]));
    // Of a body that never comes: whoever waits for it waits in vain.
    let long = [("Idempotency-Key", "k"), ("Content-Length", "8000000")];
    for path in ["documents", "runs", "requests/decisions"] {
        viewer.says(&format!("POST /api/v1/{path}"), &long, "").refused_with(413, "too_large");
    }
    let owner = RestClient::new(&copydesk, OWNER);
    owner.says("POST /api/v1/tokens", &long, "").refused_with(413, "too_large");
    let short = json!({"title": "Mine"});
    viewer.posts_once("k", "documents", &short).refused_with(403, "not_allowed");
}

#[test]
fn a_secret_is_not_kept_for_a_second_answer() {
    let copydesk = TestServer::quiet();
    let owner = RestClient::new(&copydesk, OWNER);
    let wish = json!({"role": "viewer", "name": "Vic"});
    owner.posts_once("k", "tokens", &wish).ok();
    owner.posts_once("k", "tokens", &wish).refused_with(409, "already_done");
    assert_eq!(owner.gets("tokens").ok()["tokens"].as_array().unwrap().len(), 2);
}

#[test]
fn what_a_dying_server_had_begun_is_not_begun_again() {
    let (mut copydesk, ana, document) = with_document();
    drop(ana);
    copydesk.stops();
    copydesk.starts_to_die_at("room.pushed").unwrap();
    let edit = json!({"version": 0, "text": FIXED}).to_string();
    let mut stream = TcpStream::connect(copydesk.address()).unwrap();
    let request = format!(
        "POST /api/v1/documents/{document}/edits HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {OWNER}\r\n\
         Content-Type: application/json\r\nIdempotency-Key: k\r\nContent-Length: {}\r\n\r\n{edit}",
        copydesk.address(),
        edit.len(),
    );
    stream.write_all(request.as_bytes()).unwrap();
    copydesk.dies();
    copydesk.starts();
    let owner = RestClient::new(&copydesk, OWNER);
    let edits = format!("documents/{document}/edits");
    let again = json!({"version": 0, "text": FIXED});
    owner.posts_once("k", &edits, &again).refused_with(409, "outcome_unknown");
    owner.posts_once("k2", &edits, &again).ok();
}

#[test]
fn who_hangs_up_before_the_answer_finds_it_when_they_ask_again() {
    let (copydesk, _, document) = with_document();
    let owner = RestClient::new(&copydesk, OWNER);
    let edits = format!("documents/{document}/edits");
    for round in 0..10 {
        let edit = json!({"version": round, "text": format!("{round} {TEXT}")});
        let key = format!("k{round}");
        let body = edit.to_string();
        let mut stream = TcpStream::connect(copydesk.address()).unwrap();
        let request = format!(
            "POST /api/v1/{edits} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {OWNER}\r\n\
             Content-Type: application/json\r\nIdempotency-Key: {key}\r\nContent-Length: {}\r\n\r\n{body}",
            copydesk.address(),
            body.len(),
        );
        stream.write_all(request.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_micros(300 * round));
        drop(stream);
        let until = Instant::now() + Duration::from_secs(30);
        let answer = loop {
            let answer = owner.posts_once(&key, &edits, &edit);
            if answer.body["code"] != "under_way" {
                break answer;
            }
            assert!(Instant::now() < until, "{answer:?}");
        };
        assert_eq!(answer.ok()["version"], round + 1);
    }
}

#[test]
fn the_same_key_twice_at_once_is_done_once() {
    let (copydesk, _, document) = with_document();
    let token = copydesk.token("Bo", Role::Editor, &[]);
    let edits = format!("documents/{document}/edits");
    let all: Vec<_> = (0..8)
        .map(|_| {
            let (bo, edits) = (RestClient::new(&copydesk, &token), edits.clone());
            let edit = json!({"version": 0, "text": format!("So. {TEXT}")});
            std::thread::spawn(move || bo.posts_once("k", &edits, &edit))
        })
        .collect();
    let answers: Vec<Answer> = all.into_iter().map(|it| it.join().unwrap()).collect();
    assert!(answers.iter().all(|it| it.status == 200 || it.body["code"] == "under_way"));
    assert!(answers.iter().any(|it| it.status == 200));
    let owner = RestClient::new(&copydesk, OWNER);
    assert_eq!(owner.gets(&format!("documents/{document}")).ok()["version"], 1);
}

// Limits and nonsense.

/// (request, body, status, code); `$document` and `$request` are there.
#[rustfmt::skip]
const TABLE: &[(&str, &str, u16, &str)] = &[
    ("POST documents", "[]", 422, "invalid_request"),
    ("POST documents", "{", 400, "invalid_request"),
    ("POST documents", r#"{"title": 7}"#, 422, "invalid_request"),
    ("POST documents", r#"{"text": ["x"]}"#, 422, "invalid_request"),
    ("GET documents?limit=0", "", 400, "invalid_request"),
    ("GET documents?limit=201", "", 400, "invalid_request"),
    ("GET documents?limit=x", "", 400, "invalid_request"),
    ("GET documents?cursor=x", "", 400, "invalid_request"),
    ("GET documents/none", "", 404, "not_found"),
    ("GET documents/%00", "", 404, "not_found"),
    ("GET documents/%ff", "", 404, "not_found"),
    ("PATCH documents/$document", "{}", 422, "invalid_request"),
    ("PATCH documents/$document", r#"{"title": ""}"#, 400, "invalid_request"),
    ("PATCH documents/$document/settings", r#"{"policy": "nobody"}"#, 422, "invalid_request"),
    ("PATCH documents/$document/settings", r#"{"documentId": "other"}"#, 422, "invalid_request"),
    ("PATCH documents/none/settings", "{}", 404, "not_found"),
    ("POST documents/$document/edits", r#"{"version": 0}"#, 422, "invalid_request"),
    ("POST documents/$document/edits", r#"{"version": -1, "text": "x"}"#, 422, "invalid_request"),
    ("POST documents/$document/edits", r#"{"version": 9, "text": "x"}"#, 409, "resync"),
    ("POST documents/$document/restore", r#"{"version": 9}"#, 400, "invalid_request"),
    ("GET documents/$document/versions/x", "", 404, "not_found"),
    ("GET documents/$document/versions/-1", "", 404, "not_found"),
    ("GET documents/$document/versions?cursor=W10", "", 400, "invalid_request"),
    ("GET documents/$document/compare", "", 400, "invalid_request"),
    ("GET documents/$document/compare?from=9", "", 400, "invalid_request"),
    ("GET documents/$document/provenance?from=x", "", 400, "invalid_request"),
    ("GET documents/$document/audit?limit=501", "", 400, "invalid_request"),
    ("GET requests?state=all", "", 400, "invalid_request"),
    ("GET requests?state=over", "", 400, "invalid_request"),
    ("GET requests?state=ended&documentId=$document&status=pending", "", 400, "invalid_request"),
    ("GET requests?documentId=none", "", 404, "not_found"),
    ("GET requests/none", "", 404, "not_found"),
    ("GET requests/$request?wait=61", "", 400, "invalid_request"),
    ("GET requests/$request?wait=x", "", 400, "invalid_request"),
    ("POST requests/$request/decision", "{}", 422, "invalid_request"),
    ("POST requests/$request/decision", r#"{"approved": "yes"}"#, 422, "invalid_request"),
    ("POST requests/$request/decision", r#"{"decision": "maybe"}"#, 422, "invalid_request"),
    ("POST requests/$request/decision", r#"{"approved": true, "hunks": [7]}"#, 422, "invalid_request"),
    ("POST requests/$request/decision", r#"{"approved": true, "hunks": [{"id": "none", "decision": "accept"}]}"#, 404, "not_found"),
    ("POST requests/$request/decision", r#"{"approved": true, "request_id": "other"}"#, 422, "invalid_request"),
    ("POST requests/$request/decision", r#"{"decision": "edit", "updated_input": {}}"#, 422, "invalid_decision"),
    ("POST requests/none/decision", r#"{"approved": true}"#, 404, "not_found"),
    ("POST requests/decisions", r#"{"responses": {}}"#, 422, "invalid_request"),
    ("POST requests/$request/undo", r#"{"hunks": "all"}"#, 422, "invalid_request"),
    ("POST requests/$request/reopen", "{}", 422, "invalid_decision"),
    ("POST requests/$request/reopen", r#"{"hunks": "all"}"#, 422, "invalid_request"),
    ("POST requests/$request/reopen", r#"{"hunks": ["none"]}"#, 404, "not_found"),
    ("POST requests/none/extend", "{}", 404, "not_found"),
    ("POST requests/$request/split", "{}", 422, "invalid_request"),
    ("POST requests/$request/split", r#"{"hunk_id": "none"}"#, 404, "not_found"),
    ("POST requests/none/split", r#"{"hunk_id": "none"}"#, 404, "not_found"),
    ("POST runs", "{}", 422, "invalid_request"),
    ("POST runs", r#"{"prompt": " "}"#, 422, "invalid_request"),
    ("POST runs", r#"{"prompt": "x", "model": "none"}"#, 422, "invalid_request"),
    ("POST runs", r#"{"prompt": "x", "permission_mode": "root"}"#, 422, "invalid_request"),
    ("POST runs", r#"{"prompt": "x", "permission_mode": "bypassPermissions"}"#, 403, "not_allowed"),
    ("POST runs", r#"{"prompt": "x", "sessionId": "none"}"#, 404, "not_found"),
    ("POST runs", r#"{"prompt": "x", "context": {"documentId": "none"}}"#, 404, "not_found"),
    ("POST runs", r#"{"prompt": "x", "context": {"selection": {"start": 3, "end": 1}}}"#, 422, "invalid_request"),
    ("GET sessions/none/transcript", "", 404, "not_found"),
    ("GET sessions/none/runs/none", "", 404, "not_found"),
    ("POST sessions/none/runs/none/cancel", "{}", 404, "not_found"),
    ("PATCH settings", r#"{"approvals": "maybe"}"#, 422, "invalid_request"),
    ("PATCH settings", r#"{"timeoutSeconds": -1}"#, 422, "invalid_request"),
    ("POST sessions/none/cancel", "{}", 404, "not_found"),
    ("POST sessions/none/transcript/clear", "{}", 404, "not_found"),
    ("POST sessions/$session/transcript/clear", r#"{"documentId": 7}"#, 422, "invalid_request"),
    ("POST sessions/$session/transcript/clear", r#"{"documentId": "none"}"#, 404, "not_found"),
    ("POST sessions/$session/transcript/clear", r#"{"sessionId": "other"}"#, 422, "invalid_request"),
    ("POST sessions/$session/transcript/fork", "{}", 422, "invalid_request"),
    ("POST sessions/$session/transcript/fork", r#"{"requestId": 7}"#, 422, "invalid_request"),
    ("POST sessions/$session/transcript/fork", r#"{"requestId": "none"}"#, 404, "not_found"),
    ("POST sessions/$session/transcript/fork", r#"{"requestId": "none", "fromSessionId": "none"}"#, 404, "not_found"),
    ("POST rules", "{}", 422, "invalid_request"),
    ("POST rules", r#"{"documentId": "none", "effect": "ask"}"#, 404, "not_found"),
    ("POST rules", r#"{"documentId": "$document", "effect": "maybe"}"#, 422, "invalid_request"),
    ("POST rules", r#"{"documentId": "$document", "effect": "deny", "tol": "Write"}"#, 422, "invalid_request"),
    ("POST rules", r#"{"documentId": "$document", "effect": "allow"}"#, 400, "invalid_request"),
    ("POST rules", r#"{"documentId": "$document", "effect": "deny", "tool": "rewrite"}"#, 400, "invalid_request"),
    ("POST rules", r#"{"documentId": "desk", "effect": "deny", "path": "["}"#, 422, "invalid_request"),
    ("GET files?pattern=", "", 422, "unsupported"),
    ("POST files", r#"{"path": "a.txt"}"#, 422, "unsupported"),
    ("DELETE rules/none", "", 404, "not_found"),
    ("GET rules?documentId=none", "", 404, "not_found"),
    ("POST webhooks", "{}", 422, "invalid_request"),
    ("POST webhooks", r#"{"url": "hooks.example"}"#, 422, "invalid_request"),
    ("POST webhooks", r#"{"url": "http://hooks.example"}"#, 422, "invalid_request"),
    ("POST webhooks", r#"{"url": "https://127.0.0.1:1/"}"#, 422, "invalid_request"),
    ("POST webhooks", r#"{"url": "https://169.254.169.254/"}"#, 422, "invalid_request"),
    ("POST webhooks", r#"{"url": "https://hooks.example", "documentId": "none"}"#, 404, "not_found"),
    ("PATCH webhooks/none", r#"{"active": false}"#, 404, "not_found"),
    ("GET audit?cursor=!", "", 400, "invalid_request"),
    ("PUT documents/$document", "{}", 405, "method_not_allowed"),
    ("GET nothing", "", 404, "not_found"),
];

#[test]
fn whatever_is_wrong_is_answered_by_a_problem_document_and_changes_nothing() {
    let (copydesk, _, document, _, request) = with_request();
    let owner = RestClient::new(&copydesk, OWNER);
    // A session of the owner's own, with a question that is answered.
    let talk = owner.posts("runs", &json!({"prompt": "Hello"})).ok();
    let session = text(&talk["sessionId"]);
    owner.gets(&format!("sessions/{session}/runs/{}?wait=30", text(&talk["id"]))).ok();
    let mut wrong = Vec::new();
    for (asked, body, status, code) in TABLE {
        let (method, path) = asked.split_once(' ').unwrap();
        let named = |text: &str| {
            let request = request["request_id"].as_str().unwrap();
            text.replace("$document", &document)
                .replace("$request", request)
                .replace("$session", session)
        };
        let (path, body) = (named(path), named(body));
        let answer = owner.says(&format!("{method} /api/v1/{path}"), &[], &body);
        let problem = answer.head.contains("content-type: application/problem+json");
        if (answer.status, answer.body["code"].as_str(), problem) != (*status, Some(*code), true) {
            wrong.push(format!("{asked} {body}: {answer:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(owner.gets(&format!("documents/{document}")).ok()["text"], TEXT);
}

#[test]
fn a_write_is_json_and_no_larger_than_a_document() {
    let (copydesk, ana, document) = with_document();
    let form = [("Content-Type", "text/plain")];
    ana.says("POST /api/v1/documents", &form, "{}").refused_with(415, "unsupported_media_type");
    let long = json!({"title": "x".repeat(9 * 1024 * 1024)}).to_string();
    ana.says(&format!("PATCH /api/v1/documents/{document}"), &[], &long)
        .refused_with(413, "too_large");
    // The rest of it is not read, and the client is told so before it sends the next request.
    let authorization = format!("Bearer {OWNER}");
    let headers = [
        ("Authorization", authorization.as_str()),
        ("Content-Type", "application/json"),
        ("Connection", "keep-alive"),
        ("Host", copydesk.address()),
    ];
    let long = json!({"role": "editor", "name": "x".repeat(20_000)}).to_string();
    let refused = http::send(copydesk.address(), "POST /api/v1/tokens", &headers, &long);
    assert_eq!((refused.status, refused.header("connection").as_deref()), (413, Some("close")));
    // A document of the longest kind comes in, and what is longer does not.
    let text = "ä".repeat(5 * 1024 * 1024);
    ana.posts_once("k", "documents", &json!({"text": text})).ok();
    let owner = RestClient::new(&copydesk, OWNER);
    assert!(owner.posts("documents", &json!({"text": "x".repeat(9 * 1024 * 1024)})).status == 400);
    for key in ["", " ", &"k".repeat(256)] {
        let refused = ana.posts_once(key, "documents", &json!({}));
        refused.refused_with(400, "invalid_request");
    }
}

#[test]
fn too_many_requests_of_one_person_are_refused_and_nobody_elses() {
    let copydesk = TestServer::quiet();
    let (ana, ben) =
        (copydesk.token("Ana", Role::Viewer, &[]), copydesk.token("Ben", Role::Viewer, &[]));
    let late = std::thread::scope(|scope| {
        let hands: Vec<_> = (0..8)
            .map(|_| {
                let ana = RestClient::new(&copydesk, &ana);
                scope.spawn(move || {
                    (0..2_000).map(|_| ana.gets("me")).find(|answer| answer.status != 200)
                })
            })
            .collect();
        hands.into_iter().find_map(|hand| hand.join().unwrap())
    });
    let late = late.expect("at some time it is too much");
    late.refused_with(429, "rate_limited");
    assert!(late.head.contains("retry-after: "), "{}", late.head);
    RestClient::new(&copydesk, &ben).gets("me").ok();
}

/// Requests of an owner that were refused as those of strangers, with their answers; those about
/// sessions of others left out.
fn shut_out<'a>(report: &'a Value, sessions: &[Value]) -> Vec<(&'a Value, &'a Value)> {
    let is_own = |session: &Value| sessions.iter().any(|it| it["id"] == *session);
    let names_no_other = |body: &Value| {
        let body: Option<Value> = body.as_str().and_then(|it| serde_json::from_str(it).ok());
        body.is_none_or(|it| it["sessionId"].is_null() || is_own(&it["sessionId"]))
    };
    // Only who has signed in signs out, and nobody deletes themselves.
    let is_about_themselves = |entry: &&Value| {
        let url = entry["request"]["url"].as_str().unwrap_or_default();
        url.contains("/sign-out") || url.contains("/people/")
    };
    report["log"]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| !is_about_themselves(entry))
        .filter(|entry| matches!(entry["response"]["status"].as_u64(), Some(401 | 403)))
        .map(|entry| (&entry["request"]["postData"]["text"], &entry["response"]["content"]["text"]))
        .filter(|(body, _)| names_no_other(body))
        .collect()
}

/// Drives every operation of the `OpenAPI` document with what it allows and what it does not.
///
/// Needs `COPYDESK_SDK_PYTHON`, a Python with `tests/sdk/requirements.txt`; without it the story is
/// skipped, loudly, which is a failure with `COPYDESK_REQUIRE_ALL=1`.
#[test]
fn whatever_a_fuzzer_sends_the_answers_are_as_described() {
    let python = std::env::var("COPYDESK_SDK_PYTHON").ok();
    let required = std::env::var("COPYDESK_REQUIRE_ALL").is_ok_and(|it| it == "1");
    let Some(python) = python else {
        let why = "COPYDESK_SDK_PYTHON is not set to a Python with tests/sdk/requirements.txt";
        assert!(!required, "{why}, and COPYDESK_REQUIRE_ALL=1");
        eprintln!("\n*** SKIPPED: {why}\n");
        return;
    };
    // Every permission mode that the document names is one that the owner may have.
    let plan = TestServer::plan().script(Script::rewriting(FIXED)).flags(&["--allow-bypass"]);
    let plan = plan.workspace(&[("notes.md", TEXT)]);
    let (copydesk, _, document, _, request) = with_request_at(plan.start());
    let owner = RestClient::new(&copydesk, OWNER);
    let run = owner.posts("runs", &json!({"prompt": "Fix it"})).ok();
    let hook = owner.posts("webhooks", &json!({"url": "https://hooks.invalid/"})).ok();
    let folder = tempfile::tempdir().unwrap();
    // Names of what is there, so that more is found than that nothing is called like that.
    let there = format!(
        "[[operations]]\ninclude-path-regex = '^/api/v1/documents/[{{]id[}}]'\nexclude-method = 'DELETE'\n\
         parameters = {{ 'path.id' = '{document}' }}\n\
         [[operations]]\ninclude-path-regex = '^/api/v1/requests/[{{]id[}}]'\nparameters = {{ 'path.id' = {} }}\n\
         [[operations]]\ninclude-path-regex = '^/api/v1/webhooks/'\nexclude-method = 'DELETE'\nparameters = {{ 'path.id' = {} }}\n\
         [[operations]]\ninclude-path-regex = '^/api/v1/sessions/'\nparameters = {{ 'path.session' = {}, 'path.run' = {} }}\n",
        request["request_id"], hook["id"], run["sessionId"], run["id"],
    );
    std::fs::write(folder.path().join("schemathesis.toml"), there).unwrap();
    let report = folder.path().join("report.har");
    let output = Command::new(python)
        .args(["-m", "schemathesis.cli", "run"])
        .arg(format!("{}/api/v1/openapi.json", copydesk.url()))
        .args(["--header", &format!("Authorization: Bearer {OWNER}")])
        .args(["--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance"])
        .args(["--phases", "examples,coverage,fuzzing", "--max-examples", "12", "--workers", "1"])
        .args(["--request-timeout", "90", "--generation-deterministic", "--no-color"])
        .args(["--report", "har", "--report-har-path"])
        .arg(&report)
        .current_dir(folder.path())
        .output()
        .expect("Python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    // Its list of failures begins with this word; before it are pages about what went well.
    let failures = said.find("= FAILURES =").or_else(|| said.find("= ERRORS =")).unwrap_or(0);
    assert!(output.status.success(), "{}\n{complaints}\n{said}", &said[failures..]);
    let report: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    let sessions = owner.gets("sessions").ok()["sessions"].as_array().unwrap().clone();
    let shut_out = shut_out(&report, &sessions);
    assert!(shut_out.is_empty(), "the owner was shut out: {shut_out:?}");
    let answers = answers(&owner.gets("openapi.json").ok(), &report);
    let reached = |statuses: &BTreeMap<u64, usize>| statuses.range(200..300).next().is_some();
    // It cannot guess every name, and on a fast machine it is told to wait.
    let far = answers.values().filter(|statuses| reached(statuses)).count();
    assert!(far * 2 > answers.len(), "the fuzzer got nowhere: {answers:?}");
}

/// How often each operation of the `OpenAPI` document was answered with which status, after what
/// the fuzzer reports.
fn answers(described: &Value, report: &Value) -> BTreeMap<String, BTreeMap<u64, usize>> {
    let mut answers = BTreeMap::new();
    let paths = described["paths"].as_object().unwrap();
    for (path, operations) in paths {
        for method in operations.as_object().unwrap().keys() {
            if ["get", "put", "post", "patch", "delete"].contains(&method.as_str()) {
                answers.insert(format!("{} {path}", method.to_uppercase()), BTreeMap::new());
            }
        }
    }
    for entry in report["log"]["entries"].as_array().unwrap() {
        let asked = &entry["request"];
        let path = text(&asked["url"]).splitn(4, '/').nth(3).unwrap();
        let parts: Vec<_> = path.split('?').next().unwrap().split('/').collect();
        let fits = |known: &&String| {
            let known: Vec<_> = known.trim_start_matches('/').split('/').collect();
            let mut pairs = known.iter().zip(&parts);
            known.len() == parts.len() && pairs.all(|(it, part)| it.starts_with('{') || it == part)
        };
        // `/requests/decisions` fits `/requests/{id}` too.
        let known = paths.keys().filter(fits).min_by_key(|it| it.matches('{').count());
        let Some(known) = known else { continue };
        let operation = format!("{} {known}", text(&asked["method"]));
        // Methods that there are not are tried too.
        let Some(statuses) = answers.get_mut(&operation) else { continue };
        *statuses.entry(entry["response"]["status"].as_u64().unwrap()).or_default() += 1;
    }
    answers
}
