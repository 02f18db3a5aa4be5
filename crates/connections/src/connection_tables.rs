//! Tables of the connections and clients of a registry, and the place of each, freed on drop.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::unauthenticated::UnauthenticatedTable;

/// HTTP connections of one person, at most, beside polling: each MCP session has two.
const HTTP_OF_PERSON: usize = 256;

/// Table of all connections, with the largest number of them and the clock of their times.
#[derive(Debug)]
pub(super) struct TransportTable<T> {
    began: Instant,
    most: usize,
    /// Longest wait for a request, or for the handshake after the upgrade, without a token.
    handshake_timeout: Duration,
    entries: Mutex<TransportEntries<T>>,
}

#[derive(Debug)]
pub(super) struct TransportEntries<T> {
    pub(super) all: BTreeMap<u64, Weak<T>>,
    pub(super) unauthenticated: UnauthenticatedTable<T>,
}

/// Entry of a connection in a [`TransportTable`], removed on drop.
#[derive(Debug)]
pub(super) struct TransportPlace<T> {
    pub(super) table: Arc<TransportTable<T>>,
    pub(super) number: u64,
    pub(super) peer: IpAddr,
}

pub(super) type SessionTable<T> = Mutex<HashMap<String, Weak<T>>>;

/// Entry of a client in a [`SessionTable`], removed on drop.
#[derive(Debug)]
pub(super) struct SessionPlace<T> {
    pub(super) table: Arc<SessionTable<T>>,
    pub(super) name: String,
}

/// Place among the clients that have not shown a token, freed on drop.
#[derive(Debug)]
pub(super) struct UnauthenticatedPlace<T> {
    pub(super) table: Arc<Mutex<UnauthenticatedTable<T>>>,
    pub(super) number: u64,
}

impl<T> TransportTable<T> {
    pub(super) fn new(most: usize, handshake_timeout: Duration) -> Self {
        let entries = TransportEntries {
            all: BTreeMap::new(),
            unauthenticated: UnauthenticatedTable::default(),
        };
        Self { began: Instant::now(), most, handshake_timeout, entries: Mutex::new(entries) }
    }

    /// Returns the longest wait for a request, or for the handshake, without a token.
    pub(super) fn handshake_timeout(&self) -> Duration {
        self.handshake_timeout
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Returns the number of connections that one person may have: half, so others can connect.
    pub(super) fn connections_of_person(&self) -> usize {
        self.most / 2
    }

    pub(super) fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn entries(&self) -> MutexGuard<'_, TransportEntries<T>> {
        self.entries.lock()
    }

    /// Returns all connections, collected under the lock: one that ends looks for its own entry.
    pub(super) fn every(&self) -> Vec<Arc<T>> {
        self.entries().all.values().filter_map(Weak::upgrade).collect()
    }
}

impl<T> TransportPlace<T> {
    pub(super) fn now_ms(&self) -> u64 {
        self.table.now_ms()
    }

    /// Counts the connection as one with a token; `true` if these keep new people out.
    pub(super) fn become_known(&self) -> bool {
        let mut entries = self.table.entries();
        entries.unauthenticated.remove(self.number);
        let known = entries.all.len().saturating_sub(entries.unauthenticated.len());
        known > self.table.most - self.table.most / 8
    }

    pub(super) fn become_unauthenticated(&self) {
        let mut entries = self.table.entries();
        if let Some(transport) = entries.all.get(&self.number).cloned() {
            entries.unauthenticated.add(self.number, self.peer, transport);
        }
    }

    pub(super) fn connections_of_person(&self) -> usize {
        self.table.connections_of_person()
    }

    pub(super) fn http_of_person(&self) -> usize {
        // Few enough that one person keeps no other out.
        HTTP_OF_PERSON.min(self.table.most / 4)
    }
}

impl<T> Drop for TransportPlace<T> {
    fn drop(&mut self) {
        let mut entries = self.table.entries();
        entries.all.remove(&self.number);
        entries.unauthenticated.remove(self.number);
    }
}

impl<T> SessionPlace<T> {
    /// Drops this place without its entry, because another place has that name.
    pub(super) fn keep_entry(mut self) {
        self.name.clear();
    }
}

impl<T> Drop for SessionPlace<T> {
    fn drop(&mut self) {
        self.table.lock().remove(&self.name);
    }
}

impl<T> Drop for UnauthenticatedPlace<T> {
    fn drop(&mut self) {
        self.table.lock().remove(self.number);
    }
}
