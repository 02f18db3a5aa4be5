//! Documents: `/api/v1/documents` and the routes below one, except requests and files.

use axum::Json;
use axum::extract::{OriginalUri, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::problem::Problem;
use crate::api::{ApiError, Caller, DocumentRecord};
use crate::cpu_pool;
use crate::ids::{DocumentId, Version};
use crate::rooms::NewDocument;
use crate::transport::protocol::client::{ChangeSettings, CreateDocument};
use crate::transport::protocol::convert;
use crate::transport::protocol::rest::{
    Comparison, DocumentPage, EditDocument, NewVersion, Rename, RestoreText, VersionPage,
    VersionText,
};
use crate::transport::protocol::server::DocumentSettings;
use crate::transport::rest::middleware::body;
use crate::transport::rest::middleware::pagination::{ListPart, PathId, QueryParams, next};

/// Length of a text, in UTF-16 units, above which it is serialized on the CPU pool.
const SHORT_TEXT: usize = 128 * 1024;

/// Lists the documents that the caller may read, last changed first. A document that changes
/// between two pages may be on both.
pub(crate) async fn list(
    caller: Caller,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> Result<Json<DocumentPage>, Problem> {
    let wanted = part.read::<(u64, String)>()?;
    let page = caller.document_page(wanted.after.as_ref(), wanted.limit).await?;
    let waiting = caller.waiting_changes().await?;
    let next = page.end().map(|last| next(&here, &(last.updated_ms, &last.id)));
    let line = |record: DocumentRecord| {
        let path = caller.api.file_of(&record.id);
        let waiting = waiting.get(&record.id).copied().unwrap_or_default();
        convert::document_line(record, path, waiting, &caller.principal)
    };
    Ok(Json(DocumentPage { documents: page.items.into_iter().map(line).collect(), next }))
}

/// Creates a document.
pub(crate) async fn create(caller: Caller, request: Request) -> Result<Response, Problem> {
    let new = async {
        let CreateDocument { title, text } = body::read(request).await?;
        let (title, text) = (title.unwrap_or_default(), text.unwrap_or_default());
        Ok(NewDocument { title, text, unlisted_owner: None })
    };
    let created = caller.create_document(new).await?;
    let there = [(header::LOCATION, format!("/api/v1/documents/{}", created.id))];
    let created = convert::created(created);
    Ok((StatusCode::CREATED, there, Json(created)).into_response())
}

/// Returns a document with its text.
pub(crate) async fn read(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
) -> Result<Response, Problem> {
    let found = caller.read_document(&document).await?;
    let units = found.snapshot.text.len();
    written(&caller, units, move || convert::full_document(&found.id, found.snapshot)).await
}

/// Returns an answer with a text of `units` UTF-16 units. A long one is serialized on the CPU pool,
/// where it delays nobody.
async fn written<T: Serialize>(
    caller: &Caller,
    units: usize,
    answer: impl FnOnce() -> T + Send + 'static,
) -> Result<Response, Problem> {
    let person = caller.principal.user.as_str();
    let write = move || Json(answer()).into_response();
    cpu_pool::run_if(units > SHORT_TEXT, person, write).await.map_err(|_| Problem::internal())
}

/// Changes the title.
pub(crate) async fn rename(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    request: Request,
) -> Result<StatusCode, Problem> {
    let title = async { Ok(body::read::<Rename>(request).await?.title) };
    caller.rename_document(&document, title).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a document.
pub(crate) async fn delete(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
) -> Result<StatusCode, Problem> {
    caller.delete_document(&document).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the review settings in force.
pub(crate) async fn settings(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
) -> Result<Json<DocumentSettings>, Problem> {
    Ok(Json(convert::document_settings(&caller.document_settings(&document).await?)))
}

/// Changes review settings; missing fields stay as they are.
pub(crate) async fn configure(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    request: Request,
) -> Result<Json<DocumentSettings>, Problem> {
    let change = async {
        let wish: ChangeSettings =
            body::read_about(request, "documentId", document.as_str()).await?;
        convert::configure(wish).map_err(ApiError::invalid)
    };
    let settings = caller.configure_document(&document, change).await?;
    Ok(Json(convert::document_settings(&settings)))
}

/// Applies a person's own change: the differences between the text of a version and the new text.
pub(crate) async fn edit(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    request: Request,
) -> Result<Json<NewVersion>, Problem> {
    let edit = async {
        let EditDocument { version, text } = body::read(request).await?;
        Ok((Version(version), text))
    };
    let made = caller.edit_document(&document, edit).await?;
    Ok(Json(NewVersion { version: made.0 }))
}

/// Restores the text of an earlier version.
pub(crate) async fn restore(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    request: Request,
) -> Result<Json<NewVersion>, Problem> {
    let wanted = async {
        let RestoreText { version, only_at } = body::read(request).await?;
        Ok((Version(version), only_at.map(Version)))
    };
    let made = caller.restore_version(&document, wanted).await?;
    Ok(Json(NewVersion { version: made.0 }))
}

/// Lists the versions with their authors, newest first.
pub(crate) async fn versions(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> Result<Json<VersionPage>, Problem> {
    let wanted = part.read::<u64>()?;
    let before = wanted.after.map(Version);
    let found = caller.versions(&document, before, wanted.limit).await?;
    let next = found.page.end().map(|oldest| next(&here, &oldest.version.0));
    Ok(Json(VersionPage { versions: convert::versions(found), next }))
}

/// Returns the text of a version.
pub(crate) async fn text(
    caller: Caller,
    PathId((document, version)): PathId<(DocumentId, u64)>,
) -> Result<Response, Problem> {
    let text = caller.text_of_version(&document, Version(version)).await;
    let text = text.map_err(|error| match error {
        error if error.is_no_version() => Problem::not_found("version"),
        error => error.into(),
    })?;
    written(&caller, text.len(), move || VersionText { version, text: text.to_string() }).await
}

/// Two versions.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct TwoVersions {
    /// The version that positions are of.
    from: u64,
    /// The other one; missing: the newest.
    to: Option<u64>,
}

/// Returns the differences between two versions.
pub(crate) async fn differences(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    QueryParams(TwoVersions { from, to }): QueryParams<TwoVersions>,
) -> Result<Json<Comparison>, Problem> {
    let (from, to) = (Version(from), to.map(Version));
    let compared = caller.compare_versions(&document, from, to).await?;
    let parts = convert::differences(compared.parts);
    Ok(Json(Comparison { from: compared.from.0, to: compared.to.0, parts }))
}
