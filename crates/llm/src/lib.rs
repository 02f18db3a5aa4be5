//! Models: a [`Model`] answers a [`ModelRequest`] with a stream of [`AnswerDelta`]s that ends with
//! exactly one [`AnswerDelta::Done`] or one error. The agent cannot distinguish the models.

pub mod anthropic;
#[cfg(unix)]
pub mod claude_cli;
#[cfg(feature = "grammar")]
pub mod harper;
pub mod messages_api;
pub mod openai;
pub mod prices;
pub mod scripted;

mod delta_stream;
mod failure;
mod messages_stream;
mod names;
mod retry;
mod sse_events;
#[cfg(test)]
mod testing;
mod transport;

pub use retry::RetryPolicy;

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::messages_api::{
    CacheControl, ChatMessage, ContentBlock, ProviderError, StopReason, TokenUsage, ToolChoice,
    ToolDefinition,
};

/// Language model, or a program that behaves like one.
pub trait Model: Send + Sync {
    /// Returns the name that people see, such as `anthropic:claude-sonnet-5-5` or `harper`.
    fn name(&self) -> &str;

    /// Returns `true` if what the model is sent stays on this machine; `false` by default.
    fn is_local(&self) -> bool {
        false
    }

    /// Answers `request`. Nothing happens before the stream is polled. Dropping the stream or
    /// cancelling `cancel` ends the work at once (cancelling yields [`ModelError::Cancelled`]).
    fn stream(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream;

    /// Lists the provider's names of all its models; empty if there is no choice.
    fn list(&self) -> BoxFuture<'static, ModelResult<Vec<String>>> {
        async { Ok(Vec::new()) }.boxed()
    }

    /// Returns `true` if the model remembers a conversation by itself, under
    /// [`ModelRequest::thread`], and needs only the new messages of a request.
    fn keeps_threads(&self) -> bool {
        false
    }

    /// Announces that no more requests of the run ([`ModelRequest::run`]) will come for now.
    fn over(&self, _run: &str) {}

    /// Counts the input tokens of `request` at no cost; `None` if the provider cannot count them.
    fn count(&self, _request: ModelRequest) -> BoxFuture<'static, ModelResult<Option<u64>>> {
        async { Ok(None) }.boxed()
    }
}

/// Limit of output tokens if neither the [`ModelRequest`] names one nor the model's own is known.
pub const DEFAULT_MAX_TOKENS: u32 = 32_000;

/// One call of a [`Model`].
#[derive(Clone, Debug, Default)]
pub struct ModelRequest {
    /// Provider's name of the model; empty means the default of the [`Model`].
    pub model: String,
    /// System text; stable over a session, so that the provider can cache it.
    pub system: String,
    /// Conversation, oldest message first; the last message is a prompt or tool results.
    pub messages: Vec<ChatMessage>,
    /// Tools that the model may call, in a fixed order.
    pub tools: Vec<ToolDefinition>,
    /// Definitions of tools that Anthropic's models were trained for (`bash_20250124`).
    pub native: Vec<Value>,
    /// Rule for calls; `None` leaves the choice to the model. Models inside this process ignore it.
    pub tool_choice: Option<ToolChoice>,
    /// Texts that end the answer when the model writes one of them; only for network providers.
    pub stop_sequences: Vec<String>,
    /// Further fields of the Messages API (`thinking`, `output_config`), for providers of that API.
    pub more: Map<String, Value>,
    /// Upper bound of output tokens; 0: the model's largest, or [`DEFAULT_MAX_TOKENS`].
    pub max_tokens: u32,
    /// Policy for asking a failing provider again.
    pub tries: RetryMode,
    /// Parts of the request that a provider with paid caching keeps for the next request.
    pub caching: CachePolicy,
    /// Identifier of the conversation; scripted turns are used up per session.
    pub session: String,
    /// Name of the run, unique on this server, for a model that works on between two calls.
    pub run: String,
    /// Conversation of a model that keeps threads.
    pub thread: Option<ModelThread>,
    /// Text that the person typed, word for word, if the last message is that prompt.
    pub prompt: Option<String>,
    /// Text with which the person began the run; for models in this process.
    pub question: Option<String>,
    /// Document at the time of the call, for the models that run inside this process.
    pub document: Option<ModelDocument>,
}

