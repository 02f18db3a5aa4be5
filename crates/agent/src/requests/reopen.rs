//! Proposes a request without a document again, on the present state.
//!
//! The run of the request is over, so the new request is a call without a model
//! ([`crate::external_calls::call`]) of the person who proposes it, with that person's rights, and
//! people decide it, whatever rules or modes say. Each request is proposed again once; then the
//! newer one can be.

use async_recursion::async_recursion as boxed;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use copydesk_approvals::{ApprovalRequest, DecisionError, InvalidDecisionReason};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{HunkId, RequestId, SessionId};
use copydesk_rooms::command::ProposeAgain;
use copydesk_rooms::{RoomError, RoomHandle, WORKSPACE_INBOX};
use copydesk_store::{SessionRecord, StoreOp};
use copydesk_tools::{ApprovalWait, ToolCall};

use crate::external_calls::call::{CallEvent, CallRequest, ExternalCall};
use crate::external_calls::call_source::CallSource;
use crate::{AgentService, AskError, AskResult, CallHandle};

/// Result of [`AgentService::reopen_in`].
#[derive(Clone, Debug)]
pub enum ReopenOutcome {
    /// The changes of this request are open again.
    Same(Arc<ApprovalRequest>),
    /// The call is proposed by this new request.
    Another(Box<ApprovalRequest>),
}

impl ReopenOutcome {
    /// Returns the request that is open now.
    pub fn request(&self) -> &ApprovalRequest {
        match self {
            Self::Same(request) => request,
            Self::Another(request) => request,
        }
    }

    /// Returns the changes to propose again that have no place in the text any more.
    pub fn unplaced(&self, only: Option<&[HunkId]>) -> Vec<HunkId> {
        match self {
            Self::Same(request) => request.unplaced(only),
            Self::Another(_) => Vec::new(),
        }
    }
}

impl AgentService {
    /// Proposes again what was refused, expired or undone: changes of a text in the room that owns
    /// the request, a call as a whole by a new request of the person. `session` is the person's; a
    /// new one is begun if it is `None`.
    #[boxed]
    pub async fn reopen_in(
        &self,
        room: &RoomHandle,
        wish: ProposeAgain,
        by: Principal,
        session: Option<SessionId>,
    ) -> AskResult<ReopenOutcome> {
        if room.document().as_str() != WORKSPACE_INBOX {
            return Ok(ReopenOutcome::Same(room.reopen(wish, by).await?));
        }
        if wish.hunks.is_some() {
            let reason = InvalidDecisionReason::NoChangesToReopen;
            return Err(RoomError::from(DecisionError::InvalidDecision { reason }).into());
        }
        // Two people at once are served one after the other.
        let _passed = self.repeating.lock().await;
        let old = self.kept_request(&wish.request).await?.ok_or(RoomError::NoRequest)?;
        old.check_repeatable(&by).map_err(RoomError::from)?;
        // A crash may have come between the newer request and its record here.
        let open = room.requests().await?;
        if open.iter().any(|request| request.proposal.again_of.as_ref() == Some(old.id())) {
            let reason = InvalidDecisionReason::ReopenedAndWaiting;
            return Err(RoomError::from(DecisionError::InvalidDecision { reason }).into());
        }
        let session = match session {
            Some(session) => session,
            None => self.begin_session(&by).await?,
        };
        let calling = repeat(&old, by.clone(), session);
        let again = asked(self.call(calling, &CancellationToken::new()).await?).await?;
        room.repeated(old.id().clone(), again.clone(), by).await?;
        let record = self.store.request(&again).await?.ok_or(RoomError::NoRequest)?;
        Ok(ReopenOutcome::Another(Box::new(serde_json::from_str(&record.body)?)))
    }

    async fn begin_session(&self, by: &Principal) -> AskResult<SessionId> {
        let session = SessionRecord::begin(by.user.clone(), self.clock.now_ms());
        let id = session.id.clone();
        self.store.commit(StoreOp::PutSession(session)).await?;
        Ok(id)
    }
}

/// Returns the call of a request for the person who proposes it again, with the executed input.
fn repeat(old: &ApprovalRequest, by: Principal, session: SessionId) -> CallRequest {
    let proposal = &old.proposal;
    let input = old.decisions.edited_input.clone().unwrap_or_else(|| proposal.origin.input.clone());
    let call = ToolCall {
        id: format!("again_{}", proposal.origin.id),
        name: proposal.origin.tool.clone(),
        input,
    };
    let prompt = match proposal.action.prompt.trim() {
        "" => format!("{} again", proposal.origin.tool),
        prompt => prompt.to_owned(),
    };
    CallRequest {
        session,
        principal: by,
        document: None,
        prompt,
        outside: ExternalCall {
            call,
            source: CallSource::WorkspaceInbox,
            base: None,
            deadline_ms: None,
            again_of: Some(proposal.origin.id.clone()),
            model: None,
        },
        key: None,
    }
}

/// Waits until people are asked; from then on only people decide about the request.
async fn asked(mut ongoing: CallHandle) -> AskResult<RequestId> {
    match ongoing.next().await {
        CallEvent::Asking(ApprovalWait::Waits(request) | ApprovalWait::Resolved(request)) => {
            ongoing.keep_for_people();
            Ok(request)
        }
        CallEvent::Parked => Err(AskError::Closed),
        CallEvent::Over(called) => {
            let request = called.outcome.about.get("request_id").and_then(|it| it.as_str());
            // People may have decided before this was read.
            request.map(RequestId::from).ok_or_else(|| {
                RoomError::Input(format!("it cannot be proposed again: {}", called.outcome.text))
                    .into()
            })
        }
    }
}
