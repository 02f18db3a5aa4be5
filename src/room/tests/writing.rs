//! People write: pushes, rebased, recognised, refused; carets; catching up.

use std::sync::{Arc, Mutex};

use super::desk::{Desk, edit, push};
use super::{member, who};
use crate::document::Text;
use crate::ids::Version;
use crate::room::RoomError;
use crate::room::command::{Command, Content, Reply};
use crate::room::event::Caret;

#[tokio::test]
async fn a_late_update_is_rebased_and_everyone_is_told_the_same() {
    let desk = Desk::with("one two").await;
    desk.enters("bo").await;
    let base = Text::new("one two");
    desk.forget();
    desk.pushes("ana", Version(0), &[edit(&base, 0, 0, "> ")]).await.unwrap();
    let version = desk.pushes("bo", Version(0), &[edit(&base, 7, 7, "!")]).await.unwrap();
    assert_eq!((version, desk.text().await.as_str()), (Version(2), "> one two!"));
    assert_eq!(desk.heard("ana"), ["peers ana bo", "updates 0..1", "peers ana bo", "updates 1..2"]);
    assert_eq!(desk.heard("bo"), ["peers ana bo", "updates 0..1", "peers ana bo", "updates 1..2"]);
}

#[tokio::test]
async fn pushes_that_wait_together_are_one_message_that_comes_before_their_answers() {
    let desk = Desk::with("text").await;
    for name in ["ana", "bo", "cy"] {
        desk.writes(name, 0, 0, "-").await;
    }
    desk.forget();
    let text = desk.now().await.text;
    let answers = Arc::new(Mutex::new(Vec::new()));
    for name in ["ana", "bo", "cy"] {
        let (answers, heard) = (Arc::clone(&answers), desk.listener("ana"));
        let reply =
            Reply::new(move |version| answers.lock().unwrap().push((version.unwrap(), heard())));
        let push = push(name, Version(3), &[edit(&text, 0, 0, "x")]);
        desk.room.send(Command::Push(push, reply)).await;
    }
    assert_eq!(desk.text().await, "xxx---text");
    let told = || vec!["updates 3..6".to_owned()];
    let answers = std::mem::take(&mut *answers.lock().unwrap());
    assert_eq!(answers, [(Version(4), told()), (Version(5), told()), (Version(6), told())]);
}

#[tokio::test]
async fn whoever_comes_in_between_two_pushes_is_told_only_of_the_second() {
    let desk = Desk::with("text").await;
    desk.writes("ana", 0, 0, "-").await;
    desk.forget();
    let text = desk.now().await.text;
    let (reply, opened) = Reply::channel();
    let typed = |at| push("ana", Version(at), &[edit(&text, 0, 0, "x")]);
    desk.room.send(Command::Push(typed(1), Reply::channel().0)).await;
    desk.room.send(Command::Open(member("bo"), None, reply)).await;
    let again = push("cy", Version(1), &[edit(&text, 0, 0, "y")]);
    desk.room.send(Command::Push(again, Reply::channel().0)).await;
    let Content::Whole(reading) = opened.await.unwrap().unwrap().content else { panic!() };
    desk.now().await;
    assert_eq!((reading.version, reading.text.to_string().as_str()), (Version(2), "x-text"));
    assert_eq!(desk.heard("ana"), ["updates 1..2", "peers ana bo", "updates 2..3"]);
    assert_eq!(desk.heard("bo"), ["updates 2..3"]);
}

#[tokio::test]
async fn what_was_sent_twice_is_applied_once() {
    let desk = Desk::with("text").await;
    let change = [edit(&Text::new("text"), 4, 4, "!")];
    desk.pushes("ana", Version(0), &change).await.unwrap();
    desk.forget();
    assert_eq!(desk.pushes("ana", Version(0), &change).await.unwrap(), Version(1));
    assert_eq!(desk.text().await, "text!");
    assert_eq!(desk.heard("ana"), [""; 0]);
}

#[tokio::test]
async fn a_version_that_has_not_happened_is_refused() {
    let desk = Desk::with("text").await;
    let refused = desk.pushes("ana", Version(7), &[edit(&Text::new("text"), 0, 0, "x")]).await;
    let Err(RoomError::Ahead { asked, newest }) = refused else { panic!("{refused:?}") };
    assert_eq!((asked, newest), (Version(7), Version(0)));
}

#[tokio::test]
async fn nothing_of_a_push_is_applied_if_one_update_of_it_is_wrong() {
    let desk = Desk::with("text").await;
    let changes = [edit(&Text::new("text"), 0, 0, "x"), "[99,[0,\"y\"]]".to_owned()];
    desk.forget();
    let refused = desk.pushes("ana", Version(0), &changes).await;
    assert!(matches!(refused, Err(RoomError::BadUpdate { index: 1, .. })), "{refused:?}");
    assert_eq!((desk.text().await.as_str(), desk.heard("ana").len()), ("text", 0));
}

