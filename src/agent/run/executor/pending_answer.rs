//! An answer whose first call proposes a change is kept together with the request that the call becomes: one transaction
//! instead of two that wait for each other, so people see the card sooner, and there is never the one without the other.

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

/// An answer that waits for its first call.
pub(crate) struct PendingAnswer {
    /// Empty once somebody has taken it along.
    pub(crate) preface: Arc<Mutex<Option<CommitPrefix>>>,
    /// Whether that was kept.
    kept: oneshot::Receiver<Result<(), RoomError>>,
    /// What the call would do.
    pub(crate) ahead: Option<EarlyPreparation>,
}

impl RunExecutor<'_> {
    /// The first call of an answer, if its request can take the answer along.
    pub(crate) fn takes_along(&self, entry: &TranscriptEntry) -> Option<ToolCall> {
        let EntryKind::Answer { content, .. } = &entry.kept else { return None };
        let first = content.iter().find_map(ToolCall::of)?;
        self.shared.tools.proposes_here(&first).then_some(first)
    }

    /// What is kept of an answer.
    pub(crate) fn answered(&self, entry: &TranscriptEntry) -> Result<WriteBatch, RunFailure> {
        let append = run_record::append(self.run.ask.document.as_ref(), entry)?;
        Ok(WriteBatch::from(append).with(self.run.put(RunState::Running)?))
    }

    /// Holds an answer until its first call is made, and finds out what that would do.
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
            // Whoever waits may have been stopped.
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

    /// Keeps an answer that no request has taken along: the model has said it, whether or not anything may come of it.
    pub(crate) async fn let_go(&mut self) -> Result<(), RunFailure> {
        let Some(held) = self.held.take() else { return Ok(()) };
        // Dropped, it answers that nobody has kept it.
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
