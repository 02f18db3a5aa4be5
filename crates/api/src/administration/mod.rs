//! Looking after a server, for owners: people, roles, spending, work in progress, storage.

pub(super) mod document_roles;
pub(super) mod people;
pub(super) mod person_deletion;
mod person_renaming;
pub(super) mod spending;
pub(super) mod work;
