//! Tools that change nothing themselves: an answer to the person, and the plan of a run.

pub(crate) mod exit_plan_mode;
pub(crate) mod respond_conversation_only;
