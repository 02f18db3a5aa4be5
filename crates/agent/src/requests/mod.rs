//! Operations on approval requests that need the agent: decide, propose again, undo.

pub(crate) mod prepare_decision;
pub(crate) mod reopen;
pub(crate) mod undo;
pub(crate) mod validate_rules;
