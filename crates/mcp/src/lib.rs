//! MCP: programs with an agent of their own use the tools of this server, and people here decide.
//!
//! `POST /mcp` is streamable HTTP in both generations of the protocol: sessions that begin with
//! `initialize` (up to 2025-11-25), and requests without a session (2026-07-28). Every request is
//! authenticated ([`auth`]). A session belongs to one person and ends with their token
//! ([`sessions`]). A call becomes an ordinary approval request in the document it names, or in the
//! workspace inbox ([`calling`]); nothing is decided or executed here. Comments change no text and
//! are written at once ([`mod@comments`]).

mod auth;
mod caller;
mod calling;
mod changes;
mod comments;
mod early_headers;
mod handler;
mod other_server_request;
mod other_servers;
mod progress;
mod prompts;
mod read_versions;
mod resources;
mod result_text;
mod sessions;
mod shared_state;
mod tools;
mod watched_documents;

use std::sync::Arc;
use std::time::Duration;

use axum::{Router, middleware};
use rmcp::model::Tool;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use copydesk_tools::ToolFacts;

use auth::McpAuth;
use handler::McpHandler;
use read_versions::ReadVersions;
use sessions::McpSessions;
use shared_state::{LONGEST_MESSAGE, McpShared};

pub use changes::{ChangesForOthers, DocumentChanges};
pub use other_server_request::{AskOtherServer, OtherServerRequest};
pub use shared_state::McpState;
pub use watched_documents::WatchedNews;

/// Time without messages after which a session is closed: longer than people take to decide.
const IDLE: Duration = Duration::from_hours(24);

/// Returns the configuration of the library below.
fn transport(stop: &CancellationToken) -> (LocalSessionManager, StreamableHttpServerConfig) {
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(IDLE);
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop.clone())
        .with_max_request_body_bytes(LONGEST_MESSAGE)
        // The check before every route has examined Host and Origin, and knows `--allowed-host`.
        .disable_allowed_hosts();
    (manager, config)
}

/// Returns the tools that programs are offered, of these tools of a server.
pub fn tool_list(tools: &[Arc<ToolFacts>]) -> Vec<Tool> {
    tools::listed(tools).iter().map(|listed| listed.offered(false)).collect()
}

/// Builds the route `/mcp`.
pub fn router(app: McpState) -> Router {
    let (manager, config) = transport(&app.stop);
    let manager = Arc::new(manager);
    let tools = tools::listed(&app.application.agents.offers_of_all_servers());
    let (sessions, reads) = (McpSessions::default(), ReadVersions::default());
    let shared = Arc::new(McpShared { app, tools, sessions, reads });
    let gate = McpAuth::new(Arc::clone(&shared), Arc::clone(&manager));
    let handler = move || Ok(McpHandler::new(Arc::clone(&shared)));
    let service = StreamableHttpService::new(handler, manager, config);
    Router::new()
        .route_service("/mcp", service)
        .layer(middleware::from_fn_with_state(Arc::new(gate), auth::admit))
}
