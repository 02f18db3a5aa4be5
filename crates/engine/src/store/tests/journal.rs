//! Typed updates: durable in the journal at once, and in the database before anybody reads it.

use std::fs;
use std::path::Path;

use futures_util::future::join_all;

use super::*;
use crate::store::database::reading::ReadPool;
use crate::store::database::sqlite;

/// What a program sees that reads the database beside the server.
async fn stored_version(data: &Path, id: &str) -> i64 {
    let pool = sqlite::connect_onlooker(&data.join("copydesk.sqlite")).await.unwrap();
    let reads = ReadPool::from(pool);
    let sql = "SELECT version FROM documents WHERE id = $1";
    let (version,) = reads.one(sql, &[&id]).await.unwrap().unwrap();
    reads.close().await;
    version
}

/// Runs a statement as a program beside the server would.
async fn run(data: &Path, sql: &'static str) {
    let pool = sqlite::connect_writer(&data.join("copydesk.sqlite")).await.unwrap();
    sqlx::raw_sql(sql).execute(&pool).await.unwrap();
    pool.close().await;
}

async fn serving(data: &Path) -> Store {
    Store::open(data, StoreAccess::Serve).await.unwrap()
}

/// A server whose document `doc_a` is at version 1, in the database.
async fn with_document() -> (tempfile::TempDir, Store) {
    let data = tempfile::tempdir().unwrap();
    let store = serving(data.path()).await;
    store.commit(create("doc_a")).await.unwrap();
    store.commit(append("doc_a", 0, 1)).await.unwrap();
    (data, store)
}

#[tokio::test]
async fn updates_wait_in_the_journal_and_survive_there() {
    let (data, store) = with_document().await;
    for from in 1..4 {
        store.commit(append("doc_a", from, 1)).await.unwrap();
    }
    let crashed = data.path().join("crashed");
    copy_of_a_crash(data.path(), &crashed);
    assert_eq!(stored_version(data.path(), "doc_a").await, 1);
    // Two starts: nothing is stored twice.
    for _ in 0..2 {
        let again = serving(&crashed).await;
        let loaded = again.load(&"doc_a".into()).await.unwrap().unwrap();
        assert_eq!((loaded.record.version.0, loaded.updates.len()), (4, 4));
        assert_eq!(&*loaded.updates[3].changes, "[4,[0,\"é\"]]");
        again.close().await;
    }
}

#[tokio::test]
async fn whoever_reads_finds_what_was_acknowledged() {
    let (data, store) = with_document().await;
    store.commit(append("doc_a", 1, 2)).await.unwrap();
    assert_eq!(stored_version(data.path(), "doc_a").await, 1);
    assert_eq!(version(&store, "doc_a").await, 3);
    assert_eq!(stored_version(data.path(), "doc_a").await, 3);
    store.commit(append("doc_a", 3, 1)).await.unwrap();
    let titles = store.documents(None, None, 10).await.unwrap();
    assert_eq!(titles[0].version.0, 4);
}

#[tokio::test]
async fn what_comes_later_is_stored_later() {
    let (data, store) = with_document().await;
    store.commit(append("doc_a", 1, 1)).await.unwrap();
    store.commit(setting("later")).await.unwrap();
    assert_eq!(stored_version(data.path(), "doc_a").await, 2);
}

#[tokio::test]
async fn without_readers_the_database_has_it_soon() {
    let (data, store) = with_document().await;
    store.commit(append("doc_a", 1, 1)).await.unwrap();
    let soon = async {
        while stored_version(data.path(), "doc_a").await < 2 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), soon).await.unwrap();
    store.commit(append("doc_a", 2, 1)).await.unwrap();
    store.close().await;
    assert_eq!(stored_version(data.path(), "doc_a").await, 3);
}

#[tokio::test]
async fn a_version_that_is_taken_is_refused_as_ever() {
    let (_data, store) = with_document().await;
    store.commit(append("doc_a", 1, 1)).await.unwrap();
    for from in [1, 7] {
        let taken = store.commit(append("doc_a", from, 1)).await.unwrap_err();
        assert!(matches!(taken, StoreError::Conflict { .. }), "{taken:?}");
    }
    let (first, second) =
        tokio::join!(store.commit(append("doc_a", 2, 1)), store.commit(append("doc_a", 2, 1)));
    assert!(first.is_ok() && second.is_err(), "{first:?} {second:?}");
    store.commit(append("doc_a", 3, 1)).await.unwrap();
    assert_eq!(version(&store, "doc_a").await, 4);
}

