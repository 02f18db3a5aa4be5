//! Documents as resources: `copydesk://documents/ID`.

use rmcp::ErrorData;
use rmcp::model::{
    JsonObject, ListResourcesResult, MetaObject, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::json;

use copydesk_ids::DocumentId;
use copydesk_ids::permissions::Action;
use copydesk_rooms::RoomHandle;
use copydesk_rooms::command::DocumentSnapshot;
use copydesk_tools::ToolError;

use super::caller::{McpCaller, failed};
use super::other_servers;
use super::result_text::short;
use super::shared_state::McpShared;

const BEGIN: &str = "copydesk://documents/";
const KIND: &str = "text/markdown";
/// Metadata field with the version that was read, for callers that have to name it.
const VERSION: &str = "copydesk/version";
/// Number of documents on one page of the list.
const PAGE: usize = 200;

/// Returns the address of a document.
pub(crate) fn uri(document: &DocumentId) -> String {
    format!("{BEGIN}{document}")
}

/// Returns the document of an address.
pub(crate) fn document(uri: &str) -> Option<DocumentId> {
    let id = uri.strip_prefix(BEGIN)?;
    (!id.is_empty() && !id.contains(['/', '?', '#'])).then(|| DocumentId::from(id))
}

/// Returns the template of the addresses of documents.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{BEGIN}{{id}}"), "document")
        .with_title("A document")
        .with_description("A document's text; `list_documents` names the identifiers")
        .with_mime_type(KIND)
}

/// Lists the documents that the caller may open; `cursor` is the end of the previous page.
pub(crate) async fn list(
    shared: &McpShared,
    caller: &McpCaller,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let start = match cursor {
        None => 0,
        Some(cursor) => cursor
            .parse::<usize>()
            .map_err(|_| ErrorData::invalid_params("there is no such page", None))?,
    };
    let listed = shared.app.application.rooms.documents(&caller.principal).await;
    let listed = listed.map_err(|error| failed(&error, "the documents could not be listed"))?;
    let end = start.saturating_add(PAGE).min(listed.len());
    let page = listed.get(start..end).unwrap_or_default();
    let resources = page.iter().map(|document| {
        let resource = Resource::new(uri(&document.id), document.id.to_string());
        resource.with_title(&document.title).with_mime_type(KIND)
    });
    let mut result = ListResourcesResult::with_all_items(resources.collect());
    result.next_cursor = (end < listed.len()).then(|| end.to_string());
    Ok(result)
}

/// Returns the [`RoomHandle`] of the document at an address, and its content. A document that the
/// caller may not read counts as missing.
pub(crate) async fn open(
    shared: &McpShared,
    caller: &McpCaller,
    uri: &str,
) -> Result<(RoomHandle, DocumentSnapshot), ErrorData> {
    let id = document(uri).ok_or_else(|| unknown(uri))?;
    let application = &shared.app.application;
    let room = application.listed_room(&caller.principal, &id, Action::Read).await;
    let room = room.map_err(|_| unknown(uri))?;
    let reading = room.read().await.map_err(|_| unknown(uri))?;
    Ok((room, reading))
}

/// Returns the [`RoomHandle`] and the content of a document that is read as a whole, and counts it
/// as read by the caller. Owners' rules about the path of a file hold as for a call that reads it.
pub(crate) async fn open_to_read(
    shared: &McpShared,
    caller: &McpCaller,
    uri: &str,
) -> Result<(RoomHandle, DocumentSnapshot), ErrorData> {
    let (room, reading) = open(shared, caller, uri).await?;
    let (document, person) = (room.document(), &caller.principal);
    match shared.app.application.agents.check_document_read(document, person).await {
        Ok(()) => {}
        Err(ToolError::Denied(why)) => return Err(ErrorData::invalid_request(why, None)),
        Err(error) => return Err(failed(&error, "the rules could not be read")),
    }
    let (user, reader) = (&person.user, caller.reader.as_ref());
    shared.reads.note(user, reader, document.clone(), reading.version);
    Ok((room, reading))
}

/// Returns the document at an address, which another server of several may have. A document that
/// the caller may not read counts as missing.
pub(crate) async fn find(
    shared: &McpShared,
    caller: &McpCaller,
    uri: &str,
) -> Result<DocumentId, ErrorData> {
    let id = document(uri).ok_or_else(|| unknown(uri))?;
    // First of all: looking for the server that has a document may make this one take it.
    if !caller.principal.may(Action::Read, Some(&id)) {
        return Err(unknown(uri));
    }
    if !other_servers::has(shared, &id).await {
        return Ok(open(shared, caller, uri).await?.0.document().clone());
    }
    let is_listed = shared.app.application.is_stored_for(&caller.principal, &id).await;
    if is_listed.map_err(|_| unknown(uri))? { Ok(id) } else { Err(unknown(uri)) }
}

fn unknown(uri: &str) -> ErrorData {
    let uri = short(uri);
    let message = format!("there is no resource {uri}");
    ErrorData::resource_not_found(message, Some(json!({"uri": uri})))
}

/// Returns the text at an address, and counts it as read by the caller.
pub(crate) async fn read(
    shared: &McpShared,
    caller: &McpCaller,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let (_, reading) = open_to_read(shared, caller, uri).await?;
    let version = JsonObject::from_iter([(VERSION.to_owned(), json!(reading.version))]);
    let text = ResourceContents::text(reading.text.to_string(), uri)
        .with_mime_type(KIND)
        .with_meta(MetaObject(version));
    Ok(ReadResourceResult::new(vec![text]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_one_address() {
        let id = DocumentId::from("doc_1");
        assert_eq!(document(&uri(&id)), Some(id));
        for other in ["copydesk://documents/", "copydesk://documents/a/b", "file:///doc_1", "doc_1"]
        {
            assert_eq!(document(other), None, "{other}");
        }
    }
}