impl ModelRequest {
    /// Returns `true` if there is a tool to call.
    pub fn has_tools(&self) -> bool {
        !(self.tools.is_empty() && self.native.is_empty())
    }

    /// Returns the tool results in the last message; `None` without any, or if a person's prompt
    /// follows them. Providers want the speakers to alternate, so results to which the model said
    /// nothing are in one message with the next prompt.
    fn tool_results(&self) -> Option<Vec<ToolResultView>> {
        if self.prompt.is_some() {
            return None;
        }
        let last = self.messages.last()?;
        let outcomes: Vec<_> = last.content.iter().filter_map(ToolResultView::read).collect();
        (!outcomes.is_empty()).then_some(outcomes)
    }
}

/// Number of times that a provider with a temporary failure is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetryMode {
    /// Tries as often as the model's [`RetryPolicy`] allows.
    #[default]
    Patient,
    /// One try: the caller tries again by itself, at a time that it chooses.
    Once,
}

/// Breakpoints for a provider's prompt cache, besides those of single blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachePolicy {
    /// Breakpoint at the end of the system text.
    pub system: Option<CacheControl>,
    /// Breakpoint at the end of the conversation.
    pub end: Option<CacheControl>,
}

impl Default for CachePolicy {
    /// Returns breakpoints of one hour: people take minutes to decide while the conversation waits.
    fn default() -> Self {
        Self { system: Some(CacheControl::one_hour()), end: Some(CacheControl::one_hour()) }
    }
}

/// Conversation that a model remembers by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelThread {
    /// Name of the conversation, a UUID.
    pub id: String,
    /// Name of the conversation that this one continues; that one stays unchanged.
    pub from: Option<String>,
    /// `true` if the conversation has begun, as far as this server knows.
    pub begun: bool,
}

/// [`ContentBlock::ToolResult`], in the form for models inside this process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ToolResultView {
    tool_use_id: String,
    text: String,
    is_error: bool,
}

impl ToolResultView {
    fn read(block: &ContentBlock) -> Option<Self> {
        let ContentBlock::ToolResult { tool_use_id, content, is_error } = block else {
            return None;
        };
        let texts: Vec<_> = content.iter().filter_map(ContentBlock::as_text).collect();
        Some(Self { tool_use_id: tool_use_id.clone(), text: texts.join("\n"), is_error: *is_error })
    }
}

/// Document at the time of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelDocument {
    /// The whole text, with `\n` as line end.
    pub text: String,
    /// Range that the person has selected.
    pub selection: Option<ModelSelection>,
}

/// Half-open range of UTF-16 code units; `from == to` is a caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelSelection {
    /// Index of the first code unit.
    pub from: usize,
    /// Index after the last code unit.
    pub to: usize,
}

/// Step of a [`Model`]'s answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerDelta {
    /// Further text for the person.
    Text(String),
    /// First text of a new block directly after another text block.
    NextText(String),
    /// Start of a tool call, which may be shown at once, but never executed before
    /// [`AnswerDelta::Done`].
    ToolUse {
        /// Position of the block in the answer; later deltas refer to it.
        index: usize,
        /// Identifier of the call.
        id: String,
        /// Name of the tool.
        name: String,
    },
    /// Further part of a call's input; the joined pieces of one index are JSON (empty: `{}`).
    ToolInput {
        /// Position of the call's block in the answer.
        index: usize,
        /// JSON to append.
        partial_json: String,
    },
    /// Complete block that is not sent in pieces, such as reasoning.
    Block(ContentBlock),
    /// Instruction to forget everything since the start of this stream: the turn starts again.
    Reset,
    /// Tokens used by a try that ended without an answer.
    Lost(FailedTryUsage),
    /// The complete answer; the last item.
    Done(AssistantMessage),
}

