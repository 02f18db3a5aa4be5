//! Runs of the agent: who may start, see and stop them.

use std::time::Duration;

use copydesk_agent::{AskError, PermissionMode, RunStatus, StopFilter};
use copydesk_auth::AccessGuard;
use copydesk_clock::WallClock;
use copydesk_ids::permissions::Action;
use copydesk_ids::{DocumentId, RunId, SessionId};
use copydesk_macros::boxed;
use copydesk_placement::PeerMessage;
use copydesk_store::{Store, StoreOp};

use super::{ApiError, ApiResult, Caller};

#[boxed]
impl Caller {
    /// Checks that the caller may ask the agent about `document`, or without one. Returns the
    /// caller's own session `session`, or the one of the connection, or a new one; and the
    /// permission mode `mode`, or the default one.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) without permission to ask,
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown document or session,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if a new session is not stored.
    pub async fn admit_run(
        &self,
        session: Option<SessionId>,
        document: Option<&DocumentId>,
        mode: Option<PermissionMode>,
    ) -> ApiResult<(SessionId, PermissionMode)> {
        // A private document of another person counts as missing.
        self.require_asking(document).await?;
        let default = || self.application.agents.default_mode(&self.principal, document);
        let permission_mode = mode.unwrap_or_else(default);
        let session = match (session, &self.session) {
            (Some(session), _) => self.own_session(session).await?,
            (None, Some(session)) => session.clone(),
            (None, None) => self.application.begin_session(&self.principal.user).await?.id,
        };
        Ok((session, permission_mode))
    }

    /// Returns the status of a run of the caller's own session. Waits up to `wait` for its end; the
    /// wait ends with the caller's access.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown run,
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) for a document that the caller may not read,
    /// [`Unauthorized`](super::ErrorCode::Unauthorized) if the caller's token ends meanwhile.
    pub async fn run_status(
        &self,
        access: &AccessGuard,
        session: &SessionId,
        run: &RunId,
        wait: Duration,
    ) -> ApiResult<RunStatus> {
        if wait > Duration::ZERO {
            tokio::select! {
                // The run is read again below, over or not.
                _ = tokio::time::timeout(wait, self.application.agents.over(session, run)) => {}
                ended = access.ended() => return Err(ended.into()),
            }
            access.check(self.application.clock.now_ms())?;
        }
        let status = self.application.agents.look(session, run).await?;
        let status = status.ok_or_else(|| ApiError::not_found("run"))?;
        if let Some(document) = &status.record.document {
            self.require_in(Action::Read, Some(document))?;
        }
        Ok(status)
    }

    /// Stops a run of the caller's own session, or all of its runs.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorCode::NotFound) if nothing is to be stopped.
    pub async fn cancel_runs(&self, session: SessionId, run: Option<RunId>) -> ApiResult<()> {
        let stop = StopFilter { session: Some(session.clone()), run: run.clone() };
        let stopped = self.application.agents.cancel(stop).await;
        match (&stopped, run) {
            (Err(AskError::NoRun), Some(run)) => {
                self.application.agents.find_on_other_server(&session, &run).await?;
            }
            (_, None) => self.application.placement().tell(&PeerMessage::Cancel(session)).await,
            _ => {}
        }
        Ok(stopped?)
    }

    /// Stops the caller's run of this name: the one of `session`, or else those of their other
    /// sessions. A run of another person is never found.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorCode::NotFound) if the caller has no such run that is not over.
    pub async fn cancel_run_named(&self, session: SessionId, run: RunId) -> ApiResult<()> {
        let mut sessions = self.application.agents.sessions_of(&run, &self.principal).await?;
        if sessions.is_empty() || sessions.contains(&session) {
            sessions = vec![session];
        }
        let mut stopped = Err(ApiError::not_found("run"));
        for session in sessions {
            let this = self.cancel_runs(session, Some(run.clone())).await;
            // Others may have ended meanwhile.
            stopped = if stopped.is_ok() { stopped } else { this };
        }
        stopped
    }

    /// Stops a run of the caller's own session. An ended run stays as it is.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown run.
    pub async fn stop_run(&self, session: SessionId, run: RunId) -> ApiResult<()> {
        let stop = StopFilter { session: Some(session.clone()), run: Some(run.clone()) };
        let stopped = self.application.agents.cancel(stop).await;
        if matches!(stopped, Err(AskError::NoRun)) {
            self.application.agents.find_on_other_server(&session, &run).await?;
        }
        if matches!(stopped, Err(AskError::NoRun))
            && self.application.agents.look(&session, &run).await?.is_some()
        {
            return Ok(());
        }
        Ok(stopped?)
    }
}

/// Record of the sessions that learned how their runs ended. Clones share one store.
#[derive(Clone, Debug)]
pub struct HeardRuns {
    store: Store,
    clock: WallClock,
}

impl HeardRuns {
    /// Returns the record in this store.
    pub fn new(store: Store, clock: WallClock) -> Self {
        Self { store, clock }
    }

    /// Stores that a session learned just now how one of its runs ended.
    #[boxed]
    pub async fn add(&self, session: SessionId, run: RunId) {
        let op = StoreOp::RunHeard { session, run, at_ms: self.clock.now_ms() };
        if let Err(error) = self.store.commit(op).await {
            tracing::warn!(%error, "cannot store that the end of a run was delivered");
        }
    }
}
