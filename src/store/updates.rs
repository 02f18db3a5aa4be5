//! The log of a document: appended by compare-and-set, inside a transaction or as one of its own.

use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use crate::ids::{DocumentId, Version};

use super::records::UpdateRecord;
use super::rows::int;
use super::{Batch, Op, StoreError};

/// Rows in one INSERT; SQLite takes 32,766 values in a statement and PostgreSQL 65,535.
pub(super) const ROWS: usize = 1_000;

/// Adds updates to the log inside a transaction.
pub(super) async fn append(
    db: &mut SqliteConnection,
    document: &DocumentId,
    from: Version,
    updates: &[UpdateRecord],
) -> Result<(), StoreError> {
    let Some(last) = updates.last() else { return Ok(()) };
    // The compare-and-set. The primary key of `updates` would refuse a version that is taken,
    // but not one that leaves a gap.
    let moved = sqlx::query(
        "UPDATE documents SET version = $3, updated_ms = $4 WHERE id = $1 AND version = $2",
    )
    .bind(document.as_str())
    .bind(int(from.0))
    .bind(int(from.plus(updates.len()).0))
    .bind(int(last.at_ms))
    .execute(&mut *db)
    .await?;
    if moved.rows_affected() == 0 {
        return Err(conflict(db, document, from).await?);
    }
    let mut version = from;
    for rows in updates.chunks(ROWS) {
        let mut insert = QueryBuilder::<Sqlite>::new(
            "INSERT INTO updates (document, version, client, changes, author, at_ms, origin) ",
        );
        push_rows(&mut insert, document, version, rows);
        version = version.plus(rows.len());
        insert.build().execute(&mut *db).await?;
    }
    Ok(())
}

/// A transaction of its own for updates and nothing else, in one message to the database's thread: what a room
/// writes for almost every keystroke. Each statement sent by itself would wake that thread and this one again.
///
/// On an error the transaction may still be open.
pub(super) async fn append_alone(
    db: &mut SqliteConnection,
    document: &DocumentId,
    from: Version,
    updates: &[UpdateRecord],
) -> Result<(), StoreError> {
    let Some(last) = updates.last() else { return Ok(()) };
    let mut script = QueryBuilder::<Sqlite>::new(
        "BEGIN IMMEDIATE;
         INSERT INTO updates (document, version, client, changes, author, at_ms, origin)
         SELECT * FROM (",
    );
    push_rows(&mut script, document, from, updates);
    // The compare-and-set guards both statements; where it fails, an empty transaction is committed.
    script.push(") WHERE EXISTS (SELECT 1 FROM documents WHERE id = ").push_bind(document.as_str());
    script.push(" AND version = ").push_bind(int(from.0)).push(");");
    script.push("UPDATE documents SET version = ").push_bind(int(from.plus(updates.len()).0));
    script.push(", updated_ms = ").push_bind(int(last.at_ms));
    script.push(" WHERE id = ").push_bind(document.as_str());
    script.push(" AND version = ").push_bind(int(from.0)).push(" RETURNING version; COMMIT");
    let moved = script.build().fetch_all(&mut *db).await?;
    if moved.is_empty() { Err(conflict(db, document, from).await?) } else { Ok(()) }
}

/// The rows of consecutive updates after version `from`, as `VALUES`.
fn push_rows(
    query: &mut QueryBuilder<Sqlite>,
    document: &DocumentId,
    from: Version,
    updates: &[UpdateRecord],
) {
    let mut version = from;
    query.push_values(updates, |mut row, update| {
        version = version.next();
        row.push_bind(document.as_str())
            .push_bind(int(version.0))
            .push_bind(update.client.as_str())
            .push_bind(&*update.changes)
            .push_bind(update.author.as_str())
            .push_bind(int(update.at_ms))
            .push_bind(update.origin.as_deref());
    });
}

/// The updates, if the batch is nothing else and they fit into one statement.
pub(super) fn alone(batch: &Batch) -> Option<(&DocumentId, Version, &[UpdateRecord])> {
    match batch.ops() {
        [Op::AppendUpdates { document, from, updates }] if updates.len() <= ROWS => {
            Some((document, *from, updates))
        }
        _ => None,
    }
}

async fn conflict(
    db: &mut SqliteConnection,
    document: &DocumentId,
    expected: Version,
) -> Result<StoreError, StoreError> {
    let found: Option<i64> = sqlx::query_scalar("SELECT version FROM documents WHERE id = $1")
        .bind(document.as_str())
        .fetch_optional(db)
        .await?;
    Ok(match found {
        Some(found) => {
            let found = Version(found.unsigned_abs());
            StoreError::Conflict { document: document.clone(), expected, found }
        }
        None => StoreError::missing("document", document),
    })
}
