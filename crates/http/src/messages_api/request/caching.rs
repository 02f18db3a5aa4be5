//! Cache breakpoints for the model's provider: only those that the client sets.

use serde::Deserialize as _;
use serde_json::{Map, Value};

use copydesk_llm::CachePolicy;
use copydesk_llm::messages_api::{CacheControl, ChatMessage, ContentBlock, MessageRole};

use super::there;

/// Reads the client's breakpoints that are not on texts. The provider puts one on the last block,
/// whatever that is, and it stands for the client's there.
pub(crate) fn read(body: &Map<String, Value>) -> CachePolicy {
    let of = |value: &Value| CacheControl::deserialize(value.get("cache_control")?).ok();
    let last = |list: &Value| list.as_array().and_then(|list| list.iter().rev().find_map(of));
    let system = there(body, "system").and_then(last);
    let messages = there(body, "messages").and_then(Value::as_array);
    let end = messages.and_then(|list| {
        let said = list.iter().rposition(|message| message["role"] != "system")?;
        let mut ends =
            list.get(said..)?.iter().rev().filter_map(|it| it["content"].as_array()?.last());
        ends.find_map(of)
    });
    let whole = there(body, "cache_control").and_then(|it| CacheControl::deserialize(it).ok());
    CachePolicy {
        system: system.or_else(|| there(body, "tools").and_then(last)),
        end: end.or(whole),
    }
}

/// Removes the breakpoints at the end: at most four are allowed, and [`CachePolicy`] has those.
pub(crate) fn take_off_the_last(messages: &mut [ChatMessage]) {
    let said = messages.iter().rposition(|message| message.role != MessageRole::System);
    for message in messages.iter_mut().skip(said.unwrap_or_default()) {
        match message.content.last_mut() {
            Some(ContentBlock::Text { cache_control, .. }) => *cache_control = None,
            Some(ContentBlock::Other(value)) => {
                value.as_object_mut().and_then(|fields| fields.remove("cache_control"));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{read as asked, request};
    use super::*;

    #[test]
    fn only_what_the_client_wants_kept_is_kept() {
        let nothing = CachePolicy { system: None, end: None };
        assert_eq!(asked(&request("x", Value::Null)).caching, nothing);
        let mark = json!({"type": "ephemeral", "ttl": "1h"});
        let block = json!({"type": "text", "text": "Rules.", "cache_control": mark});
        let system = Some(CacheControl::one_hour());
        let asked_for =
            asked(&request("system", json!([block, {"type": "text", "text": "More."}])));
        assert_eq!(asked_for.caching, CachePolicy { system: system.clone(), end: None });
        let tool = json!({"name": "a", "input_schema": {"type": "object"}, "cache_control": mark});
        assert_eq!(asked(&request("tools", json!([tool]))).caching.system, system);
        assert_eq!(asked(&request("cache_control", mark.clone())).caching.end, system);
        // The last one counts, whatever instructions come after it; those that appear nowhere else
        // stay as they are.
        let told = json!([
            {"role": "user", "content": [block]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x", "cache_control": mark}]},
            {"role": "system", "content": []},
        ]);
        let asked_for = asked(&request("messages", told));
        assert_eq!(asked_for.caching.end, system);
        let first = ContentBlock::Text { text: "Rules.".into(), cache_control: system };
        assert_eq!(asked_for.messages[0].content, [first]);
    }
}
