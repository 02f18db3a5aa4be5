//! Tests of whole runs: the model's messages, the events for people, and the stored state.

use serde_json::json;

use copydesk_approvals::{Decision, HunkChoice, HunkVerdict, RequestStatus, RequestVerdict};
use copydesk_ids::Version;
use copydesk_llm::ModelError;
use copydesk_rooms::command::SettingsChange;
use copydesk_rooms::event::{
    AgentEventSubtype, ResponseUpdate, RunEventKind, RunResponse, UpdateExtent,
};
use copydesk_rooms::settings::OwnSettings;
use copydesk_tools::pipeline::input_hooks::CONTENT_LIMIT;

use super::fixture::{ScriptedReply, TestAgent, calls, owner, replaces, rewrites, says, selection};
use crate::{AgentQuestion, AskError, ConversationMode, StopFilter};

fn full(response: &RunResponse) -> &str {
    match &response.update {
        ResponseUpdate::Full { text, .. } => text,
        other => panic!("not a full update: {other:?}"),
    }
}

fn partial(response: &RunResponse) -> (&str, usize, usize) {
    match &response.update {
        ResponseUpdate::Partial { text, start, end, .. } => (text, *start, *end),
        other => panic!("not a partial update: {other:?}"),
    }
}

fn nothing(response: &RunResponse) -> bool {
    matches!(response.update, ResponseUpdate::None)
}

#[tokio::test]
async fn a_question_is_answered_without_touching_the_document() {
    let mut stage = TestAgent::with("Once upon a time.").await;
    let input = json!({"response": "Begin in the middle."});
    stage.model.plays([calls([("respond_conversation_only", input)]), says("Anything else?")]);
    stage.ask("What makes a good opening?").await;
    let response = stage.response().await;
    assert_eq!(response.message, "Begin in the middle.\nAnything else?");
    assert!(nothing(&response) && response.error.is_none());
    assert_eq!(stage.text().await, "Once upon a time.");
}

#[tokio::test]
async fn a_full_update_waits_for_approval_and_lands() {
    let mut stage = TestAgent::with("A long text. It goes on.").await;
    stage.model.plays([rewrites("A short text."), says("Done.")]);
    stage.ask("Summarize to 50 words").await;
    stage.decide(RequestVerdict::Approve).await;
    let response = stage.response().await;
    assert_eq!((full(&response), response.message.as_str()), ("A short text.", "Done."));
    assert_eq!(response.updates[0].status, RequestStatus::Approved);
    assert_eq!(stage.text().await, "A short text.");
}

#[tokio::test]
async fn nothing_changes_before_someone_decides() {
    let mut stage = TestAgent::with("Old words.").await;
    stage.model.plays([rewrites("New words.")]);
    stage.ask("Rewrite").await;
    let request = stage.request().await;
    assert_eq!(request.proposal.origin.tool, "update_full_document");
    assert_eq!(request.proposal.action.prompt, "Rewrite");
    assert_eq!(request.proposal.action.preview.new_content.as_deref(), Some("New words."));
    assert_eq!(stage.text().await, "Old words.");
    assert_eq!(stage.model.asked().len(), 1);
}

#[tokio::test]
async fn a_rejection_reaches_the_model_and_nothing_is_updated() {
    let mut stage = TestAgent::with("Old words.").await;
    stage.model.plays([rewrites("New words."), says("Understood.")]);
    stage.ask("Rewrite").await;
    stage.reject("Keep my voice").await;
    let response = stage.response().await;
    assert!(nothing(&response));
    let update = &response.updates[0];
    assert_eq!((update.status, update.extent), (RequestStatus::Rejected, UpdateExtent::Full));
    assert_eq!(response.message, "Understood.");
    let (tool_result, is_error) = stage.model.tool_results().remove(0);
    assert!(tool_result.starts_with("User rejected: Keep my voice\n"), "{tool_result}");
    assert!(is_error && tool_result.contains("reads as you last saw it"), "{tool_result}");
    assert_eq!(stage.text().await, "Old words.");
}

