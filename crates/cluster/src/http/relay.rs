//! Requests about documents that another server of several has: passed on to it as they came, with
//! the caller's own token, and its answers passed back.
//!
//! A request is first handled here. If the document turns out to be elsewhere, nothing was done,
//! and what was read of the body is sent again. A request about documents of several servers is
//! passed on in parts ([`parts`](super::parts)).
//!
//! A request that is passed on counts where it is answered, and no longer here.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::{FutureExt as _, Stream, StreamExt as _};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::decisions::decide_all;
use super::parts::PartSender;
use crate::connections::removed;
use crate::decision_batch::LOST;
use crate::node::ClusterNode;
use crate::{SEARCH_PAUSE, SEARCH_TIMEOUT};
use copydesk_client::forward::{RequestForwarder, pass_headers};
use copydesk_client::{ClientError, TrustedAuthorities};
use copydesk_http::rest::problem::Problem;
use copydesk_http::rest::{CountedRequest, DecideOnServers};
use copydesk_metrics as metrics;
use copydesk_placement::OtherServer;

/// Header of a request that another server has passed on, and of the answer that the document is
/// not here either.
pub(super) const RELAYED: HeaderName = HeaderName::from_static("x-copydesk-relayed");

/// Reason why there is no answer of another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForwardFailure {
    /// It was not reached.
    Unreachable,
    /// The connection was lost: it may have done what was asked.
    Lost,
}

/// State of [`pass_on`].
#[derive(Clone)]
pub struct RequestRelay {
    pub(super) node: Arc<ClusterNode>,
    forwarder: RequestForwarder,
    decide: DecideOnServers,
}

impl RequestRelay {
    /// Returns what passes requests on to other servers.
    ///
    /// # Errors
    /// [`ClientError`] if the authorities cannot be used.
    pub fn new(
        node: &Arc<ClusterNode>,
        authorities: &TrustedAuthorities,
    ) -> Result<Self, ClientError> {
        let forwarder = RequestForwarder::trusting(authorities)?;
        let sender = PartSender { node: Arc::clone(node), forwarder: forwarder.clone() };
        let decide: DecideOnServers =
            Arc::new(move |decisions| decide_all(sender.clone(), decisions).boxed());
        Ok(Self { node: Arc::clone(node), forwarder, decide })
    }
}

/// Sends a request to another server, and waits for the answer or for the end of that server.
pub(super) async fn forward(
    own: &Arc<ClusterNode>,
    forwarder: &RequestForwarder,
    node: &OtherServer,
    request: Request,
) -> Result<Response, ForwardFailure> {
    tokio::select! {
        answer = send(forwarder, node, request) => answer,
        () = removed(Arc::clone(own), node.number) => Err(ForwardFailure::Lost),
    }
}

async fn send(
    forwarder: &RequestForwarder,
    node: &OtherServer,
    request: Request,
) -> Result<Response, ForwardFailure> {
    let (parts, body) = request.into_parts();
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    let how = (parts.method, target);
    let sent = forwarder.send(&node.url, how, &parts.headers, body.into_data_stream()).await;
    let answer = sent.map_err(|error| match error {
        ClientError::Unreachable { .. } => ForwardFailure::Unreachable,
        _ => ForwardFailure::Lost,
    })?;
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    pass_headers(&mut headers);
    let mut response = Response::new(Body::from_stream(answer.bytes_stream()));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

/// Body as far as it was read, and what is left of it.
#[derive(Default)]
struct BodyRecord {
    read: Vec<Bytes>,
    rest: Option<BodyDataStream>,
    /// `true` once `read` is the whole body.
    is_read: bool,
}

/// Stream of a body that is recorded. What is left when it is dropped goes back to the record.
struct RecordedBody {
    again: std::vec::IntoIter<Bytes>,
    rest: Option<BodyDataStream>,
    record: Arc<Mutex<BodyRecord>>,
}

impl RecordedBody {
    /// Returns the body from its beginning.
    fn of(record: &Arc<Mutex<BodyRecord>>) -> Body {
        let mut recorded = record.lock();
        let (again, rest) = (recorded.read.clone().into_iter(), recorded.rest.take());
        Body::from_stream(Self { again, rest, record: Arc::clone(record) })
    }
}

impl Stream for RecordedBody {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(piece) = self.again.next() {
            return Poll::Ready(Some(Ok(piece)));
        }
        let Some(rest) = &mut self.rest else {
            if self.record.lock().is_read {
                return Poll::Ready(None);
            }
            // An attempt before has not given it back yet: half a body must not pass for a whole.
            let error = std::io::Error::other("the rest of the body is being read elsewhere");
            return Poll::Ready(Some(Err(axum::Error::new(error))));
        };
        let piece = rest.poll_next_unpin(cx);
        match &piece {
            Poll::Ready(Some(Ok(piece))) => self.record.lock().read.push(piece.clone()),
            Poll::Ready(None) => {
                self.rest = None;
                self.record.lock().is_read = true;
            }
            Poll::Ready(Some(Err(_))) | Poll::Pending => {}
        }
        piece
    }
}

impl Drop for RecordedBody {
    fn drop(&mut self) {
        if let Some(rest) = self.rest.take() {
            self.record.lock().rest = Some(rest);
        }
    }
}

/// Handles a request here, or passes it on to the server that has its document.
pub async fn pass_on(State(relay): State<RequestRelay>, request: Request, next: Next) -> Response {
    let is_relayed = request.headers().contains_key(RELAYED);
    let (mut parts, body) = request.into_parts();
    if !is_relayed {
        parts.extensions.insert(Arc::clone(&relay.decide));
    }
    let rest = Some(body.into_data_stream());
    let record = BodyRecord { rest, ..BodyRecord::default() };
    let record = Arc::new(Mutex::new(record));
    let until = Instant::now() + SEARCH_TIMEOUT;
    loop {
        let request = Request::from_parts(parts.clone(), RecordedBody::of(&record));
        let mut response = next.clone().run(request).await;
        let Some(node) = response.extensions().get::<OtherServer>().cloned() else {
            return response;
        };
        if is_relayed {
            *response.status_mut() = StatusCode::MISDIRECTED_REQUEST;
            response.headers_mut().insert(RELAYED, HeaderValue::from_static("elsewhere"));
            return response;
        }
        metrics::RELAYED_HTTP_REQUESTS.count();
        let forwarded =
            forward(&relay.node, &relay.forwarder, &node, relayed(&parts, &record)).await;
        match forwarded {
            Ok(answer) if !answer.headers().contains_key(RELAYED) => {
                if let Some(counted) = response.extensions().get::<CountedRequest>() {
                    counted.uncount();
                }
                return answer;
            }
            Err(ForwardFailure::Lost) if parts.method != Method::GET => {
                return lost().into_response();
            }
            Ok(_) | Err(_) if Instant::now() >= until => return response,
            Ok(_) | Err(_) => {}
        }
        relay.node.forget_node(node.number);
        tokio::time::sleep(SEARCH_PAUSE).await;
    }
}

/// Returns the request as another server gets it.
fn relayed(parts: &Parts, record: &Arc<Mutex<BodyRecord>>) -> Request {
    let mut request = Request::new(RecordedBody::of(record));
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = parts.uri.clone();
    *request.headers_mut() = parts.headers.clone();
    request.headers_mut().insert(RELAYED, HeaderValue::from_static("yes"));
    request
}

/// Returns the problem of a request that another server may have done.
fn lost() -> Problem {
    let (code, detail) = LOST;
    Problem::new(StatusCode::BAD_GATEWAY, code, detail)
}
