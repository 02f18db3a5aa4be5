//! Limits, and requests that make no sense.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{OWNER, RestClient, Role, Script, TestServer, http, python};

use super::{FIXED, TEXT, text, with_document, with_request, with_request_at};

/// (request, body, status, code); `$document` and `$request` are there.
#[rustfmt::skip]
const TABLE: &[(&str, &str, u16, &str)] = &[
    ("POST documents", "[]", 422, "invalid_request"),
    ("POST documents", "{", 400, "invalid_request"),
    ("POST documents", r#"{"title": 7}"#, 422, "invalid_request"),
    ("POST documents", r#"{"text": ["x"]}"#, 422, "invalid_request"),
    ("POST documents", r#"{"titel": "x"}"#, 422, "invalid_request"),
    ("POST requests/$request/decision", r#"{"approved": true, "feedbak": "x"}"#, 422, "invalid_request"),
    ("POST requests/$request/decision", r#"{"hunks": [{"id": "h", "decision": "accept", "txt": "x"}]}"#, 422, "invalid_request"),
    ("POST requests/decisions", r#"{"responses": [{"requestId": "$request", "approved": true}]}"#, 422, "invalid_request"),
    ("POST requests/$request/withdraw", r#"{"force": true}"#, 422, "invalid_request"),
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
    // The rest of it is not read, and the client is notified before it sends the next request.
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
fn too_many_requests_of_one_person_are_refused_and_no_one_elses() {
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
    // Only a person who has signed in signs out, and no one deletes themselves.
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
    let Some(python) = python("the fuzzer of the REST interface") else { return };
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
    // It cannot guess every name, and on a fast machine it is asked to wait.
    let far = answers.values().filter(|statuses| reached(statuses)).count();
    assert!(far * 2 > answers.len(), "the fuzzer got nowhere: {answers:?}");
}

/// Returns how often each operation of the `OpenAPI` document was answered with which status, after
/// what the fuzzer reports.
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
