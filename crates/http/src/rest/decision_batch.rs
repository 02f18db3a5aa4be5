//! Several decisions of one request over REST, each taken on the server that has its document.

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::problem::Problem;
use super::requests::take;
use crate::rest::middleware::relay;
use crate::rest::middleware::relayed_parts::{PartAnswer, PartRelay};
use axum::http::StatusCode;
use copydesk_api::{
    Caller, DecisionBatch, DecisionFailure, DecisionHere, DecisionsThere, ErrorCode, OtherServer,
};
use copydesk_ids::RequestId;
use copydesk_protocol::client::ToolApprovalResponse;
use copydesk_protocol::rest::DecisionResult;
use copydesk_protocol::server::WireError;
use copydesk_protocol_conversion as convert;

/// Decisions of one caller.
pub(crate) struct RestDecisions<'a> {
    pub(crate) caller: &'a Caller,
    /// Sender of decisions to other servers, if there can be any.
    pub(crate) relay: Option<&'a PartRelay>,
    pub(crate) responses: Vec<Value>,
}

impl RestDecisions<'_> {
    fn name(&self, place: usize) -> Option<String> {
        self.responses.get(place)?.get("request_id")?.as_str().map(str::to_owned)
    }

    fn refused(&self, place: usize, error: WireError) -> DecisionResult {
        convert::decision_result(self.name(place), Err(error))
    }
}

impl DecisionBatch<DecisionResult> for RestDecisions<'_> {
    fn request(&self, place: usize) -> Option<RequestId> {
        self.name(place).map(RequestId::from)
    }

    async fn decide_here(&mut self, place: usize) -> DecisionHere<DecisionResult> {
        let response = self.responses.get(place).unwrap_or(&Value::Null);
        let decided = match ToolApprovalResponse::deserialize(response) {
            Ok(response) => take(self.caller, &response).await,
            Err(error) => Err(Problem::unprocessable(error.to_string())),
        };
        if let Err(problem) = &decided
            && let (Some(node), Some(_)) = (problem.node(), self.relay)
        {
            return DecisionHere::Elsewhere(node.clone());
        }
        let decided = decided.map_err(|problem| problem.as_error());
        DecisionHere::Over(convert::decision_result(self.name(place), decided))
    }

    async fn decide_there(
        &mut self,
        node: &OtherServer,
        places: &[usize],
    ) -> DecisionsThere<DecisionResult> {
        let Some(relay) = self.relay else { return DecisionsThere::NotReached };
        let responses: Vec<_> = places.iter().filter_map(|it| self.responses.get(*it)).collect();
        match relay.post(node, &json!({ "responses": responses })).await {
            PartAnswer::Done(mut body) => match body.get_mut("results").map(Value::take) {
                Some(Value::Array(results)) => DecisionsThere::Answered(
                    results.into_iter().map(convert::passed_result).collect(),
                ),
                _ => DecisionsThere::Lost,
            },
            PartAnswer::Refused(error) if error.code == ErrorCode::OtherServer.as_str() => {
                DecisionsThere::NotReached
            }
            PartAnswer::Refused(error) => {
                let refused = |place: &usize| Some(self.refused(*place, error.clone()));
                DecisionsThere::Answered(places.iter().map(refused).collect())
            }
            PartAnswer::NotThere => DecisionsThere::NotReached,
            PartAnswer::Lost => DecisionsThere::Lost,
        }
    }

    fn failed(&self, place: usize, failure: DecisionFailure) -> DecisionResult {
        let problem = match failure {
            DecisionFailure::NotReached => {
                let detail =
                    "the server that has this document does not answer; nothing was changed";
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
            }
            DecisionFailure::Lost => relay::lost(),
        };
        self.refused(place, problem.as_error())
    }
}
