//! Parser of what the CLI writes, one JSON object a line: lines in, an answer out.
//!
//! The lines that matter are the model's own stream events. An answer ends where the model waits
//! for tools, or with the CLI's `result`. Between the two the CLI may call the model several times
//! (after a cut answer, for example), and all of that is one answer here.

use serde::Deserialize;
use serde_json::Value;

use crate::messages_api::{ContentBlock, StopReason, TokenUsage, ToolDefinition};

use super::super::messages_stream::AnswerReader;
use super::super::{AnswerDelta, AssistantMessage, ModelError, ModelResult, delta_stream};
use super::stdin;

/// Longest line in bytes: a call with the longest document, and some more.
const LONGEST_LINE: usize = 32 * 1024 * 1024;
/// Offset between the block numbers of two messages: one message has fewer blocks than this.
const MOST_BLOCKS: u64 = 10_000;
/// Permission mode in which everything is refused that was not allowed by name.
const MODE: &str = "dontAsk";

/// Line of the CLI's output, as far as it matters here.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CliLine {
    /// First line of the CLI, with its tools and its mode.
    Init(CliInit),
    /// Event of the model's stream.
    Event(Value),
    /// Last line: the CLI is done.
    Result(Box<CliEnd>),
    /// Line of any other kind.
    Other,
}

/// Tools, MCP servers and permission mode that the CLI reports.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct CliInit {
    tools: Vec<String>,
    mcp_servers: Vec<CliMcpServer>,
    #[serde(rename = "permissionMode")]
    mode: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct CliMcpServer {
    name: String,
    status: String,
}

/// End of the process, as the CLI reports it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct CliEnd {
    is_error: bool,
    subtype: String,
    result: Option<String>,
    errors: Vec<String>,
    stop_reason: Option<String>,
    api_error_status: Option<u16>,
}

/// Output that is not a whole line yet.
#[derive(Debug, Default)]
pub(super) struct LineBuffer(Vec<u8>);

impl LineBuffer {
    /// Returns the [`CliLine`]s that the next piece of the output completes, with errors in the
    /// places of unreadable lines.
    pub fn feed(&mut self, piece: &[u8]) -> Vec<ModelResult<CliLine>> {
        let mut lines = Vec::new();
        let mut rest = piece;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.0.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            lines.push(read(&std::mem::take(&mut self.0)));
        }
        self.0.extend_from_slice(rest);
        if self.0.len() > LONGEST_LINE {
            lines.push(Err(malformed("a line of more than 32 MiB")));
        }
        lines
    }
}

/// Parses a line as a [`CliLine`]. A line that does not look like JSON is noise of some program in
/// between; one that does and cannot be parsed may have been part of an answer: an error.
fn read(line: &[u8]) -> ModelResult<CliLine> {
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return Ok(CliLine::Other);
    }
    let mut line: Value =
        serde_json::from_slice(line).map_err(|error| malformed(&error.to_string()))?;
    let kind = (line["type"].as_str(), line["subtype"].as_str());
    let wrong = |error: serde_json::Error| malformed(&error.to_string());
    match kind {
        // The messages of a nested model are not part of the answer.
        (Some("stream_event"), _) if line["parent_tool_use_id"].is_null() => {
            Ok(CliLine::Event(line["event"].take()))
        }
        (Some("system"), Some("init")) => {
            Ok(CliLine::Init(serde_json::from_value(line).map_err(wrong)?))
        }
        (Some("result"), _) => Ok(CliLine::Result(serde_json::from_value(line).map_err(wrong)?)),
        _ => Ok(CliLine::Other),
    }
}

/// Result of a [`CliLine`].
#[derive(Debug, PartialEq)]
pub(super) enum LineOutcome {
    /// Next part of the answer.
    Tell(AnswerDelta),
    /// Everything sent of the answer so far is void, except this text.
    Again(String),
    /// Complete answer.
    Done(AssistantMessage),
}

/// Reason why there is no answer.
#[derive(Debug, PartialEq)]
pub(super) enum NoAnswerReason {
    /// The CLI does not know the conversation, or knows it already.
    Thread,
    /// Any other error.
    Failed(ModelError),
}

