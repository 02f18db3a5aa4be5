//! Tests of the reasons that a model gives for single changes: where people see them, and what the
//! model hears of those that cannot be taken.

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use copydesk_approvals::{ApprovalRequest, Decision, RequestVerdict};
use copydesk_llm::harper::HarperModel;
use copydesk_llm::messages_api::ToolDefinition;
use copydesk_llm::{AnswerDelta, Model as _, ModelDocument, ModelRequest};
use copydesk_tools::ToolCall;

use super::fixture::{TestAgent, calls, owner, says};

const OLD: &str = "He could of slept.\n\nIt were very late.\n\nThey was cold.";
const NEW: &str = "He could have slept.\n\nIt was late.\n\nThey were cold.";

/// Returns the reasons of the changes, in order; empty for a change without one.
fn reasons(request: &ApprovalRequest) -> Vec<&str> {
    request.hunks.iter().map(|hunk| hunk.explanation.as_deref().unwrap_or_default()).collect()
}

fn rewrite(reasons: &Value) -> Value {
    json!({"new_content": NEW, "explanation": "Slips.", "reasons": reasons})
}

#[tokio::test]
async fn each_change_shows_its_own_reason_and_the_others_join_the_explanation() {
    let mut stage = TestAgent::with(OLD).await;
    let input = rewrite(&json!([
        {"quote": "They were", "why": "Plural."},
        {"quote": "could have slept", "why": " “Of” is no verb. "},
        {"quote": "cold.", "why": "I like\nthe cold."},
        {"quote": "", "why": "British usage."},
        {"quote": "late", "why": ""},
    ]));
    stage.model.plays([calls([("update_full_document", input.clone())]), says("Done.")]);
    stage.ask("Any slips?").await;
    let request = stage.request().await;
    let shown = reasons(&request);
    assert_eq!((shown[0], shown[shown.len() - 1]), ("“Of” is no verb.", "Plural."));
    assert!(shown[1..shown.len() - 1].iter().all(|reason| reason.is_empty()), "{shown:?}");
    let explanation = "Slips.\nAlso, for “cold.”: I like the cold.\nAlso: British usage.";
    assert_eq!(request.proposal.action.explanation, explanation);
    assert_eq!(request.proposal.origin.input, input);
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    stage.response().await;
    let (told, is_error) = stage.model.tool_results().remove(0);
    assert!(!is_error && !told.contains("Plural"), "{told}");
}

#[tokio::test]
async fn words_of_a_selection_and_of_another_document_have_their_reasons_too() {
    let mut stage = TestAgent::with("They was late. They was cold.").await;
    let input = json!({
        "new_text": "They were cold.", "selection_range": {"start": 15, "end": 29}, "explanation": "Slip.",
        "reasons": [{"quote": "They were", "why": "Plural."}],
    });
    stage.model.plays([calls([("update_selection", input)]), says("Done.")]);
    stage.ask_about(15, 29, "Any slips?").await;
    assert_eq!(reasons(&*stage.request().await), ["Plural."]);

    let mut stage = TestAgent::with("Mine.").await;
    let other = stage.another("Glossary", "Lamp: a very good light.").await;
    let id = other.document().to_string();
    let input = json!({
        "document_id": id, "new_content": "Lamp: a good light.", "explanation": "Shorter.",
        "reasons": [{"quote": "very", "why": "It says nothing."}],
    });
    stage.model.plays([
        calls([("read_document", json!({"document_id": id}))]),
        calls([("update_document_by_id", input)]),
        says("Done."),
    ]);
    stage.ask("Shorten the glossary").await;
    assert_eq!(reasons(&*stage.request().await), ["It says nothing."]);
}

