//! `tool_approval_batch`: several decisions in one event, each taken on the server that has its
//! document.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use copydesk_api::{
    DecisionBatch, DecisionFailure, DecisionHere, DecisionsThere, ErrorCode, OtherServer,
    decide_all,
};
use copydesk_ids::RequestId;
use copydesk_protocol::client::{ToolApprovalBatch, ToolApprovalResponse};
use copydesk_protocol::rest::{DecisionResult, DecisionResults};
use copydesk_protocol::server::WireError;
use copydesk_protocol_conversion as convert;

use super::SocketConnection;
use super::relay::NodeAnswer;
use super::review::respond;
use super::socket_error::{SocketError, SocketResult};

/// Name of the event.
pub(crate) const BATCH: &str = "tool_approval_batch";

/// Answers [`BATCH`]: decides several requests, each on its own.
///
/// # Errors
/// `invalid_payload` for too many decisions. A refused one is part of the answer, with the error of
/// [`respond`].
pub async fn batch(
    connection: &mut SocketConnection,
    payload: ToolApprovalBatch,
) -> SocketResult<DecisionResults> {
    let ToolApprovalBatch { responses } = payload;
    let count = responses.len();
    if count > convert::MOST_DECISIONS {
        let most = convert::MOST_DECISIONS;
        return Err(SocketError::invalid(format!("a batch has at most {most} decisions")));
    }
    let placement = Arc::clone(connection.app.api.placement());
    let mut decisions = SocketDecisions { connection, responses };
    let results = decide_all(&mut decisions, count, Some(&*placement)).await;
    Ok(DecisionResults { results })
}

/// Decisions of one event.
struct SocketDecisions<'a> {
    connection: &'a mut SocketConnection,
    responses: Vec<Value>,
}

/// Answer of another server to the event.
#[derive(Deserialize)]
struct BatchAnswer {
    results: Option<Vec<Value>>,
    error: Option<BatchRefusal>,
}

/// Reason why another server has refused the event as a whole.
#[derive(Deserialize)]
struct BatchRefusal {
    code: String,
    message: String,
}

impl SocketDecisions<'_> {
    fn name(&self, place: usize) -> Option<String> {
        self.responses.get(place)?.get("request_id")?.as_str().map(str::to_owned)
    }

    fn refused(&self, place: usize, error: &WireError) -> DecisionResult {
        convert::decision_result(self.name(place), Err(error.clone()))
    }

    fn all_refused(&self, places: &[usize], error: &SocketError) -> DecisionsThere<DecisionResult> {
        let refused = places.iter().map(|place| Some(self.refused(*place, error.error())));
        DecisionsThere::Answered(refused.collect())
    }
}

impl DecisionBatch<DecisionResult> for SocketDecisions<'_> {
    fn request(&self, place: usize) -> Option<RequestId> {
        self.name(place).map(RequestId::from)
    }

    async fn decide_here(&mut self, place: usize) -> DecisionHere<DecisionResult> {
        let response = self.responses.get(place).unwrap_or(&Value::Null);
        let decided = match ToolApprovalResponse::deserialize(response) {
            Ok(response) => respond(self.connection, response).await,
            Err(error) => Err(SocketError::invalid(error.to_string())),
        };
        if let Err(refusal) = &decided
            && let (Some(node), Some(_)) = (refusal.other_server(), self.connection.route.relay())
        {
            return DecisionHere::Elsewhere(node.clone());
        }
        let decided = decided.map_err(|refusal| refusal.error().clone());
        DecisionHere::Over(convert::decision_result(self.name(place), decided))
    }

    async fn decide_there(
        &mut self,
        node: &OtherServer,
        places: &[usize],
    ) -> DecisionsThere<DecisionResult> {
        let responses: Vec<_> = places.iter().filter_map(|it| self.responses.get(*it)).collect();
        let Ok(payload) = to_raw_value(&json!({ "responses": responses })) else {
            return self.all_refused(places, &SocketError::internal());
        };
        let answer = match self.connection.ask_node(node, BATCH, payload).await {
            NodeAnswer::Answered(answer) => answer,
            NodeAnswer::NotReached => return DecisionsThere::NotReached,
            NodeAnswer::Refused(reason) => {
                return self.all_refused(places, &SocketError::new("unavailable", reason));
            }
            NodeAnswer::Lost => return DecisionsThere::Lost,
        };
        match serde_json::from_str(answer.get()) {
            Ok(BatchAnswer { results: Some(results), .. }) => {
                DecisionsThere::Answered(results.into_iter().map(convert::passed_result).collect())
            }
            Ok(BatchAnswer { error: Some(error), .. }) => {
                if error.code == ErrorCode::OtherServer.as_str() {
                    return DecisionsThere::NotReached;
                }
                self.all_refused(places, &SocketError::new(&error.code, error.message))
            }
            Ok(_) | Err(_) => DecisionsThere::Lost,
        }
    }

    fn failed(&self, place: usize, failure: DecisionFailure) -> DecisionResult {
        let error = match failure {
            DecisionFailure::NotReached => SocketError::new(
                "unavailable",
                "the server that has this document does not answer; nothing was changed",
            ),
            DecisionFailure::Lost => SocketError::new(
                "outcome_unknown",
                "the server that has this document was lost: check if it was done",
            ),
        };
        self.refused(place, error.error())
    }
}
