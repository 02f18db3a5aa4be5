//! Journal of updates: a file beside the database in which typed updates are made durable, before
//! the database has them.
//!
//! A transaction of SQLite writes whole pages and costs several times what one short record does.
//! So a group of batches that only append updates is one record here, synced once. Up to a second
//! later the database stores all of them in one transaction.
//!
//! The file has a fixed size and is overwritten from its start, so that a sync needs no change of
//! its size. Each record names its *generation*. The database names the generation that it does not
//! have yet; the transaction that stores the updates also begins the next generation. So a record
//! is stored exactly once, however the process ends, and nothing has to be erased.
//!
//! | bytes | content, little-endian |
//! |---|---|
//! | 8 | generation |
//! | 4 | length of the payload |
//! | 4 | CRC-32 of the generation, the length and the payload |
//! | … | payload: JSON, an array of [`AppendRecord`]s |

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

mod journal_file;

use serde::{Deserialize, Serialize};

use crate::ids::{ClientId, DocumentId, UserId, Version};
use crate::store::data_directory;
use crate::store::records::UpdateRecord;
use crate::store::{StoreError, StoreOp, StoreResult, WriteBatch};

use journal_file::JournalFile;

/// Key of the setting that names the generation which the database does not have.
pub(crate) const SETTING: &str = "update_journal";

/// End of the file's name, after the name of the database.
pub(crate) const SUFFIX: &str = "-updates";

/// Size of the file in bytes; a multiple of the blocks in which it is written.
const CAPACITY: usize = 1024 * 1024;

/// Size of the head of a record in bytes.
const HEAD: usize = 16;

/// Appended updates of one document: the document, its version before, and the updates.
type AppendRecord = (DocumentId, Version, Vec<UpdateFields>);

/// Update: client, changes, author, time in ms, origin.
#[derive(Serialize, Deserialize)]
struct UpdateFields(ClientId, Box<str>, UserId, u64, Option<Box<str>>);

/// Borrowed [`AppendRecord`].
type AppendRef<'a> = (&'a DocumentId, Version, Vec<UpdateRef<'a>>);

/// Borrowed [`UpdateFields`].
type UpdateRef<'a> = (&'a ClientId, &'a str, &'a UserId, u64, Option<&'a str>);

/// Journal that is open for appending.
#[derive(Debug)]
pub(crate) struct UpdateJournal {
    file: JournalFile,
    generation: u64,
    /// Place of the next record, in bytes.
    end: usize,
    /// Record that is written next; kept for its memory.
    record: Vec<u8>,
}

/// Returns the batch that makes the database expect a generation, and have all before.
pub(crate) fn begin_generation(generation: u64) -> WriteBatch {
    StoreOp::PutSetting { key: SETTING.to_owned(), value: generation.to_string() }.into()
}

/// Returns the path of the journal of a database.
pub(crate) fn path_of(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(SUFFIX);
    path.into()
}

impl UpdateJournal {
    /// Opens the journal of a database, for records of `generation`. The file is created at its
    /// full size if it is missing.
    ///
    /// # Errors
    /// [`StoreError::File`] if it cannot be opened, or if there is no space for it.
    pub(crate) fn open(database: &Path, generation: u64) -> StoreResult<Self> {
        let path = path_of(database);
        data_directory::create_private(&path)?;
        let opened = || {
            let mut file = OpenOptions::new().read(true).write(true).open(&path)?;
            let length = file.seek(SeekFrom::End(0))?;
            let missing = CAPACITY.saturating_sub(usize::try_from(length).unwrap_or(CAPACITY));
            if missing > 0 {
                // Written, and not just made longer: the space is there from now on.
                file.write_all(&vec![0; missing])?;
                file.sync_all()?;
                data_directory::sync_folder(&path);
            }
            Ok(file)
        };
        let file = opened().map_err(StoreError::file(&path))?;
        let file = JournalFile::new(file, &path);
        Ok(Self { file, generation, end: 0, record: Vec::new() })
    }

    /// Opens a journal that cannot be written.
    #[cfg(test)]
    pub(crate) fn open_read_only(database: &Path, generation: u64) -> Self {
        let file = JournalFile::buffered(File::open(path_of(database)).unwrap());
        Self { file, generation, end: 0, record: Vec::new() }
    }

    /// Generation of the records.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Begins a generation, once the database has the updates of the one before.
    pub(crate) fn begin(&mut self, generation: u64) {
        self.generation = generation;
        self.end = 0;
    }

    /// Writes the record of batches that only append updates, and blocks the thread until it is on
    /// the disk. Returns `false`, with nothing written, if there is no room for it in this
    /// generation.
    ///
    /// # Errors
    /// The error of the operating system. The record may be on the disk nevertheless, so the
    /// generation must end.
    pub(crate) fn append(&mut self, batches: &[WriteBatch]) -> io::Result<bool> {
        encode(&mut self.record, self.generation, batches)?;
        if self.end + self.record.len() > CAPACITY {
            return Ok(false);
        }
        self.file.write(self.end, &self.record)?;
        self.end += self.record.len();
        Ok(true)
    }
}

