//! Several servers ("nodes") that share a PostgreSQL database.

mod connections;
mod decision_batch;
mod http;
mod mcp_relay;
mod member;
mod node;
mod socketio;

use std::sync::Arc;

use copydesk_placement::RedisUrl;
use copydesk_store::{DatabaseUrl, Store, StoreResult};

pub use http::{RequestRelay, pass_on};
pub use mcp_relay::ask_other_server;
pub use member::{ClusterMember, DELIVERIES, LocalServer};
pub use node::{ClusterNode, LeaseHolder};
pub use socketio::client_relays;

/// Opens a PostgreSQL database as one of several servers. `address` is where the other ones reach
/// this one; with `redis`, that carries the messages between them. [`ClusterNode::attend`] has to
/// run while the store is open.
///
/// # Errors
/// Those of [`Store::join`].
pub async fn join(
    database: DatabaseUrl,
    redis: Option<RedisUrl>,
    address: &str,
) -> StoreResult<(Store, Arc<ClusterNode>)> {
    let (store, connections) = Store::join(database, address).await?;
    let node = ClusterNode::start(connections, redis, address).await?;
    Ok((store, Arc::new(node)))
}
