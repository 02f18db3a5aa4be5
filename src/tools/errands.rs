//! What people approved at the desk is carried out here: begun once, done once, and told.

use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::failpoint;
use crate::review::{Fresh, PreviewKind, Report, Request, RequestStatus};
use crate::room::command::{Gate, Settled};
use crate::room::settings::Approvals;
use crate::workspace::Workspace;

use super::desk::{self, Asked, Next};
use super::entry::Entry;
use super::registry::{Registry, refused};
use super::{
    Approved, Concluded, Context, Effect, Errand, Finished, Intent, Prepared, ToolError, changes,
};

impl Registry {
    /// Does what people approved, once, and tells the desk what came of it.
    pub(super) async fn carry_out(
        &self,
        tool: &Entry,
        context: &Context,
        settled: Settled,
        asked: Asked,
        cancel: &CancellationToken,
    ) -> Finished {
        if tool.effect.concludes() {
            return conclude(tool, context, settled, cancel).await;
        }
        let Settled { request, resolution, .. } = settled;
        let report = match (desk::next(&request, asked), &context.workspace) {
            (Next::Report(report), _) if request.status != RequestStatus::Approved => {
                return desk::outcome(&request, report);
            }
            (Next::Report(report), _) => report,
            (_, None) => desk::failed(&ToolError::NoWorkspace.to_string()),
            (Next::LookBack, Some(workspace)) => look_back(&request, workspace).await,
            (Next::Act, Some(_)) if cancel.is_cancelled() => {
                desk::failed("The run was cancelled; this call was not executed")
            }
            (Next::Act, Some(workspace)) => {
                if let Err(error) = context.desk.begin(request.id().clone()).await {
                    return refused(context, &error.into()).await;
                }
                failpoint::pass("tools.begun");
                let touched = request.proposal.touched.clone();
                let (workspace, cancel) = (workspace.clone(), cancel.clone());
                let errand = Errand { workspace, touched, request: request.id().clone(), cancel };
                let is_command = request.proposal.preview.kind == PreviewKind::Command;
                let files = self.files.as_ref().filter(|_| is_command);
                if let Some(files) = files {
                    files.agree().await;
                }
                let ran = match self.check_closed(tool, context, &resolution.input).await {
                    Ok(()) => run(tool, context, errand, resolution.input).await,
                    Err(error) => Err(error),
                };
                if let Some(files) = files {
                    files.agree().await;
                }
                failpoint::pass("tools.acted");
                match ran {
                    Ok(text) => Report { text, is_error: false },
                    Err(error) => desk::failed(&error.to_string()),
                }
            }
        };
        desk::done(&context.desk, &request, report).await
    }

    /// What the call of a request would do now; `input`: with this input instead of its own.
    pub async fn look_again(
        &self,
        context: &Context,
        request: &Request,
        input: &Value,
    ) -> Result<Fresh, ToolError> {
        let tool = self.tool(&request.proposal.tool)?;
        if tool.effect == Effect::Reads {
            self.check(tool, context, input)?;
            return Ok(Fresh { preview: desk::looking(input), touched: None });
        }
        if tool.effect == Effect::Safe || (tool.only_looks)(input) {
            // What was shown is which document is read, and for whom.
            let is_same = *input == request.proposal.input;
            let preview = request.proposal.preview.clone();
            let told = "What is read cannot be edited; reject it and say what to read instead";
            return if is_same {
                Ok(Fresh { preview, touched: None })
            } else {
                Err(ToolError::Denied(told.into()))
            };
        }
        self.check_closed(tool, context, input).await?;
        match self.prepare(tool, context, input).await? {
            Prepared::Act(Intent { preview, touched }) => Ok(Fresh { preview, touched }),
            Prepared::Answer(_) | Prepared::Propose(_) => Err(ToolError::Effect(tool.name)),
        }
    }
}

/// Does what people approved where no folder is needed. It may have been begun before a crash: concluding it again does
/// nothing twice.
async fn conclude(
    tool: &Entry,
    context: &Context,
    settled: Settled,
    cancel: &CancellationToken,
) -> Finished {
    let unasked = was_unasked(context, &settled);
    let Settled { request, resolution, .. } = settled;
    let room = context.asks_in(tool.effect);
    let mut concluded = Concluded::default();
    let report = match desk::next(&request, Asked::Now) {
        Next::Report(report) if request.status != RequestStatus::Approved => {
            return desk::outcome(&request, report);
        }
        Next::Report(report) => {
            concluded.plan = plan(&request);
            report
        }
        Next::Act if cancel.is_cancelled() => {
            desk::failed("The run was cancelled; this call was not executed")
        }
        next @ (Next::Act | Next::LookBack) => {
            if next == Next::Act
                && let Err(error) = room.begin(request.id().clone()).await
            {
                return refused(context, &error.into()).await;
            }
            failpoint::pass("tools.begun");
            let approved = Approved { request: Arc::clone(&request), unasked };
            let done = (tool.conclude)(context.clone(), approved, resolution.input).await;
            failpoint::pass("tools.acted");
            match done {
                Ok(done) => {
                    concluded = done;
                    Report { text: concluded.text.clone(), is_error: false }
                }
                Err(error) => desk::failed(&error.to_string()),
            }
        }
    };
    let mut finished = desk::done(room, &request, report).await;
    finished.outcome.plan = concluded.plan;
    finished.read = concluded.read;
    finished
}

/// Whether it was approved in the name of the person who asked, because nobody is asked there.
fn was_unasked(context: &Context, settled: &Settled) -> bool {
    let off = settled.reading.settings.approvals == Approvals::Off;
    let Some(closed) = &settled.request.closed else { return false };
    let by_requester = closed.by.as_ref() == Some(&settled.request.proposal.requester);
    by_requester && closed.rule.is_none() && (off || context.gate == Gate::Bypass)
}

/// The plan that a request was about, as it was approved.
fn plan(request: &Request) -> Option<String> {
    let input = request.edited_input.as_ref().unwrap_or(&request.proposal.input);
    Some(input.get("plan")?.as_str()?.to_owned())
}

async fn look_back(request: &Arc<Request>, workspace: &Workspace) -> Report {
    let (request, workspace) = (Arc::clone(request), workspace.clone());
    let looked = changes::blocking(move |_| desk::look_back(&request, &workspace)).await;
    looked.unwrap_or_else(|error| desk::failed(&error.to_string()))
}

/// A tool that acts acts; one that only reads answers.
async fn run(
    tool: &Entry,
    context: &Context,
    errand: Errand,
    input: Value,
) -> Result<String, ToolError> {
    if tool.effect == Effect::Acts {
        return (tool.act)(errand, input).await;
    }
    match (tool.prepare)(context.clone(), input).await? {
        Prepared::Answer(answer) => Ok(answer.text),
        Prepared::Propose(_) | Prepared::Act(_) => Err(ToolError::Effect(tool.name)),
    }
}
