//! Sockets of connections whose bytes are encrypted.

use std::future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::stream::ended;
use super::tcp_connection::TcpConnection;

/// TCP socket below an encryption, which its [`TcpConnection`] can end, also in a handshake, and
/// which reports to it when the system has taken bytes: what is written above goes into a buffer of
/// the encryption first, so only this end knows if the peer reads.
#[derive(Debug)]
pub struct EncryptedSocket {
    socket: TcpStream,
    transport: Arc<TcpConnection>,
}

impl EncryptedSocket {
    /// Wraps the socket of an accepted connection.
    pub fn new(socket: TcpStream, transport: Arc<TcpConnection>) -> Self {
        Self { socket, transport }
    }

    /// Waits for the first byte, which is read again later; `None` if the peer sends nothing.
    pub async fn first_byte(&self) -> io::Result<Option<u8>> {
        future::poll_fn(|context| {
            self.transport.wake_reader(context.waker());
            let mut byte = [0];
            let polled = self.socket.poll_peek(context, &mut ReadBuf::new(&mut byte));
            self.unless_ended(polled).map_ok(|count| (count > 0).then_some(byte[0]))
        })
        .await
    }

    fn unless_ended<T>(&self, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if self.transport.is_ended() { Poll::Ready(Err(ended())) } else { polled }
    }
}

impl AsyncRead for EncryptedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.transport.wake_reader(context.waker());
        let polled = Pin::new(&mut self.socket).poll_read(context, buffer);
        self.unless_ended(polled)
    }
}

impl EncryptedSocket {
    fn poll_reported(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.transport.wake_writer(context.waker());
        let polled = write(Pin::new(&mut self.socket), context);
        match &polled {
            Poll::Ready(Ok(_)) => self.transport.has_written(),
            Poll::Pending => self.transport.has_stalled(),
            Poll::Ready(Err(_)) => {}
        }
        self.unless_ended(polled)
    }
}

impl AsyncWrite for EncryptedSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_reported(context, |socket, context| socket.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_reported(context, |socket, context| socket.poll_write_vectored(context, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::{ConnectionLimits, ConnectionRegistry, EndReason};

    /// A socket that the registry has accepted, and the client's end of it.
    async fn accepted() -> (ConnectionRegistry, Arc<TcpConnection>, EncryptedSocket, TcpStream) {
        let connections =
            ConnectionRegistry::new(ConnectionLimits { memory: 1 << 30, open_files: None });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (socket, peer) = listener.accept().await.unwrap();
        let transport = connections.accept(peer.ip());
        let socket = EncryptedSocket::new(socket, Arc::clone(&transport));
        (connections, transport, socket, client)
    }

    #[tokio::test]
    async fn the_first_byte_is_seen_and_read_again() {
        let (_connections, _transport, mut socket, mut client) = accepted().await;
        client.write_all(b"GET").await.unwrap();
        assert_eq!(socket.first_byte().await.unwrap(), Some(b'G'));
        let mut read = [0; 3];
        socket.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"GET");
        drop(client);
        assert_eq!(socket.first_byte().await.unwrap(), None);
    }

    #[tokio::test]
    async fn whatever_waits_ends_with_the_connection() {
        let (_connections, transport, mut socket, _client) = accepted().await;
        let ending = async {
            tokio::task::yield_now().await;
            transport.end(EndReason::TooManyUnauthenticated);
        };
        let (waited, ()) = tokio::join!(socket.first_byte(), ending);
        assert_eq!(waited.unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
        assert!(socket.read(&mut [0; 8]).await.is_err());
        assert!(socket.write(b"x").await.is_err());
    }

    #[tokio::test]
    async fn a_peer_that_reads_nothing_has_stalled_until_it_reads() {
        let (_connections, transport, mut socket, mut client) = accepted().await;
        let piece = vec![0; 1 << 20];
        let filling = async { while socket.write(&piece).await.is_ok() {} };
        // Until the system takes no more.
        drop(tokio::time::timeout(Duration::from_millis(300), filling).await);
        let long = 24 * 60 * 60 * 1_000;
        assert_eq!(transport.overdue(long), Some(EndReason::Stalled));
        let reading = async {
            let mut buffer = vec![0; 1 << 20];
            while client.read(&mut buffer).await.unwrap() > 0 {}
        };
        tokio::select! {
            written = socket.write(b"x") => assert_eq!(written.unwrap(), 1),
            () = reading => unreachable!("the connection is open"),
        }
        assert_ne!(transport.overdue(long), Some(EndReason::Stalled));
    }
}
