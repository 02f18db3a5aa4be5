//! Parts of a request that other servers of several answer, because they have the documents: sent
//! to them with the caller's own token.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use serde_json::Value;

use super::relay::{RELAYED, RequestSender};
use crate::connections::NodeAnswer;
use copydesk_http::rest::IDEMPOTENCY_KEY;
use copydesk_metrics as metrics;
use copydesk_placement::OtherServer;
use copydesk_protocol::server::WireError;

/// Maximum answer of another server that is read, in bytes.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// Request whose parts are sent to other servers, each to the request's own address.
pub(super) struct DividedRequest {
    sender: RequestSender,
    headers: HeaderMap,
    target: Uri,
}

impl DividedRequest {
    /// Returns the request with these headers, which came to the address `target`.
    pub(super) fn new(sender: RequestSender, mut headers: HeaderMap, target: Uri) -> Self {
        // The key is for the whole request, whose answer this server stores.
        for about_whole in [header::CONTENT_LENGTH, IDEMPOTENCY_KEY] {
            headers.remove(about_whole);
        }
        headers.insert(RELAYED, HeaderValue::from_static("yes"));
        Self { sender, headers, target }
    }

    /// Posts a part to another server.
    pub(super) async fn post(&self, node: &OtherServer, body: &Value) -> NodeAnswer<Value> {
        let mut request = Request::new(Body::from(body.to_string()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.target.clone();
        *request.headers_mut() = self.headers.clone();
        metrics::RELAYED_HTTP_REQUESTS.count();
        let answer = match self.sender.forward(node, request).await {
            NodeAnswer::Answered(answer) => answer,
            NodeAnswer::NotReached => return NodeAnswer::NotReached,
            NodeAnswer::Refused(_) | NodeAnswer::Lost => return NodeAnswer::Lost,
        };
        let status = answer.status();
        let bytes = to_bytes(answer.into_body(), LARGEST_ANSWER).await.ok();
        let body: Option<Value> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match body {
            Some(body) if status == StatusCode::OK => NodeAnswer::Answered(body),
            Some(problem) => error(&problem).map_or(NodeAnswer::Lost, NodeAnswer::Refused),
            None => NodeAnswer::Lost,
        }
    }
}

/// Reads the error of a problem document of this API; `None` for anything else, such as the answer
/// of a proxy in between.
fn error(problem: &Value) -> Option<WireError> {
    let text = |name| problem.get(name)?.as_str().map(str::to_owned);
    let (code, message) = (text("code")?, text("detail")?);
    let (reason_code, details) = (text("reasonCode"), problem.get("details").cloned());
    Some(WireError { code, message, reason_code, details })
}
