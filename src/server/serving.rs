//! Accept loop: accepts connections and answers requests until it is told to stop.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::connections::{
    ConnectionArrival, ConnectionRegistry, ObservedStream, SharedSocket, TcpConnection,
};
use crate::rest::byte_accounting::is_websocket_request;

/// Maximum head of a request, in bytes.
const HEAD_BYTES: usize = 64 * 1024;
/// Pause after cannot accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time without an acknowledgement, or without room at the peer, after which the system ends a
/// connection, in milliseconds: the longest stall that a slow reader is allowed.
#[cfg(target_os = "linux")]
const TCP_USER_TIMEOUT_MS: u32 = 60_000;

/// Buffer of the system for what is sent over a connection, in bytes; the system doubles it. With a
/// larger one, a reader that is slow looks like one that does not read: nothing can be written
/// until a third of the buffer is empty.
const SEND_BUFFER_BYTES: usize = 128 * 1024;

/// Accepts connections for the [`ConnectionRegistry`] until `stop`; then waits until all requests
/// in progress are answered.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    connections: ConnectionRegistry,
    stop: CancellationToken,
) {
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
                let connections = connections.clone();
                tasks.spawn(answer(stream, transport, connections, router.clone(), stop.clone()));
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

/// Answers the requests of one connection, one after the other.
async fn answer(
    stream: TcpStream,
    transport: Arc<TcpConnection>,
    connections: ConnectionRegistry,
    router: Router,
    stop: CancellationToken,
) {
    // Without it, small frames wait for the acknowledgement of earlier ones.
    stream.set_nodelay(true).ok();
    rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER_BYTES).ok();
    #[cfg(target_os = "linux")]
    rustix::net::sockopt::set_tcp_user_timeout(&stream, TCP_USER_TIMEOUT_MS).ok();
    let socket = SharedSocket::new(stream, &transport);
    let stream = TokioIo::new(ObservedStream::new(socket, Arc::clone(&transport), connections));
    let service = service_fn(move |request| respond(&transport, &router, request));
    let mut server = http1::Builder::new();
    // `ConnectionRegistry::supervise` ends connections that are overdue.
    server.header_read_timeout(None).max_buf_size(HEAD_BYTES);
    let mut connection = pin!(server.serve_connection(stream, service).with_upgrades());
    tokio::select! {
        // A broken connection is no error of the server.
        _ = connection.as_mut() => return,
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    connection.await.ok();
}

/// Answers one request. Nothing after its head has been read when this is called, nor is it before
/// this returns.
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

/// Returns the number of files and connections that the system lets this process open; `None` if it
/// sets no limit, or cannot be asked.
pub(super) fn open_files() -> Option<usize> {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        limit.current.and_then(|limit| usize::try_from(limit).ok())
    }
    #[cfg(not(unix))]
    None
}
