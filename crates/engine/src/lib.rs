//! What Copydesk does, without its transports: storage, rooms, tools, runs of models, and what
//! each person may see and do.
//!
//! The modules in reading order. Each uses only modules above it and beside it:
//!
//! 1. [`store`]: the database. [`auth`]: tokens and the people behind them.
//! 2. [`rooms`]: one actor for each open document. [`cpu_pool`]: threads for long work.
//! 3. [`check`]: verifies every invariant of a data directory. [`file_sync`]: workspace files that
//!    are open as documents.
//! 4. [`tools`]: what a model may do, and the approval pipeline. [`agent`]: runs and conversations.
//! 5. [`api`]: what a person may see and do, for all transports.

pub mod agent;
pub mod api;
pub mod auth;
pub mod check;
pub mod cpu_pool;
pub mod file_sync;
pub mod rooms;
pub mod store;
pub mod tools;

// The crates below, under the names that the modules here and the transports use.
pub use copydesk_convert as convert;
pub use copydesk_core::{
    approvals, document, export, failpoint, ids, interrupt, metrics, permissions, unseen_characters,
};
pub use copydesk_llm as llm;
#[cfg(unix)]
pub use copydesk_processes as processes;
pub use copydesk_workspace as workspace;
