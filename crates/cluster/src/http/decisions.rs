//! Several decisions of one request over REST, each taken on the server that has its document.

use serde_json::{Value, json};

use super::parts::{DividedRequest, PartAnswer, PartSender};
use crate::decision_batch::{self, DecisionBatch, DecisionFailure, DecisionHere, DecisionsThere};
use copydesk_api::ErrorCode;
use copydesk_http::rest::RestDecisions;
use copydesk_ids::RequestId;
use copydesk_placement::OtherServer;
use copydesk_protocol::rest::DecisionResult;
use copydesk_protocol::server::WireError;
use copydesk_protocol_conversion as convert;

/// Decisions of one request, with what sends some of them to other servers.
struct SpreadDecisions {
    decisions: RestDecisions,
    request: DividedRequest,
}

/// Takes the decisions of a request; returns their results in their order.
pub(super) async fn decide_all(
    sender: PartSender,
    decisions: RestDecisions,
) -> Vec<DecisionResult> {
    let (node, count) = (sender.node.clone(), decisions.responses.len());
    let (headers, target) = (decisions.headers.clone(), decisions.target.clone());
    let request = DividedRequest::new(sender, headers, target);
    let mut spread = SpreadDecisions { decisions, request };
    decision_batch::decide_all(&mut spread, count, &*node).await
}

impl DecisionBatch<DecisionResult> for SpreadDecisions {
    fn request(&self, place: usize) -> Option<RequestId> {
        self.decisions.request_id(place).map(RequestId::from)
    }

    async fn decide_here(&mut self, place: usize) -> DecisionHere<DecisionResult> {
        match self.decisions.decide(place).await {
            (_, Some(node)) => DecisionHere::Elsewhere(node),
            (result, None) => DecisionHere::Over(result),
        }
    }

    async fn decide_there(
        &mut self,
        node: &OtherServer,
        places: &[usize],
    ) -> DecisionsThere<DecisionResult> {
        let decisions = &self.decisions;
        let responses: Vec<_> =
            places.iter().filter_map(|it| decisions.responses.get(*it)).collect();
        match self.request.post(node, &json!({ "responses": responses })).await {
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
                let refused = |place: &usize| Some(decisions.refused(*place, error.clone()));
                DecisionsThere::Answered(places.iter().map(refused).collect())
            }
            PartAnswer::NotThere => DecisionsThere::NotReached,
            PartAnswer::Lost => DecisionsThere::Lost,
        }
    }

    fn failed(&self, place: usize, failure: DecisionFailure) -> DecisionResult {
        let (code, message) = failure.code_and_message();
        let (code, message) = (code.to_owned(), message.to_owned());
        self.decisions.refused(place, WireError { code, message, reason_code: None, details: None })
    }
}
