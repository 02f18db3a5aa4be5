//! Connections to the embedded database and its migrations.

pub(crate) mod content_sum;
pub(crate) mod former_journal;
pub(crate) mod schema;
pub(crate) mod script;

use std::path::Path;
use std::time::Duration;

use sqlx::{ConnectOptions, Connection as _, Row as _};
use sqlx_sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};

use crate::database::migrations;
use crate::database::transfer::side::TransferSide;
use crate::{StoreError, StoreResult};

/// Number of reading connections. Reads are short and mostly come from the page cache.
const READERS: u32 = 4;

/// Size of the writer's page cache in KiB, negated: the ends of the logs of a hundred documents
/// that are being written. Those of more are in the page cache of the system.
const WRITER_CACHE: &str = "-1024";

/// Size of each reader's page cache in KiB, negated: what one statement reads again and again.
/// Every commit of the writer empties it, so it hardly ever has what the next statement needs.
const READER_CACHE: &str = "-64";

/// Statements or scripts that a connection keeps prepared, each of some kilobytes.
const PREPARED: usize = 32;

/// Longest wait of a statement for another process that writes, such as the command line.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) async fn connect_writer(database: &Path) -> StoreResult<SqlitePool> {
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

pub(crate) async fn connect_readers(database: &Path) -> StoreResult<SqlitePool> {
    let options =
        options().filename(database).pragma("query_only", "1").pragma("cache_size", READER_CACHE);
    Ok(pool(READERS).connect_with(options).await?)
}

/// Prepares a connection to read what is pending with the rest: its views hide the table and the
/// view of the same names.
const WITH_PENDING: &str = "PRAGMA query_only = 0;
    CREATE TEMP VIEW pending_rows AS
    SELECT rows.value ->> 0 AS document, rows.value ->> 1 AS version, rows.value ->> 2 AS client,
        rows.value ->> 3 AS changes, rows.value ->> 4 AS author, rows.value ->> 5 AS at_ms,
        rows.value ->> 6 AS origin
    FROM main.pending_updates AS pending, json_each(pending.body) AS rows;
    CREATE TEMP VIEW updates AS
    SELECT * FROM main.updates UNION ALL SELECT * FROM pending_rows;
    CREATE TEMP VIEW documents AS
    SELECT id, title, created_ms, COALESCE(at_ms, updated_ms) AS updated_ms,
        COALESCE(reached, version) AS version, settings, unlisted_owner, deleted, purged
    FROM main.documents LEFT JOIN (
        SELECT document, MAX(version) AS reached, at_ms FROM pending_rows GROUP BY document
    ) AS pending ON pending.document = id;
    PRAGMA query_only = 1";

/// Returns connections that read what is pending with the rest, and refuse to write. They are
/// opened when used: only while the log cannot get what is pending.
pub(crate) fn readers_of_pending(database: &Path) -> SqlitePool {
    let options =
        options().filename(database).pragma("query_only", "1").pragma("temp_store", "MEMORY");
    with_pending(pool(READERS)).connect_lazy_with(options)
}

/// Opens connections to an existing database of this version, which stays byte for byte as it is
/// and is read with what is pending.
pub(crate) async fn connect_inspector(database: &Path) -> StoreResult<SqlitePool> {
    let options = options()
        .filename(database)
        .read_only(true)
        .pragma("query_only", "1")
        .pragma("temp_store", "MEMORY");
    Ok(with_pending(pool(READERS)).connect_with(options).await?)
}

fn with_pending(pool: SqlitePoolOptions) -> SqlitePoolOptions {
    pool.after_connect(|connection, _| {
        Box::pin(async move {
            sqlx::raw_sql(WITH_PENDING).execute(connection).await?;
            Ok(())
        })
    })
}

/// Opens connections to an existing database, which stays byte for byte as it is.
pub(crate) async fn connect_onlooker(database: &Path) -> StoreResult<SqlitePool> {
    let options = options().filename(database).read_only(true).pragma("query_only", "1");
    Ok(pool(READERS).connect_with(options).await?)
}

