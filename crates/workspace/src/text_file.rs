//! Text files, as the workspace reads them, and the stamps of their contents.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

/// Size of the largest file that tools read or write, in bytes.
pub const LARGEST_FILE: u64 = 1024 * 1024;
/// Age of a change from which a later one has another time: file systems step by 2 s at most.
const SETTLED: Duration = Duration::from_secs(3);
/// [`TextFile::stamp`] of a file that is not there.
pub const ABSENT: &str = "absent";

/// Text file, as it was when [`Workspace::read`](super::Workspace::read) read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFile {
    /// Content of the file.
    pub text: String,
    /// Stamp of the content, from [`stamp`].
    pub stamp: String,
}

/// Data of a file without reading it. Two files with equal data may differ in content, if the
/// change came within the clock tick of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMeta {
    pub(super) inode: u64,
    pub(super) bytes: u64,
    pub(super) modified: SystemTime,
}

impl FileMeta {
    /// Returns `true` if the last change is so old that another change would have a different time.
    pub fn is_settled(&self) -> bool {
        SystemTime::now().duration_since(self.modified).is_ok_and(|age| age >= SETTLED)
    }
}

/// Returns the stamp of a content: `sha256:` and its hash.
pub fn stamp(content: &str) -> String {
    stamp_of_bytes(content.as_bytes())
}

/// Returns the stamp of a content that need not be text.
pub(super) fn stamp_of_bytes(content: &[u8]) -> String {
    let mut stamp = String::with_capacity(71);
    stamp.push_str("sha256:");
    for byte in Sha256::digest(content) {
        // Writing to a string cannot fail.
        let _ = write!(stamp, "{byte:02x}");
    }
    stamp
}
