//! Waiting for a call that another server makes, on the server of the run.

use std::time::Duration;

use tokio::time::Instant;

use copydesk_agent::{AskError, AskResult, MadeCall, Run, RunCall};
use copydesk_failpoint as failpoint;
use copydesk_ids::{RequestId, RunId, SessionId};
use copydesk_placement::{PeerMessage, Placement as _};
use copydesk_store::{RunRecord, RunState, StoreOp};
use copydesk_tools::pipeline::cross_document;
use copydesk_tools::{ApprovalWait, CallIdentity, FinishedCall, OtherServerCall};

use super::ForwardedCalls;
use super::record::{self, ForwardedCall, ForwardedResult};

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

impl ForwardedCalls {
    /// Has another server make a call, and waits for its result.
    ///
    /// # Errors
    /// [`AskError::Store`] or [`AskError::Unwritable`] if the call cannot be stored.
    pub(super) async fn forward(
        &self,
        made: RunCall<'_>,
        place: &OtherServerCall,
    ) -> AskResult<MadeCall> {
        let question = record::question(made.ask, place, made.call)?;
        let run = Run::new(question, made.agents.clock().now_ms());
        self.store.commit(run.put(RunState::Queued)?).await?;
        failpoint::pass("agent.forwarded");
        tracing::debug!(run = %run.ask.run, home = %place.home, "another server makes a call");
        let asked = async {
            let (context, home) = (&place.context, &place.home);
            if let Some(asking) = context.conversation_room.as_ref()
                && context.room.document() == home
            {
                made.agents.rooms().notify_of_elsewhere(asking, home, &context.call.request).await;
                cross_document::notify_asking_document(context, made.call).await;
            }
        };
        self.finish(made, asked).await
    }

    /// Returns `true` for a call that was given to another server before a restart.
    ///
    /// # Errors
    /// [`AskError::Store`] if that cannot be looked up.
    pub(super) async fn was_forwarded(&self, made: RunCall<'_>) -> AskResult<bool> {
        let CallIdentity { session, request, .. } = &made.context.call;
        let name = record::name_of(request);
        Ok(self.store.run(&RunRecord::key(session, &name)).await?.is_some())
    }

    /// Waits for the result of a call that another server was given. Awaits `asked` once people are
    /// asked.
    ///
    /// # Errors
    /// [`AskError::NoRun`] if the call is not stored any more.
    pub(super) async fn finish(
        &self,
        made: RunCall<'_>,
        asked: impl Future<Output = ()>,
    ) -> AskResult<MadeCall> {
        let RunCall { agents, context, call, .. } = made;
        let asked = async {
            context.report_progress(ApprovalWait::Waits);
            asked.await;
        };
        let result = self.await_result(made, asked).await?;
        // What is stored of the call is needed until then, and as long as another server is still
        // to withdraw the request.
        let CallIdentity { session, request, requester, .. } = &context.call;
        let removal = StoreOp::RemoveRun(RunRecord::key(session, &record::name_of(request)));
        let with_result = result.is_some().then_some(removal);
        let ForwardedResult { outcome, read } =
            result.unwrap_or_else(|| ForwardedResult::failed(UNANSWERED));
        if outcome.about.contains_key("request_id") {
            context.report_progress(ApprovalWait::Resolved);
        }
        let mut finished = FinishedCall { outcome, ..FinishedCall::default() };
        if let Some(read) = read {
            // Without the text the model reads the document again.
            let snapshot = self.snapshot_at(agents.rooms(), &read, requester.user.as_str()).await;
            finished.read = snapshot.map(|snapshot| (read.document, snapshot));
            finished.unread = read.unread;
        }
        let finished = agents.tools().report_from_other_server(context, call, finished).await;
        Ok(MadeCall { finished, with_result })
    }

    /// Waits until a forwarded call is over. Awaits `asked` once people are asked. Returns `None`
    /// if the call is to be stopped and no server answers.
    async fn await_result(
        &self,
        RunCall { agents, context, cancel, .. }: RunCall<'_>,
        asked: impl Future<Output = ()>,
    ) -> AskResult<Option<ForwardedResult>> {
        let CallIdentity { session, request, .. } = &context.call;
        let name = record::name_of(request);
        let (mut news, mut asked) = (self.news.subscribe(), Some(asked));
        // Others are notified at intervals: two servers that wait for each other would not stop.
        let (mut told, mut cancelled) = (None::<Instant>, None::<Instant>);
        loop {
            news.mark_unchanged();
            let state = match self.state_of(session, &name, request).await {
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
                    // Wherever it is made.
                    self.stop(session, &name);
                    self.node.tell(&PeerMessage::CancelRun(session.clone(), name.clone())).await;
                }
                self.tell(session, &name).await;
                // This server may have the room by now.
                let take = self.take_up(agents, session, &name);
                drop(tokio::time::timeout(OFTEN, take).await);
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
    async fn state_of(
        &self,
        session: &SessionId,
        name: &RunId,
        request: &RequestId,
    ) -> AskResult<Option<CallState>> {
        let Some(record) = self.store.run(&RunRecord::key(session, name)).await? else {
            return Ok(None);
        };
        if record.finished_ms.is_some() {
            let result = ForwardedCall::of(&Run::read(record)?)?.result;
            let result =
                result.unwrap_or_else(|| ForwardedResult::failed("The call has no result"));
            return Ok(Some(CallState::Over(Box::new(result))));
        }
        let is_open = self.store.request_standing(request).await?.is_some_and(|it| it.open);
        Ok(Some(if is_open { CallState::Asks } else { CallState::Goes }))
    }
}
