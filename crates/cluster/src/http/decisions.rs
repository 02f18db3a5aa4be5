//! Several decisions of one request over REST, each taken on the server that has its document.

use serde_json::Value;

use super::parts::DividedRequest;
use super::relay::RequestSender;
use crate::connections::NodeAnswer;
use crate::decision_batch::{self, DecisionSender};
use copydesk_http::rest::RestDecisions;
use copydesk_placement::OtherServer;
use copydesk_protocol::rest::DecisionResult;

/// Takes the decisions of a request; returns their results in their order.
pub async fn decide_all(
    sender: RequestSender,
    mut decisions: RestDecisions,
) -> Vec<DecisionResult> {
    let node = sender.node.clone();
    let (headers, target) = (decisions.headers.clone(), decisions.target.clone());
    let mut request = DividedRequest::new(sender, headers, target);
    decision_batch::decide_all(&mut decisions, &mut request, &*node).await
}

impl DecisionSender for DividedRequest {
    async fn send(&mut self, node: &OtherServer, decisions: Value) -> NodeAnswer<Value> {
        self.post(node, &decisions).await
    }
}
