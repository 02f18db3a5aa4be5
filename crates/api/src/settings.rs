//! Settings of the server, and the permission modes that a person may choose from.

use copydesk_agent::PermissionMode;
use copydesk_ids::permissions::Principal;
use copydesk_macros::boxed;
use copydesk_rooms::settings::ServerSettings;

use super::{ApiResult, Application, Caller};

/// Settings that an owner wants.
#[derive(Clone, Debug)]
pub struct NewSettings {
    /// All settings, changed or not.
    pub settings: ServerSettings,
    /// `true` if the permission mode is one that the owner named.
    pub names_mode: bool,
}

impl Application {
    /// Returns the default permission mode of a person, in their document for a token of one.
    pub fn default_mode(&self, person: &Principal) -> PermissionMode {
        self.agents.default_mode(person, person.document.as_ref())
    }

    /// Returns the permission modes that a person may choose from.
    pub fn permission_modes(&self, person: &Principal) -> Vec<PermissionMode> {
        self.agents.modes(person, person.document.as_ref())
    }
}

impl Caller {
    /// Changes the settings of the server, for owners, and returns those in force.
    ///
    /// # Errors
    /// [`NotAllowed`](super::ErrorCode::NotAllowed) for a mode that skips approvals without
    /// `--allow-bypass`; [`Unsupported`](super::ErrorCode::Unsupported) without a Claude CLI.
    #[boxed]
    pub async fn set_settings(&self, wanted: NewSettings) -> ApiResult<ServerSettings> {
        let NewSettings { settings, names_mode } = wanted;
        if names_mode {
            self.application.agents.check_mode(settings.permission_mode, &self.principal, None)?;
        }
        self.application.rooms.set_settings(settings, &self.principal).await?;
        Ok(self.application.rooms.settings())
    }
}
