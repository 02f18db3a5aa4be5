//! Events about documents: list, create, open, push, resync, close, rename, delete, settings and
//! carets.

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use copydesk_engine::api::{ApiError, Caller, DocumentRecord};
use copydesk_engine::cpu_pool;
use copydesk_engine::ids::{ClientId, DocumentId, UserId, Version};
use copydesk_engine::metrics;
use copydesk_engine::permissions::Action;
use copydesk_engine::rooms::command::{PushRequest, ReplySender, RoomCommand};
use copydesk_engine::rooms::event::CaretPosition;
use copydesk_protocol::client::{
    Caret, ChangeSettings, CreateDocument, EmptyTrash, ListDocuments, MoveCaret, NameDocument,
    Nothing, OpenDocument, PushUpdates, RenameDocument, Resync,
};
use copydesk_protocol::convert;
use copydesk_protocol::rest::NewVersion;
use copydesk_protocol::server::{CreatedDocument, DocumentLine, DocumentSettings, Trash};

use super::event_queue::AckReply;
use super::socket_error::{SocketError, SocketResult};
use super::{SocketConnection, encode, files, given, read};

#[derive(Serialize)]
pub(crate) struct DocumentListAck {
    /// List of [`DocumentLine`].
    documents: Box<RawValue>,
    /// Value of `before` for the documents after these.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Length of a push, in bytes, up to which it is parsed on the worker's own task.
const SHORT_PUSH: usize = 256 * 1024;
/// Number of lines up to which a list is serialized on the worker's own task, some 5 µs each.
const SHORT_LIST: usize = 100;
/// Default number of documents of a page.
const PAGE: u32 = 200;
/// Maximum number of documents of a page.
const LONGEST_PAGE: u32 = 1_000;

/// Answers `document:list`: returns the documents that the person may open, or a page of them.
///
/// # Errors
/// `invalid_payload` for a page that cannot be, `unavailable` if the list cannot be read,
/// `internal` if it cannot be encoded.
pub async fn list(caller: &Caller, payload: ListDocuments) -> SocketResult<DocumentListAck> {
    let Caller { api, principal, .. } = caller.clone();
    let paths = api.document_paths().await?;
    let (records, next) = listed(caller, payload).await?;
    let ids: Vec<_> = records.iter().map(|record| record.id.clone()).collect();
    let waiting = caller.waiting_changes(&ids).await?;
    let is_long = records.len() > SHORT_LIST;
    let write = move || -> Vec<DocumentLine> {
        let line = |record: DocumentRecord| {
            let path = paths.of(&record.id);
            let waiting = waiting.get(&record.id).copied().unwrap_or_default();
            convert::document_line(record, path, waiting, &principal)
        };
        records.into_iter().map(line).collect()
    };
    Ok(DocumentListAck { documents: encode(caller, is_long, write).await?, next })
}

/// Returns all documents, or a page of them with the place of the next one.
async fn listed(
    caller: &Caller,
    payload: ListDocuments,
) -> SocketResult<(Vec<DocumentRecord>, Option<String>)> {
    let ListDocuments { limit, before } = payload;
    if limit.is_none() && before.is_none() {
        return Ok((caller.api.documents(&caller.principal).await?, None));
    }
    let limit = limit.unwrap_or(PAGE);
    if !(1..=LONGEST_PAGE).contains(&limit) {
        return Err(SocketError::invalid(format!("`limit` is 1 to {LONGEST_PAGE}")));
    }
    let wrong = || SocketError::invalid("`before` must be a value taken from `next`");
    let place = |text: String| {
        let (at_ms, id) = text.split_once('.')?;
        Some((at_ms.parse().ok()?, id.to_owned()))
    };
    let after = before.map(|text| place(text).ok_or_else(wrong)).transpose()?;
    let page = caller.document_page(after.as_ref(), limit as usize).await?;
    let next = page.end().map(|last| format!("{}.{}", last.updated_ms, last.id));
    Ok((page.items, next))
}

#[derive(Serialize)]
pub(crate) struct CreateAck {
    document: CreatedDocument,
}

/// Answers `document:create`: creates a document.
///
/// # Errors
/// `not_allowed` without permission to create, `invalid_payload` for too long a text; see
/// [`Caller::create_document`].
pub async fn create(caller: &Caller, payload: CreateDocument) -> SocketResult<CreateAck> {
    let created = caller.create_document(given(convert::new_document(payload))).await?;
    Ok(CreateAck { document: convert::created(created) })
}

pub async fn open(connection: &mut SocketConnection, payload: &RawValue, ack: AckReply) {
    let payload: OpenDocument = match read(payload) {
        Ok(payload) => payload,
        Err(refusal) => return ack.refuse(&refusal),
    };
    match (payload.document_id, payload.path) {
        (Some(document), None) => enter(connection, document.into(), payload.since, ack).await,
        (None, Some(path)) => match files::document(&connection.caller, path).await {
            Ok(document) => enter(connection, document, payload.since, ack).await,
            Err(refusal) => ack.refuse(&refusal),
        },
        _ => ack.refuse(&SocketError::invalid("one of `documentId` and `path` is needed")),
    }
}

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
            Ok(opened) => ack.accept(&convert::opened(&document, opened, &member, &principal)),
            Err(error) => ack.refuse(&error.into()),
        }
        done.send(()).ok();
    });
    room.send(RoomCommand::Open(connection.as_member(), since.map(Version), reply)).await;
    finished.await.ok();
}

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

