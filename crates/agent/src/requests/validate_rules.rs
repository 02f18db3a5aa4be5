//! Validates owners' rules and policies for rooms, which do not know the tools.

use async_recursion::async_recursion as boxed;
use copydesk_rooms::command::{NewRule, SettingsChange};
use copydesk_rooms::{RoomError, RoomHandle, RoomResult};

use crate::AgentService;

impl AgentService {
    /// Refuses a rule that could never apply.
    pub fn check_rule(&self, new: &NewRule) -> RoomResult<()> {
        let has_path = new.remember.path.is_some();
        self.tools.check_ruled(&new.tool, has_path).map_err(RoomError::Invalid)
    }

    /// Refuses policies for unknown tools, except those that the document has: clients send the
    /// whole list again to change one.
    #[boxed]
    pub async fn check_policies(
        &self,
        configure: &SettingsChange,
        room: &RoomHandle,
    ) -> RoomResult<()> {
        for policy in configure.own.policies.iter().flatten() {
            let Some(tool) = &policy.tool else { continue };
            let Err(reason) = self.tools.check_asked_about(tool) else { continue };
            let known = room.read().await?.settings.policies;
            if !known.iter().any(|it| it.tool.as_ref() == Some(tool)) {
                return Err(RoomError::Invalid(reason));
            }
        }
        Ok(())
    }
}
