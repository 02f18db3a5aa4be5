//! The Claude CLI of several servers: one of those that have it answers for it, and the others ask
//! that one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::agent::{CLI_TASK, CallTicket};
use crate::client::TrustedAuthorities;
use crate::client::forward::RequestForwarder;
use crate::config::{ModelChoice, ServerConfig};
use crate::llm::http_client::with_causes;
use crate::llm::messages_api::ProviderError;
use crate::llm::remote::{AnswerBytes, OpenAnswer, RemoteModel};
use crate::llm::{ModelError, ModelResult};
use crate::rest::model_calls::{PATH, TICKET};
use crate::store::{ClusterNode, NodeNews, StoreResult};

use super::Server;

/// Name of the Claude CLI as a model.
const NAME: &str = "claude-cli";
/// Time for which a call looks for the server that has the CLI: about as long as the servers take
/// to find out that one of them is gone.
const PATIENCE: Duration = Duration::from_secs(15);
/// Longest wait for the beginning of an answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(20);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(500);
/// Interval at which a server without the CLI looks who has it, besides being told.
const LOOK: Duration = Duration::from_secs(10);
/// Largest length of a refusal that is read, in bytes.
const REFUSAL_BYTES: usize = 4 * 1024;

/// The CLI of the other servers, for one that has none.
pub(super) struct RemoteCli {
    /// The model.
    pub(super) model: Arc<RemoteModel>,
    node: Arc<ClusterNode>,
    /// Held while it is looked up who has the CLI, so that the last answer counts.
    looking: Mutex<()>,
}

impl RemoteCli {
    /// Returns the CLI of the other servers, unless this one has its own or is the only one, and
    /// looks whether one of them has it.
    ///
    /// # Errors
    /// There can be no connections, or the database cannot be asked.
    pub(super) async fn find(
        config: &ServerConfig,
        node: Option<&Arc<ClusterNode>>,
        authorities: &TrustedAuthorities,
    ) -> Result<Option<Self>> {
        let Some(node) = node.filter(|_| config.claude.is_none()) else { return Ok(None) };
        let named = config.models.iter().find_map(|choice| match choice {
            ModelChoice::Claude(Some(name)) => Some(format!("{NAME}:{name}")),
            _ => None,
        });
        let asking = AskingCli {
            node: Arc::clone(node),
            forwarder: RequestForwarder::trusting(authorities)?,
        };
        let open: OpenAnswer = Arc::new(move |request| {
            let asking = asking.clone();
            async move { asking.open(request).await }.boxed()
        });
        let model = Arc::new(RemoteModel::new(named.unwrap_or_else(|| NAME.to_owned()), open));
        let found = Self { model, node: Arc::clone(node), looking: Mutex::default() };
        found.look().await?;
        Ok(Some(found))
    }

    /// Looks whether some server has the CLI; returns `true` if that has changed.
    ///
    /// # Errors
    /// The database cannot be asked; what was known stays.
    async fn look(&self) -> StoreResult<bool> {
        let _turn = self.looking.lock().await;
        let holder = self.node.task_elsewhere(CLI_TASK).await?;
        Ok(self.model.set_available(holder.is_some()))
    }
}

/// What is needed to ask another server.
#[derive(Clone)]
struct AskingCli {
    node: Arc<ClusterNode>,
    forwarder: RequestForwarder,
}

/// Attempt that failed.
enum FailedAttempt {
    /// Nothing was answered: another attempt may succeed, at another server too.
    Again(ModelError),
    /// The server has refused the request.
    Refused(ModelError),
}

