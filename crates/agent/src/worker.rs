//! Workers: each takes the runs of one queue, one after the other, executes them, and stores and
//! announces their ends.

use crate::conversation::agent_objects;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;

use copydesk_failpoint as failpoint;
use copydesk_placement::PeerMessage;
use copydesk_rooms::RoomError;
use copydesk_rooms::event::StreamingPreviewScope;
use copydesk_store::{RunRecord, WriteBatch};

use super::agent_shared::AgentShared;
use super::run_queues::{QueueKey, QueuedRun};
use super::{AskError, AskKind};
use crate::conversation::history::ResultTexts;
use crate::conversation::response::response;
use crate::conversation::transcript::{EntryKind, TranscriptEntry};
use crate::external_calls::call::called;
use crate::run::end_reason::RunEndReason;
use crate::run::run_events::RunEventPublisher;
use crate::run::run_record::Run;
use crate::run::state_machine::RunEnd;
use crate::run::{executor, run_record};

/// Pause before the end of a run that could not be stored is stored again. It doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

impl AgentShared {
    /// Works on the runs of a queue until it is empty or the server stops.
    pub(super) async fn work(self: &Arc<Self>, key: &QueueKey) {
        loop {
            let Some(mut job) = self.queues().next(key) else { return };
            if job.run.ask.is_part_of_run() {
                self.make_for_other_server(job).await;
                continue;
            }
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

    async fn run(self: &Arc<Self>, job: &mut QueuedRun) -> RunEnd {
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
        if self.keep_end(&run, &end, &entry, &said).await == EndOutcome::LeftToRestart {
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

    /// Stores the end of a run, again and again until that succeeds or the server stops.
    async fn keep_end(
        &self,
        run: &Run,
        end: &RunEnd,
        entry: &TranscriptEntry,
        said: &[TranscriptEntry],
    ) -> EndOutcome {
        let mut pause = FIRST_PAUSE;
        let mut kept = self.store_end(run, end, entry, said).await;
        while let Err(error) = kept {
            tracing::error!(run = %run.ask.run, %error, "cannot store the end of a run; nobody is told of it before it is stored");
            tokio::select! {
                () = self.stop.cancelled() => return EndOutcome::LeftToRestart,
                () = tokio::time::sleep(pause) => {}
            }
            pause = LONGEST_PAUSE.min(pause * 2);
            kept = match self.has_stored_end(run, entry).await {
                Ok(true) => Ok(()),
                Ok(false) => self.store_end(run, end, entry, said).await,
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
        entry: &TranscriptEntry,
        said: &[TranscriptEntry],
    ) -> Result<(), AskError> {
        let mut batch = WriteBatch::from(run.put_ended(end.kind, entry.at_ms)?);
        if !said.is_empty() {
            batch.push(run_record::append(run.ask.document.as_ref(), entry)?);
        }
        Ok(self.store.commit(batch).await?)
    }

    /// Returns `true` if this end of a run was stored although the store reported a failure.
    async fn has_stored_end(&self, run: &Run, entry: &TranscriptEntry) -> Result<bool, AskError> {
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
            run_events.respond(response(said, now.as_ref())).await;
        }
        run_events.over().await;
    }
}

/// Outcome of storing the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndOutcome {
    /// The end is stored.
    Stored,
    /// The server stops. The run is resumed at the next start, and ends then.
    LeftToRestart,
}
