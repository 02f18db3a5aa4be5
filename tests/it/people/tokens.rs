//! Admission of other people, and its end: tokens over the socket, over HTTP and by the command
//! line.

use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::http::{Response, ask, send};
use crate::support::{OWNER, Person, Role, Script, TestServer, copydesk_command};

const TEXT: &str = "Teh keeper wrote every night.\n";
const FIXED: &str = "The keeper wrote every night.\n";

fn issues(owner: &Person, wish: Value) -> Value {
    owner.emit("token:issue", &wish).ok()
}

fn arrives(copydesk: &TestServer, issued: &Value) -> Person {
    Person::arrive(copydesk.url(), issued["token"].as_str().expect("a secret"), "")
}

fn revokes(owner: &Person, issued: &Value) {
    owner.emit("token:revoke", &json!({"id": issued["id"]})).ok();
}

// Over the socket.

#[test]
fn an_owner_lets_someone_in_under_a_name_and_a_role() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let bo = arrives(&copydesk, &issues(&owner, json!({"role": "reviewer", "name": " Bo\u{7} "})));
    assert_eq!(bo.registered()["role"], "reviewer");
    assert_eq!(bo.user()["name"], "Bo");
    assert_ne!(bo.user()["id"], owner.user()["id"]);
    bo.emit("document:create", &json!({})).refused_with("not_allowed");
}

#[test]
fn the_link_of_a_token_for_a_document_leads_there_and_nowhere_else() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let (here, there) = (owner.creates(TEXT), owner.creates("Elsewhere."));
    let issued = issues(&owner, json!({"role": "editor", "name": "Bo", "documentId": here}));
    let secret = issued["token"].as_str().unwrap();
    assert_eq!(issued["url"], format!("{}/d/{here}#token={secret}", owner.server()));
    let bo = arrives(&copydesk, &issued);
    bo.opens(&here);
    bo.emit("document:open", &json!({"documentId": there})).refused_with("not_allowed");
    let all = issues(&owner, json!({"role": "editor", "name": "Cy"}));
    let secret = all["token"].as_str().unwrap();
    assert_eq!(all["url"], format!("{}/#token={secret}", owner.server()));
}

#[test]
fn the_list_names_everybody_and_no_secret() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let issued = issues(&owner, json!({"role": "editor", "name": "Bo", "expiresIn": "7d"}));
    let gone = issues(&owner, json!({"role": "viewer", "name": "Vic"}));
    arrives(&copydesk, &issued);
    revokes(&owner, &gone);
    let list = owner.emit("token:list", &json!({})).ok();
    let said = list.to_string();
    for secret in [OWNER, issued["token"].as_str().unwrap(), gone["token"].as_str().unwrap()] {
        assert!(!said.contains(secret), "{said}");
    }
    let lines = list["tokens"].as_array().unwrap();
    let of = |field: &str| lines.iter().map(|line| line[field].clone()).collect::<Vec<_>>();
    assert_eq!(of("name"), ["Owner", "Bo", "Vic"]);
    assert_eq!(of("status"), ["active", "active", "revoked"]);
    assert_eq!(of("current"), [true, false, false]);
    assert_eq!(lines[1]["expiresAt"], issued["expiresAt"]);
    assert!(lines[1]["lastUsedAt"].is_string() && lines[2]["lastUsedAt"].is_null(), "{said}");
}

#[test]
fn only_owners_of_the_whole_server_issue_list_and_revoke() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let here = owner.creates(TEXT);
    let bound = ["--document", here.as_str()];
    let people = [
        copydesk.editor("Ed"),
        copydesk.person("Rex", Role::Reviewer),
        copydesk.person("Vic", Role::Viewer),
        Person::arrive(copydesk.url(), &copydesk.token("Bo", Role::Editor, &bound), "Bo"),
    ];
    let wish = json!({"role": "viewer", "name": "X", "documentId": here});
    for person in people {
        person.emit("token:issue", &wish).refused_with("not_allowed");
        person.emit("token:list", &json!({})).refused_with("not_allowed");
        person.emit("token:revoke", &json!({"id": "tok_owner"})).refused_with("not_allowed");
    }
    assert_eq!(owner.emit("token:list", &json!({})).ok()["tokens"].as_array().unwrap().len(), 5);
}

