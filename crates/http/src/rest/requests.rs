//! Requests: `/api/v1/requests`. A decision follows the same path and rules as one over the socket.

use axum::Json;
use axum::extract::{OriginalUri, Request};
use axum::http::Uri;
use schemars::JsonSchema;
use serde::Deserialize;

use super::decision_batch::RestDecisions;
use super::problem::{Problem, RestResult};
use crate::rest::middleware::auth_session::AuthSession;
use crate::rest::middleware::body;
use crate::rest::middleware::pagination::{PageQuery, PathId, QueryParams, WaitQuery, next};
use crate::rest::middleware::relayed_parts::PartRelay;
use copydesk_engine::api::{ApiError, Caller, RequestScope, decide_all};
use copydesk_engine::approvals::{ApprovalRequest, Decision};
use copydesk_engine::ids::{DocumentId, HunkId, RequestId};
use copydesk_engine::rooms::WORKSPACE_INBOX;
use copydesk_engine::rooms::persistence::resolved_requests::ResolvedFilter;
use copydesk_protocol::client::ToolApprovalResponse;
use copydesk_protocol::convert;
use copydesk_protocol::rest::{
    DecisionResults, Decisions, Reopen, RequestPage, RequestState, Split,
};
use copydesk_protocol::server::{Decided, Told, ToolApprovalRequest};

/// Query for a list of requests.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestListQuery {
    /// Only those of this document, or `desk`: those without one; missing: all that the person may
    /// see.
    document_id: Option<String>,
    /// `open` (the default): those that can still be decided. `ended`: the others, without those of
    /// private documents if no document is named.
    state: Option<String>,
    /// With `state=ended`, how they ended, with commas between: `approved`, `rejected`, `partly`,
    /// `expired`, `cancelled`, `failed`.
    status: Option<String>,
    /// At most this many, 1 to 200; 50 if missing.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Value of `next` of the page before.
    cursor: Option<String>,
}

/// Lists open requests, oldest first, or ended ones, newest first.
///
/// # Errors
/// 400 `invalid_request` for an unknown `state` or `status` or a wrong `limit` or `cursor`; those
/// of [`Caller::open_requests_page`] and [`Caller::resolved_requests`].
pub async fn list(
    caller: Caller,
    QueryParams(asked): QueryParams<RequestListQuery>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<RequestPage>> {
    let page = PageQuery::<RequestId>::read(asked.limit, asked.cursor.as_deref())?;
    let scope = match asked.document_id {
        None => RequestScope::Everything,
        Some(document) if document == WORKSPACE_INBOX => RequestScope::Inbox,
        Some(document) => RequestScope::Document(DocumentId::from(document)),
    };
    match asked.state.as_deref().unwrap_or("open") {
        "open" => {
            let open = caller.open_requests_page(&scope, page.after.as_ref(), page.limit).await?;
            let end = open.end().map(|last| last.id().clone());
            request_page(&here, open.items.iter().map(|request| &**request), end)
        }
        "ended" => {
            let names = asked.status.iter().flat_map(|names| names.split(','));
            let statuses = names.map(convert::ended_status).collect::<Result<_, _>>();
            let statuses = statuses.map_err(Problem::invalid)?;
            let wanted = ResolvedFilter { statuses, before: page.after, limit: page.limit as u32 };
            let found = caller.resolved_requests(&scope, &wanted).await?;
            // There is a next page even if the caller may see nothing of this one.
            request_page(&here, found.requests.iter(), found.end)
        }
        _ => Err(Problem::invalid("`state` is open or ended")),
    }
}

/// Returns as many requests as one answer should hold; `end` is the last of the list's page if the
/// list goes on after it.
fn request_page<'a>(
    here: &Uri,
    found: impl Iterator<Item = &'a ApprovalRequest>,
    end: Option<RequestId>,
) -> RestResult<Json<RequestPage>> {
    let (requests, last) = convert::request_page(found).map_err(|_| Problem::internal())?;
    Ok(Json(RequestPage { requests, next: last.or(end).map(|last| next(here, &last)) }))
}

/// Returns a request, open or ended.
///
/// # Errors
/// 400 `invalid_request` for too long a `wait`, 404 `not_found` for an unknown request, 401
/// `unauthorized` if the token ends meanwhile; see [`Caller::request`].
pub async fn read(
    AuthSession { caller, pass }: AuthSession,
    PathId(id): PathId<RequestId>,
    QueryParams(waiting): QueryParams<WaitQuery>,
) -> RestResult<Json<ToolApprovalRequest>> {
    let request = caller.request(&pass, &id, waiting.read()?).await?;
    Ok(Json(convert::request(&request)))
}

