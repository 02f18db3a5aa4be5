//! Request as clients send it: parsed tolerantly, and refused in the API's format if it makes no
//! sense. Unknown fields and sampling parameters, which mean nothing to current models, are
//! ignored.

mod caching;
mod plain;

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use copydesk_llm::CachePolicy;
use copydesk_llm::messages_api::{
    ChatMessage, ContentBlock, MessageRole, ToolChoice, ToolDefinition,
};

use super::failure::ApiFailure;

/// Maximum number of messages in one request.
const MOST_MESSAGES: usize = 100_000;
/// Maximum characters of a tool's name; the CLI builds long ones from the names of servers.
const LONGEST_TOOL_NAME: usize = 128;
/// Maximum characters of an error message that quotes the request.
const LONGEST_COMPLAINT: usize = 300;
/// Prefixes of the types of tools that clients run themselves. Other types run at the provider, or
/// need a beta that the provider is not informed of.
const NATIVE: [&str; 3] = ["bash_", "text_editor_", "memory_"];
/// Types of blocks that are not allowed inside a result.
const NEVER_INSIDE: [&str; 4] = ["tool_use", "tool_result", "thinking", "redacted_thinking"];

/// Request that was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedRequest {
    /// Model, as the client names it.
    pub model: String,
    /// Maximum number of output tokens; 0 means that nothing is generated.
    pub max_tokens: u32,
    /// System text.
    pub system: String,
    /// Conversation; its texts have the client's own cache breakpoints.
    pub messages: Vec<ChatMessage>,
    /// Cache breakpoints of the client that are not on texts.
    pub caching: CachePolicy,
    /// Tools of the client.
    pub tools: Vec<ToolDefinition>,
    /// Tools of the client that only their type describes; only models of Anthropic know them.
    pub native: Vec<NativeTool>,
    /// Rule whether a tool must, may or must not be called.
    pub choice: Option<ToolChoice>,
    /// Texts that end the answer.
    pub stop_sequences: Vec<String>,
    /// Fields that only a provider of this API understands.
    pub more: Map<String, Value>,
    /// True if the answer is sent as events.
    pub stream: bool,
}

/// Tool that the client runs, and that models of Anthropic were taught.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeTool {
    /// Name of the tool.
    pub name: String,
    /// Definition as the client sent it, without its cache breakpoint.
    pub definition: Value,
}

/// Purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPurpose {
    /// Answer of the model.
    Answer,
    /// Number of the request's tokens.
    Count,
}

impl CheckedRequest {
    /// Reads a body.
    pub fn read(body: &Value, purpose: RequestPurpose) -> Result<Self, ApiFailure> {
        let Some(body) = body.as_object() else { return Err(wrong("the body", "is an object")) };
        if there(body, "thread").is_some() {
            return Err(ApiFailure::thread());
        }
        let max_tokens = match (there(body, "max_tokens"), purpose) {
            (None, RequestPurpose::Answer) => return Err(wrong("max_tokens", "is required")),
            (None, RequestPurpose::Count) => 0,
            (Some(count), _) => {
                let count = count
                    .as_u64()
                    .ok_or_else(|| wrong("max_tokens", "is a whole number of at least 0"))?;
                u32::try_from(count).unwrap_or(u32::MAX)
            }
        };
        let (tools, native) = tools(body)?;
        let asked = Self {
            model: text(body, "model")?.ok_or_else(|| wrong("model", "is required"))?,
            max_tokens,
            system: system(body)?,
            messages: messages(body)?,
            caching: caching::read(body),
            choice: choice(body)?,
            tools,
            native,
            stop_sequences: stop_sequences(body)?,
            more: more(body)?,
            stream: match there(body, "stream") {
                None => false,
                Some(flag) => flag.as_bool().ok_or_else(|| wrong("stream", "is true or false"))?,
            },
        };
        check_results(&asked.messages)?;
        Ok(asked)
    }

