//! The log of a document: appended by compare-and-set, inside a transaction or as one of its own.

use std::fmt::Write as _;

use sqlx::SqliteConnection;

use crate::ids::{DocumentId, Version};

use super::records::UpdateRecord;
use super::rows::int;
use super::script::{Must, Refused, Script};
use super::{Batch, Op};

/// Rows in one INSERT; SQLite takes 32,766 values in a statement and PostgreSQL 65,535.
const ROWS: usize = 1_000;
/// Values in a row.
const COLUMNS: usize = 7;

const INSERT: &str =
    "INSERT INTO updates (document, version, client, changes, author, at_ms, origin)";
/// The compare-and-set. The primary key of `updates` would refuse a version that is taken, but not one that leaves a gap.
const MOVE: &str =
    "UPDATE documents SET version = $3, updated_ms = $4 WHERE id = $1 AND version = $2";

/// Adds updates to the log inside a transaction.
pub(super) async fn append<'a>(
    script: &mut Script<'a>,
    document: &'a DocumentId,
    from: Version,
    updates: &[UpdateRecord],
) -> Result<(), Refused> {
    move_on(script, document, from, updates);
    let mut version = from;
    for rows in updates.chunks(ROWS) {
        script.run(&format!("{INSERT} VALUES {}", places(0, rows.len())));
        bind(script, document, version, rows);
        version = version.plus(rows.len());
        if script.is_large() {
            script.send().await?;
        }
    }
    Ok(())
}

/// A transaction of its own for updates and nothing else, in one message to the database's thread: what a room writes for
/// almost every keystroke.
///
/// On an error the transaction may still be open.
pub(super) async fn append_alone(
    db: &mut SqliteConnection,
    document: &DocumentId,
    from: Version,
    updates: &[UpdateRecord],
) -> Result<(), Refused> {
    let mut script = Script::new(db);
    script.run("BEGIN IMMEDIATE");
    // The compare-and-set guards both statements; where it fails, an empty transaction is committed.
    let guard = "WHERE EXISTS (SELECT 1 FROM documents WHERE id = $1 AND version = $2)";
    let places = places(2, updates.len());
    script.run(&format!("{INSERT} SELECT * FROM (VALUES {places}) {guard}"));
    script.bind(document.as_str()).bind(int(from.0));
    bind(&mut script, document, from, updates);
    move_on(&mut script, document, from, updates);
    script.run("COMMIT");
    script.send().await
}

/// Moves the document to the version behind the updates.
fn move_on<'a>(
    script: &mut Script<'a>,
    document: &'a DocumentId,
    from: Version,
    updates: &[UpdateRecord],
) {
    script
        .run(MOVE)
        .bind(document.as_str())
        .bind(int(from.0))
        .bind(int(from.plus(updates.len()).0))
        .bind(updates.last().map(|last| int(last.at_ms)));
    script.must(Must::BeAt { document, version: from });
}

/// Where the values of so many rows go, behind the `bound` values that come first.
fn places(bound: usize, rows: usize) -> String {
    let mut places = String::new();
    for at in bound..bound + rows * COLUMNS {
        let before = match (at - bound) % COLUMNS {
            0 if at == bound => "(",
            0 => "), (",
            _ => ", ",
        };
        // Writing to a String cannot fail.
        write!(places, "{before}${}", at + 1).ok();
    }
    places.push(')');
    places
}

/// The values of consecutive updates after version `from`.
fn bind(script: &mut Script<'_>, document: &DocumentId, from: Version, updates: &[UpdateRecord]) {
    let mut version = from;
    for update in updates {
        version = version.next();
        script
            .bind(document.as_str())
            .bind(int(version.0))
            .bind(update.client.as_str())
            .bind(&*update.changes)
            .bind(update.author.as_str())
            .bind(int(update.at_ms))
            .bind(update.origin.as_deref());
    }
}

/// The updates, if the batch is nothing else and they fit into one statement.
pub(super) fn alone(batch: &Batch) -> Option<(&DocumentId, Version, &[UpdateRecord])> {
    match batch.ops() {
        [Op::AppendUpdates { document, from, updates }] if (1..=ROWS).contains(&updates.len()) => {
            Some((document, *from, updates))
        }
        _ => None,
    }
}
