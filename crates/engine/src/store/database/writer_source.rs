//! Where the writer gets its connection, and what becomes of it after an error.

use std::future;
use std::time::Duration;

use sqlx_sqlite::SqlitePool;
use tokio::time::Instant;

use super::connection::WriterConnection;
use super::postgres::server::PostgresWriter;
use super::postgres::session::PostgresSession;
use super::{postgres, sqlite};
use crate::store::{StoreError, StoreResult};

/// Time between two looks at a connection that is not used.
const LOOK: Duration = Duration::from_secs(5);

/// Longest wait for a database that has just been lost: restarting it goes unnoticed.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(100);

/// Source of the connection that writes.
#[derive(Debug)]
pub(crate) enum WriterSource {
    Sqlite(SqliteSource),
    Postgres(PostgresSource),
}

/// The one writing connection of a SQLite database.
#[derive(Debug)]
pub(crate) struct SqliteSource {
    pool: SqlitePool,
    /// `true` if readers use the connection too.
    is_shared: bool,
    /// Connection kept from one transaction to the next: the pool would test it each time, which
    /// takes the time of two threads.
    held: Option<WriterConnection>,
}

/// The one writing session of a PostgreSQL database.
#[derive(Debug)]
pub(crate) struct PostgresSource {
    writer: PostgresWriter,
    held: Option<WriterConnection>,
    /// `true` after a failed attempt to connect: nobody waits for the next one.
    is_down: bool,
}

/// State of a transaction after an error, as far as it is known.
pub(crate) enum LossOutcome {
    /// Committed before the connection was lost.
    Committed,
    /// The connection was lost before it was committed.
    NotCommitted,
    /// Failed, or of unknown outcome.
    Failed(StoreError),
}

impl From<LossOutcome> for StoreError {
    fn from(outcome: LossOutcome) -> Self {
        match outcome {
            LossOutcome::Failed(error) => error,
            LossOutcome::Committed | LossOutcome::NotCommitted => {
                let reason = "the connection to the database was lost again".to_owned();
                Self::OutcomeUnknown { reason }
            }
        }
    }
}

impl WriterSource {
    /// Returns the source of a SQLite database; `is_shared` if readers use its connection too.
    pub(crate) fn sqlite(pool: SqlitePool, is_shared: bool) -> Self {
        Self::Sqlite(SqliteSource { pool, is_shared, held: None })
    }

    /// Returns the source of a PostgreSQL database, with its first session.
    pub(crate) fn postgres(writer: PostgresWriter, session: PostgresSession) -> Self {
        let held = Some(WriterConnection::Postgres(session));
        Self::Postgres(PostgresSource { writer, held, is_down: false })
    }

    /// Returns the connection, which is opened again if it was lost.
    pub(crate) async fn take(&mut self) -> StoreResult<WriterConnection> {
        match self {
            Self::Sqlite(source) => match source.held.take() {
                Some(held) => Ok(held),
                None => Ok(WriterConnection::Sqlite(source.pool.acquire().await?)),
            },
            Self::Postgres(source) => match source.held.take() {
                Some(held) => Ok(held),
                None => source.reconnect().await.map(|(session, _)| session),
            },
        }
    }

    /// Keeps a connection for the next transaction.
    pub(crate) fn hold(&mut self, connection: WriterConnection) {
        match self {
            Self::Sqlite(source) => source.held = (!source.is_shared).then_some(connection),
            Self::Postgres(source) => source.held = Some(connection),
        }
    }

    /// Finds out what became of a transaction after an error, and keeps the connection if it still
    /// works.
    pub(crate) async fn after_error(
        &mut self,
        connection: WriterConnection,
        error: StoreError,
    ) -> LossOutcome {
        match self {
            // The connection goes back to the pool, which tests it.
            Self::Sqlite(_) => LossOutcome::Failed(error),
            Self::Postgres(source) => source.after_error(connection, error).await,
        }
    }

    /// Returns the longest time that a transaction may take, if the database can go away.
    pub(crate) fn answer_limit(&self) -> Option<Duration> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(_) => Some(postgres::ANSWER_LIMIT),
        }
    }

    /// Waits until it is time to look at a connection that nobody uses.
    pub(crate) async fn next_look(&self) {
        match self {
            Self::Postgres(source) if source.writer.is_server() => tokio::time::sleep(LOOK).await,
            Self::Sqlite(_) | Self::Postgres(_) => future::pending().await,
        }
    }

    /// Opens the connection again if it was lost, because the lock of the server goes with it.
    pub(crate) async fn look_after(&mut self) {
        let Self::Postgres(source) = self else { return };
        if let Some(WriterConnection::Postgres(mut session)) = source.held.take()
            && session.is_alive().await
        {
            source.held = Some(WriterConnection::Postgres(session));
            return;
        }
        match source.reconnect().await {
            Ok((connection, _)) => {
                tracing::info!("connected to the database again");
                source.held = Some(connection);
            }
            Err(error) => tracing::warn!(%error, "there is no connection to the database"),
        }
    }

    /// Closes the connection.
    pub(crate) async fn close(self) {
        match self {
            Self::Sqlite(source) => {
                // The pool waits for this connection when it closes.
                drop(source.held);
                sqlite::checkpoint(&source.pool).await;
                source.pool.close().await;
            }
            Self::Postgres(source) => {
                if let Some(WriterConnection::Postgres(session)) = source.held {
                    session.close().await;
                }
            }
        }
    }
}

impl PostgresSource {
    async fn reconnect(&mut self) -> StoreResult<(WriterConnection, u64)> {
        let connected = self.writer.reconnect().await;
        self.is_down = connected.is_err();
        connected.map(|(session, count)| (WriterConnection::Postgres(session), count))
    }

    async fn after_error(
        &mut self,
        connection: WriterConnection,
        error: StoreError,
    ) -> LossOutcome {
        let is_unknown = matches!(error, StoreError::OutcomeUnknown { .. });
        if !is_unknown && !error.is_loss() {
            self.held = Some(connection);
            return LossOutcome::Failed(error);
        }
        let before = connection.transactions();
        // Ends the session, which has the lock of the server.
        drop(connection);
        tracing::warn!(%error, "the connection to the database was lost");
        match (self.reconnect_patiently().await, before) {
            (Ok(now), Some(before)) if now > before => LossOutcome::Committed,
            (Ok(_), Some(_)) => LossOutcome::NotCommitted,
            // A visitor's transactions are not counted.
            (Ok(_), None) if !is_unknown => LossOutcome::NotCommitted,
            (Err(failed), _) if !is_unknown => LossOutcome::Failed(failed),
            _ => LossOutcome::Failed(error),
        }
    }

    /// Opens a session again, with patience if the database was lost only now; returns the number
    /// of transactions in the database.
    async fn reconnect_patiently(&mut self) -> StoreResult<u64> {
        let end = if self.is_down { Instant::now() } else { Instant::now() + PATIENCE };
        loop {
            match self.reconnect().await {
                Ok((connection, count)) => {
                    self.held = Some(connection);
                    return Ok(count);
                }
                Err(error @ StoreError::Replaced) => return Err(error),
                Err(error) if Instant::now() >= end => return Err(error),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}
