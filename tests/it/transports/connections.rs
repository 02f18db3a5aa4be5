//! Connections that do not read, do not finish what they send, or do not say who they are: what
//! they hold in memory is bounded, and those that must end, end. Memory is that of the server's
//! process, seen from outside.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::http::{get, send};
use crate::support::raw::RawClient;
use crate::support::{OWNER, Person, Role, TestServer, eventually, found_within};

const MEGABYTE: usize = 1024 * 1024;
/// Time for what happens within a second on an idle machine. Without it: 45 seconds at least,
/// mostly for ever.
const SOON: Duration = Duration::from_secs(20);

/// A document of this many megabytes.
fn large_document(owner: &Person, megabytes: usize) -> String {
    owner.creates(&"A line of thirty-two characters.".repeat(megabytes * MEGABYTE / 32))
}

/// Returns how much more memory the server has than at `before`, in megabytes.
fn grown(copydesk: &TestServer, before: usize) -> usize {
    copydesk.memory().saturating_sub(before) / MEGABYTE
}

/// Returns the people in a document.
fn peers(person: &Person, document: &str) -> String {
    let resync = json!({"documentId": document, "version": 0});
    person.emit("document:resync", &resync).ok()["peers"].to_string()
}

/// Waits until no one of that name is in a document.
#[track_caller]
fn comes_to_be_without(person: &Person, document: &str, name: &str) {
    found_within(SOON, || {
        let peers = peers(person, document);
        if peers.contains(name) { Err(peers) } else { Ok(()) }
    });
}

/// Waits until the server has so many sockets open, or fewer.
#[track_caller]
fn comes_to_have_sockets(copydesk: &TestServer, count: usize) {
    found_within(SOON, || {
        let open = copydesk.open_sockets();
        if open <= count { Ok(()) } else { Err(format!("{open} are open, not {count}")) }
    });
}

/// Puts text at the end of a document that reads `Hello.` and takes it away again, until so many
/// megabytes have been sent to everyone in it.
fn types_a_lot(owner: &Person, megabytes: usize) {
    let piece = "A line of thirty-two characters.".repeat(MEGABYTE / 4 / 32);
    let mut version = owner.version();
    for _ in 0..megabytes * 4 {
        let changes = [json!([6, [0, piece]]), json!([6, [piece.len()]])];
        version = owner.pushes(version, &changes).ok()["version"].as_u64().expect("a version");
    }
}

#[test]
fn frames_of_someone_unknown_are_never_long() {
    let copydesk = TestServer::quiet();
    let before = copydesk.memory();
    let piece = vec![b'x'; MEGABYTE];
    let mut clients: Vec<_> = (0..30).map(|_| RawClient::unknown(copydesk.address())).collect();
    for client in &mut clients {
        // A message of 31 MB, of which 20 come.
        client.begins_message(31 * MEGABYTE);
        for _ in 0..20 {
            if !client.sends_bytes(&piece) {
                break;
            }
        }
    }
    let held = grown(&copydesk, before);
    assert!(held < 100, "{held} MB are held for no one");
    assert!(clients.iter_mut().all(|client| client.ends_within(SOON)), "they may stay");
    copydesk.editor("Ana").is_fine();
}

#[test]
fn frames_that_are_no_message_are_never_long() {
    let copydesk = TestServer::quiet();
    let before = copydesk.memory();
    let piece = vec![b'x'; MEGABYTE];
    let mut clients: Vec<_> = (0..40).map(|_| RawClient::unknown(copydesk.address())).collect();
    for (client, kind) in clients.iter_mut().zip([0x88_u8, 0x89, 0x8a, 0x8b].into_iter().cycle()) {
        // A ping, for example, of 30 MB, of which 20 come.
        let header = [&[kind, 0xff], 30_000_000_u64.to_be_bytes().as_slice(), &[0; 4]].concat();
        client.sends_bytes(&header);
        for _ in 0..20 {
            if !client.sends_bytes(&piece) {
                break;
            }
        }
    }
    let held = grown(&copydesk, before);
    assert!(held < 100, "{held} MB are held for no one");
    assert!(clients.iter_mut().all(|client| client.ends_within(SOON)), "they may stay");
    copydesk.editor("Ana").is_fine();
}

