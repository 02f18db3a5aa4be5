//! One side of a transfer: a connection to either database, within one transaction.

use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, Connection as _};
use sqlx_postgres::{PgArguments, PgConnection};
use sqlx_sqlite::{SqliteArguments, SqliteConnection};

use super::values::{CarriedValue, FittedValue};
use crate::database::columns::{ColumnType, ColumnValue, values};
use crate::{StoreError, StoreResult};

pub(crate) type TransferColumn = (String, ColumnType);

#[derive(Debug)]
pub(crate) enum TransferSide {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl TransferSide {
    pub(crate) async fn begin_reading(&mut self) -> StoreResult<()> {
        match self {
            Self::Sqlite(_) => self.run("BEGIN").await,
            Self::Postgres(_) => {
                // However long the other side takes.
                self.run("SET idle_in_transaction_session_timeout = 0").await?;
                self.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
            }
        }
    }

    pub(crate) async fn begin_writing(&mut self) -> StoreResult<()> {
        if matches!(self, Self::Postgres(_)) {
            self.run("SET idle_in_transaction_session_timeout = 0").await?;
        }
        self.run("BEGIN").await
    }

    pub(crate) async fn run(&mut self, sql: &'static str) -> StoreResult<()> {
        match self {
            Self::Sqlite(db) => sqlx::raw_sql(sql).execute(db).await.map(drop)?,
            Self::Postgres(db) => sqlx::raw_sql(sql).execute(db).await.map(drop)?,
        }
        Ok(())
    }

    pub(crate) async fn close(self) {
        // Nothing depends on it.
        match self {
            Self::Sqlite(db) => drop(db.close().await),
            Self::Postgres(db) => drop(db.close().await),
        }
    }

    /// Returns the names of the tables and views, those of the database itself apart.
    pub(crate) async fn tables(&mut self) -> StoreResult<Vec<String>> {
        match self {
            Self::Sqlite(db) => {
                let sql = "SELECT name FROM sqlite_master
                     WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite!_%' ESCAPE '!'";
                Ok(sqlx::query_scalar(sql).fetch_all(db).await?)
            }
            Self::Postgres(db) => {
                let sql = "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm')
                     AND relnamespace = current_schema()::regnamespace";
                Ok(sqlx::query_scalar(sql).fetch_all(db).await?)
            }
        }
    }

    /// Returns the columns of a table, ordered by their names; none if there is no such table.
    pub(crate) async fn columns(&mut self, table: &str) -> StoreResult<Vec<TransferColumn>> {
        let found: Vec<(String, String)> = match self {
            Self::Sqlite(db) => {
                let sql = "SELECT name, type FROM pragma_table_info($1) ORDER BY name";
                sqlx::query_as(sql).bind(table).fetch_all(db).await?
            }
            Self::Postgres(db) => {
                let sql = "SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute
                     WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
                     ORDER BY attname::text COLLATE \"C\"";
                sqlx::query_as(sql).bind(table).fetch_all(db).await?
            }
        };
        let column = |(name, kind): (String, String)| {
            let column = match kind.to_ascii_lowercase().as_str() {
                "text" => ColumnType::Text,
                "bytea" => ColumnType::Bytes,
                "bigint" | "integer" => ColumnType::Integer,
                "boolean" => ColumnType::Boolean,
                other => {
                    let reason = format!("it has the unknown type {other}");
                    return Err(StoreError::corrupt(format!("{table}.{name}"), &reason));
                }
            };
            Ok((name, column))
        };
        found.into_iter().map(column).collect()
    }

