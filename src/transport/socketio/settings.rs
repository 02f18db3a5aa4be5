//! Events about the server's settings.

use std::future::ready;

use serde::Serialize;

use crate::api::{ApiError, Caller};
use crate::transport::protocol::client::{Nothing, SetSettings};
use crate::transport::protocol::convert;
use crate::transport::protocol::server::Settings;

use super::socket_error::SocketResult;

#[derive(Serialize)]
pub(crate) struct ServerSettingsAck {
    settings: Settings,
}

pub async fn get(caller: &Caller, _: Nothing) -> SocketResult<ServerSettingsAck> {
    Ok(ServerSettingsAck { settings: convert::settings(&caller.api.rooms.settings()) })
}

pub async fn set(caller: &Caller, payload: SetSettings) -> SocketResult<ServerSettingsAck> {
    let wanted = convert::server_settings(&payload, caller.api.rooms.settings());
    let settings = caller.set_settings(ready(wanted.map_err(ApiError::invalid))).await?;
    Ok(ServerSettingsAck { settings: convert::settings(&settings) })
}
