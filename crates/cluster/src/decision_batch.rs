//! Several decisions in one message, about requests that may be in documents of several servers:
//! each is taken where its document is, and the results are put together in their order.
//!
//! A decision that another server may have taken, because its answer was lost, is never taken
//! again and never reported as refused.

use serde_json::{Value, json};
use tokio::time::Instant;

use copydesk_api::ErrorCode;
use copydesk_placement::{OtherServer, Placement};
use copydesk_protocol::rest::DecisionResult;
use copydesk_protocol::server::WireError;
use copydesk_protocol_conversion::{DecisionBatch, passed_result};

use super::connections::NodeAnswer;
use super::{SEARCH_PAUSE, SEARCH_TIMEOUT};

/// Code and message of what another server may have done before it was lost.
pub(crate) const LOST: (&str, &str) =
    ("outcome_unknown", "the server that has this document was lost: check if it was done");
/// Code and message of what was not done, because no server with the document answers.
const NOT_REACHED: (&str, &str) =
    ("unavailable", "the server that has this document does not answer; nothing was changed");

/// Sender of decisions to other servers.
pub(crate) trait DecisionSender: Send {
    /// Sends decisions to another server, as a client sends them; returns its whole answer.
    fn send(
        &mut self,
        node: &OtherServer,
        decisions: Value,
    ) -> impl Future<Output = NodeAnswer<Value>> + Send;
}

/// Takes the decisions of a batch; `placement` is asked where documents are. Returns their results
/// in their order.
pub(crate) async fn decide_all(
    batch: &mut impl DecisionBatch,
    sender: &mut impl DecisionSender,
    placement: &dyn Placement,
) -> Vec<DecisionResult> {
    let until = Instant::now() + SEARCH_TIMEOUT;
    let mut results: Vec<Option<DecisionResult>> = batch.responses().iter().map(|_| None).collect();
    loop {
        let there = decide_round(batch, &mut results).await;
        for (node, places) in there {
            let named: Vec<_> =
                places.iter().filter_map(|place| batch.responses().get(*place)).collect();
            let decisions = json!({ "responses": named });
            let mut answers = match sender.send(&node, decisions).await.and_then(passed_results) {
                NodeAnswer::Answered(answers) => answers,
                NodeAnswer::Refused(error) if error.code != ErrorCode::OtherServer.as_str() => {
                    let refused = |place: &usize| Some(batch.refused(*place, error.clone()));
                    places.iter().map(refused).collect()
                }
                NodeAnswer::Refused(_) | NodeAnswer::NotReached => {
                    places.iter().map(|_| None).collect()
                }
                NodeAnswer::Lost => Vec::new(),
            }
            .into_iter();
            for place in places {
                // An answer that is too short says nothing of the others.
                let lost = || Some(batch.refused(place, wire_error(LOST)));
                results[place] = answers.next().unwrap_or_else(lost);
                if results[place].is_none() {
                    placement.forget_server(&node);
                }
            }
        }
        if results.iter().all(Option::is_some) || Instant::now() >= until {
            break;
        }
        tokio::time::sleep(SEARCH_PAUSE).await;
    }
    let not_reached = |place| batch.refused(place, wire_error(NOT_REACHED));
    let results = results.into_iter().enumerate();
    results.map(|(place, result)| result.unwrap_or_else(|| not_reached(place))).collect()
}

/// Returns the results in the answer of another server, in their order; `None` for a document that
/// it does not have either.
fn passed_results(mut answer: Value) -> NodeAnswer<Vec<Option<DecisionResult>>> {
    match answer.get_mut("results").map(Value::take) {
        Some(Value::Array(results)) => {
            NodeAnswer::Answered(results.into_iter().map(passed_result).collect())
        }
        _ => NodeAnswer::Lost,
    }
}

/// Takes the decisions without a result that this server can take. Returns the others by the
/// servers that have their documents, in their order.
async fn decide_round(
    batch: &mut impl DecisionBatch,
    results: &mut [Option<DecisionResult>],
) -> Vec<(OtherServer, Vec<usize>)> {
    let mut there: Vec<(OtherServer, Vec<usize>)> = Vec::new();
    for (place, taken) in results.iter_mut().enumerate().filter(|(_, taken)| taken.is_none()) {
        // What is said of one request stays in its order, also if its document comes here.
        let request = batch.request_id(place);
        let is_same = |known: &usize| request.is_some() && batch.request_id(*known) == request;
        let known = there.iter().find(|(_, places)| places.iter().any(is_same));
        let (result, node) = if let Some((node, _)) = known {
            (None, Some(node.clone()))
        } else {
            let (result, node) = batch.decide(place).await;
            (Some(result), node)
        };
        match node {
            None => *taken = result,
            Some(node) => match there.iter_mut().find(|(it, _)| *it == node) {
                Some((_, places)) => places.push(place),
                None => there.push((node, vec![place])),
            },
        }
    }
    there
}

