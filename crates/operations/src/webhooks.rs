//! Webhooks, which are sent what happens to requests.

use copydesk_api::webhooks::{WebhookRecord, WebhookState};
use copydesk_api::{ApiResult, Caller};
use copydesk_ids::DocumentId;
use copydesk_ids::permissions::Action::Administer;
use copydesk_operation_table::{OnServer, Operation, operation};
use copydesk_protocol::client::Nothing;
use copydesk_protocol::names::WebhookStatus;
use copydesk_protocol::rest::{
    ChangeWebhook, CreateWebhook, CreatedWebhook, NameWebhook, Webhook, Webhooks,
};
use copydesk_protocol_conversion as wire;

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("Webhooks and their delivery state", OnServer(Administer), list).get("/webhooks", "listWebhooks"),
        operation("Register a webhook for pending and resolved requests; its secret is shown once", OnServer(Administer), create).post("/webhooks", "createWebhook").creates("/webhooks").secret(),
        operation("A webhook and its delivery state", OnServer(Administer), read).get("/webhooks/{id}", "getWebhook"),
        operation("Change the address of a webhook, pause it or resume it", OnServer(Administer), change).patch("/webhooks/{id}", "changeWebhook"),
        operation("Delete a webhook", OnServer(Administer), remove).delete("/webhooks/{id}", "deleteWebhook"),
    ]
}

async fn list(caller: Caller, (): (), _: Nothing) -> ApiResult<Webhooks> {
    let webhooks = caller.webhooks().await?.into_iter().map(shown).collect();
    Ok(Webhooks { webhooks })
}

async fn create(caller: Caller, (): (), input: CreateWebhook) -> ApiResult<CreatedWebhook> {
    let CreateWebhook { url, document_id } = input;
    let hook = caller.create_webhook(url, document_id.map(DocumentId::from)).await?;
    let secret = hook.secret.clone();
    let (delivered_ms, failing_ms, error) = (None, None, None);
    let state = WebhookState { hook, delivered_ms, failing_ms, error, dropped: 0, waiting: 0 };
    Ok(CreatedWebhook { secret, webhook: shown(state) })
}

async fn read(caller: Caller, (): (), input: NameWebhook) -> ApiResult<Webhook> {
    Ok(shown(caller.webhook(&input.id.into()).await?))
}

async fn change(caller: Caller, (): (), input: ChangeWebhook) -> ApiResult<Webhook> {
    let ChangeWebhook { id, url, active } = input;
    Ok(shown(caller.change_webhook(&id.into(), url, active).await?))
}

async fn remove(caller: Caller, (): (), input: NameWebhook) -> ApiResult<()> {
    caller.remove_webhook(&input.id.into()).await
}

fn shown(of: WebhookState) -> Webhook {
    let WebhookState { hook, delivered_ms, failing_ms, error, dropped, waiting } = of;
    let WebhookRecord { id, url, document, secret: _, active, created_ms } = hook;
    let state = match (active, failing_ms) {
        (false, _) => WebhookStatus::Paused,
        (true, Some(_)) => WebhookStatus::Failing,
        (true, None) => WebhookStatus::Active,
    };
    Webhook {
        id: id.to_string(),
        url,
        document_id: document.as_ref().map(ToString::to_string),
        state,
        created_at: wire::time(created_ms),
        delivered_at: delivered_ms.map(wire::time),
        failing_since: failing_ms.map(wire::time),
        error,
        waiting,
        dropped,
    }
}
