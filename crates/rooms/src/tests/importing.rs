//! Tracked changes of an imported file, as requests that only people decide.

use std::sync::Arc;

use super::fixture::{RoomFixture, START_MS, code, issue};
use super::{person, who};
use crate::command::NewRule;
use crate::settings::{PermissionMode, ServerSettings};
use crate::{ClaimedSuggestion, ImportedDocument, RoomError, author_spans};
use copydesk_approvals::ApprovalSwitch;
use copydesk_approvals::{
    ApprovalRequest, ClaimedAuthor, Decision, DraftPart, EVERY_TOOL, HunkDraft, HunkStatus,
    RememberWish, RequestSource, RequestStatus, RequestVerdict, RuleEffect, RuleScope,
    SUGGESTION_TOOL, SpanAuthor,
};
use copydesk_document::utf16_len;
use copydesk_ids::permissions::Role;

const TEXT: &str = "It was cold 🌙. It was late.";

/// Returns a tracked change that puts `insert` in place of `base`, which is once in the text.
fn change(base: &str, insert: &str) -> HunkDraft {
    let from = utf16_len(&TEXT[..TEXT.find(base).unwrap()]);
    let (to, base) = (from + utf16_len(base), base.to_owned());
    HunkDraft::from(vec![DraftPart { from, to, base, insert: insert.to_owned() }])
}

fn suggestion(name: &str, hunks: Vec<HunkDraft>) -> ClaimedSuggestion {
    let at = Some("2026-01-02T03:04:05Z".to_owned());
    ClaimedSuggestion { author: ClaimedAuthor { name: name.to_owned(), at }, hunks }
}

fn document(suggestions: Vec<ClaimedSuggestion>) -> ImportedDocument {
    ImportedDocument { title: "Letter".to_owned(), text: TEXT.to_owned(), suggestions }
}

/// Bo imports a file with two changes of Di and one of Eve; Ana has the document open.
async fn imported() -> (RoomFixture, Vec<Arc<ApprovalRequest>>) {
    let mut fixture = RoomFixture::with("").await;
    let di = suggestion("Di", vec![change("cold", "warm"), change("late", "early")]);
    let eve = suggestion("Eve", vec![change("It was cold", "It is cold")]);
    let imported = fixture.rooms.create_imported(document(vec![di, eve]), &who("bo")).await;
    let (room, requests) = imported.unwrap();
    fixture.room = room;
    fixture.enters("ana").await;
    fixture.forget();
    (fixture, requests)
}

