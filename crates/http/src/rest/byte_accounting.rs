//! Accounting of the bytes of every request and answer: the person to whom they count, and the
//! number that waits to be sent.
//!
//! socket.io's own requests are tracked here too: a client gets its [`SocketClient`] when it
//! opens, bodies of long polling are limited before they are read, and packets that polling takes
//! out of a client's queue count until they are sent.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use hyper::body::{Frame, SizeHint};
use serde::Deserialize;

use copydesk_connections::{
    CarriedConnection, ConnectionArrival, ConnectionRegistry, HeldBytes, HeldPurpose,
    MemoryExhausted, RequestOwner, SocketClient,
};

use super::middleware::unread_body;
use super::problem::{Problem, RestResult};

const SOCKET_IO: &str = "/socket.io";
/// Size of a piece of an answer, in bytes, up to which it is not counted: few of these wait at
/// once.
const SMALL_PIECE_BYTES: usize = 4 * 1024;
/// Length of a body, in bytes, up to which a connection can be used again after a refusal: the
/// unread rest of a longer one may not be drained, and then the connection is closed.
const DRAINED_BYTES: u64 = 8 * 1024;
/// Maximum length of the first answer of long polling, in bytes.
const FIRST_ANSWER_BYTES: usize = 4 * 1024;
/// Packets of one body that are handed over before other tasks have a turn.
const PACKETS_AT_ONCE: u32 = 64;
/// Longest pause between two pieces of a body.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Separator of the packets in a body of long polling.
const PACKET_SEPARATOR: u8 = 0x1e;

/// Returns `true` if a request asks for the switch to a WebSocket.
pub fn is_websocket_request(uri: &Uri) -> bool {
    is_socket_io(uri) && query(uri, "transport") == Some("websocket")
}

fn is_socket_io(uri: &Uri) -> bool {
    let rest = uri.path().strip_prefix(SOCKET_IO);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns a field of the query as socket.io reads it: the first of its name, not decoded.
fn query<'a>(uri: &'a Uri, name: &str) -> Option<&'a str> {
    let has_name =
        |field: &&str| field.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
    let field = uri.query()?.split('&').find(has_name)?;
    field.split('=').nth(1)
}

