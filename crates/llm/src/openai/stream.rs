//! Reads a streamed answer of chat completions, as many kinds of servers send it.
//!
//! An answer is complete when the server sends a `finish_reason` or `[DONE]`. The calls themselves
//! decide if they are to be run, unless the server's reason says that they may be cut.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::errors;
use crate::delta_stream::{self, DeltaSink};
use crate::messages_api::{ContentBlock, StopReason, TokenUsage};
use crate::openai::calls::{CallStep, StreamedCalls};
use crate::openai::reasoning_filter::{TextOpening, ThoughtEndFinder};
use crate::sse_events::{SseEvent, SseSplitter};
use crate::{AnswerDelta, AssistantMessage, ModelError, ModelResult, malformed};

/// Largest answer in bytes: far above any limit of tokens, and too small to fill the memory.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// Longest time for the token counts after the answer: some servers keep the connection open.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Reads `bytes` until the answer of `model` is complete, and sends every delta on the way.
pub(super) async fn read(
    bytes: impl Stream<Item = ModelResult<Bytes>>,
    model: &str,
    thoughts: UnopenedThoughts<'_>,
    sink: &DeltaSink,
) -> ModelResult<AssistantMessage> {
    let mut bytes = pin!(bytes);
    let mut left = MAX_ANSWER_BYTES;
    let mut splitter = SseSplitter::default();
    let mut reader = CompletionReader::new(model, thoughts);
    let mut deadline = None;
    loop {
        let piece = if reader.reason.is_none() {
            bytes.next().await.transpose()?
        } else {
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + LAST_WORDS);
            // An error at this point comes after the complete answer, so it is ignored.
            timeout_at(deadline, bytes.next()).await.ok().flatten().and_then(Result::ok)
        };
        let Some(piece) = piece else { break };
        left = left.checked_sub(piece.len()).ok_or_else(|| malformed("more than 64 MiB"))?;
        let mut events = Vec::new();
        let fed = splitter.feed(&piece, &mut events);
        for event in &events {
            reader.read_event(event, sink).await?;
            if reader.done {
                return reader.finish(sink).await;
            }
        }
        fed?;
    }
    // The last event may lack its empty line; an incomplete event is ignored.
    if let Ok(Some(event)) = splitter.rest()
        && (event.data.trim() == DONE || serde_json::from_str::<Value>(&event.data).is_ok())
    {
        reader.read_event(&event, sink).await?;
    }
    reader.finish(sink).await
}

/// Reads an answer that came in one piece.
pub(super) async fn read_whole(
    answer: Value,
    model: &str,
    thoughts: UnopenedThoughts<'_>,
    sink: &DeltaSink,
) -> ModelResult<AssistantMessage> {
    let mut reader = CompletionReader::new(model, thoughts);
    if !answer["choices"].is_array() && errors::mid_stream(&answer).is_none() {
        return Err(malformed("an answer without choices"));
    }
    let mut deltas = Vec::new();
    reader.chunk(&answer, &mut deltas)?;
    reader.done = true;
    tell(deltas, sink).await;
    reader.finish(sink).await
}

const DONE: &str = "[DONE]";

async fn tell(deltas: Vec<AnswerDelta>, sink: &DeltaSink) {
    for delta in deltas {
        match delta {
            AnswerDelta::Reset => sink.send_reset().await,
            delta => sink.send(delta).await,
        }
    }
}

/// State of a [`CompletionReader`] for answers that may begin in the middle of reasoning, as with
/// chat templates that open the tag.
#[derive(Clone, Copy)]
pub(super) struct UnopenedThoughts<'a> {
    /// `true` if the last answer began in that way.
    pub begun: bool,
    /// Function to call as soon as an answer shows if it begins in that way.
    pub learn: &'a (dyn Fn(bool) + Send + Sync),
}

/// Reader of the chunks of one [`AssistantMessage`].
struct CompletionReader<'a> {
    model: String,
    opening: TextOpening,
    /// Finder of the end of reasoning that had no beginning; `None` after it was found once.
    seeker: Option<ThoughtEndFinder>,
    thoughts: UnopenedThoughts<'a>,
    blocks: Vec<CompletionBlock>,
    calls: StreamedCalls,
    /// Reason for the end of the answer, as the server wrote it.
    reason: Option<String>,
    /// `true` after `[DONE]`.
    done: bool,
    /// `true` if the model refused.
    refused: bool,
    usage: TokenUsage,
}

/// Block of the answer, in the order in which the blocks began.
enum CompletionBlock {
    Text(String),
    /// Number of a call.
    Call(usize),
}

