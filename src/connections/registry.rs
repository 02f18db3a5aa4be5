//! Registry of all connections and clients: limits their number, makes room, and ends the overdue.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::time::MissedTickBehavior;

use crate::permissions::Principal;

use super::EndReason;
use super::account::{HeldBytes, MemoryAccounts, NoRoom, PersonAccount};
use super::session::ClientSession;
use super::transport::ConnectionTransport;

/// Largest number of connections that have not shown a token.
const UNKNOWN_CONNECTIONS: usize = 1_024;
/// Largest number of connections without a token from one address, except loopback, where a reverse
/// proxy connects for many.
const UNKNOWN_OF_ADDRESS: usize = 256;
/// Largest number of polling clients that have not shown a token.
const UNKNOWN_SESSIONS: usize = 1_024;
/// Largest number of clients of one person.
const CLIENTS_OF_PERSON: usize = 1_024;
/// Largest number of connections if the system sets no limit.
const MOST_CONNECTIONS: usize = 65_536;
/// Interval of the search for overdue connections.
const SWEEP: Duration = Duration::from_millis(500);

/// Limits of a [`ConnectionRegistry`], and so of the whole server.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Bytes held for all connections together.
    pub memory: usize,
    /// Files and connections that the system lets this process open; `None`: it sets no limit.
    pub open_files: Option<usize>,
}

/// Registry of all connections and clients. Clones share it.
#[derive(Clone, Debug)]
pub struct ConnectionRegistry(Arc<RegistryState>);

#[derive(Debug)]
struct RegistryState {
    accounts: MemoryAccounts,
    /// Account of everybody who has not shown a token.
    unknown: Arc<PersonAccount>,
    began: Instant,
    most: usize,
    most_unknown: usize,
    numbers: AtomicU64,
    transports: Mutex<TransportTable>,
    /// Clients by the name of their engine.io session: all that poll, others once they have shown a
    /// token.
    sessions: Mutex<HashMap<String, Weak<ClientSession>>>,
    unknown_sessions: AtomicUsize,
}

#[derive(Debug, Default)]
struct TransportTable {
    all: BTreeMap<u64, Weak<ConnectionTransport>>,
    /// Connections that have not shown a token, the oldest first, and their addresses.
    unknown: BTreeMap<u64, IpAddr>,
    by_address: HashMap<IpAddr, usize>,
}

/// Refusal of a [`ClientSession`]: a person, or everybody without a token, has too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are too many connections already")]
pub struct TooManySessions;

/// Entry of a connection, removed on drop.
#[derive(Debug)]
pub(super) struct TransportPlace {
    registry: Arc<RegistryState>,
    number: u64,
    peer: IpAddr,
}

/// Entry of a client under its name, removed on drop.
#[derive(Debug)]
pub(super) struct SessionPlace {
    registry: Arc<RegistryState>,
    name: String,
}

/// Place among the clients that have not shown a token, freed on drop.
#[derive(Debug)]
pub(super) struct UnknownPlace(Arc<RegistryState>);

impl ConnectionRegistry {
    /// Returns an empty registry.
    pub fn new(limits: ConnectionLimits) -> Self {
        let accounts = MemoryAccounts::new(limits.memory);
        // A quarter is left for documents, files and other programs.
        let most = limits.open_files.map_or(MOST_CONNECTIONS, |files| (files / 4 * 3).max(16));
        Self(Arc::new(RegistryState {
            unknown: accounts.unknown(),
            accounts,
            began: Instant::now(),
            most: most.min(MOST_CONNECTIONS),
            most_unknown: UNKNOWN_CONNECTIONS.min(most / 3),
            numbers: AtomicU64::new(0),
            transports: Mutex::default(),
            sessions: Mutex::default(),
            unknown_sessions: AtomicUsize::new(0),
        }))
    }

    /// Returns the accounts of the memory that is held.
    pub fn accounts(&self) -> &MemoryAccounts {
        &self.0.accounts
    }

