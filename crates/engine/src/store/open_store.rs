//! Opening of a data directory.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use sqlx_sqlite::SqlitePool;
use tokio::sync::watch;

use super::error::StoreError;
use super::handle::Store;
use super::sqlite::writer::{self, WriterConnection};
use super::{backup, files, sqlite};

/// Purpose for which [`Store::open`] opens a data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreAccess {
    /// Owns the documents. One process at a time; held until it ends or the store is closed.
    Serve,
    /// Reads, and writes tokens, also while a server runs.
    Visit,
    /// Reads and changes nothing, not even a missing table; also while a server runs.
    Inspect,
}

impl Store {
    /// Opens the data directory `path`; creates it, readable by its owner only, if it is missing.
    ///
    /// # Errors
    /// [`StoreError::InUse`] when another process serves the directory, [`StoreError::Shape`] when
    /// a visitor is of another version than the running server.
    pub async fn open(path: &Path, access: StoreAccess) -> Result<Self, StoreError> {
        let database = path.join(files::DATABASE);
        if access == StoreAccess::Inspect {
            let only = sqlite::connect_onlooker(&database).await?;
            sqlite::check_shape(&only).await?;
            return Ok(Self::start(only.clone(), WriterConnection::Shared, only, None));
        }
        files::create_directory(path)?;
        let lock = match access {
            StoreAccess::Serve => Some(files::lock(path).await?),
            StoreAccess::Visit | StoreAccess::Inspect => files::try_lock(path)?,
        };
        if let Some(aside) = backup::interrupted_restore(&database) {
            return Err(StoreError::InterruptedRestore { aside, database });
        }
        files::create_private(&database)?;
        let writers = sqlite::connect_writer(&database).await?;
        if lock.is_some() {
            sqlite::migrate(&writers).await?;
        } else {
            sqlite::check_shape(&writers).await?;
        }
        let readers = sqlite::connect_readers(&database).await?;
        let kept = match access {
            StoreAccess::Serve => lock,
            StoreAccess::Visit | StoreAccess::Inspect => None,
        };
        Ok(Self::start(writers, WriterConnection::Own, readers, kept))
    }

    /// Returns `true` if there is a database in the data directory `path`.
    pub fn is_at(path: &Path) -> bool {
        path.join(files::DATABASE).is_file()
    }

    /// Opens a store in memory that is gone with the process; for tests.
    ///
    /// # Errors
    /// [`StoreError::Migration`] if the tables cannot be made, [`StoreError::Database`] if it
    /// cannot be opened.
    pub async fn in_memory() -> Result<Self, StoreError> {
        let only = sqlite::connect_memory().await?;
        sqlite::migrate(&only).await?;
        Ok(Self::start(only.clone(), WriterConnection::Shared, only, None))
    }

    fn start(
        writers: SqlitePool,
        writer_connection: WriterConnection,
        readers: SqlitePool,
        lock: Option<File>,
    ) -> Self {
        let counts = Arc::default();
        let news = watch::Sender::new(0);
        let messages = writer::start(writers, writer_connection, Arc::clone(&counts), news.clone());
        Self::new(messages, readers, counts, news, lock)
    }
}
