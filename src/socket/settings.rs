//! Events about the server's settings.

use serde::Serialize;

use crate::room::settings::{Approvals, PermissionMode};
use crate::who::Action;
use crate::wire::client::{Nothing, SetSettings};
use crate::wire::server::Settings;

use super::Connection;
use super::agent::permission_mode;
use super::documents::approvals;
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
    let mut settings = connection.door.rooms.settings();
    if let Some(name) = payload.approvals.as_deref() {
        settings.approvals = approvals(name)?;
    }
    if let Some(seconds) = payload.timeout_seconds {
        settings.timeout_ms = seconds.saturating_mul(1_000);
    }
    if let Some(mode) = permission_mode(payload.permission_mode.as_deref())? {
        connection.door.agents.check_mode(mode, &connection.principal, None)?;
        settings.permission_mode = mode;
    }
    // To ask and not to ask exclude each other: whoever switches approvals on ends what skips them.
    if payload.approvals.is_some()
        && settings.approvals == Approvals::On
        && settings.permission_mode == PermissionMode::BypassPermissions
    {
        if payload.permission_mode.is_some() {
            let reason =
                "`approvals: on` and `permission_mode: bypassPermissions` exclude each other";
            return Err(Refusal::invalid(reason));
        }
        settings.permission_mode = PermissionMode::Sdk;
    }
    connection.door.rooms.set_settings(settings, &connection.principal).await?;
    Ok(Answer { settings: connection.door.settings() })
}
