//! What can be read: one function per question, each seeing everything committed before it was asked.

use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Sqlite, SqliteConnection};

use crate::ids::{ClientId, DocumentId, RequestId, RuleId, RunId, SessionId, UserId, Version};

use super::records::{
    AuditRecord, DecisionRecord, DocumentRecord, HistoryRecord, LoadedDocument, RequestRecord,
    RuleRecord, RunRecord, SessionRecord, TokenRecord, UpdateRecord,
};
use super::rows::{self, int};
use super::{Scope, Store, StoreError};

type Query = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

impl Store {
    /// A document without its text, deleted ones too.
    pub async fn document(&self, id: &DocumentId) -> Result<Option<DocumentRecord>, StoreError> {
        let query = sqlx::query("SELECT * FROM documents WHERE id = $1").bind(id.to_string());
        self.one(query, rows::document).await
    }

    /// The documents people can open from the list, last changed first: no private texts, no deleted ones.
    pub async fn documents(&self) -> Result<Vec<DocumentRecord>, StoreError> {
        let query = sqlx::query(
            "SELECT * FROM documents WHERE unlisted_owner IS NULL AND deleted = FALSE
             ORDER BY updated_ms DESC, id DESC",
        );
        self.all(query, rows::document).await
    }

    /// The private text of a session.
    pub async fn private_document(
        &self,
        session: &SessionId,
    ) -> Result<Option<DocumentRecord>, StoreError> {
        let query = sqlx::query(
            "SELECT * FROM documents WHERE unlisted_owner = $1 AND deleted = FALSE
             ORDER BY id LIMIT 1",
        )
        .bind(session.to_string());
        self.one(query, rows::document).await
    }

    /// A document with its text: the newest snapshot and what came after. Deleted ones are not there.
    pub async fn load(&self, id: &DocumentId) -> Result<Option<LoadedDocument>, StoreError> {
        self.load_at(id, Version(u64::MAX)).await
    }

    /// The same, up to `version` at most.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the log has a gap or there is no snapshot to start from.
    pub async fn load_at(
        &self,
        id: &DocumentId,
        version: Version,
    ) -> Result<Option<LoadedDocument>, StoreError> {
        // One transaction, so that record, snapshot and log are of the same moment.
        let mut moment = self.readers().begin().await?;
        let row = sqlx::query("SELECT * FROM documents WHERE id = $1 AND deleted = FALSE")
            .bind(id.as_str())
            .fetch_optional(&mut *moment)
            .await?;
        let Some(mut record) = row.map(|row| rows::document(&row)).transpose()? else {
            return Ok(None);
        };
        record.version = record.version.min(version);
        let snapshot: Option<(i64, String)> = sqlx::query_as(
            "SELECT version, content FROM snapshots WHERE document = $1 AND version <= $2
             ORDER BY version DESC LIMIT 1",
        )
        .bind(id.as_str())
        .bind(int(record.version.0))
        .fetch_optional(&mut *moment)
        .await?;
        let (snapshot, text) =
            snapshot.ok_or_else(|| StoreError::corrupt(format!("{id}"), "it has no text"))?;
        let snapshot = Version(snapshot.unsigned_abs());
        let updates = log(&mut moment, id, snapshot, record.version).await?;
        Ok(Some(LoadedDocument { record, snapshot, text, updates }))
    }

    /// The updates that lead from version `from` to version `to`, one per version.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when one is missing, also when the document is not at `to` yet.
    pub async fn updates(
        &self,
        document: &DocumentId,
        from: Version,
        to: Version,
    ) -> Result<Vec<UpdateRecord>, StoreError> {
        let mut connection = self.readers().acquire().await?;
        log(&mut connection, document, from, to).await
    }

