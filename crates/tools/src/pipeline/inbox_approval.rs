//! Asks people in the workspace inbox about calls that act, which run once, as people saw them.

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use copydesk_approvals as approvals;
use copydesk_approvals::{
    ApprovalRequest, ApprovalRule, ExcludedPaths, ExecutionState, Preview, PreviewKind,
    RequestStatus, RuleSubject, ToolCatalog, ToolReport, ruling,
};
use copydesk_document::diff::HunkDraft;
use copydesk_document::utf16_len;
use copydesk_ids::permissions::Principal;
use copydesk_rooms::command::{ApprovalMode, ProposalOutcome, ResolvedRequest};
use copydesk_rooms::{RoomError, RoomHandle};
use copydesk_workspace::{Workspace, stamp};

use crate::pipeline::approval;
use crate::workspace::read::ReadFile;
use crate::{
    ActionPreview, ApprovalWait, CallEnvironment, FinishedCall, ReadToolPolicy, Tool as _,
    ToolCall, ToolContext, ToolEffect, ToolError, ToolFacts, ToolOutcome,
};

/// Next step for a request that has ended ([`next`]).
#[derive(Debug, PartialEq)]
pub enum AfterRequest {
    /// Report this result; nothing is to be done.
    Report(ToolReport),
    /// Execute the call: it was approved and has not begun.
    Act,
    /// Find out how far the call came: it had begun before the server stopped.
    RecoverOutcome,
}

/// State of the process that asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskerState {
    /// The process that asked is still running.
    Now,
    /// The server was started again since.
    BeforeRestart,
}

/// Asks people and waits for their decision.
pub async fn ask(
    context: &ToolContext,
    effect: ToolEffect,
    call: &ToolCall,
    intent: ActionPreview,
    cancel: &CancellationToken,
) -> Result<ResolvedRequest, ToolError> {
    let ActionPreview { preview, touched } = intent;
    let room = context.approval_room(effect);
    // A document has a version, which the request follows though it changes nothing there.
    let now = room.read().await?;
    let mut request = approval::new_request(context, call, &now, preview, Vec::new(), &[]);
    request.action.touched = touched;
    // A run in plan mode wants its plan to be seen, even where changes are accepted without asking.
    if effect == ToolEffect::Plans {
        request.approval_mode = ApprovalMode::People;
    }
    match room.propose(request).await? {
        ProposalOutcome::Waiting(_) => {
            context.report_progress(ApprovalWait::Waits);
            let settled = approval::wait(room, &context.call.request, cancel).await?;
            context.report_progress(ApprovalWait::Resolved);
            Ok(settled)
        }
        ProposalOutcome::Resolved(settled) => Ok(*settled),
        ProposalOutcome::Conflicted(words)
        | ProposalOutcome::Frozen(words)
        | ProposalOutcome::Denied(words) => Err(ToolError::Denied(words)),
        ProposalOutcome::Unchanged => Err(ToolError::Unchanged),
    }
}

/// Returns `true` if people are asked before a call reads: as the person wants or an owner's rule
/// says.
pub async fn asks_before_reading(
    tool: &ToolFacts,
    context: &ToolContext,
    call: &ToolCall,
) -> Result<bool, ToolError> {
    if tool.effect != ToolEffect::Reads {
        return Ok(false);
    }
    if context.environment.read_tools == ReadToolPolicy::Ask {
        return Ok(true);
    }
    let requester = &context.call.requester;
    let CallEnvironment { rooms, workspace_inbox, .. } = &context.environment;
    Ok(has_rule(rooms.tools(), workspace_inbox, call, requester).await?)
}

