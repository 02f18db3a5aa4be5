//! Tests of the limits of a run, and of its end when one is reached.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;

use copydesk_llm::messages_api::{ContentBlock, TokenUsage};
use copydesk_llm::{AnswerDelta, FailedTryUsage};

use super::fixture::{ScriptedReply, TestAgent, calls, rewrites, says};
use crate::{RunLimits, StopFilter};
use copydesk_rooms::event::{AgentEventType, RunEventKind};

/// Returns the subtype of the only run's end, and the message for people.
fn ending(stage: &TestAgent) -> (String, String) {
    let result = stage.said.iter().rev().find_map(|said| match &said.saying {
        RunEventKind::Agent(it) if it.kind == AgentEventType::Result => {
            let message = it.content["message"].as_str().unwrap_or_default();
            Some((it.subtype.as_str().to_owned(), message.to_owned()))
        }
        _ => None,
    });
    result.expect("the run has ended")
}

/// Returns the token usage that people were sent at the end.
fn used(stage: &TestAgent) -> serde_json::Value {
    let used = stage.said.iter().find_map(|said| match &said.saying {
        RunEventKind::Agent(it) if it.kind == AgentEventType::Result => {
            Some(it.content["usage"].clone())
        }
        _ => None,
    });
    used.expect("an end")
}

#[tokio::test]
async fn a_run_ends_when_its_tokens_are_used_up_and_every_call_is_answered() {
    let limits = RunLimits { tokens: 1_000, ..RunLimits::default() };
    let mut stage = TestAgent::with_limits("It was dark.", limits).await;
    *stage.model.usage.lock() = TokenUsage { input_tokens: 1_000, ..TokenUsage::default() };
    stage.model.plays([rewrites("It was very dark.")]);
    stage.ask("Make it darker").await;
    stage.decide(copydesk_approvals::RequestVerdict::Approve).await;
    let response = stage.response().await;
    assert_eq!(ending(&stage), ("limit".into(), "The run stopped after 1000 tokens".into()));
    assert_eq!(response.error.expect("a reason").0, "limit");
    assert_eq!(stage.text().await, "It was very dark.", "what was accepted stays");
}

#[tokio::test]
async fn tries_in_vain_use_up_the_tokens_too() {
    let limits = RunLimits { tokens: 1_000, ..RunLimits::default() };
    let mut stage = TestAgent::with_limits("It was dark.", limits).await;
    *stage.model.usage.lock() = TokenUsage { output_tokens: 100, ..TokenUsage::default() };
    let usage = TokenUsage { input_tokens: 900, ..TokenUsage::default() };
    let lost = AnswerDelta::Lost(FailedTryUsage { model: "actor".into(), usage });
    let go_on = Arc::new(Notify::new());
    go_on.notify_one();
    let answer = Box::new(rewrites("It was very dark."));
    stage.model.plays([ScriptedReply::Writes(vec![lost, AnswerDelta::Reset], go_on, answer)]);
    stage.ask("Make it darker").await;
    stage.decide(copydesk_approvals::RequestVerdict::Approve).await;
    stage.response().await;
    assert_eq!(ending(&stage), ("limit".into(), "The run stopped after 1000 tokens".into()));
}

#[tokio::test]
async fn what_an_answer_used_that_no_one_waited_for_is_shown() {
    let limits = RunLimits { model_ms: 50, ..RunLimits::default() };
    let mut stage = TestAgent::with_limits("It was dark.", limits).await;
    *stage.model.usage.lock() = TokenUsage { input_tokens: 900, ..TokenUsage::default() };
    stage.model.plays([ScriptedReply::Hang("Let me think")]);
    stage.ask("Make it darker").await;
    stage.response().await;
    assert_eq!(ending(&stage).0, "limit");
    assert_eq!(used(&stage)["input_tokens"], 900);
}

#[tokio::test]
async fn a_restart_begins_no_new_budget() {
    let limits = RunLimits { tokens: 1_000, ..RunLimits::default() };
    let mut stage = TestAgent::with_limits("It was dark.", limits).await;
    *stage.model.usage.lock() = TokenUsage { output_tokens: 400, ..TokenUsage::default() };
    stage.model.plays([rewrites("It was very dark."), says("Done.")]);
    stage.ask("Make it darker").await;
    stage.request().await;
    stage.restart().await;
    stage.decide(copydesk_approvals::RequestVerdict::Approve).await;
    stage.response().await;
    assert_eq!(used(&stage)["output_tokens"], 800);
}

