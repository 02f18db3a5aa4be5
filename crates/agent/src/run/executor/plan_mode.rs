//! State of a run that depends on people's decisions: on its plan, and on earlier changes.

use copydesk_approvals::ApprovalRequest;
use copydesk_ids::{DocumentId, RequestId};
use copydesk_llm::messages_api::ToolDefinition;
use copydesk_tools::PlanMode;

use super::{RunExecutor, RunResult};
use crate::conversation::decision_updates::{DecisionUpdates, ReportedDecision};
use crate::conversation::transcript::{DecisionNote, EntryKind, TranscriptEntry};
use crate::conversation::{decision_updates, transcript};
use crate::{AskError, PermissionMode};

/// Maximum number of earlier decisions that are checked for updates.
const NEWS_LIMIT: usize = 20;

impl RunExecutor<'_> {
    /// Returns the plan mode of this run, computed from the stored entries. A plan that was
    /// approved in the present turn counts from the next turn on, because the other calls of this
    /// turn were made without knowing of it.
    pub fn plan_mode(&self) -> PlanMode {
        if self.run.ask.permission_mode != PermissionMode::PlanFirst {
            return PlanMode::Off;
        }
        let said = self.entries.iter().filter(|entry| entry.run == self.run.ask.run);
        if transcript::has_plan(said) { PlanMode::Approved } else { PlanMode::Planning }
    }

    /// Returns the tool that proposes a plan, if this run needs one; for the prompt cache it stays
    /// to the end.
    pub fn planning_tool(&self) -> Option<(ToolDefinition, (&'static str, &'static str))> {
        let plans = self.run.ask.permission_mode == PermissionMode::PlanFirst;
        self.shared.tools.planning().filter(|_| plans)
    }

    /// Adds to the results of calls what people have decided about earlier changes.
    pub async fn with_news(&self, kind: EntryKind) -> RunResult<EntryKind> {
        let (session, run) = (self.run.ask.session.clone(), self.run.ask.run.clone());
        let mut latest = TranscriptEntry { session, run, at_ms: self.now_ms(), kind };
        if matches!(latest.kind, EntryKind::Results { .. }) {
            let told = self.news(Some(&latest)).await?;
            if let EntryKind::Results { news, .. } = &mut latest.kind {
                *news = told;
            }
        }
        Ok(latest.kind)
    }

    /// Returns people's decisions about earlier changes since the last report; `latest` is an entry
    /// that is not stored yet. Empty for an external call, which has no model.
    pub async fn news(&self, latest: Option<&TranscriptEntry>) -> RunResult<DecisionUpdates> {
        let mut news =
            DecisionUpdates { tag: self.prompt.tag.to_string(), ..DecisionUpdates::default() };
        if self.run.ask.outside().is_some() {
            return Ok(news);
        }
        for first in transcript::decided(self.entries.iter().chain(latest)).take(NEWS_LIMIT) {
            let id = first.request.clone();
            let known = self.known_of(first);
            if news.told.contains_key(&id) || self.stands_as_told(&known).await? {
                continue;
            }
            let Some(now) = self.standing(&id).await? else { continue };
            let newest = self.newest(&now).await?;
            let told = decision_updates::describe_news(&known, &now, newest.as_ref());
            let Some(told) = told else { continue };
            let document = now.proposal.document.filter(|id| id != self.run_events.room.document());
            // Rights may have changed since the model made the call, and the text quotes the
            // document. What is not reported now is reported once it may be.
            if self.may_tell_of(document.as_ref()).await? {
                news.push(id, told, document);
            }
        }
        Ok(news)
    }

    /// Returns `true` if everyone who reads this conversation, and the model, may know what another
    /// document says; `None` is the conversation's own.
    async fn may_tell_of(&self, document: Option<&DocumentId>) -> RunResult<bool> {
        let named = document.into_iter().cloned().collect();
        let room = &self.run_events.room;
        let hidden = self.shared.hidden_documents(&self.asker, &self.chosen, room, named).await?;
        Ok(hidden.is_empty())
    }

    /// Returns the decisions in this run's prompt; unchanged after a restart.
    pub fn decisions_in_prompt(&self) -> DecisionUpdates {
        let text_of = |entry: &TranscriptEntry| match &entry.kind {
            EntryKind::Prompt { news, .. } if entry.run == self.run.ask.run => Some(news.clone()),
            _ => None,
        };
        self.entries.iter().find_map(text_of).unwrap_or_default()
    }

    /// Returns the state of a request that was last reported to the model.
    fn known_of<'e>(&'e self, first: DecisionNote<'e>) -> ReportedDecision<'e> {
        // What was in a turn that the model refused is not sent to it again.
        let untold = transcript::untold_runs(&self.entries, &self.run.ask.run);
        let text_of = |entry: &'e TranscriptEntry| {
            let told = &entry.kind.news()?.told;
            Some((entry.at_ms, told.get(&first.request)?.as_str()))
        };
        let mut sent = self.entries.iter().rev().filter(|entry| !untold.contains(&&entry.run));
        let last = sent.find_map(text_of);
        let told_ms = last.map_or(first.at_ms, |(at_ms, _)| at_ms);
        ReportedDecision { told_ms, stood: last.map(|(_, stood)| stood), first }
    }

    /// Returns `true` if the store knows without reading the request, which can be as long as its
    /// document, that nothing happened since it was reported with its call.
    async fn stands_as_told(&self, known: &ReportedDecision<'_>) -> RunResult<bool> {
        let DecisionNote { request, status, .. } = &known.first;
        let standing = self.shared.store.request_standing(request).await;
        let is_old = |ms| ms <= known.told_ms;
        Ok(standing.map_err(AskError::from)?.is_some_and(|now| {
            known.stood.is_none()
                && now.status == status.as_str()
                && now.decided_ms.is_some_and(is_old)
        }))
    }

    /// Returns the newest of the requests that people have proposed in place of `request`.
    async fn newest(&self, request: &ApprovalRequest) -> RunResult<Option<ApprovalRequest>> {
        let mut newest: Option<ApprovalRequest> = None;
        for _ in 0..NEWS_LIMIT {
            let Some(again) = newest.as_ref().unwrap_or(request).aftermath.again_as.clone() else {
                break;
            };
            let Some(found) = self.standing(&again).await? else { break };
            newest = Some(found);
        }
        Ok(newest)
    }

    async fn standing(&self, id: &RequestId) -> RunResult<Option<ApprovalRequest>> {
        let record = self.shared.store.request(id).await.map_err(AskError::from)?;
        // An unreadable request is skipped; `check` finds it.
        Ok(record.and_then(|record| serde_json::from_str(&record.body).ok()))
    }
}
