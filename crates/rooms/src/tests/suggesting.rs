//! Suggestions of people in a room: how long they are being written, when they end, and what a
//! reopened one is.

use std::sync::Arc;

use super::fixture::{RoomFixture, START_MS, code, issue_as, only};
use super::who;
use crate::command::{SuggestionSnapshot, SuggestionUpdate};
use crate::{RoomError, RoomResult};
use copydesk_approvals::{
    ApprovalRequest, HunkChoice, HunkStatus, HunkVerdict, RequestSource, RequestStatus,
};
use copydesk_document::diff::{DiffLimits, word_edits};
use copydesk_document::{ChangeSet, TextEdit};
use copydesk_ids::Version;
use copydesk_ids::permissions::Role;
use copydesk_store::StoreOp;

const TEXT: &str = "It was cold. It was late.";

impl RoomFixture {
    /// Bo suggests another text.
    async fn suggests(&self, wanted: &str, revision: u64) -> RoomResult<SuggestionSnapshot> {
        let (text, version) = (self.text().await, self.now().await.version);
        let edits = word_edits(&text, wanted, &DiffLimits::default());
        let edits: Vec<TextEdit> = edits.into_iter().map(TextEdit::from).collect();
        let len = text.encode_utf16().count();
        let changes = ChangeSet::of(len, &edits).unwrap().to_json().into_boxed_str();
        let by = who("bo");
        self.room.suggest(SuggestionUpdate { version, revision, changes, base: None, by }).await
    }

    async fn suggested(&self, wanted: &str, revision: u64) -> Arc<ApprovalRequest> {
        self.suggests(wanted, revision).await.unwrap().request.unwrap()
    }
}

#[tokio::test]
async fn a_hunk_is_being_written_until_two_seconds_after_the_last_key() {
    let fixture = RoomFixture::with(TEXT).await;
    let request = fixture.suggested("It was warm. It was late.", 0).await;
    assert_eq!(request.proposal.action.source, RequestSource::Person);
    assert!(request.hunks[0].is_being_written());
    assert_eq!(request.writing_ends_ms(), Some(START_MS + 2_000));
    let accept = || {
        let verdict = HunkVerdict::plain(request.hunks[0].id.clone(), HunkChoice::Accept);
        only(vec![HunkVerdict { hash: Some(request.hunks[0].words_hash()), ..verdict }])
    };
    assert_eq!(code(fixture.decides("ana", &request, accept()).await), "invalid_decision");
    fixture.forget();
    fixture.clock.advance_ms(1_999);
    fixture.now().await;
    assert_eq!(fixture.heard("ana"), [""; 0]);
    fixture.clock.advance_ms(1);
    fixture.now().await;
    assert_eq!(fixture.heard("ana"), ["updates 0..0 +1"], "its end is told");
    fixture.decides("ana", &request, accept()).await.unwrap();
    assert_eq!(fixture.text().await, "It was warm. It was late.");
}

#[tokio::test]
async fn it_ends_with_the_right_to_suggest_and_not_with_a_token() {
    let fixture = RoomFixture::with(TEXT).await;
    issue_as(&fixture, "ana", Role::Owner, None).await;
    let request = fixture.suggested("It was warm. It was late.", 0).await;
    fixture.rooms.recount().await;
    assert_eq!(fixture.kept(&request).await.status, RequestStatus::Pending, "bo has no token now");
    issue_as(&fixture, "bo", Role::Viewer, None).await;
    fixture.rooms.recount().await;
    fixture.now().await;
    let ended = fixture.kept(&request).await;
    assert_eq!((ended.status, ended.revision()), (RequestStatus::Cancelled, Some(2)));
    assert_eq!(fixture.text().await, TEXT);
}

#[tokio::test]
async fn one_that_is_brought_back_is_a_request_of_its_own() {
    let mut fixture = RoomFixture::with(TEXT).await;
    let first = fixture.suggested("It was warm. It was late.", 0).await;
    fixture.suggests(TEXT, 1).await.unwrap();
    let stale = fixture.suggests("It was hot. It was late.", 1).await;
    assert!(
        matches!(stale, Err(RoomError::StaleSuggestion(Some(newest))) if newest.id() == first.id())
    );
    fixture.reopens("ana", &first).await.unwrap();
    let again = fixture.kept(&first).await;
    assert_eq!((again.status, again.revision()), (RequestStatus::Pending, None));
    let second = fixture.suggested("It was cold. It was early.", 0).await;
    assert_ne!(second.id(), first.id());
    fixture.starts().await;
    let open = fixture.room.requests().await.unwrap();
    assert_eq!(open.len(), 2);
    let third = fixture.suggested("It was cold. It was soon.", second.revision().unwrap()).await;
    assert_eq!(third.id(), second.id());
    assert_eq!(fixture.kept(&first).await.hunks[0].status, HunkStatus::Pending);
}

#[tokio::test]
async fn an_update_over_none_that_comes_late_again_begins_no_suggestion() {
    let mut fixture = RoomFixture::with(TEXT).await;
    let is_stale = async |fixture: &RoomFixture| {
        let again = fixture.suggests("It was warm. It was late.", 0).await;
        matches!(again, Err(RoomError::StaleSuggestion(Some(_))))
    };
    let first = fixture.suggested("It was warm. It was late.", 0).await;
    let further = fixture.suggested("It was warm. It was early.", 1).await;
    assert_eq!(further.id(), first.id());
    fixture.suggests(TEXT, 2).await.unwrap();
    assert!(is_stale(&fixture).await, "the one that it began has ended");
    let second = fixture.suggested("It was cold. It was soon.", 0).await;
    assert_eq!(second.revision(), Some(4));
    fixture.suggests(TEXT, 4).await.unwrap();
    fixture.starts().await;
    assert!(is_stale(&fixture).await, "another one has ended since");
    assert_eq!(fixture.room.requests().await.unwrap(), []);
}

#[tokio::test]
async fn the_newest_is_known_also_after_one_of_a_server_whose_clock_is_ahead() {
    let mut fixture = RoomFixture::with(TEXT).await;
    let first = fixture.suggested("It was warm. It was late.", 0).await;
    fixture.suggests(TEXT, 1).await.unwrap();
    let mut record = fixture.store.request(first.id()).await.unwrap().unwrap();
    let (id, ahead) = (first.id().as_str(), "03bb2cc3d800");
    let of_2100 = format!("req_{ahead}{}", &id["req_".len() + ahead.len()..]);
    (record.body, record.id) = (record.body.replace(id, &of_2100), of_2100.as_str().into());
    fixture.store.commit(StoreOp::PutRequest(record)).await.unwrap();
    fixture.starts().await;
    let second = fixture.suggested("It was cold. It was early.", 2).await;
    assert!(second.id().as_str() > &*of_2100, "{:?}", second.id());
    fixture.suggests(TEXT, 3).await.unwrap();
    fixture.starts().await;
    let third = fixture.suggested("It was cold. It was soon.", 4).await;
    assert_eq!(third.revision(), Some(5));
}

#[tokio::test]
async fn an_update_of_a_version_that_does_not_exist_is_ahead() {
    let fixture = RoomFixture::with(TEXT).await;
    let (by, changes) = (who("bo"), "[25]".into());
    let update = SuggestionUpdate { version: Version(3), revision: 0, changes, base: None, by };
    assert!(matches!(fixture.room.suggest(update).await, Err(RoomError::Ahead { .. })));
}
