//! A backup is of one moment, whatever is written meanwhile, and a data directory comes of it.

use std::path::Path;

use sqlx_sqlite::{SqliteConnectOptions, SqlitePool};

use std::fs;

use tokio_util::sync::CancellationToken;

use super::database::sqlite::content_sum;
use super::*;

async fn serving(data: &Path) -> Store {
    Store::open(data, StoreAccess::Serve).await.unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_backup_under_load_is_of_one_moment() {
    let home = tempfile::tempdir().unwrap();
    let (data, target) = (home.path().join("data"), home.path().join("backup.sqlite"));
    let store = serving(&data).await;
    store.commit(create("doc_a")).await.unwrap();
    let (writing, stop) = (store.clone(), CancellationToken::new());
    let stopped = stop.clone();
    let writer = tokio::spawn(async move {
        let mut version = 0;
        while !stopped.is_cancelled() {
            // One batch: in no copy is there one without the other.
            let batch = WriteBatch::from(append("doc_a", version, 1)).with(line("edited"));
            writing.commit(batch).await.unwrap();
            version += 1;
        }
        version
    });
    while store.counts().batches < 50 {
        tokio::task::yield_now().await;
    }
    back_up(&data, &target).await.unwrap();
    stop.cancel();
    let written = writer.await.unwrap();
    assert_eq!(names(home.path()), ["backup.sqlite", "data"], "nothing is left beside it");

    let restored = home.path().join("restored");
    assert_eq!(restore(&target, &restored, false).await.unwrap(), None);
    assert_eq!(names(&restored), ["copydesk.lock", "copydesk.sqlite"]);
    let copy = serving(&restored).await;
    let version = version(&copy, "doc_a").await;
    assert!((49..=written).contains(&version), "{version} of {written}");
    let lines = copy.audit(Some(&"doc_a".into()), None, u32::MAX).await.unwrap();
    assert_eq!(lines.len() as u64, version);
    copy.verify_audit().await.unwrap();
    copy.commit(append("doc_a", version, 1)).await.unwrap();
}

#[tokio::test]
async fn nothing_is_overwritten_by_a_backup_or_a_restore() {
    let home = tempfile::tempdir().unwrap();
    let (data, target) = (home.path().join("data"), home.path().join("backup.sqlite"));
    let store = serving(&data).await;
    store.commit(create("doc_a")).await.unwrap();
    fs::write(&target, "mine").unwrap();
    let refused = back_up(&data, &target).await.unwrap_err();
    assert!(refused.to_string().contains("exists"), "{refused}");
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    fs::remove_file(&target).unwrap();
    back_up(&data, &target).await.unwrap();

    let other = home.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("letter.txt"), "mine").unwrap();
    let refused = restore(&target, &other, false).await.unwrap_err();
    assert!(matches!(refused, StoreError::Occupied { .. }), "{refused}");
    assert_eq!(names(&other), ["letter.txt"]);
    // Not while a server runs, whatever is said.
    for replace in [false, true] {
        let refused = restore(&target, &data, replace).await.unwrap_err();
        let expected = if replace { "in use" } else { "not empty" };
        assert!(refused.to_string().contains(expected), "{refused}");
    }
    store.commit(append("doc_a", 0, 3)).await.unwrap();
    drop(store);
}

#[tokio::test]
async fn what_was_there_is_put_aside_with_what_is_not_yet_in_the_database() {
    let home = tempfile::tempdir().unwrap();
    let (data, target) = (home.path().join("data"), home.path().join("backup.sqlite"));
    let store = serving(&data).await;
    store.commit(create("doc_a")).await.unwrap();
    back_up(&data, &target).await.unwrap();
    store.commit(append("doc_a", 0, 3)).await.unwrap();
    store.commit(append("doc_a", 3, 1)).await.unwrap();
    // As a crash leaves it: much of it is in the logs.
    let crashed = home.path().join("crashed");
    copy_of_a_crash(&data, &crashed);
    let aside = restore(&target, &crashed, true).await.unwrap().unwrap();
    let names_left = names(&crashed);
    assert!(!names_left.iter().any(|name| name.starts_with("copydesk.sqlite-")), "{names_left:?}");
    let restored = serving(&crashed).await;
    assert_eq!(version(&restored, "doc_a").await, 0);
    // The one file has all of it, whatever becomes of the others.
    let old = home.path().join("old");
    fs::create_dir(&old).unwrap();
    fs::copy(aside, old.join("copydesk.sqlite")).unwrap();
    assert_eq!(version(&serving(&old).await, "doc_a").await, 4);
}

