//! Events about requests: decide, list, split, focus, extend, undo, reopen, withdraw, and the
//! preview of the text for the model.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::api::RequestScope;
use crate::approvals::ApprovalRequest;
use crate::cpu_pool;
use crate::ids::{DocumentId, HunkId, RequestId};
use crate::rooms::command::{UndoChange, ViewerChange};
use crate::transport::protocol::client::{
    FocusRequest, ListPendingApprovals, NameRequest, ReopenRequest, SplitRequest,
    ToolApprovalBatch, ToolApprovalResponse, UndoRequest,
};
use crate::transport::protocol::convert;
use crate::transport::protocol::names::RequestStatus;
use crate::transport::protocol::rest::{DecisionResult, DecisionResults};
use crate::transport::protocol::server::{Decided, Told, ToolApprovalRequest};

use super::socket_error::{SocketError, SocketResult};
use super::{SocketConnection, given};

pub(crate) async fn respond(
    connection: &mut SocketConnection,
    payload: ToolApprovalResponse,
) -> SocketResult<Decided> {
    let decision = convert::decide(&payload).map_err(SocketError::invalid)?;
    let caller = &connection.caller;
    let request = caller.decide_request(payload.request_id.into(), decision).await?;
    let long = request.hunks.len() > SHORT_ANSWER;
    let person = caller.principal.user.as_str();
    let written = cpu_pool::run_if(long, person, move || convert::decision(&request));
    written.await.map_err(|_| SocketError::internal())
}

/// Returns the text that the model would get if this decision were taken now; nothing changes.
pub(crate) async fn told(
    connection: &mut SocketConnection,
    payload: ToolApprovalResponse,
) -> SocketResult<Told> {
    let decision = convert::decide(&payload).map_err(SocketError::invalid)?;
    let id = payload.request_id.into();
    let report = connection.caller.report_of_decision(&id, &decision).await?;
    Ok(Told { text: report.text, is_error: report.is_error })
}

pub(crate) async fn batch(
    connection: &mut SocketConnection,
    payload: ToolApprovalBatch,
) -> SocketResult<DecisionResults> {
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
) -> SocketResult<PendingRequestsAck> {
    let named = payload.document_id.map(DocumentId::from);
    let scope = named.map_or(RequestScope::Everything, RequestScope::Document);
    let requests = connection.caller.open_requests(&scope).await?;
    let hunks: usize = requests.iter().map(|request| 1 + request.hunks.len()).sum();
    let person = connection.caller.principal.user.to_string();
    let write = move || {
        let written = requests.iter().map(|request| convert::request(request));
        to_raw_value(&written.collect::<Vec<ToolApprovalRequest>>())
    };
    match cpu_pool::run_if(hunks > SHORT_ANSWER, &person, write).await {
        Ok(Ok(requests)) => Ok(PendingRequestsAck { requests }),
        Ok(Err(_)) | Err(_) => Err(SocketError::internal()),
    }
}

/// Answer to an action on a request other than a decision.
#[derive(Serialize)]
pub(crate) struct RequestStatusAck {
    status: RequestStatus,
    expires_at: Option<String>,
}

impl From<&ApprovalRequest> for RequestStatusAck {
    fn from(request: &ApprovalRequest) -> Self {
        Self {
            status: request.status.into(),
            expires_at: request.clock.ends_ms().map(convert::time),
        }
    }
}

pub(crate) async fn focus(
    connection: &mut SocketConnection,
    payload: FocusRequest,
) -> SocketResult<RequestStatusAck> {
    let FocusRequest { request_id, on } = payload;
    let focus = if on { ViewerChange::On } else { ViewerChange::Off };
    let member = connection.member.clone();
    let focused = connection.caller.focus_request(request_id.into(), member, focus);
    Ok((&*focused.await?).into())
}

pub(crate) async fn split(
    connection: &mut SocketConnection,
    payload: SplitRequest,
) -> SocketResult<Decided> {
    let SplitRequest { request_id, hunk_id } = payload;
    let hunk = given(HunkId::from(hunk_id));
    let request = connection.caller.split_request(request_id.into(), hunk).await?;
    Ok(convert::decision(&request))
}

pub(crate) async fn extend(
    connection: &mut SocketConnection,
    payload: NameRequest,
) -> SocketResult<RequestStatusAck> {
    let id = payload.request_id.into();
    Ok((&*connection.caller.extend_request(id, given(())).await?).into())
}

pub(crate) async fn undo(
    connection: &mut SocketConnection,
    payload: UndoRequest,
) -> SocketResult<RequestStatusAck> {
    let id = RequestId::from(payload.request_id);
    let undo = UndoChange {
        request: id.clone(),
        hunks: payload.hunks.map(hunk_ids),
        force: payload.force.unwrap_or(false),
        seen: payload.seen.map(convert::seen),
    };
    Ok((&*connection.caller.undo_request(&id, given(undo)).await?).into())
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
) -> SocketResult<ReopenAck> {
    let id = payload.request_id.into();
    let hunks = given(payload.hunks.map(hunk_ids));
    let (reopened, unplaced) = connection.caller.reopen_request(id, hunks).await?;
    let unplaced = unplaced.iter().map(ToString::to_string).collect();
    let again = reopened.request();
    Ok(ReopenAck { status: again.into(), request_id: again.id().to_string(), unplaced })
}

pub(crate) async fn withdraw(
    connection: &mut SocketConnection,
    payload: NameRequest,
) -> SocketResult<RequestStatusAck> {
    let id = payload.request_id.into();
    Ok((&*connection.caller.withdraw_request(id, given(())).await?).into())
}

fn hunk_ids(names: Vec<String>) -> Vec<HunkId> {
    names.into_iter().map(HunkId::from).collect()
}