/// Counts the bytes of a request and its answer, as middleware, if it arrived on a connection of
/// [`ConnectionRegistry`].
pub async fn count(
    State(connections): State<ConnectionRegistry>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(arrival) = request.extensions_mut().remove::<Arc<ConnectionArrival>>() else {
        return next.run(request).await;
    };
    if is_socket_io(request.uri()) {
        let answer = socket_io(&connections, &arrival, request, next).await;
        return answer.unwrap_or_else(IntoResponse::into_response);
    }
    let transport = Arc::clone(&arrival.transport);
    let owner = RequestOwner::unauthenticated(connections.accounts().clone(), transport);
    request.extensions_mut().insert(owner.clone());
    let is_long = request.body().size_hint().lower() > DRAINED_BYTES;
    let (parts, body) = request.into_parts();
    let body = unread_body::drained(&parts.headers, body);
    let request = Request::from_parts(parts, body);
    let mut response = next.run(request).await;
    // Said, so that a client does not send its next request on a connection that is being closed.
    if response.status() == StatusCode::PAYLOAD_TOO_LARGE || is_long && is_error(&response) {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let length = response.body().size_hint().exact().unwrap_or_default() as usize;
    let reserved = match owner.account().filter(|_| length > SMALL_PIECE_BYTES) {
        Some(account) => match account.hold(HeldPurpose::Outgoing, length) {
            Ok(held) => Some(held),
            Err(full) => return too_much(full).into_response(),
        },
        None => None,
    };
    let counted = CountedBytes::Owner { owner, reserved };
    response.map(|body| Body::new(CountedBody { body, _arrival: Some(arrival), counted }))
}

fn is_error(response: &Response) -> bool {
    response.status().is_client_error() || response.status().is_server_error()
}

fn too_much(full: MemoryExhausted) -> Problem {
    match full {
        MemoryExhausted::Person => Problem::busy(),
        MemoryExhausted::Server => Problem::overloaded(full.to_string()),
    }
}

async fn socket_io(
    connections: &ConnectionRegistry,
    arrival: &Arc<ConnectionArrival>,
    mut request: Request,
    next: Next,
) -> RestResult<Response> {
    let session = query(request.uri(), "sid").and_then(|name| connections.session(name));
    // One that had to make room has left, and its end is not waited for.
    let session = session.filter(|it| it.person().is_some() || !it.is_ended());
    if is_websocket_request(request.uri()) {
        let switched = switch_to_websocket(connections, arrival, session, request, next).await;
        let mut response = switched.unwrap_or_else(IntoResponse::into_response);
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            // The bytes that follow on this connection were to be frames.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        return Ok(response);
    }
    if let Some(person) = session.as_ref().and_then(|session| session.person()) {
        arrival.transport.belong_to(person).map_err(|_| Problem::busy())?;
    }
    if request.method() == Method::POST {
        let request = request.map(|body| posted(connections.clone(), session, body));
        return Ok(next.run(request).await);
    }
    if query(request.uri(), "sid").is_none() {
        connections.wait_to_poll().await;
        let (client, left) = connections.polling_client(&arrival.transport);
        if let Some(left) = left {
            close_polling(next.clone(), &left).await;
        }
        request.extensions_mut().insert(Arc::clone(&client));
        return named(connections, &client, next.run(request).await).await;
    }
    let response = next.run(request).await;
    let Some(session) = session else { return Ok(response) };
    let carried = Arc::new(CarriedConnection::new(session, Arc::clone(arrival)));
    let counted = CountedBytes::Polled(carried);
    Ok(response.map(|body| Body::new(CountedBody { body, _arrival: None, counted })))
}

/// Asks for a WebSocket, for a polling client or a new one.
async fn switch_to_websocket(
    connections: &ConnectionRegistry,
    arrival: &ConnectionArrival,
    polling: Option<Arc<SocketClient>>,
    mut request: Request,
    next: Next,
) -> RestResult<Response> {
    if has_body(request.headers()) {
        return Err(Problem::invalid("a request to switch protocols has no body"));
    }
    if let Some(polling) = &polling {
        let begun = polling.begin_switch(&arrival.transport);
        begun.map_err(|refused| Problem::invalid(refused.to_string()))?;
    }
    let session = polling.unwrap_or_else(|| connections.websocket_client());
    request.extensions_mut().insert(Arc::clone(&session));
    let response = next.run(request).await;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        arrival.transport.carry(&session);
    } else {
        session.give_up_switch();
    }
    Ok(response)
}

/// Ends the engine.io session of a polling client as the client would: by a packet.
async fn close_polling(next: Next, name: &str) {
    let uri = format!("{SOCKET_IO}/?EIO=4&transport=polling&sid={name}");
    // Checked for every request: a name that is always known.
    let request = Request::post(uri).header(header::HOST, "localhost");
    if let Ok(request) = request.body(Body::from("1")) {
        drop(next.run(request).await);
    }
}

/// Returns the first answer to a polling client, and registers it under the session id in that.
async fn named(
    connections: &ConnectionRegistry,
    client: &Arc<SocketClient>,
    response: Response,
) -> RestResult<Response> {
    let (parts, body) = response.into_parts();
    let body = axum::body::to_bytes(body, FIRST_ANSWER_BYTES).await.map_err(|error| {
        tracing::error!(%error, "cannot read the first answer of long polling");
        Problem::internal()
    })?;
    let opened = body.strip_prefix(b"0").and_then(|json| serde_json::from_slice(json).ok());
    if let Some(OpenedSession { sid }) = opened {
        connections.name(client, sid);
    }
    Ok(Response::from_parts(parts, Body::from(body)))
}

#[derive(Deserialize)]
struct OpenedSession {
    sid: String,
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH);
    headers.contains_key(header::TRANSFER_ENCODING) || length.is_some_and(|it| it != "0")
}