    /// The newest `limit` versions, or the newest before `before`, newest first.
    pub async fn history(
        &self,
        document: &DocumentId,
        before: Option<Version>,
        limit: u32,
    ) -> Result<Vec<HistoryRecord>, StoreError> {
        let query = sqlx::query(
            "SELECT version, author, at_ms, origin FROM updates
             WHERE document = $1 AND version < $2 ORDER BY version DESC LIMIT $3",
        )
        .bind(document.to_string())
        .bind(before.map_or(i64::MAX, |version| int(version.0)))
        .bind(i64::from(limit));
        self.all(query, rows::history).await
    }

    /// The person an editor instance belongs to, if anybody has pushed with it.
    pub async fn client_owner(
        &self,
        document: &DocumentId,
        client: &ClientId,
    ) -> Result<Option<UserId>, StoreError> {
        let owner: Option<String> =
            sqlx::query_scalar("SELECT user_id FROM clients WHERE document = $1 AND client = $2")
                .bind(document.as_str())
                .bind(client.as_str())
                .fetch_optional(self.readers())
                .await?;
        Ok(owner.map(Into::into))
    }

    /// One request.
    pub async fn request(&self, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        let query = sqlx::query("SELECT * FROM requests WHERE id = $1").bind(id.to_string());
        self.one(query, rows::request).await
    }

    /// The requests that somebody may still decide, oldest first.
    pub async fn open_requests(&self, scope: Scope<'_>) -> Result<Vec<RequestRecord>, StoreError> {
        let query = match scope {
            Scope::Document(document) => {
                sqlx::query("SELECT * FROM requests WHERE is_open AND document = $1 ORDER BY id")
                    .bind(document.to_string())
            }
            Scope::Desk => {
                sqlx::query("SELECT * FROM requests WHERE is_open AND document IS NULL ORDER BY id")
            }
            Scope::Everything => sqlx::query("SELECT * FROM requests WHERE is_open ORDER BY id"),
        };
        self.all(query, rows::request).await
    }

    /// The newest `limit` requests, open or not, or the newest before `before`, newest first.
    /// Identifiers sort by the time they were made.
    pub async fn requests(
        &self,
        scope: Scope<'_>,
        before: Option<&RequestId>,
        limit: u32,
    ) -> Result<Vec<RequestRecord>, StoreError> {
        // Past every identifier: they begin with a lower-case letter.
        let before = before.map_or_else(|| "~".to_owned(), ToString::to_string);
        let limit = i64::from(limit);
        let query = match scope {
            Scope::Document(document) => sqlx::query(
                "SELECT * FROM requests WHERE document = $3 AND id < $1
                 ORDER BY id DESC LIMIT $2",
            )
            .bind(before)
            .bind(limit)
            .bind(document.to_string()),
            Scope::Desk => sqlx::query(
                "SELECT * FROM requests WHERE document IS NULL AND id < $1
                 ORDER BY id DESC LIMIT $2",
            )
            .bind(before)
            .bind(limit),
            Scope::Everything => {
                sqlx::query("SELECT * FROM requests WHERE id < $1 ORDER BY id DESC LIMIT $2")
                    .bind(before)
                    .bind(limit)
            }
        };
        self.all(query, rows::request).await
    }

    /// The newest `limit` requests of a document that have ended, or the newest before `before`, newest first; only those
    /// with one of these statuses, if any are named (at most six). Of everything: without those of unlisted documents.
    pub async fn ended_requests(
        &self,
        scope: Scope<'_>,
        statuses: &[&str],
        before: Option<&RequestId>,
        limit: u32,
    ) -> Result<Vec<RequestRecord>, StoreError> {
        let before = before.map_or_else(|| "~".to_owned(), ToString::to_string);
        let query = match scope {
            Scope::Document(_) => sqlx::query(
                "SELECT * FROM requests WHERE document = $1 AND id < $2 AND NOT is_open
                 AND ($3 OR status IN ($4, $5, $6, $7, $8, $9)) ORDER BY id DESC LIMIT $10",
            ),
            Scope::Desk => sqlx::query(
                "SELECT * FROM requests WHERE $1 IS NULL AND document IS NULL AND id < $2
                 AND NOT is_open
                 AND ($3 OR status IN ($4, $5, $6, $7, $8, $9)) ORDER BY id DESC LIMIT $10",
            ),
            Scope::Everything => sqlx::query(
                "SELECT * FROM requests WHERE $1 IS NULL AND id < $2 AND NOT is_open
                 AND (document IS NULL OR EXISTS (SELECT 1 FROM documents WHERE documents.id = document
                      AND unlisted_owner IS NULL AND deleted = FALSE))
                 AND ($3 OR status IN ($4, $5, $6, $7, $8, $9)) ORDER BY id DESC LIMIT $10",
            ),
        };
        let document = match scope {
            Scope::Document(document) => Some(document.to_string()),
            Scope::Desk | Scope::Everything => None,
        };
        let mut query = query.bind(document).bind(before).bind(statuses.is_empty());
        for place in 0..6 {
            query = query.bind(statuses.get(place).copied().unwrap_or_default().to_owned());
        }
        self.all(query.bind(i64::from(limit)), rows::request).await
    }

