//! Key of a conversation: equal for every form in which clients write one conversation.
//!
//! Clients reorder keys, turn strings into blocks and back, move `cache_control`, send back nulls,
//! drop reasoning and add `role: system` messages in between. The canonical form has none of that,
//! but the person, the model and the subject of the conversation.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Map, Number, Value, json};
use sha2::Sha256;

use copydesk_ids::hex;
use copydesk_llm::messages_api::{ChatMessage, ContentBlock, MessageRole};

/// Key of a conversation, which cannot be computed without the server's secret.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConversationHash([u8; 32]);

impl fmt::Debug for ConversationHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({:02x}{:02x}…)", self.0[0], self.0[1])
    }
}

/// Whole key, as lower-case hex.
impl fmt::Display for ConversationHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// Canonical form of a conversation up to some message, from which its [`ConversationHash`] is
/// computed.
#[derive(Clone, Debug)]
pub struct CanonicalConversation {
    /// Running hash that takes each block as it is added, so that a key at any place costs the
    /// same.
    mac: Hmac<Sha256>,
    /// Side of the last message; the next one may be of that side too.
    speaker: Option<MessageRole>,
}

/// Fields of a block that vary between clients. Inside a call's input every field counts.
const ACCIDENTS: [&str; 4] = ["cache_control", "citations", "caller", "toolset_name"];

impl CanonicalConversation {
    /// Returns an empty conversation. `scope` is everything else that must be equal: the person,
    /// the model and the document. Its parts are separated unambiguously.
    pub fn begin(secret: &[u8], scope: &[&str]) -> Option<Self> {
        let mut mac = Hmac::new_from_slice(secret).ok()?;
        mac.update(json!(scope).to_string().as_bytes());
        Some(Self { mac, speaker: None })
    }

    /// Adds a message. Consecutive messages of one side are one turn; a `system` message belongs to
    /// no side and is skipped.
    pub fn say(&mut self, message: &ChatMessage) {
        if message.role == MessageRole::System {
            return;
        }
        for block in message.content.iter().filter_map(canonical) {
            // Each block is one object on its own line, so that the content of one block cannot be
            // taken for the next block or for a change of sides.
            let mut text = String::new();
            if self.speaker != Some(message.role) {
                text = format!("\n{}", json!(message.role));
                self.speaker = Some(message.role);
            }
            text.push('\n');
            write(&block, &mut text);
            self.mac.update(text.as_bytes());
        }
    }

    /// Returns the key of the conversation up to here.
    pub fn key(&self) -> ConversationHash {
        ConversationHash(self.mac.clone().finalize().into_bytes().into())
    }
}

/// Returns the part of a [`ContentBlock`] that counts: no reasoning, which only some clients keep.
fn canonical(block: &ContentBlock) -> Option<Value> {
    match block {
        ContentBlock::Text { text, .. } if text.is_empty() => None,
        ContentBlock::Text { text, .. } => Some(json!({"type": "text", "text": text})),
        ContentBlock::ToolUse { id, name, input } => {
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": input}))
        }
        ContentBlock::ToolResult { tool_use_id, content, is_error } => {
            let content: Vec<Value> = content.iter().filter_map(canonical).collect();
            let mut result =
                json!({"type": "tool_result", "tool_use_id": tool_use_id, "content": content});
            if *is_error {
                result["is_error"] = json!(true);
            }
            Some(result)
        }
        ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => None,
        ContentBlock::Other(value) => Some(without_accidents(value)),
    }
}

