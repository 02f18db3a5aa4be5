//! Short messages that are written to a WebSocket at once, where nothing waits for it.
//!
//! The usual way of a message is a queue, a task that empties it, and the buffer of a library.
//! Where these are empty, the thread that has a frame hands it to the system, which saves most of
//! the cost of a delivery. Order is kept: messages that took the usual way count as waiting
//! ([`SocketClient::queue`]) until their last byte was written.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::runtime::Handle;

use super::EndReason;
use super::outgoing_state::OutgoingState;
use super::socket_client::SocketClient;
use super::tcp_connection::TcpConnection;

/// Longest frame, in bytes, that is written directly.
pub const DIRECT_BYTES: usize = 8 * 1024;
/// Most bytes of frames that are gathered for one write.
const GATHERED_BYTES: usize = DIRECT_BYTES + 4;
/// First byte of a text frame that is a whole message (RFC 6455, section 5.2).
const WHOLE_TEXT: u8 = 0x81;
/// Length from which on two more bytes hold it.
const LENGTH_IN_TWO_BYTES: usize = 126;

/// Text message of a server as a WebSocket frame.
#[derive(Debug)]
pub struct TextFrame(Box<[u8]>);

impl TextFrame {
    /// Returns the frame of a text that is given in pieces; `None` if it is not a short one.
    pub fn of(pieces: &[&str]) -> Option<Self> {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        if length > DIRECT_BYTES {
            return None;
        }
        let mut bytes = Vec::with_capacity(length + 4);
        bytes.push(WHOLE_TEXT);
        if length < LENGTH_IN_TWO_BYTES {
            bytes.push(length as u8);
        } else {
            bytes.push(LENGTH_IN_TWO_BYTES as u8);
            bytes.extend((length as u16).to_be_bytes());
        }
        for piece in pieces {
            bytes.extend(piece.as_bytes());
        }
        Some(Self(bytes.into()))
    }
}

/// Socket that its stream and its [`TcpConnection`] write to.
#[derive(Debug)]
pub struct SharedSocket {
    /// Reads without asking the system again once it has given all that it had.
    reader: OwnedReadHalf,
    writer: Arc<OwnedWriteHalf>,
}

impl SharedSocket {
    /// Shares a connection with its transport, which does not keep it open.
    ///
    /// # Panics
    /// Outside of a runtime.
    pub fn new(socket: TcpStream, transport: &TcpConnection) -> Self {
        let (reader, writer) = socket.into_split();
        let writer = Arc::new(writer);
        let mut outgoing = transport.outgoing.lock();
        outgoing.socket = Arc::downgrade(&writer);
        outgoing.runtime = Some(Handle::current());
        drop(outgoing);
        Self { reader, writer }
    }
}

impl AsyncRead for SharedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.reader).poll_read(context, buffer)
    }
}

impl SharedSocket {
    fn poll_with(
        &self,
        context: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let socket = (*self.writer).as_ref();
        loop {
            ready!(socket.poll_write_ready(context))?;
            match write(socket) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }
}

impl AsyncWrite for SharedSocket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_with(context, |socket| socket.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_with(context, |socket| socket.try_write_vectored(pieces))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match rustix::net::shutdown((*self.writer).as_ref(), rustix::net::Shutdown::Write) {
            // The peer was faster.
            Ok(()) | Err(rustix::io::Errno::NOTCONN) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }
}

thread_local! {
    /// Connections for which this thread gathers frames; `None` outside of [`gather_writes`].
    static GATHERED: RefCell<Option<Vec<Arc<TcpConnection>>>> = const { RefCell::new(None) };
}

/// Calls `deliver`, and makes of all messages that it writes directly to one of these clients one
/// write at its end. Costs more than it saves for clients that get one message: the state of each
/// connection is fetched into the processor's cache twice.
pub fn gather_writes<'a>(
    clients: impl IntoIterator<Item = &'a SocketClient>,
    deliver: impl FnOnce(),
) {
    let transports = clients.into_iter().filter_map(SocketClient::websocket).collect();
    let is_outermost = GATHERED.with_borrow_mut(|gathered| {
        let is_outermost = gathered.is_none();
        gathered.get_or_insert(transports);
        is_outermost
    });
    // Dropped at the end, after a panic too: no other thread may write what was gathered.
    let _written = is_outermost.then(|| WriteGathered);
    deliver();
}

/// Guard that writes what this thread has gathered when it is dropped.
struct WriteGathered;

impl Drop for WriteGathered {
    fn drop(&mut self) {
        for transport in GATHERED.take().into_iter().flatten() {
            write_gathered(&transport);
        }
    }
}

