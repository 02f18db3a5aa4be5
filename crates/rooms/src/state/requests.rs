//! Requests in a room: where they are held, how they move, and what is announced of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use copydesk_approvals::{
    ApprovalRequest, DecisionError, DecisionOutcome, Hunk, PeopleAsked, RequestSource,
};
use copydesk_document::provenance::{ServerAct, UpdatePlacements};
use copydesk_document::{ChangeSet, InsertSide, Text, Update};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{ClientId, HunkId, RequestId, RuleId, Version};
use copydesk_store::{RequestPartRecord, RequestRecord, StoreOp};

use crate::actor::room_effects::{RoomEffect, RoomEffects};
use crate::command::ResolvedRequest;
use crate::event::{RequestNews, RequestUpdate, RoomEvent};
use crate::state::{ApplyContext, HunkChanges, RoomState, comments};
use crate::{RoomError, RoomResult};

pub(crate) const MOST_OPEN: usize = 128;
/// Largest number of open requests of one person in a document, so that no one blocks a document,
/// or the workspace inbox, for the others.
pub(crate) const MOST_OPEN_EACH: usize = 64;

/// Largest number of hunks that are stored alone, without the others of their request.
const MOST_PARTS: usize = 256;

pub fn record(request: &ApprovalRequest) -> StoreOp {
    let proposal = &request.proposal;
    StoreOp::PutRequest(RequestRecord {
        id: proposal.origin.id.clone(),
        document: proposal.document.clone(),
        session: proposal.origin.session.clone(),
        run: proposal.origin.run.clone(),
        status: request.status.as_str().to_owned(),
        open: request.status.is_open(),
        created_ms: request.clock.created_ms,
        expires_ms: request.clock.expires_ms,
        decided_ms: request.stands_as_decided().then(|| request.last_decided_ms()),
        // A request holds strings, numbers and JSON values: nothing that cannot be serialised.
        body: serde_json::to_string(request).unwrap_or_default(),
        changed: Vec::new(),
    })
}

/// Returns the operation that stores the parts of a request that changed: these hunks, and
/// everything but the hunks. The other hunks are as mapping their stored form along the log gives.
///
/// The whole request is stored if it has ended, if much of it changed, and if it has no hunks,
/// because it may have another preview.
pub fn changed_record<'h>(
    request: &ApprovalRequest,
    hunks: impl IntoIterator<Item = &'h HunkId>,
) -> StoreOp {
    if !request.status.is_open() || request.hunks.is_empty() {
        return record(request);
    }
    let part = |hunk: &str, body: serde_json::Result<String>| RequestPartRecord {
        request: request.id().clone(),
        hunk: hunk.to_owned(),
        version: request.version,
        // As in `record`.
        body: body.unwrap_or_default(),
    };
    let ids: BTreeSet<HunkId> = hunks.into_iter().cloned().collect();
    if ids.len() > MOST_PARTS {
        return record(request);
    }
    let ids: Vec<HunkId> = ids.into_iter().collect();
    let hunks = request.hunks_named(&ids).into_iter();
    let mut parts: Vec<_> =
        hunks.map(|hunk| part(hunk.id.as_str(), serde_json::to_string(hunk))).collect();
    parts.push(part("", serde_json::to_string(&request.head())));
    let expires_ms = request.clock.expires_ms;
    StoreOp::PutRequestParts { request: request.id().clone(), expires_ms, parts }
}

pub fn place(state: &mut RoomState, request: Arc<ApprovalRequest>, effects: &mut RoomEffects) {
    let op = record(&request);
    put_back(state, request, op, effects);
}

/// Stores an open request as [`place`] does, but only the given hunks and the other fields.
pub fn place_changed<'h>(
    state: &mut RoomState,
    request: Arc<ApprovalRequest>,
    hunks: impl IntoIterator<Item = &'h HunkId>,
    effects: &mut RoomEffects,
) {
    let op = changed_record(&request, hunks);
    put_back(state, request, op, effects);
}

fn put_back(
    state: &mut RoomState,
    request: Arc<ApprovalRequest>,
    op: StoreOp,
    effects: &mut RoomEffects,
) {
    effects.keep(op);
    comments::note_request(state, &request, effects);
    if request.status.is_open() {
        state.ended.retain(|other| other.id() != request.id());
        state.open.insert(request.id().clone(), request);
    } else {
        state.open.remove(request.id());
        state.focuses.forget(request.id());
        state.remember(request);
    }
}

/// Moves a request over one update that led to `after`; returns the hunks whose status changed.
pub fn advance(
    request: &mut ApprovalRequest,
    change: &ChangeSet,
    after: &Text,
    now_ms: u64,
) -> Vec<HunkId> {
    let changed = request.rebase(change, after, now_ms);
    move_scope(request, change);
    changed
}

/// Moves the range that a request was asked to change; words typed at its edges belong to it.
pub fn move_scope(request: &mut ApprovalRequest, change: &ChangeSet) {
    if let Some((from, to)) = &mut request.proposal.action.scope {
        *from = change.map_pos(*from, InsertSide::Before);
        *to = change.map_pos(*to, InsertSide::After);
    }
}

