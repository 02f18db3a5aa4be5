//! Messages to the task that writes.

use tokio::sync::oneshot;

use crate::store::{StoreResult, WriteBatch};

/// Result of storing one batch.
pub(crate) type CommitOutcome = StoreResult<()>;

/// Message to the writer, with the place for the answer.
#[derive(Debug)]
pub(crate) enum WriterMessage {
    /// Makes a batch durable.
    Commit { batch: WriteBatch, answer: oneshot::Sender<CommitOutcome> },
    /// Makes sure that no transaction of which nobody knows is committed later.
    Settle { answer: oneshot::Sender<CommitOutcome> },
    /// Stores in the database what is in the journal of updates.
    StoreJournal { answer: oneshot::Sender<CommitOutcome> },
    /// Finishes what is queued, and ends.
    Close { answer: oneshot::Sender<()> },
}
