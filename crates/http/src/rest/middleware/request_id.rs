//! Identifier of each HTTP request, in its log lines and in the header `request-id` of its answer.

use std::time::Instant;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument as _;

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

tokio::task_local! {
    /// Identifier of the request that this task handles.
    static CURRENT: String;
}

/// Gives a request an identifier and handles it.
pub async fn name(request: Request, next: Next) -> Response {
    let (id, began) = (generate(), Instant::now());
    // Without the query, where a client may have put a token.
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let span = tracing::info_span!(
        "request",
        id,
        http.method = %method,
        http.path = path,
        http.status = tracing::field::Empty
    );
    let header = HeaderValue::try_from(&id);
    let answer = CURRENT.scope(id, next.run(request)).instrument(span.clone());
    let mut response = answer.await;
    let (status, took) = (response.status().as_u16(), began.elapsed());
    span.in_scope(|| {
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(http.status = status, duration_ms, "answered");
    });
    span.record("http.status", status);
    // An answer that another server has given has its own already.
    if let Ok(header) = header {
        response.headers_mut().entry(REQUEST_ID).or_insert(header);
    }
    response
}

/// Returns the identifier of the request that is handled, or a new one outside of any.
pub(crate) fn current() -> String {
    CURRENT.try_with(String::clone).unwrap_or_else(|_| generate())
}

fn generate() -> String {
    format!("req_{}", copydesk_ids::sortable_uuid().simple())
}
