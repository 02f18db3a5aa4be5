//! Event about the token of the connection.

use copydesk_api::Caller;
use copydesk_ids::permissions::Action;
use copydesk_protocol::client::NameToken;
use copydesk_protocol::server::{NamedPerson, Person};

use super::SocketConnection;
use super::socket_error::SocketResult;

/// Names the asking person. What this connection does from now on is under that name; where it is
/// in already, others see it once the person connects again.
pub async fn name(
    connection: &mut SocketConnection,
    payload: NameToken,
) -> SocketResult<NamedPerson> {
    connection.caller.require(Action::Administer)?;
    let Caller { application, principal, token, .. } = &mut connection.caller;
    let now_ms = application.clock.now_ms();
    let name = application.auth.name(token, &payload.name, &principal.user, now_ms).await?;
    principal.name.clone_from(&name);
    let id = principal.user.to_string();
    Ok(NamedPerson { user: Person { id, name } })
}
