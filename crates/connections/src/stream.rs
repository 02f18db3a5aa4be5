//! Observation of the bytes of one connection: ends of request heads, and WebSocket frames.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::EndReason;
use super::frames::{FrameEvent, FrameHeader, FrameKind, FrameObserver};
use super::incoming_frames::{FRAMES_AT_ONCE, IncomingFrames};
use super::registry::ConnectionRegistry;
use super::request_head_end::HeadEnd;
use super::retained_buffers::RetainedBuffer;
use super::socket_client::SocketClient;
use super::tcp_connection::TcpConnection;

/// Stream that can be ended by its [`TcpConnection`], and reports to it the bytes that pass.
///
/// During HTTP, a read never goes beyond the end of a request's head. So when the protocol is
/// switched, nothing that follows has been read, and the frames are followed from the first byte.
#[derive(Debug)]
pub struct ObservedStream<S> {
    inner: S,
    transport: Arc<TcpConnection>,
    /// Registry that makes room for bytes that come without a token.
    connections: ConnectionRegistry,
    incoming: IncomingSide,
    outgoing: OutgoingSide,
    /// `true` if a buffer takes what is written; then the
    /// [`EncryptedSocket`](super::EncryptedSocket) below reports what the system has taken.
    is_encrypted: bool,
    /// `true` if a frame was written that closes the WebSocket: nothing may follow it.
    has_closed: bool,
    /// Bytes that were read, but not handed over: they follow the end of a head, or many frames.
    kept: BytesMut,
    /// `true` if other tasks have a turn before the next read.
    yields: bool,
    /// Wait before the next read after too many messages; the system's buffers fill.
    pause: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug)]
enum IncomingSide {
    Http(HeadEnd),
    Frames(IncomingFrames),
}

#[derive(Debug)]
enum OutgoingSide {
    Http,
    /// Answer that switches the protocol.
    Switching(HeadEnd),
    Frames(FrameObserver, RetainedBuffer),
}

/// Returns `true` for an event or acknowledgement, which [`SocketClient::queue`] has counted.
fn is_counted(frame: FrameHeader) -> bool {
    frame.kind == FrameKind::Text && matches!(&frame.beginning, b"42" | b"43")
}

impl<S> ObservedStream<S> {
    /// Wraps a stream over the [`EncryptedSocket`](super::EncryptedSocket) of a connection.
    pub fn encrypted(
        inner: S,
        transport: Arc<TcpConnection>,
        connections: ConnectionRegistry,
    ) -> Self {
        let mut stream = Self::new(inner, transport, connections);
        stream.is_encrypted = true;
        stream
    }

    /// Wraps a stream of this connection, which the registry has accepted.
    pub fn new(inner: S, transport: Arc<TcpConnection>, connections: ConnectionRegistry) -> Self {
        let incoming = IncomingSide::Http(HeadEnd::default());
        let (outgoing, kept) = (OutgoingSide::Http, BytesMut::new());
        Self {
            inner,
            transport,
            connections,
            incoming,
            outgoing,
            is_encrypted: false,
            has_closed: false,
            kept,
            yields: false,
            pause: None,
        }
    }

    /// Returns how many of the bytes that were read may be handed over.
    fn admit(&mut self, bytes: &[u8]) -> Result<usize, EndReason> {
        if self.transport.is_upgraded() && matches!(self.incoming, IncomingSide::Http(_)) {
            self.incoming = IncomingSide::Frames(IncomingFrames::default());
        }
        match &mut self.incoming {
            // A body, or bytes that a client sends before it has its answer.
            IncomingSide::Http(_) if self.transport.is_answering() => {
                self.transport.has_read_head(false);
                Ok(bytes.len())
            }
            IncomingSide::Http(head) => {
                let end = head.find(bytes);
                self.transport.has_read_head(end.is_some());
                let admitted = end.unwrap_or(bytes.len());
                let hold = |bytes| self.connections.hold_unauthenticated(bytes);
                let counted = self.transport.count_head(admitted, hold);
                counted.map_err(|_| EndReason::ArrivingTooMuch)?;
                Ok(admitted)
            }
            IncomingSide::Frames(frames) => {
                let (passed, frames) = frames.pass(&self.transport, &self.connections, bytes)?;
                self.yields = frames == FRAMES_AT_ONCE;
                if let Some(session) = self.transport.session() {
                    let wait = session.pace(frames)?;
                    self.pause = (!wait.is_zero()).then(|| Box::pin(tokio::time::sleep(wait)));
                }
                Ok(passed)
            }
        }
    }

