//! Connection that writes: how a transaction begins and ends, also by a lost connection.

use std::time::{Duration, Instant};

use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, Connection as _, Either, Executor as _, FromRow as _};
use sqlx_postgres::{PgConnection, PgQueryResult, PgRow};

use copydesk_macros::record;

use super::address::DatabaseUrl;
use crate::{StoreError, StoreResult};

/// Longest wait for a connection, or for a session to close.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);

/// Oldest version that works: `server_version_num` of PostgreSQL 15.
const OLDEST: i32 = 150_000;

/// Key of the lock of a writing transaction: they run one after the other, as in SQLite. The upper
/// half is `copy` in ASCII.
const WRITE_LOCK: i64 = 0x636f_7079_0000_0001;

/// Settings of a session. It waits for other writers as long as with SQLite, ends a transaction
/// that stands still, and notices a peer that is gone. `synchronous_commit` is only ever raised:
/// what waits for replicas stays.
const SETTINGS: &str = "SET lock_timeout = '10s';
    SET idle_in_transaction_session_timeout = '10s';
    SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
    SELECT set_config('synchronous_commit', 'on', FALSE)
        WHERE current_setting('synchronous_commit') IN ('off', 'local')";

pub(crate) struct PostgresSession {
    connection: PgConnection,
    /// Term of a server; `None`: a visitor.
    term: Option<ServerTerm>,
    /// State of the database as the open transaction of a node has found it.
    found: Option<FoundState>,
}

/// Time for which a server writes, and the number of transactions that it has written.
#[derive(Clone, Debug)]
pub(crate) struct ServerTerm {
    pub name: TermName,
    pub transactions: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TermName {
    /// Term of a server that uses the database alone.
    Sole(String),
    /// Number of a node, for one of several servers.
    Node(i64),
}

#[record(Clone, Debug)]
pub(crate) struct FoundState {
    /// Number of the last line of the audit log, if there is one.
    pub seq: Option<i64>,
    /// Hash of that line.
    pub hash: Option<String>,
    /// `true` if there are webhooks.
    pub webhooks: bool,
}

impl PostgresSession {
    pub(crate) fn new(connection: PgConnection, term: Option<ServerTerm>) -> Self {
        Self { connection, term, found: None }
    }

    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Returns `true` if other servers write too: what was known may be outdated.
    pub(crate) fn is_node(&self) -> bool {
        self.term.as_ref().is_some_and(|term| matches!(term.name, TermName::Node(_)))
    }

    pub(crate) fn found(&mut self) -> Option<FoundState> {
        self.found.take()
    }

    pub(crate) fn transactions(&self) -> Option<u64> {
        self.term.as_ref().map(|term| term.transactions)
    }

    /// Ends the session and with it the lock of the server.
    pub(crate) async fn close(self) {
        // Closed by the end of the process otherwise.
        tokio::time::timeout(TIMEOUT, self.connection.close()).await.ok();
    }

    pub(crate) async fn is_alive(&mut self) -> bool {
        let pinged = tokio::time::timeout(TIMEOUT, self.connection.ping()).await;
        pinged.is_ok_and(|pinged| pinged.is_ok())
    }

    /// Begins a transaction without others beside it; fails if another server has served.
    pub(crate) async fn begin(&mut self) -> StoreResult<()> {
        // Whatever the database's default is: what is read has to be newer than the lock.
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({WRITE_LOCK})"
        );
        let Some(term) = &self.term else {
            self.connection.execute(sqlx::raw_sql(AssertSqlSafe(begin))).await?;
            return Ok(());
        };
        // One message for all of it.
        let ServerTerm { name, transactions } = term;
        let number = match name {
            TermName::Sole(name) => {
                let sql = format!(
                    "{begin}; UPDATE writer SET transactions = {transactions} + 1
                     WHERE term = '{name}' AND transactions = {transactions}"
                );
                let counted = last_count(&mut self.connection, sql).await?;
                return if counted == 1 { Ok(()) } else { Err(StoreError::Replaced) };
            }
            TermName::Node(number) => number,
        };
        // The lock is held by then, so that what is read cannot be outdated.
        let sql = format!(
            "{begin}; UPDATE nodes SET transactions = {transactions} + 1
             WHERE number = {number} AND transactions = {transactions}
             RETURNING (SELECT seq FROM audit ORDER BY seq DESC LIMIT 1),
                 (SELECT hash FROM audit ORDER BY seq DESC LIMIT 1),
                 EXISTS (SELECT 1 FROM webhooks) AS webhooks"
        );
        let row = last_row(&mut self.connection, sql).await?.ok_or(StoreError::Replaced)?;
        self.found = Some(FoundState::from_row(&row)?);
        Ok(())
    }

