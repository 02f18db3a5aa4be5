//! Link to one client: counts a message before it is queued, and ends the client if too much waits.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use socketioxide::extract::{AckSender, SocketRef};

use copydesk_connections::{ConnectionRegistry, EndReason, QueueOverflow, SocketClient, TextFrame};

/// Bytes around a payload: packet types, brackets, quotes, a comma, and the acknowledgement's
/// number.
const AROUND_PAYLOAD: usize = 24;

pub(crate) struct EventAck {
    /// Number that the client gave the event.
    pub(crate) number: i64,
    /// Sender of socketioxide, for an answer that is not written directly.
    pub(crate) sender: AckSender,
}

/// Returns an event as it stands on the wire in the namespace `/`; `None` if it is not short.
pub(crate) fn event_frame(event: &str, payload: &RawValue) -> Option<TextFrame> {
    // A message of engine.io, an event of socket.io. The names of events need no escapes.
    TextFrame::of(&["42[\"", event, "\",", payload.get(), "]"])
}

/// Returns an answer as it stands on the wire in the namespace `/`; `None` if it is not short.
fn answer_frame(number: i64, body: &RawValue) -> Option<TextFrame> {
    TextFrame::of(&["43", &number.to_string(), "[", body.get(), "]"])
}

/// Link to one client. Clones share it.
#[derive(Clone)]
pub struct ClientLink(Arc<LinkParts>);

struct LinkParts {
    socket: SocketRef,
    client: Arc<SocketClient>,
    connections: ConnectionRegistry,
}

impl ClientLink {
    pub(crate) fn new(
        socket: SocketRef,
        client: Arc<SocketClient>,
        connections: ConnectionRegistry,
    ) -> Self {
        Self(Arc::new(LinkParts { socket, client, connections }))
    }

    pub(crate) fn socket(&self) -> &SocketRef {
        &self.0.socket
    }

    /// Returns the client.
    pub fn client(&self) -> &Arc<SocketClient> {
        &self.0.client
    }

    /// Sends an event. A client that cannot take it is disconnected: it must never see an event
    /// after a gap. `frame` is the event's [`event_frame`], if it may be written directly.
    pub(crate) fn emit(&self, event: &str, payload: &RawValue, frame: Option<&TextFrame>) {
        if !self.0.socket.connected() {
            return;
        }
        if !frame.is_some_and(|frame| self.0.client.write_directly(frame))
            && self.queue(event.len() + payload.get().len())
            && self.0.socket.emit(event, payload).is_err()
            && self.0.socket.connected()
        {
            self.0.client.end(EndReason::TooSlow);
        }
    }

    /// Sends an event, directly where that is possible.
    pub fn emit_directly(&self, event: &str, payload: &RawValue) {
        self.emit(event, payload, event_frame(event, payload).as_ref());
    }

    /// Encodes an event and sends it.
    pub(crate) fn emit_value<T: Serialize>(&self, event: &str, payload: &T) {
        if let Some(payload) = encoded(payload) {
            self.emit(event, &payload, None);
        }
    }

    pub(crate) fn answer<T: Serialize>(&self, sender: EventAck, body: &T) {
        if let Some(body) = self.unwritten(&sender, body)
            && self.queue(body.get().len())
        {
            self.send(sender, &body);
        }
    }

    /// Answers an event if there is room for the answer, else with something shorter.
    pub(crate) fn answer_or<T, S>(&self, sender: EventAck, body: &T, shorter: &S)
    where
        T: Serialize,
        S: Serialize,
    {
        let Some(body) = self.unwritten(&sender, body) else { return };
        match self.0.client.queue(body.get().len() + AROUND_PAYLOAD) {
            Ok(()) => self.send(sender, &body),
            Err(QueueOverflow::Ended) => {}
            Err(QueueOverflow::Session | QueueOverflow::Person | QueueOverflow::Server) => {
                drop(body);
                self.answer(sender, shorter);
            }
        }
    }

    /// Encodes an answer and writes it directly, where that is possible. Returns it if it is still
    /// to be sent.
    fn unwritten<T: Serialize>(&self, sender: &EventAck, body: &T) -> Option<Box<RawValue>> {
        let body = encoded(body).filter(|_| self.0.socket.connected())?;
        let frame = answer_frame(sender.number, &body);
        let is_written = frame.is_some_and(|frame| self.0.client.write_directly(&frame));
        (!is_written).then_some(body)
    }

    /// Sends an answer that was counted.
    fn send(&self, sender: EventAck, body: &RawValue) {
        if sender.sender.send(body).is_err() && self.0.socket.connected() {
            self.0.client.end(EndReason::TooSlow);
        }
    }

    /// Counts a message; returns `false` if the client has ended, perhaps because of it.
    fn queue(&self, length: usize) -> bool {
        let length = length + AROUND_PAYLOAD;
        let mut tried = self.0.client.queue(length);
        let slower = match tried {
            Err(QueueOverflow::Person) => self.0.client.slower_sibling(length),
            Err(QueueOverflow::Server) => self.0.connections.accounts().largest_session(),
            Ok(()) | Err(QueueOverflow::Ended | QueueOverflow::Session) => None,
        };
        if let Some(slower) = slower.filter(|it| !Arc::ptr_eq(it, &self.0.client)) {
            slower.end(EndReason::TooSlow);
            tried = self.0.client.queue(length);
        }
        match tried {
            Ok(()) => return true,
            Err(QueueOverflow::Ended) => {}
            Err(QueueOverflow::Session | QueueOverflow::Person) => {
                self.0.client.end(EndReason::TooSlow);
            }
            Err(QueueOverflow::Server) => self.0.client.end(EndReason::ServerFull),
        }
        false
    }
}

fn encoded<T: Serialize>(value: &T) -> Option<Box<RawValue>> {
    match to_raw_value(value) {
        Ok(encoded) => Some(encoded),
        Err(error) => {
            tracing::error!(%error, "cannot encode a message");
            None
        }
    }
}
