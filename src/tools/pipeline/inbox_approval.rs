//! Calls that act: people are asked at the desk, and what they approved is done once, on what they were shown.

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::approvals::{
    self, ApprovalRequest, ExcludedPaths, ExecutionState, Preview, PreviewKind, RequestStatus,
    RuleSubject, ToolReport, ruling,
};
use crate::document::diff::HunkDraft;
use crate::document::utf16_len;
use crate::rooms::command::{ApprovalMode, NewApprovalRequest, ProposalOutcome, ResolvedRequest};
use crate::rooms::{RoomError, RoomHandle};
use crate::workspace::{Workspace, stamp};

use crate::tools::pipeline::approval;
use crate::tools::{
    ActionPreview, ApprovalWait, FinishedCall, ToolCall, ToolContext, ToolEffect, ToolError,
    ToolOutcome,
};

/// What is to be done about a request that has ended.
#[derive(Debug, PartialEq)]
pub enum AfterRequest {
    /// Nothing: this is what came of it.
    Report(ToolReport),
    /// It was approved and has not begun.
    Act,
    /// It had begun, and nobody knows how far it came.
    LookBack,
}

/// Whether the process that asked is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskerState {
    /// It is.
    Now,
    /// The server was started again since.
    BeforeRestart,
}

/// Asks people and waits for what they decide.
pub async fn ask(
    context: &ToolContext,
    effect: ToolEffect,
    call: &ToolCall,
    intent: ActionPreview,
    cancel: &CancellationToken,
) -> Result<ResolvedRequest, ToolError> {
    let ActionPreview { preview, touched } = intent;
    let room = context.asks_in(effect);
    // A document has a version, which the request follows though it changes nothing there.
    let now = room.read().await?;
    let request = NewApprovalRequest {
        id: context.request.clone(),
        tool: call.name.clone(),
        input: call.input.clone(),
        tool_use: call.id.as_str().into(),
        session: context.session.clone(),
        run: context.run.clone(),
        requester: context.requester.clone(),
        prompt: context.prompt.to_string(),
        base_version: now.version,
        base: now.text,
        hunks: Vec::new(),
        scope: None,
        explanation: approval::explanation(call).unwrap_or_default().to_owned(),
        preview,
        touched,
        source: context.source.to_owned(),
        // Whoever wants a plan wants to see it, wherever changes land unasked.
        gate: if effect == ToolEffect::Plans { ApprovalMode::People } else { context.gate },
        deadline_ms: context.deadline_ms,
        taken_up: context.taken_up,
        again_of: context.again_of.clone(),
    };
    match room.propose(request).await? {
        ProposalOutcome::Waiting(_) => {
            context.say(ApprovalWait::Waits);
            let settled = approval::wait(room, &context.request, cancel).await?;
            context.say(ApprovalWait::Resolved);
            Ok(settled)
        }
        ProposalOutcome::Resolved(settled) => Ok(*settled),
        ProposalOutcome::Conflicted(words)
        | ProposalOutcome::Frozen(words)
        | ProposalOutcome::Denied(words) => Err(ToolError::Denied(words)),
        ProposalOutcome::Unchanged => Err(ToolError::Unchanged),
    }
}

/// Whether a rule of an owner speaks of a call that is otherwise not asked about.
pub async fn is_ruled(context: &ToolContext, call: &ToolCall) -> Result<bool, ToolError> {
    Ok(rules_speak_of(&context.desk, call).await?)
}

/// The same, before anything else is known of the call.
pub async fn rules_speak_of(desk: &RoomHandle, call: &ToolCall) -> Result<bool, RoomError> {
    let rules = desk.rules().await?;
    let file = named_file(&call.input);
    let matter =
        RuleSubject { tool: &call.name, document: None, file: file.as_deref(), units: None };
    Ok(ruling(rules.iter().map(AsRef::as_ref), &matter).is_some())
}

/// Who is asked about a change of a file that is open as a document: its people, but what owners forbid or want to see at
/// the desk holds there too. Fails where it is forbidden.
pub async fn gate_of_file(
    context: &ToolContext,
    call: &ToolCall,
    hunks: &[HunkDraft],
) -> Result<ApprovalMode, ToolError> {
    let path = context.live.as_deref().unwrap_or_default();
    gate_of_path(context, path, &[&call.name], Some(hunks)).await
}