/// Writes a record into `record`, whose content is replaced.
fn encode(record: &mut Vec<u8>, generation: u64, batches: &[WriteBatch]) -> io::Result<()> {
    record.clear();
    record.resize(HEAD, 0);
    let appends = batches.iter().flat_map(WriteBatch::ops).filter_map(append_of);
    serde_json::to_writer(&mut *record, &appends.collect::<Vec<_>>())?;
    let length = u32::try_from(record.len() - HEAD).map_err(io::Error::other)?;
    let (head, payload) = record.split_at_mut(HEAD);
    head[..8].copy_from_slice(&generation.to_le_bytes());
    head[8..12].copy_from_slice(&length.to_le_bytes());
    let sum = checksum(&head[..12], payload);
    head[12..].copy_from_slice(&sum.to_le_bytes());
    Ok(())
}

fn append_of(op: &StoreOp) -> Option<AppendRef<'_>> {
    let StoreOp::AppendUpdates { document, from, updates } = op else { return None };
    Some((document, *from, updates.iter().map(fields_of).collect()))
}

fn fields_of(update: &UpdateRecord) -> UpdateRef<'_> {
    let UpdateRecord { client, changes, author, at_ms, origin } = update;
    (client, changes, author, *at_ms, origin.as_deref())
}

fn checksum(head: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head);
    hasher.update(payload);
    hasher.finalize()
}

/// Use of a journal while it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalUse {
    /// No server writes it.
    AtRest,
    /// A server may be writing it. It may then be read such that a record is missing, and a later
    /// one is there.
    InUse,
}

/// Content of a journal, of whatever generation.
#[derive(Debug, Default)]
pub(crate) struct JournalContent(Vec<u8>);

impl JournalContent {
    /// Reads the journal of a database; a missing one is empty.
    ///
    /// # Errors
    /// [`StoreError::File`] if it cannot be read.
    pub(crate) fn read(database: &Path) -> StoreResult<Self> {
        let path = path_of(database);
        let mut content = Vec::new();
        match File::open(&path).and_then(|mut file| file.read_to_end(&mut content)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(StoreError::file(&path)(error))
            }
            _ => Ok(Self(content)),
        }
    }

    /// Returns `true` if there is no journal.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the batches of a generation, in order. A last record that was not written completely
    /// is left out: nobody was told that it is stored.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if a complete record cannot be read, or if the journal is at rest
    /// and there is a complete record behind one that is not: that one was complete once, because
    /// each is on the disk before the next is written.
    pub(crate) fn batches(
        &self,
        generation: u64,
        journal_use: JournalUse,
    ) -> StoreResult<Vec<WriteBatch>> {
        let (mut batches, mut rest) = (Vec::new(), self.0.as_slice());
        while let Some((payload, after)) = next_record(rest, generation) {
            let appends: Vec<AppendRecord> = serde_json::from_slice(payload)
                .map_err(|error| StoreError::corrupt("the journal of updates", &error))?;
            batches.push(appends.into_iter().map(op_of).collect());
            rest = after;
        }
        if journal_use == JournalUse::AtRest && has_later_record(rest, generation) {
            let place = self.0.len() - rest.len();
            let reason = format!(
                "the record at byte {place} is damaged, and there are whole ones behind it; restore a backup, or move the file away to go on without them"
            );
            return Err(StoreError::corrupt("the journal of updates", &reason));
        }
        Ok(batches)
    }
}

/// Returns `true` if a complete record of this generation begins anywhere behind the first byte.
fn has_later_record(bytes: &[u8], generation: u64) -> bool {
    let begins = bytes.windows(8).enumerate().skip(1);
    let mut begins = begins.filter(|(_, window)| *window == generation.to_le_bytes());
    begins.any(|(at, _)| next_record(&bytes[at..], generation).is_some())
}

/// Returns the payload of the first record and what follows it, if the record is complete and of
/// this generation.
fn next_record(bytes: &[u8], generation: u64) -> Option<(&[u8], &[u8])> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let number = |range: std::ops::Range<usize>| {
        let bytes = head[range].iter().rev();
        bytes.fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let (payload, after) = rest.split_at_checked(usize::try_from(number(8..12)).ok()?)?;
    let is_whole = u64::from(checksum(&head[..12], payload)) == number(12..16);
    (number(0..8) == generation && is_whole).then_some((payload, after))
}

