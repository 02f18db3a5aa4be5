//! Looking after a server, for owners: roles in documents, spending, work in progress, storage.

pub(super) mod document_roles;
pub(super) mod spending;
pub(super) mod work;
