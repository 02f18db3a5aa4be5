//! Stories about a server with a certificate: everything goes over TLS, and nothing else does.
//!
//! `fixtures/tls` has certificates of one authority, whose key was thrown away: `first` and
//! `second` are for 127.0.0.1 until 2120, `expired` has ended, `future` has not begun, and
//! `locked.key` has a password.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::support::{
    OWNER, Person, Server, StoryDatabase, copydesk_command, eventually, output_of,
};

/// Longest wait for what a server does by itself, on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(1);

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tls").join(name)
}

fn authority() -> String {
    std::fs::read_to_string(fixture("ca.pem")).unwrap()
}

/// The certificate of a fixture, as it is sent.
fn certificate(name: &str) -> Vec<u8> {
    CertificateDer::from_pem_file(fixture(&format!("{name}.pem"))).unwrap().to_vec()
}

/// Files of a certificate, which can be replaced.
struct Files(TempDir);

impl Files {
    fn of(name: &str) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.become_those_of(name);
        files
    }

    /// As programs that renew certificates do: by a rename.
    fn replace(&self, file: &str, by: &str) {
        let new = self.0.path().join("new");
        std::fs::copy(fixture(by), &new).unwrap();
        std::fs::rename(new, self.0.path().join(file)).unwrap();
    }

    fn become_those_of(&self, name: &str) {
        self.replace("tls.key", &format!("{name}.key"));
        self.replace("tls.pem", &format!("{name}.pem"));
    }

    fn path(&self, file: &str) -> String {
        self.0.path().join(file).display().to_string()
    }

    fn flags(&self) -> Vec<String> {
        let (certificate, key) = (self.path("tls.pem"), self.path("tls.key"));
        let flags = ["--model", "harper", "--token", OWNER, "--tls-certificate", &certificate];
        [&flags[..], &["--tls-key", &key]].concat().into_iter().map(str::to_owned).collect()
    }

    fn server(&self) -> Server {
        Server::start(&self.0.path().join("data"), &self.flags(), &[])
    }
}

fn host(server: &Server) -> &str {
    server.url.strip_prefix("https://").expect("its address begins so")
}

/// The owner, over socket.io with TLS.
fn arrives(server: &Server, transports: &[&str]) -> Person {
    let auth = json!({"token": OWNER, "name": "Owner", "protocol": 1});
    let options = json!({"auth": auth, "transports": transports, "ca": authority()});
    Person::connect(&server.url, &options)
}

/// A client that knows the authority of the fixtures.
struct TlsClient(StreamOwned<ClientConnection, TcpStream>);

impl TlsClient {
    fn connects(server: &Server, protocols: &[&str]) -> std::io::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(fixture("ca.pem")).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions();
        let mut config = config.unwrap().with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut socket = TcpStream::connect(host(server))?;
        socket.set_read_timeout(Some(TIMEOUT))?;
        while connection.is_handshaking() {
            connection.complete_io(&mut socket)?;
        }
        Ok(Self(StreamOwned::new(connection, socket)))
    }

    fn certificate(&self) -> Vec<u8> {
        self.0.conn.peer_certificates().unwrap()[0].to_vec()
    }

    /// Sends a request, and returns the answer.
    fn asks(mut self, request: &str, headers: &[(&str, &str)]) -> String {
        let mut head = format!("{request} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            head.extend([*name, ": ", *value, "\r\n"]);
        }
        head.push_str("\r\n");
        self.0.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        self.0.read_to_string(&mut answer).expect("it is closed in order");
        answer
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or(answer)
}

fn hang_up(server: &Server) {
    let id = server.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
}

fn serves(server: &Server) -> Vec<u8> {
    TlsClient::connects(server, &[]).unwrap().certificate()
}

#[test]
fn people_write_over_tls_by_websocket_and_by_polling() {
    let files = Files::of("first");
    let server = files.server();
    assert!(server.link.starts_with(&format!("{}/#token=", server.url)), "{}", server.link);
    let (ana, ben) = (arrives(&server, &["websocket"]), arrives(&server, &["polling"]));
    let document = ana.creates("Dear reader,\n");
    ben.opens(&document);
    // Longer than what one record of TLS has, and what is written at once.
    let long = "word ".repeat(60_000);
    ana.types(0, &long);
    ben.comes_to_read(&format!("{long}Dear reader,\n"));
    for at in 0..50 {
        ben.types(at, "b");
    }
    ana.comes_to_version(51);
    assert_eq!(ana.text(), format!("{}{long}Dear reader,\n", "b".repeat(50)));
    // Polling first and then a WebSocket, as the library does by itself.
    let upgraded = arrives(&server, &["polling", "websocket"]);
    upgraded.opens(&document);
    assert_eq!(upgraded.text(), ana.text());
}

