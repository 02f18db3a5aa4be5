//! Making a call for a run of another server, on the server that has the room which asks people.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use copydesk_auth as auth;
use copydesk_failpoint as failpoint;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{RunId, SessionId};
use copydesk_rooms::RoomError;
use copydesk_store::{RunEndKind, RunRecord, RunState, StoreOp, WriteBatch};
use copydesk_tools::{
    ApprovalTerms, ApprovalWait, CallEnvironment, CallIdentity, DocumentView, ReadDocuments,
    ToolContext, ToolError,
};

use super::record::{ForwardedCall, ForwardedResult, ReadVersion};
use super::runs::is_unfinished;
use crate::agent_shared::AgentShared;
use crate::mode_permission::{approval_mode, needed_action};
use crate::run::run_record::Run;
use crate::run_queues::QueuedRun;
use crate::{AgentQuestion, AgentService, AskError, AskKind, AskResult};

/// Pause before a call is made again whose room has closed.
const AGAIN: Duration = Duration::from_millis(100);

impl AgentService {
    /// Looks at a call that another server has announced, and makes it if the room that asks people
    /// is here.
    pub fn hear_of_call(&self, session: SessionId, name: RunId) {
        self.shared.note_call();
        let shared = Arc::clone(&self.shared);
        // Which server has a room may take time to find out.
        self.spawn_tracked(async move {
            let took = shared.take_forwarded(&session, &name);
            tokio::select! {
                () = shared.stop.cancelled() => {}
                took = took => if let Err(error) = took {
                    tracing::warn!(%error, run = %name, "cannot take up a call of another server");
                }
            }
        });
    }
}

impl AgentShared {
    /// Makes a forwarded call, if it is not over, no server makes it, and the room that asks people
    /// is here or on no server.
    ///
    /// # Errors
    /// [`AskError::Store`] or [`AskError::Room`] if that cannot be looked up.
    pub(crate) async fn take_forwarded(
        self: &Arc<Self>,
        session: &SessionId,
        name: &RunId,
    ) -> AskResult<()> {
        let _resuming = self.resuming.lock().await;
        let record = self.store.run(&RunRecord::key(session, name)).await?;
        let Some(record) = record.filter(is_unfinished) else { return Ok(()) };
        let run = Run::read(record)?;
        if self.is_left_behind(&run).await? && self.queues().token(session, name).is_none() {
            self.take_up(run);
        }
        Ok(())
    }

    /// Makes a forwarded call and stores its result. If the room is on another server by then, that
    /// one goes on with it, and so does the next one if this server stops.
    pub(crate) async fn make_for_other_server(self: &Arc<Self>, mut job: QueuedRun) {
        let (session, name) = (job.run.ask.session.clone(), job.run.ask.run.clone());
        let made = AssertUnwindSafe(self.make_forwarded(&job.run, &job.cancel)).catch_unwind();
        let made = tokio::select! {
            biased;
            () = self.stop.cancelled() => return,
            made = made => made,
        };
        let failed = || Some(ForwardedResult::failed("The call failed unexpectedly"));
        if let Some(result) = made.unwrap_or_else(|_| failed()) {
            let cancelled = job.cancel.is_cancelled();
            let kind = if cancelled { RunEndKind::Cancelled } else { RunEndKind::Success };
            if let AskKind::Forwarded(forwarded) = &mut job.run.ask.kind {
                forwarded.result = Some(result);
            }
            if let Err(error) = self.keep_forwarded(&job.run, kind).await {
                tracing::error!(run = %name, %error, "cannot store the result of a call; it will be found out again");
            }
            failpoint::pass("agent.returned");
        }
        self.queues().done(&session, &name);
        self.tell_call(&session, &name).await;
    }

    /// Stores the end of a forwarded call. Its session is notified by the run that made it.
    async fn keep_forwarded(&self, run: &Run, kind: RunEndKind) -> AskResult<()> {
        let at_ms = self.clock.now_ms();
        let (session, name) = (run.ask.session.clone(), run.ask.run.clone());
        let batch = WriteBatch::from(run.put_ended(kind, at_ms)?);
        Ok(self.store.commit(batch.with(StoreOp::RunHeard { session, run: name, at_ms })).await?)
    }

