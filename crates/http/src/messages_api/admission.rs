//! Admission of requests of the Messages API: authentication, limits, version, body and request id.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts as _, Request};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;

use crate::messages_api::failure::ApiFailure;
use crate::messages_api::request::{CheckedRequest, RequestPurpose};
use crate::rest::http_state::HttpState;
use crate::rest::middleware::auth_session::AuthSession;
use crate::rest::middleware::body::is_json;
use crate::rest::middleware::request_id;
use crate::rest::middleware::request_limit::CountedRequest;
use crate::rest::problem::Problem;
use copydesk_api::Caller;
use copydesk_connections::body_guard::BodyGuard;
use copydesk_connections::body_quota::HeldBody;
use copydesk_ids::DocumentId;
use copydesk_ids::permissions::{Action, Principal};

use super::limits::{AnswerPermit, BUSY_S};

/// Header that names the document.
const DOCUMENT: &str = "x-copydesk-document";
/// Header with the seconds that the official clients wait for an answer.
const TIMEOUT: &str = "x-stainless-timeout";
/// Longest client timeout that is taken into account; a longer one counts as none.
const LONGEST_CLIENT_TIMEOUT: Duration = Duration::from_hours(24 * 7);
/// Bounds of the margin by which the deadline comes before the client's own timeout.
const LEAST_MARGIN: Duration = Duration::from_secs(2);
const MOST_MARGIN: Duration = Duration::from_secs(30);
/// Maximum body, in bytes: the limit of the original API.
const BODY_LIMIT_BYTES: usize = 32 * 1024 * 1024;

/// Known versions of the API. The differences between them do not matter to this server.
const VERSIONS: [&str; 2] = ["2023-06-01", "2026-10-21"];

/// Size of a body, in bytes, above which it is parsed on a blocking thread, one such body at a
/// time.
const LONG_BODY_BYTES: usize = 256 * 1024;

/// Admission of one authenticated caller who may ask.
pub(crate) struct AdmittedRequest {
    pub(crate) caller: Caller,
    /// [`DocumentId`] named by the caller, about which the caller may ask the models.
    pub(crate) document: Option<DocumentId>,
    /// Time by which the client wants its answer, in milliseconds since 1970, if known.
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) permit: AnswerPermit,
    pub(crate) counted: CountedRequest,
}

/// Admits the caller and reads the [`CheckedRequest`]. A caller who may not ask, or who asks too
/// much at once, is refused before any of the body is read.
pub(crate) async fn come_in(
    app: &HttpState,
    request: Request,
    purpose: RequestPurpose,
) -> Result<(AdmittedRequest, CheckedRequest), ApiFailure> {
    let headers = request.headers();
    let (AuthSession { caller, pass }, counted) = authenticate(app, headers).await?;
    check_version(headers)?;
    if !is_json(headers) {
        return Err(ApiFailure::invalid("content-type: must be application/json"));
    }
    let document = named(headers)?;
    let deadline_ms =
        patience_ms(headers).map(|patience| app.application.clock.now_ms() + patience);
    may_ask(&caller.principal, document.as_ref())?;
    let user = &caller.principal.user;
    let held = app.reading.begin(user);
    let permit = app.conversations.limits().begin(user, held.clone())?;
    let guard = BodyGuard::new(pass, app.application.clock.clone());
    let bytes = read(guard.of(request.into_body()), &held).await;
    if let Some(end) = guard.end() {
        return Err(failure(&Problem::unread(end)));
    }
    let bytes = bytes?;
    let asked = if bytes.len() > LONG_BODY_BYTES {
        let parsing = app.conversations.limits().parsing_permit().await;
        let read = tokio::task::spawn_blocking(move || {
            let _parsing = parsing;
            parse_request(&bytes, purpose)
        });
        read.await.unwrap_or_else(|_| Err(ApiFailure::new(500, "the body could not be read")))
    } else {
        parse_request(&bytes, purpose)
    };
    let asked = asked?;
    // A client waits for a stream as long as events arrive.
    let deadline_ms = deadline_ms.filter(|_| !asked.stream);
    Ok((AdmittedRequest { caller, document, deadline_ms, permit, counted }, asked))
}

fn parse_request(bytes: &[u8], purpose: RequestPurpose) -> Result<CheckedRequest, ApiFailure> {
    let body = serde_json::from_slice(bytes)
        .map_err(|error| ApiFailure::invalid(format!("the body is not valid JSON: {error}")))?;
    CheckedRequest::read(&body, purpose)
}

/// Returns the body if it is within the limits. One that is somewhat too long, or exceeds the
/// quota, is still read to its end: a client that is still writing would not see the refusal.
async fn read(body: Body, held: &HeldBody) -> Result<Vec<u8>, ApiFailure> {
    let mut pieces = body.into_data_stream();
    let (mut bytes, mut size) = (Vec::new(), 0_usize);
    while let Some(piece) = pieces.next().await {
        let piece =
            piece.map_err(|_| ApiFailure::invalid("the body could not be read to its end"))?;
        size = size.saturating_add(piece.len());
        if size > 2 * BODY_LIMIT_BYTES {
            break;
        }
        if size <= BODY_LIMIT_BYTES && !held.is_refused() && held.hold(piece.len()).is_ok() {
            bytes.extend_from_slice(&piece);
        } else {
            bytes = Vec::new();
        }
    }
    if size > BODY_LIMIT_BYTES {
        return Err(ApiFailure::new(413, "Request exceeds the maximum size"));
    }
    if held.is_refused() {
        return Err(ApiFailure::too_many("too many requests are in progress", BUSY_S));
    }
    Ok(bytes)
}

