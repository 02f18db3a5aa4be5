//! Resolves a path to the folder of its last name, one name at a time, never through a link.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;

use super::Workspace;
use super::error::{WorkspaceError, WorkspaceResult, unreadable};
use super::path_names::{names, outside};

/// Treatment of a missing folder by [`Workspace::spot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingFolder {
    /// The path is refused.
    Refuse,
    /// The folder is created.
    Make,
}

/// File, as a name in an open folder.
pub(super) struct ResolvedPath {
    pub(super) folder: Dir,
    pub(super) name: OsString,
}

impl Workspace {
    pub(super) fn spot(&self, path: &str, missing: MissingFolder) -> WorkspaceResult<ResolvedPath> {
        let mut names = names(path)?;
        let name = names.pop().ok_or_else(|| outside(path))?.to_owned();
        let folder = self.descend(path, &names, missing)?;
        if self.is_closed_name(&folder, &name) {
            return Err(WorkspaceError::Guarded { path: path.to_owned() });
        }
        Ok(ResolvedPath { folder, name })
    }

    /// Opens the folder of a path; `""` and `"."` are the workspace itself.
    pub(super) fn folder(&self, path: &str) -> WorkspaceResult<Dir> {
        self.descend(path, &names(path)?, MissingFolder::Refuse)
    }

    fn descend(
        &self,
        path: &str,
        names: &[&OsStr],
        missing: MissingFolder,
    ) -> WorkspaceResult<Dir> {
        let mut folder = self.0.root.try_clone().map_err(|error| unreadable(path, error))?;
        for name in names {
            if self.is_closed_name(&folder, name) {
                return Err(WorkspaceError::Guarded { path: path.to_owned() });
            }
            folder = match (folder.open_dir_nofollow(name), missing) {
                (Err(error), MissingFolder::Make) if error.kind() == ErrorKind::NotFound => {
                    folder.create_dir(name).map_err(|error| unreadable(path, error))?;
                    folder.open_dir_nofollow(name)
                }
                (opened, _) => opened,
            }
            .map_err(|error| no_folder(path, &folder, name, error))?;
            let metadata = folder.dir_metadata().map_err(|error| unreadable(path, error))?;
            if self.is_closed(&metadata) {
                return Err(WorkspaceError::Guarded { path: path.to_owned() });
            }
        }
        Ok(folder)
    }
}

/// Returns the most useful [`WorkspaceError`] for a folder that could not be entered.
fn no_folder(path: &str, folder: &Dir, name: &OsStr, error: std::io::Error) -> WorkspaceError {
    let path = path.to_owned();
    match folder.symlink_metadata(name) {
        Ok(there) if there.is_symlink() => WorkspaceError::Link { path },
        Ok(there) if !there.is_dir() => WorkspaceError::NotAFolder { path },
        _ if error.kind() == ErrorKind::NotFound => WorkspaceError::NotFound { path },
        _ => WorkspaceError::Unreadable { path, source: error },
    }
}
