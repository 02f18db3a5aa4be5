//! Messages to the task that writes.

use tokio::sync::oneshot;

use crate::{StoreResult, WriteBatch};

pub(crate) type CommitOutcome = StoreResult<()>;

#[derive(Debug)]
pub(crate) enum WriterMessage {
    /// Makes a batch durable.
    Commit { batch: WriteBatch, answer: oneshot::Sender<CommitOutcome> },
    /// Makes sure that no transaction with an unknown outcome is committed later.
    Settle { answer: oneshot::Sender<CommitOutcome> },
    /// Puts pending updates into the log; the answer is `false` if it cannot get them.
    LogPending { answer: oneshot::Sender<bool> },
    /// Finishes what is queued, and ends.
    Close { answer: oneshot::Sender<()> },
}
