//! The two databases, SQLite and PostgreSQL, behind one interface.
//!
//! A statement is written once, in words that both understand. Where they differ, PostgreSQL gets a
//! function that SQLite has (`json_each`). What is done differently is in `sqlite` and `postgres`:
//! connections, how statements are sent ([`statement_batch`]), and who may write.

pub(crate) mod columns;
pub(crate) mod connection;
pub(crate) mod postgres;
pub(crate) mod reading;
pub(crate) mod sqlite;
pub(crate) mod statement_batch;
pub(crate) mod writer;
pub(crate) mod writer_source;

use sqlx::migrate::Migrator;

/// Returns the newest migration that this program knows.
pub(crate) fn newest(migrations: &Migrator) -> i64 {
    migrations.iter().map(|migration| migration.version).max().unwrap_or(0)
}
