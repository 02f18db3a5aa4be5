//! A room that is not on this server of several, as it sees it: reads what is stored, and changes
//! nothing.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use crate::command::{RoomCommand, SnapshotWithUpdates};
use crate::persistence::loading;
use crate::room_deps::RoomDeps;
use crate::room_handle::RoomStatus;
use crate::state::{RoomState, requests, rules};
use crate::{RoomError, RoomHandle, RoomResult};
use copydesk_ids::{DocumentId, Version};
use copydesk_placement::NotHere;

/// Number of commands that may wait.
const QUEUE_LENGTH: usize = 64;

/// Starts a mirror of a room that is not here; without a `reason`, any server or none may have it.
/// It ends with its last handle. Every answer is read from the store, so that nothing is missed
/// that was acknowledged, such as a rule.
///
/// # Errors
/// [`RoomError::NoDocument`] for an unknown document, [`RoomError::Store`] if it cannot be read.
pub(crate) async fn start(
    shared: &Arc<RoomDeps>,
    document: &DocumentId,
    reason: Option<NotHere>,
) -> RoomResult<RoomHandle> {
    let record = shared.store.document(document).await?.ok_or(RoomError::NoDocument)?;
    let (commands, mut received) = mpsc::channel::<Box<RoomCommand>>(QUEUE_LENGTH);
    let (_, room_status) = watch::channel(RoomStatus { version: Version(0), people: 0 });
    let (mirrored, id) = (Arc::clone(shared), document.clone());
    shared.tasks.spawn(async move {
        loop {
            let command = tokio::select! {
                () = mirrored.stopping.cancelled() => None,
                command = received.recv() => command,
            };
            let Some(command) = command else { return };
            answer(&mirrored, &id, reason.as_ref(), *command).await;
        }
    });
    let (document, unlisted_owner) = (document.clone(), record.unlisted_owner);
    Ok(RoomHandle { document, unlisted_owner, commands, room_status })
}

async fn answer(
    shared: &RoomDeps,
    id: &DocumentId,
    reason: Option<&NotHere>,
    command: RoomCommand,
) {
    match command {
        RoomCommand::Rules(reply) => {
            let room = load(shared, id).await;
            reply.send(room.map(|room| room.rules.values().cloned().collect()));
        }
        RoomCommand::Requests(reply) => {
            let room = load(shared, id).await;
            reply.send(room.map(|room| room.open.values().cloned().collect()));
        }
        RoomCommand::Threads(reply) => {
            let room = load(shared, id).await;
            reply.send(room.and_then(|room| room.thread_list()));
        }
        RoomCommand::Read(reply) => {
            let room = load(shared, id).await;
            reply.send(room.and_then(|room| room.exists().map(|()| room.reading(&shared.now()))));
        }
        RoomCommand::CatchUp(since, _, reply) => {
            reply.send(catch_up(shared, id, since).await);
        }
        command => command.refuse(reason.cloned().map_or(RoomError::Closed, RoomError::NotHere)),
    }
}

/// Returns the document with its updates since a version, without the requests that caused them.
async fn catch_up(
    shared: &RoomDeps,
    id: &DocumentId,
    since: Version,
) -> RoomResult<SnapshotWithUpdates> {
    let room = load(shared, id).await?;
    room.exists()?;
    let older = loading::older(&shared.store, &room, since).await?;
    let missed = requests::missed(&room, since, older)?;
    Ok(SnapshotWithUpdates { now: room.reading(&shared.now()), missed, causes: Vec::new() })
}

/// Loads the room, without the rules whose sessions no one can continue.
async fn load(shared: &RoomDeps, id: &DocumentId) -> RoomResult<RoomState> {
    let mut room = loading::load(&shared.store, id).await?;
    let for_sessions = room.rules.values().filter(|rule| rules::is_for_session(rule));
    let sessions = for_sessions.map(|rule| rule.session.clone()).collect();
    let over = loading::sessions_over(&shared.store, sessions, shared.clock.now_ms()).await?;
    room.rules.retain(|_, rule| !rules::is_for_session(rule) || !over.contains(&rule.session));
    Ok(room)
}
