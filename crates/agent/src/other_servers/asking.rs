//! Waiting for a call that another server makes, on the server of the run.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use copydesk_failpoint as failpoint;
use copydesk_ids::{RequestId, RunId, SessionId};
use copydesk_placement::PeerMessage;
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_rooms::text_at;
use copydesk_store::{RunRecord, RunState};
use copydesk_tools::pipeline::cross_document;
use copydesk_tools::{ApprovalWait, FinishedCall, OtherServerCall, ToolCall, ToolContext};

use super::record::{self, ForwardedResult, ReadVersion};
use crate::agent_shared::AgentShared;
use crate::run::run_record::Run;
use crate::{AgentQuestion, AskError, AskResult, StopFilter};

/// Pause before a call is looked at again that no server seems to have taken up, or that is to be
/// stopped.
const OFTEN: Duration = Duration::from_secs(2);
/// Pause before a call is looked at again that asks people. What happens to it is announced.
const RARELY: Duration = Duration::from_secs(15);
/// Longest wait for a call that is to be stopped.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);
/// Outcome of a call that was to be stopped where no server answers.
const UNANSWERED: &str = "The run was cancelled. No server that could withdraw its request answers; it is withdrawn once one \
     does";

/// Present state of a forwarded call.
enum CallState {
    /// The call is over.
    Over(Box<ForwardedResult>),
    /// People are asked.
    Asks,
    /// People are not asked, or have decided.
    Goes,
}

/// Call that another server was given, as the run goes on with it.
#[derive(Debug)]
pub(crate) struct ReturnedCall {
    /// Result of the call.
    pub(crate) finished: FinishedCall,
    /// Stored call, which is of no use once the run has stored the result. `None` if another server
    /// is still to withdraw the request.
    pub(crate) record: Option<RunId>,
}

