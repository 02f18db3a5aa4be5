//! Request about a document of another server, and how that is asked.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::model::JsonObject;
use serde_json::Value;

use copydesk_auth::AccessGuard;
use copydesk_ids::DocumentId;

/// Function that has the server of a document answer a request. Returns the result, or the message
/// of the error; `None` if this server has the document.
pub type AskOtherServer = Arc<
    dyn Fn(OtherServerRequest) -> BoxFuture<'static, Option<Result<Value, String>>> + Send + Sync,
>;

/// Request for the server that has a document.
#[derive(Clone)]
pub struct OtherServerRequest {
    /// Document that the request is about.
    pub document: DocumentId,
    /// Guard that ends with the caller's token.
    pub pass: AccessGuard,
    /// Secret of the caller's token, if there is one.
    pub token: Option<String>,
    /// Name of the bridge: that of the program, which the server tells from others.
    pub bridge: Option<String>,
    /// Milliseconds after which the caller gives up.
    pub timeout_ms: Option<u64>,
    /// Name of the program.
    pub client: String,
    /// Method of the protocol.
    pub method: &'static str,
    /// Parameters of the method.
    pub params: JsonObject,
    /// Name of the call, by which it is recognised if it is sent again.
    pub call: String,
}