    /// Refuses a choice of a tool that exists neither in the request nor among `ours`, the server's
    /// own.
    pub fn check_choice(&self, ours: &[String]) -> Result<(), ApiFailure> {
        let none = self.tools.is_empty() && self.native.is_empty() && ours.is_empty();
        match &self.choice {
            Some(ToolChoice::Tool { name, .. }) if !self.has_tool(name) && !ours.contains(name) => {
                Err(wrong("tool_choice", "there is no tool of this name in `tools`"))
            }
            Some(ToolChoice::Any { .. }) if none => {
                Err(wrong("tool_choice", "may be `any` only where there are tools"))
            }
            _ => Ok(()),
        }
    }

    /// Returns `true` if a tool of the client has this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
            || self.native.iter().any(|tool| tool.name == name)
    }

    /// Refuses tools that the model was not taught.
    pub fn check_taught(&self) -> Result<(), ApiFailure> {
        match self.native.first() {
            Some(tool) => Err(unknown_tool("tools", &tool.definition["type"])),
            None => Ok(()),
        }
    }

    /// Returns the person's latest text, if it is in the last message and that has no tool result.
    pub fn prompt(&self) -> Option<&str> {
        let last =
            self.messages.iter().rev().find(|message| message.role != MessageRole::System)?;
        let result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult { .. });
        if last.role != MessageRole::User || last.content.iter().any(result) {
            return None;
        }
        last.content.iter().rev().find_map(ContentBlock::as_text)
    }

    /// Returns `true` if the last message is the model's, which works only if its answer was
    /// paused.
    pub fn ends_with_answer(&self) -> bool {
        let last = self.messages.iter().rev().find(|message| message.role != MessageRole::System);
        last.is_some_and(|message| message.role == MessageRole::Assistant)
    }
}

fn wrong(place: &str, what: &str) -> ApiFailure {
    ApiFailure::invalid(format!("{place}: {what}"))
}

fn there<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

fn text(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, ApiFailure> {
    match there(fields, name) {
        None => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.clone())),
        Some(_) => Err(wrong(name, "is a string that is not empty")),
    }
}

fn system(body: &Map<String, Value>) -> Result<String, ApiFailure> {
    let Some(system) = there(body, "system") else { return Ok(String::new()) };
    let blocks = blocks(system, "system")?;
    let texts: Option<Vec<_>> = blocks.iter().map(ContentBlock::as_text).collect();
    let texts = texts.ok_or_else(|| wrong("system", "takes only text blocks"))?;
    Ok(texts.join("\n\n"))
}

fn messages(body: &Map<String, Value>) -> Result<Vec<ChatMessage>, ApiFailure> {
    let list = there(body, "messages").ok_or_else(|| wrong("messages", "is required"))?;
    let list = list.as_array().ok_or_else(|| wrong("messages", "is a list"))?;
    if list.len() > MOST_MESSAGES {
        return Err(wrong("messages", "has more than 100000 messages"));
    }
    let mut messages: Vec<ChatMessage> = Vec::new();
    for (index, message) in list.iter().enumerate() {
        let place = format!("messages.{index}");
        let ChatMessage { role, content } = read_message(message, &place)?;
        match messages.last_mut() {
            Some(before) if before.role == role => before.content.extend(content),
            _ => messages.push(ChatMessage { role, content }),
        }
    }
    let mut said = messages.iter().filter(|message| message.role != MessageRole::System);
    match said.next() {
        None => return Err(wrong("messages", "at least one message of the user is required")),
        Some(first) if first.role == MessageRole::Assistant => {
            return Err(wrong("messages", "the first message is the user's"));
        }
        Some(_) => {}
    }
    let newest = messages.iter().rev().find(|message| message.role != MessageRole::System);
    if newest.is_some_and(|it| it.role == MessageRole::User && it.content.is_empty()) {
        return Err(wrong("messages", "the last message must not be empty"));
    }
    caching::take_off_the_last(&mut messages);
    Ok(messages)
}