#[test]
fn the_owners_name_is_kept_with_the_token() {
    let mut copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let named = owner.emit("token:name", &json!({"name": " Olga "})).ok();
    assert_eq!(named["user"]["name"], "Olga");
    let again = Person::arrive(copydesk.url(), OWNER, "");
    assert_eq!(again.registered()["user"]["name"], "Olga");
    copydesk.is_killed_and_restarted();
    let later = Person::arrive(copydesk.url(), OWNER, "");
    assert_eq!(later.registered()["user"]["name"], "Olga");
    assert_eq!(later.emit("token:list", &json!({})).ok()["tokens"][0]["name"], "Olga");
}

#[test]
fn a_second_owner_is_one_and_can_be_revoked_but_the_first_cannot() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let issued = issues(&owner, json!({"role": "owner", "name": "Olga"}));
    let olga = arrives(&copydesk, &issued);
    issues(&olga, json!({"role": "owner", "name": "Third"}));
    olga.emit("token:revoke", &json!({"id": "tok_owner"})).refused_with("not_allowed");
    revokes(&owner, &issued);
    olga.is_cut_off();
    owner.is_fine();
}

#[test]
fn a_revoked_person_is_told_and_gone_at_once() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let issued = issues(&owner, json!({"role": "editor", "name": "Bo"}));
    let (bo, tab) = (arrives(&copydesk, &issued), arrives(&copydesk, &issued));
    bo.opens(&owner.creates(TEXT));
    bo.types(0, "I was here. ");
    revokes(&owner, &issued);
    for socket in [&bo, &tab] {
        assert_eq!(socket.sees("sessionEnded")["code"], "token_revoked");
        socket.is_cut_off();
    }
    assert_eq!(owner.text(), format!("I was here. {TEXT}"), "what was acknowledged stays");
    owner.sees_where("presence:peers", |it| it["peers"].as_array().unwrap().len() == 1);
    let (code, message) = copydesk.refuses(&json!({"token": issued["token"]}));
    assert_eq!((code.as_str(), message.as_str()), ("unauthorized", "this token was revoked"));
}

#[test]
fn nothing_a_revoked_person_sends_counts_any_more() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let issued = issues(&owner, json!({"role": "editor", "name": "Bo"}));
    let bo = arrives(&copydesk, &issued);
    bo.opens(&owner.creates(TEXT));
    let (version, len) = bo.page();
    revokes(&owner, &issued);
    // Sent while the farewell is on its way, or after it: nothing of it may be seen, and no one may
    // be harmed.
    let changes = crate::support::replacing(len, 0, 0, "Too late. ");
    let update = json!({"clientID": bo.client(), "changes": changes});
    let push = json!({"documentId": bo.document(), "version": version, "updates": [update]});
    for _ in 0..20 {
        bo.send("document:push", &push);
    }
    bo.is_cut_off();
    owner.types(0, "x");
    assert_eq!(owner.text(), format!("x{TEXT}"));
}

#[test]
fn revoking_twice_or_issuing_the_same_wish_twice_is_fine() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let wish = json!({"role": "viewer", "name": "Vic"});
    let (one, two) = (issues(&owner, wish.clone()), issues(&owner, wish));
    assert_ne!((&one["id"], &one["token"]), (&two["id"], &two["token"]));
    revokes(&owner, &one);
    revokes(&owner, &one);
    arrives(&copydesk, &two).is_fine();
}

#[test]
fn a_token_that_runs_out_ends_the_connection() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let bo = arrives(
        &copydesk,
        &issues(&owner, json!({"role": "viewer", "name": "Bo", "expiresIn": "2s"})),
    );
    assert_eq!(bo.sees("sessionEnded")["code"], "token_expired");
    bo.is_cut_off();
    owner.is_fine();
}

#[test]
fn what_a_revoked_person_asked_for_stays_for_the_others_to_decide() {
    let copydesk = TestServer::scripted(Script::rewriting(FIXED));
    let owner = copydesk.owner();
    let issued = issues(&owner, json!({"role": "editor", "name": "Bo"}));
    let bo = arrives(&copydesk, &issued);
    bo.opens(&owner.creates(TEXT));
    let run = bo.asks("Fix it");
    let request = owner.sees_request_of(&run);
    revokes(&owner, &issued);
    bo.is_cut_off();
    assert_eq!(owner.pending().len(), 1);
    owner.accepts_all(&request);
    owner.comes_to_read(FIXED);
    let answer = owner.answer(&run);
    assert_eq!(answer["error"]["code"], "not_allowed", "the run ends with its asker's token");
}

