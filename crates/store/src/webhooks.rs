//! Webhooks and their outbox: a delivery is written together with its request, so neither a crash
//! nor a slow receiver loses it.

pub(super) mod records;

use copydesk_ids::{DeliveryId, WebhookId};

use super::records::RequestRecord;
use super::{DeliveryOutcome, Store, StoreResult, WebhookDelivery, WebhookRecord, WebhookState};
use crate::database::connection::WriterConnection;
use crate::database::statement_batch::StatementBatch;

/// Maximum number of deliveries that may wait for one receiver; more are dropped and counted.
const MOST_WAITING: i64 = 1_000;

impl Store {
    /// Returns all webhooks, oldest first.
    pub async fn webhooks(&self) -> StoreResult<Vec<WebhookState>> {
        let sql =
            "SELECT webhooks.*, (SELECT COUNT(*) FROM outbox WHERE hook = webhooks.id) AS waiting
             FROM webhooks ORDER BY id";
        self.all(sql, &[]).await
    }

    /// Returns the oldest delivery of each active webhook.
    pub async fn deliveries(&self) -> StoreResult<Vec<WebhookDelivery>> {
        let sql = "SELECT webhooks.*, outbox.seq, outbox.id AS delivery, outbox.event, outbox.body,
                    outbox.attempts, outbox.since_ms, outbox.next_ms
             FROM outbox JOIN webhooks ON webhooks.id = outbox.hook
             WHERE webhooks.active
               AND outbox.seq = (SELECT MIN(seq) FROM outbox AS older WHERE older.hook = outbox.hook)
             ORDER BY outbox.seq";
        self.all(sql, &[]).await
    }
}

/// Stores a new webhook, or its new address or activity. A new address has not failed yet.
pub(super) fn put(script: &mut StatementBatch<'_>, record: &WebhookRecord) {
    let WebhookRecord { id, url, document, secret, active, created_ms } = record;
    let sql = "INSERT INTO webhooks (id, url, document, secret, active, created_ms, dropped)
         VALUES ($1, $2, $3, $4, $5, $6, 0)
         ON CONFLICT (id) DO UPDATE SET url = excluded.url, active = excluded.active,
             failing_ms = NULL, error = NULL";
    script.run(sql, &[id, url, document, secret, active, created_ms]);
    script.run("UPDATE outbox SET next_ms = 0 WHERE hook = $1", &[id]);
}

pub(super) fn remove(script: &mut StatementBatch<'_>, id: &WebhookId) {
    script.run("DELETE FROM outbox WHERE hook = $1", &[id]);
    script.run("DELETE FROM webhooks WHERE id = $1", &[id]);
}

/// Condition for the webhooks that are notified of request `$2` of document `$1`, whose new state
/// is open or not (`$3`). A request written again while it stays open, or stays ended, is no news.
const TOLD: &str = "active
    AND (document = $1 OR (document IS NULL AND NOT EXISTS
        (SELECT 1 FROM documents WHERE id = $1 AND unlisted_owner IS NOT NULL)))
    AND (SELECT is_open FROM requests WHERE id = $2) IS DISTINCT FROM $3
    AND (SELECT COUNT(*) FROM outbox WHERE hook = webhooks.id)";

pub(super) async fn are_any(db: &mut WriterConnection) -> StoreResult<bool> {
    let any: Option<(i64,)> = db.one("SELECT COUNT(*) FROM webhooks", &[]).await?;
    Ok(any.is_some_and(|(count,)| count > 0))
}

/// Adds deliveries for a request's new state to the outbox, before that state is written.
pub(super) fn note(script: &mut StatementBatch<'_>, request: &RequestRecord) {
    let RequestRecord { id, document, open, body, .. } = request;
    // Counted before a delivery is added.
    let sql = format!("UPDATE webhooks SET dropped = dropped + 1 WHERE {TOLD} >= $4");
    script.run(&sql, &[document, id, open, &MOST_WAITING]);
    let (delivery, event) = (DeliveryId::generate(), if *open { "waiting" } else { "resolved" });
    let sql = format!(
        "INSERT INTO outbox (id, hook, event, body, attempts, next_ms)
         SELECT $5 || '_' || id, id, $6, $7, 0, 0 FROM webhooks WHERE {TOLD} < $4"
    );
    script.run(&sql, &[document, id, open, &MOST_WAITING, &delivery, &event, body]);
}

pub(super) fn settle(
    script: &mut StatementBatch<'_>,
    seq: i64,
    hook: &WebhookId,
    at_ms: u64,
    outcome: &DeliveryOutcome,
) {
    match outcome {
        DeliveryOutcome::Delivered => {
            let sql = "UPDATE webhooks SET delivered_ms = $2, failing_ms = NULL, error = NULL
                 WHERE id = $1";
            script.run(sql, &[hook, &at_ms]);
            script.run("DELETE FROM outbox WHERE seq = $1", &[&seq]);
        }
        DeliveryOutcome::Later { next_ms, error } => {
            let sql = "UPDATE webhooks SET failing_ms = COALESCE(failing_ms, $2), error = $3
                 WHERE id = $1";
            script.run(sql, &[hook, &at_ms, error]);
            let sql =
                "UPDATE outbox SET attempts = attempts + 1, since_ms = COALESCE(since_ms, $2),
                     next_ms = $3
                 WHERE seq = $1";
            script.run(sql, &[&seq, &at_ms, next_ms]);
        }
        DeliveryOutcome::GivenUp { before_ms, error } => {
            let before = DeliveryId::first_of(*before_ms);
            // Counted before they are deleted.
            let sql = "UPDATE webhooks SET failing_ms = COALESCE(failing_ms, $2), error = $3,
                     dropped = dropped + (SELECT COUNT(*) FROM outbox
                         WHERE seq = $4 OR (hook = $1 AND outbox.id < $5))
                 WHERE id = $1";
            script.run(sql, &[hook, &at_ms, error, &seq, &before]);
            let sql = "DELETE FROM outbox WHERE seq = $1 OR (hook = $2 AND id < $3)";
            script.run(sql, &[&seq, hook, &before]);
        }
    }
}
