//! Reads of a room from the store: the document, its open requests, and what is older.

use std::sync::Arc;

use copydesk_approvals::{ApprovalRequest, ApprovalRequirement, StoredRequest};
use copydesk_auth as auth;
use copydesk_comments::CommentThread;
use copydesk_cpu_pool as cpu_pool;
use copydesk_document::{TAIL, Update};
use copydesk_failpoint as failpoint;
use copydesk_ids::permissions::Action;
use copydesk_ids::{DocumentId, RequestId, SessionId, Version};
use copydesk_store::{LogPiece, QueryScope, StartingText, Store};

use super::history;
use super::restore::{self, RestoringState};
use crate::state::{RoomState, workspace_inbox};
use crate::work_size::{is_long_answer, is_long_log};
use crate::{RoomError, RoomResult};

/// Updates that a client or a proposal may be behind and still be brought up to date by updates. If
/// there are more, the client gets the whole text.
const REACH: LogPiece = LogPiece { updates: 20_000, bytes: 32 * 1024 * 1024 };
/// Updates that a push may be behind and still be rebased: those that a room in use has in memory.
const PUSH_REACH: LogPiece = LogPiece { updates: TAIL.updates as u64, bytes: TAIL.bytes as u64 };
/// Number of updates that an ended request may be behind and still be undone or proposed again.
const LONG_REACH: u64 = 200_000;

/// Piece of a log that is read at a time: some milliseconds of work.
pub(crate) const PIECE: LogPiece = LogPiece { updates: 1_000, bytes: 4 * 1024 * 1024 };
/// Updates that are at hand after a room was loaded again, because a batch could not be stored.
const RECENT: LogPiece = LogPiece { updates: 512, bytes: 8 * 1024 * 1024 };

pub async fn load(store: &Store, id: &DocumentId) -> RoomResult<RoomState> {
    load_from(store, id, Version(u64::MAX)).await
}

/// Loads a room with some of the newest updates at hand, of those up to the version `told`.
pub async fn load_recent(
    store: &Store,
    id: &DocumentId,
    announced: Version,
) -> RoomResult<RoomState> {
    let at_hand = store.reachable(id, announced, RECENT).await?;
    load_from(store, id, at_hand).await
}

/// Loads a room with a log that reaches back to `at_hand` at least, or as far as is held in memory.
async fn load_from(store: &Store, id: &DocumentId, at_hand: Version) -> RoomResult<RoomState> {
    let start = store.starting_text(id, Version(u64::MAX)).await?;
    let mut start = start.ok_or(RoomError::NoDocument)?;
    let scope = if *id == workspace_inbox::id() {
        QueryScope::WorkspaceInbox
    } else {
        QueryScope::Document(id)
    };
    let open = store.open_requests(scope).await?;
    let open = open.iter().map(restore::stored_request).collect::<Result<Vec<_>, _>>()?;
    let threads = store.threads(id).await?;
    let threads = threads.iter().map(restore::thread).collect::<Result<Vec<_>, _>>()?;
    let floor = restore::floor(&start.record.settings, &open, &threads, at_hand)?;
    if floor < start.snapshot {
        let older = store.starting_text(id, floor).await?;
        let StartingText { snapshot, text, .. } = older.ok_or(RoomError::NoDocument)?;
        start = StartingText { record: start.record, snapshot, text };
    }
    failpoint::pass("room.loading");
    let mut state = replay(store, id, start, (open, threads)).await?;
    let rules = store.rules(scope).await?;
    for rule in rules.into_iter().map(restore::rule) {
        let rule = rule?;
        state.rules.insert(rule.id().clone(), Arc::new(rule));
    }
    let file = store.file(id).await?;
    state.file_path = file.map(|file| file.path);
    Ok(state)
}

async fn replay(
    store: &Store,
    id: &DocumentId,
    start: StartingText,
    (open, threads): (Vec<StoredRequest>, Vec<CommentThread>),
) -> RoomResult<RoomState> {
    let newest = start.record.version;
    let hunks: usize = open.iter().map(|request| request.reached().hunks.len()).sum();
    let hunks = hunks + threads.len();
    let long = is_long_answer(start.text.len(), hunks);
    let begin = move || RestoringState::new(start, open, threads);
    let mut restoring = cpu_pool::run_if(long, id.as_str(), begin).await??;
    while restoring.version() < newest {
        let piece = store.piece(id, restoring.version(), newest, PIECE).await?;
        let bytes = piece.iter().map(|update| update.changes.len()).sum();
        let long = is_long_log(piece.len() * (1 + hunks / 10), bytes);
        let follow = move || restoring.follow(piece).map(|()| restoring);
        restoring = cpu_pool::run_if(long, id.as_str(), follow).await??;
    }
    Ok(restoring.finish())
}

