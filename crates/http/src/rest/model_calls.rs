//! `POST /internal/model-calls`: another server of several asks the Claude CLI of this one.
//!
//! Each call shows a ticket of its own, which the other server has stored in the database for it.
//! The route is no part of the API, and takes no token of a person.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::StreamExt as _;

use super::middleware::body::is_json;
use super::middleware::body_quota::{BodyQuota, HeldBody};
use super::problem::{Problem, RestResult};
use copydesk_connections::RequestOwner;
use copydesk_engine::agent::AgentService;
use copydesk_engine::llm::{ModelRequest, remote};
use copydesk_engine::permissions::{Principal, Role};

/// Path of the route.
pub const PATH: &str = "/internal/model-calls";
/// Header with the ticket.
pub const TICKET: HeaderName = HeaderName::from_static("x-copydesk-ticket");

/// Largest request in bytes: a conversation, a question and the shown part of a document at their
/// limits, in whatever characters.
const BODY_LIMIT_BYTES: usize = 16 * 1024 * 1024;
/// Longest pause between two pieces of a body.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Seconds after which a server that has too much being read may try again.
const BUSY_S: u64 = 1;

/// State of the route.
#[derive(Clone)]
pub struct ModelCallState {
    /// Agent that asks the models.
    pub agents: AgentService,
    /// Memory quota of request bodies, which counts for each of the other servers.
    pub reading: BodyQuota,
}

/// Builds the router with the route.
pub fn router(app: ModelCallState) -> Router {
    Router::new().route(PATH, post(answer).fallback(super::no_method)).with_state(app)
}

/// Asks the model and streams its answer. Nothing of the body is read before the ticket was
/// accepted.
async fn answer(State(app): State<ModelCallState>, request: Request) -> RestResult<Response> {
    let (parts, body) = request.into_parts();
    let ticket = ticket(&parts.headers).ok_or_else(no_ticket)?;
    let admitted = app.agents.admit_model_call(ticket).await.map_err(|error| {
        tracing::warn!(%error, "cannot look up a ticket");
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "store_unavailable", error.to_string())
    })?;
    let call = admitted.ok_or_else(refused)?;
    // An answer may take long: this connection is no stranger's any more.
    let name = format!("server {}", call.node());
    let server = Principal::new(name.as_str(), name.as_str(), Role::Editor);
    if let Some(owner) = parts.extensions.get::<RequestOwner>() {
        owner.is(&server).map_err(|_| Problem::too_many(BUSY_S))?;
    }
    if !is_json(&parts.headers) {
        let detail = "the body must be JSON, with `Content-Type: application/json`";
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            detail,
        ));
    }
    let held = app.reading.begin(&server.user);
    let bytes = read(body, &held).await?;
    let request = tokio::task::spawn_blocking(move || serde_json::from_slice(&bytes)).await;
    let request: ModelRequest = match request {
        Ok(Ok(request)) => request,
        Ok(Err(error)) => return Err(Problem::unprocessable(error.to_string())),
        Err(_) => return Err(Problem::internal()),
    };
    tracing::debug!(node = call.node(), run = request.run, "another server asks the Claude CLI");
    // The request is in memory as long as the answer.
    let lines = remote::answer_lines(call.answer(request)).map(move |line| {
        let _held = &held;
        Ok::<_, Infallible>(line)
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, Body::from_stream(lines)).into_response())
}

/// Returns the ticket. Two headers count as none.
fn ticket(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(TICKET).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

fn no_ticket() -> Problem {
    let detail = "a ticket of another server is needed";
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
}

fn refused() -> Problem {
    let detail = "this ticket is not accepted here, or not any more";
    Problem::new(StatusCode::FORBIDDEN, "not_allowed", detail)
}

/// Reads a body within its limits.
async fn read(body: Body, held: &HeldBody) -> RestResult<Vec<u8>> {
    let mut pieces = body.into_data_stream();
    let mut bytes = Vec::new();
    loop {
        let Ok(piece) = tokio::time::timeout(LONGEST_PAUSE, pieces.next()).await else {
            let detail = "timed out while receiving the body";
            return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "request_timeout", detail));
        };
        let Some(piece) = piece else { return Ok(bytes) };
        let piece = piece.map_err(|_| Problem::invalid("the body could not be read to its end"))?;
        if bytes.len() + piece.len() > BODY_LIMIT_BYTES {
            return Err(Problem::too_large());
        }
        held.hold(piece.len()).map_err(|_| Problem::too_many(BUSY_S))?;
        bytes.extend_from_slice(&piece);
    }
}
