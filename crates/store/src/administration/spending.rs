//! Cost of the calls of models by month, person and document, and the limits of it.

use copydesk_ids::{DocumentId, UserId};

use super::records::{SpendingEntry, SpendingGroup, SpendingLimit, SpendingScope, SpendingSum};
use super::spending_month::SpendingMonth;
use crate::database::columns::ColumnValue;
use crate::database::statement_batch::StatementBatch;
use crate::{Store, StoreResult};

impl Store {
    /// Returns the limits that hold for the calls of a person about a document.
    pub async fn spending_limits_for(
        &self,
        user: &UserId,
        document: Option<&DocumentId>,
    ) -> StoreResult<Vec<SpendingLimit>> {
        let sql = "SELECT kind, subject, amount FROM spending_limits
             WHERE kind IN ('server', 'everyone') OR (kind = 'person' AND subject = $1)
                 OR (kind = 'document' AND subject = $2)
             ORDER BY kind";
        self.read_limits(sql, &[user, &document]).await
    }

    /// Returns all limits.
    pub async fn spending_limits(&self) -> StoreResult<Vec<SpendingLimit>> {
        let sql = "SELECT kind, subject, amount FROM spending_limits ORDER BY kind, subject";
        self.read_limits(sql, &[]).await
    }

    async fn read_limits(
        &self,
        sql: &'static str,
        values: &[&dyn ColumnValue],
    ) -> StoreResult<Vec<SpendingLimit>> {
        let rows: Vec<(String, String, i64)> = self.all(sql, values).await?;
        // A later version may know more kinds.
        let limit = |(kind, subject, amount): (String, String, i64)| {
            let scope = SpendingScope::of(&kind, &subject)?;
            Some(SpendingLimit { scope, amount: amount.unsigned_abs() })
        };
        Ok(rows.into_iter().filter_map(limit).collect())
    }

    /// Returns what a month has cost in billionths of a US dollar: in all, or for one of these.
    pub async fn spent(
        &self,
        month: SpendingMonth,
        user: Option<&UserId>,
        document: Option<&DocumentId>,
    ) -> StoreResult<u64> {
        let month = month.to_string();
        let sums: Vec<i64> = match (user, document) {
            (Some(user), _) => {
                let sql = "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT) FROM spending
                     WHERE month = $1 AND user_id = $2";
                self.first_columns(sql, &[&month, user]).await?
            }
            (None, Some(document)) => {
                let sql = "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT) FROM spending
                     WHERE month = $1 AND document = $2";
                self.first_columns(sql, &[&month, document]).await?
            }
            (None, None) => {
                let sql = "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT) FROM spending
                     WHERE month = $1";
                self.first_columns(sql, &[&month]).await?
            }
        };
        Ok(sums.first().map_or(0, |sum| sum.unsigned_abs()))
    }

    /// Returns the sums of a month, the highest first, at most `limit`.
    pub async fn spending_sums(
        &self,
        month: SpendingMonth,
        group: SpendingGroup,
        limit: u32,
    ) -> StoreResult<Vec<SpendingSum>> {
        let sql = match group {
            SpendingGroup::People => {
                "SELECT user_id AS subject,
                     (SELECT name FROM tokens WHERE tokens.user_id = spending.user_id
                      ORDER BY created_ms DESC, id DESC LIMIT 1) AS title,
                     CAST(SUM(calls) AS BIGINT) AS calls,
                     CAST(SUM(unpriced) AS BIGINT) AS unpriced,
                     CAST(SUM(tokens) AS BIGINT) AS tokens, CAST(SUM(cost) AS BIGINT) AS cost
                 FROM spending WHERE month = $1 GROUP BY user_id
                 ORDER BY 6 DESC, 3 DESC, 1 LIMIT $2"
            }
            SpendingGroup::Documents => {
                "SELECT document AS subject,
                     (SELECT title FROM documents WHERE documents.id = spending.document) AS title,
                     CAST(SUM(calls) AS BIGINT) AS calls,
                     CAST(SUM(unpriced) AS BIGINT) AS unpriced,
                     CAST(SUM(tokens) AS BIGINT) AS tokens, CAST(SUM(cost) AS BIGINT) AS cost
                 FROM spending WHERE month = $1 GROUP BY document
                 ORDER BY 6 DESC, 3 DESC, 1 LIMIT $2"
            }
            SpendingGroup::UnpricedModels => {
                "SELECT model AS subject, CAST(NULL AS TEXT) AS title,
                     CAST(SUM(calls) AS BIGINT) AS calls,
                     CAST(SUM(unpriced) AS BIGINT) AS unpriced,
                     CAST(SUM(tokens) AS BIGINT) AS tokens, CAST(SUM(cost) AS BIGINT) AS cost
                 FROM spending WHERE month = $1 AND unpriced > 0 GROUP BY model
                 ORDER BY 4 DESC, 1 LIMIT $2"
            }
        };
        self.all(sql, &[&month.to_string(), &limit]).await
    }
}

pub fn add(script: &mut StatementBatch<'_>, entry: &SpendingEntry) {
    let SpendingEntry { at_ms, user, document, model, tokens, cost } = entry;
    let month = SpendingMonth::at(*at_ms).to_string();
    let document = document.as_ref().map_or("", DocumentId::as_str);
    let (unpriced, cost) = (u64::from(cost.is_none()), cost.unwrap_or_default());
    let sql = "INSERT INTO spending
             (month, user_id, document, model, calls, unpriced, tokens, cost)
         VALUES ($1, $2, $3, $4, 1, $5, $6, $7)
         ON CONFLICT (month, user_id, document, model) DO UPDATE SET
             calls = spending.calls + 1, unpriced = spending.unpriced + excluded.unpriced,
             tokens = spending.tokens + excluded.tokens, cost = spending.cost + excluded.cost";
    script.run(sql, &[&month, user, &document, model, &unpriced, tokens, &cost]);
}

pub fn put_limit(script: &mut StatementBatch<'_>, scope: &SpendingScope, amount: Option<u64>) {
    let (kind, subject) = (scope.kind(), scope.subject());
    if let Some(amount) = amount {
        let sql = "INSERT INTO spending_limits (kind, subject, amount) VALUES ($1, $2, $3)
             ON CONFLICT (kind, subject) DO UPDATE SET amount = excluded.amount";
        script.run(sql, &[&kind, &subject, &amount]);
    } else {
        let sql = "DELETE FROM spending_limits WHERE kind = $1 AND subject = $2";
        script.run(sql, &[&kind, &subject]);
    }
}

pub fn move_to(script: &mut StatementBatch<'_>, from: &UserId, to: &UserId) {
    let sql = "INSERT INTO spending
             (month, user_id, document, model, calls, unpriced, tokens, cost)
         SELECT month, $2, document, model, calls, unpriced, tokens, cost
         FROM spending WHERE user_id = $1
         ON CONFLICT (month, user_id, document, model) DO UPDATE SET
             calls = spending.calls + excluded.calls,
             unpriced = spending.unpriced + excluded.unpriced,
             tokens = spending.tokens + excluded.tokens, cost = spending.cost + excluded.cost";
    script.run(sql, &[from, to]);
    script.run("DELETE FROM spending WHERE user_id = $1", &[from]);
    let sql = "INSERT INTO spending_limits (kind, subject, amount)
         SELECT kind, $2, amount FROM spending_limits WHERE kind = 'person' AND subject = $1
         ON CONFLICT (kind, subject) DO NOTHING";
    script.run(sql, &[from, to]);
    let sql = "DELETE FROM spending_limits WHERE kind = 'person' AND subject = $1";
    script.run(sql, &[from]);
}
