//! Several decisions in one message, about requests that may be in documents of several servers:
//! each is taken where its document is, and the results are put together in their order.
//!
//! A decision that another server may have taken, because its answer was lost, is never taken
//! again and never reported as refused.

use tokio::time::Instant;

use copydesk_api::ErrorCode;
use copydesk_ids::RequestId;
use copydesk_placement::{OtherServer, Placement};
use copydesk_protocol::server::WireError;

use super::connections::NodeAnswer;
use super::{SEARCH_PAUSE, SEARCH_TIMEOUT};

/// Code and message of what another server may have done before it was lost.
pub(crate) const LOST: (&str, &str) =
    ("outcome_unknown", "the server that has this document was lost: check if it was done");
/// Code and message of what was not done, because no server with the document answers.
const NOT_REACHED: (&str, &str) =
    ("unavailable", "the server that has this document does not answer; nothing was changed");

/// Decisions of one message, as their transport takes them; `R` is a result for the client.
pub(crate) trait DecisionBatch<R: Send>: Send {
    /// Returns the request that the decision at `place` is about, if it names one.
    fn request(&self, place: usize) -> Option<RequestId>;

    /// Takes a decision on this server. Returns its result, and the server that has the document if
    /// that is why nothing was done.
    fn decide_here(
        &mut self,
        place: usize,
    ) -> impl Future<Output = (R, Option<OtherServer>)> + Send;

    /// Has another server take decisions. Returns its results in their order; `None` if it does not
    /// have the document either, and nothing was done.
    fn decide_there(
        &mut self,
        node: &OtherServer,
        places: &[usize],
    ) -> impl Future<Output = NodeAnswer<Vec<Option<R>>>> + Send;

    /// Returns the result of a decision that was refused, or that has no answer.
    fn refused(&self, place: usize, error: WireError) -> R;
}

/// Takes `count` decisions; `placement` is asked where documents are. Returns their results in
/// their order.
pub(crate) async fn decide_all<R: Send, B: DecisionBatch<R>>(
    batch: &mut B,
    count: usize,
    placement: &dyn Placement,
) -> Vec<R> {
    let until = Instant::now() + SEARCH_TIMEOUT;
    let mut results: Vec<Option<R>> = (0..count).map(|_| None).collect();
    loop {
        let there = decide_round(batch, &mut results).await;
        for (node, places) in there {
            let mut answers = match batch.decide_there(&node, &places).await {
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

/// Takes the decisions without a result that this server can take. Returns the others by the
/// servers that have their documents, in their order.
async fn decide_round<R: Send, B: DecisionBatch<R>>(
    batch: &mut B,
    results: &mut [Option<R>],
) -> Vec<(OtherServer, Vec<usize>)> {
    let mut there: Vec<(OtherServer, Vec<usize>)> = Vec::new();
    for (place, taken) in results.iter_mut().enumerate().filter(|(_, taken)| taken.is_none()) {
        // What is said of one request stays in its order, also if its document comes here.
        let request = batch.request(place);
        let is_same = |known: &usize| request.is_some() && batch.request(*known) == request;
        let known = there.iter().find(|(_, places)| places.iter().any(is_same));
        let (result, node) = if let Some((node, _)) = known {
            (None, Some(node.clone()))
        } else {
            let (result, node) = batch.decide_here(place).await;
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
    use super::*;
    use copydesk_placement::SingleServer;

    /// Decisions that name their requests, whose servers the story moves.
    struct Story {
        requests: Vec<&'static str>,
        /// Number of the server of each request; 0 is this one.
        homes: Vec<(&'static str, i64)>,
        /// Answer to each message to another server.
        answers: Vec<Answer>,
        sent: Vec<(i64, Vec<usize>)>,
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
            let (requests, homes) = (requests.to_vec(), homes.to_vec());
            Self { requests, homes, answers: Vec::new(), sent: Vec::new() }
        }

        fn answering(mut self, answers: &[Answer]) -> Self {
            self.answers = answers.iter().rev().copied().collect();
            self
        }

        async fn goes(&mut self) -> Vec<String> {
            decide_all(self, self.requests.len(), &SingleServer::default()).await
        }
    }

    impl DecisionBatch<String> for Story {
        fn request(&self, place: usize) -> Option<RequestId> {
            Some(self.requests[place].into())
        }

        async fn decide_here(&mut self, place: usize) -> (String, Option<OtherServer>) {
            let request = self.requests[place];
            let home = self.homes.iter().find(|(it, number)| *it == request && *number != 0);
            let server = home.map(|(_, number)| OtherServer { number: *number, url: "".into() });
            (format!("{request} here"), server)
        }

        async fn decide_there(
            &mut self,
            node: &OtherServer,
            places: &[usize],
        ) -> NodeAnswer<Vec<Option<String>>> {
            self.sent.push((node.number, places.to_vec()));
            let done =
                |place: &usize| Some(format!("{} at {}", self.requests[*place], node.number));
            match self.answers.pop().unwrap_or(Answer::Decides) {
                Answer::Decides => NodeAnswer::Answered(places.iter().map(done).collect()),
                Answer::Short => NodeAnswer::Answered(places.iter().map(done).take(1).collect()),
                Answer::Moved => {
                    self.homes.clear();
                    NodeAnswer::Answered(places.iter().map(|_| None).collect())
                }
                Answer::NotReached => NodeAnswer::NotReached,
                Answer::Lost => NodeAnswer::Lost,
            }
        }

        fn refused(&self, place: usize, error: WireError) -> String {
            let failure = if error.code == LOST.0 { "Lost" } else { "NotReached" };
            format!("{} {failure}", self.requests[place])
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_decision_is_taken_where_its_document_is() {
        let requests = ["a", "b", "c", "b", "d"];
        let mut story = Story::of(&requests, &[("b", 1), ("c", 2), ("d", 1)]);
        assert_eq!(story.goes().await, ["a here", "b at 1", "c at 2", "b at 1", "d at 1"]);
        assert_eq!(story.sent, [(1, vec![1, 3, 4]), (2, vec![2])]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_lost_is_not_tried_again_and_what_was_not_reached_is() {
        let mut story = Story::of(&["a", "b"], &[("a", 1), ("b", 2)]).answering(&[
            Answer::Lost,
            Answer::NotReached,
            Answer::Decides,
        ]);
        assert_eq!(story.goes().await, ["a Lost", "b at 2"]);
        assert_eq!(story.sent, [(1, vec![0]), (2, vec![1]), (2, vec![1])]);
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
        assert!(story.sent.len() > 100, "{}", story.sent.len());
    }
}
