//! Conversion of decisions, settings and prompts from the wire, for every transport. Errors are for
//! people.

use serde_json::Value;

use copydesk_agent::{
    AgentQuestion, AskKind, ConversationMode, PermissionMode, ReadToolPolicy, SelectedRange,
};
use copydesk_api::{ApiError, Caller};
use copydesk_approvals::ApprovalSwitch;
use copydesk_approvals::{
    Decision, FinishRest, HunkChoice, HunkVerdict, RequestStatus, RequestVerdict,
};
use copydesk_ids::{DocumentId, HunkId, RequestId, RunId, SessionId, Version};
use copydesk_rooms::NewDocument;
use copydesk_rooms::command::{SettingsChange, UndoChange};
use copydesk_rooms::settings::model_access::ModelAccess;
use copydesk_rooms::settings::{OwnSettings, ServerSettings};

use super::names::wanted_mode;
use super::remember;
use copydesk_protocol::client::{
    self, AskSelection, ChangeSettings, CreateDocument, HunkResponse, SeenWords, SetSettings,
    ToolApprovalResponse, UndoRequest,
};
use copydesk_protocol::names::{DecisionKind, ModelAccessKind};
use copydesk_protocol::rest::StartRun;

/// Maximum number of decisions in a batch.
pub const MOST_DECISIONS: usize = 100;
/// Maximum length of a reason, a note or an answer, in characters: all of it goes to the model.
const LONGEST_REMARK: usize = 20_000;

/// Returns the decision of a response.
///
/// # Errors
/// Message for people, if fields contradict each other, one is missing or too long, or a text
/// contains NUL.
pub fn read_decision(response: &ToolApprovalResponse) -> Result<Decision, String> {
    let ToolApprovalResponse {
        request_id: _,
        approved,
        decision,
        feedback,
        note,
        hunks,
        finish,
        updated_input,
        message,
        remember: wish,
        preview_hash,
    } = response.clone();
    let hunks = hunks.map(|hunks| hunks.into_iter().map(hunk_verdict).collect()).transpose()?;
    check_agreement(response)?;
    let remarks = [("feedback", &feedback), ("note", &note), ("message", &message)];
    for (name, remark) in remarks {
        check_remark(name, remark.as_deref())?;
    }
    let names_hunks = hunks.is_some();
    let said = message.as_deref();
    let input = updated_input.clone();
    let verdict = verdict(decision, approved, names_hunks, updated_input, said)?;
    let sent_back = input.filter(|_| verdict == RequestVerdict::Approve);
    let feedback =
        feedback.or(message.filter(|_| !matches!(verdict, RequestVerdict::Respond { .. })));
    let finish = finish.map(|choice| match choice {
        HunkChoice::Accept => FinishRest::Accept,
        HunkChoice::Reject => FinishRest::Reject,
    });
    Ok(Decision {
        verdict,
        hunks,
        finish,
        feedback: feedback.filter(|text| !text.trim().is_empty()),
        note: note.filter(|text| !text.trim().is_empty()),
        remember: wish.map(remember).transpose()?,
        preview_hash,
        rule: None,
        revised: None,
        most_units: None,
        sent_back,
    })
}

/// Checks that a response does not approve in one field and refuse in another; an answer refuses,
/// because the tool does not run. A rejection of the whole may accept some changes if it rejects
/// others.
fn check_agreement(response: &ToolApprovalResponse) -> Result<(), String> {
    let ToolApprovalResponse { approved, decision, hunks, finish, .. } = response;
    let named = hunks.as_deref().unwrap_or_default();
    let accepts_all = !named.is_empty()
        && named.iter().all(|hunk| hunk.decision == HunkChoice::Accept)
        && *finish != Some(HunkChoice::Reject);
    match (approved, decision) {
        (Some(false), Some(DecisionKind::Approve | DecisionKind::Edit))
        | (Some(true), Some(DecisionKind::Reject | DecisionKind::Respond)) => {
            Err("`approved` and `decision` contradict each other".to_owned())
        }
        (Some(false), None) if accepts_all => {
            Err("`approved: false` rejects, and every change named is accepted".to_owned())
        }
        _ => Ok(()),
    }
}

