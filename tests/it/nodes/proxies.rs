//! Stories about people and programs who come to two servers through a proxy, with the
//! configuration that the documentation has, and about the server that is killed meanwhile.

use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::{Person, Proxy, ProxyProgram, Role, Server, StoryDatabase, TestServer};

/// Time within which people who come back find their documents.
const TAKEOVER: Duration = Duration::from_secs(15);
/// Updates, some of which are on their way when the server is killed.
const ALL: u64 = 250;

fn push(person: &Person, document: &str, version: u64) -> Value {
    let changes = if version == 0 { json!([[0, "x"]]) } else { json!([version, [0, "x"]]) };
    json!({"documentId": document, "version": version,
        "updates": [{"clientID": person.client(), "changes": changes}]})
}

fn polling(url: &str, token: &str, session: Option<String>) -> Person {
    let mut auth = json!({"token": token, "name": "Ben", "protocol": 1});
    if let Some(session) = session {
        auth["sessionId"] = session.into();
    }
    Person::connect(url, &json!({"auth": auth, "transports": ["polling"]}))
}

/// Two servers behind a proxy; `None` without PostgreSQL or the proxy's program.
fn two_behind(program: ProxyProgram) -> Option<(TestServer, Server, Proxy)> {
    let database = StoryDatabase::on_postgres()?;
    let plan = TestServer::plan().flags(&["--cluster", "--allowed-host", "desk.example.org"]);
    let first = plan.start_on(Some(database));
    let second = first.another_node();
    let proxy = Proxy::start(program, &[first.address(), second.address()])?;
    Some((first, second, proxy))
}

/// Ana comes back through the same proxy, finds the other server, and sends again what was not
/// acknowledged.
fn comes_back_and_sends_the_rest(ana: &Person, url: &str, acknowledged: u64) -> Person {
    let (began, document) = (Instant::now(), ana.document());
    let back = ana.comes_back_to(url);
    let opened = back.opens_again();
    let took = began.elapsed();
    assert!(took < TAKEOVER, "{took:?}");
    let missed = opened["updates"].as_array().unwrap().len() as u64;
    let version = opened["from"].as_u64().unwrap() + missed;
    assert!((acknowledged..=ALL).contains(&version), "{version}, {acknowledged} acknowledged");
    for version in acknowledged..ALL {
        back.ack(back.send("document:push", &push(ana, &document, version))).ok();
    }
    back.comes_to_version(ALL);
    assert_eq!(back.text(), "x".repeat(usize::try_from(ALL).unwrap()));
    back
}

/// Ana has a WebSocket, Ben polls, a program speaks MCP; all of them come through the proxy.
fn work_goes_on_behind(program: ProxyProgram) {
    let Some((mut first, mut second, proxy)) = two_behind(program) else { return };
    let servers = [first.address().to_owned(), second.address().to_owned()];
    let [hers, his] = ["Ana", "Ben"].map(|name| first.token(name, Role::Editor, &[]));
    let ana = Person::arrive(&proxy.url, &hers, "Ana");
    let ben = polling(&proxy.url, &his, None);
    let document = ana.creates("");
    ben.opens(&document);
    for at in 0..20 {
        ana.types(at, "x");
    }
    ben.comes_to_version(20);
    let program = Mcp::arrives_at(proxy.address(), &hers, "a program");
    assert!(program.reads(&document).contains(&"x".repeat(20)));
    // All come from one address, so one server has them. Cleo comes to the other.
    let is_first = program.is_known_at(&servers[0]);
    assert_ne!(is_first, program.is_known_at(&servers[1]));
    let other = format!("http://{}", servers[usize::from(is_first)]);
    let cleo = Person::arrive(&other, &first.token("Cleo", Role::Editor, &[]), "Cleo");
    cleo.opens(&document);
    let sent: Vec<_> = (20..ALL)
        .map(|version| ana.send("document:push", &push(&ana, &document, version)))
        .collect();
    ben.comes_to_version(30);
    let killed = Instant::now();
    if is_first {
        first.is_killed();
    } else {
        second.kill();
    }
    ana.is_cut_off();
    ben.is_cut_off();
    cleo.is_cut_off();
    let acknowledged = sent
        .iter()
        .filter_map(|sent| ana.may_be_answered(*sent))
        .filter(|it| it.body()["ok"] == true);
    let acknowledged = 20 + acknowledged.count() as u64;
    let back = comes_back_and_sends_the_rest(&ana, &proxy.url, acknowledged);
    eprintln!("served again after {:?}", killed.elapsed());
    let all = "x".repeat(usize::try_from(ALL).unwrap());
    let ben = polling(&proxy.url, &his, Some(ben.session()));
    ben.opens(&document);
    ben.comes_to_read(&all);
    ben.types(0, "y");
    back.comes_to_version(ALL + 1);
    // The program's session was on the server that is gone.
    assert!(!program.is_known_at(proxy.address()));
    let program = Mcp::arrives_at(proxy.address(), &hers, "a program");
    assert!(program.reads(&document).contains(&format!("y{all}")));
}

#[test]
fn nginx_as_documented_sends_people_to_a_server_that_lives() {
    work_goes_on_behind(ProxyProgram::Nginx);
}

#[test]
fn haproxy_as_documented_sends_people_to_a_server_that_lives() {
    work_goes_on_behind(ProxyProgram::Haproxy);
}

/// Holds an address where no server answers, nor refuses: as many wait there as may.
fn does_not_answer(address: &str) -> (TcpListener, Vec<TcpStream>) {
    let listener = TcpListener::bind(address).unwrap();
    let (address, soon) = (address.parse().unwrap(), Duration::from_millis(500));
    let waiting = std::iter::from_fn(|| TcpStream::connect_timeout(&address, soon).ok()).collect();
    (listener, waiting)
}

/// Nothing answers at the address of the server that is killed, as when its machine has no power.
fn people_come_back_from_a_machine_that_is_gone(program: ProxyProgram) {
    let Some((mut first, mut second, proxy)) = two_behind(program) else { return };
    let servers = [first.address().to_owned(), second.address().to_owned()];
    let hers = first.token("Ana", Role::Editor, &[]);
    let ana = Person::arrive(&proxy.url, &hers, "Ana");
    ana.creates("Here.");
    let program = Mcp::arrives_at(proxy.address(), &hers, "a program");
    let gone = usize::from(!program.is_known_at(&servers[0]));
    if gone == 0 {
        first.is_killed();
    } else {
        second.kill();
    }
    let _address = does_not_answer(&servers[gone]);
    let killed = Instant::now();
    ana.is_cut_off();
    let back = ana.comes_back_to(&proxy.url);
    back.opens_again();
    let took = killed.elapsed();
    assert!(took < TAKEOVER, "{took:?}");
    assert_eq!(back.text(), "Here.");
}

#[test]
fn nginx_as_documented_does_not_wait_for_a_machine_that_is_gone() {
    people_come_back_from_a_machine_that_is_gone(ProxyProgram::Nginx);
}

#[test]
fn haproxy_as_documented_does_not_wait_for_a_machine_that_is_gone() {
    people_come_back_from_a_machine_that_is_gone(ProxyProgram::Haproxy);
}
