//! The MCP door: somebody else's agent uses the tools of this server, and people here decide.
//!
//! `POST /mcp` is streamable HTTP in both generations of the protocol: sessions that begin with `initialize` (up to
//! 2025-11-25), and requests that stand for themselves (2026-07-28). Who asks is looked up for every request
//! ([`admission`]); a session is its holder's own and ends with their token. A call becomes an ordinary request in the
//! document it names, or at the desk ([`calling`]); nothing is decided or carried out here.

mod admission;
mod calling;
mod changes;
mod handler;
mod prompts;
mod resources;
mod tools;
mod words;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::{Router, middleware};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agent::Agents;
use crate::auth::Auth;
use crate::ids::{DocumentId, SessionId, Version};
use crate::room::Rooms;
use crate::room::clock::Clock;
use crate::store::Store;
use crate::who::Principal;

use admission::Gate;
use handler::Handler;

pub use changes::Changes;

/// A session that nothing was heard of or said to for this long is closed: longer than people take to decide.
const IDLE: Duration = Duration::from_hours(24);
/// Versions that are remembered for all sessions together.
const MOST_READS: usize = 10_000;

/// What the MCP door needs of the house.
#[derive(Clone)]
pub struct Door {
    /// Where sessions are kept.
    pub store: Store,
    /// Who is behind a token.
    pub auth: Auth,
    /// The documents.
    pub rooms: Rooms,
    /// Makes the calls.
    pub agents: Agents,
    /// What time it is.
    pub clock: Clock,
    /// Under `--no-auth`: who everyone is.
    pub everyone: Option<Principal>,
    /// Tells which documents have changed.
    pub changes: Changes,
    /// Who waits for tokens to end, and for documents to change.
    pub tasks: TaskTracker,
    /// Ends all sessions.
    pub stop: CancellationToken,
}

/// What all sessions share.
struct Desk {
    door: Door,
    tools: Vec<tools::Listed>,
    /// The version of each document a session was told of last. Kept in memory only: after a restart a caller reads again.
    reads: Mutex<HashMap<(SessionId, DocumentId), Version>>,
}

impl Desk {
    /// What a session has read of a document.
    fn read_by(&self, session: &SessionId, document: &DocumentId) -> Option<Version> {
        self.reads().get(&(session.clone(), document.clone())).copied()
    }

    /// A session was told how a document reads.
    fn note_read(&self, session: &SessionId, document: DocumentId, version: Version) {
        let mut reads = self.reads();
        if reads.len() >= MOST_READS {
            // At worst callers are told to read once more.
            reads.clear();
        }
        reads.insert((session.clone(), document), version);
    }

    fn reads(&self) -> MutexGuard<'_, HashMap<(SessionId, DocumentId), Version>> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The route `/mcp`.
pub fn router(door: Door) -> Router {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    let sessions = Arc::new(sessions);
    let gate = Gate::new(door.clone(), Arc::clone(&sessions));
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(door.stop.clone())
        // The guard before every route has looked at Host and Origin, and knows `--allowed-host`.
        .disable_allowed_hosts();
    let tools = tools::listed(&door.agents.offers());
    let desk = Arc::new(Desk { door, tools, reads: Mutex::default() });
    let service =
        StreamableHttpService::new(move || Ok(Handler::new(Arc::clone(&desk))), sessions, config);
    Router::new()
        .route_service("/mcp", service)
        .layer(middleware::from_fn_with_state(Arc::new(gate), admission::admit))
}
