//! The Messages API, the common tongue of agent and models: requests, content blocks, answers and stream events.
//!
//! Tolerant when reading: unknown fields are dropped, unknown blocks are kept as they came
//! ([`ContentBlock::Other`]), unknown stream events and deltas become `Unknown`. A string where
//! the API also allows a list of blocks is read as one text block.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The body of `POST /v1/messages`. Sampling parameters do not exist in the API version we speak.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessagesRequest {
    /// Any string; the provider knows which ones exist.
    pub model: String,
    /// Upper bound of output tokens; 0 only warms the prompt cache.
    pub max_tokens: u32,
    /// Text blocks; a plain string is read as one block.
    #[serde(default, deserialize_with = "blocks", skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<ContentBlock>,
    /// The conversation, oldest first.
    pub messages: Vec<ChatMessage>,
    /// What the model may call, in a fixed order (the prompt cache depends on it).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition>,
    /// Whether the model must, may or must not call a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Breakpoint that the provider puts on the last cacheable block by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl>,
    /// Answer as server-sent events.
    #[serde(default)]
    pub stream: bool,
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: MessageRole,
    /// What is said; a plain string is read as one text block.
    #[serde(deserialize_with = "blocks")]
    pub content: Vec<ContentBlock>,
}

impl ChatMessage {
    /// A message of the person, as one text block.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: MessageRole::User, content: vec![ContentBlock::text(text)] }
    }

    /// A message of the model.
    pub fn assistant(content: Vec<ContentBlock>) -> Self {
        Self { role: MessageRole::Assistant, content }
    }

    /// The answer to every `tool_use` of the message before; results come first, text only after them.
    pub fn results(content: Vec<ContentBlock>) -> Self {
        Self { role: MessageRole::User, content }
    }
}

/// Who speaks. Real clients also send `system` in the middle of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The person, and every tool result.
    User,
    /// The model.
    Assistant,
    /// Instructions in the middle of a conversation.
    System,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    /// Plain text.
    Text {
        /// The text; an empty one is refused by the provider.
        text: String,
        /// Cache breakpoint after this block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    /// The model calls a tool.
    ToolUse {
        /// Unique within the conversation.
        id: String,
        /// The tool's name.
        name: String,
        /// A JSON object.
        input: Value,
    },
    /// The answer to a `tool_use`.
    ToolResult {
        /// The `id` of the call.
        tool_use_id: String,
        /// Blocks; a plain string is read as one text block.
        #[serde(default, deserialize_with = "blocks", skip_serializing_if = "Vec::is_empty")]
        content: Vec<ContentBlock>,
        /// The call failed, was denied or was rejected.
        #[serde(default, skip_serializing_if = "is_false")]
        is_error: bool,
    },
    /// Reasoning; must be sent back unchanged, in the same place.
    Thinking {
        /// The reasoning, possibly empty.
        thinking: String,
        /// The provider's seal.
        #[serde(default)]
        signature: String,
    },
    /// Sealed reasoning; must be sent back unchanged, in the same place.
    RedactedThinking {
        /// Opaque.
        data: String,
    },
    /// A kind of block this program does not know (images, documents, …), kept as it came.
    #[serde(untagged)]
    Other(Value),
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), cache_control: None }
    }

    /// A tool call.
    pub fn tool_use(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self::ToolUse { id: id.into(), name: name.into(), input }
    }

    /// A successful tool result with one text.
    pub fn tool_result(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        let content = vec![Self::text(text)];
        Self::ToolResult { tool_use_id: tool_use_id.into(), content, is_error: false }
    }

    /// A tool result that says why nothing was done.
    pub fn tool_error(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        let content = vec![Self::text(text)];
        Self::ToolResult { tool_use_id: tool_use_id.into(), content, is_error: true }
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::ToolUse { .. }
            | Self::ToolResult { .. }
            | Self::Thinking { .. }
            | Self::RedactedThinking { .. }
            | Self::Other(_) => None,
        }
    }
}

/// Where the provider may cache the prompt up to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheControl {
    /// Always `ephemeral`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `5m` (when absent) or `1h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
}

impl CacheControl {
    /// Kept for five minutes after the last use.
    pub fn five_minutes() -> Self {
        Self { kind: "ephemeral".into(), ttl: None }
    }

    /// Kept for an hour: people take minutes to decide.
    pub fn one_hour() -> Self {
        Self { kind: "ephemeral".into(), ttl: Some("1h".into()) }
    }
}

/// A tool the model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: String,
    /// When and how to use it, for the model.
    #[serde(default)]
    pub description: String,
    /// JSON Schema of the input, an object.
    pub input_schema: Value,
    /// Names and inputs are guaranteed to validate (needs `additionalProperties: false`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

/// Whether the model must, may or must not call a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    Auto {
        /// At most one call per turn.
        #[serde(default, skip_serializing_if = "is_false")]
        disable_parallel_tool_use: bool,
    },
    /// The model must call some tool.
    Any {
        /// Exactly one call per turn.
        #[serde(default, skip_serializing_if = "is_false")]
        disable_parallel_tool_use: bool,
    },
    /// The model must call this tool.
    Tool {
        /// The tool's name.
        name: String,
        /// Exactly one call per turn.
        #[serde(default, skip_serializing_if = "is_false")]
        disable_parallel_tool_use: bool,
    },
    /// The model must not call a tool.
    None,
}

