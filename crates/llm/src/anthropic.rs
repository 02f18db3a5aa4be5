//! Anthropic's Messages API, or any server that speaks it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::delta_stream::{self, DeltaSink};
use super::retry::{self, RetryPolicy};
use super::{
    AnswerStream, AssistantMessage, DEFAULT_MAX_TOKENS, Model, ModelError, ModelRequest,
    ModelResult, malformed, messages_stream, names, prices, transport,
};
use crate::messages_api::{ChatMessage, ContentBlock, ErrorBody, MessagesRequest, ProviderError};

/// Model to use when neither the settings nor the request names one.
pub const DEFAULT_MODEL: &str = "claude-sonnet-5-5";

/// Address of the API when the settings name no other.
pub const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";

/// Value of the `anthropic-version` header. This version has no sampling parameters.
const API_VERSION: &str = "2026-10-21";

/// Settings for reaching the provider.
pub struct AnthropicSettings {
    /// Address of the API, with or without a trailing `/v1`.
    pub base_url: String,
    /// Key that is sent as a bearer token; never logged.
    pub api_key: String,
    /// Name of the model: any string that the provider knows.
    pub model: String,
    /// [`RetryPolicy`] for requests that fail.
    pub patience: RetryPolicy,
}

/// [`Model`] behind the Messages API.
pub struct AnthropicModel {
    name: String,
    api: Arc<AnthropicApi>,
}

struct AnthropicApi {
    client: Client,
    /// Address with its version, without a slash at the end.
    base: String,
    model: String,
    patience: RetryPolicy,
    /// `true` while tool calls are requested with [`EAGER`], which some servers do not know.
    eager: AtomicBool,
    /// Models that accept fewer output tokens here than the price list says.
    lower_limit_models: Mutex<HashSet<String>>,
}

impl AnthropicModel {
    /// Prepares the client; nothing is sent yet.
    pub fn new(settings: AnthropicSettings) -> ModelResult<Self> {
        let AnthropicSettings { base_url, api_key, model, patience } = settings;
        let base = base_url.trim_end_matches('/').trim_end_matches("/v1");
        let client = transport::client(Some(&api_key), base)?;
        let (name, base) = (format!("anthropic:{model}"), format!("{base}/v1"));
        let (eager, lower_limit_models) = (true.into(), Mutex::default());
        let api = AnthropicApi { client, base, model, patience, eager, lower_limit_models };
        Ok(Self { name, api: Arc::new(api) })
    }
}

impl Model for AnthropicModel {
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
            let body = RequestBytes::of(&api.body(request));
            retry::persist(patience, &sink, || api.ask(&body, &sink)).await
        })
    }

    fn list(&self) -> BoxFuture<'static, ModelResult<Vec<String>>> {
        let api = Arc::clone(&self.api);
        async move { api.list().await }.boxed()
    }

    fn count(&self, request: ModelRequest) -> BoxFuture<'static, ModelResult<Option<u64>>> {
        let api = Arc::clone(&self.api);
        async move { api.count(request).await }.boxed()
    }
}

/// Request in bytes, serialised once: nothing large has to be taken apart when the answer arrives.
#[derive(Clone)]
struct RequestBytes {
    model: String,
    /// `true` if the request has the output limit of the price list, and a lower one may do.
    is_list_limit: bool,
    /// `true` if the request asks for tool calls while they are written.
    is_eager: bool,
    json: Bytes,
}

impl RequestBytes {
    fn of(request: &Value) -> Self {
        let model = request["model"].as_str().unwrap_or_default().to_owned();
        let listed = prices::max_output(&model);
        let is_list_limit = listed > DEFAULT_MAX_TOKENS && request["max_tokens"] == listed;
        let all = request["tools"].as_array();
        let is_eager = all.is_some_and(|all| all.iter().any(|tool| tool.get(EAGER).is_some()));
        Self { model, is_list_limit, is_eager, json: request.to_string().into() }
    }

    fn with(&self, change: impl FnOnce(&mut Value)) -> Self {
        // These bytes were written here.
        let mut request = serde_json::from_slice(&self.json).unwrap_or_default();
        change(&mut request);
        Self::of(&request)
    }
}

impl AnthropicApi {
    /// Builds the request as it is sent. The prompt cache works on byte-equal prefixes (tools,
    /// system, messages), so nothing that changes from call to call may stand before the
    /// conversation. Of the four allowed breakpoints at most three are used: the rules, the
    /// document (marked by the prompt), and the last block.
    fn body(&self, request: ModelRequest) -> Value {
        let mut request = request;
        let stop_sequences = std::mem::take(&mut request.stop_sequences);
        let more = std::mem::take(&mut request.more);
        let native = std::mem::take(&mut request.native);
        let mut body = json!(self.request(request));
        if let Some(body) = body.as_object_mut() {
            body.extend(more);
            if !stop_sequences.is_empty() {
                body.insert("stop_sequences".into(), json!(stop_sequences));
            }
        }
        if self.eager.load(Ordering::Relaxed) {
            for tool in tools(&mut body) {
                // People watch a change while it is written; without this it arrives complete.
                tool[EAGER] = json!(true);
            }
        }
        // These come as the provider knows them, without a field more.
        if !native.is_empty() {
            let described = tools(&mut body).map(Value::take);
            let all: Vec<_> = native.into_iter().chain(described).collect();
            body["tools"] = json!(all);
        }
        body
    }

