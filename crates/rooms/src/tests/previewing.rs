//! Streaming previews: seen by everybody, ended without a trace, or replaced by their request.

use super::fixture::{RoomFixture, new_request, streaming_preview};
use super::{member, who};
use crate::command::ApprovalMode;
use crate::event::RoomEvent;
use crate::event::StreamingPreviewScope;
use copydesk_approvals::{Decision, HunkStatus, RequestVerdict};
use copydesk_ids::{RequestId, Version};

const OLD: &str = "Teh cat.\n\nIt sat.\n\nThe end.\n";
const NEW: &str = "The cat.\n\nIt slept.\n\nThe end.\n";

fn name() -> RequestId {
    "req_1".into()
}

#[tokio::test]
async fn what_is_being_written_is_seen_paragraph_by_paragraph() {
    let fixture = RoomFixture::with(OLD).await;
    let read = fixture.now().await;
    fixture.forget();
    fixture.room.streaming_preview(streaming_preview(&name(), &read, "The c")).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["preview The c"]);
    fixture
        .room
        .streaming_preview(streaming_preview(&name(), &read, "The cat.\n\nIt sl"))
        .await
        .unwrap();
    assert_eq!(fixture.heard("ana"), ["preview The cat.\n\nIt sl", "updates 0..0 +s1"]);
    fixture
        .room
        .streaming_preview(streaming_preview(&name(), &read, "The cat.\n\nIt slept.\n\nThe"))
        .await
        .unwrap();
    let heard = fixture.heard("ana");
    assert_eq!(heard[1..], ["updates 0..0 +s2"], "what was shown already is not said again");
}

#[tokio::test]
async fn the_request_takes_the_place_of_what_was_written() {
    let fixture = RoomFixture::with(OLD).await;
    let read = fixture.now().await;
    fixture
        .room
        .streaming_preview(streaming_preview(&name(), &read, "The cat.\n\nIt sl"))
        .await
        .unwrap();
    fixture.forget();
    fixture.room.propose(new_request(name(), &read, NEW, ApprovalMode::Ask)).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["requested", "updates 0..0 -s1"]);
    fixture
        .room
        .streaming_preview(streaming_preview(&name(), &read, "Too late\n\nto"))
        .await
        .unwrap();
    assert_eq!(fixture.heard("ana"), [""; 0]);
}

#[tokio::test]
async fn nothing_is_left_of_what_came_to_nothing() {
    let fixture = RoomFixture::with(OLD).await;
    let read = fixture.now().await;
    let kept = fixture.store.counts().batches;
    fixture
        .room
        .streaming_preview(streaming_preview(&name(), &read, "The cat.\n\nIt sl"))
        .await
        .unwrap();
    fixture.forget();
    fixture.room.end_previews(StreamingPreviewScope::One(name())).await;
    fixture.room.end_previews(StreamingPreviewScope::OfRun("ses_1".into(), "run_1".into())).await;
    assert!(fixture.room.requests().await.unwrap().is_empty());
    assert_eq!(fixture.heard("ana"), ["updates 0..0 -s1", "preview ended"]);
    assert_eq!(fixture.store.counts().batches, kept, "nothing of it is ever kept");
    let opened = fixture.room.open(member("bo"), None).await.unwrap();
    assert!(opened.streaming_previews.is_empty());
}

#[tokio::test]
async fn a_person_who_comes_in_sees_it_where_it_stands_now() {
    let fixture = RoomFixture::with(OLD).await;
    let read = fixture.now().await;
    fixture
        .room
        .streaming_preview(streaming_preview(&name(), &read, "The cat.\n\nIt sl"))
        .await
        .unwrap();
    fixture.writes("cy", 0, 0, "Once. ").await;
    let opened = fixture.room.open(member("bo"), None).await.unwrap();
    let (shown, hunks) = &opened.streaming_previews[0];
    assert_eq!((shown.text.as_str(), shown.paragraphs), ("The cat.\n\nIt sl", 1));
    assert_eq!(hunks[0].status, HunkStatus::Streaming);
    assert_eq!((hunks[0].parts[0].from, hunks[0].parts[0].to), (6, 9));
}

#[tokio::test]
async fn people_type_while_it_is_being_written() {
    let fixture = RoomFixture::with(OLD).await;
    let read = fixture.now().await;
    fixture
        .room
        .streaming_preview(streaming_preview(&name(), &read, "The cat.\n\nIt sl"))
        .await
        .unwrap();
    fixture.writes("cy", 0, 3, "Our").await;
    fixture.forget();
    // The words of the first hunk are no longer those the model read, so only the second is shown.
    fixture
        .room
        .streaming_preview(streaming_preview(&name(), &read, "The cat.\n\nIt slept.\n\nThe"))
        .await
        .unwrap();
    let put = fixture.events("ana").into_iter().find_map(|event| match event {
        RoomEvent::Updates { put, .. } => Some(put),
        _ => None,
    });
    let words: Vec<_> = put.unwrap().iter().map(|(_, hunk)| hunk.parts[0].base.clone()).collect();
    assert_eq!(words, ["sat"]);
}

#[tokio::test]
async fn no_one_can_decide_what_is_still_being_written() {
    let fixture = RoomFixture::with(OLD).await;
    let read = fixture.now().await;
    fixture
        .room
        .streaming_preview(streaming_preview(&name(), &read, "The cat.\n\nIt sl"))
        .await
        .unwrap();
    let approve = Decision::plain(RequestVerdict::Approve);
    assert!(fixture.room.decide(name(), approve, who("ana")).await.is_err());
    assert_eq!((fixture.text().await.as_str(), fixture.now().await.version), (OLD, Version(0)));
}

#[tokio::test]
async fn a_crash_leaves_nothing_of_it() {
    let mut fixture = RoomFixture::with(OLD).await;
    let read = fixture.now().await;
    fixture
        .room
        .streaming_preview(streaming_preview(&name(), &read, "The cat.\n\nIt sl"))
        .await
        .unwrap();
    fixture.starts().await;
    assert!(fixture.room.open(member("bo"), None).await.unwrap().streaming_previews.is_empty());
}

#[tokio::test]
async fn a_document_shows_so_many_at_once_and_no_more() {
    let fixture = RoomFixture::with(OLD).await;
    let read = fixture.now().await;
    for number in 0..70 {
        let id = RequestId::from(format!("req_{number}"));
        fixture.room.streaming_preview(streaming_preview(&id, &read, "The")).await.unwrap();
    }
    assert_eq!(fixture.room.open(member("bo"), None).await.unwrap().streaming_previews.len(), 64);
}
