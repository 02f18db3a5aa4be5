//! Connections to the embedded database and its migrations.

pub(crate) mod rows;
pub(crate) mod statement_batch;
pub(crate) mod writer;

use std::path::Path;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::migrate::Migrator;
use sqlx_sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

use super::StoreError;

static MIGRATIONS: Migrator = sqlx::migrate!("src/store/migrations/sqlite");

/// Number of reading connections. Reads are short and mostly come from the page cache.
const READERS: u32 = 4;

/// Size of the writer's page cache, at most: the ends of the logs of some thousand documents that
/// are being written. Negative: in KiB.
const WRITER_CACHE: &str = "-16384";

/// Longest wait of a statement for another process that writes: a command line issuing a token,
/// say.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens the one connection that writes.
pub(super) async fn connect_writer(database: &Path) -> Result<SqlitePool, StoreError> {
    let options = options()
        .filename(database)
        .journal_mode(SqliteJournalMode::Wal)
        // Acknowledged is durable: wait for the disk at every commit, and on macOS for the
        // drive's own cache too.
        .synchronous(SqliteSynchronous::Full)
        .pragma("cache_size", WRITER_CACHE)
        .pragma("fullfsync", "1")
        .pragma("checkpoint_fullfsync", "1");
    Ok(pool(1).connect_with(options).await?)
}

/// Opens connections that refuse to write.
pub(super) async fn connect_readers(database: &Path) -> Result<SqlitePool, StoreError> {
    let options = options().filename(database).pragma("query_only", "1");
    Ok(pool(READERS).connect_with(options).await?)
}

/// Opens connections to an existing database, which stays byte for byte as it is.
pub(super) async fn connect_onlooker(database: &Path) -> Result<SqlitePool, StoreError> {
    let options = options().filename(database).read_only(true).pragma("query_only", "1");
    Ok(pool(READERS).connect_with(options).await?)
}

/// Opens one connection for everything: a database in memory belongs to its connection.
pub(super) async fn connect_memory() -> Result<SqlitePool, StoreError> {
    Ok(pool(1).min_connections(1).connect_with(options().in_memory(true)).await?)
}

/// Creates the tables, or changes those of an older version.
pub(super) async fn migrate(pool: &SqlitePool) -> Result<(), StoreError> {
    Ok(MIGRATIONS.run(pool).await?)
}

/// Checks that the tables are those this program knows: a visitor beside a running server changes
/// no tables.
///
/// # Errors
/// [`StoreError::Shape`] if they are of another version.
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

/// Copies a database as it is at this moment into an empty file, without holding up its writers.
pub(super) async fn copy(database: &Path, to: &Path) -> Result<(), StoreError> {
    let only = pool(1).connect_with(options().filename(database).read_only(true)).await?;
    let copied = match check_shape(&only).await {
        Ok(()) => vacuum_into(&only, to).await,
        Err(error) => Err(error),
    };
    only.close().await;
    copied
}

/// Copies a database of any version, as [`copy`] does.
pub(super) async fn copy_any(database: &Path, to: &Path) -> Result<(), StoreError> {
    let only = pool(1).connect_with(options().filename(database).read_only(true)).await?;
    let copied = vacuum_into(&only, to).await;
    only.close().await;
    copied
}

async fn vacuum_into(database: &SqlitePool, to: &Path) -> Result<(), StoreError> {
    let to = to.to_string_lossy().into_owned();
    sqlx::query("VACUUM INTO $1").bind(to).execute(database).await?;
    Ok(())
}

/// Checks that a copy of a database is intact, and of a version that this program can bring up to
/// date.
pub(super) async fn check_copy(copy: &Path) -> Result<(), StoreError> {
    // A missing file is reported as such, rather than as a broken backup.
    if !copy.is_file() {
        let source = std::io::ErrorKind::NotFound.into();
        return Err(StoreError::File { path: copy.to_owned(), source });
    }
    let only = connect_onlooker(copy).await.map_err(|error| not_a_backup(copy, &error))?;
    let looked = look_at_copy(&only).await;
    only.close().await;
    match looked {
        Ok(()) => Ok(()),
        Err(StoreError::Database(error)) => Err(not_a_backup(copy, &error)),
        Err(error) => Err(error),
    }
}

async fn look_at_copy(copy: &SqlitePool) -> Result<(), StoreError> {
    let needed = MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0);
    let found: Option<i64> =
        sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations").fetch_one(copy).await?;
    let found = found.unwrap_or(0);
    // An older one is brought up to date when a server is started on it.
    if found == 0 || found > needed {
        return Err(StoreError::Shape { found, needed });
    }
    let told: Vec<String> = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_all(copy).await?;
    match told.as_slice() {
        [told] if told == "ok" => Ok(()),
        told => Err(StoreError::corrupt("the backup", &told.join("; "))),
    }
}

fn not_a_backup(copy: &Path, error: &dyn std::fmt::Display) -> StoreError {
    let what = format!("{} is not a backup of copydesk", copy.display());
    StoreError::Corrupt { what, reason: error.to_string() }
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
