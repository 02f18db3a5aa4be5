//! Reads a streamed answer of the Messages API: events in, deltas and the complete message out.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use serde_json::Value;

use super::delta_stream::{self, DeltaSink};
use super::retry::kind_is_retryable;
use super::sse_events::{SseEvent, SseSplitter};
use super::{AnswerDelta, AssistantMessage, ModelError, ModelResult, malformed};
use crate::messages_api::{
    BlockDelta, ContentBlock, MessageDelta, ResponseMessage, StopReason, StreamEvent, TokenUsage,
    UsageDelta,
};

/// Largest answer in bytes: far above any `max_tokens`, and too small to fill the memory.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// Reads `bytes` until the answer is complete, and sends every delta on the way.
pub(super) async fn read(
    bytes: impl Stream<Item = ModelResult<Bytes>>,
    sink: &DeltaSink,
) -> ModelResult<AssistantMessage> {
    let mut bytes = std::pin::pin!(bytes);
    let mut left = MAX_ANSWER_BYTES;
    let mut splitter = SseSplitter::default();
    let mut reader = AnswerReader::default();
    while let Some(piece) = bytes.next().await {
        let piece = piece?;
        left = left.checked_sub(piece.len()).ok_or_else(|| malformed("more than 64 MiB"))?;
        let mut events = Vec::new();
        let fed = splitter.feed(&piece, &mut events);
        for event in &events {
            let step = reader.event(event)?;
            sink.uses(reader.model(), reader.usage());
            match step {
                Some(AnswerDelta::Done(message)) => return Ok(message),
                Some(delta) => sink.send(delta).await,
                None => {}
            }
        }
        fed?;
    }
    Err(ModelError::CutOff)
}

/// Reader of the events of one [`AssistantMessage`].
#[derive(Default)]
pub(super) struct AnswerReader {
    start: Option<ResponseMessage>,
    blocks: BTreeMap<usize, AnswerBlock>,
    end: MessageDelta,
    usage: TokenUsage,
}

/// Block being read.
enum AnswerBlock {
    Text(String),
    Call {
        id: String,
        name: String,
        /// Input at the start of the block; used if no piece follows, as in the official SDKs.
        input: Value,
        json: String,
    },
    Thinking {
        thinking: String,
        signature: String,
    },
    /// Block that is complete from its start.
    Whole(ContentBlock),
}

/// Names of the events that this program reads; any other event is ignored.
const KNOWN_EVENTS: &str = "message message_start content_block_start content_block_delta \
    content_block_stop message_delta message_stop ping error";

impl AnswerReader {
    /// Returns the model that answers; empty before the answer names it.
    pub(super) fn model(&self) -> &str {
        self.start.as_ref().map_or("", |start| start.model.as_str())
    }

    /// Returns the tokens that the answer has used so far.
    pub(super) fn usage(&self) -> TokenUsage {
        self.usage
    }

    fn event(&mut self, event: &SseEvent) -> ModelResult<Option<AnswerDelta>> {
        let SseEvent { name, data } = event;
        if !KNOWN_EVENTS.split_whitespace().any(|known| known == name) {
            return Ok(None);
        }
        if let Ok(event) = serde_json::from_str::<StreamEvent>(data) {
            return self.take(event);
        }
        // Gateways keep the connection open with lines of their own, such as `: keepalive`.
        let lines = data.lines().filter(|line| line.trim_start().starts_with('{'));
        let data = lines.collect::<Vec<_>>().join("\n");
        if data.is_empty() {
            return Ok(None);
        }
        let event =
            serde_json::from_str(&data).map_err(|error| malformed(format!("{name}: {error}")))?;
        self.take(event)
    }

    /// Reads an event that did not come as a server-sent event.
    pub(super) fn value(&mut self, event: Value) -> ModelResult<Option<AnswerDelta>> {
        let name = event["type"].as_str().unwrap_or_default().to_owned();
        if !KNOWN_EVENTS.split_whitespace().any(|known| known == name) {
            return Ok(None);
        }
        let event =
            serde_json::from_value(event).map_err(|error| malformed(format!("{name}: {error}")))?;
        self.take(event)
    }

