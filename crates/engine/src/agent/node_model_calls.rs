//! Calls of the Claude CLI for runs of other servers. The run, its room and its requests stay where
//! they are: only the model is asked here.
//!
//! A CLI waits for the results of its tools between two calls of a run. It is ended when the run
//! is over, or when the server of the run is gone and nobody has gone on with it.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::ids::{RunId, SessionId};
use crate::llm::{AnswerDelta, AnswerStream, Model, ModelRequest, ModelResult};
use crate::store::RunRecord;

use super::node_runs::is_unfinished;
use super::{AgentService, AskResult};

pub use crate::auth::CallTicket;

/// Name of the task of the server that is asked for the Claude CLI by those without it.
pub const CLI_TASK: &str = "claude-cli";
/// Time for which the work for a run is kept whose server is gone: another one may go on with it.
const LOST_RUN_PATIENCE: Duration = Duration::from_secs(20);
/// Interval at which runs of lost servers are looked for.
const SWEEP: Duration = Duration::from_secs(5);

/// Call of the Claude CLI that another server may make.
pub struct AdmittedModelCall {
    node: i64,
    agents: AgentService,
    model: Arc<dyn Model>,
}

impl AgentService {
    /// Admits the call for which another server has stored this ticket; `None` if there is no such
    /// ticket for this server, or not any more, or if others do not ask this server.
    ///
    /// # Errors
    /// [`AskError::Store`](super::AskError::Store) if the tickets cannot be read. Nothing is
    /// admitted then.
    pub async fn admit_model_call(&self, ticket: &str) -> AskResult<Option<AdmittedModelCall>> {
        let Ok(ticket) = CallTicket::shown(ticket) else { return Ok(None) };
        let node = self.shared.store.node().filter(|node| node.has_task(CLI_TASK));
        let (Some(node), Some(model)) = (node, self.shared.models.cli()) else { return Ok(None) };
        let caller = node.take_ticket(&ticket.hash()).await?;
        let (agents, model) = (self.clone(), Arc::clone(model));
        Ok(caller.map(|node| AdmittedModelCall { node, agents, model }))
    }

    /// Ends what is kept for a run of another server, because the run is over.
    pub fn end_served_run(&self, session: &SessionId, run: &RunId) {
        let run = RunRecord::key(session, run);
        if self.shared.served_runs.end(run.as_str()) {
            self.shared.models.over(run.as_str());
        }
    }

    /// Ends what is kept for runs of other servers that are over, after their servers may have said
    /// so in vain.
    pub async fn end_served_runs(&self) {
        for run in self.shared.served_runs.names() {
            match self.shared.store.run(&RunId::from(run.as_str())).await {
                Ok(Some(record)) if is_unfinished(&record) => {}
                Ok(_) if self.shared.served_runs.end(&run) => self.shared.models.over(&run),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "cannot look up a run of another server"),
            }
        }
    }

    /// Ends what is kept for runs of servers that are gone, once nobody has gone on with them for a
    /// while; for ever.
    pub async fn end_lost_runs(&self) {
        let Some(node) = self.shared.store.node() else { return std::future::pending().await };
        loop {
            sleep(SWEEP).await;
            for run in self.shared.served_runs.take_lost(|number| node.sees(number)) {
                tracing::info!(run, "ended the Claude CLI of a run whose server is gone");
                self.shared.models.over(&run);
            }
        }
    }
}

impl AdmittedModelCall {
    /// Returns the number of the server that calls.
    pub fn node(&self) -> i64 {
        self.node
    }

    /// Asks the model. Dropping the stream ends the work.
    pub fn answer(self, request: ModelRequest) -> AnswerStream {
        let (run, cancel) = (request.run.clone(), CancellationToken::new());
        self.agents.shared.served_runs.begin(&run, self.node, cancel.clone());
        let stream = Some(self.model.stream(request, cancel));
        ServedAnswer { agents: self.agents, run, stream }.boxed()
    }
}

/// Answer for a run of another server, which counts as in progress until it is dropped.
struct ServedAnswer {
    agents: AgentService,
    run: String,
    /// `None` while the value is dropped.
    stream: Option<AnswerStream>,
}

impl Stream for ServedAnswer {
    type Item = ModelResult<AnswerDelta>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.get_mut().stream {
            Some(stream) => stream.poll_next_unpin(context),
            None => Poll::Ready(None),
        }
    }
}

impl Drop for ServedAnswer {
    fn drop(&mut self) {
        // First: what the model keeps for the run is kept by then.
        self.stream = None;
        if self.agents.shared.served_runs.finish(&self.run) {
            self.agents.shared.models.over(&self.run);
        }
    }
}

