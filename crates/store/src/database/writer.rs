//! Task that writes: takes all batches that wait and commits them together.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};

use super::connection::WriterConnection;
use super::pending_updates::PendingUpdates;
use super::session_source::{LossOutcome, TransactionAttempts};
use super::statement_batch::{BatchError, BatchFrame};
use super::writer_message::{CommitOutcome, WriterMessage};
use super::writer_source::WriterSource;
use crate::apply::WriterCache;
use crate::handle::CommitCounters;
use crate::{StoreError, StoreResult, WriteBatch, apply, updates};
use copydesk_failpoint as failpoint;
use copydesk_metrics as metrics;

/// Largest number of queued batches; with more, [`commit`](crate::Store::commit) waits for a place.
const QUEUE: usize = 1_024;

/// Largest number of batches in one transaction: enough to hide the wait for the disk, few enough
/// that the first does not wait long for the last.
const GROUP: usize = 256;

/// Bytes of text in one transaction, unless a single batch has more: a short batch does not wait
/// for a long one that came after it.
const GROUP_BYTES: usize = 1024 * 1024;

/// Starts the writer. It ends when it is closed or when every sender is gone.
pub(crate) fn start(
    source: WriterSource,
    counters: Arc<CommitCounters>,
    news: watch::Sender<u64>,
    pending: Option<PendingUpdates>,
) -> mpsc::Sender<WriterMessage> {
    let (sender, messages) = mpsc::channel(QUEUE);
    tokio::spawn(StoreWriter { source, counters, news, known: None, pending }.run(messages));
    sender
}

struct StoreWriter {
    source: WriterSource,
    counters: Arc<CommitCounters>,
    news: watch::Sender<u64>,
    /// State of the database after this process's last commit, as far as it is known.
    known: Option<WriterCache>,
    /// Updates that are durable in a SQLite database, and not in the log yet.
    pending: Option<PendingUpdates>,
}

impl StoreWriter {
    async fn run(mut self, mut messages: mpsc::Receiver<WriterMessage>) {
        let mut waiting = Vec::with_capacity(GROUP);
        let (mut closers, mut settlers, mut readers) = (Vec::new(), Vec::new(), Vec::new());
        while self.wait(&mut messages, &mut waiting).await {
            let mut batches = Vec::with_capacity(waiting.len());
            let mut answers = Vec::with_capacity(waiting.len());
            for message in waiting.drain(..) {
                match message {
                    WriterMessage::Commit { batch, answer } => {
                        batches.push(batch);
                        answers.push(answer);
                    }
                    WriterMessage::Settle { answer } => settlers.push(answer),
                    WriterMessage::LogPending { answer } => readers.push(answer),
                    WriterMessage::Close { answer } => {
                        // Nothing new comes in; what is queued is still written by this loop.
                        messages.close();
                        closers.push(answer);
                    }
                }
            }
            let mut answers = answers.into_iter();
            for group in groups(&batches) {
                let outcomes = self.make_durable(group).await;
                failpoint::pass("store.committed");
                self.counters.count(&outcomes);
                self.counters.note_unsettled(self.source.is_unsettled());
                let nobody_is_told = self.known.as_ref().is_some_and(|known| !known.webhooks);
                if !nobody_is_told && group.iter().any(WriteBatch::is_news) {
                    self.news.send_modify(|count| *count += 1);
                }
                for (outcome, answer) in outcomes.into_iter().zip(&mut answers) {
                    // A caller that has stopped waiting does not need the answer; the batch stands.
                    answer.send(outcome).ok();
                }
            }
            if !settlers.is_empty() {
                self.settle(&mut settlers).await;
            }
            let is_due = self.pending.as_ref().is_some_and(PendingUpdates::is_due);
            if is_due || !readers.is_empty() {
                let is_logged = self.log_pending().await.is_ok();
                for reader in readers.drain(..) {
                    reader.send(is_logged).ok();
                }
            }
        }
        // What the log cannot get now is pending until the next start.
        self.log_pending().await.ok();
        self.source.close().await;
        for answer in closers {
            answer.send(()).ok();
        }
    }

