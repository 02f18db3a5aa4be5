//! Admission of MCP requests: a token for each, and sessions that only their owner can use.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::json;
use tokio_util::sync::{CancellationToken, DropGuard};

use copydesk_auth::{AccessGuard, AuthError, AuthResult};
use copydesk_connections::body_guard::{BodyEnd, BodyGuard};
use copydesk_connections::body_quota::HeldBody;
use copydesk_connections::{RequestOwner, TooManyConnections};

use super::early_headers::{self, is_stream};
use super::read_versions::ReadingProgram;
use super::sessions::{SessionUse, SessionsFull};
use super::shared_state::{LONGEST_MESSAGE, McpShared};

/// Header with a session of the protocol.
const SESSION: &str = "mcp-session-id";
/// Header with the method of a request without a session.
const METHOD: &str = "mcp-method";
/// Header with the name of a bridge, which belongs to one program whatever sessions it has.
const BRIDGE: &str = "copydesk-bridge";
/// Maximum length of a bridge's name, in bytes.
const LONGEST_BRIDGE: usize = 64;
/// Interval at which a session is checked for having ended by itself.
const LOOK: Duration = Duration::from_secs(30);
/// Seconds after which a person whose sessions are all in use may try again.
const LATER_S: &str = "30";

/// Time limit for withdrawing the requests of an ended session.
const TAKING_BACK: Duration = Duration::from_secs(5);

/// Session in which a request is made.
#[derive(Clone, Debug)]
pub(crate) struct SessionMark(pub(crate) String);

/// Connection of an answer; the token is cancelled when the connection is closed.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerConnection(pub(crate) CancellationToken);

/// Reason that [`McpAuth::watch`] ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchEnd {
    /// End of the session.
    Over,
    /// Stop of the server.
    Stopped,
}

/// Authentication and session checks of the route, applied by [`admit`].
pub(crate) struct McpAuth {
    shared: Arc<McpShared>,
    manager: Arc<LocalSessionManager>,
}

impl McpAuth {
    pub(crate) fn new(shared: Arc<McpShared>, manager: Arc<LocalSessionManager>) -> Self {
        Self { shared, manager }
    }

    async fn pass(&self, headers: &HeaderMap) -> AuthResult<AccessGuard> {
        self.shared.app.application.admit(bearer(headers)).await?.ok_or(AuthError::Unknown)
    }

    async fn close(&self, session: &str) {
        if let Err(error) = self.manager.close_session(&session.into()).await {
            tracing::warn!(%error, "cannot close an MCP session");
        }
    }

    /// Registers a new session, and ends it with its owner's token. An idle session is closed if
    /// the limit is reached.
    async fn begin(self: &Arc<Self>, session: &str, pass: AccessGuard) -> Result<(), SessionsFull> {
        let sessions = &self.shared.sessions;
        match sessions.begin(session, &pass.principal().user) {
            Ok(ended) => {
                for session in ended {
                    tracing::info!(session, "ended an idle MCP session to admit a new one");
                    self.close(&session).await;
                }
            }
            Err(full) => {
                self.close(session).await;
                return Err(full);
            }
        }
        let (mcp_auth, session) = (Arc::clone(self), session.to_owned());
        self.shared.app.tasks.spawn(async move {
            // Calls that wait while the server stops are not given up.
            if mcp_auth.watch(&session, &pass).await == WatchEnd::Over {
                mcp_auth.shared.sessions.end(&session);
            }
            mcp_auth.shared.reads.forget(&pass.principal().user, &session);
        });
        Ok(())
    }

    async fn watch(&self, session: &str, pass: &AccessGuard) -> WatchEnd {
        let id = session.into();
        loop {
            tokio::select! {
                biased;
                () = self.shared.app.stop.cancelled() => return WatchEnd::Stopped,
                _ = pass.ended() => {
                    self.close(session).await;
                    return WatchEnd::Over;
                }
                () = tokio::time::sleep(LOOK) => {
                    if !self.manager.has_session(&id).await.unwrap_or(false) {
                        return WatchEnd::Over;
                    }
                }
            }
        }
    }

    /// Ends a session at its program's wish. The results of its calls have no receiver, so their
    /// requests are withdrawn before this is answered.
    async fn end(&self, session: &str) -> Response {
        if let Some(calls) = self.shared.sessions.end(session) {
            // A call that was approved just now is carried out meanwhile.
            drop(tokio::time::timeout(TAKING_BACK, calls.wait()).await);
        }
        // The status is not 202, of which some clients complain.
        StatusCode::NO_CONTENT.into_response()
    }
}

