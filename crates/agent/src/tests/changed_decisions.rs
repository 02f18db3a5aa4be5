//! Tests of the decisions that people changed after the model learned of them.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;

use copydesk_approvals::{ApprovalRequest, Decision, HunkChoice, HunkVerdict, RequestVerdict};
use copydesk_auth::{Authenticator, TokenGrant};
use copydesk_ids::DocumentId;
use copydesk_ids::permissions::{Principal, Role};
use copydesk_llm::AnswerDelta;
use copydesk_llm::messages_api::{ContentBlock, StopReason};
use copydesk_rooms::command::{ProposeAgain, UndoChange};

use super::fixture::{ScriptedReply, TestAgent, calls, owner, rewrites, says};

fn ben() -> Principal {
    Principal::new("usr_ben", "Ben", Role::Editor)
}

/// Request, and the server on which people decide it.
struct DecidedRequest {
    stage: TestAgent,
    request: ApprovalRequest,
}

impl DecidedRequest {
    /// Creates a request to rewrite the text, and decides it.
    async fn and_decided(text: &str, rewritten: &str, decision: Decision) -> Self {
        let mut stage = TestAgent::with(text).await;
        stage.model.plays([rewrites(rewritten), says("Done.")]);
        stage.ask("Rewrite").await;
        let request = stage.request().await;
        stage.room.decide(request.id().clone(), decision, owner()).await.unwrap();
        stage.response().await;
        stage.clock.advance_ms(1_000);
        Self { stage, request: request.as_ref().clone() }
    }

    fn hunks(&self, these: &[usize]) -> Option<Vec<copydesk_ids::HunkId>> {
        let ids = these.iter().map(|index| self.request.hunks[*index].id.clone());
        Some(ids.collect()).filter(|ids: &Vec<_>| !ids.is_empty())
    }

    async fn undone(&self, these: &[usize]) {
        let (request, hunks) = (self.request.id().clone(), self.hunks(these));
        let undo = UndoChange { request, hunks, force: false, seen: None, votes_only: false };
        self.stage.room.undo(undo, owner()).await.unwrap();
    }

    async fn reopened(&self, these: &[usize]) {
        let wish = ProposeAgain { request: self.request.id().clone(), hunks: self.hunks(these) };
        self.stage.room.reopen(wish, owner()).await.unwrap();
    }

    async fn decided(&self, decision: Decision) {
        self.stage.clock.advance_ms(1_000);
        self.stage.room.decide(self.request.id().clone(), decision, ben()).await.unwrap();
        self.stage.clock.advance_ms(1_000);
    }

    fn one(&self, index: usize, choice: HunkChoice) -> HunkVerdict {
        HunkVerdict::plain(self.request.hunks[index].id.clone(), choice)
    }

    /// Asks again; returns the last message to the model, and all messages before it.
    async fn next(&mut self) -> (String, String) {
        self.stage.model.plays([says("I see.")]);
        self.stage.ask("Why?").await;
        self.stage.response().await;
        let mut messages = self.stage.model.asked().last().unwrap().messages.clone();
        let texts = |message: &copydesk_llm::messages_api::ChatMessage| {
            let texts = message.content.iter().filter_map(|block| block.as_text());
            texts.collect::<Vec<_>>().join("\n")
        };
        let last = messages.pop().unwrap();
        (texts(&last), messages.iter().map(texts).collect::<Vec<_>>().join("\n"))
    }
}

fn with_feedback(feedback: &str) -> Decision {
    Decision { feedback: Some(feedback.into()), ..Decision::plain(RequestVerdict::Reject) }
}

const NEWS: &str = "Decisions people changed since";

