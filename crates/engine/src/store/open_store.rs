//! Opening of a store: a data directory with a SQLite database, or a PostgreSQL database.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;

use super::database::postgres::address::DatabaseUrl;
use super::database::postgres::{self, server, server::PostgresWriter, session};
use super::database::reading::ReadPool;
use super::database::sqlite;
use super::database::writer;
use super::database::writer_source::WriterSource;
use super::error::StoreError;
use super::handle::Store;
use super::{StoreResult, backup, files};

/// Place where a store is.
#[derive(Clone, Debug)]
pub enum StorePlace {
    /// Data directory, which has the database.
    Directory(PathBuf),
    /// PostgreSQL database.
    Postgres(DatabaseUrl),
}

impl From<&Path> for StorePlace {
    fn from(directory: &Path) -> Self {
        Self::Directory(directory.to_owned())
    }
}

impl From<&PathBuf> for StorePlace {
    fn from(directory: &PathBuf) -> Self {
        Self::Directory(directory.clone())
    }
}

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
    /// Opens the store at `place`. A data directory that is missing is created, readable by its
    /// owner only; so are the tables in a PostgreSQL database.
    ///
    /// # Errors
    /// [`StoreError::InUse`] when another process serves it, [`StoreError::Shape`] when a visitor
    /// is of another version than the running server, [`StoreError::Unreachable`] or
    /// [`StoreError::Unsuitable`] if the PostgreSQL database cannot be used.
    pub async fn open(place: impl Into<StorePlace>, access: StoreAccess) -> StoreResult<Self> {
        match place.into() {
            StorePlace::Directory(path) => Self::open_directory(&path, access).await,
            StorePlace::Postgres(url) => Self::open_postgres(url, access).await,
        }
    }

    async fn open_directory(path: &Path, access: StoreAccess) -> StoreResult<Self> {
        let database = path.join(files::DATABASE);
        if access == StoreAccess::Inspect {
            let only = sqlite::connect_onlooker(&database).await?;
            sqlite::check_shape(&only).await?;
            let source = WriterSource::sqlite(only.clone(), true);
            return Ok(Self::start(source, ReadPool::Sqlite(only), None));
        }
        files::create_data_directory(path)?;
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
        Ok(Self::start(WriterSource::sqlite(writers, false), ReadPool::Sqlite(readers), kept))
    }

    async fn open_postgres(url: DatabaseUrl, access: StoreAccess) -> StoreResult<Self> {
        let mut connection = session::connect(&url).await?;
        if access == StoreAccess::Inspect {
            session::forbid_writing(&mut connection).await?;
        }
        let (writer, session) = match access {
            StoreAccess::Serve => {
                server::lock(&url, &mut connection).await?;
                postgres::migrate(&url, &mut connection).await?;
                PostgresWriter::serve(url.clone(), connection).await?
            }
            // Like a visitor of a directory: it brings the tables up to date if no server runs.
            StoreAccess::Visit if server::try_lock(&mut connection).await? => {
                postgres::migrate(&url, &mut connection).await?;
                server::unlock(&mut connection).await?;
                PostgresWriter::visit(url.clone(), connection)
            }
            StoreAccess::Visit | StoreAccess::Inspect => {
                postgres::check_shape(&mut connection).await?;
                PostgresWriter::visit(url.clone(), connection)
            }
        };
        let readers = postgres::connect_readers(&url).await?;
        let source = WriterSource::postgres(writer, session);
        Ok(Self::start(source, ReadPool::Postgres(readers), None))
    }

    /// Returns `true` if there is a database at `place`.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`] or [`StoreError::Unsuitable`] if a PostgreSQL database cannot be
    /// asked.
    pub async fn is_at(place: &StorePlace) -> StoreResult<bool> {
        match place {
            StorePlace::Directory(path) => Ok(path.join(files::DATABASE).is_file()),
            StorePlace::Postgres(url) => {
                let mut connection = session::connect(url).await?;
                Ok(postgres::shape(&mut connection).await? > 0)
            }
        }
    }

    /// Opens a store in memory that is gone with the process; for tests.
    ///
    /// # Errors
    /// [`StoreError::Migration`] if the tables cannot be made, [`StoreError::Database`] if it
    /// cannot be opened.
    pub async fn in_memory() -> Result<Self, StoreError> {
        let only = sqlite::connect_memory().await?;
        sqlite::migrate(&only).await?;
        Ok(Self::start(WriterSource::sqlite(only.clone(), true), ReadPool::Sqlite(only), None))
    }

    fn start(source: WriterSource, readers: ReadPool, lock: Option<File>) -> Self {
        let counts = Arc::default();
        let news = watch::Sender::new(0);
        let messages = writer::start(source, Arc::clone(&counts), news.clone());
        Self::new(messages, readers, counts, news, lock)
    }
}
