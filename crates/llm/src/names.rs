//! Changes tool names and call identifiers to forms that every provider accepts.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::messages_api::{ChatMessage, ContentBlock};

/// Largest number of characters in the name of a tool.
const LONGEST_TOOL: usize = 64;
/// Largest number of characters in the identifier of a call: the limit of servers that have one.
const LONGEST_ID: usize = 40;

/// Limits tool names and call identifiers to letters, digits, `_` and `-` and to their longest
/// length, and makes the identifiers unique: servers that number the calls of each answer anew use
/// `call_0` in many answers.
pub(super) fn tidy(messages: &mut [ChatMessage]) {
    let mut taken = HashSet::new();
    // New identifiers of the calls without a result, by old identifier. An old one may occur twice.
    let mut open: HashMap<String, VecDeque<String>> = HashMap::new();
    for block in messages.iter_mut().flat_map(|message| &mut message.content) {
        match block {
            ContentBlock::ToolUse { id, name, .. } => {
                *name = plain(name, LONGEST_TOOL);
                let own = free(&plain(id, LONGEST_ID), &taken);
                taken.insert(own.clone());
                open.entry(std::mem::replace(id, own.clone())).or_default().push_back(own);
            }
            ContentBlock::ToolResult { tool_use_id, .. } => {
                let own = open.get_mut(tool_use_id).and_then(VecDeque::pop_front);
                *tool_use_id = own.unwrap_or_else(|| plain(tool_use_id, LONGEST_ID));
            }
            _ => {}
        }
    }
}

fn plain(name: &str, longest: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().map(plain).take(longest).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

/// Returns `id`, or the first of `id_2`, `id_3`, … that no call has.
fn free(id: &str, taken: &HashSet<String>) -> String {
    let numbered = |number: usize| {
        let end = format!("_{number}");
        let keep = id.len().min(LONGEST_ID - end.len());
        format!("{}{end}", &id[..keep])
    };
    let candidates = std::iter::once(id.to_owned()).chain((2..).map(numbered));
    candidates.into_iter().find(|name| !taken.contains(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tidied(rounds: &[(&str, &str)]) -> Vec<(String, String, String)> {
        let mut messages = Vec::new();
        for (id, name) in rounds {
            messages.push(ChatMessage::assistant(vec![ContentBlock::tool_use(
                *id,
                *name,
                json!({}),
            )]));
            messages.push(ChatMessage::results(vec![ContentBlock::tool_result(*id, "ok")]));
        }
        tidy(&mut messages);
        let mut renamed = Vec::new();
        for pair in messages.chunks(2) {
            let (
                ContentBlock::ToolUse { id, name, .. },
                ContentBlock::ToolResult { tool_use_id, .. },
            ) = (&pair[0].content[0], &pair[1].content[0])
            else {
                panic!("{pair:?}")
            };
            renamed.push((id.clone(), name.clone(), tool_use_id.clone()));
        }
        renamed
    }

    #[test]
    fn identifiers_that_come_again_are_told_apart_with_their_results() {
        let renamed =
            tidied(&[("call_0", "a"), ("call_0", "b"), ("call_0_2", "c"), ("call_0", "d")]);
        let ids: Vec<_> =
            renamed.iter().map(|(id, _, result)| (id.as_str(), result.as_str())).collect();
        let same = |id| (id, id);
        assert_eq!(ids, ["call_0", "call_0_2", "call_0_2_2", "call_0_3"].map(same));
    }

    #[test]
    fn calls_of_one_message_with_one_identifier_are_answered_in_order() {
        let call = || ContentBlock::tool_use("x", "a", json!({}));
        let result = |text| ContentBlock::tool_result("x", text);
        let mut messages = [
            ChatMessage::assistant(vec![call(), call()]),
            ChatMessage::results(vec![result("1"), result("2"), result("nobody asked")]),
        ];
        tidy(&mut messages);
        let ids = messages[1].content.iter().map(|block| match block {
            ContentBlock::ToolResult { tool_use_id, .. } => tool_use_id.as_str(),
            _ => "",
        });
        assert_eq!(ids.collect::<Vec<_>>(), ["x", "x_2", "x"]);
    }

    #[test]
    fn names_are_letters_digits_and_two_signs_and_not_too_long() {
        let long = "x".repeat(3_000);
        let renamed =
            tidied(&[("functions.read:0", "files/read näher"), (&long, &long), (&long, "")]);
        assert_eq!(renamed[0].0, "functions_read_0");
        assert_eq!(renamed[0].1, "files_read_n_her");
        assert_eq!((renamed[1].0.len(), renamed[1].1.len()), (LONGEST_ID, LONGEST_TOOL));
        assert_eq!((renamed[2].0.len(), renamed[2].1.as_str()), (LONGEST_ID, "_"));
        assert!(
            renamed[2].0.ends_with("xx_2") && renamed.iter().all(|(id, _, result)| id == result)
        );
        let usual = ("toolu_01A-b".to_owned(), "Read".to_owned(), "toolu_01A-b".to_owned());
        assert_eq!(tidied(&[("toolu_01A-b", "Read")]), [usual]);
    }
}
