//! `OpenAI`'s chat completions, or any server that speaks them: Ollama, vLLM, llama.cpp and many
//! more.
//!
//! No two of these servers are alike. A request starts with the fields that they all accept; a
//! field that a server refuses by name is left out from then on ([`ServerDialect`]). Answers are
//! read as tolerantly as is safe ([`stream`]).

mod calls;
mod errors;
mod reasoning_filter;
mod request;
mod stream;
mod text_parts;

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use reqwest::Client;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::delta_stream::{self, DeltaSink};
use super::retry::{self, RetryPolicy};
use super::{
    AnswerStream, AssistantMessage, Model, ModelError, ModelRequest, ModelResult, malformed,
    transport,
};
use crate::messages_api::ProviderError;

use request::{CompletionBody, OutputLimitField, ServerDialect};
use stream::UnopenedThoughts;

/// Address of the API when the settings name no other.
pub const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Model to use at `OpenAI` itself when neither the settings nor the request names one: the newest
/// known to accept function tools on chat completions as they are sent. Later ones require
/// `reasoning_effort: "none"` or accept no tools at all ([`ServerDialect`]).
pub const DEFAULT_MODEL: &str = "gpt-5.4";

/// Settings for reaching the server.
pub struct OpenAiSettings {
    /// Address with its version, as in `OPENAI_BASE_URL`; `/v1` is added to a bare host.
    pub base_url: String,
    /// Key that is sent as a bearer token; never logged. Local servers need none.
    pub api_key: Option<String>,
    /// Name of the model; `None`: the server's first, or [`DEFAULT_MODEL`] at `OpenAI`.
    pub model: Option<String>,
    /// [`RetryPolicy`] for requests that fail.
    pub patience: RetryPolicy,
}

/// [`Model`] behind chat completions.
pub struct OpenAiModel {
    name: String,
    api: Arc<OpenAiApi>,
}

struct OpenAiApi {
    client: Client,
    base: String,
    model: OnceCell<String>,
    /// [`ServerDialect`] in which every model is asked at first.
    dialect: ServerDialect,
    /// [`ServerDialect`]s of single models, by name; only of models that need another one.
    learned: Mutex<HashMap<String, ServerDialect>>,
    patience: RetryPolicy,
}

impl OpenAiModel {
    /// Prepares the client; nothing is sent yet.
    pub fn new(settings: OpenAiSettings) -> ModelResult<Self> {
        let OpenAiSettings { base_url, api_key, model, patience } = settings;
        let base = base(&base_url);
        let client = transport::client(api_key.as_deref(), &base)?;
        let original = host(&base).ends_with("openai.com");
        let model = model.or_else(|| original.then(|| DEFAULT_MODEL.to_owned()));
        let name = model.as_ref().map_or_else(|| "openai".into(), |name| format!("openai:{name}"));
        // OpenAI's reasoning models refuse the old field; local servers do not know the new.
        let limit = if original {
            OutputLimitField::MaxCompletionTokens
        } else {
            OutputLimitField::MaxTokens
        };
        let dialect = ServerDialect { limit, ..ServerDialect::default() };
        let model = OnceCell::new_with(model);
        let learned = Mutex::default();
        let api = OpenAiApi { client, base, model, dialect, learned, patience };
        Ok(Self { name, api: Arc::new(api) })
    }
}

/// Adds [`AssistantMessage::notice`] if the provider read only a part of the request.
fn checked(answer: AssistantMessage, body: &CompletionBody<'_>) -> AssistantMessage {
    let read = answer.usage.sent();
    let least = body.texts().map(text_parts::least_tokens).sum();
    let notice = text_parts::notice(read, least);
    if notice.is_some() {
        tracing::warn!(
            model = answer.model,
            read,
            least,
            "the provider read only a part of the request"
        );
    }
    AssistantMessage { notice, ..answer }
}

/// Returns the address that `/chat/completions` is appended to.
fn base(url: &str) -> String {
    let url = url.trim().trim_end_matches('/');
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    if rest.contains('/') { url.to_owned() } else { format!("{url}/v1") }
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', ':']).next().unwrap_or(rest)
}

