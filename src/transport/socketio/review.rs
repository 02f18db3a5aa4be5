//! Events about requests: decide, focus, extend, undo, reopen and withdraw.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::approvals::{ApprovalRequest, DecisionError};
use crate::cpu_pool;
use crate::ids::{DocumentId, HunkId, RequestId};
use crate::permissions::Action;
use crate::rooms::command::{ProposeAgain, UndoChange, ViewerChange};
use crate::rooms::{RoomError, RoomHandle};
use crate::transport::protocol::client::{
    FocusRequest, ListPendingApprovals, NameRequest, ReopenRequest, ToolApprovalBatch,
    ToolApprovalResponse, UndoRequest,
};
use crate::transport::protocol::convert;
use crate::transport::protocol::rest::{DecisionResult, DecisionResults};
use crate::transport::protocol::server::{Decided, Told, ToolApprovalRequest};

use super::SocketConnection;
use super::socket_error::SocketError;

pub(crate) async fn respond(
    connection: &mut SocketConnection,
    payload: ToolApprovalResponse,
) -> Result<Decided, SocketError> {
    let decision = convert::decide(&payload).map_err(SocketError::invalid)?;
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Read).await?;
    let by = connection.principal.clone();
    let person = by.user.to_string();
    match connection.door.agents.decide_in(&room, id.clone(), decision, by).await {
        Ok(request) => {
            let long = request.hunks.len() > SHORT_ANSWER;
            let written = cpu_pool::run_if(long, &person, move || convert::decision(&request));
            written.await.map_err(|_| SocketError::internal())
        }
        Err(RoomError::Decision(error @ DecisionError::StalePreview { .. })) => {
            Err(stale(&room, &id, error).await)
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the text that the model would get if this decision were taken now; nothing changes.
pub(crate) async fn told(
    connection: &mut SocketConnection,
    payload: ToolApprovalResponse,
) -> Result<Told, SocketError> {
    let decision = convert::decide(&payload).map_err(SocketError::invalid)?;
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Read).await?;
    let open = room.requests().await?;
    let request = open
        .iter()
        .find(|request| request.id() == &id)
        .ok_or_else(|| SocketError::not_found("request"))?;
    let text = room.read().await?.text;
    let now_ms = connection.door.clock.now_ms();
    let report = request.would_report(&decision, &connection.principal, &text, now_ms)?;
    Ok(Told { text: report.text, is_error: report.is_error })
}

/// Returns the [`SocketError`] of a stale preview, with the fresh request.
async fn stale(room: &RoomHandle, id: &RequestId, error: DecisionError) -> SocketError {
    let refusal = SocketError::from(error);
    let open = room.requests().await.unwrap_or_default();
    let fresh = open.iter().find(|request| request.id() == id);
    match fresh.map(|request| serde_json::to_value(convert::request(request))) {
        Some(Ok(request)) => refusal.with(request),
        _ => refusal,
    }
}

pub(crate) async fn batch(
    connection: &mut SocketConnection,
    payload: ToolApprovalBatch,
) -> Result<DecisionResults, SocketError> {
    if payload.responses.len() > convert::MOST_DECISIONS {
        let most = convert::MOST_DECISIONS;
        return Err(SocketError::invalid(format!("a batch has at most {most} decisions")));
    }
    let mut results = Vec::with_capacity(payload.responses.len());
    for response in payload.responses {
        let request_id = response.get("request_id").and_then(Value::as_str).map(ToOwned::to_owned);
        let decided = match serde_json::from_value(response) {
            Ok(response) => respond(connection, response).await,
            Err(error) => Err(SocketError::invalid(error.to_string())),
        };
        results.push(match decided {
            Ok(decided) => DecisionResult::Decided {
                ok: true,
                request_id: request_id.unwrap_or_default(),
                decided,
            },
            Err(refusal) => {
                DecisionResult::Refused { ok: false, request_id, error: refusal.error().clone() }
            }
        });
    }
    Ok(DecisionResults { results })
}

#[derive(Serialize)]
pub(crate) struct PendingRequestsAck {
    /// List of [`ToolApprovalRequest`].
    requests: Box<RawValue>,
}

/// Number of hunks up to which an answer is serialized on the worker's own task, some 2 µs each.
const SHORT_ANSWER: usize = 200;

pub(crate) async fn list(
    connection: &mut SocketConnection,
    payload: ListPendingApprovals,
) -> Result<PendingRequestsAck, SocketError> {
    let named = payload.document_id.map(DocumentId::from);
    let documents = match &named {
        Some(document) => vec![document.clone()],
        None => with_open_requests(connection).await?,
    };
    let mut requests: Vec<Arc<ApprovalRequest>> = Vec::new();
    for document in documents {
        match connection.room(document.as_str(), Action::Read).await {
            Ok(room) => requests.extend(room.requests().await?),
            Err(refusal) if named.is_some() => return Err(refusal),
            // A document that the person may not read is left out of the list.
            Err(_) => {}
        }
    }
    if named.is_none() && connection.principal.may(Action::Read, None) {
        let open = connection.door.rooms.desk().await?.requests().await?;
        requests.extend(open.into_iter().filter(|asked| asked.concerns(&connection.principal)));
    }
    let hunks: usize = requests.iter().map(|request| 1 + request.hunks.len()).sum();
    let person = connection.principal.user.to_string();
    let write = move || {
        let written = requests.iter().map(|request| convert::request(request));
        to_raw_value(&written.collect::<Vec<ToolApprovalRequest>>())
    };
    match cpu_pool::run_if(hunks > SHORT_ANSWER, &person, write).await {
        Ok(Ok(requests)) => Ok(PendingRequestsAck { requests }),
        Ok(Err(_)) | Err(_) => Err(SocketError::internal()),
    }
}

/// Returns the documents with open requests, as far as the person's token reaches.
async fn with_open_requests(connection: &SocketConnection) -> Result<Vec<DocumentId>, SocketError> {
    let Some(only) = &connection.principal.document else {
        return Ok(connection.door.store.documents_with_open_requests().await?);
    };
    Ok(vec![only.clone()])
}

/// Answer to an action on a request other than a decision.
#[derive(Serialize)]
pub(crate) struct RequestStatusAck {
    status: &'static str,
    expires_at: Option<String>,
}

impl From<&ApprovalRequest> for RequestStatusAck {
    fn from(request: &ApprovalRequest) -> Self {
        Self {
            status: request.status.as_str(),
            expires_at: request.clock.ends_ms().map(convert::time),
        }
    }
}

pub(crate) async fn focus(
    connection: &mut SocketConnection,
    payload: FocusRequest,
) -> Result<RequestStatusAck, SocketError> {
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Decide).await?;
    let focus = if payload.on { ViewerChange::On } else { ViewerChange::Off };
    Ok((&*room.focus(id, connection.member.clone(), focus).await?).into())
}

