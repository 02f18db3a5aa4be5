//! Probes of the services that the options name: PostgreSQL, Redis and models.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::findings::{self, DoctorFinding};
use crate::commands::{chat_completions, messages_api};
use crate::config::{ModelChoice, ServerConfig};
use copydesk_llm::scripted::ScriptedModel;
use copydesk_llm::{Model, ModelError};
use copydesk_store::PostgresServer;

/// Longest wait for a provider's list of models.
const MODELS_TIMEOUT: Duration = Duration::from_secs(10);
/// HTTP statuses with which a key is refused.
const REFUSED: [u16; 2] = [401, 403];

/// Asks the server of the PostgreSQL database, if there is one, and compares its clock.
pub(super) async fn database(config: &ServerConfig) -> Vec<DoctorFinding> {
    let Some(url) = &config.database else { return Vec::new() };
    let asked = PostgresServer::ask(url).await;
    let name = url.to_string();
    let found = asked.as_ref().map_err(ToString::to_string);
    let clock = found.as_ref().ok().map(|server| {
        let offset_ms = Timestamp::now().as_millisecond() - server.now_ms;
        findings::clock("PostgreSQL", offset_ms)
    });
    [findings::database(&name, found)].into_iter().chain(clock).collect()
}

pub(super) async fn redis(config: &ServerConfig) -> Option<DoctorFinding> {
    let url = config.redis.as_ref()?;
    let asked = url.ping().await.map_err(|error| error.to_string());
    Some(findings::redis(&url.to_string(), asked))
}

/// Asks each configured model for the list of its provider, which costs nothing.
pub(super) async fn models(config: &ServerConfig) -> Vec<DoctorFinding> {
    let mut found = Vec::new();
    for choice in &config.models {
        let (name, asked) = match choice {
            ModelChoice::Harper => ("harper".to_owned(), harper()),
            ModelChoice::Anthropic(name) => (
                "anthropic".to_owned(),
                listed(messages_api(&config.anthropic, name.as_deref())).await,
            ),
            ModelChoice::OpenAi(name) => (
                "openai".to_owned(),
                listed(chat_completions(&config.openai, name.as_deref())).await,
            ),
            ModelChoice::Claude(_) => match &config.claude {
                Some(cli) => (format!("claude-cli ({})", cli.program.display()), Ok(None)),
                None => ("claude-cli".to_owned(), Err("it is not installed".to_owned())),
            },
            ModelChoice::Script(path) => {
                let loaded = ScriptedModel::load(path);
                let loaded = loaded.map(|_| None).map_err(|error| error.to_string());
                (format!("script:{}", path.display()), loaded)
            }
        };
        found.push(findings::model(&name, &asked));
    }
    found
}

fn harper() -> Result<Option<usize>, String> {
    let missing = "this build has no grammar checker (feature `grammar`)";
    if cfg!(feature = "grammar") { Ok(None) } else { Err(missing.to_owned()) }
}

/// Counts the models that a provider lists.
async fn listed(model: anyhow::Result<Arc<dyn Model>>) -> Result<Option<usize>, String> {
    let model = model.map_err(|error| super::super::error_text(&error))?;
    match tokio::time::timeout(MODELS_TIMEOUT, model.list()).await {
        Ok(Ok(names)) => Ok(Some(names.len())),
        Ok(Err(error)) => Err(in_own_words(&error)),
        Err(_) => Err(format!("no answer within {} s", MODELS_TIMEOUT.as_secs())),
    }
}

/// Describes the failure of a model, without words that may repeat a part of the key.
fn in_own_words(error: &ModelError) -> String {
    match error {
        ModelError::Api { status: Some(status), .. } if REFUSED.contains(status) => {
            format!("its key is refused ({status})")
        }
        ModelError::Api { status: Some(status), .. } => format!("it answers with status {status}"),
        ModelError::Api { status: None, .. } => "it answers with an error".to_owned(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_key_is_printed() {
        let refused = |status| ModelError::Api {
            status,
            kind: "invalid_request_error".to_owned(),
            message: "Incorrect API key provided: sk-s3cret".to_owned(),
            retry_after: None,
            retryable: false,
            details: None,
        };
        assert_eq!(in_own_words(&refused(Some(401))), "its key is refused (401)");
        assert_eq!(in_own_words(&refused(Some(500))), "it answers with status 500");
        assert!(!in_own_words(&refused(None)).contains("s3cret"));
        let away = ModelError::Network { message: "connection refused".to_owned() };
        assert_eq!(in_own_words(&away), "cannot reach the model: connection refused");
    }
}
