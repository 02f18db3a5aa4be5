//! Tools that only talk: an answer without a change, and the plan of a run.

pub(crate) mod exit_plan_mode;
pub(crate) mod respond_conversation_only;