#[test]
fn a_body_of_long_polling_is_short_before_anybody_is_known() {
    let copydesk = TestServer::quiet();
    let path = begins_polling(copydesk.address());
    let mut client = RawClient::silent(copydesk.address());
    let address = copydesk.address();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\n\
         Content-Length: 30000000\r\n\r\n4"
    );
    let before = copydesk.memory();
    client.sends_bytes(head.as_bytes());
    let piece = vec![b'x'; MEGABYTE];
    let taken = (0..28).take_while(|_| client.sends_bytes(&piece)).count();
    assert!(client.ends_within(SOON) || taken < 28, "all of it was taken");
    assert!(grown(&copydesk, before) < 20, "{} MB", grown(&copydesk, before));
}

#[test]
fn a_person_who_does_not_say_who_they_are_is_not_waited_for() {
    let copydesk = TestServer::plan().flags(&["--handshake-timeout", "3"]).start();
    let mut silent = RawClient::silent(copydesk.address());
    let mut slow = RawClient::silent(copydesk.address());
    slow.sends_bytes(b"GET / HTTP/1.1\r\nHo");
    let mut unknown = RawClient::unknown(copydesk.address());
    for (name, client) in
        [("silent", &mut silent), ("slow", &mut slow), ("without a token", &mut unknown)]
    {
        assert!(client.ends_within(SOON), "a connection that is {name} may stay");
    }
    // A person who is known may be quiet.
    copydesk.editor("Ana").is_fine();
}

#[test]
fn connections_of_no_one_keep_no_one_out() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let mut first = RawClient::silent(copydesk.address());
    let mut others = Vec::new();
    // As many as there may be, or as this process may open.
    for _ in 0..1_100 {
        let Ok(stream) = std::net::TcpStream::connect(copydesk.address()) else { break };
        others.push(stream);
    }
    drop(copydesk.editor("Ben"));
    ana.is_fine();
    if others.len() > 1_050 {
        assert!(first.ends_within(Duration::from_secs(8)), "the oldest made no room");
    }
}

#[test]
fn handshakes_of_long_polling_keep_no_one_out() {
    let copydesk = TestServer::quiet();
    let paths: Vec<_> = (0..1_100).map(|_| begins_polling(copydesk.address())).collect();
    // The oldest has made room, the newest may wait for something to come.
    assert_eq!(get(copydesk.address(), &paths[0]).status, 400);
    posts(copydesk.address(), &paths[1_099], &format!("40{}", json!({"token": OWNER})));
}

/// The path of a new session of long polling.
fn begins_polling(address: &str) -> String {
    let path = "/socket.io/?EIO=4&transport=polling";
    let opened = get(address, path);
    assert_eq!(opened.status, 200, "{}", opened.body);
    let opened: Value = serde_json::from_str(&opened.body[1..]).expect("JSON after the type");
    format!("{path}&sid={}", opened["sid"].as_str().expect("a name"))
}

fn posts(address: &str, path: &str, packet: &str) {
    let headers = [("Host", address), ("Content-Type", "text/plain;charset=UTF-8")];
    let answer = send(address, &format!("POST {path}"), &headers, packet);
    assert_eq!(answer.status, 200, "{packet}: {}", answer.body);
}

#[test]
fn a_polling_client_whose_switch_to_a_websocket_is_refused_goes_on_polling() {
    let copydesk = TestServer::quiet();
    let (address, token) = (copydesk.address(), copydesk.token("Eve", Role::Viewer, &[]));
    let path = begins_polling(address);
    posts(address, &path, &format!("40{}", json!({"token": token})));
    polls_until(address, &path, "sessionRegistered");
    // As through a proxy that takes the headers of the switch away.
    let switch = path.replace("=polling", "=websocket");
    let refused = get(address, &switch);
    assert_eq!(refused.status, 400, "{}", refused.body);
    posts(address, &path, "421[\"settings:get\",{}]");
    polls_until(address, &path, "431[");
}

