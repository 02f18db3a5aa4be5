//! Tests of the decisions that people changed after the model was told of them.

use crate::approvals::{Decision, HunkChoice, HunkVerdict, RequestVerdict};
use crate::permissions::{Principal, Role};
use crate::rooms::command::{ProposeAgain, UndoChange};

use super::fixture::{TestAgent, owner, rewrites, says};

fn ben() -> Principal {
    Principal::new("usr_ben", "Ben", Role::Editor)
}

/// Request, and the server on which people decide it.
struct DecidedRequest {
    stage: TestAgent,
    request: crate::approvals::ApprovalRequest,
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

    fn hunks(&self, these: &[usize]) -> Option<Vec<crate::ids::HunkId>> {
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
        let texts = |message: &crate::llm::messages_api::ChatMessage| {
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
    assert_eq!(before.matches("NO BECAUSE STYLE").count(), 1, "what was told stays told");
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