/// Authenticates the caller and counts the request in the
/// [`RequestLimits`](crate::rest::RequestLimits).
pub(crate) async fn let_in(app: &HttpState, headers: &HeaderMap) -> Result<Caller, ApiFailure> {
    Ok(authenticate(app, headers).await?.0.caller)
}

async fn authenticate(
    app: &HttpState,
    headers: &HeaderMap,
) -> Result<(AuthSession, CountedRequest), ApiFailure> {
    let mut bare = Request::new(Body::empty());
    bare.headers_mut().clone_from(headers);
    let (mut parts, _) = bare.into_parts();
    let session =
        AuthSession::from_request_parts(&mut parts, app).await.map_err(|it| failure(&it))?;
    let limit = &app.limits.messages;
    let counted = limit.count(&session.caller.principal.user).map_err(|wait| {
        let words = format!("more than {} requests a second", limit.rate().per_second);
        ApiFailure::too_many(words, wait.as_secs() + 1)
    })?;
    Ok((session, counted))
}

fn named(headers: &HeaderMap) -> Result<Option<DocumentId>, ApiFailure> {
    let mut values = headers.get_all(DOCUMENT).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let name = value.to_str().ok().map(str::trim).filter(|name| !name.is_empty());
    match (name, values.next()) {
        (Some(name), None) => Ok(Some(DocumentId::from(name))),
        _ => Err(ApiFailure::invalid("x-copydesk-document: is the identifier of one document")),
    }
}

/// Returns the client's timeout in milliseconds, less a margin in which the model can end well and
/// the answer can arrive.
fn patience_ms(headers: &HeaderMap) -> Option<u64> {
    let seconds: f64 = headers.get(TIMEOUT)?.to_str().ok()?.parse().ok()?;
    let whole =
        Duration::try_from_secs_f64(seconds).ok().filter(|it| *it <= LONGEST_CLIENT_TIMEOUT)?;
    let margin = (whole / 10).clamp(LEAST_MARGIN, MOST_MARGIN).min(whole / 2);
    u64::try_from(whole.saturating_sub(margin).as_millis()).ok()
}

/// Refuses a principal who may not ask the agent, and so its models.
fn may_ask(principal: &Principal, document: Option<&DocumentId>) -> Result<(), ApiFailure> {
    if principal.may(Action::Ask, document) {
        return Ok(());
    }
    let words = match (&principal.document, document) {
        (Some(_), None) => "this token is for one document: name it with x-copydesk-document",
        (None, None) if principal.may_somewhere(Action::Ask) => {
            "you may ask about single documents: name one with x-copydesk-document"
        }
        _ => "you may not ask the models of this server",
    };
    Err(ApiFailure::new(403, words))
}

/// Refuses an unknown version; a missing one is accepted.
fn check_version(headers: &HeaderMap) -> Result<(), ApiFailure> {
    let Some(version) = headers.get("anthropic-version") else { return Ok(()) };
    if VERSIONS.iter().any(|known| version == known) {
        return Ok(());
    }
    let known = VERSIONS.join(" and ");
    let words = format!("anthropic-version: is not a known version; there are {known}");
    Err(ApiFailure::invalid(words))
}

/// Converts a [`Problem`] of the REST API into a failure of this API.
pub(crate) fn failure(problem: &Problem) -> ApiFailure {
    let status = match problem.status().as_u16() {
        status @ (400 | 401 | 403 | 404 | 409 | 413 | 429) => status,
        422 => 400,
        503 => 529,
        _ => 500,
    };
    ApiFailure::new(status, problem.detail())
}

/// Adds the request's identifier to the answer, or to the error in the API's shape.
pub(crate) fn sign(answered: Result<Response, ApiFailure>) -> Response {
    let name = request_id::current();
    let mut response = answered.unwrap_or_else(|failure| {
        if failure.status >= 500 {
            tracing::warn!(
                request = name,
                status = failure.status,
                message = failure.error.message,
                "a request to the Messages API failed"
            );
        }
        refused(&failure, &name)
    });
    if let Ok(name) = HeaderValue::try_from(name) {
        response.headers_mut().insert("request-id", name);
    }
    response
}

fn refused(failure: &ApiFailure, name: &str) -> Response {
    let status = StatusCode::from_u16(failure.status);
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Json(failure.body(name))).into_response();
    if let Some(seconds) = failure.retry_after_s {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_clients_patience_is_known_before_it_ends() {
        let left = |seconds: &str| {
            let value = HeaderValue::try_from(seconds).expect("a value");
            patience_ms(&HeaderMap::from_iter([(TIMEOUT.parse().expect("a name"), value)]))
        };
        assert_eq!(
            [left("600"), left("100"), left("10")],
            [Some(570_000), Some(90_000), Some(8_000)]
        );
        assert_eq!([left("2"), left("0.5")], [Some(1_000), Some(250)]);
        assert_eq!([left("-1"), left("NaN"), left("1e300"), left("soon")], [None; 4]);
        assert_eq!(patience_ms(&HeaderMap::new()), None);
    }
}