#[test]
fn a_client_has_one_websocket_at_a_time() {
    let copydesk = TestServer::quiet();
    let (address, token) = (copydesk.address(), copydesk.token("Eve", Role::Viewer, &[]));
    let path = begins_polling(address);
    posts(address, &path, &format!("40{}", json!({"token": token})));
    polls_until(address, &path, "sessionRegistered");
    let switch = path.replace("=polling", "=websocket");
    let (mut first, agreed) = RawClient::asks_to_switch(address, &switch);
    assert!(agreed.starts_with("HTTP/1.1 101"), "{agreed}");
    let before = copydesk.open_sockets();
    let mut more: Vec<_> = (0..40).map(|_| RawClient::asks_to_switch(address, &switch)).collect();
    assert!(
        more.iter().all(|(_, refused)| refused.starts_with("HTTP/1.1 400")),
        "a second is agreed to"
    );
    assert!(more.iter_mut().all(|(client, _)| client.ends_within(SOON)));
    // A client sees the end of its connection just before the server gives the socket back.
    comes_to_have_sockets(&copydesk, before);
    // The first goes on, and is not ended by one that comes later.
    first.sends("2probe");
    assert!(first.reads_until(|text| text == "3probe").is_some());
    first.sends("5");
    first.emits(1, "settings:get", &json!({}));
    assert!(first.is_answered(1).is_some());
    let (_, refused) = RawClient::asks_to_switch(address, &switch);
    assert!(refused.starts_with("HTTP/1.1 400"), "{refused}");
    first.emits(2, "settings:get", &json!({}));
    assert!(first.is_answered(2).is_some(), "its client is ended by a second WebSocket");
}

#[test]
fn clients_that_leave_during_their_handshake_are_gone() {
    let copydesk = TestServer::plan().flags(&["--handshake-timeout", "3"]).start();
    let (address, token) = (copydesk.address(), copydesk.token("Eve", Role::Viewer, &[]));
    // More than one person may have; each closes in the body that shows the token.
    for _ in 0..1_040 {
        let path = begins_polling(address);
        let body = format!("40{}\u{1e}1", json!({"token": token}));
        let headers = [("Host", address), ("Content-Type", "text/plain;charset=UTF-8")];
        send(address, &format!("POST {path}"), &headers, &body);
    }
    found_within(SOON, || {
        let mut client = RawClient::arrives(address, &token);
        client.emits(1, "settings:get", &json!({}));
        client.is_answered(1).ok_or("no one with this token comes in")
    });
}

fn polls_until(address: &str, path: &str, part: &str) {
    let until = Instant::now() + SOON;
    while !get(address, path).body.contains(part) {
        assert!(Instant::now() < until, "{part} does not come");
    }
}

#[test]
fn idle_connections_of_one_person_are_few_and_end_with_their_token() {
    let copydesk = TestServer::plan().on_sqlite("sockets to PostgreSQL would be counted").start();
    let owner = copydesk.owner();
    let issued = owner.emit("token:issue", &json!({"role": "viewer", "name": "Eve"})).ok();
    let token = issued["token"].as_str().expect("a secret");
    let head = format!(
        "GET /api/v1/documents HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
        copydesk.address()
    );
    let before = copydesk.open_sockets();
    let mut idle: Vec<_> = (0..300)
        .map(|_| {
            let mut client = RawClient::silent(copydesk.address());
            client.sends_bytes(head.as_bytes());
            let head = client.reads_head();
            assert!(head.contains(" 200 "), "{head}");
            client
        })
        .collect();
    assert!(idle[0].ends_within(SOON), "the oldest makes no room");
    // Each that comes closes the oldest one; the last ones may be closing still.
    comes_to_have_sockets(&copydesk, before + 256);
    assert!(!idle[299].ends_within(Duration::from_millis(1)), "the newest is closed");
    owner.emit("token:revoke", &json!({"id": issued["id"]})).ok();
    assert!(idle.iter_mut().all(|it| it.ends_within(SOON)), "they outlive the token");
}

