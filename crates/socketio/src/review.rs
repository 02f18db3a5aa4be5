//! Events about requests: decide, list, split, focus, extend, undo, reopen, withdraw, and the
//! preview of the text for the model.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use copydesk_engine::api::{Caller, RequestScope};
use copydesk_engine::cpu_pool;
use copydesk_engine::ids::{HunkId, RequestId};
use copydesk_engine::permissions::Action;
use copydesk_engine::rooms::WORKSPACE_INBOX;
use copydesk_engine::rooms::command::ViewerChange;
use copydesk_protocol::client::{
    FocusRequest, ListPendingApprovals, NameRequest, ReopenRequest, SplitRequest,
    ToolApprovalResponse, UndoRequest,
};
use copydesk_protocol::convert;
use copydesk_protocol::rest::{RequestState, Undo};
use copydesk_protocol::server::{Decided, Told, ToolApprovalRequest};

use super::followed_requests::{FOLLOW, Followed, FollowedRequest};
use super::socket_error::{SocketError, SocketResult};
use super::{SocketConnection, encode, given};

/// Answers `tool_approval_response`: decides a request. A client that takes changed hunks is told
/// the states of those that it named, others those of all.
///
/// # Errors
/// `already_resolved`, `stale_preview`, `conflicted` or `expired` if it is too late,
/// `invalid_decision` or `invalid_payload` if it does not fit, `not_allowed`; see
/// [`Caller::decide_request`].
pub async fn respond(
    connection: &mut SocketConnection,
    payload: ToolApprovalResponse,
) -> SocketResult<Decided> {
    let caller = &connection.caller;
    let decision = convert::read_decision(&payload).map_err(SocketError::invalid)?;
    let named = decision.hunks.as_ref().filter(|_| decision.finish.is_none());
    let named = named.filter(|_| connection.capabilities.hunk_changes);
    let named: Option<Vec<_>> = named.map(|named| named.iter().map(|it| it.id.clone()).collect());
    let request = caller.decide_request(payload.request_id.into(), decision).await?;
    let long = named.as_ref().map_or(request.hunks.len(), Vec::len) > SHORT_ANSWER;
    let person = caller.principal.user.as_str();
    let write = move || convert::decision_on(&request, named.as_deref());
    cpu_pool::run_if(long, person, write).await.map_err(|_| SocketError::internal())
}

/// Returns the text that the model would get if this decision were taken now; nothing changes.
///
/// # Errors
/// `not_found` unless the request is open, otherwise the error that [`respond`] would answer.
pub async fn told(caller: &Caller, payload: ToolApprovalResponse) -> SocketResult<Told> {
    let decision = convert::read_decision(&payload).map_err(SocketError::invalid)?;
    let id = payload.request_id.into();
    Ok(convert::told(caller.report_of_decision(id, decision).await?))
}

#[derive(Serialize)]
pub(crate) struct PendingRequestsAck {
    /// List of [`ToolApprovalRequest`].
    requests: Box<RawValue>,
}

/// Number of hunks up to which an answer is serialized on the worker's own task, some 2 µs each.
const SHORT_ANSWER: usize = 200;

/// Answers `list_pending_approvals`: returns the requests that can still be decided.
///
/// # Errors
/// `not_found` or `not_allowed` if the person may not read the named document; see
/// [`Caller::open_requests`].
pub async fn list(
    caller: &Caller,
    payload: ListPendingApprovals,
) -> SocketResult<PendingRequestsAck> {
    let scope = match payload.document_id {
        None => RequestScope::Everything,
        Some(inbox) if inbox == WORKSPACE_INBOX => RequestScope::Inbox,
        Some(document) => RequestScope::Document(document.into()),
    };
    let requests = caller.open_requests(&scope).await?;
    let hunks: usize = requests.iter().map(|request| 1 + request.hunks.len()).sum();
    let write = move || -> Vec<ToolApprovalRequest> {
        requests.iter().map(|request| convert::request(request)).collect()
    };
    Ok(PendingRequestsAck { requests: encode(caller, hunks > SHORT_ANSWER, write).await? })
}

