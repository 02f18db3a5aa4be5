//! Tables of the connections and clients of a registry, and the place of each in them, which is
//! freed on drop.
//!
//! A table only counts, names and finds what it holds, so it may hold anything.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};

use super::unauthenticated::UnauthenticatedTable;

/// Largest number of HTTP connections of one person, beside those of clients that poll: two for
/// each MCP session of a person, and some more.
const HTTP_OF_PERSON: usize = 256;

/// Table of all connections, with the largest number of them and the clock of their times.
#[derive(Debug)]
pub(super) struct TransportTable<T> {
    began: Instant,
    /// Largest number of connections.
    most: usize,
    entries: Mutex<TransportEntries<T>>,
}

/// Entries of a [`TransportTable`], by the number of the connection.
#[derive(Debug)]
pub(super) struct TransportEntries<T> {
    pub(super) all: BTreeMap<u64, Weak<T>>,
    /// Connections that have not shown a token.
    pub(super) unauthenticated: UnauthenticatedTable<T>,
}

/// Entry of a connection in a [`TransportTable`], removed on drop.
#[derive(Debug)]
pub(super) struct TransportPlace<T> {
    pub(super) table: Arc<TransportTable<T>>,
    pub(super) number: u64,
    pub(super) peer: IpAddr,
}

/// Table of clients by their names.
pub(super) type SessionTable<T> = Mutex<HashMap<String, Weak<T>>>;

/// Entry of a client in a [`SessionTable`], removed on drop.
#[derive(Debug)]
pub(super) struct SessionPlace<T> {
    pub(super) table: Arc<SessionTable<T>>,
    /// Name of the client's engine.io session.
    pub(super) name: String,
}

/// Place among the clients that have not shown a token, freed on drop.
#[derive(Debug)]
pub(super) struct UnauthenticatedPlace<T> {
    pub(super) table: Arc<Mutex<UnauthenticatedTable<T>>>,
    pub(super) number: u64,
}

impl<T> TransportTable<T> {
    /// Returns an empty table for at most so many connections.
    pub(super) fn new(most: usize) -> Self {
        let entries = TransportEntries {
            all: BTreeMap::new(),
            unauthenticated: UnauthenticatedTable::default(),
        };
        Self { began: Instant::now(), most, entries: Mutex::new(entries) }
    }

    /// Returns the largest number of connections.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Returns the number of connections of every kind that one person may have: half of all, so
    /// that one person keeps nobody else out.
    pub(super) fn connections_of_person(&self) -> usize {
        self.most / 2
    }

    /// Returns the time on the clock of the table, in milliseconds.
    pub(super) fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn entries(&self) -> MutexGuard<'_, TransportEntries<T>> {
        self.entries.lock()
    }

    /// Returns all connections. Collected before the lock is released: a connection that ends looks
    /// for its own entry.
    pub(super) fn every(&self) -> Vec<Arc<T>> {
        self.entries().all.values().filter_map(Weak::upgrade).collect()
    }
}

impl<T> TransportPlace<T> {
    /// Returns the time on the clock of the table, in milliseconds.
    pub(super) fn now_ms(&self) -> u64 {
        self.table.now_ms()
    }

    /// Counts the connection as one that has shown a token. Returns `true` if so many of these are
    /// open that nobody new could come.
    pub(super) fn become_known(&self) -> bool {
        let mut entries = self.table.entries();
        entries.unauthenticated.remove(self.number);
        let known = entries.all.len().saturating_sub(entries.unauthenticated.len());
        known > self.table.most - self.table.most / 8
    }

    /// Counts the connection as one that has not shown a token.
    pub(super) fn become_unauthenticated(&self) {
        let mut entries = self.table.entries();
        if let Some(transport) = entries.all.get(&self.number).cloned() {
            entries.unauthenticated.add(self.number, self.peer, transport);
        }
    }

    /// Returns the number of connections of every kind that one person may have.
    pub(super) fn connections_of_person(&self) -> usize {
        self.table.connections_of_person()
    }

    /// Returns the number of HTTP connections that one person may have, beside those of clients
    /// that poll.
    pub(super) fn http_of_person(&self) -> usize {
        // Few enough that one person keeps nobody else out.
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
