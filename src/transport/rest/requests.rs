//! Requests: `/api/v1/requests`. A decision follows the same path and rules as one over the socket.

use std::time::Duration;

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts as _, OriginalUri, Request, State};
use axum::http::Uri;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::HttpState;
use super::problem::Problem;
use crate::approvals::{self, DecisionError};
use crate::ids::{DocumentId, HunkId, RequestId};
use crate::permissions::{Action, Principal};
use crate::rooms::command;
use crate::rooms::persistence::resolved_requests;
use crate::rooms::persistence::resolved_requests::ResolvedFilter;
use crate::rooms::{DESK, RoomError, RoomHandle};
use crate::store::{QueryScope, RequestRecord};
use crate::transport::protocol::client::ToolApprovalResponse;
use crate::transport::protocol::convert;
use crate::transport::protocol::rest::{
    DecisionResult, DecisionResults, Decisions, Empty, Reopen, RequestPage, RequestState, Undo,
};
use crate::transport::protocol::server::{Decided, Told, ToolApprovalRequest};
use crate::transport::rest::middleware::auth_session::{AuthSession, Authenticated};
use crate::transport::rest::middleware::body;
use crate::transport::rest::middleware::pagination::{
    PageQuery, PathId, QueryParams, WaitQuery, next,
};

/// Size of a page, in bytes, after which it ends early: a request holds the texts it is about.
const PAGE_BYTES: usize = 2 * 1024 * 1024;

/// Which requests.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestListQuery {
    /// Only those of this document, or `desk`: those without one; missing: all that the person may see.
    document_id: Option<String>,
    /// `open` (the default): those that can still be decided. `ended`: the others, without those of private documents if no
    /// document is named.
    state: Option<String>,
    /// With `state=ended`, how they ended, with commas between: `approved`, `rejected`, `partly`, `expired`, `cancelled`, `failed`.
    status: Option<String>,
    /// At most this many, 1 to 200; 50 if missing.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// What stands in the `next` of the page before.
    cursor: Option<String>,
}

/// Lists open requests, oldest first, or ended ones, newest first.
pub(crate) async fn list(
    State(door): State<HttpState>,
    caller: Authenticated,
    QueryParams(asked): QueryParams<RequestListQuery>,
    OriginalUri(here): OriginalUri,
) -> Result<Json<RequestPage>, Problem> {
    let page = PageQuery::<RequestId>::read(asked.limit, asked.cursor.as_deref())?;
    match (asked.state.as_deref().unwrap_or("open"), &asked.document_id) {
        ("open", document) => {
            let mut open = open(&door, &caller, document.as_deref()).await?;
            open.retain(|request| page.after.as_ref().is_none_or(|after| request.id() > after));
            open.sort_by(|a, b| a.id().cmp(b.id()));
            let more = open.len() > page.limit;
            open.truncate(page.limit);
            fitting(&here, open.iter().map(|request| &**request), more)
        }
        ("ended", document) => {
            let names = asked.status.iter().flat_map(|names| names.split(','));
            let statuses = names.map(convert::ended_status).collect::<Result<_, _>>();
            let statuses = statuses.map_err(Problem::invalid)?;
            let wanted = ResolvedFilter { statuses, before: page.after, limit: page.limit as u32 };
            ended(&door, &caller, document.as_deref(), &wanted, &here).await
        }
        _ => Err(Problem::invalid("`state` is open or ended")),
    }
}

async fn open(
    door: &HttpState,
    caller: &Authenticated,
    document: Option<&str>,
) -> Result<Vec<std::sync::Arc<approvals::ApprovalRequest>>, Problem> {
    if let Some(document) = document.filter(|document| *document != DESK) {
        return Ok(caller.room(door, document, Action::Read).await?.requests().await?);
    }
    if document.is_some() {
        caller.must(Action::Read)?;
        return desks(door, caller).await;
    }
    let documents = match &caller.principal.document {
        Some(only) => vec![only.clone()],
        None => door.store.documents_with_open_requests().await?,
    };
    let mut requests = Vec::new();
    for document in documents {
        // A document that the caller may not read is left out of the list.
        let Ok(room) = caller.room(door, document.as_str(), Action::Read).await else { continue };
        requests.extend(room.requests().await?);
    }
    if caller.principal.may(Action::Read, None) {
        requests.extend(desks(door, caller).await?);
    }
    Ok(requests)
}

