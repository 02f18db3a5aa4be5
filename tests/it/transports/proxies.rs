//! Stories about people who come to one server through a proxy, with the configuration that the
//! documentation has. Several servers behind one are in `nodes/proxies.rs`.

use serde_json::{Value, json};

use crate::support::http::{get, send};
use crate::support::output_of;
use crate::support::{OWNER, Person, Proxy, ProxyProgram, Role, TestServer, copydesk_command};

/// Bytes of a body that nginx refuses with its default limit.
const LARGE: usize = 5 * 1024 * 1024;

/// Asks through the proxy with the owner's token and a forged address, as a client could send it.
fn asks(proxy: &Proxy, request: &str, body: &str) -> (u16, Value) {
    let bearer = format!("Bearer {OWNER}");
    let headers = [
        ("Host", proxy.address()),
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("X-Forwarded-For", "203.0.113.66"),
    ];
    let answer = send(proxy.address(), request, &headers, body);
    (answer.status, serde_json::from_str(&answer.body).unwrap_or_default())
}

/// The doctor finds nothing to mend, and names what arrives.
fn is_healthy_through(proxy: &Proxy, copydesk: &TestServer) {
    let output = copydesk_command()
        .args(["doctor", "--json", "--model", "harper", "--listen", "127.0.0.1:0"])
        .args(["--token", OWNER, "--url", &proxy.url, "--data"])
        .arg(copydesk.data())
        .output()
        .unwrap();
    let report: Value = serde_json::from_str(&output_of(&output, 0).0).unwrap();
    let findings = report["findings"].as_array().unwrap();
    for check in ["url", "clock", "websocket", "host", "headers"] {
        let mut found = findings.iter().filter(|it| it["check"] == check).peekable();
        assert!(found.peek().is_some(), "{check}: {report}");
        assert!(found.all(|it| it["state"] == "ok"), "{check}: {report}");
    }
}

/// People write over both transports of socket.io, a large text arrives, and so does the address
/// of the client.
fn one_server_works_behind(program: ProxyProgram) {
    let copydesk = TestServer::plan().model("harper").start();
    let Some(proxy) = Proxy::start(program, &[copydesk.address()]) else { return };
    let page = get(proxy.address(), "/");
    assert_eq!(page.status, 200);
    assert!(page.header("Content-Type").unwrap().starts_with("text/html"));

    let [hers, his] = ["Ana", "Ben"].map(|name| copydesk.token(name, Role::Editor, &[]));
    let ana = Person::arrive(&proxy.url, &hers, "Ana");
    let auth = json!({"token": his, "name": "Ben", "protocol": 1});
    let ben = Person::connect(&proxy.url, &json!({"auth": auth, "transports": ["polling"]}));
    let document = ana.creates("Here.");
    ben.opens(&document);
    ben.types(0, "Now. ");
    ana.comes_to_read("Now. Here.");

    let text = "A line of a long text.\n".repeat(LARGE / 23 + 1);
    let body = json!({"title": "Long", "text": text}).to_string();
    assert!(body.len() > LARGE);
    let (status, made) = asks(&proxy, "POST /api/v1/documents", &body);
    assert_eq!(status, 201, "{made}");
    let (_, read) =
        asks(&proxy, &format!("GET /api/v1/documents/{}", made["id"].as_str().unwrap()), "");
    assert_eq!(read["text"], text);

    let (_, arrived) = asks(&proxy, "GET /api/v1/server/proxy-headers", "");
    let expected =
        json!({"host": proxy.address(), "forwardedFor": "127.0.0.1", "forwardedProto": "http"});
    assert_eq!(arrived, expected, "and not the address that the client has made up");
    is_healthy_through(&proxy, &copydesk);
}

#[test]
fn nginx_as_documented_serves_one_server() {
    one_server_works_behind(ProxyProgram::Nginx);
}

#[test]
fn caddy_as_documented_serves_one_server() {
    one_server_works_behind(ProxyProgram::Caddy);
}
