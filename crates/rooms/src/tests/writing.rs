//! Pushes of people: rebased, recognised, refused; carets; catching up.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::fixture::{RoomFixture, edit, push, time_passes, until};
use super::{member, who};
use crate::command::{OpenedContent, ReplySender, RoomCommand};
use crate::event::CaretPosition;
use crate::{RoomError, text_at};
use copydesk_document::Text;
use copydesk_ids::Version;
use copydesk_store::{StoreOp, UpdateRecord};

#[tokio::test]
async fn a_late_update_is_rebased_and_everyone_is_told_the_same() {
    let fixture = RoomFixture::with("one two").await;
    fixture.a_second_later();
    fixture.enters("bo").await;
    let base = Text::new("one two");
    fixture.forget();
    fixture.a_second_later();
    fixture.pushes("ana", Version(0), &[edit(&base, 0, 0, "> ")]).await.unwrap();
    fixture.a_second_later();
    let version = fixture.pushes("bo", Version(0), &[edit(&base, 7, 7, "!")]).await.unwrap();
    assert_eq!((version, fixture.text().await.as_str()), (Version(2), "> one two!"));
    assert_eq!(
        fixture.heard("ana"),
        ["peers ana bo", "updates 0..1", "peers ana bo", "updates 1..2"]
    );
    assert_eq!(
        fixture.heard("bo"),
        ["peers ana bo", "updates 0..1", "peers ana bo", "updates 1..2"]
    );
}

#[tokio::test]
async fn pushes_that_wait_together_are_one_message_that_comes_before_their_answers() {
    let fixture = RoomFixture::with("text").await;
    for name in ["ana", "bo", "cy"] {
        fixture.writes(name, 0, 0, "-").await;
    }
    fixture.forget();
    let text = fixture.now().await.text;
    let answers = Arc::new(Mutex::new(Vec::new()));
    for name in ["ana", "bo", "cy"] {
        let (answers, heard) = (Arc::clone(&answers), fixture.listener("ana"));
        let reply = ReplySender::new(move |version| {
            answers.lock().push((version.unwrap(), heard()));
        });
        let push = push(name, Version(3), &[edit(&text, 0, 0, "x")]);
        fixture.room.send(RoomCommand::Push(push, reply)).await;
    }
    assert_eq!(fixture.text().await, "xxx---text");
    let expected = || vec!["updates 3..6".to_owned()];
    let answers = std::mem::take(&mut *answers.lock());
    assert_eq!(
        answers,
        [(Version(4), expected()), (Version(5), expected()), (Version(6), expected())]
    );
}

#[tokio::test]
async fn the_update_of_a_push_and_its_answer_are_sent_together() {
    let fixture = RoomFixture::with("text").await;
    fixture.enters("bo").await;
    fixture.forget();
    fixture.writes("ana", 0, 0, "-").await;
    assert_eq!(fixture.gathered(), ["ana"], "who only hears of it waits for nothing");
    fixture.forget();
    let text = fixture.now().await.text;
    fixture.pushes("ana", Version(9), &[edit(&text, 0, 0, "x")]).await.unwrap_err();
    assert_eq!(fixture.gathered(), [""; 0], "there is no update");
}

#[tokio::test]
async fn a_person_who_comes_in_between_two_pushes_is_told_only_of_the_second() {
    let fixture = RoomFixture::with("text").await;
    fixture.a_second_later();
    fixture.writes("ana", 0, 0, "-").await;
    fixture.forget();
    fixture.a_second_later();
    let text = fixture.now().await.text;
    let (reply, opened) = ReplySender::channel();
    let typed = |at| push("ana", Version(at), &[edit(&text, 0, 0, "x")]);
    fixture.room.send(RoomCommand::Push(typed(1), ReplySender::channel().0)).await;
    fixture.room.send(RoomCommand::Open(member("bo"), None, reply)).await;
    let again = push("cy", Version(1), &[edit(&text, 0, 0, "y")]);
    fixture.room.send(RoomCommand::Push(again, ReplySender::channel().0)).await;
    let OpenedContent::Whole(reading) = opened.await.unwrap().unwrap().content else { panic!() };
    fixture.now().await;
    assert_eq!((reading.version, reading.text.to_string().as_str()), (Version(2), "x-text"));
    assert_eq!(fixture.heard("ana"), ["updates 1..2", "peers ana bo", "updates 2..3"]);
    assert_eq!(fixture.heard("bo"), ["updates 2..3"]);
}

