//! Takes one socket's events in the order they were sent, and answers every one.
//!
//! socketioxide runs each event's handler in a task of its own, so handlers see events out of order. An extractor,
//! however, runs before that task is spawned, in the order of arrival: [`Intake`] does its work there. One worker for
//! each socket then handles the events one after the other.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use governor::clock::DefaultClock;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use serde::Serialize;
use serde_json::value::RawValue;
use socketioxide::extract::{AckSender, SocketRef};
use socketioxide::handler::{FromMessageParts, Value};
use socketioxide::socket::Socket;
use tokio::sync::mpsc;

use super::outbound;
use super::refusal::Refusal;

/// Events of one socket that may wait for their answer.
pub(super) const UNANSWERED_EVENTS: usize = 256;
/// Events of one socket that are let through at once.
const BURST_EVENTS: u32 = 2_000;
/// Events of one socket that are let through in the long run, each second.
const EVENTS_PER_SECOND: u32 = 2_000;

/// An event as it came, with the way to answer it.
pub(super) struct Incoming {
    /// The event's name and its payload, as JSON; an error if the packet was not that.
    pub(super) event: Result<(String, Box<RawValue>), Refusal>,
    /// Where the answer goes.
    pub(super) ack: Ack,
}

/// The sending half of a socket's queue, kept in the socket's extensions until it disconnects.
#[derive(Clone)]
pub(super) struct Intake {
    queue: mpsc::Sender<Incoming>,
    unanswered: Arc<AtomicUsize>,
    limiter: Arc<RateLimiter<NotKeyed, InMemoryState, DefaultClock>>,
}

impl Intake {
    /// A queue and its receiving half.
    pub(super) fn new() -> (Self, mpsc::Receiver<Incoming>) {
        let (queue, events) = mpsc::channel(UNANSWERED_EVENTS);
        let quota = Quota::per_second(rate(EVENTS_PER_SECOND)).allow_burst(rate(BURST_EVENTS));
        let limiter = Arc::new(RateLimiter::direct(quota));
        (Self { queue, unanswered: Arc::default(), limiter }, events)
    }

    fn take(&self, value: &Value, sender: AckSender, socket: SocketRef) {
        let waiting = self.unanswered.fetch_add(1, Ordering::Relaxed);
        let ack = Ack { sender: Some(sender), socket, unanswered: Arc::clone(&self.unanswered) };
        if waiting >= UNANSWERED_EVENTS || self.limiter.check().is_err() {
            return ack.refuse(&Refusal::rate_limited());
        }
        if let Err(full) = self.queue.try_send(Incoming { event: parse(value), ack }) {
            full.into_inner().ack.refuse(&Refusal::rate_limited());
        }
    }
}

const fn rate(count: u32) -> std::num::NonZeroU32 {
    match std::num::NonZeroU32::new(count) {
        Some(rate) => rate,
        None => std::num::NonZeroU32::MIN,
    }
}

/// The extractor that does the work; the handler it belongs to does nothing.
pub(super) struct Enqueued;

impl FromMessageParts<socketioxide::adapter::LocalAdapter> for Enqueued {
    type Error = Infallible;

    fn from_message_parts(
        socket: &Arc<Socket>,
        value: &mut Value,
        ack_id: &Option<i64>,
    ) -> Result<Self, Infallible> {
        if let Some(intake) = socket.extensions.get::<Intake>() {
            let sender = AckSender::from_message_parts(socket, value, ack_id)?;
            let socket = SocketRef::from_message_parts(socket, value, ack_id)?;
            intake.take(value, sender, socket);
        }
        Ok(Self)
    }
}

/// Reads `["event", payload]`. A missing payload reads as `{}`; binary ones are refused.
fn parse(value: &Value) -> Result<(String, Box<RawValue>), Refusal> {
    let Value::Str(text, attachments) = value else {
        return Err(Refusal::invalid("binary packets are not supported"));
    };
    if attachments.as_ref().is_some_and(|attachments| !attachments.is_empty()) {
        return Err(Refusal::invalid("binary attachments are not supported"));
    }
    let mut arguments: Vec<Box<RawValue>> =
        serde_json::from_str(text.as_str()).map_err(|error| Refusal::invalid(error.to_string()))?;
    let payload = match arguments.len() {
        0 => return Err(Refusal::invalid("an event needs a name")),
        1 => RawValue::from_string("{}".to_owned()),
        2 => Ok(arguments.swap_remove(1)),
        more => {
            return Err(Refusal::invalid(format!("an event has one payload, not {}", more - 1)));
        }
    };
    let name = serde_json::from_str(arguments[0].get());
    match (name, payload) {
        (Ok(name), Ok(payload)) => Ok((name, payload)),
        (Err(error), _) | (_, Err(error)) => Err(Refusal::invalid(error.to_string())),
    }
}

/// The answer to one event. Dropped unanswered, it says so, so that no client waits for ever.
pub(super) struct Ack {
    sender: Option<AckSender>,
    socket: SocketRef,
    unanswered: Arc<AtomicUsize>,
}

impl Ack {
    /// `{ok: true, …fields}`
    pub(super) fn accept<T: Serialize>(mut self, fields: &T) {
        self.give(&Accepted { ok: true, fields });
    }

    /// `{ok: false, error}`
    pub(super) fn refuse(mut self, refusal: &Refusal) {
        self.give(&Refused { ok: false, error: refusal.error() });
    }

    /// Either.
    pub(super) fn answer<T: Serialize>(self, result: Result<T, Refusal>) {
        match result {
            Ok(fields) => self.accept(&fields),
            Err(refusal) => self.refuse(&refusal),
        }
    }

    fn give<T: Serialize>(&mut self, body: &T) {
        let Some(sender) = self.sender.take() else { return };
        self.unanswered.fetch_sub(1, Ordering::Relaxed);
        if sender.send(body).is_err() {
            outbound::cut_off(&self.socket);
        }
    }
}

impl Drop for Ack {
    fn drop(&mut self) {
        if self.sender.is_some() {
            let error = Refusal::internal();
            self.give(&Refused { ok: false, error: error.error() });
        }
    }
}

#[derive(Serialize)]
struct Accepted<'a, T> {
    ok: bool,
    #[serde(flatten)]
    fields: &'a T,
}

#[derive(Serialize)]
struct Refused<'a> {
    ok: bool,
    error: &'a crate::wire::server::WireError,
}