#[test]
fn the_editor_rest_and_mcp_are_served_over_tls_as_http_1() {
    let files = Files::of("first");
    let server = files.server();
    let host = host(&server);
    let bearer = format!("Bearer {OWNER}");
    let client = || TlsClient::connects(&server, &["h2", "http/1.1"]).unwrap();
    assert_eq!(client().0.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    assert!(TlsClient::connects(&server, &["h2"]).is_err(), "it does not speak HTTP/2");
    let page = client().asks("GET /", &[("Host", host)]);
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(page.contains("content-security-policy: default-src 'self'"), "{page}");
    let headers = [("Host", host), ("Authorization", &*bearer)];
    let documents = client().asks("GET /api/v1/documents", &headers);
    assert!(documents.starts_with("HTTP/1.1 200"), "{documents}");
    assert_eq!(status(&client().asks("GET /api/v1/documents", &headers[..1])), "401");
    let mcp = [headers[0], headers[1], ("Accept", "application/json, text/event-stream")];
    let mcp = client().asks("GET /mcp", &mcp);
    assert!(!matches!(status(&mcp), "401" | "403" | "404"), "{mcp}");
    // The command line takes the authorities of the system, or of this variable.
    let mut listed = copydesk_command();
    listed.args(["docs", "--url", &server.url, "--token", OWNER]);
    listed.env("SSL_CERT_FILE", fixture("ca.pem"));
    output_of(&listed.output().unwrap(), 0);
    listed.env("SSL_CERT_FILE", fixture("second.pem"));
    output_of(&listed.output().unwrap(), 1);
}

#[test]
fn a_client_without_tls_is_told_what_is_wrong() {
    let files = Files::of("first");
    let server = files.server();
    let mut stream = TcpStream::connect(host(&server)).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    // In one piece: the server answers the first and closes.
    let request = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host(&server));
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(body.contains("HTTPS only"), "{answer}");
    assert!(head.contains(&format!("content-length: {}", body.len())), "{answer}");
    assert_eq!(serves(&server), certificate("first"));
}

#[test]
fn hosts_and_origins_are_checked_as_without_tls_and_a_page_without_tls_is_another_origin() {
    let files = Files::of("first");
    let mut flags = files.flags();
    flags.extend(["--allowed-host", "desk.example"].map(str::to_owned));
    let server = Server::start(&files.0.path().join("data"), &flags, &[]);
    let port = host(&server).rsplit(':').next().unwrap();
    // A link by the name that the certificate has.
    assert!(server.link.starts_with(&format!("https://desk.example:{port}/#")), "{}", server.link);
    let asked = |host: &str, origin: Option<&str>| {
        let mut headers = vec![("Host", host)];
        headers.extend(origin.map(|origin| ("Origin", origin)));
        let answer = TlsClient::connects(&server, &[]).unwrap().asks("GET /", &headers);
        status(&answer).to_owned()
    };
    let own = host(&server).to_owned();
    let name = format!("desk.example:{port}");
    assert_eq!(asked(&own, None), "200");
    assert_eq!(asked(&own, Some(&format!("https://{own}"))), "200");
    assert_eq!(asked(&name, Some(&format!("https://{name}"))), "200");
    assert_eq!(asked("desk.example", Some("https://desk.example")), "200");
    assert_eq!(asked("evil.example", None), "403");
    assert_eq!(asked(&own, Some("https://evil.example")), "403");
    assert_eq!(asked(&own, Some(&format!("http://{own}"))), "403");
    let options = json!({
        "auth": {"token": OWNER}, "transports": ["websocket"], "ca": authority(),
        "extraHeaders": {"Origin": format!("http://{own}")},
    });
    Person::turned_away(&server.url, &options);
}

#[test]
fn a_certificate_is_replaced_while_people_stay() {
    let files = Files::of("first");
    let server = files.server();
    let ana = arrives(&server, &["websocket"]);
    ana.creates("");
    assert_eq!(serves(&server), certificate("first"));
    files.become_those_of("second");
    hang_up(&server);
    eventually("the second certificate", || serves(&server) == certificate("second"));
    ana.types(0, "a");

    // Half of a renewal: a key that is not that of the certificate.
    files.replace("tls.key", "first.key");
    hang_up(&server);
    let complaint = "cannot use the new TLS certificate; the old one stays";
    eventually("a complaint", || server.complaints().contains(complaint));
    assert!(server.complaints().contains("is not that of the certificate"));
    assert_eq!(serves(&server), certificate("second"));
    ana.types(0, "b");

    // The other half. No one says that the files have changed.
    files.replace("tls.pem", "first.pem");
    eventually("the first certificate", || serves(&server) == certificate("first"));
    std::fs::remove_file(files.path("tls.key")).unwrap();
    hang_up(&server);
    eventually("another complaint", || server.complaints().contains("cannot read"));
    assert_eq!(serves(&server), certificate("first"));
    ana.types(0, "c");
    ana.is_fine();
    assert_eq!(ana.text(), "cba");
}

