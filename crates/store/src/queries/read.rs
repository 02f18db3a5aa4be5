//! Queries for records. Each sees everything that was committed before it started.

use sqlx::{AssertSqlSafe, SqlSafeStr};

use copydesk_ids::{DocumentId, RequestId, RuleId, RunId, SessionId, UserId, Version};

use crate::database::columns::{ColumnValue, RowRecord};
use crate::records::{
    AuditRecord, DecisionRecord, DocumentRecord, HistoryRecord, RequestRecord, RuleRecord,
    RunRecord, SessionRecord,
};
use crate::{QueryScope, Store, StoreResult};

/// Largest number of characters of a change set in a [`HistoryRecord`]: insertions can be longer.
const SHORT_CHANGES: u32 = 8_192;

impl Store {
    /// Returns a document without its text, deleted ones too.
    pub async fn document(&self, id: &DocumentId) -> StoreResult<Option<DocumentRecord>> {
        self.one("SELECT * FROM documents WHERE id = $1", &[id]).await
    }

    /// Returns the private document of a session.
    pub async fn private_document(
        &self,
        session: &SessionId,
    ) -> StoreResult<Option<DocumentRecord>> {
        let sql = "SELECT * FROM documents WHERE unlisted_owner = $1 AND deleted = FALSE
             ORDER BY id LIMIT 1";
        self.one(sql, &[session]).await
    }

    /// Returns the newest `limit` versions, or the newest before `before`, newest first.
    pub async fn history(
        &self,
        document: &DocumentId,
        before: Option<Version>,
        limit: u32,
    ) -> StoreResult<Vec<HistoryRecord>> {
        let sql = "SELECT version, author, at_ms, origin,
               CASE WHEN LENGTH(changes) <= $4 THEN changes END AS changes FROM updates
             WHERE document = $1 AND version < $2 ORDER BY version DESC LIMIT $3";
        let before = before.unwrap_or(Version(u64::MAX));
        self.all(sql, &[document, &before, &limit, &SHORT_CHANGES]).await
    }

    /// Returns the newest `limit` requests, open or not, or the newest before `before`, newest
    /// first. Identifiers sort by the time they were made.
    pub async fn requests(
        &self,
        scope: QueryScope<'_>,
        before: Option<&RequestId>,
        limit: u32,
    ) -> StoreResult<Vec<RequestRecord>> {
        let condition = scope.condition();
        let sql = format!(
            "SELECT * FROM requests WHERE {condition} AND id < $2 ORDER BY id DESC LIMIT $3"
        );
        // Greater than every identifier: they begin with a lower-case letter.
        let before = before.map_or("~", RequestId::as_str);
        // Consists of constants alone.
        self.all(AssertSqlSafe(sql), &[&scope.value(), &before, &limit]).await
    }