    fn is_between_frames(&self) -> bool {
        match &self.outgoing {
            OutgoingSide::Frames(observer, _) => observer.is_between_frames() && !self.has_closed,
            OutgoingSide::Http | OutgoingSide::Switching(_) => false,
        }
    }

    fn written(&mut self, bytes: &[u8]) {
        if !self.is_encrypted {
            self.transport.has_written();
        }
        if !self.transport.is_upgraded() {
            return;
        }
        let mut bytes = bytes;
        if let OutgoingSide::Http = self.outgoing {
            self.outgoing = OutgoingSide::Switching(HeadEnd::default());
        }
        if let OutgoingSide::Switching(head) = &mut self.outgoing {
            let Some(end) = head.find(bytes) else { return };
            bytes = &bytes[end..];
            self.outgoing =
                OutgoingSide::Frames(FrameObserver::default(), RetainedBuffer::default());
        }
        if let (OutgoingSide::Frames(observer, buffer), Some(session)) =
            (&mut self.outgoing, self.transport.session())
        {
            let has_closed = &mut self.has_closed;
            observer.observe(bytes, u32::MAX, |it| {
                *has_closed |=
                    matches!(it, FrameEvent::Begun(frame) if frame.kind == FrameKind::Close);
                sent(session, buffer, it);
            });
        }
    }
}

fn sent(session: &SocketClient, buffer: &mut RetainedBuffer, observed: FrameEvent) {
    match observed {
        FrameEvent::Begun(frame) => buffer.grow_to_send(session, frame.length),
        FrameEvent::Ended(frame) if is_counted(frame) => session.message_sent(),
        FrameEvent::Recognised(_) | FrameEvent::Ended(_) => {}
    }
}

pub(super) fn ended() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "the server has ended this connection")
}

impl<S> Drop for ObservedStream<S> {
    fn drop(&mut self) {
        self.transport.end(EndReason::Closed);
    }
}