#[tokio::test]
async fn a_second_rejection_reaches_the_model_with_its_feedback_once() {
    let mut asked =
        DecidedRequest::and_decided("Old.", "New.", Decision::plain(RequestVerdict::Reject)).await;
    asked.reopened(&[]).await;
    asked.decided(with_feedback("NO BECAUSE STYLE")).await;
    let (prompt, _) = asked.next().await;
    assert!(prompt.contains("was rejected, and people have decided it anew, by Ben"), "{prompt}");
    assert!(prompt.contains("User rejected: NO BECAUSE STYLE"), "{prompt}");
    let (prompt, before) = asked.next().await;
    assert!(!prompt.contains(NEWS), "{prompt}");
    assert_eq!(before.matches("NO BECAUSE STYLE").count(), 1, "what was sent stays");
}

#[tokio::test]
async fn an_edited_second_approval_reaches_the_model_with_its_note() {
    let mut asked =
        DecidedRequest::and_decided("Old.", "New.", Decision::plain(RequestVerdict::Approve)).await;
    asked.undone(&[]).await;
    let text = Some("Newer.".into());
    let hunks = Some(vec![HunkVerdict { text, ..asked.one(0, HunkChoice::Accept) }]);
    let note = Some("Mind the tone".into());
    asked.decided(Decision { hunks, note, ..Decision::plain(RequestVerdict::Approve) }).await;
    let (prompt, _) = asked.next().await;
    assert!(prompt.contains("accepted, edited by the user: \"Old.\" → \"Newer.\""), "{prompt}");
    assert!(prompt.contains("User note: Mind the tone"), "{prompt}");
}

#[tokio::test]
async fn a_rejection_after_an_undo_reaches_the_model_with_its_feedback_and_no_older_one() {
    let note = Some("Well done".into());
    let approved = Decision { note, ..Decision::plain(RequestVerdict::Approve) };
    let mut asked = DecidedRequest::and_decided("Old.", "New.", approved).await;
    asked.undone(&[]).await;
    let (prompt, _) = asked.next().await;
    assert!(prompt.contains("was approved and is pending now"), "{prompt}");
    assert!(prompt.contains("pending: \"Old.\" → \"New.\""), "{prompt}");
    asked.decided(with_feedback("Too bold")).await;
    let (prompt, _) = asked.next().await;
    assert!(prompt.contains("was approved and is rejected now, by Ben"), "{prompt}");
    assert!(prompt.contains("User rejected: Too bold"), "{prompt}");
    assert!(!prompt.contains("Well done"), "{prompt}");
}

#[tokio::test]
async fn parts_that_were_decided_the_other_way_round_reach_the_model_one_by_one() {
    let hunk = |id: &str, choice| HunkVerdict::plain(id.into(), choice);
    let mut stage = TestAgent::with("Teh first line.\nTeh second line.").await;
    stage.model.plays([rewrites("The first line.\nThe second line."), says("Done.")]);
    stage.ask("Rewrite").await;
    let request = stage.request().await.as_ref().clone();
    let ids: Vec<_> = request.hunks.iter().map(|hunk| hunk.id.as_str()).collect();
    let hunks = Some(vec![hunk(ids[0], HunkChoice::Accept), hunk(ids[1], HunkChoice::Reject)]);
    let partly = Decision { hunks, ..Decision::plain(RequestVerdict::Approve) };
    stage.room.decide(request.id().clone(), partly, owner()).await.unwrap();
    stage.response().await;
    let mut asked = DecidedRequest { stage, request };
    asked.undone(&[0]).await;
    let hunks = Some(vec![asked.one(0, HunkChoice::Reject)]);
    asked.decided(Decision { hunks, ..with_feedback("Not the first") }).await;
    asked.reopened(&[1]).await;
    let hunks = Some(vec![asked.one(1, HunkChoice::Accept)]);
    let note = Some("But the second".into());
    asked.decided(Decision { hunks, note, ..Decision::plain(RequestVerdict::Approve) }).await;
    let (prompt, _) = asked.next().await;
    assert!(prompt.contains("was partly, and people have decided it anew, by Ben"), "{prompt}");
    assert!(prompt.contains("Partly applied: 1 accepted, 1 rejected."), "{prompt}");
    for said in ["Not the first", "But the second", "- rejected: \"Teh\"", "- accepted: \"Teh\""] {
        assert!(prompt.contains(said), "{said}: {prompt}");
    }
}

