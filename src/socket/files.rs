//! Files of the workspace: which there are, and opening one as a document.

use crate::files::{Files, FilesError};
use crate::ids::DocumentId;
use crate::who::Action;
use crate::wire::convert;
use crate::wire::files::{FileList, ListFiles};
use crate::workspace::WorkspaceError;

use super::Connection;
use super::refusal::Refusal;

/// Files one answer names.
const MOST_FILES: usize = 500;

pub(super) async fn list(
    connection: &mut Connection,
    payload: ListFiles,
) -> Result<FileList, Refusal> {
    let files = connection.files()?;
    let found = files.list(payload.pattern.unwrap_or_default(), None, MOST_FILES).await?;
    let line = |path: String| {
        let document = files.document_of(&path);
        convert::file_line(path, document)
    };
    Ok(FileList { files: found.paths.into_iter().map(line).collect(), is_cut: found.is_cut })
}

/// The document of a file; made if there is none yet.
pub(super) async fn document(connection: &Connection, path: &str) -> Result<DocumentId, Refusal> {
    Ok(connection.files()?.open(path, &connection.principal).await?)
}

impl Connection {
    /// The files of the workspace, for people who may create documents: opening a file makes it one.
    fn files(&self) -> Result<&Files, Refusal> {
        if !self.principal.may(Action::Create, None) {
            return Err(Refusal::not_allowed());
        }
        self.door.files.as_ref().ok_or_else(|| {
            Refusal::new(
                "unsupported",
                "this server has no workspace, so files cannot be opened as documents",
            )
        })
    }
}

impl From<FilesError> for Refusal {
    fn from(error: FilesError) -> Self {
        let message = error.to_string();
        match error {
            FilesError::LongPattern => Self::invalid(message),
            FilesError::Workspace(error) => match error {
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
            FilesError::Room(error) => error.into(),
            FilesError::Store(error) => error.into(),
            FilesError::Compared => Self::internal(),
        }
    }
}
