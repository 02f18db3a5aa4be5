//! Handle to the store: sends batches to the writer, and lends connections for reading.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};

use super::batch::{StoreOp, WriteBatch};
use super::database::postgres::nodes::NodeConnections;
use super::database::reading::ReadPool;
use super::database::writer_message::{CommitOutcome, WriterMessage};
use super::error::{StoreError, StoreResult};
use super::node_tables::NodeTables as _;
use copydesk_metrics as metrics;

/// Bytes that [`Store::probe`] stores: more than are free on a disk that is as good as full.
const TRIED_BYTES: usize = 16 * 1024;

/// Handle to the database of a server. Clones share one database.
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<StoreShared>,
}

#[derive(Debug)]
struct StoreShared {
    messages: mpsc::Sender<WriterMessage>,
    readers: ReadPool,
    counts: Arc<CommitCounters>,
    /// Counter that grows when there may be something new in the outbox of the webhooks.
    news: watch::Sender<u64>,
    /// Lock of the data directory, held while this process serves it.
    lock: Mutex<Option<File>>,
    /// Row of this server among several that share a PostgreSQL database.
    node: Option<Arc<NodeConnections>>,
}

/// Numbers of batches ([`WriteBatch`]) and transactions written since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitCounts {
    /// Batches that are on the disk.
    pub batches: u64,
    /// Batches that failed and left nothing behind.
    pub failed: u64,
    /// Transactions, each of which waited for the disk once.
    pub transactions: u64,
    /// Groups of batches that failed together and were written batch by batch.
    pub split_groups: u64,
}

/// Counters behind [`CommitCounts`].
#[derive(Debug, Default)]
pub(super) struct CommitCounters {
    batches: AtomicU64,
    failed: AtomicU64,
    transactions: AtomicU64,
    split_groups: AtomicU64,
    /// `true` while a transaction of which no one knows may still be committed.
    is_unsettled: AtomicBool,
}

impl CommitCounters {
    /// Records that a transaction of which no one knows may still be committed, or cannot.
    pub(super) fn note_unsettled(&self, is_unsettled: bool) {
        self.is_unsettled.store(is_unsettled, Ordering::Release);
    }

    fn read(&self) -> CommitCounts {
        CommitCounts {
            batches: self.batches.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            transactions: self.transactions.load(Ordering::Relaxed),
            split_groups: self.split_groups.load(Ordering::Relaxed),
        }
    }

    /// Counts a transaction that has put this number of batches on the disk.
    pub(super) fn count_transaction(&self, batches: usize) {
        self.transactions.fetch_add(1, Ordering::Relaxed);
        metrics::COMMIT_BATCHES.had(batches);
    }

    /// Counts a group of batches that failed together.
    pub(super) fn count_split_group(&self) {
        self.split_groups.fetch_add(1, Ordering::Relaxed);
        metrics::SPLIT_GROUPS.count();
    }

    /// Counts batches by their outcomes.
    pub(super) fn count(&self, outcomes: &[CommitOutcome]) {
        let failed = outcomes.iter().filter(|outcome| outcome.is_err()).count();
        self.failed.fetch_add(failed as u64, Ordering::Relaxed);
        if failed > 0 {
            metrics::COMMITS_FAILED.count_many(failed);
        }
        self.batches.fetch_add((outcomes.len() - failed) as u64, Ordering::Relaxed);
    }
}

impl Store {
    /// Returns a handle to a writer that is running.
    pub(super) fn new(
        messages: mpsc::Sender<WriterMessage>,
        readers: ReadPool,
        counts: Arc<CommitCounters>,
        news: watch::Sender<u64>,
        lock: Option<File>,
        node: Option<Arc<NodeConnections>>,
    ) -> Self {
        let lock = Mutex::new(lock);
        Self { shared: Arc::new(StoreShared { messages, readers, counts, news, lock, node }) }
    }

