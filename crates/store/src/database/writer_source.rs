//! Source of the writer's connection, and what becomes of the connection after an error.

use std::future;
use std::time::Duration;

use super::connection::WriterConnection;
use super::postgres::server::PostgresWriter;
use super::postgres::session::PostgresSession;
use super::session_source::{LossOutcome, SessionSource, WriterSessions};
use super::{postgres, sqlite};
use crate::{StoreError, StoreResult};
use sqlx_sqlite::SqlitePool;

/// Time between two tests of a connection that is not used.
const LOOK: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) enum WriterSource {
    Sqlite(SqliteSource),
    Postgres(PostgresSource),
}

#[derive(Debug)]
pub(crate) struct SqliteSource {
    pool: SqlitePool,
    /// `true` if readers use the connection too.
    is_shared: bool,
    /// Connection kept between transactions: the pool would test it each time, waking two threads.
    held: Option<WriterConnection>,
}

pub(crate) type PostgresSource = SessionSource<PostgresWriter>;

impl WriterSessions for PostgresWriter {
    type Session = WriterConnection;

    async fn reconnect(&self) -> StoreResult<(WriterConnection, u64)> {
        // A host that goes away during one of the queries never answers.
        let (session, count) = postgres::answered_within(self.open_again()).await?;
        Ok((WriterConnection::Postgres(session), count))
    }

    fn transactions(session: &WriterConnection) -> Option<u64> {
        session.transactions()
    }
}

impl WriterSource {
    pub(crate) fn sqlite(pool: SqlitePool, is_shared: bool) -> Self {
        Self::Sqlite(SqliteSource { pool, is_shared, held: None })
    }

    pub(crate) fn postgres(writer: PostgresWriter, session: PostgresSession) -> Self {
        Self::Postgres(PostgresSource::new(writer, WriterConnection::Postgres(session)))
    }

    pub(crate) async fn take(&mut self) -> StoreResult<WriterConnection> {
        match self {
            Self::Sqlite(source) => match source.held.take() {
                Some(held) => Ok(held),
                None => Ok(WriterConnection::Sqlite(source.pool.acquire().await?)),
            },
            Self::Postgres(source) => source.take().await,
        }
    }

    pub(crate) fn hold(&mut self, connection: WriterConnection) {
        match self {
            Self::Sqlite(source) => source.held = (!source.is_shared).then_some(connection),
            Self::Postgres(source) => source.hold(connection),
        }
    }

    /// Finds out what became of a transaction after an error, and keeps a working connection.
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

    /// Waits until it is time to test an unused connection.
    pub(crate) async fn next_look(&self) {
        match self {
            Self::Postgres(source) if source.sessions().is_server() => {
                tokio::time::sleep(LOOK).await;
            }
            Self::Sqlite(_) | Self::Postgres(_) => future::pending().await,
        }
    }

    /// Opens the connection again if it was lost, because the lock of the server goes with it.
    pub(crate) async fn look_after(&mut self) {
        let Self::Postgres(source) = self else { return };
        if let Some(WriterConnection::Postgres(mut session)) = source.release()
            && session.is_alive().await
        {
            source.hold(WriterConnection::Postgres(session));
            return;
        }
        match source.settle().await {
            Ok(()) => tracing::info!("connected to the database again"),
            Err(error) => tracing::warn!(%error, "there is no connection to the database"),
        }
    }

    /// Returns `true` if a transaction with an unknown outcome may still be committed.
    pub(crate) fn is_unsettled(&self) -> bool {
        matches!(self, Self::Postgres(source) if source.is_unsettled())
    }

    pub(crate) async fn settle(&mut self) -> StoreResult<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(source) => source.settle().await,
        }
    }

    pub(crate) async fn close(self) {
        match self {
            Self::Sqlite(source) => {
                // The pool waits for this connection when it closes.
                drop(source.held);
                sqlite::checkpoint(&source.pool).await;
                source.pool.close().await;
            }
            Self::Postgres(mut source) => {
                if let Some(WriterConnection::Postgres(session)) = source.release() {
                    session.close().await;
                }
            }
        }
    }
}