/// Returns the open requests without a document that concern the caller.
async fn desks(
    door: &HttpState,
    caller: &Authenticated,
) -> Result<Vec<std::sync::Arc<approvals::ApprovalRequest>>, Problem> {
    let mut open = door.rooms.desk().await?.requests().await?;
    open.retain(|request| request.concerns(&caller.principal));
    Ok(open)
}

/// Lists the ended requests of one document, or of all listed documents and the workspace inbox.
async fn ended(
    door: &HttpState,
    caller: &Authenticated,
    document: Option<&str>,
    wanted: &ResolvedFilter,
    here: &Uri,
) -> Result<Json<RequestPage>, Problem> {
    // A token for one document limits the list to that document.
    let only = caller.principal.document.as_ref().map(DocumentId::as_str);
    let scope = if document == Some(DESK) { QueryScope::Desk } else { QueryScope::Everything };
    if scope == QueryScope::Desk {
        caller.must(Action::Read)?;
    } else if let Some(document) = document.or(only) {
        let room = caller.room(door, document, Action::Read).await?;
        let found = resolved_requests::ResolvedPage::read(
            &door.store,
            QueryScope::Document(room.document()),
            wanted,
        )
        .await?;
        return fitting(here, found.requests.iter(), found.more);
    }
    let found = resolved_requests::ResolvedPage::read(&door.store, scope, wanted).await?;
    let theirs = |request: &&approvals::ApprovalRequest| {
        request.proposal.document.is_some() || request.concerns(&caller.principal)
    };
    let Json(mut page) = fitting(here, found.requests.iter().filter(theirs), false)?;
    if page.next.is_none() && found.more {
        // There is a next page even if the caller may see nothing of this one.
        page.next = found.requests.last().map(|last| next(here, last.id()));
    }
    Ok(Json(page))
}

/// Returns as many requests as one answer should hold, at least one.
fn fitting<'a>(
    here: &Uri,
    found: impl Iterator<Item = &'a approvals::ApprovalRequest>,
    mut more: bool,
) -> Result<Json<RequestPage>, Problem> {
    let (mut requests, mut last, mut bytes) = (Vec::new(), None, 0);
    for request in found {
        let written = serde_json::value::to_raw_value(&convert::request(request));
        let written = written.map_err(|error| {
            tracing::error!(%error, "a request could not be encoded");
            Problem::internal()
        })?;
        bytes += written.get().len();
        if bytes > PAGE_BYTES && !requests.is_empty() {
            more = true;
            break;
        }
        requests.push(written);
        last = Some(request.id());
    }
    let next = last.filter(|_| more).map(|last| next(here, last));
    Ok(Json(RequestPage { requests, next }))
}

/// Returns a request, open or ended.
pub(crate) async fn read(
    State(door): State<HttpState>,
    AuthSession { caller, pass }: AuthSession,
    PathId(id): PathId<String>,
    QueryParams(waiting): QueryParams<WaitQuery>,
) -> Result<Json<ToolApprovalRequest>, Problem> {
    let (id, wait) = (RequestId::from(id), waiting.read()?);
    let (request, room) = look(&door, &caller, &id).await?;
    if !request.status.is_open() || wait == Duration::ZERO {
        return Ok(Json(convert::request(&request)));
    }
    tokio::select! {
        // The request is read again below, resolved or not.
        _ = tokio::time::timeout(wait, room.resolution(id.clone())) => {}
        ended = pass.ended() => return Err(ended.into()),
    }
    pass.check(door.clock.now_ms())?;
    let (request, _) = look(&door, &caller, &id).await?;
    Ok(Json(convert::request(&request)))
}

