//! Events about the server's settings.

use std::future::ready;

use serde::Serialize;

use copydesk_engine::api::{ApiError, Caller};
use copydesk_protocol::client::{Nothing, SetSettings};
use copydesk_protocol::convert;
use copydesk_protocol::server::Settings;

use super::socket_error::SocketResult;

#[derive(Serialize)]
pub(crate) struct ServerSettingsAck {
    settings: Settings,
}

/// Answers `settings:get`: returns the server's settings.
///
/// # Errors
/// None; the settings are at hand.
pub async fn get(caller: &Caller, _: Nothing) -> SocketResult<ServerSettingsAck> {
    Ok(ServerSettingsAck { settings: convert::settings(&caller.api.rooms.settings()) })
}

/// Answers `settings:set`: changes the server's settings.
///
/// # Errors
/// `not_allowed` for people other than owners or a mode not offered to them, `unsupported` without
/// a Claude CLI, `invalid_payload` if approvals are asked for and skipped; see
/// [`Caller::set_settings`].
pub async fn set(caller: &Caller, payload: SetSettings) -> SocketResult<ServerSettingsAck> {
    let wanted = convert::server_settings(&payload, caller.api.rooms.settings());
    let settings = caller.set_settings(ready(wanted.map_err(ApiError::invalid))).await?;
    Ok(ServerSettingsAck { settings: convert::settings(&settings) })
}
