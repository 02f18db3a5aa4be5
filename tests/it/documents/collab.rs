//! Writing together: pushes, rebasing, coming back, and who may use which name.
//!
//! Every message of every story is applied by a mirror that fails on a gap, so "gap-free" is not a
//! story of its own.

use serde_json::{Value, json};

use crate::support::{Person, Role, TestServer, replacing};

fn two_writers(copydesk: &TestServer, text: &str) -> (Person, Person) {
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(text));
    (ana, ben)
}

#[test]
fn what_one_types_the_other_reads() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "Hello.");
    assert_eq!(ana.types(5, " there"), 1);
    ben.comes_to_read("Hello there.");
}

#[test]
fn an_author_receives_their_own_updates_before_the_ack() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    ana.creates("Hello.");
    ana.types(0, "x");
    ana.saw_in_order(&["document:updates", "ack document:push"]);
    let message = ana.sees("document:updates");
    assert_eq!(message["updates"][0]["clientID"], ana.client());
    assert_eq!((&message["from"], message.get("hunks")), (&json!(0), None));
}

#[test]
fn both_typing_at_once_end_up_with_the_same_text() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "middle");
    let first = ana.send("document:push", &one_push(&ana, 0, &replacing(6, 0, 0, "left ")));
    let second = ben.send("document:push", &one_push(&ben, 0, &replacing(6, 6, 6, " right")));
    ana.ack(first).ok();
    ben.ack(second).ok();
    ana.comes_to_version(2);
    ben.comes_to_version(2);
    assert_eq!(
        (ana.text().as_str(), ben.text().as_str()),
        ("left middle right", "left middle right")
    );
}

fn one_push(person: &Person, version: u64, changes: &Value) -> Value {
    let updates = json!([{"clientID": person.client(), "changes": changes}]);
    json!({"documentId": person.document(), "version": version, "updates": updates})
}

#[test]
fn a_push_that_is_behind_is_rebased_and_acked_with_its_version() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "abc");
    ana.types(0, "1");
    ana.types(0, "2");
    let version = ben.pushes(0, &[replacing(3, 3, 3, "!")]).ok()["version"].clone();
    assert_eq!(version, 3);
    ana.comes_to_read("21abc!");
    let rebased = ana.sees_where("document:updates", |it| it["from"] == 2);
    assert_eq!(rebased["updates"][0]["changes"], json!([5, [0, "!"]]));
}

#[test]
fn an_update_rebased_to_nothing_still_takes_its_version() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "abc");
    ana.replaces(0, 3, "");
    assert_eq!(ben.pushes(0, &[replacing(3, 1, 2, "")]).ok()["version"], 2);
    ana.comes_to_version(2);
    assert_eq!(ana.text(), "");
}

#[test]
fn several_updates_of_one_push_follow_each_other() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "");
    let version =
        ana.pushes(0, &[json!([[0, "a"]]), json!([1, [0, "b"]]), json!([2, [0, "", "c"]])]);
    assert_eq!(version.ok()["version"], 3);
    ben.comes_to_read("ab\nc");
}

#[test]
fn a_push_is_taken_completely_or_not_at_all() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "abc");
    let error = ana
        .pushes(0, &[json!([3, [0, "d"]]), json!([3, [0, "e"]])])
        .refused_with("invalid_payload");
    assert_eq!(error["details"]["update"], 1, "{error}");
    assert_eq!((ana.text().as_str(), ben.text().as_str(), ana.version()), ("abc", "abc", 0));
}

#[test]
fn a_push_from_the_future_has_to_resync() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    ana.creates("abc");
    ana.pushes(7, &[json!([3, [0, "d"]])]).refused_with("resync");
    assert_eq!(ana.text(), "abc");
}

#[test]
fn a_change_that_does_not_fit_the_text_is_refused() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "a😀c");
    for changes in [
        json!([5, [0, "x"]]),
        json!([3]),
        json!([[9]]),
        json!([2, [0, "x"], 2]),
        json!([1, [1], 2]),
        json!([[0, "\u{0}"], "4"]),
        json!([-1, [0, "x"]]),
        json!([4.5]),
        json!([[0, 7], 4]),
        json!([[0, "a\nb"], 4]),
        json!({}),
        json!("text"),
        json!(null),
        json!([1e300]),
    ] {
        let code = ana.pushes(0, std::slice::from_ref(&changes)).refused()["code"].clone();
        assert_eq!(code, "invalid_payload", "{changes}");
    }
    assert_eq!(ben.types(4, "!"), 1, "nothing of it was taken");
    assert_eq!(ana.text(), "a😀c!");
}

