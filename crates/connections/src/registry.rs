//! Registry of all connections and clients: limits their number, makes room, and ends the overdue.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::MissedTickBehavior;

use copydesk_ids::permissions::Principal;

use super::EndReason;
use super::connection_tables::{
    SessionPlace, SessionTable, TransportPlace, TransportTable, UnauthenticatedPlace,
};
use super::memory_accounts::{
    HeldBytes, HeldPurpose, MemoryAccounts, MemoryExhausted, PersonAccount,
};
use super::message_pace::MessagePace;
use super::socket_client::SocketClient;
use super::tcp_connection::TcpConnection;
use super::unauthenticated::UnauthenticatedTable;

/// Largest number of connections that have not shown a token.
const UNAUTHENTICATED_CONNECTIONS: usize = 1_024;
/// Connections without a token from one address, at most, except loopback: reverse proxies.
const UNAUTHENTICATED_OF_ADDRESS: usize = 256;
/// Largest number of polling clients that have not shown a token.
const UNAUTHENTICATED_SESSIONS: usize = 1_024;
/// Largest number of clients of one person.
const CLIENTS_OF_PERSON: usize = 1_024;
/// Largest number of connections if the system sets no limit.
const MOST_CONNECTIONS: usize = 65_536;
/// Interval of the search for overdue connections.
const SWEEP: Duration = Duration::from_millis(500);
/// Time that a connection has to show a token, if nothing else is said.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

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
    unauthenticated: Arc<PersonAccount>,
    most_unauthenticated: usize,
    numbers: AtomicU64,
    transports: Arc<TransportTable<TcpConnection>>,
    /// Clients by the name of their engine.io session: polling ones, others once they show a token.
    sessions: Arc<SessionTable<SocketClient>>,
    /// Polling clients that have not shown a token.
    unauthenticated_sessions: Arc<Mutex<UnauthenticatedTable<SocketClient>>>,
    /// Pace of new polling clients; locked by the next in line.
    handshakes: tokio::sync::Mutex<MessagePace>,
}

/// Refusal of a [`SocketClient`]: its person has too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are too many connections")]
pub struct TooManySessions;

enum UnauthenticatedHolder {
    Connection(Arc<TcpConnection>),
    Client(Arc<SocketClient>),
}

impl ConnectionRegistry {
    /// Returns an empty registry.
    pub fn new(limits: ConnectionLimits) -> Self {
        Self::with_handshake_timeout(limits, HANDSHAKE_TIMEOUT)
    }

    /// Returns an empty registry whose connections have so long to show a token.
    pub fn with_handshake_timeout(limits: ConnectionLimits, handshake_timeout: Duration) -> Self {
        let accounts = MemoryAccounts::new(limits.memory);
        // A quarter is left for documents, files and other programs.
        let most = limits.open_files.map_or(MOST_CONNECTIONS, |files| (files / 4 * 3).max(16));
        Self(Arc::new(RegistryState {
            unauthenticated: accounts.unauthenticated(),
            accounts,
            most_unauthenticated: UNAUTHENTICATED_CONNECTIONS.min(most / 3),
            numbers: AtomicU64::new(0),
            transports: Arc::new(TransportTable::new(
                most.min(MOST_CONNECTIONS),
                handshake_timeout,
            )),
            sessions: Arc::default(),
            unauthenticated_sessions: Arc::default(),
            handshakes: tokio::sync::Mutex::new(MessagePace::of_handshakes()),
        }))
    }

    /// Returns the accounts of the memory that is held.
    pub fn accounts(&self) -> &MemoryAccounts {
        &self.0.accounts
    }

