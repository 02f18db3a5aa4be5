//! Events about requests that need the connection: decide, focus, and follow.

use std::sync::Arc;

use serde_json::value::to_raw_value;

use copydesk_cpu_pool as cpu_pool;
use copydesk_ids::RequestId;
use copydesk_ids::permissions::Action;
use copydesk_protocol::client::{FocusRequest, ToolApprovalResponse};
use copydesk_protocol::rest::RequestState;
use copydesk_protocol::server::Decided;
use copydesk_protocol_conversion as wire;
use copydesk_rooms::command::ViewerChange;

use super::SocketConnection;
use super::other_servers::{FOLLOW, FollowedRequest};
use super::socket_error::{SocketError, SocketResult};

/// Number of hunks up to which an answer is serialized on the worker's own task, some 2 µs each.
const SHORT_ANSWER: usize = 200;

/// Answers `tool_approval_response`: decides a request. A client that takes changed hunks is sent
/// the states of those that it named, others those of all.
///
/// # Errors
/// `already_resolved`, `stale_preview`, `conflicted` or `expired` if it is too late,
/// `invalid_decision` or `invalid_payload` if it does not fit, `not_allowed`; see
/// [`Caller::decide_request`](copydesk_api::Caller::decide_request).
pub async fn respond(
    connection: &mut SocketConnection,
    payload: ToolApprovalResponse,
) -> SocketResult<Decided> {
    let caller = &connection.caller;
    let decision = wire::read_decision(&payload).map_err(SocketError::invalid)?;
    let named = decision.hunks.as_ref().filter(|_| decision.finish.is_none());
    let named = named.filter(|_| connection.capabilities.hunk_changes);
    let named: Option<Vec<_>> = named.map(|named| named.iter().map(|it| it.id.clone()).collect());
    let id = RequestId::from(payload.request_id);
    let room = caller.room_of_request(&id, Action::Read).await?;
    let request = caller.decide_request(&room, id, decision).await?;
    let long = named.as_ref().map_or(request.hunks.len(), Vec::len) > SHORT_ANSWER;
    let person = caller.principal.user.as_str();
    let write = move || wire::decision_on(&request, named.as_deref());
    cpu_pool::run_if(long, person, write).await.map_err(|_| SocketError::internal())
}

/// Answers `approval:focus`: records whether the person looks at a request.
///
/// # Errors
/// `already_resolved` for an ended request, `not_found` for an unknown one, `not_allowed` without
/// permission to decide.
pub async fn focus(
    connection: &mut SocketConnection,
    payload: FocusRequest,
) -> SocketResult<RequestState> {
    let FocusRequest { request_id, on } = payload;
    let focus = if on { ViewerChange::On } else { ViewerChange::Off };
    let member = connection.member.clone();
    let id = RequestId::from(request_id);
    let room = connection.caller.room_of_request(&id, Action::Decide).await?;
    Ok(wire::request_state(&*room.focus(id, member, focus).await?))
}

/// Answers [`FOLLOW`]: tells the client of a request in a document that the person may read.
///
/// # Errors
/// `not_found` or `not_allowed` if the person may not read the document.
pub async fn follow(
    connection: &mut SocketConnection,
    payload: FollowedRequest,
) -> SocketResult<()> {
    let FollowedRequest { document_id, request_id } = payload;
    let room = connection.caller.room(&document_id, Action::Read).await?;
    room.notify_member(connection.member.clone(), request_id).await;
    Ok(())
}

impl SocketConnection {
    /// Takes one of several decisions; see [`respond`].
    pub(crate) async fn decide(&mut self, response: ToolApprovalResponse) -> SocketResult<Decided> {
        respond(self, response).await
    }

    /// Makes the server that has the document of a request tell the client of it.
    pub(crate) async fn follow_request(&mut self, followed: FollowedRequest) {
        // The database says where the document is, and not the server that announced the request.
        let placement = Arc::clone(self.app.application.placement());
        match placement.other_server_of(&followed.document_id).await {
            Ok(Some(server)) => {
                let Ok(payload) = to_raw_value(&followed) else { return };
                if let Some(others) = &mut self.other_servers {
                    others.send(&server, FOLLOW, payload).await;
                }
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
