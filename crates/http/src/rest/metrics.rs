//! `GET /metrics`: measurements of this server as Prometheus reads them, for owners, and for
//! programs with the token of `--metrics-token`, which opens nothing else.

use std::sync::Arc;

use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use sha2::{Digest as _, Sha256};

use super::http_state::HttpState;
use super::middleware::auth_session::token;
use super::problem::{Problem, RestResult};
use copydesk_api::Caller;
use copydesk_auth::TokenSecret;
use copydesk_ids::permissions::Action;
use copydesk_metrics as metrics;

/// Media type of Prometheus' text format.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Function that brings the numbers up to date that are not counted as they change.
pub type MeasureServer = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// Source of the measurements, and the token with which a program may read them.
#[derive(Clone)]
pub struct MetricsAccess {
    /// Hash of the token: comparing it reveals nothing of the token itself.
    token: Option<[u8; 32]>,
    measure: MeasureServer,
}

impl MetricsAccess {
    /// Returns the access for owners, and for programs with `token`.
    pub fn new(token: Option<&TokenSecret>, measure: MeasureServer) -> Self {
        Self { token: token.map(|token| hash(token.expose())), measure }
    }

    fn is_token(&self, secret: Option<&str>) -> bool {
        secret.is_some_and(|secret| self.token == Some(hash(secret)))
    }
}

fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}

/// Answers with all metrics.
pub(super) async fn show(State(app): State<HttpState>, request: Request) -> RestResult<Response> {
    let (mut parts, _) = request.into_parts();
    if !app.metrics.is_token(token(&parts.headers)) {
        Caller::from_request_parts(&mut parts, &app).await?.require(Action::Administer)?;
    }
    (app.metrics.measure)().await;
    let text = metrics::encode().map_err(|error| {
        tracing::error!(error, "cannot encode the metrics");
        let detail = "the metrics cannot be encoded";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    })?;
    Ok(([(header::CONTENT_TYPE, TEXT_FORMAT), (header::CACHE_CONTROL, "no-store")], text)
        .into_response())
}
