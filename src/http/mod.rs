//! The HTTP door: health, the editor, and the guard before everything.

pub mod assets;
pub mod guard;
pub mod problem;

mod body;
mod export;
mod messages;
mod past;
mod principal;
mod tokens;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::routing::{any, delete, get, post};

use crate::agent::Agents;
use crate::auth::Auth;
use crate::room::Rooms;
use crate::room::clock::Clock;
use crate::store::Store;
use crate::who::Principal;

pub use messages::Conversations;
use problem::Problem;

/// The largest body of a request, in bytes.
const BODY_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// What the HTTP door needs of the house.
#[derive(Clone)]
pub struct Door {
    /// Where sessions are kept.
    pub store: Store,
    /// Who is behind a token.
    pub auth: Auth,
    /// The documents.
    pub rooms: Rooms,
    /// The models, and the tools behind the gate.
    pub agents: Agents,
    /// The conversations of the Messages API.
    pub conversations: Conversations,
    /// What time it is.
    pub clock: Clock,
    /// Under `--no-auth`: who everyone is.
    pub everyone: Option<Principal>,
}

/// THE list of routes.
pub fn router(door: Door) -> Router {
    Router::new()
        .route("/healthz", get(alive))
        .route("/readyz", get(ready))
        .route("/api/v1/documents/{id}/export", get(export::download))
        .route("/api/v1/documents/{id}/provenance", get(past::provenance))
        .route("/api/v1/documents/{id}/audit", get(past::audit))
        .route(
            "/api/v1/tokens",
            post(tokens::issue)
                .get(tokens::list)
                .layer(DefaultBodyLimit::max(tokens::BODY_LIMIT_BYTES)),
        )
        .route("/api/v1/tokens/{id}", delete(tokens::revoke))
        .route("/api/v1/server-tools", get(messages::opted_in).put(messages::opt_in))
        .route("/v1/messages", post(messages::answer).fallback(messages::no_method))
        .route("/v1/messages/count_tokens", post(messages::count).fallback(messages::no_method))
        .route("/v1/models", get(messages::list_models).fallback(messages::no_method))
        .route("/v1/models/{*id}", get(messages::one_model).fallback(messages::no_method))
        .route("/api/hello", get(messages::hello))
        .route("/api/{*rest}", any(no_route))
        .route("/v1/{*rest}", any(messages::no_route))
        .fallback_service(assets::router())
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(BODY_LIMIT_BYTES))
        .with_state(door)
}

/// The process answers.
async fn alive() -> &'static str {
    "ok"
}

/// The store answers too.
async fn ready(State(door): State<Door>) -> Result<&'static str, Problem> {
    match door.store.setting("schema").await {
        Ok(_) => Ok("ok"),
        Err(error) => {
            tracing::error!(%error, "the store does not answer");
            Err(Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "store_unavailable",
                "the store does not answer",
            ))
        }
    }
}

/// Addresses of programs never answer with the editor's page.
async fn no_route() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "not_found", "there is no such route")
}

/// The route is there, and cannot be asked that way; the `Allow` header says how.
async fn no_method() -> Problem {
    let detail = "this route does not take that method";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
}
