//! Operations on approval requests that need the agent: decide, propose again, undo a file change.

pub(crate) mod prepare_decision;
pub(crate) mod reopen;
pub(crate) mod undo_file;
pub(crate) mod validate_rules;