#[tokio::test]
async fn words_that_no_one_sees_are_pointed_out_whatever_the_tool_and_nul_is_denied() {
    let mut stage = TestAgent::with("Old words.").await;
    let unseen = |tool, input| calls([(tool, input)]);
    let replace = json!({"find": "Old", "replace": "O\u{202e}ld", "explanation": ""});
    let suggest =
        json!({"suggestions": [{"original": "Old", "replacement": "O\u{200b}ld", "reason": ""}]});
    stage.model.plays([
        unseen("find_and_replace", replace),
        unseen("suggest_improvements", suggest),
        replaces(0, 3, "O\0ld"),
        says("Sorry."),
    ]);
    stage.ask("Rewrite").await;
    for _ in 0..2 {
        let request = stage.request().await;
        assert_eq!(request.proposal.action.preview.warnings[0].code, "unseen_characters");
        let no = Decision::plain(RequestVerdict::Reject);
        stage.room.decide(request.id().clone(), no, owner()).await.unwrap();
    }
    stage.response().await;
    let (tool_result, is_error) = stage.model.tool_results().remove(0);
    assert!(is_error && tool_result.starts_with("The text contains NUL"), "{tool_result}");
}

#[tokio::test]
async fn a_selection_is_replaced_and_nothing_else() {
    let mut stage = TestAgent::with("The big red fox jumps.").await;
    stage.model.plays([replaces(4, 15, "fox"), says("Shorter now.")]);
    stage.ask_about(4, 15, "Make this more concise").await;
    stage.decide(RequestVerdict::Approve).await;
    let response = stage.response().await;
    assert_eq!(partial(&response), ("fox", 4, 15));
    assert_eq!(stage.text().await, "The fox jumps.");
    let tool_result = &stage.model.tool_results()[0].0;
    assert!(tool_result.ends_with("at version 1 and reads as you proposed."), "{tool_result}");
}

#[tokio::test]
async fn whatever_tool_is_used_only_the_selection_may_differ() {
    let mut stage = TestAgent::with("One two three.").await;
    stage.model.plays([
        replaces(0, 3, "Uno"),
        rewrites("One zwei drei."),
        rewrites("One zwei three."),
        says("Done."),
    ]);
    stage.ask_about(4, 7, "Translate").await;
    stage.decide(RequestVerdict::Approve).await;
    assert_eq!(full(&stage.response().await), "One zwei three.");
    let denials: Vec<_> = results(&stage).take(2).cloned().collect();
    for denial in denials {
        let reason = denial["content"].as_str().unwrap();
        assert!(reason.contains("only the selected text may be changed"), "{reason}");
        assert_eq!(
            (&denial["is_error"], &denial["permissionDecision"]),
            (&json!(true), &json!("deny"))
        );
    }
}

#[tokio::test]
async fn a_caret_forbids_nothing() {
    let mut stage = TestAgent::with("One two three.").await;
    stage.model.plays([rewrites("Uno dos tres."), says("Done.")]);
    stage.ask_about(4, 4, "Translate").await;
    stage.decide(RequestVerdict::Approve).await;
    assert_eq!(full(&stage.response().await), "Uno dos tres.");
}

#[tokio::test]
async fn the_selection_grows_with_what_was_accepted_of_it_and_not_with_what_people_type() {
    let mut stage = TestAgent::with("One two three.").await;
    stage.model.plays([
        replaces(4, 7, "twenty-two"),
        replaces(0, 6, "Null Eins "),
        replaces(10, 20, "zweiundzwanzig"),
        says("Done."),
    ]);
    stage.ask_about(4, 7, "Bigger, then translate").await;
    let request = stage.request().await;
    stage.types_first("Zero. ").await;
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    stage.decide(RequestVerdict::Approve).await;
    assert_eq!(full(&stage.response().await), "Zero. One zweiundzwanzig three.");
    let refusals = results(&stage).filter(|it| it["permissionDecision"] == "deny").count();
    assert_eq!(refusals, 1);
}

#[tokio::test]
async fn a_change_of_frozen_words_is_denied_with_the_words_and_no_one_is_asked() {
    let mut stage = TestAgent::with("One. Two.").await;
    let frozen = Some((Version(0), vec![(0, 4)]));
    stage
        .room
        .configure(SettingsChange { own: OwnSettings::default(), frozen }, owner())
        .await
        .unwrap();
    stage.model.plays([rewrites("Uno. Dos."), rewrites("One. Dos."), says("Done.")]);
    stage.ask("Translate").await;
    stage.decide(RequestVerdict::Approve).await;
    assert_eq!(full(&stage.response().await), "One. Dos.");
    let denial = results(&stage).next().unwrap();
    assert!(denial["content"].as_str().unwrap().ends_with("- units 0 to 4: \"One.\""), "{denial}");
    assert_eq!(denial["permissionDecision"], "deny");
}