fn read_message(message: &Value, place: &str) -> Result<ChatMessage, ApiFailure> {
    let role = match message["role"].as_str() {
        Some("user") => MessageRole::User,
        Some("assistant") => MessageRole::Assistant,
        Some("system") => MessageRole::System,
        _ => return Err(wrong(&format!("{place}.role"), "is user, assistant or system")),
    };
    let place = format!("{place}.content");
    let content = message.get("content").ok_or_else(|| wrong(&place, "is required"))?;
    let mut content = blocks(content, &place)?;
    for (index, block) in content.iter().enumerate() {
        let fits = match block {
            ContentBlock::Text { .. } => true,
            ContentBlock::ToolUse { .. }
            | ContentBlock::Thinking { .. }
            | ContentBlock::RedactedThinking { .. } => role == MessageRole::Assistant,
            ContentBlock::ToolResult { .. } => role == MessageRole::User,
            ContentBlock::Other(_) => role != MessageRole::System,
        };
        if !fits {
            let what = "a block of this type does not belong into a message of this role";
            return Err(wrong(&format!("{place}.{index}"), what));
        }
    }
    // Providers refuse empty texts, which some clients leave behind.
    content.retain(|block| block.as_text() != Some(""));
    Ok(ChatMessage { role, content })
}

fn blocks(content: &Value, place: &str) -> Result<Vec<ContentBlock>, ApiFailure> {
    match content {
        Value::String(text) => Ok(vec![ContentBlock::text(text)]),
        Value::Array(list) => {
            let read = |(index, block)| read_block(block, &format!("{place}.{index}"));
            list.iter().enumerate().map(read).collect()
        }
        _ => Err(wrong(place, "is a string or a list of blocks")),
    }
}

/// Returns an object without its null fields: many clients write unused fields as null.
fn without_nulls(value: &Value) -> Cow<'_, Value> {
    match value.as_object() {
        Some(fields) if fields.values().any(Value::is_null) => {
            let there = fields.iter().filter(|(_, value)| !value.is_null());
            let there = there.map(|(name, value)| (name.clone(), value.clone()));
            Cow::Owned(Value::Object(there.collect()))
        }
        _ => Cow::Borrowed(value),
    }
}

fn read_block(value: &Value, place: &str) -> Result<ContentBlock, ApiFailure> {
    let Some(kind) = value["type"].as_str() else {
        return Err(wrong(&format!("{place}.type"), "is required"));
    };
    if kind == "tool_result" {
        return read_result(value, place);
    }
    let block = ContentBlock::deserialize(&*without_nulls(value));
    match block.map_err(|error| wrong(place, &complaint(&error)))? {
        ContentBlock::ToolUse { input, .. } if !input.is_object() => {
            Err(wrong(&format!("{place}.input"), "is an object"))
        }
        // The kind is known, but the block could not be read as one.
        ContentBlock::Other(_) if kind == "text" || NEVER_INSIDE.contains(&kind) => {
            Err(incomplete(place, kind))
        }
        whole => Ok(whole),
    }
}

/// Reads a result. Its content is checked before it is parsed: nested results would be parsed again
/// at each depth.
fn read_result(value: &Value, place: &str) -> Result<ContentBlock, ApiFailure> {
    #[derive(Deserialize)]
    struct BareTool {
        tool_use_id: String,
        #[serde(default)]
        is_error: bool,
    }
    let bare = BareTool::deserialize(&*without_nulls(value))
        .map_err(|_| incomplete(place, "tool_result"))?;
    let BareTool { tool_use_id, is_error } = bare;
    let place = format!("{place}.content");
    let content = there_in(value, "content");
    let listed = content.and_then(Value::as_array).into_iter().flatten();
    let mut kinds = listed.filter_map(|block| block["type"].as_str());
    if kinds.any(|kind| NEVER_INSIDE.contains(&kind)) {
        return Err(wrong(&place, "takes texts, images and documents"));
    }
    let inner = content.map_or_else(|| Ok(Vec::new()), |content| blocks(content, &place))?;
    let content = inner.into_iter().filter(|block| block.as_text() != Some("")).collect();
    Ok(ContentBlock::ToolResult { tool_use_id, content, is_error })
}

