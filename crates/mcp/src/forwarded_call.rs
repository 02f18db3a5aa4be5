//! Request for another server of several, and how it is sent.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::model::JsonObject;
use serde_json::Value;

use copydesk_api::OtherServer;

/// Function that sends a request to another server, as a bridge; returns its answer.
pub type ForwardCall = Arc<dyn Fn(ForwardedCall) -> BoxFuture<'static, Value> + Send + Sync>;

/// Request for another server.
#[derive(Clone)]
pub struct ForwardedCall {
    /// The server.
    pub node: OtherServer,
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
