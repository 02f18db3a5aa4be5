//! Writes that are sent again with their key.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Answer, OWNER, RestClient, Role, TestServer};

use crate::support::http::get;

use super::{FIXED, TEXT, with_document};

#[test]
fn a_write_that_is_sent_again_with_its_key_is_not_done_again() {
    let (mut copydesk, ana, _) = with_document();
    let wish = json!({"title": "Once"});
    let first = ana.posts_once("k1", "documents", &wish);
    let again = ana.posts_once("k1", "documents", &wish);
    assert_eq!((again.status, &again.body), (201, &first.body));
    assert!(again.head.contains("idempotency-replayed: true"), "{}", again.head);
    assert!(again.head.contains("location: /api/v1/documents/doc_"), "{}", again.head);
    ana.posts_once("k1", "documents", &json!({"title": "Else"})).refused_with(422, "key_reused");
    ana.posts_once("k1", "runs", &wish).refused_with(422, "key_reused");
    // Keys are everybody's own.
    let owner = RestClient::new(&copydesk, OWNER);
    assert_ne!(owner.posts_once("k1", "documents", &wish).ok(), first.body);
    // A refusal is an answer too.
    let wrong = json!({"title": "x".repeat(300)});
    let refused = ana.posts_once("k2", "documents", &json!({"text": 7}));
    assert_eq!(ana.posts_once("k2", "documents", &json!({"text": 7})).body, refused.body);
    ana.posts_once("k2", "documents", &wrong).refused_with(422, "key_reused");
    copydesk.is_killed_and_restarted();
    let token = copydesk.token("Later", Role::Editor, &[]);
    drop(token);
    let owner = RestClient::new(&copydesk, OWNER);
    let titles = owner.gets("documents").ok()["documents"].clone();
    let once = titles.as_array().unwrap().iter().filter(|it| it["title"] == "Once");
    assert_eq!(once.count(), 2);
    let kept = owner.posts_once("k1", "documents", &wish);
    assert!(kept.head.contains("idempotency-replayed: true"), "{}", kept.head);
}

#[test]
fn for_a_key_no_more_is_read_than_the_route_takes_from_this_person() {
    let copydesk = TestServer::quiet();
    let viewer = RestClient::new(&copydesk, &copydesk.token("Vic", Role::Viewer, &[]));
    // Of a body that never comes: a server that waits for it waits in vain.
    let long = [("Idempotency-Key", "k"), ("Content-Length", "8000000")];
    for path in ["documents", "runs", "requests/decisions"] {
        viewer.says(&format!("POST /api/v1/{path}"), &long, "").refused_with(413, "too_large");
    }
    let owner = RestClient::new(&copydesk, OWNER);
    owner.says("POST /api/v1/tokens", &long, "").refused_with(413, "too_large");
    let short = json!({"title": "Mine"});
    viewer.posts_once("k", "documents", &short).refused_with(403, "not_allowed");
}

#[test]
fn a_secret_is_not_kept_for_a_second_answer() {
    let copydesk = TestServer::quiet();
    let owner = RestClient::new(&copydesk, OWNER);
    let wish = json!({"role": "viewer", "name": "Vic"});
    owner.posts_once("k", "tokens", &wish).ok();
    owner.posts_once("k", "tokens", &wish).refused_with(409, "already_done");
    assert_eq!(owner.gets("tokens").ok()["tokens"].as_array().unwrap().len(), 2);
}

#[test]
fn what_a_dying_server_had_begun_is_not_begun_again() {
    let (mut copydesk, ana, document) = with_document();
    drop(ana);
    copydesk.stops();
    copydesk.starts_to_die_at("room.pushed").unwrap();
    let edit = json!({"version": 0, "text": FIXED}).to_string();
    let mut stream = TcpStream::connect(copydesk.address()).unwrap();
    let request = format!(
        "POST /api/v1/documents/{document}/edits HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {OWNER}\r\n\
         Content-Type: application/json\r\nIdempotency-Key: k\r\nContent-Length: {}\r\n\r\n{edit}",
        copydesk.address(),
        edit.len(),
    );
    stream.write_all(request.as_bytes()).unwrap();
    copydesk.dies();
    copydesk.starts();
    let owner = RestClient::new(&copydesk, OWNER);
    let edits = format!("documents/{document}/edits");
    let again = json!({"version": 0, "text": FIXED});
    owner.posts_once("k", &edits, &again).refused_with(409, "outcome_unknown");
    owner.posts_once("k2", &edits, &again).ok();
}

#[test]
fn who_hangs_up_before_the_answer_finds_it_when_they_ask_again() {
    let (copydesk, _, document) = with_document();
    let owner = RestClient::new(&copydesk, OWNER);
    let edits = format!("documents/{document}/edits");
    for round in 0..10 {
        let edit = json!({"version": round, "text": format!("{round} {TEXT}")});
        let key = format!("k{round}");
        let body = edit.to_string();
        let mut stream = TcpStream::connect(copydesk.address()).unwrap();
        let request = format!(
            "POST /api/v1/{edits} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {OWNER}\r\n\
             Content-Type: application/json\r\nIdempotency-Key: {key}\r\nContent-Length: {}\r\n\r\n{body}",
            copydesk.address(),
            body.len(),
        );
        stream.write_all(request.as_bytes()).unwrap();
        // Each time later: after as many answers to others.
        for _ in 0..round {
            assert_eq!(get(copydesk.address(), "/healthz").status, 200);
        }
        drop(stream);
        let until = Instant::now() + Duration::from_secs(30);
        let answer = loop {
            let answer = owner.posts_once(&key, &edits, &edit);
            if answer.body["code"] != "under_way" {
                break answer;
            }
            assert!(Instant::now() < until, "{answer:?}");
        };
        assert_eq!(answer.ok()["version"], round + 1);
    }
}

#[test]
fn the_same_key_twice_at_once_is_done_once() {
    let (copydesk, _, document) = with_document();
    let token = copydesk.token("Bo", Role::Editor, &[]);
    let edits = format!("documents/{document}/edits");
    let all: Vec<_> = (0..8)
        .map(|_| {
            let (bo, edits) = (RestClient::new(&copydesk, &token), edits.clone());
            let edit = json!({"version": 0, "text": format!("So. {TEXT}")});
            std::thread::spawn(move || bo.posts_once("k", &edits, &edit))
        })
        .collect();
    let answers: Vec<Answer> = all.into_iter().map(|it| it.join().unwrap()).collect();
    assert!(answers.iter().all(|it| it.status == 200 || it.body["code"] == "under_way"));
    assert!(answers.iter().any(|it| it.status == 200));
    let owner = RestClient::new(&copydesk, OWNER);
    assert_eq!(owner.gets(&format!("documents/{document}")).ok()["version"], 1);
}