    /// Commits; [`StoreError::OutcomeUnknown`] if the connection was lost before the answer.
    pub(crate) async fn commit(&mut self) -> StoreResult<()> {
        match self.connection.execute("COMMIT").await {
            Ok(_) => {
                if let Some(term) = &mut self.term {
                    term.transactions += 1;
                }
                Ok(())
            }
            Err(error) if StoreError::is_lost_connection(&error) => {
                Err(StoreError::OutcomeUnknown { reason: error.to_string() })
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Runs statements in one message; returns the number of rows that the last one touched.
async fn last_count(connection: &mut PgConnection, sql: String) -> StoreResult<u64> {
    let mut results = connection.fetch_many(sqlx::raw_sql(AssertSqlSafe(sql)));
    let mut count = 0;
    while let Some(result) = results.try_next().await? {
        let result: Either<PgQueryResult, PgRow> = result;
        if let Either::Left(done) = result {
            count = done.rows_affected();
        }
    }
    Ok(count)
}

async fn last_row(connection: &mut PgConnection, sql: String) -> StoreResult<Option<PgRow>> {
    let mut results = connection.fetch_many(sqlx::raw_sql(AssertSqlSafe(sql)));
    let (mut row, mut last) = (None, None);
    while let Some(result) = results.try_next().await? {
        let result: Either<PgQueryResult, PgRow> = result;
        match result {
            Either::Right(found) => row = Some(found),
            Either::Left(_) => last = row.take(),
        }
    }
    Ok(last)
}

pub(crate) async fn connect(url: &DatabaseUrl) -> StoreResult<PgConnection> {
    let options = url.options();
    let opened = PgConnection::connect_with(&options);
    let unreachable =
        |reason: String| StoreError::Unreachable { database: url.to_string(), reason };
    let mut connection = match tokio::time::timeout(TIMEOUT, opened).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => return Err(refused(url, &error)),
        Err(_) => return Err(unreachable(format!("no answer within {} s", TIMEOUT.as_secs()))),
    };
    configure(&mut connection).await.map_err(|error| refused(url, &error))?;
    check(url, &mut connection).await?;
    Ok(connection)
}

pub(crate) async fn configure(connection: &mut PgConnection) -> sqlx::Result<()> {
    connection.execute(SETTINGS).await.map(drop)
}

pub(crate) async fn forbid_writing(connection: &mut PgConnection) -> StoreResult<()> {
    connection.execute("SET default_transaction_read_only = on").await?;
    Ok(())
}

fn refused(url: &DatabaseUrl, error: &sqlx::Error) -> StoreError {
    let database = url.to_string();
    if StoreError::is_lost_connection(error) {
        return StoreError::Unreachable { database, reason: error.to_string() };
    }
    let reason = match error.as_database_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    };
    StoreError::Unsuitable { database, reason }
}

/// State of the server of a PostgreSQL database that can be used, for its administrators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresServer {
    /// Version as it names itself, such as `17.2`.
    pub version: String,
    /// Its clock, in milliseconds since 1970.
    pub now_ms: i64,
    /// `false` if a loss of power may lose what was acknowledged.
    pub fsync: bool,
    /// Time between a question and its answer.
    pub round_trip: Duration,
}

impl PostgresServer {
    /// Asks the server of a database, and changes nothing.
    pub async fn ask(url: &DatabaseUrl) -> StoreResult<Self> {
        let mut connection = connect(url).await?;
        let began = Instant::now();
        let sql = "SELECT current_setting('server_version'), current_setting('fsync')::bool,
                 floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        let asked = sqlx::query_as(sql).fetch_one(&mut connection).await;
        let (version, fsync, now_ms) = asked.map_err(|error| refused(url, &error))?;
        let round_trip = began.elapsed();
        connection.close().await.ok();
        Ok(Self { version, now_ms, fsync, round_trip })
    }
}

#[record(Debug)]
struct ServerFacts {
    version: i32,
    version_name: String,
    encoding: String,
    is_standby: bool,
    schema: Option<String>,
    fsync: bool,
}

impl ServerFacts {
    fn flaw(&self) -> Option<String> {
        if self.version < OLDEST {
            let name = &self.version_name;
            return Some(format!("it is PostgreSQL {name}; 15 or newer is needed"));
        }
        if self.encoding != "UTF8" {
            let encoding = &self.encoding;
            return Some(format!("its encoding is {encoding}; create it with ENCODING 'UTF8'"));
        }
        if self.is_standby {
            return Some("it is a standby, which cannot be written".to_owned());
        }
        let no_schema = "its search_path names no schema that exists and that its user may use";
        self.schema.is_none().then(|| no_schema.to_owned())
    }
}

async fn check(url: &DatabaseUrl, connection: &mut PgConnection) -> StoreResult<()> {
    let sql = "SELECT current_setting('server_version_num')::int AS version,
             current_setting('server_version') AS version_name,
             current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS is_standby,
             current_schema()::text AS schema, current_setting('fsync')::bool AS fsync";
    let facts: ServerFacts = sqlx::query_as(sql).fetch_one(connection).await?;
    if let Some(reason) = facts.flaw() {
        return Err(StoreError::Unsuitable { database: url.to_string(), reason });
    }
    if !facts.fsync {
        tracing::warn!("fsync is off in PostgreSQL: a loss of power loses what was acknowledged");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_used_only_if_it_is_new_enough_and_can_be_written() {
        let facts = || ServerFacts {
            version: 150_000,
            version_name: "15.0".to_owned(),
            encoding: "UTF8".to_owned(),
            is_standby: false,
            schema: Some("public".to_owned()),
            fsync: true,
        };
        assert_eq!(facts().flaw(), None);
        let flaw = |facts: ServerFacts| facts.flaw().unwrap();
        let old = ServerFacts { version: 140_012, version_name: "14.12".to_owned(), ..facts() };
        assert_eq!(flaw(old), "it is PostgreSQL 14.12; 15 or newer is needed");
        let latin = ServerFacts { encoding: "LATIN1".to_owned(), ..facts() };
        assert!(flaw(latin).contains("LATIN1"));
        assert!(flaw(ServerFacts { is_standby: true, ..facts() }).contains("standby"));
        assert!(flaw(ServerFacts { schema: None, ..facts() }).contains("search_path"));
    }
}