    /// Makes a forwarded call; returns `None` if another server is to go on with it.
    async fn make_forwarded(
        &self,
        run: &Run,
        cancel: &CancellationToken,
    ) -> Option<ForwardedResult> {
        let forwarded = run.ask.forwarded()?;
        loop {
            let home = match self.room(run).await {
                Ok(home) => home,
                Err(RoomError::NotHere(_) | RoomError::Closed) => return None,
                Err(RoomError::NoDocument) => {
                    let gone = run.ask.document.clone().map(ToolError::NoSuchDocument);
                    return gone.map(|gone| ForwardedResult::failed(gone.to_string()));
                }
                Err(error) => return Some(ForwardedResult::failed(error.to_string())),
            };
            let (asks, asking) = watch::channel(None);
            let made = self.make_here(run, forwarded, cancel, asks);
            let made = tokio::select! {
                biased;
                made = made => made,
                // It only reports, and stops the call.
                () = self.attend_forwarded(run, forwarded, asking, cancel) => None,
            };
            // A room that was closed while people were asked answers, though no one has decided.
            if made.is_some() && (home.is_open() || !self.is_waiting(forwarded).await) {
                return made;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Makes a forwarded call in the room that asks people, which is here. Returns `None` if it is
    /// elsewhere by now.
    async fn make_here(
        &self,
        run: &Run,
        forwarded: &ForwardedCall,
        cancel: &CancellationToken,
        asks: watch::Sender<Option<ApprovalWait>>,
    ) -> Option<ForwardedResult> {
        let call = &forwarded.call;
        let mut context = match self.forwarded_context(&run.ask, forwarded, asks).await {
            Ok(context) => context,
            Err(error) => return Some(ForwardedResult::failed(error.to_string())),
        };
        if !self.is_wanted(run, forwarded).await {
            cancel.cancel();
        }
        let made = match self.tools.resume(&context, call, cancel).await {
            Some(made) => made,
            None if cancel.is_cancelled() => {
                let words = "The run was cancelled; this call was not executed";
                return Some(ForwardedResult::failed(words));
            }
            None => match self.check_forwarder(&run.ask, forwarded).await {
                Ok(requester) => {
                    context.call.requester = requester;
                    self.tools.attempt(&context, call, cancel).await
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
    async fn attend_forwarded(
        &self,
        run: &Run,
        forwarded: &ForwardedCall,
        mut asking: watch::Receiver<Option<ApprovalWait>>,
        cancel: &CancellationToken,
    ) {
        let AgentQuestion { session, run: name, .. } = &run.ask;
        let mut ended = self.ended.subscribe();
        loop {
            tokio::select! {
                Ok(()) = asking.changed() => self.tell_call(session, name).await,
                Ok(()) = ended.changed(), if !cancel.is_cancelled() => {
                    if !self.is_wanted(run, forwarded).await {
                        cancel.cancel();
                    }
                }
                else => std::future::pending().await,
            }
        }
    }

    /// Returns `false` once the run that made a call is over: no caller waits for the result.
    async fn is_wanted(&self, run: &Run, forwarded: &ForwardedCall) -> bool {
        let asking = RunRecord::key(&run.ask.session, &forwarded.run);
        match self.store.run(&asking).await {
            Ok(record) => record.is_some_and(|record| !matches!(record.state, RunState::Ended(_))),
            Err(_) => true,
        }
    }

    async fn is_waiting(&self, forwarded: &ForwardedCall) -> bool {
        let request = self.store.request(&forwarded.request).await;
        request.is_ok_and(|request| request.is_some_and(|request| request.open))
    }

    /// Checks that the person who asked may still ask; returns them with the rights that they still
    /// have.
    async fn check_forwarder(
        &self,
        ask: &AgentQuestion,
        forwarded: &ForwardedCall,
    ) -> AskResult<Principal> {
        let action = needed_action(ask.permission_mode);
        let shared = self.store.document(&forwarded.conversation).await?;
        let shared = shared.filter(|record| record.unlisted_owner.is_none());
        let (person, now_ms) = (&ask.principal, self.clock.now_ms());
        let document = shared.map(|record| record.id);
        let now = auth::with_current_rights(&self.store, person, now_ms).await?;
        if now.may(action, document.as_ref()) { Ok(now) } else { Err(AskError::NotAllowed) }
    }

    async fn forwarded_context(
        &self,
        ask: &AgentQuestion,
        forwarded: &ForwardedCall,
        asks: watch::Sender<Option<ApprovalWait>>,
    ) -> Result<ToolContext, RoomError> {
        let room = self.rooms.open_in_place(&forwarded.conversation).await?;
        let mut others = ReadDocuments::default();
        for read in forwarded.read.iter().flatten() {
            if let Some(snapshot) = self.snapshot_at(read, ask.principal.user.as_str()).await {
                others.insert(read.document.clone(), (snapshot, read.unread.clone()));
            }
        }
        Ok(ToolContext {
            room,
            conversation_room: None,
            open_file: None,
            call: CallIdentity {
                request: forwarded.request.clone(),
                session: ask.session.clone(),
                run: forwarded.run.clone(),
                requester: ask.principal.clone(),
                prompt: ask.prompt.as_str().into(),
                source: forwarded.source,
                // The server that had the call before may have made its request.
                after_restart: true,
                again_of: forwarded.again_of.clone(),
            },
            view: DocumentView {
                others: forwarded.read.is_some().then(|| Arc::new(others)),
                ..DocumentView::default()
            },
            approval: ApprovalTerms {
                mode: approval_mode(ask.permission_mode),
                deadline_ms: forwarded.deadline_ms,
                progress: Some(asks),
            },
            environment: CallEnvironment {
                rooms: self.rooms.clone(),
                workspace_inbox: self.workspace_inbox().await?,
                workspace: None,
                model: forwarded.model.clone(),
                unseen_files: Arc::default(),
                read_tools: ask.read_tools,
                plan: forwarded.plan,
                tag: forwarded.tag.as_str().into(),
                clock: self.clock.clone(),
            },
        })
    }
}