impl Model for OpenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_local(&self) -> bool {
        transport::is_loopback(&self.api.base)
    }

    fn stream(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        let api = Arc::clone(&self.api);
        delta_stream::answer(cancel, |sink| async move {
            let patience = api.patience.within(request.tries);
            retry::persist(patience, &sink, || api.ask(&request, &sink)).await
        })
    }

    fn list(&self) -> BoxFuture<'static, ModelResult<Vec<String>>> {
        let api = Arc::clone(&self.api);
        async move { api.list().await }.boxed()
    }
}

impl OpenAiApi {
    /// Asks once, and again at once as long as the server names something that it does not take.
    async fn ask(&self, request: &ModelRequest, sink: &DeltaSink) -> ModelResult<AssistantMessage> {
        let model = if request.model.is_empty() { self.model().await? } else { &request.model };
        loop {
            let spoken = self.dialect_of(model);
            let body = request::body(request, model, spoken);
            let learn = |is_thinking| self.learn(model, ServerDialect { is_thinking, ..spoken });
            let thoughts = UnopenedThoughts { begun: spoken.is_thinking, learn: &learn };
            let end = self.try_once(&body, model, thoughts, sink).await;
            let Err(ModelError::Api { status: Some(400 | 422), message, .. }) = &end else {
                return end;
            };
            if body.has_tools() && spoken.is_without_tools(message) {
                return Err(errors::no_tools(model));
            }
            let Some(simpler) = spoken.without_refused_field(message) else { return end };
            tracing::info!(
                message,
                "retrying without parameters that the provider does not accept"
            );
            self.learn(model, simpler);
        }
    }

    async fn try_once(
        &self,
        body: &CompletionBody<'_>,
        model: &str,
        thoughts: UnopenedThoughts<'_>,
        sink: &DeltaSink,
    ) -> ModelResult<AssistantMessage> {
        let url = format!("{}/chat/completions", self.base);
        let request = self.client.post(url).json(body);
        let opened = transport::ask(request, errors::read, model, sink).await?;
        let request_id = opened.request_id.clone();
        let answer = match opened.content_type().as_str() {
            "text/event-stream" => stream::read(opened.bytes(), model, thoughts, sink).await,
            // Some gateways answer in one piece even if a stream was requested.
            "application/json" => {
                stream::read_whole(opened.json().await?, model, thoughts, sink).await
            }
            kind => Err(malformed(format!("{kind} instead of a stream of events"))),
        };
        delta_stream::log(&request_id, model, &answer);
        answer.map(|answer| checked(answer, body))
    }

    /// Returns the model for requests that name none: the configured, or the server's first.
    async fn model(&self) -> ModelResult<&str> {
        let first = || async {
            let names = self.list().await?;
            let message = "the provider lists no models".into();
            let error = ProviderError { kind: "not_found".into(), message, details: None };
            names.into_iter().next().ok_or_else(|| ModelError::api(None, error, false))
        };
        self.model.get_or_try_init(first).await.map(String::as_str)
    }

    /// Lists the models for conversations, in the server's order.
    async fn list(&self) -> ModelResult<Vec<String>> {
        let request = self.client.get(format!("{}/models", self.base));
        let list = transport::send(request, errors::read).await?.json().await?;
        // `data` is the standard; some local servers have `models` besides or instead.
        let entries = ["data", "models"].iter().find_map(|key| list[key].as_array());
        let names = entries
            .into_iter()
            .flatten()
            .filter_map(|entry| ["id", "name", "model"].iter().find_map(|key| entry[key].as_str()));
        Ok(names.filter(|name| talks(name)).map(str::to_owned).collect())
    }

    /// Returns the [`ServerDialect`] of a model: models behind one server accept different fields.
    fn dialect_of(&self, model: &str) -> ServerDialect {
        self.learned.lock().get(model).copied().unwrap_or(self.dialect)
    }

    fn learn(&self, model: &str, dialect: ServerDialect) {
        if self.dialect_of(model) != dialect {
            self.learned.lock().insert(model.to_owned(), dialect);
        }
    }
}

/// Returns `true` for a model for conversations: lists have others too.
fn talks(name: &str) -> bool {
    const OTHERS: &str = "audio babbage dall-e davinci embed image moderation realtime sora \
        transcribe tts whisper";
    let name = name.to_ascii_lowercase();
    !OTHERS.split_whitespace().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests;
