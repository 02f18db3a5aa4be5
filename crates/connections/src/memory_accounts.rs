//! Byte accounts: memory held for one person, for everyone without a token, and for the server.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use copydesk_ids::UserId;
use copydesk_ids::permissions::{Action, Principal};

use super::message_pace::MessagePace;
use super::retained_bytes::RetainedBytes;
use super::socket_client::SocketClient;
use super::tcp_connection::{TcpConnection, TooManyConnections};
use super::{EndReason, MESSAGE_BYTES};

/// Bytes that may wait to be sent to one person, beyond the largest message among them.
pub(super) const OUTGOING_BYTES: usize = 18 * 1024 * 1024;
/// Bytes of events that may wait to be sent to one person for a moment: a long text is pasted, and
/// all clients with this token are sent it at once.
const SURGE_BYTES: usize = 32 * 1024 * 1024 + MESSAGE_BYTES;
/// Time for which more than [`OUTGOING_BYTES`] may wait.
const SURGE: Duration = Duration::from_secs(2);
/// Bytes waiting to be sent to one person above which nothing large is prepared for them.
const BUSY_BYTES: usize = 14 * 1024 * 1024;
/// Bytes of incomplete messages of one person: two of the largest.
const ARRIVING_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of messages of one person that wait to be handled: two of the largest.
const WAITING_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of bodies of HTTP requests of one person, until they are answered: two of the largest.
const BODY_BYTES: usize = 64 * 1024 * 1024;
/// Limit of incomplete and waiting messages and bodies, each, of a read-only person, in bytes.
const READER_BYTES: usize = 2 * 1024 * 1024;
/// Bytes that arrive from everyone who has not shown a token.
const UNAUTHENTICATED_BYTES: usize = 16 * 1024 * 1024;
/// Long answers over HTTP that are prepared for one person at once.
const LONG_ANSWERS: usize = 4;
/// Number of remembered people above which those without held bytes are forgotten.
const MANY_PEOPLE: usize = 1_024;

/// [`PersonAccount`]s of all people. Clones share them.
#[derive(Clone, Debug)]
pub struct MemoryAccounts(Arc<AccountsShared>);

#[derive(Debug)]
pub(super) struct AccountsShared {
    pub(super) ceiling: usize,
    held: AtomicUsize,
    /// Bytes of the buffers of all connections, which are counted apart: their clients make room.
    pub(super) kept: RetainedBytes,
    people: Mutex<HashMap<UserId, Arc<PersonAccount>>>,
}

/// Account of the bytes held in memory for one person, over all of their connections.
#[derive(Debug)]
pub struct PersonAccount {
    pub(super) shared: Arc<AccountsShared>,
    /// `true` if the person may only read, and so has nothing long to send.
    only_reads: AtomicBool,
    is_unauthenticated: bool,
    arriving: AtomicUsize,
    waiting: AtomicUsize,
    bodies: AtomicUsize,
    outgoing: AtomicUsize,
    /// Bytes of the buffers of this person's connections.
    pub(super) kept: RetainedBytes,
    /// Largest message since nothing waited to be sent, in bytes.
    largest: AtomicUsize,
    /// Time since which more waits to be sent than may wait for longer than a moment.
    surge: LastingState,
    /// Time since which the connections keep more than they may for longer than a moment.
    pub(super) excess: LastingState,
    pace: Mutex<MessagePace>,
    sessions: Mutex<Vec<Weak<SocketClient>>>,
    connections: Mutex<Vec<Weak<TcpConnection>>>,
    /// Permits for answers over HTTP that may be long.
    reading: Arc<Semaphore>,
}

/// Purpose for which bytes are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldPurpose {
    /// Parts of an incomplete message.
    Arriving,
    /// A complete message that is not answered.
    Waiting,
    /// The body of an HTTP request.
    Body,
    /// A message or answer that is not sent yet.
    Outgoing,
}

/// Bytes counted in a [`PersonAccount`] until this is dropped.
#[derive(Debug)]
pub struct HeldBytes {
    account: Arc<PersonAccount>,
    purpose: HeldPurpose,
    bytes: usize,
}

/// State that holds now or not, and the time since which it does.
#[derive(Debug, Default)]
pub(super) struct LastingState(Mutex<Option<Instant>>);