#[test]
fn the_vote_of_a_revoked_person_does_not_count() {
    let copydesk = TestServer::scripted(Script::rewriting(FIXED));
    let owner = copydesk.owner();
    let issued = issues(&owner, json!({"role": "reviewer", "name": "Bo"}));
    let (bo, rex) = (arrives(&copydesk, &issued), copydesk.person("Rex", Role::Reviewer));
    let document = owner.creates(TEXT);
    let two = json!({"documentId": document, "policy": "two"});
    owner.emit("document:settings", &two).ok();
    for reader in [&bo, &rex] {
        reader.opens(&document);
    }
    owner.asks("Fix it");
    let request = owner.sees_request();
    assert_eq!(bo.accepts_all(&request)["approvals"], json!({"have": 1, "need": 2}));
    owner.sees_where("tool_approval_update", |it| it["approvals"]["have"] == 1);
    revokes(&owner, &issued);
    owner.sees_where("tool_approval_update", |it| it["approvals"]["have"] == 0);
    assert_eq!(rex.accepts_all(&request)["status"], "pending", "one good vote is not two");
    assert_eq!(owner.accepts_all(&request)["status"], "approved");
    owner.comes_to_read(FIXED);
}

// Over HTTP.

fn api(copydesk: &TestServer, token: &str, request: &str, body: Option<&str>) -> Response {
    let bearer = format!("Bearer {token}");
    let headers = [("Host", copydesk.address()), ("Authorization", bearer.as_str())];
    match body {
        None => ask(copydesk.address(), request, &headers),
        Some(body) => {
            let json = ("Content-Type", "application/json; charset=utf-8");
            send(copydesk.address(), request, &[headers[0], headers[1], json], body)
        }
    }
}

fn body(response: &Response) -> Value {
    serde_json::from_str(&response.body).unwrap_or_else(|error| panic!("{error}: {response:?}"))
}

#[track_caller]
fn is_problem(response: &Response, status: u16, code: &str) {
    assert_eq!(response.status, status, "{response:?}");
    assert!(response.head.contains("application/problem+json"), "{}", response.head);
    assert_eq!(
        (&body(response)["code"], &body(response)["status"]),
        (&json!(code), &json!(status))
    );
}

#[test]
fn tokens_are_issued_listed_and_revoked_over_http() {
    let copydesk = TestServer::quiet();
    let wish = r#"{"role": "reviewer", "name": "Bo", "expiresIn": "7d"}"#;
    let created = api(&copydesk, OWNER, "POST /api/v1/tokens", Some(wish));
    assert_eq!(created.status, 201, "{created:?}");
    let issued = body(&created);
    let id = issued["id"].as_str().unwrap();
    assert!(created.head.contains(&format!("location: /api/v1/tokens/{id}")), "{}", created.head);
    assert!(created.head.contains("cache-control: no-store"), "{}", created.head);
    let bo = arrives(&copydesk, &issued);
    let listed = body(&api(&copydesk, OWNER, "GET /api/v1/tokens", None));
    assert_eq!(listed["tokens"][1]["id"], id);
    assert!(!listed.to_string().contains(issued["token"].as_str().unwrap()));
    let revoked = api(&copydesk, OWNER, &format!("DELETE /api/v1/tokens/{id}"), None);
    assert_eq!((revoked.status, revoked.body.as_str()), (204, ""));
    bo.is_cut_off();
    let token = issued["token"].as_str().unwrap();
    is_problem(&api(&copydesk, token, "GET /api/v1/tokens", None), 401, "unauthorized");
}