    fn request(&self, request: ModelRequest) -> MessagesRequest {
        let ModelRequest {
            model,
            system,
            mut messages,
            tools,
            tool_choice,
            max_tokens,
            caching,
            ..
        } = request;
        let model = if model.is_empty() { self.model.clone() } else { model };
        names::tidy(&mut messages);
        let system_block = ContentBlock::Text { text: system, cache_control: caching.system };
        MessagesRequest {
            max_tokens: if max_tokens == 0 { self.max_output(&model) } else { max_tokens },
            model,
            system: Some(system_block)
                .filter(|block| block.as_text() != Some(""))
                .into_iter()
                .collect(),
            messages: messages.into_iter().filter_map(sendable).collect(),
            tools,
            tool_choice,
            cache_control: caching.end,
            stream: true,
        }
    }

    /// Lists the models that are not retired, newest first as the provider lists them.
    async fn list(&self) -> ModelResult<Vec<String>> {
        let request = versioned(self.client.get(format!("{}/models?limit=100", self.base)));
        let list = transport::send(request, read_error).await?.json().await?;
        let entries = list["data"].as_array().into_iter().flatten();
        let alive = entries.filter(|entry| entry["lifecycle"] != "retired");
        Ok(alive.filter_map(|entry| entry["id"].as_str()).map(str::to_owned).collect())
    }

    /// Counts the input tokens of a request, for a call that generates nothing.
    async fn count(&self, request: ModelRequest) -> ModelResult<Option<u64>> {
        let mut body = self.body(request);
        if let Some(body) = body.as_object_mut() {
            for only_generating in ["max_tokens", "stream", "stop_sequences"] {
                body.remove(only_generating);
            }
        }
        let url = format!("{}/messages/count_tokens", self.base);
        let request = versioned(self.client.post(url)).json(&body);
        let counted = transport::send(request, read_error).await?.json().await?;
        Ok(counted["input_tokens"].as_u64())
    }

    /// Asks once, and again at once as long as the server names something that it does not take.
    async fn ask(&self, body: &RequestBytes, sink: &DeltaSink) -> ModelResult<AssistantMessage> {
        let mut body = body.clone();
        loop {
            let end = self.try_once(&body, sink).await;
            let Err(ModelError::Api { status: Some(400), message, .. }) = &end else { return end };
            let Some(simpler) = self.without_refused_field(&body, message) else { return end };
            tracing::info!(
                message,
                "retrying without parameters that the provider does not accept"
            );
            body = simpler;
        }
    }

    /// Returns the request to try after an error of status 400 with the text `message`, if there is
    /// one. A limit that holds for every request is remembered.
    fn without_refused_field(&self, body: &RequestBytes, message: &str) -> Option<RequestBytes> {
        if message.contains("max_tokens") && body.is_list_limit {
            // The server allows fewer tokens than the price list says, or fewer after a long
            // conversation: "input length and `max_tokens` exceed context limit: 188240 + 64000 >
            // 200000".
            if !message.contains("context") {
                self.lower_limit_models.lock().insert(body.model.clone());
            }
            return Some(body.with(|body| body["max_tokens"] = json!(DEFAULT_MAX_TOKENS)));
        }
        if message.contains(EAGER) && body.is_eager {
            self.eager.store(false, Ordering::Relaxed);
            return Some(body.with(|body| {
                for tool in tools(body).filter_map(Value::as_object_mut) {
                    tool.remove(EAGER);
                }
            }));
        }
        None
    }

    fn max_output(&self, model: &str) -> u32 {
        let listed = prices::max_output(model);
        if self.lower_limit_models.lock().contains(model) {
            listed.min(DEFAULT_MAX_TOKENS)
        } else {
            listed
        }
    }

    async fn try_once(
        &self,
        body: &RequestBytes,
        sink: &DeltaSink,
    ) -> ModelResult<AssistantMessage> {
        let request = versioned(self.client.post(format!("{}/messages", self.base)))
            .header("content-type", "application/json")
            .body(body.json.clone());
        let opened = transport::ask(request, read_error, &body.model, sink).await?;
        let kind = opened.content_type();
        if kind != "text/event-stream" {
            return Err(malformed(format!("{kind} instead of a stream of events")));
        }
        let request_id = opened.request_id.clone();
        let answer = messages_stream::read(opened.bytes(), sink).await;
        delta_stream::log(&request_id, &body.model, &answer);
        answer
    }
}

/// Field of a tool that asks for its input while it is written.
const EAGER: &str = "eager_input_streaming";

fn tools(body: &mut Value) -> impl Iterator<Item = &mut Value> {
    body.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten()
}

fn versioned(request: RequestBuilder) -> RequestBuilder {
    request.header("anthropic-version", API_VERSION).header("accept", "application/json")
}

/// Returns the message as the provider accepts it, also if other models have written in it; `None`
/// if nothing is left without blank texts, which the provider refuses.
fn sendable(mut message: ChatMessage) -> Option<ChatMessage> {
    message.content.retain(|block| block.as_text().is_none_or(|text| !text.trim().is_empty()));
    message.content.iter_mut().for_each(make_sendable);
    (!message.content.is_empty()).then_some(message)
}

fn make_sendable(block: &mut ContentBlock) {
    // Arguments that are not a JSON object, from a model whose server passes them on.
    if let ContentBlock::ToolUse { input, .. } = block
        && !input.is_object()
    {
        *input = json!({"invalid_json": input.take()});
    }
}

fn read_error(text: &str) -> Option<ProviderError> {
    serde_json::from_str(text).ok().map(|body: ErrorBody| body.error)
}

#[cfg(test)]
mod tests;
