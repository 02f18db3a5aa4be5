//! Reading: connections that cannot write, and views of one moment.

use async_recursion::async_recursion as boxed;
use sqlx::{Decode, Row as _, SqlSafeStr, SqlStr, Transaction, Type};
use sqlx_postgres::{PgArguments, PgPool, PgRow, Postgres};
use sqlx_sqlite::{Sqlite, SqliteArguments, SqlitePool, SqliteRow};

use super::columns::{ColumnValue, RowRecord, values};
use super::read_barrier::{ReadBarrier, ReadPath};
use super::{postgres, sqlite};
use crate::StoreResult;

#[derive(Clone, Debug)]
pub(crate) struct ReadPool {
    database: ReadDatabase,
    pending: Option<PendingReaders>,
}

/// Connections of the one server of a SQLite database that read pending updates with the log.
#[derive(Clone, Debug)]
struct PendingReaders {
    barrier: ReadBarrier,
    database: ReadDatabase,
}

#[derive(Clone, Debug)]
pub(crate) enum ReadDatabase {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// View of the database at one moment, which ends when it is dropped.
#[derive(Debug)]
pub(crate) enum ReadSnapshot {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

pub(crate) enum StoreRow {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// Type that can be read from a column of either database.
pub(crate) trait ColumnRead:
    for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>
{
}

impl<T> ColumnRead for T where
    T: for<'r> Decode<'r, Sqlite> + Type<Sqlite> + for<'r> Decode<'r, Postgres> + Type<Postgres>
{
}

#[derive(Clone, Copy, Debug)]
enum RowsWanted {
    All,
    First,
}

macro_rules! fetch {
    ($on:expr, $sql:ident, $all:ident, $wanted:ident, |$db:ident| $connection:expr) => {
        match $on {
            Self::Sqlite($db) => {
                let query = sqlx::query_with($sql, values::<SqliteArguments>($all)?);
                let rows = match $wanted {
                    RowsWanted::All => query.fetch_all($connection).await?,
                    RowsWanted::First => Vec::from_iter(query.fetch_optional($connection).await?),
                };
                Ok(rows.into_iter().map(StoreRow::Sqlite).collect())
            }
            Self::Postgres($db) => {
                let query = sqlx::query_with($sql, values::<PgArguments>($all)?);
                let rows = postgres::answered(async {
                    match $wanted {
                        RowsWanted::All => query.fetch_all($connection).await,
                        RowsWanted::First => {
                            Ok(Vec::from_iter(query.fetch_optional($connection).await?))
                        }
                    }
                });
                Ok(rows.await?.into_iter().map(StoreRow::Postgres).collect())
            }
        }
    };
}

impl From<SqlitePool> for ReadPool {
    fn from(pool: SqlitePool) -> Self {
        Self { database: ReadDatabase::Sqlite(pool), pending: None }
    }
}

impl From<PgPool> for ReadPool {
    fn from(pool: PgPool) -> Self {
        Self { database: ReadDatabase::Postgres(pool), pending: None }
    }
}

impl ReadPool {
    /// Returns the connections behind a barrier; `of_pending`: for an unwritable log.
    pub(crate) fn behind(self, barrier: ReadBarrier, of_pending: SqlitePool) -> Self {
        let database = ReadDatabase::Sqlite(of_pending);
        Self { pending: Some(PendingReaders { barrier, database }), ..self }
    }

    pub(crate) fn database(&self) -> &ReadDatabase {
        &self.database
    }

    pub(crate) async fn rows(
        &self,
        sql: impl SqlSafeStr,
        all: &[&dyn ColumnValue],
    ) -> StoreResult<Vec<StoreRow>> {
        self.fetch(sql.into_sql_str(), all, RowsWanted::All).await
    }

    pub(crate) async fn one<T: RowRecord>(
        &self,
        sql: impl SqlSafeStr,
        all: &[&dyn ColumnValue],
    ) -> StoreResult<Option<T>> {
        let row = self.fetch(sql.into_sql_str(), all, RowsWanted::First).await?;
        Ok(records(&row)?.pop())
    }

    pub(crate) async fn all<T: RowRecord>(
        &self,
        sql: impl SqlSafeStr,
        all: &[&dyn ColumnValue],
    ) -> StoreResult<Vec<T>> {
        records(&self.rows(sql, all).await?)
    }

    #[boxed]
    async fn fetch(
        &self,
        sql: SqlStr,
        all: &[&dyn ColumnValue],
        wanted: RowsWanted,
    ) -> StoreResult<Vec<StoreRow>> {
        // Only these tables get what is typed, and all that reads them names one of them.
        let is_typed =
            ["documents", "updates", "update_log"].iter().any(|it| sql.as_str().contains(it));
        let database = if is_typed { self.current().await? } else { &self.database };
        database.fetch(sql, all, wanted).await
    }

