//! Encoder of an answer into the API's events, and into the message that they add up to.
//!
//! Calls are sent when the model's answer is complete: until then they may be cut off or taken
//! back, and the client's calls are known only once all calls are. Blocks after a call wait with
//! it, so that everything arrives in the model's own order. Citations are not sent.

use std::mem::discriminant;

use serde_json::{Map, Value, json};

use copydesk_llm::AnswerDelta;
use copydesk_llm::messages_api::{
    BlockDelta, ContentBlock, MessageDelta, MessageRole, ResponseMessage, StreamEvent, TokenUsage,
    UsageDelta,
};

use super::failure::ApiFailure;
use super::server_tool_loop::LoopEnd;

/// Encoder of one answer into [`StreamEvent`]s.
#[derive(Debug)]
pub struct SseEncoder {
    id: String,
    model: String,
    content: Vec<ContentBlock>,
    /// True if the last block is text that may grow.
    open: bool,
    /// True once a call has begun: later blocks wait for it.
    waits: bool,
    /// Number of blocks that were complete when the model was last asked.
    before: usize,
}

impl SseEncoder {
    /// Returns the encoder of an answer with this identifier, by the model as the client named it.
    pub fn new(id: String, model: String) -> Self {
        Self { id, model, content: Vec::new(), open: false, waits: false, before: 0 }
    }

    /// Returns the first events.
    pub fn start(&self) -> Vec<StreamEvent> {
        // The counts are not known before the model is done; the last ones replace these.
        let message = self.response(Vec::new(), TokenUsage::default());
        vec![StreamEvent::MessageStart { message }, StreamEvent::Ping]
    }

    /// Returns the content that was sent so far.
    pub fn content(&self) -> &[ContentBlock] {
        &self.content
    }

    /// Encodes an [`AnswerDelta`] of the model.
    pub fn encode(&mut self, delta: AnswerDelta) -> Vec<StreamEvent> {
        match delta {
            AnswerDelta::ToolUse { .. } => {
                self.waits = true;
                self.close()
            }
            _ if self.waits => Vec::new(),
            AnswerDelta::Text(text) => self.text(text),
            AnswerDelta::NextText(text) => {
                let mut events = self.close();
                events.extend(self.text(text));
                events
            }
            AnswerDelta::Block(block) => self.whole(block),
            _ => Vec::new(),
        }
    }

    /// Begins the model's answer anew.
    ///
    /// # Errors
    /// 529 if a streaming client has already read part of the answer, which cannot be taken back.
    pub fn begin_again(&mut self, streamed: bool) -> Result<(), ApiFailure> {
        if self.content.len() == self.before {
            self.waits = false;
            return Ok(());
        }
        if streamed {
            return Err(ApiFailure::new(529, "the model broke off; send the request again"));
        }
        self.content.truncate(self.before);
        self.open = false;
        self.waits = false;
        Ok(())
    }

    /// Completes one answer of the model before it is asked again; `shown` is the part that the
    /// client sees.
    pub fn pause(&mut self, shown: &[ContentBlock]) -> Vec<StreamEvent> {
        let events = self.catch_up(shown);
        self.before = self.content.len();
        events
    }

    /// Encodes the blocks of a complete answer that were not sent as they came.
    fn catch_up(&mut self, shown: &[ContentBlock]) -> Vec<StreamEvent> {
        let mut events = self.close();
        let sent = self.content.get(self.before..).unwrap_or_default();
        for block in unsent(sent, shown).to_vec() {
            events.extend(match block {
                ContentBlock::Text { text, .. } => {
                    let mut events = self.text(text);
                    events.extend(self.close());
                    events
                }
                call @ ContentBlock::ToolUse { .. } => self.call(&call),
                block => self.whole(block),
            });
        }
        self.waits = false;
        events
    }

    /// Returns the last events.
    pub fn end(&mut self, end: &LoopEnd) -> Vec<StreamEvent> {
        let mut events = self.catch_up(&end.shown);
        let delta = MessageDelta {
            stop_reason: Some(end.stop_reason.clone()),
            stop_sequence: end.stop_sequence.clone(),
            stop_details: end.stop_details.clone(),
        };
        events.push(StreamEvent::MessageDelta { delta, usage: counts(end.usage) });
        events.push(StreamEvent::MessageStop);
        events
    }

    /// Returns the whole answer, for a client that did not ask for a stream.
    pub fn message(&self, end: &LoopEnd) -> Value {
        let mut message = json!(ResponseMessage {
            stop_reason: Some(end.stop_reason.clone()),
            stop_sequence: end.stop_sequence.clone(),
            ..self.response(self.content.clone(), end.usage)
        });
        if let Some(details) = &end.stop_details {
            message["stop_details"] = details.clone();
        }
        message
    }

    fn response(&self, content: Vec<ContentBlock>, usage: TokenUsage) -> ResponseMessage {
        ResponseMessage {
            id: self.id.clone(),
            kind: "message".into(),
            role: MessageRole::Assistant,
            model: self.model.clone(),
            content,
            stop_reason: None,
            stop_sequence: None,
            usage,
        }
    }

