//! Everything that is stored moves from one database to the other and back, or nothing does.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::database::columns::ColumnType;
use crate::database::postgres::session;
use crate::database::sqlite;
use crate::database::transfer::is_own_setting;
use crate::database::transfer::side::TransferSide;
use crate::database::transfer::tables::{COPIED, LEFT_IN_POSTGRES, LEFT_IN_SQLITE, NUMBERED};
use crate::database::transfer::values::{CarriedValue, TableDigest};

use super::*;

/// Rows of each table, apart from those that a story adds.
const ROWS: i64 = 3;

/// A new PostgreSQL database; without a server the story is skipped.
macro_rules! postgres {
    () => {
        match TestDatabase::postgres().await {
            Some(database) => database,
            None => return,
        }
    };
}

/// Opens a place to look into its tables.
async fn look_into(place: &StorePlace) -> TransferSide {
    match place {
        StorePlace::Directory(path) => {
            sqlite::open_side(&path.join("copydesk.sqlite")).await.unwrap()
        }
        StorePlace::Postgres(url) => TransferSide::Postgres(session::connect(url).await.unwrap()),
    }
}

/// A value that tells its row, table and column, or the row that the column refers to.
fn value(table: &str, column: &str, of: ColumnType, row: i64) -> CarriedValue {
    let name = |what: &str| CarriedValue::Text(format!("{what}_{row}"));
    match (table, column, of) {
        ("documents", "id", _) | (_, "document", _) => name("doc"),
        ("requests", "id", _) | (_, "request", _) => name("req"),
        ("webhooks", "id", _) | (_, "hook", _) => name("hook"),
        ("comment_threads", "id", _) | (_, "thread", _) => name("thr"),
        ("logins", "user_id", _) | ("tokens", "login", _) => name("login"),
        (_, _, ColumnType::Integer) => {
            CarriedValue::Number(row * 1_000 + i64::try_from(column.len()).unwrap())
        }
        (_, _, ColumnType::Boolean) => CarriedValue::Number(row % 2),
        (_, _, ColumnType::Text | ColumnType::Bytes) => {
            CarriedValue::Text(format!("{table}.{column} {row} é\u{1f600}'\"\\\n\t%"))
        }
    }
}

/// Columns of a table that may have no value.
async fn optional(side: &mut TransferSide, table: &str) -> BTreeSet<String> {
    let TransferSide::Sqlite(db) = side else { unreachable!() };
    let sql = "SELECT name FROM pragma_table_info($1) WHERE \"notnull\" = 0 AND pk = 0";
    let table = if table == "updates" { "update_log" } else { table };
    let names: Vec<String> = sqlx::query_scalar(sql).bind(table).fetch_all(db).await.unwrap();
    names.into_iter().collect()
}

/// Makes a data directory in which each table has rows, and the audit log has lines.
async fn filled(directory: &Path) -> StorePlace {
    let store = Store::open(directory, StoreAccess::Serve).await.unwrap();
    for action in ["one", "two", "three"] {
        store.commit(line(action)).await.unwrap();
    }
    store.close().await;
    let mut side = sqlite::create_side(&directory.join("copydesk.sqlite")).await.unwrap();
    for table in COPIED.into_iter().filter(|table| *table != "audit") {
        let columns = side.columns(table).await.unwrap();
        let optional = optional(&mut side, table).await;
        let row = |row: i64| -> Vec<CarriedValue> {
            let value = |(name, of): &(String, ColumnType)| {
                let is_missing = row == ROWS && optional.contains(name);
                if is_missing { CarriedValue::Missing } else { value(table, name, *of, row) }
            };
            columns.iter().map(value).collect()
        };
        let rows: Vec<_> = (1..=ROWS).map(row).collect();
        side.insert(table, &columns, &rows).await.unwrap();
    }
    // Numbers that were given and are no more.
    side.number_after("outbox", 9_000).await.unwrap();
    side.close().await;
    directory.into()
}