#[tokio::test]
async fn what_was_sent_twice_is_applied_once() {
    let fixture = RoomFixture::with("text").await;
    let change = [edit(&Text::new("text"), 4, 4, "!")];
    fixture.pushes("ana", Version(0), &change).await.unwrap();
    fixture.forget();
    assert_eq!(fixture.pushes("ana", Version(0), &change).await.unwrap(), Version(1));
    assert_eq!(fixture.text().await, "text!");
    assert_eq!(fixture.heard("ana"), [""; 0]);
}

#[tokio::test]
async fn a_version_that_has_not_happened_is_refused() {
    let fixture = RoomFixture::with("text").await;
    let refused = fixture.pushes("ana", Version(7), &[edit(&Text::new("text"), 0, 0, "x")]).await;
    let Err(RoomError::Ahead { asked, newest }) = refused else { panic!("{refused:?}") };
    assert_eq!((asked, newest), (Version(7), Version(0)));
}

#[tokio::test]
async fn nothing_of_a_push_is_applied_if_one_update_of_it_is_wrong() {
    let fixture = RoomFixture::with("text").await;
    let changes = [edit(&Text::new("text"), 0, 0, "x"), "[99,[0,\"y\"]]".to_owned()];
    fixture.forget();
    let refused = fixture.pushes("ana", Version(0), &changes).await;
    assert!(matches!(refused, Err(RoomError::BadUpdate { index: 1, .. })), "{refused:?}");
    assert_eq!((fixture.text().await.as_str(), fixture.heard("ana").len()), ("text", 0));
}

#[tokio::test]
async fn an_editor_belongs_to_who_wrote_with_it_first_also_after_a_restart() {
    let mut fixture = RoomFixture::with("text").await;
    fixture.writes("ana", 0, 0, "x").await;
    fixture.restarts().await;
    let mut foreign = push("ana", Version(1), &[edit(&Text::new("xtext"), 0, 0, "y")]);
    foreign.principal = who("bo");
    assert!(matches!(fixture.room.push(foreign).await, Err(RoomError::ForeignClient)));
    fixture.writes("ana", 0, 0, "y").await;
    assert_eq!(fixture.text().await, "yxtext");
}

#[tokio::test]
async fn who_comes_back_gets_what_is_new_and_not_more() {
    let fixture = RoomFixture::with("text").await;
    for word in ["a", "b", "c"] {
        fixture.writes("ana", 0, 0, word).await;
    }
    let opened = fixture.room.open(member("bo"), Some(Version(1))).await.unwrap();
    let OpenedContent::Since { from, updates, reading } = opened.content else { panic!() };
    let version = reading.version;
    assert_eq!((from, version, updates.len()), (Version(1), Version(3), 2));
    let opened = fixture.room.open(member("bo"), Some(Version(4))).await.unwrap();
    let OpenedContent::Whole(reading) = opened.content else { panic!() };
    assert_eq!(reading.text.to_string(), "cbatext");
}

#[tokio::test]
async fn updates_that_left_the_log_at_hand_come_from_the_store() {
    let mut fixture = RoomFixture::with("text").await;
    for word in ["a", "b", "c"] {
        fixture.writes("ana", 0, 0, word).await;
    }
    fixture.restarts().await;
    fixture.writes("ana", 0, 0, "d").await;
    let opened = fixture.room.open(member("bo"), Some(Version(1))).await.unwrap();
    let OpenedContent::Since { from, updates, reading } = opened.content else { panic!() };
    let version = reading.version;
    assert_eq!((from, version, updates.len()), (Version(1), Version(4), 3));
}