/// Returns an error for clients that has no details.
pub(crate) fn wire_error((code, message): (&str, &str)) -> WireError {
    let (code, message) = (code.to_owned(), message.to_owned());
    WireError { code, message, reason_code: None, details: None }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;
    use copydesk_approvals::{RequestStatus, VoteCount};
    use copydesk_placement::SingleServer;
    use copydesk_protocol::client::ToolApprovalResponse;
    use copydesk_protocol::server::Decided;
    use copydesk_protocol_conversion::RefusedDecision;

    /// Number of the server of each request, which the story moves; 0 is this one.
    type Homes = Arc<Mutex<Vec<(&'static str, i64)>>>;

    struct Story {
        batch: Batch,
        others: Others,
    }

    /// Decisions that name their requests and their own places.
    struct Batch {
        responses: Vec<Value>,
        homes: Homes,
    }

    struct Others {
        homes: Homes,
        /// Answer to each message to another server.
        answers: Vec<Answer>,
        sent: Vec<(i64, Vec<u64>)>,
    }

    #[derive(Clone, Copy)]
    enum Answer {
        Decides,
        /// It has none of the documents, which are here now.
        Moved,
        Short,
        NotReached,
        Lost,
    }

    impl Story {
        fn of(requests: &[&'static str], homes: &[(&'static str, i64)]) -> Self {
            let homes = Arc::new(Mutex::new(homes.to_vec()));
            let responses = requests.iter().enumerate();
            let responses = responses
                .map(|(place, id)| json!({"request_id": id, "approved": true, "note": place.to_string()}))
                .collect();
            let others =
                Others { homes: Arc::clone(&homes), answers: Vec::new(), sent: Vec::new() };
            Self { batch: Batch { responses, homes }, others }
        }

        fn answering(mut self, answers: &[Answer]) -> Self {
            self.others.answers = answers.iter().rev().copied().collect();
            self
        }

        async fn goes(&mut self) -> Vec<String> {
            let Self { batch, others } = self;
            let results = decide_all(batch, others, &SingleServer::default()).await;
            results.into_iter().map(word).collect()
        }
    }

    fn word(result: DecisionResult) -> String {
        match result {
            DecisionResult::Decided { request_id, .. } => format!("{request_id} here"),
            DecisionResult::Refused { request_id, error, .. } => {
                let failure = if error.code == LOST.0 { "Lost" } else { "NotReached" };
                format!("{} {failure}", request_id.unwrap_or_default())
            }
            DecisionResult::Passed(result) => result.as_str().unwrap_or_default().to_owned(),
        }
    }

    impl DecisionBatch for Batch {
        fn responses(&self) -> &[Value] {
            &self.responses
        }

        async fn take(
            &mut self,
            response: Result<ToolApprovalResponse, serde_json::Error>,
        ) -> Result<Decided, RefusedDecision> {
            let request = response.unwrap().request_id;
            let homes = self.homes.lock();
            let home = homes.iter().find(|(it, number)| *it == request && *number != 0);
            if let Some((_, number)) = home {
                let server = OtherServer { number: *number, url: "".into() };
                return Err((wire_error((ErrorCode::OtherServer.as_str(), "")), Some(server)));
            }
            Ok(Decided {
                status: RequestStatus::Approved,
                hunks: Vec::new(),
                preview_hash: String::new(),
                approvals: VoteCount { have: 1, need: 1 },
            })
        }
    }

    impl DecisionSender for Others {
        async fn send(&mut self, node: &OtherServer, decisions: Value) -> NodeAnswer<Value> {
            let responses = decisions["responses"].as_array().unwrap();
            let place = |it: &Value| it["note"].as_str().unwrap().parse().unwrap();
            self.sent.push((node.number, responses.iter().map(place).collect()));
            let done = |it: &Value| {
                json!(format!("{} at {}", it["request_id"].as_str().unwrap(), node.number))
            };
            let mut results: Vec<_> = responses.iter().map(done).collect();
            match self.answers.pop().unwrap_or(Answer::Decides) {
                Answer::Decides => {}
                Answer::Short => results.truncate(1),
                Answer::Moved => {
                    self.homes.lock().clear();
                    results.fill(json!({"error": {"code": ErrorCode::OtherServer.as_str()}}));
                }
                Answer::NotReached => return NodeAnswer::NotReached,
                Answer::Lost => return NodeAnswer::Lost,
            }
            NodeAnswer::Answered(json!({ "results": results }))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_decision_is_taken_where_its_document_is() {
        let requests = ["a", "b", "c", "b", "d"];
        let mut story = Story::of(&requests, &[("b", 1), ("c", 2), ("d", 1)]);
        assert_eq!(story.goes().await, ["a here", "b at 1", "c at 2", "b at 1", "d at 1"]);
        assert_eq!(story.others.sent, [(1, vec![1, 3, 4]), (2, vec![2])]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_lost_is_not_tried_again_and_what_was_not_reached_is() {
        let mut story = Story::of(&["a", "b"], &[("a", 1), ("b", 2)]).answering(&[
            Answer::Lost,
            Answer::NotReached,
            Answer::Decides,
        ]);
        assert_eq!(story.goes().await, ["a Lost", "b at 2"]);
        assert_eq!(story.others.sent, [(1, vec![0]), (2, vec![1]), (2, vec![1])]);
        let mut story = Story::of(&["a", "b"], &[("a", 1), ("b", 1)]).answering(&[Answer::Short]);
        assert_eq!(story.goes().await, ["a at 1", "b Lost"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_document_that_has_moved_is_followed() {
        let mut story = Story::of(&["a", "a"], &[("a", 1)]).answering(&[Answer::Moved]);
        assert_eq!(story.goes().await, ["a here", "a here"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_not_reached_holds_nothing_up_for_ever() {
        let mut story = Story::of(&["a", "b"], &[("a", 1)]).answering(&[Answer::NotReached; 1_000]);
        assert_eq!(story.goes().await, ["a NotReached", "b here"]);
        assert!(story.others.sent.len() > 100, "{}", story.others.sent.len());
    }
}