fn incomplete(place: &str, kind: &str) -> ApiFailure {
    wrong(place, &format!("a `{kind}` block lacks a field, or has one of another type"))
}

fn there_in<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    there(value.as_object()?, name)
}

fn complaint(error: &serde_json::Error) -> String {
    error.to_string().chars().take(LONGEST_COMPLAINT).collect()
}

/// Checks that calls and results match: right after a message with calls, the user brings a result
/// for each of them before anything else, and no result without a call. A message may have a
/// million calls, so each is looked up in a set.
fn check_results(messages: &[ChatMessage]) -> Result<(), ApiFailure> {
    // `calls` keeps the order, `open` is for lookups.
    let (mut calls, mut open) = (Vec::new(), HashSet::new());
    let said =
        messages.iter().enumerate().filter(|(_, message)| message.role != MessageRole::System);
    for (index, message) in said {
        let place = format!("messages.{index}");
        let leading = message.content.iter().map_while(|block| match block {
            ContentBlock::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_str()),
            _ => None,
        });
        let results: Vec<&str> = leading.collect();
        let all =
            message.content.iter().filter(|block| matches!(block, ContentBlock::ToolResult { .. }));
        if all.count() != results.len() {
            return Err(wrong(&place, "`tool_result` blocks come first"));
        }
        if message.role == MessageRole::User {
            let brought: HashSet<&str> = results.iter().copied().collect();
            if let Some(call) = calls.iter().find(|call| !brought.contains(**call)) {
                let what =
                    "`tool_use` ids were found without `tool_result` blocks immediately after";
                return Err(wrong(&place, &format!("{what}: {call}")));
            }
            // An identifier that is not open was never called, or has its result already.
            if let Some(result) = results.iter().find(|result| !open.remove(**result)) {
                let what = "unexpected `tool_use_id` found in `tool_result` blocks";
                return Err(wrong(&place, &format!("{what}: {result}")));
            }
            calls.clear();
        }
        for block in &message.content {
            let ContentBlock::ToolUse { id, .. } = block else { continue };
            if !open.insert(id.as_str()) {
                return Err(wrong(&place, &format!("`tool_use` ids must be unique: {id}")));
            }
            calls.push(id.as_str());
        }
    }
    match calls.first() {
        None => Ok(()),
        Some(call) => {
            let what = "`tool_use` ids were found without `tool_result` blocks";
            Err(wrong("messages", &format!("{what}: {call}")))
        }
    }
}

