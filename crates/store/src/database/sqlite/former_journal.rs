//! Journal of updates that former versions kept in a file beside the database. The first process
//! that opens the database stores it there, once, and removes the file.
//!
//! The database names the *generation* of the records that it does not have. A record is stored in
//! the transaction that names the next one, so exactly once.
//!
//! | bytes | content, little-endian |
//! |---|---|
//! | 8 | generation |
//! | 4 | length of the payload |
//! | 4 | CRC-32 of the generation, the length and the payload |
//! | … | payload: JSON, an array of [`AppendRecord`]s |

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sqlx_sqlite::SqlitePool;

use crate::apply::{self, WriterCache};
use crate::data_directory;
use crate::database::connection::WriterConnection;
use crate::database::sqlite;
use crate::records::UpdateRecord;
use crate::{StoreError, StoreOp, StoreResult, WriteBatch};
use copydesk_ids::{ClientId, DocumentId, UserId, Version};

/// Key of the setting that names the generation which the database does not have.
const SETTING: &str = "update_journal";

pub(crate) const SUFFIX: &str = "-updates";

const HEAD: usize = 16;

/// Appended updates of one document: the document, its version before, and the updates.
type AppendRecord = (DocumentId, Version, Vec<UpdateFields>);

/// Update: client, changes, author, time in ms, origin.
#[derive(Deserialize)]
struct UpdateFields(ClientId, Box<str>, UserId, u64, Option<Box<str>>);

/// Stores what is in the journal beside a database of this version, and removes the file. If a
/// record is damaged or does not follow what the database has, the file stays.
pub(crate) async fn absorb(database: &Path, writers: &SqlitePool) -> StoreResult<()> {
    let path = path_of(database);
    let Some(content) = read(&path)? else { return Ok(()) };
    store_content(WriterConnection::Sqlite(writers.acquire().await?), &content).await?;
    fs::remove_file(&path).map_err(StoreError::file(&path))?;
    data_directory::sync_folder(&path);
    Ok(())
}

pub(crate) async fn absorb_into(copy: &Path, database: &Path) -> StoreResult<()> {
    let Some(content) = read(&path_of(database))? else { return Ok(()) };
    let only = sqlite::connect_file(copy).await?;
    let stored = match only.acquire().await {
        Ok(connection) => store_content(WriterConnection::Sqlite(connection), &content).await,
        Err(error) => Err(error.into()),
    };
    only.close().await;
    stored
}

fn path_of(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(SUFFIX);
    path.into()
}

fn read(path: &Path) -> StoreResult<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::file(path)(error)),
    }
}

async fn store_content(mut connection: WriterConnection, content: &[u8]) -> StoreResult<()> {
    let Some(generation) = expected_generation(&mut connection).await? else { return Ok(()) };
    let mut batches = batches(content, generation)?;
    let records = batches.len();
    // The database waits for no generation any more.
    batches.push(StoreOp::RemoveSetting(SETTING.to_owned()).into());
    let cache = WriterCache::read(&mut connection).await?;
    if let Err(error) = apply::transaction(&mut connection, &batches, cache).await {
        connection.roll_back().await;
        return Err(match StoreError::from(error) {
            error @ (StoreError::Conflict { .. } | StoreError::Missing { .. }) => {
                StoreError::corrupt("the journal of updates", &error)
            }
            error => error.while_writing(),
        });
    }
    if records > 0 {
        tracing::info!(records, "stored what was in the journal of updates");
    }
    Ok(())
}

/// Returns the generation that a database does not have; `None` if it waits for none.
async fn expected_generation(connection: &mut WriterConnection) -> StoreResult<Option<u64>> {
    let sql = "SELECT value FROM settings WHERE key = $1";
    let known: Option<(String,)> = connection.one(sql, &[&SETTING]).await?;
    let known = known.map(|(value,)| {
        value.parse::<u64>().map_err(|error| StoreError::corrupt("setting update_journal", &error))
    });
    known.transpose()
}

/// Returns one batch for each complete record of a generation.
///
/// # Errors
/// [`StoreError::Corrupt`] if a complete record cannot be read, or if one is behind an incomplete
/// record: that was complete once, because each was on the disk before the next was written.
fn batches(content: &[u8], generation: u64) -> StoreResult<Vec<WriteBatch>> {
    let (mut batches, mut rest) = (Vec::new(), content);
    while let Some((payload, after)) = next_record(rest, generation) {
        let appends: Vec<AppendRecord> = serde_json::from_slice(payload)
            .map_err(|error| StoreError::corrupt("the journal of updates", &error))?;
        batches.push(appends.into_iter().map(op_of).collect());
        rest = after;
    }
    if has_later_record(rest, generation) {
        let place = content.len() - rest.len();
        let reason = format!(
            "the record at byte {place} is damaged, and there are whole ones behind it; restore a backup, or move the file away to go on without them"
        );
        return Err(StoreError::corrupt("the journal of updates", &reason));
    }
    Ok(batches)
}

/// Returns `true` if a complete record of this generation begins anywhere behind the first byte.
fn has_later_record(bytes: &[u8], generation: u64) -> bool {
    let begins = bytes.windows(8).enumerate().skip(1);
    let mut begins = begins.filter(|(_, window)| *window == generation.to_le_bytes());
    begins.any(|(at, _)| next_record(&bytes[at..], generation).is_some())
}

/// Returns the payload of a first record of this generation, if complete, and what follows.
fn next_record(bytes: &[u8], generation: u64) -> Option<(&[u8], &[u8])> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let number = |range: std::ops::Range<usize>| {
        let bytes = head[range].iter().rev();
        bytes.fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let (payload, after) = rest.split_at_checked(usize::try_from(number(8..12)).ok()?)?;
    let mut sum = crc32fast::Hasher::new();
    sum.update(&head[..12]);
    sum.update(payload);
    let is_whole = u64::from(sum.finalize()) == number(12..16);
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
