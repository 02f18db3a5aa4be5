//! HTTP transport: the REST API, health routes and the editor, behind the checks of every request.

pub mod assets;
pub mod http_state;
pub mod middleware;
pub mod problem;
pub mod transfer;

mod documents;
mod export;
mod files;
mod history;
mod openapi;
mod requests;
mod runs;
mod server_resources;
mod tokens;
mod transcripts;
mod webhooks;

use crate::transport::messages_api;
use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::routing::{any, delete, get, post};

use crate::permissions::Action;

pub use crate::transport::messages_api::Conversations;
pub use http_state::HttpState;
use middleware::api_middleware::{ApiMiddleware, BodyPolicy};
pub use middleware::body_quota::BodyQuota;
use problem::Problem;

/// Maximum body of a request, in bytes.
const BODY_LIMIT_BYTES: usize = 8 * 1024 * 1024;
/// Maximum body that may hold the text of a document, in bytes: the longest text as JSON, and some
/// more.
const TEXT_LIMIT_BYTES: usize = 32 * 1024 * 1024;

/// Builds the router with all routes.
pub fn router(app: HttpState) -> Router {
    Router::new()
        .route("/healthz", get(alive))
        .route("/readyz", get(ready))
        .route("/api/v1/openapi.json", get(openapi::document))
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
        // Reserved by the contract. Until it is built, programs that ask get an error of the API.
        .route("/metrics", any(no_route))
        .route("/v1/{*rest}", any(messages_api::no_route))
        .fallback_service(assets::router())
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(BODY_LIMIT_BYTES))
        .with_state(app)
}

/// Builds the routes that need a token; `openapi.rs` describes their input and output.
fn api(app: &HttpState) -> Router<HttpState> {
    let with_middleware = ApiMiddleware::new(app.clone());
    // A person who may only read has no use for a long body.
    let text_body = BodyPolicy { limit: TEXT_LIMIT_BYTES, of: Action::Write };
    let secret_body = BodyPolicy { limit: tokens::BODY_LIMIT_BYTES, of: Action::Administer };
    let default_body = BodyPolicy { limit: BODY_LIMIT_BYTES, of: Action::Decide };
    let with_text = Router::new()
        .route("/api/v1/documents", post(documents::create))
        .route("/api/v1/documents/{id}/edits", post(documents::edit))
        .route("/api/v1/runs", post(runs::start));
    let with_secrets = Router::new().route("/api/v1/tokens", post(tokens::issue));
    with_middleware
        .to(other_routes(), default_body)
        .merge(with_middleware.to(with_text, text_body))
        .merge(with_middleware.to(with_secrets, secret_body))
}

/// Builds the routes with bodies of the default length.
fn other_routes() -> Router<HttpState> {
    Router::new()
        .route("/api/v1/me", get(server_resources::me))
        .route(
            "/api/v1/settings",
            get(server_resources::settings).patch(server_resources::configure),
        )
        .route("/api/v1/audit", get(server_resources::audit))
        .route("/api/v1/rules", get(server_resources::rules).post(server_resources::add_rule))
        .route("/api/v1/rules/{id}", delete(server_resources::revoke))
        .route("/api/v1/documents", get(documents::list))
        .route(
            "/api/v1/documents/{id}",
            get(documents::read).patch(documents::rename).delete(documents::delete),
        )
        .route(
            "/api/v1/documents/{id}/settings",
            get(documents::settings).patch(documents::configure),
        )
        .route("/api/v1/documents/{id}/restore", post(documents::restore))
        .route("/api/v1/documents/{id}/versions", get(documents::versions))
        .route("/api/v1/documents/{id}/versions/{version}", get(documents::text))
        .route("/api/v1/documents/{id}/compare", get(documents::differences))
        .route("/api/v1/documents/{id}/export", get(export::download))
        .route("/api/v1/documents/{id}/provenance", get(history::provenance))
        .route("/api/v1/documents/{id}/audit", get(history::audit))
        .route("/api/v1/files", get(files::list).post(files::open))
        .route("/api/v1/requests", get(requests::list))
        .route("/api/v1/requests/decisions", post(requests::batch))
        .route("/api/v1/requests/{id}", get(requests::read))
        .route("/api/v1/requests/{id}/decision", post(requests::decide))
        .route("/api/v1/requests/{id}/told", post(requests::told))
        .route("/api/v1/requests/{id}/extend", post(requests::extend))
        .route("/api/v1/requests/{id}/undo", post(requests::undo))
        .route("/api/v1/requests/{id}/reopen", post(requests::reopen))
        .route("/api/v1/requests/{id}/withdraw", post(requests::withdraw))
        .route("/api/v1/sessions", get(runs::sessions))
        .route("/api/v1/sessions/{session}/cancel", post(runs::cancel_all))
        .route("/api/v1/sessions/{session}/transcript", get(transcripts::transcript))
        .route("/api/v1/sessions/{session}/transcript/clear", post(runs::clear))
        .route("/api/v1/sessions/{session}/transcript/fork", post(runs::fork))
        .route("/api/v1/sessions/{session}/runs/{run}", get(runs::read))
        .route("/api/v1/sessions/{session}/runs/{run}/cancel", post(runs::cancel))
        .route("/api/v1/tokens", get(tokens::list))
        .route("/api/v1/tokens/{id}", delete(tokens::revoke))
        .route("/api/v1/server-tools", get(messages_api::opted_in).put(messages_api::opt_in))
        .route("/api/v1/webhooks", get(webhooks::list).post(webhooks::create))
        .route(
            "/api/v1/webhooks/{id}",
            get(webhooks::read).patch(webhooks::change).delete(webhooks::remove),
        )
}

/// Answers that the process runs.
async fn alive() -> &'static str {
    "ok"
}

/// Answers that changes can be stored and read.
async fn ready(State(app): State<HttpState>) -> Result<&'static str, Problem> {
    let problem =
        |detail| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "store_unavailable", detail);
    app.api.check_readiness().await.map(|()| "ok").map_err(problem)
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
