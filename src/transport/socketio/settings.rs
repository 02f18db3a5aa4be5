//! Events about the server's settings.

use serde::Serialize;

use crate::permissions::Action;
use crate::transport::protocol::client::{Nothing, SetSettings};
use crate::transport::protocol::convert;
use crate::transport::protocol::server::Settings;

use super::SocketConnection;
use super::socket_error::SocketError;

#[derive(Serialize)]
pub(crate) struct ServerSettingsAck {
    settings: Settings,
}

pub(crate) async fn get(
    connection: &mut SocketConnection,
    _: Nothing,
) -> Result<ServerSettingsAck, SocketError> {
    Ok(ServerSettingsAck { settings: connection.door.settings() })
}

pub(crate) async fn set(
    connection: &mut SocketConnection,
    payload: SetSettings,
) -> Result<ServerSettingsAck, SocketError> {
    if !connection.principal.may(Action::Administer, None) {
        return Err(SocketError::not_allowed());
    }
    let settings = convert::server_settings(&payload, connection.door.rooms.settings())
        .map_err(SocketError::invalid)?;
    if payload.permission_mode.is_some() {
        let mode = settings.permission_mode;
        connection.door.agents.check_mode(mode, &connection.principal, None)?;
    }
    connection.door.rooms.set_settings(settings, &connection.principal).await?;
    Ok(ServerSettingsAck { settings: connection.door.settings() })
}
