//! Tests of words that people write while a request waits: the model learns of them, or cannot
//! remove them.

use serde_json::json;

use copydesk_approvals::ApprovalSwitch;
use copydesk_approvals::{Decision, RequestVerdict};
use copydesk_rooms::command::SettingsChange;
use copydesk_rooms::settings::OwnSettings;

use super::fixture::{TestAgent, calls, owner, rewrites, says};

fn replaces_teh() -> super::fixture::ScriptedReply {
    let input = json!({"find": "Teh", "replace": "The", "explanation": "Spelling."});
    calls([("find_and_replace", input)])
}

/// Adds words while the request waits, and then approves it.
async fn approved_late(stage: &mut TestAgent, words: &str) {
    let request = stage.request().await;
    stage.types_first(words).await;
    let yes = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), yes, owner()).await.unwrap();
}

#[tokio::test]
async fn words_that_were_written_meanwhile_are_told_whatever_else_has_changed() {
    let long = "It goes on. ".repeat(1_000);
    let mut stage = TestAgent::with(&format!("First.\n\n{long}\n\nTeh end.")).await;
    stage.model.plays([replaces_teh(), says("Done.")]);
    stage.ask("Spelling, please").await;
    approved_late(&mut stage, "ANA WROTE THIS. ").await;
    stage.response().await;
    let (tool_result, _) = stage.model.tool_results().remove(0);
    // The note tells two places, and not the text between them.
    assert!(
        tool_result.contains("ANA WROTE THIS")
            && tool_result.contains("are now units 12027 to 12029"),
        "{tool_result}"
    );
    assert!(tool_result.len() < 2_000, "{}", tool_result.len());
}

#[tokio::test]
async fn what_the_model_was_not_told_no_rewrite_takes_away_before_it_is_read() {
    let mut stage = TestAgent::with("Teh end.").await;
    let words = "Ana wrote this. ".repeat(1_000);
    let read = || calls([("read_document", json!({}))]);
    stage.model.plays([
        replaces_teh(),
        rewrites("The very end."),
        read(),
        rewrites("The very end."),
        says("As you like."),
    ]);
    stage.ask("Spelling, please").await;
    approved_late(&mut stage, &words).await;
    // The model has read them by then, and people see what would be deleted.
    let request = stage.request().await;
    let gone = request.hunks.iter().flat_map(|hunk| &hunk.parts).map(|part| part.base.len());
    assert!(gone.sum::<usize>() >= words.len() - 100, "{:?}", request.hunks);
    let no = Decision::plain(RequestVerdict::Reject);
    stage.room.decide(request.id().clone(), no, owner()).await.unwrap();
    stage.response().await;
    let asked = stage.model.asked();
    let model_input =
        format!("{:?}", asked.iter().map(|it| it.messages.last()).collect::<Vec<_>>());
    assert!(model_input.contains("you have not read them"), "{model_input}");
    assert!(
        model_input.contains("This would take away words that you have not read"),
        "{model_input}"
    );
}

#[tokio::test]
async fn of_two_texts_for_an_empty_document_the_second_is_told_of_the_first() {
    let mut stage = TestAgent::with("").await;
    let rewrite =
        |text: &str| ("update_full_document", json!({"new_content": text, "explanation": ""}));
    stage.model.plays([calls([rewrite("One."), rewrite("Two.")]), says("Sorry.")]);
    stage.ask("Write something").await;
    stage.decide(RequestVerdict::Approve).await;
    stage.response().await;
    assert_eq!(stage.text().await, "One.");
    let tool_results = stage.model.tool_results();
    assert!(tool_results[1].1 && tool_results[1].0.contains("no longer is"), "{tool_results:?}");
}

/// Returns a reply with two calls, each with a text for the whole document.
fn rewrites_twice(texts: [&str; 2]) -> super::fixture::ScriptedReply {
    calls(
        texts.map(|text| ("update_full_document", json!({"new_content": text, "explanation": ""}))),
    )
}

#[tokio::test]
async fn of_two_rewrites_in_one_answer_the_second_is_not_put_beside_the_first() {
    let mut stage = TestAgent::with("# T\n").await;
    let texts = ["# T\nOne text.\n", "# T\nAnother text.\n"];
    stage.model.plays([rewrites_twice(texts), says("Sorry.")]);
    stage.ask("Write something").await;
    stage.decide(RequestVerdict::Approve).await;
    stage.response().await;
    assert_eq!(stage.text().await, texts[0]);
    let tool_results = stage.model.tool_results();
    assert!(
        tool_results[1].1 && tool_results[1].0.contains("now at units 4 to 14;"),
        "{tool_results:?}"
    );
    // A model that knows the present text replaces it.
    stage.model.plays([rewrites(texts[1]), says("Done.")]);
    stage.ask("The other one").await;
    stage.decide(RequestVerdict::Approve).await;
    stage.response().await;
    assert_eq!(stage.text().await, texts[1]);
}

#[tokio::test]
async fn also_where_no_one_looks_two_rewrites_do_not_stand_one_after_the_other() {
    let mut stage = TestAgent::with("# T\n").await;
    let own = OwnSettings { approvals: Some(ApprovalSwitch::Off), ..OwnSettings::default() };
    stage.room.configure(SettingsChange { own, frozen: None }, owner()).await.unwrap();
    let texts = ["# T\nOne text.\n", "# T\nAnother text.\n"];
    stage.model.plays([rewrites_twice(texts), rewrites_twice([texts[1]; 2]), says("Done.")]);
    stage.ask("Write something").await;
    stage.response().await;
    // Once it is sent the present text, the model proposes its text again, and nothing is there
    // twice.
    assert_eq!(stage.text().await, texts[1]);
}

#[tokio::test]
async fn of_two_rewrites_the_second_is_proposed_where_the_first_is_not_in_the_document() {
    let mut stage = TestAgent::with("# T\n").await;
    let texts = ["# T\nOne text.\n", "# T\nAnother text.\n"];
    stage.model.plays([rewrites_twice(texts), says("Done.")]);
    stage.ask("Write something").await;
    stage.decide(RequestVerdict::Reject).await;
    stage.decide(RequestVerdict::Approve).await;
    stage.response().await;
    assert_eq!(stage.text().await, texts[1]);
    // At two places, each has its own.
    let texts = ["# T\nAnother text.\nEnd.\n", "# Title\nAnother text.\n"];
    stage.model.plays([rewrites_twice(texts), says("Done.")]);
    stage.ask("Go on").await;
    stage.decide(RequestVerdict::Approve).await;
    stage.decide(RequestVerdict::Approve).await;
    stage.response().await;
    assert_eq!(stage.text().await, "# Title\nAnother text.\nEnd.\n");
}

#[tokio::test]
async fn what_people_write_where_a_rewrite_adds_words_denies_nothing() {
    let mut stage = TestAgent::with("It was cold.").await;
    let texts = ["It was cold. Late.", "Yes. It was cold."];
    stage.model.plays([rewrites_twice(texts), says("Done.")]);
    stage.ask("Write something").await;
    let first = stage.request().await;
    // At the very beginning, where the second call will add its words.
    stage.types_first("It rained. ").await;
    let yes = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(first.id().clone(), yes, owner()).await.unwrap();
    stage.decide(RequestVerdict::Approve).await;
    stage.response().await;
    let text = stage.text().await;
    assert_eq!(text, "It rained. Yes. It was cold. Late.");
}
