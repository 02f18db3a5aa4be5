//! Requests: `/api/v1/requests`. A decision follows the same path and rules as one over the socket.

use axum::Json;
use axum::extract::{OriginalUri, Request, State};
use axum::http::Uri;
use serde_json::Value;

use super::decision_batch::{DecideOnServers, RestDecisions};
use super::http_state::HttpState;
use super::problem::{Problem, RestResult};
use crate::rest::middleware::auth_session::AuthSession;
use crate::rest::middleware::body;
use crate::rest::middleware::pagination::{PageQuery, PathId, QueryParams, next, wait};
use copydesk_api::{Caller, RequestScope};
use copydesk_approvals::ApprovalRequest;
use copydesk_ids::{DocumentId, RequestId};
use copydesk_operation_table::complaint;
use copydesk_protocol::client::ToolApprovalBatch;
use copydesk_protocol::queries::{RequestListQuery, WaitQuery};
use copydesk_protocol::rest::{DecisionResults, RequestPage};
use copydesk_protocol::server::ToolApprovalRequest;
use copydesk_protocol_conversion as wire;
use copydesk_protocol_conversion::DecisionBatch as _;
use copydesk_rooms::WORKSPACE_INBOX;
use copydesk_rooms::persistence::resolved_requests::ResolvedFilter;

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
            let statuses = names.map(wire::ended_status).collect::<Result<_, _>>();
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
    let (requests, last) = wire::request_page(found).map_err(|_| Problem::internal())?;
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
    let request = caller.request(&pass, &id, wait(&waiting)?).await?;
    Ok(Json(wire::request(&request)))
}

/// Decides several requests, each on its own.
///
/// # Errors
/// 422 `invalid_request` for too many decisions, or what is no list of them; those of
/// [`body::fields`]. A refused decision is part of the answer, not an error.
pub async fn batch(
    State(app): State<HttpState>,
    caller: Caller,
    request: Request,
) -> RestResult<Json<DecisionResults>> {
    let decide_on_servers = request.extensions().get::<DecideOnServers>().cloned();
    let headers = request.headers().clone();
    let whole = request.extensions().get::<OriginalUri>();
    let target = whole.map_or(request.uri(), |OriginalUri(uri)| uri).clone();
    let operation = app.operations.of_event("tool_approval_batch").ok_or_else(Problem::internal)?;
    let body = body::fields(request, operation.input_schema(), Vec::new()).await?;
    let read = serde_json::from_value(Value::Object(body));
    let ToolApprovalBatch { responses } =
        read.map_err(|error| Problem::unprocessable(complaint(&error)))?;
    if responses.len() > wire::MOST_DECISIONS {
        let most = wire::MOST_DECISIONS;
        return Err(Problem::unprocessable(format!("a batch has at most {most} decisions")));
    }
    let mut decisions = RestDecisions { caller, responses, headers, target };
    let results = match decide_on_servers {
        Some(decide_all) => decide_all(decisions).await,
        None => decisions.decide_all().await,
    };
    Ok(Json(DecisionResults { results }))
}
