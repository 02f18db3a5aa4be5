//! Several decisions in one message, about requests that may be in documents of several servers:
//! each is taken where its document is, and the results are put together in their order.
//!
//! A decision that another server may have taken, because its answer was lost, is never taken
//! again and never reported as refused.

use tokio::time::Instant;

use copydesk_ids::RequestId;
use copydesk_placement::{OtherServer, Placement};

use super::{SEARCH_PAUSE, SEARCH_TIMEOUT};

/// Code and message of what another server may have done before it was lost.
pub(crate) const LOST: (&str, &str) =
    ("outcome_unknown", "the server that has this document was lost: check if it was done");

/// Outcome of a decision on this server.
#[derive(Debug)]
pub(crate) enum DecisionHere<R> {
    /// It was taken or refused.
    Over(R),
    /// Another server has the document; nothing was done.
    Elsewhere(OtherServer),
}

/// Answer of another server to decisions that were sent to it.
#[derive(Debug)]
pub(crate) enum DecisionsThere<R> {
    /// Results in the order of the decisions; `None` if it does not have the document either, and
    /// nothing was done.
    Answered(Vec<Option<R>>),
    /// It was not reached; nothing was done.
    NotReached,
    /// The connection was lost: it may have taken them.
    Lost,
}

/// Reason why a decision has no result of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecisionFailure {
    /// The server that has the document was not reached; nothing was done.
    NotReached,
    /// The answer was lost: it may have been taken.
    Lost,
}

impl DecisionFailure {
    /// Returns the code and the message for the client.
    pub(crate) fn code_and_message(self) -> (&'static str, &'static str) {
        match self {
            Self::NotReached => (
                "unavailable",
                "the server that has this document does not answer; nothing was changed",
            ),
            Self::Lost => LOST,
        }
    }
}

/// Decisions of one message, as their transport takes them; `R` is a result for the client.
pub(crate) trait DecisionBatch<R: Send>: Send {
    /// Returns the request that the decision at `place` is about, if it names one.
    fn request(&self, place: usize) -> Option<RequestId>;

    /// Takes a decision on this server.
    fn decide_here(&mut self, place: usize) -> impl Future<Output = DecisionHere<R>> + Send;

    /// Has another server take decisions.
    fn decide_there(
        &mut self,
        node: &OtherServer,
        places: &[usize],
    ) -> impl Future<Output = DecisionsThere<R>> + Send;

    /// Returns the result of a decision without an answer.
    fn failed(&self, place: usize, failure: DecisionFailure) -> R;
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
                DecisionsThere::Answered(answers) => answers.into_iter(),
                DecisionsThere::Lost => Vec::new().into_iter(),
                DecisionsThere::NotReached => {
                    places.iter().map(|_| None).collect::<Vec<_>>().into_iter()
                }
            };
            for place in places {
                // An answer that is too short says nothing of the others.
                let lost = || Some(batch.failed(place, DecisionFailure::Lost));
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
    let not_reached = |place| batch.failed(place, DecisionFailure::NotReached);
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
        let outcome = match known {
            Some((node, _)) => DecisionHere::Elsewhere(node.clone()),
            None => batch.decide_here(place).await,
        };
        match outcome {
            DecisionHere::Over(result) => *taken = Some(result),
            DecisionHere::Elsewhere(node) => match there.iter_mut().find(|(it, _)| *it == node) {
                Some((_, places)) => places.push(place),
                None => there.push((node, vec![place])),
            },
        }
    }
    there
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
        /// What happens at each message to another server.
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

        async fn decide_here(&mut self, place: usize) -> DecisionHere<String> {
            let request = self.requests[place];
            match self.homes.iter().find(|(it, _)| *it == request) {
                None | Some((_, 0)) => DecisionHere::Over(format!("{request} here")),
                Some((_, number)) => {
                    DecisionHere::Elsewhere(OtherServer { number: *number, url: "".into() })
                }
            }
        }

        async fn decide_there(
            &mut self,
            node: &OtherServer,
            places: &[usize],
        ) -> DecisionsThere<String> {
            self.sent.push((node.number, places.to_vec()));
            let done =
                |place: &usize| Some(format!("{} at {}", self.requests[*place], node.number));
            match self.answers.pop().unwrap_or(Answer::Decides) {
                Answer::Decides => DecisionsThere::Answered(places.iter().map(done).collect()),
                Answer::Short => {
                    DecisionsThere::Answered(places.iter().map(done).take(1).collect())
                }
                Answer::Moved => {
                    self.homes.clear();
                    DecisionsThere::Answered(places.iter().map(|_| None).collect())
                }
                Answer::NotReached => DecisionsThere::NotReached,
                Answer::Lost => DecisionsThere::Lost,
            }
        }

        fn failed(&self, place: usize, failure: DecisionFailure) -> String {
            format!("{} {failure:?}", self.requests[place])
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