    fn take(&mut self, event: StreamEvent) -> ModelResult<Option<AnswerDelta>> {
        match event {
            StreamEvent::MessageStart { message } => {
                self.usage = message.usage;
                self.start = Some(message);
                Ok(None)
            }
            StreamEvent::ContentBlockStart { index, content_block } => {
                self.open(index, content_block)
            }
            StreamEvent::ContentBlockDelta { index, delta } => self.grow(index, delta),
            StreamEvent::MessageDelta { delta, usage } => {
                // There may be several, and only the fields present replace earlier ones.
                let MessageDelta { stop_reason, stop_sequence, stop_details } = delta;
                self.end.stop_reason = stop_reason.or(self.end.stop_reason.take());
                self.end.stop_sequence = stop_sequence.or(self.end.stop_sequence.take());
                self.end.stop_details = stop_details.or(self.end.stop_details.take());
                overwrite(&mut self.usage, usage);
                Ok(None)
            }
            StreamEvent::MessageStop => {
                self.finish().map(|message| Some(AnswerDelta::Done(message)))
            }
            StreamEvent::Error { error } => {
                let retryable = kind_is_retryable(&error);
                Err(ModelError::api(None, error, retryable))
            }
            StreamEvent::ContentBlockStop { index } => Ok(self.complete(index)),
            StreamEvent::Ping | StreamEvent::Unknown => Ok(None),
        }
    }

    fn open(&mut self, index: usize, block: ContentBlock) -> ModelResult<Option<AnswerDelta>> {
        if self.start.is_none() {
            return Err(malformed("a block before message_start"));
        }
        let (block, delta) = match block {
            ContentBlock::Text { text, .. } => {
                let delta = match self.blocks.last_key_value() {
                    Some((_, AnswerBlock::Text(before))) if !before.is_empty() => {
                        Some(AnswerDelta::NextText(text.clone()))
                    }
                    _ => (!text.is_empty()).then(|| AnswerDelta::Text(text.clone())),
                };
                (AnswerBlock::Text(text), delta)
            }
            ContentBlock::ToolUse { id, name, input } => {
                let id = self.own(id);
                let delta = AnswerDelta::ToolUse { index, id: id.clone(), name: name.clone() };
                (AnswerBlock::Call { id, name, input, json: String::new() }, Some(delta))
            }
            ContentBlock::Thinking { thinking, signature } => {
                (AnswerBlock::Thinking { thinking, signature }, None)
            }
            ContentBlock::Other(ref value) if value["type"] == "tool_use" => {
                return Err(malformed("a tool_use without id or name"));
            }
            whole @ (ContentBlock::ToolResult { .. }
            | ContentBlock::RedactedThinking { .. }
            | ContentBlock::Other(_)) => (AnswerBlock::Whole(whole), None),
        };
        match self.blocks.insert(index, block) {
            Some(_) => Err(malformed("a block started twice")),
            None => Ok(delta),
        }
    }

    /// Returns the identifier of a call: its own, unless that is empty or taken by another call of
    /// the answer, because a result could not be assigned then.
    fn own(&self, id: String) -> String {
        let mut others = self.blocks.values().filter_map(|block| match block {
            AnswerBlock::Call { id, .. } => Some(id),
            AnswerBlock::Text(_) | AnswerBlock::Thinking { .. } | AnswerBlock::Whole(_) => None,
        });
        if id.is_empty() || others.any(|other| *other == id) {
            delta_stream::mint_call_id()
        } else {
            id
        }
    }

