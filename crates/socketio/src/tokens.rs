//! Events about tokens: issue, list, name, revoke, and tie to a login. For owners.

use std::future::ready;

use copydesk_engine::api::{ApiError, Caller};
use copydesk_protocol::client::{IssueToken, NameToken, Nothing, RevokeToken, TieToken};
use copydesk_protocol::convert;
use copydesk_protocol::server::{IssuedToken, NamedPerson, Person, TokenList};

use super::SocketConnection;
use super::socket_error::SocketResult;

/// Answers `token:issue`: issues a token.
///
/// # Errors
/// `not_allowed` for people other than owners, `invalid_payload` for a name or duration that is not
/// accepted, `not_found`, `too_many_tokens`; see [`Caller::issue_token`].
pub async fn issue(
    connection: &mut SocketConnection,
    payload: IssueToken,
) -> SocketResult<IssuedToken> {
    let caller = &connection.caller;
    let grant = convert::grant(payload, caller.api.clock.now_ms()).map_err(ApiError::from);
    let issued = caller.issue_token(ready(grant)).await?;
    Ok(convert::issued(&issued, &connection.reached_at))
}

/// Answers `token:list`: returns all tokens, without their secrets.
///
/// # Errors
/// `not_allowed` for people other than owners; see [`Caller::tokens`].
pub async fn list(caller: &Caller, _: Nothing) -> SocketResult<TokenList> {
    let (tokens, logins) = (caller.tokens().await?, caller.logins().await?);
    Ok(convert::token_list(tokens, logins, &caller.token, caller.api.clock.now_ms()))
}

/// Names the asking person. What this connection does from now on is under that name; where it has
/// come in already, others see it once the person connects again.
///
/// # Errors
/// `not_allowed` for people other than owners, `invalid_payload` for an empty or too long name; see
/// [`Caller::name_token`].
pub async fn name(
    connection: &mut SocketConnection,
    payload: NameToken,
) -> SocketResult<NamedPerson> {
    let name = connection.caller.name_token(&payload.name).await?;
    connection.caller.principal.name.clone_from(&name);
    let id = connection.caller.principal.user.to_string();
    Ok(NamedPerson { user: Person { id, name } })
}

/// Answers `token:revoke`: revokes a token.
///
/// # Errors
/// `not_found` for an unknown token, `not_allowed` for the owner's token and for people other than
/// owners; see [`Caller::revoke_token`].
pub async fn revoke(caller: &Caller, payload: RevokeToken) -> SocketResult<()> {
    Ok(caller.revoke_token(&payload.id.into()).await?)
}

/// Answers `token:tie`: ties a token to a login.
///
/// # Errors
/// `not_found` for an unknown token or login, `already_exists` for a token of another login,
/// `not_allowed` for people other than owners; see [`Caller::tie_token`].
pub async fn tie(caller: &Caller, payload: TieToken) -> SocketResult<()> {
    Ok(caller.tie_token(ready(Ok(convert::tie(payload)))).await?)
}