    /// Returns the newest `limit` requests that have ended, or the newest before `before`, newest
    /// first; only those with one of `statuses`, if any (at most six). [`QueryScope::Documents`]
    /// and [`QueryScope::Everything`] leave out private and deleted documents.
    pub async fn ended_requests(
        &self,
        scope: QueryScope<'_>,
        statuses: &[&str],
        before: Option<&RequestId>,
        limit: u32,
    ) -> StoreResult<Vec<RequestRecord>> {
        let condition = scope.condition();
        let listed = match scope {
            QueryScope::Document(_) | QueryScope::WorkspaceInbox => "",
            QueryScope::Documents(_) | QueryScope::Everything => {
                "AND (document IS NULL OR EXISTS (SELECT 1 FROM documents WHERE documents.id = document
                      AND unlisted_owner IS NULL AND deleted = FALSE))"
            }
        };
        let sql = format!(
            "SELECT * FROM requests WHERE {condition} AND id < $2 AND NOT is_open {listed}
             AND ($3 OR status IN ($4, $5, $6, $7, $8, $9)) ORDER BY id DESC LIMIT $10"
        );
        let (document, before) = (scope.value(), before.map_or("~", RequestId::as_str));
        let is_any = statuses.is_empty();
        let wanted: [_; 6] =
            std::array::from_fn(|place| statuses.get(place).copied().unwrap_or_default());
        let mut values: Vec<&dyn ColumnValue> = vec![&document, &before, &is_any];
        values.extend(wanted.iter().map(|status| status as &dyn ColumnValue));
        values.push(&limit);
        // Consists of constants alone.
        self.all(AssertSqlSafe(sql), &values).await
    }

    /// Returns all decisions about a request, in order.
    pub async fn decisions(&self, request: &RequestId) -> StoreResult<Vec<DecisionRecord>> {
        self.all("SELECT * FROM decisions WHERE request = $1 ORDER BY seq", &[request]).await
    }

    /// Returns one rule, ended ones too.
    pub async fn rule(&self, id: &RuleId) -> StoreResult<Option<RuleRecord>> {
        self.one("SELECT * FROM rules WHERE id = $1", &[id]).await
    }

    /// Returns the rules in force, oldest first.
    pub async fn rules(&self, scope: QueryScope<'_>) -> StoreResult<Vec<RuleRecord>> {
        let condition = scope.condition();
        let sql = format!("SELECT * FROM rules WHERE ended_ms IS NULL AND {condition} ORDER BY id");
        // Consists of constants alone.
        self.all(AssertSqlSafe(sql), &[&scope.value()]).await
    }

    /// Returns one session.
    pub async fn session(&self, id: &SessionId) -> StoreResult<Option<SessionRecord>> {
        self.one("SELECT * FROM sessions WHERE id = $1", &[id]).await
    }

    /// Returns a person's newest `limit` sessions, or the newest before `before`, newest first.
    pub async fn sessions(
        &self,
        user: &UserId,
        before: Option<&SessionId>,
        limit: u32,
    ) -> StoreResult<Vec<SessionRecord>> {
        let sql = "SELECT * FROM sessions WHERE user_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
        self.all(sql, &[user, &before.map_or("~", SessionId::as_str), &limit]).await
    }

    /// Returns one run.
    pub async fn run(&self, id: &RunId) -> StoreResult<Option<RunRecord>> {
        self.one("SELECT * FROM runs WHERE id = $1", &[id]).await
    }

    /// Returns the runs that a crash or a stop left unfinished, oldest first.
    pub async fn unfinished_runs(&self) -> StoreResult<Vec<RunRecord>> {
        self.all("SELECT * FROM runs WHERE finished_ms IS NULL ORDER BY created_ms, id", &[]).await
    }

    /// Returns up to `limit` ended runs of which a session was not notified, in order of ends.
    pub async fn unheard_runs(
        &self,
        session: &SessionId,
        limit: u32,
    ) -> StoreResult<Vec<RunRecord>> {
        let sql =
            "SELECT * FROM runs WHERE session = $1 AND finished_ms IS NOT NULL AND heard_ms IS NULL
             ORDER BY finished_ms, id LIMIT $2";
        self.all(sql, &[session, &limit]).await
    }

    /// Returns the newest `limit` audit lines, of one document or of all, or those before line
    /// `before`, newest first.
    pub async fn audit(
        &self,
        document: Option<&DocumentId>,
        before: Option<u64>,
        limit: u32,
    ) -> StoreResult<Vec<AuditRecord>> {
        let sql = match document {
            Some(_) => {
                "SELECT * FROM audit WHERE document = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3"
            }
            None => "SELECT * FROM audit WHERE $1 IS NULL AND seq < $2 ORDER BY seq DESC LIMIT $3",
        };
        self.all(sql, &[&document, &before.unwrap_or(u64::MAX), &limit]).await
    }

    pub(crate) async fn one<T: RowRecord>(
        &self,
        sql: &'static str,
        all: &[&dyn ColumnValue],
    ) -> StoreResult<Option<T>> {
        self.readers().one(sql, all).await
    }

    pub(crate) async fn pairs<A: RowRecord, B: RowRecord>(
        &self,
        sql: &'static str,
        all: &[&dyn ColumnValue],
    ) -> StoreResult<Vec<(A, B)>> {
        let rows = self.readers().rows(sql, all).await?;
        rows.iter().map(|row| Ok((row.record()?, row.record()?))).collect()
    }

    pub(crate) async fn first_columns<T>(
        &self,
        sql: &'static str,
        all: &[&dyn ColumnValue],
    ) -> StoreResult<Vec<T>>
    where
        (T,): RowRecord,
    {
        let rows: Vec<(T,)> = self.all(sql, all).await?;
        Ok(rows.into_iter().map(|(first,)| first).collect())
    }

    pub(crate) async fn all<T: RowRecord>(
        &self,
        sql: impl SqlSafeStr,
        all: &[&dyn ColumnValue],
    ) -> StoreResult<Vec<T>> {
        self.readers().all(sql, all).await
    }
}
