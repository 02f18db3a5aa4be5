//! Documents: lists, contents, titles, settings, edits, and the trash.

use copydesk_api::{ApiError, ApiResult, Caller, DocumentRecord};
use copydesk_cpu_pool as cpu_pool;
use copydesk_ids::permissions::Action::{Audit, Create, Manage, Read, Suggest, Write};
use copydesk_ids::{DocumentId, Version};
use copydesk_operation_table::{
    Anyone, BodyKind, ManageDeletedDocument, OnDocument, OnDocumentOrInbox, OnServer, Operation,
    operation, transport_handled,
};
use copydesk_protocol::answers::DocumentList;
use copydesk_protocol::client::{
    ChangeSettings, CreateDocument, EmptyTrash, ListDocuments, NameDocument, Nothing,
    RenameDocument,
};
use copydesk_protocol::queries::{
    AuditQuery, ConvertQuery, ExportQuery, FileContent, ImportQuery, ListPart,
};
use copydesk_protocol::rest::{
    AuditPage, ConvertedHtml, DocumentPage, EditDocument, FullDocument, ImportedDocument,
    NewVersion,
};
use copydesk_protocol::server::{CreatedDocument, DocumentLine, DocumentSettings, Trash};
use copydesk_protocol_conversion as wire;
use copydesk_rooms::command::{DocumentSnapshot, SettingsChange};
use copydesk_rooms::settings::OwnSettings;
use copydesk_rooms::{NewDocument, RoomHandle};

use crate::encode;

/// Length of a text, in UTF-16 units, above which it is serialized on the CPU pool.
pub(crate) const SHORT_TEXT: usize = 128 * 1024;
/// Number of lines up to which a list is serialized at once, some 5 µs each.
const SHORT_LIST: usize = 100;
/// Default number of documents of a page.
const PAGE: u32 = 200;
/// Maximum number of documents of a page.
const LONGEST_PAGE: u32 = 1_000;

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("Documents, last changed first, or a page of them", Anyone, list).event("document:list").only_reads(),
        transport_handled::<_, ListPart, DocumentPage>("Documents, last changed first", Anyone).get("/documents", "listDocuments"),
        operation("Create a document", OnServer(Create), create).event("document:create").ack_in("document").post("/documents", "createDocument").body(BodyKind::Text).creates("/documents"),
        transport_handled::<_, ImportQuery, ImportedDocument>("Create a document of a file as it is: .docx, .md, .txt or .html; tracked changes of Word become requests", OnServer(Create)).post("/documents/import", "importDocument").body(BodyKind::File).creates("/documents"),
        operation("Copy a document: its title and text, its policies and the models that may see it", (OnServer(Create), OnDocument(Read)), duplicate).event("document:duplicate").ack_in("document").post("/documents/{id=documentId}/duplicate", "duplicateDocument").creates("/documents"),
        operation("A document with its text", OnDocument(Read), read).get("/documents/{id=documentId}", "getDocument"),
        operation("Change the title", OnDocument(Write), rename).event("document:rename").patch("/documents/{id=documentId}", "renameDocument"),
        operation("Delete a document; it can be recovered for 30 days", OnDocument(Manage), delete).event("document:delete").delete("/documents/{id=documentId}", "deleteDocument"),
        operation("Deleted documents that can be recovered, last deleted first", ManageDeletedDocument, trash).event("trash:list").get("/trash", "listTrash"),
        operation("Remove all documents from the trash", ManageDeletedDocument, purge_all).delete("/trash", "emptyTrash"),
        operation("Remove a document from the trash; the event without one removes all", ManageDeletedDocument, purge).event("trash:empty").delete("/trash/{id=documentId}", "purgeDocument"),
        operation("Recover a deleted document", ManageDeletedDocument, recover).event("trash:recover").post("/trash/{id=documentId}/recover", "recoverDocument").body(BodyKind::NoBody),
        operation("The document's review settings in force", OnDocumentOrInbox(Read), settings).get("/documents/{id=documentId}/settings", "getDocumentSettings"),
        operation("Change the document's review settings; missing fields stay as they are", OnDocumentOrInbox(Manage), configure).event("document:settings").ack_in("settings").patch("/documents/{id=documentId}/settings", "setDocumentSettings"),
        operation("Your own change: the new text, based on a version; what others wrote since stays", OnDocument(Write), edit).post("/documents/{id=documentId}/edits", "editDocument").body(BodyKind::Text),
        transport_handled::<_, ConvertQuery, ConvertedHtml>("HTML, or a file, as Markdown, for a document in which you may write or suggest; changes nothing", OnDocument(Suggest)).post("/documents/{id=documentId}/convert", "convertHtml").body(BodyKind::Html),
        transport_handled::<_, ExportQuery, FileContent>("The document as a file", OnDocument(Read)).get("/documents/{id=documentId}/export", "exportDocument"),
        transport_handled::<_, AuditQuery, AuditPage>("The audit log of a document, newest first", OnDocument(Audit)).get("/documents/{id=documentId}/audit", "getDocumentAudit"),
    ]
}

