//! How a file is replaced or removed without losing what another program writes into it meanwhile.
//!
//! The new content is written beside the file; then both change places in one step, and what came out is looked at. If it is
//! not what was compared, they change back. Once nobody holds it open for writing any more it is looked at again, because a
//! program that opened the file before still writes into what came out; only then it is removed. Where it cannot be told
//! which of two versions is the right one, both are kept, and whoever wrote is told.
//!
//! A file system without such an exchange has a narrow window instead: the file is compared once more after the new content
//! is on the disk, directly before it is replaced.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write as _};
use std::time::{Duration, Instant};

use cap_fs_ext::{FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _};
use cap_std::fs::{Metadata, OpenOptions};

use super::files::{TextFile, changed};
use super::resolved_path::ResolvedPath;
use super::{Workspace, WorkspaceError, atomic_write, unreadable};

/// How long a program that has the file open for writing is waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The same before anything is changed, while other files wait.
const SHORT_WAIT: Duration = Duration::from_millis(100);
/// Between two looks at who has it open.
const PAUSE: Duration = Duration::from_millis(5);
/// The least time between the exchange and the last look: for programs that cannot be seen, such as those of other users.
const GRACE: Duration = Duration::from_millis(20);

/// What came of writing a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplacedFile {
    /// Where a version is, from the workspace's top, that another program wrote at the same time; `None`: there was none.
    pub kept: Option<String>,
}

impl ReplacedFile {
    /// What whoever wrote is to be told besides; empty if nothing.
    pub fn note(&self) -> String {
        self.kept.as_ref().map_or_else(String::new, |kept| {
            format!(
                ". Another program changed the file at the same time; its version is kept in {kept}"
            )
        })
    }
}

/// A file that is to be replaced, or removed.
pub(super) struct FileReplacement<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) spot: &'a ResolvedPath,
    /// As it was given.
    pub(super) path: &'a str,
    /// What was compared.
    pub(super) old: &'a TextFile,
    /// What is to stand there; `None`: nothing.
    pub(super) content: Option<&'a str>,
}

/// What stood in the file's place and has not been removed yet.
#[derive(Debug)]
pub(super) struct SetAside {
    /// Its name for now, in the same folder.
    name: String,
    identity: (u64, u64),
    /// The new file.
    new: Option<(u64, u64)>,
}

/// What a look at the file that was set aside found.
enum FoundVersion {
    /// What was compared.
    AsCompared,
    /// That, and more at its end.
    Longer(String),
    /// Something else, or nobody knows.
    Other,
}