#[tokio::test]
async fn what_was_not_answered_before_a_stop_is_recognised_and_rebased_after_it() {
    let mut fixture = RoomFixture::with("text").await;
    let unanswered = [edit(&Text::new("text"), 4, 4, "!")];
    fixture.pushes("ana", Version(0), &unanswered).await.unwrap();
    fixture.restarts().await;
    fixture.forget();
    assert_eq!(fixture.pushes("ana", Version(0), &unanswered).await.unwrap(), Version(1));
    assert_eq!(fixture.heard("ana"), [""; 0], "nothing was applied twice");
    let late = [edit(&Text::new("text"), 0, 0, "> ")];
    assert_eq!(fixture.pushes("bo", Version(0), &late).await.unwrap(), Version(2));
    assert_eq!(fixture.text().await, "> text!");
}

#[tokio::test]
async fn what_was_not_answered_before_a_room_was_closed_is_recognised_after_it() {
    let fixture = RoomFixture::with("text").await;
    let unanswered = || push("ana", Version(0), &[edit(&Text::new("text"), 4, 4, "!")]);
    fixture.room.push(unanswered()).await.unwrap();
    fixture.room.leave("ana".into()).await;
    let (rooms, document) = fixture.leave_alone();
    time_passes(Duration::from_mins(1)).await;
    until(|| rooms.count() == 0).await;
    let room = rooms.open(&document).await.unwrap();
    assert_eq!(room.push(unanswered()).await.unwrap(), Version(1));
    let late = push("bo", Version(0), &[edit(&Text::new("text"), 0, 0, "> ")]);
    assert_eq!(room.push(late).await.unwrap(), Version(2));
    assert_eq!(room.read().await.unwrap().text.to_string(), "> text!");
}

#[tokio::test]
async fn a_push_that_waits_with_others_is_rebased_over_them_and_what_was_before_the_stop() {
    let mut fixture = RoomFixture::with("text").await;
    fixture.writes("ana", 0, 0, "a").await;
    fixture.restarts().await;
    let first = push("ana", Version(1), &[edit(&Text::new("atext"), 5, 5, "b")]);
    let late = push("bo", Version(0), &[edit(&Text::new("text"), 4, 4, "c")]);
    let (reply, pushed) = ReplySender::channel();
    fixture.room.send(RoomCommand::Push(first, ReplySender::channel().0)).await;
    fixture.room.send(RoomCommand::Push(late, reply)).await;
    assert_eq!(pushed.await.unwrap().unwrap(), Version(3));
    assert_eq!(fixture.text().await, "atextbc");
}

/// Pushes `each` letters three times to a new document with this text.
async fn pushes_letters(fixture: &RoomFixture, mut text: Text, each: usize) {
    let mut version = Version(0);
    for _ in 0..3 {
        let mut changes = Vec::new();
        for _ in 0..each {
            changes.push(edit(&text, 0, 0, "x"));
            text = Text::new(&format!("x{text}"));
        }
        version = fixture.pushes("ana", version, &changes).await.unwrap();
    }
}

#[tokio::test]
async fn a_push_on_more_updates_than_a_room_has_in_memory_is_sent_back() {
    let mut fixture = RoomFixture::with("").await;
    pushes_letters(&fixture, Text::default(), 4_000).await;
    fixture.restarts().await;
    let change = [edit(&Text::default(), 0, 0, "late")];
    let refused = fixture.pushes("bo", Version(0), &change).await;
    assert!(matches!(refused, Err(RoomError::Resync)), "{refused:?}");
    fixture.writes("bo", 0, 0, "y").await;
}

