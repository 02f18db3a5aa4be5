//! Acknowledged data survive, and one server at a time has them.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use super::*;
use crate::database::sqlite::connect_writer;

/// Variable with the place of the data of a child.
const PLACE: &str = "COPYDESK_TEST_PLACE";

const DOCUMENTS: [&str; 3] = ["doc_a", "doc_b", "doc_c"];

async fn a_store_that_was_dropped_without_closing_has_everything(database: TestDatabase) {
    let store = database.open(StoreAccess::Serve).await;
    store.commit(create("doc_a")).await.unwrap();
    store.commit(append("doc_a", 0, 5)).await.unwrap();
    drop(store);
    let store = database.open(StoreAccess::Serve).await;
    assert_eq!(version(&store, "doc_a").await, 5);
}

/// Kills a process in the middle of commits, again and again, and looks for everything that was
/// reported to it as durable.
async fn a_killed_process_loses_nothing_that_was_acknowledged(database: TestDatabase) {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..4 {
        let acknowledged = commit_in_a_child(&database, random.usize(50..400));
        let store = database.open(StoreAccess::Serve).await;
        for (document, acknowledged) in DOCUMENTS.into_iter().zip(acknowledged) {
            let version = version(&store, document).await;
            assert!(version >= acknowledged, "{document} is at {version}, not {acknowledged}");
            let lines = store.audit(Some(&document.into()), None, u32::MAX).await.unwrap();
            assert_eq!(lines.len() as u64, version, "half a batch in {document}");
        }
        store.verify_audit().await.unwrap();
        store.close().await;
    }
}

/// The last version of each document that was acknowledged before the child was killed.
fn commit_in_a_child(database: &TestDatabase, acknowledgements: usize) -> [u64; 3] {
    let place = match database {
        TestDatabase::Sqlite(directory) => directory.path().display().to_string(),
        TestDatabase::Postgres(database) => database.url(),
    };
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::durability::commits_until_it_is_killed"])
        .args(["--ignored", "--nocapture"])
        .env(PLACE, place)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut acknowledged = [0; 3];
    let mut seen = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some((document, version)) = line.strip_prefix("durable ").and_then(read) else {
            continue;
        };
        acknowledged[document] = version;
        seen += 1;
        if seen == acknowledgements {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(seen >= acknowledgements, "the child stopped by itself after {seen} commits");
    acknowledged
}

fn read(line: &str) -> Option<(usize, u64)> {
    let (document, version) = line.split_once(' ')?;
    Some((document.parse().ok()?, version.parse().ok()?))
}

/// The child of the test above.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs until it is killed"]
async fn commits_until_it_is_killed() {
    let place = std::env::var(PLACE).unwrap();
    let place = match place.parse() {
        Ok(url) => StorePlace::Postgres(url),
        Err(_) => Path::new(&place).into(),
    };
    let store = Store::open(place, StoreAccess::Serve).await.unwrap();
    let mut rooms = tokio::task::JoinSet::new();
    for (number, document) in DOCUMENTS.into_iter().enumerate() {
        let store = store.clone();
        rooms.spawn(async move {
            if store.document(&document.into()).await.unwrap().is_none() {
                store.commit(create(document)).await.unwrap();
            }
            for from in version(&store, document).await.. {
                let StoreOp::Audit(mut entry) = line("document.changed") else { unreachable!() };
                entry.document = Some(document.into());
                let batch = WriteBatch::from(append(document, from, 1)).with(StoreOp::Audit(entry));
                store.commit(batch).await.unwrap();
                println!("durable {number} {}", from + 1);
            }
        });
    }
    rooms.join_all().await;
}

#[tokio::test]
async fn every_commit_waits_for_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join(data_directory::DATABASE);
    let pool = connect_writer(&database).await;
    assert!(pool.is_err(), "the database is never created with default permissions");
    data_directory::create_private(&database).unwrap();
    let pool = connect_writer(&database).await.unwrap();
    let journal: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&pool).await.unwrap();
    let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(&pool).await.unwrap();
    // 2 is FULL: the log is flushed before COMMIT returns. 1, NORMAL, only keeps it consistent.
    assert_eq!((journal.as_str(), synchronous), ("wal", 2));
}

async fn readers_cannot_write(database: TestDatabase) {
    let store = database.open(StoreAccess::Serve).await;
    let sql = "DELETE FROM settings RETURNING key";
    let tried =
        store.readers().rows(sql, &[]).await.map(|rows| rows.len()).unwrap_err().to_string();
    assert!(tried.contains("readonly") || tried.contains("read-only"), "{tried}");
}

async fn a_second_server_is_refused(database: TestDatabase) {
    let first = database.open(StoreAccess::Serve).await;
    let second = Store::open(database.place(), StoreAccess::Serve).await.unwrap_err();
    let message = second.to_string();
    assert!(message.contains("in use by another copydesk server"), "{message}");
    assert!(message.contains(&format!("process {}", std::process::id())), "{message}");
    first.close().await;
    database.open(StoreAccess::Serve).await;
}

async fn a_visitor_writes_beside_a_running_server(database: TestDatabase) {
    let server = database.open(StoreAccess::Serve).await;
    let visitor = database.open(StoreAccess::Visit).await;
    server.commit(line("server.started")).await.unwrap();
    visitor.commit(WriteBatch::from(line("token.issued")).with(setting("visited"))).await.unwrap();
    server.commit(line("document.created")).await.unwrap();
    assert_eq!(server.setting("visited").await.unwrap().as_deref(), Some("1"));
    assert_eq!(server.verify_audit().await.unwrap().seq, 3);
}

async fn the_audit_log_stays_a_chain_while_two_processes_write(database: TestDatabase) {
    let server = database.open(StoreAccess::Serve).await;
    let visitor = database.open(StoreAccess::Visit).await;
    let lines = |store: Store| async move {
        for _ in 0..40 {
            store.commit(line("token.issued")).await.unwrap();
        }
    };
    tokio::join!(lines(server.clone()), lines(visitor.clone()));
    assert_eq!(server.verify_audit().await.unwrap().seq, 80);
}

async fn a_visitor_does_not_keep_a_server_out(database: TestDatabase) {
    let visitor = database.open(StoreAccess::Visit).await;
    let server = database.open(StoreAccess::Serve).await;
    visitor.commit(setting("visited")).await.unwrap();
    assert_eq!(server.setting("visited").await.unwrap().as_deref(), Some("1"));
}

#[tokio::test]
async fn a_visitor_changes_no_tables_under_a_running_server() {
    let directory = tempfile::tempdir().unwrap();
    // A server of another version: it has the lock, and no table that this program knows.
    let _server = data_directory::try_lock(directory.path()).unwrap().unwrap();
    let refused = Store::open(directory.path(), StoreAccess::Visit).await.unwrap_err();
    assert!(matches!(refused, StoreError::Shape { found: 0, .. }), "{refused:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn data_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("new/data");
    let store = Store::open(&data, StoreAccess::Serve).await.unwrap();
    store.commit(setting("key")).await.unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    let files: Vec<_> = data.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

on_both_databases! {
    the_audit_log_stays_a_chain_while_two_processes_write,
    a_store_that_was_dropped_without_closing_has_everything,
    a_killed_process_loses_nothing_that_was_acknowledged,
    readers_cannot_write,
    a_second_server_is_refused,
    a_visitor_writes_beside_a_running_server,
    a_visitor_does_not_keep_a_server_out,
}
