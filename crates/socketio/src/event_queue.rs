//! Queue of one socket's events: handled in the order in which they were sent, and each answered.
//!
//! Handlers of socketioxide that are functions run in a task for each event, and see events out of
//! order. [`EnqueueEvents`] is a handler of another kind: it is called in the order of arrival and
//! spawns nothing. One worker for each socket then handles the events one after the other.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use governor::clock::DefaultClock;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::value::RawValue;
use socketioxide::adapter::LocalAdapter;
use socketioxide::extract::AckSender;
use socketioxide::handler::{FromMessageParts as _, MessageHandler, Value};
use socketioxide::socket::Socket;

use super::link::{ClientLink, EventAck};
use super::socket_error::{SocketError, SocketResult};
use copydesk_api::OtherServer;
use copydesk_connections::{EndReason, HeldBytes, HeldPurpose};
use copydesk_metrics as metrics;
use copydesk_operation_table::OperationTable;

/// Maximum events of one socket that wait for their answer.
pub(crate) const UNANSWERED_EVENTS: usize = 256;
/// Maximum events of one socket in a burst.
const BURST_EVENTS: NonZeroU32 = NonZeroU32::new(2_000).unwrap();
/// Sustained events of one socket per second.
const EVENTS_PER_SECOND: NonZeroU32 = NonZeroU32::new(2_000).unwrap();
/// Maximum payload of a [sheddable](AckReply::is_sheddable) event, in bytes.
const SHEDDABLE_PAYLOAD_BYTES: usize = 64 * 1024;

/// Event as it came, with the [`AckReply`] that answers it.
pub(crate) struct IncomingEvent {
    /// Name and JSON payload of the event; an error if the packet had another form.
    pub(crate) event: SocketResult<(String, Box<RawValue>)>,
    /// Reply to the event.
    pub(crate) ack: AckReply,
}

/// Sending half of a socket's queue of [`IncomingEvent`]s, kept in the socket's extensions until it
/// disconnects.
#[derive(Clone)]
pub(crate) struct EventQueue {
    /// Events for the worker; [`EventQueue::take`] bounds their number.
    queue: UnboundedSender<IncomingEvent>,
    operations: &'static OperationTable,
    link: ClientLink,
    unanswered: Arc<AtomicUsize>,
    limiter: Arc<RateLimiter<NotKeyed, InMemoryState, DefaultClock>>,
}

impl EventQueue {
    /// Returns the queue of a client's events, and its receiving half.
    pub(crate) fn new(
        operations: &'static OperationTable,
        link: ClientLink,
    ) -> (Self, UnboundedReceiver<IncomingEvent>) {
        let (queue, events) = unbounded();
        let quota = Quota::per_second(EVENTS_PER_SECOND).allow_burst(BURST_EVENTS);
        let limiter = Arc::new(RateLimiter::direct(quota));
        (Self { queue, operations, link, unanswered: Arc::default(), limiter }, events)
    }

    /// Takes an event; `sender` is missing if the client waits for no answer.
    fn take(&self, value: &Value, sender: Option<EventAck>) {
        let waiting = self.unanswered.fetch_add(1, Ordering::Relaxed);
        let (link, unanswered) = (self.link.clone(), Arc::clone(&self.unanswered));
        let mut ack = AckReply {
            sender,
            link,
            unanswered,
            is_given: false,
            is_sheddable: false,
            held: None,
            refused: None,
            arrived: Instant::now(),
        };
        if waiting >= UNANSWERED_EVENTS || self.limiter.check().is_err() {
            return ack.refuse(&SocketError::rate_limited());
        }
        match self.hold(value) {
            Ok(held) => ack.held = held,
            Err(refusal) => return ack.refuse(&refusal),
        }
        let event = parse(value);
        let operation = event.as_ref().ok().and_then(|(name, _)| self.operations.of_event(name));
        ack.is_sheddable = operation.is_some_and(|operation| operation.only_reads);
        let event = event.and_then(|(name, payload)| {
            if ack.is_sheddable && payload.get().len() > SHEDDABLE_PAYLOAD_BYTES {
                return Err(SocketError::too_large(SHEDDABLE_PAYLOAD_BYTES));
            }
            Ok((name, payload))
        });
        // Its worker has ended.
        if let Err(unsent) = self.queue.unbounded_send(IncomingEvent { event, ack }) {
            unsent.into_inner().ack.refuse(&SocketError::rate_limited());
        }
    }