/// Opens one connection for everything: a database in memory belongs to its connection.
pub(crate) async fn connect_memory() -> StoreResult<SqlitePool> {
    Ok(pool(1).min_connections(1).connect_with(options().in_memory(true)).await?)
}

/// Opens the one connection to a file that no other process uses.
pub(crate) async fn connect_file(file: &Path) -> StoreResult<SqlitePool> {
    Ok(pool(1).connect_with(options().filename(file)).await?)
}

pub(crate) async fn migrate(pool: &SqlitePool) -> StoreResult<()> {
    let migrated = migrations::SQLITE.run(pool).await;
    migrated.map_err(|error| migrations::error(&migrations::SQLITE, error))
}

/// Checks that the tables are those this program knows: a visitor changes no tables.
pub(crate) async fn check_shape(pool: &SqlitePool) -> StoreResult<()> {
    let needed = migrations::newest(&migrations::SQLITE);
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

/// Folds the write-ahead log into the database, which only saves time at the next start.
pub(crate) async fn checkpoint(pool: &SqlitePool) {
    let checkpoint = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(pool).await;
    if let Err(error) = checkpoint {
        tracing::debug!(%error, "cannot checkpoint at close");
    }
}

/// Copies a database as it is at this moment into an empty file, without holding up its writers.
pub(crate) async fn copy(database: &Path, to: &Path) -> StoreResult<()> {
    let only = pool(1).connect_with(options().filename(database).read_only(true)).await?;
    let copied = match check_shape(&only).await {
        Ok(()) => vacuum_into(&only, to).await,
        Err(error) => Err(error),
    };
    only.close().await;
    copied
}

/// Copies a database of any version, as [`copy`] does.
pub(crate) async fn copy_any(database: &Path, to: &Path) -> StoreResult<()> {
    let only = pool(1).connect_with(options().filename(database).read_only(true)).await?;
    let copied = vacuum_into(&only, to).await;
    only.close().await;
    copied
}

pub(crate) async fn open_side(file: &Path) -> StoreResult<TransferSide> {
    let options = options().filename(file).read_only(true);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    let needed = migrations::newest(&migrations::SQLITE);
    let found: Option<i64> = sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations")
        .fetch_one(&mut connection)
        .await?;
    match found.unwrap_or(0) {
        found if found == needed => {
            // A foreign view could show something else than the tables have.
            schema::check(&mut connection, "the database").await?;
            Ok(TransferSide::Sqlite(connection))
        }
        found => Err(StoreError::Shape { found, needed }),
    }
}

/// Makes the tables in an empty file that a transfer fills, without waiting for the disk: an
/// interrupted transfer begins anew.
pub(crate) async fn create_side(file: &Path) -> StoreResult<TransferSide> {
    let options = options()
        .filename(file)
        .journal_mode(SqliteJournalMode::Memory)
        .synchronous(SqliteSynchronous::Off);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    migrations::SQLITE.run(&mut connection).await?;
    Ok(TransferSide::Sqlite(connection))
}

pub(crate) async fn update_file(file: &Path) -> StoreResult<()> {
    create_side(file).await?.close().await;
    Ok(())
}

async fn vacuum_into(database: &SqlitePool, to: &Path) -> StoreResult<()> {
    let to = to.to_string_lossy().into_owned();
    sqlx::query("VACUUM INTO $1").bind(to).execute(database).await?;
    Ok(())
}

/// Returns what SQLite finds wrong with the file: pages, indexes, references.
pub(crate) async fn integrity(db: &mut SqliteConnection) -> StoreResult<Vec<String>> {
    let lines: Vec<String> =
        sqlx::query_scalar("PRAGMA integrity_check").fetch_all(&mut *db).await?;
    let mut found: Vec<_> = lines.into_iter().filter(|line| line != "ok").collect();
    let dangling = sqlx::query("PRAGMA foreign_key_check").fetch_all(db).await?;
    for row in dangling {
        let (table, parent): (String, String) = (row.try_get(0)?, row.try_get(2)?);
        let row: Option<i64> = row.try_get(1)?;
        let row = row.map(|row| format!(" {row}")).unwrap_or_default();
        found.push(format!("row{row} of {table} refers to nothing in {parent}"));
    }
    Ok(found)
}

pub(crate) async fn triggers(db: &mut SqliteConnection) -> StoreResult<Vec<String>> {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'trigger'";
    Ok(sqlx::query_scalar(sql).fetch_all(db).await?)
}

/// Checks that a copy of a database is intact, has nothing foreign, and is of a known version.
pub(crate) async fn check_copy(copy: &Path) -> StoreResult<()> {
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

async fn look_at_copy(copy: &SqlitePool) -> StoreResult<()> {
    let needed = migrations::newest(&migrations::SQLITE);
    let found: Option<i64> =
        sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations").fetch_one(copy).await?;
    let found = found.unwrap_or(0);
    // An older one is brought up to date when a server is started on it.
    if found == 0 || found > needed {
        return Err(StoreError::Shape { found, needed });
    }
    let told: Vec<String> = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_all(copy).await?;
    match told.as_slice() {
        [told] if told == "ok" => {}
        told => return Err(StoreError::corrupt("the backup", &told.join("; "))),
    }
    schema::check(&mut *copy.acquire().await?, "the backup").await
}

fn not_a_backup(copy: &Path, error: &dyn std::fmt::Display) -> StoreError {
    let what = format!("{} is not a backup of copydesk", copy.display());
    StoreError::Corrupt { what, reason: error.to_string() }
}

fn options() -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .statement_cache_capacity(PREPARED)
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

#[cfg(test)]
mod tests {
    use sqlx::migrate::Migrator;

    use super::*;

    type LogRow = (String, i64, String, String, String, i64, Option<String>);

    async fn log(pool: &SqlitePool) -> Vec<LogRow> {
        let sql = "SELECT document, version, client, changes, author, at_ms, origin FROM updates
             ORDER BY document, version";
        sqlx::query_as(sql).fetch_all(pool).await.unwrap()
    }

    #[tokio::test]
    async fn the_log_of_an_older_database_reads_as_before_and_goes_on() {
        let pool = connect_memory().await.unwrap();
        let older = migrations::SQLITE.iter().filter(|it| it.version < 61).cloned();
        Migrator::with_migrations(older.collect()).run(&pool).await.unwrap();
        let run = async |sql: &'static str| sqlx::query(sql).execute(&pool).await;
        for document in ["doc_a", "doc_b"] {
            let sql = "INSERT INTO documents
                     (id, title, created_ms, updated_ms, version, settings, deleted)
                 VALUES ($1, '', 0, 0, 0, '{}', FALSE)";
            sqlx::query(sql).bind(document).execute(&pool).await.unwrap();
        }
        // An editor, a person and a document may have one name.
        run("INSERT INTO updates VALUES
            ('doc_a', 1, 'c_1', '[1]', 'ana', 5, NULL), ('doc_a', 2, 'ana', '[[0,\"é\"]]', 'ana', 6, 'req_1'),
            ('doc_b', 1, 'c_1', '[2]', 'doc_a', 7, NULL)")
        .await
        .unwrap();
        let before = log(&pool).await;
        assert_eq!(before.len(), 3);
        migrate(&pool).await.unwrap();
        assert_eq!(log(&pool).await, before);

        run("INSERT INTO updates VALUES ('doc_a', 3, 'c_2', '[3]', 'bo', 8, NULL)").await.unwrap();
        assert_eq!(log(&pool).await[2].4, "bo");
        let taken =
            run("INSERT INTO updates VALUES ('doc_a', 3, 'c_2', '[3]', 'bo', 8, NULL)").await;
        assert!(taken.unwrap_err().to_string().contains("UNIQUE"));
        for sql in [
            "UPDATE update_log SET version = 9",
            "DELETE FROM names",
            "UPDATE names SET name = 'x'",
        ] {
            assert!(run(sql).await.unwrap_err().to_string().contains("append-only"), "{sql}");
        }
    }
}
