//! Answers to programs that were not shown everything, kept for a while under a conversation's key.

use copydesk_ids::UserId;

use super::{AnswerRecord, Store, StoreResult};
use crate::database::columns::list;
use crate::database::statement_batch::StatementBatch;

impl Store {
    /// Returns the answers to a person's programs under `keys` that were used since `since_ms`.
    pub async fn answers(
        &self,
        user: &UserId,
        keys: &[String],
        since_ms: u64,
    ) -> StoreResult<Vec<AnswerRecord>> {
        let sql = "SELECT * FROM answers WHERE used_ms >= $1 AND user_id = $2
             AND key IN (SELECT value ->> 0 FROM json_each($3))";
        self.all(sql, &[&since_ms, user, &list(keys)]).await
    }
}

pub fn put(script: &mut StatementBatch<'_>, record: &AnswerRecord) {
    let AnswerRecord { user, key, used_ms, body } = record;
    let body = body.to_string();
    let sql = "INSERT INTO answers (user_id, key, used_ms, bytes, body)
         SELECT $1, $2, $3, $4, $5
         WHERE NOT EXISTS (SELECT 1 FROM deleted_people WHERE user_id = $1)
         ON CONFLICT (user_id, key) DO UPDATE SET used_ms = excluded.used_ms,
             bytes = excluded.bytes, body = excluded.body";
    script.run(sql, &[user, key, used_ms, &(body.len() as u64), &body]);
}

/// Marks answers as used at `at_ms`, because their conversation went on.
pub fn touch(script: &mut StatementBatch<'_>, user: &UserId, keys: &[String], at_ms: u64) {
    let sql = "UPDATE answers SET used_ms = $3
         WHERE user_id = $1 AND key IN (SELECT value ->> 0 FROM json_each($2))";
    script.run(sql, &[user, &list(keys), &at_ms]);
}

/// Removes all answers that were not used since `before_ms`, and those of `user` beyond
/// `most_bytes`, the longest unused first.
pub fn forget(script: &mut StatementBatch<'_>, user: &UserId, before_ms: u64, most_bytes: u64) {
    script.run("DELETE FROM answers WHERE used_ms < $1", &[&before_ms]);
    let sql = "DELETE FROM answers WHERE user_id = $1 AND key IN (SELECT key FROM
             (SELECT key, SUM(bytes) OVER (ORDER BY used_ms DESC, key) AS total
              FROM answers WHERE user_id = $1) AS sums
          WHERE total > $2)";
    script.run(sql, &[user, &most_bytes]);
}
