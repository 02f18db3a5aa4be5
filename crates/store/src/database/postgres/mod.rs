//! PostgreSQL: its address, connections and migrations.

pub(crate) mod address;
pub(crate) mod node_messages;
pub(crate) mod nodes;
pub(crate) mod replacement;
pub(crate) mod script;
pub(crate) mod server;
pub(crate) mod session;

use std::io;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::{AssertSqlSafe, Connection as _, Row as _};
use sqlx_core::transaction::TransactionManager as _;
use sqlx_postgres::{PgConnection, PgPool, PgPoolOptions, PgTransactionManager};

use crate::database::{migrations, transfer};
use crate::{StoreError, StoreResult};
use address::DatabaseUrl;
use copydesk_failpoint as failpoint;

/// Longest wait for an answer, after which the connection counts as lost.
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(30);

const READERS: u32 = 8;

/// Waits for the answer to a query, [`ANSWER_LIMIT`] at most: the machine of the database may be
/// gone without a word.
pub async fn answered<T>(query: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
    let answer = tokio::time::timeout(ANSWER_LIMIT, query).await;
    answer.unwrap_or_else(|_| Err(sqlx::Error::Io(io::ErrorKind::TimedOut.into())))
}

pub async fn answered_within<T>(work: impl Future<Output = StoreResult<T>>) -> StoreResult<T> {
    let answer = tokio::time::timeout(ANSWER_LIMIT, work).await;
    answer.unwrap_or_else(|_| Err(sqlx::Error::Io(io::ErrorKind::TimedOut.into()).into()))
}

pub async fn connect_readers(url: &DatabaseUrl) -> StoreResult<PgPool> {
    let options = url.options().options([("default_transaction_read_only", "on")]);
    // Each is tested before it is used: the server may have been restarted. It is also tested when
    // it is given back, where the library waits without a limit: connections whose other end is
    // gone without a word would all stay taken.
    let pool = PgPoolOptions::new()
        .max_connections(READERS)
        .acquire_timeout(session::TIMEOUT)
        .after_release(|connection, _| {
            Box::pin(async {
                let tested = tokio::time::timeout(session::TIMEOUT, connection.ping()).await;
                tested.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()))?;
                Ok(true)
            })
        });
    Ok(pool.connect_with(options).await?)
}

/// Code of the error for a missing right.
const NO_RIGHTS: &str = "42501";

pub async fn migrate(url: &DatabaseUrl, connection: &mut PgConnection) -> StoreResult<()> {
    migrations::POSTGRES.run(connection).await.map_err(|error| match &error {
        MigrateError::Execute(sqlx::Error::Database(cause))
        | MigrateError::ExecuteMigration(sqlx::Error::Database(cause), _)
            if cause.code().as_deref() == Some(NO_RIGHTS) =>
        {
            let reason = format!("its user may not create tables: {}", cause.message());
            StoreError::Unsuitable { database: url.to_string(), reason }
        }
        _ => migrations::error(&migrations::POSTGRES, error),
    })
}

/// Checks that the tables are those this program knows: a visitor changes no tables.
pub async fn check_shape(connection: &mut PgConnection) -> StoreResult<()> {
    let needed = migrations::newest(&migrations::POSTGRES);
    let found = shape(connection).await?;
    if found == needed { Ok(()) } else { Err(StoreError::Shape { found, needed }) }
}

/// Key of the setting that a database has while a transfer fills it.
const INCOMPLETE: &str = "transfer.incomplete";

pub(crate) const UNMARK: &str = "DELETE FROM settings WHERE key = 'transfer.incomplete'";

/// Makes or updates the tables in a database that a transfer is about to fill, and marks it, in one
/// transaction: at no moment a server takes the tables for those of a new database.
pub async fn prepare_to_fill(url: &DatabaseUrl, connection: &mut PgConnection) -> StoreResult<()> {
    // Known to the library, so that each migration is a part of it.
    PgTransactionManager::begin(connection, None).await?;
    migrate(url, connection).await?;
    failpoint::pass("transfer.tables");
    let sql = "INSERT INTO settings (key, value) VALUES ($1, 'yes') ON CONFLICT DO NOTHING";
    sqlx::query(sql).bind(INCOMPLETE).execute(&mut *connection).await?;
    PgTransactionManager::commit(connection).await?;
    failpoint::pass("transfer.marked");
    Ok(())
}

