//! Talk to a model: one trait, several models.
//!
//! A [`Model`] answers a [`ModelRequest`] with a stream of [`AnswerDelta`]s that ends with exactly one
//! [`AnswerDelta::Done`] or one error. The agent cannot tell the models apart.

pub mod anthropic;
#[cfg(unix)]
pub mod claude_cli;
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

use crate::llm::messages_api::{
    CacheControl, ChatMessage, ContentBlock, StopReason, TokenUsage, ToolChoice, ToolDefinition,
};

/// A language model, or something that behaves like one.
pub trait Model: Send + Sync {
    /// What people see, such as `anthropic:claude-sonnet-5-5`, `harper` or `script:demo.json`.
    fn name(&self) -> &str;

    /// Answers `request`. Nothing happens before the stream is polled; dropping the stream or
    /// cancelling `cancel` ends the work at once (cancelling yields [`ModelError::Cancelled`]).
    fn stream(
        &self,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<AnswerDelta, ModelError>>;

    /// The provider's names of all models it has; none where there is no choice.
    fn list(&self) -> BoxFuture<'static, Result<Vec<String>, ModelError>> {
        async { Ok(Vec::new()) }.boxed()
    }

    /// Whether it remembers a conversation by itself, under [`ModelRequest::thread`]: it is then told only what is new.
    fn keeps_threads(&self) -> bool {
        false
    }

    /// The run of this name ([`ModelRequest::run`]) is over, or left for a later start: nothing more will be asked for it.
    fn over(&self, _run: &str) {}

    /// How many input tokens `request` is; `None` where that cannot be asked. Costs nothing.
    fn count(&self, _request: ModelRequest) -> BoxFuture<'static, Result<Option<u64>, ModelError>> {
        async { Ok(None) }.boxed()
    }
}

/// Output tokens when neither a [`ModelRequest`] names a limit nor the model's own is known.
pub const DEFAULT_MAX_TOKENS: u32 = 32_000;

/// One call of a model.
#[derive(Clone, Debug, Default)]
pub struct ModelRequest {
    /// The provider's name of the model; empty means the model's own default.
    pub model: String,
    /// The system text; stable over a session, so that the provider can cache it.
    pub system: String,
    /// The conversation, oldest first; the last message is a prompt or tool results.
    pub messages: Vec<ChatMessage>,
    /// What the model may call, in a fixed order.
    pub tools: Vec<ToolDefinition>,
    /// Tools that the models of Anthropic were taught (`bash_20250124`); for providers of them only.
    pub native: Vec<Value>,
    /// Whether the model must, may or must not call a tool; `None`: it may. Models inside this process do not know it.
    pub tool_choice: Option<ToolChoice>,
    /// Texts that end the answer where it comes to one, for providers over the network.
    pub stop_sequences: Vec<String>,
    /// Further fields of the Messages API (`thinking`, `output_config`), for providers of it; others do not know them.
    pub more: Map<String, Value>,
    /// Upper bound of output tokens; 0 stands for as many as the model can write, or [`DEFAULT_MAX_TOKENS`] if that is not known.
    pub max_tokens: u32,
    /// How often a provider that fails is asked.
    pub tries: RetryMode,
    /// What a provider that charges for it keeps of the request for the next one.
    pub caching: CachePolicy,
    /// The conversation's identifier; scripted turns are used up per session.
    pub session: String,
    /// The run, unique on this server; a model that goes on working between two calls knows it by this.
    pub run: String,
    /// The conversation of a model that keeps threads.
    pub thread: Option<ModelThread>,
    /// What the person typed, word for word; only when the last message is that prompt.
    pub prompt: Option<String>,
    /// The document as it stands now, for the models that run inside this process.
    pub document: Option<DocumentView>,
}

impl ModelRequest {
    /// Whether there is anything to call.
    pub fn has_tools(&self) -> bool {
        !(self.tools.is_empty() && self.native.is_empty())
    }

    /// The texts of the tool results in the last message; `None` when it holds none.
    fn tool_results(&self) -> Option<Vec<ToolResultView>> {
        let last = self.messages.last()?;
        let outcomes: Vec<_> = last.content.iter().filter_map(ToolResultView::read).collect();
        (!outcomes.is_empty()).then_some(outcomes)
    }
}

/// How often a provider is asked that says it will do better later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetryMode {
    /// As often as the model's [`RetryPolicy`] lasts.
    #[default]
    Patient,
    /// Once: whoever asks tries again by itself, and knows best when.
    Once,
}

/// Up to where a provider keeps a request, and for how long, beside the blocks that say so themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachePolicy {
    /// Up to the end of the system text.
    pub system: Option<CacheControl>,
    /// Up to the end of the conversation.
    pub end: Option<CacheControl>,
}

impl Default for CachePolicy {
    /// People take minutes to decide, and the conversation waits for them.
    fn default() -> Self {
        Self { system: Some(CacheControl::one_hour()), end: Some(CacheControl::one_hour()) }
    }
}

