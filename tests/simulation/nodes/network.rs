//! What lies between the servers, the database and each other: packets take their time, wait while
//! a line is cut, and then arrive after all.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use tokio::sync::Notify;
use tokio::time::sleep;

/// Where a packet comes from or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Server(i64),
    Database,
}

/// The lines between all places.
#[derive(Debug)]
pub struct Network {
    /// Ways on which nothing gets through.
    cut: BTreeSet<(Place, Place)>,
    /// Places that everything takes long to and from.
    slow: BTreeSet<Place>,
    random: Rng,
    changed: Arc<Notify>,
}

/// The network as everybody uses it.
pub type SharedNetwork = Arc<Mutex<Network>>;

/// Locks something that is consistent between any two statements.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Network {
    pub fn new(random: Rng) -> SharedNetwork {
        let changed = Arc::default();
        Arc::new(Mutex::new(Self { cut: BTreeSet::new(), slow: BTreeSet::new(), random, changed }))
    }

    /// Nothing gets from here to there any more.
    pub fn cut(&mut self, from: Place, to: Place) {
        self.cut.insert((from, to));
    }

    /// Everything to and from a place takes long.
    pub fn slow(&mut self, place: Place) {
        self.slow.insert(place);
    }

    /// All lines are as they should be.
    pub fn heal(&mut self) {
        self.cut.clear();
        self.slow.clear();
        self.changed.notify_waiters();
    }

    pub fn is_cut(&self, one: Place, other: Place) -> bool {
        self.cut.contains(&(one, other)) || self.cut.contains(&(other, one))
    }

    fn delay(&mut self, from: Place, to: Place) -> Option<Duration> {
        if self.cut.contains(&(from, to)) {
            return None;
        }
        let is_slow = self.slow.contains(&from) || self.slow.contains(&to);
        let most = if is_slow { 4_000 } else { 6 };
        Some(Duration::from_millis(self.random.u64(..most)))
    }
}

/// Waits for as long as a packet takes.
pub async fn travel(network: &SharedNetwork, from: Place, to: Place) {
    loop {
        let (delay, changed) = {
            let mut network = lock(network);
            (network.delay(from, to), Arc::clone(&network.changed))
        };
        match delay {
            // Lost on the way, and sent again.
            None => changed.notified().await,
            Some(delay) => {
                sleep(delay).await;
                if !lock(network).cut.contains(&(from, to)) {
                    return;
                }
            }
        }
    }
}
