//! Events of a connection in documents: open, push, resync, close and carets.

use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use copydesk_api::{ApiResult, Caller};
use copydesk_cpu_pool as cpu_pool;
use copydesk_ids::permissions::Action;
use copydesk_ids::{ClientId, DocumentId, UserId, Version};
use copydesk_metrics as metrics;
use copydesk_protocol::client::{
    Caret, MoveCaret, NameDocument, OpenDocument, PushUpdates, Resync,
};
use copydesk_protocol::rest::NewVersion;
use copydesk_protocol_conversion as wire;
use copydesk_rooms::command::{PushRequest, ReplySender, RoomCommand};
use copydesk_rooms::event::CaretPosition;

use super::event_queue::AckReply;
use super::socket_error::{SocketError, SocketResult};
use super::{SocketConnection, read};

/// Length of a push, in bytes, up to which it is parsed on the worker's own task.
const SHORT_PUSH: usize = 256 * 1024;

/// Answers `document:open`, of a document or of a file in the workspace.
pub async fn open(connection: &mut SocketConnection, payload: &RawValue, ack: AckReply) {
    let payload: OpenDocument = match read(payload) {
        Ok(payload) => payload,
        Err(refusal) => return ack.refuse(&refusal),
    };
    match (payload.document_id, payload.path) {
        (Some(document), None) => enter(connection, document.into(), payload.since, ack).await,
        (None, Some(path)) => match open_file(&connection.caller, &path).await {
            Ok(document) => enter(connection, document, payload.since, ack).await,
            Err(error) => ack.refuse(&error.into()),
        },
        _ => ack.refuse(&SocketError::invalid("one of `documentId` and `path` is needed")),
    }
}

/// Returns the document of a file, and creates it if there is none.
async fn open_file(caller: &Caller, path: &str) -> ApiResult<DocumentId> {
    caller.require(Action::Create)?;
    caller.open_file(path).await
}

/// Answers `document:resync` as an open from a version on.
pub async fn resync(connection: &mut SocketConnection, payload: &RawValue, ack: AckReply) {
    match read::<Resync>(payload) {
        Ok(payload) => {
            enter(connection, payload.document_id.into(), Some(payload.version), ack).await;
        }
        Err(refusal) => ack.refuse(&refusal),
    }
}

/// Opens a document. The answer is given by the room's own task: no update can come between it and
/// the first broadcast.
async fn enter(
    connection: &mut SocketConnection,
    document: DocumentId,
    since: Option<u64>,
    ack: AckReply,
) {
    let room = match connection.caller.room(&document, Action::Read).await {
        Ok(room) => room,
        Err(error) => return ack.refuse(&error.into()),
    };
    connection.rooms.insert(document.clone(), room.clone());
    let principal = connection.caller.principal.clone();
    let member = connection.member.clone();
    let (done, finished) = oneshot::channel();
    let reply = ReplySender::new(move |opened| {
        match opened {
            Ok(opened) => ack.accept(&wire::opened(&document, opened, &member, &principal)),
            Err(error) => ack.refuse(&error.into()),
        }
        done.send(()).ok();
    });
    room.send(RoomCommand::Open(connection.as_member(), since.map(Version), reply)).await;
    finished.await.ok();
}

/// Hands `document:push` to the room, which answers once the updates are stored.
pub async fn push(connection: &mut SocketConnection, payload: &RawValue, ack: AckReply) {
    let payload: PushUpdates = match read_push(&connection.caller.principal.user, payload).await {
        Ok(payload) => payload,
        Err(refusal) => return ack.refuse(&refusal),
    };
    let document = DocumentId::from(payload.document_id);
    let room = match connection.caller.room(&document, Action::Write).await {
        Ok(room) => room,
        Err(error) => return ack.refuse(&error.into()),
    };
    if payload.updates.is_empty() {
        return ack.refuse(&SocketError::invalid("a push has at least one update"));
    }
    if payload.updates.iter().any(|update| !is_client_name(&update.client_id)) {
        return ack.refuse(&SocketError::invalid("a clientID has 1 to 64 printable characters"));
    }
    let updates = payload
        .updates
        .into_iter()
        .map(|update| (ClientId::from(update.client_id), Box::<str>::from(update.changes)))
        .collect();
    let push = PushRequest {
        member: connection.member.clone(),
        principal: connection.caller.principal.clone(),
        base: Version(payload.version),
        updates,
    };
    let (done, finished) = oneshot::channel();
    connection.pushes.retain_mut(|push| push.try_recv() == Err(TryRecvError::Empty));
    connection.pushes.push(finished);
    let reply = ReplySender::new(move |version| {
        match version {
            Ok(Version(version)) => ack.accept_push(&NewVersion { version }),
            Err(error) => {
                metrics::KEYSTROKES_REFUSED.count();
                ack.refuse(&error.into());
            }
        }
        done.send(()).ok();
    });
    room.send(RoomCommand::Push(push, reply)).await;
}

/// Reads a push; a long one on the CPU pool, where it delays no one.
async fn read_push(person: &UserId, payload: &RawValue) -> SocketResult<PushUpdates> {
    if payload.get().len() <= SHORT_PUSH {
        return read(payload);
    }
    let payload = payload.to_owned();
    let reading = cpu_pool::run(person.as_str(), move || read(&payload));
    reading.await.unwrap_or_else(|_| Err(SocketError::internal()))
}

/// Returns `true` if a client may use the name. Names with `ai:` are the server's own.
fn is_client_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && !name.starts_with("ai:")
        && name.chars().all(|c| !c.is_control())
}

/// Answers `document:close`: leaves the document.
///
/// # Errors
/// None; a document that is not open here stays as it is.
pub async fn close(connection: &mut SocketConnection, payload: NameDocument) -> SocketResult<()> {
    let document = DocumentId::from(payload.document_id);
    if let Some(room) = connection.rooms.remove(&document) {
        room.leave(connection.member.clone()).await;
    }
    match connection.other_servers.as_mut().and_then(|others| others.close(&document)) {
        Some(server) => Err(SocketError::of_other_server(server)),
        None => Ok(()),
    }
}

/// Event whose document the connection leaves.
pub(crate) const DELETE: &str = "document:delete";

/// Drops the room of a document that was deleted.
pub(crate) fn forget(connection: &mut SocketConnection, payload: &RawValue) {
    if let Ok(NameDocument { document_id }) = read(payload) {
        connection.rooms.remove(&DocumentId::from(document_id));
    }
}

/// Takes `presence:update`: shows others where the person's caret is.
///
/// # Errors
/// None; a document that is not open here has no carets.
pub async fn caret(connection: &mut SocketConnection, payload: MoveCaret) -> SocketResult<()> {
    let document = DocumentId::from(payload.document_id);
    // Only if the connection has opened the document: carets concern no one else, and no one waits
    // for this answer.
    if let Some(room) = connection.rooms.get(&document) {
        let Caret { version, anchor, head } = payload.caret;
        let caret = CaretPosition { version: Version(version), anchor, head };
        room.caret(connection.member.clone(), caret).await;
        return Ok(());
    }
    match connection.other_servers.as_ref().and_then(|others| others.opened_on(&document)) {
        Some(server) => Err(SocketError::of_other_server(server.clone())),
        None => Ok(()),
    }
}