#[test]
fn viewers_who_never_stop_sending_hold_up_no_one() {
    let copydesk = TestServer::quiet();
    let token = copydesk.token("Eve", Role::Viewer, &[]);
    let ana = copydesk.editor("Ana");
    ana.creates("");
    let before = copydesk.memory();
    let many = [&[0x81, 0x87, 0, 0, 0, 0], b"42[\"a\"]".as_slice()].concat().repeat(10_000);
    let flooding: Vec<_> = (0..2)
        .map(|_| {
            let mut eve = RawClient::arrives(copydesk.address(), &token);
            let many = many.clone();
            std::thread::spawn(move || {
                let until = Instant::now() + Duration::from_mins(1);
                while Instant::now() < until && eve.sends_bytes(&many) {}
                eve.ends_within(Duration::from_secs(1))
            })
        })
        .collect();
    for at in 0..10 {
        let began = Instant::now();
        ana.types(at, "x");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(5), "a keystroke took {took:?}");
    }
    let held = grown(&copydesk, before);
    assert!(held < 150, "{held} MB are held for them");
    for thread in flooding {
        assert!(thread.join().expect("it ends in good order"), "it may go on");
    }
    ana.is_fine();
}

#[test]
fn a_long_text_reaches_everybody_who_reads_with_one_token() {
    let copydesk = TestServer::quiet();
    let (address, owner) = (copydesk.address(), copydesk.owner());
    let document = owner.creates("Hello.");
    let token = copydesk.token("Class", Role::Viewer, &[]);
    let readers: Vec<_> = (0..40)
        .map(|_| {
            let mut reader = RawClient::arrives(address, &token);
            reader.emits(1, "document:open", &json!({"documentId": document}));
            reader.is_answered(1).expect("an answer");
            std::thread::spawn(move || {
                reader.reads_until(|text| text.starts_with("42[\"document:updates\"")).is_some()
            })
        })
        .collect();
    owner.types(6, &"A line of thirty-two characters.".repeat(MEGABYTE / 32));
    let reached: Vec<_> =
        readers.into_iter().map(|it| it.join().expect("it reads to the end")).collect();
    assert!(reached.iter().all(|it| *it), "{reached:?}");
}

#[test]
fn a_handshake_with_an_endless_name_is_refused_with_a_reason() {
    let copydesk = TestServer::quiet();
    let mut client = RawClient::unknown(copydesk.address());
    client.sends(&format!("40{}", json!({"token": OWNER, "name": "x".repeat(100_000)})));
    let refused = client.reads_until(|text| text.starts_with("44"));
    assert!(refused.as_deref().is_some_and(|it| it.contains("invalid_payload")), "{refused:?}");
}

#[test]
fn a_viewer_who_does_not_read_is_refused_what_would_have_to_wait() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let document = large_document(&owner, 4);
    let token = copydesk.token("Eve", Role::Viewer, &[]);
    let mut eves: Vec<_> = (0..3).map(|_| RawClient::arrives(copydesk.address(), &token)).collect();
    let before = copydesk.memory();
    for eve in &mut eves {
        for ack in 0..100 {
            eve.emits(ack, "document:open", &json!({"documentId": document}));
        }
    }
    eventually("all is read", || copydesk.has_read_all());
    // Handled when later ones are answered: the owner's, behind them in the same room.
    owner.emit("document:open", &json!({"documentId": document})).ok();
    let held = grown(&copydesk, before);
    assert!(held < 200, "{held} MB wait for someone who does not read");
    // A client that then reads gets everything there is, and an answer to the rest.
    let answers: Vec<_> = (0..100).filter_map(|ack| eves[0].is_answered(ack)).collect();
    let refused = answers.iter().filter(|it| it["error"]["code"] == "rate_limited").count();
    assert!(answers.is_empty() || refused > 50, "{} answers, {refused} refused", answers.len());
}

