//! Changes that were proposed before their words were frozen: they stay open, and give the reason.

use std::sync::Arc;

use copydesk_approvals::{
    ApprovalRequest, Decision, DecisionOutcome, Hunk, HunkReason, HunkStatus,
};
use copydesk_ids::HunkId;

use super::requests::{place, put, queue_hunk_changes};
use crate::actor::room_effects::RoomEffects;
use crate::settings::frozen_by;
use crate::state::{HunkChanges, RoomState};

fn is_frozen(state: &RoomState, hunk: &Hunk) -> bool {
    let touches = |(from, to)| frozen_by(&state.own.frozen, (from, to)).is_some();
    hunk.status == HunkStatus::Pending
        && hunk.parts.iter().any(|part| touches((part.from, part.to)))
}

/// Holds back hunks on frozen words that a decision would accept without naming them. They count as
/// in conflict, which such a decision leaves alone.
///
/// Returns the held hunks for [`release_locked`]; none if nothing else would be left to accept: the
/// decision is then refused as a whole.
pub(crate) fn exclude_locked(
    state: &RoomState,
    request: &mut ApprovalRequest,
    decision: &Decision,
) -> Vec<HunkId> {
    if !decision.accepts_the_rest() {
        return Vec::new();
    }
    let named = |hunk: &Hunk| decision.hunks.iter().flatten().any(|it| it.id == hunk.id);
    let rest = request.hunks.iter().filter(|it| it.status == HunkStatus::Pending && !named(it));
    let (held, others): (Vec<&Hunk>, Vec<&Hunk>) = rest.partition(|hunk| is_frozen(state, hunk));
    if others.is_empty() && decision.hunks.is_none() {
        return Vec::new();
    }
    let held: Vec<HunkId> = held.into_iter().map(|hunk| hunk.id.clone()).collect();
    for hunk in request.hunks.iter_mut().filter(|hunk| held.contains(&hunk.id)) {
        hunk.status = HunkStatus::Conflict;
    }
    held
}

/// Makes held-back hunks pending again, and gives them the reason why they still are.
pub(crate) fn release_locked(
    request: &mut ApprovalRequest,
    held: &[HunkId],
    outcome: &mut DecisionOutcome,
) {
    for hunk in request.hunks.iter_mut().filter(|hunk| held.contains(&hunk.id)) {
        if hunk.status.is_open() && !hunk.parts.iter().any(|part| part.conflict) {
            hunk.status = HunkStatus::Pending;
            hunk.reason = Some(HunkReason::FrozenSince);
        }
        if !outcome.put.contains(&hunk.id) {
            outcome.put.push(hunk.id.clone());
        }
    }
}

/// Sets or removes the reason of hunks that frozen words keep from being accepted. Needed after
/// other words were frozen, or a hunk was reopened or is no longer in conflict.
pub(crate) fn update_lock_reasons(state: &mut RoomState, effects: &mut RoomEffects) {
    let open: Vec<Arc<ApprovalRequest>> = state.open.values().cloned().collect();
    for mut request in open {
        let is_outdated = |hunk: &&Hunk| {
            let is_marked = hunk.reason == Some(HunkReason::FrozenSince);
            hunk.status == HunkStatus::Pending && is_marked != is_frozen(state, hunk)
        };
        let ids: Vec<HunkId> =
            request.hunks.iter().filter(is_outdated).map(|hunk| hunk.id.clone()).collect();
        if ids.is_empty() {
            continue;
        }
        for hunk in Arc::make_mut(&mut request).hunks.iter_mut().filter(|it| ids.contains(&it.id)) {
            let before = hunk.reason.take();
            hunk.reason = before.is_none().then_some(HunkReason::FrozenSince);
        }
        queue_hunk_changes(
            state,
            HunkChanges { drop: Vec::new(), put: put(&request, &ids) },
            effects,
        );
        place(state, request, effects);
    }
}
