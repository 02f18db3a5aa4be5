//! What can go wrong with remembering.

use std::io;
use std::path::{Path, PathBuf};

use crate::ids::{ClientId, DocumentId, UserId, Version};

/// Why something was not stored or could not be read. A batch that failed left nothing behind.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Somebody else took the version: map the change over what is there and try again.
    #[error("{document} is at version {found}, not {expected}")]
    Conflict {
        /// The document.
        document: DocumentId,
        /// The version the batch started from.
        expected: Version,
        /// The version in the store.
        found: Version,
    },
    /// The batch names something that is not there.
    #[error("there is no {kind} {id}")]
    Missing {
        /// `document`, `token`, …
        kind: &'static str,
        /// Its identifier.
        id: String,
    },
    /// The batch creates something that is there already.
    #[error("there is already a {kind} {id}")]
    Exists {
        /// `document`, …
        kind: &'static str,
        /// Its identifier.
        id: String,
    },
    /// Another person's editor instance.
    #[error("editor {client} in {document} belongs to somebody else")]
    ClientTaken {
        /// The document.
        document: DocumentId,
        /// The editor instance.
        client: ClientId,
    },
    /// The batch was made for somebody who may not do that any more.
    #[error("{0} may not do that any more")]
    NotAllowed(UserId),
    /// Another server has the data directory.
    #[error("{} is in use by another copydesk server{}; stop it, or use another --data directory",
        path.display(), process.map(|id| format!(" (process {id})")).unwrap_or_default())]
    InUse {
        /// The data directory.
        path: PathBuf,
        /// The other server's process, if it left its number.
        process: Option<u32>,
    },
    /// A directory that is to get the data of a backup has something in it.
    #[error("{} is not empty; name another directory, or say --replace to put its data aside", path.display())]
    Occupied {
        /// The data directory.
        path: PathBuf,
    },
    /// A restore has put the database aside and was interrupted before another was in its place.
    #[error("a restore was interrupted: the data is in {}; restore again, or rename that file to {}",
        aside.display(), database.display())]
    InterruptedRestore {
        /// The database that was put aside.
        aside: PathBuf,
        /// The name that it had.
        database: PathBuf,
    },
    /// The running server keeps its data in another shape than this program does.
    #[error(
        "the data has shape {found}, this program needs {needed}: use the same version as the running server"
    )]
    Shape {
        /// The newest migration in the database; 0: none yet.
        found: i64,
        /// The newest one this program knows.
        needed: i64,
    },
    /// The database holds something that this program cannot have written.
    #[error("damaged data: {what}: {reason}")]
    Corrupt {
        /// Which record.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// A file of the data directory.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The database is newer than the program, or its migrations were edited.
    #[error("cannot bring the database up to date: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// Anything else the database says where something is read: a damaged page, for example.
    #[error("database: {0}")]
    Database(#[source] sqlx::Error),
    /// Anything else the database says where something is written: no space left, for example.
    #[error("database: {0}")]
    Write(#[source] sqlx::Error),
}

impl StoreError {
    pub(super) fn missing(kind: &'static str, id: &(impl ToString + ?Sized)) -> Self {
        Self::Missing { kind, id: id.to_string() }
    }

    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), source }
    }

    /// What people are told, who need not know the database: whether something could not be read, or not be stored.
    pub fn in_plain_words(&self) -> &'static str {
        match self {
            Self::Corrupt { .. } | Self::Database(_) => {
                "what is stored could not be read; nothing was changed"
            }
            _ => "the change could not be stored; nothing was changed",
        }
    }

    /// The same error, met while something was written.
    pub(super) fn while_writing(self) -> Self {
        match self {
            Self::Database(error) => Self::Write(error),
            other => other,
        }
    }

    pub(super) fn corrupt(what: impl Into<String>, reason: &(impl ToString + ?Sized)) -> Self {
        Self::Corrupt { what: what.into(), reason: reason.to_string() }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::PoolClosed => Self::Closed,
            error => Self::Database(error),
        }
    }
}
