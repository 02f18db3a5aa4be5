//! Connections that are admitted or refused: tokens, sessions, hosts and origins, over every
//! transport.

use serde_json::{Value, json};

use crate::support::http::{ask, get};
use crate::support::{
    OWNER, Person, RestClient, Role, Script, Server, TestServer, eventually, found,
};

#[test]
fn a_wrong_token_is_refused_with_a_code() {
    let copydesk = TestServer::quiet();
    for token in ["wrong", "", "owner", &OWNER[1..], &format!("{OWNER} ")] {
        let (code, message) = copydesk.refuses(&json!({"token": token}));
        assert_eq!(code, "unauthorized", "{token:?}");
        assert!(!message.contains(OWNER), "a refusal tells nothing");
    }
}

#[test]
fn no_token_is_refused_with_a_code() {
    let copydesk = TestServer::quiet();
    for auth in [json!({}), json!({"name": "Ana"}), json!({"token": null})] {
        assert_eq!(copydesk.refuses(&auth).0, "unauthorized", "{auth}");
    }
}

#[test]
fn a_handshake_of_the_wrong_shape_is_refused_with_a_code() {
    let copydesk = TestServer::quiet();
    for auth in [
        json!({"token": 7}),
        json!({"token": [OWNER]}),
        json!({"token": {"toString": OWNER}}),
        json!({"token": OWNER, "name": 7}),
        json!({"token": OWNER, "sessionId": {}}),
        json!({"token": OWNER, "protocol": "one"}),
    ] {
        assert_eq!(copydesk.refuses(&auth).0, "invalid_payload", "{auth}");
    }
}

#[test]
fn another_protocol_is_refused_with_a_code() {
    let copydesk = TestServer::quiet();
    for protocol in [0, 2, 99] {
        let (code, _) = copydesk.refuses(&json!({"token": OWNER, "protocol": protocol}));
        assert!(!code.is_empty(), "protocol {protocol}");
    }
}

#[test]
fn an_expired_token_is_refused() {
    let copydesk = TestServer::quiet();
    let token = copydesk.token("Ana", Role::Editor, &["--expires", "1s"]);
    let ana = RestClient::new(&copydesk, &token);
    eventually("the end of the token", || ana.gets("me").status == 401);
    assert_eq!(copydesk.refuses(&json!({"token": token})).0, "unauthorized");
}

#[test]
fn a_person_is_their_token_and_not_their_name() {
    let copydesk = TestServer::quiet();
    let token = copydesk.token("Ana", Role::Viewer, &[]);
    let liar = Person::arrive(copydesk.url(), &token, "Owner");
    assert_eq!(
        (&liar.registered()["role"], &liar.registered()["user"]["name"]),
        (&json!("viewer"), &json!("Ana (as Owner)"))
    );
    assert_ne!(liar.user()["id"], copydesk.owner().user()["id"]);
    liar.emit("document:create", &json!({"title": "x"})).refused_with("not_allowed");
}

#[test]
fn a_name_is_shortened_and_cleaned() {
    let copydesk = TestServer::quiet();
    let named = |name: &str| {
        Person::arrive(copydesk.url(), OWNER, name).registered()["user"]["name"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(named("  Ana\u{7}\n "), "Owner (as Ana)");
    assert_eq!(named(&"é".repeat(200)), format!("Owner (as {})", "é".repeat(80)));
    assert_eq!(named("   "), "Owner");
}

#[test]
fn a_foreign_session_is_refused() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    let auth = json!({"token": ben.token, "sessionId": ana.session()});
    assert_eq!(copydesk.refuses(&auth).0, "not_allowed");
    let ask = json!({"sessionId": ana.session(), "prompt": "Hello", "context": {}});
    ben.emit("askClaudeCode", &ask).refused_with("not_allowed");
    ben.emit("cancel", &json!({"sessionId": ana.session()})).refused_with("not_allowed");
    ben.emit("transcript:get", &json!({"sessionId": ana.session()})).refused_with("not_allowed");
}

#[test]
fn an_unknown_session_begins_a_new_one_and_cannot_ask() {
    let copydesk = TestServer::quiet();
    let unknown = "01939d7e-0000-7000-8000-000000000000";
    let options =
        json!({"auth": {"token": OWNER, "sessionId": unknown}, "transports": ["websocket"]});
    let owner = Person::connect(copydesk.url(), &options);
    assert_ne!(owner.session(), unknown);
    let ask = json!({"sessionId": unknown, "prompt": "Hello", "context": {}});
    owner.emit("askClaudeCode", &ask).refused_with("not_found");
}

#[test]
fn a_foreign_private_document_is_not_there() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ana.is_answered("Hello", &json!({"documentContent": "Mine."}));
    let mine = ana.emit("document:list", &json!({})).ok();
    let theirs = ben.emit("document:list", &json!({})).ok();
    assert_eq!(
        mine["documents"].as_array().unwrap().len(),
        theirs["documents"].as_array().unwrap().len()
    );
}

