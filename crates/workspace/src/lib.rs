//! The workspace: one folder that tools may read and change, through a handle that cannot leave it.
//!
//! No code here inspects the text of a path to decide that it is harmless. A path is followed name
//! by name, and each name is opened in the folder before it without following links
//! ([`resolved_path`]). So `..`, absolute paths and links cannot lead outside, not even if another
//! program moves folders meanwhile. [Protected paths](protected_paths) are not even read.

mod atomic_write;
#[cfg(unix)]
mod command;
mod error;
mod files;
mod glob;
mod grep;
mod list_files;
mod path_names;
mod protected_paths;
mod replace;
mod resolved_path;
mod shell;
mod temporary_names;
#[cfg(test)]
mod tests;
mod text_file;
mod walk;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(unix)]
use std::sync::OnceLock;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};
use parking_lot::Mutex;
#[cfg(unix)]
use tokio_util::sync::CancellationToken;

#[cfg(unix)]
pub use command::{CommandEnd, CommandResult, CommandSpec};
use error::unreadable;
pub use error::{WorkspaceError, WorkspaceResult};
pub use glob::GlobResult;
pub use grep::{GrepOutput, GrepQuery, GrepResult, SEARCHED_BYTES};
pub use path_names::plain_path;
use protected_paths::ProtectedPaths;
pub use replace::ReplacedFile;
pub use shell::{LONGEST_COMMAND, cautions};
pub use text_file::{ABSENT, FileMeta, LARGEST_FILE, TextFile, stamp};

/// Folder that tools may read and change. Cheap to clone. Methods block unless they are `async`.
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
    /// Lock from comparing a file until its replacement: two calls never both find it unchanged.
    replacing: Mutex<()>,
}

impl Workspace {
    /// Opens the folder `root`. What is in `closed` is never read or written, even if made later.
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
    /// NAME=VALUE -- COMMAND`, which no process of a command can escape. Linux only.
    #[cfg(unix)]
    pub fn supervise_by(&self, program: PathBuf) {
        // Later calls have no effect.
        self.0.supervisor.set(program).ok();
    }

    /// Runs a [`CommandSpec`] in the workspace. When the method returns, none of the command's
    /// processes is left; when its future is dropped, they are ended.
    #[cfg(unix)]
    pub async fn run(
        &self,
        spec: &CommandSpec,
        cancel: &CancellationToken,
    ) -> Result<CommandResult, WorkspaceError> {
        let ran =
            command::run(&self.0.path, self.0.supervisor.get().map(PathBuf::as_path), spec, cancel)
                .await;
        ran.map_err(|source| unreadable("the shell", source))
    }

    /// Ends the processes that an earlier server left running for a command. Blocks for a moment.
    #[cfg(unix)]
    pub fn stop_left_over(&self, mark: &str) {
        command::stop_marked(mark);
    }

    /// Returns `true` for what tools may not even read; first [`Self::is_closed_name`] is checked.
    fn is_closed(&self, folder: &Metadata) -> bool {
        self.0.closed.has(folder)
    }

    /// Returns `true` if nothing with this name in a folder may be read.
    fn is_closed_name(&self, folder: &Dir, name: &OsStr) -> bool {
        let is_on_its_way = name.to_str().is_some_and(temporary_names::is_ours);
        is_on_its_way || path_names::is_unread(name) || self.0.closed.has_name(folder, name)
    }
}
