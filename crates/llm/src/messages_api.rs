//! Types of the Messages API, which the agent and all models use. Reading is tolerant: unknown
//! fields are dropped, unknown blocks are kept as they came ([`ContentBlock::Other`]), unknown
//! stream events and deltas become [`StreamEvent::Unknown`] and [`BlockDelta::Unknown`]. A string
//! where the API also allows a list of blocks is read as one text block.

use std::ops::AddAssign;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Body of `POST /v1/messages`. The API version in use has no sampling parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessagesRequest {
    /// Name of the model: any string; the provider knows the names that exist.
    pub model: String,
    /// Upper bound of output tokens; 0 only fills the prompt cache.
    pub max_tokens: u32,
    /// System text as text blocks; a plain string is read as one block.
    #[serde(default, deserialize_with = "blocks", skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<ContentBlock>,
    /// Conversation, oldest message first.
    pub messages: Vec<ChatMessage>,
    /// Tools that the model may call, in a fixed order (the prompt cache depends on it).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition>,
    /// Rule for calls: the model must, may or must not call a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Breakpoint that the provider puts on the last cacheable block by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl>,
    /// `true` to answer as server-sent events.
    #[serde(default)]
    pub stream: bool,
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Role of the speaker.
    pub role: MessageRole,
    /// Content of the message; a plain string is read as one text block.
    #[serde(deserialize_with = "blocks")]
    pub content: Vec<ContentBlock>,
}

impl ChatMessage {
    /// Builds a message of the person, with one text block.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: MessageRole::User, content: vec![ContentBlock::text(text)] }
    }

    /// Builds a message of the model.
    pub fn assistant(content: Vec<ContentBlock>) -> Self {
        Self { role: MessageRole::Assistant, content }
    }

    /// Builds the answer to every [`ContentBlock::ToolUse`] before: results, then text.
    pub fn results(content: Vec<ContentBlock>) -> Self {
        Self { role: MessageRole::User, content }
    }
}

/// Role of a message. Real clients also send `system` in the middle of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The person; also the role of every tool result.
    User,
    /// The model.
    Assistant,
    /// Instructions in the middle of a conversation.
    System,
}

/// Part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    /// Plain text.
    Text {
        /// The text; the provider refuses an empty one.
        text: String,
        /// Cache breakpoint after this block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    /// Call of a tool by the model.
    ToolUse {
        /// Identifier, unique within the conversation.
        id: String,
        /// Name of the tool.
        name: String,
        /// Input of the call, a JSON object.
        input: Value,
    },
    /// Answer to a [`ContentBlock::ToolUse`].
    ToolResult {
        /// Identifier of the call.
        tool_use_id: String,
        /// Content of the result; a plain string is read as one text block.
        #[serde(default, deserialize_with = "blocks", skip_serializing_if = "Vec::is_empty")]
        content: Vec<ContentBlock>,
        /// `true` if the call failed, was denied or was rejected.
        #[serde(default, skip_serializing_if = "is_false")]
        is_error: bool,
    },
    /// Reasoning; must be sent back unchanged, in the same place.
    Thinking {
        /// Text of the reasoning, possibly empty.
        thinking: String,
        /// Signature of the provider.
        #[serde(default)]
        signature: String,
    },
    /// Encrypted reasoning; must be sent back unchanged, in the same place.
    RedactedThinking {
        /// Opaque data.
        data: String,
    },
    /// Block of a kind that this program does not know (images, documents, …), kept as it came.
    #[serde(untagged)]
    Other(Value),
}

