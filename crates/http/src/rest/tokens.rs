//! Tokens, for owners; and signing in and out.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::problem::RestResult;
use crate::rest::http_state::HttpState;
use crate::rest::middleware::body;
use crate::rest::middleware::pagination::PathId;
use copydesk_engine::api::Caller;
use copydesk_engine::ids::TokenId;
use copydesk_protocol::convert;
use copydesk_protocol::rest::SignInOffer;
use copydesk_protocol::server::TokenList;

/// Maximum body of a request for a token, in bytes.
pub(crate) const BODY_LIMIT_BYTES: usize = 16 * 1024;

/// Issues a token. The answer is the only place that ever shows its secret.
///
/// # Errors
/// 403 `not_allowed` for people other than owners, 422 `invalid_request` for a name or duration
/// that is not accepted, 409 `too_many_tokens` at the limit; those of [`body::read`].
pub async fn issue(caller: Caller, request: Request) -> RestResult<Response> {
    let reached_at = reached_at(request.headers());
    let grant = async {
        let wish = body::read(request).await?;
        Ok(convert::grant(wish, caller.api.clock.now_ms())?)
    };
    let issued = caller.issue_token(grant).await?;
    let headers = [
        (header::LOCATION, format!("/api/v1/tokens/{}", issued.token)),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    Ok((StatusCode::CREATED, headers, Json(convert::issued(&issued, &reached_at))).into_response())
}

/// Lists all tokens, without their secrets.
///
/// # Errors
/// 403 `not_allowed` for people other than owners; see [`Caller::tokens`].
pub async fn list(caller: Caller) -> RestResult<Json<TokenList>> {
    let (tokens, logins) = (caller.tokens().await?, caller.logins().await?);
    Ok(Json(convert::token_list(tokens, logins, &caller.token, caller.api.clock.now_ms())))
}

/// Revokes a token, and closes the connections made with it before this is answered.
///
/// # Errors
/// 404 `not_found` for an unknown token, 403 `not_allowed` for the owner's token and for people
/// other than owners; see [`Caller::revoke_token`].
pub async fn revoke(caller: Caller, PathId(id): PathId<TokenId>) -> RestResult<StatusCode> {
    caller.revoke_token(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ties a token to a login: both are one person from now on.
///
/// # Errors
/// 404 `not_found` for an unknown token or login, 409 `already_exists` for a token of another
/// login, 403 `not_allowed` for people other than owners; see [`Caller::tie_token`].
pub async fn tie(
    caller: Caller,
    PathId(id): PathId<TokenId>,
    request: Request,
) -> RestResult<StatusCode> {
    let wish = async { Ok(convert::tie(body::read_about(request, "id", id.as_str()).await?)) };
    caller.tie_token(wish).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns where a browser can sign in; needs no token.
pub async fn sign_in_offer(State(app): State<HttpState>) -> Json<SignInOffer> {
    Json(SignInOffer { url: app.api.sign_in_url().map(str::to_owned) })
}

/// Signs the caller out.
///
/// # Errors
/// 403 `not_allowed` for a token that an owner has issued; see [`Caller::sign_out`]; those of
/// [`body::read_empty`].
pub async fn sign_out(caller: Caller, request: Request) -> RestResult<StatusCode> {
    body::read_empty(request).await?;
    caller.sign_out().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the address by which the caller reaches the server, for links.
fn reached_at(headers: &HeaderMap) -> String {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    convert::reached_at(text(header::ORIGIN), text(header::HOST))
}
