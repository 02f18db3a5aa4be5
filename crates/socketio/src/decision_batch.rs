//! `tool_approval_batch`: several decisions in one event, each of which is taken or refused on its
//! own.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::Deserialize as _;
use serde_json::Value;

use copydesk_api::OtherServer;
use copydesk_protocol::client::{ToolApprovalBatch, ToolApprovalResponse};
use copydesk_protocol::rest::{DecisionResult, DecisionResults};
use copydesk_protocol::server::WireError;
use copydesk_protocol_conversion as convert;

use super::SocketConnection;
use super::socket_error::{SocketError, SocketResult};

/// Name of the event.
pub const BATCH: &str = "tool_approval_batch";

/// Answers [`BATCH`]: decides several requests, each on its own.
///
/// # Errors
/// `invalid_payload` for too many decisions. A refused one is part of the answer, with the error of
/// `tool_approval_response`.
pub(crate) async fn batch(
    connection: &mut SocketConnection,
    payload: ToolApprovalBatch,
) -> SocketResult<DecisionResults> {
    let ToolApprovalBatch { responses } = payload;
    if responses.len() > convert::MOST_DECISIONS {
        let most = convert::MOST_DECISIONS;
        return Err(SocketError::invalid(format!("a batch has at most {most} decisions")));
    }
    let others = connection.other_servers.take();
    let mut decisions = SocketDecisions { connection, responses };
    let Some(mut others) = others else {
        return Ok(DecisionResults { results: decisions.decide_all().await });
    };
    let results = others.decide_all(decisions).await;
    connection.other_servers = Some(others);
    Ok(DecisionResults { results })
}

/// Decisions of one event.
pub struct SocketDecisions<'a> {
    connection: &'a mut SocketConnection,
    /// Decisions as the client sent them.
    pub responses: Vec<Value>,
}

impl SocketDecisions<'_> {
    /// Returns the name of the request that the decision at `place` is about, if it has one.
    pub fn request_id(&self, place: usize) -> Option<String> {
        self.responses.get(place)?.get("request_id")?.as_str().map(str::to_owned)
    }

    /// Takes the decision at `place`. Returns its result, and the server that has the document if
    /// that is why it was refused.
    pub fn decide(&mut self, place: usize) -> BoxFuture<'_, (DecisionResult, Option<OtherServer>)> {
        async move {
            let response = self.responses.get(place).unwrap_or(&Value::Null);
            let decided = match ToolApprovalResponse::deserialize(response) {
                Ok(response) => self.connection.decide(response).await,
                Err(error) => Err(SocketError::invalid(error.to_string())),
            };
            let server = decided.as_ref().err().and_then(SocketError::other_server).cloned();
            let decided = decided.map_err(|refusal| refusal.error().clone());
            (convert::decision_result(self.request_id(place), decided), server)
        }
        .boxed()
    }

    /// Returns the result of a decision at `place` that was refused.
    pub fn refused(&self, place: usize, error: WireError) -> DecisionResult {
        convert::decision_result(self.request_id(place), Err(error))
    }

    async fn decide_all(&mut self) -> Vec<DecisionResult> {
        let mut results = Vec::with_capacity(self.responses.len());
        for place in 0..self.responses.len() {
            results.push(self.decide(place).await.0);
        }
        results
    }
}