#[tokio::test]
async fn a_long_history_is_loaded_from_its_snapshot_with_requests_as_old_as_it() {
    let mut fixture = RoomFixture::with("old").await;
    let request = fixture.proposes("new").await;
    pushes_letters(&fixture, Text::new("old"), 700).await;
    fixture.writes("ana", 0, 0, "y").await;
    let kept = fixture.store.load(fixture.room.document()).await.unwrap().unwrap();
    assert_eq!((kept.snapshot, kept.updates.len()), (Version(2_100), 1));
    assert_eq!(fixture.kept(&request).await.version, Version(2_100));
    fixture.starts().await;
    fixture.accepts("ana", &request).await;
    assert_eq!(fixture.text().await, format!("y{}new", "x".repeat(2_100)));
}

#[tokio::test]
async fn a_caret_is_told_to_the_others_and_moves_with_the_text() {
    let fixture = RoomFixture::with("one two").await;
    fixture.enters("bo").await;
    fixture.forget();
    fixture
        .room
        .caret("bo".into(), CaretPosition { version: Version(0), anchor: 4, head: 7 })
        .await;
    fixture.writes("ana", 0, 0, "> ").await;
    let opened = fixture.room.open(member("cy"), None).await.unwrap();
    let caret = opened.peers.iter().find_map(|peer| peer.caret);
    assert_eq!(caret, Some(CaretPosition { version: Version(1), anchor: 6, head: 9 }));
    assert_eq!(fixture.heard("ana")[0], "caret bo 7");
    assert!(!fixture.heard("bo").contains(&"caret bo 7".to_owned()));
}

#[tokio::test]
async fn who_has_missed_too_much_for_what_they_send_catches_up_first() {
    let fixture = RoomFixture::with("text").await;
    let typed = |count: usize, what: &str| -> Vec<String> {
        (0..count).map(|at| edit(&Text::new(&"x".repeat(4 + at)), 0, 0, what)).collect()
    };
    fixture.pushes("ana", Version(0), &typed(2_000, "x")).await.unwrap();
    let refused = fixture.pushes("bo", Version(0), &typed(1_500, "y")).await;
    assert!(matches!(refused, Err(RoomError::TooCostly)), "{refused:?}");
    assert_eq!(fixture.now().await.version, Version(2_000), "nothing was changed");
    fixture.pushes("bo", Version(0), &typed(10, "y")).await.unwrap();
}

