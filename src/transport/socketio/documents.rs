//! Events about documents: list, create, open, push, resync, close, rename, delete, settings and
//! carets.

use std::future::ready;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use crate::api::{ApiError, Caller, DocumentRecord};
use crate::cpu_pool;
use crate::ids::{ClientId, DocumentId, UserId, Version};
use crate::permissions::Action;
use crate::rooms::NewDocument;
use crate::rooms::command::{PushRequest, ReplySender, RoomCommand};
use crate::rooms::event::CaretPosition;
use crate::transport::protocol::client::{
    ChangeSettings, CreateDocument, MoveCaret, NameDocument, Nothing, OpenDocument, PushUpdates,
    RenameDocument, Resync,
};
use crate::transport::protocol::convert;
use crate::transport::protocol::rest::NewVersion;
use crate::transport::protocol::server::{CreatedDocument, DocumentLine, DocumentSettings};

use super::event_queue::AckReply;
use super::socket_error::SocketError;
use super::{EmptyAck, SocketConnection, files, given, read};

#[derive(Serialize)]
pub(crate) struct DocumentListAck {
    /// List of [`DocumentLine`].
    documents: Box<RawValue>,
}

/// Length of a push, in bytes, up to which it is parsed on the worker's own task.
const SHORT_PUSH: usize = 256 * 1024;
/// Number of lines up to which a list is serialized on the worker's own task, some 5 µs each.
const SHORT_LIST: usize = 100;

pub(crate) async fn list(
    connection: &mut SocketConnection,
    _: Nothing,
) -> Result<DocumentListAck, SocketError> {
    let Caller { api, principal, .. } = connection.caller.clone();
    let records = api.documents(&principal).await?;
    let waiting = connection.caller.waiting_changes().await?;
    let person = principal.user.to_string();
    let long = records.len() > SHORT_LIST;
    let write = move || {
        let line = |record: DocumentRecord| {
            let path = api.file_of(&record.id);
            let waiting = waiting.get(&record.id).copied().unwrap_or_default();
            convert::document_line(record, path, waiting, &principal)
        };
        to_raw_value(&records.into_iter().map(line).collect::<Vec<DocumentLine>>())
    };
    let written = cpu_pool::run_if(long, &person, write).await;
    match written {
        Ok(Ok(documents)) => Ok(DocumentListAck { documents }),
        Ok(Err(_)) | Err(_) => Err(SocketError::internal()),
    }
}

#[derive(Serialize)]
pub(crate) struct CreateAck {
    document: CreatedDocument,
}

pub(crate) async fn create(
    connection: &mut SocketConnection,
    payload: CreateDocument,
) -> Result<CreateAck, SocketError> {
    let new = NewDocument {
        title: payload.title.unwrap_or_default(),
        text: payload.text.unwrap_or_default(),
        unlisted_owner: None,
    };
    let created = connection.caller.create_document(given(new)).await?;
    Ok(CreateAck { document: convert::created(created) })
}

pub(crate) async fn open(connection: &mut SocketConnection, payload: &RawValue, ack: AckReply) {
    let payload: OpenDocument = match read(payload) {
        Ok(payload) => payload,
        Err(refusal) => return ack.refuse(&refusal),
    };
    match (payload.document_id, payload.path) {
        (Some(document), None) => enter(connection, document.into(), payload.since, ack).await,
        (None, Some(path)) => match files::document(connection, path).await {
            Ok(document) => enter(connection, document, payload.since, ack).await,
            Err(refusal) => ack.refuse(&refusal),
        },
        _ => ack.refuse(&SocketError::invalid("one of `documentId` and `path` is needed")),
    }
}

pub(crate) async fn resync(connection: &mut SocketConnection, payload: &RawValue, ack: AckReply) {
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
            Ok(opened) => ack.accept(&convert::opened(&document, opened, &member, &principal)),
            Err(error) => ack.refuse(&error.into()),
        }
        done.send(()).ok();
    });
    room.send(RoomCommand::Open(connection.as_member(), since.map(Version), reply)).await;
    finished.await.ok();
}

pub(crate) async fn push(connection: &mut SocketConnection, payload: &RawValue, ack: AckReply) {
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
            Ok(Version(version)) => ack.accept(&NewVersion { version }),
            Err(error) => ack.refuse(&error.into()),
        }
        done.send(()).ok();
    });
    room.send(RoomCommand::Push(push, reply)).await;
}

/// Reads a push; a long one on the CPU pool, where it delays nobody.
async fn read_push(person: &UserId, payload: &RawValue) -> Result<PushUpdates, SocketError> {
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

pub(crate) async fn close(
    connection: &mut SocketConnection,
    payload: NameDocument,
) -> Result<EmptyAck, SocketError> {
    if let Some(room) = connection.rooms.remove(&DocumentId::from(payload.document_id)) {
        room.leave(connection.member.clone()).await;
    }
    Ok(EmptyAck {})
}

pub(crate) async fn rename(
    connection: &mut SocketConnection,
    payload: RenameDocument,
) -> Result<EmptyAck, SocketError> {
    let RenameDocument { document_id, title } = payload;
    let document = document_id.into();
    connection.caller.rename_document(&document, given(title)).await?;
    Ok(EmptyAck {})
}

pub(crate) async fn delete(
    connection: &mut SocketConnection,
    payload: NameDocument,
) -> Result<EmptyAck, SocketError> {
    let document = DocumentId::from(payload.document_id);
    connection.caller.delete_document(&document).await?;
    connection.rooms.remove(&document);
    Ok(EmptyAck {})
}

#[derive(Serialize)]
pub(crate) struct SettingsAck {
    settings: DocumentSettings,
}

pub(crate) async fn settings(
    connection: &mut SocketConnection,
    payload: ChangeSettings,
) -> Result<SettingsAck, SocketError> {
    let document = payload.document_id.as_str().into();
    let change = ready(convert::configure(payload).map_err(ApiError::invalid));
    let settings = connection.caller.configure_document(&document, change).await?;
    Ok(SettingsAck { settings: convert::document_settings(&settings) })
}

pub(crate) async fn caret(
    connection: &mut SocketConnection,
    payload: MoveCaret,
) -> Result<EmptyAck, SocketError> {
    let document = DocumentId::from(payload.document_id);
    // Only if the connection has opened the document: carets concern nobody else, and nobody waits
    // for this answer.
    if let Some(room) = connection.rooms.get(&document) {
        let caret = payload.caret;
        let caret = CaretPosition {
            version: Version(caret.version),
            anchor: caret.anchor,
            head: caret.head,
        };
        room.caret(connection.member.clone(), caret).await;
    }
    Ok(EmptyAck {})
}