    /// Registers an accepted connection. The oldest ones without a token make room for it; if all
    /// have shown one and the limit is reached, the new connection is ended itself.
    pub fn accept(&self, peer: IpAddr) -> Arc<ConnectionTransport> {
        let number = self.0.numbers.fetch_add(1, Ordering::Relaxed);
        let peer = network(peer);
        let place = TransportPlace { registry: Arc::clone(&self.0), number, peer };
        let transport = Arc::new(ConnectionTransport::new(place));
        let mut transports = self.0.transports();
        let crowded = transports.all.len() >= self.0.most;
        let unknown = transports.unknown.len() >= self.0.most_unknown;
        let here = transports.by_address.get(&peer).copied().unwrap_or_default();
        let leaving = if here >= UNKNOWN_OF_ADDRESS && !peer.is_loopback() {
            transports.oldest_unknown(Some(peer))
        } else if crowded || unknown {
            transports.oldest_unknown(None)
        } else {
            None
        };
        transports.all.insert(number, Arc::downgrade(&transport));
        transports.add_unknown(number, peer);
        drop(transports);
        match leaving {
            Some(oldest) => oldest.end(EndReason::TooManyUnknown),
            None if crowded => transport.end(EndReason::TooManyUnknown),
            None => {}
        }
        transport
    }

    /// Returns a new polling client, to be named by [`ConnectionRegistry::name`].
    ///
    /// # Errors
    /// [`TooManySessions`] if there are too many clients that have not shown a token.
    pub fn polling_client(&self) -> Result<Arc<ClientSession>, TooManySessions> {
        let add = |count: usize| (count < UNKNOWN_SESSIONS).then_some(count + 1);
        let counter = &self.0.unknown_sessions;
        counter
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .map_err(|_| TooManySessions)?;
        Ok(ClientSession::new(Some(UnknownPlace(Arc::clone(&self.0)))))
    }

    /// Returns a new client whose connection becomes a WebSocket.
    pub fn websocket_client(&self) -> Arc<ClientSession> {
        ClientSession::new(None)
    }

    /// Admits a client that has shown a token.
    ///
    /// # Errors
    /// [`TooManySessions`] if the person has as many clients as one person may have.
    pub fn admit(
        &self,
        session: &Arc<ClientSession>,
        name: String,
        principal: &Principal,
    ) -> Result<(), TooManySessions> {
        let person = self.0.accounts.of(principal);
        // Half of the connections there may be, so that one person keeps nobody else out.
        if person.join(session) > CLIENTS_OF_PERSON.min(self.0.most / 2) {
            return Err(TooManySessions);
        }
        self.name(session, name);
        session.become_known(person);
        Ok(())
    }

    /// Registers a client under the name of its engine.io session.
    pub fn name(&self, session: &Arc<ClientSession>, name: String) {
        self.0.sessions().insert(name.clone(), Arc::downgrade(session));
        session.be_named(SessionPlace { registry: Arc::clone(&self.0), name });
    }

    /// Returns the client of this name.
    pub fn session(&self, name: &str) -> Option<Arc<ClientSession>> {
        self.0.sessions().get(name).and_then(Weak::upgrade)
    }

    /// Holds bytes sent without a token. The oldest connections without a token make room for them.
    ///
    /// # Errors
    /// [`NoRoom`] if no such connection is left to end.
    pub fn hold_unknown(&self, bytes: usize) -> Result<HeldBytes, NoRoom> {
        self.0.hold_unknown(bytes)
    }

    /// Returns the client with the most unsent bytes.
    pub fn largest_session(&self) -> Option<Arc<ClientSession>> {
        self.0.accounts.largest_session()
    }

    /// Ends the oldest connection that has not shown a token, after a connection could not be
    /// accepted.
    pub fn make_place(&self) {
        let oldest = self.0.transports().oldest_unknown(None);
        if let Some(oldest) = oldest {
            oldest.end(EndReason::TooManyUnknown);
        }
    }

