//! Transfers of everything that is stored to a database of either kind, and backups of PostgreSQL,
//! which are files of SQLite like all backups.
//!
//! A copy is written in one transaction. Until it is complete, a data directory has it under
//! another name, and a PostgreSQL database has a mark, made together with its tables; a server
//! refuses both. Where a copy takes the place of other data, that is moved in the same transaction.

use std::fs;
use std::io;
use std::path::Path;

use async_recursion::async_recursion as boxed;

use super::backup::{check_not_missing, complete, part_of_new, settle};
use crate::database::pending_updates::FoundPending;
use crate::database::postgres::address::DatabaseUrl;
use crate::database::postgres::{self, replacement, server, session};
use crate::database::sqlite::{self, former_journal};
use crate::database::transfer::side::TransferSide;
use crate::database::transfer::{TransferCounts, copy};
use crate::{AuditHead, Store, StoreAccess, StoreError, StorePlace, StoreResult, data_directory};
use copydesk_failpoint as failpoint;

/// Result of [`transfer`].
#[derive(Debug)]
pub struct TransferReport {
    /// Rows that were copied.
    pub counts: TransferCounts,
    /// End of the audit log of the copy, or what is wrong with its chain, there and in the source.
    pub audit: StoreResult<AuditHead>,
}

/// Result of
/// [`VerifiedBackup::restore_postgres`](super::verified_backup::VerifiedBackup::restore_postgres).
#[derive(Debug)]
pub struct RestoredDatabase {
    /// Rows that were copied.
    pub counts: TransferCounts,
    /// Schema that has what was there before, if there was something.
    pub set_aside: Option<String>,
}

/// Treatment of data in a PostgreSQL database into which a backup is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingData {
    /// The restore is refused.
    Refused,
    /// The data is moved into another schema.
    SetAside,
}

struct LockedSource {
    side: TransferSide,
    /// Lock of a data directory; that of a PostgreSQL database belongs to the connection.
    _lock: Option<fs::File>,
}

/// Copies everything from one place into an empty one, neither of which a server may use.
///
/// # Errors
/// [`StoreError::InUse`], [`StoreError::HasData`], [`StoreError::Shape`], or
/// [`StoreError::Corrupt`] if the copy would differ; nothing of the copy is there then. An
/// interrupted transfer leaves a place that is [`StoreError::Incomplete`], into which it can be
/// repeated.
#[boxed(?Send)]
pub async fn transfer(from: &StorePlace, to: &StorePlace) -> StoreResult<TransferReport> {
    let mut source = lock_source(from).await?;
    source.side.begin_reading().await?;
    let copied = match to {
        StorePlace::Directory(path) => into_directory(&mut source.side, path).await,
        StorePlace::Postgres(url) => {
            let restored = into_postgres(&mut source.side, url, ExistingData::Refused).await;
            restored.map(|restored| restored.counts)
        }
    };
    source.side.close().await;
    let counts = copied?;
    let copy = Store::open(to.clone(), StoreAccess::Inspect).await?;
    let audit = copy.verify_audit().await;
    copy.close().await;
    Ok(TransferReport { counts, audit })
}

/// Copies a PostgreSQL database into the new file `target`; returns the bytes of the copy. Servers
/// may be running: the copy is of one moment.
#[boxed(?Send)]
pub async fn back_up_postgres(url: &DatabaseUrl, target: &Path) -> StoreResult<u64> {
    let part = part_of_new(target)?;
    let mut side = open_postgres(url).await?;
    side.begin_reading().await?;
    let copied = fill_file(&mut side, &part).await;
    side.close().await;
    complete(&part, target, copied.map(drop)).await
}

pub(super) async fn from_file(
    file: &Path,
    url: &DatabaseUrl,
    existing: ExistingData,
) -> StoreResult<RestoredDatabase> {
    let mut side = sqlite::open_side(file).await?;
    let copied = match side.begin_reading().await {
        Ok(()) => into_postgres(&mut side, url, existing).await,
        Err(error) => Err(error),
    };
    side.close().await;
    copied
}