#[test]
fn every_wrong_body_is_a_problem_of_its_own() {
    let copydesk = TestServer::quiet();
    let post = |body: &str| api(&copydesk, OWNER, "POST /api/v1/tokens", Some(body));
    for unreadable in ["", "{", "role=owner", "\u{0}", "{\"role\": }"] {
        is_problem(&post(unreadable), 400, "invalid_request");
    }
    for wrong in [
        "[]",
        "null",
        r#"["editor", "Bo"]"#,
        "{}",
        r#"{"role": "king", "name": "Bo"}"#,
        r#"{"role": "editor", "name": ""}"#,
        r#"{"role": "editor", "name": 7}"#,
        r#"{"role": "editor", "name": "Bo", "expiresIn": "soon"}"#,
    ] {
        is_problem(&post(wrong), 422, "invalid_request");
    }
    let nowhere = r#"{"role": "editor", "name": "Bo", "documentId": "doc_none"}"#;
    is_problem(&post(nowhere), 404, "not_found");
    let long = format!(r#"{{"role": "editor", "name": "{}"}}"#, "x".repeat(20_000));
    is_problem(&post(&long), 413, "too_large");
    assert_eq!(body(&api(&copydesk, OWNER, "GET /api/v1/tokens", None))["tokens"][1], Value::Null);
}

#[test]
fn a_body_that_does_not_say_that_it_is_json_is_refused() {
    let copydesk = TestServer::quiet();
    let bearer = format!("Bearer {OWNER}");
    let wish = r#"{"role": "editor", "name": "Bo"}"#;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""] {
        let headers =
            [("Host", copydesk.address()), ("Authorization", &bearer), ("Content-Type", kind)];
        let refused = send(copydesk.address(), "POST /api/v1/tokens", &headers, wish);
        is_problem(&refused, 415, "unsupported_media_type");
    }
}

