//! Tables that a transfer copies, and those that it leaves.

use crate::database::sqlite::content_sum;

/// Tables that are copied, each behind those that it refers to. Of SQLite's log of updates, the
/// view `updates` is read and written, which is a table in PostgreSQL.
pub(crate) const COPIED: [&str; 31] = [
    "documents",
    "snapshots",
    "snapshot_costs",
    "updates",
    "placements",
    "provenance",
    "clients",
    "sessions",
    "messages",
    "runs",
    "requests",
    "request_parts",
    "decisions",
    "undos",
    "rules",
    "comment_threads",
    "comment_reads",
    "comment_mentions",
    "logins",
    "document_roles",
    "tokens",
    "settings",
    "audit",
    "live_files",
    "idempotency",
    "webhooks",
    "outbox",
    "answers",
    "spending",
    "spending_limits",
    "deleted_people",
];

/// Tables of SQLite that are not copied: what has been migrated, what is behind `updates`, and what
/// will be put there, of which there is nothing when a transfer begins.
pub(crate) const LEFT_IN_SQLITE: [&str; 4] =
    ["_sqlx_migrations", "names", "update_log", "pending_updates"];

/// Tables of PostgreSQL that are not copied: what has been migrated, and servers while they run.
pub(crate) const LEFT_IN_POSTGRES: [&str; 6] =
    ["_sqlx_migrations", "writer", "nodes", "node_beats", "node_messages", "leases"];

/// Settings of a database itself, which no copy has: those by which the nodes of a PostgreSQL
/// database meet and know each other, and the sum of a backup.
pub(crate) const OWN_SETTINGS: [&str; 3] = ["node_channel", "node_key", content_sum::SETTING];

/// Copied tables whose rows the database numbers, in the column `seq`, and never twice.
pub(crate) const NUMBERED: [&str; 2] = ["decisions", "outbox"];

/// Table whose rows have a hash of their text, which must not change.
pub(crate) const HASHED: &str = "audit";
