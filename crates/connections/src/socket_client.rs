//! Client of socket.io over any transport, the messages that wait for it, and its end.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::connection_tables::{SessionPlace, UnauthenticatedPlace};
use super::memory_accounts::{HeldBytes, MemoryExhausted, PersonAccount};
use super::message_pace::MessagePace;
use super::retained_bytes::RetainedBytes;
use super::tcp_connection::TcpConnection;
use super::{EndReason, MESSAGE_BYTES, READER_MESSAGE_BYTES, UNAUTHENTICATED_MESSAGE_BYTES};

/// Bytes that may wait to be sent to one client, beyond the largest message among them.
const SESSION_BYTES: usize = 18 * 1024 * 1024;
/// Bytes waiting to be sent to one client above which nothing large is prepared for it.
const BUSY_BYTES: usize = 14 * 1024 * 1024;
/// Time without progress after which a client does not count as one that reads.
const STALLED: Duration = Duration::from_secs(2);
/// Bytes that a waiting message takes beside its text.
const MESSAGE_OVERHEAD: usize = 160;
/// Longest time for the last messages of a client, after which its connection ends anyway.
const LAST_MESSAGES: Duration = Duration::from_millis(700);
/// Time for the packet after the last message.
const LAST_PACKET: Duration = Duration::from_millis(50);
/// Bytes that a client may send before it has shown a token: one message and the headers of frames.
const EARLY_BYTES: usize = UNAUTHENTICATED_MESSAGE_BYTES + 1024;
/// Number of messages a client may send before it has shown a token.
const MESSAGES_BEFORE_TOKEN: u32 = 16;

/// Connected socket.io client.
#[derive(Debug)]
pub struct SocketClient {
    queue: Mutex<OutgoingQueue>,
    /// Notified when all waiting messages were sent, and at the end.
    sent: Notify,
    person: OnceLock<Arc<PersonAccount>>,
    /// Messages that it sent before it showed a token.
    early: Mutex<EarlyWrites>,
    pace: Mutex<MessagePace>,
    is_polling: AtomicBool,
    /// Cancelled when it ends.
    ended: CancellationToken,
    /// Cancelled when the server ends it against its will.
    cut: CancellationToken,
    pub(super) kept: RetainedBytes,
    /// `true` if a message was sent to it.
    has_been_sent: AtomicBool,
    websocket: OnceLock<Weak<TcpConnection>>,
    /// Connections that carry it now.
    transports: Mutex<Vec<Weak<TcpConnection>>>,
    /// Connection that is to take the place of long polling, while it is open.
    probe: Mutex<Weak<TcpConnection>>,
    /// Entry under its name in the registry.
    place: Mutex<Option<SessionPlace<Self>>>,
    /// Place among the clients that have not shown a token.
    unauthenticated: Mutex<Option<UnauthenticatedPlace<Self>>>,
}

#[derive(Debug, Default)]
struct OutgoingQueue {
    lengths: VecDeque<usize>,
    bytes: usize,
    /// Largest length since nothing waited.
    largest: usize,
    /// Unsent bytes, set at the end: messages that still wait are not sent.
    given_up: Option<usize>,
    /// Time at which a message was last sent, or first had to wait.
    moved: Option<Instant>,
}

/// Messages of a client without a token, counted until it comes: each may be answered by a packet
/// that is not counted.
#[derive(Debug, Default)]
struct EarlyWrites {
    messages: u32,
    held: Option<HeldBytes>,
}

/// Refusal to switch a client to a WebSocket; it goes on by long polling, or with the one it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this client has a WebSocket, is switching to one, or may have none now")]
pub struct SwitchRefused;

/// Reason why [`SocketClient::queue`] refuses a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueOverflow {
    /// The client has ended.
    Ended,
    /// Too much waits for this client.
    Session,
    /// Too much waits for this person.
    Person,
    /// The server holds as much as it may.
    Server,
}

impl SocketClient {
    pub(super) fn new(unauthenticated: Option<UnauthenticatedPlace<Self>>) -> Arc<Self> {
        Arc::new(Self {
            pace: Mutex::new(MessagePace::of_client()),
            is_polling: AtomicBool::new(unauthenticated.is_some()),
            queue: Mutex::default(),
            sent: Notify::new(),
            person: OnceLock::new(),
            early: Mutex::default(),
            ended: CancellationToken::new(),
            cut: CancellationToken::new(),
            kept: RetainedBytes::default(),
            has_been_sent: AtomicBool::new(false),
            websocket: OnceLock::new(),
            transports: Mutex::default(),
            probe: Mutex::default(),
            place: Mutex::default(),
            unauthenticated: Mutex::new(unauthenticated),
        })
    }