/// Runs of other servers for which a model here was asked, by their full names.
#[derive(Debug, Default)]
pub(crate) struct ServedRuns(Mutex<HashMap<String, ServedRun>>);

#[derive(Debug)]
struct ServedRun {
    /// Number of the server that called last.
    node: i64,
    /// Number of answers in progress.
    answers: usize,
    /// `true` if the run ended while an answer was in progress.
    has_ended: bool,
    /// Time since which that server is gone.
    lost_since: Option<Instant>,
    /// Stops the last answer.
    cancel: CancellationToken,
}

impl ServedRuns {
    fn runs(&self) -> MutexGuard<'_, HashMap<String, ServedRun>> {
        // The map is consistent between any two statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn names(&self) -> Vec<String> {
        self.runs().keys().cloned().collect()
    }

    /// Records that an answer for a run of this server begins.
    fn begin(&self, run: &str, node: i64, cancel: CancellationToken) {
        let mut runs = self.runs();
        let answers = runs.get(run).map_or(0, |known| known.answers) + 1;
        let begun = ServedRun { node, answers, has_ended: false, lost_since: None, cancel };
        runs.insert(run.to_owned(), begun);
    }

    /// Records the end of an answer; returns `true` if the run has ended meanwhile.
    fn finish(&self, run: &str) -> bool {
        let mut runs = self.runs();
        let Some(known) = runs.get_mut(run) else { return false };
        known.answers = known.answers.saturating_sub(1);
        let is_over = known.answers == 0 && known.has_ended;
        if is_over {
            runs.remove(run);
        }
        is_over
    }

    /// Records the end of a run; returns `true` if the model is to be told now. While an answer is
    /// in progress it is told afterwards, because it may still keep something for the run.
    fn end(&self, run: &str) -> bool {
        let mut runs = self.runs();
        let Some(known) = runs.get_mut(run) else { return false };
        known.has_ended = true;
        let is_over = known.answers == 0;
        if is_over {
            runs.remove(run);
        }
        is_over
    }

    /// Removes and returns the runs of servers that have been gone for long, and stops their
    /// answers.
    fn take_lost(&self, is_there: impl Fn(i64) -> bool) -> Vec<String> {
        let mut runs = self.runs();
        for known in runs.values_mut() {
            let since = known.lost_since.unwrap_or_else(Instant::now);
            known.lost_since = (!is_there(known.node)).then_some(since);
        }
        let is_lost = |known: &mut ServedRun| {
            known.lost_since.is_some_and(|since| since.elapsed() >= LOST_RUN_PATIENCE)
        };
        let lost = runs.extract_if(|_, known| is_lost(known));
        let stop = |(run, known): (String, ServedRun)| {
            known.cancel.cancel();
            run
        };
        lost.map(stop).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(runs: &ServedRuns, run: &str, node: i64) -> CancellationToken {
        let cancel = CancellationToken::new();
        runs.begin(run, node, cancel.clone());
        cancel
    }

    #[test]
    fn the_end_of_a_run_is_told_once_and_after_its_answers() {
        let runs = ServedRuns::default();
        assert!(!runs.end("s/r"), "nobody has asked for it");
        begin(&runs, "s/r", 1);
        assert!(!runs.finish("s/r"), "it goes on");
        assert!(runs.end("s/r") && !runs.end("s/r"));
        begin(&runs, "s/r", 1);
        begin(&runs, "s/r", 2);
        assert!(!runs.end("s/r") && !runs.finish("s/r"));
        assert!(runs.finish("s/r") && !runs.finish("s/r"));
        assert!(runs.names().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_of_a_lost_server_is_kept_for_a_while_and_longer_if_another_goes_on() {
        let runs = ServedRuns::default();
        let (first, second) = (begin(&runs, "s/1", 7), begin(&runs, "s/2", 7));
        assert!(!runs.finish("s/1"));
        assert!(runs.take_lost(|_| false).is_empty());
        tokio::time::advance(LOST_RUN_PATIENCE / 2).await;
        begin(&runs, "s/2", 8);
        tokio::time::advance(LOST_RUN_PATIENCE / 2).await;
        assert_eq!(runs.take_lost(|node| node == 8), ["s/1"]);
        assert!(first.is_cancelled() && !second.is_cancelled());
        tokio::time::advance(LOST_RUN_PATIENCE).await;
        assert!(runs.take_lost(|node| node == 8).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_seen_again_was_not_lost() {
        let runs = ServedRuns::default();
        begin(&runs, "s/r", 7);
        assert!(runs.take_lost(|_| false).is_empty());
        tokio::time::advance(LOST_RUN_PATIENCE).await;
        assert!(runs.take_lost(|_| true).is_empty());
        assert!(runs.take_lost(|_| false).is_empty());
        assert_eq!(runs.names(), ["s/r"]);
    }
}