    /// Returns the connections that read everything that was acknowledged.
    async fn current(&self) -> StoreResult<&ReadDatabase> {
        let Some(pending) = &self.pending else { return Ok(&self.database) };
        Ok(match pending.barrier.pass().await? {
            ReadPath::Log => &self.database,
            ReadPath::LogAndPending => &pending.database,
        })
    }

    #[boxed]
    pub(crate) async fn snapshot(&self) -> StoreResult<ReadSnapshot> {
        Ok(match self.current().await? {
            ReadDatabase::Sqlite(pool) => ReadSnapshot::Sqlite(pool.begin().await?),
            ReadDatabase::Postgres(pool) => {
                let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
                ReadSnapshot::Postgres(postgres::answered(pool.begin_with(begin)).await?)
            }
        })
    }

    /// Closes the connections once they are not used any more; later queries fail.
    #[boxed]
    pub(crate) async fn close(&self) {
        self.database.close().await;
        if let Some(pending) = &self.pending {
            pending.database.close().await;
        }
    }
}

impl ReadDatabase {
    async fn close(&self) {
        match self {
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }

    async fn fetch(
        &self,
        sql: SqlStr,
        all: &[&dyn ColumnValue],
        wanted: RowsWanted,
    ) -> StoreResult<Vec<StoreRow>> {
        fetch!(self, sql, all, wanted, |pool| pool)
    }
}

impl ReadSnapshot {
    pub(crate) async fn rows(
        &mut self,
        sql: impl SqlSafeStr,
        all: &[&dyn ColumnValue],
    ) -> StoreResult<Vec<StoreRow>> {
        self.fetch(sql.into_sql_str(), all, RowsWanted::All).await
    }

    pub(crate) async fn all<T: RowRecord>(
        &mut self,
        sql: impl SqlSafeStr,
        all: &[&dyn ColumnValue],
    ) -> StoreResult<Vec<T>> {
        records(&self.rows(sql, all).await?)
    }

    pub(crate) async fn one<T: RowRecord>(
        &mut self,
        sql: impl SqlSafeStr,
        all: &[&dyn ColumnValue],
    ) -> StoreResult<Option<T>> {
        let row = self.fetch(sql.into_sql_str(), all, RowsWanted::First).await?;
        Ok(records(&row)?.pop())
    }

    #[boxed]
    async fn fetch(
        &mut self,
        sql: SqlStr,
        all: &[&dyn ColumnValue],
        wanted: RowsWanted,
    ) -> StoreResult<Vec<StoreRow>> {
        fetch!(self, sql, all, wanted, |moment| &mut **moment)
    }
}

impl ReadSnapshot {
    #[boxed]
    pub(crate) async fn integrity(&mut self) -> StoreResult<Vec<String>> {
        match self {
            Self::Sqlite(moment) => sqlite::integrity(moment).await,
            Self::Postgres(moment) => postgres::dangling(moment).await,
        }
    }

    /// Returns what no migration has made: everything of SQLite; of PostgreSQL these triggers.
    #[boxed]
    pub(crate) async fn foreign_schema(&mut self, triggers: &[&str]) -> StoreResult<Vec<String>> {
        match self {
            Self::Sqlite(moment) => sqlite::schema::foreign(moment).await,
            Self::Postgres(moment) => {
                let mut found = postgres::triggers(moment).await?;
                found.retain(|name| !triggers.contains(&name.as_str()));
                Ok(found
                    .iter()
                    .map(|name| format!("the trigger {name} is not copydesk's"))
                    .collect())
            }
        }
    }

    #[boxed]
    pub(crate) async fn triggers(&mut self) -> StoreResult<Vec<String>> {
        match self {
            Self::Sqlite(moment) => sqlite::triggers(moment).await,
            Self::Postgres(moment) => postgres::triggers(moment).await,
        }
    }
}

impl StoreRow {
    pub(crate) fn record<T: RowRecord>(&self) -> sqlx::Result<T> {
        match self {
            Self::Sqlite(row) => T::from_row(row),
            Self::Postgres(row) => T::from_row(row),
        }
    }

    pub(crate) fn column<T: ColumnRead>(&self, name: &str) -> sqlx::Result<T> {
        match self {
            Self::Sqlite(row) => row.try_get(name),
            Self::Postgres(row) => row.try_get(name),
        }
    }
}

fn records<T: RowRecord>(rows: &[StoreRow]) -> StoreResult<Vec<T>> {
    Ok(rows.iter().map(StoreRow::record).collect::<sqlx::Result<_>>()?)
}