#[test]
fn files_that_cannot_be_used_are_refused_at_the_start_and_say_why() {
    let home = tempfile::tempdir().unwrap();
    let garbage = home.path().join("garbage.pem");
    std::fs::write(&garbage, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        .unwrap();
    let (first, missing) = (fixture("first.pem"), home.path().join("missing.pem"));
    let [key, other, locked] = ["first.key", "second.key", "locked.key"].map(fixture);
    let [expired, future] = ["expired", "future"].map(|name| fixture(&format!("{name}.pem")));
    let [expired_key, future_key] = ["expired.key", "future.key"].map(fixture);
    for (certificate, key, complaint) in [
        (&missing, &key, "cannot read"),
        (&first, &missing, "cannot read"),
        (&key, &key, "has no certificate"),
        (&garbage, &key, "cannot be used"),
        (&first, &first, "has no key"),
        (&first, &locked, "without a password"),
        (&first, &other, "is not that of the certificate"),
        (&expired, &expired_key, "has expired"),
        (&future, &future_key, "is not valid yet"),
    ] {
        let [certificate, key] = [certificate, key].map(|path| path.display().to_string());
        let flags = ["--model", "harper", "--tls-certificate", &certificate, "--tls-key", &key];
        let message = Server::try_start(&home.path().join("data"), &flags.map(str::to_owned), &[]);
        let message = message.err().expect("it is refused");
        assert!(message.contains(complaint), "{certificate} {key}: {message}");
    }
    assert!(!home.path().join("data").exists(), "nothing was made");
    for flags in [["--tls-key", "x"], ["--tls-certificate", "x"], ["--node-ca", "x"]] {
        let message = Server::try_start(home.path(), &flags.map(str::to_owned), &[]);
        let message = message.err().expect("it is refused");
        assert!(
            message.contains("needed together") || message.contains("needs --cluster"),
            "{message}"
        );
    }
}

#[test]
fn handshakes_that_do_not_end_hold_no_one_up_and_are_ended() {
    let files = Files::of("first");
    let server = files.server();
    // One that says nothing, one that begins, and one that begins and goes away.
    let mut waiting: Vec<_> = [&b""[..], &[22, 3, 1, 2, 0, 1]]
        .into_iter()
        .cycle()
        .take(40)
        .map(|beginning| {
            let mut stream = TcpStream::connect(host(&server)).unwrap();
            stream.set_read_timeout(Some(TIMEOUT)).unwrap();
            stream.write_all(beginning).unwrap();
            stream
        })
        .collect();
    drop(waiting.pop());
    let ana = arrives(&server, &["websocket"]);
    ana.creates("x");
    ana.types(0, "y");
    for stream in &mut waiting {
        match stream.read(&mut [0; 1024]) {
            Ok(count) => assert_eq!(count, 0, "it says nothing"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
    }
    ana.is_fine();
}

#[test]
fn servers_of_one_database_reach_each_other_over_tls() {
    let Some(database) = StoryDatabase::on_postgres() else { return };
    let files = Files::of("first");
    let authority = fixture("ca.pem").display().to_string();
    let mut flags = files.flags();
    flags.extend(["--cluster", "--node-ca", &authority].map(str::to_owned));
    let first = Server::start(&files.0.path().join("a"), &flags, &[]);
    let second = Server::start(&files.0.path().join("b"), &flags, &[]);
    let (ana, ben) = (arrives(&first, &["websocket"]), arrives(&second, &["websocket"]));
    let document = ana.creates("Dear reader,\n");
    ben.opens(&document);
    ben.types(0, "x");
    ana.comes_to_read("xDear reader,\n");
    // And a request, which is passed on as a whole.
    let bearer = format!("Bearer {OWNER}");
    let headers = [("Host", host(&second)), ("Authorization", &*bearer)];
    let path = format!("GET /api/v1/documents/{document}");
    let answer = TlsClient::connects(&second, &[]).unwrap().asks(&path, &headers);
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    let body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"));
    assert!(body.to_string().contains("xDear reader,"), "{answer}");
    drop((first, second, database));
    let home = tempfile::tempdir().unwrap();
    let Some(_database) = StoryDatabase::on_postgres() else { return };
    let wrong = ["--cluster", "--node-ca", &fixture("first.key").display().to_string()];
    let message = Server::try_start(&home.path().join("c"), &wrong.map(str::to_owned), &[]);
    assert!(message.err().expect("it is refused").contains("cannot use --node-ca"));
}
