//! A backup takes the place of what a PostgreSQL database has, which is set aside and complete.

use std::path::PathBuf;

use sqlx_postgres::PgConnection;
use tempfile::TempDir;

use crate::database::postgres::session;

use super::*;

/// A new PostgreSQL database, a backup with the document `doc_backup`, and where that is; without a
/// server the story is skipped.
macro_rules! prepared {
    () => {
        match Prepared::new().await {
            Some(prepared) => prepared,
            None => return,
        }
    };
}

struct Prepared {
    database: TestDatabase,
    url: DatabaseUrl,
    _home: TempDir,
    backup: PathBuf,
}

impl Prepared {
    async fn new() -> Option<Self> {
        let database = TestDatabase::postgres().await?;
        let StorePlace::Postgres(url) = database.place() else { unreachable!() };
        let home = tempfile::tempdir().unwrap();
        let (data, backup) = (home.path().join("data"), home.path().join("backup.sqlite"));
        let store = Store::open(&data, StoreAccess::Serve).await.unwrap();
        store.commit(create("doc_backup")).await.unwrap();
        store.commit(append("doc_backup", 0, 3)).await.unwrap();
        store.close().await;
        back_up(&data, &backup).await.unwrap();
        Some(Self { database, url, _home: home, backup })
    }

    async fn replaces(&self) -> StoreResult<Option<String>> {
        let replaced = restore_postgres(&self.backup, &self.url, ExistingData::SetAside).await;
        replaced.map(|restored| restored.set_aside)
    }

    async fn shell(&self) -> PgConnection {
        session::connect(&self.url).await.unwrap()
    }

    async fn asks(&self, sql: String) -> Vec<String> {
        let sql = sqlx::AssertSqlSafe(sql);
        sqlx::query_scalar(sql).fetch_all(&mut self.shell().await).await.unwrap()
    }
}

/// A server of the database has the document `doc_old`.
async fn has_old_document(prepared: &Prepared) {
    let store = prepared.database.store().await;
    store.commit(WriteBatch::from(create("doc_old")).with(line("old"))).await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn what_was_there_is_set_aside_whole_and_work_goes_on_in_the_backup() {
    let prepared = prepared!();
    has_old_document(&prepared).await;
    let aside = prepared.replaces().await.unwrap().expect("something was there");
    let store = prepared.database.store().await;
    assert!(store.load(&"doc_old".into()).await.unwrap().is_none());
    assert_eq!(version(&store, "doc_backup").await, 3);
    store.commit(append("doc_backup", 3, 1)).await.unwrap();
    store.commit(line("new")).await.unwrap();
    store.verify_audit().await.unwrap();
    store.close().await;
    let old = prepared.asks(format!("SELECT id FROM {aside}.documents")).await;
    assert_eq!(old, ["doc_old"]);
    let tables = |schema: &str| {
        format!(
            "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'i', 'S') AND
             relnamespace = '{schema}'::regnamespace ORDER BY 1"
        )
    };
    let (old, new) = (prepared.asks(tables(&aside)).await, prepared.asks(tables("public")).await);
    assert_eq!(old, new, "tables, their indexes and their sequences");
    let functions = format!(
        "SELECT proname::text FROM pg_proc WHERE pronamespace = '{aside}'::regnamespace ORDER BY 1"
    );
    assert_eq!(
        prepared.asks(functions).await,
        ["json_each", "refuse_change", "refuse_other_change"]
    );
    // A second time: both are kept.
    let other = prepared.replaces().await.unwrap().expect("something was there");
    assert_ne!(other, aside);
    assert_eq!(prepared.asks(format!("SELECT id FROM {other}.documents")).await, ["doc_backup"]);
}

#[tokio::test]
async fn nothing_is_set_aside_where_nothing_was() {
    let prepared = prepared!();
    assert_eq!(prepared.replaces().await.unwrap(), None);
    assert_eq!(version(&prepared.database.store().await, "doc_backup").await, 3);
}

#[tokio::test]
async fn what_a_server_or_a_backup_uses_is_not_replaced() {
    let prepared = prepared!();
    has_old_document(&prepared).await;
    let server = prepared.database.store().await;
    let refused = prepared.replaces().await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    server.close().await;
    let (node, _) = Store::join(prepared.url.clone(), "http://127.0.0.1:1").await.unwrap();
    let refused = prepared.replaces().await.unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    node.close().await;
    let mut reader = prepared.shell().await;
    // As a backup, which may take its time.
    let reads = "SET idle_in_transaction_session_timeout = 0;
         BEGIN; SELECT COUNT(*) FROM documents";
    sqlx::raw_sql(reads).execute(&mut reader).await.unwrap();
    let refused = prepared.replaces().await.unwrap_err();
    assert!(refused.to_string().contains("something else uses its tables"), "{refused}");
    drop(reader);
    let old = prepared.asks("SELECT id FROM documents".to_owned()).await;
    assert_eq!(old, ["doc_old"]);
}

#[tokio::test]
async fn tables_of_others_stay_and_those_of_a_newer_version_are_not_mixed_up_with_them() {
    let prepared = prepared!();
    has_old_document(&prepared).await;
    let mut shell = prepared.shell().await;
    let run = async |shell: &mut PgConnection, sql: &'static str| {
        sqlx::raw_sql(sql).execute(shell).await.unwrap();
    };
    run(&mut shell, "CREATE TABLE invoices (number BIGINT); INSERT INTO invoices VALUES (7)").await;
    assert!(prepared.replaces().await.unwrap().is_some());
    let kept = prepared.asks("SELECT number::text FROM public.invoices".to_owned()).await;
    assert_eq!(kept, ["7"]);
    let newer = "INSERT INTO _sqlx_migrations
         (version, description, success, checksum, execution_time)
         VALUES (9999, 'of a newer version', TRUE, '', 0)";
    run(&mut shell, newer).await;
    let refused = prepared.replaces().await.unwrap_err().to_string();
    assert!(refused.contains("does not know invoices"), "{refused}");
    run(&mut shell, "DROP TABLE invoices").await;
    assert!(prepared.replaces().await.unwrap().is_some());
    prepared.database.store().await.close().await;
}

#[tokio::test]
async fn a_server_that_has_lost_its_session_meets_no_other_under_its_number() {
    let prepared = prepared!();
    let (first, _) = Store::join(prepared.url.clone(), "http://127.0.0.1:1").await.unwrap();
    first.commit(create("doc_old")).await.unwrap();
    let before = prepared.asks("SELECT number::text FROM nodes".to_owned()).await;
    first.close().await;
    prepared.replaces().await.unwrap();
    let (second, _) = Store::join(prepared.url.clone(), "http://127.0.0.1:2").await.unwrap();
    let after = prepared.asks("SELECT number::text FROM nodes".to_owned()).await;
    second.close().await;
    let number = |all: &[String]| all[0].parse::<i64>().unwrap();
    assert!(number(&after) > number(&before), "{before:?} {after:?}");
}