#[tokio::test]
async fn the_changes_of_each_author_wait_without_a_time_limit_also_after_a_crash() {
    let (mut fixture, requests) = imported().await;
    fixture.starts().await;
    assert_eq!(fixture.text().await, TEXT);
    let open = fixture.room.requests().await.unwrap();
    assert_eq!(open, requests);
    let [di, eve] = &open[..] else { panic!("{open:?}") };
    for (request, name, hunks) in [(di, "Di", 2), (eve, "Eve", 1)] {
        let proposal = &request.proposal;
        assert_eq!(proposal.claimed_author.as_ref().unwrap().name, name);
        assert_eq!(proposal.requester.user, "bo".into());
        assert_eq!(proposal.action.source, RequestSource::Import);
        assert_eq!(proposal.origin.tool, SUGGESTION_TOOL);
        assert_eq!((request.hunks.len(), request.clock.expires_ms), (hunks, None));
        assert_eq!(request.clock.created_ms, START_MS);
        assert_eq!(request.contradictions(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn they_are_decided_undone_and_proposed_again_like_any_other() {
    let (fixture, requests) = imported().await;
    let (di, eve) = (&requests[0], &requests[1]);
    fixture.takes("rex", di, 1).await.unwrap();
    assert_eq!(fixture.text().await, "It was warm 🌙. It was late.");
    // Eve's change would delete words that Di's has changed.
    let open = fixture.room.requests().await.unwrap();
    assert_eq!(open[1].hunks[0].status, HunkStatus::Conflict);
    assert_eq!(fixture.rejects("rex", di).await, RequestStatus::Partly);
    fixture.undoes("ana", di).await.unwrap();
    assert_eq!(fixture.text().await, TEXT);
    assert_eq!(fixture.accepts("ana", eve).await, RequestStatus::Approved);
    assert_eq!(fixture.text().await, "It is cold 🌙. It was late.");
    fixture.reopens("ana", di).await.unwrap();
    assert_eq!(fixture.kept(di).await.clock.expires_ms, None);
}

#[tokio::test]
async fn neither_a_switch_nor_a_mode_nor_a_rule_applies_one() {
    let mut fixture = RoomFixture::with("").await;
    let settings = ServerSettings {
        approvals: ApprovalSwitch::Off,
        timeout_ms: Some(1_000),
        permission_mode: PermissionMode::Bypass,
    };
    fixture.rooms.set_settings(settings, &who("ana")).await.unwrap();
    let di = suggestion("Di", vec![change("cold", "warm")]);
    let imported = fixture.rooms.create_imported(document(vec![di]), &who("bo")).await;
    let (room, requests) = imported.unwrap();
    assert_eq!(room.read().await.unwrap().text.to_string(), TEXT);
    assert_eq!(requests[0].status, RequestStatus::Pending);
    fixture.room = room;
    issue(&fixture, "ana", None).await;
    let wish = |id: &str| RememberWish {
        id: id.into(),
        scope: RuleScope::Document,
        path: None,
        max_units: None,
        author: None,
    };
    let remembering =
        Decision { remember: Some(wish("rul_1")), ..Decision::plain(RequestVerdict::Approve) };
    let refused = fixture.decides("ana", &requests[0], remembering).await;
    assert_eq!(code(refused), "invalid_decision");
    let rule = |tool: &str, effect| NewRule {
        remember: wish(&format!("rul_{tool}")),
        effect,
        over: None,
        tool: tool.to_owned(),
        session: "ses_1".into(),
    };
    let allowing = fixture.room.add_rule(rule(SUGGESTION_TOOL, RuleEffect::Allow), who("ana"));
    assert!(matches!(allowing.await, Err(RoomError::Invalid(_))));
    // What is said of every tool is not said of people's suggestions.
    fixture.room.add_rule(rule(EVERY_TOOL, RuleEffect::Deny), who("ana")).await.unwrap();
    assert_eq!(fixture.accepts("ana", &requests[0]).await, RequestStatus::Approved);
    fixture.undoes("ana", &requests[0]).await.unwrap();
    fixture.room.add_rule(rule(SUGGESTION_TOOL, RuleEffect::Deny), who("ana")).await.unwrap();
    let approve = Decision::plain(RequestVerdict::Approve);
    assert_eq!(code(fixture.decides("ana", &requests[0], approve).await), "not_allowed");
}

#[tokio::test]
async fn who_imported_accepts_only_with_the_right_to_write() {
    let (fixture, requests) = imported().await;
    let approve = || Decision::plain(RequestVerdict::Approve);
    let bo = person("bo", Role::Reviewer);
    let di = requests[0].id().clone();
    assert_eq!(code(fixture.room.decide(di.clone(), approve(), bo).await), "not_allowed");
    fixture.room.decide(di, approve(), person("bo", Role::Editor)).await.unwrap();
}

#[tokio::test]
async fn accepted_words_are_those_of_the_author_that_the_file_names() {
    let (fixture, requests) = imported().await;
    fixture.accepts("ana", &requests[0]).await;
    let now = fixture.now().await;
    let range = 0..now.text.len();
    let spans = author_spans(&fixture.store, fixture.room.document(), now.version, range).await;
    let claimed: Vec<_> = spans
        .unwrap()
        .into_iter()
        .filter_map(|span| match span.author {
            SpanAuthor::Claimed(name, credit) => Some((
                now.text.slice(span.from..span.to).unwrap(),
                name,
                credit.requester.user,
                credit.approver.map(|by| by.user),
            )),
            _ => None,
        })
        .collect();
    let di = |words: &str| (words.to_owned(), "Di".to_owned(), "bo".into(), Some("ana".into()));
    assert_eq!(claimed, [di("warm"), di("early")]);
}

#[tokio::test]
async fn changes_that_do_not_fit_create_nothing() {
    let fixture = RoomFixture::with("").await;
    let part = |from, to, base: &str| {
        HunkDraft::from(vec![DraftPart { from, to, base: base.into(), insert: "x".into() }])
    };
    let wrong = [
        vec![part(0, 2, "At")],
        vec![part(90, 99, "")],
        vec![part(5, 3, "")],
        // Inside of a surrogate pair.
        vec![part(13, 14, "")],
        vec![part(0, 5, "It wa"), part(3, 6, "was")],
        vec![HunkDraft::from(Vec::new())],
    ];
    for hunks in wrong {
        let told = format!("{hunks:?}");
        let new = document(vec![suggestion("Di", hunks)]);
        let refused = fixture.rooms.create_imported(new, &who("bo")).await;
        assert!(matches!(refused, Err(RoomError::Invalid(_))), "{told}");
    }
    let many = (0..65).map(|number| suggestion(&number.to_string(), vec![change("late", "x")]));
    let refused = fixture.rooms.create_imported(document(many.collect()), &who("bo")).await;
    assert!(matches!(refused, Err(RoomError::Invalid(_))));
    assert_eq!(fixture.rooms.documents(&who("ana")).await.unwrap().len(), 1);
}
