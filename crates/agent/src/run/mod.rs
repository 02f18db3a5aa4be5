//! Run of the agent: its record, state machine, executor and events.

pub(crate) mod call_previews;
pub(crate) mod end_reason;
pub(crate) mod executor;
pub(crate) mod model_answer;
pub(crate) mod run_events;
pub(crate) mod run_record;
pub(crate) mod selection;
pub(crate) mod state_machine;
pub(crate) mod status;
pub(crate) mod thread_question;
pub(crate) mod usage;
