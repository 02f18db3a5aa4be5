//! Names of people whose data is deleted: how a room forgets them. No input or output but the log.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use copydesk_approvals::DeletedPerson;
use copydesk_store::StoreOp;

use super::requests::{place, queue_request_event};
use super::{comments, rules};
use crate::actor::room_effects::RoomEffects;
use crate::state::{ApplyContext, RoomState};

/// Replaces the name of a person in everything that the room has. What is open is stored anew and
/// announced; the caller replaces the name in what is stored of ended requests.
pub(crate) fn forget(
    state: &mut RoomState,
    person: &DeletedPerson,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    let open: Vec<_> = state.open.values().filter_map(|it| renamed(person, it)).collect();
    for request in open {
        place(state, Arc::clone(&request), effects);
        queue_request_event(state, &request, &[], None, now, effects);
    }
    for request in &mut state.ended {
        if let Some(other) = renamed(person, request) {
            *request = other;
        }
    }
    comments::forget(state, person, effects);
    let in_force: Vec<_> = state.rules.values().filter_map(|it| renamed(person, it)).collect();
    if in_force.is_empty() {
        return;
    }
    for rule in in_force {
        effects.keep(StoreOp::PutRule(rules::record(&rule)));
        state.rules.insert(rule.id().clone(), rule);
    }
    rules::queue_rules_event(state, effects);
}

fn renamed<T: Serialize + DeserializeOwned>(
    person: &DeletedPerson,
    stored: &Arc<T>,
) -> Option<Arc<T>> {
    match person.renamed(stored.as_ref()) {
        Ok(renamed) => renamed.map(Arc::new),
        Err(error) => {
            tracing::error!(%error, "cannot replace the name of a deleted person");
            None
        }
    }
}
