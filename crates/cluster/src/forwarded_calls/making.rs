//! Making a call for a run of another server, on the server that has the room which asks people.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use copydesk_agent::{
    AgentQuestion, AgentService, AskError, AskKind, AskResult, Run, approval_mode, is_part_of_run,
    needed_action,
};
use copydesk_auth as auth;
use copydesk_failpoint as failpoint;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{RunId, SessionId};
use copydesk_rooms::{RoomError, RoomResult};
use copydesk_store::{RunEndKind, RunRecord, StoreOp, StoreResult, WriteBatch};
use copydesk_tools::{
    ApprovalTerms, ApprovalWait, CallIdentity, ReadDocuments, ToolContext, ToolError,
};

use super::ForwardedCalls;
use super::record::{ForwardedCall, ForwardedResult, ReadVersion};

/// Pause before a call is made again whose room has closed.
const AGAIN: Duration = Duration::from_millis(100);

/// Call that this server makes.
struct CallHere {
    calls: ForwardedCalls,
    agents: AgentService,
    run: Run,
    forwarded: ForwardedCall,
    /// Token that stops the call.
    cancel: CancellationToken,
}

impl ForwardedCalls {
    /// Looks at a call that another server has announced, and makes it if the room that asks people
    /// is here.
    pub(crate) fn hear_of(&self, agents: &AgentService, session: SessionId, name: RunId) {
        self.note_news();
        let (calls, agents) = (self.clone(), agents.clone());
        // Which server has a room may take time to find out.
        agents.clone().spawn_tracked(async move {
            tokio::select! {
                () = agents.stopped() => {}
                took = calls.take_up(&agents, &session, &name) => if let Err(error) = took {
                    tracing::warn!(%error, run = %name, "cannot take up a call of another server");
                }
            }
        });
    }

    /// Takes up the calls that servers which are gone have left behind.
    ///
    /// # Errors
    /// If they cannot be read, or if it is not known of some whether another server makes them; the
    /// others are taken up.
    pub(crate) async fn take_up_all(&self, agents: &AgentService) -> AskResult<()> {
        let mut taken = Ok(());
        let records = self.store.unfinished_runs().await?.into_iter();
        for record in records.filter(is_part_of_run) {
            match Run::read(record) {
                Ok(Run { ask, .. }) => {
                    taken = taken.and(self.take_up(agents, &ask.session, &ask.run).await);
                }
                Err(error) => tracing::error!(%error, "cannot read a stored call; it is skipped"),
            }
        }
        taken
    }

