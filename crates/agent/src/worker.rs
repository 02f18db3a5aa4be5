//! Workers: each takes the runs of one queue, one after the other, executes them, and stores and
//! announces their ends.

use crate::conversation::agent_objects;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;

use copydesk_failpoint as failpoint;
use copydesk_placement::PeerMessage;
use copydesk_rooms::RoomError;
use copydesk_rooms::command::{AiAnswer, CommentCommand};
use copydesk_rooms::event::{RunEventKind, StreamingPreviewScope};
use copydesk_store::{RunRecord, StoreOp, WriteBatch};

use super::run_queues::{QueueKey, QueuedRun};
use super::{AgentQuestion, AgentService, AskKind, AskResult};
use crate::conversation::history::ResultTexts;
use crate::conversation::response::response;
use crate::conversation::transcript::{EntryKind, TranscriptEntry};
use crate::external_calls::call::called;
use crate::run::end_reason::RunEndReason;
use crate::run::run_events::RunEventPublisher;
use crate::run::run_record::Run;
use crate::run::state_machine::RunEnd;
use crate::run::{executor, run_record, thread_question};

/// Pause before the end of a run that could not be stored is stored again. It doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

impl AgentService {
    /// Works on the runs of a queue until it is empty or the server stops.
    pub(super) async fn work(&self, key: &QueueKey) {
        loop {
            let Some(mut job) = self.queues().next(key) else { return };
            // Of several servers, the one that has the document does its runs: it keeps it.
            let is_shared = self.rooms.placement().is_shared();
            let home = if is_shared { self.room(&job.run).await.ok() } else { None };
            let end = tokio::select! {
                biased;
                () = self.stop.cancelled() => None,
                end = self.run(&mut job) => Some(end),
            };
            self.models.over(&job.run.full_name());
            let Some(end) = end else { return };
            // Not cancelled by a stop: a run whose end is stored must also be reported.
            self.end(job, end).await;
            drop(home);
        }
    }

    async fn run(&self, job: &mut QueuedRun) -> RunEnd {
        // A run that panics must not end the session's other runs, and still owes its answer.
        let end = AssertUnwindSafe(executor::execute_run(self, job)).catch_unwind().await;
        end.unwrap_or_else(|_| RunEnd::error(RunEndReason::Internal, "The run failed unexpectedly"))
    }

    /// Ends a run: stores the end first, then tells everyone, exactly once. As long as the end
    /// cannot be stored, no one is notified of it: a restart would resume the run, and it would end
    /// again.
    pub(super) async fn end(&self, QueuedRun { run, .. }: QueuedRun, end: RunEnd) {
        let ask = &run.ask;
        let entry = TranscriptEntry {
            session: ask.session.clone(),
            run: ask.run.clone(),
            at_ms: self.clock.now_ms(),
            kind: EntryKind::End {
                subtype: end.kind,
                message: end.message.clone(),
                code: end.reason.clone(),
                spent: run.spent.clone(),
            },
        };
        let texts = if ask.outside().is_some() { ResultTexts::Kept } else { ResultTexts::LeftOut };
        let mut said = self.said_by(&run, texts).await.unwrap_or_default();
        // Before the end is stored: after a crash between the two, the run finds its answer.
        let answered = self.answer_comment(&run, &said, &end).await;
        if answered == EndOutcome::LeftToRestart {
            return;
        }
        failpoint::pass("agent.commented");
        let is_forgotten = answered == EndOutcome::Forgotten;
        if self.keep_end(&run, &end, (&entry, &said), is_forgotten).await
            == EndOutcome::LeftToRestart
        {
            return;
        }
        failpoint::pass("agent.ended");
        self.ended.send_modify(|count| *count += 1);
        let ended = PeerMessage::RunEnded(ask.session.clone(), ask.run.clone());
        self.queues().done(&ask.session, &ask.run);
        self.call_waiters.notify(ask, || called(&run, &said, end.message.clone()));
        said.push(entry);
        let room = match self.room(&run).await {
            // The document is gone, but the session still waits for its answer.
            Err(RoomError::NoDocument) => self.private_room(&ask.session, &ask.principal).await,
            opened => opened,
        };
        match room {
            Ok(room) => self.say_end(&self.run_events(&run, room), &run, &said, &end).await,
            Err(error) => {
                tracing::error!(run = %ask.run, %error, "cannot announce the end of a run");
            }
        }
        self.rooms.placement().tell(&ended).await;
    }

