//! Settings with which a server starts: its options, and earlier settings of an owner as far as
//! they are still offered.

use copydesk_agent::ModelCatalog;
use copydesk_api::webhooks::AddressPolicy;
use copydesk_approvals::ApprovalSwitch;
use copydesk_commands::config::ServerConfig;
use copydesk_rooms::settings::{PermissionMode, ServerSettings};
use copydesk_rooms::{RoomRegistry, RoomResult};

/// Returns the [`ServerSettings`] that the options give.
pub(super) fn started_with(config: &ServerConfig) -> ServerSettings {
    let off = config.approvals == Some(false);
    if off {
        tracing::warn!("TOOL_APPROVAL_ENABLED=false: changes are applied without asking");
    }
    ServerSettings {
        approvals: if off { ApprovalSwitch::Off } else { ApprovalSwitch::On },
        timeout_ms: config.approval_timeout_s.map(|seconds| seconds.saturating_mul(1_000)),
        permission_mode: PermissionMode::default(),
    }
}

/// Returns the [`AddressPolicy`] for the addresses of webhooks.
pub(super) fn address_policy(config: &ServerConfig) -> AddressPolicy {
    if config.allow_private_webhooks { AddressPolicy::Everywhere } else { AddressPolicy::Public }
}

/// Restores the settings that an owner had made in the running server before.
pub(super) async fn recall(
    rooms: &RoomRegistry,
    config: &ServerConfig,
    models: &ModelCatalog,
) -> RoomResult<()> {
    let started_with = rooms.settings();
    let offers = |mode| match mode {
        PermissionMode::Bypass => config.allow_bypass,
        PermissionMode::ClaudeCli => models.has_cli(),
        PermissionMode::Ask | PermissionMode::PlanFirst => true,
    };
    let set_aside = rooms.recall_settings(offers, config.approvals == Some(true)).await?;
    if rooms.settings() != started_with {
        tracing::info!(settings = ?rooms.settings(), "using settings saved by an owner");
    }
    match set_aside {
        Some(PermissionMode::Bypass) => {
            tracing::warn!("skipping approvals by default needs --allow-bypass: using review");
        }
        Some(mode) => {
            tracing::warn!(%mode, "permission mode not available on this server: using review");
        }
        None => {}
    }
    Ok(())
}
