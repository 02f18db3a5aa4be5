//! Requests as they are stored: the body, and the parts that changed since it was written.

use std::collections::HashMap;

use sqlx::AssertSqlSafe;

use crate::database::statement_batch::StatementBatch;
use copydesk_ids::{DocumentId, RequestId, SessionId};

use super::records::{RequestPartRecord, RequestRecord, RequestStanding};
use super::{QueryScope, Store, StoreResult};

/// Stores a request as a whole, which replaces the parts that changed since it was last.
pub(super) fn put(script: &mut StatementBatch<'_>, record: &RequestRecord) {
    let RequestRecord { id, document, session, run, status, open, body, .. } = record;
    let RequestRecord { created_ms, expires_ms, decided_ms, .. } = record;
    let sql = "INSERT INTO requests
             (id, document, session, run, status, is_open, created_ms, expires_ms, body, decided_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (id) DO UPDATE SET status = excluded.status, is_open = excluded.is_open,
             expires_ms = excluded.expires_ms, body = excluded.body,
             decided_ms = excluded.decided_ms";
    script.run(
        sql,
        &[id, document, session, run, status, open, created_ms, expires_ms, body, decided_ms],
    );
    script.run("DELETE FROM request_parts WHERE request = $1", &[id]);
}

/// Stores parts of an open request; its row, which can be long, only if it expires at another time.
pub(super) fn put_parts(
    script: &mut StatementBatch<'_>,
    request: &RequestId,
    expires_ms: Option<u64>,
    parts: &[RequestPartRecord],
) {
    let sql = "INSERT INTO request_parts (request, hunk, version, body) VALUES ($1, $2, $3, $4)
         ON CONFLICT (request, hunk) DO UPDATE SET version = excluded.version,
             body = excluded.body";
    for RequestPartRecord { request, hunk, version, body } in parts {
        script.run(sql, &[request, hunk, version, body]);
    }
    let sql = "UPDATE requests SET expires_ms = $2
         WHERE id = $1 AND expires_ms IS DISTINCT FROM $2";
    script.run(sql, &[request, &expires_ms]);
}

pub(super) fn add_parts<'r>(
    records: impl IntoIterator<Item = &'r mut RequestRecord>,
    parts: Vec<RequestPartRecord>,
) {
    let mut by_request: HashMap<RequestId, Vec<RequestPartRecord>> = HashMap::new();
    for part in parts {
        by_request.entry(part.request.clone()).or_default().push(part);
    }
    for record in records {
        record.changed = by_request.remove(&record.id).unwrap_or_default();
    }
}

impl Store {
    /// Returns one request.
    pub async fn request(&self, id: &RequestId) -> StoreResult<Option<RequestRecord>> {
        let record: Option<RequestRecord> =
            self.one("SELECT * FROM requests WHERE id = $1", &[id]).await?;
        let Some(mut record) = record else { return Ok(None) };
        if record.open {
            let sql = "SELECT * FROM request_parts WHERE request = $1";
            record.changed = self.all(sql, &[id]).await?;
        }
        Ok(Some(record))
    }

    /// Returns what is known of a request without its body, which can be as long as a document.
    pub async fn request_standing(&self, id: &RequestId) -> StoreResult<Option<RequestStanding>> {
        let sql = "SELECT document, status, is_open, decided_ms FROM requests WHERE id = $1";
        self.one(sql, &[id]).await
    }

    /// Returns the newest request of a session about a document.
    pub async fn newest_request(
        &self,
        document: &DocumentId,
        session: &SessionId,
    ) -> StoreResult<Option<RequestId>> {
        let sql = "SELECT * FROM requests WHERE document = $1 AND session = $2
             ORDER BY id DESC LIMIT 1";
        let newest: Option<RequestRecord> = self.one(sql, &[document, session]).await?;
        Ok(newest.map(|record| record.id))
    }

    /// Returns the requests that may still be decided, oldest first. Only the room that owns them
    /// writes them, so what it reads itself is complete.
    pub async fn open_requests(&self, scope: QueryScope<'_>) -> StoreResult<Vec<RequestRecord>> {
        let condition = scope.condition();
        let document = scope.value();
        let sql = format!("SELECT * FROM requests WHERE is_open AND {condition} ORDER BY id");
        // Both consist of constants alone.
        let mut records = self.all(AssertSqlSafe(sql), &[&document]).await?;
        let sql = format!(
            "SELECT * FROM request_parts WHERE request IN
                 (SELECT id FROM requests WHERE is_open AND {condition})"
        );
        add_parts(&mut records, self.all(AssertSqlSafe(sql), &[&document]).await?);
        Ok(records)
    }
}
