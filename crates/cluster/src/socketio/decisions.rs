//! Several decisions of one event, each taken on the server that has its document.

use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::relay::{ClientRelay, NodeAnswer};
use crate::decision_batch::{self, DecisionBatch, DecisionFailure, DecisionHere, DecisionsThere};
use copydesk_api::ErrorCode;
use copydesk_ids::RequestId;
use copydesk_placement::OtherServer;
use copydesk_protocol::rest::DecisionResult;
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

impl SpreadDecisions<'_> {
    fn all_refused(
        &self,
        places: &[usize],
        code: &str,
        message: &str,
    ) -> DecisionsThere<DecisionResult> {
        let refused = places.iter().map(|it| Some(self.decisions.refused(*it, code, message)));
        DecisionsThere::Answered(refused.collect())
    }
}

impl DecisionBatch<DecisionResult> for SpreadDecisions<'_> {
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
        let responses: Vec<_> =
            places.iter().filter_map(|it| self.decisions.responses.get(*it)).collect();
        let Ok(payload) = to_raw_value(&json!({ "responses": responses })) else {
            let message = "the server could not answer; nothing was changed";
            return self.all_refused(places, "internal", message);
        };
        let answer = match self.relay.ask_node(node, BATCH, payload).await {
            NodeAnswer::Answered(answer) => answer,
            NodeAnswer::NotReached => return DecisionsThere::NotReached,
            NodeAnswer::Refused(reason) => {
                return self.all_refused(places, "unavailable", &reason);
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
                self.all_refused(places, &error.code, &error.message)
            }
            Ok(_) | Err(_) => DecisionsThere::Lost,
        }
    }

    fn failed(&self, place: usize, failure: DecisionFailure) -> DecisionResult {
        let (code, message) = failure.code_and_message();
        self.decisions.refused(place, code, message)
    }
}