    /// Ends all connections.
    pub fn end_all(&self) {
        let sessions: Vec<_> = self.0.sessions().values().filter_map(Weak::upgrade).collect();
        for session in sessions {
            session.end(EndReason::ServerStops);
        }
        for transport in self.0.every_transport() {
            transport.end(EndReason::ServerStops);
        }
    }

    /// Ends overdue connections, forever.
    pub async fn supervise(self) {
        let mut ticks = tokio::time::interval(SWEEP);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let now_ms = self.0.now_ms();
            for transport in self.0.every_transport() {
                if let Some(reason) = transport.overdue(now_ms) {
                    transport.end(reason);
                }
            }
        }
    }
}

impl RegistryState {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn transports(&self) -> MutexGuard<'_, TransportTable> {
        // The entries are consistent between any two statements.
        self.transports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Weak<ClientSession>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all connections. Collected before the lock is released: a connection that ends looks
    /// for its own entry.
    fn every_transport(&self) -> Vec<Arc<ConnectionTransport>> {
        self.transports().all.values().filter_map(Weak::upgrade).collect()
    }

    /// Holds bytes sent without a token; ends the oldest connections without a token until there is
    /// room.
    fn hold_unknown(&self, bytes: usize) -> Result<HeldBytes, NoRoom> {
        loop {
            let full = match self.unknown.arrive(bytes) {
                Ok(held) => return Ok(held),
                Err(full) => full,
            };
            let oldest = self.transports().oldest_unknown(None);
            let Some(oldest) = oldest else { return Err(full) };
            oldest.end(EndReason::TooManyUnknown);
        }
    }
}

impl TransportTable {
    fn add_unknown(&mut self, number: u64, peer: IpAddr) {
        if self.unknown.insert(number, peer).is_none() {
            *self.by_address.entry(peer).or_default() += 1;
        }
    }

    fn remove_unknown(&mut self, number: u64) {
        let Some(peer) = self.unknown.remove(&number) else { return };
        if let Some(count) = self.by_address.get_mut(&peer) {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&peer);
            }
        }
    }

    /// Returns the oldest connection that has not shown a token, from one address or any, and
    /// removes it from the count.
    fn oldest_unknown(&mut self, from: Option<IpAddr>) -> Option<Arc<ConnectionTransport>> {
        loop {
            let mut unknown = self.unknown.iter();
            let fits = |(_, peer): &(&u64, &IpAddr)| from.is_none_or(|from| **peer == from);
            let number = *unknown.find(fits)?.0;
            self.remove_unknown(number);
            if let Some(transport) = self.all.get(&number).and_then(Weak::upgrade) {
                return Some(transport);
            }
        }
    }
}

impl TransportPlace {
    pub(super) fn peer(&self) -> IpAddr {
        self.peer
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.registry.now_ms()
    }

    pub(super) fn become_known(&self) {
        self.registry.transports().remove_unknown(self.number);
    }

    pub(super) fn become_unknown(&self) {
        self.registry.transports().add_unknown(self.number, self.peer);
    }

    pub(super) fn hold_unknown(&self, bytes: usize) -> Result<HeldBytes, NoRoom> {
        self.registry.hold_unknown(bytes)
    }
}

impl Drop for TransportPlace {
    fn drop(&mut self) {
        let mut transports = self.registry.transports();
        transports.all.remove(&self.number);
        transports.remove_unknown(self.number);
    }
}

impl SessionPlace {
    /// Drops this place without its entry, because another place has that name.
    pub(super) fn keep_entry(mut self) {
        self.name.clear();
    }
}

impl Drop for SessionPlace {
    fn drop(&mut self) {
        self.registry.sessions().remove(&self.name);
    }
}

impl Drop for UnknownPlace {
    fn drop(&mut self) {
        self.0.unknown_sessions.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns the address by which connections are counted: for IPv6, the network that one customer is
/// given.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::V6((address.to_bits() >> 64 << 64).into())
        }
        address => address,
    }
}