/// The same for a call about a document that is a file: there it is as if one of `tools` was called with its path. `hunks`: what
/// it would change; `None`: it reads.
pub async fn gate_of_path(
    context: &ToolContext,
    path: &str,
    tools: &[&str],
    hunks: Option<&[HunkDraft]>,
) -> Result<ApprovalMode, ToolError> {
    let rules = context.desk.rules().await?;
    let parts = hunks.map(|hunks| hunks.iter().flat_map(|hunk| &hunk.parts));
    let units =
        parts.map(|parts| parts.map(|part| part.to - part.from + utf16_len(&part.insert)).sum());
    let mut gate = context.gate;
    for &tool in tools {
        let matter = RuleSubject { tool, document: None, file: Some(path), units };
        match ruling(rules.iter().map(AsRef::as_ref), &matter) {
            Some(rule) if rule.effect == approvals::RuleEffect::Deny => {
                return Err(ToolError::Denied(rule.denial()));
            }
            Some(_) => gate = ApprovalMode::People,
            None => {}
        }
    }
    Ok(gate)
}

/// The files that a search by this tool leaves out: what rules at least as strict as `mildest` say of it, or of reading.
pub async fn hidden(
    context: &ToolContext,
    tool: &str,
    mildest: approvals::RuleEffect,
) -> Result<ExcludedPaths, ToolError> {
    let rules = context.desk.rules().await?;
    Ok(ExcludedPaths::by(rules.iter().map(AsRef::as_ref), &["Read", tool], mildest))
}

/// What people are shown of a call that only reads.
pub fn looking(input: &Value) -> Preview {
    Preview { file_path: named_file(input), ..Preview::of_input(input) }
}

fn named_file(input: &Value) -> Option<String> {
    input.get("file_path").and_then(Value::as_str).map(str::to_owned)
}

/// What is to be done about a request that has ended.
pub fn next(request: &ApprovalRequest, asked: AskerState) -> AfterRequest {
    match (request.status, &request.execution) {
        (RequestStatus::Approved, None) => {
            let is_command = request.proposal.preview.kind == PreviewKind::Command;
            if is_command && asked == AskerState::BeforeRestart {
                // People approved it for that moment; what it would do now nobody has looked at.
                return AfterRequest::Report(failed(
                    "Approved, but the server stopped before the command was run. It was not run.",
                ));
            }
            AfterRequest::Act
        }
        (RequestStatus::Approved, Some(ExecutionState::Begun { .. })) => AfterRequest::LookBack,
        _ => AfterRequest::Report(request.report()),
    }
}

/// What came of a call that was being carried out when the server stopped: told from the file, never done again.
pub fn look_back(request: &ApprovalRequest, workspace: &Workspace) -> ToolReport {
    let preview = &request.proposal.preview;
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
    } else if now == request.proposal.touched {
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

/// Tells the room that asked what came of an approved call, and the model what it makes of it.
pub async fn done(
    desk: &RoomHandle,
    request: &ApprovalRequest,
    report: ToolReport,
) -> FinishedCall {
    match desk.done(request.id().clone(), report.clone()).await {
        Ok(request) => outcome(&request, request.report()),
        Err(error) => {
            // The model hears of it all the same; after a restart it is looked back at.
            tracing::error!(%error, request.id = %request.id(), "what came of a call could not be kept");
            outcome(request, report)
        }
    }
}

/// The outcome of a call that is over.
pub fn outcome(request: &ApprovalRequest, report: ToolReport) -> FinishedCall {
    let ToolReport { text, is_error } = report;
    let mut outcome = ToolOutcome { text, is_error, ..ToolOutcome::default() };
    outcome.about.insert("updateType".into(), "none".into());
    outcome.about.insert("request_id".into(), request.id().as_str().into());
    outcome.about.insert("status".into(), request.status.as_str().into());
    FinishedCall { outcome, ..FinishedCall::default() }
}

/// Waits again for a request that was made before a restart; `None`: it never was.
pub async fn resume(
    context: &ToolContext,
    effect: ToolEffect,
    cancel: &CancellationToken,
) -> Option<Result<ResolvedRequest, ToolError>> {
    match approval::wait(context.asks_in(effect), &context.request, cancel).await {
        Err(RoomError::NoRequest) => None,
        other => Some(other.map_err(Into::into)),
    }
}

/// Why an approved call was not carried out.
pub fn failed(text: &str) -> ToolReport {
    ToolReport { text: text.to_owned(), is_error: true }
}
