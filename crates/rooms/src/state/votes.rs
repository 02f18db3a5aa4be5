//! Taking back votes of people who may no longer decide and of rules that have ended.

use std::sync::Arc;

use serde_json::{Value, json};

use copydesk_approvals::ApprovalRequest;
use copydesk_ids::RequestId;
use copydesk_ids::permissions::Principal;

use super::requests::{place, queue_request_event};
use crate::actor::room_effects::RoomEffects;
use crate::state::{ApplyContext, RoomState};

pub(crate) fn any_vote(state: &RoomState, id: &RequestId) -> bool {
    state.open.get(id).is_some_and(|request| request.voters().next().is_some())
}

/// Takes back the votes of everyone who may no longer decide, and of rules that have ended.
/// `people` are all who hold a valid token now.
pub(crate) fn recount(
    state: &mut RoomState,
    people: &[Principal],
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    recount_rules(state, now, effects);
    let gone = |request: &&Arc<ApprovalRequest>| !request.lost_voters(people).is_empty();
    let miscounted: Vec<_> = state.open.values().filter(gone).cloned().collect();
    for mut request in miscounted {
        let before = Arc::clone(&request);
        let lost = Arc::make_mut(&mut request).remove_votes_except(people);
        put_recounted(state, &before, &request, json!({ "voters": lost }), now, effects);
    }
}

/// Takes back the votes of rules that are no longer in force: what was approved in advance is so
/// only until the rule ends.
pub(super) fn recount_rules(state: &mut RoomState, now: &ApplyContext, effects: &mut RoomEffects) {
    let lost = |request: &Arc<ApprovalRequest>| {
        let lost = request.lost_rules(|rule| state.rules.contains_key(rule));
        (!lost.is_empty()).then(|| (Arc::clone(request), lost))
    };
    let miscounted: Vec<_> = state.open.values().filter_map(lost).collect();
    for (mut request, lost) in miscounted {
        let before = Arc::clone(&request);
        Arc::make_mut(&mut request).remove_votes_of_rules(&lost);
        put_recounted(state, &before, &request, json!({ "rules": lost }), now, effects);
    }
}

fn put_recounted(
    state: &mut RoomState,
    before: &ApprovalRequest,
    request: &Arc<ApprovalRequest>,
    detail: Value,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    effects.keep(state.audit("request.recount", "server", Some(request.id()), detail, now));
    place(state, Arc::clone(request), effects);
    let changed = request.voted_otherwise(before);
    queue_request_event(state, request, &changed, None, now, effects);
}
