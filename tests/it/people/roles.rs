//! Permissions at every door: each event, each route and each command is in a table here, for each
//! kind of person.
//!
//! A new event or route that is missing in its table fails. `o`wner, `e`ditor, `r`eviewer,
//! s`u`ggester, `v`iewer, and a `s`tranger: an editor whose token is for another document. A
//! suggester may also do what a viewer may. What each role may do
//! is decided in `crates/ids/src/permissions.rs` and nowhere else.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use crate::api::samples::{events, routes};
use crate::people::sign_in::{scripted, signs_in};
use crate::support::http::{ask, get, send};
use crate::support::script::full;
use crate::support::{
    IdentityProvider, OWNER, Person, Request, Role, Script, TestServer, copydesk_command,
};

const TEXT: &str = "Teh keeper wrote every night.\n";

/// (event, payload, who may). `$document`: a new one of the owner's, `$request`: one that waits in
/// it, `$thread` and `$comment`: the owner's in it, `$session`: the person's own.
#[rustfmt::skip]
const EVENTS: &[(&str, &str, &str)] = &[
    ("document:list", "{}", "oervs"),
    ("document:create", "{}", "oe"),
    ("document:duplicate", r#"{"documentId": "$document"}"#, "oe"),
    ("document:open", r#"{"documentId": "$document"}"#, "oerv"),
    ("document:push", r#"{"documentId": "$document", "version": 0, "updates": [{"clientID": "$session", "changes": [[0, "x"], 30]}]}"#, "oe"),
    ("document:resync", r#"{"documentId": "$document", "version": 0}"#, "oerv"),
    ("document:settings", r#"{"documentId": "$document", "approvals": "on"}"#, "o"),
    ("document:close", r#"{"documentId": "$document"}"#, "oervs"),
    ("document:rename", r#"{"documentId": "$document", "title": "x"}"#, "oe"),
    ("document:delete", r#"{"documentId": "$document"}"#, "o"),
    // Nothing is in the trash.
    ("trash:list", "{}", "o"),
    ("trash:recover", r#"{"documentId": "$document"}"#, "o"),
    ("trash:empty", "{}", "o"),
    ("document:history", r#"{"documentId": "$document"}"#, "oerv"),
    ("document:at", r#"{"documentId": "$document", "version": 0}"#, "oerv"),
    ("document:provenance", r#"{"documentId": "$document"}"#, "oerv"),
    ("document:compare", r#"{"documentId": "$document", "from": 0}"#, "oerv"),
    ("document:restore", r#"{"documentId": "$document", "version": 0}"#, "oe"),
    ("suggestion:update", r#"{"documentId": "$document", "version": 0, "revision": 0, "changes": [[0, "x"], 30]}"#, "oeru"),
    ("comment:list", r#"{"documentId": "$document"}"#, "oerv"),
    ("comment:create", r#"{"documentId": "$document", "text": "x"}"#, "oeru"),
    ("comment:read", r#"{"documentId": "$document"}"#, "oerv"),
    ("comment:people", r#"{"documentId": "$document"}"#, "oeru"),
    // The thread is the owner's.
    ("comment:reply", r#"{"threadId": "$thread", "text": "x"}"#, "oeru"),
    ("comment:resolve", r#"{"threadId": "$thread", "resolved": true}"#, "oeru"),
    ("comment:edit", r#"{"commentId": "$comment", "text": "x"}"#, "o"),
    ("comment:delete", r#"{"commentId": "$comment"}"#, "o"),
    ("workspace:files", "{}", "oe"),
    // Heard only where its sender has come in, so there is nothing to refuse.
    ("presence:update", r#"{"documentId": "$document", "version": 0, "anchor": 0, "head": 0}"#, "oervs"),
    ("askClaudeCode", r#"{"sessionId": "$session", "prompt": "x", "context": {"documentId": "$document"}}"#, "oe"),
    ("run", r#"{"prompt": "x"}"#, "oe"),
    // One's own runs only.
    ("cancel", r#"{"sessionId": "$session"}"#, "oervs"),
    ("transcript:get", r#"{"sessionId": "$session", "documentId": "$document"}"#, "oerv"),
    ("transcript:clear", r#"{"sessionId": "$session", "documentId": "$document"}"#, "oe"),
    ("transcript:fork", r#"{"sessionId": "$session", "documentId": "$document", "requestId": "none"}"#, "oe"),
    ("tool_approval_response", r#"{"request_id": "$request", "approved": false}"#, "oer"),
    ("tool_approval_batch", r#"{"responses": [{"request_id": "$request", "approved": false}]}"#, "oer"),
    ("list_pending_approvals", r#"{"documentId": "$document"}"#, "oerv"),
    ("approval:list", r#"{"documentId": "$document"}"#, "oerv"),
    ("approval:list", "{}", "oerv"),
    ("approval:told", r#"{"request_id": "$request", "approved": false}"#, "oer"),
    ("approval:focus", r#"{"request_id": "$request", "on": true}"#, "oer"),
    ("approval:split", r#"{"request_id": "$request", "hunk_id": "none"}"#, "oer"),
    ("approval:defer", r#"{"request_id": "$request", "hunk_id": "none", "on": true}"#, "oerv"),
    ("approval:deferred", r#"{"documentId": "$document"}"#, "oerv"),
    ("approval:extend", r#"{"request_id": "$request"}"#, "oer"),
    ("approval:undo", r#"{"request_id": "$request"}"#, "oer"),
    ("approval:reopen", r#"{"request_id": "$request"}"#, "oer"),
    // What another person asked for.
    ("approval:withdraw", r#"{"request_id": "$request"}"#, "o"),
    ("rules:list", "{}", "oervs"),
    ("rules:add", r#"{"documentId": "$document", "effect": "ask"}"#, "o"),
    ("rules:revoke", r#"{"id": "none"}"#, "oervs"),
    ("settings:get", "{}", "oervs"),
    ("settings:set", "{}", "o"),
    ("token:issue", r#"{"role": "viewer", "name": "X"}"#, "o"),
    ("token:list", "{}", "o"),
    ("token:name", r#"{"name": "X"}"#, "o"),
    ("token:revoke", r#"{"id": "none"}"#, "o"),
    ("token:tie", r#"{"id": "none", "login": "none"}"#, "o"),
    ("document:roles", r#"{"documentId": "$document"}"#, "o"),
    ("document:share", r#"{"documentId": "$document", "group": "writers", "role": "viewer"}"#, "o"),
    ("document:unshare", r#"{"documentId": "$document", "group": "none"}"#, "o"),
    ("spending:get", "{}", "o"),
    ("spending:limit", r#"{"for": "server", "usd": null}"#, "o"),
    ("server:work", "{}", "o"),
    ("server:stop", r#"{"sessionId": "$session", "requestId": "none"}"#, "o"),
    ("server:storage", "{}", "o"),
    ("person:preview", r#"{"id": "none"}"#, "o"),
    ("person:delete", r#"{"id": "none"}"#, "o"),
];

/// Asks a model that is not there; only people who may ask learn that.
const MESSAGE: &str =
    r#"{"model": "none", "max_tokens": 1, "messages": [{"role": "user", "content": "x"}]}"#;

/// (route as in `crates/operations/src`, request, body, who may); `-`: also who brings no
/// token. `$` as above.
#[rustfmt::skip]
const ROUTES: &[(&str, &str, &str, &str)] = &[
    ("/healthz", "GET /healthz", "", "oervs-"),
    ("/readyz", "GET /readyz", "", "oervs-"),
    ("/api/v1/openapi.json", "GET /api/v1/openapi.json", "", "oervs-"),
    ("/api/v1/me", "GET /api/v1/me", "", "oervs"),
    ("/api/v1/settings", "GET /api/v1/settings", "", "oervs"),
    ("/api/v1/settings", "PATCH /api/v1/settings", "{}", "o"),
    ("/api/v1/audit", "GET /api/v1/audit", "", "o"),
    ("/api/v1/rules", "GET /api/v1/rules", "", "oervs"),
    ("/api/v1/rules", "POST /api/v1/rules", r#"{"documentId": "$document", "effect": "ask"}"#, "o"),
    ("/api/v1/rules/{id}", "DELETE /api/v1/rules/none", "", "oervs"),
    ("/api/v1/documents", "GET /api/v1/documents", "", "oervs"),
    ("/api/v1/documents", "POST /api/v1/documents", "{}", "oe"),
    ("/api/v1/documents/import", "POST /api/v1/documents/import?name=a.md", "x", "oe"),
    ("/api/v1/documents/{id}", "GET /api/v1/documents/$document", "", "oerv"),
    ("/api/v1/documents/{id}", "PATCH /api/v1/documents/$document", r#"{"title": "x"}"#, "oe"),
    ("/api/v1/documents/{id}", "DELETE /api/v1/documents/$document", "", "o"),
    ("/api/v1/documents/{id}/duplicate", "POST /api/v1/documents/$document/duplicate", "{}", "oe"),
    ("/api/v1/trash", "GET /api/v1/trash", "", "o"),
    ("/api/v1/trash", "DELETE /api/v1/trash", "", "o"),
    ("/api/v1/trash/{id}", "DELETE /api/v1/trash/$document", "", "o"),
    ("/api/v1/trash/{id}/recover", "POST /api/v1/trash/$document/recover", "", "o"),
    ("/api/v1/documents/{id}/settings", "GET /api/v1/documents/$document/settings", "", "oerv"),
    ("/api/v1/documents/{id}/settings", "PATCH /api/v1/documents/$document/settings", r#"{"approvals": "on"}"#, "o"),
    ("/api/v1/documents/{id}/edits", "POST /api/v1/documents/$document/edits", r#"{"version": 0, "text": "x"}"#, "oe"),
    ("/api/v1/documents/{id}/convert", "POST /api/v1/documents/$document/convert?name=a.md", "x", "oeru"),
    ("/api/v1/documents/{id}/restore", "POST /api/v1/documents/$document/restore", r#"{"version": 0}"#, "oe"),
    ("/api/v1/documents/{id}/versions", "GET /api/v1/documents/$document/versions", "", "oerv"),
    ("/api/v1/documents/{id}/versions/{version}", "GET /api/v1/documents/$document/versions/0", "", "oerv"),
    ("/api/v1/documents/{id}/compare", "GET /api/v1/documents/$document/compare?from=0", "", "oerv"),
    ("/api/v1/documents/{id}/export", "GET /api/v1/documents/$document/export?format=md", "", "oerv"),
    ("/api/v1/documents/{id}/provenance", "GET /api/v1/documents/$document/provenance", "", "oerv"),
    ("/api/v1/documents/{id}/audit", "GET /api/v1/documents/$document/audit", "", "oe"),
    ("/api/v1/documents/{id}/roles", "GET /api/v1/documents/$document/roles", "", "o"),
    ("/api/v1/documents/{id}/roles", "PUT /api/v1/documents/$document/roles", r#"{"group": "writers", "role": "viewer"}"#, "o"),
    ("/api/v1/documents/{id}/roles", "DELETE /api/v1/documents/$document/roles?group=none", "", "o"),
    ("/api/v1/documents/{id}/suggestion", "PUT /api/v1/documents/$document/suggestion", r#"{"version": 0, "revision": 0, "changes": [[0, "x"], 30]}"#, "oeru"),
    ("/api/v1/documents/{id}/comments", "GET /api/v1/documents/$document/comments", "", "oerv"),
    ("/api/v1/documents/{id}/comments", "POST /api/v1/documents/$document/comments", r#"{"text": "x"}"#, "oeru"),
    ("/api/v1/documents/{id}/comments/read", "POST /api/v1/documents/$document/comments/read", "{}", "oerv"),
    ("/api/v1/documents/{id}/deferred", "GET /api/v1/documents/$document/deferred", "", "oerv"),
    ("/api/v1/documents/{id}/comments/people", "GET /api/v1/documents/$document/comments/people", "", "oeru"),
    ("/api/v1/comments/{threadId}", "GET /api/v1/comments/$thread", "", "oerv"),
    ("/api/v1/comments/{threadId}", "POST /api/v1/comments/$thread", r#"{"text": "x"}"#, "oeru"),
    ("/api/v1/comments/{threadId}", "PATCH /api/v1/comments/$thread", r#"{"resolved": true}"#, "oeru"),
    ("/api/v1/comments/{threadId}/{commentId}", "PATCH /api/v1/comments/$thread/$comment", r#"{"text": "x"}"#, "o"),
    ("/api/v1/comments/{threadId}/{commentId}", "DELETE /api/v1/comments/$thread/$comment", "", "o"),
    // There is no workspace: a person with the right learns so.
    ("/api/v1/files", "GET /api/v1/files", "", "oe"),
    ("/api/v1/files", "POST /api/v1/files", r#"{"path": "a.txt"}"#, "oe"),
    ("/api/v1/requests", "GET /api/v1/requests", "", "oervs"),
    ("/api/v1/requests", "GET /api/v1/requests?documentId=$document&state=ended", "", "oerv"),
    ("/api/v1/requests", "GET /api/v1/requests?documentId=desk&state=ended", "", "oerv"),
    ("/api/v1/requests", "GET /api/v1/requests?documentId=desk", "", "oerv"),
    // Answers for each of its decisions.
    ("/api/v1/requests/decisions", "POST /api/v1/requests/decisions", r#"{"responses": []}"#, "oervs"),
    ("/api/v1/requests/{id}", "GET /api/v1/requests/$request", "", "oerv"),
    ("/api/v1/requests/{id}/decision", "POST /api/v1/requests/$request/decision", r#"{"approved": false}"#, "oer"),
    ("/api/v1/requests/{id}/told", "POST /api/v1/requests/$request/told", r#"{"approved": false}"#, "oer"),
    ("/api/v1/requests/{id}/split", "POST /api/v1/requests/$request/split", r#"{"hunk_id": "none"}"#, "oer"),
    ("/api/v1/requests/{id}/defer", "POST /api/v1/requests/$request/defer", r#"{"hunk_id": "none", "on": true}"#, "oerv"),
    ("/api/v1/requests/{id}/extend", "POST /api/v1/requests/$request/extend", "{}", "oer"),
    ("/api/v1/requests/{id}/undo", "POST /api/v1/requests/$request/undo", "{}", "oer"),
    ("/api/v1/requests/{id}/reopen", "POST /api/v1/requests/$request/reopen", "{}", "oer"),
    // What another person asked for.
    ("/api/v1/requests/{id}/withdraw", "POST /api/v1/requests/$request/withdraw", "{}", "o"),
    ("/api/v1/runs", "POST /api/v1/runs", r#"{"prompt": "x", "context": {"documentId": "$document"}}"#, "oe"),
    ("/api/v1/runs", "POST /api/v1/runs", r#"{"prompt": "x"}"#, "oe"),
    ("/api/v1/runs", "POST /api/v1/runs", r#"{"prompt": "x", "sessionId": "$elses"}"#, ""),
    // One's own sessions only.
    ("/api/v1/sessions", "GET /api/v1/sessions", "", "oervs"),
    ("/api/v1/sessions/{session}/cancel", "POST /api/v1/sessions/$session/cancel", "{}", "oervs"),
    ("/api/v1/sessions/{session}/cancel", "POST /api/v1/sessions/$elses/cancel", "{}", ""),
    ("/api/v1/sessions/{session}/transcript/clear", "POST /api/v1/sessions/$session/transcript/clear", r#"{"documentId": "$document"}"#, "oe"),
    ("/api/v1/sessions/{session}/transcript/clear", "POST /api/v1/sessions/$session/transcript/clear", "{}", "oe"),
    ("/api/v1/sessions/{session}/transcript/clear", "POST /api/v1/sessions/$elses/transcript/clear", "{}", ""),
    ("/api/v1/sessions/{session}/transcript/fork", "POST /api/v1/sessions/$session/transcript/fork", r#"{"documentId": "$document", "requestId": "none"}"#, "oe"),
    ("/api/v1/sessions/{session}/transcript/fork", "POST /api/v1/sessions/$session/transcript/fork", r#"{"requestId": "none", "fromSessionId": "$elses"}"#, ""),
    ("/api/v1/sessions/{session}/transcript", "GET /api/v1/sessions/$session/transcript?documentId=$document", "", "oerv"),
    ("/api/v1/sessions/{session}/transcript", "GET /api/v1/sessions/$elses/transcript", "", ""),
    ("/api/v1/sessions/{session}/runs/{run}", "GET /api/v1/sessions/$session/runs/none", "", "oervs"),
    ("/api/v1/sessions/{session}/runs/{run}", "GET /api/v1/sessions/$elses/runs/none", "", ""),
    ("/api/v1/sessions/{session}/runs/{run}/cancel", "POST /api/v1/sessions/$session/runs/none/cancel", "{}", "oervs"),
    ("/api/v1/sessions/{session}/runs/{run}/cancel", "POST /api/v1/sessions/$elses/runs/none/cancel", "{}", ""),
    ("/api/v1/tokens", "GET /api/v1/tokens", "", "o"),
    ("/api/v1/tokens", "POST /api/v1/tokens", r#"{"role": "viewer", "name": "X"}"#, "o"),
    ("/api/v1/tokens/{id}", "DELETE /api/v1/tokens/none", "", "o"),
    ("/api/v1/tokens/{id}/tie", "POST /api/v1/tokens/none/tie", r#"{"login": "none"}"#, "o"),
    ("/api/v1/sign-in", "GET /api/v1/sign-in", "", "oervs-"),
    // Anyone who has signed in, and no one with a link.
    ("/api/v1/sign-out", "POST /api/v1/sign-out", "{}", ""),
    ("/api/v1/spending", "GET /api/v1/spending", "", "o"),
    ("/api/v1/spending/limits", "PUT /api/v1/spending/limits", r#"{"for": "server", "usd": null}"#, "o"),
    ("/api/v1/server/work", "GET /api/v1/server/work", "", "o"),
    ("/api/v1/server/proxy-headers", "GET /api/v1/server/proxy-headers", "", "o"),
    ("/api/v1/server/storage", "GET /api/v1/server/storage", "", "o"),
    ("/api/v1/server/stop", "POST /api/v1/server/stop", r#"{"sessionId": "$session", "requestId": "none"}"#, "o"),
    ("/api/v1/people/{user}", "GET /api/v1/people/none", "", "o"),
    ("/api/v1/people/{user}", "DELETE /api/v1/people/none", "", "o"),
    ("/api/v1/server-tools", "GET /api/v1/server-tools", "", "oes"),
    ("/api/v1/server-tools", "PUT /api/v1/server-tools", r#"{"tools": []}"#, "oes"),
    ("/v1/messages", "POST /v1/messages", MESSAGE, "oe"),
    ("/v1/messages/count_tokens", "POST /v1/messages/count_tokens", MESSAGE, "oe"),
    ("/v1/models", "GET /v1/models", "", "oervs"),
    ("/v1/models/{*id}", "GET /v1/models/harper", "", "oervs"),
    ("/api/hello", "HEAD /api/hello", "", "oervs-"),
    ("/api/v1/webhooks", "GET /api/v1/webhooks", "", "o"),
    ("/api/v1/webhooks", "POST /api/v1/webhooks", r#"{"url": "https://hooks.example"}"#, "o"),
    ("/api/v1/webhooks/{id}", "GET /api/v1/webhooks/none", "", "o"),
    ("/api/v1/webhooks/{id}", "PATCH /api/v1/webhooks/none", "{}", "o"),
    ("/api/v1/webhooks/{id}", "DELETE /api/v1/webhooks/none", "", "o"),
    // There is nothing there, for anybody.
    ("/api/{*rest}", "GET /api/v1/nothing", "", "oervs-"),
    ("/metrics", "GET /metrics", "", "o"),
    ("/v1/{*rest}", "GET /v1/nothing", "", "oervs-"),
];

/// Commands work on the data directory, so the file system says who may, or over HTTP with a
/// person's token, so the routes above say it.
const COMMANDS: &[&str] = &[
    "serve",
    "token",
    "spending",
    "share",
    "person",
    "export",
    "import",
    "docs",
    "duplicate",
    "ask",
    "requests",
    "approve",
    "reject",
    "watch",
    "bench",
    "doctor",
    "sample-config",
    "completions",
    "check",
    "backup",
    "restore",
    "migrate",
    "mcp",
    "help",
];

/// One of each, with the letter of the tables.
struct Cast {
    copydesk: TestServer,
    owner: Person,
    people: Vec<(char, Person)>,
    /// The session of a person who is none of these.
    elses: String,
    /// A thread of the owner's for each row, and its comment: a person writes few in a minute.
    threads: RefCell<HashMap<String, (String, String)>>,
}

/// A model that proposes the same change whenever it is asked.
fn script() -> Script {
    let input = json!({"new_content": full("The keeper wrote every night.\n")["new_content"], "explanation": "x"});
    let call = json!({"type": "tool_use", "name": "update_full_document", "input": input});
    let turn = json!({"when": {"user": "."}, "content": [call], "repeat": true});
    Script::default().turn(turn).closing("Done.")
}

fn cast() -> Cast {
    let copydesk = TestServer::scripted(script());
    let owner = copydesk.owner();
    let elsewhere = owner.creates("Elsewhere.");
    let stranger = copydesk.token("Sid", Role::Editor, &["--document", &elsewhere]);
    let people = vec![
        ('s', Person::arrive(copydesk.url(), &stranger, "Sid")),
        ('v', copydesk.person("Vic", Role::Viewer)),
        ('u', copydesk.person("Sue", Role::Suggester)),
        ('r', copydesk.person("Rex", Role::Reviewer)),
        ('e', copydesk.editor("Ed")),
        ('o', Person::arrive(copydesk.url(), OWNER, "Olga")),
    ];
    let elses = copydesk.editor("Else").session();
    Cast { copydesk, owner, people, elses, threads: RefCell::default() }
}

/// A guest, who has signed in and may edit another document: what strangers may.
fn guests() -> Cast {
    let provider = IdentityProvider::start();
    let copydesk = scripted(&provider, &["editor=group:nobody"], script());
    let owner = copydesk.owner();
    let elsewhere = owner.creates("Elsewhere.");
    let share = json!({"documentId": elsewhere, "email": "ana@press.example", "role": "editor"});
    owner.emit("document:share", &share).ok();
    let guest = Person::arrive(copydesk.url(), &signs_in(&copydesk, &provider), "");
    let elses = copydesk.editor("Else").session();
    Cast { copydesk, owner, people: vec![('s', guest)], elses, threads: RefCell::default() }
}

impl Cast {
    /// A payload for one person, with what it is about made anew.
    fn fill(&self, payload: &str, person: &Person) -> Value {
        let [text] = self.put_names([payload], Some(person));
        serde_json::from_str(&text).unwrap()
    }

    /// Begins a thread of the owner's in a new document.
    fn begins_thread(&self) -> (String, String) {
        let wish = json!({"documentId": self.owner.creates(TEXT), "text": "Why?"});
        let thread = self.owner.emit("comment:create", &wish).ok()["thread"].clone();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&thread["id"]), text(&thread["comments"][0]["id"]))
    }

    /// The same for texts that are about the same things.
    fn put_names<const N: usize>(&self, texts: [&str; N], person: Option<&Person>) -> [String; N] {
        let has = |name| texts.iter().any(|text| text.contains(name));
        let document = if has("$document") || has("$request") {
            self.owner.creates(TEXT)
        } else {
            String::new()
        };
        let request = if has("$request") {
            let run = self.owner.asks("Fix it");
            let Request(request) = self.owner.sees_request_of(&run);
            request["request_id"].as_str().unwrap().to_owned()
        } else {
            String::new()
        };
        let (thread, comment) = if has("$thread") || has("$comment") {
            let mut threads = self.threads.borrow_mut();
            threads.entry(texts.concat()).or_insert_with(|| self.begins_thread()).clone()
        } else {
            Default::default()
        };
        texts.map(|text| {
            text.replace("$document", &document)
                .replace("$thread", &thread)
                .replace("$comment", &comment)
                .replace("$request", &request)
                .replace("$session", &person.map(Person::session).unwrap_or_default())
                .replace("$elses", &self.elses)
        })
    }
}

/// Returns `true` if the table says that a person may.
fn may(who: &str, letter: char) -> bool {
    who.contains(letter) || letter == 'u' && who.contains('v')
}

/// Returns `true` if a person was let through: any other complaint means that they were.
fn let_through(answer: &Value) -> bool {
    // A batch answers for each of its decisions.
    let answer = answer["results"].get(0).unwrap_or(answer);
    answer["error"]["code"] != "not_allowed"
}

#[test]
fn every_event_is_open_to_whom_the_table_says() {
    check_events(&cast());
}

#[test]
fn a_guest_is_let_through_where_strangers_are() {
    let cast = guests();
    check_events(&cast);
    check_routes(&cast, "POST /api/v1/sign-out");
}

fn check_events(cast: &Cast) {
    let mut wrong = Vec::new();
    for (event, payload, who) in EVENTS {
        for (letter, person) in &cast.people {
            let payload = cast.fill(payload, person);
            let answer = person.ack(person.send_args(event, &json!([payload])));
            if let_through(answer.body()) != may(who, *letter) {
                wrong.push(format!("{event} by {}: {}", person.name, answer.body()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_event_is_in_the_table_of_roles() {
    let listed: BTreeSet<_> = EVENTS.iter().map(|row| row.0).collect();
    assert_eq!(listed, events(), "tests/it/people/roles.rs and crates/operations/src");
}

#[test]
fn every_route_is_open_to_whom_the_table_says() {
    check_routes(&cast(), "");
}

/// Checks all routes but one.
fn check_routes(cast: &Cast, but: &str) {
    let mut wrong = Vec::new();
    let mut people: Vec<_> =
        cast.people.iter().map(|(letter, person)| (*letter, Some(person))).collect();
    people.push(('-', None));
    for (_, request, body, who) in ROUTES.iter().filter(|row| row.1 != but) {
        for (letter, person) in &people {
            let token = person.map(|person| person.token.as_str());
            let bearer = token.map(|token| format!("Bearer {token}"));
            let mut headers = vec![("Host", cast.copydesk.address())];
            headers.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
            let [request, body] = cast.put_names([request, body], *person);
            let status = if body.is_empty() {
                ask(cast.copydesk.address(), &request, &headers).status
            } else {
                headers.push(("Content-Type", "application/json"));
                send(cast.copydesk.address(), &request, &headers, &body).status
            };
            let refused = if token.is_some() { 403 } else { 401 };
            if (status != refused) != may(who, *letter) {
                wrong.push(format!("{request} by {letter}: {status}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_route_is_in_the_table_of_roles() {
    let first_string = |rest: &str| rest.split('"').nth(1).map(str::to_owned);
    let others = include_str!("../../../crates/http/src/rest/mod.rs").split(".route(").skip(1);
    let routes: BTreeSet<_> = routes().into_iter().chain(others.filter_map(first_string)).collect();
    let listed: BTreeSet<_> = ROUTES.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(listed, routes, "tests/it/people/roles.rs, crates/operations/src, rest/mod.rs");
}

#[test]
fn every_route_of_the_table_is_in_the_openapi_document_with_its_method() {
    let copydesk = TestServer::quiet();
    let listed: BTreeSet<(String, String)> = ROUTES
        .iter()
        .filter(|row| row.0.starts_with("/api/v1/"))
        .map(|row| (row.0.to_owned(), row.1.split(' ').next().unwrap().to_lowercase()))
        .collect();
    let said: Value =
        serde_json::from_str(&get(copydesk.address(), "/api/v1/openapi.json").body).unwrap();
    let operations = |(path, item): (&String, &Value)| {
        let methods = item.as_object().unwrap().keys().cloned();
        methods.map(|method| (path.clone(), method)).collect::<Vec<_>>()
    };
    let paths = said["paths"].as_object().unwrap();
    let described: BTreeSet<_> = paths.iter().flat_map(operations).collect();
    assert_eq!(described, listed, "crates/operations/src and tests/it/people/roles.rs");
    // What is mounted and not said would not be refused with a list of what is.
    for path in paths.keys() {
        let route = path.replace("{version}", "0").replace(['{', '}'], "");
        let bearer = format!("Bearer {OWNER}");
        let headers = [("Host", copydesk.address()), ("Authorization", bearer.as_str())];
        let answer = ask(copydesk.address(), &format!("TRACE {route}"), &headers);
        assert_eq!(answer.status, 405, "{path}: {}", answer.head);
        let allow = answer.head.lines().find_map(|line| line.strip_prefix("allow: "));
        let allowed: BTreeSet<_> = allow
            .unwrap_or_default()
            .split(',')
            .map(|method| method.trim().to_owned())
            .filter(|method| method != "head")
            .collect();
        let said: BTreeSet<_> = paths[path].as_object().unwrap().keys().cloned().collect();
        assert_eq!(allowed, said, "{path}");
    }
}

#[test]
fn every_command_is_in_the_table_of_roles() {
    let help = copydesk_command().arg("--help").output().expect("the binary is built").stdout;
    let help = String::from_utf8(help).unwrap();
    let listed = help.split("Commands:").nth(1).and_then(|rest| rest.split("\n\n").next());
    let commands: BTreeSet<_> = listed
        .expect("a list of commands")
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(commands, COMMANDS.iter().copied().collect::<BTreeSet<_>>());
}
