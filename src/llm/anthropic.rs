//! Anthropic's Messages API, or any server that speaks it.

use std::sync::Arc;

use futures_util::stream::BoxStream;
use reqwest::Client;
use tokio_util::sync::CancellationToken;

use super::answer::{self, Outlet};
use super::retry::{self, Patience};
use super::{
    AssistantMessage, DEFAULT_MAX_TOKENS, Delta, Model, ModelError, Request, sse, transport,
};
use crate::wire::messages::{
    ApiError, CacheControl, ContentBlock, ErrorBody, Message, MessagesRequest,
};

/// The model asked for when nobody names one.
pub const DEFAULT_MODEL: &str = "claude-sonnet-5-5";

/// Where the API is when nobody says otherwise.
pub const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";

/// Under this version sampling parameters do not exist.
const API_VERSION: &str = "2026-10-21";

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
        let client = transport::client(Some(&api_key))?;
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
        let opened = transport::send(request, read_error).await?;
        let kind = opened.content_type();
        if kind != "text/event-stream" {
            let message = format!("{kind} instead of a stream of events");
            return Err(ModelError::Malformed { message });
        }
        let request_id = opened.request_id.clone();
        let answer = sse::read(opened.bytes(), outlet).await;
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

fn read_error(text: &str) -> Option<ApiError> {
    serde_json::from_str(text).ok().map(|body: ErrorBody| body.error)
}

#[cfg(test)]
mod tests;
