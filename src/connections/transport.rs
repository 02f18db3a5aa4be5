//! One accepted TCP connection: what is known of it, and a way to end it from outside.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Waker;
use std::time::Duration;

use futures_util::task::AtomicWaker;

use super::EndReason;
use super::account::{HeldBytes, NoRoom};
use super::registry::TransportPlace;
use super::session::ClientSession;

/// How long somebody who has not shown a token may take for a request, or for the handshake after the upgrade.
const UNKNOWN_PATIENCE: Duration = Duration::from_secs(10);
/// How long a request may take of somebody who has not shown a token.
const UNKNOWN_REQUEST: Duration = Duration::from_secs(30);
/// How long a connection that has shown a token may wait for its next request.
const IDLE: Duration = Duration::from_mins(2);
/// How long a WebSocket may be silent: the heartbeat asks every 25 seconds and waits 20 for the answer.
const SILENCE: Duration = Duration::from_secs(46);
/// How long a peer may take nothing of what is to be sent.
const STALL: Duration = Duration::from_secs(30);

/// One accepted TCP connection.
#[derive(Debug)]
pub struct ConnectionTransport {
    place: TransportPlace,
    ended: AtomicBool,
    reader: AtomicWaker,
    writer: AtomicWaker,
    /// Whether the protocol is being switched to WebSocket, or was.
    is_upgraded: AtomicBool,
    is_known: AtomicBool,
    /// Whether the last read ended with the head of a request.
    has_head: AtomicBool,
    /// The client it carries, once it is a WebSocket.
    session: OnceLock<Arc<ClientSession>>,
    /// Requests that are being answered.
    requests: AtomicU32,
    /// Bytes of a request's head, of somebody who has not shown a token.
    head: Mutex<Option<HeldBytes>>,
    /// Milliseconds on the server's clock: the last time anything was read.
    read_ms: AtomicU64,
    /// The last time anything was written.
    written_ms: AtomicU64,
    /// The last time a request, or its answer, was complete; or the upgrade.
    turn_ms: AtomicU64,
    /// Since when the peer takes nothing; 0 if it does.
    stalled_ms: AtomicU64,
}

/// A request that is being answered, until the answer was handed over or given up.
#[derive(Debug)]
pub struct RequestTurn(Arc<ConnectionTransport>);

impl ConnectionTransport {
    pub(super) fn new(place: TransportPlace) -> Self {
        let now_ms = place.now_ms();
        Self {
            place,
            ended: AtomicBool::new(false),
            reader: AtomicWaker::new(),
            writer: AtomicWaker::new(),
            is_upgraded: AtomicBool::new(false),
            is_known: AtomicBool::new(false),
            has_head: AtomicBool::new(false),
            session: OnceLock::new(),
            requests: AtomicU32::new(0),
            head: Mutex::default(),
            read_ms: AtomicU64::new(now_ms),
            written_ms: AtomicU64::new(now_ms),
            turn_ms: AtomicU64::new(now_ms),
            stalled_ms: AtomicU64::new(0),
        }
    }

    /// Where it comes from.
    pub(super) fn peer(&self) -> IpAddr {
        self.place.peer()
    }

    /// Ends it: reads and writes fail from now on, those that wait too.
    pub fn end(&self, reason: EndReason) {
        if self.ended.swap(true, Ordering::AcqRel) {
            return;
        }
        if !matches!(reason, EndReason::Closed | EndReason::Idle) {
            tracing::debug!(?reason, peer = %self.peer(), "a connection is ended");
        }
        // Counted no more, so that what makes room by this finds it.
        self.take_head();
        self.reader.wake();
        self.writer.wake();
        if let Some(session) = self.session.get() {
            session.end(reason);
        }
    }

    /// Whether it was ended.
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Whoever is at the other end has shown a token.
    pub fn become_known(&self) {
        if !self.is_known.swap(true, Ordering::Relaxed) {
            self.place.become_known();
            self.take_head();
        }
    }

    /// Whether a token was shown.
    pub(super) fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    /// A request begins; called before anything after its head is read.
    pub fn begin_request(self: &Arc<Self>) -> RequestTurn {
        self.take_head();
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.turn_ms.store(self.place.now_ms(), Ordering::Relaxed);
        RequestTurn(Arc::clone(self))
    }

    /// Whether a request is being answered.
    pub(super) fn is_answering(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 0
    }

