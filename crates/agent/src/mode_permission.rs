//! Permission modes that a person's runs may have, and the default.

use copydesk_ids::DocumentId;
use copydesk_ids::permissions::{Action, Principal};
use copydesk_rooms::command::ApprovalMode;

use super::{AgentService, AskError, AskResult, BypassPolicy, PermissionMode};

/// Returns how the changes of a run in this permission mode are approved.
pub fn approval_mode(mode: PermissionMode) -> ApprovalMode {
    match mode {
        PermissionMode::Bypass => ApprovalMode::Bypass,
        PermissionMode::Ask | PermissionMode::PlanFirst | PermissionMode::ClaudeCli => {
            ApprovalMode::Ask
        }
    }
}

/// Returns what a person must be allowed to do whose run has this permission mode.
pub fn needed_action(mode: PermissionMode) -> Action {
    match mode {
        PermissionMode::Bypass => Action::Bypass,
        PermissionMode::Ask | PermissionMode::PlanFirst | PermissionMode::ClaudeCli => Action::Ask,
    }
}

impl AgentService {
    /// Returns the permission modes that a person's runs may name.
    pub fn modes(&self, asker: &Principal, document: Option<&DocumentId>) -> Vec<PermissionMode> {
        let may = |mode: &PermissionMode| self.check_mode(*mode, asker, document).is_ok();
        PermissionMode::ALL.into_iter().filter(may).collect()
    }

    /// Returns the permission mode of runs that name none: the server's, if the person may have it,
    /// otherwise [`PermissionMode::Ask`].
    pub fn default_mode(&self, asker: &Principal, document: Option<&DocumentId>) -> PermissionMode {
        let mode = self.rooms.settings().permission_mode;
        let may = self.check_mode(mode, asker, document).is_ok();
        if may { mode } else { PermissionMode::Ask }
    }

    /// Checks if a person's runs may have this permission mode.
    ///
    /// # Errors
    /// [`AskError::BypassNotAllowed`] if approvals may not be skipped here or by this person,
    /// [`AskError::NoCli`] for [`PermissionMode::ClaudeCli`] without a Claude CLI.
    pub fn check_mode(
        &self,
        mode: PermissionMode,
        asker: &Principal,
        document: Option<&DocumentId>,
    ) -> AskResult<()> {
        match mode {
            PermissionMode::Ask | PermissionMode::PlanFirst => Ok(()),
            PermissionMode::Bypass => {
                let may = asker.may(Action::Bypass, document);
                if may && self.bypass == BypassPolicy::Allowed {
                    Ok(())
                } else {
                    Err(AskError::BypassNotAllowed)
                }
            }
            PermissionMode::ClaudeCli if self.models.has_cli() => Ok(()),
            PermissionMode::ClaudeCli => Err(AskError::NoCli),
        }
    }
}
