//! Accepted TCP connection: its state, and a way to end it from outside.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Duration;

use futures_util::task::AtomicWaker;
use parking_lot::Mutex;

use copydesk_auth::AccessGuard;
use copydesk_ids::TokenId;

use super::EndReason;
use super::connection_tables::TransportPlace;
use super::memory_accounts::{
    HeldBytes, HeldPurpose, MemoryAccounts, MemoryExhausted, PersonAccount,
};
use super::outgoing_state::OutgoingState;
use super::socket_client::SocketClient;

/// Longest duration of a request without a token.
const UNAUTHENTICATED_REQUEST: Duration = Duration::from_secs(30);
/// Longest wait of a connection that has shown a token for its next request.
const IDLE: Duration = Duration::from_mins(2);
/// Longest silence of a WebSocket: the heartbeat asks every 25 seconds and waits 20 for the answer.
const SILENCE: Duration = Duration::from_secs(46);
/// Longest time during which a peer accepts no bytes. A slow reader empties a part of the system's
/// buffer in less.
const STALL: Duration = Duration::from_mins(1);
/// Time for the answers to requests that were made before their token ended.
const LAST_ANSWERS_MS: u64 = 10_000;

/// Access of a token, with which idle connections end.
pub trait ConnectionAccess: std::fmt::Debug + Send + Sync {
    /// Returns `true` if the token is no longer valid.
    fn has_ended(&self) -> bool;
}

impl ConnectionAccess for AccessGuard {
    fn has_ended(&self) -> bool {
        Self::has_ended(self)
    }
}

/// Refusal of an HTTP request: its person has too many connections, and all are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many connections of one person are in use")]
pub struct TooManyConnections;

/// Accepted TCP connection.
#[derive(Debug)]
pub struct TcpConnection {
    pub(super) place: TransportPlace<Self>,
    /// Accounts of all people: one of them gives way if too many connections are open.
    accounts: MemoryAccounts,
    ended: AtomicBool,
    reader: AtomicWaker,
    writer: AtomicWaker,
    /// `true` if the protocol is being switched to WebSocket, or was.
    is_upgraded: AtomicBool,
    is_known: AtomicBool,
    /// `true` if the last read ended with the head of a request.
    has_head: AtomicBool,
    pub(super) outgoing: Mutex<OutgoingState>,
    /// Client it carries, once it is a WebSocket.
    session: OnceLock<Arc<SocketClient>>,
    /// `true` while the client it is to carry still has its other transport, long polling.
    is_probe: AtomicBool,
    owner: Mutex<Option<Arc<PersonAccount>>>,
    /// Token of the last HTTP request, and its access.
    access: Mutex<Option<(TokenId, Arc<dyn ConnectionAccess>)>>,
    /// Time at which the access was found to have ended, in ms; 0 if it has not.
    access_ended_ms: AtomicU64,
    requests: AtomicU32,
    /// Bytes of a request's head, until the request begins.
    head: Mutex<Option<HeldBytes>>,
    /// Time of the last read, in milliseconds on the registry's clock.
    read_ms: AtomicU64,
    written_ms: AtomicU64,
    /// Time at which a request last began or its answer was complete, or of the upgrade, in ms.
    request_ms: AtomicU64,
    /// Time in ms since which the peer accepts nothing; 0 if it does.
    stalled_ms: AtomicU64,
}

/// Request that is being answered, until the answer was handed over or given up.
#[derive(Debug)]
pub struct AnsweringGuard(Arc<TcpConnection>);

impl TcpConnection {
    pub(super) fn new(place: TransportPlace<Self>, accounts: MemoryAccounts) -> Self {
        let now_ms = place.now_ms();
        Self {
            place,
            accounts,
            ended: AtomicBool::new(false),
            reader: AtomicWaker::new(),
            writer: AtomicWaker::new(),
            is_upgraded: AtomicBool::new(false),
            is_known: AtomicBool::new(false),
            has_head: AtomicBool::new(false),
            outgoing: Mutex::default(),
            session: OnceLock::new(),
            is_probe: AtomicBool::new(false),
            owner: Mutex::default(),
            access: Mutex::default(),
            access_ended_ms: AtomicU64::new(0),
            requests: AtomicU32::new(0),
            head: Mutex::default(),
            read_ms: AtomicU64::new(now_ms),
            written_ms: AtomicU64::new(now_ms),
            request_ms: AtomicU64::new(now_ms),
            stalled_ms: AtomicU64::new(0),
        }
    }

