//! Executes calls that people approved in the workspace inbox: each is begun once and done once.

use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use copydesk_approvals::ApprovalSwitch;
use copydesk_approvals::{ApprovalRequest, PreviewKind, RequestStatus, ToolReport, UpdatedPreview};
use copydesk_failpoint as failpoint;
use copydesk_rooms::command::{ApprovalMode, ResolvedRequest};
use copydesk_workspace::Workspace;

use super::inbox_approval::{self, AfterRequest, AskerState};
use super::invisible_chars;
use crate::document::text_changes;
use crate::model_notes::refused;
use crate::registered_tool::{ApprovedStep, ToolAction, ToolStep, WorkspaceStep};
use crate::{
    ActionPreview, ApprovedCall, CompletedExecution, ExecutionContext, FinishedCall, ToolContext,
    ToolEffect, ToolError, ToolFacts, ToolRegistry,
};

impl ToolRegistry {
    pub(crate) async fn execute_approved(
        &self,
        tool: &ToolFacts,
        step: ApprovedStep<'_>,
        context: &ToolContext,
        settled: ResolvedRequest,
        asked: AskerState,
        cancel: &CancellationToken,
    ) -> FinishedCall {
        match step {
            ApprovedStep::CreateOrPlan(step) => {
                create_or_plan(tool, step, context, settled, cancel).await
            }
            ApprovedStep::InWorkspace(step) => {
                self.act(tool, step, context, settled, asked, cancel).await
            }
        }
    }

    async fn act(
        &self,
        tool: &ToolFacts,
        step: WorkspaceStep<'_>,
        context: &ToolContext,
        settled: ResolvedRequest,
        asked: AskerState,
        cancel: &CancellationToken,
    ) -> FinishedCall {
        let ResolvedRequest { request, resolution, .. } = settled;
        let report = match (inbox_approval::next(&request, asked), &context.environment.workspace) {
            (AfterRequest::Report(report), _) if request.status != RequestStatus::Approved => {
                return inbox_approval::outcome(&request, report);
            }
            (AfterRequest::Report(report), _) => report,
            (_, None) => inbox_approval::failed(&ToolError::NoWorkspace.to_string()),
            (AfterRequest::RecoverOutcome, Some(workspace)) => {
                recover_outcome(&request, workspace).await
            }
            (AfterRequest::Act, Some(_)) if cancel.is_cancelled() => {
                inbox_approval::failed("The run was cancelled; this call was not executed")
            }
            (AfterRequest::Act, Some(workspace)) => {
                if let Err(error) =
                    context.environment.workspace_inbox.begin(request.id().clone()).await
                {
                    return refused(context, &error.into()).await;
                }
                failpoint::pass("tools.begun");
                let touched = request.proposal.action.touched.clone();
                let (workspace, cancel) = (workspace.clone(), cancel.clone());
                let execution =
                    ExecutionContext { workspace, touched, request: request.id().clone(), cancel };
                let is_command = request.proposal.action.preview.kind == PreviewKind::Command;
                let files = self.files.as_ref().filter(|_| is_command);
                if let Some(files) = files {
                    files.agree().await;
                }
                let input = &resolution.input;
                let ran = match (self.check_not_open(tool, context, input).await, step) {
                    (Err(error), _) => Err(error),
                    (Ok(()), WorkspaceStep::Read(read)) => {
                        read(context.clone(), input).await.map(|answer| answer.text)
                    }
                    (Ok(()), WorkspaceStep::Execute(execute)) => execute(execution, input).await,
                };
                if let Some(files) = files {
                    files.agree().await;
                }
                failpoint::pass("tools.acted");
                match ran {
                    Ok(text) => ToolReport { text, is_error: false },
                    Err(error) => inbox_approval::failed(&error.to_string()),
                }
            }
        };
        inbox_approval::done(&context.environment.workspace_inbox, &request, report).await
    }

