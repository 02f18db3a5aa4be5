//! Statements of a transaction, and the conditions under which the next ones may run.

use copydesk_ids::{ClientId, DocumentId, Version};

use super::columns::ColumnValue;
use super::postgres::script::PostgresScript;
use super::postgres::session::FoundState;
use super::sqlite::script::SqliteScript;
use crate::StoreError;

/// Statements inside a transaction and their expectations, sent together as far as possible.
pub(crate) enum StatementBatch<'a> {
    Sqlite(SqliteScript<'a>),
    Postgres(PostgresScript<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BatchFrame {
    /// A transaction of its own, which no other writer runs beside.
    Transaction,
    /// A savepoint of the open transaction.
    Savepoint,
}

pub(crate) enum RowExpectation<'a> {
    /// The row must exist.
    BeThere { kind: &'static str, id: &'a str },
    /// The row must not have existed before.
    BeNew { kind: &'static str, id: &'a str },
    /// The editor instance must not belong to another person.
    BeOwn { document: &'a DocumentId, client: &'a ClientId },
    /// The document must be at this version.
    BeAt { document: &'a DocumentId, version: Version },
    /// Pending updates must follow what the log has.
    FollowLog,
    /// The audit log must end where the writer expects it to.
    Follow,
}

/// Reason why a transaction must not be committed.
#[derive(Debug)]
pub(crate) enum BatchError {
    /// Another process has written to the audit log: the transaction is repeated with its new end.
    Outdated,
    /// The batch cannot be written.
    Error(StoreError),
}

/// Result of statements of a transaction.
pub(crate) type BatchResult<T> = Result<T, BatchError>;

impl From<sqlx::Error> for BatchError {
    fn from(error: sqlx::Error) -> Self {
        Self::Error(error.into())
    }
}

impl From<StoreError> for BatchError {
    fn from(error: StoreError) -> Self {
        Self::Error(error)
    }
}

impl From<BatchError> for StoreError {
    fn from(refused: BatchError) -> Self {
        match refused {
            BatchError::Error(error) => error,
            // A transaction holds the write lock from its first statement on.
            BatchError::Outdated => {
                Self::corrupt("the audit log", &"it changed while it was written")
            }
        }
    }
}

impl<'a> StatementBatch<'a> {
    /// Begins the frame with the next statements that are sent.
    pub fn begin(&mut self, frame: BatchFrame) {
        match self {
            Self::Sqlite(script) => script.begin(frame),
            Self::Postgres(script) => script.begin(frame),
        }
    }

    /// Begins the transaction now if several servers write; returns the state of the database that
    /// it has found, which the writer cannot know otherwise.
    pub async fn found(&mut self) -> BatchResult<Option<FoundState>> {
        match self {
            Self::Sqlite(_) => Ok(None),
            Self::Postgres(script) => script.found().await,
        }
    }

    /// Sends what was not sent yet and ends the frame, so that its writes take effect.
    pub async fn end(&mut self, frame: BatchFrame) -> BatchResult<()> {
        match self {
            Self::Sqlite(script) => script.end(frame).await,
            Self::Postgres(script) => script.end(frame).await,
        }
    }

    pub fn run(&mut self, statement: &str, values: &[&dyn ColumnValue]) {
        match self {
            Self::Sqlite(script) => script.run(statement, values),
            Self::Postgres(script) => script.run(statement, values),
        }
    }

    /// Requires that the last statement touches a row; if it does not, nothing after it is run.
    pub fn must(&mut self, must: RowExpectation<'a>) {
        self.must_change(1, must);
    }

    /// Requires that the last statement touches at least so many rows, as [`Self::must`] does.
    pub fn must_change(&mut self, rows: usize, must: RowExpectation<'a>) {
        match self {
            Self::Sqlite(script) => script.must_change(rows, must),
            Self::Postgres(script) => script.must_change(rows as u64, must),
        }
    }

    /// Marks the last statement as a line of the audit log, which must be the next one.
    pub fn must_follow(&mut self) {
        match self {
            Self::Sqlite(script) => script.must_follow(),
            Self::Postgres(script) => script.must_change(1, RowExpectation::Follow),
        }
    }

    /// Returns `true` if the statements should be sent before more are added.
    pub fn is_large(&self) -> bool {
        match self {
            Self::Sqlite(script) => script.is_large(),
            Self::Postgres(script) => script.is_large(),
        }
    }

    /// Sends the statements added so far. After an error the transaction must be rolled back.
    ///
    /// # Errors
    /// [`BatchError::Outdated`] if another process has written to the audit log meanwhile,
    /// [`BatchError::Error`] if a statement fails or an expected row is missing or taken.
    pub async fn send(&mut self) -> BatchResult<()> {
        match self {
            Self::Sqlite(script) => script.send().await,
            Self::Postgres(script) => script.send().await,
        }
    }
}

impl RowExpectation<'_> {
    pub(super) fn document(&self) -> Option<&DocumentId> {
        match self {
            Self::BeAt { document, .. } => Some(document),
            _ => None,
        }
    }

    /// Returns the error for an expectation that was not met by a document at version `found`.
    pub(super) fn refused(self, found: Option<Version>) -> BatchError {
        BatchError::Error(match self {
            Self::BeThere { kind, id } => StoreError::missing(kind, id),
            Self::BeNew { kind, id } => StoreError::Exists { kind, id: id.to_owned() },
            Self::BeOwn { document, client } => {
                StoreError::ClientTaken { document: document.clone(), client: client.clone() }
            }
            Self::BeAt { document, version } => match found {
                Some(found) => {
                    StoreError::Conflict { document: document.clone(), expected: version, found }
                }
                None => StoreError::missing("document", document),
            },
            Self::FollowLog => {
                StoreError::corrupt("the pending updates", "they do not follow the log")
            }
            Self::Follow => return BatchError::Outdated,
        })
    }
}
