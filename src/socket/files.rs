//! Files of the workspace: which there are, and opening one as a document.

use crate::files::{Files, FilesError};
use crate::ids::DocumentId;
use crate::who::Action;
use crate::wire::files::{FileLine, FileList, ListFiles};
use crate::workspace::WorkspaceError;

use super::Connection;
use super::refusal::Refusal;

/// Longest pattern, in bytes.
const LONGEST_PATTERN: usize = 1_000;

pub(super) async fn list(
    connection: &mut Connection,
    payload: ListFiles,
) -> Result<FileList, Refusal> {
    let files = connection.files()?;
    let wanted = payload.pattern.unwrap_or_default();
    if wanted.len() > LONGEST_PATTERN {
        return Err(Refusal::invalid(format!("a pattern has at most {LONGEST_PATTERN} bytes")));
    }
    let found = files.list(wanted).await?;
    let line = |path: String| {
        let document_id = files.document_of(&path).map(|id| id.to_string());
        FileLine { path, document_id }
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
            FilesError::Workspace(error) => match error {
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
                WorkspaceError::Changed { .. } | WorkspaceError::Unreadable { .. } => {
                    Self::new("unavailable", message)
                }
            },
            FilesError::Room(error) => error.into(),
            FilesError::Store(error) => error.into(),
            FilesError::Compared => Self::internal(),
        }
    }
}
