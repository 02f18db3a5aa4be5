//! Statements that are sent to the database's thread together, with the conditions under which the
//! next ones may run. Sent one by one, each would wake that thread and this one again, which takes
//! longer than most of them.

use futures_util::TryStreamExt as _;
use sqlx::error::BoxDynError;
use sqlx::{Arguments as _, AssertSqlSafe, Either, Executor as _};
use sqlx_sqlite::{SqliteArguments, SqliteConnection};

use crate::ids::{ClientId, DocumentId, Version};

use crate::store::StoreError;
use crate::store::sqlite::rows::ColumnValue;

/// Bytes of statements after which a script is sent; SQLite takes a million.
const LARGE: usize = 128 * 1024;

/// Statements inside a transaction, and the expectations that they must meet.
pub(crate) struct StatementBatch<'a> {
    db: &'a mut SqliteConnection,
    sql: String,
    values: SqliteArguments,
    statements: usize,
    expectations: Vec<(usize, RowExpectation<'a>)>,
    unwritable: Option<BoxDynError>,
}

/// Reason why a statement must have touched a row.
pub(crate) enum RowExpectation<'a> {
    /// The row must exist.
    BeThere { kind: &'static str, id: &'a str },
    /// The row must not have existed before.
    BeNew { kind: &'static str, id: &'a str },
    /// The editor instance must not belong to somebody else.
    BeOwn { document: &'a DocumentId, client: &'a ClientId },
    /// The document must be at this version.
    BeAt { document: &'a DocumentId, version: Version },
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

impl From<sqlx::Error> for BatchError {
    fn from(error: sqlx::Error) -> Self {
        Self::Error(error.into())
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
    /// Returns an empty script on a connection.
    pub fn new(db: &'a mut SqliteConnection) -> Self {
        Self {
            db,
            sql: String::new(),
            values: SqliteArguments::default(),
            statements: 0,
            expectations: Vec::new(),
            unwritable: None,
        }
    }

    /// Adds a statement with placeholders `$1`, `$2`, …, and their values.
    pub fn run(&mut self, statement: &str, values: &[&dyn ColumnValue]) {
        let bound = self.values.len();
        self.statements += 1;
        let mut pieces = statement.split('$');
        self.sql.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let digits = piece.find(|char: char| !char.is_ascii_digit()).unwrap_or(piece.len());
            let number: usize = piece[..digits].parse().unwrap_or_default();
            // In a script the numbers continue from statement to statement.
            self.sql.push('$');
            self.sql.push_str(&(bound + number).to_string());
            self.sql.push_str(&piece[digits..]);
        }
        self.sql.push(';');
        self.bind(values);
    }

    /// Binds further values of the last statement.
    pub fn bind(&mut self, values: &[&dyn ColumnValue]) {
        for value in values {
            if let Err(error) = value.add_to(&mut self.values) {
                self.unwritable = Some(error);
            }
        }
    }

    /// Requires that the last statement touches a row; if it does not, the script ends there with
    /// an error, before its `COMMIT`.
    pub fn must(&mut self, must: RowExpectation<'a>) {
        self.must_change(1, must);
    }

    /// Requires that the last statement touches at least so many rows, as [`Self::must`] does.
    pub fn must_change(&mut self, rows: usize, must: RowExpectation<'a>) {
        self.expectations.push((self.statements, must));
        // No JSON: SQLite has no other way to fail on a condition outside of a trigger. The
        // statement gives no row, because a row would wake the task that waits for the script.
        let holds = "SELECT 1 WHERE json(iif(changes() >= $1, '0', 'it does not hold')) IS NULL";
        self.run(holds, &[&(rows as u64)]);
    }

    /// Marks the last statement as a line of the audit log, whose key another process must not have
    /// taken.
    pub fn must_follow(&mut self) {
        self.expectations.push((self.statements - 1, RowExpectation::Follow));
    }

    /// Returns `true` if the script should be sent before more is added.
    pub fn is_large(&self) -> bool {
        self.sql.len() >= LARGE
    }

    /// Sends the statements added so far. After an error the transaction must be rolled back.
    ///
    /// # Errors
    /// [`BatchError::Outdated`] if another process has written to the audit log meanwhile,
    /// [`BatchError::Error`] if a statement fails or an expected row is missing or taken.
    pub async fn send(&mut self) -> Result<(), BatchError> {
        if self.sql.is_empty() {
            return Ok(());
        }
        let sql = std::mem::take(&mut self.sql);
        let values = std::mem::take(&mut self.values);
        let expectations = std::mem::take(&mut self.expectations);
        self.statements = 0;
        if let Some(error) = self.unwritable.take() {
            return Err(sqlx::Error::Encode(error).into());
        }
        let mut done = 0;
        let query = sqlx::query_with(AssertSqlSafe(sql), values);
        let mut results = self.db.fetch_many(query);
        let ended = loop {
            match results.try_next().await {
                Ok(Some(Either::Left(_))) => done += 1,
                Ok(Some(Either::Right(_))) => {}
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        drop(results);
        let Err(error) = ended else { return Ok(()) };
        let is_taken =
            error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation);
        match expectations.into_iter().find(|(statement, _)| *statement == done) {
            // Writing a line can fail for other reasons than a taken key.
            Some((_, RowExpectation::Follow)) if !is_taken => Err(error.into()),
            Some((_, must)) => Err(must.refused(self.db).await),
            None => Err(error.into()),
        }
    }
}

impl RowExpectation<'_> {
    async fn refused(self, db: &mut SqliteConnection) -> BatchError {
        let error = match self {
            Self::BeThere { kind, id } => StoreError::missing(kind, id),
            Self::BeNew { kind, id } => StoreError::Exists { kind, id: id.to_owned() },
            Self::BeOwn { document, client } => {
                StoreError::ClientTaken { document: document.clone(), client: client.clone() }
            }
            Self::BeAt { document, version } => match conflict(db, document, version).await {
                Ok(error) | Err(error) => error,
            },
            Self::Follow => return BatchError::Outdated,
        };
        BatchError::Error(error)
    }
}

/// Returns the error for a document that is not at the expected version.
async fn conflict(
    db: &mut SqliteConnection,
    document: &DocumentId,
    expected: Version,
) -> Result<StoreError, StoreError> {
    let found: Option<Version> = sqlx::query_scalar("SELECT version FROM documents WHERE id = $1")
        .bind(document.as_str())
        .fetch_optional(db)
        .await?;
    Ok(match found {
        Some(found) => StoreError::Conflict { document: document.clone(), expected, found },
        None => StoreError::missing("document", document),
    })
}