/// The rows of each table as digests, and the last numbers that were given.
async fn digests(place: &StorePlace) -> (Vec<(&'static str, TableDigest)>, Vec<i64>) {
    let (mut side, mut digests, mut numbers) = (look_into(place).await, Vec::new(), Vec::new());
    for table in COPIED {
        let (columns, mut digest) = (side.columns(table).await.unwrap(), TableDigest::default());
        let each = side.each_row(table, &columns, async |row| {
            if !is_own_setting(table, &columns, &row) {
                digest.add(&row);
            }
            Ok(())
        });
        each.await.unwrap();
        digests.push((table, digest));
    }
    for table in NUMBERED {
        numbers.push(side.last_number(table).await.unwrap());
    }
    side.close().await;
    (digests, numbers)
}

#[tokio::test]
async fn everything_moves_to_postgres_and_back_and_reads_the_same() {
    let (home, database) = (tempfile::tempdir().unwrap(), postgres!());
    let from = filled(&home.path().join("from")).await;
    let before = digests(&from).await;
    for (table, digest) in &before.0 {
        assert!(digest.rows >= ROWS as u64, "{table}: {digest:?}");
    }
    let report = transfer(&from, &database.place()).await.unwrap();
    assert_eq!((report.audit.unwrap().seq, report.counts.replaced), (3, 0));
    assert_eq!(digests(&database.place()).await, before);
    let copied: Vec<_> = report.counts.rows.iter().map(|(_, rows)| *rows).collect();
    let there: Vec<_> = before.0.iter().map(|(_, digest)| digest.rows).collect();
    assert_eq!(copied, there);

    let back = StorePlace::Directory(home.path().join("back"));
    transfer(&database.place(), &back).await.unwrap();
    assert_eq!(digests(&back).await, before);
    assert_eq!(digests(&from).await, before, "what was copied stays as it was");
}

#[tokio::test]
async fn work_goes_on_in_a_copy_with_numbers_that_were_never_given() {
    let (home, database) = (tempfile::tempdir().unwrap(), postgres!());
    let from = filled(&home.path().join("from")).await;
    transfer(&from, &database.place()).await.unwrap();
    let store = database.store().await;
    store.commit(WriteBatch::from(create("doc_new")).with(line("four"))).await.unwrap();
    assert_eq!(store.verify_audit().await.unwrap().seq, 4);
    let sql = "INSERT INTO outbox (id, hook, event, body, attempts, next_ms)
         VALUES ('x', 'hook_1', 'e', '{}', 0, 0)";
    database.run(&store, sql).await.unwrap();
    store.close().await;
    let (_, numbers) = digests(&database.place()).await;
    assert_eq!(numbers, [before_decisions(&from).await, 9_001]);
}

async fn before_decisions(place: &StorePlace) -> i64 {
    look_into(place).await.last_number("decisions").await.unwrap()
}

#[tokio::test]
async fn every_table_of_both_databases_is_copied_or_left_for_a_reason() {
    let home = tempfile::tempdir().unwrap();
    let directory = StorePlace::from(home.path());
    Store::open(directory.clone(), StoreAccess::Serve).await.unwrap().close().await;
    let names = |names: &[&[&str]]| -> BTreeSet<String> {
        names.concat().into_iter().map(str::to_owned).collect()
    };
    let mut side = look_into(&directory).await;
    let found: BTreeSet<_> = side.tables().await.unwrap().into_iter().collect();
    let list = "list a new table in store/database/transfer/tables.rs";
    assert_eq!(found, names(&[&COPIED, &LEFT_IN_SQLITE]), "{list}");
    let database = postgres!();
    database.store().await.close().await;
    let mut other = look_into(&database.place()).await;
    let found: BTreeSet<_> = other.tables().await.unwrap().into_iter().collect();
    assert_eq!(found, names(&[&COPIED, &LEFT_IN_POSTGRES]), "{list}");
    for table in COPIED {
        let columns = |all: Vec<(String, ColumnType)>| -> Vec<String> {
            all.into_iter().map(|(name, _)| name).collect()
        };
        let here = columns(side.columns(table).await.unwrap());
        assert_eq!(here, columns(other.columns(table).await.unwrap()), "{table}");
    }
    let TransferSide::Sqlite(db) = &mut side else { unreachable!() };
    let sql = "SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%' ORDER BY name";
    let numbered: Vec<String> = sqlx::query_scalar(sql).fetch_all(db).await.unwrap();
    assert_eq!(numbered, NUMBERED, "{list}");
}

#[tokio::test]
async fn a_table_that_is_not_known_stops_a_copy() {
    let (home, database) = (tempfile::tempdir().unwrap(), postgres!());
    let from = filled(&home.path().join("from")).await;
    let file = home.path().join("from/copydesk.sqlite");
    let mut side = sqlite::create_side(&file).await.unwrap();
    side.run("CREATE TABLE comments (id TEXT)").await.unwrap();
    side.close().await;
    let refused = transfer(&from, &database.place()).await.unwrap_err();
    assert!(refused.to_string().contains("the table comments"), "{refused}");
    assert!(!Store::is_at(&database.place()).await.unwrap());
}

#[tokio::test]
async fn only_an_empty_place_is_filled() {
    let (home, database) = (tempfile::tempdir().unwrap(), postgres!());
    let from = filled(&home.path().join("from")).await;
    let store = database.store().await;
    store.commit(setting("mine")).await.unwrap();
    let running = transfer(&from, &database.place()).await.unwrap_err();
    assert!(matches!(running, StoreError::InUse { .. }), "{running}");
    store.close().await;
    let refused = transfer(&from, &database.place()).await.unwrap_err();
    assert!(matches!(refused, StoreError::HasData { .. }), "{refused}");
    let other = filled(&home.path().join("other")).await;
    let refused = transfer(&from, &other).await.unwrap_err();
    assert!(matches!(refused, StoreError::HasData { .. }), "{refused}");
    // A directory with other files is as good as an empty one: the owner's token may be there.
    let kept = home.path().join("kept");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("owner.token"), "cdk_x").unwrap();
    transfer(&database.place(), &StorePlace::Directory(kept.clone())).await.unwrap();
    assert_eq!(fs::read_to_string(kept.join("owner.token")).unwrap(), "cdk_x");
}