    /// Registers an accepted connection. If there are too many, room is made by the oldest without
    /// a token, of the address that has most, or else by the person with the most connections.
    pub fn accept(&self, peer: IpAddr) -> Arc<TcpConnection> {
        let number = self.0.next_number();
        let peer = network(peer);
        let place = TransportPlace { table: Arc::clone(&self.0.transports), number, peer };
        let transport = Arc::new(TcpConnection::new(place, self.0.accounts.clone()));
        let mut transports = self.0.transports.entries();
        let crowded = transports.all.len() >= self.0.transports.most();
        let unauthenticated = transports.unauthenticated.len() >= self.0.most_unauthenticated;
        let here = transports.unauthenticated.count_of(peer);
        let leaving = if here >= UNAUTHENTICATED_OF_ADDRESS && !peer.is_loopback() {
            transports.unauthenticated.take_oldest_from(peer)
        } else if crowded || unauthenticated {
            transports.unauthenticated.take_oldest_of_most()
        } else {
            None
        };
        transports.all.insert(number, Arc::downgrade(&transport));
        transports.unauthenticated.add(number, peer, Arc::downgrade(&transport));
        drop(transports);
        match leaving {
            Some(oldest) => oldest.end(EndReason::TooManyUnauthenticated),
            None if crowded => self.0.accounts.make_person_give_way(),
            None => {}
        }
        transport
    }

    /// Returns the time that a connection has to show a token.
    pub fn handshake_timeout(&self) -> Duration {
        self.0.transports.handshake_timeout()
    }

    /// Returns the number of open connections.
    pub fn count(&self) -> usize {
        self.0.transports.entries().all.len()
    }

    /// Waits until one more polling client may begin, in the order of arrival.
    pub async fn wait_to_poll(&self) {
        let mut handshakes = self.0.handshakes.lock().await;
        let wait = handshakes.take(1, tokio::time::Instant::now());
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }

    /// Returns a new polling client, to be named by [`ConnectionRegistry::name`], and the name of
    /// the one that made room for it, if there were too many without a token.
    pub fn polling_client(&self, transport: &TcpConnection) -> (Arc<SocketClient>, Option<String>) {
        let number = self.0.next_number();
        let place =
            UnauthenticatedPlace { table: Arc::clone(&self.0.unauthenticated_sessions), number };
        let client = SocketClient::new(Some(place));
        let mut unauthenticated = self.0.unauthenticated_sessions.lock();
        let is_full = unauthenticated.len() >= UNAUTHENTICATED_SESSIONS;
        let leaving = if is_full { unauthenticated.take_oldest_of_most() } else { None };
        unauthenticated.add(number, transport.place.peer, Arc::downgrade(&client));
        drop(unauthenticated);
        let left = leaving.and_then(|oldest| {
            oldest.end(EndReason::TooManyUnauthenticated);
            oldest.name()
        });
        (client, left)
    }

    /// Returns a new client whose connection becomes a WebSocket.
    pub fn websocket_client(&self) -> Arc<SocketClient> {
        SocketClient::new(None)
    }

    /// Admits a client that has shown a token.
    ///
    /// # Errors
    /// [`TooManySessions`] if the person has as many clients as one may have, or if there are too
    /// many connections and this person has the most.
    pub fn admit(
        &self,
        session: &Arc<SocketClient>,
        name: String,
        principal: &Principal,
    ) -> Result<(), TooManySessions> {
        let person = self.0.accounts.of(principal);
        let most = self.0.transports.connections_of_person();
        if person.join(session) > CLIENTS_OF_PERSON.min(most) || person.connection_count() > most {
            return Err(TooManySessions);
        }
        self.name(session, name);
        session.become_known(person);
        // It may have had to make room for itself.
        if session.is_ended() { Err(TooManySessions) } else { Ok(()) }
    }

    /// Registers a client under the name of its engine.io session.
    pub fn name(&self, session: &Arc<SocketClient>, name: String) {
        self.0.sessions.lock().insert(name.clone(), Arc::downgrade(session));
        session.be_named(SessionPlace { table: Arc::clone(&self.0.sessions), name });
    }

    /// Returns the client of this name.
    pub fn session(&self, name: &str) -> Option<Arc<SocketClient>> {
        self.0.sessions.lock().get(name).and_then(Weak::upgrade)
    }

