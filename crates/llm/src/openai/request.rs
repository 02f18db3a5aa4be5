//! Builds the requests of chat completions.

use serde::Serialize;
use serde_json::{Value, json};

use crate::messages_api::{ChatMessage, ContentBlock, MessageRole, ToolChoice, ToolDefinition};
use crate::{ModelRequest, names, prices};

/// Fields that a server accepts in a [`CompletionBody`], as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServerDialect {
    /// Field for the bound of output tokens.
    pub limit: OutputLimitField,
    /// Support for `stream_options`.
    pub stream_options: StreamOptions,
    /// Effort of reasoning in requests with tools.
    pub effort: ReasoningEffort,
    /// `true` if the answers begin in the middle of the model's reasoning.
    pub is_thinking: bool,
}

/// Amount of reasoning that a model is asked for before it answers.
///
/// From GPT-5.6 on, models of `OpenAI` reason unless the request forbids it, and while they reason
/// they accept no function tools on chat completions: 400 `Function tools with reasoning_effort are
/// not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or
/// set reasoning_effort to 'none'.` (<https://github.com/BerriAI/litellm/pull/34569>, with the
/// answers of the API).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReasoningEffort {
    /// The model's own default. The field is not sent, because most servers do not know it.
    Unsaid,
    /// No reasoning.
    Off,
}

/// Field of a server for the bound of output tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputLimitField {
    /// `max_tokens`, the old name, which local servers know.
    MaxTokens,
    /// `max_completion_tokens`, the new name, which `OpenAI`'s reasoning models require.
    MaxCompletionTokens,
    /// No bound is sent: the server accepts none, or only a lower one.
    Left,
}

/// Support of a server for `stream_options`, which ask for the counts of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamOptions {
    Taken,
    Refused,
}

impl Default for ServerDialect {
    fn default() -> Self {
        Self {
            limit: OutputLimitField::MaxTokens,
            stream_options: StreamOptions::Taken,
            effort: ReasoningEffort::Unsaid,
            is_thinking: false,
        }
    }
}

impl ServerDialect {
    /// Returns the dialect to try after a 400 or 422 with the text `message`, if any.
    pub(super) fn without_refused_field(self, message: &str) -> Option<Self> {
        let mentions = |word| message.contains(word);
        if mentions("stream_options") && self.stream_options == StreamOptions::Taken {
            return Some(Self { stream_options: StreamOptions::Refused, ..self });
        }
        if mentions(EFFORT) && self.effort == ReasoningEffort::Unsaid {
            return Some(Self { effort: ReasoningEffort::Off, ..self });
        }
        let limit = match self.limit {
            OutputLimitField::MaxTokens
                if mentions("max_completion_tokens") && mentions("instead") =>
            {
                OutputLimitField::MaxCompletionTokens
            }
            OutputLimitField::MaxTokens | OutputLimitField::MaxCompletionTokens
                if ["max_tokens", "max_completion_tokens", "maximum context length"]
                    .into_iter()
                    .any(mentions) =>
            {
                OutputLimitField::Left
            }
            OutputLimitField::MaxTokens
            | OutputLimitField::MaxCompletionTokens
            | OutputLimitField::Left => return None,
        };
        Some(Self { limit, ..self })
    }

    /// Returns `true` if such an error means that the model accepts no tools, because it reasons
    /// always, as `gpt-6-astra` and `gpt-6.1-sol` do: `'reasoning_effort' does not support 'none'
    /// with this model. Supported values are: 'low', 'medium', 'high', and 'xhigh'.`
    /// (<https://github.com/genkit-ai/genkit/pull/6303>).
    pub(super) fn is_without_tools(self, message: &str) -> bool {
        self.effort == ReasoningEffort::Off && message.contains(EFFORT)
    }
}

const EFFORT: &str = "reasoning_effort";

/// Body of `POST …/chat/completions`.
#[derive(Debug, Serialize)]
pub(super) struct CompletionBody<'a> {
    model: &'a str,
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
}

impl CompletionBody<'_> {
    pub(super) fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.messages.iter().filter_map(|message| message["content"].as_str())
    }
}

/// Builds the [`CompletionBody`] as it is sent. Nothing that changes from call to call stands
/// before the conversation: servers reuse their computations for an equal beginning.
pub(super) fn body<'a>(
    request: &'a ModelRequest,
    model: &'a str,
    dialect: ServerDialect,
) -> CompletionBody<'a> {
    let limit = match request.max_tokens {
        0 => prices::max_output(model),
        limit => limit,
    };
    let usage = json!({"include_usage": true});
    // Reasoning is switched off only for tools.
    let is_off = dialect.effort == ReasoningEffort::Off && !request.tools.is_empty();
    CompletionBody {
        model,
        messages: messages(&request.system, &request.messages),
        tools: request.tools.iter().map(tool).collect(),
        tool_choice: request.tool_choice.as_ref().map(choice),
        parallel_tool_calls: request.tool_choice.as_ref().and_then(parallel),
        stop: &request.stop_sequences,
        max_tokens: (dialect.limit == OutputLimitField::MaxTokens).then_some(limit),
        max_completion_tokens: (dialect.limit == OutputLimitField::MaxCompletionTokens)
            .then_some(limit),
        reasoning_effort: is_off.then_some("none"),
        stream: true,
        stream_options: (dialect.stream_options == StreamOptions::Taken).then_some(usage),
    }
}

