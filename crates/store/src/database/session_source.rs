//! Sessions in which a server writes, one after the other, and what became of a transaction whose
//! session was lost. A simulation has its own.
//!
//! A server counts its transactions, and the database counts them too. Another session begins only
//! after the one before has ended, so that from then on the count says what became of the last
//! transaction. Until then it may still be committed.

use std::time::Duration;

use tokio::time::Instant;

use crate::{StoreError, StoreResult};
use copydesk_metrics as metrics;

/// Longest wait for a database that has just been lost, so that its restart goes unnoticed.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(100);

/// Maker of the sessions of one server.
pub trait WriterSessions {
    /// Session that writes.
    type Session: Send;

    /// Opens another session after the end of the last one; returns it and the number of
    /// transactions in the database.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`] while there is no connection, [`StoreError::InUse`] while
    /// another server has the lock, [`StoreError::Replaced`] if one has served meanwhile.
    fn reconnect(&self) -> impl Future<Output = StoreResult<(Self::Session, u64)>> + Send;

    /// Returns the number of transactions that the server has committed; `None` for a visitor.
    fn transactions(session: &Self::Session) -> Option<u64>;
}

/// State of a transaction after an error, as far as it is known.
#[derive(Debug)]
pub enum LossOutcome {
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

/// Attempts at one transaction, which is repeated once if it was lost with its session.
#[derive(Debug, Default)]
pub struct TransactionAttempts {
    is_repeated: bool,
}

impl TransactionAttempts {
    /// Returns the result of the transaction; `None` if it is to be tried again.
    pub fn conclude(&mut self, outcome: LossOutcome) -> Option<StoreResult<()>> {
        match outcome {
            LossOutcome::Committed => Some(Ok(())),
            LossOutcome::NotCommitted if !self.is_repeated => {
                self.is_repeated = true;
                None
            }
            outcome => Some(Err(outcome.into())),
        }
    }
}

/// Source of the one session in which a server writes.
#[derive(Debug)]
pub struct SessionSource<S: WriterSessions> {
    sessions: S,
    held: Option<S::Session>,
    /// `true` after a failed attempt to connect: then no transaction waits for the next one.
    is_down: bool,
}

impl<S: WriterSessions> SessionSource<S> {
    /// Returns the source with its first session.
    pub fn new(sessions: S, first: S::Session) -> Self {
        Self { sessions, held: Some(first), is_down: false }
    }

    /// Returns the maker of the sessions.
    pub fn sessions(&self) -> &S {
        &self.sessions
    }

    /// Returns the session, which is opened again if it was lost.
    pub async fn take(&mut self) -> StoreResult<S::Session> {
        match self.held.take() {
            Some(held) => Ok(held),
            None => self.reconnect().await.map(|(session, _)| session),
        }
    }

    /// Keeps a session for the next transaction.
    pub fn hold(&mut self, session: S::Session) {
        self.held = Some(session);
    }

    /// Returns the session that is kept, if there is one.
    pub fn release(&mut self) -> Option<S::Session> {
        self.held.take()
    }

    /// Returns `true` if no session is open: a transaction of the last one may still be committed.
    pub fn is_unsettled(&self) -> bool {
        self.held.is_none()
    }

    /// Makes sure that the last transaction has ended.
    pub async fn settle(&mut self) -> StoreResult<()> {
        let session = self.take().await?;
        self.hold(session);
        Ok(())
    }

    /// Finds out what became of a transaction after an error, and keeps a session that still works.
    pub async fn after_error(&mut self, session: S::Session, error: StoreError) -> LossOutcome {
        let is_unknown = matches!(error, StoreError::OutcomeUnknown { .. });
        if !is_unknown && !error.is_loss() {
            self.held = Some(session);
            return LossOutcome::Failed(error);
        }
        let before = S::transactions(&session);
        // Ends the session, which has the lock of the server.
        drop(session);
        metrics::DATABASE_LOSSES.count();
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

    async fn reconnect(&mut self) -> StoreResult<(S::Session, u64)> {
        let connected = self.sessions.reconnect().await;
        self.is_down = connected.is_err();
        connected
    }

    /// Opens a session again, waiting for a database that was lost only now.
    async fn reconnect_patiently(&mut self) -> StoreResult<u64> {
        let end = if self.is_down { Instant::now() } else { Instant::now() + RECONNECT_TIMEOUT };
        loop {
            match self.reconnect().await {
                Ok((session, count)) => {
                    self.held = Some(session);
                    return Ok(count);
                }
                Err(error @ StoreError::Replaced) => return Err(error),
                Err(error) if Instant::now() >= end => return Err(error),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}