#[tokio::test]
async fn an_invalid_range_is_denied_in_the_words_of_the_protocol() {
    let mut stage = TestAgent::with("Short 😀 text.").await;
    let missing = json!({"new_text": "x", "explanation": "y"});
    stage.model.plays([
        replaces(100, 50, "x"),
        replaces(-1, 3, "x"),
        replaces(0, 99, "x"),
        replaces(0, 7, "x"),
        calls([("update_selection", missing)]),
        says("Sorry."),
    ]);
    stage.ask("Change it").await;
    assert!(nothing(&stage.response().await));
    let results: Vec<_> = results(&stage).collect();
    assert_eq!(results.len(), 5);
    for result in results {
        assert_eq!(result["content"], "Invalid selection range");
        assert_eq!(result["permissionDecision"], "deny");
        assert_eq!((&result["is_error"], &result["updateType"]), (&json!(true), &json!("none")));
    }
}

fn results(stage: &TestAgent) -> impl Iterator<Item = &serde_json::Value> {
    stage.said.iter().filter_map(|said| match &said.saying {
        RunEventKind::Agent(it) if it.subtype == AgentEventSubtype::ToolResult => Some(&it.content),
        _ => None,
    })
}

#[tokio::test]
async fn exactly_100_000_characters_pass_and_one_more_does_not() {
    let mut stage = TestAgent::with("Old.").await;
    let most = "x".repeat(CONTENT_LIMIT);
    let selected = selection(0, 0, &(most.clone() + "x"));
    stage.model.plays([
        rewrites(&(most.clone() + "x")),
        calls([("update_selection", selected)]),
        rewrites(&most),
        says("Done."),
    ]);
    stage.ask("Much more").await;
    stage.decide(RequestVerdict::Approve).await;
    assert_eq!(full(&stage.response().await).len(), CONTENT_LIMIT);
    let tool_results: Vec<_> = results(&stage).map(|result| result["content"].clone()).collect();
    assert_eq!(tool_results[..2], ["Content too large", "Content too large"]);
}

#[tokio::test]
async fn a_manuscript_of_500_000_characters_can_be_edited() {
    let manuscript = "The fog came in over the harbour wall.\n\n".repeat(12_500) + "Teh end.";
    assert!(manuscript.len() > 500_000);
    let mut stage = TestAgent::with(&manuscript).await;
    let range = (manuscript.len() - 8, manuscript.len());
    let units = i64::try_from(range.1).unwrap();
    let corrected = selection(units - 8, units, "The end.");
    stage.model.plays([calls([("update_selection", corrected)]), says("Done.")]);
    stage.ask_about(range.0, range.1, "Fix it").await;
    stage.decide(RequestVerdict::Approve).await;
    stage.response().await;
    let expected =
        "Applied: 1 accepted.\nThe document is now at version 1 and reads as you proposed.";
    assert_eq!(stage.model.tool_results()[0].0, expected);
}

#[tokio::test]
async fn every_result_says_when_and_for_whom() {
    let mut stage = TestAgent::with("").await;
    stage
        .model
        .plays([calls([("respond_conversation_only", json!({"response": "Hi"}))]), says("")]);
    stage.ask("Hello").await;
    stage.response().await;
    let result = results(&stage).next().unwrap();
    assert_eq!(result["timestamp"], "2023-11-14T22:13:20.000Z");
    assert_eq!(result["sessionId"], stage.session.as_str());
    assert_eq!(result["tool_use_id"], "toolu_1");
    assert_eq!(result["is_error"], false);
}

