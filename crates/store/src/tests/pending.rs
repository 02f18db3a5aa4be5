//! Typed updates: durable at once, and in the log before anybody reads it.

use std::fs;
use std::path::Path;

use futures_util::future::join_all;

use super::*;
use crate::database::reading::ReadPool;
use crate::database::sqlite;

/// Version of a document in the tables, without what is pending.
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
async fn pending_updates_survive_a_crash() {
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
async fn a_person_who_reads_finds_what_was_acknowledged() {
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
async fn more_than_can_be_pending_is_stored_too() {
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
    // Longer than everything that can be pending.
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
async fn a_backup_a_restore_and_an_inspection_have_what_is_pending() {
    let (data, store) = with_document().await;
    store.commit(append("doc_a", 1, 2)).await.unwrap();
    let target = data.path().join("backup.sqlite");
    back_up(data.path(), &target).await.unwrap();
    let inspected = Store::open(data.path(), StoreAccess::Inspect).await.unwrap();
    let loaded = inspected.load(&"doc_a".into()).await.unwrap().unwrap();
    assert_eq!((loaded.record.version.0, loaded.updates.len()), (3, 3));
    assert_eq!(loaded.record.updated_ms, 1_003);
    assert_eq!(stored_version(data.path(), "doc_a").await, 1, "nothing of it changes the log");
    let restored = data.path().join("restored");
    restore(&target, &restored, false).await.unwrap();
    assert_eq!(version(&serving(&restored).await, "doc_a").await, 3);
}

/// Whatever is read while the log cannot get what is pending reads as it will afterwards.
#[tokio::test]
async fn a_log_that_takes_nothing_is_read_with_what_is_pending() {
    let (data, store) = with_document().await;
    store.commit(create("doc_b")).await.unwrap();
    store.commit(append("doc_a", 1, 1)).await.unwrap();
    let refuse = "CREATE TRIGGER refuses BEFORE UPDATE ON documents
         BEGIN SELECT RAISE(ABORT, 'no'); END";
    run(data.path(), refuse).await;
    let unstored = store.commit(setting("later")).await.unwrap_err();
    assert!(unstored.to_string().contains("no"), "{unstored}");
    // Typing goes on, and is durable.
    store.commit(append("doc_a", 2, 1)).await.unwrap();
    let all = async |store: &Store| {
        let (a, b) = (DocumentId::from("doc_a"), DocumentId::from("doc_b"));
        let document = store.load(&a).await.unwrap().unwrap();
        let history = store.history(&a, None, 10).await.unwrap();
        let titles = store.documents(None, None, 10).await.unwrap();
        let only = store.documents(Some(&[a.clone(), b.clone()]), None, 10).await.unwrap();
        format!("{document:?} {history:?} {titles:?} {only:?} {:?}", store.document(&b).await)
    };
    let while_refused = all(&store).await;
    assert_eq!(version(&store, "doc_a").await, 3);
    assert_eq!(stored_version(data.path(), "doc_a").await, 1);

    let crashed = data.path().join("crashed");
    copy_of_a_crash(data.path(), &crashed);
    // Once the log takes it, it is there without a restart.
    run(data.path(), "DROP TRIGGER refuses").await;
    store.commit(setting("now")).await.unwrap();
    assert_eq!(all(&store).await, while_refused);
    assert_eq!(stored_version(data.path(), "doc_a").await, 3);
    assert_eq!(store.setting("later").await.unwrap(), None);

    // A server starts on such data, reads, and goes on when it can.
    let again = serving(&crashed).await;
    assert_eq!(all(&again).await, while_refused);
    assert!(again.commit(setting("later")).await.is_err());
    assert!(again.commit(append("doc_a", 3, 1)).await.is_err(), "its version is not known yet");
    run(&crashed, "DROP TRIGGER refuses").await;
    again.commit(append("doc_a", 3, 1)).await.unwrap();
    assert_eq!(version(&again, "doc_a").await, 4);
}

#[tokio::test]
async fn pending_updates_that_do_not_follow_the_log_are_damage() {
    for damage in [
        "UPDATE documents SET version = 0",
        "UPDATE pending_updates SET body = replace(body, 'doc_a', 'doc_x')",
        "UPDATE pending_updates SET body = replace(body, '2,\"c_1\"', '3,\"c_1\"')",
        "INSERT INTO pending_updates (body) SELECT body FROM pending_updates",
    ] {
        let (data, store) = with_document().await;
        store.commit(append("doc_a", 1, 1)).await.unwrap();
        let crashed = data.path().join("crashed");
        copy_of_a_crash(data.path(), &crashed);
        run(&crashed, damage).await;
        let refused = Store::open(&crashed, StoreAccess::Serve).await.unwrap_err();
        assert!(refused.to_string().contains("do not follow the log"), "{damage}: {refused}");
    }
}

#[tokio::test]
async fn what_is_read_with_pending_updates_has_the_columns_of_the_tables() {
    let (data, _store) = with_document().await;
    let pool = sqlite::connect_inspector(&data.path().join("copydesk.sqlite")).await.unwrap();
    for table in ["documents", "updates"] {
        let columns = async |schema: &str| -> Vec<String> {
            let sql = "SELECT name FROM pragma_table_info($1, $2)";
            let names = sqlx::query_scalar(sql).bind(table).bind(schema.to_owned());
            let mut names: Vec<String> = names.fetch_all(&pool).await.unwrap();
            names.sort();
            names
        };
        assert_eq!(columns("temp").await, columns("main").await, "{table}");
        assert!(!columns("temp").await.is_empty());
    }
}

/// Data of the version before the table, as a kill left it, with two documents of which three
/// updates each are only in the journal beside the database.
async fn former_data() -> tempfile::TempDir {
    let data = tempfile::tempdir().unwrap();
    let database = data.path().join("copydesk.sqlite");
    let options = sqlx_sqlite::SqliteConnectOptions::new().filename(&database);
    let options = options.create_if_missing(true).foreign_keys(false);
    let pool = sqlx_sqlite::SqlitePool::connect_with(options).await.unwrap();
    let sql = include_str!("../../../../fixtures/data/before-pending-updates.sql");
    sqlx::raw_sql(sql).execute(&pool).await.unwrap();
    pool.close().await;
    fs::write(data.path().join(JOURNAL), former_journal()).unwrap();
    data
}

/// Its journal, at the size that the file had.
fn former_journal() -> Vec<u8> {
    let mut journal =
        include_bytes!("../../../../fixtures/data/before-pending-updates.journal").to_vec();
    journal.resize(1 << 20, 0);
    journal
}

const JOURNAL: &str = "copydesk.sqlite-updates";

async fn assert_former_words(store: &Store) {
    for (title, words) in [("One", "First words.\n"), ("Two", "Zweite Wörter 😀.\n")] {
        let documents = store.documents(None, None, 10).await.unwrap();
        let id = &documents.iter().find(|it| it.title == title).unwrap().id;
        let loaded = store.load(id).await.unwrap().unwrap();
        assert_eq!((loaded.record.version.0, &*loaded.text), (4, words));
        for (number, update) in loaded.updates[1..].iter().enumerate() {
            let added = format!(" Waiting {number} “é”.");
            assert!(update.changes.contains(&added), "{}", update.changes);
        }
    }
}

#[tokio::test]
async fn the_journal_of_a_former_version_is_stored_once_and_removed() {
    let data = former_data().await;
    for _ in 0..2 {
        let store = serving(data.path()).await;
        assert_former_words(&store).await;
        assert!(!data.path().join(JOURNAL).exists());
        assert_eq!(store.setting("update_journal").await.unwrap(), None);
        store.close().await;
    }
    // A kill between the transaction and the removal leaves the file.
    fs::write(data.path().join(JOURNAL), former_journal()).unwrap();
    assert_former_words(&serving(data.path()).await).await;
    assert!(!data.path().join(JOURNAL).exists());

    // A visitor may be the first, and a database may be restored with the journal beside it.
    let data = former_data().await;
    Store::open(data.path(), StoreAccess::Visit).await.unwrap().close().await;
    assert!(!data.path().join(JOURNAL).exists());
    assert_former_words(&serving(data.path()).await).await;
    let (data, restored) = (former_data().await, data.path().join("restored"));
    restore(&data.path().join("copydesk.sqlite"), &restored, false).await.unwrap();
    assert_former_words(&serving(&restored).await).await;
    assert!(data.path().join(JOURNAL).exists());
}

#[tokio::test]
async fn a_damaged_record_of_a_former_journal_before_whole_ones_is_an_error() {
    let journal = former_journal();
    let first = 16 + usize::from(u16::from_le_bytes([journal[8], journal[9]]));
    for damaged in (0..first).step_by(7) {
        let data = former_data().await;
        let mut bytes = journal.clone();
        bytes[damaged] ^= 1;
        fs::write(data.path().join(JOURNAL), &bytes).unwrap();
        let refused = Store::open(data.path(), StoreAccess::Serve).await.unwrap_err().to_string();
        assert!(refused.contains("the record at byte 0 is damaged"), "{damaged}: {refused}");
        assert!(fs::read(data.path().join(JOURNAL)).unwrap() == bytes);
    }
    // A record that was cut off was acknowledged to no one, and another generation is none.
    for (range, reached) in [(first + 5..first + 6, [2, 1]), (0..journal.len(), [1, 1])] {
        let data = former_data().await;
        let mut bytes = journal.clone();
        if range.start > 0 {
            bytes[range.start..].fill(0);
        } else {
            bytes.fill(7);
        }
        fs::write(data.path().join(JOURNAL), bytes).unwrap();
        let store = serving(data.path()).await;
        let documents = store.documents(None, None, 10).await.unwrap();
        let version = |title: &str| {
            documents.iter().find(|it| it.title == title).map(|it| it.version.0).unwrap()
        };
        assert_eq!([version("One"), version("Two")], reached);
    }
}
