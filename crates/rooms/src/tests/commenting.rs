//! Threads of comments: they are stored before anyone is told, move with the words, and survive
//! restarts.

use std::sync::Arc;

use super::fixture::RoomFixture;
use super::{member, who};
use crate::RoomError;
use crate::command::{
    ClientCapabilities, CommentCommand, CommentInput, JoiningMember, NewThread, OpenedDocument,
};
use crate::event::RoomEvent;
use copydesk_approvals::DeletedPerson;
use copydesk_comments::{CommentError, CommentThread, MOST_OPEN_THREADS, ThreadStatus};
use copydesk_document::{ChangeSet, TextEdit};
use copydesk_ids::permissions::DELETED_PERSON;
use copydesk_ids::{CommentId, HunkId, RequestId, ThreadId, Version};

const TEXT: &str = "It was cold. The lamp was lit. Nobody came.";

fn input(text: &str) -> CommentInput {
    CommentInput { text: text.to_owned(), ..CommentInput::default() }
}

impl RoomFixture {
    async fn comments(&self, name: &str, new: NewThread) -> Result<CommentThread, RoomError> {
        let command = CommentCommand::Create(Box::new(new), who(name));
        Ok(self.room.comment(command).await?.thread)
    }

    /// Begins a thread on these words of the newest text, which has no others like them.
    async fn comments_on(&self, name: &str, words: &str) -> CommentThread {
        let from = self.text().await.find(words).unwrap();
        let passage = Some((from, from + words.len()));
        let new = NewThread { passage, input: input("Why?"), ..NewThread::default() };
        self.comments(name, new).await.unwrap()
    }

    async fn comments_on_hunk(&self, request: &RequestId, hunk: HunkId) -> CommentThread {
        let (request, hunk) = (Some(request.clone()), Some(hunk));
        let new = NewThread { request, hunk, input: input("Why?"), ..NewThread::default() };
        self.comments("rex", new).await.unwrap()
    }

    async fn thread(&self, id: &ThreadId) -> CommentThread {
        let list = self.room.threads().await.unwrap();
        let thread = list.threads.into_iter().find(|thread| thread.id == *id).unwrap();
        assert_eq!(thread.version, list.version);
        thread
    }

    /// Returns the status of a thread, and the words that it is on.
    async fn place(&self, id: &ThreadId) -> (ThreadStatus, String) {
        let (thread, now) = (self.thread(id).await, self.now().await);
        let anchor = thread.anchor.clone().unwrap();
        (thread.status(), now.text.slice(anchor.from..anchor.to).unwrap())
    }

    async fn opens_with_comments(&self, name: &str) -> OpenedDocument {
        let capabilities = ClientCapabilities { comments: true, ..ClientCapabilities::default() };
        self.room.open(JoiningMember { capabilities, ..member(name) }, None).await.unwrap()
    }

    async fn deletes_comment(&self, name: &str, comment: &CommentId) -> Result<(), RoomError> {
        let command = CommentCommand::Delete(comment.clone(), who(name));
        self.room.comment(command).await.map(drop)
    }
}

fn open(words: &str) -> (ThreadStatus, String) {
    (ThreadStatus::Open, words.to_owned())
}

#[tokio::test]
async fn a_thread_is_stored_before_anyone_is_told_and_is_there_after_a_restart() {
    let mut fixture = RoomFixture::with(TEXT).await;
    fixture.forget();
    let before = fixture.store.counts().batches;
    let thread = fixture.comments_on("rex", "The lamp").await;
    assert_eq!(fixture.kept_when_told(), before + 1);
    assert_eq!(fixture.heard("ana"), ["thread Open"]);
    assert_eq!(thread.content.quote, "The lamp");
    let reply = CommentCommand::Reply(thread.id.clone(), input("Because."), who("ana"));
    let replied = fixture.room.comment(reply).await.unwrap().thread;
    assert_eq!(replied.content.comments.len(), 2);
    fixture.starts().await;
    assert_eq!(fixture.thread(&thread.id).await, replied);
}

#[tokio::test]
async fn a_thread_moves_with_its_words_and_is_at_the_same_place_after_a_crash() {
    let mut fixture = RoomFixture::with(TEXT).await;
    let thread = fixture.comments_on("ana", "The lamp was lit.").await;
    fixture.forget();
    fixture.writes("ana", 0, 2, "Outside, it").await;
    fixture.writes("bo", 31, 31, "old ").await;
    assert_eq!(fixture.place(&thread.id).await, open("The lamp old was lit."));
    assert_eq!(fixture.heard("ana"), ["updates 0..1", "updates 1..2"], "clients map it too");
    let here = fixture.thread(&thread.id).await;
    for goes in [false, true] {
        if goes {
            fixture.restarts().await;
        } else {
            fixture.starts().await;
        }
        assert_eq!(fixture.thread(&thread.id).await, here);
    }
}

