//! Events about the server's settings and the remembered rules.

use serde::Serialize;

use crate::who::Action;
use crate::wire::client::{Nothing, RevokeRule, SetSettings};
use crate::wire::server::Settings;

use super::Connection;
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
    if payload.permission_mode.as_deref().is_some_and(|mode| mode != "sdk") {
        return Err(Refusal::invalid("new runs start in mode `sdk`; name another one in each run"));
    }
    connection.door.rooms.set_settings(settings, &connection.principal).await?;
    Ok(Answer { settings: connection.door.settings() })
}

#[derive(Serialize)]
pub(super) struct Rules {
    rules: [(); 0],
}

/// No decision can create a rule yet, so there are none.
pub(super) async fn list_rules(_: &mut Connection, _: Nothing) -> Result<Rules, Refusal> {
    Ok(Rules { rules: [] })
}

pub(super) async fn revoke_rule(
    _: &mut Connection,
    payload: RevokeRule,
) -> Result<super::Done, Refusal> {
    Err(Refusal::not_found(&format!("rule `{}`", super::shown(&payload.id))))
}
