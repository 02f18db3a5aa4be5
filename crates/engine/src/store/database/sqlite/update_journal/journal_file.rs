//! File of a journal, whose writes return once they are on the disk.
//!
//! On Linux it is written past the page cache, in whole blocks, with one call. Through the cache
//! the same write takes a second call that looks for the changed page, and about an eighth more
//! of processor time. Where the file system does not allow this, the file is written through the
//! cache.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// Size in bytes to which direct writes are aligned, in the file and in memory. No disk in use has
/// larger blocks.
const BLOCK: usize = 4096;

/// Open file of a journal.
#[derive(Debug)]
pub(super) struct JournalFile(Access);

/// Way in which the file is written.
#[derive(Debug)]
enum Access {
    /// Through the page cache. The place at which the file would be written, if it is known.
    Buffered(File, Option<usize>),
    /// Past the page cache.
    #[cfg(target_os = "linux")]
    Direct(DirectFile),
}

impl JournalFile {
    /// Takes the open file at `path`; it has its full size.
    pub(super) fn new(file: File, path: &Path) -> Self {
        #[cfg(target_os = "linux")]
        match DirectFile::open(path) {
            Ok(direct) => return Self(Access::Direct(direct)),
            Err(error) => tracing::debug!(%error, "the journal is written through the page cache"),
        }
        #[cfg(not(target_os = "linux"))]
        let _ = path;
        Self::buffered(file)
    }

    /// Returns a file that is written through the page cache.
    pub(super) fn buffered(file: File) -> Self {
        Self(Access::Buffered(file, None))
    }

    /// Writes `bytes` at the place `at`, and blocks the thread until they are on the disk. What
    /// follows them in the same block may be overwritten with zeros.
    ///
    /// Records follow each other: `at` is 0, or the end of the write before.
    ///
    /// # Errors
    /// The error of the operating system. The bytes may be on the disk nevertheless.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        match &mut self.0 {
            Access::Buffered(file, place) => {
                if place.take() != Some(at) {
                    file.seek(SeekFrom::Start(at as u64))?;
                }
                file.write_all(bytes)?;
                file.sync_data()?;
                *place = Some(at + bytes.len());
                Ok(())
            }
            #[cfg(target_os = "linux")]
            Access::Direct(direct) => direct.write(at, bytes),
        }
    }
}

/// File that is written past the page cache, in whole blocks.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct DirectFile {
    file: File,
    /// Memory for the blocks to write, longer than they are by one block: they begin at a multiple
    /// of [`BLOCK`] in it.
    memory: Vec<u8>,
    /// Bytes of the last written block that are in use; they are written again with what follows.
    tail: Vec<u8>,
}

#[cfg(target_os = "linux")]
impl DirectFile {
    /// Opens the file, and tries whether its first block can be written, with what it has.
    fn open(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
        let mut first = vec![0; BLOCK];
        File::open(path)?.read_exact_at(&mut first, 0)?;
        let flags = rustix::fs::OFlags::DIRECT | rustix::fs::OFlags::DSYNC;
        let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
        let file = File::options().write(true).custom_flags(flags).open(path)?;
        let mut direct = Self { file, memory: Vec::new(), tail: Vec::new() };
        direct.write(0, &first)?;
        Ok(direct)
    }

    fn write(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        use std::os::unix::fs::FileExt as _;
        let before = at % BLOCK;
        // Of a write that failed, nothing is kept.
        let mut tail = std::mem::take(&mut self.tail);
        if before == 0 {
            tail.clear();
        }
        if tail.len() != before {
            return Err(io::Error::other("a record of the journal does not follow the one before"));
        }
        let length = (before + bytes.len()).next_multiple_of(BLOCK);
        self.memory.clear();
        self.memory.resize(length + BLOCK, 0);
        let start = self.memory.as_ptr().addr().wrapping_neg() % BLOCK;
        let blocks = &mut self.memory[start..start + length];
        blocks[..before].copy_from_slice(&tail);
        blocks[before..before + bytes.len()].copy_from_slice(bytes);
        self.file.write_all_at(blocks, (at - before) as u64)?;
        let end = before + bytes.len();
        tail.clear();
        tail.extend(&blocks[end / BLOCK * BLOCK..end]);
        self.tail = tail;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the records one after the other, twice from the start, and compares with a copy.
    fn write_records(mut journal: JournalFile, path: &Path) {
        let size = std::fs::metadata(path).unwrap().len();
        for (round, lengths) in
            [[1, BLOCK - 1, 10, 3 * BLOCK, 77], [5, 9_000, 1, 1, BLOCK]].into_iter().enumerate()
        {
            let mut written = Vec::new();
            for (number, length) in lengths.into_iter().enumerate() {
                let bytes = vec![(round * 10 + number + 1) as u8; length];
                journal.write(written.len(), &bytes).unwrap();
                written.extend(bytes);
                assert!(std::fs::read(path).unwrap().starts_with(&written));
            }
        }
        assert_eq!(std::fs::metadata(path).unwrap().len(), size);
    }

    fn empty_file() -> (tempfile::TempDir, std::path::PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        std::fs::write(&path, vec![0; 16 * BLOCK]).unwrap();
        (directory, path)
    }

    #[test]
    fn what_was_written_is_in_the_file_behind_what_was_before() {
        let (_directory, path) = empty_file();
        let file = || File::options().write(true).open(&path).unwrap();
        write_records(JournalFile::new(file(), &path), &path);
        write_records(JournalFile::buffered(file()), &path);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn opening_changes_nothing_in_the_file() {
        let (_directory, path) = empty_file();
        std::fs::write(&path, vec![7; 16 * BLOCK]).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        drop(JournalFile::new(file, &path));
        assert_eq!(std::fs::read(&path).unwrap(), vec![7; 16 * BLOCK]);
    }
}
