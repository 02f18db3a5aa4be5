//! Statements that are sent to the database's thread as one script. Sent one by one, each would
//! wake that thread and this one again, which takes longer than most of them.

use futures_util::TryStreamExt as _;
use sqlx::error::BoxDynError;
use sqlx::{Arguments as _, AssertSqlSafe, Either, Executor as _};
use sqlx_sqlite::{SqliteArguments, SqliteConnection};

use crate::database::columns::{ColumnValue, StatementValues as _};
use crate::database::statement_batch::{BatchFrame, BatchResult, RowExpectation};
use copydesk_ids::{DocumentId, Version};

/// Bytes of statements after which a script is sent; SQLite takes a million. The last long script
/// stays prepared until the next one.
const LARGE: usize = 32 * 1024;

/// Statements of the longest script that stays prepared. A longer one holds the batches of several
/// callers, and the same combination hardly ever comes again.
const KEPT_STATEMENTS: usize = 16;

pub(crate) struct SqliteScript<'a> {
    db: &'a mut SqliteConnection,
    sql: String,
    values: SqliteArguments,
    statements: usize,
    expectations: Vec<(usize, RowExpectation<'a>)>,
    unwritable: Option<BoxDynError>,
}

impl<'a> SqliteScript<'a> {
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

    pub fn begin(&mut self, frame: BatchFrame) {
        let begin = match frame {
            // Immediate: take the write lock now, so that what is read inside cannot be outdated.
            BatchFrame::Transaction => "BEGIN IMMEDIATE",
            BatchFrame::Savepoint => "SAVEPOINT batch",
        };
        self.run(begin, &[]);
    }

    /// Sends what was not sent yet and ends the frame.
    pub async fn end(&mut self, frame: BatchFrame) -> BatchResult<()> {
        let end = match frame {
            BatchFrame::Transaction => "COMMIT",
            BatchFrame::Savepoint => "RELEASE SAVEPOINT batch",
        };
        self.run(end, &[]);
        self.send().await
    }

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
        for value in values {
            if let Err(error) = self.values.push(*value) {
                self.unwritable = Some(error);
            }
        }
    }

    /// Requires that the last statement touches so many rows, or fails before its `COMMIT`.
    pub fn must_change(&mut self, rows: usize, must: RowExpectation<'a>) {
        self.expectations.push((self.statements, must));
        // No JSON: SQLite has no other way to fail on a condition outside of a trigger. The
        // statement gives no row, because a row would wake the task that waits for the script.
        let holds = "SELECT 1 WHERE json(iif(changes() >= $1, '0', 'it does not hold')) IS NULL";
        self.run(holds, &[&(rows as u64)]);
    }

    /// Marks the last statement as a line of the audit log, which must be the next one.
    pub fn must_follow(&mut self) {
        self.expectations.push((self.statements - 1, RowExpectation::Follow));
    }

    pub fn is_large(&self) -> bool {
        self.sql.len() >= LARGE
    }

    pub async fn send(&mut self) -> BatchResult<()> {
        if self.sql.is_empty() {
            return Ok(());
        }
        let sql = std::mem::take(&mut self.sql);
        let values = std::mem::take(&mut self.values);
        let expectations = std::mem::take(&mut self.expectations);
        let is_kept = std::mem::take(&mut self.statements) <= KEPT_STATEMENTS;
        if let Some(error) = self.unwritable.take() {
            return Err(sqlx::Error::Encode(error).into());
        }
        let mut done = 0;
        let query = sqlx::query_with(AssertSqlSafe(sql), values).persistent(is_kept);
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
            Some((_, must)) => {
                let found = match must.document() {
                    Some(document) => self.version(document).await?,
                    None => None,
                };
                Err(must.refused(found))
            }
            None => Err(error.into()),
        }
    }

    async fn version(&mut self, document: &DocumentId) -> sqlx::Result<Option<Version>> {
        let query = sqlx::query_scalar("SELECT version FROM documents WHERE id = $1");
        query.bind(document.as_str()).fetch_optional(&mut *self.db).await
    }
}

#[cfg(test)]
mod tests {
    use sqlx::Connection as _;

    use super::*;
    use crate::database::sqlite::connect_memory;

    #[tokio::test]
    async fn only_short_scripts_stay_prepared() {
        let pool = connect_memory().await.unwrap();
        let mut db = pool.acquire().await.unwrap();
        let before = db.cached_statements_size();
        for length in [1, KEPT_STATEMENTS, KEPT_STATEMENTS + 1, 300] {
            let mut script = SqliteScript::new(&mut db);
            for number in 0..length as u64 {
                script.run("SELECT $1", &[&number]);
            }
            script.send().await.unwrap();
        }
        assert_eq!(db.cached_statements_size() - before, 2);
    }
}