    /// Holds the bytes of an event until it is answered.
    fn hold(&self, value: &Value) -> SocketResult<Option<HeldBytes>> {
        let (Value::Str(text, _), Some(person)) = (value, self.link.client().person()) else {
            return Ok(None);
        };
        person.hold(HeldPurpose::Waiting, text.len()).map(Some).map_err(SocketError::no_memory)
    }
}

/// Handler that puts every event into the socket's [`EventQueue`].
pub(crate) struct EnqueueEvents;

impl MessageHandler<LocalAdapter, ()> for EnqueueEvents {
    fn call(&self, socket: Arc<Socket>, mut value: Value, number: Option<i64>) {
        let Some(queue) = socket.extensions.get::<EventQueue>() else { return };
        let Ok(sender) = AckSender::from_message_parts(&socket, &mut value, &number);
        queue.take(&value, number.map(|number| EventAck { number, sender }));
    }
}

/// Reads `["event", payload]`. A missing payload reads as `{}`; binary ones are refused.
fn parse(value: &Value) -> SocketResult<(String, Box<RawValue>)> {
    let Value::Str(text, attachments) = value else {
        return Err(SocketError::invalid("binary packets are not supported"));
    };
    if attachments.as_ref().is_some_and(|attachments| !attachments.is_empty()) {
        return Err(SocketError::invalid("binary attachments are not supported"));
    }
    let invalid = |error: serde_json::Error| SocketError::invalid(error.to_string());
    let arguments: Vec<&RawValue> = serde_json::from_str(text.as_str()).map_err(invalid)?;
    let (name, payload) = match arguments.as_slice() {
        [] => return Err(SocketError::invalid("an event needs a name")),
        [name] => (name, RawValue::from_string("{}".to_owned()).map_err(invalid)?),
        [name, payload] => (name, RawValue::to_owned(payload)),
        [_, more @ ..] => {
            let message = format!("an event has one payload, not {}", more.len());
            return Err(SocketError::invalid(message));
        }
    };
    Ok((serde_json::from_str(name.get()).map_err(invalid)?, payload))
}

/// Reply to one event. If its handler panics, it answers with an error, so that no client waits for
/// ever. If it is dropped otherwise, the server ends, and what became of the event is not known:
/// the client is disconnected.
pub struct AckReply {
    /// Sender of the answer, missing if the client waits for none.
    sender: Option<EventAck>,
    link: ClientLink,
    unanswered: Arc<AtomicUsize>,
    is_given: bool,
    /// `true` for an event whose answer may be replaced by a refusal ([`Self::is_sheddable`]).
    is_sheddable: bool,
    /// Held bytes of the event.
    held: Option<HeldBytes>,
    /// Place for the event if another server has its document.
    refused: Option<RefusedEvent>,
    /// Time at which the event arrived.
    arrived: Instant,
}

impl std::fmt::Debug for AckReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AckReply")
    }
}

/// Place for an event that was refused because another server has its document.
#[derive(Clone, Debug, Default)]
pub(crate) struct RefusedEvent(Arc<Mutex<Option<(AckReply, OtherServer)>>>);

impl RefusedEvent {
    /// Keeps the reply to the event, and the server.
    pub(crate) fn put(&self, ack: AckReply, server: OtherServer) {
        *self.0.lock() = Some((ack, server));
    }

    /// Takes it out, if there is one.
    pub(crate) fn take(&self) -> Option<(AckReply, OtherServer)> {
        self.0.lock().take()
    }
}

impl AckReply {
    /// Returns `true` for an event that is refused first under load, and dropped once its client is
    /// gone: one that only reads. It can be sent again without loss; its payload is short, and its
    /// answer may be long.
    pub(crate) fn is_sheddable(&self) -> bool {
        self.is_sheddable
    }

    /// Answers `{ok: true, …fields}`.
    pub(crate) fn accept<T: Serialize>(self, fields: &T) {
        self.accept_whole(&AcceptedAck { ok: true, fields });
    }