    fn text(&mut self, text: String) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        if text.is_empty() {
            return events;
        }
        if !self.open {
            self.open = true;
            self.content.push(ContentBlock::text(""));
            events.push(self.begun(ContentBlock::text("")));
        }
        if let Some(ContentBlock::Text { text: whole, .. }) = self.content.last_mut() {
            whole.push_str(&text);
        }
        events.push(self.grown(BlockDelta::TextDelta { text }));
        events
    }

    fn whole(&mut self, block: ContentBlock) -> Vec<StreamEvent> {
        let mut events = self.close();
        self.content.push(block.clone());
        match block {
            ContentBlock::Thinking { thinking, signature } => {
                let empty =
                    ContentBlock::Thinking { thinking: String::new(), signature: String::new() };
                events.push(self.begun(empty));
                events.push(self.grown(BlockDelta::ThinkingDelta { thinking }));
                events.push(self.grown(BlockDelta::SignatureDelta { signature }));
            }
            other => events.push(self.begun(other)),
        }
        events.push(self.ended());
        events
    }

    fn call(&mut self, call: &ContentBlock) -> Vec<StreamEvent> {
        let ContentBlock::ToolUse { id, name, input } = call else { return Vec::new() };
        // A model's arguments may be invalid JSON; the API has only objects.
        let input = if input.is_object() { input.clone() } else { json!({"invalid_json": input}) };
        let partial_json = input.to_string();
        self.content.push(ContentBlock::tool_use(id, name, input));
        let empty = ContentBlock::tool_use(id, name, Value::Object(Map::new()));
        vec![
            self.begun(empty),
            self.grown(BlockDelta::InputJsonDelta { partial_json }),
            self.ended(),
        ]
    }

    fn close(&mut self) -> Vec<StreamEvent> {
        if std::mem::take(&mut self.open) { vec![self.ended()] } else { Vec::new() }
    }

    fn index(&self) -> usize {
        self.content.len() - 1
    }

    fn begun(&self, content_block: ContentBlock) -> StreamEvent {
        StreamEvent::ContentBlockStart { index: self.index(), content_block }
    }

    fn grown(&self, delta: BlockDelta) -> StreamEvent {
        StreamEvent::ContentBlockDelta { index: self.index(), delta }
    }

    fn ended(&self) -> StreamEvent {
        StreamEvent::ContentBlockStop { index: self.index() }
    }
}

/// Returns the blocks of an answer after those that were sent: not every model streams every kind.
fn unsent<'a>(sent: &[ContentBlock], shown: &'a [ContentBlock]) -> &'a [ContentBlock] {
    sent.iter().fold(shown, |rest, sent| {
        let same = |block: &ContentBlock| discriminant(block) == discriminant(sent);
        let after = rest.iter().position(same).map_or(0, |place| place + 1);
        rest.get(after..).unwrap_or_default()
    })
}

fn counts(usage: TokenUsage) -> UsageDelta {
    let TokenUsage {
        input_tokens,
        cache_creation_input_tokens,
        cache_read_input_tokens,
        output_tokens,
    } = usage;
    UsageDelta {
        input_tokens: Some(input_tokens),
        cache_creation_input_tokens: Some(cache_creation_input_tokens),
        cache_read_input_tokens: Some(cache_read_input_tokens),
        output_tokens: Some(output_tokens),
    }
}

