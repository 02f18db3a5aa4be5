//! Driver of one answer: asks the model, runs the tools of this server, sends events to the client,
//! and remembers the parts that the client is not shown.

use std::sync::Arc;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::messages_api::conversation_cache::{HiddenAnswer, KnownConversation};
use crate::messages_api::conversation_hash::{CanonicalConversation, ConversationHash};
use crate::messages_api::failure::ApiFailure;
use crate::messages_api::request::CheckedRequest;
use crate::messages_api::server_tool_loop::{LoopEnd, LoopStep, ServerToolLoop, unfold};
use crate::messages_api::sse_encoder::SseEncoder;
use crate::rest::http_state::HttpState;
use copydesk_agent::{CallPayer, ChosenModel, MeteredCall, ReachedLimit};
use copydesk_api::{Application, Caller};
use copydesk_ids::permissions::Principal;
use copydesk_ids::{SessionId, Version};
use copydesk_llm as llm;
use copydesk_llm::messages_api::{ChatMessage, ContentBlock, MessageRole, StopReason, StreamEvent};
use copydesk_llm::{AnswerDelta, AssistantMessage, ModelError, RetryMode};
use copydesk_metrics as metrics;
use copydesk_protocol_conversion as wire;

use super::admission::AdmittedRequest;
use super::conversations::{ConversationLifetime, Conversations};
use super::limits::AnswerPermit;
use super::server_tools::{self, ServerTools};

/// Maximum bytes of one answer of the model.
const ANSWER_LIMIT: usize = 16 * 1024 * 1024;
/// Refusal of a conversation that ends with an answer put in the model's name.
const NO_PREFILL: &str = "messages: this model does not support assistant message prefill: the conversation must end with a user message";

/// State of one answer that is being written, from [`AnswerWork::prepare`] to [`AnswerWork::go`].
pub(crate) struct AnswerWork {
    conversations: Conversations,
    application: Application,
    principal: Principal,
    /// Person and document for which the model is called.
    payer: CallPayer,
    asked: CheckedRequest,
    chosen: ChosenModel,
    /// Conversation from which the key of the next answer is computed.
    conversation: CanonicalConversation,
    /// Keys of the earlier answers of the conversation.
    answers: Vec<ConversationHash>,
    durable: ConversationLifetime,
    session: SessionId,
    /// Conversation with the hidden parts restored.
    messages: Vec<ChatMessage>,
    tools: Option<ServerTools>,
    _permit: AnswerPermit,
}

impl AnswerWork {
    pub(crate) async fn prepare(
        app: &HttpState,
        entered: AdmittedRequest,
        asked: CheckedRequest,
        chosen: ChosenModel,
        mut tools: Option<ServerTools>,
    ) -> Result<Self, ApiFailure> {
        let AdmittedRequest { caller: Caller { principal, .. }, document, permit, .. } = entered;
        let payer = CallPayer { user: principal.user.clone(), document };
        let about = tools.as_ref().map(ServerTools::about).unwrap_or_default();
        let scope = [principal.user.as_str(), family(&chosen), &about];
        let begun = app.conversations.begin(&scope);
        let mut conversation =
            begun.ok_or_else(|| ApiFailure::new(500, "cannot derive a conversation key"))?;
        let now_ms = app.application.clock.now_ms();
        let places = say_all(&mut conversation, &asked.messages);
        let answers: Vec<ConversationHash> = places.iter().flatten().copied().collect();
        let durable =
            if tools.is_some() { ConversationLifetime::Yes } else { ConversationLifetime::No };
        let conversations = app.conversations.clone();
        let mut known = conversations.recall(&principal.user, &answers, durable, now_ms).await?;
        let messages = unfold(&asked.messages, |index| {
            let place = places.get(index).copied().flatten()?;
            known.get(&place)?.hidden.clone()
        });
        let latest = answers.last().and_then(|key| known.remove(key));
        let paused = messages.last().is_some_and(|last| last.role == MessageRole::User);
        if asked.ends_with_answer() && !paused {
            return Err(ApiFailure::invalid(NO_PREFILL.to_owned()));
        }
        let read: Option<Version> = latest.as_ref().and_then(|known| known.read);
        let session = latest.map_or_else(SessionId::generate, |known| known.session);
        if let Some(tools) = &mut tools {
            tools.resume_from(session.clone(), read);
        }
        Ok(Self {
            conversations,
            application: app.application.clone(),
            principal,
            payer,
            asked,
            chosen,
            conversation,
            answers,
            durable,
            session,
            messages,
            tools,
            _permit: permit,
        })
    }