    /// Answers with a body that says `ok: true`, unless too much waits to be read.
    fn accept_whole<T: Serialize>(mut self, body: &T) {
        if self.is_sheddable && self.link.client().is_busy() {
            return self.refuse(&SocketError::unread());
        }
        if !self.is_sheddable {
            return self.give(body);
        }
        if let Some(sender) = self.settle() {
            let unread = SocketError::unread();
            let refused = RefusedAck { ok: false, error: unread.error() };
            self.link.answer_or(sender, body, &refused);
        }
    }

    /// Answers with the output of an operation, which is JSON: in a field, or its fields beside
    /// `ok`.
    pub(crate) fn accept_fields(self, field: Option<&str>, output: &str) {
        let fields = output.strip_prefix('{').filter(|rest| *rest != "}");
        let body = match (field, fields) {
            (Some(field), _) => format!(r#"{{"ok":true,"{field}":{output}}}"#),
            (None, Some(fields)) => format!(r#"{{"ok":true,{fields}"#),
            (None, None) => r#"{"ok":true}"#.to_owned(),
        };
        match RawValue::from_string(body) {
            Ok(body) => self.accept_whole(&body),
            Err(_) => self.refuse(&SocketError::internal()),
        }
    }

    /// Returns the reply with a place for the event if another server has its document.
    pub(crate) fn or_keep_in(mut self, refused: RefusedEvent) -> Self {
        self.refused = Some(refused);
        self
    }

    /// Answers a push as [`Self::accept`] does, and records how long it took.
    pub(crate) fn accept_push<T: Serialize>(self, fields: &T) {
        let arrived = self.arrived;
        self.accept(fields);
        metrics::KEYSTROKE_SECONDS.took(arrived.elapsed());
    }

    /// Returns the time since the event arrived.
    pub fn age(&self) -> Duration {
        self.arrived.elapsed()
    }

    /// Returns `true` if the client waits for the answer.
    pub fn is_wanted(&self) -> bool {
        self.sender.is_some()
    }

    /// Answers with the complete answer of another server.
    pub fn give_raw(mut self, body: &RawValue) {
        self.give(&body);
    }

    /// Ends the wait of an event without an answer.
    pub fn leave_unanswered(mut self) {
        self.settle();
    }

    /// Answers `{ok: false, error}`, or leaves the event to the server that has the document.
    pub(crate) fn refuse(mut self, refusal: &SocketError) {
        if let (Some(server), Some(refused)) = (refusal.other_server(), self.refused.take()) {
            return refused.put(self, server.clone());
        }
        self.give(&RefusedAck { ok: false, error: refusal.error() });
    }

    /// Refuses an event that the server cannot handle at the moment.
    pub fn refuse_unavailable(self, message: String) {
        self.refuse(&SocketError::new("unavailable", message));
    }

    /// Answers with the fields or the error.
    pub(crate) fn answer<T: Serialize>(self, result: SocketResult<T>) {
        match result {
            Ok(fields) => self.accept(&fields),
            Err(refusal) => self.refuse(&refusal),
        }
    }

    fn give<T: Serialize>(&mut self, body: &T) {
        if let Some(sender) = self.settle() {
            self.link.answer(sender, body);
        }
    }

    /// Ends the wait of the event, and returns the sender of its answer, if the client waits for
    /// one.
    fn settle(&mut self) -> Option<EventAck> {
        self.is_given = true;
        self.unanswered.fetch_sub(1, Ordering::Relaxed);
        self.held = None;
        self.sender.take()
    }
}

impl Drop for AckReply {
    fn drop(&mut self) {
        if self.is_given {
            return;
        }
        if std::thread::panicking() {
            let error = SocketError::internal();
            return self.give(&RefusedAck { ok: false, error: error.error() });
        }
        self.settle();
        if self.link.socket().connected() {
            self.link.client().end(EndReason::ServerStops);
        }
    }
}

#[derive(Serialize)]
struct AcceptedAck<'a, T> {
    ok: bool,
    #[serde(flatten)]
    fields: &'a T,
}

#[derive(Serialize)]
struct RefusedAck<'a> {
    ok: bool,
    error: &'a copydesk_protocol::server::WireError,
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use copydesk_connections::{ConnectionLimits, ConnectionRegistry, SocketClient};
    use copydesk_ids::permissions::{Principal, Role};
    use socketioxide::SocketIo;
    use socketioxide::extract::SocketRef;
    use tower::ServiceExt as _;

