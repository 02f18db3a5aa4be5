//! Records of webhooks and of what is sent to them.

use serde_json::Value;

use copydesk_ids::{DeliveryId, DocumentId, WebhookId};
use copydesk_macros::record;

/// Registered webhook: an address that is notified of requests.
#[record(Clone, Debug, PartialEq)]
pub struct WebhookRecord {
    /// Identifier of the webhook.
    pub id: WebhookId,
    /// Address that deliveries are sent to.
    pub url: String,
    /// Only document whose requests are sent; `None`: all requests but those of private documents.
    pub document: Option<DocumentId>,
    /// Secret that signs deliveries.
    pub secret: String,
    /// `true` if anything is sent at all.
    pub active: bool,
    /// Time of registration, in ms.
    pub created_ms: u64,
}

/// A [`WebhookRecord`] and the state of its deliveries.
#[record(Clone, Debug, PartialEq)]
pub struct WebhookState {
    /// The webhook.
    #[sqlx(flatten)]
    pub hook: WebhookRecord,
    /// Time in ms at which the receiver last took a delivery.
    pub delivered_ms: Option<u64>,
    /// Time in ms since which deliveries fail; `None`: they do not.
    pub failing_ms: Option<u64>,
    /// Last error, while deliveries fail.
    pub error: Option<String>,
    /// Number of deliveries that were given up.
    pub dropped: u64,
    /// Number of deliveries that wait.
    pub waiting: u64,
}

/// Next delivery to a receiver, read by [`Store::deliveries`](crate::Store::deliveries).
#[record(Clone, Debug, PartialEq)]
pub struct WebhookDelivery {
    /// Place in the outbox.
    pub seq: i64,
    /// Identifier, unchanged however often the delivery is tried.
    #[sqlx(rename = "delivery")]
    pub id: DeliveryId,
    /// Webhook to deliver to.
    #[sqlx(flatten)]
    pub hook: WebhookRecord,
    /// `waiting` or `resolved`.
    pub event: String,
    /// The request at that moment, as `approvals` writes it.
    pub body: Value,
    /// Number of attempts so far.
    pub attempts: u32,
    /// Time of the first attempt, in ms.
    pub since_ms: Option<u64>,
    /// Earliest time of the next attempt, in ms.
    pub next_ms: u64,
}

/// Outcome of a [`WebhookDelivery`], stored by [`StoreOp::Settle`](crate::StoreOp::Settle).
#[derive(Clone, Debug, PartialEq)]
pub enum DeliveryOutcome {
    /// The receiver took it.
    Delivered,
    /// Failed for now; tried again later.
    Later {
        /// Earliest time of the next attempt, in ms.
        next_ms: u64,
        /// Error of this attempt.
        error: String,
    },
    /// Given up, together with the receiver's older deliveries.
    GivenUp {
        /// Time in ms; the receiver's deliveries made before it are given up too.
        before_ms: u64,
        /// Error of the last attempt.
        error: String,
    },
}