impl<'a> CompletionReader<'a> {
    fn new(model: &str, thoughts: UnopenedThoughts<'a>) -> Self {
        Self {
            model: model.to_owned(),
            opening: if thoughts.begun { TextOpening::begun() } else { TextOpening::default() },
            seeker: Some(ThoughtEndFinder::default()),
            thoughts,
            blocks: Vec::new(),
            calls: StreamedCalls::default(),
            reason: None,
            done: false,
            refused: false,
            usage: TokenUsage::default(),
        }
    }

    async fn read_event(&mut self, event: &SseEvent, sink: &DeltaSink) -> ModelResult<()> {
        let mut deltas = Vec::new();
        let result = self.event(event, &mut deltas);
        sink.uses(&self.model, self.usage);
        tell(deltas, sink).await;
        result
    }

    fn event(&mut self, event: &SseEvent, deltas: &mut Vec<AnswerDelta>) -> ModelResult<()> {
        if let Ok(chunk) = serde_json::from_str::<Value>(&event.data) {
            let failed = event.name == "error" && chunk.get("error").is_none();
            let chunk = if failed { serde_json::json!({"error": chunk}) } else { chunk };
            return self.chunk(&chunk, deltas);
        }
        // Some servers send two messages as one event, or an event without content.
        for line in event.data.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if line == DONE {
                self.done = true;
                return Ok(());
            }
            // Gateways keep the connection open with lines of their own, such as `: keepalive`.
            if !line.starts_with('{') {
                continue;
            }
            match serde_json::from_str(line) {
                Ok(chunk) => self.chunk(&chunk, deltas)?,
                // Events of other names are meant for other clients.
                Err(_) if event.name != "message" => {}
                Err(error) => return Err(malformed(format!("a chunk: {error}"))),
            }
        }
        Ok(())
    }

    fn chunk(&mut self, chunk: &Value, deltas: &mut Vec<AnswerDelta>) -> ModelResult<()> {
        if let Some(error) = errors::mid_stream(chunk) {
            return Err(error);
        }
        if let Some(model) = chunk["model"].as_str().filter(|name| !name.is_empty()) {
            model.clone_into(&mut self.model);
        }
        if let Some(usage) = usage(chunk) {
            self.usage = usage;
        }
        let choices = chunk["choices"].as_array().into_iter().flatten();
        // Only one answer was requested; a server that sends no index has one.
        for choice in choices.filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            let message = ["delta", "message"].into_iter().find_map(|key| choice.get(key));
            if let Some(message) = message.filter(|message| message.is_object()) {
                self.read_message(message, deltas);
            }
            let reason = choice["finish_reason"].as_str().filter(|word| !word.trim().is_empty());
            if let Some(reason) = reason {
                self.reason = Some(reason.trim().to_ascii_lowercase());
            }
        }
        Ok(())
    }

    fn read_message(&mut self, message: &Value, deltas: &mut Vec<AnswerDelta>) {
        match &message["content"] {
            Value::String(text) => self.text(text, deltas),
            Value::Array(parts) => {
                for text in parts.iter().filter_map(|part| part["text"].as_str()) {
                    self.text(text, deltas);
                }
            }
            _ => {}
        }
        if let Some(refusal) = message["refusal"].as_str().filter(|words| !words.is_empty()) {
            self.refused = true;
            self.text(refusal, deltas);
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        for piece in calls.filter(|piece| piece.is_object()) {
            self.call(piece, deltas);
        }
        if message["function_call"].is_object() {
            // The predecessor of `tool_calls`: one call, without an identifier.
            let piece = serde_json::json!({"index": 0, "function": message["function_call"]});
            self.call(&piece, deltas);
        }
    }

    fn text(&mut self, piece: &str, deltas: &mut Vec<AnswerDelta>) {
        let text = self.opening.pass(piece);
        self.say(text, deltas);
    }

    fn say(&mut self, text: String, deltas: &mut Vec<AnswerDelta>) {
        match self.blocks.last_mut() {
            _ if text.is_empty() => return,
            Some(CompletionBlock::Text(whole)) => whole.push_str(&text),
            // Some models write line ends around their calls.
            Some(CompletionBlock::Call(_)) if text.trim().is_empty() => return,
            Some(CompletionBlock::Call(_)) | None => {
                self.blocks.push(CompletionBlock::Text(text.clone()));
            }
        }
        if !self.leave_thoughts(false, deltas) {
            deltas.push(AnswerDelta::Text(text));
        }
    }

    /// Takes back the text sent so far if all of it was reasoning; returns `true` if it did so.
    fn leave_thoughts(&mut self, is_over: bool, deltas: &mut Vec<AnswerDelta>) -> bool {
        let ([CompletionBlock::Text(text)], Some(seeker)) =
            (self.blocks.as_slice(), &mut self.seeker)
        else {
            return false;
        };
        let Some(end) = seeker.end_of_thoughts(text, is_over) else { return false };
        let answer = text[end..].to_owned();
        self.seeker = None;
        self.blocks.clear();
        self.opening = TextOpening::default();
        (self.thoughts.learn)(true);
        deltas.push(AnswerDelta::Reset);
        self.text(&answer, deltas);
        true
    }

    /// Ends the first text, at a call or at the end of the answer: sends the part held back.
    fn settle(&mut self, is_end: bool, deltas: &mut Vec<AnswerDelta>) {
        let is_begun = self.opening.is_begun();
        if is_begun {
            (self.thoughts.learn)(false);
        }
        if is_begun || is_end {
            let held = self.opening.rest();
            self.say(held, deltas);
        }
        self.leave_thoughts(true, deltas);
    }

    fn call(&mut self, piece: &Value, deltas: &mut Vec<AnswerDelta>) {
        if !self.blocks.iter().any(|block| matches!(block, CompletionBlock::Call(_))) {
            self.settle(false, deltas);
        }
        let number = self.calls.grow(piece);
        let known = self
            .blocks
            .iter()
            .position(|it| matches!(it, CompletionBlock::Call(no) if *no == number));
        let index = known.unwrap_or_else(|| {
            self.blocks.push(CompletionBlock::Call(number));
            self.blocks.len() - 1
        });
        for step in self.calls.news(number) {
            deltas.push(match step {
                CallStep::Begins { id, name } => AnswerDelta::ToolUse { index, id, name },
                CallStep::Grows(partial_json) => AnswerDelta::ToolInput { index, partial_json },
            });
        }
    }

    async fn finish(mut self, sink: &DeltaSink) -> ModelResult<AssistantMessage> {
        if self.reason.is_none() && !self.done {
            return Err(ModelError::CutOff);
        }
        let mut deltas = Vec::new();
        self.settle(true, &mut deltas);
        tell(deltas, sink).await;
        let stop_reason = self.stop_reason()?;
        let mut content = Vec::new();
        for block in std::mem::take(&mut self.blocks) {
            match block {
                CompletionBlock::Text(text) if text.trim().is_empty() => {}
                CompletionBlock::Text(text) => content.push(ContentBlock::text(text)),
                CompletionBlock::Call(number) => content.extend(self.calls.close(number)?),
            }
        }
        let calls = content.iter().any(ContentBlock::is_tool_use);
        let stop_reason = match stop_reason {
            Some(stopped) => stopped,
            None if calls => StopReason::ToolUse,
            None => StopReason::EndTurn,
        };
        Ok(delta_stream::complete(content, stop_reason, self.usage, self.model))
    }

    /// Returns the reason for the end if the server's word decides it: most servers write `stop`
    /// for calls, or `tool_calls` without calls.
    fn stop_reason(&self) -> ModelResult<Option<StopReason>> {
        match self.reason.as_deref().unwrap_or_default() {
            "length" | "max_tokens" | "model_length" => Ok(Some(StopReason::MaxTokens)),
            "content_filter" | "safety" | "recitation" | "refusal" => Ok(Some(StopReason::Refusal)),
            "abort" | "cancelled" | "error" | "insufficient_system_resource" => {
                Err(ModelError::CutOff)
            }
            _ if self.refused => Ok(Some(StopReason::Refusal)),
            _ => Ok(None),
        }
    }
}

/// Returns the token counts, which may come in any chunk and are always of the whole answer.
fn usage(chunk: &Value) -> Option<TokenUsage> {
    let usage =
        [&chunk["usage"], &chunk["x_groq"]["usage"]].into_iter().find(|it| it.is_object())?;
    let cached =
        [&usage["prompt_tokens_details"]["cached_tokens"], &usage["prompt_cache_hit_tokens"]];
    let cached = cached.into_iter().find_map(Value::as_u64).unwrap_or_default();
    let prompt = usage["prompt_tokens"].as_u64().unwrap_or_default();
    let cached = cached.min(prompt);
    // Since GPT-5.6: a part of the prompt, like the tokens that were read from the cache
    // (<https://developers.openai.com/api/docs/guides/prompt-caching>).
    let written = usage["prompt_tokens_details"]["cache_write_tokens"].as_u64();
    let written = written.unwrap_or_default().min(prompt - cached);
    Some(TokenUsage {
        input_tokens: prompt - cached - written,
        cache_creation_input_tokens: written,
        cache_read_input_tokens: cached,
        output_tokens: usage["completion_tokens"].as_u64().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;