/// Returns the updates between a version and the log at hand; `None` if they reach back too far, by
/// number or by bytes, or if the version is ahead of the document. Everything that has left the log
/// at hand must be durable.
pub async fn older(
    store: &Store,
    state: &RoomState,
    since: Version,
) -> RoomResult<Option<Vec<Arc<Update>>>> {
    older_within(store, state, since, REACH).await
}

/// Reads the updates between a version and the log at hand back into that log, so that a change
/// made on this version can be moved to the newest one. Does nothing if they are more than a room
/// in use has in memory, or if the version is ahead of the document. Everything that has left the
/// log at hand must be durable.
pub async fn extend_log(store: &Store, state: &mut RoomState, since: Version) -> RoomResult<()> {
    if let Some(older) = older_within(store, state, since, PUSH_REACH).await? {
        state.document.prepend_log(older.iter().map(AsRef::as_ref));
    }
    Ok(())
}

async fn older_within(
    store: &Store,
    state: &RoomState,
    since: Version,
    most: LogPiece,
) -> RoomResult<Option<Vec<Arc<Update>>>> {
    let (start, newest) = (state.document.tail_start(), state.version());
    if since >= start {
        return Ok((since <= newest).then(Vec::new));
    }
    if newest.0 - since.0 > most.updates {
        return Ok(None);
    }
    let in_memory = state.document.log_size_bytes() as u64;
    let reach = LogPiece { bytes: most.bytes.saturating_sub(in_memory), ..most };
    if store.reachable(state.id(), start, reach).await? > since {
        return Ok(None);
    }
    let (mut at, mut older) = (since, Vec::new());
    while at < start {
        let piece = store.piece(state.id(), at, start, PIECE).await?;
        at = at.plus(piece.len());
        older.extend(piece.into_iter().map(|update| Arc::new(restore::update(update))));
        tokio::task::yield_now().await;
    }
    Ok(Some(older))
}

pub async fn request(
    store: &Store,
    state: &RoomState,
    id: &RequestId,
) -> RoomResult<ApprovalRequest> {
    let record = store.request(id).await?;
    let record = record.filter(|record| record.document == state.about());
    restore::request(&record.ok_or(RoomError::NoRequest)?)
}

/// Maps an ended request over everything, all durable, that was committed since it ended.
pub async fn caught_up(
    store: &Store,
    state: &RoomState,
    mut ended: ApprovalRequest,
) -> RoomResult<ApprovalRequest> {
    let (then, newest) = (ended.version, state.version());
    if then == newest {
        return Ok(ended);
    }
    if newest.0.saturating_sub(then.0) > LONG_REACH {
        let reason = "too much was written since; this can no longer be reopened";
        return Err(RoomError::Invalid(reason.to_owned()));
    }
    let id = state.id();
    let (mut at, mut text) = (then, history::text_at(store, id, then, id.as_str()).await?);
    while at < newest {
        // Updates that the room has in memory need not be read back.
        let piece: Vec<Box<str>> = if let Some(newer) = state.document.since(at) {
            newer.map(|update| update.changes).collect()
        } else {
            let piece = store.piece(id, at, newest, PIECE).await?;
            piece.into_iter().map(|update| update.changes).collect()
        };
        at = at.plus(piece.len());
        let bytes = piece.iter().map(|changes| changes.len()).sum();
        let long = is_long_log(piece.len() * (1 + ended.hunks.len() / 10), bytes);
        let follow = move || {
            let followed =
                restore::catch_up(&mut ended, &mut text, piece.iter().map(|changes| &**changes));
            followed.map(|()| (ended, text))
        };
        (ended, text) = cpu_pool::run_if(long, id.as_str(), follow).await??;
    }
    Ok(ended)
}

/// Refuses if fewer people could decide requests than must agree: none could be approved.
pub async fn check_people(
    store: &Store,
    document: &DocumentId,
    consents: &[ApprovalRequirement],
    now_ms: u64,
) -> RoomResult<()> {
    for consent in consents {
        let people = auth::deciders(store, document, consent.action(), now_ms).await?;
        if people.len() < consent.people() {
            return Err(RoomError::Invalid(too_few(*consent)));
        }
    }
    Ok(())
}

fn too_few(consent: ApprovalRequirement) -> String {
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

/// Returns those of the sessions that have ended for good.
pub async fn sessions_over(
    store: &Store,
    sessions: Vec<SessionId>,
    now_ms: u64,
) -> RoomResult<Vec<SessionId>> {
    let mut over = Vec::new();
    for id in sessions {
        let session = store.session(&id).await?;
        if session.is_none_or(|session| session.is_over(now_ms)) {
            over.push(id);
        }
    }
    Ok(over)
}
