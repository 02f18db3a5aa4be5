//! Which model answers, how it is reached, and what people are told of it.

use serde_json::{Value, json};

use super::support::{Desk, Provider};

/// A desk whose model is a local server that speaks chat completions.
fn local(provider: &Provider, model: &str) -> Desk {
    Desk::plan().model(model).variable("OPENAI_BASE_URL", &provider.url).start()
}

fn rewrite(text: &str) -> Value {
    let input = json!({"new_content": text, "explanation": "Rewrote it."});
    json!({"type": "tool_use", "name": "update_full_document", "input": input})
}

#[test]
fn a_local_server_edits_a_document_like_any_other_model() {
    let words = json!({"type": "text", "text": "Done."});
    let provider = Provider::answering(vec![json!([rewrite("It was dark.\n")]), json!([words])]);
    let desk = local(&provider, "openai:story");
    let ana = desk.editor("Ana");
    ana.creates("It was very dark.\n");
    let run = ana.asks("Tighten this");
    ana.accepts_all(&ana.sees_request());
    assert_eq!(ana.answer(&run)["conversationMessage"], "Done.");
    ana.comes_to_read("It was dark.\n");
    let told = provider.asked(2)["messages"].as_array().cloned().expect("a conversation");
    let roles: Vec<_> = told.iter().map(|it| it["role"].as_str().unwrap_or_default()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
    assert_eq!(told[3]["tool_call_id"], told[2]["tool_calls"][0]["id"]);
}

#[test]
fn without_a_name_the_server_is_asked_which_model_it_has() {
    let provider = Provider::answering(vec![json!([{"type": "text", "text": "Hello."}])]);
    let desk = local(&provider, "openai");
    let ana = desk.editor("Ana");
    assert_eq!(ana.is_answered("Hello", &json!({}))["conversationMessage"], "Hello.");
    assert_eq!(provider.asked(1)["model"], "story:8b");
}

#[test]
fn arguments_that_are_no_json_are_refused_without_asking_anybody() {
    let mut broken = rewrite("x");
    broken["input"] = json!("{\"new_content\": oops}");
    let words = json!({"type": "text", "text": "Sorry."});
    let provider = Provider::answering(vec![json!([broken]), json!([words])]);
    let desk = local(&provider, "openai:story");
    let ana = desk.editor("Ana");
    ana.creates("Hello.");
    let run = ana.asks("Rewrite this");
    assert_eq!(ana.answer(&run)["conversationMessage"], "Sorry.");
    assert!(ana.saw("tool_approval_request").is_empty());
    let told = provider.asked(2)["messages"][3]["content"].as_str().map(str::to_owned);
    let told = told.expect("a result");
    assert!(
        told.starts_with("ERROR: Invalid input for update_full_document: invalid JSON"),
        "{told}"
    );
}
