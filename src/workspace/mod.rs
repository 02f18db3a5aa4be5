//! The workspace: one folder that tools may read and change, through a handle that cannot leave it.
//!
//! No code here inspects the text of a path to decide that it is harmless. A path is followed name
//! by name, and each name is opened in the folder before it without following links
//! ([`resolved_path`]). So `..`, absolute paths and links cannot lead outside, not even if another
//! program moves folders meanwhile. [Protected paths](protected_paths) are not even read. [`files`]
//! reads and replaces one file (first [written](atomic_write) under a temporary name), [`walk`],
//! [`glob`] and [`grep`] search. `command` runs a shell command in the folder, and [`shell`] finds
//! the dangers in a command.

mod atomic_write;
#[cfg(unix)]
mod command;
mod files;
mod glob;
mod grep;
mod list_files;
mod protected_paths;
mod replace;
mod resolved_path;
mod shell;
#[cfg(test)]
mod tests;
mod walk;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::OnceLock;
use std::sync::{Arc, Mutex};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};
#[cfg(unix)]
use tokio_util::sync::CancellationToken;

#[cfg(unix)]
pub use command::{CommandEnd, CommandResult, CommandSpec};
pub use files::{ABSENT, FileMeta, LARGEST_FILE, TextFile, stamp};
pub use glob::GlobResult;
pub use grep::{GrepOutput, GrepQuery, GrepResult, SEARCHED_BYTES};
use protected_paths::ProtectedPaths;
pub use replace::ReplacedFile;
pub use resolved_path::plain_path;
pub use shell::{LONGEST_COMMAND, cautions, deceives};

/// Folder that tools may read and change. Cheap to clone. Every method blocks unless it is `async`,
/// so it belongs on a blocking thread.
#[derive(Clone, Debug)]
pub struct Workspace(Arc<WorkspaceShared>);

#[derive(Debug)]
struct WorkspaceShared {
    root: Dir,
    /// Absolute path of the folder, in which commands start.
    path: PathBuf,
    /// Folders and files inside that tools may not even read: the server's own data and settings.
    closed: ProtectedPaths,
    /// Program that commands run under, if there is one.
    #[cfg(unix)]
    supervisor: OnceLock<PathBuf>,
    /// Lock from the comparison of a file until its replacement, so that two calls never both find
    /// it unchanged.
    replacing: Mutex<()>,
}

impl Workspace {
    /// Opens the folder `root`. The folders and files in `closed` are never read or written, not
    /// even if they are created later.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError::Unreadable`] when there is no such folder. A path in `closed` that does
    /// not exist is no error.
    pub fn open(root: &Path, closed: &[&Path]) -> Result<Self, WorkspaceError> {
        let failed = |source| unreadable(&root.display().to_string(), source);
        let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(failed)?;
        let path = root.canonicalize().map_err(failed)?;
        Ok(Self(Arc::new(WorkspaceShared {
            root: dir,
            path,
            closed: ProtectedPaths::new(closed),
            #[cfg(unix)]
            supervisor: OnceLock::new(),
            replacing: Mutex::default(),
        })))
    }

    /// Sets the program that commands run under from now on, as `program supervise --mark
    /// NAME=VALUE -- COMMAND`. No process of a command can escape it (`processes::supervisor`).
    /// Linux only.
    #[cfg(unix)]
    pub fn supervise_by(&self, program: PathBuf) {
        // Later calls have no effect.
        self.0.supervisor.set(program).ok();
    }

    /// Runs a [`CommandSpec`] in the workspace. When the method returns, none of the command's
    /// processes is left; when its future is dropped, they are ended.
    ///
    /// # Errors
    ///
    /// [`WorkspaceError::Unreadable`] when the shell cannot be started.
    #[cfg(unix)]
    pub async fn run(
        &self,
        wanted: &CommandSpec,
        cancel: &CancellationToken,
    ) -> Result<CommandResult, WorkspaceError> {
        let ran = command::run(
            &self.0.path,
            self.0.supervisor.get().map(PathBuf::as_path),
            wanted,
            cancel,
        )
        .await;
        ran.map_err(|source| unreadable("the shell", source))
    }

    /// Ends the processes that an earlier process of the server left running for a command. Blocks
    /// for a moment.
    #[cfg(unix)]
    pub fn stop_left_over(&self, mark: &str) {
        command::stop_marked(mark);
    }

    /// Returns `true` for a folder or file that tools may not even read; [`Self::is_closed_name`]
    /// is checked before it is opened.
    fn is_closed(&self, folder: &Metadata) -> bool {
        self.0.closed.has(folder)
    }

    /// Returns `true` if nothing with this name in a folder may be read.
    fn is_closed_name(&self, folder: &Dir, name: &OsStr) -> bool {
        let is_on_its_way = name.to_str().is_some_and(atomic_write::is_ours);
        is_on_its_way || resolved_path::is_unread(name) || self.0.closed.has_name(folder, name)
    }
}

/// Reason why a file was not read, found or changed; the model is told this text.
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
    /// The path belongs to version control, to the configuration of programs that act on their own,
    /// or to the server's own data.
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
    /// The file was changed more than once while it was written, so that the right version is not
    /// known.
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

impl WorkspaceError {
    /// Returns `true` if no file could ever have this name: it contains NUL, or is too long.
    pub fn is_about_the_name(&self) -> bool {
        use std::io::ErrorKind::{InvalidFilename, InvalidInput};
        let Self::Unreadable { source, .. } = self else { return false };
        matches!(source.kind(), InvalidFilename | InvalidInput)
    }
}

fn unreadable(path: &str, source: std::io::Error) -> WorkspaceError {
    WorkspaceError::Unreadable { path: path.to_owned(), source }
}
