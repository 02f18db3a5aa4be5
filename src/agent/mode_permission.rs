//! Which permission modes a person's runs may have, and which they have when they name none.

use crate::ids::DocumentId;
use crate::permissions::{Action, Principal};

use super::service::AgentDeps;
use super::{AgentService, AskError, BypassPolicy, PermissionMode};

impl AgentService {
    /// Whether a person's runs may have this permission mode.
    ///
    /// # Errors
    /// As [`AgentService::ask`] would refuse it.
    pub fn check_mode(
        &self,
        mode: PermissionMode,
        asker: &Principal,
        document: Option<&DocumentId>,
    ) -> Result<(), AskError> {
        self.shared.check_mode(mode, asker, document)
    }

    /// The permission modes that a person's runs may name.
    pub fn modes(&self, asker: &Principal, document: Option<&DocumentId>) -> Vec<String> {
        let may = |mode: &PermissionMode| self.check_mode(*mode, asker, document).is_ok();
        PermissionMode::ALL.into_iter().filter(may).map(|mode| mode.to_string()).collect()
    }

    /// The permission mode of a person's runs that name none: the server's, if they may have that.
    pub fn default_mode(&self, asker: &Principal, document: Option<&DocumentId>) -> PermissionMode {
        let mode = self.shared.rooms.settings().permission_mode;
        let may = self.check_mode(mode, asker, document).is_ok();
        if may { mode } else { PermissionMode::Sdk }
    }
}

impl AgentDeps {
    /// Whether a person's runs may have this permission mode.
    pub fn check_mode(
        &self,
        mode: PermissionMode,
        asker: &Principal,
        document: Option<&DocumentId>,
    ) -> Result<(), AskError> {
        match mode {
            PermissionMode::Sdk | PermissionMode::ToolApproval => Ok(()),
            PermissionMode::BypassPermissions => {
                let may = asker.may(Action::Bypass, document);
                if may && self.bypass == BypassPolicy::Allowed {
                    Ok(())
                } else {
                    Err(AskError::BypassNotAllowed)
                }
            }
            PermissionMode::McpProxy if self.models.has_cli() => Ok(()),
            PermissionMode::McpProxy => Err(AskError::NoCli),
        }
    }
}
