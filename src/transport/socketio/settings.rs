//! Events about the server's settings.

use std::future::ready;

use serde::Serialize;

use crate::api::{ApiError, NewSettings};
use crate::transport::protocol::client::{Nothing, SetSettings};
use crate::transport::protocol::convert;
use crate::transport::protocol::server::Settings;

use super::SocketConnection;
use super::socket_error::SocketResult;

#[derive(Serialize)]
pub(crate) struct ServerSettingsAck {
    settings: Settings,
}

pub(crate) async fn get(
    connection: &mut SocketConnection,
    _: Nothing,
) -> SocketResult<ServerSettingsAck> {
    Ok(ServerSettingsAck { settings: connection.app.settings() })
}

pub(crate) async fn set(
    connection: &mut SocketConnection,
    payload: SetSettings,
) -> SocketResult<ServerSettingsAck> {
    let names_mode = payload.permission_mode.is_some();
    let settings = convert::server_settings(&payload, connection.caller.api.rooms.settings());
    let wanted = settings.map(|settings| NewSettings { settings, names_mode });
    let wanted = ready(wanted.map_err(ApiError::invalid));
    let settings = connection.caller.set_settings(wanted).await?;
    Ok(ServerSettingsAck { settings: convert::settings(&settings) })
}