    pub(super) fn become_known(&self, person: Arc<PersonAccount>) {
        self.person.get_or_init(|| person);
        self.unauthenticated.lock().take();
        self.early.lock().held = None;
        for transport in self.transports() {
            transport.become_known();
        }
    }

    pub(super) fn be_named(&self, place: SessionPlace<Self>) {
        let mut named = self.place.lock();
        if named.is_none() {
            *named = Some(place);
        } else {
            // Both entries have one name, which is removed with the first.
            place.keep_entry();
        }
    }

    /// Returns the account of the client's person, once a token was shown.
    pub fn person(&self) -> Option<&Arc<PersonAccount>> {
        self.person.get()
    }

    pub(super) fn name(&self) -> Option<String> {
        self.place.lock().as_ref().map(|place| place.name.clone())
    }

    pub(super) fn is_polling(&self) -> bool {
        self.is_polling.load(Ordering::Relaxed)
    }

    /// Begins the switch from long polling to a WebSocket over this connection.
    ///
    /// # Errors
    /// [`SwitchRefused`] if the client has a WebSocket or another is on its way, if its person has
    /// too many connections, or if so much waits that long polling may have taken a part of it.
    pub fn begin_switch(&self, transport: &Arc<TcpConnection>) -> Result<(), SwitchRefused> {
        let most = transport.place.connections_of_person();
        let is_full = self.person().is_some_and(|person| person.connection_count() >= most);
        if is_full || self.waiting_bytes() > MESSAGE_BYTES / 2 {
            return Err(SwitchRefused);
        }
        let mut probe = self.probe.lock();
        let is_other = |it: &Arc<_>| !Arc::ptr_eq(it, transport);
        let other = probe.upgrade().filter(|it| is_other(it) && !it.is_ended());
        if !self.is_polling() || other.is_some() {
            return Err(SwitchRefused);
        }
        *probe = Arc::downgrade(transport);
        Ok(())
    }

    /// Gives up the switch that was begun, because it was not agreed to.
    pub fn give_up_switch(&self) {
        *self.probe.lock() = Weak::new();
    }

    /// Returns the number of WebSocket connections that it has, or that are on their way.
    pub(super) fn socket_count(&self) -> usize {
        let has_probe = self.probe.lock().upgrade().is_some_and(|it| !it.is_ended());
        usize::from(has_probe || !self.is_polling())
    }

    pub(super) fn become_websocket(&self, transport: &TcpConnection) {
        self.is_polling.store(false, Ordering::Relaxed);
        let is_it = |known: &Arc<TcpConnection>| std::ptr::eq(Arc::as_ptr(known), transport);
        if let Some(transport) = self.transports().iter().find(|known| is_it(known)) {
            self.websocket.get_or_init(|| Arc::downgrade(transport));
        }
    }

    pub(super) fn websocket(&self) -> Option<Arc<TcpConnection>> {
        self.websocket.get()?.upgrade()
    }

    pub(super) fn has_been_sent(&self) -> bool {
        self.has_been_sent.load(Ordering::Acquire)
    }

    pub(super) fn is_waited_for(&self) -> bool {
        !self.queue.lock().lengths.is_empty()
    }

    /// Counts messages that the client has sent; returns the time to wait before more are read.
    pub fn pace(&self, messages: u32) -> Result<Duration, EndReason> {
        let now = Instant::now();
        let mut pace = self.pace.lock();
        let wait = pace.take(messages, now);
        if pace.is_flood(now) {
            return Err(EndReason::Flood);
        }
        drop(pace);
        let of_person = self.person().map(|person| person.pace(messages, now));
        Ok(wait.max(of_person.unwrap_or_default()))
    }

    /// Returns the longest message this client may send, in bytes.
    pub fn message_limit(&self) -> usize {
        match self.person() {
            None => UNAUTHENTICATED_MESSAGE_BYTES,
            Some(person) if person.only_reads() => READER_MESSAGE_BYTES,
            Some(_) => MESSAGE_BYTES,
        }
    }

    /// Counts a message that was sent before a token was shown; returns `true` if it is allowed.
    pub fn may_send_early(&self) -> bool {
        let mut early = self.early.lock();
        early.messages += 1;
        early.messages <= MESSAGES_BEFORE_TOKEN
    }

