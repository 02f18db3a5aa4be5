//! Statements about the messages between servers that share a database.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::Executor as _;
use sqlx_postgres::{PgListener, PgPool, PgPoolOptions};

use super::nodes::NodeConnections;
use super::{answered, session};
use crate::StoreResult;
use crate::node_tables::{MessageNotice, MessageStream, MessageTable, StoredMessage};

/// Time without a message after which the connection is tested.
const SILENCE: Duration = Duration::from_secs(30);

/// Bytes of a message from which on `NOTIFY` does not take it; it is only stored then.
const LONGEST_NOTICE: i32 = 8_000;

#[async_trait]
impl MessageTable for NodeConnections {
    async fn store(&self, messages: &[(i64, String)], notice: MessageNotice) -> StoreResult<()> {
        let (numbers, messages): (Vec<i64>, Vec<&str>) =
            messages.iter().map(|(number, message)| (*number, message.as_str())).unzip();
        let sql = "WITH quick AS (SELECT set_config('synchronous_commit', 'off', true) AS setting),
             told AS (SELECT number, message, setting
                 FROM unnest($2::bigint[], $3::text[]) AS told (number, message), quick),
             stored AS (INSERT INTO node_messages (node, number, message)
                 SELECT $1, number, message FROM told ON CONFLICT DO NOTHING)
             SELECT pg_notify('copydesk_' || current_schema()::regnamespace::oid, message) FROM told
             WHERE $4 AND octet_length(message) < $5 ORDER BY number";
        let query = sqlx::query(sql).bind(self.number()).bind(numbers).bind(messages);
        let query = query.bind(notice == MessageNotice::Notify).bind(LONGEST_NOTICE);
        Ok(answered(query.execute(self.pool())).await.map(drop)?)
    }

    async fn messages_after(&self, read: &[(i64, i64)]) -> StoreResult<Vec<StoredMessage>> {
        let (nodes, numbers): (Vec<i64>, Vec<i64>) = read.iter().copied().unzip();
        let sql = "SELECT node, number, message FROM node_messages
             LEFT JOIN unnest($2::bigint[], $3::bigint[]) AS read (reader, last) ON reader = node
             WHERE node <> $1 AND number > COALESCE(last, 0) ORDER BY node, number";
        let query = sqlx::query_as(sql).bind(self.number()).bind(nodes).bind(numbers);
        Ok(answered(query.fetch_all(self.pool())).await?)
    }

    async fn forget_messages(&self, older_than_s: i32) -> StoreResult<()> {
        let sql = "DELETE FROM node_messages WHERE told_at < now() - make_interval(secs => $1)";
        let query = sqlx::query(sql).bind(f64::from(older_than_s));
        Ok(answered(query.execute(self.pool())).await.map(drop)?)
    }

    async fn listen(&self) -> StoreResult<Box<dyn MessageStream>> {
        let sql = "SELECT 'copydesk_' || current_schema()::regnamespace::oid";
        let channel: String = answered(sqlx::query_scalar(sql).fetch_one(self.pool())).await?;
        let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(session::TIMEOUT);
        let pool: PgPool = pool.connect_with(self.url().options()).await?;
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen(&channel).await?;
        Ok(Box::new(PostgresNotices(listener)) as Box<dyn MessageStream>)
    }
}

impl NodeConnections {
    /// Returns the number of the last stored message of each other node.
    ///
    /// # Errors
    /// [`StoreError::Database`](crate::StoreError::Database) if the database cannot be asked.
    pub async fn last_messages(&self) -> StoreResult<Vec<(i64, i64)>> {
        let sql = "SELECT node, max(number) FROM node_messages WHERE node <> $1 GROUP BY node";
        let query = sqlx::query_as(sql).bind(self.number());
        Ok(answered(query.fetch_all(self.pool())).await?)
    }

    /// Returns the name of this database's channel in Redis, unique among all databases there, and
    /// the secret with which its nodes sign their messages.
    pub async fn channel(&self) -> StoreResult<(String, String)> {
        // The first node that needs a secret makes it, of 244 random bits.
        let sql = "INSERT INTO settings (key, value)
             VALUES ('node_key', gen_random_uuid()::text || gen_random_uuid()::text)
             ON CONFLICT DO NOTHING";
        answered(sqlx::query(sql).execute(self.pool())).await?;
        let sql =
            "SELECT 'copydesk:' || channel.value || ':' || current_schema()::regnamespace::oid
                 || ':' || current_database(), node_key.value
             FROM settings AS channel, settings AS node_key
             WHERE channel.key = 'node_channel' AND node_key.key = 'node_key'";
        Ok(answered(sqlx::query_as(sql).fetch_one(self.pool())).await?)
    }
}

struct PostgresNotices(PgListener);

#[async_trait]
impl MessageStream for PostgresNotices {
    async fn next(&mut self) -> Option<String> {
        loop {
            match tokio::time::timeout(SILENCE, self.0.try_recv()).await {
                Ok(received) => return Some(received.ok()??.payload().to_owned()),
                // A connection that only listens does not notice that the other side is gone.
                Err(_) => {
                    answered(self.0.execute("SELECT 1")).await.ok()?;
                }
            }
        }
    }
}
