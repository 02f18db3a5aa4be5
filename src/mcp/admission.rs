//! Who comes in: a token for every request, and sessions that nobody else can use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::json;

use crate::auth::{Auth, AuthError, Pass};
use crate::ids::UserId;

use super::Door;

/// Names a session of the protocol.
const SESSION: &str = "mcp-session-id";
/// Sessions there may be at once.
const MOST_SESSIONS: usize = 1_000;
/// How often a session is looked at that may have ended by itself.
const LOOK: Duration = Duration::from_secs(30);

/// Lets people in.
pub(super) struct Gate {
    door: Door,
    sessions: Arc<LocalSessionManager>,
    /// Whose each session is.
    owners: Mutex<HashMap<String, UserId>>,
}

impl Gate {
    pub(super) fn new(door: Door, sessions: Arc<LocalSessionManager>) -> Self {
        Self { door, sessions, owners: Mutex::default() }
    }

    async fn pass(&self, headers: &HeaderMap) -> Result<Pass, AuthError> {
        if let Some(everyone) = &self.door.everyone {
            return Ok(Auth::everyone(everyone.clone()));
        }
        let secret = bearer(headers).ok_or(AuthError::Unknown)?;
        self.door.auth.admit(secret, self.door.clock.now_ms()).await
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<String, UserId>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers whose a new session is, and ends it with their token.
    fn watch(self: &Arc<Self>, session: &HeaderValue, pass: Pass) {
        let Ok(session) = session.to_str().map(str::to_owned) else { return };
        self.owners().insert(session.clone(), pass.principal().user.clone());
        let gate = Arc::clone(self);
        self.door.tasks.spawn(async move {
            let id = session.as_str().into();
            loop {
                tokio::select! {
                    () = gate.door.stop.cancelled() => break,
                    _ = pass.ended() => {
                        if let Err(error) = gate.sessions.close_session(&id).await {
                            tracing::warn!(%error, "an MCP session could not be closed");
                        }
                        break;
                    }
                    () = tokio::time::sleep(LOOK) => {
                        if !gate.sessions.has_session(&id).await.unwrap_or(false) {
                            break;
                        }
                    }
                }
            }
            gate.owners().remove(&session);
        });
    }
}

/// Lets a request through with the pass of whoever makes it, or answers 401, 404 or 503.
pub(super) async fn admit(
    State(gate): State<Arc<Gate>>,
    mut request: Request,
    next: Next,
) -> Response {
    let pass = match gate.pass(request.headers()).await {
        Ok(pass) => pass,
        Err(error) => return refusal(&error),
    };
    let session = request.headers().get(SESSION).and_then(|it| it.to_str().ok()).map(str::to_owned);
    match &session {
        Some(session) => {
            let owner = gate.owners().get(session).cloned();
            if owner.is_some_and(|owner| owner != pass.principal().user) {
                // As if it were not there.
                return problem(StatusCode::NOT_FOUND, "not_found", "there is no such session");
            }
        }
        None if gate.owners().len() >= MOST_SESSIONS => {
            let detail = "too many MCP sessions are open; close some first";
            return problem(StatusCode::SERVICE_UNAVAILABLE, "overloaded", detail);
        }
        None => {}
    }
    request.extensions_mut().insert(pass.clone());
    let response = next.run(request).await;
    if session.is_none()
        && let Some(begun) = response.headers().get(SESSION)
    {
        gate.watch(begun, pass);
    }
    response
}

/// The secret of `Authorization: Bearer …`, sent once.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut lines = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else { return None };
    let (scheme, token) = line.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn refusal(error: &AuthError) -> Response {
    if let AuthError::Store(_) = error {
        tracing::error!(%error, "a token could not be looked up");
        let detail = "the token could not be looked up";
        return problem(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail);
    }
    let detail = format!("{error}; send `Authorization: Bearer TOKEN`");
    let mut response = problem(StatusCode::UNAUTHORIZED, "unauthorized", &detail);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// A problem document (RFC 9457).
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
