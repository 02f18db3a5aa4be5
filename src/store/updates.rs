//! Update log of a document, appended by compare-and-set.

use std::fmt::Write as _;

use crate::ids::{DocumentId, Version};

use super::records::UpdateRecord;
use crate::store::sqlite::statement_batch::{BatchError, RowExpectation, StatementBatch};

/// Largest number of rows in one INSERT; SQLite takes 32,766 values in a statement and PostgreSQL
/// 65,535.
const ROWS: usize = 1_000;
/// Number of values in a row.
const COLUMNS: usize = 7;

/// Appends updates to the log.
///
/// # Errors
/// [`StoreError::Conflict`](crate::store::StoreError::Conflict) unless the document is at `from`.
pub(super) async fn append<'a>(
    script: &mut StatementBatch<'a>,
    document: &'a DocumentId,
    from: Version,
    updates: &[UpdateRecord],
) -> Result<(), BatchError> {
    let Some(last) = updates.last() else { return Ok(()) };
    // The compare-and-set. The primary key of `updates` would refuse a version that is taken, but
    // not one that leaves a gap.
    let sql = "UPDATE documents SET version = $3, updated_ms = $4 WHERE id = $1 AND version = $2";
    script.run(sql, &[document, &from, &from.plus(updates.len()), &last.at_ms]);
    script.must(RowExpectation::BeAt { document, version: from });
    let mut version = from;
    for rows in updates.chunks(ROWS) {
        let sql = "INSERT INTO updates
                 (document, version, client, changes, author, at_ms, origin) VALUES";
        script.run(&format!("{sql} {}", places(rows.len())), &[]);
        for UpdateRecord { client, changes, author, at_ms, origin } in rows {
            version = version.next();
            script.bind(&[document, &version, client, changes, author, at_ms, origin]);
        }
        if script.is_large() {
            script.send().await?;
        }
    }
    Ok(())
}

/// Returns the placeholders of `rows` rows.
fn places(rows: usize) -> String {
    let mut places = String::new();
    for at in 0..rows * COLUMNS {
        let before = match at % COLUMNS {
            0 if at == 0 => "(",
            0 => "), (",
            _ => ", ",
        };
        // Writing to a String cannot fail.
        write!(places, "{before}${}", at + 1).ok();
    }
    places.push(')');
    places
}
