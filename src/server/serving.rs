//! Accept loop: says where the server is, accepts connections, and answers requests until it is to
//! stop.

use std::convert::Infallible;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::tls::{TlsArrival, TlsCertificate};
use copydesk_auth::TokenSecret;
use copydesk_commands::config::ServerConfig;
use copydesk_connections::{
    ConnectionArrival, ConnectionRegistry, EncryptedSocket, ObservedStream, SharedSocket,
    TcpConnection,
};
use copydesk_http::rest::byte_accounting::is_websocket_request;

/// Maximum head of a request, in bytes.
const HEAD_BYTES: usize = 64 * 1024;
/// Pause after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time without an acknowledgement, or without room at the peer, after which the system ends a
/// connection, in milliseconds: the longest stall that a slow reader is allowed.
#[cfg(target_os = "linux")]
const TCP_USER_TIMEOUT_MS: u32 = 60_000;

/// Buffer of the system for what is sent over a connection, in bytes; the system doubles it. A slow
/// reader with a larger one looks like one that does not read: nothing can be written until a third
/// of the buffer is empty.
const SEND_BUFFER_BYTES: usize = 128 * 1024;

/// Answer to a client that does not know that this port has TLS.
const TLS_ONLY: &str = "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n\
     connection: close\r\ncontent-length: 50\r\n\r\nThis port takes HTTPS only: begin the address so.\n";

/// Shared parts of all connections.
#[derive(Clone)]
pub(super) struct ServingParts {
    pub router: Router,
    pub connections: ConnectionRegistry,
    /// Certificate of the server; `None`: connections are not encrypted.
    pub certificate: Option<Arc<TlsCertificate>>,
    pub stop: CancellationToken,
}

/// Accepts connections for the [`ConnectionRegistry`] until it is to stop; then waits until all
/// requests in progress are answered.
pub async fn serve(listener: TcpListener, serving: ServingParts) {
    let ServingParts { connections, stop, .. } = &serving;
    let tasks = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let transport = connections.accept(peer.ip());
                tasks.spawn(answer(stream, transport, serving.clone()));
            }
            Err(error) if is_of_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                connections.make_place();
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

/// Returns `true` if a connection was over before it was accepted.
fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Answers the requests of one connection, after its handshake where there is one.
async fn answer(stream: TcpStream, transport: Arc<TcpConnection>, serving: ServingParts) {
    // Without it, small frames wait for the acknowledgement of earlier ones.
    stream.set_nodelay(true).ok();
    rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER_BYTES).ok();
    #[cfg(target_os = "linux")]
    rustix::net::sockopt::set_tcp_user_timeout(&stream, TCP_USER_TIMEOUT_MS).ok();
    if let Some(certificate) = serving.certificate.clone() {
        // Not part of the task of a connection without TLS.
        return Box::pin(answer_encrypted(stream, transport, certificate, serving)).await;
    }
    let socket = SharedSocket::new(stream, &transport);
    let connections = serving.connections.clone();
    let stream = ObservedStream::new(socket, Arc::clone(&transport), connections);
    converse(stream, &transport, &serving).await;
}

async fn answer_encrypted(
    stream: TcpStream,
    transport: Arc<TcpConnection>,
    certificate: Arc<TlsCertificate>,
    serving: ServingParts,
) {
    let arrival = tokio::select! {
        arrival = certificate.accept(stream, &transport) => arrival,
        () = serving.stop.cancelled() => return,
    };
    match arrival {
        TlsArrival::Encrypted(stream) => {
            let connections = serving.connections.clone();
            let stream = ObservedStream::encrypted(stream, Arc::clone(&transport), connections);
            converse(stream, &transport, &serving).await;
        }
        TlsArrival::Plain(socket) => refuse_plain(socket).await,
        TlsArrival::Failed => {}
    }
}

/// Answers a client without TLS with what is wrong. The connection is ended as one that shows no
/// token.
async fn refuse_plain(mut socket: EncryptedSocket) {
    // What was not read would make the system discard the answer.
    let refused = async {
        let _count = socket.read(&mut vec![0; HEAD_BYTES]).await?;
        socket.write_all(TLS_ONLY.as_bytes()).await?;
        socket.shutdown().await
    };
    // The client has left.
    drop(refused.await);
}

/// Answers the requests of one connection, one after the other.
async fn converse<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    stream: ObservedStream<S>,
    transport: &Arc<TcpConnection>,
    serving: &ServingParts,
) {
    let service = service_fn(|request| respond(transport, &serving.router, request));
    let mut server = http1::Builder::new();
    // `ConnectionRegistry::supervise` ends connections that are overdue.
    server.header_read_timeout(None).max_buf_size(HEAD_BYTES);
    let connection = server.serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection.with_upgrades());
    tokio::select! {
        // A broken connection is no error of the server.
        _ = connection.as_mut() => return,
        () = serving.stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    connection.await.ok();
}

/// Answers one request. Nothing after its head is read before this returns.
fn respond(
    transport: &Arc<TcpConnection>,
    router: &Router,
    mut request: Request<Incoming>,
) -> impl Future<Output = Result<Response<Body>, Infallible>> + use<> {
    if is_websocket_request(request.uri()) {
        transport.expect_frames();
        copy_head(&mut request);
    }
    request.extensions_mut().insert(Arc::new(ConnectionArrival::begin(transport)));
    router.clone().oneshot(request.map(Body::new))
}

/// Copies the head of a request, which the socket.io library keeps as long as the connection. The
/// head as it came keeps the whole buffer that it was read into.
fn copy_head<B>(request: &mut Request<B>) {
    let copied = request.uri().to_string().parse();
    if let Ok(uri) = copied {
        *request.uri_mut() = uri;
    }
    for value in request.headers_mut().values_mut() {
        if let Ok(mut copy) = HeaderValue::from_bytes(value.as_bytes()) {
            copy.set_sensitive(value.is_sensitive());
            *value = copy;
        }
    }
}

/// Prints the address of the server on standard output, in the two lines that a script waits for.
pub fn announce(config: &ServerConfig, bound: SocketAddr, secret: &TokenSecret) -> Result<()> {
    let address = config.linked_address(bound);
    let link = if config.no_auth {
        format!("{address}/")
    } else {
        // A fragment is never sent to a server, so the secret is in no log.
        format!("{address}/#token={}", secret.in_link())
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "copydesk listening on {}", config.own_address(bound))?;
    writeln!(out, "open {link}")?;
    out.flush()?;
    if config.open
        && let Err(error) = open::that_detached(&link)
    {
        tracing::warn!(%error, "cannot open a browser");
    }
    Ok(())
}