/// Reads a push; a long one on the CPU pool, where it delays nobody.
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
    match connection.route.relay_mut().and_then(|relay| relay.closes(&document)) {
        Some(node) => Err(SocketError::of_node(node)),
        None => Ok(()),
    }
}

/// Answers `document:rename`: changes the title.
///
/// # Errors
/// `invalid_payload` for a title without 1 to 200 characters, `not_found`, `not_allowed` for
/// readers; see [`Caller::rename_document`].
pub async fn rename(caller: &Caller, payload: RenameDocument) -> SocketResult<()> {
    let RenameDocument { document_id, title } = payload;
    Ok(caller.rename_document(&document_id.into(), given(title)).await?)
}

/// Answers `document:delete`: deletes the document, which can be recovered for 30 days.
///
/// # Errors
/// `not_found` for an unknown document, `not_allowed` without permission to manage it; see
/// [`Caller::delete_document`].
pub async fn delete(connection: &mut SocketConnection, payload: NameDocument) -> SocketResult<()> {
    let document = DocumentId::from(payload.document_id);
    connection.caller.delete_document(&document).await?;
    connection.rooms.remove(&document);
    Ok(())
}

/// Answers `trash:list`: returns the deleted documents that the person can recover.
///
/// # Errors
/// `not_allowed` for people other than owners; see [`Caller::trash`].
pub async fn trash(caller: &Caller, _: Nothing) -> SocketResult<Trash> {
    Ok(convert::trash(caller.trash().await?))
}

/// Answers `trash:recover`: recovers a deleted document.
///
/// # Errors
/// `not_found` for a document that is not in the trash, `not_allowed` without permission to manage
/// it; see [`Caller::recover_document`].
pub async fn recover(caller: &Caller, payload: NameDocument) -> SocketResult<()> {
    Ok(caller.recover_document(&payload.document_id.into()).await?)
}

/// Answers `trash:empty`: removes deleted documents from the trash.
///
/// # Errors
/// `not_found` for a document that is not in the trash, `not_allowed` for people other than owners;
/// see [`Caller::purge_trash`].
pub async fn empty_trash(caller: &Caller, payload: EmptyTrash) -> SocketResult<()> {
    let only = payload.document_id.map(DocumentId::from);
    Ok(caller.purge_trash(only.as_ref()).await?)
}

#[derive(Serialize)]
pub(crate) struct SettingsAck {
    settings: DocumentSettings,
}

/// Answers `document:settings`: changes the review settings.
///
/// # Errors
/// `invalid_payload` for settings that are not accepted, `resync` for ranges of an old version,
/// `not_found`, `not_allowed`; see [`Caller::configure_document`].
pub async fn settings(caller: &Caller, payload: ChangeSettings) -> SocketResult<SettingsAck> {
    let document = payload.document_id.as_str().into();
    let change = std::future::ready(convert::configure(payload).map_err(ApiError::invalid));
    let settings = caller.configure_document(&document, change).await?;
    Ok(SettingsAck { settings: convert::document_settings(&settings) })
}

/// Takes `presence:update`: shows others where the person's caret is.
///
/// # Errors
/// None; a document that is not open here has no carets.
pub async fn caret(connection: &mut SocketConnection, payload: MoveCaret) -> SocketResult<()> {
    let document = DocumentId::from(payload.document_id);
    // Only if the connection has opened the document: carets concern nobody else, and nobody waits
    // for this answer.
    if let Some(room) = connection.rooms.get(&document) {
        let Caret { version, anchor, head } = payload.caret;
        let caret = CaretPosition { version: Version(version), anchor, head };
        room.caret(connection.member.clone(), caret).await;
        return Ok(());
    }
    match connection.route.relay().and_then(|relay| relay.opened_on(&document)) {
        Some(node) => Err(SocketError::of_node(node.clone())),
        None => Ok(()),
    }
}
