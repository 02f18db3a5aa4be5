//! Storage of documents, updates, requests, sessions, transcripts, tokens and the audit log.
//!
//! There is one [`Store`] per data directory, or per PostgreSQL database ([`StorePlace`]).
//! Everything is written through [`Store::commit`]: a batch is written completely or not at all,
//! and is on the disk when `commit` returns. Batches of all rooms that wait at one time share a
//! transaction and so one wait for the disk; each keeps its own outcome.
//!
//! SQLite has a write-ahead log and `synchronous=FULL`, and typed updates are pending in one table
//! before its update log has them. PostgreSQL has `synchronous_commit`. There is one function per
//! operation, whose statements both understand; `database` has what differs.

mod administration;
mod answers;
mod apply;
mod audit;
mod batch;
mod comments;
mod copies;
mod data_directory;
mod database;
mod error;
mod handle;
mod idempotency;
pub mod node_tables;
mod open_files;
mod open_store;
mod provenance;
pub mod queries;
mod records;
mod requests;
mod settings;
#[cfg(test)]
mod tests;
mod unfinished_undos;
mod updates;
mod webhooks;
#[cfg(any(test, feature = "rehearsal"))]
mod whole_documents;

pub use administration::person_data::PersonCounts;
pub use administration::person_records::{
    PersonDeletion, PersonRow, PersonRowOp, PersonSearch, PersonTable, RowKey,
};
pub use administration::records::{
    DocumentRoleRecord, Grantee, SpendingEntry, SpendingGroup, SpendingLimit, SpendingScope,
    SpendingSum,
};
pub use administration::spending_month::SpendingMonth;
pub use administration::storage::StorageSizes;
pub use audit::{AuditFlaw, AuditHead, GENESIS, text_hash};
pub use batch::{QueryScope, StoreOp, WriteBatch};
pub use copies::backup::back_up;
pub use copies::transfer::{
    ExistingData, RestoredDatabase, TransferReport, back_up_postgres, transfer,
};
pub use copies::verified_backup::{DamagedContent, VerifiedBackup};
pub use data_directory::create_data_directory;
pub use database::postgres::address::DatabaseUrl;
pub use database::postgres::nodes::NodeConnections;
pub use database::postgres::session::PostgresServer;
#[cfg(feature = "rehearsal")]
pub use database::session_source;
pub use database::sqlite::content_sum::ContentState;
pub use database::transfer::TransferCounts;
pub use error::{StoreError, StoreResult};
pub use handle::{CommitCounts, Store};
pub use open_store::{StoreAccess, StorePlace};
pub use provenance::VersionedText;
pub use queries::inspect::{AuditCounts, AuditFacts, InspectedRow, StoreInspection};
pub use queries::lists::ListPlace;
pub use queries::log::LogPiece;
pub use queries::logins::TokenTie;
pub use queries::snapshots::{PERMANENT_BYTES, PERMANENT_UPDATES};
pub use queries::transcripts::{MEASURED, TranscriptSince, fitting};
pub use records::{
    AnswerRecord, AuditEntry, AuditRecord, CLEAR, DecisionRecord, DocumentRecord, EntrySize,
    FileRecord, HistoryRecord, IdempotencyRecord, LoadedDocument, LoginRecord, MessageRecord, PAST,
    RequestPartRecord, RequestRecord, RuleRecord, RunEndKind, RunRecord, RunState, SessionRecord,
    StartingText, TokenRecord, TranscriptCursor, UpdateRecord,
};
pub use records::{ThreadAnchor, ThreadRecord};
pub use webhooks::records::{DeliveryOutcome, WebhookDelivery, WebhookRecord, WebhookState};
