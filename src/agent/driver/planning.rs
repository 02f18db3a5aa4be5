//! What a run knows of decisions: whether its plan is approved, and what people did with earlier changes.

use serde_json::Value;

use crate::ids::RequestId;
use crate::tools::PlanMode;
use crate::wire::messages::ToolDefinition;

use super::super::transcript::{self, Decided};
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
        for Decided { request, status, what } in transcript::decided(&self.entries).take(NEWS_LIMIT)
        {
            let Some(now) = self.standing(&request).await? else { continue };
            let what = what.unwrap_or(&now.what);
            if now.status != status {
                lines.push(format!("- {request} ({what}) was {status} and is {} now", now.status));
            }
            if now.is_undone {
                let file = now.file.as_deref().unwrap_or("the file");
                lines.push(format!(
                    "- {request} ({what}) was {status}, and people have undone it since: {file} reads as before"
                ));
            }
            if let Some(again) = now.again_as
                && let Some(newer) = self.standing(&again).await?
            {
                lines.push(format!(
                    "- {request} ({what}) was {status}, and a person proposed it again as {again}, which is {} now",
                    newer.status
                ));
            }
        }
        Ok(lines)
    }

    /// How a request stands.
    async fn standing(&self, id: &RequestId) -> Result<Option<Standing>, Failure> {
        let now = self.shared.store.request(id).await.map_err(AskError::from)?;
        Ok(now.map(|record| {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let body = &record.body;
            Standing {
                status: record.status,
                is_undone: !body["reversal"]["done_ms"].is_null(),
                file: text(&body["preview"]["file_path"]),
                what: text(&body["tool"]).unwrap_or_default(),
                again_as: text(&body["again_as"]).map(RequestId::from),
            }
        }))
    }
}

/// How a request stands, as far as it can be news.
struct Standing {
    status: String,
    is_undone: bool,
    file: Option<String>,
    /// The tool, for calls that the model said nothing about.
    what: String,
    again_as: Option<RequestId>,
}