/// Returns the editor instance that writes the accepted hunks of a request.
pub fn writer(request: &RequestId) -> ClientId {
    ClientId::from(format!("ai:{request}"))
}

/// Returns the placements of an update of the request, which are stored beside the update; `rule`
/// accepted it, if one did.
pub fn placements(
    request: &ApprovalRequest,
    act: ServerAct,
    outcome: &DecisionOutcome,
    rule: Option<RuleId>,
) -> UpdatePlacements {
    let requester = Some(request.proposal.requester.user.clone());
    let unasked = outcome.asked == PeopleAsked::Nobody;
    let claimed_author = request.proposal.claimed_author.as_ref().map(|it| it.name.clone());
    let suggested = request.proposal.action.source == RequestSource::Person;
    let placed = outcome.placed.clone();
    UpdatePlacements { act, requester, claimed_author, suggested, unasked, rule, placed }
}

pub fn put(request: &ApprovalRequest, ids: &[HunkId]) -> Vec<(RequestId, Hunk)> {
    let hunks = request.hunks_named(ids).into_iter();
    hunks.map(|hunk| (request.id().clone(), hunk.clone())).collect()
}

pub fn queue_hunk_changes(state: &RoomState, hunks: HunkChanges, effects: &mut RoomEffects) {
    let HunkChanges { drop, put } = hunks;
    if drop.is_empty() && put.is_empty() {
        return;
    }
    let (room, from) = (state.number, state.version());
    effects.queue_event(RoomEvent::Updates { room, from, updates: Vec::new(), drop, put });
}

pub fn queue_request_event(
    state: &RoomState,
    request: &Arc<ApprovalRequest>,
    changed: &[HunkId],
    by: Option<&Principal>,
    now: &ApplyContext,
    effects: &mut RoomEffects,
) {
    if let Some(settled) = settled(state, request, now) {
        effects.queue_event(RoomEvent::Resolved(Arc::clone(request)));
        effects.then(RoomEffect::Resolved(Box::new(settled)));
        return;
    }
    let changed = request.hunks_named(changed).into_iter();
    let looking = state.focuses.on(request.id());
    effects.queue_event(RoomEvent::RequestUpdated(RequestUpdate {
        request: Arc::clone(request),
        changed: changed.map(|hunk| (hunk.id.clone(), hunk.status)).collect(),
        by: by.cloned(),
        focused: looking.iter().filter_map(|member| state.principal_of(member)).collect(),
        news: RequestNews::Nothing,
    }));
}

pub fn queue_request_news(
    state: &RoomState,
    request: &Arc<ApprovalRequest>,
    news: RequestNews,
    effects: &mut RoomEffects,
) {
    let looking = state.focuses.on(request.id());
    effects.queue_event(RoomEvent::RequestUpdated(RequestUpdate {
        request: Arc::clone(request),
        changed: Vec::new(),
        by: None,
        focused: looking.iter().filter_map(|member| state.principal_of(member)).collect(),
        news,
    }));
}

/// Returns the resolution of a request, with the document as it is; `None` while it is open.
pub fn settled(
    state: &RoomState,
    request: &Arc<ApprovalRequest>,
    now: &ApplyContext,
) -> Option<ResolvedRequest> {
    let resolution = request.resolution()?;
    let is_current = resolution.version == state.version();
    let scope = request.proposal.action.scope.filter(|_| is_current);
    let request = Arc::clone(request);
    Some(ResolvedRequest { resolution, reading: state.reading(now), scope, request })
}

pub fn open_request(state: &RoomState, id: &RequestId) -> RoomResult<ApprovalRequest> {
    is_open(state, id).map(|request| ApprovalRequest::clone(request))
}

pub fn is_open<'s>(state: &'s RoomState, id: &RequestId) -> RoomResult<&'s Arc<ApprovalRequest>> {
    state.open.get(id).ok_or_else(|| why_not_open(state, id))
}

fn why_not_open(state: &RoomState, id: &RequestId) -> RoomError {
    let Some(request) = state.request(id) else { return RoomError::NoRequest };
    let closed = request.decisions.closed.as_ref();
    DecisionError::AlreadyResolved {
        status: request.status,
        hunk: None,
        by: closed.and_then(|closed| closed.by.clone()),
        at_ms: closed.map(|closed| closed.at_ms),
    }
    .into()
}

pub fn missed(
    state: &RoomState,
    base: Version,
    older: Option<Vec<Arc<Update>>>,
) -> RoomResult<Vec<Arc<Update>>> {
    if base > state.version() {
        return Err(RoomError::Ahead { asked: base, newest: state.version() });
    }
    let older = older.ok_or(RoomError::Resync)?;
    let start = state.document.tail_start().max(base);
    let newer = state.document.since(start).ok_or(RoomError::Resync)?;
    let missed: Vec<_> = older.into_iter().chain(newer.map(Arc::new)).collect();
    if base.plus(missed.len()) == state.version() { Ok(missed) } else { Err(RoomError::Resync) }
}
