//! Restoration of an older text: one update, whose words are credited to their authors again.

use serde_json::json;

use copydesk_document::provenance::{
    FormerPlace, PlacementOrigin, ServerAct, UpdatePlacements, WordPlacement,
};
use copydesk_document::{ChangeSet, TextEdit, utf16_len};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{ClientId, Version};

use crate::actor::room_effects::RoomEffects;
use crate::command::TextRestore;
use crate::state::{ApplyContext, ChangeAuthor, HunkChanges, RoomState};
use crate::{RoomError, RoomResult};

pub(crate) fn restore(
    state: &mut RoomState,
    wanted: &TextRestore,
    by: &Principal,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) -> RoomResult<Version> {
    state.exists()?;
    let TextRestore { version, base, edits } = wanted;
    if *base != state.version() {
        return Err(RoomError::Resync);
    }
    if edits.is_empty() {
        return Ok(state.version());
    }
    let changes = ChangeSet::of(state.document.text().len(), edits)
        .map_err(|source| RoomError::BadUpdate { index: 0, source })?;
    let author = ChangeAuthor {
        moves: Vec::new(),
        client: ClientId::from("ai:restore"),
        user: &by.user,
        origin: None,
        placements: Some(placements(*version, edits)),
    };
    state.apply_server_change(&changes, &author, HunkChanges::default(), now, effects)?;
    let detail = json!({ "version": version, "made": state.version() });
    effects.keep(state.audit("document.restore", by.user.as_str(), None, detail, now));
    Ok(state.version())
}

/// Returns the placements of a restored text. The text after the edits is that of `version`, so the
/// inserted words stand where they stood then.
fn placements(version: Version, edits: &[TextEdit]) -> UpdatePlacements {
    let (mut grown, mut shrunk) = (0, 0);
    let mut placed = Vec::new();
    for TextEdit { from, to, insert } in edits {
        let (start, len) = (from + grown - shrunk, utf16_len(insert));
        (grown, shrunk) = (grown + len, shrunk + to - from);
        if len > 0 {
            let origin = PlacementOrigin::Stood(FormerPlace { version, at: start });
            placed.push(WordPlacement { from: start, to: start + len, hunk: None, origin });
        }
    }
    UpdatePlacements {
        act: ServerAct::Restored(version),
        requester: None,
        claimed_author: None,
        suggested: false,
        unasked: false,
        rule: None,
        placed,
    }
}
