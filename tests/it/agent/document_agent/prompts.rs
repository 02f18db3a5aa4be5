//! Prompt and tools of the model (`_format_prompt_with_context`), as it really gets them.

use serde_json::json;

use super::{OPENING, about};
use crate::support::{Provider, TestServer};

#[test]
fn the_model_is_told_instructions_document_selection_history_and_request_in_order() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "A lighthouse."}])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    let context = json!({
        "documentContent": OPENING,
        "selection": {"text": "The keeper slept.", "start": 21, "end": 38},
        "conversationHistory": [{"role": "user", "content": "Where are we?"}, {"role": "assistant", "content": "At sea."}],
        "systemInstructions": "Keep British spelling.",
    });
    ana.is_answered("Who is the keeper?", &context);
    let prompt_text = provider.newest_text(1);
    let mut rest = prompt_text.as_str();
    for piece in [
        "Instructions: Keep British spelling.",
        "Current Document:",
        OPENING.trim(),
        "Selected Text (chars 21-38):",
        "The keeper slept.",
        "Where are we?",
        "At sea.",
        "User Request: Who is the keeper?",
        "Available Tools:",
        "- update_full_document: Use when request requires replacing entire document",
        "- update_selection: Use when request targets selected text only",
        "- respond_conversation_only: Use for questions, discussions, no edits",
    ] {
        let at = rest
            .find(piece)
            .unwrap_or_else(|| panic!("{piece:?} is missing or too early in\n{prompt_text}"));
        rest = &rest[at + piece.len()..];
    }
}

#[test]
fn what_is_not_in_the_context_is_not_in_the_prompt() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Yes."}])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    ana.is_answered("Are you there?", &json!({}));
    let prompt_text = provider.newest_text(1);
    for absent in ["Instructions:", "Current Document:", "Selected Text"] {
        assert!(!prompt_text.contains(absent), "{absent} in {prompt_text}");
    }
    assert!(prompt_text.contains("User Request: Are you there?"));
}

#[test]
fn the_model_is_offered_the_three_tools() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Yes."}])]);
    let copydesk = TestServer::behind(&provider);
    let ana = copydesk.editor("Ana");
    ana.is_answered("Are you there?", &about(OPENING));
    let tools = &provider.asked(1)["tools"];
    let fields = |name: &str| {
        let tool = tools.as_array().unwrap().iter().find(|it| it["name"] == name);
        let tool = tool.unwrap_or_else(|| panic!("{name} is not offered: {tools}"));
        assert!(tool["description"].as_str().is_some_and(|it| !it.is_empty()));
        let mut fields: Vec<_> =
            tool["input_schema"]["properties"].as_object().unwrap().keys().cloned().collect();
        fields.sort();
        fields
    };
    assert_eq!(fields("update_full_document"), ["explanation", "new_content", "reasons"]);
    assert_eq!(
        fields("update_selection"),
        ["explanation", "new_text", "reasons", "selection_range"]
    );
    assert_eq!(fields("respond_conversation_only"), ["response"]);
}