fn tool(tool: &ToolDefinition) -> Value {
    let ToolDefinition { name, description, input_schema, strict, alias: _ } = tool;
    let mut function =
        json!({"name": name, "description": description, "parameters": input_schema});
    if let Some(strict) = strict {
        function["strict"] = json!(strict);
    }
    json!({"type": "function", "function": function})
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto { .. } => json!("auto"),
        ToolChoice::Any { .. } => json!("required"),
        ToolChoice::Tool { name, .. } => json!({"type": "function", "function": {"name": name}}),
        ToolChoice::None => json!("none"),
    }
}

/// Returns `Some(false)` if at most one call is wanted; many servers do not know the field.
fn parallel(choice: &ToolChoice) -> Option<bool> {
    match choice {
        ToolChoice::Auto { disable_parallel_tool_use: one }
        | ToolChoice::Any { disable_parallel_tool_use: one }
        | ToolChoice::Tool { disable_parallel_tool_use: one, .. } => one.then_some(false),
        ToolChoice::None => None,
    }
}

fn messages(system: &str, conversation: &[ChatMessage]) -> Vec<Value> {
    let mut all = Vec::new();
    if !system.is_empty() {
        all.push(json!({"role": "system", "content": system}));
    }
    let mut conversation = conversation.to_vec();
    names::tidy(&mut conversation);
    for ChatMessage { role, content } in &conversation {
        match role {
            MessageRole::Assistant => all.extend(assistant(content)),
            MessageRole::User => {
                // Results come first, each in a message of its own, right after their calls.
                all.extend(content.iter().filter_map(result));
                say(&mut all, "user", &texts(content, "\n\n"));
            }
            MessageRole::System => say(&mut all, "system", &texts(content, "\n\n")),
        }
    }
    all
}

/// Adds a text, joined with the message before if that has the same role: many chat templates
/// require alternating roles.
fn say(all: &mut Vec<Value>, role: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    if let Some(last) = all.last_mut().filter(|last| last["role"] == role)
        && let Some(earlier) = last["content"].as_str()
    {
        last["content"] = json!(format!("{earlier}\n\n{text}"));
        return;
    }
    all.push(json!({"role": role, "content": text}));
}

/// Builds the message for text and calls; reasoning is not sent back.
fn assistant(content: &[ContentBlock]) -> Option<Value> {
    let text = texts(content, "\n");
    let calls: Vec<Value> = content.iter().filter_map(call).collect();
    let text = if text.is_empty() { Value::Null } else { json!(text) };
    match (calls.is_empty(), text.is_null()) {
        (true, true) => None,
        (true, false) => Some(json!({"role": "assistant", "content": text})),
        (false, _) => Some(json!({"role": "assistant", "content": text, "tool_calls": calls})),
    }
}

fn call(block: &ContentBlock) -> Option<Value> {
    let ContentBlock::ToolUse { id, name, input } = block else { return None };
    // An input that is not an object could not be read: it is sent back as it came.
    let arguments = input.as_str().map_or_else(|| input.to_string(), str::to_owned);
    Some(json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}))
}

fn result(block: &ContentBlock) -> Option<Value> {
    let ContentBlock::ToolResult { tool_use_id, content, is_error } = block else { return None };
    let text = texts(content, "\n");
    // The protocol has no other field for this.
    let text = if *is_error { format!("ERROR: {text}") } else { text };
    Some(json!({"role": "tool", "tool_call_id": tool_use_id, "content": text}))
}

