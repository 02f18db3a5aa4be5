//! Barrier before reads of SQLite: what was acknowledged may be pending, and not in the log yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::{mpsc, oneshot};

use super::writer_message::WriterMessage;
use crate::{StoreError, StoreResult};

/// Place of the updates that were acknowledged, shared by the writer and the readers.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingPlace(Arc<AtomicU8>);

/// Marks that all updates are in the log.
const IN_LOG: u8 = 0;
/// Marks that some are only pending; the log gets them when a reader asks for it.
const PENDING: u8 = 1;
/// Marks that some are only pending, and the log cannot get them now.
const REFUSED: u8 = 2;

/// Way in which a reader finds everything that was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadPath {
    /// It is in the log.
    Log,
    /// Pending updates have to be read with the log.
    LogAndPending,
}

/// Barrier of readers of the database: past it they know where everything acknowledged is.
#[derive(Clone, Debug)]
pub(crate) struct ReadBarrier {
    place: PendingPlace,
    writer: mpsc::WeakSender<WriterMessage>,
}

impl PendingPlace {
    pub(crate) fn note_pending(&self) {
        self.0.compare_exchange(IN_LOG, PENDING, Ordering::AcqRel, Ordering::Relaxed).ok();
    }

    /// Records that the log has everything; returns `true` if it could not get it before.
    pub(crate) fn note_logged(&self) -> bool {
        self.0.swap(IN_LOG, Ordering::AcqRel) == REFUSED
    }

    /// Records that the log cannot get what is pending; returns `true` if it could before.
    pub(crate) fn note_refused(&self) -> bool {
        self.0.swap(REFUSED, Ordering::AcqRel) != REFUSED
    }
}

impl ReadBarrier {
    pub(crate) fn new(place: PendingPlace, writer: &mpsc::Sender<WriterMessage>) -> Self {
        Self { place, writer: writer.downgrade() }
    }

    /// Waits until the log has everything that was acknowledged before, unless it cannot get it.
    pub(crate) async fn pass(&self) -> StoreResult<ReadPath> {
        match self.place.0.load(Ordering::Acquire) {
            IN_LOG => return Ok(ReadPath::Log),
            REFUSED => return Ok(ReadPath::LogAndPending),
            _ => {}
        }
        // A writer that has ended has put everything into the log, or cannot.
        let Some(writer) = self.writer.upgrade() else { return Ok(ReadPath::LogAndPending) };
        let (answer, logged) = oneshot::channel();
        if writer.send(WriterMessage::LogPending { answer }).await.is_err() {
            return Ok(ReadPath::LogAndPending);
        }
        match logged.await {
            Ok(true) => Ok(ReadPath::Log),
            Ok(false) => Ok(ReadPath::LogAndPending),
            Err(_) => Err(StoreError::Closed),
        }
    }
}
