//! Tests of streaming previews.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;

use copydesk_approvals::{Decision, RequestVerdict};
use copydesk_llm::{AnswerDelta, ModelError};

use super::fixture::{ScriptedReply, TestAgent, calls, owner, rewrites, says, selection, writes};
use crate::{AgentQuestion, SelectedRange, StopFilter};

const OLD: &str = "Teh cat.\n\nIt sat.\n\nThe end.\n";
const NEW: &str = "The cat.\n\nIt slept.\n\nThe end.\n";
const HALF: &str = "The cat.\n\nIt sl";

async fn is_left_alone(stage: &mut TestAgent) {
    let seen = stage.preview_ends().await;
    assert_eq!(seen.tool, "update_full_document");
    stage.response().await;
    assert!(stage.room.requests().await.unwrap().is_empty());
    assert_eq!(stage.text().await, OLD);
}

#[tokio::test]
async fn what_is_written_is_seen_before_it_can_be_decided_and_becomes_the_request_of_the_same_name()
{
    let mut stage = TestAgent::with(OLD).await;
    let go_on = Arc::new(Notify::new());
    stage.model.plays([writes(HALF, &go_on, rewrites(NEW)), says("Done.")]);
    let run = stage.ask("Fix this").await;
    let seen = stage.streaming_preview().await;
    assert_eq!((seen.text.as_str(), seen.paragraphs, seen.hunks.len()), (HALF, 1, 1));
    assert_eq!(
        (&seen.run, &seen.session, seen.author.name.as_str()),
        (&run, &stage.session, "Ada")
    );
    assert!(stage.room.requests().await.unwrap().is_empty());
    go_on.notify_one();
    let request = stage.request().await;
    assert_eq!(*request.id(), seen.id);
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    stage.response().await;
    assert_eq!(stage.text().await, NEW);
}

#[tokio::test]
async fn cancelling_in_the_middle_of_it_leaves_nothing() {
    let mut stage = TestAgent::with(OLD).await;
    stage.model.plays([writes(HALF, &Arc::default(), says(""))]);
    let run = stage.ask("Fix this").await;
    stage.streaming_preview().await;
    stage.agents.cancel(StopFilter { session: None, run: Some(run) }).await.unwrap();
    is_left_alone(&mut stage).await;
}

#[tokio::test]
async fn a_stream_that_breaks_leaves_nothing() {
    let mut stage = TestAgent::with(OLD).await;
    let go_on = Arc::new(Notify::new());
    stage.model.plays([writes(HALF, &go_on, ScriptedReply::Fail("", ModelError::CutOff))]);
    stage.ask("Fix this").await;
    stage.streaming_preview().await;
    go_on.notify_one();
    is_left_alone(&mut stage).await;
}

#[tokio::test]
async fn an_answer_that_was_cut_before_its_call_was_complete_leaves_nothing() {
    let mut stage = TestAgent::with(OLD).await;
    let go_on = Arc::new(Notify::new());
    stage.model.plays([writes(HALF, &go_on, says("I ran out of space."))]);
    stage.ask("Fix this").await;
    stage.streaming_preview().await;
    go_on.notify_one();
    is_left_alone(&mut stage).await;
}

#[tokio::test]
async fn a_denial_leaves_nothing() {
    let mut stage = TestAgent::with(OLD).await;
    let go_on = Arc::new(Notify::new());
    stage.model.plays([writes(HALF, &go_on, rewrites(NEW)), says("Sorry.")]);
    let selection = Some(SelectedRange { start: 0, end: 3, text: None });
    let ask = AgentQuestion { selection, ..stage.question("Fix this") };
    stage.agents.ask(ask).await.unwrap();
    stage.streaming_preview().await;
    go_on.notify_one();
    is_left_alone(&mut stage).await;
    let (tool_result, is_error) = stage.model.tool_results().remove(0);
    assert!(
        is_error && tool_result.contains("only the selected text may be changed"),
        "{tool_result}"
    );
}

