//! Statements about the servers that share a database, and about what each of them has.

use async_trait::async_trait;
use sqlx_postgres::{PgPool, PgPoolOptions};

use super::address::DatabaseUrl;
use super::{answered, session};
use crate::node_tables::{LeaseRow, NodeRow, NodeTables};
use crate::{StoreError, StoreResult};
use copydesk_ids::DocumentId;
use copydesk_macros::record;

/// Connections of a node besides those that read and the one that writes.
const CONNECTIONS: u32 = 3;

/// Code of the error for a row that refers to nothing.
const NO_SUCH_NODE: &str = "23503";

/// Condition for the lock of the node `$1`, as [`server`](super::server) takes it.
const NODE_LOCK: &str = "hashtextextended('copydesk node ' || current_schema()::regnamespace::oid
    || '/' || $1, 0)";

/// Place of a lease that may be free.
#[record(Debug)]
struct FoundLease {
    node: Option<i64>,
    url: Option<String>,
    term: Option<i64>,
    is_there: bool,
}

/// Connections of a node for its signs of life, its leases and its messages.
#[derive(Debug)]
pub struct NodeConnections {
    url: DatabaseUrl,
    pool: PgPool,
    number: i64,
}

impl NodeConnections {
    /// Opens the connections of the node with this number.
    ///
    /// # Errors
    /// [`StoreError::Database`] if the database cannot be reached.
    pub async fn open(url: &DatabaseUrl, number: i64) -> StoreResult<Self> {
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS);
        let pool = pool.acquire_timeout(session::TIMEOUT).after_connect(|connection, _| {
            Box::pin(async move { session::configure(connection).await })
        });
        Ok(Self { url: url.clone(), pool: pool.connect_with(url.options()).await?, number })
    }

    async fn find_lease(
        &self,
        name: &str,
        document: Option<&DocumentId>,
    ) -> StoreResult<FoundLease> {
        let sql = "SELECT number AS node, url, term,
                 $2::text IS NULL OR EXISTS (SELECT 1 FROM documents WHERE id = $2) AS is_there
             FROM (SELECT 1) AS one LEFT JOIN leases ON name = $1
             LEFT JOIN nodes ON number = leases.node";
        let query = sqlx::query_as(sql).bind(name).bind(document.map(DocumentId::as_str));
        Ok(answered(query.fetch_one(&self.pool)).await?)
    }

    /// Returns the number of this node.
    pub fn number(&self) -> i64 {
        self.number
    }

    /// Returns the address of the database.
    pub(super) fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    /// Returns the connections.
    pub(super) fn pool(&self) -> &PgPool {
        &self.pool
    }
}

#[async_trait]
impl NodeTables for NodeConnections {
    async fn beat(&self) -> StoreResult<bool> {
        let beat = async {
            let mut beat = self.pool.begin().await?;
            sqlx::query("SET LOCAL synchronous_commit = off").execute(&mut *beat).await?;
            // By chance: a database that loses the last ones in a crash does not come to the same
            // number again, which would look like silence.
            let sql = "UPDATE node_beats SET beat = beat + 1 + floor(random() * 1000000)::bigint
                 WHERE node = $1";
            let done = sqlx::query(sql).bind(self.number).execute(&mut *beat).await?;
            beat.commit().await?;
            Ok(done.rows_affected() == 1)
        };
        Ok(answered(beat).await?)
    }

    async fn others(&self) -> StoreResult<Vec<NodeRow>> {
        let sql = "SELECT number, url, beat FROM nodes JOIN node_beats ON node = number
             WHERE number <> $1 ORDER BY number";
        let query = sqlx::query_as(sql).bind(self.number);
        Ok(answered(query.fetch_all(&self.pool)).await?)
    }

