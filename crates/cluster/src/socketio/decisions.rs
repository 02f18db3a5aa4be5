//! Several decisions of one event, each taken on the server that has its document.

use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::relay::ClientRelay;
use crate::connections::NodeAnswer;
use crate::decision_batch::{self, DecisionBatch, wire_error};
use copydesk_ids::RequestId;
use copydesk_placement::OtherServer;
use copydesk_protocol::rest::DecisionResult;
use copydesk_protocol::server::WireError;
use copydesk_protocol_conversion as convert;
use copydesk_socketio::{BATCH, SocketDecisions};

/// Decisions of one event, with the client's connections to other servers.
struct SpreadDecisions<'a> {
    relay: &'a mut ClientRelay,
    decisions: SocketDecisions<'a>,
}

/// Takes the decisions of an event; returns their results in their order.
pub(super) async fn decide_all(
    relay: &mut ClientRelay,
    decisions: SocketDecisions<'_>,
) -> Vec<DecisionResult> {
    let (node, count) = (relay.own_node().clone(), decisions.responses.len());
    let mut spread = SpreadDecisions { relay, decisions };
    decision_batch::decide_all(&mut spread, count, &*node).await
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

impl DecisionBatch<DecisionResult> for SpreadDecisions<'_> {
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
        let Ok(payload) = to_raw_value(&json!({ "responses": responses })) else {
            let error = ("internal", "the server could not answer; nothing was changed");
            return NodeAnswer::Refused(wire_error(error));
        };
        let answer = self.relay.ask_node(node, BATCH, payload).await;
        answer.and_then(|answer| match serde_json::from_str(answer.get()) {
            Ok(BatchAnswer { results: Some(results), .. }) => {
                NodeAnswer::Answered(results.into_iter().map(convert::passed_result).collect())
            }
            Ok(BatchAnswer { error: Some(BatchRefusal { code, message }), .. }) => {
                NodeAnswer::Refused(wire_error((&code, &message)))
            }
            Ok(_) | Err(_) => NodeAnswer::Lost,
        })
    }

    fn refused(&self, place: usize, error: WireError) -> DecisionResult {
        self.decisions.refused(place, error)
    }
}
