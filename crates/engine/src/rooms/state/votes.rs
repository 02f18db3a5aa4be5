//! Votes of people who may no longer decide, and how they are taken back. Pure.

use std::sync::Arc;

use serde_json::json;

use crate::approvals::ApprovalRequest;
use crate::ids::RequestId;
use crate::permissions::Principal;

use super::requests::{place, queue_request_event};
use crate::rooms::actor::room_effects::RoomEffects;
use crate::rooms::state::{ApplyContext, RoomState};

/// Returns `true` if a request is open and has votes that were not enough yet.
pub(crate) fn any_vote(state: &RoomState, id: &RequestId) -> bool {
    state.open.get(id).is_some_and(|request| request.voters().next().is_some())
}

/// Takes back the votes of everybody who may no longer decide. `people` are all who hold a valid
/// token now.
pub(crate) fn recount(
    state: &mut RoomState,
    people: &[Principal],
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    let gone = |request: &&Arc<ApprovalRequest>| !request.lost_voters(people).is_empty();
    let miscounted: Vec<_> = state.open.values().filter(gone).cloned().collect();
    for mut request in miscounted {
        let before = Arc::clone(&request);
        let lost = Arc::make_mut(&mut request).remove_votes_except(people);
        let detail = json!({ "voters": lost });
        effects.keep(state.audit("request.recount", "server", Some(request.id()), detail, now));
        place(state, Arc::clone(&request), effects);
        let changed = request.voted_otherwise(&before);
        queue_request_event(state, &request, &changed, None, now, effects);
    }
}
