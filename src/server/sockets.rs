//! socket.io as a service around the routes, its limits, and the way of events to it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use futures_util::FutureExt as _;
use socketioxide::{ParserConfig, SocketIo};
use tower::ServiceExt as _;

use copydesk_connections::MESSAGE_BYTES;
use copydesk_ids::{DocumentId, MemberId, RequestId};
use copydesk_mcp::DocumentChanges;
use copydesk_rooms::event::{RoomEvent, ServerEvent};
use copydesk_rooms::{EncodedEvent, EventSink};
use copydesk_socketio::{ClosePolling, SocketRegistry};

/// Maximum packets that may wait in a socket before it is disconnected and has to resync.
const SOCKET_BUFFER: usize = 8_192;
/// Bytes that are read from a WebSocket at once: a few keystrokes. Every connection keeps one or
/// two such buffers; longer messages grow them.
const READ_BUFFER: usize = 512;
/// Longest wait for a client's token after it has connected.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum bytes of an incomplete binary packet. Complete ones are refused.
const BINARY_BYTES: usize = 64 * 1024;
/// Maximum binary parts of one packet before it is refused.
const BINARY_PARTS: usize = 16;
/// Longest wait for the remaining parts of a binary packet.
const BINARY_TIMEOUT: Duration = Duration::from_secs(5);

/// Event sink that passes events of rooms to all transports.
pub(super) struct EventFanOut(pub(super) SocketRegistry, pub(super) DocumentChanges);

impl EventSink for EventFanOut {
    fn encode(&self, document: &DocumentId, event: &RoomEvent) -> Option<EncodedEvent> {
        self.0.encode(document, event)
    }

    fn notify(
        &self,
        document: &DocumentId,
        members: &[MemberId],
        event: &RoomEvent,
        encoded: Option<&EncodedEvent>,
    ) {
        self.0.notify(document, members, event, encoded);
        self.1.notify(document, members, event, encoded);
    }

    fn gather(&self, members: &[MemberId], deliver: &mut dyn FnMut()) {
        self.0.gather(members, deliver);
    }

    fn announce(&self, news: &ServerEvent) {
        self.0.announce(news);
        self.1.announce(news);
    }

    fn follow(&self, members: &[MemberId], document: &DocumentId, request: &RequestId) {
        self.0.follow(members, document, request);
    }
}

/// Returns the [`SocketIo`] service around the router `inside`.
pub(super) fn around(inside: Router) -> (Router, SocketIo) {
    let (service, io) = SocketIo::builder()
        .max_buffer_size(SOCKET_BUFFER)
        .max_payload(MESSAGE_BYTES as u64)
        .ws_read_buffer_size(READ_BUFFER)
        .ws_max_message_size(MESSAGE_BYTES)
        .ws_max_frame_size(MESSAGE_BYTES)
        .connect_timeout(HANDSHAKE_TIMEOUT)
        .with_parser(
            ParserConfig::common()
                .max_incoming_binary_buf_size(BINARY_BYTES)
                .max_incoming_binaries(BINARY_PARTS)
                .packet_completion_timeout(BINARY_TIMEOUT),
        )
        .build_with_inner_svc(inside);
    (Router::new().fallback_service(service), io)
}

/// Ends sessions of long polling, which have no connection to end, as their clients would: by a
/// packet.
pub(super) fn close_polling(service: Router) -> ClosePolling {
    Arc::new(move |name| {
        let uri = format!("/socket.io/?EIO=4&transport=polling&sid={name}");
        let request = Request::post(uri).body(Body::from("1"));
        let service = service.clone();
        let closing = async move {
            match request {
                Ok(request) => drop(service.oneshot(request).await),
                Err(error) => tracing::error!(%error, "cannot close a session"),
            }
        };
        closing.boxed()
    })
}
