//! Storage of documents, updates, requests, sessions, transcripts, tokens and the audit log.
//!
//! There is one [`Store`] per data directory. Everything is written through [`Store::commit`]: a
//! batch is written completely or not at all, and is on the disk when `commit` returns. Batches of
//! all rooms that wait at one time share a transaction and so one wait for the disk; each keeps its
//! own outcome.
//!
//! The database is SQLite with a write-ahead log and `synchronous=FULL`. A transaction is sent as
//! one script (`sqlite::statement_batch`). Its statements keep to what PostgreSQL understands as
//! well, one function per operation, so that a second database can be put behind these functions.

mod answers;
mod apply;
mod audit;
mod backup;
mod batch;
mod error;
mod file_undos;
mod files;
mod idempotency;
mod live;
mod provenance;
pub mod queries;
mod records;
mod sqlite;
#[cfg(test)]
mod tests;
mod updates;
mod webhooks;

use crate::store::sqlite::writer;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::SqlitePool;
use tokio::sync::{mpsc, oneshot, watch};

pub use answers::AnswerRecord;
pub use audit::{AuditFlaw, AuditHead, GENESIS};
pub use backup::{back_up, restore};
pub use batch::{QueryScope, RequiredRight, StoreOp, WriteBatch};
pub use error::StoreError;
pub use idempotency::IdempotencyRecord;
pub use queries::inspect::{AuditCounts, AuditFacts, InspectedRow, StoreInspection};
pub use queries::lists::ListPlace;
pub use queries::log::LogPiece;
pub use queries::snapshots::{PERMANENT_BYTES, PERMANENT_UPDATES};
pub use queries::transcripts::{EntrySize, MEASURED, TranscriptCursor, TranscriptSince, fitting};
pub use records::{
    AuditEntry, AuditRecord, CLEAR, DecisionRecord, DocumentRecord, FileRecord, HistoryRecord,
    LoadedDocument, MessageRecord, PAST, RequestRecord, RuleRecord, RunRecord, SessionRecord,
    StartingText, TokenRecord, UpdateRecord,
};
pub use sqlite::writer::CommitCounts;
pub use webhooks::{DeliveryOutcome, WebhookDelivery, WebhookRecord, WebhookState};

use sqlite::writer::{WriterConnection, WriterMessage};

/// Bytes that [`Store::try_out`] stores: more than are free on a disk that is as good as full.
const TRIED_BYTES: usize = 16 * 1024;

/// Purpose for which [`Store::open`] opens a data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreAccess {
    /// Owns the documents. One process at a time; held until it ends or the store is closed.
    Serve,
    /// Reads, and writes tokens, also while a server runs.
    Visit,
    /// Reads and changes nothing, not even a missing table; also while a server runs.
    Inspect,
}

/// Handle to the database of a server. Clones share one database.
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<StoreShared>,
}

#[derive(Debug)]
struct StoreShared {
    inbox: mpsc::Sender<WriterMessage>,
    readers: SqlitePool,
    counts: Arc<writer::CommitCounters>,
    /// Counter that grows when there may be something new in the outbox of the webhooks.
    news: watch::Sender<u64>,
    /// Lock of the data directory, held while this process serves it.
    lock: Mutex<Option<File>>,
}

impl Store {
    /// Opens the data directory `path`; creates it, readable by its owner only, if it is missing.
    ///
    /// # Errors
    /// [`StoreError::InUse`] when another process serves the directory, [`StoreError::Shape`] when
    /// a visitor is of another version than the running server.
    pub async fn open(path: &Path, access: StoreAccess) -> Result<Self, StoreError> {
        let database = path.join(files::DATABASE);
        if access == StoreAccess::Inspect {
            let only = sqlite::connect_onlooker(&database).await?;
            sqlite::check_shape(&only).await?;
            return Ok(Self::start(only.clone(), WriterConnection::Shared, only, None));
        }
        files::create_directory(path)?;
        let lock = match access {
            StoreAccess::Serve => Some(files::lock(path).await?),
            StoreAccess::Visit | StoreAccess::Inspect => files::try_lock(path)?,
        };
        if let Some(aside) = backup::interrupted_restore(&database) {
            return Err(StoreError::InterruptedRestore { aside, database });
        }
        files::create_private(&database)?;
        let writers = sqlite::connect_writer(&database).await?;
        if lock.is_some() {
            sqlite::migrate(&writers).await?;
        } else {
            sqlite::check_shape(&writers).await?;
        }
        let readers = sqlite::connect_readers(&database).await?;
        let kept = match access {
            StoreAccess::Serve => lock,
            StoreAccess::Visit | StoreAccess::Inspect => None,
        };
        Ok(Self::start(writers, WriterConnection::Own, readers, kept))
    }

    /// Returns `true` if there is a database in the data directory `path`.
    pub fn is_at(path: &Path) -> bool {
        path.join(files::DATABASE).is_file()
    }

    /// Opens a store in memory that is gone with the process; for tests.
    pub async fn in_memory() -> Result<Self, StoreError> {
        let only = sqlite::connect_memory().await?;
        sqlite::migrate(&only).await?;
        Ok(Self::start(only.clone(), WriterConnection::Shared, only, None))
    }

    fn start(
        writers: SqlitePool,
        pen: WriterConnection,
        readers: SqlitePool,
        lock: Option<File>,
    ) -> Self {
        let counts = Arc::default();
        let news = watch::Sender::new(0);
        let inbox = writer::start(writers, pen, Arc::clone(&counts), news.clone());
        Self {
            shared: Arc::new(StoreShared { inbox, readers, counts, news, lock: Mutex::new(lock) }),
        }
    }

    /// Writes `batch`. When this returns `Ok` the batch survives a crash of the process and a loss
    /// of power; when it returns an error nothing of the batch was written.
    ///
    /// Batches take effect in the order in which their `commit` was first polled. Waits while too
    /// many batches are queued. Dropping the future does not take a queued batch back.
    ///
    /// # Errors
    /// An error of one of the operations ([`StoreOp`]), [`StoreError::Write`], or
    /// [`StoreError::Closed`].
    pub async fn commit(&self, batch: impl Into<WriteBatch>) -> Result<(), StoreError> {
        let batch = batch.into();
        if batch.is_empty() {
            return Ok(());
        }
        let (answer, outcome) = oneshot::channel();
        let sent = self.shared.inbox.send(WriterMessage::Commit { batch, answer }).await;
        sent.map_err(|_| StoreError::Closed)?;
        outcome.await.map_err(|_| StoreError::Closed)?.map_err(StoreError::while_writing)
    }

    /// Stores a value that nothing needs and reads it again, to find out if the store works.
    ///
    /// # Errors
    /// The reason why the store does not work: no space left, for example.
    pub async fn try_out(&self) -> Result<(), StoreError> {
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

    /// Returns a receiver that changes when there may be something new in the outbox.
    pub fn outbox_changes(&self) -> watch::Receiver<u64> {
        self.shared.news.subscribe()
    }

    /// Finishes queued batches, folds the write-ahead log into the database, and unlocks the
    /// directory. Later commits and reads fail as [`StoreError::Closed`]; closing twice is fine.
    pub async fn close(&self) {
        let (answer, done) = oneshot::channel();
        if self.shared.inbox.send(WriterMessage::Close { answer }).await.is_ok() {
            // An error means that the writer has ended, which is what we wait for.
            done.await.ok();
        }
        self.shared.readers.close().await;
        let lock = self.shared.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(lock);
    }

    fn readers(&self) -> &SqlitePool {
        &self.shared.readers
    }
}
