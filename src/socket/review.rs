//! Events about requests: decide, look, extend, undo.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::ids::{DocumentId, HunkId, RequestId};
use crate::review::{Choice, Decision, DecisionError, Finish, HunkVerdict, Request, Verdict};
use crate::room::command::{Focus, Undo};
use crate::room::{RoomError, RoomHandle};
use crate::store::Scope;
use crate::who::Action;
use crate::wire::client::{
    FocusRequest, HunkResponse, ListPendingApprovals, NameRequest, ToolApprovalBatch,
    ToolApprovalResponse, UndoRequest,
};
use crate::wire::convert;
use crate::wire::server::{Decided, Told, ToolApprovalRequest, WireError};

use super::Connection;
use super::refusal::Refusal;

/// Decisions one batch may hold.
const MOST_DECISIONS: usize = 100;

pub(super) async fn respond(
    connection: &mut Connection,
    payload: ToolApprovalResponse,
) -> Result<Decided, Refusal> {
    let decision = decision(&payload)?;
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Read).await?;
    let by = connection.principal.clone();
    match connection.door.agents.decide_in(&room, id.clone(), decision, by).await {
        Ok(request) => Ok(convert::decision(&request)),
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
    let decision = decision(&payload)?;
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

/// What the client said, as a decision.
fn decision(response: &ToolApprovalResponse) -> Result<Decision, Refusal> {
    let ToolApprovalResponse {
        request_id: _,
        approved,
        decision,
        feedback,
        note,
        hunks,
        finish,
        updated_input,
        message,
        remember,
        preview_hash,
    } = response.clone();
    let verdict = match (decision.as_deref(), approved) {
        (Some("approve"), _) | (None, Some(true)) => Verdict::Approve,
        (Some("reject"), _) | (None, Some(false)) => Verdict::Reject,
        (Some("edit"), _) => Verdict::Edit {
            input: updated_input.ok_or_else(|| Refusal::invalid("`edit` needs `updated_input`"))?,
        },
        (Some("respond"), _) => Verdict::Respond {
            message: message
                .clone()
                .ok_or_else(|| Refusal::invalid("`respond` needs `message`"))?,
        },
        (Some(_), _) => {
            return Err(Refusal::invalid("`decision` is approve, reject, edit or respond"));
        }
        // Decisions on single changes speak for themselves.
        (None, None) if hunks.is_some() => Verdict::Approve,
        (None, None) => return Err(Refusal::invalid("`approved` or `decision` is needed")),
    };
    let feedback = feedback.or(message.filter(|_| !matches!(verdict, Verdict::Respond { .. })));
    let hunks = hunks.map(|hunks| hunks.into_iter().map(hunk_verdict).collect()).transpose()?;
    let finish = match finish.as_deref() {
        None => None,
        Some("accept") => Some(Finish::Accept),
        Some("reject") => Some(Finish::Reject),
        Some(_) => return Err(Refusal::invalid("`finish` is accept or reject")),
    };
    Ok(Decision {
        verdict,
        hunks,
        finish,
        feedback: feedback.filter(|text| !text.trim().is_empty()),
        note: note.filter(|text| !text.trim().is_empty()),
        remember: remember.map(convert::remember).transpose().map_err(Refusal::invalid)?,
        preview_hash,
        rule: None,
        revised: None,
    })
}

fn hunk_verdict(response: HunkResponse) -> Result<HunkVerdict, Refusal> {
    let HunkResponse { id, decision, text, force, seen } = response;
    let choice = match decision.as_str() {
        "accept" => Choice::Accept,
        "reject" => Choice::Reject,
        _ => return Err(Refusal::invalid("a change's `decision` is accept or reject")),
    };
    Ok(HunkVerdict { id: HunkId::from(id), choice, text, force: force.unwrap_or(false), seen })
}

#[derive(Serialize)]
pub(super) struct Results {
    results: Vec<BatchResult>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum BatchResult {
    Decided {
        ok: bool,
        request_id: String,
        #[serde(flatten)]
        decided: Decided,
    },
    Refused {
        ok: bool,
        request_id: Option<String>,
        error: WireError,
    },
}

pub(super) async fn batch(
    connection: &mut Connection,
    payload: ToolApprovalBatch,
) -> Result<Results, Refusal> {
    if payload.responses.len() > MOST_DECISIONS {
        return Err(Refusal::invalid(format!("a batch has at most {MOST_DECISIONS} decisions")));
    }
    let mut results = Vec::with_capacity(payload.responses.len());
    for response in payload.responses {
        let request_id = response.get("request_id").and_then(Value::as_str).map(ToOwned::to_owned);
        let decided = match serde_json::from_value(response) {
            Ok(response) => respond(connection, response).await,
            Err(error) => Err(Refusal::invalid(error.to_string())),
        };
        results.push(match decided {
            Ok(decided) => BatchResult::Decided {
                ok: true,
                request_id: request_id.unwrap_or_default(),
                decided,
            },
            Err(refusal) => {
                BatchResult::Refused { ok: false, request_id, error: refusal.error().clone() }
            }
        });
    }
    Ok(Results { results })
}

#[derive(Serialize)]
pub(super) struct Pending {
    requests: Vec<ToolApprovalRequest>,
}

pub(super) async fn list(
    connection: &mut Connection,
    payload: ListPendingApprovals,
) -> Result<Pending, Refusal> {
    let named = payload.document_id.map(DocumentId::from);
    let documents = match &named {
        Some(document) => vec![document.clone()],
        None => with_open_requests(connection).await?,
    };
    let mut requests = Vec::new();
    for document in documents {
        match connection.room(document.as_str(), Action::Read).await {
            Ok(room) => {
                requests.extend(room.requests().await?.iter().map(|asked| convert::request(asked)));
            }
            Err(refusal) if named.is_some() => return Err(refusal),
            // Not this person's business, so not in their list.
            Err(_) => {}
        }
    }
    if named.is_none() && connection.principal.may(Action::Read, None) {
        let open = connection.door.rooms.desk().await?.requests().await?;
        let mine = open.iter().filter(|request| request.concerns(&connection.principal));
        requests.extend(mine.map(|request| convert::request(request)));
    }
    Ok(Pending { requests })
}

async fn with_open_requests(connection: &Connection) -> Result<Vec<DocumentId>, Refusal> {
    let open = connection.door.store.open_requests(Scope::Everything).await?;
    let mut documents: Vec<_> = open.into_iter().filter_map(|request| request.document).collect();
    documents.sort_unstable();
    documents.dedup();
    Ok(documents)
}

/// The answer to what is done to a request besides deciding it.
#[derive(Serialize)]
pub(super) struct Status {
    status: &'static str,
    expires_at: Option<String>,
}

impl From<Arc<Request>> for Status {
    fn from(request: Arc<Request>) -> Self {
        Self {
            status: request.status.as_str(),
            expires_at: request.clock.expires_ms.map(convert::time),
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
    Ok(room.focus(id, connection.member.clone(), focus).await?.into())
}

pub(super) async fn extend(
    connection: &mut Connection,
    payload: NameRequest,
) -> Result<Status, Refusal> {
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Decide).await?;
    Ok(room.extend(id, connection.principal.clone()).await?.into())
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
    };
    Ok(room.undo(undo, connection.principal.clone()).await?.into())
}

/// What became of a wish to propose again.
#[derive(Serialize)]
pub(super) struct Reopened {
    #[serde(flatten)]
    status: Status,
    /// Changes whose words are no longer in the text.
    unplaced: Vec<String>,
}

pub(super) async fn reopen(
    connection: &mut Connection,
    payload: NameRequest,
) -> Result<Reopened, Refusal> {
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Decide).await?;
    let request = room.reopen(id, connection.principal.clone()).await?;
    let unplaced = request.refused().iter().map(ToString::to_string).collect();
    Ok(Reopened { status: request.into(), unplaced })
}

pub(super) async fn withdraw(
    connection: &mut Connection,
    payload: NameRequest,
) -> Result<Status, Refusal> {
    let id = RequestId::from(payload.request_id);
    let room = room_of(connection, &id, Action::Ask).await?;
    Ok(room.withdraw(id, Some(connection.principal.clone())).await?.into())
}

/// The room that owns a request, if the person may do `action` there.
async fn room_of(
    connection: &mut Connection,
    request: &RequestId,
    action: Action,
) -> Result<RoomHandle, Refusal> {
    let record = connection.door.store.request(request).await?;
    match record.ok_or_else(|| Refusal::not_found("request"))?.document {
        Some(document) => connection.room(document.as_str(), action).await,
        None => connection.desk(action).await,
    }
}
