//! Threads of comments, and what people have read of them.

use std::collections::HashMap;

use copydesk_ids::{DocumentId, ThreadId, UserId};

use super::*;

on_both_databases!(
    a_thread_is_stored_moved_and_removed,
    what_a_person_has_read_only_grows_and_goes_with_the_thread,
    mentions_count_until_they_are_read_in_threads_that_are_not_resolved,
    the_rows_of_a_deleted_person_are_found,
);

fn thread(id: &str, body: &str) -> ThreadRecord {
    ThreadRecord {
        id: id.into(),
        document: "doc_a".into(),
        resolved: false,
        version: Version(0),
        anchor: r#"{"from":0,"to":4}"#.to_owned(),
        body: body.to_owned(),
        mentions: Vec::new(),
    }
}

fn put(record: &ThreadRecord) -> StoreOp {
    StoreOp::PutThread(record.clone())
}

fn reads(user: &UserId, threads: &[(&str, u64)]) -> StoreOp {
    let threads = threads.iter().map(|(id, count)| (ThreadId::from(*id), *count)).collect();
    StoreOp::PutThreadReads { user: user.clone(), threads }
}

async fn a_thread_is_stored_moved_and_removed(database: TestDatabase) {
    let store = database.store().await;
    let (first, second) = (thread("thr_1", r#"{"n":1}"#), thread("thr_2", r#"{"n":2}"#));
    let document = first.document.clone();
    let other = ThreadRecord { document: "doc_b".into(), ..thread("thr_3", "{}") };
    let batch = WriteBatch::from(create("doc_a")).with(create("doc_b"));
    let batch = batch.with(put(&second)).with(put(&first)).with(put(&other));
    store.commit(batch).await.unwrap();
    assert_eq!(store.threads(&document).await.unwrap(), [first.clone(), second.clone()]);
    assert_eq!(store.document_of_thread(&other.id).await.unwrap(), Some("doc_b".into()));
    assert_eq!(store.document_of_thread(&"thr_none".into()).await.unwrap(), None);

    let resolved = ThreadRecord { resolved: true, body: r#"{"n":3}"#.to_owned(), ..first };
    let anchor = r#"{"from":7,"to":9}"#.to_owned();
    let moved = ThreadAnchor { thread: second.id.clone(), version: Version(2), anchor };
    let batch = WriteBatch::from(put(&resolved)).with(append("doc_a", 0, 2));
    store.commit(batch.with(StoreOp::MoveThreads(vec![moved.clone()]))).await.unwrap();
    let second = ThreadRecord { version: Version(2), anchor: moved.anchor, ..second };
    assert_eq!(store.threads(&document).await.unwrap(), [resolved.clone(), second.clone()]);

    store.commit(StoreOp::RemoveThread(resolved.id.clone())).await.unwrap();
    assert_eq!(store.threads(&document).await.unwrap(), [second]);
    assert_eq!(store.document_of_thread(&resolved.id).await.unwrap(), None);
    store.close().await;
}

async fn what_a_person_has_read_only_grows_and_goes_with_the_thread(database: TestDatabase) {
    let store = database.store().await;
    let (ana, ben) = (UserId::from("usr_ana"), UserId::from("usr_ben"));
    let record = thread("thr_1", "{}");
    store.commit(WriteBatch::from(create("doc_a")).with(put(&record))).await.unwrap();
    let batch = WriteBatch::from(reads(&ana, &[("thr_1", 2), ("thr_none", 1)]));
    store.commit(batch.with(reads(&ana, &[("thr_1", 1)]))).await.unwrap();
    let known = store.comment_reads(&record.document, &ana).await.unwrap();
    assert_eq!(known, HashMap::from([(record.id.clone(), 2)]), "of threads that there are");
    assert!(store.comment_reads(&record.document, &ben).await.unwrap().is_empty());
    assert!(store.comment_reads(&"doc_b".into(), &ana).await.unwrap().is_empty());
    let batch = WriteBatch::from(StoreOp::RemoveThread(record.id.clone()));
    store.commit(batch.with(put(&record))).await.unwrap();
    assert!(store.comment_reads(&record.document, &ana).await.unwrap().is_empty());
    store.close().await;
}

async fn mentions_count_until_they_are_read_in_threads_that_are_not_resolved(
    database: TestDatabase,
) {
    let store = database.store().await;
    let (ana, document) = (UserId::from("usr_ana"), DocumentId::from("doc_a"));
    let mentioning = |id: &str, comments| ThreadRecord {
        mentions: vec![(ana.clone(), comments)],
        ..thread(id, "{}")
    };
    let (one, two) = (mentioning("thr_1", 2), mentioning("thr_2", 1));
    let other = ThreadRecord { document: "doc_b".into(), ..mentioning("thr_3", 1) };
    let batch = WriteBatch::from(create("doc_a")).with(create("doc_b"));
    store.commit(batch.with(put(&one)).with(put(&two)).with(put(&other))).await.unwrap();
    let counts = store.unread_mentions(&ana, None).await.unwrap();
    assert_eq!(counts, HashMap::from([(document.clone(), 2), ("doc_b".into(), 1)]));
    let count = async || {
        let counts = store.unread_mentions(&ana, Some(&document)).await.unwrap();
        counts.get(&document).copied().unwrap_or(0)
    };
    store.commit(reads(&ana, &[("thr_1", 1), ("thr_2", 1)])).await.unwrap();
    assert_eq!(count().await, 1, "the second comment of the first thread");
    store.commit(put(&ThreadRecord { resolved: true, ..one.clone() })).await.unwrap();
    assert_eq!(count().await, 0);
    store.commit(put(&one)).await.unwrap();
    assert_eq!(count().await, 1);
    store.commit(put(&ThreadRecord { mentions: Vec::new(), ..one.clone() })).await.unwrap();
    assert_eq!(count().await, 0);
    store.commit(WriteBatch::from(put(&one)).with(StoreOp::RemoveThread(one.id))).await.unwrap();
    assert_eq!(count().await, 0);
    store.close().await;
}

async fn the_rows_of_a_deleted_person_are_found(database: TestDatabase) {
    let store = database.store().await;
    let (ana, ben) = (UserId::from("usr_ana"), UserId::from("usr_ben"));
    let named = thread("thr_1", r#"{"author":{"user":"usr_ana","name":"Ana"}}"#);
    let batch =
        WriteBatch::from(create("doc_a")).with(put(&named)).with(put(&thread("thr_2", "{}")));
    let batch = batch.with(reads(&ana, &[("thr_1", 1), ("thr_2", 1)]));
    store.commit(batch.with(reads(&ben, &[("thr_1", 1)]))).await.unwrap();
    let counts = store.person_counts(std::slice::from_ref(&ana)).await.unwrap();
    assert_eq!(counts.threads, 1);

    let search = PersonSearch::Naming("usr_ana");
    let rows = store.person_rows(PersonTable::CommentThreads, search, None, 10).await.unwrap();
    let change = |op| StoreOp::ChangePersonRow(op);
    let replace = rows.into_iter().map(|row| {
        let (table, body) = (PersonTable::CommentThreads, r#"{"author":{}}"#.to_owned());
        change(PersonRowOp::Replace { table, row, body })
    });
    let own = PersonSearch::OwnedBy(&ana);
    let table = PersonTable::CommentReads;
    let rows = store.person_rows(table, own, None, 10).await.unwrap();
    assert_eq!(rows.len(), 2);
    let remove = rows.into_iter().map(|row| change(PersonRowOp::Remove(table, row.key)));
    store.commit(replace.chain(remove).collect::<WriteBatch>()).await.unwrap();
    let stored = store.threads(&named.document).await.unwrap();
    assert_eq!(stored[0].body, r#"{"author":{}}"#);
    assert!(store.comment_reads(&named.document, &ana).await.unwrap().is_empty());
    assert_eq!(store.comment_reads(&named.document, &ben).await.unwrap().len(), 1);
    store.close().await;
}