impl<S: AsyncRead + Unpin> ObservedStream<S> {
    fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::take(&mut self.yields) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(context));
            self.pause = None;
        }
        Poll::Ready(())
    }

    fn poll_observed_read(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_turn(context));
        let before = buffer.filled().len();
        if self.kept.is_empty() {
            ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        } else {
            let count = self.kept.len().min(buffer.remaining());
            buffer.put_slice(&self.kept.split_to(count));
        }
        let read = &buffer.filled()[before..];
        if read.is_empty() {
            // The peer sends no more; a WebSocket has then ended, even if the peer reads nothing.
            if self.transport.is_upgraded() {
                self.transport.end(EndReason::Closed);
            }
            return Poll::Ready(Ok(()));
        }
        self.transport.has_read();
        let admitted = self.admit(read).map_err(|reason| {
            self.transport.end(reason);
            ended()
        })?;
        let rest = &read[admitted..];
        if !rest.is_empty() {
            let after = std::mem::take(&mut self.kept);
            self.kept = rest.into();
            self.kept.unsplit(after);
            buffer.set_filled(before + admitted);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ObservedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.transport.is_ended() {
            return Poll::Ready(Err(ended()));
        }
        self.transport.wake_reader(context.waker());
        let polled = self.poll_observed_read(context, buffer);
        // Ended in between: nothing would wake the reader.
        if polled.is_pending() && self.transport.is_ended() {
            return Poll::Ready(Err(ended()));
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> ObservedStream<S> {
    fn poll_observed_write(
        &mut self,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.transport.is_ended() {
            return Poll::Ready(Err(ended()));
        }
        self.transport.wake_writer(context.waker());
        let transport = Arc::clone(&self.transport);
        let mut outgoing = transport.outgoing.lock();
        if outgoing.is_taken() {
            // Ended in between: nothing would wake the writer.
            if self.transport.is_ended() {
                return Poll::Ready(Err(ended()));
            }
            // Woken once that is written.
            outgoing.has_waiting_writer = true;
            return Poll::Pending;
        }
        let polled = write(Pin::new(&mut self.inner), context);
        match &polled {
            Poll::Ready(Ok(count)) => {
                let mut left = *count;
                for piece in pieces {
                    let now = left.min(piece.len());
                    self.written(&piece[..now]);
                    left -= now;
                }
                outgoing.is_between_frames = self.is_between_frames();
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                self.transport.has_stalled();
                // Ended in between: nothing would wake the writer.
                if self.transport.is_ended() {
                    return Poll::Ready(Err(ended()));
                }
            }
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ObservedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let pieces = [IoSlice::new(bytes)];
        self.poll_observed_write(context, &pieces, |inner, context| {
            inner.poll_write(context, bytes)
        })
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_observed_write(context, pieces, |inner, context| {
            inner.poll_write_vectored(context, pieces)
        })
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.transport.is_ended() {
            return Poll::Ready(Err(ended()));
        }
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

    use super::*;
    use crate::{ConnectionArrival, ConnectionLimits, ConnectionRegistry};
    use copydesk_ids::permissions::{Principal, Role};

    const HEAD: &[u8] = b"GET /socket.io/ HTTP/1.1\r\nHost: x\r\n\r\n";

    /// A connection, and the client's end of it.
    fn connection()
    -> (ConnectionRegistry, Arc<TcpConnection>, ObservedStream<DuplexStream>, DuplexStream) {
        let connections =
            ConnectionRegistry::new(ConnectionLimits { memory: 1 << 30, open_files: None });
        let transport = connections.accept([127, 0, 0, 1].into());
        let (server, client) = tokio::io::duplex(1 << 20);
        let stream = ObservedStream::new(server, Arc::clone(&transport), connections.clone());
        (connections, transport, stream, client)
    }

    fn person(role: Role) -> Principal {
        Principal::new("ana", "Ana", role)
    }

    /// A text frame with a mask of zeroes.
    fn message(text: &str) -> Vec<u8> {
        let length = u8::try_from(text.len()).unwrap();
        [&[0x81, 0x80 + length, 0, 0, 0, 0], text.as_bytes()].concat()
    }

    #[tokio::test]
    async fn a_read_never_goes_beyond_the_head_and_the_rest_is_followed_as_frames() {
        let (connections, transport, mut stream, mut client) = connection();
        let sent = [HEAD, &message("40{}"), &message("2")].concat();
        client.write_all(&sent).await.unwrap();
        let mut buffer = [0; 1024];
        let read = stream.read(&mut buffer).await.unwrap();
        assert_eq!(&buffer[..read], HEAD);
        transport.expect_frames();
        transport.carry(&connections.websocket_client());
        let read = stream.read(&mut buffer).await.unwrap();
        assert_eq!(buffer[..read], sent[HEAD.len()..]);
        assert!(!transport.is_ended());
    }

    #[tokio::test]
    async fn a_switch_is_refused_where_something_was_read_behind_its_request() {
        let (_, transport, mut stream, mut client) = connection();
        let mut buffer = [0; 1024];
        client.write_all(HEAD).await.unwrap();
        assert_eq!(stream.read(&mut buffer).await.unwrap(), HEAD.len());
        // While this one is being answered, the next comes with what is to be frames.
        let answering = ConnectionArrival::begin(&transport);
        client.write_all(&[HEAD, &message("40{}")].concat()).await.unwrap();
        assert!(stream.read(&mut buffer).await.unwrap() > HEAD.len());
        drop(answering);
        transport.expect_frames();
        assert!(transport.is_ended());
    }

    #[tokio::test]
    async fn what_waits_for_the_peer_ends_when_the_connection_is_ended() {
        let (_, transport, mut stream, client) = connection();
        let filling = async { stream.write_all(&vec![0; 2 << 20]).await };
        let ending = async {
            tokio::task::yield_now().await;
            transport.end(EndReason::TooSlow);
        };
        let (filled, ()) = tokio::join!(filling, ending);
        assert_eq!(filled.unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
        drop(client);
    }

    #[tokio::test]
    async fn what_an_encryption_has_taken_was_not_taken_by_the_peer() {
        let (connections, ..) = connection();
        let long = 24 * 60 * 60 * 1_000;
        for is_encrypted in [true, false] {
            let transport = connections.accept([127, 0, 0, 1].into());
            transport.has_stalled();
            let begin = if is_encrypted { ObservedStream::encrypted } else { ObservedStream::new };
            let mut stream = begin(tokio::io::sink(), Arc::clone(&transport), connections.clone());
            stream.write_all(b"x").await.unwrap();
            let is_stalled = transport.overdue(long) == Some(EndReason::Stalled);
            assert_eq!(is_stalled, is_encrypted);
        }
    }

    #[tokio::test]
    async fn messages_count_until_their_last_byte_is_written() {
        let (connections, transport, mut stream, mut client) = connection();
        let mut buffer = [0; 1024];
        client.write_all(HEAD).await.unwrap();
        assert_eq!(stream.read(&mut buffer).await.unwrap(), HEAD.len());
        transport.expect_frames();
        let session = connections.websocket_client();
        transport.carry(&session);
        connections.admit(&session, "name".to_owned(), &person(Role::Viewer)).unwrap();
        session.queue(100).unwrap();
        session.queue(200).unwrap();
        let waiting = session.waiting_bytes();
        stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\n\r\n").await.unwrap();
        // Not counted: the library's own packets.
        stream.write_all(&[0x81, 3, b'4', b'0', b'{']).await.unwrap();
        assert_eq!(session.waiting_bytes(), waiting);
        stream.write_all(&[0x81, 3, b'4', b'2']).await.unwrap();
        assert_eq!(session.waiting_bytes(), waiting);
        stream.write_all(b"[").await.unwrap();
        assert!(session.waiting_bytes() < waiting);
        stream.write_all(&[0x81, 2, b'4', b'3']).await.unwrap();
        assert_eq!((session.waiting_bytes(), connections.accounts().held()), (0, 0));
        drop(stream);
        assert!(session.is_ended());
    }

    /// The header of a frame with a mask of zeroes and this length.
    fn header(first: u8, length: u64) -> Vec<u8> {
        match u8::try_from(length) {
            Ok(length @ 0..126) => vec![first, 0x80 + length, 0, 0, 0, 0],
            _ => [&[first, 0xff], length.to_be_bytes().as_slice(), &[0; 4]].concat(),
        }
    }

    /// A WebSocket whose client has shown a token of this role, or none.
    async fn websocket(
        role: Option<Role>,
    ) -> (Arc<TcpConnection>, ObservedStream<DuplexStream>, DuplexStream) {
        let (connections, transport, mut stream, mut client) = connection();
        client.write_all(HEAD).await.unwrap();
        assert_eq!(stream.read(&mut [0; 1024]).await.unwrap(), HEAD.len());
        drop(ConnectionArrival::begin(&transport));
        transport.expect_frames();
        let session = connections.websocket_client();
        transport.carry(&session);
        if let Some(role) = role {
            connections.admit(&session, "name".to_owned(), &person(role)).unwrap();
        }
        (transport, stream, client)
    }

    #[tokio::test]
    async fn frames_that_are_no_message_are_short_and_whole() {
        for (frame, is_refused) in [
            (header(0x89, 125), false),
            (header(0x8a, 0), false),
            (header(0x88, 2), false),
            (header(0x89, 126), true),
            (header(0x8a, 30_000_000), true),
            (header(0x88, 30_000_000), true),
            (header(0x09, 1), true),
            (header(0x83, 1), true),
            (header(0x8b, 1), true),
        ] {
            for role in [None, Some(Role::Editor)] {
                let (transport, mut stream, mut client) = websocket(role).await;
                client.write_all(&frame).await.unwrap();
                assert_eq!(stream.read(&mut [0; 1024]).await.is_err(), is_refused, "{frame:?}");
                assert_eq!(transport.is_ended(), is_refused, "{frame:?}");
            }
        }
    }

    #[tokio::test]
    async fn other_tasks_have_a_turn_between_many_frames() {
        let (_transport, mut stream, mut client) = websocket(Some(Role::Viewer)).await;
        let frame = message("42[\"a\"]");
        client.write_all(&frame.repeat(150)).await.unwrap();
        let mut buffer = vec![0; 64 * 1024];
        for frames in [64, 64, 22] {
            assert_eq!(stream.read(&mut buffer).await.unwrap(), frames * frame.len());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_never_stops_is_read_slowly_and_then_ended() {
        let (transport, mut stream, mut client) = websocket(Some(Role::Viewer)).await;
        let began = tokio::time::Instant::now();
        let frames = message("42[\"a\"]").repeat(64);
        let mut buffer = vec![0; 64 * 1024];
        let mut read = 0_u32;
        while client.write_all(&frames).await.is_ok() && stream.read(&mut buffer).await.is_ok() {
            read += 64;
            assert!(read < 200_000, "it may go on");
        }
        assert!(transport.is_ended());
        assert!(began.elapsed() > std::time::Duration::from_secs(5), "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn bytes_without_a_token_count_when_they_have_come() {
        let (transport, mut stream, mut client) = websocket(None).await;
        client.write_all(&header(0x81, 60_000)).await.unwrap();
        let announced = stream.read(&mut [0; 1024]).await.unwrap();
        assert_eq!(transport.unauthenticated_bytes(), announced);
        client.write_all(&[b'x'; 500]).await.unwrap();
        assert_eq!(stream.read(&mut [0; 1024]).await.unwrap(), 500);
        assert_eq!(transport.unauthenticated_bytes(), announced + 500);
    }

    #[tokio::test]
    async fn a_probe_that_ends_leaves_its_client_to_long_polling() {
        let (probe, upgrade) = (message("2probe"), message("5"));
        // The same in two frames, of which the last is empty; only before a token was shown.
        let mut parts = upgrade.clone();
        parts[0] = 0x01;
        parts.extend(header(0x80, 0));
        for (packets, is_known) in [
            (&[probe.clone()][..], true),
            (&[probe.clone(), upgrade], true),
            (&[probe, parts], false),
        ] {
            let (connections, transport, mut stream, mut client) = connection();
            let polling = connections.accept([127, 0, 0, 1].into());
            let (session, _) = connections.polling_client(&polling);
            if is_known {
                connections.admit(&session, "name".to_owned(), &person(Role::Viewer)).unwrap();
            }
            client.write_all(HEAD).await.unwrap();
            let mut buffer = [0; 1024];
            assert_eq!(stream.read(&mut buffer).await.unwrap(), HEAD.len());
            transport.expect_frames();
            transport.carry(&session);
            for packet in packets {
                client.write_all(packet).await.unwrap();
                assert_eq!(stream.read(&mut buffer).await.unwrap(), packet.len());
            }
            drop(stream);
            assert!(transport.is_ended());
            assert_eq!(session.is_ended(), packets.len() == 2, "{packets:?}");
        }
    }
}