#[tokio::test]
async fn a_model_that_takes_too_long_is_stopped_and_its_words_stay() {
    let limits = RunLimits { model_ms: 50, ..RunLimits::default() };
    let mut stage = TestAgent::with_limits("It was dark.", limits).await;
    stage.model.plays([ScriptedReply::Hang("Let me think")]);
    stage.ask("Make it darker").await;
    let response = stage.response().await;
    assert_eq!(response.message, "Let me think");
    assert_eq!(ending(&stage).0, "limit");
}

/// Returns all text of the model's request number `call` (from 0), message by message.
fn sent(stage: &TestAgent, call: usize) -> Vec<String> {
    let texts = |content: &[ContentBlock]| {
        content.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n")
    };
    stage.model.asked()[call].messages.iter().map(|message| texts(&message.content)).collect()
}

#[tokio::test]
async fn a_second_question_repeats_neither_the_document_nor_what_changes_its_beginning() {
    let mut stage = TestAgent::with(&"A sentence that stays. ".repeat(500)).await;
    stage.model.plays([says("One."), says("Two."), says("Three.")]);
    for prompt in ["First?", "Second?", "Third?"] {
        stage.ask(prompt).await;
        stage.response().await;
        stage.types_first("Typed. ").await;
    }
    let (first, second, third) = (sent(&stage, 0), sent(&stage, 1), sent(&stage, 2));
    let document = first[0].split("User Request").next().expect("a part").trim_end();
    assert!(document.contains("A sentence that stays."));
    // The beginning must be equal byte for byte, or no provider can cache it.
    assert!(second[0].starts_with(document) && third[0].starts_with(document));
    assert_eq!(second[..2], third[..2], "the conversation only grows");
    assert!(!second[2].contains("A sentence that stays."));
    assert!(
        third[4].contains("units 0 to 0 of that are now units 0 to 14 and read"),
        "{}",
        third[4]
    );
    assert!(third[4].contains("Typed. Typed. "), "the newest text wins");
}

#[tokio::test]
async fn a_document_that_has_changed_much_is_shown_again() {
    let mut stage = TestAgent::with(&"A sentence that stays. ".repeat(500)).await;
    stage.model.plays([says("One."), says("Two."), says("Three.")]);
    stage.ask("First?").await;
    stage.response().await;
    stage.types_first(&"A long beginning. ".repeat(500)).await;
    for prompt in ["Second?", "Third?"] {
        stage.ask(prompt).await;
        stage.response().await;
    }
    let (second, third) = (sent(&stage, 1), sent(&stage, 2));
    assert!(second[0].starts_with("First?"), "{:.99}", second[0]);
    assert!(
        second[2].contains("A long beginning.") && second[2].contains("A sentence that stays.")
    );
    assert!(third[0].contains("A long beginning.") && third[0].contains("A sentence that stays."));
    assert!(third[4].contains("It reads as shown at the beginning of this conversation"));
}

/// Creates a document and an earlier answer that are long enough to be counted.
async fn long_conversation() -> TestAgent {
    let limits = RunLimits { input_tokens: 100_000, ..RunLimits::default() };
    let mut stage = TestAgent::with_limits(&"word ".repeat(36_000), limits).await;
    stage.model.plays([says(&"long ".repeat(30_000))]);
    stage.ask("What is this?").await;
    stage.response().await;
    stage
}

#[tokio::test]
async fn of_a_conversation_with_too_many_tokens_the_oldest_runs_are_left_out() {
    let mut stage = long_conversation().await;
    stage.model.counts.lock().extend([120_000]);
    stage.model.plays([says("Words.")]);
    stage.ask("And in short?").await;
    assert_eq!(stage.response().await.message, "Words.");
    let sent = &stage.model.asked()[1].messages;
    assert_eq!(sent.len(), 1, "only the new prompt");
    let texts: Vec<_> = sent[0].content.iter().filter_map(ContentBlock::as_text).collect();
    assert!(texts[0].starts_with("Current Document:"), "the document stays");
    assert!(texts.concat().contains("And in short?"));
}