async fn look(
    door: &HttpState,
    caller: &Authenticated,
    id: &RequestId,
) -> Result<(approvals::ApprovalRequest, RoomHandle), Problem> {
    let record = record(door, id).await?;
    let is_desks = record.document.is_none();
    let room = room_of(door, caller, &record, Action::Read).await?;
    let open = room.requests().await?;
    let request = match open.iter().find(|request| request.id() == id) {
        Some(request) => approvals::ApprovalRequest::clone(request),
        // Read again: the request may have ended between the two reads.
        None => serde_json::from_str(&self::record(door, id).await?.body).map_err(|error| {
            tracing::error!(%error, request = %id, "a request that is kept cannot be read");
            Problem::internal()
        })?,
    };
    if is_desks && !request.concerns(&caller.principal) {
        return Err(Problem::not_found("request"));
    }
    Ok((request, room))
}

/// Decides a request.
pub(crate) async fn decide(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(id): PathId<String>,
    request: Request,
) -> Result<Json<Decided>, Problem> {
    let response = body::read_about(request, "request_id", &id).await?;
    Ok(Json(take(&door, &caller, &response).await?))
}

/// Decides several requests, each on its own.
pub(crate) async fn batch(
    State(door): State<HttpState>,
    caller: Authenticated,
    request: Request,
) -> Result<Json<DecisionResults>, Problem> {
    let Decisions { responses } = body::read(request).await?;
    if responses.len() > convert::MOST_DECISIONS {
        let most = convert::MOST_DECISIONS;
        return Err(Problem::unprocessable(format!("a batch has at most {most} decisions")));
    }
    let mut results = Vec::with_capacity(responses.len());
    for response in responses {
        let request_id = response.get("request_id").and_then(Value::as_str).map(ToOwned::to_owned);
        let decided = match serde_json::from_value(response) {
            Ok(response) => take(&door, &caller, &response).await,
            Err(error) => Err(Problem::unprocessable(error.to_string())),
        };
        results.push(match decided {
            Ok(decided) => DecisionResult::Decided {
                ok: true,
                request_id: request_id.unwrap_or_default(),
                decided,
            },
            Err(problem) => {
                DecisionResult::Refused { ok: false, request_id, error: problem.as_error() }
            }
        });
    }
    Ok(Json(DecisionResults { results }))
}