/// Decides a request.
///
/// # Errors
/// 409 `already_resolved`, `stale_preview`, `conflicted` or `expired` if it is too late, 422
/// `invalid_decision` if it does not fit, 403 `not_allowed`; those of [`body::read_about`].
pub async fn decide(
    caller: Caller,
    PathId(id): PathId<String>,
    request: Request,
) -> RestResult<Json<Decided>> {
    let response = body::read_about(request, "request_id", &id).await?;
    Ok(Json(take(&caller, &response).await?))
}

/// Decides several requests, each on its own, on the server that has its document.
///
/// # Errors
/// 422 `invalid_request` for too many decisions; those of [`body::read`]. A refused decision is
/// part of the answer, not an error.
pub async fn batch(caller: Caller, request: Request) -> RestResult<Json<DecisionResults>> {
    let relay = PartRelay::of(&request);
    let Decisions { responses } = body::read(request).await?;
    if responses.len() > convert::MOST_DECISIONS {
        let most = convert::MOST_DECISIONS;
        return Err(Problem::unprocessable(format!("a batch has at most {most} decisions")));
    }
    let (count, relay) = (responses.len(), relay.as_ref());
    let mut decisions = RestDecisions { caller: &caller, relay, responses };
    let results = decide_all(&mut decisions, count, relay.map(PartRelay::node)).await;
    Ok(Json(DecisionResults { results }))
}

pub(super) async fn take(caller: &Caller, response: &ToolApprovalResponse) -> RestResult<Decided> {
    let (id, decision) = (response.request_id.as_str().into(), decision(response)?);
    let request = caller.decide_request(id, decision).await?;
    Ok(convert::decision(&request))
}

fn decision(response: &ToolApprovalResponse) -> Result<Decision, ApiError> {
    convert::read_decision(response).map_err(ApiError::unprocessable)
}

/// Returns the text that the model would get if this decision were taken now; nothing changes.
///
/// # Errors
/// 404 `not_found` unless the request is open, otherwise the problem that [`decide`] would answer.
pub async fn told(
    caller: Caller,
    PathId(id): PathId<String>,
    request: Request,
) -> RestResult<Json<Told>> {
    let response = body::read_about(request, "request_id", &id).await?;
    let decision = decision(&response)?;
    Ok(Json(convert::told(caller.report_of_decision(id.into(), decision).await?)))
}

/// Splits a change into one for each of its parts.
///
/// # Errors
/// 404 `not_found` for an unknown change, 422 `invalid_decision` for an indivisible one, 409
/// `stale_preview` if it was split before; those of [`Caller::split_request`].
pub async fn split(
    caller: Caller,
    PathId(id): PathId<RequestId>,
    request: Request,
) -> RestResult<Json<Decided>> {
    let hunk = async { Ok(HunkId::from(body::read::<Split>(request).await?.hunk_id)) };
    Ok(Json(convert::decision(&*caller.split_request(id, hunk).await?)))
}

/// Gives people more time.
///
/// # Errors
/// 409 `already_resolved` for an ended request, 422 `invalid_decision` if its caller would not wait
/// longer, 404 `not_found`, 403 `not_allowed`; see [`Caller::extend_request`].
pub async fn extend(
    caller: Caller,
    PathId(id): PathId<RequestId>,
    request: Request,
) -> RestResult<Json<RequestState>> {
    Ok(Json(convert::request_state(&*caller.extend_request(id, body::read_empty(request)).await?)))
}

/// Undoes an accepted change.
///
/// # Errors
/// 409 `conflicted` if the words or the file have changed since, 422 `invalid_decision` if nothing
/// can be undone, 404 `not_found`; see [`Caller::undo_request`].
pub async fn undo(
    caller: Caller,
    PathId(id): PathId<RequestId>,
    request: Request,
) -> RestResult<Json<RequestState>> {
    let undo = async { Ok(convert::undo(id.clone(), body::read(request).await?)) };
    Ok(Json(convert::request_state(&*caller.undo_request(&id, undo).await?)))
}

/// Proposes again, on the current text, what was rejected or expired.
///
/// # Errors
/// 422 `invalid_decision` if nothing can be proposed again, 429 `too_many_requests` if too many are
/// open, 404 `not_found`; see [`Caller::reopen_request`].
pub async fn reopen(
    caller: Caller,
    PathId(id): PathId<RequestId>,
    request: Request,
) -> RestResult<Json<RequestState>> {
    let hunks = async { Ok(body::read::<Reopen>(request).await?.hunks.map(convert::hunk_ids)) };
    Ok(Json(convert::reopened(caller.reopen_request(id, hunks).await?)))
}

/// Withdraws a request, for the person who asked.
///
/// # Errors
/// 403 `not_allowed` for others than the asker and owners, 409 `already_resolved` for an ended
/// request, 404 `not_found`; see [`Caller::withdraw_request`].
pub async fn withdraw(
    caller: Caller,
    PathId(id): PathId<RequestId>,
    request: Request,
) -> RestResult<Json<RequestState>> {
    Ok(Json(convert::request_state(
        &*caller.withdraw_request(id, body::read_empty(request)).await?,
    )))
}