fn op_of((document, from, updates): AppendRecord) -> StoreOp {
    let record = |UpdateFields(client, changes, author, at_ms, origin)| UpdateRecord {
        client,
        changes,
        author,
        at_ms,
        origin,
    };
    StoreOp::AppendUpdates { document, from, updates: updates.into_iter().map(record).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(document: &str, from: u64, changes: &str) -> WriteBatch {
        let update = UpdateRecord {
            client: "c_1".into(),
            changes: changes.into(),
            author: "ana".into(),
            at_ms: 5 + from,
            origin: (from == 1).then(|| "req_1".into()),
        };
        let (document, from) = (document.into(), Version(from));
        StoreOp::AppendUpdates { document, from, updates: vec![update] }.into()
    }

    fn database() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("copydesk.sqlite");
        (directory, database)
    }

    fn content(database: &Path, generation: u64) -> Vec<WriteBatch> {
        JournalContent::read(database).unwrap().batches(generation, JournalUse::AtRest).unwrap()
    }

    #[test]
    fn records_of_a_generation_read_as_they_were_appended() {
        let (_directory, database) = database();
        assert_eq!(content(&database, 7), []);
        let mut journal = UpdateJournal::open(&database, 7).unwrap();
        assert_eq!(content(&database, 7), []);
        let first = [typed("doc_a", 0, "[[0,\"é\\n\"]]"), typed("doc_b", 3, "[1]")];
        assert!(journal.append(&first).unwrap());
        let second = [typed("doc_a", 1, "[2,[0,\"\\\"\"]]")];
        assert!(journal.append(&second).unwrap());
        let ops = |batches: &[WriteBatch]| -> Vec<StoreOp> {
            batches.iter().flat_map(|batch| batch.ops().to_vec()).collect()
        };
        assert_eq!(ops(&content(&database, 7)), [ops(&first), ops(&second)].concat());
        assert_eq!(content(&database, 6), []);
        assert_eq!(content(&database, 8), []);
    }

    #[test]
    fn the_next_generation_begins_at_the_start_of_the_file() {
        let (_directory, database) = database();
        let mut journal = UpdateJournal::open(&database, 7).unwrap();
        for from in 0..3 {
            journal.append(&[typed("doc_a", from, "[1]")]).unwrap();
        }
        journal.begin(8);
        assert_eq!(content(&database, 8), []);
        journal.append(&[typed("doc_a", 3, "[1]")]).unwrap();
        // What is left of the generation before is behind a record of this one.
        assert_eq!(content(&database, 8), [typed("doc_a", 3, "[1]")]);
        assert_eq!(content(&database, 7), []);
        drop(journal);
        assert_eq!(UpdateJournal::open(&database, 8).unwrap().generation(), 8);
        assert_eq!(content(&database, 8), [typed("doc_a", 3, "[1]")]);
        assert_eq!(std::fs::metadata(path_of(&database)).unwrap().len(), CAPACITY as u64);
    }

    #[test]
    fn a_damaged_record_before_whole_ones_is_an_error_unless_a_server_writes() {
        let (_directory, database) = database();
        let mut journal = UpdateJournal::open(&database, 7).unwrap();
        for from in 0..3 {
            journal.append(&[typed("doc_a", from, "[1]")]).unwrap();
        }
        let whole = std::fs::read(path_of(&database)).unwrap();
        let first = HEAD + whole[8] as usize;
        for damaged in 0..first {
            let mut bytes = whole.clone();
            bytes[damaged] ^= 1;
            let content = JournalContent(bytes);
            let error = content.batches(7, JournalUse::AtRest).unwrap_err().to_string();
            assert!(error.contains("the record at byte 0 is damaged"), "{damaged}: {error}");
            assert_eq!(content.batches(7, JournalUse::InUse).unwrap(), []);
        }
        // What is left of another generation is no later record.
        journal.begin(8);
        journal.append(&[typed("doc_a", 3, "[1]")]).unwrap();
        let mut bytes = std::fs::read(path_of(&database)).unwrap();
        bytes[HEAD] ^= 1;
        assert_eq!(JournalContent(bytes).batches(8, JournalUse::AtRest).unwrap(), []);
    }

    #[test]
    fn a_record_that_is_cut_or_changed_ends_the_journal() {
        let (_directory, database) = database();
        let mut journal = UpdateJournal::open(&database, 7).unwrap();
        let batches: Vec<_> = (0..2).map(|from| typed("doc_a", from, "[1]")).collect();
        for batch in &batches {
            journal.append(std::slice::from_ref(batch)).unwrap();
        }
        let whole = std::fs::read(path_of(&database)).unwrap();
        let first = HEAD + whole[8] as usize;
        for cut in 0..journal.end {
            let expected = &batches[..usize::from(cut >= first)];
            // The rest of the record never reached the disk, or something else stands there.
            for rest in [0, 0xff] {
                let mut bytes = whole.clone();
                bytes[cut..journal.end].fill(rest);
                if bytes[cut..journal.end] == whole[cut..journal.end] {
                    continue;
                }
                let read = JournalContent(bytes).batches(7, JournalUse::AtRest).unwrap();
                assert_eq!(read, expected, "cut at {cut}");
            }
            let read =
                JournalContent(whole[..cut].to_vec()).batches(7, JournalUse::AtRest).unwrap();
            assert_eq!(read, expected, "ends at {cut}");
        }
    }

    #[test]
    fn what_does_not_fit_is_not_written() {
        let (_directory, database) = database();
        let mut journal = UpdateJournal::open(&database, 7).unwrap();
        let long = [typed("doc_a", 0, &"x".repeat(CAPACITY))];
        assert!(!journal.append(&long).unwrap());
        assert_eq!(content(&database, 7), []);
        assert!(journal.append(&[typed("doc_a", 0, "[1]")]).unwrap());
        assert_eq!(content(&database, 7), [typed("doc_a", 0, "[1]")]);
    }
}