    /// Ends the connection: reads and writes fail from now on, waiting ones too.
    pub fn end(&self, reason: EndReason) {
        if self.ended.swap(true, Ordering::AcqRel) {
            return;
        }
        if !matches!(reason, EndReason::Closed | EndReason::Idle) {
            tracing::debug!(?reason, peer = %self.place.peer, "ended a connection");
        }
        // No longer counted, so that a caller that ends it to make room finds the room.
        self.take_head();
        self.reader.wake();
        self.writer.wake();
        match self.session.get() {
            Some(session) if self.is_probe() => session.detach(self),
            Some(session) => session.end(reason),
            None => {}
        }
    }

    /// Returns `true` if the connection was ended.
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Marks the connection as one with a token. If so many of these are open that no new person
    /// could connect, the person with the most of them gives way.
    pub fn become_known(&self) {
        if !self.is_known.swap(true, Ordering::Relaxed) {
            if self.place.become_known() {
                self.accounts.make_person_give_way();
            }
            self.take_head();
        }
    }

    /// Makes this a connection of the person who makes a request over it.
    pub fn belong_to(
        self: &Arc<Self>,
        person: &Arc<PersonAccount>,
    ) -> Result<(), TooManyConnections> {
        if !self.is_http_of(person) {
            let (http, all) = (self.place.http_of_person(), self.place.connections_of_person());
            person.add_connection(self, http, all)?;
            *self.owner.lock() = Some(Arc::clone(person));
        }
        self.become_known();
        Ok(())
    }

    /// Returns `true` if this person made the last HTTP request over it.
    pub(super) fn is_http_of(&self, person: &PersonAccount) -> bool {
        let owner = self.owner.lock();
        let is_owner = owner.as_ref().is_some_and(|it| std::ptr::eq(Arc::as_ptr(it), person));
        is_owner && !self.is_upgraded() && !self.is_ended()
    }

    /// Returns `true` if it ends with the access of this token.
    pub fn ends_with(&self, token: &TokenId) -> bool {
        self.access.lock().as_ref().is_some_and(|(known, _)| known == token)
    }

    /// Ends it with the access of this token.
    pub fn end_with(&self, token: TokenId, access: Arc<dyn ConnectionAccess>) {
        *self.access.lock() = Some((token, access));
        self.access_ended_ms.store(0, Ordering::Relaxed);
    }

    pub(super) fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    /// Begins a request; called before anything after its head is read.
    pub fn begin_request(self: &Arc<Self>) -> AnsweringGuard {
        self.take_head();
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.request_ms.store(self.place.now_ms(), Ordering::Relaxed);
        AnsweringGuard(Arc::clone(self))
    }

    pub(super) fn is_answering(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 0
    }

    pub(super) fn has_read_head(&self, ended: bool) {
        self.has_head.store(ended, Ordering::Relaxed);
    }

    /// Expects WebSocket frames from here on, if the switch is agreed to; called before anything
    /// after the request's head is read. Ends the connection if something was: a client has to wait
    /// for the answer.
    pub fn expect_frames(&self) {
        if !self.has_head.load(Ordering::Relaxed) {
            return self.end(EndReason::Protocol);
        }
        // Known by an earlier request: a WebSocket shows a token of its own.
        if self.is_known.swap(false, Ordering::Relaxed) {
            self.place.become_unauthenticated();
        }
        self.request_ms.store(self.place.now_ms(), Ordering::Relaxed);
        self.is_upgraded.store(true, Ordering::Release);
    }

    pub(super) fn is_upgraded(&self) -> bool {
        self.is_upgraded.load(Ordering::Acquire)
    }

    /// Carries this client from now on, as a WebSocket; called when the switch is agreed to. A
    /// client that began with long polling keeps that until it asks for the other transport: if
    /// this one ends before, the client does not.
    pub fn carry(self: &Arc<Self>, session: &Arc<SocketClient>) {
        self.is_probe.store(session.is_polling(), Ordering::Release);
        if self.session.set(Arc::clone(session)).is_err() {
            return;
        }
        session.attach(self);
        if !self.is_probe() {
            session.become_websocket(self);
        }
        if session.person().is_some() {
            self.become_known();
        }
        if self.is_ended() && !self.is_probe() {
            session.end(EndReason::Closed);
        }
    }

    /// Returns `true` while the client it carries could still go on by long polling.
    pub(super) fn is_probe(&self) -> bool {
        self.is_probe.load(Ordering::Acquire)
    }

    /// Records that the client has asked for this transport in place of long polling.
    pub(super) fn complete_probe(&self) {
        if self.is_probe.swap(false, Ordering::AcqRel)
            && let Some(session) = self.session.get()
        {
            session.become_websocket(self);
        }
    }

