//! Task that writes: takes all batches that wait and commits them together.

use std::sync::Arc;

use sqlx::pool::PoolConnection;
use sqlx_sqlite::{Sqlite, SqliteConnection, SqlitePool};
use tokio::sync::{mpsc, watch};

use super::statement_batch::BatchError;
use crate::failpoint;
use crate::store::apply::WriterCache;
use crate::store::handle::{CommitCounters, CommitOutcome, WriterMessage};
use crate::store::{StoreError, StoreResult, WriteBatch, apply};

/// Largest number of queued batches; with more, [`commit`](crate::store::Store::commit) waits for a
/// place.
const QUEUE: usize = 1_024;

/// Largest number of batches in one transaction: enough to hide the wait for the disk, few enough
/// that the first of them does not wait long for the last.
const GROUP: usize = 256;

/// Bytes of text in one transaction, unless a single batch has more: a short batch does not wait
/// for a long one that came after it.
const GROUP_BYTES: usize = 1024 * 1024;

/// Use of the writer's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriterConnection {
    Own,
    /// Connection that readers use too.
    Shared,
}

/// Starts the writer task. It ends when it is closed or when every sender is gone.
pub(crate) fn start(
    pool: SqlitePool,
    writer_connection: WriterConnection,
    counters: Arc<CommitCounters>,
    news: watch::Sender<u64>,
) -> mpsc::Sender<WriterMessage> {
    let (sender, messages) = mpsc::channel(QUEUE);
    tokio::spawn(
        StoreWriter { pool, writer_connection, held: None, counters, news, known: None }
            .run(messages),
    );
    sender
}

struct StoreWriter {
    pool: SqlitePool,
    writer_connection: WriterConnection,
    /// Connection kept from one transaction to the next: the pool would test it each time, which
    /// takes the time of two threads.
    held: Option<PoolConnection<Sqlite>>,
    counters: Arc<CommitCounters>,
    news: watch::Sender<u64>,
    /// State of the database after this process's last commit, as far as it is known.
    known: Option<WriterCache>,
}

impl StoreWriter {
    async fn run(mut self, mut messages: mpsc::Receiver<WriterMessage>) {
        let mut waiting = Vec::with_capacity(GROUP);
        let mut closers = Vec::new();
        while messages.recv_many(&mut waiting, GROUP).await > 0 {
            let mut batches = Vec::with_capacity(waiting.len());
            let mut answers = Vec::with_capacity(waiting.len());
            for message in waiting.drain(..) {
                match message {
                    WriterMessage::Commit { batch, answer } => {
                        batches.push(batch);
                        answers.push(answer);
                    }
                    WriterMessage::Close { answer } => {
                        // Nothing new comes in; what is queued is still written by this loop.
                        messages.close();
                        closers.push(answer);
                    }
                }
            }
            let mut answers = answers.into_iter();
            for group in groups(&batches) {
                let outcomes = self.write(group).await;
                failpoint::pass("store.committed");
                self.counters.count(&outcomes);
                let nobody_is_told = self.known.as_ref().is_some_and(|known| !known.webhooks);
                if !nobody_is_told && group.iter().any(WriteBatch::is_news) {
                    self.news.send_modify(|count| *count += 1);
                }
                for (outcome, answer) in outcomes.into_iter().zip(&mut answers) {
                    // Whoever stopped waiting does not need the answer; the batch stands.
                    answer.send(outcome).ok();
                }
            }
        }
        self.finish().await;
        for answer in closers {
            answer.send(()).ok();
        }
    }

    /// Writes batches; returns one outcome for each.
    async fn write(&mut self, batches: &[WriteBatch]) -> Vec<CommitOutcome> {
        // A message to close brings no batches, and a visitor could not write.
        if batches.is_empty() {
            return Vec::new();
        }
        let error = match self.transact(batches).await {
            Ok(()) => return batches.iter().map(|_| Ok(())).collect(),
            Err(error) => error,
        };
        if batches.len() == 1 {
            return vec![Err(error)];
        }
        // One of them is refused, or is what broke the transaction: the others must not fail with
        // it.
        self.counters.count_split_group();
        tracing::debug!(%error, batches = batches.len(), "a group failed; each batch is tried alone");
        match self.one_by_one(batches).await {
            Ok(outcomes) => outcomes,
            Err(error) => {
                tracing::warn!(%error, batches = batches.len(), "group commit failed; committing each batch separately");
                let mut outcomes = Vec::with_capacity(batches.len());
                for batch in batches {
                    outcomes.push(self.transact(std::slice::from_ref(batch)).await);
                }
                outcomes
            }
        }
    }