#[test]
fn answers_over_http_that_no_one_reads_are_bounded() {
    let copydesk = TestServer::quiet();
    let document = large_document(&copydesk.owner(), 4);
    let token = copydesk.token("Eve", Role::Viewer, &[]);
    let head = format!(
        "GET /api/v1/documents/{document} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
        copydesk.address()
    );
    let before = copydesk.memory();
    let mut readers: Vec<_> = (0..60).map(|_| RawClient::silent(copydesk.address())).collect();
    for reader in &mut readers {
        reader.sends_bytes(head.as_bytes());
    }
    let heads: Vec<_> = readers.iter_mut().map(RawClient::reads_head).collect();
    let growth = grown(&copydesk, before);
    assert!(growth < 120, "{growth} MB wait for someone who does not read");
    let (full, other): (Vec<_>, Vec<_>) = heads.iter().partition(|it| it.contains(" 429 "));
    assert!(!full.is_empty() && other.iter().all(|it| it.contains(" 200 ")), "{heads:?}");
}

#[test]
fn memory_of_long_answers_is_given_back() {
    let copydesk = TestServer::quiet();
    let document = large_document(&copydesk.owner(), 8);
    let before = copydesk.memory();
    let mut readers: Vec<_> = (0..16)
        .map(|number| {
            let token = copydesk.token(&format!("Reader {number}"), Role::Viewer, &[]);
            let mut reader = RawClient::arrives(copydesk.address(), &token);
            (0..4).for_each(|id| {
                reader.emits(id, "document:open", &json!({"documentId": document}));
            });
            reader
        })
        .collect();
    readers[15].is_answered(1).expect("an answer");
    drop(readers);
    found_within(SOON, || {
        let growth = grown(&copydesk, before);
        if growth < 100 { Ok(()) } else { Err(format!("{growth} MB stay")) }
    });
}

#[test]
fn someone_who_stops_reading_is_cut_off_and_gone_at_once() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let document = owner.creates("Hello.");
    let token = copydesk.token("Ghost", Role::Viewer, &[]);
    let mut ghosts: Vec<_> =
        (0..2).map(|_| RawClient::arrives(copydesk.address(), &token)).collect();
    for ghost in &mut ghosts {
        ghost.emits(1, "document:open", &json!({"documentId": document}));
        ghost.is_answered(1).expect("an answer");
    }
    let (ana, before) = (copydesk.editor("Ana"), copydesk.memory());
    assert!(peers(&owner, &document).contains("Ghost"));
    types_a_lot(&owner, 60);
    comes_to_be_without(&owner, &document, "Ghost");
    let held = grown(&copydesk, before);
    // The log has all of it too.
    assert!(held < 300, "{held} MB");
    assert!(ghosts.iter_mut().all(|ghost| ghost.ends_within(SOON)), "their connections stay");
    ana.is_fine();
}

#[test]
fn someone_who_does_not_read_is_gone_at_once_when_their_token_is_revoked() {
    let copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let document = large_document(&owner, 4);
    let issued = owner.emit("token:issue", &json!({"role": "viewer", "name": "Ghost"})).ok();
    let token = issued["token"].as_str().expect("a secret").to_owned();
    let before = copydesk.open_sockets();
    let mut ghost = RawClient::arrives(copydesk.address(), &token);
    // More than the buffers of the system take, so that the server waits to write.
    for ack in 0..8 {
        ghost.emits(ack, "document:open", &json!({"documentId": document}));
    }
    let until = Instant::now() + SOON;
    while !peers(&owner, &document).contains("Ghost") {
        assert!(Instant::now() < until, "it does not come in");
    }
    owner.emit("token:revoke", &json!({"id": issued["id"]})).ok();
    comes_to_be_without(&owner, &document, "Ghost");
    comes_to_have_sockets(&copydesk, before);
    assert!(ghost.ends_within(SOON));
}

