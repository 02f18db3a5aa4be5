//! Reading of documents: a text to start from, and the log from there on, piece by piece.

use copydesk_ids::{DocumentId, Version};

use crate::database::columns::AnyTextColumn;
use crate::database::reading::ReadPool;
use crate::queries::transcripts::fitting;
use crate::records::{DocumentRecord, StartingText, UpdateRecord};
use crate::{Store, StoreError, StoreResult};

/// Limits of one piece of a log, for [`Store::piece`] and [`Store::reachable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPiece {
    /// Largest number of updates.
    pub updates: u64,
    /// Bytes of JSON after which no further update is added; the first one is always read.
    pub bytes: u64,
}

impl Store {
    /// Returns the newest snapshot of a document up to `version`, and its record, whose `version`
    /// is at most that; `None` for a deleted document.
    pub async fn starting_text(
        &self,
        id: &DocumentId,
        version: Version,
    ) -> StoreResult<Option<StartingText>> {
        // One transaction, so that record and snapshot are of the same moment; the log only grows.
        let mut moment = self.readers().snapshot().await?;
        let sql = "SELECT * FROM documents WHERE id = $1 AND deleted = FALSE";
        let record: Option<DocumentRecord> = moment.one(sql, &[id]).await?;
        let Some(mut record) = record else { return Ok(None) };
        record.version = record.version.min(version);
        let sql = "SELECT version, content FROM snapshots WHERE document = $1 AND version <= $2
             ORDER BY version DESC LIMIT 1";
        let snapshot: Option<(Version, AnyTextColumn)> =
            moment.one(sql, &[id, &record.version]).await?;
        let (snapshot, text) =
            snapshot.ok_or_else(|| StoreError::corrupt(format!("{id}"), "it has no text"))?;
        Ok(Some(StartingText { record, snapshot, text: text.into() }))
    }

    /// Returns the first of the updates from version `from` to `to`: as many as fit into `most`,
    /// and at least one if there is any. [`StoreError::Corrupt`] if one is missing, also when the
    /// document is not at `to` yet.
    pub async fn piece(
        &self,
        document: &DocumentId,
        from: Version,
        to: Version,
        most: LogPiece,
    ) -> StoreResult<Vec<UpdateRecord>> {
        let end = to.min(Version(from.0.saturating_add(most.updates)));
        // Lengths are read without the texts themselves.
        let sql = "SELECT CAST(OCTET_LENGTH(changes) AS BIGINT) FROM updates
             WHERE document = $1 AND version > $2 AND version <= $3 ORDER BY version";
        let lengths: Vec<i64> = self.first_columns(sql, &[document, &from, &end]).await?;
        let fitting = fitting(&lengths, most.bytes, |length| length.unsigned_abs()).len();
        // Up to the requested end, so that a gap is noticed.
        let end = if fitting >= lengths.len() { end } else { from.plus(fitting) };
        between(self.readers(), document, from, end).await
    }

    /// Returns the oldest version, within the newest `most.updates`, from which the log up to `to`
    /// has at most `most.bytes` bytes.
    pub async fn reachable(
        &self,
        document: &DocumentId,
        to: Version,
        most: LogPiece,
    ) -> StoreResult<Version> {
        let sql = "SELECT CAST(OCTET_LENGTH(changes) AS BIGINT) FROM updates
             WHERE document = $1 AND version <= $2 ORDER BY version DESC LIMIT $3";
        let lengths: Vec<i64> = self.first_columns(sql, &[document, &to, &most.updates]).await?;
        let mut bytes = 0;
        let fits = |length: &&i64| {
            bytes += length.unsigned_abs();
            bytes <= most.bytes
        };
        let fitting = lengths.iter().take_while(fits).count();
        Ok(Version(to.0.saturating_sub(fitting as u64)))
    }
}

pub(crate) async fn between(
    readers: &ReadPool,
    document: &DocumentId,
    from: Version,
    to: Version,
) -> StoreResult<Vec<UpdateRecord>> {
    let sql = "SELECT client, changes, author, at_ms, origin FROM updates
         WHERE document = $1 AND version > $2 AND version <= $3 ORDER BY version";
    let found: Vec<UpdateRecord> = readers.all(sql, &[document, &from, &to]).await?;
    // Versions are unique, so as many rows as versions means that none is missing.
    let expected = to.0.saturating_sub(from.0);
    if found.len() as u64 != expected {
        let reason = format!("{} updates between {from} and {to}", found.len());
        return Err(StoreError::corrupt(format!("the log of {document}"), &reason));
    }
    Ok(found)
}
