//! Connections that do not read, do not finish what they send, or do not say who they are: what they hold in memory is
//! bounded, and those that must end, end. Memory is that of the server's process, seen from outside.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::http::get;
use crate::support::raw::RawClient;
use crate::support::{Desk, OWNER, Person, Role};

const MEGABYTE: usize = 1024 * 1024;
/// Time for what happens within a second on an idle machine. Without it: 45 seconds at least, mostly for ever.
const SOON: Duration = Duration::from_secs(20);

/// A document of this many megabytes.
fn large_document(owner: &Person, megabytes: usize) -> String {
    owner.creates(&"A line of thirty-two characters.".repeat(megabytes * MEGABYTE / 32))
}

/// How much more memory the server has than at `before`, in megabytes.
fn grown(desk: &Desk, before: usize) -> usize {
    desk.memory().saturating_sub(before) / MEGABYTE
}

/// Who is in a document.
fn peers(person: &Person, document: &str) -> String {
    let resync = json!({"documentId": document, "version": 0});
    person.emit("document:resync", &resync).ok()["peers"].to_string()
}

/// Waits until nobody of that name is in a document.
#[track_caller]
fn comes_to_be_without(person: &Person, document: &str, name: &str) {
    let until = Instant::now() + SOON;
    while peers(person, document).contains(name) {
        assert!(Instant::now() < until, "{name} is still there");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Puts text at the end of a document that reads `Hello.` and takes it away again, until so many megabytes have been
/// told to everybody in it.
fn types_a_lot(owner: &Person, megabytes: usize) {
    let piece = "A line of thirty-two characters.".repeat(MEGABYTE / 4 / 32);
    let mut version = owner.version();
    for _ in 0..megabytes * 4 {
        let changes = [json!([6, [0, piece]]), json!([6, [piece.len()]])];
        version = owner.pushes(version, &changes).ok()["version"].as_u64().expect("a version");
    }
}

#[test]
fn frames_of_somebody_unknown_are_never_long() {
    let desk = Desk::quiet();
    let before = desk.memory();
    let piece = vec![b'x'; MEGABYTE];
    let mut clients: Vec<_> = (0..30).map(|_| RawClient::unknown(desk.address())).collect();
    for client in &mut clients {
        // A message of 31 MB, of which 20 come.
        client.begins_message(31 * MEGABYTE);
        for _ in 0..20 {
            if !client.sends_bytes(&piece) {
                break;
            }
        }
    }
    let held = grown(&desk, before);
    assert!(held < 100, "{held} MB are held for nobody");
    assert!(clients.iter_mut().all(|client| client.ends_within(SOON)), "they may stay");
    desk.editor("Ana").is_fine();
}

#[test]
fn a_body_of_long_polling_is_short_before_anybody_is_known() {
    let desk = Desk::quiet();
    let opened = get(desk.address(), "/socket.io/?EIO=4&transport=polling").body;
    let opened: Value = serde_json::from_str(&opened[1..]).expect("JSON after the type");
    let sid = opened["sid"].as_str().expect("a name");
    let mut client = RawClient::silent(desk.address());
    let address = desk.address();
    let head = format!(
        "POST /socket.io/?EIO=4&transport=polling&sid={sid} HTTP/1.1\r\nHost: {address}\r\n\
         Content-Length: 30000000\r\n\r\n4"
    );
    let before = desk.memory();
    client.sends_bytes(head.as_bytes());
    let piece = vec![b'x'; MEGABYTE];
    let taken = (0..28).take_while(|_| client.sends_bytes(&piece)).count();
    assert!(client.ends_within(SOON) || taken < 28, "all of it was taken");
    assert!(grown(&desk, before) < 20, "{} MB", grown(&desk, before));
}

#[test]
fn whoever_does_not_say_who_they_are_is_not_waited_for() {
    let desk = Desk::quiet();
    let mut silent = RawClient::silent(desk.address());
    let mut slow = RawClient::silent(desk.address());
    slow.sends_bytes(b"GET / HTTP/1.1\r\nHo");
    let mut unknown = RawClient::unknown(desk.address());
    for (name, client) in
        [("silent", &mut silent), ("slow", &mut slow), ("without a token", &mut unknown)]
    {
        assert!(client.ends_within(SOON), "a connection that is {name} may stay");
    }
    // Whoever is known may be quiet.
    desk.editor("Ana").is_fine();
}

#[test]
fn connections_of_nobody_keep_nobody_out() {
    let desk = Desk::quiet();
    let ana = desk.editor("Ana");
    let mut first = RawClient::silent(desk.address());
    let mut others = Vec::new();
    // As many as there may be, or as this process may open.
    for _ in 0..1_100 {
        let Ok(stream) = std::net::TcpStream::connect(desk.address()) else { break };
        others.push(stream);
    }
    drop(desk.editor("Ben"));
    ana.is_fine();
    if others.len() > 1_050 {
        assert!(first.ends_within(Duration::from_secs(8)), "the oldest made no room");
    }
}

#[test]
fn a_viewer_who_does_not_read_is_refused_what_would_have_to_wait() {
    let desk = Desk::quiet();
    let owner = desk.owner();
    let document = large_document(&owner, 4);
    let token = desk.token("Eve", Role::Viewer, &[]);
    let mut eves: Vec<_> = (0..3).map(|_| RawClient::arrives(desk.address(), &token)).collect();
    let before = desk.memory();
    for eve in &mut eves {
        for ack in 0..100 {
            eve.emits(ack, "document:open", &json!({"documentId": document}));
        }
    }
    // Handled when later ones are answered: the owner's, behind them in the same room.
    owner.emit("document:open", &json!({"documentId": document})).ok();
    std::thread::sleep(Duration::from_secs(3));
    let held = grown(&desk, before);
    assert!(held < 200, "{held} MB wait for somebody who does not read");
    // Whoever then reads gets everything there is, and an answer to the rest.
    let answers: Vec<_> = (0..100).filter_map(|ack| eves[0].is_answered(ack)).collect();
    let refused = answers.iter().filter(|it| it["error"]["code"] == "rate_limited").count();
    assert!(answers.is_empty() || refused > 50, "{} answers, {refused} refused", answers.len());
}

#[test]
fn answers_over_http_that_nobody_reads_are_bounded() {
    let desk = Desk::quiet();
    let document = large_document(&desk.owner(), 4);
    let token = desk.token("Eve", Role::Viewer, &[]);
    let head = format!(
        "GET /api/v1/documents/{document} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
        desk.address()
    );
    let before = desk.memory();
    let mut readers: Vec<_> = (0..60).map(|_| RawClient::silent(desk.address())).collect();
    for reader in &mut readers {
        reader.sends_bytes(head.as_bytes());
    }
    let heads: Vec<_> = readers.iter_mut().map(RawClient::reads_head).collect();
    let growth = grown(&desk, before);
    assert!(growth < 120, "{growth} MB wait for somebody who does not read");
    let (full, other): (Vec<_>, Vec<_>) = heads.iter().partition(|it| it.contains(" 429 "));
    assert!(!full.is_empty() && other.iter().all(|it| it.contains(" 200 ")), "{heads:?}");
}

#[test]
fn somebody_who_stops_reading_is_cut_off_and_gone_at_once() {
    let desk = Desk::quiet();
    let owner = desk.owner();
    let document = owner.creates("Hello.");
    let token = desk.token("Ghost", Role::Viewer, &[]);
    let mut ghosts: Vec<_> = (0..2).map(|_| RawClient::arrives(desk.address(), &token)).collect();
    for ghost in &mut ghosts {
        ghost.emits(1, "document:open", &json!({"documentId": document}));
        ghost.is_answered(1).expect("an answer");
    }
    let (ana, before) = (desk.editor("Ana"), desk.memory());
    assert!(peers(&owner, &document).contains("Ghost"));
    types_a_lot(&owner, 60);
    comes_to_be_without(&owner, &document, "Ghost");
    let held = grown(&desk, before);
    // The log has all of it too.
    assert!(held < 300, "{held} MB");
    assert!(ghosts.iter_mut().all(|ghost| ghost.ends_within(SOON)), "their connections stay");
    ana.is_fine();
}

#[test]
fn somebody_who_does_not_read_is_gone_at_once_when_their_token_is_revoked() {
    let desk = Desk::quiet();
    let owner = desk.owner();
    let document = large_document(&owner, 4);
    let issued = owner.emit("token:issue", &json!({"role": "viewer", "name": "Ghost"})).ok();
    let token = issued["token"].as_str().expect("a secret").to_owned();
    let before = desk.open_sockets();
    let mut ghost = RawClient::arrives(desk.address(), &token);
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
    let until = Instant::now() + SOON;
    while desk.open_sockets() > before {
        assert!(Instant::now() < until, "the connection stays");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(ghost.ends_within(SOON));
}

#[test]
fn the_server_stops_in_time_whoever_does_not_read() {
    let mut desk = Desk::quiet();
    let document = large_document(&desk.owner(), 4);
    let token = desk.token("Ghost", Role::Viewer, &[]);
    let mut ghosts: Vec<_> = (0..3).map(|_| RawClient::arrives(desk.address(), &token)).collect();
    for (ack, ghost) in (0..).zip(&mut ghosts) {
        for more in 0..3 {
            ghost.emits(ack * 3 + more, "document:open", &json!({"documentId": document}));
        }
    }
    std::thread::sleep(Duration::from_secs(1));
    assert!(desk.stops().success());
    let said = desk.complaints();
    assert!(!said.contains("too long"), "{said}");
}

#[test]
fn what_somebody_who_only_reads_sends_is_short() {
    let desk = Desk::quiet();
    let eve = desk.person("Eve", Role::Viewer);
    let padded = |length: usize| json!([{"x": "y".repeat(length)}]);
    let sent = eve.send_args("document:list", &padded(100_000));
    eve.ack(sent).refused_with("invalid_payload");
    eve.is_fine();
    // An editor may say something long, but not where nothing long is asked for.
    let ana = desk.editor("Ana");
    let sent = ana.send_args("document:list", &padded(3_000_000));
    ana.ack(sent).refused_with("invalid_payload");
    ana.is_fine();
    eve.send_args("document:list", &padded(2_000_000));
    eve.is_cut_off();
    ana.is_fine();
}

#[test]
fn what_waits_to_be_worked_on_is_bounded_in_bytes() {
    let desk = Desk::quiet();
    let token = desk.token("Ana", Role::Editor, &[]);
    let mut ana = RawClient::arrives(desk.address(), &token);
    let before = desk.memory();
    let long = json!({"title": "x", "text": "y".repeat(7_000_000)});
    let sent = (0..40).take_while(|ack| ana.emits(*ack, "document:create", &long)).count();
    assert_eq!(sent, 40, "the connection ended");
    let answers = ana.answers(40);
    assert_eq!(answers.len(), 40, "every event is answered");
    let refused = answers.iter().filter(|it| it["ok"] == false);
    let codes: Vec<_> = refused.map(|it| it["error"]["code"].clone()).collect();
    let held = grown(&desk, before);
    assert!(!codes.is_empty() && codes.iter().all(|it| it == "rate_limited"), "{codes:?}");
    assert!(held < 600, "{held} MB with {} refused", codes.len());
}

#[test]
fn a_second_handshake_on_one_connection_ends_it() {
    let desk = Desk::quiet();
    let mut owner = RawClient::arrives(desk.address(), OWNER);
    owner.sends(&format!("40/{},", "x".repeat(10_000)));
    assert!(owner.ends_within(SOON));
    desk.owner().is_fine();
}

#[test]
fn frames_sent_before_the_switch_is_agreed_to_are_not_overlooked() {
    let desk = Desk::quiet();
    let address = desk.address();
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