#[test]
fn the_server_stops_in_time_also_if_a_client_does_not_read() {
    let mut copydesk = TestServer::quiet();
    let owner = copydesk.owner();
    let document = large_document(&owner, 4);
    let token = copydesk.token("Ghost", Role::Viewer, &[]);
    let mut ghosts: Vec<_> =
        (0..3).map(|_| RawClient::arrives(copydesk.address(), &token)).collect();
    for (ack, ghost) in (0..).zip(&mut ghosts) {
        for more in 0..3 {
            ghost.emits(ack * 3 + more, "document:open", &json!({"documentId": document}));
        }
    }
    eventually("all is read", || copydesk.has_read_all());
    // Its answer comes after theirs, of which the server holds what they do not read.
    owner.emit("document:open", &json!({"documentId": document})).ok();
    assert!(copydesk.stops().success());
    let said = copydesk.complaints();
    assert!(!said.contains("too long"), "{said}");
}

#[test]
fn what_someone_who_only_reads_sends_is_short() {
    let copydesk = TestServer::quiet();
    let eve = copydesk.person("Eve", Role::Viewer);
    let padded = |length: usize| json!([{"x": "y".repeat(length)}]);
    let sent = eve.send_args("document:list", &padded(100_000));
    eve.ack(sent).refused_with("invalid_payload");
    eve.is_fine();
    // An editor may say something long, but not where nothing long is asked for.
    let ana = copydesk.editor("Ana");
    let sent = ana.send_args("document:list", &padded(3_000_000));
    ana.ack(sent).refused_with("invalid_payload");
    ana.is_fine();
    eve.send_args("document:list", &padded(2_000_000));
    eve.is_cut_off();
    ana.is_fine();
}

#[test]
fn what_waits_to_be_worked_on_is_bounded_in_bytes() {
    let copydesk = TestServer::quiet();
    let token = copydesk.token("Ana", Role::Editor, &[]);
    let mut ana = RawClient::arrives(copydesk.address(), &token);
    let before = copydesk.memory();
    let long = json!({"title": "x", "text": "y".repeat(7_000_000)});
    let sent = (0..40).take_while(|ack| ana.emits(*ack, "document:create", &long)).count();
    assert_eq!(sent, 40, "the connection ended");
    let answers = ana.answers(40);
    assert_eq!(answers.len(), 40, "every event is answered");
    let refused = answers.iter().filter(|it| it["ok"] == false);
    let codes: Vec<_> = refused.map(|it| it["error"]["code"].clone()).collect();
    let held = grown(&copydesk, before);
    assert!(!codes.is_empty() && codes.iter().all(|it| it == "rate_limited"), "{codes:?}");
    assert!(held < 600, "{held} MB with {} refused", codes.len());
}

#[test]
fn a_second_handshake_on_one_connection_ends_it() {
    let copydesk = TestServer::quiet();
    let mut owner = RawClient::arrives(copydesk.address(), OWNER);
    owner.sends(&format!("40/{},", "x".repeat(10_000)));
    assert!(owner.ends_within(SOON));
    copydesk.owner().is_fine();
}

#[test]
fn frames_sent_before_the_switch_is_agreed_to_are_not_overlooked() {
    let copydesk = TestServer::quiet();
    let address = copydesk.address();
    let head = format!(
        "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: {address}\r\n\
         Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    // A frame of 30 MB in the same packet as the head, which a message is not to hide behind.
    let mut bytes = head.into_bytes();
    bytes.extend([0x81, 0xff]);
    bytes.extend(30_000_000_u64.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend([b'x'; 1000]);
    let mut client = RawClient::silent(address);
    client.sends_bytes(&bytes);
    assert!(client.ends_within(SOON));
    // Behind a request that is being answered too.
    let mut client = RawClient::silent(address);
    let first = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\n\r\n");
    client.sends_bytes(&[first.as_bytes(), &bytes].concat());
    assert!(client.ends_within(SOON));
}
