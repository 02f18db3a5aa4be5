//! Several decisions of one request over REST, each of which is taken or refused on its own.

use std::sync::Arc;

use axum::http::{HeaderMap, Uri};
use futures_util::future::BoxFuture;
use serde::Deserialize as _;
use serde_json::Value;

use super::problem::Problem;
use super::requests::take;
use copydesk_api::{Caller, OtherServer};
use copydesk_protocol::client::ToolApprovalResponse;
use copydesk_protocol::rest::DecisionResult;
use copydesk_protocol::server::WireError;
use copydesk_protocol_conversion as convert;

/// Function that takes decisions about documents that other servers may have. A layer around the
/// routes adds it to the extensions of a request.
pub type DecideOnServers =
    Arc<dyn Fn(RestDecisions) -> BoxFuture<'static, Vec<DecisionResult>> + Send + Sync>;

/// Decisions of one request.
pub struct RestDecisions {
    pub(crate) caller: Caller,
    /// Decisions as the client sent them.
    pub responses: Vec<Value>,
    /// Headers of the request.
    pub headers: HeaderMap,
    /// Address of the request.
    pub target: Uri,
}

impl RestDecisions {
    /// Returns the name of the request that the decision at `place` is about, if it has one.
    pub fn request_id(&self, place: usize) -> Option<String> {
        self.responses.get(place)?.get("request_id")?.as_str().map(str::to_owned)
    }

    /// Takes the decision at `place`. Returns its result, and the server that has the document if
    /// that is why it was refused.
    pub async fn decide(&self, place: usize) -> (DecisionResult, Option<OtherServer>) {
        let response = self.responses.get(place).unwrap_or(&Value::Null);
        let decided = match ToolApprovalResponse::deserialize(response) {
            Ok(response) => take(&self.caller, &response).await,
            Err(error) => Err(Problem::unprocessable(error.to_string())),
        };
        let server = decided.as_ref().err().and_then(Problem::other_server).cloned();
        let decided = decided.map_err(|problem| problem.as_error());
        (convert::decision_result(self.request_id(place), decided), server)
    }

    /// Returns the result of a decision at `place` that was refused.
    pub fn refused(&self, place: usize, error: WireError) -> DecisionResult {
        convert::decision_result(self.request_id(place), Err(error))
    }

    /// Takes all decisions on this server.
    pub(crate) async fn decide_all(&self) -> Vec<DecisionResult> {
        let mut results = Vec::with_capacity(self.responses.len());
        for place in 0..self.responses.len() {
            results.push(self.decide(place).await.0);
        }
        results
    }
}
