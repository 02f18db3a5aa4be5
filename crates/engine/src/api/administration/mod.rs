//! Looking after a server, for owners: spending, work in progress, storage.

pub(super) mod spending;
pub(super) mod work;