impl AgentShared {
    /// Has another server make a call, and waits for its result. `context` is that of the
    /// conversation.
    ///
    /// # Errors
    /// [`AskError::Store`] or [`AskError::Unwritable`] if the call cannot be stored.
    pub(crate) async fn make_on_other_server(
        self: &Arc<Self>,
        ask: &AgentQuestion,
        (context, place): (&ToolContext, &OtherServerCall),
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> AskResult<ReturnedCall> {
        let run = Run::new(record::question(ask, place, call), self.clock.now_ms());
        self.store.commit(run.put(RunState::Queued)?).await?;
        failpoint::pass("agent.forwarded");
        tracing::debug!(run = %run.ask.run, home = %place.home, "another server makes a call");
        let asked = async {
            let (context, home) = (&place.context, &place.home);
            if let Some(asking) = context.conversation_room.as_ref()
                && context.room.document() == home
            {
                self.rooms.notify_of_elsewhere(asking, home, &context.call.request).await;
                cross_document::notify_asking_document(context, call).await;
            }
        };
        self.finish(context, call, cancel, asked).await
    }

    /// Waits for the result of a call that was given to another server before a restart. Returns
    /// `None` if it was not.
    ///
    /// # Errors
    /// [`AskError::Store`] if that cannot be looked up.
    pub(crate) async fn resume_on_other_server(
        self: &Arc<Self>,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> AskResult<Option<ReturnedCall>> {
        let name = record::name_of(&context.call.request);
        if self.store.run(&RunRecord::key(&context.call.session, &name)).await?.is_none() {
            return Ok(None);
        }
        Ok(Some(self.finish(context, call, cancel, async {}).await?))
    }

    async fn finish(
        self: &Arc<Self>,
        context: &ToolContext,
        call: &ToolCall,
        cancel: &CancellationToken,
        asked: impl Future<Output = ()>,
    ) -> AskResult<ReturnedCall> {
        let asked = async {
            context.report_progress(ApprovalWait::Waits);
            asked.await;
        };
        let (session, request) = (&context.call.session, &context.call.request);
        let result = self.await_forwarded(session, request, cancel, asked).await?;
        let is_over = result.is_some();
        let ForwardedResult { outcome, read } =
            result.unwrap_or_else(|| ForwardedResult::failed(UNANSWERED));
        if outcome.about.contains_key("request_id") {
            context.report_progress(ApprovalWait::Resolved);
        }
        let mut finished = FinishedCall { outcome, ..FinishedCall::default() };
        if let Some(read) = read {
            // Without the text the model reads the document again.
            let snapshot = self.snapshot_at(&read, context.call.requester.user.as_str()).await;
            finished.read = snapshot.map(|snapshot| (read.document, snapshot));
            finished.unread = read.unread;
        }
        let finished = self.tools.report_from_other_server(context, call, finished).await;
        let record = is_over.then(|| RunRecord::key(session, &record::name_of(request)));
        Ok(ReturnedCall { finished, record })
    }

    /// Waits until a forwarded call is over. Awaits `asked` once people are asked. Returns `None`
    /// if the call is to be stopped and no server answers.
    async fn await_forwarded(
        self: &Arc<Self>,
        session: &SessionId,
        request: &RequestId,
        cancel: &CancellationToken,
        asked: impl Future<Output = ()>,
    ) -> AskResult<Option<ForwardedResult>> {
        let name = record::name_of(request);
        let (mut news, mut asked) = (self.call_news.subscribe(), Some(asked));
        // Others are notified at intervals: two servers that wait for each other would not stop.
        let (mut told, mut cancelled) = (None::<Instant>, None::<Instant>);
        loop {
            news.mark_unchanged();
            let state = match self.state_of_forwarded(session, &name, request).await {
                Ok(Some(CallState::Over(result))) => return Ok(Some(*result)),
                Ok(Some(state)) => state,
                Ok(None) => return Err(AskError::NoRun),
                Err(error) => {
                    // People may still decide; what they decided is read later.
                    tracing::warn!(%error, run = %name, "cannot look at a call of another server");
                    CallState::Goes
                }
            };
            let is_waiting = matches!(state, CallState::Asks);
            if is_waiting && let Some(asked) = asked.take() {
                asked.await;
            }
            if cancel.is_cancelled() && cancelled.is_none() {
                (told, cancelled) = (None, Some(Instant::now()));
            }
            if cancelled.is_some_and(|at| at.elapsed() >= STOP_TIMEOUT) {
                // The server that has it later finds that the run is over.
                return Ok(None);
            }
            let is_pressing = cancelled.is_some() || !is_waiting;
            if is_pressing && told.is_none_or(|at| at.elapsed() >= OFTEN) {
                if cancelled.is_some() {
                    self.withdraw_forwarded(session, &name).await;
                }
                self.tell_others(session, &name).await;
                // This server may have the room by now.
                drop(tokio::time::timeout(OFTEN, self.take_forwarded(session, &name)).await);
                told = Some(Instant::now());
            }
            let pause = if is_pressing { OFTEN } else { RARELY };
            tokio::select! {
                _ = news.changed() => {}
                () = cancel.cancelled(), if cancelled.is_none() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Reads the state of a forwarded call; `None` if it is not stored any more.
    async fn state_of_forwarded(
        &self,
        session: &SessionId,
        name: &RunId,
        request: &RequestId,
    ) -> AskResult<Option<CallState>> {
        let Some(record) = self.store.run(&RunRecord::key(session, name)).await? else {
            return Ok(None);
        };
        if record.finished_ms.is_some() {
            let run = Run::read(record)?;
            let result = run.ask.forwarded().and_then(|forwarded| forwarded.result.clone());
            let result =
                result.unwrap_or_else(|| ForwardedResult::failed("The call has no result"));
            return Ok(Some(CallState::Over(Box::new(result))));
        }
        let is_open = self.store.request(request).await?.is_some_and(|request| request.open);
        Ok(Some(if is_open { CallState::Asks } else { CallState::Goes }))
    }

    /// Stops a forwarded call, wherever it is made.
    async fn withdraw_forwarded(&self, session: &SessionId, name: &RunId) {
        let one = StopFilter { session: Some(session.clone()), run: Some(name.clone()) };
        // On this server there may be none.
        drop(self.queues().stop(&one));
        let message = PeerMessage::CancelRun(session.clone(), name.clone());
        self.rooms.placement().tell(&message).await;
    }

    /// Returns a document at a version that was read; `None` if it cannot be read any more.
    pub(crate) async fn snapshot_at(
        &self,
        read: &ReadVersion,
        person: &str,
    ) -> Option<DocumentSnapshot> {
        let ReadVersion { document, version, .. } = read;
        let now = self.rooms.open_in_place(document).await.ok()?.read().await.ok()?;
        if now.version == *version {
            return Some(now);
        }
        let text = text_at(&self.store, document, *version, person).await.ok()?;
        Some(DocumentSnapshot { version: *version, text, ..now })
    }
}