/// Lists the documents that the person may open, or a page of them.
async fn list(caller: Caller, (): (), input: ListDocuments) -> ApiResult<DocumentList> {
    let paths = caller.application.document_paths().await?;
    let (records, next) = listed(&caller, input).await?;
    let ids: Vec<_> = records.iter().map(|record| record.id.clone()).collect();
    let waiting = caller.waiting_changes(&ids).await?;
    let mentions = caller.unread_mentions().await?;
    let (is_long, principal) = (records.len() > SHORT_LIST, caller.principal.clone());
    let lines = move || -> Vec<DocumentLine> {
        let line = |record: DocumentRecord| {
            let path = paths.of(&record.id);
            let waiting = waiting.get(&record.id).copied().unwrap_or_default();
            let mentions = mentions.get(&record.id).copied().unwrap_or_default();
            wire::document_line(record, path, (waiting, mentions), &principal)
        };
        records.into_iter().map(line).collect()
    };
    Ok(DocumentList { documents: encode(&caller, is_long, lines).await?, next })
}

/// Returns all documents, or a page of them with the place of the next one.
async fn listed(
    caller: &Caller,
    input: ListDocuments,
) -> ApiResult<(Vec<DocumentRecord>, Option<String>)> {
    let ListDocuments { limit, before } = input;
    if limit.is_none() && before.is_none() {
        return Ok((caller.application.rooms.documents(&caller.principal).await?, None));
    }
    let limit = limit.unwrap_or(PAGE);
    if !(1..=LONGEST_PAGE).contains(&limit) {
        return Err(ApiError::invalid(format!("`limit` is 1 to {LONGEST_PAGE}")));
    }
    let wrong = || ApiError::invalid("`before` must be a value taken from `next`");
    let place = |text: String| {
        let (at_ms, id) = text.split_once('.')?;
        Some((at_ms.parse().ok()?, id.to_owned()))
    };
    let after = before.map(|text| place(text).ok_or_else(wrong)).transpose()?;
    let page = caller.document_page(after.as_ref(), limit as usize).await?;
    let next = page.end().map(|last| format!("{}.{}", last.updated_ms, last.id));
    Ok((page.items, next))
}

async fn create(caller: Caller, (): (), input: CreateDocument) -> ApiResult<CreatedDocument> {
    Ok(wire::created(caller.create_document(wire::new_document(input)).await?))
}

/// Copies a document. The copy has its policies and models before it has the text.
async fn duplicate(
    caller: Caller,
    room: RoomHandle,
    _: NameDocument,
) -> ApiResult<CreatedDocument> {
    let DocumentSnapshot { title, text, settings, .. } =
        caller.read_document(&room).await?.snapshot;
    let new = NewDocument { title, ..NewDocument::default() };
    let copy = caller.create_document(new).await?.id;
    let copied = caller.room(&copy, Read).await?;
    let (policy, policies) = (Some(settings.policy), Some(settings.policies));
    let own = OwnSettings { policy, policies, models: Some(settings.models), ..Default::default() };
    copied.configure(SettingsChange { own, frozen: None }, caller.principal.clone()).await?;
    caller.edit_document(&copied, Version(0), &text.to_string()).await?;
    Ok(wire::created(caller.content(&copy).await?))
}

async fn read(caller: Caller, room: RoomHandle, _: Nothing) -> ApiResult<FullDocument> {
    let found = caller.read_document(&room).await?;
    let (is_long, person) = (found.snapshot.text.len() > SHORT_TEXT, &caller.principal.user);
    let convert = move || wire::full_document(&found.id, found.snapshot);
    let converted = cpu_pool::run_if(is_long, person.as_str(), convert).await;
    converted.map_err(|_| ApiError::internal())
}

async fn rename(caller: Caller, room: RoomHandle, input: RenameDocument) -> ApiResult<()> {
    Ok(room.rename(input.title, caller.principal).await?)
}

async fn edit(caller: Caller, room: RoomHandle, input: EditDocument) -> ApiResult<NewVersion> {
    let EditDocument { version, text } = input;
    let made = caller.edit_document(&room, Version(version), &text).await?;
    Ok(NewVersion { version: made.0 })
}

async fn delete(caller: Caller, room: RoomHandle, _: NameDocument) -> ApiResult<()> {
    caller.delete_document(&room).await
}

async fn settings(_: Caller, room: RoomHandle, _: Nothing) -> ApiResult<DocumentSettings> {
    Ok(wire::document_settings(&room.read().await?.settings))
}

async fn configure(
    caller: Caller,
    room: RoomHandle,
    input: ChangeSettings,
) -> ApiResult<DocumentSettings> {
    let change = wire::configure(input).map_err(ApiError::invalid)?;
    caller.application.agents.check_policies(&change, &room).await?;
    Ok(wire::document_settings(&room.configure(change, caller.principal).await?))
}

async fn trash(caller: Caller, _: Option<DocumentId>, _: Nothing) -> ApiResult<Trash> {
    Ok(wire::trash(caller.application.rooms.trash(&caller.principal).await?))
}

async fn recover(caller: Caller, _: Option<DocumentId>, input: NameDocument) -> ApiResult<()> {
    let document = input.document_id.into();
    Ok(caller.application.rooms.recover(&document, &caller.principal).await?)
}

async fn purge(caller: Caller, document: Option<DocumentId>, _: EmptyTrash) -> ApiResult<()> {
    Ok(caller.application.rooms.purge(document.as_ref(), &caller.principal).await?)
}

async fn purge_all(caller: Caller, _: Option<DocumentId>, _: Nothing) -> ApiResult<()> {
    Ok(caller.application.rooms.purge(None, &caller.principal).await?)
}