#[tokio::test]
async fn what_is_no_intact_backup_is_not_restored() {
    let home = tempfile::tempdir().unwrap();
    let (data, target) = (home.path().join("data"), home.path().join("backup.sqlite"));
    let store = serving(&data).await;
    for number in 0..40 {
        store.commit(create(&format!("doc_{number}"))).await.unwrap();
    }
    back_up(&data, &target).await.unwrap();
    let whole = fs::read(&target).unwrap();
    let mut damaged = whole.clone();
    let middle = whole.len() / 2;
    damaged[middle..middle + 8_192].fill(0xa5);
    let into = home.path().join("into");
    let cases = [
        ("missing", None),
        ("cut off", Some(whole[..middle].to_vec())),
        ("damaged", Some(damaged)),
        ("something else", Some(b"Dear reader".repeat(1_000))),
        ("empty", Some(Vec::new())),
    ];
    for (case, content) in cases {
        let file = home.path().join("case.sqlite");
        fs::remove_file(&file).ok();
        if let Some(content) = content {
            fs::write(&file, content).unwrap();
        }
        assert!(restore(&file, &into, false).await.is_err(), "{case}");
        assert!(!into.exists(), "{case}");
    }
}

/// Sum of what a file has, and what it says of that.
async fn content(file: &Path) -> (ContentState, String) {
    let pool = SqlitePool::connect_with(at(file)).await.unwrap();
    let compared = content_sum::compare(&mut pool.acquire().await.unwrap()).await.unwrap();
    pool.close().await;
    compared
}

async fn change(file: &Path, sql: &'static str) {
    let pool = SqlitePool::connect_with(at(file)).await.unwrap();
    sqlx::raw_sql(sql).execute(&pool).await.unwrap();
    pool.close().await;
}

fn at(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(file).foreign_keys(false)
}

/// A backup with something in many tables, and the folder that it is in.
async fn full_backup() -> (tempfile::TempDir, std::path::PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let (data, target) = (home.path().join("data"), home.path().join("backup.sqlite"));
    let store = serving(&data).await;
    for number in 0..12 {
        let name = format!("doc_{number}");
        let mut batch = WriteBatch::from(create(&name)).with(append(&name, 0, 3));
        batch.push(snapshot(&name, 2, &"Some words, 1 2 3. ".repeat(60), 7));
        batch.push(line(&format!("document.{number}")));
        batch.push(setting(&name));
        store.commit(batch).await.unwrap();
    }
    back_up(&data, &target).await.unwrap();
    store.close().await;
    (home, target)
}

#[tokio::test]
async fn a_flipped_bit_in_a_backup_is_never_restored_silently() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (home, target) = full_backup().await;
    let whole = fs::read(&target).unwrap();
    let (state, sum) = content(&target).await;
    assert_eq!(state, ContentState::Whole);
    let mut refused = 0;
    let in_use: Vec<_> = (0..whole.len()).filter(|place| whole[*place] != 0).collect();
    for number in 0..80 {
        let (flipped, into) = (home.path().join("flipped"), home.path().join(format!("{number}")));
        let mut bytes = whole.clone();
        let (place, bit) = (in_use[random.usize(..in_use.len())], random.u8(..8));
        bytes[place] ^= 1 << bit;
        fs::write(&flipped, bytes).unwrap();
        if restore(&flipped, &into, false).await.is_err() {
            assert!(!into.join("copydesk.sqlite").exists());
            refused += 1;
            continue;
        }
        // What was flipped means nothing: it is in free space, say.
        let restored = content(&into.join("copydesk.sqlite")).await;
        assert_eq!(restored, (ContentState::Unknown, sum.clone()), "bit {bit} of byte {place}");
    }
    assert!(refused >= 60, "{refused} of 80 were refused");
}