    fn grow(&mut self, index: usize, delta: BlockDelta) -> ModelResult<Option<AnswerDelta>> {
        let block = self.blocks.get_mut(&index);
        match (block.ok_or_else(|| malformed("a delta without its block"))?, delta) {
            (AnswerBlock::Text(whole), BlockDelta::TextDelta { text }) => {
                whole.push_str(&text);
                Ok((!text.is_empty()).then_some(AnswerDelta::Text(text)))
            }
            (AnswerBlock::Call { json, .. }, BlockDelta::InputJsonDelta { partial_json }) => {
                json.push_str(&partial_json);
                Ok((!partial_json.is_empty())
                    .then_some(AnswerDelta::ToolInput { index, partial_json }))
            }
            (
                AnswerBlock::Thinking { thinking, .. },
                BlockDelta::ThinkingDelta { thinking: more },
            ) => {
                thinking.push_str(&more);
                Ok(None)
            }
            (
                AnswerBlock::Thinking { signature, .. },
                BlockDelta::SignatureDelta { signature: more },
            ) => {
                signature.push_str(&more);
                Ok(None)
            }
            // Blocks of unknown kind may grow in any way; they are sent back as they started.
            (_, BlockDelta::Unknown) | (AnswerBlock::Whole(_), _) => Ok(None),
            (AnswerBlock::Text(_) | AnswerBlock::Call { .. } | AnswerBlock::Thinking { .. }, _) => {
                Err(malformed("a delta of another kind than its block"))
            }
        }
    }

    /// Returns the delta of a complete block that was not sent in pieces.
    fn complete(&self, index: usize) -> Option<AnswerDelta> {
        match self.blocks.get(&index)? {
            AnswerBlock::Thinking { thinking, signature } => {
                let (thinking, signature) = (thinking.clone(), signature.clone());
                Some(AnswerDelta::Block(ContentBlock::Thinking { thinking, signature }))
            }
            AnswerBlock::Whole(block) => Some(AnswerDelta::Block(block.clone())),
            AnswerBlock::Text(_) | AnswerBlock::Call { .. } => None,
        }
    }

    fn finish(&mut self) -> ModelResult<AssistantMessage> {
        let start = self.start.take().ok_or_else(|| malformed("an end without message_start"))?;
        let stop_reason =
            self.end.stop_reason.take().ok_or_else(|| malformed("an end without stop_reason"))?;
        let blocks = std::mem::take(&mut self.blocks);
        let calls = blocks.values().filter(|it| matches!(it, AnswerBlock::Call { .. })).count();
        let content: Vec<_> =
            blocks.into_values().filter_map(|block| block.close(&stop_reason)).collect();
        let mut message = delta_stream::complete(content, stop_reason, self.usage, start.model);
        message.stop_sequence = self.end.stop_sequence.take();
        message.stop_details = self.end.stop_details.take();
        if message.stop_reason != StopReason::ToolUse {
            message.calls_left_out = calls;
        }
        Ok(message)
    }
}

impl AnswerBlock {
    /// Returns the block for the transcript; `None` for a block that must not be there.
    fn close(self, stop_reason: &StopReason) -> Option<ContentBlock> {
        match self {
            Self::Text(text) => (!text.is_empty()).then(|| ContentBlock::text(text)),
            // Its input may be cut in the middle of the JSON.
            Self::Call { .. } if *stop_reason != StopReason::ToolUse => None,
            Self::Call { id, name, input, json } => {
                let input = if json.is_empty() && input.is_object() {
                    input
                } else {
                    delta_stream::input(&json)
                };
                Some(ContentBlock::ToolUse { id, name, input })
            }
            Self::Thinking { thinking, signature } => {
                Some(ContentBlock::Thinking { thinking, signature })
            }
            Self::Whole(block) => Some(block),
        }
    }
}

/// Replaces the counts that are present, because counts are cumulative.
fn overwrite(usage: &mut TokenUsage, delta: UsageDelta) {
    let set = |count: &mut u64, new: Option<u64>| *count = new.unwrap_or(*count);
    set(&mut usage.input_tokens, delta.input_tokens);
    set(&mut usage.cache_creation_input_tokens, delta.cache_creation_input_tokens);
    set(&mut usage.cache_read_input_tokens, delta.cache_read_input_tokens);
    set(&mut usage.output_tokens, delta.output_tokens);
}

#[cfg(test)]
mod tests;
