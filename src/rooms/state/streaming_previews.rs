//! Changes the model is still writing: everybody sees them, nobody can decide them, and they are kept nowhere. Pure.
//!
//! Their hunks stand in `streaming` beside those of requests and follow the text by the same rules. When the model is done,
//! the request takes their place; when it is not to be, people are told that they are gone.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::approvals::{ArrivedHunks, CommittedUpdate, Hunk, HunkStatus};
use crate::document::{ChangeSet, Text, Update};
use crate::ids::{HunkId, RequestId};

use super::proposals;
use crate::rooms::RoomError;
use crate::rooms::actor::turn_effects::TurnEffects;
use crate::rooms::command::{StreamingPreview, StreamingPreviewScope};
use crate::rooms::event::RoomEvent;
use crate::rooms::state::RoomState;

/// Sketches of a document that people are shown; more than so many requests could not be open either.
const MOST_SHOWN: usize = proposals::MOST_OPEN_EACH;

/// What the model is writing, by the name its request will have.
#[derive(Default)]
pub(crate) struct StreamingPreviews(BTreeMap<RequestId, PreviewPage>);

struct PreviewPage {
    sketch: Arc<StreamingPreview>,
    /// In positions of the newest version.
    hunks: Vec<Hunk>,
}

impl StreamingPreviews {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many hunks are shown in all.
    pub(crate) fn hunk_count(&self) -> usize {
        self.0.values().map(|page| page.hunks.len()).sum()
    }

    /// Moves every hunk over one update that led to the text `after`.
    pub(crate) fn follow(&mut self, change: &ChangeSet, after: &Text) {
        if self.0.is_empty() {
            return;
        }
        let update = CommittedUpdate::new(change, after);
        for hunk in self.0.values_mut().flat_map(|page| &mut page.hunks) {
            hunk.rebase_over(&update);
        }
    }

    /// What somebody who comes in is shown.
    pub(crate) fn shown(&self) -> Vec<(Arc<StreamingPreview>, Vec<Hunk>)> {
        self.0.values().map(|page| (Arc::clone(&page.sketch), page.hunks.clone())).collect()
    }
}

/// Shows what the model has written so far. `older` holds the updates between the version it read and the log at hand.
pub(crate) fn show(
    state: &mut RoomState,
    sketch: StreamingPreview,
    older: Option<Vec<Arc<Update>>>,
    step: &mut TurnEffects,
) -> Result<(), RoomError> {
    state.exists()?;
    let id = sketch.id.clone();
    let known = state.sketches.0.contains_key(&id);
    if state.request(&id).is_some() || !known && state.sketches.0.len() >= MOST_SHOWN {
        return Ok(());
    }
    let missed = proposals::missed(state, sketch.base_version, older)?;
    let hunks = hunks(&sketch, &missed)?;
    let sketch = Arc::new(sketch);
    let page = PreviewPage { sketch: Arc::clone(&sketch), hunks: hunks.clone() };
    let before = state.sketches.0.insert(id.clone(), page).map_or_else(Vec::new, |page| page.hunks);
    step.tell(RoomEvent::Sketched(sketch));
    let now: HashSet<_> = hunks.iter().map(|hunk| &hunk.id).collect();
    let gone = before.iter().filter(|hunk| !now.contains(&hunk.id));
    let drop: Vec<_> = gone.map(|hunk| hunk.id.clone()).collect();
    let shown: HashMap<_, _> = before.iter().map(|hunk| (&hunk.id, hunk)).collect();
    let put = hunks.iter().filter(|hunk| shown.get(&hunk.id) != Some(hunk));
    let put: Vec<_> = put.map(|hunk| (id.clone(), hunk.clone())).collect();
    if !drop.is_empty() || !put.is_empty() {
        step.tell(RoomEvent::Updates { from: state.version(), updates: Vec::new(), drop, put });
    }
    Ok(())
}

/// The hunks as they stand now; what people have changed meanwhile is not shown.
fn hunks(sketch: &StreamingPreview, missed: &[Arc<Update>]) -> Result<Vec<Hunk>, RoomError> {
    let unreadable = |source| RoomError::BadUpdate { index: 0, source };
    let missed = missed.iter().map(|update| update.change_set()).collect::<Result<Vec<_>, _>>();
    let missed = missed.map_err(unreadable)?;
    let arrival = ArrivedHunks::map(&sketch.id, sketch.hunks.clone(), &sketch.base, &missed);
    let arrived = arrival.map_err(unreadable)?.hunks.into_iter().enumerate();
    Ok(arrived
        .map(|(index, hunk)| Hunk {
            // Not the name of any hunk of the request: these may be others.
            id: HunkId::from(format!("{}.s{}", sketch.id, index + 1)),
            status: HunkStatus::Streaming,
            ..hunk
        })
        .collect())
}

/// Nothing comes of them.
pub(crate) fn end(state: &mut RoomState, which: &StreamingPreviewScope, step: &mut TurnEffects) {
    let meant = |sketch: &StreamingPreview| match which {
        StreamingPreviewScope::One(id) => sketch.id == *id,
        StreamingPreviewScope::OfRun(session, run) => {
            sketch.session == *session && sketch.run == *run
        }
    };
    let gone: Vec<_> = state.sketches.0.extract_if(.., |_, page| meant(&page.sketch)).collect();
    for event in gone.into_iter().flat_map(|(_, page)| gone_events(state, page)) {
        step.tell(event);
    }
}

/// All are forgotten; what people are to be told of it.
pub(crate) fn forget(state: &mut RoomState) -> Vec<RoomEvent> {
    let pages = std::mem::take(&mut state.sketches).0.into_values();
    pages.flat_map(|page| gone_events(state, page)).collect()
}

fn gone_events(state: &RoomState, page: PreviewPage) -> Vec<RoomEvent> {
    let PreviewPage { sketch, hunks } = page;
    dropped(state, hunks).into_iter().chain([RoomEvent::Unsketched(sketch)]).collect()
}

/// The request has just been told; its hunks take the place of those that were shown.
pub(crate) fn become_request(state: &mut RoomState, id: &RequestId, step: &mut TurnEffects) {
    let hunks = state.sketches.0.remove(id).map_or_else(Vec::new, |page| page.hunks);
    if let Some(event) = dropped(state, hunks) {
        step.tell(event);
    }
}

fn dropped(state: &RoomState, hunks: Vec<Hunk>) -> Option<RoomEvent> {
    let drop: Vec<_> = hunks.into_iter().map(|hunk| hunk.id).collect();
    let (from, updates, put) = (state.version(), Vec::new(), Vec::new());
    (!drop.is_empty()).then_some(RoomEvent::Updates { from, updates, drop, put })
}
