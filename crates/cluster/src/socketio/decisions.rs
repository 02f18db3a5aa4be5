//! Several decisions of one event, each taken on the server that has its document.

use serde_json::Value;
use serde_json::value::to_raw_value;

use super::relay::ClientRelay;
use crate::connections::NodeAnswer;
use crate::decision_batch::{self, DecisionSender, wire_error};
use copydesk_placement::OtherServer;
use copydesk_protocol::rest::DecisionResult;
use copydesk_socketio::{BATCH, SocketDecisions};

/// Takes the decisions of an event; returns their results in their order.
pub(super) async fn decide_all(
    relay: &mut ClientRelay,
    mut decisions: SocketDecisions<'_>,
) -> Vec<DecisionResult> {
    let node = relay.own_node().clone();
    decision_batch::decide_all(&mut decisions, relay, &*node).await
}

impl DecisionSender for ClientRelay {
    async fn send(&mut self, node: &OtherServer, decisions: Value) -> NodeAnswer<Value> {
        let Ok(payload) = to_raw_value(&decisions) else {
            let error = ("internal", "the server could not answer; nothing was changed");
            return NodeAnswer::Refused(wire_error(error));
        };
        let answer = self.ask_node(node, BATCH, payload).await;
        answer.and_then(|answer| {
            let Ok(answer) = serde_json::from_str::<Value>(answer.get()) else {
                return NodeAnswer::Lost;
            };
            // The event was refused as a whole.
            let error = &answer["error"];
            match (error["code"].as_str(), error["message"].as_str()) {
                (Some(code), Some(message)) => NodeAnswer::Refused(wire_error((code, message))),
                _ => NodeAnswer::Answered(answer),
            }
        })
    }
}