/// Answers `approval:focus`: records whether the person looks at a request.
///
/// # Errors
/// `already_resolved` for an ended request, `not_found` for an unknown one, `not_allowed` without
/// permission to decide; see [`Caller::focus_request`].
pub async fn focus(
    connection: &mut SocketConnection,
    payload: FocusRequest,
) -> SocketResult<RequestState> {
    let FocusRequest { request_id, on } = payload;
    let focus = if on { ViewerChange::On } else { ViewerChange::Off };
    let member = connection.member.clone();
    let focused = connection.caller.focus_request(request_id.into(), member, focus);
    Ok(convert::request_state(&*focused.await?))
}

/// Answers `approval:split`: splits a change into its parts.
///
/// # Errors
/// `invalid_decision` for an indivisible change, `stale_preview` if it was split before,
/// `not_found`, `not_allowed`; see [`Caller::split_request`].
pub async fn split(caller: &Caller, payload: SplitRequest) -> SocketResult<Decided> {
    let SplitRequest { request_id, hunk_id } = payload;
    let hunk = given(HunkId::from(hunk_id));
    let request = caller.split_request(request_id.into(), hunk).await?;
    Ok(convert::decision(&request))
}

/// Answers `approval:extend`: gives people more time.
///
/// # Errors
/// `already_resolved` for an ended request, `invalid_decision` if its caller would not wait longer,
/// `not_found`, `not_allowed`; see [`Caller::extend_request`].
pub async fn extend(caller: &Caller, payload: NameRequest) -> SocketResult<RequestState> {
    let id = payload.request_id.into();
    Ok(convert::request_state(&*caller.extend_request(id, given(())).await?))
}

/// Answers `approval:undo`: undoes an accepted change.
///
/// # Errors
/// `conflicted` if the words or the file have changed since, `invalid_decision` if nothing can be
/// undone, `not_found`, `not_allowed`; see [`Caller::undo_request`].
pub async fn undo(caller: &Caller, payload: UndoRequest) -> SocketResult<RequestState> {
    let UndoRequest { request_id, hunks, force, seen, votes_only } = payload;
    let id = RequestId::from(request_id);
    let undo = given(convert::undo(id.clone(), Undo { hunks, force, seen, votes_only }));
    Ok(convert::request_state(&*caller.undo_request(&id, undo).await?))
}

/// Answers `approval:reopen`: proposes again what was rejected or has expired.
///
/// # Errors
/// `invalid_decision` if nothing can be proposed again, `too_many_requests` if too many are open,
/// `not_found`, `not_allowed`; see [`Caller::reopen_request`].
pub async fn reopen(caller: &Caller, payload: ReopenRequest) -> SocketResult<RequestState> {
    let hunks = given(payload.hunks.map(convert::hunk_ids));
    Ok(convert::reopened(caller.reopen_request(payload.request_id.into(), hunks).await?))
}

/// Answers `approval:withdraw`: withdraws a request.
///
/// # Errors
/// `not_allowed` for others than the asker and owners, `already_resolved` for an ended request,
/// `not_found` for an unknown one; see [`Caller::withdraw_request`].
pub async fn withdraw(caller: &Caller, payload: NameRequest) -> SocketResult<RequestState> {
    let id = payload.request_id.into();
    Ok(convert::request_state(&*caller.withdraw_request(id, given(())).await?))
}

/// Answers [`FOLLOW`]: tells the client of a request in a document that the person may read.
///
/// # Errors
/// `not_found` or `not_allowed` if the person may not read the document.
pub async fn follow(
    connection: &mut SocketConnection,
    payload: FollowedRequest,
) -> SocketResult<Followed> {
    let FollowedRequest { document_id, request_id } = payload;
    let room = connection.caller.room(&document_id, Action::Read).await?;
    room.notify_member(connection.member.clone(), request_id).await;
    Ok(Followed {})
}

impl SocketConnection {
    /// Makes the server that has the document of a request tell the client of it.
    pub(crate) async fn follow_request(&mut self, followed: FollowedRequest) {
        let Some(own) = self.app.api.node() else { return };
        // The database says where the document is, and not who told of the request.
        match own.elsewhere(&followed.document_id).await {
            Ok(Some(node)) => {
                let Ok(payload) = to_raw_value(&followed) else { return };
                self.send_to(&node, FOLLOW, payload).await;
            }
            Ok(None) => {
                if let Err(refusal) = follow(self, followed).await {
                    tracing::debug!(error = ?refusal.error(), "a client does not hear of a request");
                }
            }
            Err(error) => tracing::warn!(%error, "cannot look up the server of a request"),
        }
    }
}