#[tokio::test]
async fn deletion_orphans_a_thread_and_undo_brings_it_back_also_after_a_crash() {
    let mut fixture = RoomFixture::with(TEXT).await;
    let thread = fixture.comments_on("ana", "The lamp was lit.").await;
    fixture.forget();
    fixture.writes("ana", 12, 30, "").await;
    assert_eq!(fixture.heard("ana"), ["updates 0..1", "thread Orphaned"]);
    fixture.starts().await;
    assert_eq!(fixture.place(&thread.id).await, (ThreadStatus::Orphaned, String::new()));
    fixture.forget();
    fixture.writes("ana", 12, 12, " The lamp was lit.").await;
    assert_eq!(fixture.heard("ana"), ["updates 1..2", "thread Open"]);
    fixture.starts().await;
    assert_eq!(fixture.place(&thread.id).await, open("The lamp was lit."));
}

#[tokio::test]
async fn an_accepted_change_takes_the_thread_of_its_words() {
    let mut fixture = RoomFixture::with(TEXT).await;
    let on_words = fixture.comments_on("ana", "The lamp was lit.").await;
    let request = fixture.proposes("It was cold. A candle burned there. Nobody came.").await;
    let on_change = fixture.comments_on_hunk(request.id(), request.hunks[0].id.clone()).await;
    assert_eq!(on_change.content.about.as_ref().unwrap().request, *request.id());
    fixture.accepts("ana", &request).await;
    let words = fixture.place(&on_words.id).await;
    assert_eq!(words.0, ThreadStatus::Open);
    assert!(words.1.starts_with("A candle burned"), "{words:?}");
    fixture.starts().await;
    assert_eq!(fixture.place(&on_words.id).await, words);
    let again = fixture.kept(&request).await;
    fixture.undoes("ana", &again).await.unwrap();
    assert_eq!(fixture.place(&on_words.id).await, open("The lamp was lit."));
}

#[tokio::test]
async fn a_thread_on_an_insertion_covers_the_words_once_they_are_accepted() {
    let mut fixture = RoomFixture::with(TEXT).await;
    let request = fixture.proposes(&TEXT.replace("Nobody", "Rain fell hard. Nobody")).await;
    let thread = fixture.comments_on_hunk(request.id(), request.hunks[0].id.clone()).await;
    assert_eq!(fixture.place(&thread.id).await, open(""));
    assert_eq!(thread.content.quote.trim(), "Rain fell hard.");
    fixture.writes("ana", 0, 0, "So. ").await;
    fixture.accepts("ana", &request).await;
    let (status, words) = fixture.place(&thread.id).await;
    assert_eq!((status, words.trim()), (ThreadStatus::Open, "Rain fell hard."));
    fixture.starts().await;
    assert_eq!(fixture.place(&thread.id).await.1, words);
}

#[tokio::test]
async fn a_moved_change_takes_its_threads_along() {
    let moved = "The old keeper walked slowly down to the harbour in the evening.\n\n";
    let other = "Nobody else was there, and nobody came all night long.\n\n";
    let text = format!("# One\n\n{moved}{other}# Two\n\nEnd.\n");
    let mut fixture = RoomFixture::with(&text).await;
    let thread = fixture.comments_on("ana", "down to the harbour").await;
    let new = moved.replace("down to the harbour", "up to the hill");
    let request = fixture.proposes(&format!("# One\n\n{other}# Two\n\n{new}End.\n")).await;
    assert!(request.hunks.iter().any(copydesk_approvals::Hunk::is_moved), "{:?}", request.hunks);
    fixture.accepts("ana", &request).await;
    let (status, words) = fixture.place(&thread.id).await;
    assert_eq!(status, ThreadStatus::Open);
    assert!(words.contains("up to the hill"), "{words}");
    fixture.starts().await;
    assert_eq!(fixture.place(&thread.id).await, (status, words));
}

