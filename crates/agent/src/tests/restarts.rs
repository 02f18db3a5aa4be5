//! Tests of runs that a stop of the server interrupts, in every state that they can have.

use serde_json::json;

use copydesk_approvals::{Decision, RequestVerdict};
use copydesk_rooms::event::{AgentEventSubtype, AgentEventType, ResponseUpdate, RunEventKind};

use super::fixture::{ScriptedReply, TestAgent, calls, owner, replaces, rewrites, says, selection};
use crate::{AgentQuestion, AskError, ConversationMode};

fn results(stage: &TestAgent) -> usize {
    let is_result = |saying: &RunEventKind| matches!(saying, RunEventKind::Agent(it) if it.kind == AgentEventType::Result);
    stage.said.iter().filter(|said| is_result(&said.saying)).count()
}

#[tokio::test]
async fn a_run_whose_model_was_writing_asks_it_again() {
    let mut stage = TestAgent::with("").await;
    stage.model.plays([ScriptedReply::Hang("Half an ans"), says("A whole answer.")]);
    stage.ask("Talk").await;
    stage.model.called(1).await;
    stage.restart().await;
    assert_eq!(stage.response().await.message, "A whole answer.");
    let asked = stage.model.asked();
    assert_eq!((asked[1].messages.len(), asked[1].prompt.as_deref()), (1, Some("Talk")));
}

#[tokio::test]
async fn a_pending_request_is_decided_after_the_restart() {
    let mut stage = TestAgent::with("Old.").await;
    stage.model.plays([rewrites("New."), says("Done.")]);
    stage.ask("Rewrite").await;
    let request = stage.request().await;
    stage.restart().await;
    let again = stage.room.requests().await.unwrap();
    assert_eq!((again.len(), again[0].id()), (1, request.id()));
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    let response = stage.response().await;
    assert_eq!(response.message, "Done.");
    assert!(matches!(response.update, ResponseUpdate::Full { ref text, .. } if text == "New."));
    assert_eq!((stage.model.asked().len(), results(&stage)), (2, 1));
}

#[tokio::test]
async fn a_decision_that_was_taken_while_no_one_waited_is_not_lost() {
    let mut stage = TestAgent::with("The big red fox.").await;
    let change = ("update_selection", selection(4, 15, "fox"));
    stage.model.plays([calls([change]), says("Done.")]);
    stage.ask("Shorter").await;
    let request = stage.request().await;
    stage.agents.shutdown().await;
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    stage.restart().await;
    let response = stage.response().await;
    let ResponseUpdate::Partial { text, start, end, .. } = response.update else { panic!() };
    assert_eq!((text.as_str(), start, end), ("fox", 4, 15));
    assert_eq!(stage.text().await, "The fox.");
    let (tool_result, is_error) = stage.model.tool_results().remove(0);
    assert!(tool_result.starts_with("Applied: 1 accepted.") && !is_error, "{tool_result}");
}

#[tokio::test]
async fn a_second_call_of_the_turn_is_run_after_the_restart_and_the_first_is_not_repeated() {
    let mut stage = TestAgent::with("One. Two. Three.").await;
    stage.model.plays([
        calls([
            ("update_selection", selection(0, 4, "Uno.")),
            ("update_selection", selection(10, 16, "Tres.")),
        ]),
        says("Done."),
    ]);
    stage.ask("Translate").await;
    stage.decide(RequestVerdict::Approve).await;
    stage.request().await;
    stage.restart().await;
    let open = stage.room.requests().await.unwrap();
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(open[0].id().clone(), approve, owner()).await.unwrap();
    stage.response().await;
    assert_eq!(stage.text().await, "Uno. Two. Tres.");
    assert_eq!(stage.model.tool_results().len(), 2);
}

#[tokio::test]
async fn a_call_that_never_became_a_request_is_made_with_the_text_the_model_knew() {
    let mut stage = TestAgent::with("One. Two. Three.").await;
    let change = || ("update_selection", selection(10, 16, "Tres."));
    let ask = stage.question("Translate");
    stage.leave_behind(ask, calls([change()])).await;
    stage.types_first("Zero. ").await;
    stage.model.plays([says("Done.")]);
    stage.crash().await;
    stage.decide(RequestVerdict::Approve).await;
    assert_eq!(stage.response().await.message, "Done.");
    assert_eq!(stage.text().await, "Zero. One. Two. Tres.");
}

#[tokio::test]
async fn a_call_from_before_an_orderly_stop_is_made_on_todays_text() {
    let mut stage = TestAgent::with("One. Two. Three.").await;
    let ask = stage.question("Translate");
    stage.leave_behind(ask, calls([("update_selection", selection(10, 16, "Tres."))])).await;
    stage.types_first("Zero. ").await;
    stage.model.plays([says("Done.")]);
    stage.restart().await;
    stage.decide(RequestVerdict::Approve).await;
    assert_eq!(stage.response().await.message, "Done.");
    assert_eq!(stage.text().await, "Zero. One. Two. Tres.");
}

