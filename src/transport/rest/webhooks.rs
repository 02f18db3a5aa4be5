//! Webhooks, which are told of requests: `/api/v1/webhooks`. For owners.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::HttpState;
use super::problem::Problem;
use crate::ids::{DocumentId, WebhookId};
use crate::permissions::Action;
use crate::store::{AuditEntry, StoreOp, WebhookRecord, WebhookState, WriteBatch};
use crate::transport::protocol::convert;
use crate::transport::protocol::rest::{
    ChangeWebhook, CreateWebhook, CreatedWebhook, Webhook, Webhooks,
};
use crate::transport::rest::middleware::auth_session::Authenticated;
use crate::transport::rest::middleware::body;
use crate::transport::rest::middleware::pagination::PathId;
use crate::webhooks::{AddressError, SecretError, SigningSecret, WebhookAddress};

/// Maximum number of webhooks: each costs every request a line in the outbox.
const MOST_WEBHOOKS: usize = 100;

/// Lists all webhooks.
pub(crate) async fn list(
    State(door): State<HttpState>,
    caller: Authenticated,
) -> Result<Json<Webhooks>, Problem> {
    caller.must(Action::Administer)?;
    let webhooks = door.store.webhooks().await?.into_iter().map(shown).collect();
    Ok(Json(Webhooks { webhooks }))
}

/// Creates a webhook. The answer is the only place that ever shows its secret.
pub(crate) async fn create(
    State(door): State<HttpState>,
    caller: Authenticated,
    request: Request,
) -> Result<Response, Problem> {
    caller.must(Action::Administer)?;
    let CreateWebhook { url, document_id } = body::read(request).await?;
    WebhookAddress::read(&url, door.reach)?;
    let document = document_id.map(DocumentId::from);
    if let Some(document) = &document {
        caller.room(&door, document.as_str(), Action::Read).await?;
    }
    if door.store.webhooks().await?.len() >= MOST_WEBHOOKS {
        let detail = format!("there are {MOST_WEBHOOKS} webhooks; delete some first");
        return Err(Problem::new(StatusCode::CONFLICT, "too_many_webhooks", detail));
    }
    let secret = SigningSecret::generate()?.expose();
    let hook = WebhookRecord {
        id: WebhookId::generate(),
        url,
        document,
        secret: secret.clone(),
        active: true,
        created_ms: door.clock.now_ms(),
    };
    commit(&door, &caller, "webhook.created", &hook, StoreOp::PutWebhook(hook.clone())).await?;
    let there = format!("/api/v1/webhooks/{}", hook.id);
    let headers = [(header::LOCATION, there), (header::CACHE_CONTROL, "no-store".to_owned())];
    let (delivered_ms, failing_ms, error) = (None, None, None);
    let state = WebhookState { hook, delivered_ms, failing_ms, error, dropped: 0, waiting: 0 };
    let created = CreatedWebhook { secret, webhook: shown(state) };
    Ok((StatusCode::CREATED, headers, Json(created)).into_response())
}

/// Returns one webhook.
pub(crate) async fn read(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(id): PathId<String>,
) -> Result<Json<Webhook>, Problem> {
    caller.must(Action::Administer)?;
    Ok(Json(shown(find(&door, &id).await?)))
}

/// Changes the address of a webhook, pauses it, or resumes it.
pub(crate) async fn change(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(id): PathId<String>,
    request: Request,
) -> Result<Json<Webhook>, Problem> {
    caller.must(Action::Administer)?;
    let ChangeWebhook { url, active } = body::read(request).await?;
    let mut hook = find(&door, &id).await?.hook;
    if let Some(url) = url {
        WebhookAddress::read(&url, door.reach)?;
        hook.url = url;
    }
    hook.active = active.unwrap_or(hook.active);
    commit(&door, &caller, "webhook.changed", &hook, StoreOp::PutWebhook(hook.clone())).await?;
    Ok(Json(shown(find(&door, &id).await?)))
}

/// Deletes a webhook. Waiting deliveries are not sent any more.
pub(crate) async fn remove(
    State(door): State<HttpState>,
    caller: Authenticated,
    PathId(id): PathId<String>,
) -> Result<StatusCode, Problem> {
    caller.must(Action::Administer)?;
    let hook = find(&door, &id).await?.hook;
    commit(&door, &caller, "webhook.deleted", &hook, StoreOp::RemoveWebhook(hook.id.clone()))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn find(door: &HttpState, id: &str) -> Result<WebhookState, Problem> {
    let mut all = door.store.webhooks().await?.into_iter();
    all.find(|state| state.hook.id.as_str() == id).ok_or_else(|| Problem::not_found("webhook"))
}

/// Commits a write with its line in the audit log. An address may hold a key of the receiver's, so
/// the log has its host only.
async fn commit(
    door: &HttpState,
    caller: &Authenticated,
    action: &str,
    hook: &WebhookRecord,
    op: StoreOp,
) -> Result<(), Problem> {
    let host = hook.url.split('/').nth(2);
    let line = StoreOp::Audit(AuditEntry {
        at_ms: door.clock.now_ms(),
        actor: caller.principal.user.to_string(),
        action: action.to_owned(),
        document: hook.document.clone(),
        request: None,
        detail: json!({"webhook": hook.id, "host": host, "active": hook.active}),
    });
    Ok(door.store.commit(WriteBatch::from(op).with(line)).await?)
}

fn shown(of: WebhookState) -> Webhook {
    let WebhookState { hook, delivered_ms, failing_ms, error, dropped, waiting } = of;
    let WebhookRecord { id, url, document, secret: _, active, created_ms } = hook;
    let state = match (active, failing_ms) {
        (false, _) => "paused",
        (true, Some(_)) => "failing",
        (true, None) => "active",
    };
    Webhook {
        id: id.to_string(),
        url,
        document_id: document.as_ref().map(ToString::to_string),
        state: state.to_owned(),
        created_at: convert::time(created_ms),
        delivered_at: delivered_ms.map(convert::time),
        failing_since: failing_ms.map(convert::time),
        error,
        waiting,
        dropped,
    }
}

impl From<AddressError> for Problem {
    fn from(error: AddressError) -> Self {
        Self::unprocessable(error.to_string())
    }
}

impl From<SecretError> for Problem {
    fn from(error: SecretError) -> Self {
        tracing::error!(%error, "a secret could not be made");
        Self::internal()
    }
}