#[tokio::test]
async fn a_passage_of_an_older_version_is_found_in_the_newest() {
    let fixture = RoomFixture::with(TEXT).await;
    fixture.writes("bo", 0, 0, "So. ").await;
    let on = |version: u64, from: usize, to: usize| {
        let (version, passage) = (Some(Version(version)), Some((from, to)));
        NewThread { version, passage, input: input("Why?"), ..NewThread::default() }
    };
    let thread = fixture.comments("ana", on(0, 13, 21)).await.unwrap();
    assert_eq!(fixture.place(&thread.id).await, open("The lamp"));
    assert!(matches!(fixture.comments("ana", on(9, 0, 1)).await, Err(RoomError::Ahead { .. })));
    for (from, to) in [(3, 3), (4, 2), (0, 4_000)] {
        for version in [0, 1] {
            let refused = fixture.comments("ana", on(version, from, to)).await;
            let is_refused = matches!(refused, Err(RoomError::Comment(CommentError::Passage)));
            assert!(is_refused, "{from} {to} {refused:?}");
        }
    }
    fixture.writes("bo", 17, 25, "").await;
    let late = fixture.comments("ana", on(0, 14, 20)).await;
    assert!(matches!(late, Err(RoomError::Comment(CommentError::WordsGone))), "{late:?}");
}

#[tokio::test]
async fn an_unknown_change_has_no_threads() {
    let fixture = RoomFixture::with(TEXT).await;
    let request = fixture.proposes("It was warm. The lamp was lit. Nobody came.").await;
    let about = |request: &str, hunk: &str| NewThread {
        request: Some(request.into()),
        hunk: Some(hunk.into()),
        input: input("Why?"),
        ..NewThread::default()
    };
    let unknown = fixture.comments("ana", about("req_none", "hnk")).await;
    assert!(matches!(unknown, Err(RoomError::NoRequest)), "{unknown:?}");
    let unknown = fixture.comments("ana", about(request.id().as_str(), "hnk")).await;
    assert!(matches!(unknown, Err(RoomError::Comment(CommentError::NoChange))), "{unknown:?}");
}

#[tokio::test]
async fn a_change_that_was_decided_can_still_be_discussed() {
    let mut fixture = RoomFixture::with(TEXT).await;
    let request = fixture.proposes("It was warm. The lamp was lit. Nobody came.").await;
    fixture.accepts("ana", &request).await;
    fixture.writes("ana", 0, 0, "So. ").await;
    fixture.starts().await;
    let thread = fixture.comments_on_hunk(request.id(), request.hunks[0].id.clone()).await;
    assert!(fixture.place(&thread.id).await.1.contains("warm"), "{thread:?}");
}

#[tokio::test]
async fn whoever_comes_in_gets_the_threads_that_are_not_resolved_if_they_take_them() {
    let fixture = RoomFixture::with(TEXT).await;
    let (first, second) =
        (fixture.comments_on("ana", "cold").await, fixture.comments_on("ana", "lit").await);
    let resolve = |resolved| CommentCommand::Resolve(first.id.clone(), resolved, who("rex"));
    fixture.room.comment(resolve(true)).await.unwrap();
    fixture.forget();
    fixture.room.comment(resolve(true)).await.unwrap();
    assert_eq!(fixture.heard("ana"), [""; 0], "it was that already");
    assert!(fixture.room.open(member("bo"), None).await.unwrap().threads.is_none());
    let opened = fixture.opens_with_comments("cy").await.threads.unwrap();
    assert_eq!(opened.iter().map(|it| &it.id).collect::<Vec<_>>(), [&second.id]);
    fixture.room.comment(resolve(false)).await.unwrap();
    assert_eq!(fixture.opens_with_comments("cy").await.threads.unwrap().len(), 2);
}

#[tokio::test]
async fn a_deleted_comment_leaves_the_store_and_the_last_one_takes_the_thread_along() {
    let mut fixture = RoomFixture::with(TEXT).await;
    let thread = fixture.comments_on("bo", "cold").await;
    let reply = CommentCommand::Reply(thread.id.clone(), input("Quillwort."), who("rex"));
    let replied = fixture.room.comment(reply).await.unwrap().thread;
    let ids: Vec<_> = replied.content.comments.iter().map(|it| it.id.clone()).collect();
    let foreign = fixture.deletes_comment("bo", &ids[1]).await;
    assert!(matches!(foreign, Err(RoomError::Comment(CommentError::NotAllowed))));
    fixture.deletes_comment("ana", &ids[1]).await.unwrap();
    let stored = fixture.store.threads(fixture.room.document()).await.unwrap();
    assert!(!stored[0].body.contains("Quillwort"), "{stored:?}");
    let twice = fixture.deletes_comment("ana", &ids[1]).await;
    assert!(matches!(twice, Err(RoomError::Comment(CommentError::NoComment))));
    fixture.forget();
    fixture.deletes_comment("bo", &ids[0]).await.unwrap();
    let events = fixture.events("ana");
    let [RoomEvent::ThreadChanged(_, gone)] = events.as_slice() else { panic!("{events:?}") };
    assert!(gone.is_deleted());
    assert!(fixture.store.threads(fixture.room.document()).await.unwrap().is_empty());
    let late = CommentCommand::Reply(thread.id.clone(), input("Late"), who("ana"));
    let late = fixture.room.comment(late).await;
    assert!(matches!(late, Err(RoomError::Comment(CommentError::NoThread))));
    fixture.starts().await;
    assert!(fixture.room.threads().await.unwrap().threads.is_empty());
}