#[tokio::test]
async fn a_source_that_is_used_or_of_another_version_is_not_copied() {
    let (home, database) = (tempfile::tempdir().unwrap(), postgres!());
    let from = StorePlace::Directory(home.path().join("from"));
    let store = Store::open(from.clone(), StoreAccess::Serve).await.unwrap();
    let refused = transfer(&from, &database.place()).await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    store.close().await;
    let file = home.path().join("from/copydesk.sqlite");
    let mut side = sqlite::create_side(&file).await.unwrap();
    side.run("UPDATE _sqlx_migrations SET version = 9999 WHERE version = 1").await.unwrap();
    side.close().await;
    let refused = transfer(&from, &database.place()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Shape { found: 9999, .. }), "{refused}");
    assert!(!Store::is_at(&database.place()).await.unwrap());
    let nothing = StorePlace::Directory(home.path().join("nothing"));
    assert!(transfer(&nothing, &database.place()).await.is_err());
    assert!(!home.path().join("nothing").exists());
    let served = database.store().await;
    let to = StorePlace::Directory(home.path().join("to"));
    let refused = transfer(&database.place(), &to).await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    served.close().await;
}

/// Interrupts a copy ever later. What it leaves is empty, or refused, or complete.
async fn is_all_or_nothing(from: &StorePlace, to: &StorePlace, expected: &[(&str, TableDigest)]) {
    let mut refusals = 0;
    // Nothing stays of an attempt that was interrupted early, so the next one is not quicker.
    for delay_us in std::iter::successors(Some(500_u64), |delay| Some(delay + delay / 10)) {
        let patience = Duration::from_micros(delay_us);
        let is_done = match tokio::time::timeout(patience, transfer(from, to)).await {
            // The second: it was interrupted after the last row was committed.
            Ok(Ok(_) | Err(StoreError::HasData { .. })) => true,
            // PostgreSQL may not have noticed yet that the attempt before is over.
            Ok(Err(StoreError::InUse { .. })) => continue,
            Ok(Err(error)) => panic!("{error}"),
            Err(_) => false,
        };
        if is_done {
            break;
        }
        match Store::is_at(to).await {
            Err(StoreError::Incomplete { .. }) => refusals += 1,
            Ok(false) => {}
            Ok(true) => {
                let (found, _) = digests(to).await;
                if found.iter().any(|(_, digest)| digest.rows > 0) {
                    // The last statement has come through.
                    assert_eq!(found, expected);
                    break;
                }
                // There are tables, and nothing was copied yet.
                continue;
            }
            Err(error) => panic!("{error}"),
        }
        let opened = Store::open(to.clone(), StoreAccess::Visit).await;
        let is_refused =
            matches!(opened, Err(StoreError::Incomplete { .. } | StoreError::Shape { .. }));
        assert!(is_refused || refusals == 0, "{opened:?}");
        if let Ok(store) = opened {
            store.close().await;
            // A visitor makes a new data directory, which is no part of the story.
            if let StorePlace::Directory(path) = to {
                fs::remove_dir_all(path).unwrap();
            }
        }
    }
    assert!(refusals > 0, "no attempt was interrupted in its middle");
    assert_eq!(digests(to).await.0, expected);
}

#[tokio::test]
async fn a_copy_that_is_interrupted_is_refused_and_can_be_made_again() {
    let (home, database) = (tempfile::tempdir().unwrap(), postgres!());
    let from = filled(&home.path().join("from")).await;
    let store = Store::open(from.clone(), StoreAccess::Serve).await.unwrap();
    store.commit(WriteBatch::from(create("doc_a")).with(append("doc_a", 0, 3_000))).await.unwrap();
    store.close().await;
    let (expected, _) = digests(&from).await;
    is_all_or_nothing(&from, &database.place(), &expected).await;
    let back = StorePlace::Directory(home.path().join("back"));
    is_all_or_nothing(&database.place(), &back, &expected).await;
}

