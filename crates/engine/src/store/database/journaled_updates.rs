//! Updates that are durable in the journal and that the database does not have yet.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::sqlite::update_journal::{self, UpdateJournal};
use super::writer_message::WriterMessage;
use crate::ids::{DocumentId, Version};
use crate::store::{StoreError, StoreOp, StoreResult, WriteBatch};

/// Time after which the database gets what is in the journal. Whoever types goes on, so with a
/// shorter one the pages of their document are written more often.
const DELAY: Duration = Duration::from_secs(1);

/// Time until the next attempt, after the database could not store it.
const PAUSE: Duration = Duration::from_secs(1);

/// Number of batches from which the database gets them without a delay: storing them holds up what
/// comes after.
const MOST: usize = 256;

/// Number of documents whose versions are remembered.
const DOCUMENTS: usize = 20_000;

/// Journal of the one server of a SQLite database, and what of it the database does not have.
#[derive(Debug)]
pub(crate) struct JournaledUpdates {
    journal: UpdateJournal,
    batches: Vec<WriteBatch>,
    /// Versions of documents, including what is in the journal. A document that is missing gets its
    /// next updates from the database itself.
    versions: HashMap<DocumentId, Version>,
    /// Time at which the database gets the batches.
    due: Option<Instant>,
    /// `true` once a record may be on the disk that nobody was told of: nothing is appended until
    /// the next generation.
    is_failed: bool,
    /// `true` while the database cannot store the batches.
    is_refused: bool,
    barrier: Arc<AtomicBool>,
}

/// Barrier of those who read the database: it has everything that was acknowledged once they are
/// past it.
#[derive(Clone, Debug)]
pub(crate) struct ReadBarrier {
    is_closed: Arc<AtomicBool>,
    writer: mpsc::WeakSender<WriterMessage>,
}

impl JournaledUpdates {
    /// Returns an empty set of updates with its journal.
    pub(crate) fn new(journal: UpdateJournal) -> Self {
        Self {
            journal,
            batches: Vec::new(),
            versions: HashMap::new(),
            due: None,
            is_failed: false,
            is_refused: false,
            barrier: Arc::default(),
        }
    }

    /// Returns what tells readers if the database lacks something; for [`ReadBarrier::new`].
    pub(crate) fn barrier(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.barrier)
    }

    /// Returns `true` if the database lacks updates, or has to begin the next generation.
    pub(crate) fn needs_storing(&self) -> bool {
        self.is_failed || !self.batches.is_empty()
    }

    /// Returns `true` from an append that failed until the database begins the next generation.
    pub(crate) fn has_failed(&self) -> bool {
        self.is_failed
    }

    /// Returns `true` if there is no reason to wait until the database gets the updates.
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

    /// Makes batches durable in the journal, if they only append updates to documents at known
    /// versions. Returns `false` if the database has to store them.
    pub(crate) fn append(&mut self, batches: &[WriteBatch]) -> bool {
        if self.is_failed || !self.follow(batches) {
            return false;
        }
        match self.journal.append(batches) {
            Ok(true) => {}
            Ok(false) => return false,
            Err(error) => {
                // The database stores them, and begins the next generation.
                tracing::warn!(%error, "the journal of updates could not be written");
                self.is_failed = true;
                return false;
            }
        }
        for batch in batches {
            self.note(batch);
        }
        self.batches.extend_from_slice(batches);
        if self.batches.len() == MOST {
            self.due = Some(Instant::now());
        }
        self.due.get_or_insert_with(|| Instant::now() + DELAY);
        self.barrier.store(true, Ordering::Release);
        true
    }

    /// Returns `true` if batches only append updates, each to a document at the version that it
    /// names.
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

    /// Takes the batches that the database does not have, with the one that begins the next
    /// generation.
    pub(crate) fn take(&mut self) -> Vec<WriteBatch> {
        let mut batches = std::mem::take(&mut self.batches);
        batches.push(update_journal::begin_generation(self.next_generation()));
        batches
    }

    /// Records that the database has the batches of [`Self::take`].
    pub(crate) fn stored(&mut self) {
        self.journal.begin(self.next_generation());
        self.is_failed = false;
        if std::mem::take(&mut self.is_refused) {
            tracing::info!("the database has the newest updates again");
        }
        self.due = None;
        self.barrier.store(false, Ordering::Release);
    }

    /// Puts the batches of [`Self::take`] back, after the database could not store them.
    pub(crate) fn put_back(&mut self, mut batches: Vec<WriteBatch>, error: &StoreError) {
        if !std::mem::replace(&mut self.is_refused, true) {
            tracing::error!(%error, "the database does not take the newest updates, which are in the journal");
        }
        batches.pop();
        self.due = (!batches.is_empty()).then(|| Instant::now() + PAUSE);
        self.batches = batches;
    }

    /// Records the versions that a batch has led to, in the database or in the journal.
    pub(crate) fn note(&mut self, batch: &WriteBatch) {
        if self.versions.len() > DOCUMENTS {
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

    /// Forgets the versions of the documents of a batch that failed.
    pub(crate) fn forget(&mut self, batch: &WriteBatch) {
        for op in batch.ops() {
            if let StoreOp::AppendUpdates { document, .. } = op {
                self.versions.remove(document);
            }
        }
    }

    fn next_generation(&self) -> u64 {
        self.journal.generation().wrapping_add(1)
    }
}

impl ReadBarrier {
    /// Returns the barrier of a writer, which is asked to store what is missing.
    pub(crate) fn new(is_closed: Arc<AtomicBool>, writer: &mpsc::Sender<WriterMessage>) -> Self {
        Self { is_closed, writer: writer.downgrade() }
    }

    /// Waits until the database has everything that was acknowledged before.
    ///
    /// # Errors
    /// The reason why the database could not store it.
    pub(crate) async fn pass(&self) -> StoreResult<()> {
        if !self.is_closed.load(Ordering::Acquire) {
            return Ok(());
        }
        // A writer that has ended has stored everything.
        let Some(writer) = self.writer.upgrade() else { return Ok(()) };
        let (answer, stored) = oneshot::channel();
        if writer.send(WriterMessage::StoreJournal { answer }).await.is_err() {
            return Ok(());
        }
        stored.await.unwrap_or(Err(StoreError::Closed))
    }
}