    pub(crate) async fn each_row(
        &mut self,
        table: &str,
        columns: &[TransferColumn],
        mut take: impl AsyncFnMut(Vec<CarriedValue>) -> StoreResult<()>,
    ) -> StoreResult<()> {
        let sql = AssertSqlSafe(format!("SELECT {} FROM {table}", names(columns)));
        match self {
            Self::Sqlite(db) => {
                let mut rows = sqlx::query(sql).fetch(db);
                while let Some(row) = rows.try_next().await? {
                    let read = (0..columns.len()).map(|at| CarriedValue::of_sqlite(&row, at));
                    take(read.collect::<StoreResult<_>>()?).await?;
                }
            }
            Self::Postgres(db) => {
                let mut rows = sqlx::query(sql).fetch(db);
                while let Some(row) = rows.try_next().await? {
                    let read = (0..columns.len()).map(|at| CarriedValue::of_postgres(&row, at));
                    take(read.collect::<StoreResult<_>>()?).await?;
                }
            }
        }
        Ok(())
    }

    pub(crate) async fn insert(
        &mut self,
        table: &str,
        columns: &[TransferColumn],
        rows: &[Vec<CarriedValue>],
    ) -> StoreResult<()> {
        if rows.is_empty() {
            return Ok(());
        }
        // Numbers that PostgreSQL would give by itself are kept.
        let overriding =
            if matches!(self, Self::Postgres(_)) { "OVERRIDING SYSTEM VALUE" } else { "" };
        let row = |number: usize| {
            let first = number * columns.len() + 1;
            let places = (first..first + columns.len()).map(|place| format!("${place}"));
            format!("({})", places.collect::<Vec<_>>().join(", "))
        };
        let places: Vec<_> = (0..rows.len()).map(row).collect();
        let places = places.join(", ");
        let sql = format!("INSERT INTO {table} ({}) {overriding} VALUES {places}", names(columns));
        let fitted = rows.iter().flat_map(|row| row.iter().zip(columns));
        let fitted: Vec<_> = fitted.map(|(value, (_, of))| FittedValue(value, *of)).collect();
        let all: Vec<&dyn ColumnValue> = fitted.iter().map(|it| it as &dyn ColumnValue).collect();
        let sql = AssertSqlSafe(sql);
        match self {
            Self::Sqlite(db) => {
                sqlx::query_with(sql, values::<SqliteArguments>(&all)?).execute(db).await?;
            }
            Self::Postgres(db) => {
                sqlx::query_with(sql, values::<PgArguments>(&all)?).execute(db).await?;
            }
        }
        Ok(())
    }

    /// Returns the last number that the database has given to a row of a table; 0 if none.
    pub(crate) async fn last_number(&mut self, table: &str) -> StoreResult<i64> {
        let last: Option<i64> = match self {
            Self::Sqlite(db) => {
                let sql = "SELECT seq FROM sqlite_sequence WHERE name = $1";
                sqlx::query_scalar(sql).bind(table).fetch_optional(db).await?
            }
            Self::Postgres(db) => {
                let sql =
                    "SELECT pg_sequence_last_value(pg_get_serial_sequence($1, 'seq')::regclass)";
                sqlx::query_scalar(sql).bind(table).fetch_one(db).await?
            }
        };
        Ok(last.unwrap_or(0))
    }

    /// Makes the database number the next row of a table higher than `last`.
    pub(crate) async fn number_after(&mut self, table: &str, last: i64) -> StoreResult<()> {
        if last == 0 {
            return Ok(());
        }
        match self {
            Self::Sqlite(db) => {
                let sql = "DELETE FROM sqlite_sequence WHERE name = $1";
                sqlx::query(sql).bind(table).execute(&mut *db).await?;
                let sql = "INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)";
                sqlx::query(sql).bind(table).bind(last).execute(db).await?;
            }
            Self::Postgres(db) => {
                let sql = "SELECT setval(pg_get_serial_sequence($1, 'seq')::regclass, $2)";
                sqlx::query(sql).bind(table).bind(last).execute(db).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn commit(&mut self) -> StoreResult<()> {
        let committed = self.run("COMMIT").await;
        committed.map_err(|error| match error {
            StoreError::Database(error) if StoreError::is_lost_connection(&error) => {
                StoreError::OutcomeUnknown { reason: error.to_string() }
            }
            error => error.while_writing(),
        })
    }
}

fn names(columns: &[TransferColumn]) -> String {
    columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}