/// Refusal to hold more bytes in a [`PersonAccount`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryExhausted {
    /// Too much data of this person.
    #[error("too much data is pending for this person")]
    Person,
    /// Too much data of all people together.
    #[error("the server's connection memory is full")]
    Server,
}

impl MemoryAccounts {
    /// Returns empty accounts, with a limit of `ceiling` bytes for all together.
    pub fn new(ceiling: usize) -> Self {
        Self(Arc::new(AccountsShared {
            ceiling,
            held: AtomicUsize::new(0),
            kept: RetainedBytes::default(),
            people: Mutex::default(),
        }))
    }

    /// Returns the account of a person, with the limits of their role.
    pub fn of(&self, principal: &Principal) -> Arc<PersonAccount> {
        let account = self.of_user(&principal.user);
        let only_reads = !principal.may_somewhere(Action::Suggest);
        account.only_reads.store(only_reads, Ordering::Relaxed);
        account
    }

    /// Returns the account of a person whose role was read before.
    pub fn of_user(&self, user: &UserId) -> Arc<PersonAccount> {
        let mut people = self.0.people.lock();
        if let Some(account) = people.get(user) {
            return Arc::clone(account);
        }
        if people.len() >= MANY_PEOPLE {
            people.retain(|_, account| Arc::strong_count(account) > 1);
        }
        let account = Arc::new(PersonAccount::new(Arc::clone(&self.0), false));
        people.insert(user.clone(), Arc::clone(&account));
        account
    }

    /// Returns an account for everyone who has not shown a token.
    pub(super) fn unauthenticated(&self) -> Arc<PersonAccount> {
        Arc::new(PersonAccount::new(Arc::clone(&self.0), true))
    }

    /// Returns the bytes that are held for everyone together.
    pub fn held(&self) -> usize {
        self.0.held.load(Ordering::Relaxed)
    }

    /// Returns the connected client with the most unsent bytes.
    pub fn largest_session(&self) -> Option<Arc<SocketClient>> {
        let people = self.0.people();
        let largest = people.iter().filter_map(|person| person.largest_session());
        largest.max_by_key(|session| session.waiting_bytes())
    }

    /// Ends clients of people for whom too much waits, or whose connections keep too much, too
    /// long.
    pub(super) fn end_surges(&self, now: Instant) {
        for person in self.0.people() {
            person.end_surge(now);
            person.end_excess(now);
        }
    }

    pub(super) fn make_person_give_way(&self) {
        let people = self.0.people();
        if let Some(person) = people.into_iter().max_by_key(|person| person.connection_count()) {
            person.give_way();
        }
    }
}

impl AccountsShared {
    pub(super) fn people(&self) -> Vec<Arc<PersonAccount>> {
        self.people.lock().values().cloned().collect()
    }

    fn add(&self, bytes: usize) -> Result<(), MemoryExhausted> {
        add_within(&self.held, bytes, self.ceiling).map_err(|AccountFull| MemoryExhausted::Server)
    }

