//! Hunks of a request: mapped over updates, applied, split, joined.

pub(crate) mod apply;
pub(crate) mod defer;
pub(crate) mod duplicate;
pub(crate) mod hunk_reason;
pub(crate) mod join;
pub(crate) mod map_to_head;
pub(crate) mod rebase;
pub(crate) mod split;