impl FileReplacement<'_> {
    /// Puts the new content in the file's place; `None`: nothing is left of the old one.
    pub(super) fn replace(&self, old: &Metadata) -> Result<Option<SetAside>, WorkspaceError> {
        let content = self.content.unwrap_or_default();
        if self.is_held(&self.spot.name, identity(old), SHORT_WAIT) {
            return Err(WorkspaceError::Busy { path: self.path.to_owned() });
        }
        let failed = |error| unreadable(self.path, error);
        let staged = atomic_write::stage(self.spot, content, (self.old, old)).map_err(failed)?;
        at("workspace.staged");
        let new = self.spot.folder.symlink_metadata(&staged).ok().as_ref().map(identity);
        match atomic_write::exchange(&self.spot.folder, &staged, &self.spot.name) {
            Ok(()) => {}
            Err(error) if atomic_write::is_unknown(&error) => {
                self.rename_over(&staged)?;
                return Ok(None);
            }
            Err(error) => {
                self.remove(&staged);
                return Err(match error.kind() {
                    ErrorKind::NotFound => changed(self.path),
                    _ => failed(error),
                });
            }
        }
        at("workspace.exchanged");
        let set_aside = SetAside { name: staged, identity: identity(old), new };
        match self.look(&set_aside.name) {
            FoundVersion::AsCompared => Ok(Some(set_aside)),
            FoundVersion::Longer(_) | FoundVersion::Other => {
                Err(self.put_back(&set_aside, changed(self.path)))
            }
        }
    }

    /// Takes the file away from its place.
    pub(super) fn take_away(&self, old: &Metadata) -> Result<SetAside, WorkspaceError> {
        if self.is_held(&self.spot.name, identity(old), SHORT_WAIT) {
            return Err(WorkspaceError::Busy { path: self.path.to_owned() });
        }
        let folder = &self.spot.folder;
        let name = atomic_write::set_aside_name(&self.spot.name, &self.old.stamp, &self.old.stamp);
        at("workspace.staged");
        folder.rename(&self.spot.name, folder, &name).map_err(|error| match error.kind() {
            ErrorKind::NotFound => changed(self.path),
            _ => unreadable(self.path, error),
        })?;
        at("workspace.exchanged");
        let set_aside = SetAside { name, identity: identity(old), new: None };
        match self.look(&set_aside.name) {
            FoundVersion::AsCompared => Ok(set_aside),
            FoundVersion::Longer(_) | FoundVersion::Other => {
                Err(self.put_back(&set_aside, changed(self.path)))
            }
        }
    }

    /// Removes what was set aside once nobody can write into it any more. What was written into it meanwhile is brought over,
    /// or both versions are kept.
    pub(super) fn settle(&self, set_aside: &SetAside) -> Result<ReplacedFile, WorkspaceError> {
        atomic_write::sync(&self.spot.folder);
        std::thread::sleep(GRACE);
        let is_held = self.is_held(OsStr::new(&set_aside.name), set_aside.identity, LONGEST_WAIT);
        at("workspace.settling");
        match self.look(&set_aside.name) {
            FoundVersion::AsCompared if !is_held => {
                self.remove(&set_aside.name);
                Ok(ReplacedFile::default())
            }
            FoundVersion::Longer(more) if !is_held && self.bring_over(&more) => {
                self.remove(&set_aside.name);
                Ok(ReplacedFile::default())
            }
            _ if self.is_ours(set_aside) => {
                let why = if is_held {
                    WorkspaceError::Busy { path: self.path.to_owned() }
                } else {
                    changed(self.path)
                };
                Err(self.put_back(set_aside, why))
            }
            _ => Ok(ReplacedFile { kept: Some(self.keep(&set_aside.name)?) }),
        }
    }

    /// Where nothing can change places: compares once more, then replaces.
    fn rename_over(&self, staged: &str) -> Result<(), WorkspaceError> {
        let folder = &self.spot.folder;
        let replaced = match self.workspace.read_at(self.spot, self.path) {
            Ok((now, _)) if now.stamp == self.old.stamp => folder
                .rename(staged, folder, &self.spot.name)
                .map_err(|error| unreadable(self.path, error)),
            _ => Err(changed(self.path)),
        };
        if replaced.is_err() {
            self.remove(staged);
        }
        atomic_write::sync(folder);
        replaced
    }

    /// Puts what was set aside in its place again; `why` it had to be, or that both versions are kept.
    fn put_back(&self, set_aside: &SetAside, why: WorkspaceError) -> WorkspaceError {
        let folder = &self.spot.folder;
        let put = match set_aside.new {
            // Somebody has made another version in the new one's place already.
            Some(_) if !self.is_ours(set_aside) => return self.keep_both(&set_aside.name, why),
            Some(_) => atomic_write::exchange(folder, &set_aside.name, &self.spot.name),
            None => atomic_write::place(folder, &set_aside.name, &self.spot.name),
        };
        at("workspace.put_back");
        match put {
            Ok(()) => {}
            // Removed, or made again, meanwhile.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) =>
            {
                return self.keep_both(&set_aside.name, why);
            }
            Err(error) => {
                tracing::warn!(%error, path = self.path, "a version could not be put back");
                return self.keep_both(&set_aside.name, why);
            }
        }
        atomic_write::sync(folder);
        if set_aside.new.is_none() {
            return why;
        }
        // What came out now should be what this call wrote.
        let content = self.content.unwrap_or_default();
        match self.beside(&set_aside.name) {
            Some((it, found)) if Some(found) == set_aside.new && it == content => {
                self.remove(&set_aside.name);
                why
            }
            Some((it, found))
                if Some(found) == set_aside.new
                    && it.strip_prefix(content).is_some_and(|more| self.bring_over(more)) =>
            {
                self.remove(&set_aside.name);
                why
            }
            _ => {
                // A newer version than the one that was put back: it belongs there, and the other one is kept.
                atomic_write::exchange(folder, &set_aside.name, &self.spot.name).ok();
                self.keep_both(&set_aside.name, why)
            }
        }
    }

    /// Keeps a version under a name that people find; what to tell whoever wrote.
    fn keep_both(&self, beside: &str, why: WorkspaceError) -> WorkspaceError {
        match self.keep(beside) {
            Ok(kept) => WorkspaceError::Kept { path: self.path.to_owned(), kept },
            Err(error) => {
                // It stays beside the file, and the next start finds it.
                tracing::warn!(%error, path = self.path, beside, "a version could not be renamed");
                why
            }
        }
    }

    fn keep(&self, beside: &str) -> Result<String, WorkspaceError> {
        let label = self.spot.name.to_string_lossy();
        let kept = atomic_write::keep(&self.spot.folder, beside, &label)
            .map_err(|error| unreadable(self.path, error))?;
        let kept = match self.path.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{kept}"),
            None => kept,
        };
        tracing::warn!(
            path = self.path,
            kept,
            "a file changed while it was written; the other version is kept"
        );
        Ok(kept)
    }

    /// Whether the new file stands in its place, as it was written.
    fn is_ours(&self, set_aside: &SetAside) -> bool {
        let now = self.workspace.read_at(self.spot, self.path);
        match (now, self.content) {
            (Ok((now, metadata)), Some(content)) => {
                Some(identity(&metadata)) == set_aside.new && now.text == content
            }
            (Err(WorkspaceError::NotFound { .. }), None) => true,
            _ => false,
        }
    }

    /// What stands beside the file, if it is a text.
    fn beside(&self, name: &str) -> Option<(String, (u64, u64))> {
        let folder = self.spot.folder.try_clone().ok()?;
        let spot = ResolvedPath { folder, name: name.into() };
        let (file, metadata) = self.workspace.read_at(&spot, self.path).ok()?;
        // With another name somewhere it is not only this workspace's.
        (metadata.nlink() == 1).then(|| (file.text, identity(&metadata)))
    }

    fn look(&self, name: &str) -> FoundVersion {
        let Some((text, _)) = self.beside(name) else { return FoundVersion::Other };
        match text.strip_prefix(self.old.text.as_str()) {
            Some("") => FoundVersion::AsCompared,
            Some(more) => FoundVersion::Longer(more.to_owned()),
            None => FoundVersion::Other,
        }
    }

    /// Adds what another program wrote at the end of the old file to the end of the one in its place; whether it did.
    fn bring_over(&self, more: &str) -> bool {
        if self.workspace.read_at(self.spot, self.path).is_err() {
            return false;
        }
        let mut options = OpenOptions::new();
        options.append(true).follow(FollowSymlinks::No);
        let file = self.spot.folder.open_with(&self.spot.name, &options);
        let added = file.and_then(|mut file| {
            file.write_all(more.as_bytes())?;
            file.sync_all()
        });
        if let Err(error) = &added {
            tracing::warn!(%error, path = self.path, "what was written meanwhile could not be added");
        }
        added.is_ok()
    }

    /// Whether another program still has it open for writing after some time, or may have: the search took too long.
    fn is_held(&self, name: &OsStr, file: (u64, u64), longest: Duration) -> bool {
        let until = Instant::now() + longest;
        while is_open_for_writing(name, file) {
            if Instant::now() > until {
                tracing::debug!(path = self.path, "another program holds a file open for writing");
                return true;
            }
            std::thread::sleep(PAUSE);
        }
        false
    }

    /// Removes what nobody needs any more; if that fails, the next start does it.
    fn remove(&self, beside: &str) {
        self.spot.folder.remove_file(beside).ok();
    }
}

#[cfg(target_os = "linux")]
fn is_open_for_writing(name: &OsStr, (device, inode): (u64, u64)) -> bool {
    use crate::processes::writers::{OpenFile, is_open_for_writing};
    let file = OpenFile { device, inode, name: std::path::Path::new(name) };
    // Where it cannot be found out, it may be: then both versions are kept.
    is_open_for_writing(file).unwrap_or(true)
}

/// Nobody can tell.
#[cfg(not(target_os = "linux"))]
fn is_open_for_writing(_: &OsStr, _: (u64, u64)) -> bool {
    false
}

fn identity(it: &Metadata) -> (u64, u64) {
    (it.dev(), it.ino())
}

/// A place where tests let the process die, or let another program come in between.
fn at(place: &'static str) {
    crate::failpoint::pass(place);
    #[cfg(test)]
    tests::reached(place);
}

#[cfg(test)]
mod tests;
