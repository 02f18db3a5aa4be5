//! Events about tokens: issue, list and revoke. For owners.

use std::future::ready;

use crate::api::ApiError;
use crate::auth::TokenGrant;
use crate::transport::protocol::client::{IssueToken, Nothing, RevokeToken};
use crate::transport::protocol::convert;
use crate::transport::protocol::server::{IssuedToken, TokenList};

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

pub(crate) async fn revoke(
    connection: &mut SocketConnection,
    payload: RevokeToken,
) -> SocketResult<EmptyAck> {
    connection.caller.revoke_token(&payload.id.into()).await?;
    Ok(EmptyAck {})
}
