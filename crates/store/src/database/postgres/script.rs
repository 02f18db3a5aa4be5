//! Statements that are sent one after the other, each prepared once for a connection.

use sqlx::{AssertSqlSafe, Executor as _};
use sqlx_postgres::PgArguments;

use super::session::{FoundState, PostgresSession};
use crate::database::columns::{ColumnValue, values};
use crate::database::statement_batch::{BatchFrame, BatchResult, RowExpectation};
use copydesk_ids::{DocumentId, Version};

/// Statements after which a script is sent, so that it does not hold all of a large batch.
const LARGE: usize = 64;

pub(crate) struct PostgresScript<'a> {
    session: &'a mut PostgresSession,
    steps: Vec<ScriptStep<'a>>,
    unwritable: Option<sqlx::Error>,
}

enum ScriptStep<'a> {
    Begin,
    Run { sql: String, values: PgArguments, must: Option<(u64, RowExpectation<'a>)> },
}

impl<'a> PostgresScript<'a> {
    pub fn new(session: &'a mut PostgresSession) -> Self {
        Self { session, steps: Vec::new(), unwritable: None }
    }

    pub fn begin(&mut self, frame: BatchFrame) {
        match frame {
            BatchFrame::Transaction => self.steps.push(ScriptStep::Begin),
            BatchFrame::Savepoint => self.run("SAVEPOINT batch", &[]),
        }
    }

    /// Sends what was not sent yet and ends the frame.
    pub async fn end(&mut self, frame: BatchFrame) -> BatchResult<()> {
        match frame {
            BatchFrame::Transaction => {
                self.send().await?;
                Ok(self.session.commit().await?)
            }
            BatchFrame::Savepoint => {
                self.run("RELEASE SAVEPOINT batch", &[]);
                self.send().await
            }
        }
    }

    /// Sends what was not sent yet if this is a node; returns the state that was found.
    pub async fn found(&mut self) -> BatchResult<Option<FoundState>> {
        if !self.session.is_node() {
            return Ok(None);
        }
        self.send().await?;
        Ok(self.session.found())
    }

    pub fn run(&mut self, statement: &str, all: &[&dyn ColumnValue]) {
        match values(all) {
            Ok(values) => {
                let sql = statement.to_owned();
                self.steps.push(ScriptStep::Run { sql, values, must: None });
            }
            Err(error) => self.unwritable = Some(error),
        }
    }

    pub fn must_change(&mut self, rows: u64, expectation: RowExpectation<'a>) {
        if let Some(ScriptStep::Run { must, .. }) = self.steps.last_mut() {
            *must = Some((rows, expectation));
        }
    }

    pub fn is_large(&self) -> bool {
        self.steps.len() >= LARGE
    }

    pub async fn send(&mut self) -> BatchResult<()> {
        if let Some(error) = self.unwritable.take() {
            return Err(error.into());
        }
        for step in std::mem::take(&mut self.steps) {
            match step {
                ScriptStep::Begin => self.session.begin().await?,
                ScriptStep::Run { sql, values, must } => self.step(sql, values, must).await?,
            }
        }
        Ok(())
    }

    async fn step(
        &mut self,
        sql: String,
        values: PgArguments,
        must: Option<(u64, RowExpectation<'a>)>,
    ) -> BatchResult<()> {
        let query = sqlx::query_with(AssertSqlSafe(sql), values);
        let done = self.session.connection().execute(query).await;
        match (done, must) {
            (Ok(done), Some((rows, must))) if done.rows_affected() < rows => {
                let found = match must.document() {
                    Some(document) => self.version(document).await?,
                    None => None,
                };
                Err(must.refused(found))
            }
            (Ok(_), _) => Ok(()),
            (Err(error), Some((_, must @ RowExpectation::Follow))) if is_taken(&error) => {
                Err(must.refused(None))
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    async fn version(&mut self, document: &DocumentId) -> sqlx::Result<Option<Version>> {
        let query = sqlx::query_scalar("SELECT version FROM documents WHERE id = $1");
        query.bind(document.as_str()).fetch_optional(self.session.connection()).await
    }
}

fn is_taken(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}