    /// Writes `batch`. When this returns `Ok` the batch survives a crash of the process and a loss
    /// of power; when it returns an error nothing of the batch was written, unless the error is
    /// [`StoreError::OutcomeUnknown`].
    ///
    /// Batches take effect in the order in which their `commit` was first polled. Waits while too
    /// many batches are queued. Dropping the future does not take a queued batch back.
    ///
    /// # Errors
    /// An error of one of the operations ([`StoreOp`]), [`StoreError::Write`],
    /// [`StoreError::Closed`], or what is wrong with a PostgreSQL database or the connection to it.
    pub async fn commit(&self, batch: impl Into<WriteBatch>) -> StoreResult<()> {
        let batch = batch.into();
        if batch.is_empty() {
            return Ok(());
        }
        let (answer, outcome) = oneshot::channel();
        let sent = self.shared.messages.send(WriterMessage::Commit { batch, answer }).await;
        sent.map_err(|_| StoreError::Closed)?;
        outcome.await.map_err(|_| StoreError::Closed)?.map_err(StoreError::while_writing)
    }

    /// Makes sure that no transaction of this server is committed later whose outcome is unknown:
    /// what is read from then on has all of them. Returns at once if there is none.
    ///
    /// # Errors
    /// The reason why the database cannot say what became of the last one.
    pub async fn settle(&self) -> StoreResult<()> {
        if !self.shared.counts.is_unsettled.load(Ordering::Acquire) {
            return Ok(());
        }
        let (answer, settled) = oneshot::channel();
        let sent = self.shared.messages.send(WriterMessage::Settle { answer }).await;
        sent.map_err(|_| StoreError::Closed)?;
        settled.await.map_err(|_| StoreError::Closed)?
    }

    /// Stores a value that nothing needs and reads it again, to find out if the store works.
    ///
    /// # Errors
    /// The reason why the store does not work: no space left, for example.
    pub async fn probe(&self) -> StoreResult<()> {
        // A different value each time: an unchanged one is perhaps not written. Long enough to need
        // space of its own.
        let id = uuid::Uuid::new_v4().simple().to_string();
        let value = id.repeat(TRIED_BYTES / id.len());
        let key = "readiness".to_owned();
        self.commit(StoreOp::PutSetting { key: key.clone(), value: value.clone() }).await?;
        // Another server instance of the same moment may have written since.
        self.setting(&key).await?.map(drop).ok_or_else(|| StoreError::missing("setting", &key))
    }

    /// Returns the numbers of batches and transactions written since the store was opened.
    pub fn counts(&self) -> CommitCounts {
        self.shared.counts.read()
    }

    /// Returns the number of batches that wait for the writer.
    pub fn waiting_batches(&self) -> usize {
        let messages = &self.shared.messages;
        messages.max_capacity() - messages.capacity()
    }

    /// Returns a receiver that changes when there may be something new in the outbox.
    pub fn outbox_changes(&self) -> watch::Receiver<u64> {
        self.shared.news.subscribe()
    }

    /// Records that another node may have put something into the outbox.
    pub fn note_outbox(&self) {
        self.shared.news.send_modify(|count| *count += 1);
    }

    /// Finishes queued batches, folds the write-ahead log into the database, and unlocks the
    /// directory. Later commits and reads fail as [`StoreError::Closed`]; closing twice is fine.
    pub async fn close(&self) {
        let (answer, done) = oneshot::channel();
        if self.shared.messages.send(WriterMessage::Close { answer }).await.is_ok() {
            // An error means that the writer has ended, which is what we wait for.
            done.await.ok();
        }
        self.shared.readers.close().await;
        if let Some(node) = &self.shared.node {
            node.leave().await;
        }
        let lock = self.shared.lock.lock().take();
        drop(lock);
    }

    /// Returns the connections for reading.
    pub(super) fn readers(&self) -> &ReadPool {
        &self.shared.readers
    }
}