/// A conversation that a model remembers by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelThread {
    /// Its name, a UUID.
    pub id: String,
    /// The conversation it goes on from, which stays as it is.
    pub from: Option<String>,
    /// Whether it has begun, as far as anybody here knows.
    pub begun: bool,
}

/// One tool result, as the models inside this process see it.
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

/// The document as it stands when the model is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentView {
    /// The whole text, line ends as `\n`.
    pub text: String,
    /// What the person has selected.
    pub selection: Option<SelectionView>,
}

/// A half-open range of UTF-16 code units; `from == to` is a caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectionView {
    /// First code unit.
    pub from: usize,
    /// One past the last code unit.
    pub to: usize,
}

/// A step of a model's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerDelta {
    /// More text for the person.
    Text(String),
    /// Text too, and the first of a block of its own: right before it was another one.
    NextText(String),
    /// A tool call begins. It may be shown as being written, never executed before `Done`.
    ToolUse {
        /// Position of the block in the answer; later deltas name it.
        index: usize,
        /// The call's identifier.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of a call's input; the pieces of one index, joined, are JSON (empty stands for `{}`).
    ToolInput {
        /// The call.
        index: usize,
        /// To append.
        partial_json: String,
    },
    /// A block that is not told in pieces, such as reasoning, complete.
    Block(ContentBlock),
    /// Forget everything since the start of this stream: the turn starts again.
    Reset,
    /// A try is over that gave no answer, and cost something nevertheless.
    Lost(FailedTryUsage),
    /// The complete answer; the last item.
    Done(AssistantMessage),
}

/// What was used by a try that broke off, was cut or was cancelled, as far as the provider had said by then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedTryUsage {
    /// The model that was asked.
    pub model: String,
    /// Tokens used.
    pub usage: TokenUsage,
}

/// A complete answer.
///
/// `content` holds `tool_use` blocks only when `stop_reason` is `ToolUse`: a call that was cut
/// (by `max_tokens`, a refusal or anything unknown) is left out, so that every call seen here
/// may be executed. `content` can be empty then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// Text, reasoning and calls, in order; to be sent back unchanged.
    pub content: Vec<ContentBlock>,
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// Which stop sequence of the request ended the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_sequence: Option<String>,
    /// For a refusal: `{category, …}` as the provider said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_details: Option<Value>,
    /// Tokens used.
    pub usage: TokenUsage,
    /// The model that answered.
    pub model: String,
    /// Calls that were left out because the model did not stop to wait for them.
    #[serde(default)]
    pub calls_left_out: usize,
    /// What people should know about the answer, such as that only a part of the document was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Why a model gave no complete answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The provider said no.
    #[error("{}", api_text(*.status, .kind, .message))]
    Api {
        /// HTTP status; `None` when the error came in the middle of a stream.
        status: Option<u16>,
        /// The provider's error type, such as `overloaded_error`.
        kind: String,
        /// The provider's words.
        message: String,
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
        /// Whether the same request may succeed later.
        retryable: bool,
        /// What it says besides for programs, such as an `error_code`.
        details: Option<Box<Value>>,
    },
    /// No connection, or it broke or went silent.
    #[error("cannot reach the model: {message}")]
    Network {
        /// What the transport said.
        message: String,
    },
    /// The stream ended before the answer did.
    #[error("the model's answer was cut off")]
    CutOff,
    /// The answer does not follow the protocol.
    #[error("the model's answer cannot be read: {message}")]
    Malformed {
        /// What was wrong.
        message: String,
    },
    /// The scripted model has no turn for this request.
    #[error("no turn of the script matches: {request}")]
    NoTurn {
        /// The request, described.
        request: String,
    },
    /// A program that answers for a model failed, in a way people can do something about.
    #[error("{message}")]
    Program {
        /// For programs.
        code: &'static str,
        /// For people.
        message: String,
    },
    /// A model that runs inside this process failed.
    #[error("the built-in model failed: {message}")]
    Internal {
        /// What happened.
        message: String,
    },
}

impl ModelError {
    /// Whether the same request may succeed later.
    pub fn retryable(&self) -> bool {
        match self {
            Self::Api { retryable, .. } => *retryable,
            Self::Network { .. } | Self::CutOff | Self::Malformed { .. } => true,
            Self::Cancelled
            | Self::NoTurn { .. }
            | Self::Program { .. }
            | Self::Internal { .. } => false,
        }
    }

    /// How long the provider asks to wait before the next try.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Api { retry_after, .. } => *retry_after,
            Self::Cancelled
            | Self::Network { .. }
            | Self::CutOff
            | Self::Malformed { .. }
            | Self::NoTurn { .. }
            | Self::Program { .. }
            | Self::Internal { .. } => None,
        }
    }
}

fn api_text(status: Option<u16>, kind: &str, message: &str) -> String {
    match status {
        Some(status) => format!("{message} ({kind}, HTTP {status})"),
        None => format!("{message} ({kind})"),
    }
}
