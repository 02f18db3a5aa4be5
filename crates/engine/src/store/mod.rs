//! Storage of documents, updates, requests, sessions, transcripts, tokens and the audit log.
//!
//! There is one [`Store`] per data directory, or per PostgreSQL database ([`StorePlace`]).
//! Everything is written through [`Store::commit`]: a batch is written completely or not at all,
//! and is on the disk when `commit` returns. Batches of all rooms that wait at one time share a
//! transaction and so one wait for the disk; each keeps its own outcome.
//!
//! SQLite has a write-ahead log and `synchronous=FULL`, PostgreSQL `synchronous_commit`. There is
//! one function per operation, whose statements both understand; `database` has what differs.

mod answers;
mod apply;
mod audit;
mod backup;
mod batch;
mod database;
mod error;
mod file_undos;
mod files;
mod handle;
mod idempotency;
mod live;
mod open_store;
mod provenance;
pub mod queries;
mod records;
mod settings;
#[cfg(test)]
mod tests;
mod updates;
mod webhook_records;
mod webhooks;

pub use audit::{AuditFlaw, AuditHead, GENESIS};
pub use backup::{back_up, restore};
pub use batch::{QueryScope, StoreOp, WriteBatch};
pub use database::postgres::address::DatabaseUrl;
pub use error::{StoreError, StoreResult};
pub use files::create_data_directory;
pub use handle::{CommitCounts, Store};
pub use open_store::{StoreAccess, StorePlace};
pub use provenance::VersionedText;
pub use queries::inspect::{AuditCounts, AuditFacts, InspectedRow, StoreInspection};
pub use queries::lists::ListPlace;
pub use queries::log::LogPiece;
pub use queries::snapshots::{PERMANENT_BYTES, PERMANENT_UPDATES};
pub use queries::transcripts::{MEASURED, TranscriptSince, fitting};
pub use records::{
    AnswerRecord, AuditEntry, AuditRecord, CLEAR, DecisionRecord, DocumentRecord, EntrySize,
    FileRecord, HistoryRecord, IdempotencyRecord, LoadedDocument, MessageRecord, PAST,
    RequestRecord, RuleRecord, RunEndKind, RunRecord, RunState, SessionRecord, StartingText,
    TokenRecord, TranscriptCursor, UpdateRecord,
};
pub use webhook_records::{DeliveryOutcome, WebhookDelivery, WebhookRecord, WebhookState};
