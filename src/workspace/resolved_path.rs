//! Resolves a path to the folder of its last name, one name at a time, never through a link.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Component, Path};

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;

use super::{Workspace, WorkspaceError, atomic_write, unreadable};

/// Treatment of a missing folder by [`Workspace::spot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingFolder {
    /// The path is refused.
    Refuse,
    /// The folder is created.
    Make,
}

/// Names that no tool may write to or below, also on file systems that ignore case.
const GUARDED: [&str; 4] = [".git", ".claude", ".hg", "copydesk.toml"];
/// Guarded names that no tool may read either: they contain addresses with passwords, and tokens.
/// The configuration of other programs may be read.
const UNREAD: [&str; 3] = [".git", ".hg", "copydesk.toml"];

/// File, as a name in an open folder.
pub(super) struct ResolvedPath {
    pub(super) folder: Dir,
    pub(super) name: OsString,
}

impl Workspace {
    /// Resolves a path to a [`ResolvedPath`].
    pub(super) fn spot(
        &self,
        path: &str,
        missing: MissingFolder,
    ) -> Result<ResolvedPath, WorkspaceError> {
        let mut names = names(path)?;
        let name = names.pop().ok_or_else(|| outside(path))?.to_owned();
        let folder = self.descend(path, &names, missing)?;
        if self.is_closed_name(&folder, &name) {
            return Err(WorkspaceError::Guarded { path: path.to_owned() });
        }
        Ok(ResolvedPath { folder, name })
    }

    /// Opens the folder of a path; `""` and `"."` are the workspace itself.
    pub(super) fn folder(&self, path: &str) -> Result<Dir, WorkspaceError> {
        self.descend(path, &names(path)?, MissingFolder::Refuse)
    }

    fn descend(
        &self,
        path: &str,
        names: &[&OsStr],
        missing: MissingFolder,
    ) -> Result<Dir, WorkspaceError> {
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

/// Splits a path into its names, from the workspace's top.
fn names(path: &str) -> Result<Vec<&OsStr>, WorkspaceError> {
    let name = |component| match component {
        Component::Normal(name) => Some(Ok(name)),
        Component::CurDir => None,
        Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
            Some(Err(outside(path)))
        }
    };
    Path::new(path).components().filter_map(name).collect()
}

/// Normalises a path: `a/b` for `./a//b/`.
///
/// # Errors
///
/// [`WorkspaceError::Outside`] for a path that does not stay in the workspace, or has no name.
pub fn plain_path(path: &str) -> Result<String, WorkspaceError> {
    let names: Vec<_> = names(path)?.into_iter().map(OsStr::to_string_lossy).collect();
    if names.is_empty() || path.contains('\0') {
        return Err(outside(path));
    }
    Ok(names.join("/"))
}

/// Refuses paths that tools may not write to.
pub(super) fn check_guarded(path: &str) -> Result<(), WorkspaceError> {
    let is_guarded = |name: &&OsStr| {
        let name = plain(&name.to_string_lossy());
        // A file with the name of a temporary file could be taken for one that was left behind, and
        // removed.
        GUARDED.contains(&name.as_str()) || atomic_write::is_ours(&name)
    };
    if names(path)?.iter().any(is_guarded) {
        return Err(WorkspaceError::Guarded { path: path.to_owned() });
    }
    Ok(())
}

/// Returns `true` for a name that is not even read.
pub(super) fn is_unread(name: &OsStr) -> bool {
    UNREAD.contains(&plain(&name.to_string_lossy()).as_str())
}

/// Normalises a name like file systems that ignore case, trailing dots and invisible characters.
pub(super) fn plain(name: &str) -> String {
    let visible = |c: &char| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let name: String = name.chars().filter(visible).flat_map(char::to_lowercase).collect();
    name.trim_end_matches(['.', ' ']).to_owned()
}

fn outside(path: &str) -> WorkspaceError {
    WorkspaceError::Outside { path: path.to_owned() }
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