    pub(super) fn session(&self) -> Option<&Arc<SocketClient>> {
        self.session.get()
    }

    /// Counts bytes of a request's head that have come; `hold_unauthenticated` holds them.
    pub(super) fn count_head(
        &self,
        bytes: usize,
        hold_unauthenticated: impl FnOnce(usize) -> Result<HeldBytes, MemoryExhausted>,
    ) -> Result<(), MemoryExhausted> {
        if self.is_answering() {
            return Ok(());
        }
        // Released before more is held: to make room, connections may be ended, this one too.
        let before = self.take_head().map_or(0, |held| held.bytes());
        let owner = self.owner.lock().clone().filter(|_| self.is_known());
        let held = match owner {
            Some(person) => person.hold(HeldPurpose::Arriving, before + bytes)?,
            None => hold_unauthenticated(before + bytes)?,
        };
        *self.head.lock() = Some(held);
        Ok(())
    }

    fn take_head(&self) -> Option<HeldBytes> {
        self.head.lock().take()
    }

    pub(super) fn unauthenticated_bytes(&self) -> usize {
        let head = self.head.lock().as_ref().map_or(0, HeldBytes::bytes);
        head + self.session.get().map_or(0, |session| session.early_bytes())
    }

    /// Stores the waker to call when the connection ends while a read waits.
    pub(super) fn wake_reader(&self, waker: &Waker) {
        self.reader.register(waker);
    }

    /// Stores the waker to call when the connection ends while a write waits.
    pub(super) fn wake_writer(&self, waker: &Waker) {
        self.writer.register(waker);
    }

    pub(super) fn wake_writer_now(&self) {
        self.writer.wake();
    }

    pub(super) fn has_read(&self) {
        self.read_ms.store(self.place.now_ms(), Ordering::Relaxed);
    }

    pub(super) fn has_written(&self) {
        self.written_ms.store(self.place.now_ms(), Ordering::Relaxed);
        self.stalled_ms.store(0, Ordering::Relaxed);
    }

    pub(super) fn since_written(&self) -> Duration {
        let written_ms = self.written_ms.load(Ordering::Relaxed);
        Duration::from_millis(self.place.now_ms().saturating_sub(written_ms))
    }

    pub(super) fn has_stalled(&self) {
        if self.stalled_ms.load(Ordering::Relaxed) == 0 {
            self.stalled_ms.store(self.place.now_ms().max(1), Ordering::Relaxed);
        }
    }

    /// Returns the reason to end the connection at `now_ms` on the registry's clock, if any.
    pub(super) fn overdue(&self, now_ms: u64) -> Option<EndReason> {
        let since = |time: &AtomicU64| {
            Duration::from_millis(now_ms.saturating_sub(time.load(Ordering::Relaxed)))
        };
        if self.stalled_ms.load(Ordering::Relaxed) > 0 && since(&self.stalled_ms) > STALL {
            return Some(EndReason::Stalled);
        }
        let request = since(&self.request_ms);
        if self.is_upgraded() {
            return if self.is_known() {
                (since(&self.read_ms) > SILENCE).then_some(EndReason::Silent)
            } else {
                (request > self.place.table.handshake_timeout())
                    .then_some(EndReason::HandshakeTimeout)
            };
        }
        if self.is_after_access(now_ms) {
            return Some(EndReason::AccessEnded);
        }
        let quiet = request.min(since(&self.written_ms));
        let patience = match (self.requests.load(Ordering::Relaxed), self.is_known()) {
            (0, false) => self.place.table.handshake_timeout(),
            (0, true) => IDLE,
            (_, false) => UNAUTHENTICATED_REQUEST,
            // An answer may have to wait for people.
            (_, true) => return None,
        };
        (quiet > patience).then_some(EndReason::Idle)
    }

    /// Returns `true` if the last request's access has ended and no answer is to be waited for.
    fn is_after_access(&self, now_ms: u64) -> bool {
        let has_ended = self.access.lock().as_ref().is_some_and(|(_, access)| access.has_ended());
        if !has_ended {
            return false;
        }
        let since_ms = match self.access_ended_ms.load(Ordering::Relaxed) {
            0 => {
                self.access_ended_ms.store(now_ms.max(1), Ordering::Relaxed);
                now_ms
            }
            since_ms => since_ms,
        };
        !self.is_answering() || now_ms.saturating_sub(since_ms) > LAST_ANSWERS_MS
    }
}

impl Drop for AnsweringGuard {
    fn drop(&mut self) {
        self.0.request_ms.store(self.0.place.now_ms(), Ordering::Relaxed);
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}