impl ContentBlock {
    /// Builds a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), cache_control: None }
    }

    /// Builds a tool call.
    pub fn tool_use(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self::ToolUse { id: id.into(), name: name.into(), input }
    }

    /// Builds a successful tool result with one text.
    pub fn tool_result(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        let content = vec![Self::text(text)];
        Self::ToolResult { tool_use_id: tool_use_id.into(), content, is_error: false }
    }

    /// Builds a tool result with the reason why nothing was done.
    pub fn tool_error(tool_use_id: impl Into<String>, text: impl Into<String>) -> Self {
        let content = vec![Self::text(text)];
        Self::ToolResult { tool_use_id: tool_use_id.into(), content, is_error: true }
    }

    /// Returns the text of a text block; `None` for any other block.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text { text, .. } = self { Some(text) } else { None }
    }

    /// Returns `true` for a call of a tool.
    pub fn is_tool_use(&self) -> bool {
        matches!(self, Self::ToolUse { .. })
    }

    /// Returns the approximate number of bytes of text.
    pub fn text_bytes(&self) -> usize {
        match self {
            Self::Text { text, .. } => text.len(),
            Self::ToolUse { id, name, input } => id.len() + name.len() + input.to_string().len(),
            Self::ToolResult { content, .. } => content.iter().map(Self::text_bytes).sum(),
            Self::Thinking { thinking, signature } => thinking.len() + signature.len(),
            Self::RedactedThinking { data } => data.len(),
            Self::Other(value) => value.to_string().len(),
        }
    }
}

/// Breakpoint up to which the provider may cache the prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheControl {
    /// Kind of cache entry; always `ephemeral`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Lifetime: `5m` (when absent) or `1h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
}

impl CacheControl {
    /// Returns a breakpoint that lasts five minutes after the last use.
    pub fn five_minutes() -> Self {
        Self { kind: "ephemeral".into(), ttl: None }
    }

    /// Returns a breakpoint that lasts an hour, because people take minutes to decide.
    pub fn one_hour() -> Self {
        Self { kind: "ephemeral".into(), ttl: Some("1h".into()) }
    }
}

/// Tool that the model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Name, matching `^[a-zA-Z0-9_-]{1,64}$`.
    pub name: String,
    /// Description for the model: the purpose of the tool and its use.
    #[serde(default)]
    pub description: String,
    /// JSON Schema of the input, an object.
    pub input_schema: Value,
    /// `true` if names and inputs are guaranteed to validate (needs `additionalProperties: false`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Name for programs that know the MCP proxy protocol, if it differs. Never sent to a provider.
    #[serde(skip)]
    pub alias: Option<String>,
}

/// Rule for calls: the model must, may or must not call a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    Auto {
        /// `true` for at most one call per turn.
        #[serde(default, skip_serializing_if = "is_false")]
        disable_parallel_tool_use: bool,
    },
    /// The model must call some tool.
    Any {
        /// `true` for exactly one call per turn.
        #[serde(default, skip_serializing_if = "is_false")]
        disable_parallel_tool_use: bool,
    },
    /// The model must call this tool.
    Tool {
        /// Name of the tool.
        name: String,
        /// `true` for exactly one call per turn.
        #[serde(default, skip_serializing_if = "is_false")]
        disable_parallel_tool_use: bool,
    },
    /// The model must not call a tool.
    None,
}

/// Answer of `POST /v1/messages`, also inside [`StreamEvent::MessageStart`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponseMessage {
    /// Identifier, `msg_…`.
    pub id: String,
    /// Kind of object; always `message`.
    #[serde(rename = "type", default = "message_type")]
    pub kind: String,
    /// Role of the speaker; always `assistant`.
    pub role: MessageRole,
    /// Name of the model that answered.
    pub model: String,
    /// Content of the answer; empty inside [`StreamEvent::MessageStart`].
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// Reason for the end; `None` while the answer is being written.
    pub stop_reason: Option<StopReason>,
    /// Stop sequence of the request that ended the answer.
    #[serde(default)]
    pub stop_sequence: Option<String>,
    /// Tokens used.
    #[serde(default)]
    pub usage: TokenUsage,
}

/// Reason for the end of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum StopReason {
    /// The answer is complete.
    EndTurn,
    /// The model waits for the results of its calls.
    ToolUse,
    /// The answer reached `max_tokens`; a call may be cut in the middle and is never executed.
    MaxTokens,
    /// The model wrote a stop sequence of the request.
    StopSequence,
    /// A long turn of a server tool was paused; the content is to be sent back as it is.
    PauseTurn,
    /// The model declined.
    Refusal,
    /// The context window is full; treated like [`StopReason::MaxTokens`].
    ModelContextWindowExceeded,
    /// An unknown reason; treated like [`StopReason::EndTurn`], and no call is executed.
    Other(String),
}

