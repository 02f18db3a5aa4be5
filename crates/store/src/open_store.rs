//! Opening of a store: a data directory with a SQLite database, or a PostgreSQL database.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use tokio::sync::watch;

use super::copies::backup;
use super::database::pending_updates::{FoundPending, PendingUpdates};
use super::database::postgres::address::DatabaseUrl;
use super::database::postgres::nodes::NodeConnections;
use super::database::postgres::{self, server, server::PostgresWriter, session};
use super::database::read_barrier::ReadBarrier;
use super::database::reading::ReadPool;
use super::database::sqlite::{self, content_sum, former_journal};
use super::database::writer;
use super::database::writer_source::WriterSource;
#[cfg(doc)]
use super::error::StoreError;
use super::handle::Store;
use super::{StoreResult, data_directory};

/// Place where a store is.
#[derive(Clone, Debug)]
pub enum StorePlace {
    /// Data directory, which has the database.
    Directory(PathBuf),
    /// PostgreSQL database.
    Postgres(DatabaseUrl),
}

impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => path.display().fmt(f),
            Self::Postgres(url) => url.fmt(f),
        }
    }
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
    /// [`StoreError::Unsuitable`] if the PostgreSQL database cannot be used,
    /// [`StoreError::Incomplete`] if a copy into it was interrupted.
    pub async fn open(place: impl Into<StorePlace>, access: StoreAccess) -> StoreResult<Self> {
        match place.into() {
            StorePlace::Directory(path) => Self::open_directory(&path, access).await,
            StorePlace::Postgres(url) => Self::open_postgres(url, access).await,
        }
    }

    /// Opens a PostgreSQL database as one of several servers. `address` is where the other ones
    /// reach this one. Returns the tables of the servers, too. This server writes only while its
    /// row is there, and has to give signs of life. Closing the store removes the row.
    ///
    /// # Errors
    /// Those of [`Self::open`]; [`StoreError::InUse`] also if a server uses it alone.
    #[boxed(?Send)]
    pub async fn join(
        url: DatabaseUrl,
        address: &str,
    ) -> StoreResult<(Self, Arc<NodeConnections>)> {
        let mut connection = session::connect(&url).await?;
        server::enter(&url, &mut connection).await?;
        postgres::check_complete(&url, &mut connection).await?;
        let (writer, session, number) =
            PostgresWriter::join(url.clone(), connection, address).await?;
        let node = Arc::new(NodeConnections::open(&url, number).await?);
        let readers = postgres::connect_readers(&url).await?;
        let source = WriterSource::postgres(writer, session);
        let (counts, news) = (Arc::default(), watch::Sender::new(0));
        let messages = writer::start(source, Arc::clone(&counts), news.clone(), None);
        let own = Some(Arc::clone(&node));
        Ok((Self::new(messages, readers.into(), counts, news, None, own), node))
    }

    #[boxed]
    async fn open_directory(path: &Path, access: StoreAccess) -> StoreResult<Self> {
        let database = path.join(data_directory::DATABASE);
        if access == StoreAccess::Inspect {
            return Self::inspect_file(&database).await;
        }
        data_directory::create_data_directory(path)?;
        let lock = match access {
            StoreAccess::Serve => Some(data_directory::lock(path).await?),
            StoreAccess::Visit | StoreAccess::Inspect => data_directory::try_lock(path)?,
        };
        data_directory::check_complete(path)?;
        backup::check_not_missing(&database)?;
        data_directory::create_private(&database)?;
        let writers = sqlite::connect_writer(&database).await?;
        let Some(lock) = lock else {
            sqlite::check_shape(&writers).await?;
            let readers = sqlite::connect_readers(&database).await?;
            return Ok(Self::start(WriterSource::sqlite(writers, false), readers.into()));
        };
        sqlite::migrate(&writers).await?;
        former_journal::absorb(&database, &writers).await?;
        content_sum::note_change(&writers).await;
        let found = FoundPending::log(&writers).await?;
        let readers = sqlite::connect_readers(&database).await?;
        let source = WriterSource::sqlite(writers, false);
        if access != StoreAccess::Serve {
            return Ok(Self::start(source, readers.into()));
        }
        let pending = PendingUpdates::new(found);
        let place = pending.place();
        let (counts, news) = (Arc::default(), watch::Sender::new(0));
        let messages = writer::start(source, Arc::clone(&counts), news.clone(), Some(pending));
        let barrier = ReadBarrier::new(place, &messages);
        let readers =
            ReadPool::from(readers).behind(barrier, sqlite::readers_of_pending(&database));
        Ok(Self::new(messages, readers, counts, news, Some(lock), None))
    }

    /// Opens a database file of this version, of which nothing is changed.
    pub(super) async fn inspect_file(database: &Path) -> StoreResult<Self> {
        let only = sqlite::connect_inspector(database).await?;
        sqlite::check_shape(&only).await?;
        Ok(Self::start(WriterSource::sqlite(only.clone(), true), only.into()))
    }

    #[boxed(?Send)]
    async fn open_postgres(url: DatabaseUrl, access: StoreAccess) -> StoreResult<Self> {
        let mut connection = session::connect(&url).await?;
        if access == StoreAccess::Inspect {
            session::forbid_writing(&mut connection).await?;
        }
        let (writer, session) = match access {
            StoreAccess::Serve => {
                server::lock(&url, &mut connection).await?;
                postgres::migrate(&url, &mut connection).await?;
                postgres::check_complete(&url, &mut connection).await?;
                PostgresWriter::serve(url.clone(), connection).await?
            }
            // Like a visitor of a directory: it brings the tables up to date if no server runs.
            StoreAccess::Visit if server::try_lock(&mut connection).await? => {
                postgres::migrate(&url, &mut connection).await?;
                server::unlock(&mut connection).await?;
                postgres::check_complete(&url, &mut connection).await?;
                PostgresWriter::visit(url.clone(), connection)
            }
            StoreAccess::Visit | StoreAccess::Inspect => {
                postgres::check_shape(&mut connection).await?;
                postgres::check_complete(&url, &mut connection).await?;
                PostgresWriter::visit(url.clone(), connection)
            }
        };
        let readers = postgres::connect_readers(&url).await?;
        let source = WriterSource::postgres(writer, session);
        Ok(Self::start(source, readers.into()))
    }

    /// Returns `true` if there is a database at `place`.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`] or [`StoreError::Unsuitable`] if a PostgreSQL database cannot be
    /// asked, [`StoreError::Incomplete`] if a copy into it was interrupted.
    #[boxed]
    pub async fn is_at(place: &StorePlace) -> StoreResult<bool> {
        match place {
            StorePlace::Directory(path) => {
                data_directory::check_complete(path)?;
                Ok(path.join(data_directory::DATABASE).is_file())
            }
            StorePlace::Postgres(url) => {
                let mut connection = session::connect(url).await?;
                let is_there = postgres::shape(&mut connection).await? > 0;
                if is_there {
                    postgres::check_complete(url, &mut connection).await?;
                }
                Ok(is_there)
            }
        }
    }

    /// Opens a store in memory that is gone with the process; for tests.
    ///
    /// # Errors
    /// [`StoreError::Migration`] if the tables cannot be made, [`StoreError::Database`] if it
    /// cannot be opened.
    pub async fn in_memory() -> StoreResult<Self> {
        let only = sqlite::connect_memory().await?;
        sqlite::migrate(&only).await?;
        Ok(Self::start(WriterSource::sqlite(only.clone(), true), only.into()))
    }

    fn start(source: WriterSource, readers: ReadPool) -> Self {
        let (counts, news) = (Arc::default(), watch::Sender::new(0));
        let messages = writer::start(source, Arc::clone(&counts), news.clone(), None);
        Self::new(messages, readers, counts, news, None, None)
    }
}
