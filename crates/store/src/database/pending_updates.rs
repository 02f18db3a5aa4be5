//! Updates that are durable in the table `pending_updates` of SQLite, and not in the log yet.
//!
//! To put an update into the log changes the pages of four tables and indexes; a row in this table
//! changes one page, whichever documents its updates are of. So a group of batches that only append
//! updates is one row, and up to a second later all rows are put into the log together.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use sqlx_sqlite::SqlitePool;
use tokio::time::Instant;

use super::connection::WriterConnection;
use super::read_barrier::PendingPlace;
use crate::apply::{self, WriterCache};
use crate::{StoreError, StoreOp, StoreResult, WriteBatch, updates};
use copydesk_ids::{DocumentId, Version};

/// Time after which the log gets what is pending. With a shorter one the pages of a document in
/// which people go on typing are written more often.
const LOG_DELAY: Duration = Duration::from_secs(1);

/// Time until the next attempt, after the log could not get it.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Number of pending batches from which the log gets them at once: storing them holds up what comes
/// after.
const MOST_BATCHES: usize = 256;

/// Maximum bytes of all pending rows; the next updates go into the log itself.
const MOST_BYTES: usize = 1024 * 1024;

/// Number of documents with pending updates from which rows are made [`ROW_INTERVAL`] apart.
const MANY_DOCUMENTS: usize = 32;

/// Time from one row to the next where many documents are typed in at once: what comes meanwhile
/// shares the cost of the next row.
const ROW_INTERVAL: Duration = Duration::from_millis(5);

/// Number of documents whose versions are remembered.
const MOST_VERSIONS: usize = 20_000;

#[derive(Debug)]
pub(crate) struct PendingUpdates {
    /// Documents that have pending updates.
    documents: HashSet<DocumentId>,
    /// Number of batches that are pending, and the bytes of their rows.
    batches: usize,
    bytes: usize,
    /// Versions of documents, with what is pending. The next updates of a document that is missing
    /// here go into the log itself.
    versions: HashMap<DocumentId, Version>,
    /// Time at which the log gets what is pending.
    due: Option<Instant>,
    /// Time at which the last row was made.
    added: Option<Instant>,
    place: PendingPlace,
}

/// Updates that were pending in a database when it was opened, and still are.
#[derive(Debug, Default)]
pub(crate) struct FoundPending {
    documents: HashSet<DocumentId>,
    bytes: usize,
    /// Reason why the log could not get them; `None` if nothing is pending.
    pub(crate) refused: Option<StoreError>,
}

impl FoundPending {
    /// Puts what is pending in a database into the log. A log that cannot be written is no error:
    /// what is pending is read with it.
    pub(crate) async fn log(writers: &SqlitePool) -> StoreResult<Self> {
        let mut connection = WriterConnection::Sqlite(writers.acquire().await?);
        let documents = "SELECT DISTINCT rows.value ->> 0
             FROM pending_updates, json_each(pending_updates.body) AS rows";
        let bytes = "SELECT COALESCE(SUM(OCTET_LENGTH(body)), 0) FROM pending_updates";
        let WriterConnection::Sqlite(db) = &mut connection else { return Ok(Self::default()) };
        let documents: Vec<String> = sqlx::query_scalar(documents).fetch_all(&mut **db).await?;
        if documents.is_empty() {
            return Ok(Self::default());
        }
        let bytes: i64 = sqlx::query_scalar(bytes).fetch_one(&mut **db).await?;
        let known = WriterCache::read(&mut connection).await?;
        let batch = StoreOp::LogPending { documents: documents.len() }.into();
        let logged = apply::transaction(&mut connection, &[batch], known).await;
        let Err(error) = logged else {
            tracing::info!(
                documents = documents.len(),
                "the log has the updates that were pending"
            );
            return Ok(Self::default());
        };
        connection.roll_back().await;
        match StoreError::from(error) {
            error @ StoreError::Corrupt { .. } => Err(error),
            error => Ok(Self {
                documents: documents.into_iter().map(DocumentId::from).collect(),
                bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
                refused: Some(error.while_writing()),
            }),
        }
    }
}

