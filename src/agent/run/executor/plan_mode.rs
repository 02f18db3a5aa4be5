//! What a run knows of decisions: whether its plan is approved, and what people did with earlier changes.

use crate::approvals::ApprovalRequest;
use crate::ids::RequestId;
use crate::llm::messages_api::ToolDefinition;
use crate::tools::PlanMode;

use super::{RunExecutor, RunFailure};
use crate::agent::conversation::decision_updates;
use crate::agent::conversation::decision_updates::{DecisionUpdates, ReportedDecision};
use crate::agent::conversation::transcript;
use crate::agent::conversation::transcript::{DecisionNote, EntryKind, TranscriptEntry};
use crate::agent::{AskError, PermissionMode};

/// Earlier decisions that are looked at for news.
const NEWS_LIMIT: usize = 20;

impl RunExecutor<'_> {
    /// Whether this run may change anything yet. Told from what is kept of it, so that a restart changes nothing; a plan that
    /// was approved in this very turn counts from the next one on, for the other calls were made without knowing of it.
    pub(crate) fn plan_mode(&self) -> PlanMode {
        if self.run.ask.permission_mode != PermissionMode::ToolApproval {
            return PlanMode::Off;
        }
        let said = self.entries.iter().filter(|entry| entry.run == self.run.ask.run);
        if transcript::has_plan(said) { PlanMode::Approved } else { PlanMode::Planning }
    }

    /// The tool that proposes a plan, if this run needs one; as long as the run lasts, because of the prompt cache.
    pub(crate) fn planning_tool(&self) -> Option<(ToolDefinition, (&'static str, &'static str))> {
        let plans = self.run.ask.permission_mode == PermissionMode::ToolApproval;
        self.shared.tools.planning().filter(|_| plans)
    }

    /// What people did with earlier changes since the model was told of them. An outside caller's call has no model.
    pub(crate) async fn news(&self) -> Result<DecisionUpdates, RunFailure> {
        let mut news = DecisionUpdates { tag: self.tag.to_string(), ..DecisionUpdates::default() };
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
                decision_updates::told(&self.known_of(first), &now, newest.as_ref())
            {
                news.lines.push(lines);
                news.told.insert(id, stands);
            }
        }
        Ok(news)
    }

    /// What this run's prompt tells of earlier changes; the same after a restart.
    pub(crate) fn told_with_the_prompt(&self) -> DecisionUpdates {
        let told = |entry: &TranscriptEntry| match &entry.kept {
            EntryKind::Prompt { news, .. } if entry.run == self.run.ask.run => Some(news.clone()),
            _ => None,
        };
        self.entries.iter().find_map(told).unwrap_or_default()
    }

    /// What the model was told last of a request: with its call's answer, or as news with a later prompt.
    fn known_of<'e>(&'e self, first: DecisionNote<'e>) -> ReportedDecision<'e> {
        let told = |entry: &'e TranscriptEntry| match &entry.kept {
            EntryKind::Prompt { news, .. } => {
                Some((entry.at_ms, news.told.get(&first.request)?.as_str()))
            }
            _ => None,
        };
        let last = self.entries.iter().rev().find_map(told);
        let told_ms = last.map_or(first.at_ms, |(at_ms, _)| at_ms);
        ReportedDecision { told_ms, stood: last.map(|(_, stood)| stood), first }
    }

    /// The request that people have proposed in its place, if there is one; the newest, if that was repeated too.
    async fn newest(
        &self,
        request: &ApprovalRequest,
    ) -> Result<Option<ApprovalRequest>, RunFailure> {
        let mut newest: Option<ApprovalRequest> = None;
        for _ in 0..NEWS_LIMIT {
            let Some(again) = newest.as_ref().unwrap_or(request).again_as.clone() else { break };
            let Some(found) = self.standing(&again).await? else { break };
            newest = Some(found);
        }
        Ok(newest)
    }

    /// How a request stands.
    async fn standing(&self, id: &RequestId) -> Result<Option<ApprovalRequest>, RunFailure> {
        let record = self.shared.store.request(id).await.map_err(AskError::from)?;
        // One that cannot be read is no news; `check` finds it.
        Ok(record.and_then(|record| serde_json::from_str(&record.body).ok()))
    }
}
