//! Events about requests: decide, look, extend, undo.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::cpu_pool;
use crate::ids::{DocumentId, HunkId, RequestId};
use crate::review::{DecisionError, Request};
use crate::room::command::{Focus, Reopen, Undo};
use crate::room::{RoomError, RoomHandle};
use crate::who::Action;
use crate::wire::client::{
    FocusRequest, ListPendingApprovals, NameRequest, ReopenRequest, ToolApprovalBatch,
    ToolApprovalResponse, UndoRequest,
};
use crate::wire::convert;
use crate::wire::rest::{DecisionResult, DecisionResults};
use crate::wire::server::{Decided, Told, ToolApprovalRequest};

use super::Connection;
use super::refusal::Refusal;

pub(super) async fn respond(
    connection: &mut Connection,
    payload: ToolApprovalResponse,
) -> Result<Decided, Refusal> {
    let decision = convert::decide(&payload).map_err(Refusal::invalid)?;
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Read).await?;
    let by = connection.principal.clone();
    let person = by.user.to_string();
    match connection.door.agents.decide_in(&room, id.clone(), decision, by).await {
        Ok(request) => {
            let long = request.hunks.len() > SHORT_ANSWER;
            let written = cpu_pool::run_if(long, &person, move || convert::decision(&request));
            written.await.map_err(|_| Refusal::internal())
        }
        Err(RoomError::Decision(error @ DecisionError::StalePreview { .. })) => {
            Err(stale(&room, &id, error).await)
        }
        Err(error) => Err(error.into()),
    }
}

/// What the model would be told if this decision were taken now; nothing changes.
pub(super) async fn told(
    connection: &mut Connection,
    payload: ToolApprovalResponse,
) -> Result<Told, Refusal> {
    let decision = convert::decide(&payload).map_err(Refusal::invalid)?;
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Read).await?;
    let open = room.requests().await?;
    let request = open
        .iter()
        .find(|request| request.id() == &id)
        .ok_or_else(|| Refusal::not_found("request"))?;
    let text = room.read().await?.text;
    let now_ms = connection.door.clock.now_ms();
    let report = request.would_report(&decision, &connection.principal, &text, now_ms)?;
    Ok(Told { text: report.text, is_error: report.is_error })
}

/// A stale preview is answered with the fresh one.
async fn stale(room: &RoomHandle, id: &RequestId, error: DecisionError) -> Refusal {
    let refusal = Refusal::from(error);
    let open = room.requests().await.unwrap_or_default();
    let fresh = open.iter().find(|request| request.id() == id);
    match fresh.map(|request| serde_json::to_value(convert::request(request))) {
        Some(Ok(request)) => refusal.with(request),
        _ => refusal,
    }
}

