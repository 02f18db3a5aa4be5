//! Errors of the workspace, in words for the model.

use super::text_file::LARGEST_FILE;

/// Reason why a file was not read, found or changed; this text is sent to the model.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The path does not begin in the workspace, or climbs out of a folder.
    #[error(
        "{path:?} is not a path inside the workspace; name it from the workspace's top, without `..`"
    )]
    Outside {
        /// Path as it was given.
        path: String,
    },
    /// No file or folder has this name.
    #[error("{path} does not exist")]
    NotFound {
        /// Path as it was given.
        path: String,
    },
    /// The path contains a symbolic link.
    #[error("{path} is a symbolic link or leads through one; links are not followed")]
    Link {
        /// Path as it was given.
        path: String,
    },
    /// The path is a folder, a pipe, a device or a socket.
    #[error("{path} is not a regular file")]
    NotAFile {
        /// Path as it was given.
        path: String,
    },
    /// The path is a file, and a folder was expected.
    #[error("{path} is not a folder")]
    NotAFolder {
        /// Path as it was given.
        path: String,
    },
    /// The file has another name somewhere, perhaps outside.
    #[error("{path} has more than one name (hard links); it is not changed")]
    Linked {
        /// Path as it was given.
        path: String,
    },
    /// The path belongs to version control, to other programs' configuration, or to the server.
    #[error(
        "{path} belongs to version control, to a program's own configuration or to this server; tools leave it alone"
    )]
    Guarded {
        /// Path as it was given.
        path: String,
    },
    /// The file is longer than a tool reads or writes.
    #[error("{path} has {bytes} bytes; at most {LARGEST_FILE} are possible")]
    TooLarge {
        /// Path as it was given.
        path: String,
        /// Length in bytes.
        bytes: u64,
    },
    /// The file is not UTF-8, or has NUL characters.
    #[error("{path} is not a text file")]
    NotText {
        /// Path as it was given.
        path: String,
    },
    /// The file differs from the one that was previewed.
    #[error("{path} changed since it was previewed; nothing was written. Read it again")]
    Changed {
        /// Path as it was given.
        path: String,
    },
    /// Another program holds the file open and may still write into it.
    #[error(
        "{path} is being written by another program, which holds it open; nothing was written. Try again when it is done"
    )]
    Busy {
        /// Path as it was given.
        path: String,
    },
    /// The file was changed more than once while it was written: the right version is not known.
    #[error(
        "{path} changed while it was written. Nobody's words were overwritten: {path} has one version, {kept} the other. Read both"
    )]
    Kept {
        /// Path as it was given.
        path: String,
        /// Path of the other version, from the workspace's top.
        kept: String,
    },
    /// A pattern cannot be read.
    #[error("the pattern cannot be read: {reason}")]
    Pattern {
        /// Description of the error.
        reason: String,
    },
    /// The file system refused.
    #[error("{path}: {source}")]
    Unreadable {
        /// Path as it was given.
        path: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
}

/// Result of an operation in the [`Workspace`](super::Workspace).
pub type WorkspaceResult<T> = Result<T, WorkspaceError>;

impl WorkspaceError {
    /// Returns `true` if no file could ever have this name: it contains NUL, or is too long.
    pub fn is_about_the_name(&self) -> bool {
        use std::io::ErrorKind::{InvalidFilename, InvalidInput};
        let Self::Unreadable { source, .. } = self else { return false };
        matches!(source.kind(), InvalidFilename | InvalidInput)
    }
}

pub(super) fn unreadable(path: &str, source: std::io::Error) -> WorkspaceError {
    WorkspaceError::Unreadable { path: path.to_owned(), source }
}