    /// Counts bytes that came before a token was shown; `count` holds them.
    pub fn hold_early(
        &self,
        bytes: usize,
        count: impl FnOnce(usize) -> Result<HeldBytes, MemoryExhausted>,
    ) -> Result<(), MemoryExhausted> {
        // Released before `count`: to make room, other clients may be ended, and this one too.
        let held = self.early.lock().held.take();
        let before = held.as_ref().map_or(0, HeldBytes::bytes);
        if before.saturating_add(bytes) > EARLY_BYTES {
            return Err(MemoryExhausted::Person);
        }
        drop(held);
        let held = count(before + bytes)?;
        self.early.lock().held = Some(held);
        Ok(())
    }

    pub(super) fn early_bytes(&self) -> usize {
        self.early.lock().held.as_ref().map_or(0, HeldBytes::bytes)
    }

    /// Counts a message of `length` bytes before it is handed over to be sent.
    ///
    /// # Errors
    /// [`QueueOverflow`] if the message would be too much; then it must not be handed over.
    pub fn queue(&self, length: usize) -> Result<(), QueueOverflow> {
        let Some(person) = self.person() else { return Err(QueueOverflow::Ended) };
        let bytes = length + MESSAGE_OVERHEAD;
        let mut queue = self.queue.lock();
        if queue.given_up.is_some() {
            return Err(QueueOverflow::Ended);
        }
        let largest = queue.largest.max(bytes);
        if (queue.bytes + bytes).saturating_sub(largest) > SESSION_BYTES {
            return Err(QueueOverflow::Session);
        }
        person.queue(bytes).map_err(|full| match full {
            MemoryExhausted::Person => QueueOverflow::Person,
            MemoryExhausted::Server => QueueOverflow::Server,
        })?;
        if queue.bytes == 0 {
            queue.moved = Some(Instant::now());
        }
        queue.lengths.push_back(bytes);
        queue.bytes += bytes;
        queue.largest = largest;
        Ok(())
    }

    /// Counts messages whose beginning was written, as one: it comes before all that wait. It is
    /// kept where there is no room too: each client has a few kilobytes of these at most.
    pub(super) fn queue_first(&self, length: usize) {
        let mut queue = self.queue.lock();
        if queue.given_up.is_some() {
            return;
        }
        let bytes = length + MESSAGE_OVERHEAD;
        let is_counted = self.person().is_some_and(|person| person.queue(bytes).is_ok());
        let bytes = if is_counted { bytes } else { 0 };
        if queue.bytes == 0 {
            queue.moved = Some(Instant::now());
        }
        queue.lengths.push_front(bytes);
        queue.bytes += bytes;
        queue.largest = queue.largest.max(bytes);
    }

    /// Removes the oldest waiting message, which was sent.
    pub fn message_sent(&self) {
        let mut queue = self.queue.lock();
        if queue.given_up.is_some() {
            return;
        }
        let Some(bytes) = queue.lengths.pop_front() else { return };
        queue.bytes -= bytes;
        self.has_been_sent.store(true, Ordering::Release);
        queue.moved = Some(Instant::now());
        if queue.bytes == 0 {
            queue.largest = 0;
            self.sent.notify_waiters();
        }
        drop(queue);
        if let Some(person) = self.person() {
            person.sent(bytes);
        }
    }

    /// Returns the bytes that wait to be sent.
    pub fn waiting_bytes(&self) -> usize {
        self.queue.lock().bytes
    }

    /// Returns `true` if something waits to be sent to it and it takes some of it.
    pub(super) fn reads(&self, now: Instant) -> bool {
        self.waits_since(now).is_some_and(|time| time < STALLED)
    }

    /// Returns the time for which it takes nothing of what waits, if something does.
    pub(super) fn stalled_for(&self, now: Instant) -> Option<Duration> {
        self.waits_since(now).filter(|time| *time >= STALLED)
    }

    /// Returns the time for which messages wait and nothing was sent; `None` if nothing waits.
    fn waits_since(&self, now: Instant) -> Option<Duration> {
        let queue = self.queue.lock();
        let moved = queue.moved.filter(|_| queue.bytes > 0)?;
        drop(queue);
        let written = self.transports().iter().map(|it| it.since_written()).min();
        let waits = now.saturating_duration_since(moved);
        Some(written.map_or(waits, |written| waits.min(written)))
    }

    /// Returns `true` if nothing large should be prepared for this client: too much waits.
    pub fn is_busy(&self) -> bool {
        let queue = self.queue.lock();
        queue.bytes.saturating_sub(queue.largest) >= BUSY_BYTES
            || self.person().is_some_and(|person| person.is_busy())
    }

    /// Returns the client to end so that this one may be sent `length` bytes more: another of this
    /// person with many more unsent bytes.
    pub fn slower_sibling(&self, length: usize) -> Option<Arc<Self>> {
        let largest = self.person()?.largest_session()?;
        let own = self.waiting_bytes() + length + MESSAGE_OVERHEAD;
        (largest.waiting_bytes() > own).then_some(largest)
    }

