//! Tool calls by other programs: waiting callers, duplicates, and the calls themselves.

pub(crate) mod call;
pub(crate) mod call_source;
pub(crate) mod caller_deadline;
pub(crate) mod calling;
pub(crate) mod dedup;
pub(crate) mod waiters;
