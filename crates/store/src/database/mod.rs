//! The two databases, SQLite and PostgreSQL, behind one interface.
//!
//! A statement is written once, in words that both understand. Where they differ, PostgreSQL gets a
//! function that SQLite has (`json_each`). Connections, [`statement_batch`] and who may write
//! differ; [`transfer`] copies one into the other.

pub(crate) mod columns;
pub(crate) mod connection;
pub(crate) mod migrations;
pub(crate) mod pending_updates;
pub(crate) mod postgres;
pub(crate) mod read_barrier;
pub(crate) mod reading;
pub mod session_source;
pub(crate) mod sqlite;
pub(crate) mod statement_batch;
pub(crate) mod transfer;
pub(crate) mod writer;
pub(crate) mod writer_message;
pub(crate) mod writer_source;