/// Lets a request through with the pass of its caller, or answers 401, 404, 429 or 503.
pub(crate) async fn admit(
    State(mcp_auth): State<Arc<McpAuth>>,
    mut request: Request,
    next: Next,
) -> Response {
    let pass = match mcp_auth.pass(request.headers()).await {
        Ok(pass) => pass,
        Err(error) => return refusal(&error),
    };
    request = match owned(request, &pass) {
        Ok(request) => request,
        Err(full) => {
            return problem(StatusCode::TOO_MANY_REQUESTS, "rate_limited", &full.to_string());
        }
    };
    let guard = BodyGuard::new(pass.clone(), mcp_auth.shared.app.application.clock.clone());
    request = request.map(|body| guard.of(body));
    let session = named(request.headers(), SESSION).map(str::to_owned);
    let sessions = &mcp_auth.shared.sessions;
    let owner = session.as_deref().and_then(|session| sessions.owner(session));
    if owner.as_ref().is_some_and(|owner| *owner != pass.principal().user) {
        // Another person's session counts as missing.
        return problem(StatusCode::NOT_FOUND, "not_found", "there is no such session");
    }
    let inside = session.filter(|_| owner.is_some());
    if let Some(reader) = reader(request.headers(), inside.as_deref()) {
        request.extensions_mut().insert(reader);
    }
    if let Some(session) = &inside {
        request.extensions_mut().insert(SessionMark(session.clone()));
    }
    let line = CancellationToken::new();
    request.extensions_mut().insert(AnswerConnection(line.clone()));
    request.extensions_mut().insert(pass.clone());
    let line = line.drop_guard();
    let holding = inside.as_deref().and_then(|session| sessions.hold(session));
    let leaves = request.method() == Method::DELETE;
    // In a session the answer begins at once by itself.
    let response = if inside.is_none() && named(request.headers(), METHOD) == Some("tools/call") {
        early_headers::answer(next.run(request)).await
    } else {
        next.run(request).await
    };
    match guard.end() {
        Some(BodyEnd::Access(end)) => return refusal(&end.into()),
        Some(BodyEnd::Stalled) => {
            let detail = "timed out while receiving the body";
            return problem(StatusCode::REQUEST_TIMEOUT, "request_timeout", detail);
        }
        None => {}
    }
    if response.status() == StatusCode::PAYLOAD_TOO_LARGE {
        let detail = format!("a message may have at most {LONGEST_MESSAGE} bytes");
        return problem(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &detail);
    }
    if let Some(session) = inside {
        if leaves && response.status().is_success() {
            return mcp_auth.end(&session).await;
        }
    } else if let Some(begun) = named(response.headers(), SESSION)
        && let Err(full) = mcp_auth.begin(begun, pass).await
    {
        return crowded(full);
    }
    held(response, holding, line)
}

/// Makes a request, and the connection it came over, the caller's.
fn owned(request: Request, pass: &AccessGuard) -> Result<Request, TooManyConnections> {
    let Some(owner) = request.extensions().get::<RequestOwner>().cloned() else {
        return Ok(request);
    };
    owner.is(pass.principal())?;
    owner.transport.end_with(pass.token().clone(), Arc::new(pass.clone()));
    // Its bytes count, and it fails where the person's quota ends.
    let counted = owner.account().cloned().filter(|_| !request.body().is_end_stream());
    Ok(match counted {
        Some(account) => request.map(|body| HeldBody::new(account).of(body)),
        None => request,
    })
}

/// Returns the [`ReadingProgram`] that asks, if it can be distinguished from others.
fn reader(headers: &HeaderMap, session: Option<&str>) -> Option<ReadingProgram> {
    let bridge = named(headers, BRIDGE).filter(|it| (1..=LONGEST_BRIDGE).contains(&it.len()));
    let bridge = bridge.map(|name| ReadingProgram::Bridge(name.to_owned()));
    bridge.or_else(|| session.map(|name| ReadingProgram::Session(name.to_owned())))
}

fn named<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Keeps a session in use, and its connection open, for as long as the answer is read.
fn held(response: Response, holding: Option<SessionUse>, line: DropGuard) -> Response {
    if !is_stream(&response) {
        return response;
    }
    response.map(|body| {
        let pieces = body.into_data_stream().map(move |piece| {
            let _ = (&holding, &line);
            piece
        });
        Body::from_stream(pieces)
    })
}

fn crowded(full: SessionsFull) -> Response {
    let (status, code, detail) = match full {
        SessionsFull::Person => (
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limited",
            "you have the maximum number of MCP sessions, and all are in use; end one (DELETE /mcp) first",
        ),
        SessionsFull::All => (
            StatusCode::SERVICE_UNAVAILABLE,
            "overloaded",
            "this server has its maximum number of MCP sessions, and all are in use; try again later",
        ),
    };
    let mut response = problem(status, code, detail);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(LATER_S));
    response
}

/// Returns the secret of `Authorization: Bearer …`, which may be sent only once.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut lines = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else { return None };
    let (scheme, token) = line.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn refusal(error: &AuthError) -> Response {
    if let AuthError::Store(_) = error {
        tracing::error!(%error, "cannot look up a token");
        let detail = "the token could not be looked up";
        return problem(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail);
    }
    let detail = format!("{error}; send `Authorization: Bearer TOKEN`");
    let mut response = problem(StatusCode::UNAUTHORIZED, "unauthorized", &detail);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// Returns a problem document (RFC 9457).
fn problem(status: StatusCode, code: &str, detail: &str) -> Response {
    let title = status.canonical_reason().unwrap_or_default();
    let body = json!({
        "type": "about:blank",
        "title": title,
        "status": status.as_u16(),
        "detail": detail,
        "code": code,
    });
    let kind = [(header::CONTENT_TYPE, "application/problem+json")];
    (status, kind, body.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_as_bearer_and_only_once() {
        let read = |lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::AUTHORIZATION, line.parse().unwrap());
            }
            bearer(&headers).map(str::to_owned)
        };
        assert_eq!(read(&["Bearer abc"]).as_deref(), Some("abc"));
        assert_eq!(read(&["bearer  abc "]).as_deref(), Some("abc"));
        assert_eq!([read(&[]), read(&["abc"]), read(&["Basic YTpi"])], [None, None, None]);
        assert_eq!(read(&["Bearer abc", "Bearer abc"]), None);
    }
}
