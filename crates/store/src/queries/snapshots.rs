//! Snapshots: texts of documents at some versions, so that every version is reached by replaying a
//! bounded part of the log.
//!
//! Of the snapshots that rooms make, the newest few are kept for loading, and *permanent* ones for
//! the history: one wherever the log since the permanent one before has [`PERMANENT_UPDATES`]
//! updates, or [`PERMANENT_BYTES`] bytes and twice those of the text. So they take at most half of
//! what the log takes, and one text for each [`PERMANENT_UPDATES`] updates.

use copydesk_ids::{DocumentId, Version};

use crate::database::columns::AnyText;
use crate::database::statement_batch::StatementBatch;

/// Newest snapshots that are kept: two, and some for readers of a version of a moment ago.
const NEWEST: i64 = 4;
/// Number of updates after which a snapshot becomes permanent.
pub const PERMANENT_UPDATES: u64 = 16_000;
/// Bytes of updates after which a snapshot becomes permanent, if the text has at most half of them.
pub const PERMANENT_BYTES: u64 = 4 * 1024 * 1024;

/// Stores the text at a version. `replayed_bytes`: the updates since the snapshot before it.
pub(crate) fn put(
    script: &mut StatementBatch<'_>,
    document: &DocumentId,
    (version, text): (Version, &str),
    replayed_bytes: u64,
    permanent: bool,
) {
    let sql = "INSERT INTO snapshots (document, version, content) VALUES ($1, $2, $3)
         ON CONFLICT (document, version) DO UPDATE SET content = excluded.content";
    script.run(sql, &[document, &version, &AnyText(text)]);
    // Bytes since the permanent snapshot before: from there to the snapshot before, and from that
    // to this one.
    let sql = "INSERT INTO snapshot_costs (document, version, replayed_bytes, permanent)
         VALUES ($1, $2, $3 + COALESCE(
             (SELECT CASE WHEN permanent THEN 0 ELSE replayed_bytes END FROM snapshot_costs
              WHERE document = $1 AND version < $2 ORDER BY version DESC LIMIT 1), 0), $4)
         ON CONFLICT (document, version) DO UPDATE SET
             permanent = snapshot_costs.permanent OR excluded.permanent";
    script.run(sql, &[document, &version, &replayed_bytes, &permanent]);
    let bytes = PERMANENT_BYTES.max(2 * text.len() as u64);
    let sql = "UPDATE snapshot_costs SET permanent = TRUE
         WHERE document = $1 AND version = $2 AND NOT permanent AND (replayed_bytes >= $3
             OR version >= $4 + COALESCE((SELECT MAX(version) FROM snapshot_costs
                 WHERE document = $1 AND version < $2 AND permanent), 0))";
    script.run(sql, &[document, &version, &bytes, &PERMANENT_UPDATES]);
    thin_out(script, document);
}

/// Deletes the snapshots that are neither the first, nor permanent, nor among the newest.
fn thin_out(script: &mut StatementBatch<'_>, document: &DocumentId) {
    let sql = "DELETE FROM snapshots WHERE document = $1
           AND version > (SELECT MIN(version) FROM snapshots WHERE document = $1)
           AND version NOT IN
             (SELECT version FROM snapshots WHERE document = $1 ORDER BY version DESC LIMIT $2)
           AND version NOT IN
             (SELECT version FROM snapshot_costs WHERE document = $1 AND permanent)";
    script.run(sql, &[document, &NEWEST]);
    let sql = "DELETE FROM snapshot_costs WHERE document = $1
           AND version NOT IN (SELECT version FROM snapshots WHERE document = $1)";
    script.run(sql, &[document]);
}