    /// Waits for messages, looking after the connection; `false` when there will be no more.
    async fn wait(
        &mut self,
        messages: &mut mpsc::Receiver<WriterMessage>,
        waiting: &mut Vec<WriterMessage>,
    ) -> bool {
        if let Some(next_row) = self.pending.as_ref().and_then(PendingUpdates::next_row_time) {
            tokio::time::sleep_until(next_row).await;
        }
        loop {
            tokio::select! {
                biased;
                count = messages.recv_many(waiting, GROUP) => return count > 0,
                () = pending_is_due(self.pending.as_ref()) => return true,
                () = self.source.next_look() => {
                    self.source.look_after().await;
                    self.counters.note_unsettled(self.source.is_unsettled());
                }
            }
        }
    }

    /// Makes sure that no transaction with an unknown outcome is committed from now on.
    async fn settle(&mut self, settlers: &mut Vec<oneshot::Sender<CommitOutcome>>) {
        let settled = self.source.settle().await;
        self.counters.note_unsettled(self.source.is_unsettled());
        for answer in settlers.drain(..) {
            let settled = settled.as_ref().copied().map_err(|error| {
                let reason = error.to_string();
                error.of_all_batches().unwrap_or(StoreError::OutcomeUnknown { reason })
            });
            answer.send(settled).ok();
        }
    }

    async fn make_durable(&mut self, batches: &[WriteBatch]) -> Vec<CommitOutcome> {
        // A message to close brings no batches, and a visitor could not write.
        if batches.is_empty() {
            return Vec::new();
        }
        let Some(pending) = &self.pending else { return self.write(batches).await };
        if let Some(row) = pending.row(batches)
            && self.append_pending(&row, batches).await
        {
            return batches.iter().map(|_| Ok(())).collect();
        }
        if let Err(error) = self.log_pending().await {
            return of_all(Err(error), batches.len());
        }
        let outcomes = self.write(batches).await;
        if let Some(pending) = &mut self.pending {
            for (batch, outcome) in batches.iter().zip(&outcomes) {
                match outcome {
                    Ok(()) => pending.note(batch),
                    Err(_) => pending.forget(batch),
                }
            }
        }
        outcomes
    }

    /// Makes batches durable as a pending row; returns `false` if nothing is written.
    async fn append_pending(&mut self, row: &str, batches: &[WriteBatch]) -> bool {
        let began = Instant::now();
        let appended = match self.source.take().await {
            Ok(mut connection) => {
                let appended = updates::append_pending(&mut connection.script(), row).await;
                if appended.is_ok() {
                    self.source.hold(connection);
                }
                appended.map_err(StoreError::from)
            }
            Err(error) => Err(error),
        };
        if let Err(error) = appended {
            tracing::debug!(%error, "updates cannot be made pending");
            return false;
        }
        metrics::COMMIT_SECONDS.took(began.elapsed());
        self.counters.count_transaction(batches.len());
        if let Some(pending) = &mut self.pending {
            pending.add(batches, row.len());
        }
        true
    }

    async fn log_pending(&mut self) -> CommitOutcome {
        let Some(pending) = self.pending.as_ref().filter(|it| it.are_any()) else { return Ok(()) };
        let batch = pending.logging_batch();
        let logged = self.transact(std::slice::from_ref(&batch)).await;
        failpoint::pass("pending.logged");
        if let Some(pending) = &mut self.pending {
            match &logged {
                Ok(()) => pending.logged(),
                Err(error) => pending.refused(error),
            }
        }
        logged
    }

