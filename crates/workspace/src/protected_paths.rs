//! Paths that tools may not even read: the server's own data and settings.
//!
//! They are known by their path, looked up at each access, because programs save a file by putting
//! another in its place, and by identity, so that another name does not lead to the file. The
//! identity of earlier files at a path is remembered too: an editor may have kept one as a copy.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt as _, MetadataExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata};
use parking_lot::Mutex;

use super::path_names::plain;

/// Largest number of files and folders inside the protected folders that are compared with a file
/// that has another name. If there are more, no file with another name is read.
const MOST_INSIDE: usize = 10_000;
/// Largest number of earlier files and folders that are remembered, the newest.
const MOST_REMEMBERED: usize = 32;

#[derive(Debug)]
pub(super) struct ProtectedPaths {
    places: Vec<ProtectedPath>,
    remembered: Mutex<VecDeque<PinnedPath>>,
}

#[derive(Debug)]
struct ProtectedPath {
    path: PathBuf,
    folder: PathBuf,
    /// Name, normalised as for file systems that ignore case.
    name: String,
}

/// File or folder that was at one of the paths, held open so that no other file gets its inode.
#[derive(Debug)]
struct PinnedPath {
    identity: FileIdentity,
    _held: PinnedHandle,
}

/// Open handle, which is only dropped.
#[derive(Debug)]
enum PinnedHandle {
    Folder { _it: Dir },
    File { _it: File },
}

/// Identity of a folder or file, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// Returns the identity of the file or folder at a path.
    #[cfg(unix)]
    fn at(path: &Path) -> Option<Self> {
        // Opening a pipe would block.
        let it = path.metadata().ok().filter(|it| it.is_file() || it.is_dir())?;
        Some(Self { device: it.dev(), inode: it.ino() })
    }

    /// Returns the identity of what is at a path; these systems know it only for an open file.
    #[cfg(not(unix))]
    fn at(path: &Path) -> Option<Self> {
        open(path).map(|it| it.identity)
    }
}

impl ProtectedPaths {
    pub(super) fn new(paths: &[&Path]) -> Self {
        let places = paths.iter().filter_map(|path| ProtectedPath::new(path)).collect();
        let closed = Self { places, remembered: Mutex::default() };
        closed.find_identities();
        closed
    }

    /// Returns `true` for what is or was at a protected path, or is another name of a file inside.
    pub(super) fn has(&self, it: &Metadata) -> bool {
        let identity = FileIdentity::of(it);
        self.find_identities().contains(&identity)
            || self.remembers(identity)
            // A file with one name cannot be in two places.
            || (it.is_file() && it.nlink() > 1 && self.has_inside(identity))
    }

    /// Returns `true` if a file is inside a protected folder, or that cannot be excluded.
    fn has_inside(&self, it: FileIdentity) -> bool {
        let mut seen = 0;
        let mut folders: Vec<_> =
            self.places.iter().filter_map(ProtectedPath::open_folder).collect();
        while let Some(folder) = folders.pop() {
            let Ok(entries) = folder.entries() else { return true };
            for entry in entries.flatten() {
                seen += 1;
                let Ok(metadata) = entry.metadata() else { continue };
                if seen > MOST_INSIDE || FileIdentity::of(&metadata) == it {
                    return true;
                }
                if metadata.is_dir()
                    && let Ok(inner) = folder.open_dir_nofollow(entry.file_name())
                {
                    folders.push(inner);
                }
            }
        }
        false
    }

    /// Returns `true` if a name in a folder is a protected path, even if nothing is there.
    pub(super) fn has_name(&self, folder: &Dir, name: &OsStr) -> bool {
        let name = plain(&name.to_string_lossy());
        let mut alike = self.places.iter().filter(|place| place.name == name).peekable();
        // Most names match none.
        if alike.peek().is_none() {
            return false;
        }
        // A folder that cannot be identified counts as protected.
        folder.dir_metadata().map_or(true, |folder| {
            let folder = FileIdentity::of(&folder);
            alike.any(|place| FileIdentity::at(&place.folder) == Some(folder))
        })
    }

    /// Returns the identities of what is at the paths now, and remembers new ones.
    fn find_identities(&self) -> Vec<FileIdentity> {
        let found = self.places.iter().filter_map(|place| {
            let identity = FileIdentity::at(&place.path)?;
            // A file that cannot be opened here cannot be opened by tools either.
            if !self.remembers(identity)
                && let Some(it) = open(&place.path)
            {
                self.remember(it);
            }
            Some(identity)
        });
        found.collect()
    }

    fn remembers(&self, it: FileIdentity) -> bool {
        let remembered = self.remembered.lock();
        remembered.iter().any(|known| known.identity == it)
    }

    fn remember(&self, it: PinnedPath) {
        let mut remembered = self.remembered.lock();
        if remembered.iter().any(|known| known.identity == it.identity) {
            return;
        }
        if remembered.len() == MOST_REMEMBERED {
            remembered.pop_front();
        }
        remembered.push_back(it);
    }
}

fn open(path: &Path) -> Option<PinnedPath> {
    let (metadata, held) = if let Ok(it) = Dir::open_ambient_dir(path, ambient_authority()) {
        (it.dir_metadata().ok()?, PinnedHandle::Folder { _it: it })
    } else {
        let it = File::open_ambient(path, ambient_authority()).ok()?;
        (it.metadata().ok()?, PinnedHandle::File { _it: it })
    };
    Some(PinnedPath { identity: FileIdentity::of(&metadata), _held: held })
}

impl ProtectedPath {
    /// Returns `None` for the root of the file system, which has no name.
    fn new(path: &Path) -> Option<Self> {
        let path = std::path::absolute(path).ok()?;
        let name: OsString = path.file_name()?.to_owned();
        let folder = path.parent()?.to_owned();
        Some(Self { path, folder, name: plain(&name.to_string_lossy()) })
    }

    fn open_folder(&self) -> Option<Dir> {
        Dir::open_ambient_dir(&self.path, ambient_authority()).ok()
    }
}
