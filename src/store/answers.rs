//! Answers to programs of which they were not shown everything: kept under the key of the conversation, for a while.

use serde_json::Value;
use sqlx::{QueryBuilder, Sqlite};

use crate::ids::UserId;

use super::{Store, StoreError};
use crate::store::sqlite::rows::int;
use crate::store::sqlite::statement_batch::StatementBatch;

/// Keys that one statement names.
const TOGETHER: usize = 500;

/// What is kept of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRecord {
    /// Whose program was answered.
    pub user: UserId,
    /// The key of the conversation up to the answer.
    pub key: String,
    /// When it was last of use.
    pub used_ms: u64,
    /// What the program does not know.
    pub body: Value,
}

impl Store {
    /// The answers to a person's programs under these keys that were used at `since_ms` or later.
    pub async fn answers(
        &self,
        user: &UserId,
        keys: &[String],
        since_ms: u64,
    ) -> Result<Vec<AnswerRecord>, StoreError> {
        let mut found = Vec::new();
        for keys in keys.chunks(TOGETHER) {
            let mut query = QueryBuilder::<Sqlite>::new(
                "SELECT key, used_ms, body FROM answers WHERE used_ms >= ",
            );
            query.push_bind(int(since_ms));
            named(&mut query, user, keys);
            let rows: Vec<(String, i64, String)> =
                query.build_query_as().fetch_all(self.readers()).await?;
            for (key, used_ms, body) in rows {
                let body = serde_json::from_str(&body)
                    .map_err(|error| StoreError::corrupt("an answer to a program", &error))?;
                let (user, used_ms) = (user.clone(), used_ms.unsigned_abs());
                found.push(AnswerRecord { user, key, used_ms, body });
            }
        }
        Ok(found)
    }
}

/// A new answer, or the same once more.
pub(super) fn put(script: &mut StatementBatch<'_>, record: &AnswerRecord) {
    let body = record.body.to_string();
    script
        .run(
            "INSERT INTO answers (user_id, key, used_ms, bytes, body) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (user_id, key) DO UPDATE SET used_ms = excluded.used_ms,
                 bytes = excluded.bytes, body = excluded.body",
        )
        .bind(record.user.as_str())
        .bind(&record.key)
        .bind(int(record.used_ms))
        .bind(int(body.len() as u64))
        .bind(body);
}

/// What is kept under a key goes.
pub(super) fn drop(script: &mut StatementBatch<'_>, user: &UserId, key: &str) {
    script.run("DELETE FROM answers WHERE user_id = $1 AND key = $2").bind(user.as_str()).bind(key);
}

/// The conversation that these answers belong to went on.
pub(super) fn touch(script: &mut StatementBatch<'_>, user: &UserId, keys: &[String], at_ms: u64) {
    for key in keys {
        script
            .run("UPDATE answers SET used_ms = $3 WHERE user_id = $1 AND key = $2")
            .bind(user.as_str())
            .bind(key)
            .bind(int(at_ms));
    }
}

/// Whatever was not used since `before_ms` is forgotten, and of one person what is more than so many bytes, the longest
/// unused first.
pub(super) fn forget(
    script: &mut StatementBatch<'_>,
    user: &UserId,
    before_ms: u64,
    most_bytes: u64,
) {
    script.run("DELETE FROM answers WHERE used_ms < $1").bind(int(before_ms));
    script
        .run(
            "DELETE FROM answers WHERE user_id = $1 AND key IN (SELECT key FROM
                 (SELECT key, SUM(bytes) OVER (ORDER BY used_ms DESC, key) AS total
                  FROM answers WHERE user_id = $1) AS sums
              WHERE total > $2)",
        )
        .bind(user.as_str())
        .bind(int(most_bytes));
}

fn named(query: &mut QueryBuilder<Sqlite>, user: &UserId, keys: &[String]) {
    query.push(" AND user_id = ").push_bind(user.as_str().to_owned()).push(" AND key IN (");
    let mut names = query.separated(", ");
    for key in keys {
        names.push_bind(key.clone());
    }
    query.push(")");
}