    /// Ends the HTTP connections of its person that are idle, long polling's among them.
    pub fn end_idle_connections(&self) {
        if let Some(person) = self.person() {
            person.end_idle_connections();
        }
    }

    /// Ends the client: its connections end at once, and waiting messages are not sent.
    pub fn end(&self, reason: EndReason) {
        if let Some(bytes) = self.give_up() {
            if let Some(person) = self.person() {
                person.given_up(bytes);
            }
            if reason != EndReason::Closed {
                tracing::warn!(?reason, unread = bytes, "disconnected a client");
                self.cut.cancel();
            }
        }
        // Before its connections end: it is not chosen again to make room. No lock is held here,
        // because a connection that ends calls this again.
        self.ended.cancel();
        self.stop_keeping();
        // No longer counted, so that a caller that ends it to make room finds the room.
        self.early.lock().held = None;
        for transport in self.transports() {
            transport.end(reason);
        }
        self.sent.notify_waiters();
    }

    /// Gives up the messages that wait; returns their bytes, the first time.
    fn give_up(&self) -> Option<usize> {
        let mut queue = self.queue.lock();
        if queue.given_up.is_some() {
            return None;
        }
        let bytes = std::mem::take(&mut queue.bytes);
        queue.given_up = Some(bytes);
        Some(bytes)
    }

    /// Ends the client once everything is sent, or a moment later if its peer does not read.
    pub async fn end_when_sent(&self) {
        drop(tokio::time::timeout(LAST_MESSAGES, self.all_sent()).await);
        tokio::time::sleep(LAST_PACKET).await;
        self.end(EndReason::Closed);
    }

    async fn all_sent(&self) {
        loop {
            let sent = self.sent.notified();
            if self.waiting_bytes() == 0 || self.is_ended() {
                return;
            }
            sent.await;
        }
    }

    /// Returns `true` if the client has ended.
    pub fn is_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Waits for the end of the client.
    pub async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Waits until the server ends the client against its will; forever if it leaves by itself.
    pub async fn cut(&self) {
        self.cut.cancelled().await;
    }

    pub(super) fn attach(&self, transport: &Arc<TcpConnection>) {
        self.transports.lock().push(Arc::downgrade(transport));
        if self.is_ended() {
            transport.end(EndReason::Closed);
        }
    }

    pub(super) fn detach(&self, transport: &TcpConnection) {
        self.transports.lock().retain(|known| {
            let known = known.upgrade();
            known.is_some_and(|it| !std::ptr::eq(Arc::as_ptr(&it), transport))
        });
    }

    fn transports(&self) -> Vec<Arc<TcpConnection>> {
        self.transports.lock().iter().filter_map(Weak::upgrade).collect()
    }
}