/// The answer of `POST /v1/messages`, also inside `message_start`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponseMessage {
    /// `msg_…`.
    pub id: String,
    /// Always `message`.
    #[serde(rename = "type", default = "message_type")]
    pub kind: String,
    /// Always `assistant`.
    pub role: MessageRole,
    /// The model that answered.
    pub model: String,
    /// Empty inside `message_start`.
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// `None` while the answer is being written.
    pub stop_reason: Option<StopReason>,
    /// Which of the request's stop sequences ended the answer.
    #[serde(default)]
    pub stop_sequence: Option<String>,
    /// Tokens used.
    #[serde(default)]
    pub usage: TokenUsage,
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum StopReason {
    /// It is done.
    EndTurn,
    /// It waits for the results of its calls.
    ToolUse,
    /// `max_tokens` reached; a call may be cut in the middle and is never executed.
    MaxTokens,
    /// A stop sequence of the request was written.
    StopSequence,
    /// A long turn of a server tool; send the content back as it is.
    PauseTurn,
    /// The model declined.
    Refusal,
    /// The context window is full; treat like `max_tokens`.
    ModelContextWindowExceeded,
    /// Not known to this program; treat like `end_turn`, never execute a call.
    Other(String),
}

impl StopReason {
    /// The word on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::ModelContextWindowExceeded => "model_context_window_exceeded",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for StopReason {
    fn from(word: String) -> Self {
        match word.as_str() {
            "end_turn" => Self::EndTurn,
            "tool_use" => Self::ToolUse,
            "max_tokens" => Self::MaxTokens,
            "stop_sequence" => Self::StopSequence,
            "pause_turn" => Self::PauseTurn,
            "refusal" => Self::Refusal,
            "model_context_window_exceeded" => Self::ModelContextWindowExceeded,
            _ => Self::Other(word),
        }
    }
}

impl From<StopReason> for String {
    fn from(reason: StopReason) -> Self {
        reason.as_str().to_owned()
    }
}

/// Tokens used. Total input is the sum of the three input counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    /// Input tokens that were neither read from nor written to the cache.
    #[serde(deserialize_with = "null_as_default")]
    pub input_tokens: u64,
    /// Input tokens written to the cache.
    #[serde(deserialize_with = "null_as_default")]
    pub cache_creation_input_tokens: u64,
    /// Input tokens read from the cache.
    #[serde(deserialize_with = "null_as_default")]
    pub cache_read_input_tokens: u64,
    /// Output tokens, thinking included.
    #[serde(deserialize_with = "null_as_default")]
    pub output_tokens: u64,
}

/// The counts inside `message_delta`: cumulative, and only those present replace what is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageDelta {
    /// See [`TokenUsage::input_tokens`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// See [`TokenUsage::cache_creation_input_tokens`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_input_tokens: Option<u64>,
    /// See [`TokenUsage::cache_read_input_tokens`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_input_tokens: Option<u64>,
    /// See [`TokenUsage::output_tokens`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

/// One event of a streamed answer, told apart by `type`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamEvent {
    /// First event.
    MessageStart {
        /// Without content yet.
        message: ResponseMessage,
    },
    /// A block begins.
    ContentBlockStart {
        /// Ascending from 0.
        index: usize,
        /// Empty, except for kinds that are complete at once.
        content_block: ContentBlock,
    },
    /// A block grows.
    ContentBlockDelta {
        /// Which block.
        index: usize,
        /// By what.
        delta: BlockDelta,
    },
    /// A block is complete.
    ContentBlockStop {
        /// Which block.
        index: usize,
    },
    /// The answer is complete but for `message_stop`.
    MessageDelta {
        /// Why the model stopped.
        delta: MessageDelta,
        /// Final counts.
        #[serde(default)]
        usage: UsageDelta,
    },
    /// Last event.
    MessageStop,
    /// Keep-alive, anywhere.
    Ping,
    /// The provider failed in the middle of an answer.
    Error {
        /// What happened.
        error: ApiError,
    },
    /// An event this program does not know.
    #[serde(other)]
    Unknown,
}

/// How a block grows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BlockDelta {
    /// More text.
    TextDelta {
        /// To append.
        text: String,
    },
    /// More of a call's input.
    InputJsonDelta {
        /// To append; an empty total stands for `{}`.
        partial_json: String,
    },
    /// More reasoning.
    ThinkingDelta {
        /// To append.
        thinking: String,
    },
    /// The seal of a reasoning block, last before its end.
    SignatureDelta {
        /// To append.
        signature: String,
    },
    /// A delta this program does not know.
    #[serde(other)]
    Unknown,
}

/// What `message_delta` says about the whole answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageDelta {
    /// Why the model stopped.
    pub stop_reason: Option<StopReason>,
    /// Which stop sequence was written.
    pub stop_sequence: Option<String>,
    /// For a refusal: `{category, …}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_details: Option<Value>,
}

/// The body of an error answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// Always `error`.
    #[serde(rename = "type", default = "error_type")]
    pub kind: String,
    /// What happened.
    pub error: ApiError,
    /// `req_…`, to quote to the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// What went wrong. Branch on `kind` and `details.error_code`, never on `message`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiError {
    /// `overloaded_error`, `invalid_request_error`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// For people.
    #[serde(default)]
    pub message: String,
    /// `{error_code, …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// Reads a list of blocks, a plain string as one text block, or null as none.
fn blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ContentBlock>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum MessageContent {
        Text(String),
        Blocks(Vec<ContentBlock>),
    }
    Ok(match Option::<MessageContent>::deserialize(deserializer)? {
        None => Vec::new(),
        Some(MessageContent::Text(text)) => vec![ContentBlock::text(text)],
        Some(MessageContent::Blocks(blocks)) => blocks,
    })
}

fn null_as_default<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape serde asks for")]
fn is_false(flag: &bool) -> bool {
    !flag
}

fn message_type() -> String {
    "message".into()
}

fn error_type() -> String {
    "error".into()
}
