//! Updates in a journal beside a database that no server uses any more, or that is copied: they are
//! stored in the database.

use std::path::Path;

use crate::store::apply::{self, WriterCache};
use crate::store::database::connection::WriterConnection;
use crate::store::database::sqlite;
use crate::store::database::sqlite::update_journal::{JournalContent, SETTING, begin_generation};
use crate::store::{StoreError, StoreResult};

/// Stores the updates of a journal that the database does not have. Returns the generation that it
/// expects from now on.
///
/// # Errors
/// [`StoreError::Corrupt`] if they do not follow what the database has.
pub(in crate::store) async fn store_content(
    mut connection: WriterConnection,
    content: &JournalContent,
) -> StoreResult<u64> {
    let sql = "SELECT value FROM settings WHERE key = $1";
    let known: Option<(String,)> = connection.one(sql, &[&SETTING]).await?;
    let known = known.map(|(value,)| {
        value.parse::<u64>().map_err(|error| StoreError::corrupt("setting update_journal", &error))
    });
    let known = known.transpose()?;
    let mut batches = known.map_or_else(|| Ok(Vec::new()), |it| content.batches(it))?;
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

/// Copies a database of this version, with what is in its journal, into an empty file. A server may
/// be running.
pub(super) async fn copy(database: &Path, to: &Path) -> StoreResult<()> {
    // Read first: what the database stores meanwhile it has by the time it is copied.
    let journal = JournalContent::read(database)?;
    sqlite::copy(database, to).await?;
    store_in_file(to, &journal).await
}

/// Copies a database of any version, as [`copy`] does.
pub(super) async fn copy_any(database: &Path, to: &Path) -> StoreResult<()> {
    let journal = JournalContent::read(database)?;
    sqlite::copy_any(database, to).await?;
    store_in_file(to, &journal).await
}

/// Stores what is in the journal of a database that no server uses.
pub(super) async fn recover(database: &Path) -> StoreResult<()> {
    store_in_file(database, &JournalContent::read(database)?).await
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
            store_content(WriterConnection::Sqlite(only.acquire().await?), &journal).await?;
        }
        sqlite::checkpoint(&only).await;
        only.close().await;
        Ok::<_, StoreError>(())
    };
    if let Err(error) = folded.await {
        tracing::debug!(%error, "cannot fold the logs into a database");
    }
}

async fn store_in_file(database: &Path, journal: &JournalContent) -> StoreResult<()> {
    if journal.is_empty() {
        return Ok(());
    }
    let only = sqlite::connect_file(database).await?;
    let stored = match only.acquire().await {
        Ok(connection) => store_content(WriterConnection::Sqlite(connection), journal).await,
        Err(error) => Err(error.into()),
    };
    only.close().await;
    stored.map(drop)
}
