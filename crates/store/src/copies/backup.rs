//! Backups, made while a server runs, and data directories restored from them.
//!
//! A backup is one database file with everything as it was at one moment; tokens are in it as
//! hashes. The owner's secret (`owner.token`) is not in it, and neither are files of the workspace.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use async_recursion::async_recursion as boxed;

use crate::database::sqlite::{self, content_sum, former_journal};
use crate::{StoreError, StoreResult, data_directory};

/// Suffixes of the files beside a database that may have data of it.
const JOURNALS_WITH_DATA: [&str; 2] = ["-wal", former_journal::SUFFIX];

/// Copies the database of the data directory `data` into the new file `target`; returns the bytes
/// of the copy. A server may be running: the copy is of one moment.
///
/// # Errors
/// [`StoreError::File`] if `target` exists, [`StoreError::Write`] if there is no space for it.
/// Nothing is left then; a process that is killed leaves a file `TARGET.part-…`.
#[boxed]
pub async fn back_up(data: &Path, target: &Path) -> StoreResult<u64> {
    let part = part_of_new(target)?;
    // Readable by its owner only, from the first byte on; SQLite fills an empty file.
    data_directory::create_private(&part)?;
    let copied = sqlite::copy(&data.join(data_directory::DATABASE), &part).await;
    complete(&part, target, copied).await
}

/// Returns a name of our own beside the file `target`, which must not exist.
pub fn part_of_new(target: &Path) -> StoreResult<PathBuf> {
    match target.try_exists() {
        Ok(false) => Ok(beside(target)),
        Ok(true) => Err(StoreError::file(target)(io::ErrorKind::AlreadyExists.into())),
        Err(error) => Err(StoreError::file(target)(error)),
    }
}

/// Seals a file that was filled, and makes it `target`; returns its bytes. Nothing is left if that
/// fails.
pub async fn complete(part: &Path, target: &Path, filled: StoreResult<()>) -> StoreResult<u64> {
    let sealed = match filled {
        Ok(()) => content_sum::seal_file(part).await,
        Err(error) => Err(error),
    };
    let settled = match sealed {
        Ok(()) => settle(part, target),
        Err(error) => Err(error.while_writing()),
    };
    if settled.is_err() {
        fs::remove_file(part).ok();
    }
    settled
}

/// Makes a data directory of a verified backup; see
/// [`VerifiedBackup::restore`](super::verified_backup::VerifiedBackup::restore).
pub async fn restore(
    from: &Path,
    sum: &str,
    data: &Path,
    replace: bool,
) -> StoreResult<Option<PathBuf>> {
    let is_new = !data.try_exists().map_err(StoreError::file(data))?;
    data_directory::create_data_directory(data)?;
    if !is_new && !replace && !is_empty(data)? {
        return Err(StoreError::Occupied { path: data.to_owned() });
    }
    // No server runs on it, and none starts, until this is done.
    let lock = data_directory::lock(data).await?;
    let database = data.join(data_directory::DATABASE);
    let part = beside(&database);
    let restored = match copy_to_restore(from, sum, &part).await {
        Ok(()) => change_places(&part, &database).await,
        Err(error) => Err(error),
    };
    if restored.is_err() {
        fs::remove_file(&part).ok();
    }
    drop(lock);
    restored
}

async fn copy_to_restore(from: &Path, sum: &str, part: &Path) -> StoreResult<()> {
    data_directory::create_private(part)?;
    // Copied by SQLite: what stands in the log beside `from` belongs to it.
    sqlite::copy_any(from, part).await.map_err(StoreError::while_writing)?;
    let only = sqlite::connect_file(part).await?;
    let unsealed = async {
        let mut connection = only.acquire().await?;
        let (_, copied) = content_sum::compare(&mut connection).await?;
        if copied != sum {
            return Err(content_sum::damaged("the copy of the backup"));
        }
        content_sum::unseal(&mut connection).await
    };
    let unsealed = unsealed.await;
    only.close().await;
    unsealed?;
    former_journal::absorb_into(part, from).await?;
    sqlite::check_copy(part).await?;
    sync_file(part)
}