fn gathers(transport: &Arc<TcpConnection>) -> bool {
    GATHERED.with_borrow(|gathered| {
        gathered.iter().flatten().any(|known| Arc::ptr_eq(known, transport))
    })
}

impl SocketClient {
    /// Writes a message to the client's WebSocket at once, or at the end of [`gather_writes`], if
    /// nothing waits for the client and the system has room. Otherwise returns `false`.
    pub fn write_directly(&self, frame: &TextFrame) -> bool {
        // The first message comes behind the library's own packet, which is not counted.
        if !self.has_been_sent() || self.is_ended() || self.is_waited_for() {
            return false;
        }
        let Some(transport) = self.websocket() else { return false };
        // A thread that writes now is not waited for.
        let Some(mut outgoing) = transport.outgoing.try_lock() else { return false };
        // What was handed over meanwhile comes first.
        if self.is_waited_for() || !outgoing.is_between_frames {
            return false;
        }
        if outgoing.is_taken() {
            return outgoing.gather(frame);
        }
        let Some(socket) = outgoing.socket.upgrade() else { return false };
        if gathers(&transport) {
            outgoing.gatherer = Some(thread::current().id());
            return outgoing.gather(frame);
        }
        // The usual way finds out what is wrong with a connection that cannot be written to.
        let Ok(count) = socket.try_write(&frame.0) else { return false };
        transport.has_written();
        outgoing.rest.extend(&frame.0[count..]);
        finish(&transport, &outgoing, socket);
        true
    }
}

impl OutgoingState {
    /// Adds a frame to those that this thread gathers; `false` if that is not possible.
    fn gather(&mut self, frame: &TextFrame) -> bool {
        let is_own = self.gatherer == Some(thread::current().id());
        let has_room = self.rest.len() + frame.0.len() <= GATHERED_BYTES;
        if is_own && has_room {
            self.rest.extend(&frame.0);
        }
        is_own && has_room
    }
}

