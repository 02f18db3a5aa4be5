//! Several servers ("nodes") that share a PostgreSQL database.
//!
//! A [`ClusterNode`] has documents and tasks by leases. [`ClusterMember`] does what the other
//! servers tell and leave behind. What comes here and is for another server is passed on by the
//! hooks of the transports, which [`Cluster`] makes.

mod connections;
mod decision_batch;
mod forwarded_calls;
mod http;
mod mcp_relay;
mod member;
mod node;
mod socketio;

use std::sync::Arc;
use std::time::Duration;

use axum::{Router, middleware};
use tokio_util::task::TaskTracker;

use copydesk_api::Application;
use copydesk_client::{ClientError, TrustedAuthorities};
use copydesk_mcp::AskOtherServer;
use copydesk_placement::{Placement, RedisUrl};
use copydesk_rooms::RoomRegistry;
use copydesk_socketio::OtherServersOfClient;
use copydesk_store::{DatabaseUrl, Store, StoreResult};

pub use forwarded_calls::ForwardedCalls;
pub use member::{ClusterMember, DELIVERIES, LocalServer};
pub use node::{ClusterNode, LeaseHolder};

/// Longest time for which a request looks for the server that has its document: about as long as
/// the servers take to find out that one of them is gone.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(15);
/// Pause between two attempts to reach that server.
const SEARCH_PAUSE: Duration = Duration::from_millis(100);

/// This server as one of several.
#[derive(Clone)]
pub struct Cluster {
    node: Arc<ClusterNode>,
    /// Calls of runs that the servers make for each other.
    pub calls: ForwardedCalls,
    /// Authorities that certificates of other servers may have.
    authorities: TrustedAuthorities,
}

impl Cluster {
    /// Opens a PostgreSQL database as one of several servers. `address` is where the other ones
    /// reach this one; with `redis`, that carries the messages between them. [`Self::attend`] has
    /// to run while the store is open, whose placement is [`Self::placement`].
    ///
    /// # Errors
    /// Those of [`Store::join`].
    pub async fn join(
        database: DatabaseUrl,
        redis: Option<RedisUrl>,
        address: &str,
        authorities: TrustedAuthorities,
    ) -> StoreResult<(Store, Self)> {
        let (store, connections) = Store::join(database, address).await?;
        let node = Arc::new(ClusterNode::start(connections, redis, address).await?);
        let calls = ForwardedCalls::new(Arc::clone(&node), store.clone());
        Ok((store, Self { node, calls, authorities }))
    }

    /// Returns the placement of documents and tasks.
    pub fn placement(&self) -> Arc<dyn Placement> {
        Arc::clone(&self.node) as _
    }

    /// Returns the node of this server.
    pub fn node(&self) -> Arc<ClusterNode> {
        Arc::clone(&self.node)
    }

    /// Gives signs of life, watches the other servers and receives their messages; ends when they
    /// have removed this one.
    pub async fn attend(&self) {
        self.node.attend().await;
    }

    /// Returns the routes with a layer that passes requests on to other servers.
    ///
    /// # Errors
    /// [`ClientError`] if the authorities cannot be used.
    pub fn layer(&self, routes: Router) -> Result<Router, ClientError> {
        let relay = http::RequestRelay::new(&self.node, &self.authorities)?;
        Ok(routes.layer(middleware::from_fn_with_state(relay, http::pass_on)))
    }

    /// Returns the function that has other servers answer requests over MCP.
    pub fn ask_other_server(&self, rooms: &RoomRegistry) -> AskOtherServer {
        mcp_relay::ask_other_server(&self.node, rooms, &self.authorities)
    }

    /// Returns the function that passes events of clients of socket.io on to other servers.
    pub fn other_servers(
        &self,
        application: &Application,
        tasks: &TaskTracker,
    ) -> OtherServersOfClient {
        socketio::client_relays(&self.node, &self.authorities, application, tasks)
    }
}
