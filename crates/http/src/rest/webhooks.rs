//! Webhooks, which are told of requests: `/api/v1/webhooks`. For owners.

use axum::Json;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::problem::RestResult;
use crate::rest::middleware::body;
use crate::rest::middleware::pagination::PathId;
use copydesk_engine::api::Caller;
use copydesk_engine::api::webhooks::{NewWebhook, WebhookChange, WebhookRecord, WebhookState};
use copydesk_engine::ids::{DocumentId, WebhookId};
use copydesk_protocol::convert;
use copydesk_protocol::names::WebhookStatus;
use copydesk_protocol::rest::{ChangeWebhook, CreateWebhook, CreatedWebhook, Webhook, Webhooks};

/// Lists all webhooks.
///
/// # Errors
/// 403 `not_allowed` for people other than owners; see [`Caller::webhooks`].
pub async fn list(caller: Caller) -> RestResult<Json<Webhooks>> {
    let webhooks = caller.webhooks().await?.into_iter().map(shown).collect();
    Ok(Json(Webhooks { webhooks }))
}

/// Creates a webhook. The answer is the only place that ever shows its secret.
///
/// # Errors
/// 422 `invalid_request` for an address that is not accepted, 409 `too_many_webhooks` at the limit,
/// 403 `not_allowed` for people other than owners; those of [`body::read`].
pub async fn create(caller: Caller, request: Request) -> RestResult<Response> {
    let new = async {
        let CreateWebhook { url, document_id } = body::read(request).await?;
        Ok(NewWebhook { url, document: document_id.map(DocumentId::from) })
    };
    let hook = caller.create_webhook(new).await?;
    let there = format!("/api/v1/webhooks/{}", hook.id);
    let headers = [(header::LOCATION, there), (header::CACHE_CONTROL, "no-store".to_owned())];
    let secret = hook.secret.clone();
    let (delivered_ms, failing_ms, error) = (None, None, None);
    let state = WebhookState { hook, delivered_ms, failing_ms, error, dropped: 0, waiting: 0 };
    let created = CreatedWebhook { secret, webhook: shown(state) };
    Ok((StatusCode::CREATED, headers, Json(created)).into_response())
}

/// Returns one webhook.
///
/// # Errors
/// 404 `not_found` for an unknown webhook, 403 `not_allowed` for people other than owners; see
/// [`Caller::webhook`].
pub async fn read(caller: Caller, PathId(id): PathId<WebhookId>) -> RestResult<Json<Webhook>> {
    Ok(Json(shown(caller.webhook(&id).await?)))
}

/// Changes the address of a webhook, pauses it, or resumes it.
///
/// # Errors
/// 404 `not_found` for an unknown webhook, 422 `invalid_request` for an address that is not
/// accepted, 403 `not_allowed` for people other than owners; those of [`body::read`].
pub async fn change(
    caller: Caller,
    PathId(id): PathId<WebhookId>,
    request: Request,
) -> RestResult<Json<Webhook>> {
    let change = async {
        let ChangeWebhook { url, active } = body::read(request).await?;
        Ok(WebhookChange { url, active })
    };
    Ok(Json(shown(caller.change_webhook(&id, change).await?)))
}

/// Deletes a webhook. Waiting deliveries are not sent any more.
///
/// # Errors
/// 404 `not_found` for an unknown webhook, 403 `not_allowed` for people other than owners; see
/// [`Caller::remove_webhook`].
pub async fn remove(caller: Caller, PathId(id): PathId<WebhookId>) -> RestResult<StatusCode> {
    caller.remove_webhook(&id).await?;
    Ok(StatusCode::NO_CONTENT)
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
        created_at: convert::time(created_ms),
        delivered_at: delivered_ms.map(convert::time),
        failing_since: failing_ms.map(convert::time),
        error,
        waiting,
        dropped,
    }
}