#[tokio::test]
async fn an_unknown_tool_is_told_what_there_is() {
    let mut stage = TestAgent::with("").await;
    let bad = json!({"new_content": 7});
    stage
        .model
        .plays([calls([("fly", json!({})), ("update_full_document", bad)]), says("I cannot.")]);
    stage.ask("Fly").await;
    stage.response().await;
    let tool_results = stage.model.tool_results();
    let said = &tool_results[0].0;
    assert!(
        said.starts_with("Unknown tool: fly. Available tools: update_full_document, "),
        "{said}"
    );
    assert!(
        tool_results[1].0.starts_with("Invalid input for update_full_document: invalid type"),
        "{tool_results:?}"
    );
    assert!(tool_results[1].0.contains("new_content (string, required)"), "{tool_results:?}");
}

#[tokio::test]
async fn who_calls_a_tool_that_is_not_there_is_told_of_those_that_are() {
    let mut stage = TestAgent::with("").await;
    let read = ("Read", json!({"file_path": "a.txt"}));
    let plan = ("ExitPlanMode", json!({"plan": "Write."}));
    stage.model.plays([calls([read, plan]), says("I cannot.")]);
    stage.ask("Read").await;
    stage.response().await;
    for (said, _) in stage.model.tool_results() {
        let listed = said.split_once("Available tools: ").unwrap().1;
        assert!(listed.starts_with("update_full_document, update_selection"), "{said}");
        assert!(!listed.contains("Write") && !listed.contains("ExitPlanMode"), "{said}");
    }
}

#[tokio::test]
async fn things_are_said_in_the_order_they_happen() {
    let mut stage = TestAgent::with("Old.").await;
    let block = copydesk_llm::messages_api::ContentBlock::text("I'll do it.");
    let ScriptedReply::Answer(mut content, stop) = rewrites("New.") else { unreachable!() };
    content.insert(0, block);
    stage.model.plays([ScriptedReply::Answer(content, stop), says("Done.")]);
    stage.ask("Rewrite").await;
    stage.decide(RequestVerdict::Approve).await;
    let response = stage.response().await;
    assert_eq!(response.message, "I'll do it.\nDone.");
    let expected = [
        "prompt",
        "start",
        "chunk",
        "end",
        "text",
        "tool_use",
        "tool_result",
        "start",
        "chunk",
        "end",
        "text",
        "result:success",
        "response",
    ];
    assert_eq!(stage.words(), expected);
}

#[tokio::test]
async fn some_changes_accepted_is_told_as_partly() {
    let mut stage = TestAgent::with("Teh cat sat. The dog barkd. A bird sang.").await;
    stage.model.plays([rewrites("The cat sat. The dog barked. A bird sang."), says("Fine.")]);
    stage.ask("Fix the spelling").await;
    let request = stage.request().await;
    assert_eq!(request.hunks.len(), 2);
    let choose = |index: usize, choice| HunkVerdict::plain(request.hunks[index].id.clone(), choice);
    let hunks = Some(vec![choose(0, HunkChoice::Accept), choose(1, HunkChoice::Reject)]);
    let decision = Decision { hunks, ..Decision::plain(RequestVerdict::Approve) };
    stage.room.decide(request.id().clone(), decision, owner()).await.unwrap();
    let response = stage.response().await;
    assert_eq!(full(&response), "The cat sat. The dog barkd. A bird sang.");
    let (tool_result, is_error) = stage.model.tool_results().remove(0);
    assert!(tool_result.starts_with("Partly applied: 1 accepted, 1 rejected."), "{tool_result}");
    assert!(!is_error && tool_result.contains("are now units"), "{tool_result}");
}

#[tokio::test]
async fn an_expired_request_is_told_in_the_agreed_words() {
    let mut stage = TestAgent::with("Old.").await;
    stage.model.plays([rewrites("New."), says("I'll wait.")]);
    stage.ask("Rewrite").await;
    stage.request().await;
    stage.clock.advance_ms(300_000);
    stage.room.requests().await.unwrap();
    let response = stage.response().await;
    assert!(nothing(&response));
    let (tool_result, is_error) = stage.model.tool_results().remove(0);
    let words = "Approval timed out after 300s; the tool was not executed. Do not retry unless the user asks.";
    assert!(is_error && tool_result.starts_with(words), "{tool_result}");
}

