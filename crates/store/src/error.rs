//! Errors of the store.

use std::io;
use std::path::{Path, PathBuf};

use super::database::postgres::address::DatabaseUrl;
use copydesk_ids::{ClientId, DocumentId, Version};

/// PostgreSQL's code for a lock that was not granted in time.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// Reason why something was not stored or could not be read. A batch that failed left nothing,
/// except with [`StoreError::OutcomeUnknown`].
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The document is at another version: map the change over the updates in between and retry.
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
    /// Another server uses the data directory or the database.
    #[error("{place} is in use by another copydesk server{}; stop it, or use another {}",
        server.as_ref().map(|server| format!(" ({server})")).unwrap_or_default(),
        if place.starts_with("postgres://") { "database" } else { "--data directory" })]
    InUse {
        /// Data directory, or address of the database.
        place: String,
        /// Process of the other server, if it is known.
        server: Option<String>,
    },
    /// Another server has used the database since this one lost its connection to it.
    #[error("another copydesk server has used the database meanwhile; restart this one")]
    Replaced,
    /// The address of a database cannot be used.
    #[error("the address of the database is not valid: {reason}")]
    Address {
        /// Description of the fault, without the address.
        reason: String,
    },
    /// The address of Redis cannot be used.
    #[error("the address of Redis is not valid: {reason}")]
    RedisAddress {
        /// Description of the fault, without the address.
        reason: String,
    },
    /// The server of the database does not answer.
    #[error("cannot reach the database {database}: {reason}")]
    Unreachable {
        /// Address, without the password.
        database: String,
        /// Description of the failure.
        reason: String,
    },
    /// The Redis server does not answer, or refuses.
    #[error("cannot reach {address}: {reason}")]
    RedisUnreachable {
        /// Address, without the password.
        address: String,
        /// Description of the failure.
        reason: String,
    },
    /// The database cannot be used.
    #[error("cannot use the database {database}: {reason}")]
    Unsuitable {
        /// Address, without the password.
        database: String,
        /// Description of the reason.
        reason: String,
    },
    /// The connection was lost during a commit, so the batch may be stored or not.
    #[error("it is unknown if the change was stored: {reason}")]
    OutcomeUnknown {
        /// Description of the failure.
        reason: String,
    },
    /// The directory for the data of a backup is not empty.
    #[error("{} is not empty; name another directory, or set its data aside with --replace", path.display())]
    Occupied {
        /// The data directory.
        path: PathBuf,
    },
    /// There is data where a copy was to be written.
    #[error(
        "there is already data in {place}; a copy is written only where there is none, or, by `copydesk restore --replace`, in its place"
    )]
    HasData {
        /// Data directory, or address of the database.
        place: String,
    },
    /// A copy was being written and was interrupted, so that nothing of it is there.
    #[error(
        "a copy into {place} was interrupted, so it is not complete: run the same `copydesk migrate` or `copydesk restore` again"
    )]
    Incomplete {
        /// Data directory, or address of the database.
        place: String,
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
    /// The database is missing, and a file that belongs to it is not.
    #[error("{} is missing, but {} is there, which may have its newest data: put the database back, or move that file away to begin with an empty one",
        database.display(), remains.display())]
    DatabaseMissing {
        /// Missing database.
        database: PathBuf,
        /// File that belongs to it.
        remains: PathBuf,
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
    /// The database has tables of a newer program.
    #[error(
        "the data is of a newer version of copydesk (format {found}; this one knows {known}): use that version, or restore a backup that was made before the upgrade"
    )]
    Newer {
        /// Migration in the database that this program does not know.
        found: i64,
        /// Newest migration this program knows.
        known: i64,
    },
    /// The migrations of the database were edited, or failed.
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

    /// Returns the error of a database in use by the server whose session has this name.
    pub(super) fn in_use(url: &DatabaseUrl, session: Option<&str>) -> Self {
        let server =
            session.map(|name| name.trim_start_matches("copydesk (").trim_end_matches(')'));
        let server = server.map(str::to_owned);
        Self::InUse { place: url.to_string(), server }
    }

    pub(super) fn is_lost_connection(error: &sqlx::Error) -> bool {
        match error {
            sqlx::Error::Database(error) => {
                // The server ends the session, or it is about to start or to stop.
                error.code().is_some_and(|code| code.starts_with("57P0") || code.starts_with("08"))
            }
            sqlx::Error::Io(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolTimedOut => true,
            _ => false,
        }
    }

    /// Returns `true` if the connection was lost before the transaction was to be committed.
    pub(super) fn is_loss(&self) -> bool {
        matches!(self, Self::Database(error) | Self::Write(error) if Self::is_lost_connection(error))
    }

    /// Returns this error for another batch, if it is about the database and not about a batch.
    pub(super) fn of_all_batches(&self) -> Option<Self> {
        match self {
            Self::InUse { place, server } => {
                Some(Self::InUse { place: place.clone(), server: server.clone() })
            }
            Self::Replaced => Some(Self::Replaced),
            Self::Unreachable { database, reason } => {
                Some(Self::Unreachable { database: database.clone(), reason: reason.clone() })
            }
            Self::Unsuitable { database, reason } => {
                Some(Self::Unsuitable { database: database.clone(), reason: reason.clone() })
            }
            Self::OutcomeUnknown { reason } => {
                Some(Self::OutcomeUnknown { reason: reason.clone() })
            }
            // Another writer has the lock of all writers.
            Self::Database(sqlx::Error::Database(error))
            | Self::Write(sqlx::Error::Database(error))
                if error.code().as_deref() == Some(LOCK_NOT_AVAILABLE) =>
            {
                Some(Self::Write(sqlx::Error::AnyDriverError(error.to_string().into())))
            }
            _ => None,
        }
    }

    /// Returns a message for people who need not know the database.
    pub fn in_plain_words(&self) -> &'static str {
        match self {
            Self::Corrupt { .. } | Self::Database(_) => {
                "what is stored could not be read; nothing was changed"
            }
            Self::OutcomeUnknown { .. } => {
                "the connection to the database was lost; it is unknown if the change was stored"
            }
            _ => "the change could not be stored; nothing was changed",
        }
    }

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