#[tokio::test]
async fn a_text_of_a_document_keeps_nul_and_other_texts_say_that_they_lost_it() {
    let (home, database) = (tempfile::tempdir().unwrap(), postgres!());
    let from = StorePlace::Directory(home.path().join("from"));
    let store = Store::open(from.clone(), StoreAccess::Serve).await.unwrap();
    let text = "a\0b".to_owned();
    store.commit(StoreOp::CreateDocument { record: record("doc_a"), text }).await.unwrap();
    let value = "x\0y".to_owned();
    store.commit(StoreOp::PutSetting { key: "odd".to_owned(), value }).await.unwrap();
    store.close().await;
    let report = transfer(&from, &database.place()).await.unwrap();
    assert_eq!(report.counts.replaced, 1);
    let copy = database.store().await;
    assert_eq!(copy.load(&"doc_a".into()).await.unwrap().unwrap().text, "a\0b");
    assert_eq!(copy.setting("odd").await.unwrap().unwrap(), "x\u{fffd}y");
}

#[tokio::test]
async fn a_backup_of_postgres_under_load_is_of_one_moment_and_restores_into_either() {
    let (home, database, other) = (tempfile::tempdir().unwrap(), postgres!(), postgres!());
    let (StorePlace::Postgres(url), StorePlace::Postgres(into)) = (database.place(), other.place())
    else {
        unreachable!()
    };
    let store = database.store().await;
    store.commit(create("doc_a")).await.unwrap();
    let writing = store.clone();
    let writer = tokio::spawn(async move {
        for version in 0..300 {
            // One batch: in no copy is there one without the other.
            let batch = WriteBatch::from(append("doc_a", version, 1)).with(line("edited"));
            writing.commit(batch).await.unwrap();
        }
    });
    while store.counts().batches < 50 {
        tokio::task::yield_now().await;
    }
    let target = home.path().join("backup.sqlite");
    back_up_postgres(&url, &target).await.unwrap();
    let again = back_up_postgres(&url, &target).await.unwrap_err();
    assert!(again.to_string().contains("exists"), "{again}");
    writer.await.unwrap();
    let left: Vec<_> = fs::read_dir(home.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left beside it: {left:?}");

    let restored = home.path().join("restored");
    restore(&target, &restored, false).await.unwrap();
    restore_postgres(&target, &into, ExistingData::Refused).await.unwrap();
    let refused = restore_postgres(&target, &into, ExistingData::Refused).await.unwrap_err();
    assert!(matches!(refused, StoreError::HasData { .. }), "{refused}");
    let mut versions = Vec::new();
    for place in [StorePlace::Directory(restored), other.place()] {
        let copy = Store::open(place, StoreAccess::Serve).await.unwrap();
        let version = version(&copy, "doc_a").await;
        let lines = copy.audit(Some(&"doc_a".into()), None, u32::MAX).await.unwrap();
        assert_eq!(lines.len() as u64, version);
        copy.verify_audit().await.unwrap();
        copy.commit(append("doc_a", version, 1)).await.unwrap();
        versions.push(version);
    }
    assert!((49..=300).contains(&versions[0]) && versions[0] == versions[1], "{versions:?}");
}

#[tokio::test]
async fn a_file_that_is_no_backup_fills_no_database() {
    let (home, database) = (tempfile::tempdir().unwrap(), postgres!());
    let StorePlace::Postgres(url) = database.place() else { unreachable!() };
    let file = home.path().join("case.sqlite");
    for content in [&b"Dear reader"[..], b""] {
        fs::write(&file, content).unwrap();
        assert!(restore_postgres(&file, &url, ExistingData::Refused).await.is_err());
    }
    assert!(!Store::is_at(&database.place()).await.unwrap());
}

#[tokio::test]
async fn a_backup_whose_content_was_changed_fills_no_database() {
    let (home, source, target) = (tempfile::tempdir().unwrap(), postgres!(), postgres!());
    let (StorePlace::Postgres(from), StorePlace::Postgres(to)) = (source.place(), target.place())
    else {
        unreachable!()
    };
    let store = source.store().await;
    store.commit(WriteBatch::from(create("doc_a")).with(setting("key"))).await.unwrap();
    store.close().await;
    let file = home.path().join("backup.sqlite");
    back_up_postgres(&from, &file).await.unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let place = bytes.windows(11).position(|it| it == b"Dear reader").unwrap();
    bytes[place] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let refused = restore_postgres(&file, &to, ExistingData::Refused).await.unwrap_err();
    assert!(refused.to_string().contains("not what was backed up"), "{refused}");
    assert!(!Store::is_at(&target.place()).await.unwrap());
    bytes[place] ^= 1;
    fs::write(&file, &bytes).unwrap();
    restore_postgres(&file, &to, ExistingData::Refused).await.unwrap();
    let restored = target.store().await;
    assert_eq!(restored.setting("backup.content_sum").await.unwrap(), None);
}