#[tokio::test]
async fn people_who_type_meanwhile_are_told_to_the_model() {
    let mut stage = TestAgent::with("One. Two. Three.").await;
    stage.model.plays([replaces(10, 16, "Drei."), says("Done.")]);
    stage.ask("Translate three").await;
    let request = stage.request().await;
    stage.types_first("Zero. ").await;
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    let response = stage.response().await;
    assert_eq!(partial(&response), ("Drei.", 10, 16));
    assert_eq!(stage.text().await, "Zero. One. Two. Drei.");
    let tool_result = &stage.model.tool_results()[0].0;
    assert!(tool_result.contains("at version 2, 21 UTF-16 units long"), "{tool_result}");
    let view = stage.model.asked()[1].document.clone().unwrap();
    assert_eq!(view.text, "Zero. One. Two. Drei.");
}

#[tokio::test]
async fn two_changes_of_one_turn_are_asked_one_after_the_other() {
    let mut stage = TestAgent::with("One. Two. Three.").await;
    stage.model.plays([
        calls([
            ("update_selection", selection(0, 4, "Uno.")),
            ("update_selection", selection(10, 16, "Tres, tres.")),
        ]),
        says("Done."),
    ]);
    stage.ask("Translate").await;
    stage.decide(RequestVerdict::Approve).await;
    stage.decide(RequestVerdict::Approve).await;
    let response = stage.response().await;
    assert_eq!(full(&response), "Uno. Two. Tres, tres.");
    assert_eq!(response.updates.len(), 2);
    assert_eq!(stage.model.tool_results().len(), 2);
}

#[tokio::test]
async fn cancelling_takes_the_request_back_and_answers_every_call() {
    let mut stage = TestAgent::with("Old.").await;
    let call = |text| ("update_full_document", json!({"new_content": text, "explanation": ""}));
    stage.model.plays([calls([call("New."), call("Newer.")]), says("Welcome back.")]);
    let run = stage.ask("Rewrite").await;
    let request = stage.request().await;
    stage.agents.cancel(StopFilter { session: None, run: Some(run) }).await.unwrap();
    let response = stage.response().await;
    assert_eq!(response.error.unwrap().0, "cancelled");
    assert_eq!(stage.room.requests().await.unwrap().len(), 0);
    let settled = stage.room.resolution(request.id().clone()).await.unwrap();
    assert_eq!(settled.resolution.status.as_str(), "cancelled");
    assert_eq!(stage.words().iter().filter(|word| word.starts_with("result:")).count(), 1);
    for tool_results in results(&stage) {
        assert_eq!(
            (&tool_results["sessionId"], &tool_results["updateType"]),
            (&json!(stage.session.as_str()), &json!("none"))
        );
        assert!(
            tool_results["timestamp"].is_string(),
            "also of the call that was never run: {tool_results}"
        );
    }

    stage.ask("Go on").await;
    stage.response().await;
    let messages = &stage.model.asked()[1].messages;
    let results = messages[2].content.iter().filter(|block| block.as_text().is_none()).count();
    assert_eq!((messages.len(), results), (3, 2));
}

#[tokio::test]
async fn cancelling_while_the_model_writes_keeps_what_was_read() {
    let mut stage = TestAgent::with("").await;
    stage.model.plays([ScriptedReply::Hang("I was about to say"), says("Hello again.")]);
    stage.ask("Talk").await;
    stage.model.called(1).await;
    stage
        .agents
        .cancel(StopFilter { session: Some(stage.session.clone()), run: None })
        .await
        .unwrap();
    let response = stage.response().await;
    assert_eq!(response.error.unwrap().0, "cancelled");
    stage.ask("Talk again").await;
    assert_eq!(stage.response().await.message, "Hello again.");
}

#[tokio::test]
async fn a_failing_model_is_told_once() {
    let mut stage = TestAgent::with("").await;
    stage.model.plays([ScriptedReply::Fail("Well,", ModelError::CutOff)]);
    stage.ask("Talk").await;
    let response = stage.response().await;
    assert_eq!(response.message, "Well,");
    let (code, message) = response.error.unwrap();
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("model_cut_off", "The model's answer broke off before it was complete; try again")
    );
    assert_eq!(stage.words().last().unwrap(), "response");
    assert_eq!(stage.words().iter().filter(|word| *word == "result:error").count(), 1);
}

