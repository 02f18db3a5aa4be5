//! Update log of a document, appended by compare-and-set.
//!
//! Rows are given as one JSON array, so that one prepared statement serves any number of them.

use std::collections::HashMap;

use serde::Serialize;

use copydesk_ids::{DocumentId, Version};

use super::StoreOp;
use super::records::UpdateRecord;
use crate::database::columns::ColumnValue;
use crate::database::statement_batch::{BatchResult, RowExpectation, StatementBatch};

const ROWS: usize = 1_000;

/// Adds the rows of `$1`, an array of [`UpdateRow`]s.
const INSERT: &str = "INSERT INTO updates
         (document, version, client, changes, author, at_ms, origin)
     SELECT value ->> 0, CAST(value ->> 1 AS BIGINT), value ->> 2, value ->> 3, value ->> 4,
         CAST(value ->> 5 AS BIGINT), value ->> 6
     FROM json_each($1)";

/// Rows that are pending in SQLite, in order, as [`UpdateRow`]s.
const PENDING: &str = "FROM pending_updates, json_each(pending_updates.body) AS rows";

/// Row of the table: document, version, client, changes, author, time in ms, origin.
type UpdateRow<'a> = (&'a DocumentId, Version, &'a str, &'a str, &'a str, u64, Option<&'a str>);

/// Updates of one document; see [`StoreOp::AppendUpdates`].
#[derive(Clone, Copy)]
pub(super) struct LogAppend<'a> {
    pub(super) document: &'a DocumentId,
    pub(super) from: Version,
    pub(super) updates: &'a [UpdateRecord],
}

impl<'a> LogAppend<'a> {
    fn rows(self) -> impl Iterator<Item = UpdateRow<'a>> {
        (1..).zip(self.updates).map(move |(number, record)| {
            let UpdateRecord { client, changes, author, at_ms, origin } = record;
            let (version, origin) = (self.from.plus(number), origin.as_deref());
            (self.document, version, client.as_str(), &**changes, author.as_str(), *at_ms, origin)
        })
    }

    fn end(self) -> Option<(Version, u64)> {
        let last = self.updates.last()?;
        Some((self.from.plus(self.updates.len()), last.at_ms))
    }
}

/// Appends updates to the log; [`StoreError::Conflict`](crate::StoreError::Conflict) unless the
/// document is at `from`.
pub async fn append<'a>(script: &mut StatementBatch<'a>, append: LogAppend<'a>) -> BatchResult<()> {
    let LogAppend { document, from, .. } = append;
    let Some((to, at_ms)) = append.end() else { return Ok(()) };
    // The compare-and-set. The primary key of `updates` would refuse a version that is taken, but
    // not one that leaves a gap.
    let sql = "UPDATE documents SET version = $3, updated_ms = $4 WHERE id = $1 AND version = $2";
    script.run(sql, &[document, &from, &to, &at_ms]);
    script.must(RowExpectation::BeAt { document, version: from });
    insert(script, append.rows().collect()).await
}

/// Appends updates of several documents, in order, or none: then the error is that of the first
/// document that is not where it should be.
pub async fn append_all<'a>(
    script: &mut StatementBatch<'a>,
    appends: &[LogAppend<'a>],
) -> BatchResult<()> {
    let Some(first) = appends.first() else { return Ok(()) };
    let growths = growths(appends);
    let sql = "UPDATE documents
         SET version = CAST(appended.value ->> 2 AS BIGINT),
             updated_ms = CAST(appended.value ->> 3 AS BIGINT)
         FROM json_each($1) AS appended
         WHERE documents.id = appended.value ->> 0
             AND documents.version = CAST(appended.value ->> 1 AS BIGINT)";
    script.run(sql, &[&json(&growths)]);
    let expected = RowExpectation::BeAt { document: first.document, version: first.from };
    script.must_change(growths.len(), expected);
    insert(script, appends.iter().flat_map(|append| append.rows()).collect()).await
}

pub fn pending_row<'a>(ops: impl Iterator<Item = &'a StoreOp>) -> String {
    let appends = ops.filter_map(|op| match op {
        StoreOp::AppendUpdates { document, from, updates } => {
            Some(LogAppend { document, from: *from, updates })
        }
        _ => None,
    });
    text(&appends.flat_map(LogAppend::rows).collect::<Vec<_>>())
}

pub async fn append_pending(script: &mut StatementBatch<'_>, row: &str) -> BatchResult<()> {
    script.run("INSERT INTO pending_updates (body) VALUES ($1)", &[&row]);
    script.send().await
}

/// Puts everything that is pending, of so many documents, into the log, or nothing.
pub fn log_pending(script: &mut StatementBatch<'_>, documents: usize) {
    // Of a bare column, SQLite takes the value of the row that has the maximum.
    let grow = format!(
        "UPDATE documents SET version = pending.reached, updated_ms = pending.at_ms
         FROM (
             SELECT rows.value ->> 0 AS document, COUNT(*) AS count, MIN(rows.value ->> 1) AS first,
                 MAX(rows.value ->> 1) AS reached, rows.value ->> 5 AS at_ms
             {PENDING} GROUP BY rows.value ->> 0
         ) AS pending
         WHERE documents.id = pending.document AND documents.version = pending.first - 1
             AND pending.reached = documents.version + pending.count"
    );
    script.run(&grow, &[]);
    script.must_change(documents, RowExpectation::FollowLog);
    let log = format!(
        "INSERT INTO updates (document, version, client, changes, author, at_ms, origin)
         SELECT rows.value ->> 0, rows.value ->> 1, rows.value ->> 2, rows.value ->> 3,
             rows.value ->> 4, rows.value ->> 5, rows.value ->> 6
         {PENDING} ORDER BY pending_updates.number, rows.key"
    );
    script.run(&log, &[]);
    script.run("DELETE FROM pending_updates", &[]);
}

/// Growth of the log of a document: version before and after, time of the last update in ms.
type LogGrowth<'a> = (&'a DocumentId, Version, Version, u64);

/// Returns what the logs grow by: one entry for a document that several batches follow each other
/// in. Batches that do not follow each other have an entry each, of which only one can hold.
fn growths<'a>(appends: &[LogAppend<'a>]) -> Vec<LogGrowth<'a>> {
    let mut growths: Vec<LogGrowth<'a>> = Vec::with_capacity(appends.len());
    let mut places = HashMap::with_capacity(appends.len());
    for append in appends {
        let Some((to, at_ms)) = append.end() else { continue };
        let place = places.insert(append.document, growths.len());
        match place.and_then(|at: usize| growths.get_mut(at)) {
            Some(known) if known.2 == append.from => {
                (known.2, known.3) = (to, at_ms);
                places.extend(place.map(|at| (append.document, at)));
            }
            _ => growths.push((append.document, append.from, to, at_ms)),
        }
    }
    growths
}

async fn insert(script: &mut StatementBatch<'_>, rows: Vec<UpdateRow<'_>>) -> BatchResult<()> {
    for rows in rows.chunks(ROWS) {
        script.run(INSERT, &[&json(&rows)]);
        if script.is_large() {
            script.send().await?;
        }
    }
    Ok(())
}

fn json<T: Serialize>(rows: &T) -> impl ColumnValue + use<T> {
    text(rows)
}

fn text<T: Serialize>(rows: &T) -> String {
    // Names, numbers and texts: nothing that cannot be serialised.
    serde_json::to_string(rows).unwrap_or_default()
}
