//! One file: read with the hash of its content, and replaced in one step if that hash is unchanged.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read as _};

use cap_fs_ext::{
    FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _,
};
use cap_std::fs::{Dir, Metadata, OpenOptions};

use super::error::{WorkspaceError, WorkspaceResult, unreadable};
use super::path_names::check_guarded;
use super::replace::{FileReplacement, ReplacedFile};
use super::resolved_path::{MissingFolder, ResolvedPath};
use super::text_file::{ABSENT, FileMeta, LARGEST_FILE, TextFile, stamp};
use super::{Workspace, atomic_write};

impl Workspace {
    /// Reads a text file.
    pub fn read(&self, path: &str) -> WorkspaceResult<TextFile> {
        self.read_at(&self.spot(path, MissingFolder::Refuse)?, path).map(|(file, _)| file)
    }

    /// Reads a text file that is to be written; `None` if it does not exist but could be created.
    pub fn read_if_exists(&self, path: &str) -> WorkspaceResult<Option<TextFile>> {
        check_guarded(path)?;
        let found =
            self.spot(path, MissingFolder::Refuse).and_then(|spot| self.writable(&spot, path));
        match found {
            Ok((file, _)) => Ok(Some(file)),
            Err(WorkspaceError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the data of a file without reading it; `None` if it is not there or not accessible.
    pub fn file_meta(&self, path: &str) -> Option<FileMeta> {
        let ResolvedPath { folder, name } = self.spot(path, MissingFolder::Refuse).ok()?;
        let metadata = folder.symlink_metadata(&name).ok()?;
        let modified = metadata.modified().ok()?.into_std();
        Some(FileMeta { inode: metadata.ino(), bytes: metadata.len(), modified })
    }

    /// Returns `true` if a file has hard links, by which what holds for its path could be evaded.
    pub fn has_other_names(&self, path: &str) -> bool {
        let found = self.spot(path, MissingFolder::Refuse).ok();
        let metadata = found.and_then(|spot| spot.folder.symlink_metadata(&spot.name).ok());
        metadata.is_some_and(|metadata| metadata.is_file() && metadata.nlink() > 1)
    }

    /// Checks that a tool could write this content to the path.
    pub fn check(&self, path: &str, content: &str) -> WorkspaceResult<()> {
        check_guarded(path)?;
        check_text(path, content)
    }

    /// Returns the stamp of a file at this moment, or [`ABSENT`]; `None` if it cannot be read.
    pub fn stamp_now(&self, path: &str) -> Option<String> {
        match self.read_if_exists(path) {
            Ok(Some(file)) => Some(file.stamp),
            Ok(None) => Some(ABSENT.to_owned()),
            Err(_) => None,
        }
    }

    /// Replaces the content of a file, or creates it with its folders: completely or not at all,
    /// durably, and only if its stamp is still `expected`. Nothing that another program writes into
    /// the file meanwhile is lost ([`replace`](super::replace)).
    ///
    /// # Errors
    /// [`WorkspaceError::Changed`] if the stamp differs, [`WorkspaceError::Busy`] if another
    /// program is writing the file, [`WorkspaceError::Kept`] if there are two versions now, or the
    /// reason why the file cannot be written. In all cases but [`WorkspaceError::Kept`] it is
    /// unchanged.
    pub fn write(
        &self,
        path: &str,
        content: &str,
        expected: &str,
    ) -> WorkspaceResult<ReplacedFile> {
        self.check(path, content)?;
        let replacing = self.0.replacing.lock();
        let missing = if expected == ABSENT { MissingFolder::Make } else { MissingFolder::Refuse };
        let spot = self.spot(path, missing)?;
        let (old, metadata) = match self.writable(&spot, path) {
            Ok(found) if found.0.stamp == expected => found,
            Err(WorkspaceError::NotFound { .. }) if expected == ABSENT => {
                return atomic_write::create(&spot, content)
                    .map(|()| ReplacedFile::default())
                    .map_err(|error| match error.kind() {
                        // Another program made the file a moment ago.
                        ErrorKind::AlreadyExists => changed(path),
                        _ => unreadable(path, error),
                    });
            }
            Ok(_) | Err(WorkspaceError::NotFound { .. }) => return Err(changed(path)),
            Err(error) => return Err(error),
        };
        let change = FileReplacement {
            workspace: self,
            spot: &spot,
            path,
            old: &old,
            content: Some(content),
        };
        let set_aside = change.replace(&metadata)?;
        // Writes to other files need not wait until no program writes into the replaced file.
        drop(replacing);
        set_aside.map_or_else(|| Ok(ReplacedFile::default()), |set_aside| change.settle(&set_aside))
    }

    /// Removes a file, durably, and only if its stamp is still `expected`. Folders stay.
    pub fn remove(&self, path: &str, expected: &str) -> WorkspaceResult<ReplacedFile> {
        check_guarded(path)?;
        let replacing = self.0.replacing.lock();
        let spot = self.spot(path, MissingFolder::Refuse).map_err(|error| match error {
            WorkspaceError::NotFound { .. } => changed(path),
            error => error,
        })?;
        let (old, metadata) = match self.writable(&spot, path) {
            Ok(found) if found.0.stamp == expected => found,
            Ok(_) | Err(WorkspaceError::NotFound { .. }) => return Err(changed(path)),
            Err(error) => return Err(error),
        };
        let change =
            FileReplacement { workspace: self, spot: &spot, path, old: &old, content: None };
        let set_aside = change.take_away(&metadata)?;
        drop(replacing);
        change.settle(&set_aside)
    }

    /// Reads a file that could be replaced without an effect on another name of it.
    fn writable(&self, spot: &ResolvedPath, path: &str) -> WorkspaceResult<(TextFile, Metadata)> {
        let (file, metadata) = self.read_at(spot, path)?;
        // A second name may be left of this program's own writing, after the power failed.
        if metadata.nlink() > 1 && !atomic_write::removed_second(spot, &metadata) {
            return Err(WorkspaceError::Linked { path: path.to_owned() });
        }
        Ok((file, metadata))
    }

    pub(super) fn read_at(
        &self,
        spot: &ResolvedPath,
        path: &str,
    ) -> WorkspaceResult<(TextFile, Metadata)> {
        let failed = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => WorkspaceError::NotFound { path: path.to_owned() },
            _ => unreadable(path, error),
        };
        check_kind(&spot.folder.symlink_metadata(&spot.name).map_err(failed)?, path)?;
        let file = open(&spot.folder, &spot.name).map_err(failed)?;
        // The file may be another one by now.
        let metadata = file.metadata().map_err(failed)?;
        check_kind(&metadata, path)?;
        if self.is_closed(&metadata) {
            return Err(WorkspaceError::Guarded { path: path.to_owned() });
        }
        let mut bytes = Vec::new();
        file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(WorkspaceError::TooLarge {
                path: path.to_owned(),
                bytes: bytes.len() as u64,
            });
        }
        let not_text = || WorkspaceError::NotText { path: path.to_owned() };
        let text = String::from_utf8(bytes).map_err(|_| not_text())?;
        if text.contains('\0') {
            return Err(not_text());
        }
        let stamp = stamp(&text);
        Ok((TextFile { text, stamp }, metadata))
    }
}

pub(super) fn changed(path: &str) -> WorkspaceError {
    WorkspaceError::Changed { path: path.to_owned() }
}

/// Refuses a content that no tool would read again.
fn check_text(path: &str, content: &str) -> WorkspaceResult<()> {
    let (path, bytes) = (path.to_owned(), content.len() as u64);
    if bytes > LARGEST_FILE {
        return Err(WorkspaceError::TooLarge { path, bytes });
    }
    if content.contains('\0') { Err(WorkspaceError::NotText { path }) } else { Ok(()) }
}

/// Opens a file for reading. No link is followed, and a pipe without a writer does not block.
pub(super) fn open(folder: &Dir, name: &OsStr) -> std::io::Result<cap_std::fs::File> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    folder.open_with(name, &options)
}

fn check_kind(metadata: &Metadata, path: &str) -> WorkspaceResult<()> {
    let path = path.to_owned();
    if metadata.is_symlink() {
        Err(WorkspaceError::Link { path })
    } else if !metadata.is_file() {
        Err(WorkspaceError::NotAFile { path })
    } else if metadata.len() > LARGEST_FILE {
        Err(WorkspaceError::TooLarge { path, bytes: metadata.len() })
    } else {
        Ok(())
    }
}