fn tools(body: &Map<String, Value>) -> Result<(Vec<ToolDefinition>, Vec<NativeTool>), ApiFailure> {
    let (mut tools, mut native) = (Vec::new(), Vec::new());
    let Some(list) = there(body, "tools") else { return Ok((tools, native)) };
    let list = list.as_array().ok_or_else(|| wrong("tools", "is a list"))?;
    let mut names = HashSet::new();
    for (index, value) in list.iter().enumerate() {
        let place = format!("tools.{index}");
        let name = match there_in(value, "type").filter(|kind| *kind != "custom") {
            None => {
                let tool = ToolDefinition::deserialize(&*without_nulls(value))
                    .map_err(|error| wrong(&place, &complaint(&error)))?;
                if tool.input_schema["type"] != "object" {
                    return Err(wrong(&format!("{place}.input_schema.type"), "is `object`"));
                }
                let name = tool.name.clone();
                tools.push(tool);
                name
            }
            Some(kind) => {
                let tool = native_tool(value, kind, &place)?;
                let name = tool.name.clone();
                native.push(tool);
                name
            }
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > LONGEST_TOOL_NAME || !name.chars().all(plain) {
            let what = "is 1 to 128 letters, digits, `_` and `-`";
            return Err(wrong(&format!("{place}.name"), what));
        }
        if !names.insert(name) {
            return Err(wrong("tools", "tool names must be unique"));
        }
    }
    Ok((tools, native))
}

fn native_tool(value: &Value, kind: &Value, place: &str) -> Result<NativeTool, ApiFailure> {
    let known = |kind: &str| NATIVE.iter().any(|family| kind.starts_with(family));
    if !kind.as_str().is_some_and(known) {
        return Err(unknown_tool(place, kind));
    }
    let name = value["name"].as_str().unwrap_or_default().to_owned();
    let mut definition = value.clone();
    if let Some(fields) = definition.as_object_mut() {
        fields.remove("cache_control");
    }
    Ok(NativeTool { name, definition })
}

fn unknown_tool(place: &str, kind: &Value) -> ApiFailure {
    let what = format!("tools of type {kind} are not known here; describe it as a custom tool");
    wrong(place, &what.chars().take(LONGEST_COMPLAINT).collect::<String>())
}

/// Reads the [`ToolChoice`]; [`CheckedRequest::check_choice`] checks later that the tool exists.
fn choice(body: &Map<String, Value>) -> Result<Option<ToolChoice>, ApiFailure> {
    let Some(value) = there(body, "tool_choice") else { return Ok(None) };
    let what = "is {type: auto | any | tool | none}, for `tool` with a `name`";
    let choice = ToolChoice::deserialize(&*without_nulls(value));
    choice.map(Some).map_err(|_| wrong("tool_choice", what))
}

fn stop_sequences(body: &Map<String, Value>) -> Result<Vec<String>, ApiFailure> {
    let Some(value) = there(body, "stop_sequences") else { return Ok(Vec::new()) };
    Vec::deserialize(value).map_err(|_| wrong("stop_sequences", "is a list of strings"))
}

/// Returns the fields that only a provider of this API understands, without those of a beta that
/// the provider would have to be informed of.
fn more(body: &Map<String, Value>) -> Result<Map<String, Value>, ApiFailure> {
    let mut more = Map::new();
    for name in ["thinking", "output_config"] {
        let Some(value) = there(body, name) else { continue };
        let mut value = value.clone();
        let fields = value.as_object_mut().ok_or_else(|| wrong(name, "is an object"))?;
        let shown = fields.get("display").and_then(Value::as_str);
        if name == "thinking" && shown.is_some_and(|it| !["summarized", "omitted"].contains(&it)) {
            fields.remove("display");
        }
        more.insert(name.to_owned(), value);
    }
    Ok(more)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::*;
    use copydesk_llm::messages_api::CacheControl;

    /// Returns a request with one field replaced, or left out for null.
    pub(crate) fn request(name: &str, value: Value) -> Value {
        let mut body = json!({"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "Hi"}]});
        body[name] = value;
        body
    }

    pub(crate) fn read(body: &Value) -> CheckedRequest {
        CheckedRequest::read(body, RequestPurpose::Answer)
            .unwrap_or_else(|failure| panic!("{failure:?}"))
    }

    fn refused(body: &Value) -> String {
        let asked = CheckedRequest::read(body, RequestPurpose::Answer);
        match asked.and_then(|asked| asked.check_choice(&[]).map(|()| asked)) {
            Err(failure) => {
                assert_eq!(
                    (failure.status, failure.error.kind.as_str()),
                    (400, "invalid_request_error")
                );
                failure.error.message
            }
            Ok(asked) => panic!("{asked:?}"),
        }
    }

    fn all_refused(cases: &[(Value, &str)]) {
        for (body, words) in cases {
            let message = refused(body);
            assert!(message.starts_with(words), "{body}: {message}");
        }
    }

    #[test]
    fn unknown_fields_and_sampling_parameters_are_ignored() {
        let plain = read(&request("x", Value::Null));
        for (name, value) in [
            ("temperature", json!(1)),
            ("context_management", json!({"edits": []})),
            ("metadata", json!({"user_id": "x"})),
            ("system", Value::Null),
            ("thread", Value::Null),
        ] {
            assert_eq!(read(&request(name, value)), plain, "{name}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_place() {
        let user = |content: Value| json!([{"role": "user", "content": content}]);
        let cases = [
            (json!([]), "the body: "),
            (request("model", Value::Null), "model: "),
            (request("model", json!(7)), "model: "),
            (request("max_tokens", Value::Null), "max_tokens: "),
            (request("max_tokens", json!(-1)), "max_tokens: "),
            (request("max_tokens", json!("10")), "max_tokens: "),
            (request("messages", Value::Null), "messages: "),
            (request("messages", json!({})), "messages: "),
            (request("messages", json!([])), "messages: at least one"),
            (
                request("messages", json!([{"role": "system", "content": "x"}])),
                "messages: at least one",
            ),
            (request("messages", json!(["Hi"])), "messages.0.role: "),
            (request("messages", json!([{"role": "tool", "content": "x"}])), "messages.0.role: "),
            (request("messages", json!([{"role": "user"}])), "messages.0.content: "),
            (
                request("messages", json!([{"role": "assistant", "content": "x"}])),
                "messages: the first",
            ),
            (request("messages", user(json!(7))), "messages.0.content: "),
            (request("messages", user(json!(""))), "messages: the last"),
            (request("messages", user(json!([{"text": "x"}]))), "messages.0.content.0.type: "),
            (
                request("messages", user(json!([{"type": "text"}]))),
                "messages.0.content.0: a `text`",
            ),
            (
                request(
                    "messages",
                    user(
                        json!([{"type": "text", "text": "x"}, {"type": "tool_use", "id": "1", "name": "a", "input": {}}]),
                    ),
                ),
                "messages.0.content.1: a block",
            ),
            (
                request(
                    "messages",
                    user(
                        json!([{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text"}]}]),
                    ),
                ),
                "messages.0.content.0.content.0: ",
            ),
        ];
        all_refused(&cases);
    }

    #[test]
    fn so_is_what_makes_no_sense_beside_the_conversation() {
        let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
        let cases = [
            (request("system", json!(7)), "system: "),
            (request("system", json!([{"type": "image"}])), "system: "),
            (request("tools", json!({})), "tools: "),
            (request("tools", json!([{"name": "a"}])), "tools.0: missing field `input_schema`"),
            (request("tools", json!([tool("a b")])), "tools.0.name: "),
            (request("tools", json!([tool("a"), tool("a")])), "tools: "),
            (
                request("tools", json!([{"name": "a", "input_schema": {}}])),
                "tools.0.input_schema.type: ",
            ),
            (
                request("tools", json!([{"type": "web_search_20250305", "name": "web_search"}])),
                "tools.0: tools of type \"web_search_20250305\"",
            ),
            (request("tools", json!([{"type": 7, "name": "bash"}])), "tools.0: tools of type 7"),
            (request("tools", json!([{"type": "bash_20250124"}])), "tools.0.name: "),
            (
                request("tools", json!([tool("bash"), {"type": "bash_20250124", "name": "bash"}])),
                "tools: ",
            ),
            (request("tool_choice", json!("auto")), "tool_choice: "),
            (request("tool_choice", json!({"type": "some"})), "tool_choice: "),
            (request("tool_choice", json!({"type": "any"})), "tool_choice: "),
            (
                request("tool_choice", json!({"type": "tool", "name": "a"})),
                "tool_choice: there is no tool",
            ),
            (request("stop_sequences", json!("x")), "stop_sequences: "),
            (request("thinking", json!(true)), "thinking: "),
            (request("stream", json!("yes")), "stream: "),
        ];
        all_refused(&cases);
    }

    #[test]
    fn tools_that_a_model_was_taught_stay_as_they_are() {
        let editor = json!({"type": "text_editor_20250728", "name": "str_replace_based_edit_tool", "max_characters": 100});
        let mut cached = editor.clone();
        cached["cache_control"] = json!({"type": "ephemeral"});
        let own = json!({"name": "a", "input_schema": {"type": "object"}});
        let mut body = request("tools", json!([cached, own]));
        body["tool_choice"] = json!({"type": "tool", "name": "str_replace_based_edit_tool"});
        let asked = read(&body);
        assert_eq!(asked.native[0].definition, editor);
        assert!(asked.has_tool("str_replace_based_edit_tool") && asked.has_tool("a"));
        let refused = asked.check_taught().expect_err("other models were not taught");
        assert!(refused.error.message.contains("text_editor_20250728"), "{refused:?}");
        assert_eq!(read(&request("tools", json!([own]))).check_taught(), Ok(()));
    }

    #[test]
    fn threads_are_refused_so_that_sdks_go_on_without() {
        let failure = CheckedRequest::read(
            &request("thread", json!({"type": "create"})),
            RequestPurpose::Answer,
        );
        assert_eq!(failure, Err(ApiFailure::thread()));
        // The next call of a thread has no history at all.
        let body = json!({"thread": {"type": "continue"}});
        assert_eq!(CheckedRequest::read(&body, RequestPurpose::Answer), Err(ApiFailure::thread()));
    }

    fn calls(ids: &[&str]) -> Value {
        let call = |id: &&str| json!({"type": "tool_use", "id": id, "name": "a", "input": {}});
        json!({"role": "assistant", "content": ids.iter().map(call).collect::<Vec<_>>()})
    }

    fn results(ids: &[&str], text: Option<&str>) -> Value {
        let result = |id: &&str| json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
        let mut content: Vec<_> = ids.iter().map(result).collect();
        content.extend(text.map(|text| json!({"type": "text", "text": text})));
        json!({"role": "user", "content": content})
    }

    #[test]
    fn calls_and_results_belong_together() {
        let hello = json!({"role": "user", "content": "Hi"});
        let system = json!({"role": "system", "content": []});
        let told = |rest: &[Value]| {
            request("messages", json!([std::slice::from_ref(&hello), rest].concat()))
        };
        read(&told(&[calls(&["1", "2"]), results(&["2", "1"], Some("Well?"))]));
        read(&told(&[calls(&["1"]), system, results(&["1"], None)]));
        // Two messages of the user are one.
        read(&told(&[calls(&["1", "2"]), results(&["1"], None), results(&["2"], None)]));
        for (rest, words) in [
            (vec![calls(&["1"])], "messages: `tool_use` ids were found without"),
            (vec![calls(&["1"]), hello.clone()], "messages.2: `tool_use` ids were found without"),
            (vec![calls(&["1", "2"]), results(&["1"], None)], "messages.2: `tool_use` ids"),
            (
                vec![calls(&["1"]), results(&["1", "9"], None)],
                "messages.2: unexpected `tool_use_id`",
            ),
            (
                vec![calls(&["1"]), results(&["1", "1"], None)],
                "messages.2: unexpected `tool_use_id`",
            ),
            (vec![results(&["1"], None)], "messages.0: `tool_result` blocks come first"),
            (
                vec![calls(&["1", "1"]), results(&["1"], None)],
                "messages.1: `tool_use` ids must be unique",
            ),
        ] {
            let message = refused(&told(&rest));
            assert!(message.starts_with(words), "{message}");
        }
    }

    /// Reads a request in time linear in its length: a slower reader would take minutes here.
    fn read_soon(body: &Value) -> Result<CheckedRequest, ApiFailure> {
        let began = Instant::now();
        let asked = CheckedRequest::read(body, RequestPurpose::Answer);
        assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
        asked
    }

    #[test]
    fn a_message_with_very_many_calls_is_read_as_fast_as_any() {
        let ids: Vec<String> = (0..200_000).map(|number| number.to_string()).collect();
        let forth: Vec<&str> = ids.iter().map(String::as_str).collect();
        let back: Vec<&str> = forth.iter().rev().copied().collect();
        let hello = json!({"role": "user", "content": "Hi"});
        let body = request("messages", json!([hello, calls(&forth), results(&back, None)]));
        let asked = read_soon(&body).expect("each call has its result");
        assert_eq!(asked.messages[2].content.len(), 200_000);
    }

    #[test]
    fn results_within_results_are_refused_before_they_are_read() {
        let text = json!({"type": "text", "text": "x"});
        let mut result = json!(vec![text; 20_000]);
        for depth in 0..50 {
            let id = depth.to_string();
            result = json!([{"type": "tool_result", "tool_use_id": id, "content": result}]);
        }
        let body = request("messages", json!([{"role": "user", "content": result}]));
        let refused = read_soon(&body).expect_err("there is no such thing");
        let words = "messages.0.content.0.content: takes texts, images and documents";
        assert_eq!(refused.error.message, words);
    }

    #[test]
    fn the_conversation_is_read_without_what_is_an_accident() {
        let body = request(
            "messages",
            json!([
                {"role": "system", "content": []},
                {"role": "user", "content": [{"type": "text", "text": "One", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": ""}]},
                {"role": "user", "content": [{"type": "image", "source": {}, "cache_control": {"type": "ephemeral"}}]},
            ]),
        );
        let asked = read(&body);
        let user = ContentBlock::Other(json!({"type": "image", "source": {}}));
        assert_eq!(asked.prompt(), Some("One"));
        let user = ChatMessage { role: MessageRole::User, content: vec![cached("One"), user] };
        assert_eq!(asked.messages[1..], [user]);
        let end = Some(CacheControl::five_minutes());
        assert_eq!(asked.caching, CachePolicy { system: None, end });
    }

    fn cached(text: &str) -> ContentBlock {
        ContentBlock::Text { text: text.into(), cache_control: Some(CacheControl::five_minutes()) }
    }

    #[test]
    fn nulls_are_fields_that_are_not_there() {
        let tool = json!({"name": "a", "description": null, "input_schema": {"type": "object"}, "strict": null});
        let mut body = request("tools", json!([tool]));
        body["tool_choice"] = json!({"type": "auto", "disable_parallel_tool_use": null});
        body["messages"] = json!([
            {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": null, "citations": null}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": null},
                {"type": "tool_use", "id": "1", "name": "a", "input": {"unit": null}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": null, "is_error": null}]},
        ]);
        let asked = read(&body);
        let call = ContentBlock::tool_use("1", "a", json!({"unit": null}));
        assert_eq!(asked.messages[1].content[1], call, "an input is as it is");
        assert_eq!(asked.tools[0].description, "");
        assert_eq!(asked.choice, Some(ToolChoice::Auto { disable_parallel_tool_use: false }));
    }

    #[test]
    fn a_choice_may_be_of_a_tool_that_runs_here() {
        let choice = json!({"type": "tool", "name": "read_document"});
        let asked = read(&request("tool_choice", choice));
        assert_eq!(asked.check_choice(&["read_document".into()]), Ok(()));
        assert!(asked.check_choice(&["other".into()]).is_err());
        let any = read(&request("tool_choice", json!({"type": "any"})));
        assert_eq!(any.check_choice(&["read_document".into()]), Ok(()));
        assert!(any.check_choice(&[]).is_err());
    }

    #[test]
    fn what_is_passed_on_asks_for_no_beta() {
        let thinking = json!({"type": "adaptive", "display": "updates"});
        let more = read(&request("thinking", thinking)).more;
        assert_eq!(Value::Object(more), json!({"thinking": {"type": "adaptive"}}));
    }

    #[test]
    fn to_count_tokens_no_limit_is_needed() {
        assert!(
            CheckedRequest::read(&request("max_tokens", Value::Null), RequestPurpose::Count)
                .is_ok()
        );
    }

    #[test]
    fn an_answer_at_the_end_is_noticed() {
        let said =
            json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hel"}]);
        assert!(read(&request("messages", said)).ends_with_answer());
        assert!(!read(&request("x", Value::Null)).ends_with_answer());
    }
}