/// Returns the results of calls in the last request to the model, one text for each.
fn results(stage: &TestAgent) -> Vec<String> {
    stage.model.tool_results().into_iter().map(|(text, _)| text).collect()
}

fn undo(request: &ApprovalRequest) -> UndoChange {
    let request = request.id().clone();
    UndoChange { request, hunks: None, force: false, seen: None, votes_only: false }
}

#[tokio::test]
async fn an_undo_while_a_run_goes_on_reaches_the_model_in_its_next_turn_and_once() {
    let mut stage = TestAgent::with("Old.").await;
    let go_on = Arc::new(Notify::new());
    let read = || calls([("read_document", json!({}))]);
    let pause = |then| {
        let thinking = vec![AnswerDelta::Text("Let me see.".into())];
        ScriptedReply::Writes(thinking, Arc::clone(&go_on), Box::new(then))
    };
    stage.model.plays([rewrites("New."), pause(read()), read(), says("Done.")]);
    stage.ask("Rewrite").await;
    let request = stage.request().await;
    let approve = Decision::plain(RequestVerdict::Approve);
    stage.room.decide(request.id().clone(), approve, owner()).await.unwrap();
    stage.model.called(2).await;
    assert!(!results(&stage)[0].contains(NEWS), "the approval was sent: {:?}", results(&stage));
    stage.clock.advance_ms(1_000);
    stage.room.undo(undo(&request), ben()).await.unwrap();
    go_on.notify_one();
    stage.response().await;
    let asked = stage.model.asked();
    let third = asked[2].messages.last().unwrap();
    let [ContentBlock::ToolResult { content, is_error: false, .. }] = third.content.as_slice()
    else {
        panic!("nothing but the result follows a call: {third:?}")
    };
    let sent = content.last().and_then(ContentBlock::as_text).unwrap();
    assert!(sent.starts_with(NEWS) && sent.contains("was approved and is pending now"), "{sent}");
    assert!(!results(&stage)[0].contains(NEWS), "it is not sent again: {:?}", results(&stage));
    let whole = serde_json::to_string(&asked[3].messages).unwrap();
    assert_eq!(whole.matches(NEWS).count(), 1, "what was sent stays in its place");

    // A restart and the next question repeat nothing, and a later decision is reported with the
    // question.
    stage.restart().await;
    stage.model.plays([says("I see.")]);
    stage.ask("Why?").await;
    stage.response().await;
    let whole = serde_json::to_string(&stage.model.asked().last().unwrap().messages).unwrap();
    assert_eq!(whole.matches(NEWS).count(), 1, "{whole}");
    stage.clock.advance_ms(1_000);
    stage.room.decide(request.id().clone(), with_feedback("No"), ben()).await.unwrap();
    let mut asked = DecidedRequest { stage, request: request.as_ref().clone() };
    let (prompt, _) = asked.next().await;
    assert!(prompt.contains(NEWS) && prompt.contains("User rejected: No"), "{prompt}");
}

#[tokio::test]
async fn an_undo_while_another_call_of_the_turn_waits_comes_with_the_results() {
    let mut stage = TestAgent::with("Old.").await;
    let other = stage.another("Other", "Old.").await;
    let change = |id: Option<&DocumentId>| {
        let input = json!({"new_content": "New.", "explanation": "Why."});
        match id {
            None => ("update_full_document", input),
            Some(id) => {
                let mut input = input;
                input["document_id"] = json!(id);
                ("update_document_by_id", input)
            }
        }
    };
    let there = other.document().clone();
    stage.model.plays([
        calls([("read_document", json!({"document_id": there}))]),
        calls([change(None), change(Some(&there))]),
        says("Done."),
    ]);
    stage.ask("Rewrite both").await;
    let first = stage.request().await;
    let approve = || Decision::plain(RequestVerdict::Approve);
    stage.room.decide(first.id().clone(), approve(), owner()).await.unwrap();
    let second = stage.request().await;
    stage.clock.advance_ms(1_000);
    stage.room.undo(undo(&first), ben()).await.unwrap();
    other.decide(second.id().clone(), approve(), owner()).await.unwrap();
    stage.response().await;
    let tool_results = results(&stage);
    assert!(!tool_results[0].contains(NEWS) && tool_results[1].contains(NEWS), "{tool_results:?}");
    assert!(tool_results[1].contains("was approved and is pending now"), "{tool_results:?}");
    assert!(
        !tool_results[1].contains(second.id().as_str()),
        "only the one that was undone: {tool_results:?}"
    );
}

