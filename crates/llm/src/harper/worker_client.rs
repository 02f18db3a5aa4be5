//! Server's side of the grammar worker: starts the process for the first question, shares it among
//! all, and ends it after a while without questions.
//!
//! One task owns the process. A process that ends, or that writes something else than answers, is
//! replaced. Each question is asked twice at most, and the second time alone, so that a text which
//! ends the process takes no other question with it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use super::grammar_checker::CheckError;
use super::proofread::TextCorrection;
use super::worker_process::{QuestionQueue, WorkerProcess};

/// Time without a question after which the process ends and its memory is free.
pub(super) const IDLE_LIMIT: Duration = Duration::from_mins(10);
/// Longest time of one check, with the time to read the dictionary.
pub(super) const QUESTION_LIMIT: Duration = Duration::from_mins(2);
/// Number of texts that are checked at a time.
const QUESTIONS_AT_A_TIME: usize = 2;
/// Number of long texts that are checked at a time; other permits are kept for short ones.
const LONG_TEXTS_AT_A_TIME: usize = 1;
/// Length in bytes from which a text is long: it takes about a second.
const LONG_TEXT: usize = 20_000;

/// Program and arguments that start a worker.
#[derive(Clone, Debug)]
pub(super) struct WorkerCommand {
    /// Absolute path of the program.
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
}

/// Text that waits for its corrections.
pub(super) struct Question {
    pub(super) text: Arc<str>,
    pub(super) answer: oneshot::Sender<Result<Vec<TextCorrection>, CheckError>>,
    /// `true` if a process was lost while it checked this text.
    pub(super) is_second_try: bool,
    /// Permits of the text, held until the process is done with it, even if no caller waits any
    /// more.
    pub(super) _permits: QuestionPermits,
}

/// Permits to be checked at the same time as other texts.
pub(super) struct QuestionPermits {
    _long: Option<OwnedSemaphorePermit>,
    _any: OwnedSemaphorePermit,
}

/// Handle of the task that owns the worker process; its drop ends the task and the process.
#[derive(Debug)]
pub(super) struct WorkerClient {
    questions: mpsc::UnboundedSender<Question>,
    any: Arc<Semaphore>,
    long: Arc<Semaphore>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests wait for the end of a process"))]
    process_id: watch::Receiver<Option<u32>>,
}

impl WorkerClient {
    /// Starts the task, but no process yet. Needs a running [`tokio`] runtime.
    pub(super) fn start(command: WorkerCommand) -> Self {
        let (questions, asked) = mpsc::unbounded_channel();
        let (started, process_id) = watch::channel(None);
        tokio::spawn(own_processes(command, QuestionQueue::new(asked), started));
        Self {
            questions,
            any: Arc::new(Semaphore::new(QUESTIONS_AT_A_TIME)),
            long: Arc::new(Semaphore::new(LONG_TEXTS_AT_A_TIME)),
            process_id,
        }
    }

    /// Asks the worker; with [`CheckError::NotStarted`] the text may be checked elsewhere. Dropping
    /// the future ends the wait; a check that has begun goes on until its end or
    /// [`QUESTION_LIMIT`].
    pub(super) async fn check(&self, text: Arc<str>) -> Result<Vec<TextCorrection>, CheckError> {
        let permit = |semaphore: &Arc<Semaphore>| Arc::clone(semaphore).acquire_owned();
        // The semaphores are never closed.
        let is_long = text.len() >= LONG_TEXT;
        let long = if is_long { permit(&self.long).await.ok() } else { None };
        let any = permit(&self.any).await.map_err(|_| CheckError::Lost)?;
        let permits = QuestionPermits { _long: long, _any: any };
        let (answer, answered) = oneshot::channel();
        let question = Question { text, answer, is_second_try: false, _permits: permits };
        self.questions.send(question).map_err(|_| CheckError::Lost)?;
        answered.await.map_err(|_| CheckError::Lost)?
    }
}

/// Starts a process whenever a question waits and none runs, until the [`WorkerClient`] is dropped.
async fn own_processes(
    command: WorkerCommand,
    mut queue: QuestionQueue,
    process_id: watch::Sender<Option<u32>>,
) {
    while let Some(question) = queue.next().await {
        match WorkerProcess::start(&command) {
            Ok(mut process) => {
                process_id.send_replace(process.id());
                queue.put_back(question);
                let reason = process.answer(&mut queue).await;
                process.end(&reason, &mut queue).await;
                process_id.send_replace(None);
            }
            Err(error) => {
                tracing::warn!(
                    program = %command.program.display(), %error,
                    "cannot start the process of the grammar checker"
                );
                question.answer.send(Err(CheckError::NotStarted)).ok();
            }
        }
    }
}

#[cfg(test)]
mod tests;
