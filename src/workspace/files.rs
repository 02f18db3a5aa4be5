//! One file: read with the hash of its content, and replaced in one step if that hash is still the same.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read as _};
use std::sync::PoisonError;
use std::time::{Duration, SystemTime};

use cap_fs_ext::{
    FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _,
};
use cap_std::fs::{Dir, Metadata, OpenOptions};
use sha2::{Digest, Sha256};

use super::replace::{FileReplacement, ReplacedFile};
use super::resolved_path::{MissingFolder, ResolvedPath, check_guarded};
use super::{Workspace, WorkspaceError, atomic_write, unreadable};

/// Bytes of the largest file that tools read or write.
pub const LARGEST_FILE: u64 = 1024 * 1024;
/// File systems date changes in steps; the coarsest in use take two seconds.
const SETTLED: Duration = Duration::from_secs(3);
/// The stamp of a file that is not there.
pub const ABSENT: &str = "absent";

/// A text file, as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFile {
    /// Its content.
    pub text: String,
    /// What tells this content from every other.
    pub stamp: String,
}

/// What can be seen of a file without reading it. A file that looks the same may still read otherwise, if it changed
/// within the clock tick of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMeta {
    inode: u64,
    bytes: u64,
    modified: SystemTime,
}

impl FileMeta {
    /// Whether the file has been as it is for so long that another change would show.
    pub fn is_settled(&self) -> bool {
        SystemTime::now().duration_since(self.modified).is_ok_and(|age| age >= SETTLED)
    }
}

/// What tells a content from every other: `sha256:` and its hash.
pub fn stamp(content: &str) -> String {
    stamp_of_bytes(content.as_bytes())
}

/// The same of a content that need not be text.
pub(super) fn stamp_of_bytes(content: &[u8]) -> String {
    let mut stamp = String::with_capacity(71);
    stamp.push_str("sha256:");
    for byte in Sha256::digest(content) {
        // Writing to a string cannot fail.
        let _ = write!(stamp, "{byte:02x}");
    }
    stamp
}

impl Workspace {
    /// Reads a text file.
    ///
    /// # Errors
    /// [`WorkspaceError::NotFound`], or why it is not read although it is there.
    pub fn read(&self, path: &str) -> Result<TextFile, WorkspaceError> {
        self.read_at(&self.spot(path, MissingFolder::Refuse)?, path).map(|(file, _)| file)
    }

    /// Reads a text file that is to be written; `None`: it is not there yet, but could be made.
    ///
    /// # Errors
    /// Why it cannot be written, or not read although it is there.
    pub fn look(&self, path: &str) -> Result<Option<TextFile>, WorkspaceError> {
        check_guarded(path)?;
        let found =
            self.spot(path, MissingFolder::Refuse).and_then(|spot| self.writable(&spot, path));
        match found {
            Ok((file, _)) => Ok(Some(file)),
            Err(WorkspaceError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A look at a file without reading it; `None`: it is not there, or cannot be looked at.
    pub fn glance(&self, path: &str) -> Option<FileMeta> {
        let ResolvedPath { folder, name } = self.spot(path, MissingFolder::Refuse).ok()?;
        let metadata = folder.symlink_metadata(&name).ok()?;
        let modified = metadata.modified().ok()?.into_std();
        Some(FileMeta { inode: metadata.ino(), bytes: metadata.len(), modified })
    }

    /// Whether a tool could write this content there.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, path: &str, content: &str) -> Result<(), WorkspaceError> {
        check_guarded(path)?;
        check_text(path, content)
    }

    /// The stamp of a file as it is now, or [`ABSENT`]; `None`: it cannot be read.
    pub fn stamp_now(&self, path: &str) -> Option<String> {
        match self.look(path) {
            Ok(Some(file)) => Some(file.stamp),
            Ok(None) => Some(ABSENT.to_owned()),
            Err(_) => None,
        }
    }

    /// Replaces the content of a file, or makes it, folders included: completely or not at all, durably, and only if its
    /// stamp is still `expected`. What another program writes into the file meanwhile is never lost ([`replace`]).
    ///
    /// # Errors
    /// [`WorkspaceError::Changed`] if it is not, [`WorkspaceError::Busy`] if another program is writing it,
    /// [`WorkspaceError::Kept`] if two versions are there now, or why the file cannot be written; in all other cases the file
    /// is as it was.
    ///
    /// [`replace`]: super::replace
    pub fn write(
        &self,
        path: &str,
        content: &str,
        expected: &str,
    ) -> Result<ReplacedFile, WorkspaceError> {
        self.check(path, content)?;
        let replacing = self.0.replacing.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = if expected == ABSENT { MissingFolder::Make } else { MissingFolder::Refuse };
        let spot = self.spot(path, missing)?;
        let (old, metadata) = match self.writable(&spot, path) {
            Ok(found) if found.0.stamp == expected => found,
            Err(WorkspaceError::NotFound { .. }) if expected == ABSENT => {
                return atomic_write::create(&spot, content)
                    .map(|()| ReplacedFile::default())
                    .map_err(|error| match error.kind() {
                        // Somebody made the file a moment ago.
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
        // Other files need not wait until nobody writes into what was replaced.
        drop(replacing);
        set_aside.map_or_else(|| Ok(ReplacedFile::default()), |set_aside| change.settle(&set_aside))
    }

    /// Removes a file, durably, and only if its stamp is still `expected`. Folders stay.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn remove(&self, path: &str, expected: &str) -> Result<ReplacedFile, WorkspaceError> {
        check_guarded(path)?;
        let replacing = self.0.replacing.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Reads a file that could be replaced without touching another name of it.
    fn writable(
        &self,
        spot: &ResolvedPath,
        path: &str,
    ) -> Result<(TextFile, Metadata), WorkspaceError> {
        let (file, metadata) = self.read_at(spot, path)?;
        // A second name may be what we left beside it when the power went.
        if metadata.nlink() > 1 && !atomic_write::removed_second(spot, &metadata) {
            return Err(WorkspaceError::Linked { path: path.to_owned() });
        }
        Ok((file, metadata))
    }

    pub(super) fn read_at(
        &self,
        spot: &ResolvedPath,
        path: &str,
    ) -> Result<(TextFile, Metadata), WorkspaceError> {
        let failed = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => WorkspaceError::NotFound { path: path.to_owned() },
            _ => unreadable(path, error),
        };
        check_kind(&spot.folder.symlink_metadata(&spot.name).map_err(failed)?, path)?;
        let file = open(&spot.folder, &spot.name).map_err(failed)?;
        // It may be another one by now.
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
fn check_text(path: &str, content: &str) -> Result<(), WorkspaceError> {
    let (path, bytes) = (path.to_owned(), content.len() as u64);
    if bytes > LARGEST_FILE {
        return Err(WorkspaceError::TooLarge { path, bytes });
    }
    if content.contains('\0') { Err(WorkspaceError::NotText { path }) } else { Ok(()) }
}

/// Opens a file for reading: no link is followed, and a pipe that nobody writes to does not hold us up.
pub(super) fn open(folder: &Dir, name: &OsStr) -> std::io::Result<cap_std::fs::File> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    folder.open_with(name, &options)
}

fn check_kind(metadata: &Metadata, path: &str) -> Result<(), WorkspaceError> {
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
