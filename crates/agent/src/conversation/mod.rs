//! Conversation of a run: transcript, history, prompt, and the removal of old parts.

pub(crate) mod agent_objects;
pub(crate) mod decision_updates;
pub(crate) mod fork;
pub(crate) mod history;
pub(crate) mod prompt;
pub(crate) mod provider_sessions;
pub(crate) mod response;
pub(crate) mod shown_documents;
pub mod transcript;
pub(crate) mod truncate;
