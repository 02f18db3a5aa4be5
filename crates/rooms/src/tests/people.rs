//! Presence; and documents that are renamed, deleted, closed.

use std::time::Duration;

use super::fixture::{RoomFixture, time_passes, until};
use super::{member, who};
use crate::command::{ClientCapabilities, JoiningMember};
use crate::{NewDocument, RoomError};
use copydesk_approvals::RequestStatus;

#[tokio::test]
async fn everyone_is_told_who_comes_and_goes_and_only_if_it_is_news() {
    let fixture = RoomFixture::with("text").await;
    fixture.forget();
    fixture.a_second_later();
    fixture.enters("bo").await;
    fixture.enters("bo").await;
    fixture.a_second_later();
    fixture.room.leave("bo".into()).await;
    fixture.room.leave("bo".into()).await;
    fixture.now().await;
    assert_eq!(fixture.heard("ana"), ["peers ana bo", "peers ana"]);
    assert_eq!(fixture.heard("bo"), [""; 0]);
}

#[tokio::test]
async fn a_person_who_comes_in_is_told_of_open_requests_before_the_answer() {
    let fixture = RoomFixture::with("It was cold.").await;
    let request = fixture.proposes("It was warm.").await;
    let opened = fixture.room.open(member("bo"), None).await.unwrap();
    assert_eq!(opened.requests[0].id(), request.id());
    assert_eq!(fixture.heard("bo"), ["requested"]);
}

#[tokio::test]
async fn a_person_who_has_left_is_told_nothing_more() {
    let fixture = RoomFixture::with("text").await;
    fixture.enters("bo").await;
    fixture.room.leave("bo".into()).await;
    fixture.writes("ana", 0, 0, "x").await;
    assert_eq!(fixture.heard("bo"), ["peers ana bo"; 0]);
}

#[tokio::test]
async fn another_name_is_news() {
    let fixture = RoomFixture::with("text").await;
    fixture.a_second_later();
    fixture.enters("bo").await;
    fixture.a_second_later();
    fixture.forget();
    let mut principal = who("bo");
    principal.name = "Bo the second".into();
    fixture
        .room
        .open(
            JoiningMember {
                id: "bo".into(),
                principal,
                capabilities: ClientCapabilities::default(),
            },
            None,
        )
        .await
        .unwrap();
    assert_eq!(fixture.heard("ana"), ["peers ana bo"]);
}

#[tokio::test]
async fn a_new_title_is_told_and_kept() {
    let mut fixture = RoomFixture::with("text").await;
    fixture.forget();
    fixture.room.rename("  Chapter\none ".into(), who("ana")).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["title Chapterone"]);
    assert!(matches!(
        fixture.room.rename(" ".into(), who("ana")).await,
        Err(RoomError::Invalid(_))
    ));
    fixture.restarts().await;
    assert_eq!(fixture.now().await.title, "Chapterone");
}

#[tokio::test]
async fn deleting_ends_what_is_open_and_then_there_is_no_document() {
    let fixture = RoomFixture::with("It was cold.").await;
    let request = fixture.proposes("It was warm.").await;
    let waiting = fixture.waits(&request);
    tokio::task::yield_now().await;
    fixture.forget();
    fixture.room.delete(who("ana")).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["updates 0..0 -1", "resolved cancelled", "deleted"]);
    assert_eq!(waiting.await.unwrap().unwrap().resolution.status, RequestStatus::Cancelled);
    assert!(matches!(fixture.room.read().await, Err(RoomError::NoDocument)));
    assert!(matches!(fixture.room.open(member("bo"), None).await, Err(RoomError::NoDocument)));
    let room = fixture.rooms.open(fixture.room.document()).await.unwrap();
    assert!(matches!(room.delete(who("ana")).await, Err(RoomError::NoDocument)));
}

#[tokio::test]
async fn a_room_that_no_one_uses_is_closed_and_opens_again_as_it_was() {
    let fixture = RoomFixture::with("text").await;
    fixture.room.leave("ana".into()).await;
    let (rooms, document) = fixture.leave_alone();
    time_passes(Duration::from_mins(1)).await;
    until(|| rooms.count() == 0).await;
    let room = rooms.open(&document).await.unwrap();
    assert_eq!((room.read().await.unwrap().text.to_string().as_str(), rooms.count()), ("text", 1));
}

#[tokio::test]
async fn a_room_that_someone_can_reach_stays_open() {
    let fixture = RoomFixture::with("text").await;
    let second = fixture.rooms.open(fixture.room.document()).await.unwrap();
    fixture.room.leave("ana".into()).await;
    fixture.now().await;
    time_passes(Duration::from_mins(10)).await;
    second.open(member("bo"), None).await.unwrap();
    fixture.writes("ana", 0, 0, "x").await;
    assert!(fixture.heard("bo").contains(&"updates 0..1".to_owned()));
}

#[tokio::test]
async fn a_private_document_is_brought_to_a_text_and_a_shared_one_is_not() {
    let fixture = RoomFixture::private("one two three").await;
    let request = fixture.proposes("one two four").await;
    let reading = fixture.room.replace("one 2 three".into(), who("ana")).await.unwrap();
    assert_eq!(reading.text.to_string(), "one 2 three");
    assert_eq!(fixture.accepts("ana", &request).await, RequestStatus::Approved);
    assert_eq!(fixture.text().await, "one 2 four");
    let shared = RoomFixture::with("theirs").await;
    let refused = shared.room.replace("mine".into(), who("ana")).await;
    assert!(matches!(refused, Err(RoomError::Invalid(_))), "{refused:?}");
}

#[tokio::test]
async fn after_closing_nothing_opens_any_more() {
    let fixture = RoomFixture::with("text").await;
    fixture.rooms.close().await;
    assert!(matches!(fixture.rooms.open(fixture.room.document()).await, Err(RoomError::Closed)));
    assert!(matches!(fixture.room.read().await, Err(RoomError::Closed)));
    assert!(!fixture.room.is_open());
}

#[tokio::test]
async fn all_who_open_a_document_at_once_are_in_one_room() {
    let fixture = RoomFixture::with("text").await;
    let other = NewDocument { text: "other".into(), ..NewDocument::default() };
    let document = fixture.rooms.create(other, &who("ana")).await.unwrap().document().clone();
    time_passes(Duration::from_mins(1)).await;
    until(|| fixture.rooms.count() == 1).await;
    let open = || fixture.rooms.open(&document);
    let (one, two) = tokio::join!(open(), open());
    assert_eq!(fixture.rooms.count(), 2);
    one.unwrap().open(member("bo"), None).await.unwrap();
    fixture.forget();
    two.unwrap().rename("New".into(), who("ana")).await.unwrap();
    assert_eq!(fixture.heard("bo"), ["title New"]);
}
