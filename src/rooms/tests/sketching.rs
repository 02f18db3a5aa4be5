//! Streaming previews: seen by everybody, ended without a trace, or replaced by their request.

use super::desk::{RoomFixture, new_request, sketch};
use super::{member, who};
use crate::approvals::{Decision, HunkStatus, RequestVerdict};
use crate::ids::{RequestId, Version};
use crate::rooms::command::{ApprovalMode, StreamingPreviewScope};
use crate::rooms::event::RoomEvent;

const OLD: &str = "Teh cat.\n\nIt sat.\n\nThe end.\n";
const NEW: &str = "The cat.\n\nIt slept.\n\nThe end.\n";

fn name() -> RequestId {
    "req_1".into()
}

#[tokio::test]
async fn what_is_being_written_is_seen_paragraph_by_paragraph() {
    let desk = RoomFixture::with(OLD).await;
    let read = desk.now().await;
    desk.forget();
    desk.room.sketch(sketch(&name(), &read, "The c")).await.unwrap();
    assert_eq!(desk.heard("ana"), ["sketched The c"]);
    desk.room.sketch(sketch(&name(), &read, "The cat.\n\nIt sl")).await.unwrap();
    assert_eq!(desk.heard("ana"), ["sketched The cat.\n\nIt sl", "updates 0..0 +s1"]);
    desk.room.sketch(sketch(&name(), &read, "The cat.\n\nIt slept.\n\nThe")).await.unwrap();
    let heard = desk.heard("ana");
    assert_eq!(heard[1..], ["updates 0..0 +s2"], "what was shown already is not said again");
}

#[tokio::test]
async fn the_request_takes_the_place_of_what_was_written() {
    let desk = RoomFixture::with(OLD).await;
    let read = desk.now().await;
    desk.room.sketch(sketch(&name(), &read, "The cat.\n\nIt sl")).await.unwrap();
    desk.forget();
    desk.room.propose(new_request(name(), &read, NEW, ApprovalMode::Ask)).await.unwrap();
    assert_eq!(desk.heard("ana"), ["requested", "updates 0..0 -s1"]);
    desk.room.sketch(sketch(&name(), &read, "Too late\n\nto")).await.unwrap();
    assert_eq!(desk.heard("ana"), [""; 0]);
}

#[tokio::test]
async fn nothing_is_left_of_what_came_to_nothing() {
    let desk = RoomFixture::with(OLD).await;
    let read = desk.now().await;
    let kept = desk.store.counts().batches;
    desk.room.sketch(sketch(&name(), &read, "The cat.\n\nIt sl")).await.unwrap();
    desk.forget();
    desk.room.unsketch(StreamingPreviewScope::One(name())).await;
    desk.room.unsketch(StreamingPreviewScope::OfRun("ses_1".into(), "run_1".into())).await;
    assert!(desk.room.requests().await.unwrap().is_empty());
    assert_eq!(desk.heard("ana"), ["updates 0..0 -s1", "unsketched"]);
    assert_eq!(desk.store.counts().batches, kept, "nothing of it is ever kept");
    let opened = desk.room.open(member("bo"), None).await.unwrap();
    assert!(opened.sketches.is_empty());
}

#[tokio::test]
async fn whoever_comes_in_sees_it_where_it_stands_now() {
    let desk = RoomFixture::with(OLD).await;
    let read = desk.now().await;
    desk.room.sketch(sketch(&name(), &read, "The cat.\n\nIt sl")).await.unwrap();
    desk.writes("cy", 0, 0, "Once. ").await;
    let opened = desk.room.open(member("bo"), None).await.unwrap();
    let (shown, hunks) = &opened.sketches[0];
    assert_eq!((shown.text.as_str(), shown.paragraphs), ("The cat.\n\nIt sl", 1));
    assert_eq!(hunks[0].status, HunkStatus::Streaming);
    assert_eq!((hunks[0].parts[0].from, hunks[0].parts[0].to), (6, 9));
}

#[tokio::test]
async fn people_type_while_it_is_being_written() {
    let desk = RoomFixture::with(OLD).await;
    let read = desk.now().await;
    desk.room.sketch(sketch(&name(), &read, "The cat.\n\nIt sl")).await.unwrap();
    desk.writes("cy", 0, 3, "Our").await;
    desk.forget();
    // The words of the first hunk are no longer those the model read, so only the second is shown.
    desk.room.sketch(sketch(&name(), &read, "The cat.\n\nIt slept.\n\nThe")).await.unwrap();
    let put = desk.events("ana").into_iter().find_map(|event| match event {
        RoomEvent::Updates { put, .. } => Some(put),
        _ => None,
    });
    let words: Vec<_> = put.unwrap().iter().map(|(_, hunk)| hunk.parts[0].base.clone()).collect();
    assert_eq!(words, ["sat"]);
}

#[tokio::test]
async fn nobody_can_decide_what_is_still_being_written() {
    let desk = RoomFixture::with(OLD).await;
    let read = desk.now().await;
    desk.room.sketch(sketch(&name(), &read, "The cat.\n\nIt sl")).await.unwrap();
    let approve = Decision::plain(RequestVerdict::Approve);
    assert!(desk.room.decide(name(), approve, who("ana")).await.is_err());
    assert_eq!((desk.text().await.as_str(), desk.now().await.version), (OLD, Version(0)));
}

#[tokio::test]
async fn a_crash_leaves_nothing_of_it() {
    let mut desk = RoomFixture::with(OLD).await;
    let read = desk.now().await;
    desk.room.sketch(sketch(&name(), &read, "The cat.\n\nIt sl")).await.unwrap();
    desk.starts().await;
    assert!(desk.room.open(member("bo"), None).await.unwrap().sketches.is_empty());
}

#[tokio::test]
async fn a_document_shows_so_many_at_once_and_no_more() {
    let desk = RoomFixture::with(OLD).await;
    let read = desk.now().await;
    for number in 0..70 {
        let id = RequestId::from(format!("req_{number}"));
        desk.room.sketch(sketch(&id, &read, "The")).await.unwrap();
    }
    assert_eq!(desk.room.open(member("bo"), None).await.unwrap().sketches.len(), 64);
}