    /// Runs the answer. Each [`StreamEvent`] goes to `sender`; the whole message is returned.
    /// Dropping the future stops whatever it waits for.
    pub(crate) async fn go(
        mut self,
        sender: Option<mpsc::Sender<StreamEvent>>,
    ) -> Result<Value, ApiFailure> {
        let id = format!("msg_{}", copydesk_ids::sortable_uuid().simple());
        let mut telling = SseEncoder::new(id, self.asked.model.clone());
        tell(sender.as_ref(), telling.start()).await;
        if self.asked.max_tokens == 0 {
            // Such a request only warms a cache, and the cache is the provider's.
            let end = LoopEnd::empty(StopReason::MaxTokens);
            tell(sender.as_ref(), telling.end(&end)).await;
            return Ok(telling.message(&end));
        }
        let ours = self.tools.as_ref().map(ServerTools::names).unwrap_or_default().into_iter();
        let mut tool_loop = ServerToolLoop::new(ours.collect(), self.asked.choice.clone());
        let mut next = LoopStep::Ask;
        loop {
            next = match next {
                LoopStep::Ask => tool_loop
                    .answered(self.ask_model(&tool_loop, &mut telling, sender.as_ref()).await?),
                LoopStep::Run(calls) => {
                    // Blocks after a call of the client's come after that call, and the call is
                    // sent at the end.
                    if !tool_loop.calls_others() {
                        tell(sender.as_ref(), telling.pause(&tool_loop.shown())).await;
                    }
                    let results = self.run(&calls, &mut tool_loop).await?;
                    tool_loop.ran(results)
                }
                LoopStep::End(end) => {
                    let events = telling.end(&end);
                    // Stored before it is sent: the client may continue at once.
                    self.remember(telling.content(), end.hidden.clone()).await;
                    tell(sender.as_ref(), events).await;
                    return Ok(telling.message(&end));
                }
            };
        }
    }

    async fn ask_model(
        &mut self,
        tool_loop: &ServerToolLoop,
        telling: &mut SseEncoder,
        sender: Option<&mpsc::Sender<StreamEvent>>,
    ) -> Result<AssistantMessage, ApiFailure> {
        let mut request = request(&self.asked, &self.chosen, self.tools.as_ref());
        request.messages = [self.messages.as_slice(), tool_loop.said()].concat();
        // Providers refuse a choice if there is nothing to choose.
        request.tool_choice = tool_loop.choice().filter(|_| request.has_tools());
        request.session = self.session.to_string();
        if tool_loop.said().is_empty() {
            request.prompt = self.asked.prompt().map(str::to_owned);
            // Clients of this API retry by themselves. After a tool has run here, a client could
            // not resume.
            request.tries = RetryMode::Once;
        }
        if let Some(tools) = &mut self.tools {
            tools.check_model(&self.chosen.asked()).await?;
            request.document = tools.view(self.chosen.model.name()).await;
        }
        let agents = &self.application.agents;
        let reached = agents.reached_limit(&self.payer, &self.chosen).await;
        if let Some(reached) = reached.map_err(|_| server_tools::unavailable())? {
            return Err(over_limit(&reached));
        }
        let cancel = CancellationToken::new();
        let _hang_up = cancel.clone().drop_guard();
        let _timer = metrics::MODEL_CALL_SECONDS.start();
        // Lasts until it is dropped.
        let _span = tracing::debug_span!("model_call", model = self.chosen.model.name());
        let mut call = agents.call_model(self.payer.clone(), &self.chosen, request, cancel);
        let answered = receive(&mut call, telling, sender).await;
        // Stored before the answer is used: the client may ask again at once.
        call.settle().await.map_err(|_| server_tools::unavailable())?;
        answered
    }

    /// Runs the calls of this server's tools, in the model's order.
    async fn run(
        &mut self,
        calls: &[ContentBlock],
        tool_loop: &mut ServerToolLoop,
    ) -> Result<Vec<ContentBlock>, ApiFailure> {
        let mut results = Vec::with_capacity(calls.len());
        for call in calls {
            if let Some(tools) = &mut self.tools {
                if tools.is_too_late() {
                    tool_loop.end_soon();
                    results.push(server_tools::too_late(call));
                    continue;
                }
                results.push(tools.call(call, self.chosen.asked()).await?);
                tools.check_asker().await?;
            }
        }
        Ok(results)
    }

