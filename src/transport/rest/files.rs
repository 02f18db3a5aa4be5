//! Text files of the workspace: `/api/v1/files`. Opening a file makes it a document, which is read
//! and edited as any other.

use axum::Json;
use axum::extract::{OriginalUri, Request, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use super::HttpState;
use super::problem::Problem;
use crate::file_sync::{FileSync, FileSyncError};
use crate::permissions::Action;
use crate::transport::protocol::convert;
use crate::transport::protocol::rest::{FilePage, OpenFile};
use crate::transport::protocol::server::CreatedDocument;
use crate::transport::rest::middleware::auth_session::Authenticated;
use crate::transport::rest::middleware::body;
use crate::transport::rest::middleware::pagination::{PageQuery, QueryParams, next};
use crate::workspace::WorkspaceError;

/// Which files.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct FileListQuery {
    /// Words that the path contains, in any order, whatever the case; all files without it.
    pattern: Option<String>,
    /// At most this many, 1 to 200; 50 if missing.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// What stands in the `next` of the page before.
    cursor: Option<String>,
}

/// Lists the text files that can be opened, folder by folder, without ignored files.
pub(crate) async fn list(
    State(door): State<HttpState>,
    caller: Authenticated,
    QueryParams(FileListQuery { pattern, limit, cursor }): QueryParams<FileListQuery>,
    OriginalUri(here): OriginalUri,
) -> Result<Json<FilePage>, Problem> {
    let files = files(&door, &caller)?;
    let page = PageQuery::<String>::read(limit, cursor.as_deref())?;
    // One more, to see whether there is more.
    let found = files.list(pattern.unwrap_or_default(), page.after, page.limit + 1).await?;
    let mut paths = found.paths;
    let more = paths.len() > page.limit;
    paths.truncate(page.limit);
    let next = paths.last().filter(|_| more).map(|last| next(&here, last));
    let line = |path: String| {
        let document = files.document_of(&path);
        convert::file_line(path, document)
    };
    let is_cut = found.is_cut && !more;
    Ok(Json(FilePage { files: paths.into_iter().map(line).collect(), is_cut, next }))
}

/// Returns the document of a file, and creates it if there is none.
pub(crate) async fn open(
    State(door): State<HttpState>,
    caller: Authenticated,
    request: Request,
) -> Result<Json<CreatedDocument>, Problem> {
    let files = files(&door, &caller)?;
    let OpenFile { path } = body::read(request).await?;
    let document = files.open(&path, &caller.principal).await?;
    let now = caller.room(&door, document.as_str(), Action::Read).await?.read().await?;
    let (id, version) = (document.to_string(), now.version.0);
    Ok(Json(CreatedDocument { id, title: now.title, version }))
}

/// Returns the [`FileSync`] of the workspace, for people who may create documents: opening a file
/// creates one.
fn files<'a>(door: &'a HttpState, caller: &Authenticated) -> Result<&'a FileSync, Problem> {
    caller.must(Action::Create)?;
    door.files.as_ref().ok_or_else(|| {
        unsupported("this server has no workspace, so files cannot be opened as documents")
    })
}

fn unsupported(detail: impl Into<String>) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "unsupported", detail)
}

impl From<FileSyncError> for Problem {
    fn from(error: FileSyncError) -> Self {
        let detail = error.to_string();
        match error {
            FileSyncError::LongPattern => Self::invalid(detail),
            FileSyncError::Workspace(error) => match error {
                error if error.is_about_the_name() => Self::unprocessable(detail),
                WorkspaceError::NotFound { .. } => {
                    Self::new(StatusCode::NOT_FOUND, "not_found", detail)
                }
                WorkspaceError::Guarded { .. } => {
                    Self::new(StatusCode::FORBIDDEN, "not_allowed", detail)
                }
                WorkspaceError::Outside { .. } | WorkspaceError::Pattern { .. } => {
                    Self::unprocessable(detail)
                }
                WorkspaceError::Link { .. }
                | WorkspaceError::NotAFile { .. }
                | WorkspaceError::NotAFolder { .. }
                | WorkspaceError::Linked { .. }
                | WorkspaceError::TooLarge { .. }
                | WorkspaceError::NotText { .. } => unsupported(detail),
                WorkspaceError::Changed { .. }
                | WorkspaceError::Busy { .. }
                | WorkspaceError::Kept { .. }
                | WorkspaceError::Unreadable { .. } => {
                    Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
                }
            },
            FileSyncError::Room(error) => error.into(),
            FileSyncError::Store(error) => error.into(),
            FileSyncError::Compared => Self::internal(),
        }
    }
}
