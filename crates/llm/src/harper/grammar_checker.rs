//! Grammar checker as the copy editor uses it: in a worker process, or else in this process.

use std::sync::Arc;

use super::proofread::{TextCorrection, proofread};
use super::worker_client::{WorkerClient, WorkerCommand};
use crate::ModelError;

#[derive(Clone, Debug, Default)]
pub(super) struct GrammarChecker {
    /// Worker process; `None`: texts are checked in this process, which then keeps the dictionary.
    worker: Option<Arc<WorkerClient>>,
}

/// Reason why a text was not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CheckError {
    /// The worker process could not be started.
    #[error("the grammar checker cannot be started")]
    NotStarted,
    /// The checker panicked on this text.
    #[error("the grammar checker stumbled over this text")]
    Panicked,
    /// Two worker processes were lost while they checked this text.
    #[error("the grammar checker ended twice while it read this text")]
    Lost,
    /// The check took longer than [`QUESTION_LIMIT`](super::worker_client::QUESTION_LIMIT).
    #[error("this text takes the grammar checker too long; select a part of it and ask again")]
    TooLong,
    /// The text is longer than a message to the worker may be.
    #[error("the text is too long for the grammar checker")]
    TooLarge,
}

impl From<CheckError> for ModelError {
    fn from(error: CheckError) -> Self {
        Self::Internal { message: error.to_string() }
    }
}

impl GrammarChecker {
    /// Returns a checker that uses one worker process for all texts, started for the first text,
    /// and again after it was ended. Needs a running [`tokio`] runtime.
    pub(super) fn in_worker(command: WorkerCommand) -> Self {
        Self { worker: Some(Arc::new(WorkerClient::start(command))) }
    }

    /// Returns the corrections of a text, never [`CheckError::NotStarted`]: the text is checked in
    /// this process then. Dropping the future ends the wait.
    pub(super) async fn check(&self, text: Arc<str>) -> Result<Vec<TextCorrection>, CheckError> {
        if let Some(worker) = &self.worker {
            match worker.check(Arc::clone(&text)).await {
                Err(CheckError::NotStarted) => {
                    tracing::warn!("checking grammar in the server, which keeps the dictionary");
                }
                checked => return checked,
            }
        }
        // A panic of the checker on strange text ends this run only.
        let checking = tokio::task::spawn_blocking(move || proofread(&text));
        checking.await.map_err(|_| CheckError::Panicked)
    }
}