pub(super) async fn batch(
    connection: &mut Connection,
    payload: ToolApprovalBatch,
) -> Result<DecisionResults, Refusal> {
    if payload.responses.len() > convert::MOST_DECISIONS {
        let most = convert::MOST_DECISIONS;
        return Err(Refusal::invalid(format!("a batch has at most {most} decisions")));
    }
    let mut results = Vec::with_capacity(payload.responses.len());
    for response in payload.responses {
        let request_id = response.get("request_id").and_then(Value::as_str).map(ToOwned::to_owned);
        let decided = match serde_json::from_value(response) {
            Ok(response) => respond(connection, response).await,
            Err(error) => Err(Refusal::invalid(error.to_string())),
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
pub(super) struct Pending {
    /// A list of [`ToolApprovalRequest`].
    requests: Box<RawValue>,
}

/// Hunks of an answer that are written down where everybody waits, some 2 µs each.
const SHORT_ANSWER: usize = 200;

pub(super) async fn list(
    connection: &mut Connection,
    payload: ListPendingApprovals,
) -> Result<Pending, Refusal> {
    let named = payload.document_id.map(DocumentId::from);
    let documents = match &named {
        Some(document) => vec![document.clone()],
        None => with_open_requests(connection).await?,
    };
    let mut requests: Vec<Arc<Request>> = Vec::new();
    for document in documents {
        match connection.room(document.as_str(), Action::Read).await {
            Ok(room) => requests.extend(room.requests().await?),
            Err(refusal) if named.is_some() => return Err(refusal),
            // Not this person's business, so not in their list.
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
        Ok(Ok(requests)) => Ok(Pending { requests }),
        Ok(Err(_)) | Err(_) => Err(Refusal::internal()),
    }
}

/// The documents in which something waits, as far as the person may read them.
async fn with_open_requests(connection: &Connection) -> Result<Vec<DocumentId>, Refusal> {
    let Some(only) = &connection.principal.document else {
        return Ok(connection.door.store.documents_with_open_requests().await?);
    };
    Ok(vec![only.clone()])
}

/// The answer to what is done to a request besides deciding it.
#[derive(Serialize)]
pub(super) struct Status {
    status: &'static str,
    expires_at: Option<String>,
}

impl From<&Request> for Status {
    fn from(request: &Request) -> Self {
        Self {
            status: request.status.as_str(),
            expires_at: request.clock.ends_ms().map(convert::time),
        }
    }
}

pub(super) async fn focus(
    connection: &mut Connection,
    payload: FocusRequest,
) -> Result<Status, Refusal> {
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Decide).await?;
    let focus = if payload.on { Focus::On } else { Focus::Off };
    Ok((&*room.focus(id, connection.member.clone(), focus).await?).into())
}

pub(super) async fn extend(
    connection: &mut Connection,
    payload: NameRequest,
) -> Result<Status, Refusal> {
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Decide).await?;
    Ok((&*room.extend(id, connection.principal.clone()).await?).into())
}

pub(super) async fn undo(
    connection: &mut Connection,
    payload: UndoRequest,
) -> Result<Status, Refusal> {
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Decide).await?;
    let undo = Undo {
        request: id,
        hunks: payload.hunks.map(|hunks| hunks.into_iter().map(HunkId::from).collect()),
        force: payload.force.unwrap_or(false),
        seen: payload.seen.map(convert::seen),
    };
    let by = connection.principal.clone();
    let undone = connection.door.agents.undo_in(&room, undo, by).await?;
    Ok((&*undone).into())
}

/// What became of a wish to propose again.
#[derive(Serialize)]
pub(super) struct Reopened {
    #[serde(flatten)]
    status: Status,
    /// The request that is pending now; a call as a whole is proposed again by another one.
    request_id: String,
    /// Changes whose words are no longer in the text.
    unplaced: Vec<String>,
}

pub(super) async fn reopen(
    connection: &mut Connection,
    payload: ReopenRequest,
) -> Result<Reopened, Refusal> {
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Decide).await?;
    let hunks = payload.hunks.map(|hunks| hunks.into_iter().map(HunkId::from).collect::<Vec<_>>());
    let reopen = Reopen { request: id, hunks: hunks.clone() };
    let (by, session) = (connection.principal.clone(), Some(connection.session.clone()));
    let reopened = connection.door.agents.reopen_in(&room, reopen, by, session).await?;
    let unplaced = reopened.unplaced(hunks.as_deref()).iter().map(ToString::to_string).collect();
    let again = reopened.request();
    Ok(Reopened { status: again.into(), request_id: again.id().to_string(), unplaced })
}

pub(super) async fn withdraw(
    connection: &mut Connection,
    payload: NameRequest,
) -> Result<Status, Refusal> {
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Ask).await?;
    Ok((&*room.withdraw(id, Some(connection.principal.clone())).await?).into())
}

/// The room that owns a request, if the person may do `action` there.
async fn room_of(
    connection: &mut Connection,
    request: &RequestId,
    action: Action,
) -> Result<RoomHandle, Refusal> {
    match connection.door.rooms.document_of(request).await? {
        Some(document) => connection.room(document.as_str(), action).await,
        None => connection.desk(action).await,
    }
}