async fn lock_source(from: &StorePlace) -> StoreResult<LockedSource> {
    match from {
        StorePlace::Directory(path) => {
            if !Store::is_at(from).await? {
                return Err(StoreError::missing("database in", &path.display()));
            }
            let lock = data_directory::lock(path).await?;
            let database = path.join(data_directory::DATABASE);
            log_pending(&database).await?;
            let side = sqlite::open_side(&database).await?;
            Ok(LockedSource { side, _lock: Some(lock) })
        }
        StorePlace::Postgres(url) => {
            let mut connection = session::connect(url).await?;
            server::lock(url, &mut connection).await?;
            postgres::check_shape(&mut connection).await?;
            postgres::check_complete(url, &mut connection).await?;
            Ok(LockedSource { side: TransferSide::Postgres(connection), _lock: None })
        }
    }
}

async fn log_pending(database: &Path) -> StoreResult<()> {
    let only = sqlite::connect_writer(database).await?;
    let logged = match sqlite::check_shape(&only).await {
        Ok(()) => match former_journal::absorb(database, &only).await {
            Ok(()) => FoundPending::log(&only).await,
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    only.close().await;
    logged?.refused.map_or(Ok(()), Err)
}

async fn open_postgres(url: &DatabaseUrl) -> StoreResult<TransferSide> {
    let mut connection = session::connect(url).await?;
    postgres::check_shape(&mut connection).await?;
    postgres::check_complete(url, &mut connection).await?;
    Ok(TransferSide::Postgres(connection))
}

async fn into_directory(from: &mut TransferSide, path: &Path) -> StoreResult<TransferCounts> {
    data_directory::create_data_directory(path)?;
    let _lock = data_directory::lock(path).await?;
    let database = path.join(data_directory::DATABASE);
    if database.try_exists().map_err(StoreError::file(&database))? {
        return Err(StoreError::HasData { place: path.display().to_string() });
    }
    check_not_missing(&database)?;
    let part = path.join(data_directory::INCOMPLETE);
    match fs::remove_file(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(StoreError::file(&part)(error));
        }
        _ => {}
    }
    let copied = match fill_file(from, &part).await {
        Ok(counts) => settle(&part, &database).map(|_| counts),
        Err(error) => Err(error.while_writing()),
    };
    if copied.is_err() {
        fs::remove_file(&part).ok();
    }
    copied
}

async fn fill_file(from: &mut TransferSide, file: &Path) -> StoreResult<TransferCounts> {
    data_directory::create_private(file)?;
    let mut to = sqlite::create_side(file).await?;
    to.begin_writing().await?;
    let counts = copy(from, &mut to).await?;
    to.commit().await?;
    to.close().await;
    sqlite::check_copy(file).await?;
    Ok(counts)
}

/// Fills a PostgreSQL database. An empty one has a mark from the moment it has tables until the
/// last row is committed. Otherwise one transaction keeps the old data until the new data is
/// complete.
async fn into_postgres(
    from: &mut TransferSide,
    url: &DatabaseUrl,
    existing: ExistingData,
) -> StoreResult<RestoredDatabase> {
    let mut connection = session::connect(url).await?;
    server::lock(url, &mut connection).await?;
    if !postgres::has_data(&mut connection).await? {
        postgres::prepare_to_fill(url, &mut connection).await?;
        let counts = fill_empty(from, TransferSide::Postgres(connection)).await?;
        return Ok(RestoredDatabase { counts, set_aside: None });
    }
    if existing == ExistingData::Refused {
        return Err(StoreError::HasData { place: url.to_string() });
    }
    let schema = replacement::begin_replacing(url, &mut connection).await?;
    let mut to = TransferSide::Postgres(connection);
    let committed = fill(from, &mut to).await;
    // Ends the transaction too, if it was not committed.
    to.close().await;
    Ok(RestoredDatabase { counts: committed?, set_aside: Some(schema) })
}

async fn fill_empty(from: &mut TransferSide, mut to: TransferSide) -> StoreResult<TransferCounts> {
    to.begin_writing().await?;
    to.run(postgres::UNMARK).await?;
    let committed = fill(from, &mut to).await;
    if committed.is_err() && to.run("ROLLBACK").await.is_ok() {
        // It is as empty as it was.
        to.run(postgres::UNMARK).await.ok();
    }
    to.close().await;
    committed
}

async fn fill(from: &mut TransferSide, to: &mut TransferSide) -> StoreResult<TransferCounts> {
    let counts = copy(from, to).await.map_err(StoreError::while_writing)?;
    failpoint::pass("transfer.copied");
    to.commit().await?;
    failpoint::pass("transfer.committed");
    Ok(counts)
}
