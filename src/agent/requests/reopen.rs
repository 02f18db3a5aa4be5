//! A request without a document is proposed again, on what is there today.
//!
//! The run that wanted it is over, so it is a call without a model ([`crate::agent::external_calls::call`]) of the person who proposes it: the same
//! gate, hooks and policies, their rights, and people who decide, whatever rules or modes say. Each request is proposed again
//! once; then the newer one can be.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::approvals::{ApprovalRequest, DecisionError};
use crate::ids::{HunkId, RequestId, SessionId};
use crate::permissions::Principal;
use crate::rooms::command::ProposeAgain;
use crate::rooms::{DESK, RoomError, RoomHandle};
use crate::store::{SessionRecord, StoreOp};
use crate::tools::{ApprovalWait, ToolCall};

use crate::agent::external_calls::call::{CallEvent, CallRequest, CallSource, ExternalCall};
use crate::agent::service::AgentDeps;
use crate::agent::{AgentService, AskError, CallHandle};

/// What came of proposing a request again.
#[derive(Clone, Debug)]
pub enum ReopenOutcome {
    /// Its changes are open again.
    Same(Arc<ApprovalRequest>),
    /// It is another request now.
    Another(Box<ApprovalRequest>),
}

impl ReopenOutcome {
    /// The request that is open now.
    pub fn request(&self) -> &ApprovalRequest {
        match self {
            Self::Same(request) => request,
            Self::Another(request) => request,
        }
    }

    /// Changes that were wanted again and found no place.
    pub fn unplaced(&self, only: Option<&[HunkId]>) -> Vec<HunkId> {
        match self {
            Self::Same(request) => request.unplaced(only),
            Self::Another(_) => Vec::new(),
        }
    }
}

impl AgentService {
    /// Proposes again what was refused, ran out of time or was undone: changes of a text in the room that owns the request, a
    /// call as a whole by a request of the person's. `session`: the person's; a new one if they have none.
    ///
    /// # Errors
    /// Whatever the call would be refused for, and what cannot be proposed again.
    pub async fn reopen_in(
        &self,
        room: &RoomHandle,
        wish: ProposeAgain,
        by: Principal,
        session: Option<SessionId>,
    ) -> Result<ReopenOutcome, AskError> {
        if room.document().as_str() != DESK {
            return Ok(ReopenOutcome::Same(room.reopen(wish, by).await?));
        }
        if wish.hunks.is_some() {
            let reason = "this request has no single changes to propose again";
            return Err(RoomError::from(DecisionError::InvalidDecision { reason }).into());
        }
        // Two people at once are one after the other.
        let _passed = self.shared.repeating.lock().await;
        let old = self.shared.kept_request(&wish.request).await?.ok_or(RoomError::NoRequest)?;
        old.check_repeatable(&by).map_err(RoomError::from)?;
        // A crash may have come between the newer request and what is kept of it here.
        let open = room.requests().await?;
        if open.iter().any(|request| request.proposal.again_of.as_ref() == Some(old.id())) {
            let reason = "it was proposed again already, and waits for people";
            return Err(RoomError::from(DecisionError::InvalidDecision { reason }).into());
        }
        let session = match session {
            Some(session) => session,
            None => self.shared.begin_session(&by).await?,
        };
        let calling = repeat(&old, by.clone(), session);
        let again = asked(self.call(calling, &CancellationToken::new()).await?).await?;
        room.repeated(old.id().clone(), again.clone(), by).await?;
        let record = self.shared.store.request(&again).await?.ok_or(RoomError::NoRequest)?;
        Ok(ReopenOutcome::Another(Box::new(serde_json::from_str(&record.body)?)))
    }
}

impl AgentDeps {
    async fn begin_session(&self, by: &Principal) -> Result<SessionId, AskError> {
        let session = SessionRecord::begin(by.user.clone(), self.clock.now_ms());
        let id = session.id.clone();
        self.store.commit(StoreOp::PutSession(session)).await?;
        Ok(id)
    }
}

/// The call of a request, made by somebody who wants it again: as it was carried out, or would have been.
fn repeat(old: &ApprovalRequest, by: Principal, session: SessionId) -> CallRequest {
    let proposal = &old.proposal;
    let input = old.edited_input.clone().unwrap_or_else(|| proposal.input.clone());
    let call =
        ToolCall { id: format!("again_{}", proposal.id), name: proposal.tool.clone(), input };
    let prompt = match proposal.prompt.trim() {
        "" => format!("{} again", proposal.tool),
        prompt => prompt.to_owned(),
    };
    CallRequest {
        session,
        principal: by,
        document: None,
        prompt,
        outside: ExternalCall {
            call,
            door: CallSource::Desk,
            base: None,
            deadline_ms: None,
            again_of: Some(proposal.id.clone()),
            named_by: None,
        },
        mark: None,
    }
}

/// Waits until people are asked; from then on nobody else is needed for it.
async fn asked(mut ongoing: CallHandle) -> Result<RequestId, AskError> {
    match ongoing.next().await {
        CallEvent::Asking(ApprovalWait::Waits(request) | ApprovalWait::Resolved(request)) => {
            ongoing.let_go();
            Ok(request)
        }
        CallEvent::Parked => Err(AskError::Closed),
        CallEvent::Over(called) => {
            let request = called.outcome.about.get("request_id").and_then(|it| it.as_str());
            // People may have been faster than this.
            request.map(RequestId::from).ok_or_else(|| {
                RoomError::Input(format!("it cannot be proposed again: {}", called.outcome.text))
                    .into()
            })
        }
    }
}
