//! Task that writes: takes all batches that wait and commits them together.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::connection::WriterConnection;
use super::statement_batch::{BatchError, BatchFrame};
use super::writer_source::{LossOutcome, WriterSource};
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

/// Starts the writer task. It ends when it is closed or when every sender is gone.
pub(crate) fn start(
    source: WriterSource,
    counters: Arc<CommitCounters>,
    news: watch::Sender<u64>,
) -> mpsc::Sender<WriterMessage> {
    let (sender, messages) = mpsc::channel(QUEUE);
    tokio::spawn(StoreWriter { source, counters, news, known: None }.run(messages));
    sender
}

struct StoreWriter {
    source: WriterSource,
    counters: Arc<CommitCounters>,
    news: watch::Sender<u64>,
    /// State of the database after this process's last commit, as far as it is known.
    known: Option<WriterCache>,
}

impl StoreWriter {
    async fn run(mut self, mut messages: mpsc::Receiver<WriterMessage>) {
        let mut waiting = Vec::with_capacity(GROUP);
        let mut closers = Vec::new();
        while self.wait(&mut messages, &mut waiting).await {
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
        self.source.close().await;
        for answer in closers {
            answer.send(()).ok();
        }
    }

    /// Waits for messages; returns `false` when there will be no more. Looks after the connection
    /// meanwhile.
    async fn wait(
        &mut self,
        messages: &mut mpsc::Receiver<WriterMessage>,
        waiting: &mut Vec<WriterMessage>,
    ) -> bool {
        loop {
            tokio::select! {
                biased;
                count = messages.recv_many(waiting, GROUP) => return count > 0,
                () = self.source.next_look() => self.source.look_after().await,
            }
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
        if error.of_all_batches().is_some() {
            return of_all(error, batches.len());
        }
        // One of them is refused, or is what broke the transaction: the others must not fail with
        // it.
        self.counters.count_split_group();
        tracing::debug!(%error, batches = batches.len(), "a group failed; each batch is tried alone");
        let limit = self.source.answer_limit();
        match limited(limit, self.one_by_one(batches)).await {
            Ok(outcomes) => outcomes,
            Err(error) if error.of_all_batches().is_some() => of_all(error, batches.len()),
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

    /// Writes all batches in one transaction, or nothing. A transaction that was lost with its
    /// connection is repeated once.
    async fn transact(&mut self, batches: &[WriteBatch]) -> CommitOutcome {
        let mut is_repeated = false;
        loop {
            let mut connection = self.source.take().await?;
            let limit = self.source.answer_limit();
            let work = self.transact_with(&mut connection, batches);
            let error = match limited(limit, work).await {
                Ok(()) => {
                    self.source.hold(connection);
                    return Ok(());
                }
                Err(error) => error,
            };
            match self.source.after_error(connection, error).await {
                LossOutcome::Committed => {
                    self.counters.count_transaction();
                    return Ok(());
                }
                LossOutcome::NotCommitted if !is_repeated => is_repeated = true,
                outcome => return Err(outcome.into()),
            }
        }
    }

    async fn transact_with(
        &mut self,
        connection: &mut WriterConnection,
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
                    connection.roll_back().await;
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
    /// transaction's: nothing was written, as far as it is known.
    async fn one_by_one(&mut self, batches: &[WriteBatch]) -> StoreResult<Vec<CommitOutcome>> {
        let mut connection = self.source.take().await?;
        let (outcomes, ended) = match save_each(&mut connection, batches).await {
            Ok((outcomes, known)) => {
                let ended = connection.script().end(BatchFrame::Transaction).await;
                (outcomes, ended.map(|()| known).map_err(StoreError::from))
            }
            Err(error) => (Vec::new(), Err(error)),
        };
        let error = match ended {
            Ok(known) => {
                self.is_committed(known);
                self.source.hold(connection);
                return Ok(outcomes);
            }
            Err(error) => error,
        };
        connection.roll_back().await;
        match self.source.after_error(connection, error).await {
            LossOutcome::Committed => {
                self.counters.count_transaction();
                Ok(outcomes)
            }
            outcome => Err(outcome.into()),
        }
    }

    /// Stores the writer's knowledge of the database, which holds after a commit only.
    fn is_committed(&mut self, known: WriterCache) {
        self.counters.count_transaction();
        self.known = Some(known);
    }
}

/// Does the work of a transaction within a limit, after which nobody knows what becomes of it.
async fn limited<T>(
    limit: Option<Duration>,
    work: impl Future<Output = StoreResult<T>>,
) -> StoreResult<T> {
    let Some(limit) = limit else { return work.await };
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        let reason = format!("the database did not answer within {} s", limit.as_secs());
        Err(StoreError::OutcomeUnknown { reason })
    })
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

/// Returns an error about the database as the outcome of each of `count` batches.
fn of_all(error: StoreError, count: usize) -> Vec<CommitOutcome> {
    let copies = (1..count).filter_map(|_| error.of_all_batches()).map(Err).collect::<Vec<_>>();
    copies.into_iter().chain([Err(error)]).collect()
}

/// Begins a transaction and writes each batch behind a savepoint; returns the outcomes and the new
/// state of the cache.
async fn save_each(
    connection: &mut WriterConnection,
    batches: &[WriteBatch],
) -> StoreResult<(Vec<CommitOutcome>, WriterCache)> {
    let mut script = connection.script();
    script.begin(BatchFrame::Transaction);
    script.send().await?;
    let mut outcomes = Vec::with_capacity(batches.len());
    // Looked up inside the transaction, so nobody else can move it.
    let mut known = WriterCache::read(connection).await?;
    for batch in batches {
        let saved = apply::savepoint(connection, batch, known.clone()).await;
        if saved.is_err() {
            connection.run("ROLLBACK TO SAVEPOINT batch; RELEASE SAVEPOINT batch").await?;
        }
        outcomes.push(saved.map(|now| known = now).map_err(StoreError::from));
    }
    Ok((outcomes, known))
}