fn check_remark(name: &str, remark: Option<&str>) -> Result<(), String> {
    match remark {
        Some(remark) if remark.chars().nth(LONGEST_REMARK).is_some() => {
            Err(format!("`{name}` has more than {LONGEST_REMARK} characters"))
        }
        _ => Ok(()),
    }
}

fn verdict(
    decision: Option<DecisionKind>,
    approved: Option<bool>,
    names_hunks: bool,
    updated_input: Option<Value>,
    message: Option<&str>,
) -> Result<RequestVerdict, String> {
    Ok(match (decision, approved) {
        (Some(DecisionKind::Approve), _) | (None, Some(true)) => RequestVerdict::Approve,
        (Some(DecisionKind::Reject), _) | (None, Some(false)) => RequestVerdict::Reject,
        (Some(DecisionKind::Edit), _) => {
            RequestVerdict::Edit { input: updated_input.ok_or("`edit` needs `updated_input`")? }
        }
        (Some(DecisionKind::Respond), _) => RequestVerdict::Respond {
            message: message.ok_or("`respond` needs `message`")?.to_owned(),
        },
        // Decisions on single changes speak for themselves.
        (None, None) if names_hunks => RequestVerdict::Approve,
        (None, None) => return Err("`approved` or `decision` is needed".to_owned()),
    })
}

fn hunk_verdict(response: HunkResponse) -> Result<HunkVerdict, String> {
    let HunkResponse { id, decision, text, force, seen, hash } = response;
    if text.as_deref().is_some_and(|text| text.contains('\0')) {
        return Err("a change's `text` contains NUL, which is not allowed".to_owned());
    }
    Ok(HunkVerdict {
        id: HunkId::from(id),
        choice: decision,
        text,
        force: force.unwrap_or(false),
        seen,
        hash,
    })
}

/// Returns the [`RequestStatus`] with this name, if it ends a request.
///
/// # Errors
/// Message that lists the names, for an unknown one or that of an open request.
pub fn ended_status(name: &str) -> Result<RequestStatus, String> {
    RequestStatus::from_name(name).filter(|status| !status.is_open()).ok_or_else(|| {
        "`status` holds approved, rejected, partly, expired, cancelled or failed".to_owned()
    })
}

/// Returns the models that may see the text of a document.
fn model_access(wish: client::ModelAccess) -> Result<ModelAccess, String> {
    let client::ModelAccess { allow, names } = wish;
    match (allow, names) {
        (ModelAccessKind::Any, None) => Ok(ModelAccess::Any),
        (ModelAccessKind::Local, None) => Ok(ModelAccess::Local),
        (ModelAccessKind::Named, Some(names)) => Ok(ModelAccess::Named(names)),
        _ => Err("`names` of `modelAccess` belong to `named`, and to nothing else".to_owned()),
    }
}

/// Returns the settings of a document that change.
///
/// # Errors
/// Message for people, if `model_access` makes no sense.
pub fn configure(wish: ChangeSettings) -> Result<SettingsChange, String> {
    let ChangeSettings {
        document_id: _,
        policy,
        policies,
        approvals,
        timeout_seconds,
        model_access,
        frozen,
    } = wish;
    Ok(SettingsChange {
        own: OwnSettings {
            policy,
            policies,
            approvals,
            timeout_ms: timeout_seconds.map(|seconds| seconds.saturating_mul(1_000)),
            models: model_access.map(self::model_access).transpose()?,
            frozen: Vec::new(),
        },
        frozen: frozen.map(|frozen| {
            let ranges = frozen.ranges.iter().map(|range| (range.from, range.to)).collect();
            (Version(frozen.version), ranges)
        }),
    })
}

