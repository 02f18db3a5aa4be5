//! Tracked changes of an imported file, as requests that only people decide, and its comments.

use std::sync::Arc;

use super::fixture::{RoomFixture, START_MS, code, issue};
use super::{person, who};
use crate::command::NewRule;
use crate::settings::{PermissionMode, ServerSettings};
use crate::{ClaimedSuggestion, ClaimedThread, ImportedDocument, RoomError, author_spans};
use copydesk_approvals::ApprovalSwitch;
use copydesk_approvals::{
    ApprovalRequest, ClaimedAuthor, Decision, DraftPart, EVERY_TOOL, HunkDraft, HunkStatus,
    RememberWish, RequestSource, RequestStatus, RequestVerdict, RuleEffect, RuleScope,
    SUGGESTION_TOOL, SpanAuthor,
};
use copydesk_comments::{CommentAnchor, CommentError, CommentThread, ThreadStatus};
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
    let (title, text) = ("Letter".to_owned(), TEXT.to_owned());
    ImportedDocument { title, text, suggestions, threads: Vec::new() }
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
        unmarked: false,
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
        let message = format!("{hunks:?}");
        let new = document(vec![suggestion("Di", hunks)]);
        let refused = fixture.rooms.create_imported(new, &who("bo")).await;
        assert!(matches!(refused, Err(RoomError::Invalid(_))), "{message}");
    }
    let many = (0..65).map(|number| suggestion(&number.to_string(), vec![change("late", "x")]));
    let refused = fixture.rooms.create_imported(document(many.collect()), &who("bo")).await;
    assert!(matches!(refused, Err(RoomError::Invalid(_))));
    assert_eq!(fixture.rooms.documents(&who("ana")).await.unwrap().len(), 1);
}

fn thread(words: Option<&str>, about: Option<(usize, usize)>) -> ClaimedThread {
    let anchor = words.map(|words| {
        let from = utf16_len(&TEXT[..TEXT.find(words).unwrap()]);
        CommentAnchor::new(from, from + utf16_len(words))
    });
    let author = |name: &str| ClaimedAuthor { name: name.to_owned(), at: None };
    let comments = vec![(author("Di"), "Why?".to_owned()), (author("Eve"), "So.".to_owned())];
    ClaimedThread { anchor, about, comments, ..ClaimedThread::default() }
}

fn with_threads(threads: Vec<ClaimedThread>) -> ImportedDocument {
    let di = suggestion("Di", vec![change("cold", "warm"), change("late", "early")]);
    ImportedDocument { threads, ..document(vec![di]) }
}

#[tokio::test]
async fn comments_are_threads_on_words_on_changes_and_on_the_document() {
    let mut fixture = RoomFixture::with("").await;
    let resolved = ClaimedThread { is_resolved: true, ..thread(None, None) };
    let deleted = ClaimedThread {
        anchor: Some(CommentAnchor { is_orphaned: true, ..CommentAnchor::new(3, 3) }),
        deleted_words: Some("gone".to_owned()),
        ..thread(None, None)
    };
    let threads =
        vec![thread(Some("It was late"), None), thread(None, Some((0, 1))), resolved, deleted];
    let made = fixture.rooms.create_imported(with_threads(threads), &who("bo")).await;
    let (room, requests) = made.unwrap();
    fixture.room = room;
    fixture.starts().await;
    let mut threads = fixture.room.threads().await.unwrap().threads;
    // They are of one millisecond.
    let rank = |thread: &CommentThread| {
        let anchor = thread.anchor.as_ref().map(|it| (it.is_orphaned, it.from));
        (thread.content.about.is_some(), anchor)
    };
    threads.sort_by_key(rank);
    let [whole, late, gone, about] = &threads[..] else { panic!("{threads:?}") };
    assert_eq!((whole.status(), &whole.anchor), (ThreadStatus::Resolved, &None));
    assert_eq!((late.status(), &*late.content.quote), (ThreadStatus::Open, "It was late"));
    assert_eq!((gone.status(), &*gone.content.quote), (ThreadStatus::Orphaned, "gone"));
    let change = about.content.about.as_ref().unwrap();
    assert_eq!(change.request, *requests[0].id());
    assert_eq!(change.hunk.as_ref(), Some(&requests[0].hunks[1].id));
    assert_eq!(about.content.quote, "late");
    for comment in threads.iter().flat_map(|it| &it.content.comments) {
        assert_eq!(comment.author.user, "bo".into());
        assert!(["Di", "Eve"].contains(&&*comment.claimed_author.as_ref().unwrap().name));
        assert!(comment.mentions.is_empty());
    }
}

#[tokio::test]
async fn threads_that_are_not_of_the_text_are_refused_with_their_document() {
    let fixture = RoomFixture::with("").await;
    let passage = CommentAnchor::new(5, 500);
    let empty = ClaimedThread { comments: vec![], ..thread(None, None) };
    let blank = ClaimedAuthor { name: String::new(), at: None };
    let blank = ClaimedThread { comments: vec![(blank, " ".to_owned())], ..empty.clone() };
    for (bad, why) in [
        (ClaimedThread { anchor: Some(passage), ..thread(None, None) }, CommentError::Passage),
        (blank, CommentError::Text),
        (empty, CommentError::Text),
    ] {
        let made = fixture.rooms.create_imported(with_threads(vec![bad]), &who("bo")).await;
        assert!(matches!(made, Err(RoomError::Comment(it)) if it == why), "{why}");
    }
}