#[test]
fn a_name_belongs_to_the_person_who_used_it_first() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "abc");
    ana.types(0, "x");
    ben.pushes_as(&ana.client(), 1, &[json!([4, [0, "y"]])]).refused_with("not_allowed");
    assert_eq!(ben.text(), "xabc");
}

#[test]
fn the_servers_own_names_are_no_ones() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    ana.creates("abc");
    for name in ["", "ai:request", &"n".repeat(65), "a\u{7}b"] {
        ana.pushes_as(name, 0, &[json!([3, [0, "y"]])]).refused_with("invalid_payload");
    }
}

#[test]
fn one_socket_may_write_under_several_names() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "");
    ana.pushes_as("pane-1", 0, &[json!([[0, "a"]])]).ok();
    ana.pushes_as("pane-2", 1, &[json!([1, [0, "b"]])]).ok();
    ben.comes_to_read("ab");
}

#[test]
fn what_was_sent_again_after_a_reconnect_is_applied_once() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "abc");
    let changes = [json!([3, [0, "d"]]), json!([4, [0, "e"]])];
    ana.pushes(0, &changes).ok();
    ana.loses_connection();
    ben.types(0, "x");
    let back = ana.comes_back(&copydesk);
    // The ack was lost on the way: the editor sends the same updates again, under the same name.
    back.opens_again();
    assert_eq!(back.pushes(0, &changes).ok()["version"], 3);
    assert_eq!((back.text().as_str(), ben.text().as_str()), ("xabcde", "xabcde"));
}

#[test]
fn what_was_sent_again_together_with_more_is_applied_once() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "abc");
    ana.pushes(0, &[json!([3, [0, "d"]])]).ok();
    ana.pushes(0, &[json!([3, [0, "d"]]), json!([4, [0, "e"]])]).ok();
    ben.comes_to_version(2);
    assert_eq!(ben.text(), "abcde");
}

#[test]
fn who_was_away_is_given_what_is_new() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "abc");
    ana.loses_connection();
    ben.types(3, "d");
    ben.types(4, "e");
    let back = ana.comes_back(&copydesk);
    let ack = back.opens_again();
    assert_eq!((&ack["from"], &ack["version"]), (&json!(0), &json!(2)));
    assert_eq!(ack["updates"].as_array().unwrap().len(), 2);
    assert_eq!(back.text(), "abcde");
    ben.types(5, "f");
    back.comes_to_read("abcdef");
}

#[test]
fn who_claims_to_know_the_future_is_given_the_document() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("abc");
    for (event, field) in [("document:open", "since"), ("document:resync", "version")] {
        let mut payload = json!({"documentId": document});
        payload[field] = json!(99);
        let ack = ana.emit(event, &payload).ok();
        assert_eq!(ack["document"]["text"], "abc", "{event}: {ack}");
    }
}

#[test]
fn resync_is_idempotent_and_joins_atomically() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "");
    for _ in 0..20 {
        // The mirror fails if anything is missed or sent twice around the answer.
        let typing = ben.send(
            "document:push",
            &one_push(&ben, ben.version(), &replacing(ben.version() as usize, 0, 0, "x")),
        );
        let resync = ana.send(
            "document:resync",
            &json!({"documentId": ana.document(), "version": ana.version()}),
        );
        ana.ack(resync).ok();
        ben.ack(typing).ok();
    }
    ana.comes_to_version(20);
    assert_eq!(ana.text(), ben.text());
}

#[test]
fn opening_while_others_type_misses_nothing_and_repeats_nothing() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("");
    let carl = copydesk.editor("Carl");
    let mut sent = Vec::new();
    for at in 0..50 {
        sent.push(
            ana.send("document:push", &one_push(&ana, at, &replacing(at as usize, 0, 0, "x"))),
        );
        if at == 25 {
            carl.opens(&document);
        }
    }
    for pending in sent {
        ana.ack(pending).ok();
    }
    carl.comes_to_version(50);
    assert_eq!(carl.text(), "x".repeat(50));
}