    /// Holds bytes that came without a token, for which the clients that hold most of these make
    /// room.
    pub fn hold_unauthenticated(&self, bytes: usize) -> Result<HeldBytes, MemoryExhausted> {
        loop {
            match self.0.unauthenticated.hold(HeldPurpose::Arriving, bytes) {
                Ok(held) => return Ok(held),
                Err(full) => self.0.largest_unauthenticated().ok_or(full)?.end(),
            }
        }
    }

    /// Ends the oldest connection without a token, of the address that has most.
    pub fn make_place(&self) {
        let oldest = self.0.transports.entries().unauthenticated.take_oldest_of_most();
        if let Some(oldest) = oldest {
            oldest.end(EndReason::TooManyUnauthenticated);
        }
    }

    /// Ends all connections.
    pub fn end_all(&self) {
        let sessions: Vec<_> = self.0.sessions.lock().values().filter_map(Weak::upgrade).collect();
        for session in sessions {
            session.end(EndReason::ServerStops);
        }
        for transport in self.0.transports.every() {
            transport.end(EndReason::ServerStops);
        }
    }

    /// Ends overdue connections, forever.
    pub async fn supervise(self) {
        let mut ticks = tokio::time::interval(SWEEP);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.0.accounts.end_surges(tokio::time::Instant::now());
            let now_ms = self.0.transports.now_ms();
            for transport in self.0.transports.every() {
                if let Some(reason) = transport.overdue(now_ms) {
                    transport.end(reason);
                }
            }
        }
    }
}

impl RegistryState {
    fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    fn largest_unauthenticated(&self) -> Option<UnauthenticatedHolder> {
        let (connections, clients) = (
            self.transports.entries().unauthenticated.live(),
            self.unauthenticated_sessions.lock().live(),
        );
        let connections =
            connections.into_iter().map(|(peer, it)| (peer, UnauthenticatedHolder::Connection(it)));
        let clients =
            clients.into_iter().map(|(peer, it)| (peer, UnauthenticatedHolder::Client(it)));
        let mut holders: Vec<_> =
            connections.chain(clients).map(|(peer, it)| (it.bytes(), peer, it)).collect();
        // One that has ended makes no room.
        holders.retain(|(bytes, _, holder)| *bytes > 0 && !holder.is_ended());
        let mut by_address: HashMap<IpAddr, usize> = HashMap::new();
        for (bytes, peer, _) in &holders {
            *by_address.entry(*peer).or_default() += bytes;
        }
        let key = |(bytes, peer, _): &(usize, IpAddr, UnauthenticatedHolder)| {
            (by_address.get(peer).copied(), *peer, *bytes)
        };
        holders.into_iter().max_by_key(key).map(|(.., holder)| holder)
    }
}

impl UnauthenticatedHolder {
    fn bytes(&self) -> usize {
        match self {
            Self::Connection(transport) => transport.unauthenticated_bytes(),
            Self::Client(session) => session.early_bytes(),
        }
    }

    fn is_ended(&self) -> bool {
        match self {
            Self::Connection(transport) => transport.is_ended(),
            Self::Client(session) => session.is_ended(),
        }
    }

    fn end(&self) {
        match self {
            Self::Connection(transport) => transport.end(EndReason::TooManyUnauthenticated),
            Self::Client(session) => session.end(EndReason::TooManyUnauthenticated),
        }
    }
}

