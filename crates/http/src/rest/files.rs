//! Text files of the workspace: `GET /api/v1/files`.

use axum::Json;
use axum::extract::OriginalUri;

use super::problem::RestResult;
use crate::rest::middleware::pagination::{PageQuery, QueryParams, next};
use copydesk_api::Caller;
use copydesk_protocol::queries::FileListQuery;
use copydesk_protocol::rest::FilePage;
use copydesk_protocol_conversion as convert;

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