#[tokio::test]
async fn an_editor_belongs_to_who_wrote_with_it_first_also_after_a_restart() {
    let mut desk = Desk::with("text").await;
    desk.writes("ana", 0, 0, "x").await;
    desk.restarts().await;
    let mut foreign = push("ana", Version(1), &[edit(&Text::new("xtext"), 0, 0, "y")]);
    foreign.principal = who("bo");
    assert!(matches!(desk.room.push(foreign).await, Err(RoomError::ForeignClient)));
    desk.writes("ana", 0, 0, "y").await;
    assert_eq!(desk.text().await, "yxtext");
}

#[tokio::test]
async fn who_comes_back_gets_what_is_new_and_not_more() {
    let desk = Desk::with("text").await;
    for word in ["a", "b", "c"] {
        desk.writes("ana", 0, 0, word).await;
    }
    let opened = desk.room.open(member("bo"), Some(Version(1))).await.unwrap();
    let Content::Since { from, updates, reading } = opened.content else { panic!() };
    let version = reading.version;
    assert_eq!((from, version, updates.len()), (Version(1), Version(3), 2));
    let opened = desk.room.open(member("bo"), Some(Version(4))).await.unwrap();
    let Content::Whole(reading) = opened.content else { panic!() };
    assert_eq!(reading.text.to_string(), "cbatext");
}

#[tokio::test]
async fn updates_that_left_the_log_at_hand_come_from_the_store() {
    let mut desk = Desk::with("text").await;
    for word in ["a", "b", "c"] {
        desk.writes("ana", 0, 0, word).await;
    }
    desk.restarts().await;
    desk.writes("ana", 0, 0, "d").await;
    let opened = desk.room.open(member("bo"), Some(Version(1))).await.unwrap();
    let Content::Since { from, updates, reading } = opened.content else { panic!() };
    let version = reading.version;
    assert_eq!((from, version, updates.len()), (Version(1), Version(4), 3));
}

#[tokio::test]
async fn a_long_history_is_loaded_from_its_snapshot_with_requests_as_old_as_it() {
    let mut desk = Desk::with("old").await;
    let request = desk.proposes("new").await;
    let (mut text, mut version) = (Text::new("old"), Version(0));
    for _ in 0..3 {
        let mut changes = Vec::new();
        for _ in 0..700 {
            changes.push(edit(&text, 0, 0, "x"));
            text = Text::new(&format!("x{text}"));
        }
        version = desk.pushes("ana", version, &changes).await.unwrap();
    }
    desk.writes("ana", 0, 0, "y").await;
    let kept = desk.store.load(desk.room.document()).await.unwrap().unwrap();
    assert_eq!((kept.snapshot, kept.updates.len()), (Version(2_100), 1));
    assert_eq!(desk.kept(&request).await.version, Version(2_100));
    desk.starts().await;
    desk.accepts("ana", &request).await;
    assert_eq!(desk.text().await, format!("y{}new", "x".repeat(2_100)));
}

#[tokio::test]
async fn a_caret_is_told_to_the_others_and_moves_with_the_text() {
    let desk = Desk::with("one two").await;
    desk.enters("bo").await;
    desk.forget();
    desk.room.caret("bo".into(), Caret { version: Version(0), anchor: 4, head: 7 }).await;
    desk.writes("ana", 0, 0, "> ").await;
    let opened = desk.room.open(member("cy"), None).await.unwrap();
    let caret = opened.peers.iter().find_map(|peer| peer.caret);
    assert_eq!(caret, Some(Caret { version: Version(1), anchor: 6, head: 9 }));
    assert_eq!(desk.heard("ana")[0], "caret bo 7");
    assert!(!desk.heard("bo").contains(&"caret bo 7".to_owned()));
}

#[tokio::test]
async fn who_has_missed_too_much_for_what_they_send_catches_up_first() {
    let desk = Desk::with("text").await;
    let typed = |count: usize, what: &str| -> Vec<String> {
        (0..count).map(|at| edit(&Text::new(&"x".repeat(4 + at)), 0, 0, what)).collect()
    };
    desk.pushes("ana", Version(0), &typed(1_001, "x")).await.unwrap();
    let refused = desk.pushes("bo", Version(0), &typed(1_000, "y")).await;
    assert!(matches!(refused, Err(RoomError::Resync)), "{refused:?}");
    desk.pushes("bo", Version(0), &typed(10, "y")).await.unwrap();
}

#[tokio::test]
async fn more_updates_in_one_push_than_the_log_holds_are_refused() {
    let desk = Desk::with("").await;
    let typed = |count: usize| -> Vec<String> {
        (0..count)
            .map(|len| {
                format!("[[0,\"x\"]{}]", if len > 0 { format!(",{len}") } else { String::new() })
            })
            .collect()
    };
    let refused = desk.pushes("ana", Version(0), &typed(12_000)).await;
    assert!(matches!(refused, Err(RoomError::Invalid(_))), "{refused:?}");
    assert_eq!(desk.pushes("ana", Version(0), &typed(5_000)).await.unwrap(), Version(5_000));
}