fn texts(content: &[ContentBlock], between: &str) -> String {
    let texts: Vec<_> = content.iter().filter_map(ContentBlock::as_text).collect();
    texts.join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_keeps_its_order_and_loses_only_its_reasoning() {
        let thinking = ContentBlock::Thinking { thinking: "Hm.".into(), signature: "s".into() };
        let conversation = [
            ChatMessage::user("Tighten it."),
            ChatMessage::assistant(vec![
                thinking.clone(),
                ContentBlock::text("Two changes."),
                ContentBlock::tool_use("call_1", "a", json!({"x": 1})),
                ContentBlock::tool_use("call_2", "b", json!("{not json")),
            ]),
            ChatMessage::results(vec![
                ContentBlock::tool_result("call_1", "Applied"),
                ContentBlock::tool_error("call_2", "User rejected: no"),
                ContentBlock::text("And now?"),
            ]),
            ChatMessage::assistant(vec![thinking]),
            ChatMessage::user("Well?"),
        ];
        let call = |id, name, arguments| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
        let expected = [
            json!({"role": "system", "content": "Rules."}),
            json!({"role": "user", "content": "Tighten it."}),
            json!({"role": "assistant", "content": "Two changes.", "tool_calls": [
                call("call_1", "a", r#"{"x":1}"#), call("call_2", "b", "{not json")]}),
            json!({"role": "tool", "tool_call_id": "call_1", "content": "Applied"}),
            json!({"role": "tool", "tool_call_id": "call_2", "content": "ERROR: User rejected: no"}),
            json!({"role": "user", "content": "And now?\n\nWell?"}),
        ];
        assert_eq!(messages("Rules.", &conversation), expected);
    }

    #[test]
    fn what_the_caller_chose_is_said_in_the_servers_words() {
        let encoded = |tool_choice| {
            let stop_sequences = vec!["END".to_owned()];
            let request = ModelRequest { tool_choice, stop_sequences, ..ModelRequest::default() };
            let body = json!(body(&request, "m", ServerDialect::default()));
            assert_eq!(body["stop"], json!(["END"]));
            (body["tool_choice"].clone(), body["parallel_tool_calls"].clone())
        };
        let (many, one) = (false, true);
        let function = json!({"type": "function", "function": {"name": "a"}});
        let named = |disable_parallel_tool_use| ToolChoice::Tool {
            name: "a".into(),
            disable_parallel_tool_use,
        };
        assert_eq!(encoded(None), (Value::Null, Value::Null));
        assert_eq!(encoded(Some(ToolChoice::None)), (json!("none"), Value::Null));
        assert_eq!(encoded(Some(named(many))), (function.clone(), Value::Null));
        assert_eq!(encoded(Some(named(one))), (function, json!(false)));
        let any = ToolChoice::Any { disable_parallel_tool_use: one };
        assert_eq!(encoded(Some(any)), (json!("required"), json!(false)));
        let auto = ToolChoice::Auto { disable_parallel_tool_use: many };
        assert_eq!(encoded(Some(auto)), (json!("auto"), Value::Null));
    }

    #[test]
    fn a_server_is_asked_again_without_what_it_names() {
        let old = ServerDialect::default();
        let refusals = [
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_tokens is too large: 32000. This model supports at most 16384 completion tokens",
            "This model's maximum context length is 8192 tokens. However, you requested 36000 tokens",
        ];
        let limits: Vec<_> = refusals
            .iter()
            .filter_map(|words| old.without_refused_field(words).map(|it| it.limit))
            .collect();
        assert_eq!(
            limits,
            [OutputLimitField::MaxCompletionTokens, OutputLimitField::Left, OutputLimitField::Left]
        );
        let none = ServerDialect { limit: OutputLimitField::Left, ..old };
        assert_eq!(
            none.without_refused_field(refusals[2]),
            None,
            "then it is the conversation that is too long"
        );
        let bare =
            old.without_refused_field("Unrecognized request argument supplied: stream_options");
        let refused = Some(StreamOptions::Refused);
        assert_eq!(bare.map(|it| it.stream_options), refused);
        assert_eq!(bare.and_then(|it| it.without_refused_field("stream_options")), None);
        assert_eq!(old.without_refused_field("the model `x` does not exist"), None);
    }

    #[test]
    fn a_model_that_takes_no_tools_while_it_thinks_is_asked_not_to_think() {
        let refusals = [
            "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
            "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'low', 'medium', 'high', and 'xhigh'.",
        ];
        let first = ServerDialect {
            limit: OutputLimitField::MaxCompletionTokens,
            ..ServerDialect::default()
        };
        assert!(!first.is_without_tools(refusals[0]), "it may without thinking");
        let off = first.without_refused_field(refusals[0]).expect("it can be told not to think");
        assert_eq!(off, ServerDialect { effort: ReasoningEffort::Off, ..first });
        assert!(off.is_without_tools(refusals[1]));
        assert_eq!(off.without_refused_field(refusals[1]), None);
        assert!(!off.is_without_tools("max_tokens is too large"));
        let tool = ToolDefinition {
            name: "a".into(),
            description: "A.".into(),
            input_schema: json!({}),
            strict: None,
            alias: None,
        };
        let with_tools = ModelRequest { tools: vec![tool], ..ModelRequest::default() };
        let encoded = |request, dialect| json!(body(request, "m", dialect)).get(EFFORT).cloned();
        assert_eq!(encoded(&with_tools, first), None);
        assert_eq!(encoded(&with_tools, off), Some(json!("none")));
        assert_eq!(encoded(&ModelRequest::default(), off), None, "without tools it may think");
    }
}