    fn remove(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl PersonAccount {
    fn new(shared: Arc<AccountsShared>, is_unauthenticated: bool) -> Self {
        Self {
            shared,
            is_unauthenticated,
            only_reads: AtomicBool::new(false),
            arriving: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            bodies: AtomicUsize::new(0),
            outgoing: AtomicUsize::new(0),
            kept: RetainedBytes::default(),
            largest: AtomicUsize::new(0),
            surge: LastingState::default(),
            excess: LastingState::default(),
            pace: Mutex::new(MessagePace::of_person()),
            sessions: Mutex::default(),
            connections: Mutex::default(),
            reading: Arc::new(Semaphore::new(LONG_ANSWERS)),
        }
    }

    /// Holds bytes for this purpose.
    pub fn hold(
        self: &Arc<Self>,
        purpose: HeldPurpose,
        bytes: usize,
    ) -> Result<HeldBytes, MemoryExhausted> {
        self.add(purpose, bytes, self.limit(purpose, bytes))?;
        Ok(HeldBytes { account: Arc::clone(self), purpose, bytes })
    }

    /// Returns `true` if nothing large should be prepared for this person, for whom so much waits.
    pub fn is_busy(&self) -> bool {
        let largest = self.largest.load(Ordering::Relaxed);
        self.outgoing.load(Ordering::Relaxed).saturating_sub(largest) >= BUSY_BYTES
    }

    /// Waits until one more long answer may be prepared for this person.
    pub async fn reading_permit(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        Arc::clone(&self.reading).acquire_owned().await.ok()
    }

    /// Returns `true` if the person may only read.
    pub fn only_reads(&self) -> bool {
        self.only_reads.load(Ordering::Relaxed)
    }

    fn counter(&self, purpose: HeldPurpose) -> &AtomicUsize {
        match purpose {
            HeldPurpose::Arriving => &self.arriving,
            HeldPurpose::Waiting => &self.waiting,
            HeldPurpose::Body => &self.bodies,
            HeldPurpose::Outgoing => &self.outgoing,
        }
    }

    fn limit(&self, purpose: HeldPurpose, bytes: usize) -> usize {
        match purpose {
            HeldPurpose::Outgoing => {
                OUTGOING_BYTES.saturating_add(self.largest.load(Ordering::Relaxed).max(bytes))
            }
            _ if self.is_unauthenticated => UNAUTHENTICATED_BYTES,
            _ if self.only_reads() => READER_BYTES,
            HeldPurpose::Arriving => ARRIVING_BYTES,
            HeldPurpose::Waiting => WAITING_BYTES,
            HeldPurpose::Body => BODY_BYTES,
        }
    }

    fn add(&self, purpose: HeldPurpose, bytes: usize, limit: usize) -> Result<(), MemoryExhausted> {
        let counter = self.counter(purpose);
        add_within(counter, bytes, limit).map_err(|AccountFull| MemoryExhausted::Person)?;
        if let Err(full) = self.shared.add(bytes) {
            counter.fetch_sub(bytes, Ordering::Relaxed);
            return Err(full);
        }
        if purpose == HeldPurpose::Outgoing {
            self.largest.fetch_max(bytes, Ordering::Relaxed);
        }
        Ok(())
    }

    fn remove(&self, purpose: HeldPurpose, bytes: usize) {
        let before = self.counter(purpose).fetch_sub(bytes, Ordering::Relaxed);
        if purpose == HeldPurpose::Outgoing && before == bytes {
            self.largest.store(0, Ordering::Relaxed);
        }
        self.shared.remove(bytes);
    }

    /// Counts a message for one of this person's clients. More may wait for a moment; see
    /// [`PersonAccount::end_surge`].
    pub(super) fn queue(&self, bytes: usize) -> Result<(), MemoryExhausted> {
        let limit = self.limit(HeldPurpose::Outgoing, bytes).max(SURGE_BYTES);
        self.add(HeldPurpose::Outgoing, bytes, limit)
    }

    /// Ends clients to which nothing was sent meanwhile, slowest first, if too much waits for too
    /// long.
    fn end_surge(&self, now: Instant) {
        if self.surge.lasts(self.is_surging(), now).is_none_or(|time| time < SURGE) {
            return;
        }
        let stalled = |it: Arc<SocketClient>| Some((it.stalled_for(now)?, it));
        let mut waiting: Vec<_> = self.live_sessions().into_iter().filter_map(stalled).collect();
        waiting.sort_by_key(|(time, session)| (*time, session.waiting_bytes()));
        while let Some((_, slowest)) = waiting.pop().filter(|_| self.is_surging()) {
            slowest.end(EndReason::TooSlow);
        }
    }

    fn is_surging(&self) -> bool {
        let largest = self.largest.load(Ordering::Relaxed);
        self.outgoing.load(Ordering::Relaxed).saturating_sub(largest) > OUTGOING_BYTES
    }

    /// Counts messages of this person; returns the time to wait before more are read.
    pub(super) fn pace(&self, messages: u32, now: Instant) -> Duration {
        self.pace.lock().take(messages, now)
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.remove(HeldPurpose::Outgoing, bytes);
    }

    /// Removes messages of a client that ends from the person's account; they stay counted for the
    /// server until [`PersonAccount::freed`].
    pub(super) fn given_up(&self, bytes: usize) {
        self.remove(HeldPurpose::Outgoing, bytes);
        self.shared.held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Removes bytes of [`PersonAccount::given_up`] from the server's account too.
    pub(super) fn freed(&self, bytes: usize) {
        self.shared.remove(bytes);
    }

    pub(super) fn join(&self, session: &Arc<SocketClient>) -> usize {
        let mut sessions = self.sessions.lock();
        sessions.retain(|known| known.upgrade().is_some_and(|it| !it.is_ended()));
        sessions.push(Arc::downgrade(session));
        sessions.len()
    }

    /// Adds a connection for this person's HTTP requests. The oldest idle one makes room if there
    /// are `most`, beside one for each client without a WebSocket, or `most_of_all` of every kind.
    pub(super) fn add_connection(
        &self,
        added: &Arc<TcpConnection>,
        most: usize,
        most_of_all: usize,
    ) -> Result<(), TooManyConnections> {
        let polling = self.live_sessions().iter().filter(|it| it.is_polling()).count();
        let sockets = self.socket_count();
        let mut connections = self.connections.lock();
        let mut live = self.http_connections_among(&connections);
        let mut idle = None;
        if live.len() >= most + polling || live.len() + sockets >= most_of_all {
            let at = live.iter().position(|it| !it.is_answering()).ok_or(TooManyConnections)?;
            idle = Some(live.remove(at));
        }
        live.push(Arc::clone(added));
        *connections = live.iter().map(Arc::downgrade).collect();
        drop(connections);
        if let Some(idle) = idle {
            idle.end(EndReason::TooManyOfPerson);
        }
        Ok(())
    }

    /// Returns the number of connections, for HTTP and for sockets, those on their way too.
    pub(super) fn connection_count(&self) -> usize {
        self.socket_count() + self.http_connections().len()
    }

    fn socket_count(&self) -> usize {
        self.live_sessions().iter().map(|it| it.socket_count()).sum()
    }

    /// Ends one connection of this person for another person's: the oldest idle one for HTTP, or
    /// that of the newest client, or the newest for HTTP.
    pub(super) fn give_way(&self) {
        let http = self.http_connections();
        if let Some(idle) = http.iter().find(|it| !it.is_answering()) {
            return idle.end(EndReason::TooManyOfPerson);
        }
        // A client that polls has no connection of its own.
        let sessions = self.live_sessions();
        if let Some(newest) = sessions.iter().rev().find(|it| it.socket_count() > 0) {
            newest.end(EndReason::TooManyOfPerson);
        } else if let Some(newest) = http.last() {
            newest.end(EndReason::TooManyOfPerson);
        }
    }

    /// Returns the connections over which this person made the last HTTP request, the first first.
    fn http_connections(&self) -> Vec<Arc<TcpConnection>> {
        self.http_connections_among(&self.connections.lock())
    }

    fn http_connections_among(
        &self,
        connections: &[Weak<TcpConnection>],
    ) -> Vec<Arc<TcpConnection>> {
        let live = connections.iter().filter_map(Weak::upgrade);
        live.filter(|it| it.is_http_of(self)).collect()
    }

    /// Ends the connections over which this person made the last HTTP request and that are idle.
    pub(super) fn end_idle_connections(&self) {
        for idle in self.http_connections().iter().filter(|it| !it.is_answering()) {
            idle.end(EndReason::AccessEnded);
        }
    }

    pub(super) fn largest_session(&self) -> Option<Arc<SocketClient>> {
        self.live_sessions().into_iter().max_by_key(|session| session.waiting_bytes())
    }

    pub(super) fn live_sessions(&self) -> Vec<Arc<SocketClient>> {
        let live = |it: &Weak<SocketClient>| it.upgrade().filter(|it| !it.is_ended());
        self.sessions.lock().iter().filter_map(live).collect()
    }
}

impl LastingState {
    /// Records if the state holds now; returns the time for which it does.
    pub(super) fn lasts(&self, holds: bool, now: Instant) -> Option<Duration> {
        let mut since = self.0.lock();
        *since = holds.then(|| since.unwrap_or(now));
        since.map(|since| now.saturating_duration_since(since))
    }
}

impl HeldBytes {
    /// Returns the number of bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Holds more bytes.
    pub fn grow(&mut self, more: usize) -> Result<(), MemoryExhausted> {
        self.account.add(self.purpose, more, self.account.limit(self.purpose, more))?;
        self.bytes += more;
        Ok(())
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.account.remove(self.purpose, self.bytes);
    }
}

struct AccountFull;

fn add_within(counter: &AtomicUsize, bytes: usize, limit: usize) -> Result<(), AccountFull> {
    let fits = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= limit);
    let added = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
    added.map(|_| ()).map_err(|_| AccountFull)
}

#[cfg(test)]
mod tests {
    use super::*;
    use copydesk_ids::permissions::Role;

    fn person(name: &str, role: Role) -> Principal {
        Principal::new(name, name, role)
    }

    fn accounts() -> MemoryAccounts {
        MemoryAccounts::new(1024 * 1024 * 1024)
    }

    #[test]
    fn one_person_holds_so_much_and_no_one_else_is_concerned() {
        let accounts = accounts();
        let ana = accounts.of(&person("ana", Role::Editor));
        let all = ana.hold(HeldPurpose::Waiting, WAITING_BYTES).unwrap();
        assert_eq!(ana.hold(HeldPurpose::Waiting, 1).map(drop), Err(MemoryExhausted::Person));
        assert_eq!(
            accounts.of(&person("ana", Role::Editor)).hold(HeldPurpose::Waiting, 1).map(drop),
            Err(MemoryExhausted::Person)
        );
        assert_eq!(
            accounts.of(&person("ben", Role::Editor)).hold(HeldPurpose::Waiting, 1).map(drop),
            Ok(())
        );
        assert_eq!(
            ana.hold(HeldPurpose::Arriving, ARRIVING_BYTES).map(drop),
            Ok(()),
            "counted apart"
        );
        drop(all);
        assert_eq!(ana.hold(HeldPurpose::Waiting, WAITING_BYTES).map(drop), Ok(()));
        assert_eq!(accounts.held(), 0);
    }

    #[test]
    fn someone_who_may_only_read_holds_little() {
        let accounts = accounts();
        let eve = accounts.of(&person("eve", Role::Viewer));
        let mut held = eve.hold(HeldPurpose::Waiting, READER_BYTES - 1).unwrap();
        assert_eq!((held.grow(2), held.grow(1)), (Err(MemoryExhausted::Person), Ok(())));
        assert_eq!(
            accounts.of(&person("eve", Role::Editor)).hold(HeldPurpose::Waiting, 1).map(drop),
            Ok(())
        );
    }

    #[test]
    fn what_is_sent_is_limited_beyond_the_largest_message() {
        let accounts = accounts();
        let ana = accounts.of(&person("ana", Role::Viewer));
        let largest = ana.hold(HeldPurpose::Outgoing, 3 * OUTGOING_BYTES).unwrap();
        let rest = ana.hold(HeldPurpose::Outgoing, OUTGOING_BYTES).unwrap();
        assert!(ana.is_busy());
        assert_eq!(ana.hold(HeldPurpose::Outgoing, 1).map(drop), Err(MemoryExhausted::Person));
        drop((largest, rest));
        let parts: Vec<_> = (0..18)
            .map(|_| ana.hold(HeldPurpose::Outgoing, OUTGOING_BYTES / 18).unwrap())
            .collect();
        assert_eq!(
            ana.hold(HeldPurpose::Outgoing, OUTGOING_BYTES / 9).map(drop),
            Ok(()),
            "the largest is not counted"
        );
        assert_eq!(parts.len(), 18);
    }

    #[test]
    fn everybody_together_holds_no_more_than_the_ceiling() {
        let accounts = MemoryAccounts::new(1_000);
        let ana = accounts.of(&person("ana", Role::Editor));
        let ben = accounts.of(&person("ben", Role::Editor));
        let held = (
            ana.hold(HeldPurpose::Waiting, 600).unwrap(),
            ben.hold(HeldPurpose::Outgoing, 400).unwrap(),
        );
        assert_eq!(ben.hold(HeldPurpose::Arriving, 1).map(drop), Err(MemoryExhausted::Server));
        assert_eq!(
            accounts.unauthenticated().hold(HeldPurpose::Arriving, 1).map(drop),
            Err(MemoryExhausted::Server)
        );
        drop(held);
        assert_eq!(
            (ben.hold(HeldPurpose::Arriving, 1_000).map(drop), accounts.held()),
            (Ok(()), 0)
        );
    }
}
