//! What a run knows of decisions: whether its plan is approved, and what people did with earlier changes.

use crate::tools::PlanMode;
use crate::wire::messages::ToolDefinition;

use super::super::transcript;
use super::super::{AskError, PermissionMode};
use super::{Driver, Failure};

/// Earlier decisions that are looked at for news.
const NEWS_LIMIT: usize = 20;

impl Driver<'_> {
    /// Whether this run may change anything yet. Told from what is kept of it, so that a restart changes nothing; a plan that
    /// was approved in this very turn counts from the next one on, for the other calls were made without knowing of it.
    pub(super) fn plan_mode(&self) -> PlanMode {
        if self.run.ask.permission_mode != PermissionMode::ToolApproval {
            return PlanMode::Off;
        }
        let said = self.entries.iter().filter(|entry| entry.run == self.run.ask.run);
        if transcript::has_plan(said) { PlanMode::Approved } else { PlanMode::Planning }
    }

    /// The tool that proposes a plan, if this run needs one; as long as the run lasts, because of the prompt cache.
    pub(super) fn planning_tool(&self) -> Option<(ToolDefinition, (&'static str, &'static str))> {
        let plans = self.run.ask.permission_mode == PermissionMode::ToolApproval;
        self.shared.tools.planning().filter(|_| plans)
    }

    /// Decisions that were taken back, or taken at last, since the model was told of them.
    pub(super) async fn news(&self) -> Result<Vec<String>, Failure> {
        let mut lines = Vec::new();
        for (change, what) in transcript::changes(&self.entries).take(NEWS_LIMIT) {
            let now = self.shared.store.request(&change.request).await.map_err(AskError::from)?;
            if let Some(now) = now.filter(|now| now.status != change.status) {
                let (id, then, now) = (&change.request, &change.status, now.status);
                lines.push(format!("- {id} ({what}) was {then} and is {now} now"));
            }
        }
        Ok(lines)
    }
}
