//! Errors of the store.

use std::io;
use std::path::{Path, PathBuf};

use crate::ids::{ClientId, DocumentId, Version};

/// Reason why something was not stored or could not be read. A batch that failed left nothing
/// behind.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The document is at another version: map the change over the updates in between and try
    /// again.
    #[error("{document} is at version {found}, not {expected}")]
    Conflict {
        /// The document.
        document: DocumentId,
        /// Version the batch started from.
        expected: Version,
        /// Version in the store.
        found: Version,
    },
    /// The batch names something that does not exist.
    #[error("there is no {kind} {id}")]
    Missing {
        /// `document`, `token`, …
        kind: &'static str,
        /// Identifier of what is missing.
        id: String,
    },
    /// The batch creates something that exists already.
    #[error("there is already a {kind} {id}")]
    Exists {
        /// `document`, …
        kind: &'static str,
        /// Identifier that is taken.
        id: String,
    },
    /// The editor instance belongs to another person.
    #[error("editor {client} in {document} belongs to somebody else")]
    ClientTaken {
        /// The document.
        document: DocumentId,
        /// The editor instance.
        client: ClientId,
    },
    /// Another server uses the data directory.
    #[error("{} is in use by another copydesk server{}; stop it, or use another --data directory",
        path.display(), process.map(|id| format!(" (process {id})")).unwrap_or_default())]
    InUse {
        /// The data directory.
        path: PathBuf,
        /// Process of the other server, if it left its number.
        process: Option<u32>,
    },
    /// The directory for the data of a backup is not empty.
    #[error("{} is not empty; name another directory, or set its data aside with --replace", path.display())]
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
    /// The running server's database has other tables than this program knows.
    #[error(
        "the data has format {found}, this program needs {needed}: use the same version as the running server"
    )]
    Shape {
        /// Newest migration in the database; 0: none yet.
        found: i64,
        /// Newest migration this program knows.
        needed: i64,
    },
    /// The database holds something that this program cannot have written.
    #[error("damaged data: {what}: {reason}")]
    Corrupt {
        /// Record that is damaged.
        what: String,
        /// Description of the damage.
        reason: String,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// A file of the data directory could not be used.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The database is newer than the program, or its migrations were edited.
    #[error("cannot migrate the database: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// Any other database error while reading: a damaged page, for example.
    #[error("database: {0}")]
    Database(#[source] sqlx::Error),
    /// Any other database error while writing: no space left, for example.
    #[error("database: {0}")]
    Write(#[source] sqlx::Error),
}

/// Result of an operation of the [`Store`](super::Store).
pub type StoreResult<T> = Result<T, StoreError>;

impl StoreError {
    pub(super) fn missing(kind: &'static str, id: &(impl ToString + ?Sized)) -> Self {
        Self::Missing { kind, id: id.to_string() }
    }

    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { path: path.to_owned(), source }
    }

    /// Returns a message for people who need not know the database: either reading failed, or
    /// storing.
    pub fn in_plain_words(&self) -> &'static str {
        match self {
            Self::Corrupt { .. } | Self::Database(_) => {
                "what is stored could not be read; nothing was changed"
            }
            _ => "the change could not be stored; nothing was changed",
        }
    }

    /// Returns this error as one that happened while writing.
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
            sqlx::Error::ColumnDecode { index, source } => {
                Self::corrupt(index.trim_matches('"'), &source)
            }
            error => Self::Database(error),
        }
    }
}
