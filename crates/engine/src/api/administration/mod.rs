//! Looking after a server, for owners: people and their data, spending, work in progress, storage.

pub(super) mod people;
pub(super) mod person_deletion;
mod person_renaming;
pub(super) mod spending;
pub(super) mod work;
