//! A simulated network between the nodes and the database. Packets take time, wait while a
//! connection is blocked, and arrive after it is healed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::sleep;

/// The source or destination of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetworkEndpoint {
    Node(i64),
    Database,
}

/// The connections between all endpoints.
#[derive(Debug)]
pub struct SimulatedNetwork {
    /// Directions in which no packet arrives.
    blocked: BTreeSet<(NetworkEndpoint, NetworkEndpoint)>,
    /// Endpoints with slow connections.
    slow: BTreeSet<NetworkEndpoint>,
    random: Rng,
    changed: Arc<Notify>,
}

/// The network, shared by everything that uses it.
pub type SharedNetwork = Arc<Mutex<SimulatedNetwork>>;

impl SimulatedNetwork {
    pub fn new(random: Rng) -> SharedNetwork {
        let changed = Arc::default();
        Arc::new(Mutex::new(Self {
            blocked: BTreeSet::new(),
            slow: BTreeSet::new(),
            random,
            changed,
        }))
    }

    /// Blocks packets in one direction.
    pub fn block(&mut self, from: NetworkEndpoint, to: NetworkEndpoint) {
        self.blocked.insert((from, to));
    }

    /// Makes all connections of an endpoint slow.
    pub fn slow(&mut self, endpoint: NetworkEndpoint) {
        self.slow.insert(endpoint);
    }

    /// Ends all faults of the network.
    pub fn heal(&mut self) {
        self.blocked.clear();
        self.slow.clear();
        self.changed.notify_waiters();
    }

    pub fn is_blocked(&self, one: NetworkEndpoint, other: NetworkEndpoint) -> bool {
        self.blocked.contains(&(one, other)) || self.blocked.contains(&(other, one))
    }

    fn delay(&mut self, from: NetworkEndpoint, to: NetworkEndpoint) -> Option<Duration> {
        if self.blocked.contains(&(from, to)) {
            return None;
        }
        let is_slow = self.slow.contains(&from) || self.slow.contains(&to);
        let most = if is_slow { 4_000 } else { 6 };
        Some(Duration::from_millis(self.random.u64(..most)))
    }
}

/// Waits until a packet arrives.
pub async fn transmit(network: &SharedNetwork, from: NetworkEndpoint, to: NetworkEndpoint) {
    loop {
        let (delay, changed) = {
            let mut network = network.lock();
            (network.delay(from, to), Arc::clone(&network.changed))
        };
        match delay {
            // It was lost and is sent again.
            None => changed.notified().await,
            Some(delay) => {
                sleep(delay).await;
                if !network.lock().blocked.contains(&(from, to)) {
                    return;
                }
            }
        }
    }
}
