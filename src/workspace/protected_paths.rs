//! What tools may not even read: the server's own data and settings, wherever they lie in the workspace.
//!
//! They are known by where they stand, looked up at each access, because programs save a file by putting another in its place,
//! and one may come into being later. They are known by what they are too, so that another name of the same file leads to
//! nothing; also what stood there before, which an editor may have put aside as a copy.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cap_fs_ext::{DirExt as _, MetadataExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata};

use super::resolved_path::plain;

/// Files and folders inside the closed folders that are looked at for another name of a file; with more, none is read that has
/// another name.
const MOST_INSIDE: usize = 10_000;
/// Files and folders that are remembered of those that stood there, the newest.
const MOST_REMEMBERED: usize = 32;

/// The places that are closed.
#[derive(Debug)]
pub(super) struct ProtectedPaths {
    places: Vec<ProtectedPath>,
    remembered: Mutex<VecDeque<PinnedPath>>,
}

#[derive(Debug)]
struct ProtectedPath {
    path: PathBuf,
    folder: PathBuf,
    /// As file systems that ignore case take it.
    name: String,
}

/// What stood in one of the places. It is held open: while it is, nothing else can get its number.
#[derive(Debug)]
struct PinnedPath {
    identity: FileIdentity,
    _held: PinnedHandle,
}

/// Only to be let go.
#[derive(Debug)]
enum PinnedHandle {
    Folder { _it: Dir },
    File { _it: File },
}

/// Which folder or file it is, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// What a path leads to now.
    #[cfg(unix)]
    fn at(path: &Path) -> Option<Self> {
        // A pipe would have to be waited for.
        let it = path.metadata().ok().filter(|it| it.is_file() || it.is_dir())?;
        Some(Self { device: it.dev(), inode: it.ino() })
    }

    /// Elsewhere only what is open can be told from others.
    #[cfg(not(unix))]
    fn at(path: &Path) -> Option<Self> {
        open(path).map(|it| it.identity)
    }
}

impl ProtectedPaths {
    pub(super) fn new(paths: &[&Path]) -> Self {
        let places = paths.iter().filter_map(|path| ProtectedPath::new(path)).collect();
        let closed = Self { places, remembered: Mutex::default() };
        closed.look();
        closed
    }

    /// Whether a folder or file is one of them, or was, or is another name of a file inside one of them.
    pub(super) fn has(&self, it: &Metadata) -> bool {
        let identity = FileIdentity::of(it);
        self.look().contains(&identity)
            || self.remembers(identity)
            // A file with one name cannot stand in two places.
            || (it.is_file() && it.nlink() > 1 && self.has_inside(identity))
    }

    /// Whether a file stands somewhere inside a closed folder, or nobody can tell.
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

    /// Whether a name in a folder is one of the places, whatever stands there.
    pub(super) fn has_name(&self, folder: &Dir, name: &OsStr) -> bool {
        let name = plain(&name.to_string_lossy());
        let mut alike = self.places.iter().filter(|place| place.name == name).peekable();
        // Most names are like none.
        if alike.peek().is_none() {
            return false;
        }
        // A folder that cannot be told is closed.
        folder.dir_metadata().map_or(true, |folder| {
            let folder = FileIdentity::of(&folder);
            alike.any(|place| FileIdentity::at(&place.folder) == Some(folder))
        })
    }

    /// What stands in the places now; what is new there is remembered.
    fn look(&self) -> Vec<FileIdentity> {
        let looked = self.places.iter().filter_map(|place| {
            let identity = FileIdentity::at(&place.path)?;
            // What cannot be opened here, tools cannot open either.
            if !self.remembers(identity)
                && let Some(it) = open(&place.path)
            {
                self.remember(it);
            }
            Some(identity)
        });
        looked.collect()
    }

    fn remembers(&self, it: FileIdentity) -> bool {
        let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.iter().any(|known| known.identity == it)
    }

    fn remember(&self, it: PinnedPath) {
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
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
    /// `None`: the top of everything, which has no name.
    fn new(path: &Path) -> Option<Self> {
        let path = std::path::absolute(path).ok()?;
        let name: OsString = path.file_name()?.to_owned();
        let folder = path.parent()?.to_owned();
        Some(Self { path, folder, name: plain(&name.to_string_lossy()) })
    }

    /// What stands there, if it is a folder.
    fn open_folder(&self) -> Option<Dir> {
        Dir::open_ambient_dir(&self.path, ambient_authority()).ok()
    }
}
