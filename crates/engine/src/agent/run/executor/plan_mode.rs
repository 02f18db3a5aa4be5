//! State of a run that depends on people's decisions: the approval of its plan, and decisions about
//! earlier changes.

use crate::approvals::ApprovalRequest;
use crate::ids::RequestId;
use crate::llm::messages_api::ToolDefinition;
use crate::tools::PlanMode;

use super::{RunExecutor, RunResult};
use crate::agent::conversation::decision_updates::{DecisionUpdates, ReportedDecision};
use crate::agent::conversation::transcript::{DecisionNote, EntryKind, TranscriptEntry};
use crate::agent::conversation::{decision_updates, transcript};
use crate::agent::{AskError, PermissionMode};

/// Maximum number of earlier decisions that are checked for updates.
const NEWS_LIMIT: usize = 20;

impl RunExecutor<'_> {
    /// Returns the plan mode of this run. It is computed from the stored entries, so a restart does
    /// not change it. A plan that was approved in the present turn counts from the next turn on,
    /// because the other calls of this turn were made without knowing of it.
    pub(crate) fn plan_mode(&self) -> PlanMode {
        if self.run.ask.permission_mode != PermissionMode::PlanFirst {
            return PlanMode::Off;
        }
        let said = self.entries.iter().filter(|entry| entry.run == self.run.ask.run);
        if transcript::has_plan(said) { PlanMode::Approved } else { PlanMode::Planning }
    }

    /// Returns the tool that proposes a plan, if this run needs one. It stays available for the
    /// whole run, because of the prompt cache.
    pub(crate) fn planning_tool(&self) -> Option<(ToolDefinition, (&'static str, &'static str))> {
        let plans = self.run.ask.permission_mode == PermissionMode::PlanFirst;
        self.shared.tools.planning().filter(|_| plans)
    }

    /// Returns people's decisions about earlier changes since the model was last told. Empty for an
    /// external call, which has no model.
    pub(crate) async fn news(&self) -> RunResult<DecisionUpdates> {
        let mut news =
            DecisionUpdates { tag: self.prompt.tag.to_string(), ..DecisionUpdates::default() };
        if self.run.ask.outside().is_some() {
            return Ok(news);
        }
        for first in transcript::decided(&self.entries).take(NEWS_LIMIT) {
            let Some(now) = self.standing(&first.request).await? else { continue };
            let newest = self.newest(&now).await?;
            let id = first.request.clone();
            if news.told.contains_key(&id) {
                continue;
            }
            if let Some((lines, stands)) =
                decision_updates::describe_news(&self.known_of(first), &now, newest.as_ref())
            {
                news.lines.push(lines);
                news.told.insert(id, stands);
            }
        }
        Ok(news)
    }

    /// Returns the decisions that this run's prompt tells; unchanged after a restart.
    pub(crate) fn decisions_in_prompt(&self) -> DecisionUpdates {
        let text_of = |entry: &TranscriptEntry| match &entry.kind {
            EntryKind::Prompt { news, .. } if entry.run == self.run.ask.run => Some(news.clone()),
            _ => None,
        };
        self.entries.iter().find_map(text_of).unwrap_or_default()
    }

    /// Returns the state of a request that the model was last told: with the outcome of its call,
    /// or with a later prompt.
    fn known_of<'e>(&'e self, first: DecisionNote<'e>) -> ReportedDecision<'e> {
        let text_of = |entry: &'e TranscriptEntry| match &entry.kind {
            EntryKind::Prompt { news, .. } => {
                Some((entry.at_ms, news.told.get(&first.request)?.as_str()))
            }
            _ => None,
        };
        let last = self.entries.iter().rev().find_map(text_of);
        let told_ms = last.map_or(first.at_ms, |(at_ms, _)| at_ms);
        ReportedDecision { told_ms, stood: last.map(|(_, stood)| stood), first }
    }

    /// Returns the request that people have proposed in place of `request`, if there is one; the
    /// newest, if that was proposed again too.
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

    /// Reads the present state of a request.
    async fn standing(&self, id: &RequestId) -> RunResult<Option<ApprovalRequest>> {
        let record = self.shared.store.request(id).await.map_err(AskError::from)?;
        // An unreadable request is skipped; `check` finds it.
        Ok(record.and_then(|record| serde_json::from_str(&record.body).ok()))
    }
}
