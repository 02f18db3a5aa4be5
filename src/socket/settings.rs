//! Events about the server's settings.

use serde::Serialize;

use crate::who::Action;
use crate::wire::client::{Nothing, SetSettings};
use crate::wire::convert;
use crate::wire::server::Settings;

use super::Connection;
use super::refusal::Refusal;

#[derive(Serialize)]
pub(super) struct Answer {
    settings: Settings,
}

pub(super) async fn get(connection: &mut Connection, _: Nothing) -> Result<Answer, Refusal> {
    Ok(Answer { settings: connection.door.settings() })
}

pub(super) async fn set(
    connection: &mut Connection,
    payload: SetSettings,
) -> Result<Answer, Refusal> {
    if !connection.principal.may(Action::Administer, None) {
        return Err(Refusal::not_allowed());
    }
    let settings = convert::server_settings(&payload, connection.door.rooms.settings())
        .map_err(Refusal::invalid)?;
    if payload.permission_mode.is_some() {
        let mode = settings.permission_mode;
        connection.door.agents.check_mode(mode, &connection.principal, None)?;
    }
    connection.door.rooms.set_settings(settings, &connection.principal).await?;
    Ok(Answer { settings: connection.door.settings() })
}