    /// Writes all batches in one transaction, or nothing.
    async fn transact(&mut self, batches: &[WriteBatch]) -> CommitOutcome {
        let mut connection = match self.held.take() {
            Some(held) => held,
            None => self.pool.acquire().await?,
        };
        // A connection on which something failed goes back to the pool, which tests it.
        self.transact_with(&mut connection, batches).await?;
        self.held = (self.writer_connection == WriterConnection::Own).then_some(connection);
        Ok(())
    }

    async fn transact_with(
        &mut self,
        connection: &mut SqliteConnection,
        batches: &[WriteBatch],
    ) -> CommitOutcome {
        loop {
            let known = match self.known.take() {
                Some(known) => known,
                None => WriterCache::read(connection).await?,
            };
            match apply::transaction(connection, batches, known).await {
                Ok(known) => {
                    self.is_committed(known);
                    return Ok(());
                }
                Err(refused) => {
                    roll_back(connection).await;
                    match refused {
                        // Another process has added to the audit log; its new end is looked up.
                        BatchError::Outdated => {}
                        BatchError::Error(error) => return Err(error),
                    }
                }
            }
        }
    }

    /// Writes all batches in one transaction, each behind its own savepoint. An error is the
    /// transaction's: nothing was written.
    async fn one_by_one(&mut self, batches: &[WriteBatch]) -> StoreResult<Vec<CommitOutcome>> {
        let mut connection = self.pool.acquire().await?;
        sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
        let saved = match save_each(&mut connection, batches).await {
            Ok(saved) => {
                let committed = sqlx::query("COMMIT").execute(&mut *connection).await;
                committed.map(|_| saved).map_err(StoreError::from)
            }
            Err(error) => Err(error),
        };
        match saved {
            Ok((outcomes, known)) => {
                self.is_committed(known);
                Ok(outcomes)
            }
            Err(error) => {
                roll_back(&mut connection).await;
                Err(error)
            }
        }
    }

    /// Stores the writer's knowledge of the database, which holds after a commit only.
    fn is_committed(&mut self, known: WriterCache) {
        self.counters.count_transaction();
        self.known = Some(known);
    }

    async fn finish(mut self) {
        // The pool waits for this connection when it closes.
        drop(self.held.take());
        // Only saves time at the next start, which would read the log again.
        let checkpoint = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&self.pool).await;
        if let Err(error) = checkpoint {
            tracing::debug!(%error, "cannot checkpoint at close");
        }
        self.pool.close().await;
    }
}

/// Splits batches, in order, into groups of at most [`GROUP_BYTES`] or of one batch.
fn groups(batches: &[WriteBatch]) -> impl Iterator<Item = &[WriteBatch]> {
    let mut rest = batches;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |batch: &&WriteBatch| {
            bytes += batch.text_bytes();
            bytes <= GROUP_BYTES
        };
        let count = rest.iter().take_while(fits).count().max(1).min(rest.len());
        let (group, others) = rest.split_at(count);
        rest = others;
        (!group.is_empty()).then_some(group)
    })
}

// Transactions are written out rather than left to sqlx: some errors (no space left) make SQLite
// roll back by itself, and sqlx's count of open transactions is wrong from then on.
async fn roll_back(connection: &mut SqliteConnection) {
    // Fails when SQLite has done it already.
    sqlx::query("ROLLBACK").execute(connection).await.ok();
}

/// Writes each batch behind a savepoint; returns the outcomes and the new state of the cache.
async fn save_each(
    connection: &mut SqliteConnection,
    batches: &[WriteBatch],
) -> StoreResult<(Vec<CommitOutcome>, WriterCache)> {
    let mut outcomes = Vec::with_capacity(batches.len());
    // Looked up inside the transaction, so nobody else can move it.
    let mut known = WriterCache::read(connection).await?;
    for batch in batches {
        let saved = apply::savepoint(connection, batch, known.clone()).await;
        if saved.is_err() {
            let undo = "ROLLBACK TO SAVEPOINT batch; RELEASE SAVEPOINT batch";
            sqlx::raw_sql(undo).execute(&mut *connection).await?;
        }
        outcomes.push(saved.map(|now| known = now).map_err(StoreError::from));
    }
    Ok((outcomes, known))
}