#[tokio::test]
async fn the_audit_log_has_a_line_for_each_change_and_no_words_of_comments() {
    let fixture = RoomFixture::with(TEXT).await;
    let thread = fixture.comments_on("ana", "cold").await;
    let first = CommentId::of(&thread.id, 1);
    let edit = CommentCommand::Edit(first, "Quillwort".into(), who("ana"));
    fixture.room.comment(edit).await.unwrap();
    let id = || thread.id.clone();
    let reply = CommentCommand::Reply(id(), input("Quillwort"), who("bo"));
    fixture.room.comment(reply).await.unwrap();
    fixture.room.comment(CommentCommand::Resolve(id(), true, who("bo"))).await.unwrap();
    fixture.room.comment(CommentCommand::Resolve(id(), false, who("bo"))).await.unwrap();
    fixture.deletes_comment("bo", &CommentId::of(&thread.id, 2)).await.unwrap();
    let lines = fixture.store.audit(None, None, 100).await.unwrap();
    let lines: Vec<_> = lines.iter().rev().map(|line| &line.entry).collect();
    let actions: Vec<_> = lines.iter().map(|it| it.action.as_str()).collect();
    let expected = [
        "comment.create",
        "comment.edit",
        "comment.reply",
        "comment.resolve",
        "comment.reopen",
        "comment.delete",
    ];
    assert_eq!(actions[actions.len() - 6..], expected);
    assert!(lines.iter().all(|it| !it.detail.to_string().contains("Quillwort")));
}

#[tokio::test]
async fn a_room_forgets_the_name_of_a_deleted_person_in_its_threads() {
    let mut fixture = RoomFixture::with(TEXT).await;
    let thread = fixture.comments_on("bo", "cold").await;
    fixture.forget();
    let person = Arc::new(DeletedPerson { users: vec!["bo".into()] });
    fixture.rooms.forget_person(&person).await.unwrap();
    assert_eq!(fixture.heard("ana"), ["thread Open"]);
    fixture.starts().await;
    let comment = fixture.thread(&thread.id).await.content.comments[0].clone();
    assert_eq!((comment.author.name.as_str(), comment.text.as_str()), (DELETED_PERSON, "Why?"));
}

#[tokio::test]
async fn a_document_has_a_thousand_open_threads_and_one_pass_moves_them() {
    let fixture = RoomFixture::with(TEXT).await;
    let new = |at: usize| NewThread {
        passage: Some((at % 40, at % 40 + 2)),
        input: input("Why?"),
        ..NewThread::default()
    };
    for number in 0..MOST_OPEN_THREADS {
        fixture.comments("ana", new(number)).await.unwrap();
    }
    let refused = fixture.comments("ana", new(0)).await;
    assert!(matches!(refused, Err(RoomError::Comment(CommentError::TooManyThreads))));
    let edit = TextEdit { from: 0, to: 0, insert: "So. ".into() };
    let change = ChangeSet::of(TEXT.len(), &[edit]).unwrap().to_json();
    fixture.pushes("ana", Version(0), &[change]).await.unwrap();
    for thread in fixture.room.threads().await.unwrap().threads {
        let anchor = thread.anchor.unwrap();
        assert_eq!(anchor.to - anchor.from, 2);
        assert!(anchor.from >= 4);
    }
}

#[tokio::test]
async fn a_deleted_document_takes_no_comments() {
    let fixture = RoomFixture::with(TEXT).await;
    fixture.room.delete(who("ana")).await.unwrap();
    let new = NewThread { input: input("Why?"), ..NewThread::default() };
    assert!(matches!(fixture.comments("ana", new).await, Err(RoomError::NoDocument)));
}
