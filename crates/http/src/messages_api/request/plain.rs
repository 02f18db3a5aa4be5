//! Conversion of a conversation for models that know only texts and calls.

use crate::messages_api::failure::ApiFailure;
use copydesk_llm::messages_api::{ContentBlock, MessageRole};

use super::{CheckedRequest, LONGEST_COMPLAINT, wrong};

impl CheckedRequest {
    /// Converts the conversation for a model that knows only texts and calls. Other blocks in the
    /// model's own messages stay; they are left out of the request.
    pub fn plain(&mut self) -> Result<(), ApiFailure> {
        let said = self.messages.iter_mut().enumerate();
        for (index, message) in said.filter(|(_, message)| message.role != MessageRole::Assistant) {
            for block in &mut message.content {
                let within = match block {
                    ContentBlock::ToolResult { content, .. } => content.as_mut_slice(),
                    block => std::slice::from_mut(block),
                };
                within.iter_mut().try_for_each(|block| make_plain(block, index))?;
            }
        }
        Ok(())
    }
}

/// Turns a block into text, if possible.
fn make_plain(block: &mut ContentBlock, index: usize) -> Result<(), ApiFailure> {
    let ContentBlock::Other(value) = block else { return Ok(()) };
    let kind = value["type"].as_str().unwrap_or_default();
    if kind != "search_result" {
        let kind: String = kind.chars().take(LONGEST_COMPLAINT).collect();
        let what = format!("this model cannot read `{kind}` blocks");
        return Err(wrong(&format!("messages.{index}"), &what));
    }
    let head = ["title", "source"].into_iter().filter_map(|name| value[name].as_str());
    let texts = value["content"].as_array().into_iter().flatten();
    let lines: Vec<&str> = head.chain(texts.filter_map(|text| text["text"].as_str())).collect();
    *block = ContentBlock::text(lines.join("\n"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::{read, request};
    use super::*;

    #[test]
    fn what_other_models_cannot_read_is_made_text_or_refused() {
        let with = |block: Value| {
            let result = json!({"type": "tool_result", "tool_use_id": "1", "content": [block]});
            request(
                "messages",
                json!([
                    {"role": "user", "content": "Hi"},
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}]},
                    {"role": "user", "content": [result]},
                ]),
            )
        };
        let found = json!({
            "type": "search_result", "source": "https://a.test", "title": "Lamps",
            "content": [{"type": "text", "text": "Lit."}, {"type": "text", "text": "Out."}],
        });
        let mut asked = read(&with(found));
        assert_eq!(asked.plain(), Ok(()));
        let told = ContentBlock::tool_result("1", "Lamps\nhttps://a.test\nLit.\nOut.");
        assert_eq!(asked.messages[2].content, [told]);
        for kind in ["tool_reference", "image"] {
            let refused = read(&with(json!({"type": kind}))).plain().expect_err("refused");
            let words = format!("messages.2: this model cannot read `{kind}` blocks");
            assert_eq!((refused.status, refused.error.message), (400, words));
        }
    }
}
