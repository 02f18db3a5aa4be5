//! Tokens: `POST`, `GET /api/v1/tokens` and `DELETE /api/v1/tokens/{id}`. For owners.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::HttpState;
use super::problem::Problem;
use crate::auth::TokenGrant;
use crate::permissions::Action;
use crate::transport::protocol::client::IssueToken;
use crate::transport::protocol::convert;
use crate::transport::protocol::server::TokenList;
use crate::transport::rest::middleware::auth_session::Authenticated;
use crate::transport::rest::middleware::body;
use crate::transport::rest::middleware::pagination::PathId;

/// Maximum body of a request for a token, in bytes.
pub(crate) const BODY_LIMIT_BYTES: usize = 16 * 1024;

/// Issues a token. The answer is the only place that ever shows its secret.
pub(crate) async fn issue(
    State(door): State<HttpState>,
    caller: Authenticated,
    request: Request,
) -> Result<Response, Problem> {
    caller.must(Action::Administer)?;
    let reached_at = reached_at(request.headers());
    let IssueToken { role, name, document_id, expires_in } = body::read(request).await?;
    let now_ms = door.clock.now_ms();
    let grant = TokenGrant::read(&role, &name, document_id, expires_in.as_deref(), now_ms)?;
    let issued = door.auth.issue(grant, &caller.principal.user, now_ms).await?;
    let headers = [
        (header::LOCATION, format!("/api/v1/tokens/{}", issued.token)),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((StatusCode::CREATED, headers, Json(convert::issued(&issued, &reached_at))).into_response())
}

/// Lists all tokens, without their secrets.
pub(crate) async fn list(
    State(door): State<HttpState>,
    caller: Authenticated,
) -> Result<Json<TokenList>, Problem> {
    caller.must(Action::Administer)?;
    let tokens = door.auth.tokens().await?;
    Ok(Json(convert::token_list(tokens, &caller.token, door.clock.now_ms())))
}

/// Revokes a token, and closes the connections made with it before this is answered.
pub(crate) async fn revoke(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(id): PathId<String>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::Administer)?;
    door.auth.revoke(&id.into(), &caller.principal.user, door.clock.now_ms()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the address by which the caller reaches the server, for links.
fn reached_at(headers: &HeaderMap) -> String {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    convert::reached_at(text(header::ORIGIN), text(header::HOST))
}
