//! Webhooks, which are notified of requests, for owners; and the outbox of their deliveries.

mod address;
mod signature;

use serde_json::json;
use tokio::sync::watch;

use copydesk_ids::permissions::Action;
use copydesk_ids::{DocumentId, WebhookId};
use copydesk_macros::boxed;
use copydesk_store::{AuditEntry, Store, StoreError, StoreOp, WriteBatch};

use super::{ApiError, ApiResult, Caller, ErrorCode};

pub use address::{AddressError, AddressPolicy, WebhookAddress};
pub use copydesk_store::{DeliveryOutcome, WebhookDelivery, WebhookRecord, WebhookState};
pub use signature::{SecretError, SigningSecret};

/// Maximum number of webhooks: each costs every request a line in the outbox.
const MOST_WEBHOOKS: usize = 100;

#[boxed]
impl Caller {
    /// Returns all webhooks.
    ///
    /// # Errors
    /// [`ErrorCode::Unavailable`] if the webhooks cannot be read.
    pub async fn webhooks(&self) -> ApiResult<Vec<WebhookState>> {
        Ok(self.application.store.webhooks().await?)
    }

    /// Returns one webhook.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] for an unknown webhook; those of [`Self::webhooks`].
    pub async fn webhook(&self, id: &WebhookId) -> ApiResult<WebhookState> {
        let mut all = self.webhooks().await?.into_iter();
        all.find(|state| state.hook.id == *id).ok_or_else(|| ApiError::not_found("webhook"))
    }

    /// Creates a webhook, with a new secret, for the requests of a document, or without one of all.
    ///
    /// # Errors
    /// [`ErrorCode::Unprocessable`] for an address that is not accepted, [`ErrorCode::NotFound`]
    /// for an unknown document, [`ErrorCode::TooManyWebhooks`] at the limit.
    pub async fn create_webhook(
        &self,
        url: String,
        document: Option<DocumentId>,
    ) -> ApiResult<WebhookRecord> {
        WebhookAddress::read(&url, self.application.address_policy)?;
        if let Some(document) = &document {
            self.room(document, Action::Read).await?;
        }
        if self.application.store.webhooks().await?.len() >= MOST_WEBHOOKS {
            let message = format!("there are {MOST_WEBHOOKS} webhooks; delete some first");
            return Err(ApiError::new(ErrorCode::TooManyWebhooks, message));
        }
        let hook = WebhookRecord {
            id: WebhookId::generate(),
            url,
            document,
            secret: SigningSecret::generate()?.expose(),
            active: true,
            created_ms: self.application.clock.now_ms(),
        };
        let put = StoreOp::PutWebhook(hook.clone());
        self.commit_webhook("webhook.created", &hook, put).await?;
        Ok(hook)
    }

    /// Changes the address of a webhook, pauses it, or resumes it; what is `None` stays as it is.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] for an unknown webhook, [`ErrorCode::Unprocessable`] for an address
    /// that is not accepted.
    pub async fn change_webhook(
        &self,
        id: &WebhookId,
        url: Option<String>,
        active: Option<bool>,
    ) -> ApiResult<WebhookState> {
        let mut hook = self.webhook(id).await?.hook;
        if let Some(url) = url {
            WebhookAddress::read(&url, self.application.address_policy)?;
            hook.url = url;
        }
        hook.active = active.unwrap_or(hook.active);
        let put = StoreOp::PutWebhook(hook.clone());
        self.commit_webhook("webhook.changed", &hook, put).await?;
        self.webhook(id).await
    }

    /// Deletes a webhook and its waiting deliveries.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] for an unknown webhook, [`ErrorCode::Unavailable`] if this is not
    /// stored.
    pub async fn remove_webhook(&self, id: &WebhookId) -> ApiResult<()> {
        let hook = self.webhook(id).await?.hook;
        let remove = StoreOp::RemoveWebhook(hook.id.clone());
        self.commit_webhook("webhook.deleted", &hook, remove).await
    }

    /// Commits a write with its line in the audit log, which has only the host of an address: an
    /// address may hold a key of the receiver's.
    async fn commit_webhook(
        &self,
        action: &str,
        hook: &WebhookRecord,
        op: StoreOp,
    ) -> ApiResult<()> {
        let host = hook.url.split('/').nth(2);
        let detail = json!({"webhook": hook.id, "host": host, "active": hook.active});
        let (user, now_ms) = (&self.principal.user, self.application.clock.now_ms());
        let line = AuditEntry::new(action, user, detail, now_ms);
        let line = StoreOp::Audit(AuditEntry { document: hook.document.clone(), ..line });
        Ok(self.application.store.commit(WriteBatch::from(op).with(line)).await?)
    }
}

/// Deliveries that wait to be sent. Clones share one store.
#[derive(Clone, Debug)]
pub struct WebhookOutbox(Store);

#[boxed]
impl WebhookOutbox {
    /// Returns the outbox of this store.
    pub fn new(store: Store) -> Self {
        Self(store)
    }

    /// Returns a receiver that changes when there may be something new in the outbox.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.outbox_changes()
    }

    /// Returns the next delivery to each receiver; `None` if the store is closed.
    ///
    /// # Errors
    /// [`ErrorCode::Unavailable`] if the store cannot read the outbox.
    pub async fn deliveries(&self) -> ApiResult<Option<Vec<WebhookDelivery>>> {
        match self.0.deliveries().await {
            Err(StoreError::Closed) => Ok(None),
            deliveries => Ok(Some(deliveries?)),
        }
    }

    /// Stores the outcome of an attempt to deliver; on an error the delivery is attempted again.
    ///
    /// # Errors
    /// [`ErrorCode::Unavailable`] if the outcome is not stored; the delivery is then attempted
    /// again.
    pub async fn settle(
        &self,
        seq: i64,
        hook: WebhookId,
        at_ms: u64,
        outcome: DeliveryOutcome,
    ) -> ApiResult<()> {
        Ok(self.0.commit(StoreOp::Settle { seq, hook, at_ms, outcome }).await?)
    }
}