fn without_accidents(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields
                .iter()
                .filter(|(name, field)| !field.is_null() && !ACCIDENTS.contains(&name.as_str()));
            Value::Object(
                kept.map(|(name, field)| (name.clone(), without_accidents(field)))
                    .collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(without_accidents).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Writes JSON with sorted keys, without white space, and with one form of each number (after RFC
/// 8785).
fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by(|a, b| a.0.cmp(b.0));
            out.push('{');
            for (index, (name, field)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write(field, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Number(number) => out.push_str(&plain(number)),
        Value::Null | Value::Bool(_) | Value::String(_) => out.push_str(&value.to_string()),
    }
}

/// Formats a number as JavaScript has it: `1.0` is `1`, and beyond 2⁵³ neighbours are equal.
fn plain(number: &Number) -> String {
    // Adding zero makes the negative one positive.
    number.as_f64().map_or_else(|| number.to_string(), |number| (number + 0.0).to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::{Duration, Instant};

    use super::*;

    fn key_of(scope: &[&str], messages: &Value) -> ConversationHash {
        let mut conversation =
            CanonicalConversation::begin(b"secret", scope).expect("any secret will do");
        for message in messages.as_array().expect("messages") {
            let message = serde_json::from_value(message.clone()).expect("a message");
            conversation.say(&message);
        }
        conversation.key()
    }

    fn key(messages: &Value) -> ConversationHash {
        key_of(&["ana"], messages)
    }

    fn talk() -> Value {
        json!([
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Paris", "days": 1, "unit": null}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "Rain."}]},
        ])
    }

    #[test]
    fn every_clients_spelling_is_the_same_conversation() {
        let expected = key(&talk());
        let spelt = [
            // The Python SDK: other key order, nulls it received, floats.
            json!([
                {"content": "Weather?", "role": "user"},
                {"content": [
                    {"citations": null, "text": "Let me see.", "type": "text"},
                    {"caller": {"type": "direct"}, "id": "toolu_1", "input": {"unit": null, "days": 1.0, "city": "Paris"}, "name": "weather", "toolset_name": null, "type": "tool_use"}],
                 "role": "assistant"},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "Rain.", "is_error": false}]},
            ]),
            // The CLI: blocks with a cache breakpoint, system messages in between, also empty ones,
            // reasoning kept.
            json!([
                {"role": "system", "content": []},
                {"role": "user", "content": [{"type": "text", "text": "Weather?", "cache_control": {"type": "ephemeral"}}]},
                {"role": "system", "content": "Be brief."},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="},
                    {"type": "text", "text": "Let me see."},
                    {"type": "text", "text": ""},
                    {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Paris", "days": 1, "unit": null}, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "Rain.", "cache_control": {"type": "ephemeral"}}]}]},
            ]),
            // Messages of one side in a row.
            json!([
                {"role": "user", "content": "Weather?"},
                {"role": "assistant", "content": "Let me see."},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Paris", "days": 1, "unit": null}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "Rain."}]},
            ]),
        ];
        for messages in spelt {
            assert_eq!(key(&messages), expected, "{messages}");
        }
    }

    #[test]
    fn what_was_said_makes_a_difference() {
        let all = key(&talk());
        let changes: [(&str, Value); 7] = [
            ("/0/content", json!("Weather!")),
            ("/1/content/1/id", json!("toolu_2")),
            ("/1/content/1/input/unit", json!("C")),
            ("/1/content/1/input/days", json!("1")),
            ("/2/content/0/content", json!("Sun.")),
            ("/2/content/0/is_error", json!(true)),
            ("/0/role", json!("assistant")),
        ];
        for (place, value) in changes {
            let mut other = talk();
            match other.pointer_mut(place) {
                Some(there) => *there = value,
                None => other[2]["content"][0]["is_error"] = value,
            }
            assert_ne!(key(&other), all, "{place}");
        }
        // A null in an input is part of it; a missing one is another input.
        let mut without = talk();
        without[1]["content"][1]["input"].as_object_mut().expect("an object").remove("unit");
        assert_ne!(key(&without), all);
    }

    #[test]
    fn who_and_what_about_is_part_of_the_key_and_cannot_be_shifted() {
        let scopes: [&[&str]; 5] = [
            &["ana", "harper", ""],
            &["ben", "harper", ""],
            &["ana", "openai:x", ""],
            &["ana", "harper", "doc_1"],
            &["anaharper", "", ""],
        ];
        let mut keys: Vec<_> = scopes.iter().map(|scope| key_of(scope, &talk())).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), scopes.len());
        let other =
            CanonicalConversation::begin(b"other", &["ana"]).expect("any secret will do").key();
        assert_ne!(other, key(&json!([])));
    }

    #[test]
    fn a_key_is_that_of_the_beginning_too() {
        let messages: Vec<ChatMessage> = serde_json::from_value(talk()).expect("messages");
        let mut conversation =
            CanonicalConversation::begin(b"secret", &["ana"]).expect("any secret");
        let mut keys = Vec::new();
        for message in &messages {
            conversation.say(message);
            keys.push(conversation.key());
        }
        for (count, expected) in (1..).zip(keys) {
            let beginning = talk().as_array().expect("messages")[..count].to_vec();
            assert_eq!(key(&json!(beginning)), expected);
        }
    }

    #[test]
    fn a_key_costs_the_same_however_much_was_said_before() {
        let mut conversation =
            CanonicalConversation::begin(b"secret", &["ana"]).expect("any secret");
        let began = Instant::now();
        // One turn that never ends: clients put `system` between messages of the model.
        let said =
            ChatMessage::assistant(vec![ContentBlock::text("So."), ContentBlock::text("Well.")]);
        let system =
            ChatMessage { role: MessageRole::System, content: vec![ContentBlock::text("On.")] };
        let mut keys = HashSet::new();
        for _ in 0..50_000 {
            conversation.say(&said);
            conversation.say(&system);
            keys.insert(conversation.key());
        }
        assert_eq!(keys.len(), 50_000);
        assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
    }

    #[test]
    fn blocks_no_one_knows_lose_their_accidents_only() {
        let image = |extra: Value| {
            let mut block = json!({"type": "image", "source": {"type": "base64", "data": "AA=="}});
            block
                .as_object_mut()
                .expect("an object")
                .extend(extra.as_object().expect("an object").clone());
            key(&json!([{"role": "user", "content": [block]}]))
        };
        let plain = image(json!({}));
        assert_eq!(image(json!({"cache_control": {"type": "ephemeral"}, "title": null})), plain);
        assert_ne!(image(json!({"title": "A"})), plain);
    }
}