async fn take(
    door: &HttpState,
    caller: &Authenticated,
    response: &ToolApprovalResponse,
) -> Result<Decided, Problem> {
    let decision = convert::decide(response).map_err(Problem::unprocessable)?;
    let id = RequestId::from(response.request_id.as_str());
    let record = record(door, &id).await?;
    let room = room_of(door, caller, &record, Action::Read).await?;
    let by = caller.principal.clone();
    match door.agents.decide_in(&room, id.clone(), decision, by).await {
        Ok(request) => Ok(convert::decision(&request)),
        Err(RoomError::Decision(error @ DecisionError::StalePreview { .. })) => {
            // The answer has the fresh request.
            let open = room.requests().await.unwrap_or_default();
            let fresh = open.iter().find(|request| request.id() == &id);
            let fresh = fresh.and_then(|fresh| serde_json::to_value(convert::request(fresh)).ok());
            let problem = Problem::from(error);
            Err(if fresh.is_some() { problem.with(fresh) } else { problem })
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the text that the model would get if this decision were taken now; nothing changes.
pub(crate) async fn told(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(id): PathId<String>,
    request: Request,
) -> Result<Json<Told>, Problem> {
    let response = body::read_about(request, "request_id", &id).await?;
    let decision = convert::decide(&response).map_err(Problem::unprocessable)?;
    let id = RequestId::from(id);
    let room = room_of(&door, &caller, &record(&door, &id).await?, Action::Read).await?;
    let open = room.requests().await?;
    let found = open.iter().find(|request| request.id() == &id);
    let request = found.ok_or_else(|| Problem::not_found("request"))?;
    let (text, now_ms) = (room.read().await?.text, door.clock.now_ms());
    let report = request.would_report(&decision, &caller.principal, &text, now_ms)?;
    Ok(Json(Told { text: report.text, is_error: report.is_error }))
}

/// Extracted input of an action on a request other than a decision.
pub(crate) struct RequestAction {
    door: HttpState,
    caller: Authenticated,
    id: String,
    body: Request,
}

impl FromRequest<HttpState> for RequestAction {
    type Rejection = Problem;

    async fn from_request(request: Request, door: &HttpState) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let caller = Authenticated::from_request_parts(&mut parts, door).await?;
        let PathId(id) = PathId::from_request_parts(&mut parts, door).await?;
        Ok(Self { door: door.clone(), caller, id, body: Request::from_parts(parts, body) })
    }
}

impl RequestAction {
    /// Returns the [`RoomHandle`] of the request, its identifier, the caller, and the body, if the
    /// caller may do `action` there.
    async fn read<T: DeserializeOwned>(
        self,
        action: Action,
    ) -> Result<(RoomHandle, RequestId, Principal, T), Problem> {
        let id = RequestId::from(self.id);
        let record = record(&self.door, &id).await?;
        let room = room_of(&self.door, &self.caller, &record, action).await?;
        Ok((room, id, self.caller.principal, body::read(self.body).await?))
    }
}

/// Gives people more time.
pub(crate) async fn extend(deed: RequestAction) -> Result<Json<RequestState>, Problem> {
    let (room, id, by, Empty {}) = deed.read(Action::Decide).await?;
    Ok(Json(state(&*room.extend(id, by).await?)))
}

/// Undoes an accepted change.
pub(crate) async fn undo(deed: RequestAction) -> Result<Json<RequestState>, Problem> {
    let agents = deed.door.agents.clone();
    let (room, request, by, Undo { hunks, force, seen }) = deed.read(Action::Decide).await?;
    let hunks = hunks.map(|hunks| hunks.into_iter().map(HunkId::from).collect());
    let seen = seen.map(convert::seen);
    let undo = command::UndoChange { request, hunks, force: force.unwrap_or(false), seen };
    Ok(Json(state(&*agents.undo_in(&room, undo, by).await?)))
}

/// Proposes again, on the current text, what was rejected or expired.
pub(crate) async fn reopen(deed: RequestAction) -> Result<Json<RequestState>, Problem> {
    let agents = deed.door.agents.clone();
    let (room, request, by, Reopen { hunks }) = deed.read(Action::Decide).await?;
    let hunks = hunks.map(|hunks| hunks.into_iter().map(HunkId::from).collect::<Vec<_>>());
    let reopen = command::ProposeAgain { request, hunks: hunks.clone() };
    let reopened = agents.reopen_in(&room, reopen, by, None).await?;
    let again = reopened.request();
    let unplaced = reopened.unplaced(hunks.as_deref()).iter().map(ToString::to_string).collect();
    let request_id = Some(again.id().to_string());
    Ok(Json(RequestState { unplaced: Some(unplaced), request_id, ..state(again) }))
}

/// Withdraws a request, for the person who asked.
pub(crate) async fn withdraw(deed: RequestAction) -> Result<Json<RequestState>, Problem> {
    let (room, id, by, Empty {}) = deed.read(Action::Ask).await?;
    Ok(Json(state(&*room.withdraw(id, Some(by)).await?)))
}

fn state(request: &approvals::ApprovalRequest) -> RequestState {
    RequestState {
        status: request.status.as_str().to_owned(),
        expires_at: request.clock.ends_ms().map(convert::time),
        unplaced: None,
        request_id: None,
    }
}

async fn record(door: &HttpState, id: &RequestId) -> Result<RequestRecord, Problem> {
    door.store.request(id).await?.ok_or_else(|| Problem::not_found("request"))
}

/// Returns the [`RoomHandle`] of the room that owns a request, if the caller may do `action` there.
async fn room_of(
    door: &HttpState,
    caller: &Authenticated,
    request: &RequestRecord,
    action: Action,
) -> Result<RoomHandle, Problem> {
    if let Some(document) = &request.document {
        return caller.room(door, document.as_str(), action).await;
    }
    caller.must(action)?;
    Ok(door.rooms.desk().await?)
}