    /// Writes the answer to a question that was asked in a comment, again and again until that
    /// succeeds or the server stops. What was said about a deleted question is forgotten.
    async fn answer_comment(
        &self,
        run: &Run,
        said: &[TranscriptEntry],
        end: &RunEnd,
    ) -> EndOutcome {
        let AskKind::Comment(thread) = &run.ask.kind else { return EndOutcome::Stored };
        let (text, reason) = thread_question::answer(said, end);
        let mut pause = FIRST_PAUSE;
        loop {
            let (thread, run_name) = (thread.clone(), run.ask.run.clone());
            let (text, reason) = (text.clone(), reason.clone());
            let answer = AiAnswer { thread, run: run_name, text, reason };
            let answered = match self.room(run).await {
                Ok(room) => room.comment(CommentCommand::Answer(answer)).await,
                Err(error) => Err(error),
            };
            match answered {
                Ok(now) if now.thread.question(&run.ask.run).is_some() => {
                    return EndOutcome::Stored;
                }
                Ok(_) | Err(RoomError::Comment(_)) => return EndOutcome::Forgotten,
                Err(RoomError::NoDocument) => return EndOutcome::Stored,
                // The server that has the document now takes up the run.
                Err(RoomError::NotHere(_)) => {
                    self.queues().done(&run.ask.session, &run.ask.run);
                    return EndOutcome::LeftToRestart;
                }
                Err(error) => {
                    tracing::error!(run = %run.ask.run, %error, "cannot write an answer into its thread");
                }
            }
            tokio::select! {
                () = self.stop.cancelled() => return EndOutcome::LeftToRestart,
                () = tokio::time::sleep(pause) => {}
            }
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Stores the end of a run, again and again until that succeeds or the server stops.
    async fn keep_end(
        &self,
        run: &Run,
        end: &RunEnd,
        (entry, said): (&TranscriptEntry, &[TranscriptEntry]),
        is_forgotten: bool,
    ) -> EndOutcome {
        let mut pause = FIRST_PAUSE;
        let mut kept = self.store_end(run, end, (entry, said), is_forgotten).await;
        while let Err(error) = kept {
            tracing::error!(run = %run.ask.run, %error, "cannot store the end of a run; nobody is told of it before it is stored");
            tokio::select! {
                () = self.stop.cancelled() => return EndOutcome::LeftToRestart,
                () = tokio::time::sleep(pause) => {}
            }
            pause = LONGEST_PAUSE.min(pause * 2);
            kept = match self.has_stored_end(run, entry).await {
                Ok(true) => Ok(()),
                Ok(false) => self.store_end(run, end, (entry, said), is_forgotten).await,
                Err(error) => Err(error),
            };
        }
        EndOutcome::Stored
    }

    /// Stores the end of a run. A run that never began (`said` is empty) is no part of the
    /// conversation, which may be in the middle of another run.
    async fn store_end(
        &self,
        run: &Run,
        end: &RunEnd,
        (entry, said): (&TranscriptEntry, &[TranscriptEntry]),
        is_forgotten: bool,
    ) -> AskResult<()> {
        let mut batch = WriteBatch::from(run.put_ended(end.kind, entry.at_ms)?);
        let AgentQuestion { document, session, run: name, .. } = &run.ask;
        if let Some(document) = document.clone().filter(|_| is_forgotten) {
            let (session, run) = (session.clone(), name.clone());
            batch.push(StoreOp::ForgetRun { document, session, run });
        } else if !said.is_empty() {
            batch.push(run_record::append(document.as_ref(), entry)?);
        }
        Ok(self.store.commit(batch).await?)
    }

    /// Returns `true` if this end of a run was stored although the store reported a failure.
    async fn has_stored_end(&self, run: &Run, entry: &TranscriptEntry) -> AskResult<bool> {
        self.store.settle().await?;
        let record = self.store.run(&RunRecord::key(&entry.session, &run.ask.run)).await?;
        Ok(record.is_some_and(|record| record.finished_ms == Some(entry.at_ms)))
    }

    async fn say_end(
        &self,
        run_events: &RunEventPublisher,
        run: &Run,
        said: &[TranscriptEntry],
        end: &RunEnd,
    ) {
        let (session, name) = (run.ask.session.clone(), run.ask.run.clone());
        run_events.room.end_previews(StreamingPreviewScope::OfRun(session, name)).await;
        let now = run_events.room.read().await.ok();
        run_events
            .show(agent_objects::result(end.kind, &end.message, end.reason.as_ref(), &run.spent))
            .await;
        if matches!(run.ask.kind, AskKind::Ask) {
            let response = response(said, now.as_ref());
            run_events.publish(RunEventKind::Response(response)).await;
        }
        run_events.publish(RunEventKind::Over).await;
    }
}

/// Outcome of storing the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndOutcome {
    /// The end is stored.
    Stored,
    /// The comment with the question was deleted.
    Forgotten,
    /// The server stops. The run is resumed at the next start, and ends then.
    LeftToRestart,
}