/// Formats an event as it is sent.
pub fn frame(event: &StreamEvent) -> String {
    let data = json!(event);
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use copydesk_llm::messages_api::StopReason;

    fn telling() -> SseEncoder {
        SseEncoder::new("msg_1".into(), "actor".into())
    }

    fn end(shown: Vec<ContentBlock>) -> LoopEnd {
        let calls = shown.iter().any(ContentBlock::is_tool_use);
        let stop_reason = if calls { StopReason::ToolUse } else { StopReason::EndTurn };
        let usage = TokenUsage { input_tokens: 5, output_tokens: 2, ..TokenUsage::default() };
        LoopEnd { shown, usage, ..LoopEnd::empty(stop_reason) }
    }

    /// Returns the types of events, deltas as `type/delta`.
    fn names(events: &[StreamEvent]) -> Vec<String> {
        let name = |event: &StreamEvent| {
            let event = json!(event);
            let kind = event["type"].as_str().unwrap_or_default().to_owned();
            let index =
                event["index"].as_u64().map(|index| format!(" {index}")).unwrap_or_default();
            let delta = event["delta"]["type"].as_str().map(|delta| format!("/{delta}"));
            kind + &delta.unwrap_or_default() + &index
        };
        events.iter().map(name).collect()
    }

    #[test]
    fn an_answer_is_told_in_the_apis_order() {
        let mut telling = telling();
        let mut events = telling.start();
        let thinking = ContentBlock::Thinking { thinking: "Hm.".into(), signature: "s".into() };
        events.extend(telling.encode(AnswerDelta::Block(thinking.clone())));
        for text in ["Let ", "", "me see."] {
            events.extend(telling.encode(AnswerDelta::Text(text.into())));
        }
        let call = ContentBlock::tool_use("toolu_1", "weather", json!({"city": "Paris"}));
        let end = end(vec![thinking.clone(), ContentBlock::text("Let me see."), call.clone()]);
        events.extend(telling.end(&end));
        let expected = [
            "message_start",
            "ping",
            "content_block_start 0",
            "content_block_delta/thinking_delta 0",
            "content_block_delta/signature_delta 0",
            "content_block_stop 0",
            "content_block_start 1",
            "content_block_delta/text_delta 1",
            "content_block_delta/text_delta 1",
            "content_block_stop 1",
            "content_block_start 2",
            "content_block_delta/input_json_delta 2",
            "content_block_stop 2",
            "message_delta",
            "message_stop",
        ];
        assert_eq!(names(&events), expected);
        assert_eq!(telling.content(), [thinking, ContentBlock::text("Let me see."), call]);
        let message = telling.message(&end);
        assert_eq!(
            (&message["stop_reason"], &message["model"]),
            (&json!("tool_use"), &json!("actor"))
        );
    }

    #[test]
    fn what_the_model_says_after_a_call_of_ours_is_a_block_of_its_own() {
        let mut telling = telling();
        telling.encode(AnswerDelta::Text("Wait.".into()));
        let said = [ContentBlock::text("Wait.")];
        assert_eq!(names(&telling.pause(&said)), ["content_block_stop 0"]);
        let more = telling.encode(AnswerDelta::Text("Done.".into()));
        assert_eq!(names(&more), ["content_block_start 1", "content_block_delta/text_delta 1"]);
    }

    #[test]
    fn blocks_stay_the_models_own_and_in_its_order() {
        let text = ContentBlock::text;
        let call = |id: &str| ContentBlock::tool_use(id, "weather", json!({}));
        let begins =
            |id: &str| AnswerDelta::ToolUse { index: 0, id: id.into(), name: "weather".into() };
        let mut telling = telling();
        telling.encode(AnswerDelta::Text("First.".into()));
        let next = telling.encode(AnswerDelta::NextText("Sec".into()));
        let expected =
            ["content_block_stop 0", "content_block_start 1", "content_block_delta/text_delta 1"];
        assert_eq!(names(&next), expected);
        telling.encode(AnswerDelta::Text("ond.".into()));
        assert_eq!(names(&telling.encode(begins("1"))), ["content_block_stop 1"]);
        // What is said after a call waits for it.
        assert_eq!(telling.encode(AnswerDelta::Text("Third.".into())), []);
        assert_eq!(telling.encode(begins("2")), []);
        let all = vec![text("First."), text("Second."), call("1"), text("Third."), call("2")];
        telling.end(&end(all.clone()));
        assert_eq!(telling.content(), all);
    }

    #[test]
    fn what_stands_after_a_call_of_ours_is_told_before_that_runs() {
        let mut telling = telling();
        telling.encode(AnswerDelta::Text("Wait.".into()));
        telling.encode(AnswerDelta::ToolUse { index: 1, id: "1".into(), name: "ours".into() });
        telling.encode(AnswerDelta::Text("A moment.".into()));
        telling.pause(&["Wait.", "A moment."].map(ContentBlock::text));
        telling.encode(AnswerDelta::Text("Done.".into()));
        telling.end(&end(vec![ContentBlock::text("Done.")]));
        assert_eq!(telling.content(), ["Wait.", "A moment.", "Done."].map(ContentBlock::text));
    }

    #[test]
    fn what_was_streamed_is_not_taken_back() {
        let mut telling = telling();
        assert_eq!(telling.begin_again(true), Ok(()));
        telling.encode(AnswerDelta::Text("Wait.".into()));
        telling.pause(&[ContentBlock::text("Wait.")]);
        assert_eq!(telling.begin_again(true), Ok(()), "that was an answer before");
        telling.encode(AnswerDelta::Text("Do".into()));
        assert_eq!(telling.begin_again(true).map_err(|failure| failure.status), Err(529));
        assert_eq!(telling.begin_again(false), Ok(()));
        telling.encode(AnswerDelta::Text("Done.".into()));
        assert_eq!(telling.content(), [ContentBlock::text("Wait."), ContentBlock::text("Done.")]);
    }

    #[test]
    fn a_call_whose_input_is_no_json_is_still_one() {
        let mut telling = telling();
        let end = end(vec![ContentBlock::tool_use("toolu_1", "a", json!("{oops"))]);
        telling.end(&end);
        let input = &telling.message(&end)["content"][0]["input"];
        assert_eq!(input, &json!({"invalid_json": "{oops"}));
    }

    #[test]
    fn a_frame_is_one_event() {
        assert_eq!(frame(&StreamEvent::Ping), "event: ping\ndata: {\"type\":\"ping\"}\n\n");
        let text = frame(&StreamEvent::ContentBlockDelta {
            index: 0,
            delta: BlockDelta::TextDelta { text: "a\n\nb".into() },
        });
        assert_eq!(text.matches("\n\n").count(), 1, "{text}");
    }
}