#[tokio::test]
async fn a_run_that_panics_still_answers_and_the_next_one_runs() {
    let mut stage = TestAgent::with("").await;
    // Without a reply in the script the scripted model panics.
    stage.ask("Talk").await;
    assert_eq!(stage.response().await.error.unwrap().0, "internal");
    stage.model.plays([says("Here.")]);
    stage.ask("Talk").await;
    assert_eq!(stage.response().await.message, "Here.");
}

#[tokio::test]
async fn runs_of_one_session_on_one_document_queue() {
    let mut stage = TestAgent::with("Old.").await;
    stage.model.plays([rewrites("New."), says("First."), says("Second.")]);
    stage.ask("Rewrite").await;
    let request = stage.request().await;
    stage.ask("And then?").await;
    assert_eq!(stage.model.asked().len(), 1);
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    assert_eq!(stage.response().await.message, "First.");
    assert_eq!(stage.response().await.message, "Second.");
    assert_eq!(stage.model.asked()[2].prompt.as_deref(), Some("And then?"));
}

#[tokio::test]
async fn a_full_queue_says_so_and_a_waiting_run_can_be_cancelled_at_once() {
    let mut stage = TestAgent::with("").await;
    stage.model.plays([ScriptedReply::Hang("")]);
    stage.ask("First").await;
    stage.model.called(1).await;
    let mut last = stage.ask("Waiting").await;
    for _ in 1..16 {
        last = stage.ask("Waiting").await;
    }
    let one_more = stage.question("One more");
    let refused = stage.agents.ask(one_more.clone()).await;
    assert!(matches!(refused, Err(AskError::QueueFull { limit: 16 })), "{refused:?}");
    stage.agents.cancel(StopFilter { session: None, run: Some(last) }).await.unwrap();
    assert_eq!(stage.response().await.error.unwrap().0, "cancelled");
    stage.agents.ask(one_more).await.unwrap();
    let kept = stage.record().await;
    assert_eq!(kept.len(), 1, "only the first run has begun: {kept:?}");
}

#[tokio::test]
async fn runs_on_different_documents_overlap() {
    let mut stage = TestAgent::with("Old.").await;
    stage.model.plays([rewrites("New."), says("No document here.")]);
    stage.ask("Rewrite").await;
    stage.request().await;
    let private = stage.agents.private_room(&stage.session, &owner()).await.unwrap();
    stage.enter(&private).await;
    let ask = AgentQuestion { document: None, ..stage.question("Hello") };
    stage.agents.ask(ask).await.unwrap();
    assert_eq!(stage.response().await.message, "No document here.");
}

#[tokio::test]
async fn a_private_text_is_edited_behind_the_same_gate() {
    let mut stage = TestAgent::with("Shared.").await;
    let private = stage.agents.private_room(&stage.session, &owner()).await.unwrap();
    stage.enter(&private).await;
    stage.model.plays([rewrites("Corto."), says("Done."), rewrites("Más corto."), says("Done.")]);
    for (content, result) in [("A long text.", "Corto."), ("Another text.", "Más corto.")] {
        let content = Some(content.to_owned());
        let ask = AgentQuestion { document: None, content, ..stage.question("Translate") };
        stage.agents.ask(ask).await.unwrap();
        let request = stage.request().await;
        let approve = Decision::plain(RequestVerdict::Approve);
        private.decide(request.id().clone(), approve, owner()).await.unwrap();
        assert_eq!(full(&stage.response().await), result);
    }
    assert!(stage.said.iter().all(|said| said.document.is_none()));
    assert_eq!(stage.text().await, "Shared.");
}

#[tokio::test]
async fn the_conversation_goes_on_unless_it_is_to_begin_anew() {
    let mut stage = TestAgent::with("").await;
    stage.model.plays([says("One."), says("Two."), says("Three.")]);
    stage.ask("First").await;
    stage.response().await;
    stage.ask("Second").await;
    stage.response().await;
    let fresh = AgentQuestion { conversation: ConversationMode::Fresh, ..stage.question("Third") };
    stage.agents.ask(fresh).await.unwrap();
    stage.response().await;
    let lengths: Vec<_> = stage.model.asked().iter().map(|asked| asked.messages.len()).collect();
    assert_eq!(lengths, [1, 3, 1]);
    let prompt = |index: usize| stage.model.asked()[index].prompt.clone().unwrap();
    assert_eq!((prompt(0), prompt(1)), ("First".into(), "Second".into()));
}