#[test]
fn the_printed_link_opens_the_editor_with_the_token_in_the_fragment() {
    let copydesk = TestServer::quiet();
    assert_eq!(copydesk.link(), format!("{}/#token={OWNER}", copydesk.url()));
}

#[test]
fn a_token_that_no_one_chose_is_made_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let flags = ["--model", "harper"].map(str::to_owned);
    let start = || Server::start(&directory.path().join("data"), &flags, &[]);
    let token = |server: &Server| {
        server.link.split_once("#token=").expect("a link with a token").1.to_owned()
    };
    let mut first = start();
    let made = token(&first);
    assert!(made.len() >= 32, "{made}");
    assert_eq!(Person::arrive(&first.url, &made, "Owner").registered()["role"], "owner");
    first.stop();
    assert_eq!(token(&start()), made);
}

#[test]
fn without_auth_everyone_here_is_the_owner() {
    let directory = tempfile::tempdir().unwrap();
    let flags = ["--model", "harper", "--no-auth"].map(str::to_owned);
    let server = Server::start(&directory.path().join("data"), &flags, &[]);
    assert_eq!(Person::arrive(&server.url, "", "Anybody").registered()["role"], "owner");
    assert_eq!(server.link, format!("{}/", server.url));
}

#[test]
fn without_auth_only_this_machine_is_let_in() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let directory = tempfile::tempdir().unwrap();
        let flags = ["--model", "harper", "--no-auth", "--listen", address].map(str::to_owned);
        let output = crate::support::copydesk_command()
            .arg("--data")
            .arg(directory.path().join("data"))
            .args(&flags)
            .output()
            .unwrap();
        assert!(!output.status.success(), "{address}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("--no-auth"), "{address}: {said}");
    }
}

#[test]
fn polling_clients_are_let_in_too() {
    let copydesk = TestServer::quiet();
    let options = json!({"auth": {"token": OWNER}, "transports": ["polling"]});
    let owner = Person::connect(copydesk.url(), &options);
    owner.creates("Hello.");
    owner.types(0, "x");
    assert_eq!(owner.text(), "xHello.");
}

#[test]
fn a_polling_client_that_upgrades_loses_nothing() {
    let copydesk = TestServer::quiet();
    let options = json!({"auth": {"token": OWNER}, "transports": ["polling", "websocket"]});
    let owner = Person::connect(copydesk.url(), &options);
    owner.creates("");
    for at in 0..50 {
        owner.types(at, "x");
    }
    assert_eq!(owner.text(), "x".repeat(50));
}

// Host and Origin: a page from anywhere can make a browser talk to this machine.

/// Every kind of route there is.
const ROUTES: [&str; 9] = [
    "GET /",
    "GET /healthz",
    "GET /readyz",
    "GET /api/v1/openapi.json",
    "POST /v1/messages",
    "POST /mcp",
    "GET /mcp",
    "GET /socket.io/?EIO=4&transport=polling",
    "POST /socket.io/?EIO=4&transport=polling&sid=x",
];

#[test]
fn a_foreign_host_is_refused_on_every_route() {
    let copydesk = TestServer::quiet();
    for route in ROUTES {
        for host in ["evil.example", "127.0.0.1.evil.example", "evil.example:80"] {
            let response = ask(copydesk.address(), route, &[("Host", host)]);
            assert_eq!(response.status, 403, "{route} at {host}");
        }
    }
}

#[test]
fn a_foreign_origin_is_refused_on_every_route() {
    let copydesk = TestServer::quiet();
    for route in ROUTES {
        for origin in
            ["http://evil.example", "null", "http://127.0.0.1:1", "file://", "http://localhost"]
        {
            let headers = [("Host", copydesk.address()), ("Origin", origin)];
            let response = ask(copydesk.address(), route, &headers);
            assert_eq!(response.status, 403, "{route} from {origin}");
        }
    }
}

