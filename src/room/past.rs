//! Older versions of a text: what it was, what is different now, and how it becomes that again.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::document::diff::{DiffLimits, DraftPart, diff_whole};
use crate::document::provenance::{Act, Origin, Placement, Placements, Stood};
use crate::document::{ChangeSet, Edit, Text, utf16_len};
use crate::ids::{ClientId, DocumentId, Version};
use crate::store::Store;
use crate::who::Principal;

use super::command::{Command, Restore};
use super::state::{Now, RoomState};
use super::step::Step;
use super::writing::{Author, HunkChanges};
use super::{RoomError, RoomHandle, restore as loaded};

/// How long a comparison looks for small differences.
const PATIENCE: Duration = Duration::from_millis(250);
/// How often to try again when somebody wrote while the texts were compared.
const ATTEMPTS: usize = 5;

/// The text of a document at a version, which must be durable; of an older one than the document has, the newest.
///
/// # Errors
/// [`RoomError::NoDocument`] also for a deleted one.
pub async fn text_at(
    store: &Store,
    document: &DocumentId,
    version: Version,
) -> Result<Text, RoomError> {
    let found = store.load_at(document, version).await.map_err(RoomError::store)?;
    loaded::text(&found.ok_or(RoomError::NoDocument)?)
}

/// What turns the text of one version into that of another, word by word, in order and disjoint; positions are of `from`.
///
/// # Errors
/// As [`text_at`].
pub async fn compare(
    store: &Store,
    document: &DocumentId,
    from: Version,
    to: Version,
) -> Result<Vec<DraftPart>, RoomError> {
    let old = text_at(store, document, from).await?;
    let new = text_at(store, document, to).await?;
    difference(&old, &new).await
}

/// On a thread of its own: comparing long texts takes longer than other people should have to wait.
pub(super) async fn difference(old: &Text, new: &Text) -> Result<Vec<DraftPart>, RoomError> {
    let (old, new) = (old.to_string(), new.to_string());
    let compared = tokio::task::spawn_blocking(move || {
        let limits = DiffLimits { deadline: Some(Instant::now() + PATIENCE) };
        diff_whole(&old, &new, &limits).into_iter().flat_map(|hunk| hunk.parts).collect()
    });
    compared.await.map_err(|_| RoomError::Invalid("the texts could not be compared".to_owned()))
}

/// Compares the old text with the newest and has the room apply what is different, unless somebody was faster.
pub(super) async fn bring_back(
    room: &RoomHandle,
    store: &Store,
    version: Version,
    only_at: Option<Version>,
    by: &Principal,
) -> Result<Version, RoomError> {
    let mut last = Err(RoomError::Resync);
    for _ in 0..ATTEMPTS {
        let now = room.read().await?;
        if version > now.version {
            return Err(RoomError::Ahead { asked: version, newest: now.version });
        }
        if only_at.is_some_and(|only| only != now.version) {
            return Err(RoomError::Resync);
        }
        let old = text_at(store, room.document(), version).await?;
        let parts = difference(&now.text, &old).await?;
        let edits = parts.into_iter().map(Edit::from).collect();
        let wanted = Box::new(Restore { version, base: now.version, edits });
        last = room.ask(|reply| Command::Restore(wanted, by.clone(), reply)).await;
        if !matches!(last, Err(RoomError::Resync)) {
            break;
        }
    }
    last
}

/// Makes the text again what it was, by one update; its words go back to whoever wrote them.
pub(super) fn restore(
    state: &mut RoomState,
    wanted: &Restore,
    by: &Principal,
    now: &Now,
    step: &mut Step,
) -> Result<Version, RoomError> {
    state.exists()?;
    let Restore { version, base, edits } = wanted;
    if *base != state.version() {
        return Err(RoomError::Resync);
    }
    if edits.is_empty() {
        return Ok(state.version());
    }
    let changes = ChangeSet::of(state.document.text().len(), edits)
        .map_err(|source| RoomError::BadUpdate { index: 0, source })?;
    let author = Author {
        client: ClientId::from("ai:restore"),
        user: &by.user,
        origin: None,
        placements: Some(placements(*version, edits)),
    };
    state.commit(&changes, &author, HunkChanges::default(), now, step)?;
    let detail = json!({ "version": version, "made": state.version() });
    step.keep(state.audit("document.restore", by.user.as_str(), None, detail, now));
    Ok(state.version())
}

/// The text after the edits is that of `version`, so what they insert stands where it stood then.
fn placements(version: Version, edits: &[Edit]) -> Placements {
    let (mut grown, mut shrunk) = (0, 0);
    let mut placed = Vec::new();
    for Edit { from, to, insert } in edits {
        let (start, len) = (from + grown - shrunk, utf16_len(insert));
        (grown, shrunk) = (grown + len, shrunk + to - from);
        if len > 0 {
            let origin = Origin::Stood(Stood { version, at: start });
            placed.push(Placement { from: start, to: start + len, hunk: None, origin });
        }
    }
    Placements { act: Act::Restored(version), requester: None, unasked: false, rule: None, placed }
}
