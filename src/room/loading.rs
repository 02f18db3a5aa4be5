//! What a room reads from the store: the document, what is open, and what reaches further back than the log at hand.

use std::sync::Arc;

use crate::auth;
use crate::document::Update;
use crate::failpoint;
use crate::ids::{DocumentId, RequestId, SessionId, Version};
use crate::review::{Consent, Request};
use crate::store::{LoadedDocument, Scope, Store};
use crate::who::Action;

use super::state::RoomState;
use super::{RoomError, desk, restore};

/// How far back a client or a proposal may be and still be brought up to date by updates.
const REACH: u64 = 20_000;
/// How far back an ended request may be and still be undone or proposed again.
const LONG_REACH: u64 = 200_000;

/// Loads a document, its open requests, its rules and its frozen ranges, with a log that reaches back to `at_hand` at least.
pub(super) async fn load(
    store: &Store,
    id: &DocumentId,
    at_hand: Version,
) -> Result<RoomState, RoomError> {
    let newest = store.load(id).await.map_err(RoomError::store)?.ok_or(RoomError::NoDocument)?;
    let scope = if *id == desk::id() { Scope::Desk } else { Scope::Document(id) };
    let open = store.open_requests(scope).await.map_err(RoomError::store)?;
    let open = open.iter().map(restore::request).collect::<Result<Vec<_>, _>>()?;
    let floor = restore::floor(&newest.record.settings, &open, at_hand)?;
    let loaded =
        if floor < newest.snapshot { reach_back(store, id, floor, newest).await? } else { newest };
    failpoint::pass("room.loading");
    let mut state = restore::room(loaded, open)?;
    let rules = store.rules(scope).await.map_err(RoomError::store)?;
    for rule in rules.into_iter().map(restore::rule) {
        let rule = rule?;
        state.rules.insert(rule.id().clone(), Arc::new(rule));
    }
    Ok(state)
}

/// The document from an older version on.
async fn reach_back(
    store: &Store,
    id: &DocumentId,
    floor: Version,
    newest: LoadedDocument,
) -> Result<LoadedDocument, RoomError> {
    let old = store.load_at(id, floor).await.map_err(RoomError::store)?;
    let LoadedDocument { snapshot, text, .. } = old.ok_or(RoomError::NoDocument)?;
    let updates = store.updates(id, snapshot, newest.record.version).await;
    let updates = updates.map_err(RoomError::store)?;
    Ok(LoadedDocument { record: newest.record, snapshot, text, updates })
}

/// The updates between a version and the log at hand; `None` if they reach back too far, or the version is not there
/// yet. Everything that has left the log at hand must be durable.
pub(super) async fn older(
    store: &Store,
    state: &RoomState,
    since: Version,
) -> Result<Option<Vec<Arc<Update>>>, RoomError> {
    let (start, newest) = (state.document.tail_start(), state.version());
    if since >= start {
        return Ok((since <= newest).then(Vec::new));
    }
    if newest.0 - since.0 > REACH {
        return Ok(None);
    }
    let updates = store.updates(state.id(), since, start).await.map_err(RoomError::store)?;
    Ok(Some(updates.into_iter().map(|update| Arc::new(restore::update(update))).collect()))
}

/// A request of this document that the room no longer has at hand.
pub(super) async fn request(
    store: &Store,
    state: &RoomState,
    id: &RequestId,
) -> Result<Request, RoomError> {
    let record = store.request(id).await.map_err(RoomError::store)?;
    let record = record.filter(|record| record.document == state.about());
    restore::request(&record.ok_or(RoomError::NoRequest)?)
}

/// An ended request, mapped over everything that was committed since it ended. All of that must be durable.
pub(super) async fn caught_up(
    store: &Store,
    state: &RoomState,
    mut ended: Request,
) -> Result<Request, RoomError> {
    let (then, newest) = (ended.version, state.version());
    if then == newest {
        return Ok(ended);
    }
    if newest.0.saturating_sub(then.0) > LONG_REACH {
        let reason = "too much was written since; this can no longer be taken up again";
        return Err(RoomError::Invalid(reason.to_owned()));
    }
    let loaded = store.load_at(state.id(), then).await.map_err(RoomError::store)?;
    let text = restore::text(&loaded.ok_or(RoomError::NoDocument)?)?;
    // What the room remembers need not be read back.
    let changes: Vec<_> = if let Some(newer) = state.document.since(then) {
        newer.map(|update| update.changes).collect()
    } else {
        let updates = store.updates(state.id(), then, newest).await.map_err(RoomError::store)?;
        updates.into_iter().map(|update| update.changes).collect()
    };
    restore::catch_up(&mut ended, text, changes)?;
    Ok(ended)
}

/// Refuses if fewer people could decide requests of a document than must agree: they never could.
pub(super) async fn check_people(
    store: &Store,
    document: &DocumentId,
    consents: &[Consent],
    now_ms: u64,
) -> Result<(), RoomError> {
    for consent in consents {
        let people = auth::deciders(store, document, consent.action(), now_ms).await;
        if people.map_err(RoomError::store)?.len() < consent.people() {
            return Err(RoomError::Invalid(too_few(*consent)));
        }
    }
    Ok(())
}

fn too_few(consent: Consent) -> String {
    let names = consent.policies().into_iter().map(|policy| format!("`{}`", policy.as_str()));
    let names: Vec<_> = names.collect();
    let (policies, need) = match names.as_slice() {
        [one] => (format!("the policy {one}"), "needs"),
        several => (several.join(" and "), "together need"),
    };
    let count = if consent.people() > 2 { "three" } else { "two" };
    let people = if consent.action() == Action::Overrule { "owners" } else { "people" };
    format!("{policies} {need} {count} {people} who could decide; issue another token first")
}

/// Those of the sessions that nobody can go on with.
pub(super) async fn sessions_over(
    store: &Store,
    sessions: Vec<SessionId>,
    now_ms: u64,
) -> Result<Vec<SessionId>, RoomError> {
    let mut over = Vec::new();
    for id in sessions {
        let session = store.session(&id).await.map_err(RoomError::store)?;
        if session.is_none_or(|session| session.is_over(now_ms)) {
            over.push(id);
        }
    }
    Ok(over)
}