#[tokio::test]
async fn few_updates_that_touch_many_places_cost_as_much_as_many_updates() {
    let words = "x".repeat(20_000);
    let fixture = RoomFixture::with(&words).await;
    let everywhere = format!("[{}]", vec![r#"[1,"y"],1"#; 10_000].join(","));
    for version in 0..36 {
        fixture.pushes("ana", Version(version), std::slice::from_ref(&everywhere)).await.unwrap();
    }
    // Four updates, thirty-six behind: millions of sections.
    let refused = fixture.pushes("bo", Version(0), &vec![everywhere; 4]).await;
    assert!(matches!(refused, Err(RoomError::TooCostly)), "{refused:?}");
    fixture.pushes("bo", Version(0), &[r#"[20000,[0,"!"]]"#.to_owned()]).await.unwrap();
    assert_eq!(fixture.now().await.version, Version(37));
}

#[tokio::test]
async fn a_push_names_a_few_editor_instances_and_the_newest_are_told() {
    let fixture = RoomFixture::with("").await;
    let many = |count: usize| {
        let mut push = push("ana", Version(0), &vec!["[]".to_owned(); count]);
        for (at, (client, _)) in push.updates.iter_mut().enumerate() {
            *client = format!("c{at}").as_str().into();
        }
        push
    };
    let refused = fixture.room.push(many(40)).await;
    assert!(matches!(refused, Err(RoomError::Invalid(_))), "{refused:?}");
    fixture.room.push(many(30)).await.unwrap();
    let opened = fixture.room.open(member("ana"), None).await.unwrap();
    let clients: Vec<_> = opened.peers[0].clients.iter().map(ToString::to_string).collect();
    assert_eq!(clients, ["c22", "c23", "c24", "c25", "c26", "c27", "c28", "c29"]);
}

#[tokio::test]
async fn long_updates_leave_the_memory_and_come_back_from_the_store() {
    let mut fixture = RoomFixture::with("x").await;
    let mut len = 1;
    // Twenty megabytes of updates, of which the log at hand holds eight.
    for version in 0..20 {
        let words = char::from(b'a' + version as u8).to_string().repeat(1_000_000);
        let replaced = format!("[[{len},\"{words}\"]]");
        fixture.pushes("ana", Version(version), &[replaced]).await.unwrap();
        len = 1_000_000;
    }
    for restarted in [false, true] {
        if restarted {
            fixture.restarts().await;
        }
        let opened = fixture.room.open(member("bo"), Some(Version(2))).await.unwrap();
        let OpenedContent::Since { from, updates, reading } = opened.content else {
            panic!("the whole text, restarted: {restarted}")
        };
        assert_eq!((from, updates.len(), reading.version), (Version(2), 18, Version(20)));
        assert!(updates[0].changes.contains("cc") && updates[17].changes.contains("tt"));
    }
    // A snapshot is stored after each eight megabytes, not only after many updates.
    let kept = fixture.store.snapshots(fixture.room.document()).await.unwrap();
    assert!(kept.len() >= 3, "{kept:?}");
    let loaded = fixture.store.load(fixture.room.document()).await.unwrap().unwrap();
    assert!(loaded.updates.len() <= 8, "{} updates to replay", loaded.updates.len());
}

#[tokio::test]
async fn more_than_an_answer_should_hold_is_answered_by_the_text() {
    let fixture = RoomFixture::with("x").await;
    let mut len = 1;
    for version in 0..9 {
        let words = "y".repeat(4_000_000);
        fixture.pushes("ana", Version(version), &[format!("[[{len},\"{words}\"]]")]).await.unwrap();
        len = 4_000_000;
    }
    fixture.writes("ana", 0, 4_000_000, "short").await;
    let opened = fixture.room.open(member("bo"), Some(Version(0))).await.unwrap();
    let OpenedContent::Whole(reading) = opened.content else { panic!("36 megabytes of updates") };
    assert_eq!(reading.text.to_string(), "short");
}

#[tokio::test]
async fn an_older_text_is_worked_out_once_and_kept_where_it_is_far_from_any() {
    let fixture = RoomFixture::with("").await;
    let update = |at: u64| UpdateRecord {
        client: "c1".into(),
        changes: if at == 0 { r#"[[0,"x"]]"#.into() } else { format!(r#"[{at},[0,"x"]]"#).into() },
        author: "ana".into(),
        at_ms: 1,
        origin: None,
    };
    // The log is as a server wrote it that stored no snapshots in between.
    let id = fixture.room.document().clone();
    fixture.rooms.close().await;
    let updates = (0..45_000).map(update).collect();
    let append = StoreOp::AppendUpdates { document: id.clone(), from: Version(0), updates };
    fixture.store.commit(append).await.unwrap();
    let text = text_at(&fixture.store, &id, Version(44_999), "ana").await.unwrap();
    assert_eq!(text.len(), 44_999);
    let kept = fixture.store.snapshots(&id).await.unwrap();
    assert_eq!(kept, [0, 20_000, 40_000].map(Version));
    assert_eq!(text_at(&fixture.store, &id, Version(20_001), "ana").await.unwrap().len(), 20_001);
    assert_eq!(fixture.store.snapshots(&id).await.unwrap(), kept);
}

#[tokio::test]
async fn more_updates_in_one_push_than_the_log_holds_are_refused() {
    let fixture = RoomFixture::with("").await;
    let typed = |count: usize| -> Vec<String> {
        (0..count)
            .map(|len| {
                format!("[[0,\"x\"]{}]", if len > 0 { format!(",{len}") } else { String::new() })
            })
            .collect()
    };
    let refused = fixture.pushes("ana", Version(0), &typed(12_000)).await;
    assert!(matches!(refused, Err(RoomError::Invalid(_))), "{refused:?}");
    assert_eq!(fixture.pushes("ana", Version(0), &typed(5_000)).await.unwrap(), Version(5_000));
}
