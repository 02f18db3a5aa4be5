//! Client that decides proposals, which it makes as a coding agent does over MCP, without a model.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use copydesk_client::mcp::{StdioBridge, tool_call};
use copydesk_client::socketio::{SocketIoClient, accepted};
use copydesk_client::{ClientResult, ServerClient};

use super::activity::{ActivityEvent, LoadedDocument, WorkingTime};
use super::delivery_log::VersionCause;
use super::test_text::sentence_of_reviewer;
use crate::{LoadTestError, LoadTestResult};

/// Client that has its sentence changed again and again, and accepts each change.
pub(super) struct LoadReviewer {
    document: Arc<LoadedDocument>,
    pub number: u32,
    interval: Duration,
    version: u64,
    /// Connection over which changes are proposed.
    bridge: Arc<StdioBridge>,
    /// Answers to the proposals, as lines.
    answers: mpsc::UnboundedReceiver<String>,
    time: Option<WorkingTime>,
    state: ReviewState,
    /// Number of accepted proposals.
    pub accepted: usize,
}

/// Progress of a reviewer with its proposal.
enum ReviewState {
    /// Has nothing to decide; the time of the next proposal.
    Resting(Option<Instant>),
    /// Has asked for a change and waits for the request.
    Proposed,
    Decided {
        request: String,
        number: u64,
        at: Instant,
    },
}

#[derive(Deserialize)]
struct ArrivedRequest {
    request_id: String,
    tool_input: Value,
}

impl LoadReviewer {
    /// Returns the reviewer with this number in the document.
    pub fn new(
        document: Arc<LoadedDocument>,
        number: u32,
        interval: Duration,
        (server, opened): (ServerClient, &Value),
    ) -> ClientResult<Self> {
        let (out, answers) = mpsc::unbounded_channel();
        Ok(Self {
            document,
            number,
            interval,
            version: opened["document"]["version"].as_u64().unwrap_or_default(),
            bridge: StdioBridge::new(server, None, out)?,
            answers,
            time: None,
            state: ReviewState::Resting(None),
            accepted: 0,
        })
    }

    pub async fn on(
        &mut self,
        client: &mut SocketIoClient,
        event: ActivityEvent<'_>,
    ) -> LoadTestResult<()> {
        match event {
            ActivityEvent::Begin(time) => {
                self.time = Some(time.clone());
                self.rest_until(time.first_action(self.number, self.interval));
            }
            ActivityEvent::Due => self.propose().await,
            ActivityEvent::Request(request) => self.decide(client, request).await?,
            ActivityEvent::Update { from, update } => {
                self.version = from + 1;
                if let ReviewState::Decided { request, at, .. } = &self.state
                    && update.origin.as_deref() == Some(request)
                {
                    self.document.log.caused(from, VersionCause::Decision(*at));
                }
            }
            ActivityEvent::Answer { number, answer, at } => self.answered(number, answer, at)?,
        }
        Ok(())
    }

    pub fn next_action(&self) -> Option<Instant> {
        let ReviewState::Resting(next) = self.state else { return None };
        next
    }

    /// Returns `true` if its time is over and nothing waits for a decision.
    pub fn is_done(&self) -> bool {
        self.time.is_some() && matches!(self.state, ReviewState::Resting(None))
    }

    /// Waits for a proposal that was refused.
    pub async fn failure(&mut self) -> LoadTestError {
        while let Some(line) = self.answers.recv().await {
            let answer: Value = serde_json::from_str(&line).unwrap_or_default();
            let error = answer["error"]["message"].as_str();
            let denial = answer["result"]["content"][0]["text"].as_str();
            let denial = denial.filter(|_| answer["result"]["isError"] == true);
            if let Some(why) = error.or(denial) {
                return LoadTestError::Proposal(why.to_owned());
            }
        }
        std::future::pending().await
    }

    async fn propose(&mut self) {
        if self.time.as_ref().is_none_or(|time| Instant::now() >= time.measured.end) {
            self.state = ReviewState::Resting(None);
            return;
        }
        let arguments = json!({
            "document_id": self.document.id,
            "base_version": self.version,
            "find": self.sentence(self.accepted).trim_start(),
            "replace": self.sentence(self.accepted + 1).trim_start(),
            "explanation": "Load test.",
        });
        let call = tool_call(self.accepted as u64 + 1, "bench", "find_and_replace", &arguments);
        self.state = ReviewState::Proposed;
        self.bridge.carry(&call.to_string()).await;
    }

    /// Accepts a request, if it is about the own sentence.
    async fn decide(&mut self, client: &mut SocketIoClient, request: &str) -> LoadTestResult<()> {
        let request: ArrivedRequest =
            serde_json::from_str(request).map_err(|_| LoadTestError::Strange)?;
        let own = self.sentence(self.accepted);
        if !matches!(self.state, ReviewState::Proposed)
            || request.tool_input["find"].as_str() != Some(own.trim_start())
        {
            return Ok(());
        }
        let (at, request) = (Instant::now(), request.request_id);
        let decision = json!({"request_id": request, "approved": true});
        let number = client.send("tool_approval_response", &decision).await?;
        self.state = ReviewState::Decided { request, number, at };
        Ok(())
    }

    fn answered(&mut self, number: u64, answer: Value, at: Instant) -> LoadTestResult<()> {
        if matches!(self.state, ReviewState::Decided { number: it, .. } if it == number) {
            let status = accepted(answer)?["status"].take();
            if status != "approved" {
                return Err(LoadTestError::Undecided(status.to_string()));
            }
            self.accepted += 1;
            self.rest_until(at + self.interval);
        }
        Ok(())
    }

    fn rest_until(&mut self, next: Instant) {
        let end = self.time.as_ref().map(|time| time.measured.end);
        self.state = ReviewState::Resting(end.map(|end| end.min(next)));
    }

    fn sentence(&self, decisions: usize) -> String {
        sentence_of_reviewer(self.number, decisions)
    }
}