    /// Makes a call, if it is not over, no server makes it, and the room that asks people is here
    /// or on no server.
    ///
    /// # Errors
    /// [`AskError::Store`] or [`AskError::Room`] if that cannot be looked up.
    pub(super) async fn take_up(
        &self,
        agents: &AgentService,
        session: &SessionId,
        name: &RunId,
    ) -> AskResult<()> {
        let _taking = self.taking.lock().await;
        let key = (session.clone(), name.clone());
        let Some(record) = self.unfinished(session, name).await? else { return Ok(()) };
        if self.made_here.lock().contains_key(&key) {
            return Ok(());
        }
        let run = Run::read(record)?;
        if let Some(home) = &run.ask.document {
            match agents.rooms().claim(home).await {
                Err(RoomError::NotHere(_)) => return Ok(()),
                // The call is ended with its document.
                Ok(()) | Err(RoomError::NoDocument) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // It may have ended while it was looked for.
        if self.unfinished(session, name).await?.is_some() {
            let (forwarded, cancel) = (ForwardedCall::of(&run)?, CancellationToken::new());
            self.made_here.lock().insert(key, cancel.clone());
            let service = agents.clone();
            let call = CallHere { calls: self.clone(), agents: service, run, forwarded, cancel };
            agents.spawn_tracked(call.make());
        }
        Ok(())
    }

    async fn unfinished(
        &self,
        session: &SessionId,
        name: &RunId,
    ) -> StoreResult<Option<RunRecord>> {
        let record = self.store.run(&RunRecord::key(session, name)).await?;
        Ok(record.filter(|record| !record.state.has_ended()))
    }
}

impl CallHere {
    /// Makes the call and stores its result. If the room is on another server by then, that one
    /// goes on with it, and so does the next one if this server stops.
    async fn make(mut self) {
        let (session, name) = (self.run.ask.session.clone(), self.run.ask.run.clone());
        let made = AssertUnwindSafe(self.make_in_room()).catch_unwind();
        let made = tokio::select! {
            biased;
            () = self.agents.stopped() => return,
            made = made => made,
        };
        let failed = || Some(ForwardedResult::failed("The call failed unexpectedly"));
        if let Some(result) = made.unwrap_or_else(|_| failed()) {
            if let Err(error) = self.store_end(result).await {
                tracing::error!(run = %name, %error, "cannot store the result of a call; it will be found out again");
            }
            failpoint::pass("agent.returned");
        }
        let calls = &self.calls;
        calls.made_here.lock().remove(&(session.clone(), name.clone()));
        calls.note_news();
        calls.tell(&session, &name).await;
    }

    /// Stores the end of the call. Its session is notified by the run that made it.
    async fn store_end(&mut self, result: ForwardedResult) -> AskResult<()> {
        let kind =
            if self.cancel.is_cancelled() { RunEndKind::Cancelled } else { RunEndKind::Success };
        self.forwarded.result = Some(result);
        self.run.ask.kind = AskKind::Forwarded(serde_json::to_value(&self.forwarded)?);
        let at_ms = self.agents.clock().now_ms();
        let (session, run) = (self.run.ask.session.clone(), self.run.ask.run.clone());
        let batch = WriteBatch::from(self.run.put_ended(kind, at_ms)?);
        Ok(self.calls.store.commit(batch.with(StoreOp::RunHeard { session, run, at_ms })).await?)
    }

    /// Makes the call; returns `None` if another server is to go on with it.
    async fn make_in_room(&self) -> Option<ForwardedResult> {
        let document = self.run.ask.document.as_ref()?;
        loop {
            let home = match self.agents.rooms().open(document).await {
                Ok(home) => home,
                Err(RoomError::NotHere(_) | RoomError::Closed) => return None,
                Err(RoomError::NoDocument) => {
                    let gone = ToolError::NoSuchDocument(document.clone());
                    return Some(ForwardedResult::failed(gone.to_string()));
                }
                Err(error) => return Some(ForwardedResult::failed(error.to_string())),
            };
            let (asks, asking) = watch::channel(None);
            let made = tokio::select! {
                biased;
                made = self.make_here(asks) => made,
                // It only reports, and stops the call.
                () = self.attend(asking) => None,
            };
            // A room that was closed while people were asked answers, though no one has decided.
            if made.is_some() && (home.is_open() || !self.is_waiting().await) {
                return made;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Makes the call in the room that asks people, which is here. Returns `None` if it is
    /// elsewhere by now.
    async fn make_here(
        &self,
        asks: watch::Sender<Option<ApprovalWait>>,
    ) -> Option<ForwardedResult> {
        let (call, cancel, tools) = (&self.forwarded.call, &self.cancel, self.agents.tools());
        let mut context = match self.context(asks).await {
            Ok(context) => context,
            Err(error) => return Some(ForwardedResult::failed(error.to_string())),
        };
        if !self.is_wanted().await {
            cancel.cancel();
        }
        let made = match tools.resume(&context, call, cancel).await {
            Some(made) => made,
            None if cancel.is_cancelled() => {
                let words = "The run was cancelled; this call was not executed";
                return Some(ForwardedResult::failed(words));
            }
            None => match self.check_asker().await {
                Ok(requester) => {
                    context.call.requester = requester;
                    tools.attempt(&context, call, cancel).await
                }
                Err(error) => return Some(ForwardedResult::failed(error.to_string())),
            },
        };
        let finished = made.ok()?;
        let read = finished.read.map(|(document, snapshot)| ReadVersion {
            document,
            version: snapshot.version,
            unread: finished.unread,
        });
        Some(ForwardedResult { outcome: finished.outcome, read })
    }

    /// Tells when people are asked, and stops the call once the run that made it is over. Does not
    /// end before the call.
    async fn attend(&self, mut asking: watch::Receiver<Option<ApprovalWait>>) {
        let AgentQuestion { session, run: name, .. } = &self.run.ask;
        let mut ended = self.agents.ended_runs();
        loop {
            tokio::select! {
                Ok(()) = asking.changed() => {
                    self.calls.note_news();
                    self.calls.tell(session, name).await;
                }
                Ok(()) = ended.changed(), if !self.cancel.is_cancelled() => {
                    if !self.is_wanted().await {
                        self.cancel.cancel();
                    }
                }
                else => std::future::pending().await,
            }
        }
    }

    /// Returns `false` once the run that made the call is over: no caller waits for the result.
    async fn is_wanted(&self) -> bool {
        let asking = self.calls.unfinished(&self.run.ask.session, &self.forwarded.run).await;
        asking.map_or(true, |asking| asking.is_some())
    }

    async fn is_waiting(&self) -> bool {
        let request = self.calls.store.request_standing(&self.forwarded.request).await;
        request.is_ok_and(|request| request.is_some_and(|request| request.open))
    }

    /// Checks that the person who asked may still ask; returns them with the rights that they still
    /// have.
    async fn check_asker(&self) -> AskResult<Principal> {
        let store = &self.calls.store;
        let (ask, action) = (&self.run.ask, needed_action(self.run.ask.permission_mode));
        let shared = store.document(&self.forwarded.conversation).await?;
        let shared = shared.filter(|record| record.unlisted_owner.is_none());
        let document = shared.map(|record| record.id);
        let now_ms = self.agents.clock().now_ms();
        let now = auth::with_current_rights(store, &ask.principal, now_ms).await?;
        if now.may(action, document.as_ref()) { Ok(now) } else { Err(AskError::NotAllowed) }
    }

    async fn context(&self, asks: watch::Sender<Option<ApprovalWait>>) -> RoomResult<ToolContext> {
        let (ask, forwarded, rooms) = (&self.run.ask, &self.forwarded, self.agents.rooms());
        let room = rooms.open_in_place(&forwarded.conversation).await?;
        let mut others = ReadDocuments::default();
        for read in forwarded.read.iter().flatten() {
            let person = ask.principal.user.as_str();
            if let Some(snapshot) = self.calls.snapshot_at(rooms, read, person).await {
                others.insert(read.document.clone(), (snapshot, read.unread.clone()));
            }
        }
        let call = CallIdentity {
            request: forwarded.request.clone(),
            session: ask.session.clone(),
            run: forwarded.run.clone(),
            requester: ask.principal.clone(),
            prompt: ask.prompt.as_str().into(),
            source: forwarded.source,
            // The server that had the call before may have made its request.
            after_restart: true,
            again_of: forwarded.again_of.clone(),
        };
        let mut context = self.agents.context(room, rooms.workspace_inbox().await?, call);
        context.view.others = forwarded.read.is_some().then(|| Arc::new(others));
        context.approval = ApprovalTerms {
            mode: approval_mode(ask.permission_mode),
            deadline_ms: forwarded.deadline_ms,
            progress: Some(asks),
        };
        context.environment.model.clone_from(&forwarded.model);
        context.environment.read_tools = ask.read_tools;
        context.environment.plan = forwarded.plan;
        context.environment.tag = forwarded.tag.as_str().into();
        Ok(context)
    }
}
