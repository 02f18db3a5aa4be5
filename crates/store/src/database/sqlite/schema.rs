//! Schema of a database, compared with the one that the migrations make.

use std::collections::BTreeMap;

use sqlx::migrate::Migrator;
use sqlx_sqlite::SqliteConnection;

use super::connect_memory;
use crate::database::migrations;
use crate::{StoreError, StoreResult};

/// Tables, indexes, views and triggers: their SQL without differences of blanks, by kind and name.
type SchemaObjects = BTreeMap<(String, String), String>;

/// Returns what is in a database and is not as the migrations make it: a foreign trigger, say.
pub(crate) async fn foreign(db: &mut SqliteConnection) -> StoreResult<Vec<String>> {
    let (found, ours) = found_and_ours(db).await?;
    Ok(foreign_objects(&found, &ours))
}

/// Checks that a database has everything that the migrations make, word for word, and nothing else.
pub(crate) async fn check(db: &mut SqliteConnection, what: &str) -> StoreResult<()> {
    let (found, ours) = found_and_ours(db).await?;
    let mut differences = foreign_objects(&found, &ours);
    let missing = ours.keys().filter(|object| !found.contains_key(*object));
    differences.extend(missing.map(|(kind, name)| format!("the {kind} {name} is missing")));
    match differences.as_slice() {
        [] => Ok(()),
        differences => Err(StoreError::corrupt(what, &differences.join("; "))),
    }
}

fn foreign_objects(found: &SchemaObjects, ours: &SchemaObjects) -> Vec<String> {
    let foreign = found.iter().filter(|(object, sql)| ours.get(*object) != Some(*sql));
    foreign.map(|((kind, name), _)| format!("the {kind} {name} is not copydesk's")).collect()
}

async fn found_and_ours(db: &mut SqliteConnection) -> StoreResult<(SchemaObjects, SchemaObjects)> {
    let sql = "SELECT MAX(version) FROM main._sqlx_migrations";
    let version: Option<i64> = sqlx::query_scalar(sql).fetch_one(&mut *db).await?;
    Ok((objects(db).await?, ours(version.unwrap_or(0)).await?))
}

async fn ours(version: i64) -> StoreResult<SchemaObjects> {
    let known = migrations::SQLITE.iter().filter(|it| it.version <= version).cloned();
    let memory = connect_memory().await?;
    Migrator::with_migrations(known.collect()).run(&memory).await?;
    let found = objects(&mut *memory.acquire().await?).await;
    memory.close().await;
    found
}

async fn objects(db: &mut SqliteConnection) -> StoreResult<SchemaObjects> {
    let sql = "SELECT type, name, COALESCE(sql, '') FROM main.sqlite_master";
    let found: Vec<(String, String, String)> = sqlx::query_as(sql).fetch_all(db).await?;
    let objects = found.into_iter().filter(|(kind, name, sql)| !is_of_sqlite(kind, name, sql));
    Ok(objects.map(|(kind, name, sql)| ((kind, name), words(&sql))).collect())
}

fn is_of_sqlite(kind: &str, name: &str, sql: &str) -> bool {
    match kind {
        "table" => ["sqlite_sequence", "sqlite_stat1", "sqlite_stat4"].contains(&name),
        "index" => name.starts_with("sqlite_autoindex_") && sql.is_empty(),
        _ => false,
    }
}

fn words(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}