impl AskingCli {
    /// Sends a request to the server that has the CLI. Nothing is executed before an answer is
    /// complete, so it is sent again to whichever server has the CLI then.
    async fn open(&self, request: Bytes) -> ModelResult<AnswerBytes> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.attempt(request.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(FailedAttempt::Refused(error)) => return Err(error),
                Err(FailedAttempt::Again(error)) if Instant::now() >= until => return Err(error),
                Err(FailedAttempt::Again(error)) => {
                    tracing::debug!(%error, "cannot ask the Claude CLI of another server yet");
                }
            }
            sleep(PAUSE).await;
        }
    }

    async fn attempt(&self, request: Bytes) -> Result<AnswerBytes, FailedAttempt> {
        let again = |error: &dyn std::fmt::Display| {
            FailedAttempt::Again(ModelError::Network { message: error.to_string() })
        };
        let holder = self.node.task_elsewhere(CLI_TASK).await.map_err(|error| again(&error))?;
        let holder = holder.ok_or_else(|| FailedAttempt::Again(no_server()))?;
        let ticket = CallTicket::generate().map_err(|error| again(&error))?;
        let stored = self.node.store_ticket(holder.number, ticket.hash()).await;
        stored.map_err(|error| again(&error))?;
        let mut headers = HeaderMap::new();
        let mut secret = HeaderValue::try_from(ticket.expose()).map_err(|error| again(&error))?;
        secret.set_sensitive(true);
        headers.insert(TICKET, secret);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = Body::from(request).into_data_stream();
        let sending = self.forwarder.send(&holder.url, (Method::POST, PATH), &headers, body);
        let answer = match timeout(ANSWER_PATIENCE, sending).await {
            Ok(answer) => answer.map_err(|error| again(&with_causes(&error)))?,
            Err(_) => return Err(again(&"the server that has the Claude CLI does not answer")),
        };
        let status = answer.status();
        let mut body = Body::from_stream(answer.bytes_stream()).into_data_stream();
        if status.is_success() {
            return Ok(body.map(|piece| piece.map_err(io::Error::other)).boxed());
        }
        let mut words = Vec::new();
        while let Some(Ok(piece)) = body.next().await {
            words.extend_from_slice(&piece);
            if words.len() > REFUSAL_BYTES {
                break;
            }
        }
        let message = format!(
            "the server that has the Claude CLI answered {status}: {}",
            String::from_utf8_lossy(&words)
        );
        tracing::warn!(node = holder.number, message, "cannot ask the Claude CLI");
        // It is too long, or cannot be read there; a new ticket would not help.
        if matches!(status.as_u16(), 413 | 415 | 422) {
            let refusal = ProviderError { kind: "refused".to_owned(), message, details: None };
            let error = ModelError::api(Some(status.as_u16()), refusal, false);
            return Err(FailedAttempt::Refused(error));
        }
        Err(again(&message))
    }
}

/// Returns the error of a model that no server has.
fn no_server() -> ModelError {
    let message = "No server that has the Claude CLI is running at the moment".to_owned();
    ModelError::Program { code: "claude_not_found".into(), message }
}

impl Server {
    /// Answers for the CLI of this server, if it has one and no other one answers; for ever.
    pub(super) async fn answer_for_cli(&self, node: &ClusterNode) {
        if self.remote_cli.is_none() {
            node.await_task(CLI_TASK).await;
            tracing::info!("this server answers for the Claude CLI now");
            node.tell(&NodeNews::Models).await;
        }
        self.agents.end_lost_runs().await;
    }

    /// Looks who has the CLI when servers have gone, and regularly; for ever.
    pub(super) async fn watch_cli(&self, node: &ClusterNode, config: &ServerConfig) {
        let mut departures = node.departures();
        loop {
            self.look_for_cli(config).await;
            timeout(LOOK, departures.changed()).await.ok();
        }
    }

    /// Looks who has the CLI. If other models can be asked than before, everybody is told.
    pub(super) async fn look_for_cli(&self, config: &ServerConfig) {
        let Some(remote) = &self.remote_cli else { return };
        match remote.look().await {
            Ok(true) => {
                self.sockets.announce_models(&self.agents);
                // The mode that an owner has chosen may need the CLI.
                self.follow_settings(config).await;
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "cannot look who has the Claude CLI"),
        }
    }
}