impl PendingUpdates {
    pub(crate) fn new(found: FoundPending) -> Self {
        let mut pending = Self {
            documents: found.documents,
            batches: 0,
            bytes: found.bytes,
            versions: HashMap::new(),
            due: None,
            added: None,
            place: PendingPlace::default(),
        };
        if let Some(error) = found.refused {
            pending.refused(&error);
        }
        pending
    }

    /// Returns where readers find the updates; see [`super::read_barrier::ReadBarrier::new`].
    pub(crate) fn place(&self) -> PendingPlace {
        self.place.clone()
    }

    pub(crate) fn are_any(&self) -> bool {
        !self.documents.is_empty()
    }

    pub(crate) fn is_due(&self) -> bool {
        self.due.is_some_and(|due| due <= Instant::now())
    }

    /// Waits until the updates are due; for ever if there are none.
    pub(crate) async fn wait(&self) {
        match self.due {
            Some(due) => tokio::time::sleep_until(due).await,
            None => std::future::pending().await,
        }
    }

    /// Returns the earliest time for the next row; `None`: at once, as few documents are typed in.
    pub(crate) fn next_row_time(&self) -> Option<Instant> {
        let added = self.added.filter(|_| self.documents.len() >= MANY_DOCUMENTS)?;
        Some(added + ROW_INTERVAL)
    }

    /// Returns the row for batches that only append to documents at known versions.
    pub(crate) fn row(&self, batches: &[WriteBatch]) -> Option<String> {
        if !self.follow(batches) {
            return None;
        }
        let row = updates::pending_row(batches.iter().flat_map(WriteBatch::ops));
        (self.bytes.saturating_add(row.len()) <= MOST_BYTES).then_some(row)
    }

    /// Returns `true` if batches only append updates, each to a document at the version it names.
    fn follow(&self, batches: &[WriteBatch]) -> bool {
        let mut reached: HashMap<&DocumentId, Version> = HashMap::with_capacity(batches.len());
        batches.iter().flat_map(WriteBatch::ops).all(|op| {
            let StoreOp::AppendUpdates { document, from, updates } = op else { return false };
            let known = reached.get(document).or_else(|| self.versions.get(document));
            let follows = known == Some(from);
            reached.insert(document, from.plus(updates.len()));
            follows
        })
    }

    pub(crate) fn add(&mut self, batches: &[WriteBatch], bytes: usize) {
        for batch in batches {
            self.note(batch);
            for op in batch.ops() {
                if let StoreOp::AppendUpdates { document, .. } = op
                    && !self.documents.contains(document)
                {
                    self.documents.insert(document.clone());
                }
            }
        }
        let before = self.batches;
        self.batches += batches.len();
        self.bytes += bytes;
        self.added = Some(Instant::now());
        if before < MOST_BATCHES && self.batches >= MOST_BATCHES {
            self.due = Some(Instant::now());
        }
        self.due.get_or_insert_with(|| Instant::now() + LOG_DELAY);
        self.place.note_pending();
    }

    pub(crate) fn logging_batch(&self) -> WriteBatch {
        StoreOp::LogPending { documents: self.documents.len() }.into()
    }

    pub(crate) fn logged(&mut self) {
        self.documents.clear();
        (self.batches, self.bytes, self.due) = (0, 0, None);
        if self.place.note_logged() {
            tracing::info!("the log has the newest updates again");
        }
    }

    pub(crate) fn refused(&mut self, error: &StoreError) {
        if self.place.note_refused() {
            tracing::error!(%error, "the log does not take the newest updates, which are pending");
        }
        self.due = Some(Instant::now() + RETRY_PAUSE);
    }

    pub(crate) fn note(&mut self, batch: &WriteBatch) {
        if self.versions.len() > MOST_VERSIONS {
            self.versions.clear();
        }
        for op in batch.ops() {
            match op {
                StoreOp::AppendUpdates { document, from, updates } => {
                    let to = from.plus(updates.len());
                    match self.versions.get_mut(document) {
                        Some(version) => *version = to,
                        None => drop(self.versions.insert(document.clone(), to)),
                    }
                }
                StoreOp::CreateDocument { record, .. } | StoreOp::PutDocument(record) => {
                    self.versions.remove(&record.id);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn forget(&mut self, batch: &WriteBatch) {
        for op in batch.ops() {
            if let StoreOp::AppendUpdates { document, .. } = op {
                self.versions.remove(document);
            }
        }
    }
}
