//! Events about tokens: who else is let in, and who no longer is. For owners.

use crate::auth::Grant;
use crate::who::Action;
use crate::wire::client::{IssueToken, Nothing, RevokeToken};
use crate::wire::convert;
use crate::wire::server::{IssuedToken, TokenList};

use super::refusal::Refusal;
use super::{Connection, Done};

pub(super) async fn issue(
    connection: &mut Connection,
    payload: IssueToken,
) -> Result<IssuedToken, Refusal> {
    administers(connection)?;
    let IssueToken { role, name, document_id, expires_in } = payload;
    let now_ms = connection.door.clock.now_ms();
    let grant = Grant::read(&role, &name, document_id, expires_in.as_deref(), now_ms)?;
    let issued = connection.door.auth.issue(grant, &connection.principal.user, now_ms).await?;
    Ok(convert::issued(&issued, &connection.reached_at))
}

pub(super) async fn list(connection: &mut Connection, _: Nothing) -> Result<TokenList, Refusal> {
    administers(connection)?;
    let tokens = connection.door.auth.tokens().await?;
    Ok(convert::token_list(tokens, connection.pass.token(), connection.door.clock.now_ms()))
}

pub(super) async fn revoke(
    connection: &mut Connection,
    payload: RevokeToken,
) -> Result<Done, Refusal> {
    administers(connection)?;
    let (auth, now_ms) = (&connection.door.auth, connection.door.clock.now_ms());
    auth.revoke(&payload.id.into(), &connection.principal.user, now_ms).await?;
    Ok(Done {})
}

fn administers(connection: &Connection) -> Result<(), Refusal> {
    let may = connection.principal.may(Action::Administer, None);
    if may { Ok(()) } else { Err(Refusal::not_allowed()) }
}
