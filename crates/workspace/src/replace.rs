//! Replacement or removal of a file without losing what another program writes into it meanwhile.
//!
//! The new content is written under another name in the folder. Then the two files change places in
//! one step, and the old file is compared. If it is not the expected one, they change back. It is
//! compared again after no process holds it open for writing any more, because a program that
//! opened it earlier still writes into it; only then it is removed. If the right one of two
//! versions is not known, both are kept, and the caller learns it.
//!
//! A file system without such an exchange has a short window instead: the file is compared once
//! more after the new content is on the disk, directly before it is replaced.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write as _};
use std::time::{Duration, Instant};

use cap_fs_ext::{FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _};
use cap_std::fs::{Metadata, OpenOptions};

use super::error::{WorkspaceError, WorkspaceResult, unreadable};
use super::files::changed;
use super::resolved_path::ResolvedPath;
use super::text_file::TextFile;
use super::{Workspace, atomic_write, temporary_names};

/// Longest time to wait for a program that has the replaced file open for writing.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Longest time to wait for a program that has the file open for writing, before anything is
/// changed. Writes to other files wait meanwhile.
const SHORT_WAIT: Duration = Duration::from_millis(100);
/// Pause between two checks for open handles.
const PAUSE: Duration = Duration::from_millis(5);
/// Shortest time before the last comparison, for programs that are not visible, as other users'.
const GRACE: Duration = Duration::from_millis(20);

/// Result of [`Workspace::write`] and [`Workspace::remove`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplacedFile {
    /// Path from the workspace's top of a version that another program wrote meanwhile.
    pub kept: Option<String>,
}

impl ReplacedFile {
    /// Returns an addition to the caller's message about the file; empty if no version was kept.
    pub fn note(&self) -> String {
        self.kept.as_ref().map_or_else(String::new, |kept| {
            format!(
                ". Another program changed the file at the same time; its version is kept in {kept}"
            )
        })
    }
}

pub(super) struct FileReplacement<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) spot: &'a ResolvedPath,
    pub(super) path: &'a str,
    /// File that was compared.
    pub(super) old: &'a TextFile,
    /// New content; `None` to remove the file.
    pub(super) content: Option<&'a str>,
}

/// Old file that has left its place and is not removed yet.
#[derive(Debug)]
pub(super) struct SetAside {
    /// Temporary name, in the folder of the file.
    name: String,
    identity: (u64, u64),
    /// Identity of the new file.
    new: Option<(u64, u64)>,
}

enum FoundVersion {
    /// The content that was compared before.
    AsCompared,
    /// The expected content, and more at its end.
    Longer(String),
    /// Any other content, or a file that cannot be read.
    Other,
}

