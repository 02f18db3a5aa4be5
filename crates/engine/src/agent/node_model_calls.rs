//! Calls of the Claude CLI for runs of other servers. The run, its room and its requests stay where
//! they are: only the model is asked here.
//!
//! A CLI waits for the results of its tools between two calls of a run. It is ended when the run
//! is over, or when the server of the run is gone and nobody has gone on with it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::ids::{RunId, SessionId};
use crate::llm::{AnswerDelta, AnswerStream, Model, ModelRequest, ModelResult};
use crate::store::RunRecord;

use super::node_runs::is_unfinished;
use super::{AgentService, AskResult};

pub use crate::auth::CallTicket;

/// Name of the task of the server that is asked for the Claude CLI by those without it.
pub const CLI_TASK: &str = "claude-cli";
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
