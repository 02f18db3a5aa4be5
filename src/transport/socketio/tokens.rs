//! Events about tokens: issue, list and revoke. For owners.

use crate::auth::TokenGrant;
use crate::permissions::Action;
use crate::transport::protocol::client::{IssueToken, Nothing, RevokeToken};
use crate::transport::protocol::convert;
use crate::transport::protocol::server::{IssuedToken, TokenList};

use super::socket_error::SocketError;
use super::{EmptyAck, SocketConnection};

pub(crate) async fn issue(
    connection: &mut SocketConnection,
    payload: IssueToken,
) -> Result<IssuedToken, SocketError> {
    administers(connection)?;
    let IssueToken { role, name, document_id, expires_in } = payload;
    let now_ms = connection.door.clock.now_ms();
    let grant = TokenGrant::read(&role, &name, document_id, expires_in.as_deref(), now_ms)?;
    let issued = connection.door.auth.issue(grant, &connection.principal.user, now_ms).await?;
    Ok(convert::issued(&issued, &connection.reached_at))
}

pub(crate) async fn list(
    connection: &mut SocketConnection,
    _: Nothing,
) -> Result<TokenList, SocketError> {
    administers(connection)?;
    let tokens = connection.door.auth.tokens().await?;
    Ok(convert::token_list(tokens, connection.pass.token(), connection.door.clock.now_ms()))
}

pub(crate) async fn revoke(
    connection: &mut SocketConnection,
    payload: RevokeToken,
) -> Result<EmptyAck, SocketError> {
    administers(connection)?;
    let (auth, now_ms) = (&connection.door.auth, connection.door.clock.now_ms());
    auth.revoke(&payload.id.into(), &connection.principal.user, now_ms).await?;
    Ok(EmptyAck {})
}

fn administers(connection: &SocketConnection) -> Result<(), SocketError> {
    let may = connection.principal.may(Action::Administer, None);
    if may { Ok(()) } else { Err(SocketError::not_allowed()) }
}
