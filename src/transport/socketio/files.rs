//! Events about files of the workspace: list them, and open one as a document.

use crate::file_sync::{FileSync, FileSyncError};
use crate::ids::DocumentId;
use crate::permissions::Action;
use crate::transport::protocol::convert;
use crate::transport::protocol::files::{FileList, ListFiles};
use crate::workspace::WorkspaceError;

use super::SocketConnection;
use super::socket_error::SocketError;

/// Maximum number of files in one answer.
const MOST_FILES: usize = 500;

pub(crate) async fn list(
    connection: &mut SocketConnection,
    payload: ListFiles,
) -> Result<FileList, SocketError> {
    let files = connection.files()?;
    let found = files.list(payload.pattern.unwrap_or_default(), None, MOST_FILES).await?;
    let line = |path: String| {
        let document = files.document_of(&path);
        convert::file_line(path, document)
    };
    Ok(FileList { files: found.paths.into_iter().map(line).collect(), is_cut: found.is_cut })
}

/// Returns the document of a file, and creates it if there is none.
pub(crate) async fn document(
    connection: &SocketConnection,
    path: &str,
) -> Result<DocumentId, SocketError> {
    Ok(connection.files()?.open(path, &connection.principal).await?)
}

impl SocketConnection {
    /// Returns the [`FileSync`] of the workspace, for people who may create documents: opening a
    /// file creates one.
    fn files(&self) -> Result<&FileSync, SocketError> {
        if !self.principal.may(Action::Create, None) {
            return Err(SocketError::not_allowed());
        }
        self.door.files.as_ref().ok_or_else(|| {
            SocketError::new(
                "unsupported",
                "this server has no workspace, so files cannot be opened as documents",
            )
        })
    }
}

impl From<FileSyncError> for SocketError {
    fn from(error: FileSyncError) -> Self {
        let message = error.to_string();
        match error {
            FileSyncError::LongPattern => Self::invalid(message),
            FileSyncError::Workspace(error) => match error {
                error if error.is_about_the_name() => Self::invalid(message),
                WorkspaceError::NotFound { .. } => Self::new("not_found", message),
                WorkspaceError::Guarded { .. } => Self::new("not_allowed", message),
                WorkspaceError::Outside { .. } | WorkspaceError::Pattern { .. } => {
                    Self::invalid(message)
                }
                WorkspaceError::Link { .. }
                | WorkspaceError::NotAFile { .. }
                | WorkspaceError::NotAFolder { .. }
                | WorkspaceError::Linked { .. }
                | WorkspaceError::TooLarge { .. }
                | WorkspaceError::NotText { .. } => Self::new("unsupported", message),
                WorkspaceError::Changed { .. }
                | WorkspaceError::Busy { .. }
                | WorkspaceError::Kept { .. }
                | WorkspaceError::Unreadable { .. } => Self::new("unavailable", message),
            },
            FileSyncError::Room(error) => error.into(),
            FileSyncError::Store(error) => error.into(),
            FileSyncError::Compared => Self::internal(),
        }
    }
}