impl From<ModelError> for NoAnswerReason {
    fn from(error: ModelError) -> Self {
        Self::Failed(error)
    }
}

/// Parser of the answers of one process, one after the other.
#[derive(Default)]
pub(super) struct AnswerParser {
    /// Tools that the CLI was given.
    tools: Vec<ToolDefinition>,
    /// `true` after the process reported that it can only call this server's tools.
    safe: bool,
    /// [`AnswerReader`] of the message that is being written.
    reader: Option<AnswerReader>,
    /// Number of messages of this answer so far.
    messages: u64,
    /// Content of the answer's messages so far.
    content_so_far: Vec<ContentBlock>,
    usage: TokenUsage,
    /// Last complete message of this answer, without its content.
    last: Option<AssistantMessage>,
}

impl AnswerParser {
    pub fn of(tools: Vec<ToolDefinition>) -> Self {
        Self { tools, ..Self::default() }
    }

    /// Processes one line. Returns `None` if it adds nothing to the answer.
    pub fn read_line(&mut self, line: CliLine) -> Result<Option<LineOutcome>, NoAnswerReason> {
        match line {
            CliLine::Init(init) => {
                init.check()?;
                self.safe = true;
                Ok(None)
            }
            CliLine::Event(event) => self.event(event),
            CliLine::Result(ended) => {
                self.end(*ended).map(|answer| Some(LineOutcome::Done(answer)))
            }
            CliLine::Other => Ok(None),
        }
    }

    fn event(&mut self, mut event: Value) -> Result<Option<LineOutcome>, NoAnswerReason> {
        if !self.safe {
            return Err(unsafe_cli("it did not say what it can do").into());
        }
        if event["type"] == "message_start"
            && let Some(cut) = self.reader.replace(AnswerReader::default())
        {
            // The message before was cut on its way, and the CLI asks for it anew.
            self.usage += cut.usage();
            self.messages += 1;
            self.reader().value(event)?;
            let texts: Vec<_> =
                self.content_so_far.iter().filter_map(ContentBlock::as_text).collect();
            return Ok(Some(LineOutcome::Again(texts.concat())));
        }
        if let Some(name) = event.pointer_mut("/content_block/name") {
            *name = stdin::tool(name.as_str().unwrap_or_default(), &self.tools).into();
        }
        if let Some(index) = event.get_mut("index")
            && let Some(number) = index.as_u64()
        {
            *index = (self.messages * MOST_BLOCKS + number).into();
        }
        let delta = self.reader().value(event)?;
        match delta {
            Some(AnswerDelta::Done(message)) => Ok(self.message(message)),
            delta => Ok(delta.map(LineOutcome::Tell)),
        }
    }

    /// Returns the model and the tokens it has used since the last answer, as far as reported.
    pub fn used(&self) -> (&str, TokenUsage) {
        let mut usage = self.usage;
        let last = self.last.as_ref().map_or("", |last| last.model.as_str());
        let Some(reader) = &self.reader else { return (last, usage) };
        usage += reader.usage();
        (reader.model(), usage)
    }

    fn reader(&mut self) -> &mut AnswerReader {
        self.reader.get_or_insert_default()
    }

    /// Adds a complete message. Returns the answer if the model waits for tools; otherwise a later
    /// line says if it is complete.
    fn message(&mut self, mut message: AssistantMessage) -> Option<LineOutcome> {
        self.reader = None;
        self.messages += 1;
        self.usage += message.usage;
        self.content_so_far.append(&mut message.content);
        let waits = self.content_so_far.iter().any(ContentBlock::is_tool_use);
        self.last = Some(message);
        waits.then(|| LineOutcome::Done(self.answer(None)))
    }

    /// Takes everything since the last answer.
    fn answer(&mut self, words: Option<String>) -> AssistantMessage {
        let mut answer = self.last.take().unwrap_or_else(|| {
            delta_stream::complete(Vec::new(), StopReason::EndTurn, self.usage, String::new())
        });
        answer.content = std::mem::take(&mut self.content_so_far);
        if answer.content.is_empty() {
            answer.content.extend(words.map(ContentBlock::text));
        }
        answer.usage = std::mem::take(&mut self.usage);
        self.messages = 0;
        answer
    }

