//! Text files of the workspace: `/api/v1/files`. Opening a file makes it a document, which is read
//! and edited as any other.

use axum::Json;
use axum::extract::{OriginalUri, Request};
use schemars::JsonSchema;
use serde::Deserialize;

use super::problem::RestResult;
use crate::rest::middleware::body;
use crate::rest::middleware::pagination::{PageQuery, QueryParams, next};
use copydesk_engine::api::Caller;
use copydesk_protocol::convert;
use copydesk_protocol::rest::{FilePage, OpenFile};
use copydesk_protocol::server::CreatedDocument;

/// Query for a list of files.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct FileListQuery {
    /// Words that the path contains, in any order, whatever the case; all files without it.
    pattern: Option<String>,
    /// At most this many, 1 to 200; 50 if missing.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Value of `next` of the page before.
    cursor: Option<String>,
}

/// Lists the text files that can be opened, folder by folder, without ignored files.
///
/// # Errors
/// 400 `invalid_request` for a wrong `limit`, `cursor` or pattern, 422 `unsupported` without a
/// workspace, 403 `not_allowed` for people who may not create documents; see
/// [`Caller::list_files`].
pub async fn list(
    caller: Caller,
    QueryParams(FileListQuery { pattern, limit, cursor }): QueryParams<FileListQuery>,
    OriginalUri(here): OriginalUri,
) -> RestResult<Json<FilePage>> {
    let wanted = PageQuery::<String>::read(limit, cursor.as_deref())?;
    let pattern = pattern.unwrap_or_default();
    let listed = caller.list_files(pattern, wanted.after, wanted.limit).await?;
    let next = listed.page.end().map(|(last, _)| next(&here, last));
    let is_cut = listed.is_cut && !listed.page.more;
    let line = |(path, document)| convert::file_line(path, document);
    Ok(Json(FilePage { files: listed.page.items.into_iter().map(line).collect(), is_cut, next }))
}

/// Returns the document of a file, and creates it if there is none.
///
/// # Errors
/// 404 `not_found` for a missing file, 422 for a path or file that cannot be opened, 403
/// `not_allowed` for a guarded one; those of [`Caller::open_file`] and of [`body::read`].
pub async fn open(caller: Caller, request: Request) -> RestResult<Json<CreatedDocument>> {
    let path = async { Ok(body::read::<OpenFile>(request).await?.path) };
    let document = caller.open_file(path).await?;
    Ok(Json(convert::created(caller.content(&document).await?)))
}