#[test]
fn over_http_too_only_owners_issue_list_and_revoke() {
    let copydesk = TestServer::quiet();
    let wish = Some(r#"{"role": "viewer", "name": "X"}"#);
    for role in [Role::Editor, Role::Reviewer, Role::Viewer] {
        let token = copydesk.token("Somebody", role, &[]);
        is_problem(&api(&copydesk, &token, "POST /api/v1/tokens", wish), 403, "not_allowed");
        is_problem(&api(&copydesk, &token, "GET /api/v1/tokens", None), 403, "not_allowed");
        is_problem(&api(&copydesk, &token, "DELETE /api/v1/tokens/x", None), 403, "not_allowed");
    }
    is_problem(&api(&copydesk, "wrong", "POST /api/v1/tokens", wish), 401, "unauthorized");
    is_problem(&api(&copydesk, OWNER, "DELETE /api/v1/tokens/tok_none", None), 404, "not_found");
    is_problem(&api(&copydesk, OWNER, "DELETE /api/v1/tokens/tok_owner", None), 403, "not_allowed");
    is_problem(&api(&copydesk, OWNER, "PUT /api/v1/tokens", wish), 405, "method_not_allowed");
}

// By the command line.

fn token_command(copydesk: &TestServer, args: &[&str]) -> Output {
    let data = copydesk.data();
    let place =
        if args.contains(&"--url") { vec![] } else { vec!["--data", data.to_str().unwrap()] };
    copydesk_command().arg("token").args(args).args(place).output().expect("the binary is built")
}

fn printed(output: &Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_token_is_issued_listed_and_revoked_through_the_running_server() {
    let copydesk = TestServer::quiet();
    let through = ["--url", copydesk.url(), "--token", OWNER];
    let with = |args: &[&str]| token_command(&copydesk, &[args, &through].concat());
    let secret = printed(&with(&["--role", "editor", "--name", "Bo", "--expires", "7d"]));
    assert_eq!(secret.lines().count(), 1, "the token alone: {secret:?}");
    let bo = Person::arrive(copydesk.url(), secret.trim(), "Bo");
    let list = printed(&with(&["--list"]));
    let line = list.lines().find(|line| line.ends_with("Bo")).expect("a line");
    assert!(line.contains("editor") && line.contains("active"), "{list}");
    assert!(!list.contains(secret.trim()));
    let id = line.split_whitespace().next().unwrap();
    assert_eq!(printed(&with(&["--revoke", id])), "");
    bo.is_cut_off();
}

#[test]
fn a_revocation_in_the_data_directory_reaches_the_running_server_within_seconds() {
    let copydesk = TestServer::quiet();
    let bo = copydesk.editor("Bo");
    let list = printed(&token_command(&copydesk, &["--list"]));
    let line = list.lines().find(|line| line.ends_with("Bo")).expect("a line");
    let since = Instant::now();
    printed(&token_command(&copydesk, &["--revoke", line.split_whitespace().next().unwrap()]));
    assert_eq!(bo.sees("sessionEnded")["code"], "token_revoked");
    bo.is_cut_off();
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
}

#[test]
fn what_the_command_line_cannot_do_is_said_on_stderr_with_an_exit_code() {
    let copydesk = TestServer::quiet();
    let editor = copydesk.token("Ed", Role::Editor, &[]);
    let wish = ["--role", "viewer", "--name", "Vic"];
    let at = |url: &'static str, token: &str| {
        token_command(&copydesk, &[&wish[..], &["--url", url, "--token", token]].concat())
    };
    let here: &'static str = Box::leak(copydesk.url().to_owned().into_boxed_str());
    for (output, code, said) in [
        (at(here, &editor), 1, "you may not do that"),
        (at(here, "wrong"), 1, "unknown token"),
        (at("http://127.0.0.1:1", OWNER), 1, "does not answer"),
        (at("127.0.0.1", OWNER), 1, "not the address of a server"),
        (token_command(&copydesk, &["--url", here, "--list"]), 1, "--token"),
        (token_command(&copydesk, &["--role", "viewer"]), 2, "--name"),
        (token_command(&copydesk, &["--role", "king", "--name", "X"]), 2, "king"),
        (token_command(&copydesk, &["--list", "--revoke", "x"]), 2, "cannot be used"),
        (token_command(&copydesk, &["--revoke", "tok_none"]), 1, "there is no token"),
        (token_command(&copydesk, &["--role", "viewer", "--name", " "]), 1, "name"),
    ] {
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{complaint}");
        assert!(complaint.contains(said) && output.stdout.is_empty(), "{said}: {complaint}");
    }
}

// Over HTTP, while a body is on its way.

/// Sends headers and all but the last byte of a body, lets something happen, and sends that byte;
/// the status line.
fn finishes_late(
    copydesk: &TestServer,
    head: &str,
    body: &str,
    meanwhile: impl FnOnce(),
) -> String {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(copydesk.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let (early, last) = body.split_at(body.len() - 1);
    let host = copydesk.address();
    let length = body.len();
    write!(stream, "{head}\r\nHost: {host}\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n").unwrap();
    // The server asks for the body once it has read the head and wants to read on.
    let mut asked = Vec::new();
    while !asked.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("the body is asked for");
        asked.push(byte[0]);
    }
    assert!(asked.starts_with(b"HTTP/1.1 100"), "{}", String::from_utf8_lossy(&asked));
    stream.write_all(early.as_bytes()).unwrap();
    meanwhile();
    stream.write_all(last.as_bytes()).ok();
    let mut answer = Vec::new();
    let mut piece = [0; 512];
    while !answer.contains(&b'\n') {
        match stream.read(&mut piece) {
            Ok(read) if read > 0 => answer.extend_from_slice(&piece[..read]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_request_whose_token_ends_while_its_body_arrives_does_nothing() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "late", "version": "1"}}});
    let asked = json!({"model": "harper", "max_tokens": 64, "messages": [{"role": "user", "content": "Hello"}]});
    let ways = [
        ("POST /api/v1/documents", "", json!({"title": "Late", "text": "too late"})),
        (
            "POST /api/v1/documents",
            "Idempotency-Key: late\r\n",
            json!({"title": "Late", "text": "too late"}),
        ),
        ("POST /mcp", "Accept: application/json, text/event-stream\r\n", initialize),
        ("POST /v1/messages", "", asked),
    ];
    for (way, more, body) in ways {
        let issued = issues(&owner, json!({"role": "editor", "name": "Bo"}));
        let head = format!(
            "{way} HTTP/1.1\r\n{more}Authorization: Bearer {}",
            issued["token"].as_str().unwrap()
        );
        let on_time = finishes_late(&copydesk, &head, &body.to_string(), || {});
        assert!(!on_time.is_empty() && !on_time.contains(" 401"), "{way}: {on_time}");
        let key = head.replace("Idempotency-Key: late", "Idempotency-Key: later");
        let secret = issued["token"].as_str().unwrap();
        let late = finishes_late(&copydesk, &key, &body.to_string(), || {
            let everywhere = copydesk.urls().into_iter();
            let windows: Vec<_> = everywhere.map(|url| Person::arrive(url, secret, "Bo")).collect();
            revokes(&owner, &issued);
            // Another server is notified, and knows it a moment later.
            for window in &windows {
                window.sees("sessionEnded");
            }
        });
        assert!(late.contains(" 401"), "{way} {more}: {late}");
    }
    let titles = owner.emit("document:list", &json!({})).ok()["documents"].to_string();
    assert_eq!(titles.matches("Late").count(), 2, "only those that came on time: {titles}");
}
