//! Edits by a person without an editor: a new text, made on a version, is applied by its
//! differences.

use crate::document::{ChangeSet, Text, TextEdit};
use crate::ids::{ClientId, MemberId, Version};
use crate::permissions::Principal;
use crate::store::Store;

use super::text::check_length;
use crate::rooms::command::{PushRequest, RoomCommand};
use crate::rooms::persistence::history::{difference_in_one_update, text_at};
use crate::rooms::{RoomError, RoomHandle};

/// Commits the differences between the text of `base` and `wanted` as one update of the person's,
/// over what others wrote since. The update has an editor instance of its own, so that two edits
/// made on one version are two edits.
pub(crate) async fn edit(
    room: &RoomHandle,
    store: &Store,
    base: Version,
    wanted: &str,
    by: &Principal,
) -> Result<Version, RoomError> {
    let now = room.read().await?;
    if base > now.version {
        return Err(RoomError::Ahead { asked: base, newest: now.version });
    }
    let new = Text::new(wanted);
    check_length(new.len())?;
    let person = by.user.as_str();
    let old = if base == now.version {
        now.text
    } else {
        text_at(store, room.document(), base, person).await?
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
    room.ask(|reply| RoomCommand::Push(push, reply)).await
}
