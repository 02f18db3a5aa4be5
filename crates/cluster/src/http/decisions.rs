//! Several decisions of one request over REST, each taken on the server that has its document.

use serde_json::{Value, json};

use super::parts::DividedRequest;
use super::relay::RequestSender;
use crate::connections::NodeAnswer;
use crate::decision_batch::{self, DecisionBatch};
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
pub async fn decide_all(sender: RequestSender, decisions: RestDecisions) -> Vec<DecisionResult> {
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

    async fn decide_here(&mut self, place: usize) -> (DecisionResult, Option<OtherServer>) {
        self.decisions.decide(place).await
    }

    async fn decide_there(
        &mut self,
        node: &OtherServer,
        places: &[usize],
    ) -> NodeAnswer<Vec<Option<DecisionResult>>> {
        let responses: Vec<_> =
            places.iter().filter_map(|it| self.decisions.responses.get(*it)).collect();
        let answer = self.request.post(node, &json!({ "responses": responses })).await;
        answer.and_then(|mut body| match body.get_mut("results").map(Value::take) {
            Some(Value::Array(results)) => {
                NodeAnswer::Answered(results.into_iter().map(convert::passed_result).collect())
            }
            _ => NodeAnswer::Lost,
        })
    }

    fn refused(&self, place: usize, error: WireError) -> DecisionResult {
        self.decisions.refused(place, error)
    }
}
