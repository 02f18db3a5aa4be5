//! Updates in a journal beside a database that no server uses any more, or that is copied: they are
//! stored in the database.

use std::path::Path;

use crate::store::apply::{self, WriterCache};
use crate::store::data_directory;
use crate::store::database::connection::WriterConnection;
use crate::store::database::sqlite;
use crate::store::database::sqlite::update_journal::{
    JournalContent, JournalUse, SETTING, begin_generation,
};
use crate::store::{StoreError, StoreResult};

/// Stores the updates of a journal that the database does not have. Returns the generation that it
/// expects from now on.
///
/// # Errors
/// [`StoreError::Corrupt`] if they do not follow what the database has, or if the journal is
/// damaged.
pub(in crate::store) async fn store_content(
    mut connection: WriterConnection,
    content: &JournalContent,
    journal_use: JournalUse,
) -> StoreResult<u64> {
    let known = expected_generation(&mut connection).await?;
    let mut batches =
        known.map_or_else(|| Ok(Vec::new()), |it| content.batches(it, journal_use))?;
    if let Some(known) = known
        && batches.is_empty()
    {
        return Ok(known);
    }
    // The first one is of no other database.
    let next = known.map_or_else(|| uuid::Uuid::new_v4().as_u64_pair().0, |it| it.wrapping_add(1));
    let count = batches.len();
    batches.push(begin_generation(next));
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
    if count > 0 {
        tracing::info!(records = count, "stored what was in the journal of updates");
    }
    Ok(next)
}

/// Returns the generation that a database does not have; `None` if it never had a journal.
async fn expected_generation(connection: &mut WriterConnection) -> StoreResult<Option<u64>> {
    let sql = "SELECT value FROM settings WHERE key = $1";
    let known: Option<(String,)> = connection.one(sql, &[&SETTING]).await?;
    let known = known.map(|(value,)| {
        value.parse::<u64>().map_err(|error| StoreError::corrupt("setting update_journal", &error))
    });
    known.transpose()
}

/// Copies the database of a data directory into an empty directory, with what is in its journal, if
/// the journal has updates that the database lacks and no server uses the directory. Returns `true`
/// if it was copied. Changes nothing in `directory`.
///
/// # Errors
/// [`StoreError::Corrupt`] if the journal is damaged, [`StoreError::File`] or
/// [`StoreError::Database`] if something cannot be read or written.
pub async fn copy_with_journal(directory: &Path, to: &Path) -> StoreResult<bool> {
    let (database, copied) =
        (directory.join(data_directory::DATABASE), to.join(data_directory::DATABASE));
    let journal = JournalContent::read(&database)?;
    if journal.is_empty() || data_directory::is_locked(directory)? {
        return Ok(false);
    }
    let only = sqlite::connect_onlooker(&database).await?;
    let known = match sqlite::check_shape(&only).await {
        Ok(()) => {
            let mut connection = WriterConnection::Sqlite(only.acquire().await?);
            expected_generation(&mut connection).await?
        }
        // Whoever opens the database says what is wrong with it.
        Err(_) => None,
    };
    only.close().await;
    let Some(known) = known else { return Ok(false) };
    if journal.batches(known, JournalUse::AtRest)?.is_empty() {
        return Ok(false);
    }
    data_directory::create_private(&copied)?;
    sqlite::copy(&database, &copied).await?;
    store_in_file(&copied, &journal, JournalUse::AtRest).await?;
    Ok(true)
}

/// Copies a database of this version, with what is in its journal, into an empty file. A server may
/// be running.
pub(super) async fn copy(database: &Path, to: &Path) -> StoreResult<()> {
    // Read first: what the database stores meanwhile it has by the time it is copied.
    let journal = JournalContent::read(database)?;
    sqlite::copy(database, to).await?;
    store_in_file(to, &journal, JournalUse::InUse).await
}

/// Copies a database of any version, as [`copy`] does.
pub(super) async fn copy_any(database: &Path, to: &Path) -> StoreResult<()> {
    let journal = JournalContent::read(database)?;
    sqlite::copy_any(database, to).await?;
    store_in_file(to, &journal, JournalUse::InUse).await
}

/// Stores what is in the journal of a database that no server uses.
pub(super) async fn recover(database: &Path) -> StoreResult<()> {
    store_in_file(database, &JournalContent::read(database)?, JournalUse::AtRest).await
}

/// Folds everything that stands beside a database into it, if it can be read.
pub(super) async fn fold(database: &Path) {
    if !database.is_file() {
        return;
    }
    let folded = async {
        let journal = JournalContent::read(database)?;
        let only = sqlite::connect_writer(database).await?;
        if sqlite::check_shape(&only).await.is_ok() {
            let connection = WriterConnection::Sqlite(only.acquire().await?);
            store_content(connection, &journal, JournalUse::AtRest).await?;
        }
        sqlite::checkpoint(&only).await;
        only.close().await;
        Ok::<_, StoreError>(())
    };
    if let Err(error) = folded.await {
        tracing::debug!(%error, "cannot fold the logs into a database");
    }
}

async fn store_in_file(
    database: &Path,
    journal: &JournalContent,
    journal_use: JournalUse,
) -> StoreResult<()> {
    if journal.is_empty() {
        return Ok(());
    }
    let only = sqlite::connect_file(database).await?;
    let stored = match only.acquire().await {
        Ok(connection) => {
            store_content(WriterConnection::Sqlite(connection), journal, journal_use).await
        }
        Err(error) => Err(error.into()),
    };
    only.close().await;
    stored.map(drop)
}