fn write_gathered(transport: &Arc<TcpConnection>) {
    let mut outgoing = transport.outgoing.lock();
    if outgoing.gatherer != Some(thread::current().id()) {
        return;
    }
    outgoing.gatherer = None;
    let frames = std::mem::take(&mut outgoing.rest);
    // If the connection is gone, no peer reads them.
    let Some(socket) = outgoing.socket.upgrade() else { return };
    match socket.try_write(&frames) {
        Ok(count) => {
            transport.has_written();
            outgoing.rest.extend(&frames[count..]);
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => outgoing.rest = frames,
        Err(_) => {
            drop(outgoing);
            // No write succeeds any more, and a client must not miss one message.
            return transport.end(EndReason::Closed);
        }
    }
    let has_waiting_writer = std::mem::take(&mut outgoing.has_waiting_writer);
    if finish(transport, &outgoing, socket) && has_waiting_writer {
        transport.wake_writer_now();
    }
}

/// Lets a task write what the system had no room for. Returns `true` if nothing is left.
fn finish(
    transport: &Arc<TcpConnection>,
    outgoing: &OutgoingState,
    socket: Arc<OwnedWriteHalf>,
) -> bool {
    if !outgoing.is_taken() {
        return true;
    }
    if let (Some(session), Some(runtime)) = (transport.session(), &outgoing.runtime) {
        session.queue_first(outgoing.rest.len());
        transport.has_stalled();
        let finishing = finish_frame(Arc::clone(session), Arc::clone(transport), socket);
        runtime.spawn(finishing);
    }
    false
}

async fn finish_frame(
    session: Arc<SocketClient>,
    transport: Arc<TcpConnection>,
    socket: Arc<OwnedWriteHalf>,
) {
    tokio::select! {
        // Nothing else ends this task when the peer never reads.
        () = session.ended() => {}
        written = write_rest(&transport, &socket) => {
            if written.is_err() {
                transport.end(EndReason::Closed);
            }
        }
    }
    session.message_sent();
    transport.wake_writer_now();
}

async fn write_rest(transport: &TcpConnection, socket: &OwnedWriteHalf) -> io::Result<()> {
    loop {
        socket.writable().await?;
        let mut outgoing = transport.outgoing.lock();
        match socket.try_write(&outgoing.rest) {
            Ok(count) => {
                transport.has_written();
                outgoing.rest.drain(..count);
                if outgoing.rest.is_empty() {
                    outgoing.rest = Vec::new();
                    outgoing.has_waiting_writer = false;
                    return Ok(());
                }
                transport.has_stalled();
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::Wake;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::{ConnectionArrival, ConnectionLimits, ConnectionRegistry, ObservedStream};
    use copydesk_ids::permissions::{Principal, Role};

    const HEAD: &[u8] = b"GET /socket.io/ HTTP/1.1\r\nHost: x\r\n\r\n";
    const SWITCH: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\n\r\n";

    /// A WebSocket over the loopback, from its switch on.
    struct WebSocket {
        session: Arc<SocketClient>,
        stream: ObservedStream<SharedSocket>,
        client: TcpStream,
    }

    async fn websocket() -> WebSocket {
        let connections =
            ConnectionRegistry::new(ConnectionLimits { memory: 1 << 30, open_files: None });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (socket, peer) = listener.accept().await.unwrap();
        let transport = connections.accept(peer.ip());
        let socket = SharedSocket::new(socket, &transport);
        let mut stream = ObservedStream::new(socket, Arc::clone(&transport), connections.clone());
        client.write_all(HEAD).await.unwrap();
        assert_eq!(stream.read(&mut [0; 1024]).await.unwrap(), HEAD.len());
        drop(ConnectionArrival::begin(&transport));
        transport.expect_frames();
        let session = connections.websocket_client();
        transport.carry(&session);
        let person = Principal::new("ana", "Ana", Role::Editor);
        connections.admit(&session, "name".to_owned(), &person).unwrap();
        stream.write_all(SWITCH).await.unwrap();
        WebSocket { session, stream, client }
    }

    impl WebSocket {
        fn directly(&self, text: &str) -> bool {
            self.session.write_directly(&TextFrame::of(&[text]).unwrap())
        }

        /// Sends a message by the usual way.
        async fn usually(&mut self, text: &str) {
            self.session.queue(text.len()).unwrap();
            self.stream.write_all(&TextFrame::of(&[text]).unwrap().0).await.unwrap();
        }

        /// Returns `true` if bytes wait for the client.
        fn has_got_anything(&self) -> bool {
            let flags = rustix::net::RecvFlags::PEEK | rustix::net::RecvFlags::DONTWAIT;
            rustix::net::recv(&self.client, &mut [0_u8; 1], flags).is_ok()
        }

        /// Bytes that the client has got.
        async fn got(&mut self, count: usize) -> Vec<u8> {
            let mut bytes = vec![0; count];
            self.client.read_exact(&mut bytes).await.unwrap();
            bytes
        }
    }

    #[test]
    fn a_frame_has_the_length_of_its_text() {
        let short = TextFrame::of(&["42", "[1]"]).unwrap();
        assert_eq!(&*short.0, b"\x81\x0542[1]");
        let longer = TextFrame::of(&["x".repeat(300).as_str()]).unwrap();
        assert_eq!((&longer.0[..4], longer.0.len()), (&[0x81, 126, 1, 44][..], 304));
        assert!(TextFrame::of(&["x".repeat(DIRECT_BYTES + 1).as_str()]).is_none());
    }

    #[tokio::test]
    async fn a_frame_is_written_directly_where_nothing_waits() {
        let mut socket = websocket().await;
        assert!(!socket.directly("42[0]"), "the library's own packet comes first");
        socket.usually("42[1]").await;
        assert!(socket.directly("42[2]"));
        // One that waits, whose bytes are still with the library.
        socket.session.queue(5).unwrap();
        assert!(!socket.directly("42[4]"), "it would overtake the one that waits");
        socket.stream.write_all(b"\x81\x0542[3").await.unwrap();
        assert!(!socket.directly("42[4]"), "it would stand in the middle of another");
        socket.stream.write_all(b"]").await.unwrap();
        assert!(socket.directly("42[4]"));
        let frames = b"\x81\x0542[1]\x81\x0542[2]\x81\x0542[3]\x81\x0542[4]";
        let got = socket.got(SWITCH.len() + frames.len()).await;
        assert_eq!(&got[SWITCH.len()..], frames);
        assert_eq!(socket.session.waiting_bytes(), 0);
    }

    #[tokio::test]
    async fn what_is_gathered_is_written_at_the_end_in_one() {
        let mut socket = websocket().await;
        socket.usually("42[1]").await;
        socket.got(SWITCH.len() + 7).await;
        let mut other = websocket().await;
        other.usually("42[1]").await;
        other.got(SWITCH.len() + 7).await;
        gather_writes([&*socket.session], || {
            assert!(socket.directly("42[2]"));
            gather_writes([&*other.session], || assert!(socket.directly("42[3]")));
            assert!(!socket.has_got_anything());
            assert!(other.directly("42[2]") && other.has_got_anything());
            let others = || assert!(!socket.directly("42[x]"), "it would stand in the middle");
            thread::scope(|scope| scope.spawn(others).join().unwrap());
        });
        assert!(socket.has_got_anything());
        assert!(socket.directly("42[4]"));
        assert_eq!(socket.got(21).await, b"\x81\x0542[2]\x81\x0542[3]\x81\x0542[4]");
        assert_eq!(socket.session.waiting_bytes(), 0);
    }

    #[tokio::test]
    async fn the_usual_way_goes_on_behind_what_is_gathered() {
        let mut socket = websocket().await;
        socket.usually("42[1]").await;
        let woken = Arc::new(Woken::default());
        let waker = Arc::clone(&woken).into();
        let mut context = Context::from_waker(&waker);
        let session = Arc::clone(&socket.session);
        gather_writes([&*session], || {
            assert!(socket.directly("42[2]"));
            socket.session.queue(5).unwrap();
            let write = Pin::new(&mut socket.stream).poll_write(&mut context, b"\x81\x0542[3]");
            assert!(write.is_pending());
            assert!(!socket.directly("42[x]"), "it would overtake the one that waits");
            assert!(!woken.0.load(Ordering::Relaxed));
        });
        assert!(woken.0.load(Ordering::Relaxed));
        socket.stream.write_all(b"\x81\x0542[3]").await.unwrap();
        let frames = b"\x81\x0542[1]\x81\x0542[2]\x81\x0542[3]";
        assert_eq!(&socket.got(SWITCH.len() + frames.len()).await[SWITCH.len()..], frames);
    }

    /// Waker that remembers being called.
    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[tokio::test]
    async fn what_is_gathered_is_written_after_a_panic_and_is_not_endless() {
        let mut socket = websocket().await;
        socket.usually("42[1]").await;
        let panics = AssertUnwindSafe(|| {
            gather_writes([&*socket.session], || {
                assert!(socket.directly("42[2]"));
                panic!("as an event sink might");
            });
        });
        catch_unwind(panics).unwrap_err();
        assert!(socket.directly("42[3]"));
        let frames = b"\x81\x0542[1]\x81\x0542[2]\x81\x0542[3]";
        assert_eq!(&socket.got(SWITCH.len() + frames.len()).await[SWITCH.len()..], frames);
        let long = "x".repeat(DIRECT_BYTES);
        gather_writes([&*socket.session], || {
            assert!(socket.directly(&long));
            assert!(!socket.directly("42[x]"), "more is held back than may be");
        });
    }

    #[tokio::test]
    async fn nothing_follows_the_frame_that_closes() {
        let mut socket = websocket().await;
        socket.usually("42[1]").await;
        socket.stream.write_all(&[0x88, 2, 3, 232]).await.unwrap();
        assert!(!socket.directly("42[2]"));
        let mut other = websocket().await;
        other.usually("42[1]").await;
        other.session.end(EndReason::Closed);
        assert!(!other.directly("42[2]"));
    }

    #[tokio::test]
    async fn the_rest_of_a_frame_comes_before_anything_else() {
        the_rest_comes_first(SocketClient::write_directly).await;
    }

    #[tokio::test]
    async fn the_rest_of_gathered_frames_comes_before_anything_else() {
        the_rest_comes_first(|session, frame| {
            let mut is_taken = false;
            gather_writes([session], || is_taken = session.write_directly(frame));
            is_taken
        })
        .await;
    }

    async fn the_rest_comes_first(write: fn(&SocketClient, &TextFrame) -> bool) {
        let mut socket = websocket().await;
        socket.usually("42[1]").await;
        let text = format!("42[\"{}\"]", "x".repeat(6_001));
        let frame = TextFrame::of(&[text.as_str()]).unwrap();
        // Until the system's buffers are full; the last frame may be cut anywhere. Long answers
        // come from threads without a runtime.
        let session = Arc::clone(&socket.session);
        let writes = move || {
            let written = (0..10_000).find(|_| !write(&session, &frame));
            (written.expect("the buffers never end"), frame)
        };
        let (written, frame) = std::thread::spawn(writes).join().unwrap();
        assert!(socket.session.waiting_bytes() > 0, "the last one was not cut");
        // What goes the usual way waits behind it.
        socket.session.queue(5).unwrap();
        let WebSocket { session, mut stream, mut client } = socket;
        let writing = tokio::spawn(async move {
            stream.write_all(b"\x81\x0542[2]").await.unwrap();
            stream
        });
        let first = SWITCH.len() + 7;
        let mut bytes = vec![0; first + written * frame.0.len() + 7];
        client.read_exact(&mut bytes).await.unwrap();
        let (frames, last) = bytes[first..].split_at(written * frame.0.len());
        assert!(frames.chunks(frame.0.len()).all(|chunk| chunk == &*frame.0));
        assert_eq!(last, b"\x81\x0542[2]");
        drop(writing.await.unwrap());
        assert_eq!(session.waiting_bytes(), 0);
    }
}
