//! Connection that writes.

use sqlx::pool::PoolConnection;
use sqlx_postgres::PgArguments;
use sqlx_sqlite::{Sqlite, SqliteArguments};

use super::columns::{ColumnValue, RowRecord, values};
use super::postgres::script::PostgresScript;
use super::postgres::session::PostgresSession;
use super::sqlite::script::SqliteScript;
use super::statement_batch::StatementBatch;
use crate::StoreResult;

pub(crate) enum WriterConnection {
    Sqlite(PoolConnection<Sqlite>),
    Postgres(PostgresSession),
}

impl WriterConnection {
    pub(crate) fn script(&mut self) -> StatementBatch<'_> {
        match self {
            Self::Sqlite(db) => StatementBatch::Sqlite(SqliteScript::new(db)),
            Self::Postgres(session) => StatementBatch::Postgres(PostgresScript::new(session)),
        }
    }

    pub(crate) async fn one<T: RowRecord>(
        &mut self,
        sql: &'static str,
        all: &[&dyn ColumnValue],
    ) -> StoreResult<Option<T>> {
        Ok(match self {
            Self::Sqlite(db) => {
                let query = sqlx::query_with(sql, values::<SqliteArguments>(all)?);
                query.fetch_optional(&mut **db).await?.map(|row| T::from_row(&row)).transpose()?
            }
            Self::Postgres(session) => {
                let query = sqlx::query_with(sql, values::<PgArguments>(all)?);
                let row = query.fetch_optional(session.connection()).await?;
                row.map(|row| T::from_row(&row)).transpose()?
            }
        })
    }

    pub(crate) async fn run(&mut self, sql: &'static str) -> StoreResult<()> {
        match self {
            Self::Sqlite(db) => {
                sqlx::raw_sql(sql).execute(&mut **db).await?;
            }
            Self::Postgres(session) => {
                sqlx::raw_sql(sql).execute(session.connection()).await?;
            }
        }
        Ok(())
    }

    /// Rolls the open transaction back. Transactions are written out rather than left to sqlx: some
    /// errors (no space left) make SQLite roll back by itself, and sqlx's count of open
    /// transactions is wrong from then on.
    pub(crate) async fn roll_back(&mut self) {
        // Fails when SQLite has done it already, or when the connection was lost.
        self.run("ROLLBACK").await.ok();
    }

    pub(crate) fn transactions(&self) -> Option<u64> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(session) => session.transactions(),
        }
    }
}

impl std::fmt::Debug for WriterConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriterConnection").finish_non_exhaustive()
    }
}