#[tokio::test]
async fn a_request_that_can_be_made_no_shorter_is_not_sent() {
    let mut stage = long_conversation().await;
    stage.model.counts.lock().extend([[120_000].as_slice(), &[110_000; 9]].concat());
    // Long enough by itself to be counted once the rest is left out.
    let prompt = "为什么".repeat(27_000);
    stage.ask(&prompt).await;
    stage.response().await;
    let (subtype, words) = ending(&stage);
    assert_eq!(subtype, "limit");
    let expected = "The document and this question are 110000 tokens, more than the limit of 100000; ask about a part of the document";
    assert_eq!(words, expected);
    assert_eq!(stage.model.asked().len(), 1, "the second was not asked");
}

#[tokio::test]
async fn of_a_document_with_too_many_tokens_the_part_around_the_selection_is_shown() {
    // In many languages a character is a token.
    let text = "一".repeat(100_000) + "Here." + &"二".repeat(60_000);
    let limits = RunLimits { input_tokens: 100_000, ..RunLimits::default() };
    let mut stage = TestAgent::with_limits(&text, limits).await;
    stage.model.counts.lock().extend([160_000, 105_000]);
    stage.model.plays([says("Words.")]);
    stage.ask_about(100_000, 100_005, "What is this?").await;
    assert_eq!(stage.response().await.message, "Words.");
    let asked = &stage.model.asked()[0];
    let texts: Vec<_> =
        asked.messages[0].content.iter().filter_map(ContentBlock::as_text).collect();
    assert!(texts[0].contains("these are units 80002 to 120003."), "{}", &texts[0][..200]);
}

#[tokio::test]
async fn a_provider_that_cannot_count_is_simply_asked() {
    let mut stage = long_conversation().await;
    stage.model.plays([says("Words.")]);
    stage.ask("And in short?").await;
    assert_eq!(stage.response().await.message, "Words.");
    assert_eq!(stage.model.asked()[1].messages.len(), 3);
}

#[tokio::test]
async fn a_run_is_stopped_at_once_while_tokens_are_counted() {
    let mut stage = long_conversation().await;
    let counting = Arc::new(Notify::new());
    *stage.model.counts_forever.lock() = Some(Arc::clone(&counting));
    stage.ask("And in short?").await;
    counting.notified().await;
    stage
        .agents
        .cancel(StopFilter { session: Some(stage.session.clone()), run: None })
        .await
        .unwrap();
    assert_eq!(stage.response().await.error.expect("a reason").0, "cancelled");
    assert_eq!(stage.model.asked().len(), 1, "the model was not asked again");
}

#[tokio::test]
async fn counting_takes_of_the_time_that_a_run_may_wait_for_its_model() {
    let limits = RunLimits { model_ms: 50, ..RunLimits::default() };
    let mut stage = TestAgent::with_limits(&"word ".repeat(60_000), limits).await;
    *stage.model.counts_forever.lock() = Some(Arc::default());
    stage.model.plays([ScriptedReply::Hang("")]);
    stage.ask("What is this?").await;
    stage.response().await;
    assert_eq!(ending(&stage).0, "limit");
}

#[tokio::test]
async fn however_much_a_run_reads_each_call_is_sent_a_bounded_part_and_every_call_has_its_result() {
    let names: Vec<_> = (0..6).map(|number| format!("{number}.txt")).collect();
    let text = "A line that is read again and again.\n".repeat(2_500);
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    let mut stage = TestAgent::in_workspace(&files).await;
    let path = |number: usize| json!({"file_path": names[number]});
    let reads = || calls([0, 1, 2, 3, 4, 5].map(|number| ("Read", path(number))));
    stage.model.plays([reads(), reads(), reads(), says("Done.")]);
    stage.run("Read everything").await;
    assert_eq!(stage.result().await, "success");
    for request in stage.model.asked() {
        let blocks = request.messages.iter().flat_map(|message| &message.content);
        let results: Vec<_> = blocks
            .filter_map(|block| match block {
                ContentBlock::ToolResult { content, .. } => Some(content),
                _ => None,
            })
            .collect();
        assert_eq!(results.len() % 6, 0);
        let bytes = results.iter().flat_map(|it| it.iter()).filter_map(ContentBlock::as_text);
        let bytes: usize = bytes.map(str::len).sum();
        assert!(bytes <= 400_000, "{bytes}");
        assert!(results.is_empty() || bytes > 150_000, "{bytes}: what was just read is there");
    }
}