impl StopReason {
    /// Returns the reason as the API writes it.
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

/// Number of tokens used. The total input is the sum of the three input counts.
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

impl TokenUsage {
    /// Returns the tokens of the request, cached ones too.
    pub fn sent(&self) -> u64 {
        let cached = self.cache_creation_input_tokens.saturating_add(self.cache_read_input_tokens);
        self.input_tokens.saturating_add(cached)
    }
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, more: Self) {
        let Self {
            input_tokens,
            cache_creation_input_tokens,
            cache_read_input_tokens,
            output_tokens,
        } = more;
        for (sum, more) in [
            (&mut self.input_tokens, input_tokens),
            (&mut self.cache_creation_input_tokens, cache_creation_input_tokens),
            (&mut self.cache_read_input_tokens, cache_read_input_tokens),
            (&mut self.output_tokens, output_tokens),
        ] {
            // A provider may send any number.
            *sum = sum.saturating_add(more);
        }
    }
}

/// Token counts inside [`StreamEvent::MessageDelta`], cumulative where present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageDelta {
    /// Count for [`TokenUsage::input_tokens`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Count for [`TokenUsage::cache_creation_input_tokens`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_input_tokens: Option<u64>,
    /// Count for [`TokenUsage::cache_read_input_tokens`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_input_tokens: Option<u64>,
    /// Count for [`TokenUsage::output_tokens`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

/// Event of a streamed answer, distinguished by `type`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamEvent {
    /// First event.
    MessageStart {
        /// Message without content yet.
        message: ResponseMessage,
    },
    /// Start of a block.
    ContentBlockStart {
        /// Number of the block, ascending from 0.
        index: usize,
        /// Initial block: empty, except for kinds that are complete at once.
        content_block: ContentBlock,
    },
    /// Addition to a block.
    ContentBlockDelta {
        /// Number of the block.
        index: usize,
        /// Added piece.
        delta: BlockDelta,
    },
    /// End of a block.
    ContentBlockStop {
        /// Number of the block.
        index: usize,
    },
    /// Data about the whole answer, which is complete except for [`StreamEvent::MessageStop`].
    MessageDelta {
        /// Reason for the end.
        delta: MessageDelta,
        /// Final token counts.
        #[serde(default)]
        usage: UsageDelta,
    },
    /// Last event.
    MessageStop,
    /// Keep-alive, at any place in the stream.
    Ping,
    /// Failure of the provider in the middle of an answer.
    Error {
        /// Description of the failure.
        error: ProviderError,
    },
    /// Event that this program does not know.
    #[serde(other)]
    Unknown,
}

/// Piece that is added to a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BlockDelta {
    /// Further text.
    TextDelta {
        /// Text to append.
        text: String,
    },
    /// Further part of a call's input.
    InputJsonDelta {
        /// JSON to append; if all pieces are empty, the input is `{}`.
        partial_json: String,
    },
    /// Further reasoning.
    ThinkingDelta {
        /// Reasoning to append.
        thinking: String,
    },
    /// Signature of a reasoning block, last before its end.
    SignatureDelta {
        /// Signature to append.
        signature: String,
    },
    /// Delta that this program does not know.
    #[serde(other)]
    Unknown,
}

/// Data of [`StreamEvent::MessageDelta`] about the whole answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageDelta {
    /// Reason for the end.
    pub stop_reason: Option<StopReason>,
    /// Stop sequence that was written.
    pub stop_sequence: Option<String>,
    /// Details of a refusal: `{category, …}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_details: Option<Value>,
}

/// Body of an error answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// Kind of object; always `error`.
    #[serde(rename = "type", default = "error_type")]
    pub kind: String,
    /// Description of the error.
    pub error: ProviderError,
    /// Identifier `req_…`, to quote to the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// Description of an error. Branch on `kind` and `details.error_code`, never on `message`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProviderError {
    /// Kind of error: `overloaded_error`, `invalid_request_error`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Description for people.
    #[serde(default)]
    pub message: String,
    /// Details for programs: `{error_code, …}`.
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