#[tokio::test]
async fn what_was_told_in_a_turn_that_the_model_refused_is_told_again() {
    let mut asked =
        DecidedRequest::and_decided("Old.", "New.", Decision::plain(RequestVerdict::Reject)).await;
    asked.reopened(&[]).await;
    asked.decided(with_feedback("Too bold")).await;
    let refusal = vec![ContentBlock::text("I cannot help with that.")];
    asked.stage.model.plays([ScriptedReply::Answer(refusal, StopReason::Refusal)]);
    asked.stage.ask("Something that is declined").await;
    asked.stage.response().await;
    let (prompt, before) = asked.next().await;
    assert!(prompt.contains("User rejected: Too bold"), "{prompt}");
    assert!(!before.contains("Too bold"), "the turn with the refusal is not sent: {before}");
    let (prompt, _) = asked.next().await;
    assert!(!prompt.contains(NEWS), "and once is enough: {prompt}");
}

/// Creates another document in which a change of the model was approved, and then undone.
async fn undone_elsewhere(stage: &mut TestAgent) -> DocumentId {
    let other = stage.another("Other", "Old words.").await;
    let id = other.document().clone();
    let rewrite = json!({"document_id": id, "new_content": "Hidden words.", "explanation": "Why."});
    stage.model.plays([
        calls([("read_document", json!({"document_id": id}))]),
        calls([("update_document_by_id", rewrite)]),
        says("Done."),
    ]);
    stage.ask("Rewrite the other one").await;
    let request = stage.request().await;
    let approve = Decision::plain(RequestVerdict::Approve);
    other.decide(request.id().clone(), approve, owner()).await.unwrap();
    stage.response().await;
    stage.clock.advance_ms(1_000);
    other.undo(undo(&request), ben()).await.unwrap();
    id
}

#[tokio::test]
async fn a_decision_elsewhere_is_told_only_while_everybody_here_may_read_that_document() {
    let mut stage = TestAgent::with("Mine.").await;
    undone_elsewhere(&mut stage).await;
    let (auth, now_ms) = (Authenticator::new(stage.store.clone()), stage.clock.now_ms());
    // A guest who may read this conversation, and not the other document.
    let here = stage.room.document().to_string();
    let invite = async || {
        let only = Some(here.clone());
        let grant = TokenGrant::read(Role::Viewer, "Gus", only, None, now_ms).unwrap();
        auth.issue(grant, &owner().user, now_ms).await.unwrap().token
    };
    let guest = invite().await;
    let next = async |stage: &mut TestAgent| {
        stage.model.plays([says("I see.")]);
        stage.ask("And now?").await;
        stage.response().await;
        serde_json::to_string(&stage.model.asked().last().unwrap().messages).unwrap()
    };
    let sent = next(&mut stage).await;
    assert!(!sent.contains(NEWS) && !sent.contains("Hidden"), "{sent}");

    auth.revoke(&guest, &owner().user, now_ms).await.unwrap();
    let sent = next(&mut stage).await;
    assert!(sent.contains(NEWS) && sent.contains("was approved and is pending now"), "{sent}");
    assert!(sent.contains("Hidden words."), "{sent}");

    let guest = invite().await;
    let sent = next(&mut stage).await;
    assert!(sent.contains(NEWS) && !sent.contains("Hidden"), "what was sent is left out: {sent}");
    auth.revoke(&guest, &owner().user, now_ms).await.unwrap();
    let sent = next(&mut stage).await;
    assert_eq!(sent.matches(NEWS).count(), 1, "it is sent in its place: {sent}");
}
