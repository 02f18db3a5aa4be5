//! Suggestions of people.

use copydesk_ids::Version;
use copydesk_macros::boxed;
use copydesk_rooms::RoomHandle;
use copydesk_rooms::command::{SuggestionSnapshot, SuggestionUpdate};

use super::{ApiResult, Caller};

impl Caller {
    /// Takes over the caller's suggestion as it is now: `changes` is the JSON of the change from
    /// the text at `version` to the text that they suggest, over their suggestion at `revision`.
    ///
    /// # Errors
    /// Those of [`RoomHandle::suggest`].
    #[boxed]
    pub async fn suggest(
        &self,
        room: &RoomHandle,
        (version, revision): (Version, u64),
        changes: Box<str>,
    ) -> ApiResult<SuggestionSnapshot> {
        let by = self.principal.clone();
        Ok(room.suggest(SuggestionUpdate { version, revision, changes, base: None, by }).await?)
    }
}