/// Wraps the body that a client posts by long polling, limiting it while it is read.
fn posted(connections: ConnectionRegistry, session: Option<Arc<SocketClient>>, body: Body) -> Body {
    let (pieces, rest) = (body.into_data_stream(), Bytes::new());
    let starts = PacketStarts::default();
    let posted = PostedMessage { connections, session, held: None, starts, pieces, rest };
    Body::from_stream(stream::try_unfold(posted, async |mut posted| {
        Ok::<_, axum::BoxError>(posted.next().await?.map(|piece| (piece, posted)))
    }))
}

struct PostedMessage {
    connections: ConnectionRegistry,
    session: Option<Arc<SocketClient>>,
    held: Option<HeldBytes>,
    starts: PacketStarts,
    pieces: BodyDataStream,
    rest: Bytes,
}

/// Reason for a [`PostedMessage`] to stop reading its body.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum PostError {
    #[error("the body is too large")]
    TooLarge,
    #[error("there is no such client")]
    Unknown,
    #[error("the client may not send this packet now")]
    Protocol,
    #[error("timed out while receiving the body")]
    Stalled,
    #[error("messages come too fast")]
    Flood,
    #[error(transparent)]
    MemoryExhausted(#[from] MemoryExhausted),
}

impl PostedMessage {
    /// Returns the next bytes to hand over: few packets at once, and no faster than the client may
    /// send them.
    async fn next(&mut self) -> Result<Option<Bytes>, axum::BoxError> {
        if self.rest.is_empty() {
            let piece = tokio::time::timeout(LONGEST_PAUSE, self.pieces.next()).await;
            let Some(piece) = piece.map_err(|_| PostError::Stalled)? else { return Ok(None) };
            self.rest = piece?;
        }
        let (passed, packets) = self.admit()?;
        let session = self.session.as_ref().ok_or(PostError::Unknown)?;
        // The last packet of a body has nothing behind it.
        let wait = session.pace(packets.max(1)).map_err(|reason| {
            session.end(reason);
            PostError::Flood
        })?;
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        } else if packets == PACKETS_AT_ONCE {
            tokio::task::yield_now().await;
        }
        Ok(Some(self.rest.split_to(passed)))
    }

    /// Counts the bytes to hand over next; returns the number of bytes and of packets.
    fn admit(&mut self) -> Result<(usize, u32), PostError> {
        let session = self.session.as_ref().filter(|it| !it.is_ended());
        let session = session.ok_or(PostError::Unknown)?;
        let (mut may_go_on, is_known) = (true, session.person().is_some());
        let (passed, packets) = self.starts.pass(&self.rest, PACKETS_AT_ONCE, |start| {
            // A second CONNECT is answered by a packet that is not counted.
            may_go_on &= if is_known { &start != b"40" } else { session.may_send_early() };
        });
        if !may_go_on {
            return Err(PostError::Protocol);
        }
        let before = self.held.as_ref().map_or(0, HeldBytes::bytes);
        if before + passed > session.message_limit() {
            return Err(PostError::TooLarge);
        }
        match (&mut self.held, session.person()) {
            (Some(held), _) => held.grow(passed)?,
            (None, Some(person)) => self.held = Some(person.hold(HeldPurpose::Arriving, passed)?),
            (None, None) => {
                let hold = |bytes| self.connections.hold_unauthenticated(bytes);
                session.hold_early(passed, hold)?;
            }
        }
        Ok((passed, packets))
    }
}

/// Parser that finds the first two bytes of each packet of long polling.
#[derive(Debug, Default)]
struct PacketStarts {
    start: [u8; 2],
    /// Number of bytes of the packet that have passed, up to the length of `start`.
    passed: usize,
}

impl PacketStarts {
    /// Follows `bytes` until so many packets have ended, and calls `tell` for each beginning.
    /// Returns the number of bytes up to there and of packets that have ended.
    fn pass(&mut self, bytes: &[u8], most: u32, mut tell: impl FnMut([u8; 2])) -> (usize, u32) {
        let mut packets = 0;
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == PACKET_SEPARATOR {
                self.passed = 0;
                packets += 1;
                if packets == most {
                    return (at + 1, packets);
                }
            } else if let Some(place) = self.start.get_mut(self.passed) {
                *place = *byte;
                self.passed += 1;
                if self.passed == self.start.len() {
                    tell(self.start);
                }
            }
        }
        (bytes.len(), packets)
    }
}