    use super::*;

    /// Ping of engine.io, and what is between two packets.
    const PING: &str = "2\x1e";

    /// Client of socket.io over long polling, and what the server has of it.
    struct PollingClient {
        service: Router,
        address: String,
        socket: SocketRef,
        client: Arc<SocketClient>,
        events: UnboundedReceiver<IncomingEvent>,
    }

    impl PollingClient {
        async fn connects() -> Self {
            let (service, io) = SocketIo::new_svc();
            let service = Router::new().fallback_service(service);
            let (connected, mut connections) = unbounded();
            io.ns("/", async move |socket: SocketRef| {
                let (client, events) = accept(&socket);
                assert!(connected.unbounded_send((socket, client, events)).is_ok());
            });
            let mut address = "/socket.io/?EIO=4&transport=polling".to_owned();
            let opened = ask(&service, Request::get(&address), "").await;
            let opened: serde_json::Value = serde_json::from_str(&opened[1..]).unwrap();
            address.extend(["&sid=", opened["sid"].as_str().unwrap()]);
            assert_eq!(ask(&service, Request::post(&address), "40").await, "ok");
            let (socket, client, events) = connections.recv().await.unwrap();
            let this = Self { service, address, socket, client, events };
            let welcome = this.receives().await;
            assert!(welcome.starts_with("40{"), "{welcome}");
            this
        }

        async fn sends(&self, packet: &'static str) {
            assert_eq!(ask(&self.service, Request::post(&self.address), packet).await, "ok");
        }

        async fn receives(&self) -> String {
            let packets = ask(&self.service, Request::get(&self.address), "").await;
            packets.trim_start_matches(PING).to_owned()
        }

        /// Sends an event; returns its reply.
        async fn asks(&mut self) -> AckReply {
            self.sends(r#"420["settings:get",{}]"#).await;
            self.events.recv().await.unwrap().ack
        }
    }

    /// Returns a client that has shown its token, and its events.
    fn accept(socket: &SocketRef) -> (Arc<SocketClient>, UnboundedReceiver<IncomingEvent>) {
        let limits = ConnectionLimits { memory: 1 << 20, open_files: None };
        let connections = ConnectionRegistry::new(limits);
        let client = connections.websocket_client();
        let ana = Principal::new("ana", "Ana", Role::Viewer);
        connections.admit(&client, socket.id.to_string(), &ana).unwrap();
        let link = ClientLink::new(socket.clone(), Arc::clone(&client), connections);
        let (queue, events) = EventQueue::new(copydesk_operations::table(), link);
        socket.extensions.insert(queue);
        socket.on_fallback(EnqueueEvents);
        (client, events)
    }

    async fn ask(
        service: &Router,
        request: axum::http::request::Builder,
        body: &'static str,
    ) -> String {
        let request = request.body(Body::from(body)).unwrap();
        let response = service.clone().oneshot(request).await.unwrap();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn who_asked_a_handler_that_panics_is_told_so_and_stays() {
        let mut client = PollingClient::connects().await;
        let ack = client.asks().await;
        let handler = AssertUnwindSafe(move || {
            let _ack = ack;
            panic!("as a handler might");
        });
        catch_unwind(handler).unwrap_err();
        let told = client.receives().await;
        assert!(told.starts_with(r#"430[{"ok":false,"error":{"code":"internal""#), "{told}");
        assert!(!client.client.is_ended());
        client.asks().await.accept(&serde_json::json!({"settings": {}}));
        assert_eq!(client.receives().await, r#"430[{"ok":true,"settings":{}}]"#);
    }

    #[tokio::test]
    async fn whose_event_is_lost_with_the_server_is_told_nothing_and_disconnected() {
        let mut client = PollingClient::connects().await;
        drop(client.asks().await);
        assert!(client.client.is_ended());
        client.socket.emit("next", "").unwrap();
        assert_eq!(client.receives().await, r#"42["next",""]"#, "nothing comes before it");
    }

    #[tokio::test]
    async fn who_has_left_is_not_disconnected() {
        let mut client = PollingClient::connects().await;
        let ack = client.asks().await;
        client.sends("41").await;
        drop(ack);
        assert!(!client.client.is_ended());
    }
}
