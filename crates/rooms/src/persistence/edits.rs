//! Edits by a person without an editor: a new text is applied by its differences.

use copydesk_document::{ChangeSet, Text, TextEdit};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{ClientId, MemberId, Version};
use copydesk_macros::boxed;
use copydesk_store::Store;

use super::history::{difference_in_one_update, text_at};
use crate::command::{PushRequest, RoomCommand};
use crate::state::text::check_length;
use crate::{RoomError, RoomHandle, RoomResult};

impl RoomHandle {
    /// Changes the text of `base` to `text`, by one update of the person's, which leaves alone what
    /// others wrote since, and returns the version after it. The update has an editor instance of
    /// its own, so that two edits made on one version are two edits.
    ///
    /// # Errors
    /// [`RoomError::Resync`] if `base` is too old.
    #[boxed]
    pub async fn edit(
        &self,
        store: &Store,
        base: Version,
        text: &str,
        by: &Principal,
    ) -> RoomResult<Version> {
        let now = self.read().await?;
        if base > now.version {
            return Err(RoomError::Ahead { asked: base, newest: now.version });
        }
        let new = Text::new(text);
        check_length(new.len())?;
        let person = by.user.as_str();
        let old = if base == now.version {
            now.text
        } else {
            text_at(store, self.document(), base, person).await?
        };
        let parts = difference_in_one_update(&old, &new, person).await?;
        if parts.is_empty() {
            return Ok(now.version);
        }
        let edits: Vec<_> = parts.into_iter().map(TextEdit::from).collect();
        let changes = ChangeSet::of(old.len(), &edits)
            .map_err(|source| RoomError::BadUpdate { index: 0, source })?;
        let push = PushRequest {
            member: MemberId::generate(),
            principal: by.clone(),
            base,
            updates: vec![(ClientId::generate(), changes.to_json().into())],
        };
        self.ask(|reply| RoomCommand::Push(push, reply)).await
    }
}