    async fn is_unlocked(&self, number: i64) -> StoreResult<bool> {
        let sql = format!("SELECT pg_try_advisory_xact_lock({NODE_LOCK})");
        let query = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).bind(number);
        Ok(answered(query.fetch_one(&self.pool)).await?)
    }

    async fn remove(&self, number: i64, beat: i64) -> StoreResult<bool> {
        // A process that stands still would hold the lock of its transaction. Without the right to
        // do this, PostgreSQL ends that session after ten seconds.
        let sql = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_locks, (SELECT {NODE_LOCK} AS key) AS node
             WHERE locktype = 'advisory' AND granted AND objsubid = 1
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                 AND (classid::bigint << 32 | objid::bigint) = key"
        );
        let ending = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(number);
        let sql = "DELETE FROM nodes WHERE number = $1
             AND EXISTS (SELECT 1 FROM node_beats WHERE node = $1 AND beat = $2)";
        let removing = sqlx::query(sql).bind(number).bind(beat);
        if let Err(error) = answered(ending.execute(&self.pool)).await {
            tracing::warn!(%error, node = number, "cannot end the session of a lost node");
        }
        Ok(answered(removing.execute(&self.pool)).await?.rows_affected() == 1)
    }

    async fn lease(
        &self,
        name: &str,
        document: Option<&DocumentId>,
    ) -> StoreResult<Option<LeaseRow>> {
        loop {
            let found = self.find_lease(name, document).await?;
            let taken = match found {
                FoundLease { node: Some(node), url: Some(url), term: Some(term), .. } => {
                    if node != self.number {
                        return Ok(Some(LeaseRow { node, url, term }));
                    }
                    let sql = "UPDATE leases SET term = DEFAULT WHERE name = $1 AND node = $2
                             RETURNING term";
                    sqlx::query_scalar(sql)
                }
                FoundLease { is_there: false, .. } => return Ok(None),
                FoundLease { .. } => {
                    let sql = "INSERT INTO leases (name, node) VALUES ($1, $2)
                             ON CONFLICT DO NOTHING RETURNING term";
                    sqlx::query_scalar(sql)
                }
            };
            let taken = taken.bind(name).bind(self.number).fetch_optional(&self.pool);
            if let Some(term) = answered(taken).await.map_err(replaced)? {
                let url = String::new();
                return Ok(Some(LeaseRow { node: self.number, url, term }));
            }
        }
    }

    async fn holder(&self, name: &str) -> StoreResult<Option<(i64, String)>> {
        let sql = "SELECT number, url FROM leases JOIN nodes ON number = node
             WHERE name = $1 AND node <> $2";
        let query = sqlx::query_as(sql).bind(name).bind(self.number);
        Ok(answered(query.fetch_optional(&self.pool)).await?)
    }

    async fn release(&self, name: &str, term: i64) -> StoreResult<()> {
        let query = sqlx::query("DELETE FROM leases WHERE name = $1 AND node = $2 AND term = $3");
        let query = query.bind(name).bind(self.number).bind(term);
        Ok(answered(query.execute(&self.pool)).await.map(drop)?)
    }

    async fn release_all(&self) -> StoreResult<()> {
        let query = sqlx::query("DELETE FROM leases WHERE node = $1").bind(self.number);
        Ok(answered(query.execute(&self.pool)).await.map(drop)?)
    }

    async fn leased_documents(&self) -> StoreResult<usize> {
        let sql = "SELECT COUNT(*) FROM leases WHERE node = $1 AND name LIKE 'document/%'";
        let query = sqlx::query_scalar(sql).bind(self.number);
        let count: i64 = answered(query.fetch_one(&self.pool)).await?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    async fn leave(&self) {
        let query = sqlx::query("DELETE FROM nodes WHERE number = $1").bind(self.number);
        if let Err(error) = answered(query.execute(&self.pool)).await {
            tracing::warn!(%error, "cannot sign off; the other nodes find out");
        }
        self.pool.close().await;
    }
}

/// Maps the error of a lease that a node without a row wants to take.
fn replaced(error: sqlx::Error) -> StoreError {
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    if code.as_deref() == Some(NO_SUCH_NODE) { StoreError::Replaced } else { error.into() }
}