    /// Everything that was decided about a request, in order.
    pub async fn decisions(&self, request: &RequestId) -> Result<Vec<DecisionRecord>, StoreError> {
        let query = sqlx::query("SELECT * FROM decisions WHERE request = $1 ORDER BY seq")
            .bind(request.to_string());
        self.all(query, rows::decision).await
    }

    /// One rule, ended ones too.
    pub async fn rule(&self, id: &RuleId) -> Result<Option<RuleRecord>, StoreError> {
        let query = sqlx::query("SELECT * FROM rules WHERE id = $1").bind(id.to_string());
        self.one(query, rows::rule).await
    }

    /// The rules in force, oldest first.
    pub async fn rules(&self, scope: Scope<'_>) -> Result<Vec<RuleRecord>, StoreError> {
        let query = match scope {
            Scope::Document(document) => sqlx::query(
                "SELECT * FROM rules WHERE ended_ms IS NULL AND document = $1 ORDER BY id",
            )
            .bind(document.to_string()),
            Scope::Desk => sqlx::query(
                "SELECT * FROM rules WHERE ended_ms IS NULL AND document IS NULL ORDER BY id",
            ),
            Scope::Everything => {
                sqlx::query("SELECT * FROM rules WHERE ended_ms IS NULL ORDER BY id")
            }
        };
        self.all(query, rows::rule).await
    }

    /// One session.
    pub async fn session(&self, id: &SessionId) -> Result<Option<SessionRecord>, StoreError> {
        let query = sqlx::query("SELECT * FROM sessions WHERE id = $1").bind(id.to_string());
        self.one(query, rows::session).await
    }

    /// A person's newest `limit` sessions, or the newest before `before`, newest first.
    pub async fn sessions(
        &self,
        user: &UserId,
        before: Option<&SessionId>,
        limit: u32,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let query = sqlx::query(
            "SELECT * FROM sessions WHERE user_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3",
        )
        .bind(user.to_string())
        .bind(before.map_or_else(|| "~".to_owned(), ToString::to_string))
        .bind(i64::from(limit));
        self.all(query, rows::session).await
    }

    /// One run.
    pub async fn run(&self, id: &RunId) -> Result<Option<RunRecord>, StoreError> {
        let query = sqlx::query("SELECT * FROM runs WHERE id = $1").bind(id.to_string());
        self.one(query, rows::run).await
    }

    /// Whether somebody was told how a run ended.
    pub async fn run_is_heard(&self, id: &RunId) -> Result<bool, StoreError> {
        let query = sqlx::query("SELECT * FROM runs WHERE id = $1 AND heard_ms IS NOT NULL")
            .bind(id.to_string());
        Ok(self.one(query, rows::run).await?.is_some())
    }

    /// The runs that a crash or a stop left behind, oldest first.
    pub async fn unfinished_runs(&self) -> Result<Vec<RunRecord>, StoreError> {
        let query =
            sqlx::query("SELECT * FROM runs WHERE finished_ms IS NULL ORDER BY created_ms, id");
        self.all(query, rows::run).await
    }

