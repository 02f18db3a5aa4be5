//! Events about tokens: issue, list, name and revoke. For owners.

use std::future::ready;

use crate::api::ApiError;
use crate::auth::TokenGrant;
use crate::transport::protocol::client::{IssueToken, NameToken, Nothing, RevokeToken};
use crate::transport::protocol::convert;
use crate::transport::protocol::server::{IssuedToken, NamedPerson, Person, TokenList};

use super::socket_error::SocketResult;
use super::{EmptyAck, SocketConnection};

pub(crate) async fn issue(
    connection: &mut SocketConnection,
    payload: IssueToken,
) -> SocketResult<IssuedToken> {
    let IssueToken { role, name, document_id, expires_in } = payload;
    let (expires_in, now_ms) = (expires_in.as_deref(), connection.caller.api.clock.now_ms());
    let grant = TokenGrant::read(role.into(), &name, document_id, expires_in, now_ms);
    let grant = ready(grant.map_err(ApiError::from));
    let issued = connection.caller.issue_token(grant).await?;
    Ok(convert::issued(&issued, &connection.reached_at))
}

pub(crate) async fn list(connection: &mut SocketConnection, _: Nothing) -> SocketResult<TokenList> {
    let caller = &connection.caller;
    let tokens = caller.tokens().await?;
    Ok(convert::token_list(tokens, &caller.token, caller.api.clock.now_ms()))
}

/// Names the asking person. What this connection does from now on is under that name; where it has
/// come in already, others see it once the person connects again.
pub(crate) async fn name(
    connection: &mut SocketConnection,
    payload: NameToken,
) -> SocketResult<NamedPerson> {
    let name = connection.caller.name_token(&payload.name).await?;
    connection.caller.principal.name.clone_from(&name);
    let id = connection.caller.principal.user.to_string();
    Ok(NamedPerson { user: Person { id, name } })
}

pub(crate) async fn revoke(
    connection: &mut SocketConnection,
    payload: RevokeToken,
) -> SocketResult<EmptyAck> {
    connection.caller.revoke_token(&payload.id.into()).await?;
    Ok(EmptyAck {})
}
