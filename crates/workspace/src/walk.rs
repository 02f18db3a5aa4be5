//! Visits every file of the workspace: in order, without links and ignored files.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{Workspace, WorkspaceResult, files};

/// Largest number of files and folders in one search.
const MOST_ENTRIES: usize = 100_000;
/// Largest depth of nested folders.
const DEEPEST: usize = 64;
/// Longest time of one search.
const LONGEST: Duration = Duration::from_secs(10);
/// Number of bytes that are read of an ignore file.
const IGNORE_BYTES: usize = 64 * 1024;

/// Answer of the visitor in [`Workspace::walk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkFlow {
    /// The search continues.
    Go,
    /// The search stops.
    Stop,
}

/// File that [`Workspace::walk`] visits.
pub(super) struct WalkEntry<'a> {
    /// Path from the workspace's top, with `/`.
    pub(super) path: &'a str,
    /// Path from the folder in which the search began.
    pub(super) below: &'a str,
    pub(super) folder: &'a Dir,
    pub(super) name: &'a OsString,
}

/// End of [`Workspace::walk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkEnd {
    /// All files were visited.
    Complete,
    /// The search reached a limit, or the visitor stopped it.
    Cut,
}

struct TreeWalk<'a> {
    workspace: &'a Workspace,
    visit: &'a mut dyn FnMut(&WalkEntry<'_>) -> WalkFlow,
    /// Ignore files of the folders above, outermost first.
    ignored: Vec<Gitignore>,
    seen: usize,
    until: Instant,
    start: usize,
}

impl Workspace {
    /// Visits every regular file below the folder `from`, sorted by name.
    pub(super) fn walk(
        &self,
        from: &str,
        visit: &mut dyn FnMut(&WalkEntry<'_>) -> WalkFlow,
    ) -> WorkspaceResult<WalkEnd> {
        let folder = self.folder(from)?;
        let mut ignored: Vec<Gitignore> = Vec::new();
        let mut prefix = String::new();
        for name in from.split('/').filter(|name| !matches!(*name, "" | ".")) {
            // Ignore files of the folders above apply here too.
            let above = prefix.trim_end_matches('/');
            ignored.extend(ignore_file(&self.folder(above)?, above));
            prefix.push_str(name);
            prefix.push('/');
        }
        ignored.extend(ignore_file(&folder, prefix.trim_end_matches('/')));
        let until = Instant::now() + LONGEST;
        let start = prefix.len();
        let mut walk = TreeWalk { workspace: self, visit, ignored, seen: 0, until, start };
        Ok(walk.below(&folder, &prefix, 0))
    }
}

impl TreeWalk<'_> {
    fn below(&mut self, folder: &Dir, prefix: &str, depth: usize) -> WalkEnd {
        // A folder that cannot be read is left out, like one that is ignored.
        let Ok(entries) = folder.entries() else { return WalkEnd::Complete };
        let mut entries: Vec<_> = entries
            .flatten()
            .filter_map(|entry| Some((entry.file_name(), entry.file_type().ok()?)))
            .collect();
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        for (name, kind) in entries {
            self.seen += 1;
            if self.seen > MOST_ENTRIES || Instant::now() > self.until {
                return WalkEnd::Cut;
            }
            let path = format!("{prefix}{}", name.to_string_lossy());
            let is_closed = self.workspace.is_closed_name(folder, &name);
            if is_closed || self.is_ignored(&path, kind.is_dir()) {
                continue;
            }
            let end = if kind.is_dir() {
                self.enter(folder, &name, &path, depth)
            } else if kind.is_file() {
                let below = &path[self.start..];
                match (self.visit)(&WalkEntry { path: &path, below, folder, name: &name }) {
                    WalkFlow::Go => WalkEnd::Complete,
                    WalkFlow::Stop => WalkEnd::Cut,
                }
            } else {
                WalkEnd::Complete
            };
            if end == WalkEnd::Cut {
                return end;
            }
        }
        WalkEnd::Complete
    }

    fn enter(&mut self, folder: &Dir, name: &OsString, path: &str, depth: usize) -> WalkEnd {
        if depth >= DEEPEST {
            return WalkEnd::Complete;
        }
        // A folder that has become a link meanwhile is not entered.
        let Ok(inner) = folder.open_dir_nofollow(name) else { return WalkEnd::Complete };
        let is_closed = inner.dir_metadata().map_or(true, |it| self.workspace.is_closed(&it));
        if is_closed {
            return WalkEnd::Complete;
        }
        let above = self.ignored.len();
        self.ignored.extend(ignore_file(&inner, path));
        let end = self.below(&inner, &format!("{path}/"), depth + 1);
        self.ignored.truncate(above);
        end
    }

    /// Returns `true` if a path is ignored by the innermost ignore file with a matching pattern.
    fn is_ignored(&self, path: &str, is_folder: bool) -> bool {
        for ignored in self.ignored.iter().rev() {
            match ignored.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

/// Reads the `.gitignore` of a folder; `path` is the folder, from the workspace's top.
fn ignore_file(folder: &Dir, path: &str) -> Option<Gitignore> {
    use std::io::Read as _;
    let name = OsString::from(".gitignore");
    if !folder.symlink_metadata(&name).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let file = files::open(folder, &name).ok()?;
    file.take(IGNORE_BYTES as u64).read_to_string(&mut text).ok()?;
    let mut builder = GitignoreBuilder::new(path);
    for line in text.lines() {
        // A line that cannot be read ignores nothing.
        builder.add_line(None, line).ok();
    }
    builder.build().ok()
}
