//! Queries of the store: records, lists, the log, snapshots, transcripts, and those for a check.

pub(crate) mod inspect;
pub(crate) mod lists;
pub(crate) mod log;
pub(crate) mod logins;
pub(crate) mod read;
pub(crate) mod snapshots;
pub(crate) mod tokens;
pub(crate) mod transcripts;