impl Drop for SocketClient {
    fn drop(&mut self) {
        self.stop_keeping();
        let queue = self.queue.get_mut();
        let Some(person) = self.person.get() else { return };
        match queue.given_up {
            Some(bytes) => person.freed(bytes),
            None => person.sent(queue.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConnectionLimits, ConnectionRegistry};
    use copydesk_ids::permissions::{Principal, Role};

    fn client(connections: &ConnectionRegistry, name: &str) -> Arc<SocketClient> {
        let person = Principal::new("ana", "Ana", Role::Viewer);
        let session = connections.websocket_client();
        connections.admit(&session, name.to_owned(), &person).unwrap();
        session
    }

    fn connections() -> ConnectionRegistry {
        ConnectionRegistry::new(ConnectionLimits { memory: 1 << 30, open_files: None })
    }

    #[test]
    fn a_client_may_leave_so_much_unread_beyond_the_largest_message() {
        let connections = connections();
        let session = client(&connections, "a");
        session.queue(4 * SESSION_BYTES).unwrap();
        assert!(!session.is_busy());
        session.queue(BUSY_BYTES).unwrap();
        assert!(session.is_busy());
        assert_eq!(session.queue(SESSION_BYTES), Err(QueueOverflow::Session));
        // The largest is sent, what is left is less than it was.
        session.message_sent();
        assert!(!session.is_busy());
        session.message_sent();
        assert_eq!((session.waiting_bytes(), connections.accounts().held()), (0, 0));
    }

    #[test]
    fn the_slower_of_a_persons_clients_makes_room() {
        let connections = connections();
        let clients = [client(&connections, "a"), client(&connections, "b")];
        let healthy = client(&connections, "c");
        let mut filling = clients.iter().cycle();
        while filling.next().is_some_and(|slow| slow.queue(SESSION_BYTES / 2).is_ok()) {}
        clients[0].queue(1_000).ok();
        assert_eq!(healthy.queue(2 * SESSION_BYTES), Err(QueueOverflow::Person));
        let slower = healthy.slower_sibling(100).expect("there is one");
        assert!(Arc::ptr_eq(&slower, &clients[0]));
        slower.end(EndReason::TooSlow);
        assert_eq!(healthy.queue(100), Ok(()));
        assert_eq!(slower.queue(1), Err(QueueOverflow::Ended));
        let held = connections.accounts().held();
        assert!(held > SESSION_BYTES, "still in memory: {held}");
        drop((slower, clients));
        healthy.message_sent();
        assert_eq!(connections.accounts().held(), 0);
    }

    #[test]
    fn a_client_switches_to_one_websocket_and_no_second_one_ends_it() {
        let connections = connections();
        let new = || connections.accept(std::net::Ipv4Addr::LOCALHOST.into());
        let (first, second, session) = (new(), new(), connections.polling_client(&new()).0);
        assert_eq!(session.begin_switch(&first), Ok(()));
        first.carry(&session);
        assert_eq!(
            (session.begin_switch(&second), session.socket_count()),
            (Err(SwitchRefused), 1)
        );
        first.end(EndReason::Closed);
        assert_eq!((session.is_ended(), session.socket_count()), (false, 0));
        assert_eq!(session.begin_switch(&second), Ok(()));
        session.give_up_switch();
        let third = new();
        assert_eq!(session.begin_switch(&third), Ok(()));
        third.carry(&session);
        third.complete_probe();
        assert_eq!(session.begin_switch(&new()), Err(SwitchRefused), "it has one");
    }

    #[test]
    fn a_client_with_several_connections_ends_with_all_of_them() {
        let connections = connections();
        let session = client(&connections, "a");
        let transports: Vec<_> =
            (0..3).map(|_| connections.accept(std::net::Ipv4Addr::LOCALHOST.into())).collect();
        for transport in &transports {
            transport.carry(&session);
        }
        session.end(EndReason::TooSlow);
        assert!(session.is_ended() && transports.iter().all(|it| it.is_ended()));
        session.end(EndReason::Closed);
    }

    #[test]
    fn forty_readers_may_be_sent_a_long_text_at_once_and_those_who_do_not_read_it_leave() {
        let connections = connections();
        let readers: Vec<_> =
            (0..40).map(|number| client(&connections, &number.to_string())).collect();
        let ended = || readers.iter().filter(|it| it.is_ended()).count();
        for reader in &readers {
            assert_eq!(reader.queue(1 << 20), Ok(()));
        }
        let (accounts, now) = (connections.accounts(), Instant::now());
        accounts.end_surges(now);
        accounts.end_surges(now + Duration::from_secs(1));
        assert_eq!(ended(), 0, "they have a moment");
        // Ten have read half of it, later than the others began to wait.
        let waiting = Instant::now();
        while Instant::now() <= waiting {}
        for reader in &readers[..10] {
            reader.queue(1 << 20).unwrap();
            reader.message_sent();
        }
        accounts.end_surges(now + Duration::from_secs(3));
        let unread = readers.iter().map(|it| it.waiting_bytes()).sum::<usize>();
        assert!((1..=30).contains(&ended()), "{}", ended());
        assert!(readers[..10].iter().all(|it| !it.is_ended()), "the slowest leave first");
        assert!(unread <= 20 << 20, "{unread}");
    }

    #[test]
    fn for_no_moment_more_waits_than_a_surge_may_be() {
        let connections = connections();
        let readers: Vec<_> =
            (0..100).map(|number| client(&connections, &number.to_string())).collect();
        let taken = readers.iter().take_while(|it| it.queue(1 << 20).is_ok()).count();
        assert!((40..=64).contains(&taken), "{taken}");
    }

    #[test]
    fn a_person_who_is_unauthenticated_says_little() {
        let connections = connections();
        let session = connections.websocket_client();
        let count = |bytes| connections.hold_unauthenticated(bytes);
        assert_eq!(session.hold_early(EARLY_BYTES, count), Ok(()));
        assert_eq!(session.early_bytes(), EARLY_BYTES);
        assert_eq!(session.hold_early(1, count), Err(MemoryExhausted::Person));
        assert_eq!(session.queue(1), Err(QueueOverflow::Ended));
        let allowed = (0..100).filter(|_| session.may_send_early()).count();
        assert_eq!(allowed, MESSAGES_BEFORE_TOKEN as usize);
    }
}
