//! Workspace inbox: the room of requests without a document. Its text is always empty.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::json;

use copydesk_approvals::{ApprovalRequest, ToolReport, UpdatedPreview};
use copydesk_ids::{DocumentId, MemberId, RequestId, SessionId};
use copydesk_store::{DocumentRecord, StoreOp};

use super::requests::{open_request, place, queue_request_news};
use crate::actor::room_effects::RoomEffects;
use crate::event::{RequestNews, RoomEvent};
use crate::inbox_policies::InboxPolicies;
use crate::state::{ApplyContext, RoomState};
use crate::{RequestResult, RoomError};

/// Identifier under which the store has the workspace inbox and its settings. No generated
/// identifier reads like this, and no session owns it, so it is in no list and cannot be opened.
pub const WORKSPACE_INBOX: &str = "desk";

pub fn id() -> DocumentId {
    DocumentId::from(WORKSPACE_INBOX)
}

pub fn fresh(now_ms: u64) -> DocumentRecord {
    let unlisted_owner = Some(SessionId::from(WORKSPACE_INBOX));
    DocumentRecord { unlisted_owner, ..DocumentRecord::new(id(), "Desk".to_owned(), now_ms) }
}

impl RoomState {
    /// Returns this inbox's policies and rules, which also apply to documents that are files.
    pub fn inbox_policies(&self) -> InboxPolicies {
        InboxPolicies {
            policy: self.own.policy.unwrap_or_default(),
            policies: self.own.policies.clone().unwrap_or_default(),
            rules: self.rules.values().cloned().collect(),
        }
    }

    /// Returns `true` if this room is the workspace inbox, whose requests have no document.
    pub fn is_workspace_inbox(&self) -> bool {
        self.id().as_str() == WORKSPACE_INBOX
    }

    pub fn about(&self) -> Option<DocumentId> {
        (!self.is_workspace_inbox()).then(|| self.id().clone())
    }

    /// Returns those of `members` that get an event. In a document all do; in the workspace inbox
    /// only events of requests and runs are sent, and those of a request only to the people it
    /// concerns.
    pub fn listeners<'m>(&self, members: &'m [MemberId], event: &RoomEvent) -> Cow<'m, [MemberId]> {
        if !self.is_workspace_inbox() {
            return Cow::Borrowed(members);
        }
        let request = match event {
            RoomEvent::Requested(request)
            | RoomEvent::RequestedAgain(request)
            | RoomEvent::Resolved(request) => request,
            RoomEvent::RequestUpdated(update) => &update.request,
            RoomEvent::Said(_) => return Cow::Borrowed(members),
            RoomEvent::Updates { .. }
            | RoomEvent::Changed(_)
            | RoomEvent::Peers(_)
            | RoomEvent::PeersChanged(_)
            | RoomEvent::Caret(..)
            | RoomEvent::Rules(_)
            | RoomEvent::PreviewShown(_)
            | RoomEvent::PreviewEnded(_)
            | RoomEvent::ThreadChanged(..)
            | RoomEvent::File(_) => return Cow::Borrowed(&[]),
        };
        let concerned = |member: &&MemberId| {
            self.principal_of(member).is_some_and(|person| request.concerns(&person))
        };
        Cow::Owned(members.iter().filter(concerned).cloned().collect())
    }
}

/// Updates the preview of an open request; announces one that differs, and its requirements.
pub fn refresh_preview(
    state: &mut RoomState,
    id: &RequestId,
    fresh: UpdatedPreview,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let mut request = open_request(state, id)?;
    if !request.refresh_preview(fresh, &state.requirements(&state.in_force(now), now)) {
        return Ok(Arc::new(request));
    }
    Ok(changed(state, request, "request.refresh", RequestNews::Preview, now, effects))
}

/// Begins an approved call: from here on it is never begun again.
pub fn begin(
    state: &mut RoomState,
    id: &RequestId,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let mut request = ApprovalRequest::clone(state.request(id).ok_or(RoomError::NoRequest)?);
    request.begin(now.ms)?;
    let request = Arc::new(request);
    effects.keep(audit(state, &request, "request.begin", now));
    place(state, Arc::clone(&request), effects);
    Ok(request)
}

pub fn done(
    state: &mut RoomState,
    id: &RequestId,
    report: ToolReport,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RequestResult {
    let mut request = ApprovalRequest::clone(state.request(id).ok_or(RoomError::NoRequest)?);
    if !request.done(report, now.ms) {
        return Ok(Arc::new(request));
    }
    Ok(changed(state, request, "request.done", RequestNews::Result, now, effects))
}

fn changed(
    state: &mut RoomState,
    request: ApprovalRequest,
    action: &str,
    news: RequestNews,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> Arc<ApprovalRequest> {
    effects.keep(audit(state, &request, action, now));
    retell(state, request, news, effects)
}

pub fn retell(
    state: &mut RoomState,
    request: ApprovalRequest,
    news: RequestNews,
    effects: &mut RoomEffects,
) -> Arc<ApprovalRequest> {
    let request = Arc::new(request);
    place(state, Arc::clone(&request), effects);
    queue_request_news(state, &request, news, effects);
    request
}

fn audit(
    state: &RoomState,
    request: &ApprovalRequest,
    action: &str,
    now: &ApplyContext,
) -> StoreOp {
    let detail = json!({ "tool": request.proposal.origin.tool, "status": request.status.as_str() });
    state.audit(action, "server", Some(request.id()), detail, now)
}
