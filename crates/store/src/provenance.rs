//! Passages that updates made by the server put into texts, and the stored provenance of versions.

use serde_json::Value;

use copydesk_ids::{DocumentId, UserId, Version};

use super::{Store, StoreResult};
use crate::database::columns::{AnyTextColumn, NumberColumn};
use crate::database::statement_batch::StatementBatch;

/// Versions of a document whose provenance is kept, for queries about a version of a moment ago.
const KEPT: i64 = 3;

pub fn put_placements(
    script: &mut StatementBatch<'_>,
    document: &DocumentId,
    version: Version,
    body: &Value,
) {
    let sql = "INSERT INTO placements (document, version, body) VALUES ($1, $2, $3)";
    script.run(sql, &[document, &version, body]);
}

pub fn put(script: &mut StatementBatch<'_>, document: &DocumentId, version: Version, body: &str) {
    let sql = "INSERT INTO provenance (document, version, body) VALUES ($1, $2, $3)
         ON CONFLICT (document, version) DO UPDATE SET body = excluded.body";
    script.run(sql, &[document, &version, &body]);
    let sql = "DELETE FROM provenance WHERE document = $1 AND version NOT IN
             (SELECT version FROM provenance WHERE document = $1 ORDER BY version DESC LIMIT $2)";
    script.run(sql, &[document, &KEPT]);
}

/// Stored text about one version, such as JSON that the room wrote.
pub type VersionedText = (Version, String);

impl Store {
    /// Returns the passages that the server's own updates after `from` put into the text.
    pub async fn placements(
        &self,
        document: &DocumentId,
        from: Version,
        to: Version,
    ) -> StoreResult<Vec<VersionedText>> {
        let sql = "SELECT version, body FROM placements
             WHERE document = $1 AND version > $2 AND version <= $3 ORDER BY version";
        self.all(sql, &[document, &from, &to]).await
    }

    /// Returns the provenance of the newest version, up to `version`, for which it is stored.
    pub async fn provenance(
        &self,
        document: &DocumentId,
        version: Version,
    ) -> StoreResult<Option<VersionedText>> {
        let sql = "SELECT version, body FROM provenance WHERE document = $1 AND version <= $2
             ORDER BY version DESC LIMIT 1";
        self.one(sql, &[document, &version]).await
    }

    /// Returns the text that a document was created with.
    pub async fn first_text(&self, document: &DocumentId) -> StoreResult<Option<String>> {
        let sql = "SELECT content FROM snapshots WHERE document = $1 AND version = 0";
        let found: Option<(AnyTextColumn,)> = self.one(sql, &[document]).await?;
        Ok(found.map(|(text,)| text.into()))
    }

    /// Returns the person who created a document and the time in ms, as far as the audit log goes.
    pub async fn creator(&self, document: &DocumentId) -> StoreResult<Option<(UserId, u64)>> {
        let sql =
            "SELECT actor, at_ms FROM audit WHERE document = $1 AND action = 'document.create'
             ORDER BY seq LIMIT 1";
        let found: Option<(UserId, NumberColumn)> = self.one(sql, &[document]).await?;
        Ok(found.map(|(user, at_ms)| (user, at_ms.into())))
    }
}