/// Answer whose bytes count until they are sent.
struct CountedBody {
    body: Body,
    /// Arrival of the request, which is being answered until this body is dropped.
    _arrival: Option<Arc<ConnectionArrival>>,
    counted: CountedBytes,
}

/// Account to which an answer's bytes count.
enum CountedBytes {
    /// Person who asked, once known; `reserved` is for an answer of one piece.
    Owner { owner: RequestOwner, reserved: Option<HeldBytes> },
    /// Polling client, whose packets were counted when they were queued.
    Polled(Arc<CarriedConnection>),
}

impl CountedBytes {
    fn piece(&mut self, bytes: Bytes) -> Result<Bytes, MemoryExhausted> {
        match self {
            Self::Owner { owner, reserved } => {
                if bytes.len() <= SMALL_PIECE_BYTES {
                    return Ok(bytes);
                }
                let reserved = reserved.take().filter(|held| held.bytes() == bytes.len());
                let held = match (reserved, owner.account()) {
                    (Some(held), _) => held,
                    (None, Some(account)) => account.hold(HeldPurpose::Outgoing, bytes.len())?,
                    (None, None) => return Ok(bytes),
                };
                Ok(Bytes::from_owner(OwnedBytes { bytes, _kept: held }))
            }
            Self::Polled(carried) => {
                let mut count = 0;
                let counts = |start: [u8; 2]| count += usize::from(matches!(&start, b"42" | b"43"));
                PacketStarts::default().pass(&bytes, u32::MAX, counts);
                let packets = PolledBody { carried: Arc::clone(carried), count };
                Ok(Bytes::from_owner(OwnedBytes { bytes, _kept: packets }))
            }
        }
    }
}

/// Owner of [`Bytes`] with a value that is dropped once they are sent.
struct OwnedBytes<T> {
    bytes: Bytes,
    _kept: T,
}

impl<T> AsRef<[u8]> for OwnedBytes<T> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Packets of a client in an answer of long polling.
struct PolledBody {
    carried: Arc<CarriedConnection>,
    count: usize,
}

impl Drop for PolledBody {
    fn drop(&mut self) {
        for _ in 0..self.count {
            self.carried.session.message_sent();
        }
    }
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
            Some(Ok(frame)) => frame,
            ended => return Poll::Ready(ended),
        };
        let counted = match frame.into_data() {
            Ok(bytes) => self.counted.piece(bytes).map(Frame::data),
            Err(other) => Ok(other),
        };
        Poll::Ready(Some(counted.map_err(axum::Error::new)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_recognised_wherever_a_body_is_split() {
        let body = b"42[\"a\"]\x1e2\x1e430[]\x1e40{}\x1e4";
        for at in 0..=body.len() {
            let (mut starts, mut told) = (PacketStarts::default(), Vec::new());
            starts.pass(&body[..at], u32::MAX, |it| told.push(it));
            starts.pass(&body[at..], u32::MAX, |it| told.push(it));
            assert_eq!(told, [*b"42", *b"43", *b"40"], "{at}");
        }
    }

    #[test]
    fn so_many_packets_are_handed_over_at_once_and_no_more() {
        let body = b"42[\"a\"]\x1e".repeat(PACKETS_AT_ONCE as usize * 2);
        let passed = PacketStarts::default().pass(&body, PACKETS_AT_ONCE, |_| {});
        assert_eq!(passed, (body.len() / 2, PACKETS_AT_ONCE));
    }

    #[test]
    fn a_query_is_read_as_socket_io_reads_it() {
        let uri: Uri = "/socket.io/?EIO=4&transport=websocket&sid=a&sid=b".parse().unwrap();
        assert_eq!((query(&uri, "sid"), query(&uri, "si")), (Some("a"), None));
        assert!(is_websocket_request(&uri));
        let other: Uri = "/socket.iox/?transport=websocket".parse().unwrap();
        assert!(!is_websocket_request(&other));
    }
}
