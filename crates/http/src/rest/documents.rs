//! Documents: `/api/v1/documents` and the routes below one, except requests and files.

pub(super) mod imports;

use axum::Json;
use axum::extract::{OriginalUri, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::problem::{Problem, RestResult};
use crate::rest::middleware::body;
use crate::rest::middleware::pagination::{ListPart, PathId, QueryParams, next};
use copydesk_engine::api::{ApiError, Caller, DocumentRecord};
use copydesk_engine::cpu_pool;
use copydesk_engine::ids::{DocumentId, Version};
use copydesk_protocol::client::ChangeSettings;
use copydesk_protocol::convert;
use copydesk_protocol::rest::{
    Comparison, DocumentPage, EditDocument, NewVersion, Rename, RestoreText, VersionPage,
    VersionText,
};
use copydesk_protocol::server::{DocumentSettings, Trash};

/// Length of a text, in UTF-16 units, above which it is serialized on the CPU pool.
const SHORT_TEXT: usize = 128 * 1024;

/// Lists the documents that the caller may read, last changed first. A document that changes
/// between two pages may be on both.
///
/// # Errors
/// 400 `invalid_request` for a wrong `limit` or `cursor`; those of [`Caller::document_page`].
pub async fn list(
    caller: Caller,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<DocumentPage>> {
    let wanted = part.read::<(u64, String)>()?;
    let page = caller.document_page(wanted.after.as_ref(), wanted.limit).await?;
    let ids: Vec<_> = page.items.iter().map(|record| record.id.clone()).collect();
    let waiting = caller.waiting_changes(&ids).await?;
    let next = page.end().map(|last| next(&here, &(last.updated_ms, &last.id)));
    let paths = caller.api.document_paths().await?;
    let line = |record: DocumentRecord| {
        let path = paths.of(&record.id);
        let waiting = waiting.get(&record.id).copied().unwrap_or_default();
        convert::document_line(record, path, waiting, &caller.principal)
    };
    Ok(Json(DocumentPage { documents: page.items.into_iter().map(line).collect(), next }))
}

/// Creates a document.
///
/// # Errors
/// 403 `not_allowed` without permission to create, 400 `invalid_request` for too long a text; those
/// of [`body::read`].
pub async fn create(caller: Caller, request: Request) -> RestResult<Response> {
    let new = async { Ok(convert::new_document(body::read(request).await?)) };
    let created = caller.create_document(new).await?;
    let there = [(header::LOCATION, format!("/api/v1/documents/{}", created.id))];
    let created = convert::created(created);
    Ok((StatusCode::CREATED, there, Json(created)).into_response())
}

/// Returns a document with its text.
///
/// # Errors
/// 404 `not_found` for an unknown or hidden document, 403 `not_allowed` without permission to read;
/// see [`Caller::read_document`].
pub async fn read(caller: Caller, PathId(document): PathId<DocumentId>) -> RestResult<Response> {
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
) -> RestResult<Response> {
    let person = caller.principal.user.as_str();
    let write = move || Json(answer()).into_response();
    cpu_pool::run_if(units > SHORT_TEXT, person, write).await.map_err(|_| Problem::internal())
}

/// Changes the title.
///
/// # Errors
/// 404 `not_found` for an unknown document, 403 `not_allowed` for readers, 400 `invalid_request`
/// for a title without 1 to 200 characters; those of [`body::read`].
pub async fn rename(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    request: Request,
) -> RestResult<StatusCode> {
    let title = async { Ok(body::read::<Rename>(request).await?.title) };
    caller.rename_document(&document, title).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a document, which can be recovered for 30 days.
///
/// # Errors
/// 404 `not_found` for an unknown document, 403 `not_allowed` without permission to manage it; see
/// [`Caller::delete_document`].
pub async fn delete(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
) -> RestResult<StatusCode> {
    caller.delete_document(&document).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists the deleted documents that the caller can recover.
///
/// # Errors
/// 403 `not_allowed` for people other than owners; see [`Caller::trash`].
pub async fn trash(caller: Caller) -> RestResult<Json<Trash>> {
    Ok(Json(convert::trash(caller.trash().await?)))
}

/// Recovers a deleted document.
///
/// # Errors
/// 404 `not_found` for a document that is not in the trash, 403 `not_allowed` without permission to
/// manage it; see [`Caller::recover_document`].
pub async fn recover(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
) -> RestResult<StatusCode> {
    caller.recover_document(&document).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes all documents from the trash.
///
/// # Errors
/// 403 `not_allowed` for people other than owners; see [`Caller::purge_trash`].
pub async fn empty_trash(caller: Caller) -> RestResult<StatusCode> {
    caller.purge_trash(None).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a document from the trash.
///
/// # Errors
/// 404 `not_found` for a document that is not in the trash, 403 `not_allowed` without permission to
/// manage it; see [`Caller::purge_trash`].
pub async fn purge(caller: Caller, PathId(document): PathId<DocumentId>) -> RestResult<StatusCode> {
    caller.purge_trash(Some(&document)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the review settings in force.
///
/// # Errors
/// 404 `not_found` for an unknown document, 403 `not_allowed` without permission to read; see
/// [`Caller::document_settings`].
pub async fn settings(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
) -> RestResult<Json<DocumentSettings>> {
    Ok(Json(convert::document_settings(&caller.document_settings(&document).await?)))
}

/// Changes review settings; missing fields stay as they are.
///
/// # Errors
/// 400 or 422 `invalid_request` for settings that are not accepted, 409 `resync` for ranges of an
/// old version, 403 `not_allowed`, 404 `not_found`; those of [`body::read_about`].
pub async fn configure(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    request: Request,
) -> RestResult<Json<DocumentSettings>> {
    let change = async {
        let wish: ChangeSettings =
            body::read_about(request, "documentId", document.as_str()).await?;
        convert::configure(wish).map_err(ApiError::invalid)
    };
    let settings = caller.configure_document(&document, change).await?;
    Ok(Json(convert::document_settings(&settings)))
}

/// Applies a person's own change: the differences between the text of a version and the new text.
///
/// # Errors
/// 409 `resync` if the version is too old or does not exist, 403 `not_allowed` for readers, 404
/// `not_found` for an unknown document; those of [`body::read`].
pub async fn edit(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    request: Request,
) -> RestResult<Json<NewVersion>> {
    let edit = async {
        let EditDocument { version, text } = body::read(request).await?;
        Ok((Version(version), text))
    };
    let made = caller.edit_document(&document, edit).await?;
    Ok(Json(NewVersion { version: made.0 }))
}

/// Restores the text of an earlier version.
///
/// # Errors
/// 400 `invalid_request` for a version that does not exist, 409 `resync` if others wrote meanwhile,
/// 403 `not_allowed` for readers; those of [`body::read`].
pub async fn restore(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    request: Request,
) -> RestResult<Json<NewVersion>> {
    let wanted = async {
        let RestoreText { version, only_at } = body::read(request).await?;
        Ok((Version(version), only_at.map(Version)))
    };
    let made = caller.restore_version(&document, wanted).await?;
    Ok(Json(NewVersion { version: made.0 }))
}

/// Lists the versions with their authors, newest first.
///
/// # Errors
/// 400 `invalid_request` for a wrong `limit` or `cursor`, 403 `not_allowed` or 404 `not_found` if
/// the caller may not read the document; see [`Caller::versions`].
pub async fn versions(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<VersionPage>> {
    let wanted = part.read::<u64>()?;
    let before = wanted.after.map(Version);
    let found = caller.versions(&document, before, wanted.limit).await?;
    let next = found.page.end().map(|oldest| next(&here, &oldest.version.0));
    Ok(Json(VersionPage { versions: convert::versions(found), next }))
}

/// Returns the text of a version.
///
/// # Errors
/// 404 `not_found` for an unknown document or version, 403 `not_allowed` without permission to
/// read; see [`Caller::text_of_version`].
pub async fn text(
    caller: Caller,
    PathId((document, version)): PathId<(DocumentId, u64)>,
) -> RestResult<Response> {
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
///
/// # Errors
/// 400 `invalid_request` for a version that does not exist, 403 `not_allowed` or 404 `not_found` if
/// the caller may not read the document; see [`Caller::compare_versions`].
pub async fn differences(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    QueryParams(TwoVersions { from, to }): QueryParams<TwoVersions>,
) -> RestResult<Json<Comparison>> {
    let (from, to) = (Version(from), to.map(Version));
    Ok(Json(convert::comparison(caller.compare_versions(&document, from, to).await?)))
}
