//! Signal that the data of a person is to be deleted.

use std::sync::Arc;

use tokio::sync::Notify;

/// Signal that a deletion was begun. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeletionSignal(Arc<Notify>);

impl DeletionSignal {
    /// Waits for the next deletion that was begun.
    pub async fn awaited(&self) {
        self.0.notified().await;
    }

    /// Makes the task look for deletions.
    pub fn wake(&self) {
        self.0.notify_one();
    }
}
