//! The workspace: one folder that tools may read and change, through a handle that cannot leave it.
//!
//! Nothing here looks at the text of a path to decide whether it is harmless. A path is walked name by name, each opened
//! in the folder before it without following links ([`resolved_path`]), so `..`, absolute paths and links cannot lead outside, not
//! even if somebody moves folders about meanwhile. What is [closed](protected_paths) is not even read. [`files`] reads and replaces one
//! file (written [beside](atomic_write) it first), [`walk`], [`glob`] and [`grep`] search. `command` runs a shell command there, and
//! [`shell`] says what to look out for in one.

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

/// A folder that tools may read and change. Cheap to clone. Every method blocks, so it belongs on a blocking thread.
#[derive(Clone, Debug)]
pub struct Workspace(Arc<WorkspaceShared>);

#[derive(Debug)]
struct WorkspaceShared {
    root: Dir,
    /// The same folder by its name: where commands begin.
    path: PathBuf,
    /// Folders and files inside that tools may not even read: the server's own data and settings.
    closed: ProtectedPaths,
    /// The program that commands run under, if there is one.
    #[cfg(unix)]
    supervisor: OnceLock<PathBuf>,
    /// Held from comparing a file until it is replaced, so that two calls never both find it unchanged.
    replacing: Mutex<()>,
}

impl Workspace {
    /// Opens the folder `root`. Nothing of the folders and files `closed` is read or written, also of those that come there
    /// later.
    ///
    /// # Errors
    /// [`WorkspaceError::Unreadable`] when there is no such folder; one of `closed` that is not there is no error.
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

    /// From now on commands run under this program, as `program supervise --mark NAME=VALUE -- COMMAND`: then nothing that comes
    /// of one gets away (`processes::supervisor`). Linux only.
    #[cfg(unix)]
    pub fn supervise_by(&self, program: PathBuf) {
        // The first one stays.
        self.0.supervisor.set(program).ok();
    }

    /// Runs a shell command in the workspace. When this returns none of its processes is left; when it is dropped, they end.
    ///
    /// # Errors
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

    /// Ends what an earlier process of the server left running of a command. Blocks for a moment.
    #[cfg(unix)]
    pub fn stop_left_over(&self, mark: &str) {
        command::stop_marked(mark);
    }

    /// Whether a folder or file is one that tools may not even read; [`Self::is_closed_name`] is asked before it is opened.
    fn is_closed(&self, folder: &Metadata) -> bool {
        self.0.closed.has(folder)
    }

    /// Whether nothing of this name in a folder may be read, whatever it is.
    fn is_closed_name(&self, folder: &Dir, name: &OsStr) -> bool {
        let is_on_its_way = name.to_str().is_some_and(atomic_write::is_ours);
        is_on_its_way || resolved_path::is_unread(name) || self.0.closed.has_name(folder, name)
    }
}

/// Why a file was not read, found or changed; the model is told these words.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The path does not begin in the workspace, or climbs out of a folder.
    #[error(
        "{path:?} is not a path inside the workspace; name it from the workspace's top, without `..`"
    )]
    Outside {
        /// As it was given.
        path: String,
    },
    /// There is nothing of this name.
    #[error("{path} does not exist")]
    NotFound {
        /// As it was given.
        path: String,
    },
    /// A link is on the way.
    #[error("{path} is a symbolic link or leads through one; links are not followed")]
    Link {
        /// As it was given.
        path: String,
    },
    /// It is a folder, a pipe, a device, a socket.
    #[error("{path} is not a regular file")]
    NotAFile {
        /// As it was given.
        path: String,
    },
    /// It is a file, and a folder was expected.
    #[error("{path} is not a folder")]
    NotAFolder {
        /// As it was given.
        path: String,
    },
    /// The file has another name somewhere, perhaps outside.
    #[error("{path} has more than one name (hard links); it is not changed")]
    Linked {
        /// As it was given.
        path: String,
    },
    /// Version control, the configuration of programs that act on their own, or the server's own data.
    #[error(
        "{path} belongs to version control, to a program's own configuration or to this server; tools leave it alone"
    )]
    Guarded {
        /// As it was given.
        path: String,
    },
    /// It is longer than a tool reads or writes.
    #[error("{path} has {bytes} bytes; at most {LARGEST_FILE} are possible")]
    TooLarge {
        /// As it was given.
        path: String,
        /// How long it is.
        bytes: u64,
    },
    /// It is not UTF-8, or has NUL characters.
    #[error("{path} is not a text file")]
    NotText {
        /// As it was given.
        path: String,
    },
    /// It is not what was previewed.
    #[error("{path} changed since it was previewed; nothing was written. Read it again")]
    Changed {
        /// As it was given.
        path: String,
    },
    /// Another program holds it open and may still write into it.
    #[error(
        "{path} is being written by another program, which holds it open; nothing was written. Try again when it is done"
    )]
    Busy {
        /// As it was given.
        path: String,
    },
    /// It was changed more than once while it was written, so that nobody can tell which version is the right one.
    #[error(
        "{path} changed while it was written. Nobody's words were overwritten: {path} has one version, {kept} the other. Read both"
    )]
    Kept {
        /// As it was given.
        path: String,
        /// Where the other version is, from the workspace's top.
        kept: String,
    },
    /// A pattern that cannot be read.
    #[error("the pattern cannot be read: {reason}")]
    Pattern {
        /// Why.
        reason: String,
    },
    /// The file system refused.
    #[error("{path}: {source}")]
    Unreadable {
        /// As it was given.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

impl WorkspaceError {
    /// Whether nothing could ever have this name: it holds NUL, or is too long.
    pub fn is_about_the_name(&self) -> bool {
        use std::io::ErrorKind::{InvalidFilename, InvalidInput};
        let Self::Unreadable { source, .. } = self else { return false };
        matches!(source.kind(), InvalidFilename | InvalidInput)
    }
}

fn unreadable(path: &str, source: std::io::Error) -> WorkspaceError {
    WorkspaceError::Unreadable { path: path.to_owned(), source }
}