#[tokio::test]
async fn more_than_the_journal_holds_is_stored_too() {
    let (data, store) = with_document().await;
    let names: Vec<String> = (0..20).map(|number| format!("doc_{number}")).collect();
    for name in &names {
        store.commit(create(name)).await.unwrap();
        store.commit(append(name, 0, 1)).await.unwrap();
    }
    for from in 1..40 {
        let all = join_all(names.iter().map(|name| store.commit(append(name, from, 1)))).await;
        assert!(all.iter().all(Result::is_ok));
    }
    // Longer than the whole file.
    let long = UpdateRecord {
        client: "c_1".into(),
        changes: "x".repeat(2 << 20).into(),
        author: "usr_anna".into(),
        at_ms: 5,
        origin: None,
    };
    let (document, from) = ("doc_a".into(), Version(1));
    store.commit(StoreOp::AppendUpdates { document, from, updates: vec![long] }).await.unwrap();
    let crashed = data.path().join("crashed");
    copy_of_a_crash(data.path(), &crashed);
    let again = serving(&crashed).await;
    for name in &names {
        assert_eq!(version(&again, name).await, 40);
    }
    assert_eq!(version(&again, "doc_a").await, 2);
}

#[tokio::test]
async fn a_backup_and_a_restore_have_what_is_in_the_journal() {
    let (data, store) = with_document().await;
    store.commit(append("doc_a", 1, 2)).await.unwrap();
    let target = data.path().join("backup.sqlite");
    back_up(data.path(), &target).await.unwrap();
    assert_eq!(stored_version(data.path(), "doc_a").await, 1, "the backup reads it itself");
    let restored = data.path().join("restored");
    restore(&target, &restored, false).await.unwrap();
    assert_eq!(version(&serving(&restored).await, "doc_a").await, 3);
}

#[tokio::test]
async fn a_journal_of_other_data_is_not_taken_for_its_own() {
    let (data, store) = with_document().await;
    let (other, there) = with_document().await;
    store.commit(append("doc_a", 1, 2)).await.unwrap();
    there.close().await;
    let journal = "copydesk.sqlite-updates";
    fs::copy(data.path().join(journal), other.path().join(journal)).unwrap();
    assert_eq!(version(&serving(other.path()).await, "doc_a").await, 1);
}

#[tokio::test]
async fn a_database_that_takes_nothing_loses_nothing_and_is_not_read() {
    let (data, store) = with_document().await;
    store.commit(append("doc_a", 1, 1)).await.unwrap();
    let refuse = "CREATE TRIGGER refuses BEFORE UPDATE ON documents
         BEGIN SELECT RAISE(ABORT, 'no'); END";
    run(data.path(), refuse).await;
    let unread = store.load(&"doc_a".into()).await.unwrap_err();
    assert!(unread.to_string().contains("no"), "{unread}");
    let unstored = store.commit(setting("later")).await.unwrap_err();
    assert!(unstored.to_string().contains("no"), "{unstored}");
    // Typing goes on, and is durable.
    store.commit(append("doc_a", 2, 1)).await.unwrap();
    let crashed = data.path().join("crashed");
    copy_of_a_crash(data.path(), &crashed);
    run(data.path(), "DROP TRIGGER refuses").await;
    assert_eq!(version(&store, "doc_a").await, 3);
    assert_eq!(store.setting("later").await.unwrap(), None);
    let refused = Store::open(&crashed, StoreAccess::Serve).await.unwrap_err();
    assert!(refused.to_string().contains("no"), "{refused}");
    run(&crashed, "DROP TRIGGER refuses").await;
    assert_eq!(version(&serving(&crashed).await, "doc_a").await, 3);
}

#[tokio::test]
async fn a_journal_that_cannot_be_written_leaves_it_to_the_database() {
    let data = tempfile::tempdir().unwrap();
    let store = serving(data.path()).await;
    store.commit(create("doc_a")).await.unwrap();
    store.close().await;
    let store = Store::open_with_broken_journal(data.path()).await.unwrap();
    for from in 0..3 {
        store.commit(append("doc_a", from, 1)).await.unwrap();
        assert_eq!(stored_version(data.path(), "doc_a").await, i64::try_from(from).unwrap() + 1);
    }
    assert_eq!(version(&store, "doc_a").await, 3);
}
