//! Connections to the embedded database and its migrations.

use std::path::Path;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

use super::StoreError;

static MIGRATIONS: Migrator = sqlx::migrate!("src/store/migrations/sqlite");

/// Reads are short and mostly come from the page cache.
const READERS: u32 = 4;

/// How long a statement waits for another process that writes: a command line issuing a token, say.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The one connection that writes.
pub(super) async fn connect_writer(database: &Path) -> Result<SqlitePool, StoreError> {
    let options = options()
        .filename(database)
        .journal_mode(SqliteJournalMode::Wal)
        // Acknowledged is durable: wait for the disk at every commit, and on macOS for the
        // drive's own cache too.
        .synchronous(SqliteSynchronous::Full)
        .pragma("fullfsync", "1")
        .pragma("checkpoint_fullfsync", "1");
    Ok(pool(1).connect_with(options).await?)
}

/// Connections that refuse to write.
pub(super) async fn connect_readers(database: &Path) -> Result<SqlitePool, StoreError> {
    let options = options().filename(database).pragma("query_only", "1");
    Ok(pool(READERS).connect_with(options).await?)
}

/// Connections to a database that is there, and stays byte for byte as it is.
pub(super) async fn connect_onlooker(database: &Path) -> Result<SqlitePool, StoreError> {
    let options = options().filename(database).read_only(true).pragma("query_only", "1");
    Ok(pool(READERS).connect_with(options).await?)
}

/// One connection for everything: a database in memory belongs to its connection.
pub(super) async fn connect_memory() -> Result<SqlitePool, StoreError> {
    Ok(pool(1).min_connections(1).connect_with(options().in_memory(true)).await?)
}

/// Creates the tables, or changes those of an older version.
pub(super) async fn migrate(pool: &SqlitePool) -> Result<(), StoreError> {
    Ok(MIGRATIONS.run(pool).await?)
}

/// A visitor beside a running server changes no tables; it must know the same ones.
pub(super) async fn check_shape(pool: &SqlitePool) -> Result<(), StoreError> {
    let needed = MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0);
    let found: Option<i64> = sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations")
        .fetch_one(pool)
        .await
        // No such table: the server has only just created the file.
        .unwrap_or(None);
    match found.unwrap_or(0) {
        found if found == needed => Ok(()),
        found => Err(StoreError::Shape { found, needed }),
    }
}

fn options() -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .disable_statement_logging()
}

fn pool(size: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(size)
        .idle_timeout(None)
        .max_lifetime(None)
        // An embedded database does not hang up.
        .test_before_acquire(false)
}
