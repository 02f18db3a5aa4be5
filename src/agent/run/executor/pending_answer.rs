//! Stores an answer whose first call proposes a change together with the request of that call. One
//! transaction replaces two that would wait for each other: people see the request sooner, and
//! neither is ever stored without the other.

use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use crate::failpoint;
use crate::ids::RequestId;
use crate::rooms::RoomError;
use crate::rooms::command::{CommitPrefix, ReplySender};
use crate::store::WriteBatch;
use crate::tools::{EarlyPreparation, ToolCall};

use super::super::run_record::{self, RunState};
use super::{RunExecutor, RunFailure};
use crate::agent::AskError;
use crate::agent::conversation::transcript::{EntryKind, TranscriptEntry};

/// Answer that waits for its first call.
pub(crate) struct PendingAnswer {
    /// Transaction that stores the answer; `None` once a request has taken it.
    pub(crate) preface: Arc<Mutex<Option<CommitPrefix>>>,
    /// Result of storing the answer.
    kept: oneshot::Receiver<Result<(), RoomError>>,
    /// Preparation of the first call.
    pub(crate) ahead: Option<EarlyPreparation>,
}

impl RunExecutor<'_> {
    /// Returns the first call of an answer, if its request can be stored together with the answer.
    pub(crate) fn takes_along(&self, entry: &TranscriptEntry) -> Option<ToolCall> {
        let EntryKind::Answer { content, .. } = &entry.kept else { return None };
        let first = content.iter().find_map(ToolCall::of)?;
        self.shared.tools.proposes_here(&first).then_some(first)
    }

    /// Returns the writes that store an answer.
    pub(crate) fn answered(&self, entry: &TranscriptEntry) -> Result<WriteBatch, RunFailure> {
        let append = run_record::append(self.run.ask.document.as_ref(), entry)?;
        Ok(WriteBatch::from(append).with(self.run.put(RunState::Running)?))
    }

    /// Holds an answer until its first call is made, and prepares that call.
    pub(crate) async fn hold(
        &mut self,
        entry: TranscriptEntry,
        first: &ToolCall,
    ) -> Result<(), RunFailure> {
        let (sender, kept) = oneshot::channel();
        let reply = ReplySender::new(move |kept: Result<(), RoomError>| {
            if kept.is_ok() {
                failpoint::pass("agent.answered");
            }
            // The receiver may have been stopped.
            sender.send(kept).ok();
        });
        let said = entry.shown().into_iter().map(|shown| self.voice.shows(shown)).collect();
        let batch = self.answered(&entry)?.with(self.provided());
        let preface = CommitPrefix { batch, said, kept: reply };
        let request = self.run.calls.first().cloned().unwrap_or_else(RequestId::generate);
        let context = self.context(request, self.shared.desk().await?);
        let ahead = self.shared.tools.work_out(&context, first).await;
        self.held =
            Some(PendingAnswer { preface: Arc::new(Mutex::new(Some(preface))), kept, ahead });
        self.entries.push(entry);
        Ok(())
    }

    /// Stores an answer that no request has taken: the model has given it, whether or not its calls
    /// are executed.
    pub(crate) async fn let_go(&mut self) -> Result<(), RunFailure> {
        let Some(held) = self.held.take() else { return Ok(()) };
        // Dropping the prefix reports that it was not stored.
        drop(held.preface.lock().map(|mut preface| preface.take()));
        let kept = held.kept.await;
        if matches!(kept, Ok(Ok(()))) {
            return Ok(());
        }
        let Some(entry) = self.entries.last().cloned() else { return Ok(()) };
        let batch = self.answered(&entry)?;
        self.shared.store.commit(batch).await.map_err(AskError::from)?;
        failpoint::pass("agent.answered");
        self.show(&entry).await;
        match kept {
            Ok(Err(RoomError::NotAllowed)) => Err(RunFailure::NotAllowed),
            _ => Ok(()),
        }
    }
}