/// Returns the server's settings with the changes of `wish`.
///
/// # Errors
/// Message for people, if `wish` switches approvals on and skips them at once.
pub fn server_settings(
    wish: &SetSettings,
    mut settings: ServerSettings,
) -> Result<ServerSettings, String> {
    let SetSettings { approvals, permission_mode, timeout_seconds } = wish;
    if let Some(switch) = *approvals {
        settings.approvals = switch;
    }
    if let Some(seconds) = timeout_seconds {
        settings.timeout_ms = Some(seconds.saturating_mul(1_000));
    }
    if let Some(mode) = *permission_mode {
        settings.permission_mode = wanted_mode(mode);
    }
    // To ask and not to ask exclude each other: switching approvals on ends what skips them.
    if approvals.is_some()
        && settings.approvals == ApprovalSwitch::On
        && settings.permission_mode == PermissionMode::Bypass
    {
        if permission_mode.is_some() {
            let reason =
                "`approvals: on` and `permission_mode: bypassPermissions` exclude each other";
            return Err(reason.to_owned());
        }
        settings.permission_mode = PermissionMode::Ask;
    }
    Ok(settings)
}

/// Returns a new document.
pub fn new_document(wish: CreateDocument) -> NewDocument {
    let CreateDocument { title, text } = wish;
    let (title, text) = (title.unwrap_or_default(), text.unwrap_or_default());
    NewDocument { title, text, unlisted_owner: None }
}

/// Returns the undo of a request.
pub fn undo(wish: UndoRequest) -> UndoChange {
    let UndoRequest { request_id, hunks, force, seen, votes_only } = wish;
    let request = RequestId::from(request_id);
    let words = |SeenWords { id, stands }| (HunkId::from(id), stands);
    let seen = seen.map(|seen| seen.into_iter().map(words).collect());
    let (force, votes_only) = (force.unwrap_or(false), votes_only.unwrap_or(false));
    UndoChange { request, hunks: hunks.map(hunk_ids), force, seen, votes_only }
}

/// Returns the hunks of these names.
pub fn hunk_ids(names: Vec<String>) -> Vec<HunkId> {
    names.into_iter().map(HunkId::from).collect()
}

/// Returns the question of `wish` to the agent, named `run`, if the caller may ask it.
///
/// # Errors
/// The refusal of the selection or of the caller.
pub async fn question(
    caller: &Caller,
    wish: StartRun,
    run: RunId,
) -> Result<AgentQuestion, ApiError> {
    let StartRun {
        prompt,
        session_id,
        context,
        permission_mode,
        model,
        keep_conversation,
        auto_approve_safe,
    } = wish;
    let kind = if context.is_some() { AskKind::Ask } else { AskKind::Run };
    let context = context.unwrap_or_default();
    let document = context.document_id.map(DocumentId::from);
    let mode = permission_mode.map(wanted_mode);
    let selection = context.selection.map(selected).transpose();
    let selection = selection.map_err(ApiError::unprocessable)?;
    // Last, so that a refused request begins no session.
    let session = session_id.map(SessionId::from);
    let (session, permission_mode) = caller.admit_run(session, document.as_ref(), mode).await?;
    let history = context.conversation_history.unwrap_or_default();
    let continues = keep_conversation.unwrap_or(kind == AskKind::Ask);
    let is_safe = kind == AskKind::Ask || auto_approve_safe.unwrap_or(true);
    Ok(AgentQuestion {
        run,
        principal: caller.principal.clone(),
        prompt,
        document,
        content: context.document_content,
        selection,
        history: history.into_iter().map(|earlier| (earlier.role, earlier.content)).collect(),
        instructions: context.system_instructions,
        conversation: if continues { ConversationMode::Continue } else { ConversationMode::Fresh },
        model,
        kind,
        read_tools: if is_safe { ReadToolPolicy::AtOnce } else { ReadToolPolicy::Ask },
        permission_mode,
        session,
    })
}

/// Returns the selected range.
fn selected(selection: AskSelection) -> Result<SelectedRange, String> {
    let AskSelection { text, start, end } = selection;
    match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if start <= end => Ok(SelectedRange { start, end, text }),
        _ => Err("Invalid selection range".to_owned()),
    }
}