/// Returns `true` if a rule of the inbox applies to a call, by its tool and path alone.
pub async fn has_rule(
    tools: &ToolCatalog,
    workspace_inbox: &RoomHandle,
    call: &ToolCall,
    requester: &Principal,
) -> Result<bool, RoomError> {
    let rules = workspace_inbox.rules().await?;
    let file = named_file(&call.input);
    let (tool, file) = (call.name.as_str(), file.as_deref());
    let requester = requester.into();
    let matter =
        RuleSubject { tools, tool, document: None, file, units: None, requester, marks: &[] };
    Ok(ruling(rules.iter().map(AsRef::as_ref), &matter).is_some())
}

/// Returns who must approve a change of a file that is open as a document: its people, also where
/// the inbox has a rule that asks; a rule of the inbox that denies holds too.
pub async fn approval_mode_for_file(
    context: &ToolContext,
    call: &ToolCall,
    hunks: &[HunkDraft],
) -> Result<ApprovalMode, ToolError> {
    let path = context.open_file.as_deref().unwrap_or_default();
    approval_mode_for_path(context, path, &[&call.name], Some(hunks)).await
}

/// Returns who must approve a call about a document that is a file, as if each of the tools `names`
/// was called with its path. `hunks` are the changes; `None` if the call reads.
pub async fn approval_mode_for_path(
    context: &ToolContext,
    path: &str,
    names: &[&str],
    hunks: Option<&[HunkDraft]>,
) -> Result<ApprovalMode, ToolError> {
    let parts = hunks.map(|hunks| hunks.iter().flat_map(|hunk| &hunk.parts));
    let units =
        parts.map(|parts| parts.map(|part| part.to - part.from + utf16_len(&part.insert)).sum());
    let CallEnvironment { rooms, workspace_inbox, .. } = &context.environment;
    let requester = &context.call.requester;
    let is_asked =
        is_asked_about(rooms.tools(), workspace_inbox, path, (names, units), requester).await?;
    Ok(if is_asked { ApprovalMode::People } else { context.approval.mode })
}

/// Returns `true` if a rule of the inbox asks people, as if each of the tools `names` was called
/// with `path`.
pub(super) async fn is_asked_about(
    tools: &ToolCatalog,
    workspace_inbox: &RoomHandle,
    path: &str,
    (names, units): (&[&str], Option<usize>),
    requester: &Principal,
) -> Result<bool, ToolError> {
    let rules = workspace_inbox.rules().await?;
    let mut is_asked = false;
    for &tool in names {
        let (file, requester) = (Some(path), requester.into());
        let matter =
            RuleSubject { tools, tool, document: None, file, units, requester, marks: &[] };
        match ruling(rules.iter().map(AsRef::as_ref), &matter) {
            Some(rule) if rule.effect == approvals::RuleEffect::Deny => {
                return Err(ToolError::Denied(rule.denial()));
            }
            Some(_) => is_asked = true,
            None => {}
        }
    }
    Ok(is_asked)
}

pub(super) async fn reading_denial(
    tools: &ToolCatalog,
    workspace_inbox: &RoomHandle,
    path: &str,
    reader: &Principal,
) -> Result<Option<String>, RoomError> {
    let rules = workspace_inbox.rules().await?;
    let (file, requester) = (Some(path), reader.into());
    let subject = RuleSubject {
        tools,
        tool: ReadFile::NAME,
        document: None,
        file,
        units: None,
        requester,
        marks: &[],
    };
    let rule = ruling(rules.iter().map(AsRef::as_ref), &subject);
    let denies = rule.filter(|rule| rule.effect == approvals::RuleEffect::Deny);
    Ok(denies.map(ApprovalRule::denial))
}

/// Returns the files that a search by this tool leaves out: those with a rule at least as strict as
/// `mildest` for this tool or for `Read`.
pub async fn hidden(
    context: &ToolContext,
    tool: &str,
    mildest: approvals::RuleEffect,
) -> Result<ExcludedPaths, ToolError> {
    let rules = context.environment.workspace_inbox.rules().await?;
    let rules = rules.iter().map(AsRef::as_ref);
    let asker = (&context.call.requester).into();
    Ok(ExcludedPaths::by(rules, &[ReadFile::NAME, tool], asker, mildest))
}