    async fn write(&mut self, batches: &[WriteBatch]) -> Vec<CommitOutcome> {
        let error = match self.transact(batches).await {
            Ok(()) => return batches.iter().map(|_| Ok(())).collect(),
            Err(error) => error,
        };
        if batches.len() == 1 {
            return vec![Err(error)];
        }
        if error.of_all_batches().is_some() {
            return of_all(Err(error), batches.len());
        }
        // One of them broke the transaction: the others must not fail with it.
        self.counters.count_split_group();
        tracing::debug!(%error, batches = batches.len(), "a group failed; each batch is tried alone");
        let limit = self.source.answer_limit();
        match limited(limit, Box::pin(self.one_by_one(batches))).await {
            Ok(outcomes) => outcomes,
            Err(error) if error.of_all_batches().is_some() => of_all(Err(error), batches.len()),
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

    /// Writes all batches in one transaction, or nothing; repeats once what a connection lost.
    async fn transact(&mut self, batches: &[WriteBatch]) -> CommitOutcome {
        let mut attempts = TransactionAttempts::default();
        loop {
            let mut connection = self.source.take().await?;
            let limit = self.source.answer_limit();
            let began = Instant::now();
            // Lasts until it is dropped.
            let _span = tracing::debug_span!("commit", batches = batches.len());
            let work = self.transact_with(&mut connection, batches);
            let error = match limited(limit, work).await {
                Ok(()) => {
                    metrics::COMMIT_SECONDS.took(began.elapsed());
                    self.source.hold(connection);
                    return Ok(());
                }
                Err(error) => error,
            };
            let outcome = self.source.after_error(connection, error).await;
            if matches!(outcome, LossOutcome::Committed) {
                self.counters.count_transaction(batches.len());
            }
            match attempts.conclude(outcome) {
                Some(result) => return result,
                None => metrics::COMMIT_RETRIES.count(),
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
                    self.note_commit(known, batches.len());
                    return Ok(());
                }
                Err(refused) => {
                    connection.roll_back().await;
                    match refused {
                        // Another process has added to the audit log; its new end is looked up.
                        BatchError::Outdated => metrics::COMMIT_RETRIES.count(),
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
                self.note_commit(known, outcomes.iter().filter(|outcome| outcome.is_ok()).count());
                self.source.hold(connection);
                return Ok(outcomes);
            }
            Err(error) => error,
        };
        connection.roll_back().await;
        match self.source.after_error(connection, error).await {
            LossOutcome::Committed => {
                self.counters.count_transaction(outcomes.len());
                Ok(outcomes)
            }
            outcome => Err(outcome.into()),
        }
    }

    fn note_commit(&mut self, known: WriterCache, batches: usize) {
        self.counters.count_transaction(batches);
        self.known = Some(known);
    }
}

/// Does the work of a transaction. After `limit` it fails as [`StoreError::OutcomeUnknown`]: the
/// database may still commit it.
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

fn of_all(outcome: CommitOutcome, count: usize) -> Vec<CommitOutcome> {
    let copy = |error: &StoreError| {
        let copy = error.of_all_batches();
        copy.unwrap_or_else(|| {
            StoreError::Write(sqlx::Error::AnyDriverError(error.to_string().into()))
        })
    };
    let copies = (1..count).map(|_| outcome.as_ref().copied().map_err(copy)).collect::<Vec<_>>();
    copies.into_iter().chain((count > 0).then_some(outcome)).collect()
}

async fn pending_is_due(pending: Option<&PendingUpdates>) {
    match pending {
        Some(pending) => pending.wait().await,
        None => std::future::pending().await,
    }
}

async fn save_each(
    connection: &mut WriterConnection,
    batches: &[WriteBatch],
) -> StoreResult<(Vec<CommitOutcome>, WriterCache)> {
    let mut script = connection.script();
    script.begin(BatchFrame::Transaction);
    script.send().await?;
    let mut outcomes = Vec::with_capacity(batches.len());
    // Looked up inside the transaction, so no other process can move it.
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