    /// Whether what was read last ended with the head of a request.
    pub(super) fn has_read_head(&self, ended: bool) {
        self.has_head.store(ended, Ordering::Relaxed);
    }

    /// What follows are WebSocket frames, if the switch is agreed to; called before anything after the request's head
    /// is read. Ends the connection if something was: a client has to wait for the answer.
    pub fn expect_frames(&self) {
        if !self.has_head.load(Ordering::Relaxed) {
            return self.end(EndReason::Protocol);
        }
        // Known by a request of before: a WebSocket shows a token of its own.
        if self.is_known.swap(false, Ordering::Relaxed) {
            self.place.become_unknown();
        }
        self.turn_ms.store(self.place.now_ms(), Ordering::Relaxed);
        self.is_upgraded.store(true, Ordering::Release);
    }

    /// Whether frames are to be expected.
    pub(super) fn is_upgraded(&self) -> bool {
        self.is_upgraded.load(Ordering::Acquire)
    }

    /// It carries this client from now on, as a WebSocket.
    pub fn carry(self: &Arc<Self>, session: &Arc<ClientSession>) {
        if self.session.set(Arc::clone(session)).is_ok() {
            session.attach(self);
            if session.person().is_some() {
                self.become_known();
            }
        }
    }

    /// The client it carries as a WebSocket.
    pub(super) fn session(&self) -> Option<&Arc<ClientSession>> {
        self.session.get()
    }

    /// Holds bytes that somebody unknown sends; where there is no room, the oldest unknown connections end.
    pub(super) fn hold_unknown(&self, bytes: usize) -> Result<HeldBytes, NoRoom> {
        self.place.hold_unknown(bytes)
    }

    /// Bytes of a request's head have come.
    pub(super) fn count_head(&self, bytes: usize) -> Result<(), NoRoom> {
        if self.is_known() || self.is_answering() {
            return Ok(());
        }
        // Taken out of the lock: to make room, other connections may be ended, this one too.
        let before = self.take_head().map_or(0, |held| held.bytes());
        let held = self.hold_unknown(before + bytes)?;
        *self.head.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
        Ok(())
    }

    fn take_head(&self) -> Option<HeldBytes> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Remembers who is to be woken when it ends while a read waits.
    pub(super) fn wake_reader(&self, waker: &Waker) {
        self.reader.register(waker);
    }

    /// Remembers who is to be woken when it ends while a write waits.
    pub(super) fn wake_writer(&self, waker: &Waker) {
        self.writer.register(waker);
    }

    /// Something was read.
    pub(super) fn has_read(&self) {
        self.read_ms.store(self.place.now_ms(), Ordering::Relaxed);
    }

    /// Something was written.
    pub(super) fn has_written(&self) {
        self.written_ms.store(self.place.now_ms(), Ordering::Relaxed);
        self.stalled_ms.store(0, Ordering::Relaxed);
    }

    /// Nothing can be written now.
    pub(super) fn has_stalled(&self) {
        if self.stalled_ms.load(Ordering::Relaxed) == 0 {
            self.stalled_ms.store(self.place.now_ms().max(1), Ordering::Relaxed);
        }
    }

    /// Why it should be ended at this time on the server's clock, if it should.
    pub(super) fn overdue(&self, now_ms: u64) -> Option<EndReason> {
        let since = |time: &AtomicU64| {
            Duration::from_millis(now_ms.saturating_sub(time.load(Ordering::Relaxed)))
        };
        if self.stalled_ms.load(Ordering::Relaxed) > 0 && since(&self.stalled_ms) > STALL {
            return Some(EndReason::Stalled);
        }
        let turn = since(&self.turn_ms);
        if self.is_upgraded() {
            return if self.is_known() {
                (since(&self.read_ms) > SILENCE).then_some(EndReason::Silent)
            } else {
                (turn > UNKNOWN_PATIENCE).then_some(EndReason::HandshakeTimeout)
            };
        }
        let quiet = turn.min(since(&self.written_ms));
        let patience = match (self.requests.load(Ordering::Relaxed), self.is_known()) {
            (0, false) => UNKNOWN_PATIENCE,
            (0, true) => IDLE,
            (_, false) => UNKNOWN_REQUEST,
            // An answer may have to wait for people.
            (_, true) => return None,
        };
        (quiet > patience).then_some(EndReason::Idle)
    }
}

impl Drop for RequestTurn {
    fn drop(&mut self) {
        self.0.turn_ms.store(self.0.place.now_ms(), Ordering::Relaxed);
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}
