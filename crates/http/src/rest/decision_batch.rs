//! Several decisions of one request over REST, each of which is taken or refused on its own.

use std::sync::Arc;

use axum::http::{HeaderMap, Uri};
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::problem::{Problem, RestResult};
use copydesk_api::{ApiError, Caller};
use copydesk_ids::RequestId;
use copydesk_ids::permissions::Action;
use copydesk_protocol::client::ToolApprovalResponse;
use copydesk_protocol::rest::DecisionResult;
use copydesk_protocol::server::Decided;
use copydesk_protocol_conversion as wire;
use copydesk_protocol_conversion::{DecisionBatch, RefusedDecision};

/// Function that takes decisions about documents that other servers may have. A layer around the
/// routes adds it to the extensions of a request.
pub type DecideOnServers =
    Arc<dyn Fn(RestDecisions) -> BoxFuture<'static, Vec<DecisionResult>> + Send + Sync>;

/// Decisions of one request.
pub struct RestDecisions {
    pub(crate) caller: Caller,
    pub(crate) responses: Vec<Value>,
    /// Headers of the request.
    pub headers: HeaderMap,
    /// Address of the request.
    pub target: Uri,
}

impl DecisionBatch for RestDecisions {
    fn responses(&self) -> &[Value] {
        &self.responses
    }

    async fn take(
        &mut self,
        response: Result<ToolApprovalResponse, serde_json::Error>,
    ) -> Result<Decided, RefusedDecision> {
        let taken = take(&self.caller, response).await;
        taken.map_err(|problem| (problem.as_error(), problem.other_server().cloned()))
    }
}

async fn take(
    caller: &Caller,
    response: Result<ToolApprovalResponse, serde_json::Error>,
) -> RestResult<Decided> {
    let response = response.map_err(|error| Problem::unprocessable(error.to_string()))?;
    let decision = wire::read_decision(&response).map_err(ApiError::unprocessable)?;
    let id = RequestId::from(response.request_id);
    let room = caller.room_of_request(&id, Action::Read).await?;
    let request = caller.decide_request(&room, id, decision).await?;
    Ok(wire::decision(&request))
}