/// Tokens of a try that broke off, was cut or was cancelled, as far as the provider reported them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedTryUsage {
    /// Name of the model that was asked.
    pub model: String,
    /// Tokens used.
    pub usage: TokenUsage,
}

/// Complete answer of a [`Model`]. A call that was cut (by `max_tokens`, a refusal or an unknown
/// reason) is left out: every `tool_use` block in `content`, which can be empty, may be executed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// Text, reasoning and calls, in order; to be sent back unchanged.
    pub content: Vec<ContentBlock>,
    /// Reason for the end of the answer.
    pub stop_reason: StopReason,
    /// Stop sequence of the request that ended the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_sequence: Option<String>,
    /// Details of a refusal: `{category, …}` as the provider sent them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_details: Option<Value>,
    /// Tokens used.
    pub usage: TokenUsage,
    /// Name of the model that answered.
    pub model: String,
    /// Number of calls that were left out because the model did not stop to wait for them.
    #[serde(default)]
    pub calls_left_out: usize,
    /// Notice for people about the answer, such as that only a part of the document was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Reason why a [`Model`] gave no complete answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The provider returned an error.
    #[error("{}", api_text(*.status, .kind, .message))]
    Api {
        /// HTTP status; `None` when the error came in the middle of a stream.
        status: Option<u16>,
        /// Type of the error as the provider names it, such as `overloaded_error`.
        kind: String,
        /// Message of the provider.
        message: String,
        /// Time that the provider asks to wait.
        retry_after: Option<Duration>,
        /// `true` if an equal request may succeed later.
        retryable: bool,
        /// Further details for programs, such as an `error_code`.
        details: Option<Box<Value>>,
    },
    /// The connection failed, broke or received no data for too long.
    #[error("cannot reach the model: {message}")]
    Network {
        /// Message of the transport.
        message: String,
    },
    /// The stream ended before the answer did.
    #[error("the model's answer was cut off")]
    CutOff,
    /// The answer does not follow the protocol.
    #[error("the model's answer cannot be read: {message}")]
    Malformed {
        /// Description of the fault.
        message: String,
    },
    /// The scripted model has no turn for this request.
    #[error("no turn of the script matches: {request}")]
    NoTurn {
        /// Description of the request.
        request: String,
    },
    /// A program that answers for a model failed, in a way that people can do something about.
    #[error("{message}")]
    Program {
        /// Code for programs.
        code: &'static str,
        /// Message for people.
        message: String,
    },
    /// A model that runs inside this process failed.
    #[error("the built-in model failed: {message}")]
    Internal {
        /// Description of the failure.
        message: String,
    },
}

/// Result of an operation of a [`Model`].
pub type ModelResult<T> = Result<T, ModelError>;

/// Answer of a [`Model`], piece by piece.
pub type AnswerStream = BoxStream<'static, ModelResult<AnswerDelta>>;

impl ModelError {
    /// Returns the error that a provider answered with; `retryable` if an equal request may succeed
    /// later.
    pub fn api(status: Option<u16>, error: ProviderError, retryable: bool) -> Self {
        let ProviderError { kind, message, details } = error;
        let (retry_after, details) = (None, details.map(Box::new));
        Self::Api { status, kind, message, retry_after, retryable, details }
    }

    /// Returns `true` if an equal request may succeed later.
    pub fn retryable(&self) -> bool {
        match self {
            Self::Api { retryable, .. } => *retryable,
            other => matches!(other, Self::Network { .. } | Self::CutOff | Self::Malformed { .. }),
        }
    }

    /// Returns the time that the provider asks to wait before the next try.
    pub fn retry_after(&self) -> Option<Duration> {
        if let Self::Api { retry_after, .. } = self { *retry_after } else { None }
    }
}

/// Returns the error of an answer that does not keep to its protocol.
fn malformed(message: impl Into<String>) -> ModelError {
    ModelError::Malformed { message: message.into() }
}

fn api_text(status: Option<u16>, kind: &str, message: &str) -> String {
    match status {
        Some(status) => format!("{message} ({kind}, HTTP {status})"),
        None => format!("{message} ({kind})"),
    }
}
