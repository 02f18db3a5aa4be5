//! HTTP transport: the REST API and health routes, behind the checks of every request.

pub mod byte_accounting;
pub mod http_state;
pub mod middleware;
pub mod problem;

mod decision_batch;
mod documents;
mod export;
mod lists;
mod metrics;
mod openapi;
mod operations;
mod proxy_headers;
mod requests;
mod runs;
mod tokens;
mod transcripts;

use crate::messages_api;
use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::routing::{any, get, post};

use copydesk_ids::permissions::Action;
use copydesk_operation_table::BodyKind;

pub use crate::messages_api::Conversations;
pub use decision_batch::{DecideOnServers, RestDecisions};
pub use http_state::HttpState;
pub use metrics::{MeasureServer, MetricsAccess};
use middleware::api_middleware::{ApiMiddleware, BodyPolicy};
pub use middleware::idempotency::KEY as IDEMPOTENCY_KEY;
pub use middleware::request_limit::{CountedRequest, RequestLimit, RequestLimits};
use problem::{Problem, RestResult};

/// Maximum body of a request, in bytes.
const BODY_LIMIT_BYTES: usize = 8 * 1024 * 1024;
/// Maximum body that may hold the text of a document, in bytes: the longest text as JSON, and some
/// more.
const TEXT_LIMIT_BYTES: usize = 32 * 1024 * 1024;
/// Maximum body of a request for a token, in bytes.
const TOKEN_LIMIT_BYTES: usize = 16 * 1024;

/// Builds the router with all routes.
pub fn router(app: HttpState) -> Router {
    Router::new()
        .route("/healthz", get(alive))
        .route("/readyz", get(ready))
        .merge(operations::routes(app.operations, &[BodyKind::NoBodyNoToken]))
        .merge(api(&app))
        .route("/v1/messages", post(messages_api::answer).fallback(messages_api::no_method))
        .route(
            "/v1/messages/count_tokens",
            post(messages_api::count).fallback(messages_api::no_method),
        )
        .route("/v1/models", get(messages_api::list_models).fallback(messages_api::no_method))
        .route("/v1/models/{*id}", get(messages_api::one_model).fallback(messages_api::no_method))
        .route("/api/hello", get(messages_api::hello))
        .route("/api/{*rest}", any(no_route))
        .route("/metrics", get(metrics::show))
        .route("/v1/{*rest}", any(messages_api::no_route))
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(BODY_LIMIT_BYTES))
        .with_state(app)
}

fn api(app: &HttpState) -> Router<HttpState> {
    let with_middleware = ApiMiddleware::new(app.clone());
    // A person who may only read has no use for a long body.
    let text_body = BodyPolicy { limit: TEXT_LIMIT_BYTES, of: Action::Write };
    let file_body = BodyPolicy { limit: documents::FILE_LIMIT_BYTES, of: Action::Create };
    let html_body = BodyPolicy { limit: documents::HTML_LIMIT_BYTES, of: Action::Write };
    let secret_body = BodyPolicy { limit: TOKEN_LIMIT_BYTES, of: Action::Administer };
    let short_body = BodyPolicy { limit: BODY_LIMIT_BYTES, of: Action::Decide };
    let routes = |kinds: &[BodyKind]| operations::routes(app.operations, kinds);
    with_middleware
        .to(routes(&[BodyKind::Usual, BodyKind::NoBody]), short_body)
        .merge(with_middleware.to(routes(&[BodyKind::Text]), text_body))
        .merge(with_middleware.to(routes(&[BodyKind::File]), file_body))
        .merge(with_middleware.to(routes(&[BodyKind::Html]), html_body))
        .merge(with_middleware.to(routes(&[BodyKind::Secret]), secret_body))
}

/// Answers that the process runs.
async fn alive() -> &'static str {
    "ok"
}

/// Answers that changes can be stored and read.
async fn ready(State(app): State<HttpState>) -> RestResult<&'static str> {
    let problem =
        |detail| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "store_unavailable", detail);
    app.application.check_readiness().await.map(|()| "ok").map_err(problem)
}

/// Refuses an unknown route of the API, so that programs never get the editor's page.
async fn no_route() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "not_found", "there is no such route")
}

/// Refuses a method that the route does not have; the `Allow` header lists the others.
async fn no_method() -> Problem {
    let detail = "this route does not take that method";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
}
