//! What updates made by the server put into texts, and who wrote every span as far as that was worked out.

use serde_json::Value;
use sqlx::Row;

use crate::ids::{DocumentId, UserId, Version};

use super::{Store, StoreError};
use crate::store::sqlite::rows::int;
use crate::store::sqlite::statement_batch::StatementBatch;

/// How many versions of a document are kept worked out: for somebody who asks about a moment ago.
const KEPT: i64 = 3;

pub(super) fn put_placements(
    script: &mut StatementBatch<'_>,
    document: &DocumentId,
    version: Version,
    body: &Value,
) {
    script
        .run("INSERT INTO placements (document, version, body) VALUES ($1, $2, $3)")
        .bind(document.as_str())
        .bind(int(version.0))
        .bind(body.to_string());
}

pub(super) fn put(
    script: &mut StatementBatch<'_>,
    document: &DocumentId,
    version: Version,
    body: &str,
) {
    script
        .run(
            "INSERT INTO provenance (document, version, body) VALUES ($1, $2, $3)
         ON CONFLICT (document, version) DO UPDATE SET body = excluded.body",
        )
        .bind(document.as_str())
        .bind(int(version.0))
        .bind(body);
    script
        .run(
            "DELETE FROM provenance WHERE document = $1 AND version NOT IN
             (SELECT version FROM provenance WHERE document = $1 ORDER BY version DESC LIMIT $2)",
        )
        .bind(document.as_str())
        .bind(KEPT);
}

/// What an update put into the text, as it is kept: the version it made, and the room's own JSON.
type PlacementRow = (Version, String);

impl Store {
    /// What the updates after version `from`, up to `to`, put into the text; only those made by the server say so.
    pub async fn placements(
        &self,
        document: &DocumentId,
        from: Version,
        to: Version,
    ) -> Result<Vec<PlacementRow>, StoreError> {
        let rows: Vec<(i64, String)> = sqlx::query_as(
            "SELECT version, body FROM placements
             WHERE document = $1 AND version > $2 AND version <= $3 ORDER BY version",
        )
        .bind(document.as_str())
        .bind(int(from.0))
        .bind(int(to.0))
        .fetch_all(self.readers())
        .await?;
        Ok(rows
            .into_iter()
            .map(|(version, body)| (Version(version.unsigned_abs()), body))
            .collect())
    }

    /// Who wrote every span, at the newest version up to `version` for which that was worked out.
    pub async fn provenance(
        &self,
        document: &DocumentId,
        version: Version,
    ) -> Result<Option<PlacementRow>, StoreError> {
        let row: Option<(i64, String)> = sqlx::query_as(
            "SELECT version, body FROM provenance WHERE document = $1 AND version <= $2
             ORDER BY version DESC LIMIT 1",
        )
        .bind(document.as_str())
        .bind(int(version.0))
        .fetch_optional(self.readers())
        .await?;
        Ok(row.map(|(version, body)| (Version(version.unsigned_abs()), body)))
    }

    /// The text a document was created with.
    pub async fn first_text(&self, document: &DocumentId) -> Result<Option<String>, StoreError> {
        let text =
            sqlx::query_scalar("SELECT content FROM snapshots WHERE document = $1 AND version = 0")
                .bind(document.as_str());
        Ok(text.fetch_optional(self.readers()).await?)
    }

    /// Who created a document, and when, as far as the audit log goes.
    pub async fn creator(
        &self,
        document: &DocumentId,
    ) -> Result<Option<(UserId, u64)>, StoreError> {
        let row = sqlx::query(
            "SELECT actor, at_ms FROM audit WHERE document = $1 AND action = 'document.create'
             ORDER BY seq LIMIT 1",
        )
        .bind(document.as_str())
        .fetch_optional(self.readers())
        .await?;
        let Some(row) = row else { return Ok(None) };
        let (actor, at_ms): (String, i64) = (row.try_get("actor")?, row.try_get("at_ms")?);
        Ok(Some((actor.into(), at_ms.unsigned_abs())))
    }
}
