//! `tool_approval_batch`: several decisions in one event, each of which is taken or refused on its
//! own.

use futures_util::FutureExt as _;
use serde_json::Value;

use copydesk_protocol::client::{ToolApprovalBatch, ToolApprovalResponse};
use copydesk_protocol::rest::DecisionResults;
use copydesk_protocol::server::Decided;
use copydesk_protocol_conversion as wire;
use copydesk_protocol_conversion::{DecisionBatch, RefusedDecision};

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
    if responses.len() > wire::MOST_DECISIONS {
        let most = wire::MOST_DECISIONS;
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
    responses: Vec<Value>,
}

impl DecisionBatch for SocketDecisions<'_> {
    fn responses(&self) -> &[Value] {
        &self.responses
    }

    async fn take(
        &mut self,
        response: Result<ToolApprovalResponse, serde_json::Error>,
    ) -> Result<Decided, RefusedDecision> {
        let decided = match response {
            Ok(response) => self.connection.decide(response).boxed().await,
            Err(error) => Err(SocketError::invalid(error.to_string())),
        };
        decided.map_err(|refusal| (refusal.error().clone(), refusal.other_server().cloned()))
    }
}