    /// Computes the preview of a request's call as it is now, with `input` in place of its own.
    pub async fn refresh_preview(
        &self,
        context: &ToolContext,
        request: &ApprovalRequest,
        input: &Value,
    ) -> Result<UpdatedPreview, ToolError> {
        let tool = self.tool(&request.proposal.origin.tool)?;
        let facts = tool.facts();
        let preview = match &tool.action {
            ToolAction::Read(_) if facts.effect == ToolEffect::Reads => {
                self.check(facts, context, input)?;
                let preview = inbox_approval::read_preview(input);
                return Ok(UpdatedPreview { preview, touched: None });
            }
            ToolAction::Read(_) | ToolAction::Propose(_) => {
                // The preview showed which document is read, and for whom.
                let is_same = *input == request.proposal.origin.input;
                let preview = request.proposal.action.preview.clone();
                let reason =
                    "What is read cannot be edited; reject it and say what to read instead";
                return if is_same {
                    Ok(UpdatedPreview { preview, touched: None })
                } else {
                    Err(ToolError::Denied(reason.into()))
                };
            }
            ToolAction::ChangeFile { preview, .. }
            | ToolAction::Act { preview, .. }
            | ToolAction::CreateOrPlan { preview, .. } => preview,
        };
        self.check_not_open(facts, context, input).await?;
        self.check(facts, context, input)?;
        let ActionPreview { mut preview, touched } = preview(context.clone(), input).await?;
        preview.warnings.extend(invisible_chars::of_own_words(input, []));
        Ok(UpdatedPreview { preview, touched })
    }
}

/// Executes an approved call that needs no folder. It may have begun before a crash; it is
/// idempotent.
async fn create_or_plan(
    tool: &ToolFacts,
    step: &ToolStep<ApprovedCall, CompletedExecution>,
    context: &ToolContext,
    settled: ResolvedRequest,
    cancel: &CancellationToken,
) -> FinishedCall {
    let auto_approved = was_auto_approved(context, &settled);
    let ResolvedRequest { request, resolution, .. } = settled;
    let room = context.approval_room(tool.effect);
    let mut completed = CompletedExecution::default();
    let report = match inbox_approval::next(&request, AskerState::Now) {
        AfterRequest::Report(report) if request.status != RequestStatus::Approved => {
            return inbox_approval::outcome(&request, report);
        }
        AfterRequest::Report(report) => {
            completed.plan = plan(&request);
            report
        }
        AfterRequest::Act if cancel.is_cancelled() => {
            inbox_approval::failed("The run was cancelled; this call was not executed")
        }
        next @ (AfterRequest::Act | AfterRequest::RecoverOutcome) => {
            if next == AfterRequest::Act
                && let Err(error) = room.begin(request.id().clone()).await
            {
                return refused(context, &error.into()).await;
            }
            failpoint::pass("tools.begun");
            let (context, request) = (context.clone(), Arc::clone(&request));
            let approved = ApprovedCall { context, request, auto_approved };
            let done = step(approved, &resolution.input).await;
            failpoint::pass("tools.acted");
            match done {
                Ok(done) => {
                    completed = done;
                    ToolReport { text: completed.text.clone(), is_error: false }
                }
                Err(error) => inbox_approval::failed(&error.to_string()),
            }
        }
    };
    let mut finished = inbox_approval::done(room, &request, report).await;
    finished.outcome.plan = completed.plan;
    finished.read = completed.read;
    finished
}

/// Returns `true` if the request was approved in the name of the person who asked.
fn was_auto_approved(context: &ToolContext, settled: &ResolvedRequest) -> bool {
    let off = settled.reading.settings.approvals == ApprovalSwitch::Off;
    let Some(closed) = &settled.request.decisions.closed else { return false };
    let by_requester = closed.by.as_ref() == Some(&settled.request.proposal.requester);
    by_requester && closed.rule.is_none() && (off || context.approval.mode == ApprovalMode::Bypass)
}

fn plan(request: &ApprovalRequest) -> Option<String> {
    let input = request.decisions.edited_input.as_ref().unwrap_or(&request.proposal.origin.input);
    Some(input.get("plan")?.as_str()?.to_owned())
}

async fn recover_outcome(request: &Arc<ApprovalRequest>, workspace: &Workspace) -> ToolReport {
    let (request, workspace) = (Arc::clone(request), workspace.clone());
    let recovered =
        text_changes::blocking(move |_| inbox_approval::recover_outcome(&request, &workspace))
            .await;
    recovered.unwrap_or_else(|error| inbox_approval::failed(&error.to_string()))
}
