//! Anthropic's Messages API, or any server that speaks it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use futures_util::stream::BoxStream;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, USER_AGENT};
use reqwest::redirect;
use reqwest::{Client, Response};
use tokio_util::sync::CancellationToken;

use super::answer::{self, Outlet};
use super::retry::{self, Patience};
use super::{AssistantMessage, DEFAULT_MAX_TOKENS, Delta, Model, ModelError, Request, sse};
use crate::wire::messages::{
    ApiError, CacheControl, ContentBlock, ErrorBody, Message, MessagesRequest,
};

/// The model asked for when nobody names one.
pub const DEFAULT_MODEL: &str = "claude-sonnet-5-5";

/// Where the API is when nobody says otherwise.
pub const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";

/// Under this version sampling parameters do not exist.
const API_VERSION: &str = "2026-10-21";

/// A connection that says nothing for this long, not even `ping`, is dead.
const SILENCE_LIMIT: Duration = Duration::from_mins(5);

/// More than any error body of the API.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How to reach the provider.
pub struct Settings {
    /// With or without a trailing `/v1`.
    pub base_url: String,
    /// Sent as a bearer token; never logged.
    pub api_key: String,
    /// Any string the provider knows.
    pub model: String,
    /// Retries and pauses.
    pub patience: Patience,
}

/// A model behind the Messages API.
pub struct Anthropic {
    name: String,
    api: Arc<Api>,
}

struct Api {
    client: Client,
    url: String,
    model: String,
    patience: Patience,
}

impl Anthropic {
    /// Prepares the client; nothing is sent yet. Fails when the key cannot be a header.
    pub fn new(settings: Settings) -> Result<Self, ModelError> {
        let Settings { base_url, api_key, model, patience } = settings;
        let mut key = HeaderValue::try_from(format!("Bearer {api_key}"))
            .map_err(|_| internal("the API key has characters that no key has"))?;
        key.set_sensitive(true);
        let headers = HeaderMap::from_iter([
            (AUTHORIZATION, key),
            (USER_AGENT, HeaderValue::from_static(concat!("copydesk/", env!("CARGO_PKG_VERSION")))),
        ]);
        // A redirect would carry the document to another host.
        let client = Client::builder()
            .default_headers(headers)
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_LIMIT)
            .read_timeout(SILENCE_LIMIT)
            .build()
            .map_err(|error| internal(&error.to_string()))?;
        let base = base_url.trim_end_matches('/').trim_end_matches("/v1");
        let (name, url) = (format!("anthropic:{model}"), format!("{base}/v1/messages"));
        Ok(Self { name, api: Arc::new(Api { client, url, model, patience }) })
    }
}

impl Model for Anthropic {
    fn name(&self) -> &str {
        &self.name
    }

    fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<Delta, ModelError>> {
        let api = Arc::clone(&self.api);
        answer::answer(cancel, |outlet| async move {
            let body = api.body(request);
            retry::persist(api.patience, &outlet, || api.try_once(&body, &outlet)).await
        })
    }
}

impl Api {
    /// The request as it is sent. The prompt cache works on byte-equal prefixes (tools, system,
    /// messages), so nothing that changes from call to call may stand before the conversation.
    fn body(&self, request: Request) -> MessagesRequest {
        let Request { model, system, messages, tools, max_tokens, .. } = request;
        let system_block =
            ContentBlock::Text { text: system, cache_control: Some(CacheControl::one_hour()) };
        MessagesRequest {
            model: if model.is_empty() { self.model.clone() } else { model },
            max_tokens: if max_tokens == 0 { DEFAULT_MAX_TOKENS } else { max_tokens },
            system: Some(system_block)
                .filter(|block| block.as_text() != Some(""))
                .into_iter()
                .collect(),
            messages: messages.into_iter().filter_map(sendable).collect(),
            tools,
            tool_choice: None,
            // People take minutes to decide, and the conversation waits for them.
            cache_control: Some(CacheControl::one_hour()),
            stream: true,
        }
    }

    async fn try_once(
        &self,
        body: &MessagesRequest,
        outlet: &Outlet,
    ) -> Result<AssistantMessage, ModelError> {
        let request =
            self.client.post(&self.url).header("anthropic-version", API_VERSION).json(body);
        let response = request.send().await.map_err(network)?;
        let request_id = header(response.headers(), "request-id").unwrap_or("none").to_owned();
        if !response.status().is_success() {
            let error = refusal(response).await;
            tracing::warn!(request_id, model = body.model, %error, "the model's provider refused");
            return Err(error);
        }
        let kind = header(response.headers(), "content-type").unwrap_or("nothing");
        if !kind.starts_with("text/event-stream") {
            let message = format!("{kind} instead of a stream of events");
            return Err(ModelError::Malformed { message });
        }
        let answer = sse::read(response.bytes_stream().map_err(network), outlet).await;
        match &answer {
            Ok(AssistantMessage { usage, stop_reason, .. }) => tracing::info!(
                request_id,
                model = body.model,
                stop_reason = stop_reason.as_str(),
                input_tokens = usage.input_tokens,
                cache_read_input_tokens = usage.cache_read_input_tokens,
                output_tokens = usage.output_tokens,
                "the model answered"
            ),
            Err(error) => {
                tracing::warn!(request_id, model = body.model, %error, "the model's answer broke");
            }
        }
        answer
    }
}

/// A message as the provider accepts it: empty ones and empty texts are refused, so they stay behind.
fn sendable(mut message: Message) -> Option<Message> {
    message.content.retain(|block| block.as_text() != Some(""));
    (!message.content.is_empty()).then_some(message)
}

/// What an answer without success says.
async fn refusal(mut response: Response) -> ModelError {
    let status = response.status().as_u16();
    let should_retry =
        header(response.headers(), "x-should-retry").and_then(|flag| flag.parse().ok());
    let retry_after = retry_after(response.headers(), Timestamp::now());
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_REFUSAL_BYTES {
            break;
        }
    }
    let text = String::from_utf8_lossy(&body);
    let error = match serde_json::from_str::<ErrorBody>(&text) {
        Ok(body) => body.error,
        Err(_) => ApiError { kind: "http_error".into(), message: excerpt(&text), details: None },
    };
    let passes =
        retry::status_is_retryable(status) && !(status == 429 && retry::is_spend_limit(&error));
    let retryable = should_retry.unwrap_or(passes);
    let ApiError { kind, message, details: _ } = error;
    ModelError::Api { status: Some(status), kind, message, retry_after, retryable }
}

/// `retry-after-ms`, or `retry-after` in seconds or as a date; `None` when absent or in the past.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    if let Some(ms) = header(headers, "retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let value = header(headers, "retry-after")?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = rfc2822::parse(value).ok()?.timestamp();
    Duration::try_from(date.duration_since(now)).ok()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Enough of a page that is no API answer to recognise it.
fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { "no details".into() } else { line.chars().take(200).collect() }
}

/// What the transport said, with its causes: the first line alone says only "error sending request".
fn network(error: reqwest::Error) -> ModelError {
    let error = error.without_url();
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(next) = cause {
        message = format!("{message}: {next}");
        cause = next.source();
    }
    ModelError::Network { message }
}

fn internal(message: &str) -> ModelError {
    ModelError::Internal { message: message.to_owned() }
}

#[cfg(test)]
mod tests;