/// Puts a copy into the place of the database, and what is there aside.
async fn change_places(part: &Path, database: &Path) -> StoreResult<Option<PathBuf>> {
    // What is put aside is complete in its one file: a kill between two renames loses nothing.
    fold(database).await;
    let aside = put_aside(database)?;
    if let Err(error) = settle(part, database) {
        if let Some(aside) = &aside {
            rename_with_journals(aside, database)?;
        }
        return Err(error);
    }
    Ok(aside)
}

/// Folds everything that stands beside a database into it, if it can be read.
async fn fold(database: &Path) {
    if !database.is_file() {
        return;
    }
    let folded = async {
        let only = sqlite::connect_writer(database).await?;
        if sqlite::check_shape(&only).await.is_ok() {
            former_journal::absorb(database, &only).await?;
        }
        sqlite::checkpoint(&only).await;
        only.close().await;
        Ok::<_, StoreError>(())
    };
    if let Err(error) = folded.await {
        tracing::debug!(%error, "cannot fold the logs into a database");
    }
}

fn sync_file(path: &Path) -> StoreResult<()> {
    let synced = OpenOptions::new().read(true).write(true).open(path);
    synced.and_then(|file| file.sync_all()).map_err(StoreError::file(path))
}

/// Checks that a missing database is a new one, whose data is not under another name or in the
/// files that belong to it. An empty file is a database: all of its data may be in those files.
pub fn check_not_missing(database: &Path) -> StoreResult<()> {
    if database.try_exists().map_err(StoreError::file(database))? {
        return Ok(());
    }
    let (of, database) = (database, database.to_owned());
    if let Some(aside) = interrupted_restore(of) {
        return Err(StoreError::InterruptedRestore { aside, database });
    }
    let mut beside = JOURNALS_WITH_DATA.into_iter().map(|journal| with_suffix(of, journal));
    match beside.find(|path| path.metadata().is_ok_and(|it| it.len() > 0)) {
        Some(remains) => Err(StoreError::DatabaseMissing { database, remains }),
        None => Ok(()),
    }
}

/// Returns the database that an interrupted restore has put aside, without another in its place.
fn interrupted_restore(database: &Path) -> Option<PathBuf> {
    let prefix = format!("{}.replaced-", database.file_name()?.to_str()?);
    let entries = fs::read_dir(database.parent()?).ok()?;
    let mut aside = entries.flatten().map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_prefix(&prefix).is_some_and(|rest| !rest.contains('-'))
    });
    aside.next()
}

/// Returns a name of our own beside a file.
pub fn beside(target: &Path) -> PathBuf {
    with_suffix(target, &format!(".part-{}", uuid::Uuid::new_v4().simple()))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// Makes the complete file `part` durable as `target`, replacing nothing; returns its bytes.
pub fn settle(part: &Path, target: &Path) -> StoreResult<u64> {
    let settled = || {
        let file = OpenOptions::new().read(true).write(true).open(part)?;
        file.sync_all()?;
        let bytes = file.metadata()?.len();
        // A hard link replaces nothing; a file system may not support them.
        match fs::hard_link(part, target) {
            Ok(()) => fs::remove_file(part)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            Err(_) if target.try_exists()? => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(part, target)?,
        }
        data_directory::sync_folder(target);
        Ok(bytes)
    };
    settled().map_err(StoreError::file(target))
}

/// Renames a database and the files that belong to it; returns the new name if it exists.
fn put_aside(database: &Path) -> StoreResult<Option<PathBuf>> {
    let exists = database.try_exists().map_err(StoreError::file(database))?;
    let suffix = format!(".replaced-{}", uuid::Uuid::new_v4().simple());
    let aside = with_suffix(database, &suffix);
    rename_with_journals(database, &aside)?;
    Ok(exists.then_some(aside))
}

fn rename_with_journals(from: &Path, to: &Path) -> StoreResult<()> {
    // What is not yet folded into the database goes with it: beside another one it would damage
    // that. The database comes last, so that an interrupted restore is recognised.
    for suffix in ["-shm", "-journal"].iter().chain(&JOURNALS_WITH_DATA).chain(&[""]) {
        let (old, new) = (with_suffix(from, suffix), with_suffix(to, suffix));
        match fs::rename(&old, &new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::file(&old)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_empty(folder: &Path) -> StoreResult<bool> {
    let mut entries = fs::read_dir(folder).map_err(StoreError::file(folder))?;
    Ok(entries.next().is_none())
}
