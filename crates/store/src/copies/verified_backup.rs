//! Backup that was looked through before anything is made of it.

use std::fs;
use std::path::{Path, PathBuf};

use async_recursion::async_recursion as boxed;

use super::backup::{self, beside};
use super::transfer::{self, ExistingData, RestoredDatabase};
use crate::database::postgres::address::DatabaseUrl;
use crate::database::sqlite::content_sum::ContentState;
use crate::database::sqlite::{self, content_sum, former_journal};
use crate::{Store, StoreError, StoreResult, data_directory};

/// Treatment of a backup whose content is not what was backed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DamagedContent {
    /// It is refused.
    Refused,
    /// It is restored as it is.
    Accepted,
}

/// Backup that is intact as a file, and has nothing but what is copydesk's.
#[derive(Debug)]
pub struct VerifiedBackup {
    from: PathBuf,
    state: ContentState,
    sum: String,
    /// Copy of this version, if the backup is of a former one; removed with this value.
    updated: Option<PathBuf>,
}

impl VerifiedBackup {
    /// Looks through the backup `from`. A former version's is copied and brought up to date.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if it is no intact backup, or has other content than was backed up
    /// and that is to be refused; [`StoreError::Shape`] if it is of a later version.
    #[boxed(?Send)]
    pub async fn open(from: &Path, damaged: DamagedContent) -> StoreResult<Self> {
        sqlite::check_copy(from).await?;
        let only = sqlite::connect_onlooker(from).await?;
        let compared = match only.acquire().await {
            Ok(mut connection) => content_sum::compare(&mut connection).await,
            Err(error) => Err(error.into()),
        };
        let is_current = sqlite::check_shape(&only).await.is_ok();
        only.close().await;
        let (state, sum) = compared?;
        if state == ContentState::Damaged && damaged == DamagedContent::Refused {
            return Err(content_sum::damaged(&from.display().to_string()));
        }
        let updated = (!is_current).then(|| beside(from));
        let backup = Self { from: from.to_owned(), state, sum, updated };
        if let Some(updated) = &backup.updated {
            data_directory::create_private(updated)?;
            sqlite::copy_any(from, updated).await.map_err(StoreError::while_writing)?;
            former_journal::absorb_into(updated, from).await?;
            sqlite::update_file(updated).await?;
        }
        Ok(backup)
    }

    /// Returns what the sum in the backup says of its content.
    pub fn state(&self) -> ContentState {
        self.state
    }

    /// Opens the backup to be checked.
    pub async fn inspect(&self) -> StoreResult<Store> {
        Store::inspect_file(self.current()).await
    }

    /// Makes a data directory of the backup. With `replace`, existing data is put aside under
    /// another name; returns the new path of its database.
    ///
    /// # Errors
    /// [`StoreError::Occupied`] if there is data and `replace` is false, [`StoreError::InUse`]
    /// while a server runs on it, [`StoreError::Corrupt`] if the backup was changed meanwhile.
    /// Nothing has changed then.
    #[boxed]
    pub async fn restore(&self, data: &Path, replace: bool) -> StoreResult<Option<PathBuf>> {
        backup::restore(&self.from, &self.sum, data, replace).await
    }

    /// Copies the backup into a PostgreSQL database that no server uses. A killed process leaves
    /// the old data, the new data, or, where there was none, a database that is
    /// [`StoreError::Incomplete`].
    #[boxed(?Send)]
    pub async fn restore_postgres(
        &self,
        url: &DatabaseUrl,
        existing: ExistingData,
    ) -> StoreResult<RestoredDatabase> {
        transfer::from_file(self.current(), url, existing).await
    }

    fn current(&self) -> &Path {
        self.updated.as_deref().unwrap_or(&self.from)
    }
}

impl Drop for VerifiedBackup {
    fn drop(&mut self) {
        if let Some(updated) = &self.updated {
            fs::remove_file(updated).ok();
        }
    }
}
