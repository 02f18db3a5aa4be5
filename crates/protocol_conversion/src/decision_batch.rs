//! Several decisions of one message, each of which is taken or refused on its own.

use serde::Deserialize as _;
use serde_json::Value;

use copydesk_api::OtherServer;
use copydesk_protocol::client::ToolApprovalResponse;
use copydesk_protocol::rest::DecisionResult;
use copydesk_protocol::server::{Decided, WireError};

/// Refusal of a decision, with the server that has the document if that is the reason.
pub type RefusedDecision = (WireError, Option<OtherServer>);

/// Decisions of one message, as its transport takes them.
pub trait DecisionBatch: Send {
    /// Returns the decisions as the client sent them.
    fn responses(&self) -> &[Value];

    /// Takes a decision on this server, or refuses what is none.
    fn take(
        &mut self,
        response: Result<ToolApprovalResponse, serde_json::Error>,
    ) -> impl Future<Output = Result<Decided, RefusedDecision>> + Send;

    /// Returns the name of the request that the decision at `place` is about, if it has one.
    fn request_id(&self, place: usize) -> Option<String> {
        self.responses().get(place)?.get("request_id")?.as_str().map(str::to_owned)
    }

    /// Takes the decision at `place` on this server. Returns its result, and the server that has
    /// the document if that is why it was refused.
    fn decide(
        &mut self,
        place: usize,
    ) -> impl Future<Output = (DecisionResult, Option<OtherServer>)> + Send {
        async move {
            let response = self.responses().get(place).unwrap_or(&Value::Null);
            let response = ToolApprovalResponse::deserialize(response);
            match self.take(response).await {
                Ok(decided) => {
                    let request_id = self.request_id(place).unwrap_or_default();
                    (DecisionResult::Decided { ok: true, request_id, decided }, None)
                }
                Err((error, server)) => (self.refused(place, error), server),
            }
        }
    }

    /// Takes all decisions on this server.
    fn decide_all(&mut self) -> impl Future<Output = Vec<DecisionResult>> + Send {
        async move {
            let mut results = Vec::with_capacity(self.responses().len());
            for place in 0..self.responses().len() {
                results.push(self.decide(place).await.0);
            }
            results
        }
    }

    /// Returns the result of a decision at `place` that was refused.
    fn refused(&self, place: usize, error: WireError) -> DecisionResult {
        DecisionResult::Refused { ok: false, request_id: self.request_id(place), error }
    }
}