#[tokio::test]
async fn a_run_that_panics_leaves_nothing() {
    let mut stage = TestAgent::with(OLD).await;
    let go_on = Arc::new(Notify::new());
    // The script has no reply after the rejection, so the scripted model panics.
    let two = calls([
        ("update_full_document", json!({"new_content": NEW, "explanation": ""})),
        ("update_full_document", json!({"new_content": "Else.", "explanation": ""})),
    ]);
    stage.model.plays([writes(HALF, &go_on, two)]);
    stage.ask("Fix this").await;
    stage.streaming_preview().await;
    go_on.notify_one();
    stage.decide(RequestVerdict::Reject).await;
    stage.decide(RequestVerdict::Reject).await;
    assert_eq!(stage.response().await.error.unwrap().0, "internal");
    assert!(stage.room.requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_model_that_starts_again_starts_again_for_everybody() {
    let mut stage = TestAgent::with(OLD).await;
    let go_on = Arc::new(Notify::new());
    let again = ScriptedReply::Writes(vec![AnswerDelta::Reset], Arc::default(), Box::new(says("")));
    stage.model.plays([writes(HALF, &go_on, again)]);
    let run = stage.ask("Fix this").await;
    let seen = stage.streaming_preview().await;
    go_on.notify_one();
    assert_eq!(stage.preview_ends().await.id, seen.id);
    stage.agents.cancel(StopFilter { session: None, run: Some(run) }).await.unwrap();
    stage.response().await;
}

#[tokio::test]
async fn a_second_call_stays_in_sight_until_its_turn_comes() {
    let mut stage = TestAgent::with("One. Two. Three.").await;
    let go_on = Arc::new(Notify::new());
    let input = |start, text| selection(start, start + 3, text);
    let begun = |index: usize, input: &serde_json::Value| {
        let (id, name) = (format!("toolu_{}", index + 1), "update_selection".to_owned());
        [
            AnswerDelta::ToolUse { index, id, name },
            AnswerDelta::ToolInput { index, partial_json: input.to_string() },
        ]
    };
    let inputs = [input(0, "Uno"), input(5, "Dos")];
    let deltas = inputs.iter().enumerate().flat_map(|(index, it)| begun(index, it)).collect();
    let both = calls(inputs.clone().map(|input| ("update_selection", input)));
    stage
        .model
        .plays([ScriptedReply::Writes(deltas, Arc::clone(&go_on), Box::new(both)), says("Done.")]);
    stage.ask("Translate").await;
    let mut seen = [stage.streaming_preview().await, stage.streaming_preview().await];
    seen.sort_by(|a, b| a.tool_use.as_str().cmp(b.tool_use.as_str()));
    assert_eq!(seen[1].hunks[0].parts[0].insert, "Dos");
    go_on.notify_one();
    assert_eq!(*stage.request().await.id(), seen[0].id);
    let shown = stage.enter(&stage.room).await.streaming_previews;
    assert_eq!((shown.len(), &shown[0].0.id), (1, &seen[1].id));
    // A person who connects later is notified of the open request.
    stage.request().await;
    let approve = || Decision::plain(RequestVerdict::Approve);
    stage.room.decide(seen[0].id.clone(), approve(), owner()).await.unwrap();
    assert_eq!(*stage.request().await.id(), seen[1].id);
    stage.room.decide(seen[1].id.clone(), approve(), owner()).await.unwrap();
    stage.response().await;
    assert_eq!(stage.text().await, "Uno. Dos. Three.");
}

#[tokio::test]
async fn a_selection_is_seen_growing_in_its_place() {
    let mut stage = TestAgent::with("One two three.").await;
    let deltas = vec![
        AnswerDelta::ToolUse { index: 0, id: "toolu_1".into(), name: "update_selection".into() },
        AnswerDelta::ToolInput { index: 0, partial_json: r#"{"new_text":"zw"#.into() },
    ];
    stage.model.plays([ScriptedReply::Writes(deltas, Arc::default(), Box::new(says("")))]);
    let run = stage.ask_about(4, 7, "Translate").await;
    let seen = stage.streaming_preview().await;
    let part = &seen.hunks[0].parts[0];
    assert_eq!((part.from, part.to, part.insert.as_str()), (4, 7, "zw"));
    stage.agents.cancel(StopFilter { session: None, run: Some(run) }).await.unwrap();
    stage.preview_ends().await;
}
