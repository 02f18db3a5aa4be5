//! Streaming previews: changes the model is still writing. People see them but cannot decide them,
//! and they are not stored.
//!
//! Their hunks have the status `streaming`, stand beside those of requests and follow the text by
//! the same rules. When the model is done, the request takes their place, or their end is
//! announced.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use copydesk_approvals::{ArrivedHunks, Hunk, HunkStatus};
use copydesk_document::Update;
use copydesk_ids::{HunkId, RequestId};

use super::preview_pages::PreviewPage;
use super::requests::{MOST_OPEN_EACH, missed};
use crate::actor::room_effects::RoomEffects;
use crate::event::{RoomEvent, StreamingPreview, StreamingPreviewScope};
use crate::state::RoomState;
use crate::{RoomError, RoomResult};

/// Largest number of streaming previews of a document, as of the requests of one person.
const MOST_SHOWN: usize = MOST_OPEN_EACH;

/// Shows what the model has written so far. `older` holds the updates between the version it read
/// and the log at hand.
pub(crate) fn show(
    state: &mut RoomState,
    streaming_preview: StreamingPreview,
    older: Option<Vec<Arc<Update>>>,
    effects: &mut RoomEffects,
) -> RoomResult<()> {
    state.exists()?;
    let id = streaming_preview.id.clone();
    let known = state.streaming_previews.0.contains_key(&id);
    if state.request(&id).is_some() || !known && state.streaming_previews.0.len() >= MOST_SHOWN {
        return Ok(());
    }
    let updates = missed(state, streaming_preview.base_version, older)?;
    let hunks = hunks(&streaming_preview, &updates)?;
    let streaming_preview = Arc::new(streaming_preview);
    let page =
        PreviewPage { streaming_preview: Arc::clone(&streaming_preview), hunks: hunks.clone() };
    let before = state
        .streaming_previews
        .0
        .insert(id.clone(), page)
        .map_or_else(Vec::new, |page| page.hunks);
    effects.queue_event(RoomEvent::PreviewShown(streaming_preview));
    let now: HashSet<_> = hunks.iter().map(|hunk| &hunk.id).collect();
    let gone = before.iter().filter(|hunk| !now.contains(&hunk.id));
    let drop: Vec<_> = gone.map(|hunk| hunk.id.clone()).collect();
    let shown: HashMap<_, _> = before.iter().map(|hunk| (&hunk.id, hunk)).collect();
    let put = hunks.iter().filter(|hunk| shown.get(&hunk.id) != Some(hunk));
    let put: Vec<_> = put.map(|hunk| (id.clone(), hunk.clone())).collect();
    if !drop.is_empty() || !put.is_empty() {
        effects.queue_event(RoomEvent::Updates {
            room: state.number,
            from: state.version(),
            updates: Vec::new(),
            drop,
            put,
        });
    }
    Ok(())
}

/// Returns the hunks mapped to the newest version, without those whose words people have changed.
fn hunks(streaming_preview: &StreamingPreview, missed: &[Arc<Update>]) -> RoomResult<Vec<Hunk>> {
    let unreadable = |source| RoomError::BadUpdate { index: 0, source };
    let missed = missed.iter().map(|update| update.change_set()).collect::<Result<Vec<_>, _>>();
    let missed = missed.map_err(unreadable)?;
    let arrival = ArrivedHunks::map(
        &streaming_preview.id,
        streaming_preview.hunks.clone(),
        &streaming_preview.base,
        &missed,
    );
    let arrived = arrival.map_err(unreadable)?.hunks.into_iter().enumerate();
    Ok(arrived
        .map(|(index, hunk)| Hunk {
            // These may be other hunks than those of the request, which have other identifiers.
            id: HunkId::from(format!("{}.s{}", streaming_preview.id, index + 1)),
            status: HunkStatus::Streaming,
            ..hunk
        })
        .collect())
}

pub(crate) fn end(state: &mut RoomState, which: &StreamingPreviewScope, effects: &mut RoomEffects) {
    let meant = |streaming_preview: &StreamingPreview| match which {
        StreamingPreviewScope::One(id) => streaming_preview.id == *id,
        StreamingPreviewScope::OfRun(session, run) => {
            streaming_preview.session == *session && streaming_preview.run == *run
        }
    };
    let gone: Vec<_> = state
        .streaming_previews
        .0
        .extract_if(.., |_, page| meant(&page.streaming_preview))
        .collect();
    for event in gone.into_iter().flat_map(|(_, page)| gone_events(state, page)) {
        effects.queue_event(event);
    }
}

pub(crate) fn forget(state: &mut RoomState) -> Vec<RoomEvent> {
    let pages = std::mem::take(&mut state.streaming_previews).0.into_values();
    pages.flat_map(|page| gone_events(state, page)).collect()
}

fn gone_events(state: &RoomState, page: PreviewPage) -> Vec<RoomEvent> {
    let PreviewPage { streaming_preview, hunks } = page;
    dropped(state, hunks).into_iter().chain([RoomEvent::PreviewEnded(streaming_preview)]).collect()
}

/// Removes the preview of a request that was just announced, whose hunks take its place.
pub(crate) fn become_request(state: &mut RoomState, id: &RequestId, effects: &mut RoomEffects) {
    let hunks = state.streaming_previews.0.remove(id).map_or_else(Vec::new, |page| page.hunks);
    if let Some(event) = dropped(state, hunks) {
        effects.queue_event(event);
    }
}

fn dropped(state: &RoomState, hunks: Vec<Hunk>) -> Option<RoomEvent> {
    let drop: Vec<_> = hunks.into_iter().map(|hunk| hunk.id).collect();
    let (from, updates, put) = (state.version(), Vec::new(), Vec::new());
    let room = state.number;
    (!drop.is_empty()).then_some(RoomEvent::Updates { room, from, updates, drop, put })
}
