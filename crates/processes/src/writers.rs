//! Processes that hold a file open for writing, read from `/proc`. Linux only.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest search through `/proc`, after which the answer is "unknown".
const LONGEST_SEARCH: Duration = Duration::from_secs(1);
/// Permission of an entry in `/proc/PID/fd` whose descriptor was opened for writing.
const OPENED_FOR_WRITING: u32 = 0o200;

/// File as the kernel identifies it, and its present name.
#[derive(Clone, Copy, Debug)]
pub struct OpenFile<'a> {
    /// Device number of its file system.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// File name; only descriptors whose path ends in it are checked.
    pub name: &'a Path,
}

/// Returns `true` if a process that this one may look at (of the same user; all for root) holds the
/// file open for writing; `None` if that was not found out in time. Without `/proc`, none is seen.
pub fn is_open_for_writing(file: OpenFile<'_>) -> Option<bool> {
    let until = Instant::now() + LONGEST_SEARCH;
    let Ok(processes) = fs::read_dir("/proc") else { return Some(false) };
    for process in processes.flatten() {
        let is_process = process
            .file_name()
            .to_str()
            .is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()));
        if !is_process {
            continue;
        }
        // A process of another user, or one that has just ended.
        let Ok(descriptors) = fs::read_dir(process.path().join("fd")) else { continue };
        if descriptors.flatten().any(|descriptor| is_writer(&descriptor.path(), file)) {
            return Some(true);
        }
        if Instant::now() > until {
            return None;
        }
    }
    Some(false)
}

fn is_writer(descriptor: &Path, file: OpenFile<'_>) -> bool {
    let leads_to_it =
        fs::read_link(descriptor).is_ok_and(|path| path.file_name() == file.name.file_name());
    let is_it = |it: &Metadata| (it.dev(), it.ino()) == (file.device, file.inode);
    leads_to_it
        && fs::metadata(descriptor).is_ok_and(|it| is_it(&it))
        && fs::symlink_metadata(descriptor).is_ok_and(|it| it.mode() & OPENED_FOR_WRITING != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_is_seen_until_it_closes_the_file_and_a_reader_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "a").unwrap();
        let it = fs::metadata(&path).unwrap();
        let name = Path::new("a.txt");
        let is_open =
            || is_open_for_writing(OpenFile { device: it.dev(), inode: it.ino(), name }).unwrap();
        assert!(!is_open());
        let reader = fs::File::open(&path).unwrap();
        assert!(!is_open());
        let writer = fs::File::options().append(true).open(&path).unwrap();
        assert!(is_open());
        drop((reader, writer));
        assert!(!is_open());
    }
}