#[tokio::test]
async fn a_sum_that_is_missing_or_wrong_is_damage_and_a_former_backup_has_none() {
    let (home, target) = full_backup().await;
    let changes = [
        "UPDATE snapshots SET content = replace(content, 'Dear', 'Deaf') WHERE version = 0",
        "UPDATE settings SET value = '2' WHERE key = 'doc_3'",
        "DELETE FROM settings WHERE key = 'doc_3'",
        "UPDATE settings SET value = replace(value, '1', '2') WHERE key = 'backup.content_sum'",
        "DELETE FROM settings WHERE key = 'backup.content_sum'",
        "UPDATE documents SET title = CAST(title AS BLOB) WHERE id = 'doc_3'",
    ];
    let (file, into) = (home.path().join("changed.sqlite"), home.path().join("into"));
    for sql in changes {
        fs::copy(&target, &file).unwrap();
        change(&file, sql).await;
        let refused = restore(&file, &into, false).await.unwrap_err().to_string();
        assert!(refused.contains("not what was backed up"), "{sql}: {refused}");
        let opened = VerifiedBackup::open(&file, DamagedContent::Accepted).await.unwrap();
        assert_eq!(opened.state(), ContentState::Damaged, "{sql}");
    }
    assert!(!into.exists());
    change(
        &file,
        "DELETE FROM settings WHERE key = 'backup.content_sum'; PRAGMA application_id = 0",
    )
    .await;
    let former = VerifiedBackup::open(&file, DamagedContent::Refused).await.unwrap();
    assert_eq!(former.state(), ContentState::Unknown);
    former.restore(&into, false).await.unwrap();
    // A server removes the sum of a backup that was put into its place by hand.
    let by_hand = home.path().join("by-hand");
    fs::create_dir(&by_hand).unwrap();
    let database = by_hand.join("copydesk.sqlite");
    fs::copy(&target, &database).unwrap();
    serving(&by_hand).await.close().await;
    assert_eq!(content(&database).await.0, ContentState::Unknown);
}

#[tokio::test]
async fn what_is_not_copydesks_in_a_backup_is_refused_whatever_its_sum_says() {
    let (home, target) = full_backup().await;
    let changes = [
        "CREATE TRIGGER owned AFTER INSERT ON tokens BEGIN UPDATE documents SET title = 'OWNED'; END",
        "CREATE VIEW titles AS SELECT title FROM documents",
        "CREATE TABLE notes (text TEXT)",
        "CREATE INDEX quicker ON documents (title)",
        "DROP TRIGGER updates_stay",
        "DROP TRIGGER audit_stays; CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT 1; END",
        "DROP VIEW updates; CREATE VIEW updates AS SELECT '' AS document, 1 AS version, '' AS client,
             '' AS changes, '' AS author, 0 AS at_ms, '' AS origin",
        "ALTER TABLE documents ADD COLUMN note TEXT",
    ];
    let (file, into) = (home.path().join("changed.sqlite"), home.path().join("into"));
    for sql in changes {
        fs::copy(&target, &file).unwrap();
        change(&file, sql).await;
        let pool = SqlitePool::connect_with(at(&file)).await.unwrap();
        content_sum::seal(&mut pool.acquire().await.unwrap()).await.unwrap();
        pool.close().await;
        for damaged in [DamagedContent::Refused, DamagedContent::Accepted] {
            let refused = VerifiedBackup::open(&file, damaged).await.unwrap_err().to_string();
            assert!(
                refused.contains("is not copydesk's") || refused.contains("is missing"),
                "{sql}: {refused}"
            );
        }
    }
    assert!(!into.exists());
}

#[tokio::test]
async fn a_backup_for_which_there_is_no_room_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let store = serving(&data).await;
    store.commit(create("doc_a")).await.unwrap();
    let nowhere = home.path().join("gone/backup.sqlite");
    let refused = back_up(&data, &nowhere).await.unwrap_err();
    assert!(refused.to_string().contains("backup.sqlite"), "{refused}");
    assert_eq!(names(home.path()), ["data"]);
}

