//! Several servers ("nodes") that share a PostgreSQL database.

mod message_key;
mod message_sending;
mod messages;
mod node;
mod node_placement;
mod redis_channel;
mod sightings;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use copydesk_store::{DatabaseUrl, Store, StoreResult};

pub use node::{ClusterNode, LeaseHolder};
pub use redis_channel::RedisUrl;

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