    /// The oldest `limit` runs of a session whose end it has not been told, in the order in which they ended.
    pub async fn unheard_runs(
        &self,
        session: &SessionId,
        limit: u32,
    ) -> Result<Vec<RunRecord>, StoreError> {
        let query = sqlx::query(
            "SELECT * FROM runs WHERE session = $1 AND finished_ms IS NOT NULL AND heard_ms IS NULL
             ORDER BY finished_ms, id LIMIT $2",
        )
        .bind(session.to_string())
        .bind(i64::from(limit));
        self.all(query, rows::run).await
    }

    /// The token whose secret has this hash, expired and revoked ones too.
    pub async fn token_by_hash(&self, hash: &str) -> Result<Option<TokenRecord>, StoreError> {
        let query = sqlx::query("SELECT * FROM tokens WHERE hash = $1").bind(hash.to_owned());
        self.one(query, rows::token).await
    }

    /// All tokens, oldest first.
    pub async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        let query = sqlx::query("SELECT * FROM tokens ORDER BY created_ms, id");
        self.all(query, rows::token).await
    }

    /// The tokens that have run out by `now_ms`, as far as that is not kept yet.
    pub async fn tokens_run_out(&self, now_ms: u64) -> Result<Vec<TokenRecord>, StoreError> {
        let query =
            sqlx::query("SELECT * FROM tokens WHERE revoked_ms IS NULL AND expires_ms <= $1")
                .bind(int(now_ms));
        self.all(query, rows::token).await
    }

    /// All tokens of one person, expired and revoked ones too.
    pub async fn tokens_of(&self, user: &UserId) -> Result<Vec<TokenRecord>, StoreError> {
        let query = sqlx::query("SELECT * FROM tokens WHERE user_id = $1").bind(user.to_string());
        self.all(query, rows::token).await
    }

    /// One of the server's own values.
    pub async fn setting(&self, key: &str) -> Result<Option<String>, StoreError> {
        let query = sqlx::query_scalar("SELECT value FROM settings WHERE key = $1").bind(key);
        Ok(query.fetch_optional(self.readers()).await?)
    }

    /// The newest `limit` audit lines, of one document or of all, or the newest before line `before`,
    /// newest first.
    pub async fn audit(
        &self,
        document: Option<&DocumentId>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        let query = match document {
            Some(_) => sqlx::query(
                "SELECT * FROM audit WHERE seq < $1 AND document = $3 ORDER BY seq DESC LIMIT $2",
            ),
            None => sqlx::query("SELECT * FROM audit WHERE seq < $1 ORDER BY seq DESC LIMIT $2"),
        };
        let query = query.bind(before.map_or(i64::MAX, int)).bind(i64::from(limit));
        let query = match document {
            Some(document) => query.bind(document.to_string()),
            None => query,
        };
        self.all(query, rows::audit).await
    }

    async fn one<T>(
        &self,
        query: Query,
        read: fn(&SqliteRow) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        query.fetch_optional(self.readers()).await?.map(|row| read(&row)).transpose()
    }

    async fn all<T>(
        &self,
        query: Query,
        read: fn(&SqliteRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        query.fetch_all(self.readers()).await?.iter().map(read).collect()
    }
}

async fn log(
    db: &mut SqliteConnection,
    document: &DocumentId,
    from: Version,
    to: Version,
) -> Result<Vec<UpdateRecord>, StoreError> {
    let found = sqlx::query(
        "SELECT client, changes, author, at_ms, origin FROM updates
         WHERE document = $1 AND version > $2 AND version <= $3 ORDER BY version",
    )
    .bind(document.as_str())
    .bind(int(from.0))
    .bind(int(to.0))
    .fetch_all(db)
    .await?;
    // Versions are unique, so as many rows as versions means that none is missing.
    let expected = to.0.saturating_sub(from.0);
    if found.len() as u64 != expected {
        let reason = format!("{} updates between {from} and {to}", found.len());
        return Err(StoreError::corrupt(format!("the log of {document}"), &reason));
    }
    found.iter().map(rows::update).collect()
}