impl FileReplacement<'_> {
    /// Puts the new content in the file's place. Returns the old file, if something is left of it.
    pub(super) fn replace(&self, old: &Metadata) -> WorkspaceResult<Option<SetAside>> {
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
        match self.inspect(&set_aside.name) {
            FoundVersion::AsCompared => Ok(Some(set_aside)),
            FoundVersion::Longer(_) | FoundVersion::Other => {
                Err(self.put_back(&set_aside, changed(self.path)))
            }
        }
    }

    pub(super) fn take_away(&self, old: &Metadata) -> WorkspaceResult<SetAside> {
        if self.is_held(&self.spot.name, identity(old), SHORT_WAIT) {
            return Err(WorkspaceError::Busy { path: self.path.to_owned() });
        }
        let folder = &self.spot.folder;
        let name =
            temporary_names::set_aside_name(&self.spot.name, &self.old.stamp, &self.old.stamp);
        at("workspace.staged");
        folder.rename(&self.spot.name, folder, &name).map_err(|error| match error.kind() {
            ErrorKind::NotFound => changed(self.path),
            _ => unreadable(self.path, error),
        })?;
        at("workspace.exchanged");
        let set_aside = SetAside { name, identity: identity(old), new: None };
        match self.inspect(&set_aside.name) {
            FoundVersion::AsCompared => Ok(set_aside),
            FoundVersion::Longer(_) | FoundVersion::Other => {
                Err(self.put_back(&set_aside, changed(self.path)))
            }
        }
    }

    /// Removes the file that was set aside after no process can write into it any more. Text that
    /// was added to it meanwhile is copied to the new file, or both versions are kept.
    pub(super) fn settle(&self, set_aside: &SetAside) -> WorkspaceResult<ReplacedFile> {
        atomic_write::sync(&self.spot.folder);
        std::thread::sleep(GRACE);
        let is_held = self.is_held(OsStr::new(&set_aside.name), set_aside.identity, LONGEST_WAIT);
        at("workspace.settling");
        match self.inspect(&set_aside.name) {
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

    /// Compares once more, then replaces. Only for file systems that cannot swap two files.
    fn rename_over(&self, staged: &str) -> WorkspaceResult<()> {
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

    /// Puts the old file in its place again. Returns `why`, or [`WorkspaceError::Kept`].
    fn put_back(&self, set_aside: &SetAside, why: WorkspaceError) -> WorkspaceError {
        let folder = &self.spot.folder;
        let put = match set_aside.new {
            // Another program has already put another version in the new one's place.
            Some(_) if !self.is_ours(set_aside) => return self.keep_both(&set_aside.name, why),
            Some(_) => atomic_write::exchange(folder, &set_aside.name, &self.spot.name),
            None => atomic_write::place(folder, &set_aside.name, &self.spot.name),
        };
        at("workspace.put_back");
        match put {
            Ok(()) => {}
            // The file was removed, or created again, meanwhile.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) =>
            {
                return self.keep_both(&set_aside.name, why);
            }
            Err(error) => {
                tracing::warn!(%error, path = self.path, "cannot put a version back");
                return self.keep_both(&set_aside.name, why);
            }
        }
        atomic_write::sync(folder);
        if set_aside.new.is_none() {
            return why;
        }
        // The file that is set aside now should be the one that this call wrote.
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
                // A newer version than the one put back: it stays there, and the other is kept.
                atomic_write::exchange(folder, &set_aside.name, &self.spot.name).ok();
                self.keep_both(&set_aside.name, why)
            }
        }
    }

    /// Keeps a version under a new name; returns [`WorkspaceError::Kept`], or `why` if it fails.
    fn keep_both(&self, beside: &str, why: WorkspaceError) -> WorkspaceError {
        match self.keep(beside) {
            Ok(kept) => WorkspaceError::Kept { path: self.path.to_owned(), kept },
            Err(error) => {
                // The file keeps its temporary name, and the next start finds it.
                tracing::warn!(%error, path = self.path, beside, "cannot rename a version");
                why
            }
        }
    }

    fn keep(&self, beside: &str) -> WorkspaceResult<String> {
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

    /// Returns `true` if the new file is in its place, with the content that was written.
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

    /// Reads a file in the same folder, if it is a text.
    fn beside(&self, name: &str) -> Option<(String, (u64, u64))> {
        let folder = self.spot.folder.try_clone().ok()?;
        let spot = ResolvedPath { folder, name: name.into() };
        let (file, metadata) = self.workspace.read_at(&spot, self.path).ok()?;
        // A file with another name elsewhere does not belong to this workspace alone.
        (metadata.nlink() == 1).then(|| (file.text, identity(&metadata)))
    }

    fn inspect(&self, name: &str) -> FoundVersion {
        let Some((text, _)) = self.beside(name) else { return FoundVersion::Other };
        match text.strip_prefix(self.old.text.as_str()) {
            Some("") => FoundVersion::AsCompared,
            Some(more) => FoundVersion::Longer(more.to_owned()),
            None => FoundVersion::Other,
        }
    }

    /// Appends text that another program added to the old file to the new one; `true` on success.
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
            tracing::warn!(%error, path = self.path, "cannot append what was written meanwhile");
        }
        added.is_ok()
    }

    /// Returns `true` if another program has, or may have, it open for writing after some time.
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

    /// Removes a file that is not needed any more; if that fails, the next start does it.
    fn remove(&self, beside: &str) {
        self.spot.folder.remove_file(beside).ok();
    }
}

#[cfg(target_os = "linux")]
fn is_open_for_writing(name: &OsStr, (device, inode): (u64, u64)) -> bool {
    use copydesk_processes::writers::{OpenFile, is_open_for_writing};
    let file = OpenFile { device, inode, name: std::path::Path::new(name) };
    // Where it cannot be found out, it may be: then both versions are kept.
    is_open_for_writing(file).unwrap_or(true)
}

/// Returns `false`, because this system does not tell.
#[cfg(not(target_os = "linux"))]
fn is_open_for_writing(_: &OsStr, _: (u64, u64)) -> bool {
    false
}

fn identity(it: &Metadata) -> (u64, u64) {
    (it.dev(), it.ino())
}

/// Marks a point where tests let the process die, or let another program act in between.
fn at(place: &'static str) {
    copydesk_failpoint::pass(place);
    #[cfg(test)]
    tests::reached(place);
}

#[cfg(test)]
mod tests;