#[tokio::test]
async fn a_damaged_page_is_told_as_what_it_is_and_so_is_a_change_that_cannot_be_stored() {
    let home = tempfile::tempdir().unwrap();
    let store = serving(home.path()).await;
    store.commit(create("doc_a")).await.unwrap();
    store.close().await;
    let refused = store.documents(None, None, 10).await.unwrap_err();
    assert!(matches!(refused, StoreError::Closed), "{refused}");
    let unreadable = StoreError::Database(sqlx::Error::RowNotFound);
    assert!(unreadable.in_plain_words().contains("could not be read"));
    assert!(unreadable.while_writing().in_plain_words().contains("could not be stored"));
    let database = home.path().join("copydesk.sqlite");
    let options = sqlx_sqlite::SqliteConnectOptions::new().filename(&database);
    let pool = SqlitePool::connect_with(options).await.unwrap();
    let query = "SELECT rootpage FROM sqlite_master WHERE name = 'documents'";
    let page: i64 = sqlx::query_scalar(query).fetch_one(&pool).await.unwrap();
    let bytes: i64 = sqlx::query_scalar("PRAGMA page_size").fetch_one(&pool).await.unwrap();
    pool.close().await;
    let (page, bytes) = (usize::try_from(page).unwrap(), usize::try_from(bytes).unwrap());
    let mut damaged = fs::read(&database).unwrap();
    damaged[(page - 1) * bytes..page * bytes].fill(0xa5);
    fs::write(&database, damaged).unwrap();
    let store = Store::open(home.path(), StoreAccess::Inspect).await.unwrap();
    let refused = store.documents(None, None, 10).await.unwrap_err();
    assert!(refused.in_plain_words().contains("could not be read"), "{refused}");
}

#[tokio::test]
async fn what_stands_in_the_log_beside_a_database_is_restored_with_it() {
    let home = tempfile::tempdir().unwrap();
    let (data, other) = (home.path().join("data"), home.path().join("other"));
    let store = serving(&data).await;
    for name in ["doc_a", "doc_b", "doc_c"] {
        store.commit(create(name)).await.unwrap();
    }
    // As a process that was killed leaves it: most of it is only in the log.
    copy_of_a_crash(&data, &other);
    let main = fs::metadata(other.join("copydesk.sqlite")).unwrap().len();
    assert!(fs::metadata(other.join("copydesk.sqlite-wal")).unwrap().len() > main);
    let restored = home.path().join("restored");
    restore(&other.join("copydesk.sqlite"), &restored, false).await.unwrap();
    let copy = serving(&restored).await;
    assert_eq!(copy.documents(None, None, 10).await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_server_does_not_begin_anew_where_only_the_database_itself_is_missing() {
    let home = tempfile::tempdir().unwrap();
    let (data, kept) = (home.path().join("data"), home.path().join("kept"));
    let (database, backup) = (data.join("copydesk.sqlite"), home.path().join("backup"));
    let store = serving(&data).await;
    store.commit(create("doc_a")).await.unwrap();
    store.close().await;
    back_up(&data, &backup).await.unwrap();
    for remains in ["copydesk.sqlite-wal", "copydesk.sqlite-updates"] {
        fs::rename(&database, &kept).unwrap();
        fs::remove_file(data.join("copydesk.sqlite-updates")).ok();
        fs::write(data.join(remains), "the newest of it").unwrap();
        let refused = Store::open(&data, StoreAccess::Serve).await.err().unwrap();
        assert!(refused.to_string().contains(remains), "{refused}");
        assert!(!database.exists());
        // A restore puts it aside: beside another database it would damage that.
        assert_eq!(restore(&backup, &data, true).await.unwrap(), None);
        assert!(!data.join(remains).exists());
        let store = serving(&data).await;
        assert_eq!(store.documents(None, None, 10).await.unwrap().len(), 1);
        store.close().await;
    }
}

#[tokio::test]
async fn a_server_does_not_begin_anew_where_a_restore_was_interrupted() {
    let home = tempfile::tempdir().unwrap();
    let store = serving(home.path()).await;
    store.commit(create("doc_a")).await.unwrap();
    store.close().await;
    let (database, aside) =
        (home.path().join("copydesk.sqlite"), home.path().join("copydesk.sqlite.replaced-1"));
    fs::rename(&database, &aside).unwrap();
    let refused = Store::open(home.path(), StoreAccess::Serve).await.err().unwrap();
    assert!(refused.to_string().contains("copydesk.sqlite.replaced-1"), "{refused}");
    assert!(!database.exists());
    fs::rename(&aside, &database).unwrap();
    let store = serving(home.path()).await;
    assert_eq!(store.documents(None, None, 10).await.unwrap().len(), 1);
}