pub(crate) async fn extend(
    connection: &mut SocketConnection,
    payload: NameRequest,
) -> Result<RequestStatusAck, SocketError> {
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Decide).await?;
    Ok((&*room.extend(id, connection.principal.clone()).await?).into())
}

pub(crate) async fn undo(
    connection: &mut SocketConnection,
    payload: UndoRequest,
) -> Result<RequestStatusAck, SocketError> {
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Decide).await?;
    let undo = UndoChange {
        request: id,
        hunks: payload.hunks.map(|hunks| hunks.into_iter().map(HunkId::from).collect()),
        force: payload.force.unwrap_or(false),
        seen: payload.seen.map(convert::seen),
    };
    let by = connection.principal.clone();
    let undone = connection.door.agents.undo_in(&room, undo, by).await?;
    Ok((&*undone).into())
}

/// Answer to a wish to propose again.
#[derive(Serialize)]
pub(crate) struct ReopenAck {
    #[serde(flatten)]
    status: RequestStatusAck,
    /// Request that is pending now; a call as a whole is proposed again by another one.
    request_id: String,
    /// Hunks whose words are no longer in the text.
    unplaced: Vec<String>,
}

pub(crate) async fn reopen(
    connection: &mut SocketConnection,
    payload: ReopenRequest,
) -> Result<ReopenAck, SocketError> {
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Decide).await?;
    let hunks = payload.hunks.map(|hunks| hunks.into_iter().map(HunkId::from).collect::<Vec<_>>());
    let reopen = ProposeAgain { request: id, hunks: hunks.clone() };
    let (by, session) = (connection.principal.clone(), Some(connection.session.clone()));
    let reopened = connection.door.agents.reopen_in(&room, reopen, by, session).await?;
    let unplaced = reopened.unplaced(hunks.as_deref()).iter().map(ToString::to_string).collect();
    let again = reopened.request();
    Ok(ReopenAck { status: again.into(), request_id: again.id().to_string(), unplaced })
}

pub(crate) async fn withdraw(
    connection: &mut SocketConnection,
    payload: NameRequest,
) -> Result<RequestStatusAck, SocketError> {
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Ask).await?;
    Ok((&*room.withdraw(id, Some(connection.principal.clone())).await?).into())
}

/// Returns the [`RoomHandle`] of the room that owns a request, if the person may do `action` there.
async fn room_of(
    connection: &mut SocketConnection,
    request: &RequestId,
    action: Action,
) -> Result<RoomHandle, SocketError> {
    match connection.door.rooms.document_of(request).await? {
        Some(document) => connection.room(document.as_str(), action).await,
        None => connection.desk(action).await,
    }
}
