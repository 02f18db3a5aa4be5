//! The one server that writes to a database.
//!
//! The lock of the server belongs to the session that writes: whoever writes has the lock, and
//! PostgreSQL gives it to nobody else before that session has ended. After a lost connection the
//! server takes the lock again, and goes on only if no other has served meanwhile.

use std::time::Duration;

use sqlx_postgres::PgConnection;

use super::address::DatabaseUrl;
use super::session::{self, PostgresSession, ServerTerm};
use crate::store::{StoreError, StoreResult};

/// Key of the lock of the server, to which the number of the schema is added. The upper half is
/// `copy` in ASCII.
const SERVER_LOCK: i64 = 0x636f_7079_0000_0000 ^ (1 << 62);

/// Attempts to take the lock: PostgreSQL may not have noticed yet that the session before is gone.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// Maker of sessions that write.
#[derive(Debug)]
pub(crate) struct PostgresWriter {
    url: DatabaseUrl,
    /// Name of the term of a server; `None`: a visitor.
    term: Option<String>,
}

impl PostgresWriter {
    /// Opens a visitor's first session.
    pub(crate) fn visit(url: DatabaseUrl, connection: PgConnection) -> (Self, PostgresSession) {
        (Self { url, term: None }, PostgresSession::new(connection, None))
    }

    /// Begins the term of a server on a connection that has the lock and whose tables are there.
    pub(crate) async fn serve(
        url: DatabaseUrl,
        mut connection: PgConnection,
    ) -> StoreResult<(Self, PostgresSession)> {
        let name = uuid::Uuid::new_v4().simple().to_string();
        let sql = "INSERT INTO writer (term, transactions) VALUES ($1, 0)
             ON CONFLICT (only_row) DO UPDATE SET term = excluded.term, transactions = 0";
        sqlx::query(sql).bind(&name).execute(&mut connection).await?;
        let term = ServerTerm { name: name.clone(), transactions: 0 };
        Ok((Self { url, term: Some(name) }, PostgresSession::new(connection, Some(term))))
    }

    /// Returns `true` if this is a server, whose session keeps the lock.
    pub(crate) fn is_server(&self) -> bool {
        self.term.is_some()
    }

    /// Opens another session after the last one was lost; returns it and the number of transactions
    /// that are in the database.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`] while there is no connection, [`StoreError::InUse`] while
    /// another server has the lock, [`StoreError::Replaced`] if one has served meanwhile.
    pub(crate) async fn reconnect(&self) -> StoreResult<(PostgresSession, u64)> {
        let mut connection = session::connect(&self.url).await?;
        let Some(name) = &self.term else {
            return Ok((PostgresSession::new(connection, None), 0));
        };
        lock(&self.url, &mut connection).await?;
        let sql = "SELECT transactions FROM writer WHERE term = $1";
        let count: Option<i64> =
            sqlx::query_scalar(sql).bind(name).fetch_optional(&mut connection).await?;
        let transactions = count.ok_or(StoreError::Replaced)?.unsigned_abs();
        let term = ServerTerm { name: name.clone(), transactions };
        Ok((PostgresSession::new(connection, Some(term)), transactions))
    }
}

/// Takes the lock of the server for this session.
///
/// # Errors
/// [`StoreError::InUse`] if another session has it.
pub(crate) async fn lock(url: &DatabaseUrl, connection: &mut PgConnection) -> StoreResult<()> {
    for attempt in 0..LOCK_TRIES {
        if attempt > 0 {
            tokio::time::sleep(LOCK_PAUSE).await;
        }
        if try_lock(connection).await? {
            return Ok(());
        }
    }
    // Its own name for the session: `copydesk (process 7)`.
    let sql = "SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid)
         WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
             AND pg_locks.pid <> pg_backend_pid()
             AND (pg_locks.classid::bigint << 32 | pg_locks.objid::bigint)
                 = $1 + current_schema()::regnamespace::oid::bigint LIMIT 1";
    let holder: Option<String> =
        sqlx::query_scalar(sql).bind(SERVER_LOCK).fetch_optional(connection).await?;
    Err(StoreError::in_use(url, holder.as_deref()))
}

/// Takes the lock of the server if no other session has it.
pub(crate) async fn try_lock(connection: &mut PgConnection) -> StoreResult<bool> {
    let sql = "SELECT pg_try_advisory_lock($1 + current_schema()::regnamespace::oid::bigint)";
    Ok(sqlx::query_scalar(sql).bind(SERVER_LOCK).fetch_one(connection).await?)
}

/// Gives the lock back, which a visitor has taken to bring the tables up to date.
pub(crate) async fn unlock(connection: &mut PgConnection) -> StoreResult<()> {
    let sql = "SELECT pg_advisory_unlock($1 + current_schema()::regnamespace::oid::bigint)";
    let _: bool = sqlx::query_scalar(sql).bind(SERVER_LOCK).fetch_one(connection).await?;
    Ok(())
}
