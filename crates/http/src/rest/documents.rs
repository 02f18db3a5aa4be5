//! Documents: `/api/v1/documents` and the routes below one, except requests and files.

pub(super) mod imports;

use axum::Json;
use axum::extract::OriginalUri;
use axum::response::{IntoResponse as _, Response};

use super::problem::{Problem, RestResult};
use crate::rest::middleware::pagination::{PageQuery, PathId, QueryParams, next};
use copydesk_api::{ApiError, Caller, DocumentRecord};
use copydesk_cpu_pool as cpu_pool;
use copydesk_ids::permissions::Action;
use copydesk_ids::{DocumentId, Version};
use copydesk_protocol::queries::ListPart;
use copydesk_protocol::rest::{DocumentPage, VersionPage, VersionText};
use copydesk_protocol_conversion as convert;

/// Length of a text, in UTF-16 units, above which it is serialized on the CPU pool.
const SHORT_TEXT: usize = 128 * 1024;

/// Lists the documents that the caller may read, last changed first. A document that changes
/// between two pages may be on both.
pub async fn list(
    caller: Caller,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<DocumentPage>> {
    let wanted = PageQuery::<(u64, String)>::of(&part)?;
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

/// Lists the versions with their authors, newest first.
pub async fn versions(
    caller: Caller,
    PathId(document): PathId<DocumentId>,
    QueryParams(part): QueryParams<ListPart>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<VersionPage>> {
    let wanted = PageQuery::<u64>::of(&part)?;
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
    let room = caller.room(&document, Action::Read).await?;
    let text = caller.text_of_version(&room, Version(version)).await;
    let text = text.map_err(|error| match error {
        error if error.is_no_version() => ApiError::not_found("version"),
        error => error,
    })?;
    let (is_long, person) = (text.len() > SHORT_TEXT, caller.principal.user.as_str());
    let write = move || Json(VersionText { version, text: text.to_string() }).into_response();
    cpu_pool::run_if(is_long, person, write).await.map_err(|_| Problem::internal())
}