#[test]
fn the_log_reaches_back_ten_thousand_updates_and_no_further_is_promised() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "");
    ana.closes();
    let client = ben.client();
    for batch in 0..11_u64 {
        let changes: Vec<_> =
            (0..1_000).map(|at| replacing(batch as usize * 1_000 + at, 0, 0, "x")).collect();
        ben.pushes_as(&client, batch * 1_000, &changes).ok();
    }
    let resync = |version: u64| {
        let pending =
            ben.send("document:resync", &json!({"documentId": ben.document(), "version": version}));
        ben.ack(pending).ok()
    };
    assert_eq!(resync(1_000)["updates"].as_array().unwrap().len(), 10_000, "promised");
    let whole = resync(0);
    let reached = whole["updates"].as_array().is_some_and(|it| it.len() == 11_000);
    assert!(
        reached || whole["document"]["version"] == 11_000,
        "either everything or the whole document"
    );
}

#[test]
fn events_of_one_socket_take_effect_in_the_order_they_were_sent() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "");
    let sent: Vec<_> = (0..100_u64)
        .map(|at| {
            let digit = (b'0' + (at % 10) as u8) as char;
            ana.send(
                "document:push",
                &one_push(
                    &ana,
                    at,
                    &replacing(at as usize, at as usize, at as usize, &digit.to_string()),
                ),
            )
        })
        .collect();
    for (at, pending) in sent.into_iter().enumerate() {
        assert_eq!(ana.ack(pending).ok()["version"], at as u64 + 1);
    }
    ben.comes_to_read(&"0123456789".repeat(10));
}

#[test]
fn three_writers_typing_all_at_once_converge() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "start");
    let carl = copydesk.editor("Carl");
    carl.opens(&ana.document());
    let writers = [&ana, &ben, &carl];
    for round in 0..30 {
        // Each on the version that happens to be in front of them: the server rebases what came too
        // late.
        let sent = writers.map(|writer| {
            let (version, len) = writer.page();
            writer.send(
                "document:push",
                &one_push(writer, version, &replacing(len, round % len, round % len, "x")),
            )
        });
        for (writer, pending) in writers.iter().zip(sent) {
            writer.ack(pending).ok();
        }
    }
    for writer in writers {
        writer.comes_to_version(90);
    }
    assert_eq!(ana.text(), ben.text());
    assert_eq!(carl.text(), ben.text());
}

#[test]
fn a_viewer_reads_along_but_does_not_write() {
    let copydesk = TestServer::quiet();
    let ana = copydesk.editor("Ana");
    let document = ana.creates("abc");
    let vera = copydesk.person("Vera", Role::Viewer);
    assert_eq!(vera.opens(&document)["role"], "viewer");
    vera.pushes(0, &[json!([3, [0, "d"]])]).refused_with("not_allowed");
    ana.types(3, "d");
    vera.comes_to_read("abcd");
}

#[test]
fn a_push_into_a_document_that_is_not_open_counts_all_the_same() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    let document = ana.creates("abc");
    let updates = json!([{"clientID": "script", "changes": [3, [0, "d"]]}]);
    let push = json!({"documentId": document, "version": 0, "updates": updates});
    assert_eq!(ben.emit("document:push", &push).ok()["version"], 1);
    ana.comes_to_read("abcd");
    assert!(ben.saw("document:updates").is_empty());
}

#[test]
fn who_closed_a_document_hears_no_more_of_it() {
    let copydesk = TestServer::quiet();
    let (ana, ben) = two_writers(&copydesk, "abc");
    ben.closes();
    ana.types(0, "x");
    assert!(ben.saw("document:updates").is_empty());
    assert_eq!(ben.opens(&ana.document())["document"]["text"], "xabc");
}

#[test]
fn a_very_long_line_and_many_lines_arrive_as_they_are() {
    let copydesk = TestServer::quiet();
    let text = format!("{}\n{}", "w".repeat(50_000), "line\n".repeat(5_000));
    let (ana, ben) = two_writers(&copydesk, &text);
    ana.types(50_001, "\n\n");
    let expected = format!("{}\n\n\n{}", "w".repeat(50_000), "line\n".repeat(5_000));
    ben.comes_to_read(&expected);
}
