//! Who may do what, at every door: each event, each route and each command is in a table here, for each kind of person.
//!
//! A new event or route that is missing in its table fails. `o`wner, `e`ditor, `r`eviewer, `v`iewer, and a `s`tranger: an
//! editor whose token is for another document. What each role may do is decided in `src/who.rs` and nowhere else.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::samples::events;
use crate::support::http::{ask, send};
use crate::support::script::full;
use crate::support::{Desk, OWNER, Person, Request, Role, Script, copydesk};

const TEXT: &str = "Teh keeper wrote every night.\n";

/// (event, payload, who may). `$document`: a new one of the owner's, `$request`: one that waits in it, `$session`: the
/// person's own.
#[rustfmt::skip]
const EVENTS: &[(&str, &str, &str)] = &[
    ("document:list", "{}", "oervs"),
    ("document:create", "{}", "oe"),
    ("document:open", r#"{"documentId": "$document"}"#, "oerv"),
    ("document:push", r#"{"documentId": "$document", "version": 0, "updates": [{"clientID": "$session", "changes": [[0, "x"], 30]}]}"#, "oe"),
    ("document:resync", r#"{"documentId": "$document", "version": 0}"#, "oerv"),
    ("document:settings", r#"{"documentId": "$document", "approvals": "on"}"#, "o"),
    ("document:close", r#"{"documentId": "$document"}"#, "oervs"),
    ("document:rename", r#"{"documentId": "$document", "title": "x"}"#, "oe"),
    ("document:delete", r#"{"documentId": "$document"}"#, "o"),
    ("document:history", r#"{"documentId": "$document"}"#, "oerv"),
    ("document:at", r#"{"documentId": "$document", "version": 0}"#, "oerv"),
    ("document:provenance", r#"{"documentId": "$document"}"#, "oerv"),
    ("document:compare", r#"{"documentId": "$document", "from": 0}"#, "oerv"),
    ("document:restore", r#"{"documentId": "$document", "version": 0}"#, "oe"),
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
    ("approval:told", r#"{"request_id": "$request", "approved": false}"#, "oer"),
    ("approval:focus", r#"{"request_id": "$request", "on": true}"#, "oer"),
    ("approval:extend", r#"{"request_id": "$request"}"#, "oer"),
    ("approval:undo", r#"{"request_id": "$request"}"#, "oer"),
    ("approval:reopen", r#"{"request_id": "$request"}"#, "oer"),
    // What somebody else asked for.
    ("approval:withdraw", r#"{"request_id": "$request"}"#, "o"),
    ("rules:list", "{}", "oervs"),
    ("rules:add", r#"{"documentId": "$document", "effect": "ask"}"#, "o"),
    ("rules:revoke", r#"{"id": "none"}"#, "oervs"),
    ("settings:get", "{}", "oervs"),
    ("settings:set", "{}", "o"),
    ("token:issue", r#"{"role": "viewer", "name": "X"}"#, "o"),
    ("token:list", "{}", "o"),
    ("token:revoke", r#"{"id": "none"}"#, "o"),
];

/// Asks a model that is not there, which only those are told who may ask.
const MESSAGE: &str =
    r#"{"model": "none", "max_tokens": 1, "messages": [{"role": "user", "content": "x"}]}"#;

/// (route as in `src/http/mod.rs`, request, body, who may); `-`: also who brings no token.
const ROUTES: &[(&str, &str, &str, &str)] = &[
    ("/healthz", "GET /healthz", "", "oervs-"),
    ("/readyz", "GET /readyz", "", "oervs-"),
    (
        "/api/v1/documents/{id}/export",
        "GET /api/v1/documents/$document/export?format=md",
        "",
        "oerv",
    ),
    ("/api/v1/documents/{id}/provenance", "GET /api/v1/documents/$document/provenance", "", "oerv"),
    ("/api/v1/documents/{id}/audit", "GET /api/v1/documents/$document/audit", "", "oe"),
    ("/api/v1/tokens", "GET /api/v1/tokens", "", "o"),
    ("/api/v1/tokens", "POST /api/v1/tokens", r#"{"role": "viewer", "name": "X"}"#, "o"),
    ("/api/v1/tokens/{id}", "DELETE /api/v1/tokens/none", "", "o"),
    ("/api/v1/server-tools", "GET /api/v1/server-tools", "", "oes"),
    ("/api/v1/server-tools", "PUT /api/v1/server-tools", r#"{"tools": []}"#, "oes"),
    ("/v1/messages", "POST /v1/messages", MESSAGE, "oe"),
    ("/v1/messages/count_tokens", "POST /v1/messages/count_tokens", MESSAGE, "oe"),
    ("/v1/models", "GET /v1/models", "", "oervs"),
    ("/v1/models/{*id}", "GET /v1/models/harper", "", "oervs"),
    ("/api/hello", "HEAD /api/hello", "", "oervs-"),
    // There is nothing there, for anybody.
    ("/api/{*rest}", "GET /api/v1/nothing", "", "oervs-"),
    ("/v1/{*rest}", "GET /v1/nothing", "", "oervs-"),
];

/// Every command works on the data directory, so the file system says who may; `token --url` goes over HTTP.
const COMMANDS: [&str; 5] = ["serve", "token", "export", "check", "help"];

/// One of each, with the letter of the tables.
struct Cast {
    desk: Desk,
    owner: Person,
    people: Vec<(char, Person)>,
}

fn cast() -> Cast {
    let input = json!({"new_content": full("The keeper wrote every night.\n")["new_content"], "explanation": "x"});
    let call = json!({"type": "tool_use", "name": "update_full_document", "input": input});
    let turn = json!({"when": {"user": "."}, "content": [call], "repeat": true});
    let desk = Desk::scripted(Script::default().turn(turn).closing("Done."));
    let owner = desk.owner();
    let elsewhere = owner.creates("Elsewhere.");
    let stranger = desk.token("Sid", Role::Editor, &["--document", &elsewhere]);
    let people = vec![
        ('s', Person::arrive(desk.url(), &stranger, "Sid")),
        ('v', desk.person("Vic", Role::Viewer)),
        ('r', desk.person("Rex", Role::Reviewer)),
        ('e', desk.editor("Ed")),
        ('o', Person::arrive(desk.url(), OWNER, "Olga")),
    ];
    Cast { desk, owner, people }
}

impl Cast {
    /// A payload for one person, with what it is about made anew.
    fn fill(&self, payload: &str, person: &Person) -> Value {
        let document = if payload.contains("$document") || payload.contains("$request") {
            self.owner.creates(TEXT)
        } else {
            String::new()
        };
        let request = if payload.contains("$request") {
            let run = self.owner.asks("Fix it");
            let Request(request) = self.owner.sees_request_of(&run);
            request["request_id"].as_str().unwrap().to_owned()
        } else {
            String::new()
        };
        let text = payload
            .replace("$document", &document)
            .replace("$request", &request)
            .replace("$session", &person.session());
        serde_json::from_str(&text).unwrap()
    }
}

/// Whether somebody was let through: any other complaint means that they were.
fn let_through(answer: &Value) -> bool {
    // A batch answers for each of its decisions.
    let answer = answer["results"].get(0).unwrap_or(answer);
    answer["error"]["code"] != "not_allowed"
}

#[test]
fn every_event_is_open_to_whom_the_table_says() {
    let cast = cast();
    let mut wrong = Vec::new();
    for (event, payload, who) in EVENTS {
        for (letter, person) in &cast.people {
            let payload = cast.fill(payload, person);
            let answer = person.ack(person.send_args(event, &json!([payload])));
            if let_through(answer.body()) != who.contains(*letter) {
                wrong.push(format!("{event} by {}: {}", person.name, answer.body()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_event_is_in_the_table_of_roles() {
    let listed: BTreeSet<_> = EVENTS.iter().map(|row| row.0).collect();
    assert_eq!(listed, events(), "tests/it/roles.rs and src/socket/mod.rs");
}

#[test]
fn every_route_is_open_to_whom_the_table_says() {
    let cast = cast();
    let document = cast.owner.creates(TEXT);
    let mut wrong = Vec::new();
    let mut tokens: Vec<_> =
        cast.people.iter().map(|(letter, person)| (*letter, Some(person.token.as_str()))).collect();
    tokens.push(('-', None));
    for (_, request, body, who) in ROUTES {
        for (letter, token) in &tokens {
            let bearer = token.map(|token| format!("Bearer {token}"));
            let mut headers = vec![("Host", cast.desk.address())];
            headers.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
            let request = request.replace("$document", &document);
            let status = if body.is_empty() {
                ask(cast.desk.address(), &request, &headers).status
            } else {
                headers.push(("Content-Type", "application/json"));
                send(cast.desk.address(), &request, &headers, body).status
            };
            let refused = if token.is_some() { 403 } else { 401 };
            if (status != refused) != who.contains(*letter) {
                wrong.push(format!("{request} by {letter}: {status}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_route_is_in_the_table_of_roles() {
    let source = include_str!("../../src/http/mod.rs");
    let routes: BTreeSet<_> =
        source.split(".route(").skip(1).filter_map(|rest| rest.split('"').nth(1)).collect();
    let listed: BTreeSet<_> = ROUTES.iter().map(|row| row.0).collect();
    assert_eq!(listed, routes, "tests/it/roles.rs and src/http/mod.rs");
}

#[test]
fn every_command_is_in_the_table_of_roles() {
    let help = copydesk().arg("--help").output().expect("the binary is built").stdout;
    let help = String::from_utf8(help).unwrap();
    let listed = help.split("Commands:").nth(1).and_then(|rest| rest.split("\n\n").next());
    let commands: BTreeSet<_> = listed
        .expect("a list of commands")
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(commands, BTreeSet::from(COMMANDS));
}