/// Checks that no transfer into the database was interrupted or is under way. Its tables exist.
pub async fn check_complete(url: &DatabaseUrl, connection: &mut PgConnection) -> StoreResult<()> {
    let sql = "SELECT EXISTS (SELECT 1 FROM settings WHERE key = $1)";
    let is_marked: bool = sqlx::query_scalar(sql).bind(INCOMPLETE).fetch_one(connection).await?;
    if is_marked { Err(StoreError::Incomplete { place: url.to_string() }) } else { Ok(()) }
}

/// Returns `true` if something is stored, apart from the mark of a transfer and the database's own.
pub async fn has_data(connection: &mut PgConnection) -> StoreResult<bool> {
    for table in transfer::tables::COPIED {
        let sql = "SELECT to_regclass($1) IS NOT NULL";
        let is_there: bool =
            sqlx::query_scalar(sql).bind(table).fetch_one(&mut *connection).await?;
        if !is_there {
            continue;
        }
        let but_own = match table {
            "settings" => "WHERE key NOT IN ('transfer.incomplete', 'node_channel', 'node_key')",
            _ => "",
        };
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} {but_own})");
        if sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut *connection).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the newest migration in the database; 0 if there is none.
pub async fn shape(connection: &mut PgConnection) -> StoreResult<i64> {
    let sql = "SELECT to_regclass('_sqlx_migrations') IS NOT NULL";
    let is_there: bool = sqlx::query_scalar(sql).fetch_one(&mut *connection).await?;
    if !is_there {
        return Ok(0);
    }
    let sql = "SELECT MAX(version) FROM _sqlx_migrations";
    let found: Option<i64> = sqlx::query_scalar(sql).fetch_one(connection).await?;
    Ok(found.unwrap_or(0))
}

/// Returns a line for each table with rows that refer to nothing: PostgreSQL's check has a switch.
pub async fn dangling(connection: &mut PgConnection) -> StoreResult<Vec<String>> {
    let sql = "SELECT conrelid::regclass::text AS child, a.attname::text AS child_column,
             confrelid::regclass::text AS parent, b.attname::text AS parent_column
         FROM pg_constraint
         JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = conkey[1]
         JOIN pg_attribute b ON b.attrelid = confrelid AND b.attnum = confkey[1]
         WHERE contype = 'f' AND connamespace = current_schema()::regnamespace";
    let mut found = Vec::new();
    for row in sqlx::query(sql).fetch_all(&mut *connection).await? {
        let name = |column: &str| row.try_get::<String, _>(column);
        let (child, parent) = (name("child")?, name("parent")?);
        // The names are quoted by the database where they need it.
        let sql = format!(
            "SELECT COUNT(*) FROM {child} AS child WHERE child.{0} IS NOT NULL AND NOT EXISTS
                 (SELECT 1 FROM {parent} AS parent WHERE parent.{1} = child.{0})",
            name("child_column")?,
            name("parent_column")?
        );
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut *connection).await?;
        if count > 0 {
            found.push(format!("{count} rows of {child} refer to nothing in {parent}"));
        }
    }
    Ok(found)
}

pub async fn triggers(connection: &mut PgConnection) -> StoreResult<Vec<String>> {
    let sql = "SELECT tgname::text FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
         WHERE NOT tgisinternal AND tgenabled IN ('O', 'A')
             AND relnamespace = current_schema()::regnamespace";
    Ok(sqlx::query_scalar(sql).fetch_all(connection).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_database_that_says_nothing_counts_as_lost() {
        let silence = std::future::pending::<sqlx::Result<()>>();
        assert!(StoreError::is_lost_connection(&answered(silence).await.unwrap_err()));
    }
}