/// The handshake of a websocket, with the server's own host and this origin.
fn upgrade(copydesk: &TestServer, origin: Option<&str>, host: &str) -> u16 {
    let mut headers = vec![
        ("Host", host),
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    headers.extend(origin.map(|origin| ("Origin", origin)));
    ask(copydesk.address(), "GET /socket.io/?EIO=4&transport=websocket", &headers).status
}

#[test]
fn a_websocket_is_opened_only_from_our_own_page() {
    let copydesk = TestServer::quiet();
    let own = format!("http://{}", copydesk.address());
    assert_eq!(upgrade(&copydesk, None, copydesk.address()), 101, "a program has no origin");
    assert_eq!(upgrade(&copydesk, Some(&own), copydesk.address()), 101);
    assert_eq!(upgrade(&copydesk, Some("http://evil.example"), copydesk.address()), 403);
    assert_eq!(upgrade(&copydesk, Some("null"), copydesk.address()), 403);
    assert_eq!(upgrade(&copydesk, None, "evil.example"), 403);
}

#[test]
fn a_browser_client_from_elsewhere_does_not_get_in() {
    let copydesk = TestServer::quiet();
    for transport in ["polling", "websocket"] {
        let options = json!({
            "auth": {"token": OWNER}, "transports": [transport], "extraHeaders": {"Origin": "http://evil.example"}});
        let (code, _) = Person::turned_away(copydesk.url(), &options);
        assert_eq!(code, "", "refused before there is a socket ({transport})");
    }
}

#[test]
fn a_host_that_was_allowed_is_let_in() {
    let copydesk = TestServer::plan().flags(&["--allowed-host", "desk.example"]).start();
    let allowed = ask(copydesk.address(), "GET /healthz", &[("Host", "desk.example")]);
    assert_eq!(allowed.status, 200);
    assert_eq!(ask(copydesk.address(), "GET /healthz", &[("Host", "other.example")]).status, 403);
}

#[test]
fn health_and_readiness_are_told() {
    let copydesk = TestServer::quiet();
    assert_eq!(get(copydesk.address(), "/healthz").status, 200);
    assert_eq!(get(copydesk.address(), "/readyz").status, 200);
}

#[tokio::test]
async fn a_server_that_cannot_store_anything_is_not_ready() {
    let copydesk = TestServer::plan().on_sqlite("it looks into the file of the database").start();
    assert_eq!(get(copydesk.address(), "/readyz").status, 200);
    // Another program keeps the database to itself: nothing can be written, as on a full disk, and
    // everything be read.
    let options =
        sqlx_sqlite::SqliteConnectOptions::new().filename(copydesk.data().join("copydesk.sqlite"));
    let pool = sqlx_sqlite::SqlitePool::connect_with(options).await.unwrap();
    let mut held = pool.acquire().await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *held).await.unwrap();
    // What was found a moment ago still holds.
    let answer = found(|| {
        let answer = get(copydesk.address(), "/readyz");
        if answer.status == 200 { Err("it is ready") } else { Ok(answer) }
    });
    assert_eq!(answer.status, 503);
    assert!(answer.body.contains("store_unavailable"), "{}", answer.body);
    assert_eq!(get(copydesk.address(), "/healthz").status, 200);
    sqlx::query("ROLLBACK").execute(&mut *held).await.unwrap();
    eventually("a server that is ready", || get(copydesk.address(), "/readyz").status == 200);
}

#[test]
fn the_name_of_the_token_leads_and_what_someone_calls_themselves_stands_beside_it() {
    let copydesk = TestServer::scripted(Script::rewriting("The end.\n"));
    let mallory = copydesk.token("Mallory", Role::Editor, &[]);
    let (mallory, ben) = (Person::arrive(copydesk.url(), &mallory, "Ana"), copydesk.editor("Ben"));
    let shown = "Mallory (as Ana)";
    assert_eq!(mallory.user()["name"], shown);
    let peers = ben.opens(&mallory.creates("Teh end.\n"))["peers"].clone();
    let peers: Vec<_> = peers.as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert!(peers.contains(&json!(shown)) && !peers.contains(&json!("Ana")), "{peers:?}");
    ben.asks("Fix it");
    let request = ben.sees_request();
    mallory.sees_request();
    mallory.accepts_all(&request);
    assert_eq!(ben.sees_resolved(&request)["by"]["name"], shown);
    let named = json!({"documentId": ben.document()});
    let history = ben.emit("document:history", &named).ok()["versions"].clone();
    assert_eq!(history[0]["author"]["name"], "Mallory");
}

#[test]
fn the_editor_is_served_and_programs_addresses_never_answer_with_it() {
    let copydesk = TestServer::quiet();
    let page = get(copydesk.address(), "/");
    assert_eq!(page.status, 200);
    assert!(page.head.contains("content-type: text/html"), "{}", page.head);
    assert!(page.head.contains("content-security-policy"), "{}", page.head);
    for (path, kind) in
        [("/api/v1/nothing", "application/problem+json"), ("/v1/nothing", "application/json")]
    {
        let answer = get(copydesk.address(), path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.head.contains(&format!("content-type: {kind}")), "{path}: {}", answer.head);
        let said: Value = serde_json::from_str(answer.body.trim())
            .unwrap_or_else(|error| panic!("{error}: {}", answer.body));
        let problem = said["status"] == 404 && said["code"] == "not_found";
        assert!(problem || said["error"]["type"] == "not_found_error", "{path}: {said}");
    }
}

#[test]
fn a_token_is_never_logged() {
    let copydesk = TestServer::plan().variable("COPYDESK_LOG", "debug").start();
    let ana = copydesk.editor("Ana");
    ana.creates("A secret sentence.");
    ana.is_answered("A secret prompt", &json!({"documentId": ana.document()}));
    let log = copydesk.complaints();
    for secret in [OWNER, &ana.token, "A secret sentence", "A secret prompt"] {
        assert!(!log.contains(secret), "{secret:?} is in the log:\n{log}");
    }
}