#[tokio::test]
async fn a_call_about_a_text_that_is_no_longer_at_hand_is_sent_back_to_the_model() {
    /// Number of updates that is larger than the range which a room can follow back.
    const LONG_AGO: u16 = 20_001;
    let mut stage = TestAgent::with("One. Two. Three.").await;
    let ask = stage.question("Translate");
    stage.leave_behind(ask, calls([("update_selection", selection(10, 16, "Tres."))])).await;
    stage.types_letters(LONG_AGO.into()).await;
    let at = |unit: i64| unit + i64::from(LONG_AGO);
    let again = calls([("update_selection", selection(at(10), at(16), "Tres."))]);
    stage.model.plays([again, says("Done.")]);
    stage.restart().await;
    stage.decide(RequestVerdict::Approve).await;
    assert_eq!(stage.response().await.message, "Done.");
    assert!(stage.text().await.ends_with("xOne. Two. Tres."));
    let asked = &stage.model.asked()[0];
    let prompt = format!("{:?}", asked.messages[0].content);
    let model_input = format!("{:?}", asked.messages[2].content);
    assert!(prompt.contains("xOne. Two. Three."), "{}", prompt.len());
    assert!(model_input.contains("Try again with the text as it reads now"), "{model_input}");
}

#[tokio::test]
async fn only_the_selection_may_differ_also_after_a_restart() {
    let mut stage = TestAgent::with("One two three.").await;
    stage.model.plays([replaces(4, 7, "zwei")]);
    stage.ask_about(4, 7, "Translate").await;
    let request = stage.request().await;
    stage.agents.shutdown().await;
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    stage.model.plays([rewrites("Eins zwei drei."), replaces(4, 8, "dos"), says("Done.")]);
    stage.restart().await;
    stage.decide(RequestVerdict::Approve).await;
    stage.response().await;
    assert_eq!(stage.text().await, "One dos three.");
    assert_eq!(stage.model.asked().len(), 4, "the rewrite of everything was denied");
}

#[tokio::test]
async fn a_run_that_waited_in_the_queue_still_runs() {
    let mut stage = TestAgent::with("Old.").await;
    stage.model.plays([rewrites("New."), says("First."), says("Second.")]);
    stage.ask("Rewrite").await;
    stage.request().await;
    stage.ask("And then?").await;
    stage.restart().await;
    let open = stage.room.requests().await.unwrap();
    let reject = Decision::plain(RequestVerdict::Reject);
    stage.room.decide(open[0].id().clone(), reject, owner()).await.unwrap();
    assert_eq!(stage.response().await.message, "First.");
    assert_eq!(stage.response().await.message, "Second.");
}

#[tokio::test]
async fn a_finished_run_stays_finished_and_the_conversation_goes_on() {
    let mut stage = TestAgent::with("").await;
    stage.model.plays([says("One."), says("Two.")]);
    let run = stage.ask("First").await;
    stage.response().await;
    let said = stage.record().await;
    stage.restart().await;
    let kept = stage.record().await;
    assert_eq!(kept, said);
    let again = AgentQuestion { run, ..stage.question("First") };
    let refused = stage.agents.ask(again).await;
    assert!(matches!(refused, Err(AskError::Duplicate { .. })), "{refused:?}");
    stage.ask("Second").await;
    assert_eq!(stage.response().await.message, "Two.");
    assert_eq!(stage.model.asked()[1].messages.len(), 3);
}

#[tokio::test]
async fn a_private_text_survives_with_its_run() {
    let mut stage = TestAgent::with("").await;
    let private = stage.agents.private_room(&stage.session, &owner()).await.unwrap();
    stage.enter(&private).await;
    stage.model.plays([rewrites("Corto."), says("Done.")]);
    let content = Some("A long text.".to_owned());
    let conversation = ConversationMode::Fresh;
    let ask =
        AgentQuestion { document: None, content, conversation, ..stage.question("Translate") };
    stage.agents.ask(ask).await.unwrap();
    let request = stage.request().await;
    stage.restart().await;
    let private = stage.agents.private_room(&stage.session, &owner()).await.unwrap();
    stage.enter(&private).await;
    assert_eq!(private.read().await.unwrap().text.to_string(), "A long text.");
    let approve = Decision::plain(RequestVerdict::Approve);
    private.decide(request.id().clone(), approve, owner()).await.unwrap();
    let response = stage.response().await;
    assert!(matches!(response.update, ResponseUpdate::Full { ref text, .. } if text == "Corto."));
}

#[tokio::test]
async fn what_was_said_can_be_read_again_as_it_was_shown() {
    let mut stage = TestAgent::with("Old.").await;
    stage.model.plays([rewrites("New."), says("Understood.")]);
    stage.ask("Rewrite").await;
    stage.reject("No").await;
    stage.response().await;
    let agent_event = |saying: &RunEventKind| match saying {
        RunEventKind::Agent(it) if it.subtype == AgentEventSubtype::TextDelta => None,
        RunEventKind::Agent(object) => Some(object.clone()),
        _ => None,
    };
    let live: Vec<_> = stage.said.iter().filter_map(|said| agent_event(&said.saying)).collect();
    let kept = stage.record().await;
    let shown: Vec<_> =
        kept.iter().flat_map(crate::conversation::transcript::TranscriptEntry::shown).collect();
    assert_eq!(shown, live);
    let decision = &shown[2].content;
    assert_eq!((&decision["status"], &decision["is_error"]), (&json!("rejected"), &json!(true)));
}
