//! Sum over everything that a backup has, by which damage is noticed before it is restored.
//!
//! It is over the content and not over the bytes of the file, because it lies in the file: every
//! row of every table, and the schema, but not free pages or the order of pages.

use std::path::Path;

use futures_util::TryStreamExt as _;
use sha2::{Digest as _, Sha256};
use sqlx::{AssertSqlSafe, Row as _};
use sqlx_sqlite::{SqliteConnection, SqlitePool};

use super::connect_file;
use crate::{StoreError, StoreResult};
use copydesk_ids::hex;

/// Key of the setting with the sum. It is in no running server's database.
pub(crate) const SETTING: &str = "backup.content_sum";

/// Mark in the head of a file that has a sum (`CPYD`): a sum that is missing there is damage.
const MARK: i32 = 0x4350_5944;

/// State of a file's content, by the sum in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentState {
    /// It is what the sum is of.
    Whole,
    /// It is not what the sum is of.
    Damaged,
    /// There is no sum, as in backups of former versions.
    Unknown,
}

pub(crate) async fn seal(file: &mut SqliteConnection) -> StoreResult<()> {
    let sum = of(file).await?;
    let sql = "INSERT INTO settings (key, value) VALUES ($1, $2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    sqlx::query(sql).bind(SETTING).bind(sum).execute(&mut *file).await?;
    let mark = AssertSqlSafe(format!("PRAGMA application_id = {MARK}"));
    sqlx::raw_sql(mark).execute(file).await?;
    Ok(())
}

/// Removes the sum from a database that is opened to be changed, such as a file put there by hand.
pub(crate) async fn note_change(writers: &SqlitePool) {
    let unsealed = async {
        let mut connection = writers.acquire().await?;
        if stored(&mut connection).await? != (None, false) {
            unseal(&mut connection).await?;
        }
        Ok::<_, StoreError>(())
    };
    if let Err(error) = unsealed.await {
        tracing::warn!(%error, "the sum of a backup stays in the database");
    }
}

pub(crate) async fn seal_file(copy: &Path) -> StoreResult<()> {
    let only = connect_file(copy).await?;
    let sealed = match only.acquire().await {
        Ok(mut connection) => seal(&mut connection).await,
        Err(error) => Err(error.into()),
    };
    only.close().await;
    sealed
}

async fn stored(file: &mut SqliteConnection) -> StoreResult<(Option<String>, bool)> {
    let sql = "SELECT value FROM settings WHERE key = $1";
    let stored = sqlx::query_scalar(sql).bind(SETTING).fetch_optional(&mut *file).await?;
    let mark: i32 = sqlx::query_scalar("PRAGMA application_id").fetch_one(file).await?;
    Ok((stored, mark == MARK))
}

pub(crate) async fn unseal(file: &mut SqliteConnection) -> StoreResult<()> {
    sqlx::query("DELETE FROM settings WHERE key = $1").bind(SETTING).execute(&mut *file).await?;
    sqlx::raw_sql("PRAGMA application_id = 0").execute(file).await?;
    Ok(())
}

/// Compares the content of a file with the sum in it; returns the sum of the content, too.
pub(crate) async fn compare(file: &mut SqliteConnection) -> StoreResult<(ContentState, String)> {
    let sum = of(file).await?;
    let state = match stored(file).await? {
        (Some(stored), _) if stored == sum => ContentState::Whole,
        (None, false) => ContentState::Unknown,
        _ => ContentState::Damaged,
    };
    Ok((state, sum))
}

async fn of(file: &mut SqliteConnection) -> StoreResult<String> {
    let mut sum = Sha256::new();
    // What `ANALYZE` counts is no content.
    let sql = "SELECT type, name, tbl_name, COALESCE(sql, '') FROM sqlite_master
         WHERE name NOT LIKE 'sqlite!_stat%' ESCAPE '!' ORDER BY type, name";
    let schema: Vec<(String, String, String, String)> =
        sqlx::query_as(sql).fetch_all(&mut *file).await?;
    for (kind, name, table, sql) in &schema {
        for text in [kind, name, table, sql] {
            add(&mut sum, text.as_bytes());
        }
    }
    for (_, table, ..) in schema.iter().filter(|(kind, ..)| kind == "table") {
        add_table(&mut sum, file, table).await?;
    }
    Ok(hex(&sum.finalize()))
}

/// Adds a table's rows in the order of its key, as bytes, so that damaged values are read too.
async fn add_table(sum: &mut Sha256, file: &mut SqliteConnection, table: &str) -> StoreResult<()> {
    let sql = "SELECT name FROM pragma_table_info($1) ORDER BY cid";
    let columns: Vec<String> = sqlx::query_scalar(sql).bind(table).fetch_all(&mut *file).await?;
    let values: Vec<_> = columns.iter().map(|column| quoted(column)).collect();
    let values: Vec<_> =
        values.iter().map(|value| format!("typeof({value}), CAST({value} AS BLOB)")).collect();
    let but_itself =
        if table == "settings" { format!("WHERE key <> '{SETTING}'") } else { String::new() };
    let sql =
        format!("SELECT {} FROM {} NOT INDEXED {but_itself}", values.join(", "), quoted(table));
    let mut rows = sqlx::query(AssertSqlSafe(sql)).fetch(file);
    while let Some(row) = rows.try_next().await? {
        for column in 0..columns.len() {
            let kind: &str = row.try_get(2 * column)?;
            let value: Option<&[u8]> = row.try_get(2 * column + 1)?;
            add(sum, kind.as_bytes());
            add(sum, value.unwrap_or_default());
        }
    }
    add(sum, b"end of the table");
    Ok(())
}

fn add(sum: &mut Sha256, value: &[u8]) {
    sum.update((value.len() as u64).to_be_bytes());
    sum.update(value);
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

pub(crate) fn damaged(what: &str) -> StoreError {
    StoreError::corrupt(what, "its content is not what was backed up")
}
