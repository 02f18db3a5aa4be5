//! Copies of everything that is stored: backups, and transfers from one database to another.

pub(super) mod backup;
pub(super) mod transfer;
pub(super) mod verified_backup;
