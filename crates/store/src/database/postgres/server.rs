//! The server that writes to a database, or one of several ("nodes").
//!
//! The lock of the server belongs to the session that writes: PostgreSQL gives it to no other
//! session before that one has ended. After a lost connection the server takes the lock again, and
//! goes on only if no other has served meanwhile.
//!
//! Nodes share that lock. Each has a second one, which belongs to its own session in the same way,
//! and a row in `nodes`, without which it cannot write.

use std::time::Duration;

use sqlx::Connection as _;
use sqlx_postgres::PgConnection;

use super::address::DatabaseUrl;
use super::session::{self, PostgresSession, ServerTerm, TermName};
use crate::{StoreError, StoreResult};

/// Key of the lock of the server (`copy` in ASCII above), plus the number of the schema.
const SERVER_LOCK: i64 = 0x636f_7079_0000_0000 ^ (1 << 62);

/// Attempts to take the lock: PostgreSQL may not have noticed yet that the session before is gone.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct PostgresWriter {
    url: DatabaseUrl,
    /// Term of a server; `None`: a visitor.
    term: Option<TermName>,
}

impl PostgresWriter {
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
        Ok(Self::begin(url, connection, TermName::Sole(name)))
    }

    /// Begins the term of a node on a connection that shares the lock of the server; returns its
    /// number too. `address` is where other nodes reach it.
    pub(crate) async fn join(
        url: DatabaseUrl,
        mut connection: PgConnection,
        address: &str,
    ) -> StoreResult<(Self, PostgresSession, i64)> {
        let mut joining = connection.begin().await?;
        // A server before this one at the same address, which has ended.
        let sql = "DELETE FROM nodes WHERE url = $1 AND pg_try_advisory_xact_lock(hashtextextended(
                 'copydesk node ' || current_schema()::regnamespace::oid || '/' || number, 0))";
        sqlx::query(sql).bind(address).execute(&mut *joining).await?;
        let sql = "INSERT INTO nodes (url, transactions) VALUES ($1, 0) RETURNING number";
        let number = sqlx::query_scalar(sql).bind(address).fetch_one(&mut *joining).await?;
        let sql = "INSERT INTO node_beats (node, beat) VALUES ($1, 0)";
        sqlx::query(sql).bind(number).execute(&mut *joining).await?;
        lock_node(&mut joining, number).await?;
        joining.commit().await?;
        let (writer, session) = Self::begin(url, connection, TermName::Node(number));
        Ok((writer, session, number))
    }

    fn begin(url: DatabaseUrl, db: PgConnection, name: TermName) -> (Self, PostgresSession) {
        let term = ServerTerm { name: name.clone(), transactions: 0 };
        (Self { url, term: Some(name) }, PostgresSession::new(db, Some(term)))
    }

    /// Returns `true` if this is a server, whose session keeps the lock.
    pub(crate) fn is_server(&self) -> bool {
        self.term.is_some()
    }

    /// Opens another session after a loss; returns it and the number of transactions so far.
    pub(crate) async fn open_again(&self) -> StoreResult<(PostgresSession, u64)> {
        let mut connection = session::connect(&self.url).await?;
        let Some(name) = &self.term else {
            return Ok((PostgresSession::new(connection, None), 0));
        };
        let count: Option<i64> = match name {
            TermName::Sole(name) => {
                lock(&self.url, &mut connection).await?;
                let sql = "SELECT transactions FROM writer WHERE term = $1";
                sqlx::query_scalar(sql).bind(name).fetch_optional(&mut connection).await?
            }
            TermName::Node(number) => {
                // The session before has ended once this one has its lock.
                lock_node(&mut connection, *number).await?;
                share_lock(&self.url, &mut connection).await?;
                let sql = "SELECT transactions FROM nodes WHERE number = $1";
                sqlx::query_scalar(sql).bind(number).fetch_optional(&mut connection).await?
            }
        };
        let transactions = count.ok_or(StoreError::Replaced)?.unsigned_abs();
        let term = ServerTerm { name: name.clone(), transactions };
        Ok((PostgresSession::new(connection, Some(term)), transactions))
    }
}

pub(crate) async fn lock(url: &DatabaseUrl, connection: &mut PgConnection) -> StoreResult<()> {
    for attempt in 0..LOCK_TRIES {
        if attempt > 0 {
            tokio::time::sleep(LOCK_PAUSE).await;
        }
        if try_lock(connection).await? {
            return Ok(());
        }
    }
    Err(in_use(url, connection).await?)
}

/// Takes the lock of the server together with other nodes; the first one updates the tables.
pub(crate) async fn enter(url: &DatabaseUrl, connection: &mut PgConnection) -> StoreResult<()> {
    for attempt in 0..LOCK_TRIES {
        if attempt > 0 {
            tokio::time::sleep(LOCK_PAUSE).await;
        }
        if try_lock(connection).await? {
            super::migrate(url, connection).await?;
            // No session shares the lock, so no other node runs.
            sqlx::query("DELETE FROM nodes").execute(&mut *connection).await?;
            // A session can have both, so that no other comes in between.
            let is_shared = try_share_lock(connection).await?;
            unlock(connection).await?;
            if is_shared {
                return Ok(());
            }
        } else if try_share_lock(connection).await? {
            return super::check_shape(connection).await;
        }
    }
    Err(in_use(url, connection).await?)
}

async fn share_lock(url: &DatabaseUrl, connection: &mut PgConnection) -> StoreResult<()> {
    if try_share_lock(connection).await? {
        return Ok(());
    }
    Err(in_use(url, connection).await?)
}

async fn try_share_lock(connection: &mut PgConnection) -> StoreResult<bool> {
    let sql =
        "SELECT pg_try_advisory_lock_shared($1 + current_schema()::regnamespace::oid::bigint)";
    Ok(sqlx::query_scalar(sql).bind(SERVER_LOCK).fetch_one(connection).await?)
}

/// Takes the lock of a node for this session; waits for the end of the session that has it.
async fn lock_node(connection: &mut PgConnection, number: i64) -> StoreResult<()> {
    let sql = "SELECT pg_advisory_lock(hashtextextended(
             'copydesk node ' || current_schema()::regnamespace::oid || '/' || $1, 0))";
    sqlx::query(sql).bind(number).execute(connection).await?;
    Ok(())
}

async fn in_use(url: &DatabaseUrl, connection: &mut PgConnection) -> StoreResult<StoreError> {
    // Its own name for the session: `copydesk (process 7)`.
    let sql = "SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid)
         WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
             AND pg_locks.pid <> pg_backend_pid()
             AND (pg_locks.classid::bigint << 32 | pg_locks.objid::bigint)
                 = $1 + current_schema()::regnamespace::oid::bigint LIMIT 1";
    let holder: Option<String> =
        sqlx::query_scalar(sql).bind(SERVER_LOCK).fetch_optional(connection).await?;
    Ok(StoreError::in_use(url, holder.as_deref()))
}

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
