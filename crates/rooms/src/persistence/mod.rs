//! Loading, restoring and reading what the store has of a document.

pub(crate) mod edits;
pub(crate) mod export_snapshot;
pub(crate) mod history;
pub(crate) mod loading;
mod mentions;
pub(crate) mod provenance;
pub mod resolved_requests;
pub(crate) mod restore;
pub(crate) mod trash;