#[tokio::test]
async fn reasons_of_another_shape_or_size_are_refused_in_words_that_help() {
    let mut stage = TestAgent::with(OLD).await;
    let long = "x".repeat(301);
    let many = vec![json!({"quote": "late", "why": "Plainer."}); 201];
    let fields = "reasons (array of {quote (string, required), why (string, required)}, optional)";
    for (reasons, words) in [
        (json!("They were: plural"), fields),
        (json!([{"quote": "late"}]), fields),
        (json!([{"quote": "late", "reason": "Plainer."}]), "unknown field `reason`"),
        (json!([{"quote": "late", "why": long}]), "`why` of reason 1 has more than 300"),
        (json!([{"quote": long, "why": "Plainer."}]), "`quote` of reason 1 has more than 300"),
        (json!(many), "At most 200 `reasons` at once; nothing was proposed"),
    ] {
        let call = calls([("update_full_document", rewrite(&reasons))]);
        stage.model.plays([call, says("Sorry.")]);
        stage.ask("Any slips?").await;
        stage.response().await;
        let (told, is_error) = stage.model.tool_results().remove(0);
        assert!(is_error && told.contains(words), "{told}");
    }
    // No reasons, and reasons as JSON in a text, can only mean one thing.
    for (given, shown) in [
        (Value::Null, ""),
        (json!([]), ""),
        (json!(r#"[{"quote": "They were", "why": "Plural."}]"#), "Plural."),
    ] {
        stage.model.plays([calls([("update_full_document", rewrite(&given))]), says("Done.")]);
        stage.ask("Any slips?").await;
        let request = stage.request().await;
        assert_eq!(reasons(&request).last(), Some(&shown));
        let reject = Decision::plain(RequestVerdict::Reject);
        stage.room.decide(request.id().clone(), reject, owner()).await.unwrap();
        stage.response().await;
    }
}

#[tokio::test]
async fn characters_that_cannot_be_seen_are_announced_in_every_reason() {
    let mut stage = TestAgent::with(OLD).await;
    let input = rewrite(&json!([
        {"quote": "They were", "why": "Plu\u{202e}ral."},
        {"quote": "no\u{2066}where", "why": "Lost."},
    ]));
    stage.model.plays([calls([("update_full_document", input)]), says("Done.")]);
    stage.ask("Any slips?").await;
    let request = stage.request().await;
    let warnings: Vec<_> =
        request.proposal.action.preview.warnings.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(
        warnings,
        [
            "The reason has characters that cannot be seen: U+202E.",
            "The reason has characters that cannot be seen: U+2066.",
        ]
    );
}

/// Returns the call that the built-in copy editor makes for a text.
async fn corrections(text: &str) -> ToolCall {
    let tool = ToolDefinition {
        name: "update_full_document".into(),
        description: String::new(),
        input_schema: json!({"type": "object"}),
        strict: None,
        alias: None,
    };
    let request = ModelRequest {
        tools: vec![tool],
        prompt: Some("Fix the grammar".into()),
        document: Some(ModelDocument { text: text.into(), selection: None }),
        ..ModelRequest::default()
    };
    let model = HarperModel::default();
    let mut answer = model.stream(request, CancellationToken::new());
    loop {
        if let AnswerDelta::Done(message) = answer.next().await.unwrap().unwrap() {
            return message.content.iter().find_map(ToolCall::of).unwrap();
        }
    }
}

#[tokio::test]
async fn each_correction_of_the_built_in_copy_editor_shows_its_rule() {
    let ledger = include_str!("../../../../fixtures/documents/the-keepers-ledger.md");
    let mut stage = TestAgent::with(ledger).await;
    let ToolCall { name, input, .. } = corrections(ledger).await;
    let explanation = input["explanation"].clone();
    stage.model.plays([calls([(&*name, input)]), says("Done.")]);
    stage.ask("Fix the grammar").await;
    let request = stage.request().await;
    assert_eq!(request.proposal.action.explanation, explanation, "every reason has its change");
    let shown = reasons(&request);
    let of_rule = |rule: &str| shown.iter().filter(|why| why.starts_with(rule)).count();
    let counts = ["Spelling", "Grammar: ", "Word choice: ", "Repeated word: "].map(of_rule);
    assert_eq!((request.hunks.len(), counts), (16, [6, 7, 2, 1]), "{shown:#?}");
    let article = request.hunks.iter().find(|hunk| hunk.parts[0].insert == "an").unwrap();
    assert_eq!(article.explanation.as_deref(), Some("Grammar: Incorrect indefinite article."));
}
