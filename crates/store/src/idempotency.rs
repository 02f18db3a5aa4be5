//! Writes that happen once although they may be asked for twice: the client's key, and the answer.

use copydesk_ids::UserId;

use super::{IdempotencyRecord, Store, StoreResult};
use crate::database::columns::{JsonColumn, NumberColumn};
use crate::database::statement_batch::{RowExpectation, StatementBatch};

impl Store {
    /// Returns the record of a key, however old; the caller decides if it is too old to count.
    pub async fn once(&self, user: &UserId, key: &str) -> StoreResult<Option<IdempotencyRecord>> {
        let sql =
            "SELECT fingerprint, at_ms, answer FROM idempotency WHERE user_id = $1 AND key = $2";
        let row: Option<(String, NumberColumn, Option<JsonColumn>)> =
            self.one(sql, &[user, &key]).await?;
        let (user, key) = (user.clone(), key.to_owned());
        Ok(row.map(|(fingerprint, at_ms, answer)| {
            let (at_ms, answer) = (at_ms.into(), answer.map(Into::into));
            IdempotencyRecord { user, key, fingerprint, at_ms, answer }
        }))
    }
}

pub(super) fn begin<'a>(script: &mut StatementBatch<'a>, record: &'a IdempotencyRecord) {
    let IdempotencyRecord { user, key, fingerprint, at_ms, answer } = record;
    let sql = "INSERT INTO idempotency (user_id, key, fingerprint, at_ms, answer)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (user_id, key) DO NOTHING";
    script.run(sql, &[user, key, fingerprint, at_ms, answer]);
    script.must(RowExpectation::BeNew { kind: "key", id: key });
}

pub(super) fn put(script: &mut StatementBatch<'_>, record: &IdempotencyRecord) {
    let IdempotencyRecord { user, key, fingerprint, at_ms, answer } = record;
    let sql = "INSERT INTO idempotency (user_id, key, fingerprint, at_ms, answer)
         SELECT $1, $2, $3, $4, $5
         WHERE NOT EXISTS (SELECT 1 FROM deleted_people WHERE user_id = $1)
         ON CONFLICT (user_id, key) DO UPDATE SET fingerprint = excluded.fingerprint,
             at_ms = excluded.at_ms, answer = excluded.answer";
    script.run(sql, &[user, key, fingerprint, at_ms, answer]);
}

pub(super) fn forget(script: &mut StatementBatch<'_>, user: &UserId, key: &str) {
    script.run("DELETE FROM idempotency WHERE user_id = $1 AND key = $2", &[user, &key]);
}

pub(super) fn forget_old(script: &mut StatementBatch<'_>, before_ms: u64) {
    script.run("DELETE FROM idempotency WHERE at_ms < $1", &[&before_ms]);
}
