//! Names in the paths of a workspace: which ones lead outside, and which ones tools may not use.

use std::ffi::OsStr;
use std::path::{Component, Path};

use super::error::{WorkspaceError, WorkspaceResult};
use super::temporary_names;

/// Names that no tool may write to or below, also on file systems that ignore case.
const GUARDED: [&str; 4] = [".git", ".claude", ".hg", "copydesk.toml"];
/// Guarded names that no tool may read either: they contain addresses with passwords, and tokens.
const UNREAD: [&str; 3] = [".git", ".hg", "copydesk.toml"];

/// Splits a path into its names, from the workspace's top.
pub(super) fn names(path: &str) -> WorkspaceResult<Vec<&OsStr>> {
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
pub fn plain_path(path: &str) -> WorkspaceResult<String> {
    let names: Vec<_> = names(path)?.into_iter().map(OsStr::to_string_lossy).collect();
    if names.is_empty() || path.contains('\0') {
        return Err(outside(path));
    }
    Ok(names.join("/"))
}

pub(super) fn check_guarded(path: &str) -> WorkspaceResult<()> {
    let is_guarded = |name: &&OsStr| {
        let name = plain(&name.to_string_lossy());
        // A file with such a name could be taken for one that was left behind, and removed.
        GUARDED.contains(&name.as_str()) || temporary_names::is_ours(&name)
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

pub(super) fn outside(path: &str) -> WorkspaceError {
    WorkspaceError::Outside { path: path.to_owned() }
}
