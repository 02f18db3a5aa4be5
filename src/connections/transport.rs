//! Accepted TCP connection: its state, and a way to end it from outside.

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

/// Longest wait for a request, or for the handshake after the upgrade, without a token.
const UNKNOWN_PATIENCE: Duration = Duration::from_secs(10);
/// Longest duration of a request without a token.
const UNKNOWN_REQUEST: Duration = Duration::from_secs(30);
/// Longest wait of a connection that has shown a token for its next request.
const IDLE: Duration = Duration::from_mins(2);
/// Longest silence of a WebSocket: the heartbeat asks every 25 seconds and waits 20 for the answer.
const SILENCE: Duration = Duration::from_secs(46);
/// Longest time during which a peer accepts no bytes.
const STALL: Duration = Duration::from_secs(30);

/// Accepted TCP connection.
#[derive(Debug)]
pub struct ConnectionTransport {
    place: TransportPlace,
    ended: AtomicBool,
    reader: AtomicWaker,
    writer: AtomicWaker,
    /// `true` if the protocol is being switched to WebSocket, or was.
    is_upgraded: AtomicBool,
    is_known: AtomicBool,
    /// `true` if the last read ended with the head of a request.
    has_head: AtomicBool,
    /// Client it carries, once it is a WebSocket.
    session: OnceLock<Arc<ClientSession>>,
    /// Number of requests that are being answered.
    requests: AtomicU32,
    /// Bytes of a request's head, before a token was shown.
    head: Mutex<Option<HeldBytes>>,
    /// Time of the last read, in milliseconds on the registry's clock.
    read_ms: AtomicU64,
    /// Time of the last write, in ms.
    written_ms: AtomicU64,
    /// Time at which a request last began or its answer was complete, or of the upgrade, in ms.
    turn_ms: AtomicU64,
    /// Time in ms since which the peer accepts nothing; 0 if it does.
    stalled_ms: AtomicU64,
}

/// Request that is being answered, until the answer was handed over or given up.
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

    /// Returns the address of the peer.
    pub(super) fn peer(&self) -> IpAddr {
        self.place.peer()
    }

    /// Ends the connection: reads and writes fail from now on, waiting ones too.
    pub fn end(&self, reason: EndReason) {
        if self.ended.swap(true, Ordering::AcqRel) {
            return;
        }
        if !matches!(reason, EndReason::Closed | EndReason::Idle) {
            tracing::debug!(?reason, peer = %self.peer(), "a connection is ended");
        }
        // No longer counted, so that a caller that ends it to make room finds the room.
        self.take_head();
        self.reader.wake();
        self.writer.wake();
        if let Some(session) = self.session.get() {
            session.end(reason);
        }
    }

    /// Returns `true` if the connection was ended.
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Marks the connection as one that has shown a token.
    pub fn become_known(&self) {
        if !self.is_known.swap(true, Ordering::Relaxed) {
            self.place.become_known();
            self.take_head();
        }
    }

    /// Returns `true` if a token was shown.
    pub(super) fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    /// Begins a request; called before anything after its head is read.
    pub fn begin_request(self: &Arc<Self>) -> RequestTurn {
        self.take_head();
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.turn_ms.store(self.place.now_ms(), Ordering::Relaxed);
        RequestTurn(Arc::clone(self))
    }

    /// Returns `true` if a request is being answered.
    pub(super) fn is_answering(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 0
    }

    /// Records if the last read ended with the head of a request.
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
            self.place.become_unknown();
        }
        self.turn_ms.store(self.place.now_ms(), Ordering::Relaxed);
        self.is_upgraded.store(true, Ordering::Release);
    }

    /// Returns `true` if frames are to be expected.
    pub(super) fn is_upgraded(&self) -> bool {
        self.is_upgraded.load(Ordering::Acquire)
    }

    /// Carries this client from now on, as a WebSocket.
    pub fn carry(self: &Arc<Self>, session: &Arc<ClientSession>) {
        if self.session.set(Arc::clone(session)).is_ok() {
            session.attach(self);
            if session.person().is_some() {
                self.become_known();
            }
        }
    }

    /// Returns the client it carries as a WebSocket.
    pub(super) fn session(&self) -> Option<&Arc<ClientSession>> {
        self.session.get()
    }

    /// Holds bytes sent without a token; the oldest connections without a token end to make room.
    pub(super) fn hold_unknown(&self, bytes: usize) -> Result<HeldBytes, NoRoom> {
        self.place.hold_unknown(bytes)
    }

    /// Counts bytes of a request's head that have come.
    pub(super) fn count_head(&self, bytes: usize) -> Result<(), NoRoom> {
        if self.is_known() || self.is_answering() {
            return Ok(());
        }
        // Released before more is held: to make room, other connections may be ended, and this one
        // too.
        let before = self.take_head().map_or(0, |held| held.bytes());
        let held = self.hold_unknown(before + bytes)?;
        *self.head.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
        Ok(())
    }

    fn take_head(&self) -> Option<HeldBytes> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Stores the waker to call when the connection ends while a read waits.
    pub(super) fn wake_reader(&self, waker: &Waker) {
        self.reader.register(waker);
    }

    /// Stores the waker to call when the connection ends while a write waits.
    pub(super) fn wake_writer(&self, waker: &Waker) {
        self.writer.register(waker);
    }

    /// Records a read.
    pub(super) fn has_read(&self) {
        self.read_ms.store(self.place.now_ms(), Ordering::Relaxed);
    }

    /// Records a write.
    pub(super) fn has_written(&self) {
        self.written_ms.store(self.place.now_ms(), Ordering::Relaxed);
        self.stalled_ms.store(0, Ordering::Relaxed);
    }

    /// Records that nothing can be written now.
    pub(super) fn has_stalled(&self) {
        if self.stalled_ms.load(Ordering::Relaxed) == 0 {
            self.stalled_ms.store(self.place.now_ms().max(1), Ordering::Relaxed);
        }
    }

    /// Returns the reason to end the connection at `now_ms` on the registry's clock, if there is
    /// one.
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