    async fn remember(&mut self, content: &[ContentBlock], hidden: Option<Arc<HiddenAnswer>>) {
        self.conversation.say(&ChatMessage::assistant(content.to_vec()));
        let read = self.tools.as_ref().and_then(ServerTools::read);
        let known = KnownConversation { session: self.session.clone(), hidden, read };
        let (key, now_ms) = (self.conversation.key(), self.application.clock.now_ms());
        let (user, before) = (&self.principal.user, &self.answers);
        self.conversations.keep(user, key, known, before, self.durable, now_ms).await;
    }
}

async fn receive(
    call: &mut MeteredCall,
    telling: &mut SseEncoder,
    sender: Option<&mpsc::Sender<StreamEvent>>,
) -> Result<AssistantMessage, ApiFailure> {
    let mut size = 0;
    while let Some(delta) = call.next().await {
        match delta.map_err(|error| failed(&error))? {
            AnswerDelta::Done(answer) => return Ok(answer),
            AnswerDelta::Reset => telling.begin_again(sender.is_some())?,
            delta => {
                size += match &delta {
                    AnswerDelta::Text(text) | AnswerDelta::NextText(text) => text.len(),
                    AnswerDelta::ToolInput { partial_json, .. } => partial_json.len(),
                    _ => 0,
                };
                if size > ANSWER_LIMIT {
                    return Err(ApiFailure::new(500, "the model's answer was too long"));
                }
                tell(sender, telling.encode(delta)).await;
            }
        }
    }
    Err(failed(&ModelError::CutOff))
}

/// Returns the refusal of a call by a spending limit. Clients do not try again after this status.
fn over_limit(reached: &ReachedLimit) -> ApiFailure {
    let mut failure = ApiFailure::new(402, reached.to_string());
    let (limit, renews_at) = (reached.limit.scope.kind(), wire::time(reached.month.end_ms()));
    let details = json!({"error_code": "spending_limit", "limit": limit, "renews_at": renews_at});
    failure.error.details = Some(details);
    failure
}

/// Adds messages to a conversation; returns its key after each answer among them.
fn say_all(
    conversation: &mut CanonicalConversation,
    messages: &[ChatMessage],
) -> Vec<Option<ConversationHash>> {
    let mut latest = None;
    let key_after = |message: &ChatMessage| {
        conversation.say(message);
        let key = (message.role == MessageRole::Assistant).then(|| conversation.key());
        // An empty answer leaves the key as it was, and one hidden answer would be restored twice.
        let key = key.filter(|key| latest != Some(*key));
        latest = key.or(latest);
        key
    };
    messages.iter().map(key_after).collect()
}

/// Returns the provider of a model: models of one provider can continue each other's conversations.
fn family(chosen: &ChosenModel) -> &str {
    chosen.model.name().split(':').next().unwrap_or_default()
}

pub(crate) fn request(
    asked: &CheckedRequest,
    chosen: &ChosenModel,
    tools: Option<&ServerTools>,
) -> llm::ModelRequest {
    let mut system = asked.system.clone();
    let mut definitions = asked.tools.clone();
    if let Some(tools) = tools {
        if !system.is_empty() {
            system.push_str("\n\n");
        }
        system.push_str(&tools.rules());
        definitions.extend(tools.definitions.iter().cloned());
    }
    let mut request = llm::ModelRequest {
        model: chosen.name.clone(),
        system,
        messages: asked.messages.clone(),
        tools: definitions,
        native: asked.native.iter().map(|tool| tool.definition.clone()).collect(),
        stop_sequences: asked.stop_sequences.clone(),
        more: asked.more.clone(),
        max_tokens: asked.max_tokens,
        caching: asked.caching.clone(),
        ..llm::ModelRequest::default()
    };
    request.tool_choice = asked.choice.clone().filter(|_| request.has_tools());
    request
}

/// Sends events. A client that no longer reads is no error: the work is about to be dropped.
async fn tell(sender: Option<&mpsc::Sender<StreamEvent>>, events: Vec<StreamEvent>) {
    let Some(sender) = sender else { return };
    for event in events {
        sender.send(event).await.ok();
    }
}

/// Counts a failed call of a model; returns the failure for the client.
fn failed(error: &ModelError) -> ApiFailure {
    metrics::MODEL_CALLS_FAILED.count();
    ApiFailure::of_model(error)
}