    fn end(&mut self, ended: CliEnd) -> Result<AssistantMessage, NoAnswerReason> {
        let refused = self.last.as_ref().is_some_and(|it| it.stop_reason == StopReason::Refusal);
        if refused || ended.stop_reason.as_deref() == Some("refusal") {
            let mut answer = self.answer(None);
            answer.stop_reason = StopReason::Refusal;
            return Ok(answer);
        }
        if !ended.is_error && ended.subtype == "success" {
            return Ok(self.answer(ended.result.filter(|words| !words.trim().is_empty())));
        }
        Err(ended.failure())
    }
}

impl CliInit {
    /// Returns an error if the CLI can do anything by itself, because it must not continue then.
    fn check(&self) -> ModelResult<()> {
        let own = |tool: &&String| !stdin::is_ours(tool);
        if let Some(tool) = self.tools.iter().find(own) {
            return Err(unsafe_cli(&format!("it has a tool of its own, {tool}")));
        }
        if self.mode != MODE {
            return Err(unsafe_cli(&format!("its permission mode is {:?}", self.mode)));
        }
        match self.mcp_servers.iter().find(|it| it.name != stdin::SERVER) {
            Some(server) => return Err(unsafe_cli(&format!("it uses the server {}", server.name))),
            None if self.mcp_servers.iter().any(|it| it.status == "failed") => {
                return Err(failed("The Claude CLI could not reach the tools of this server"));
            }
            None => {}
        }
        Ok(())
    }
}

impl CliEnd {
    fn failure(self) -> NoAnswerReason {
        let Self { subtype, result, errors, api_error_status, .. } = self;
        let words: Vec<String> = errors.into_iter().chain(result).collect();
        let words = words.join("\n");
        if is_about_thread(&words) {
            return NoAnswerReason::Thread;
        }
        if api_error_status == Some(401) || is_about_login(&words) {
            return not_logged_in(&words).into();
        }
        let words = if words.is_empty() { subtype } else { words };
        failed(&format!("The Claude CLI failed: {words}")).into()
    }
}

/// Returns the reason for the end of a process without a `result`, from its standard error.
pub fn ended_without_result(code: Option<i32>, complaints: &str) -> NoAnswerReason {
    if is_about_thread(complaints) {
        return NoAnswerReason::Thread;
    }
    if is_about_login(complaints) {
        return not_logged_in(complaints).into();
    }
    let how = match code {
        Some(code) => format!("ended with exit code {code}"),
        None => "was ended by a signal".to_owned(),
    };
    let complaints = complaints.trim();
    let colon = if complaints.is_empty() { "" } else { ": " };
    failed(&format!("The Claude CLI {how} before it answered{colon}{complaints}")).into()
}

fn is_about_thread(words: &str) -> bool {
    words.contains("No conversation found with session ID")
        || (words.contains("Session ID") && words.contains("already in use"))
}

fn is_about_login(words: &str) -> bool {
    ["/login", "Not logged in", "Invalid API key", "OAuth token has expired"]
        .iter()
        .any(|it| words.contains(it))
}

fn not_logged_in(words: &str) -> ModelError {
    let message = format!(
        "The Claude CLI is not logged in on the server: run `claude` there as the same user and log in (it said: {words})"
    );
    ModelError::Program { code: "claude_not_logged_in", message }
}

fn unsafe_cli(why: &str) -> ModelError {
    let message = format!(
        "The Claude CLI was stopped, because {why}; update it (`claude update`) and try again"
    );
    ModelError::Program { code: "claude_unsafe", message }
}

pub fn failed(message: &str) -> ModelError {
    ModelError::Program { code: "claude_failed", message: message.to_owned() }
}

fn malformed(message: &str) -> ModelError {
    failed(&format!("What the Claude CLI said cannot be read: {message}"))
}

#[cfg(test)]
mod tests;