/// Returns the preview of a call that only reads.
pub fn read_preview(input: &Value) -> Preview {
    Preview { file_path: named_file(input), ..Preview::of_input(input) }
}

fn named_file(input: &Value) -> Option<String> {
    input.get("file_path").and_then(Value::as_str).map(str::to_owned)
}

/// Returns the next step for a request that has ended.
pub fn next(request: &ApprovalRequest, asked: AskerState) -> AfterRequest {
    match (request.status, &request.aftermath.execution) {
        (RequestStatus::Approved, None) => {
            let is_command = request.proposal.action.preview.kind == PreviewKind::Command;
            if is_command && asked == AskerState::BeforeRestart {
                // People approved the command for that moment; no one has seen what it would do
                // now.
                return AfterRequest::Report(failed(
                    "Approved, but the server stopped before the command was run. It was not run.",
                ));
            }
            AfterRequest::Act
        }
        (RequestStatus::Approved, Some(ExecutionState::Begun { .. })) => {
            AfterRequest::RecoverOutcome
        }
        _ => AfterRequest::Report(request.report()),
    }
}

/// Reports a call that was being executed when the server stopped, as inferred from the file; the
/// call is never repeated.
pub fn recover_outcome(request: &ApprovalRequest, workspace: &Workspace) -> ToolReport {
    let preview = &request.proposal.action.preview;
    #[cfg(unix)]
    workspace.stop_left_over(request.id().as_str());
    let (Some(path), Some(content)) = (&preview.file_path, &preview.new_content) else {
        return failed(
            "The server stopped while this was running. It may have been done completely, partly or not at all; it was \
             not repeated. Look before you try again.",
        );
    };
    let now = workspace.stamp_now(path);
    if now.as_deref() == Some(stamp(content).as_str()) {
        let text = format!("{path} was written before the server stopped; it reads as approved.");
        ToolReport { text, is_error: false }
    } else if now == request.proposal.action.touched {
        failed(&format!(
            "Approved, but the server stopped before {path} was written. It is as it was before; nothing was repeated."
        ))
    } else {
        failed(&format!(
            "The server stopped while {path} was being written, and it reads neither as before nor as approved. Nothing \
             was repeated; read it again."
        ))
    }
}

/// Reports the result of an approved call to the room, and returns the outcome for the model.
pub async fn done(
    workspace_inbox: &RoomHandle,
    request: &ApprovalRequest,
    report: ToolReport,
) -> FinishedCall {
    match workspace_inbox.done(request.id().clone(), report.clone()).await {
        Ok(request) => outcome(&request, request.report()),
        Err(error) => {
            // The model gets the result nevertheless; after a restart it is found out again.
            tracing::error!(%error, request.id = %request.id(), "cannot store the result of a call");
            outcome(request, report)
        }
    }
}

/// Returns the outcome of a call that is over.
pub fn outcome(request: &ApprovalRequest, report: ToolReport) -> FinishedCall {
    let ToolReport { text, is_error } = report;
    let mut outcome = ToolOutcome { text, is_error, ..ToolOutcome::default() };
    outcome.about.insert("updateType".into(), "none".into());
    outcome.about.insert("request_id".into(), request.id().as_str().into());
    outcome.about.insert("status".into(), request.status.as_str().into());
    FinishedCall { outcome, ..FinishedCall::default() }
}

/// Waits again for a request made before a restart; `None` if it was never made.
pub async fn resume(
    context: &ToolContext,
    effect: ToolEffect,
    cancel: &CancellationToken,
) -> Option<Result<ResolvedRequest, ToolError>> {
    match approval::wait(context.approval_room(effect), &context.call.request, cancel).await {
        Err(RoomError::NoRequest) => None,
        other => Some(other.map_err(Into::into)),
    }
}

/// Returns the report of an approved call that was not executed.
pub fn failed(text: &str) -> ToolReport {
    ToolReport { text: text.to_owned(), is_error: true }
}
