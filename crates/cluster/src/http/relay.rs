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
use crate::connections::{NodeAnswer, removed};
use crate::decision_batch::LOST;
use crate::node::ClusterNode;
use crate::{SEARCH_PAUSE, SEARCH_TIMEOUT};
use copydesk_client::forward::{RequestForwarder, pass_headers};
use copydesk_client::{ClientError, ClientResult, TrustedAuthorities};
use copydesk_http::rest::problem::Problem;
use copydesk_http::rest::{CountedRequest, DecideOnServers};
use copydesk_metrics as metrics;
use copydesk_placement::OtherServer;

/// Header of a request that another server has passed on, and of the answer that the document is
/// not here either.
pub(super) const RELAYED: HeaderName = HeaderName::from_static("x-copydesk-relayed");

/// Sender of requests to other servers.
#[derive(Clone)]
pub(super) struct RequestSender {
    pub(super) node: Arc<ClusterNode>,
    forwarder: RequestForwarder,
}

/// State of [`pass_on`].
#[derive(Clone)]
pub struct RequestRelay {
    sender: RequestSender,
    decide: DecideOnServers,
}

impl RequestRelay {
    /// Returns what passes requests on to other servers.
    ///
    /// # Errors
    /// [`ClientError`] if the authorities cannot be used.
    pub fn new(node: &Arc<ClusterNode>, authorities: &TrustedAuthorities) -> ClientResult<Self> {
        let forwarder = RequestForwarder::trusting(authorities)?;
        let sender = RequestSender { node: Arc::clone(node), forwarder };
        let deciding = sender.clone();
        let decide: DecideOnServers =
            Arc::new(move |decisions| decide_all(deciding.clone(), decisions).boxed());
        Ok(Self { sender, decide })
    }
}

impl RequestSender {
    /// Sends a request to another server, and waits for the answer or for the end of that server.
    pub(super) async fn forward(
        &self,
        node: &OtherServer,
        request: Request,
    ) -> NodeAnswer<Response> {
        let (parts, body) = request.into_parts();
        let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
        let (how, body) = ((parts.method, target), body.into_data_stream());
        let sent = tokio::select! {
            sent = self.forwarder.send(&node.url, how, &parts.headers, body) => sent,
            () = removed(Arc::clone(&self.node), node.number) => return NodeAnswer::Lost,
        };
        let answer = match sent {
            Ok(answer) if answer.headers().contains_key(RELAYED) => return NodeAnswer::NotReached,
            Ok(answer) => answer,
            Err(ClientError::Unreachable { .. }) => return NodeAnswer::NotReached,
            Err(_) => return NodeAnswer::Lost,
        };
        let (status, mut headers) = (answer.status(), answer.headers().clone());
        pass_headers(&mut headers);
        let body = Body::from_stream(answer.bytes_stream());
        NodeAnswer::Answered((status, headers, body).into_response())
    }
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
        match relay.sender.forward(&node, relayed(&parts, &record)).await {
            NodeAnswer::Answered(answer) => {
                if let Some(counted) = response.extensions().get::<CountedRequest>() {
                    counted.uncount();
                }
                return answer;
            }
            NodeAnswer::Lost if parts.method != Method::GET => {
                return lost().into_response();
            }
            _ if Instant::now() >= until => return response,
            _ => {}
        }
        relay.sender.node.forget_node(node.number);
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