/// Returns the address by which connections are counted; for IPv6, the network of one customer.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::V6((address.to_bits() >> 64 << 64).into())
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConnectionAccess, ConnectionArrival, RequestOwner};
    use copydesk_ids::TokenId;
    use copydesk_ids::permissions::Role;

    fn connections(open_files: usize) -> ConnectionRegistry {
        ConnectionRegistry::new(ConnectionLimits { memory: 1 << 30, open_files: Some(open_files) })
    }

    fn person(name: &str) -> Principal {
        Principal::new(name, name, Role::Viewer)
    }

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    /// A request of this person over a new connection.
    fn request(
        connections: &ConnectionRegistry,
        name: &str,
    ) -> (Arc<TcpConnection>, ConnectionArrival, bool) {
        let transport = connections.accept(address(1));
        let arrival = ConnectionArrival::begin(&transport);
        let owner =
            RequestOwner::unauthenticated(connections.accounts().clone(), Arc::clone(&transport));
        let is_taken = owner.is(&person(name)).is_ok();
        (transport, arrival, is_taken)
    }

    #[test]
    fn the_oldest_idle_http_connection_of_a_person_makes_room_for_the_next() {
        let connections = connections(256);
        let most = 256 / 4 * 3 / 4;
        let mut kept: Vec<_> = (0..most).map(|_| request(&connections, "eve")).collect();
        assert!(kept.iter().all(|(.., is_taken)| *is_taken));
        assert!(!request(&connections, "eve").2, "all are in use");
        assert!(request(&connections, "ana").2, "no one else is concerned");
        let (idle, answered, _) = kept.remove(3);
        drop(answered);
        assert!(!idle.is_ended());
        let newest = request(&connections, "eve");
        assert!(newest.2 && idle.is_ended());
        assert!(kept.iter().all(|(transport, ..)| !transport.is_ended()));
    }

    #[test]
    fn clients_that_poll_have_connections_of_their_own() {
        let connections = connections(256);
        let eve = connections.accounts().of(&person("eve"));
        let clients: Vec<_> = (0..60_u8)
            .map(|number| {
                let handshake = connections.accept(address(number));
                let (client, _) = connections.polling_client(&handshake);
                connections.admit(&client, number.to_string(), &person("eve")).unwrap();
                client
            })
            .collect();
        let polls: Vec<_> = clients
            .iter()
            .map(|_| {
                let transport = connections.accept(address(1));
                let arrival = ConnectionArrival::begin(&transport);
                (transport.belong_to(&eve), transport, arrival)
            })
            .collect();
        assert!(polls.iter().all(|(taken, ..)| taken.is_ok()));
    }

    #[derive(Debug)]
    struct Ended(bool);

    impl ConnectionAccess for Ended {
        fn has_ended(&self) -> bool {
            self.0
        }
    }

    #[test]
    fn an_idle_http_connection_ends_with_the_token_that_it_has_shown() {
        let connections = connections(1024);
        for (has_ended, expected) in [(false, None), (true, Some(EndReason::AccessEnded))] {
            let (transport, answering, _) = request(&connections, "eve");
            transport.end_with(TokenId::from("tok_1"), Arc::new(Ended(has_ended)));
            assert_eq!(transport.overdue(1_000), None, "there is an answer to wait for");
            drop(answering);
            assert_eq!(transport.overdue(1_500), expected);
        }
    }

    #[test]
    fn an_answer_is_not_waited_for_for_ever_once_the_token_has_ended() {
        let connections = connections(1024);
        let (transport, _answering, _) = request(&connections, "eve");
        transport.end_with(TokenId::from("tok_1"), Arc::new(Ended(true)));
        assert_eq!([transport.overdue(1_000), transport.overdue(10_000)], [None, None]);
        assert_eq!(transport.overdue(12_000), Some(EndReason::AccessEnded));
    }

    #[tokio::test(start_paused = true)]
    async fn polling_clients_begin_one_after_the_other_once_there_are_many() {
        let (connections, began) = (connections(65_536), tokio::time::Instant::now());
        for _ in 0..1_024 {
            connections.wait_to_poll().await;
        }
        assert_eq!(began.elapsed(), Duration::ZERO);
        for _ in 0..256 {
            connections.wait_to_poll().await;
        }
        let took = began.elapsed();
        assert!((Duration::from_millis(900)..Duration::from_secs(2)).contains(&took), "{took:?}");
    }

    #[test]
    fn polling_clients_of_one_address_keep_no_one_out() {
        let connections = connections(65_536);
        let (busy, other) = (connections.accept(address(1)), connections.accept(address(2)));
        let honest = connections.polling_client(&other);
        let clients: Vec<_> = (0..UNAUTHENTICATED_SESSIONS + 10)
            .map(|number| {
                let (client, left) = connections.polling_client(&busy);
                connections.name(&client, number.to_string());
                (client, left)
            })
            .collect();
        let left: Vec<_> = clients.iter().filter_map(|(_, left)| left.clone()).collect();
        let oldest: Vec<_> = (0..11).map(|number| number.to_string()).collect();
        assert_eq!(left, oldest);
        assert!(clients[..11].iter().all(|(client, _)| client.is_ended()));
        assert!(clients[11..].iter().all(|(client, _)| !client.is_ended()));
        assert!(!honest.0.is_ended());
    }

    #[test]
    fn connections_of_every_kind_count_together_and_slow_requests_make_room_too() {
        let connections = connections(128);
        let eve = connections.accounts().of(&person("eve"));
        let clients: Vec<_> = (0..40)
            .map(|number: usize| {
                let (client, _) = connections.polling_client(&connections.accept(address(1)));
                connections.admit(&client, number.to_string(), &person("eve")).unwrap();
                client
            })
            .collect();
        let mut slow: Vec<_> = (0..64).map(|_| request(&connections, "eve")).collect();
        slow.retain(|(.., is_taken)| *is_taken);
        assert_eq!((slow.len(), eve.connection_count()), (48, 48), "half of 96");
        let probe = connections.accept(address(1));
        assert!(clients[0].begin_switch(&probe).is_err());
        // None of them is idle, and ending a client that polls would free nothing.
        eve.give_way();
        assert_eq!(eve.connection_count(), 47);
        assert!(clients.iter().all(|it| !it.is_ended()));
    }

    #[test]
    fn heads_that_never_end_count_to_the_person_who_sends_them() {
        let connections = connections(1_024);
        let mut idle = Vec::new();
        for _ in 0..60 {
            let (transport, answered, is_taken) = request(&connections, "eve");
            assert!(is_taken);
            drop(answered);
            idle.push(transport);
        }
        let hold = |bytes| connections.hold_unauthenticated(bytes);
        let refused = idle.iter().filter(|it| it.count_head(60_000, hold).is_err()).count();
        assert_eq!(refused, 60 - 34, "2 MB are held");
    }

    #[test]
    fn people_with_many_connections_together_keep_no_one_out() {
        let connections = connections(128);
        let mut open = Vec::new();
        let mut connect = |user: &'static str, number: usize| {
            let transport = connections.accept(address(1));
            let client = connections.websocket_client();
            transport.carry(&client);
            let admitted = connections.admit(&client, format!("{user}{number}"), &person(user));
            open.push((user, transport, client));
            // What has ended is closed.
            open.retain(|(_, transport, _)| !transport.is_ended());
            let of = |user| open.iter().filter(|(it, ..)| *it == user).count();
            (admitted.is_ok(), of("eve"), of("mallory"), of("ana"))
        };
        for number in 0..48 {
            connect("eve", number);
            connect("mallory", number);
        }
        for number in 0..8 {
            let (is_admitted, eve, mallory, ana) = connect("ana", number);
            assert!(is_admitted && ana == number + 1);
            assert_eq!(eve + mallory + ana, 84, "an eighth of 96 is left for others");
            assert!(eve.abs_diff(mallory) <= 1, "{eve} and {mallory}");
        }
    }

    #[test]
    fn a_person_who_holds_most_without_a_token_makes_room() {
        let connections = connections(65_536);
        let honest = connections.accept(address(2));
        let hold = |bytes| connections.hold_unauthenticated(bytes);
        honest.count_head(20_000, hold).unwrap();
        let many: Vec<_> = (0..1_000).map(|_| connections.accept([127, 0, 0, 1].into())).collect();
        for sender in &many[1..] {
            sender.count_head(60_000, hold).unwrap();
        }
        let ended = many.iter().filter(|it| it.is_ended()).count();
        assert!((700..800).contains(&ended), "16 MB are held: {ended} ended");
        assert!(!honest.is_ended() && !many[0].is_ended(), "they hold less");
    }
}
