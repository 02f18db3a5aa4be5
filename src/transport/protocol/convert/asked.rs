//! What people decide, set and ask, read from the wire: the same for every door. Errors are for people.

use serde_json::Value;

use crate::agent::{ConversationMode, PermissionMode, SelectedRange};
use crate::approvals::{
    Decision, DecisionPolicy, FinishRest, HunkChoice, HunkVerdict, RequestStatus, RequestVerdict,
};
use crate::ids::{HunkId, Version};
use crate::rooms::command::SettingsChange;
use crate::rooms::settings::{ApprovalSwitch, OwnSettings, ServerSettings};

use super::super::client::{
    AskSelection, ChangeSettings, HunkResponse, SetSettings, ToolApprovalResponse,
};
use super::{remember, tool_policy};

/// Decisions one batch may hold.
pub const MOST_DECISIONS: usize = 100;
/// Characters of a reason, a note or an answer: more than anybody says, and all of it goes to the model.
const LONGEST_REMARK: usize = 20_000;

/// What a client said, as a decision.
pub fn decide(response: &ToolApprovalResponse) -> Result<Decision, String> {
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
    let verdict = verdict(decision.as_deref(), approved, names_hunks, updated_input, said)?;
    let sent_back = input.filter(|_| verdict == RequestVerdict::Approve);
    let feedback =
        feedback.or(message.filter(|_| !matches!(verdict, RequestVerdict::Respond { .. })));
    let finish = match finish.as_deref() {
        None => None,
        Some("accept") => Some(FinishRest::Accept),
        Some("reject") => Some(FinishRest::Reject),
        Some(_) => return Err("`finish` is accept or reject".to_owned()),
    };
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

/// What says no in one place and yes in another is neither. A no to the whole may come with a yes to some of its changes, if it
/// rejects others.
fn check_agreement(response: &ToolApprovalResponse) -> Result<(), String> {
    let ToolApprovalResponse { approved, decision, hunks, finish, .. } = response;
    let named = hunks.as_deref().unwrap_or_default();
    let accepts_all = !named.is_empty()
        && named.iter().all(|hunk| hunk.decision == "accept")
        && finish.as_deref() != Some("reject");
    match (approved, decision.as_deref()) {
        (Some(false), Some("approve" | "edit")) | (Some(true), Some("reject")) => {
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
    decision: Option<&str>,
    approved: Option<bool>,
    names_hunks: bool,
    updated_input: Option<Value>,
    message: Option<&str>,
) -> Result<RequestVerdict, String> {
    Ok(match (decision, approved) {
        (Some("approve"), _) | (None, Some(true)) => RequestVerdict::Approve,
        (Some("reject"), _) | (None, Some(false)) => RequestVerdict::Reject,
        (Some("edit"), _) => {
            RequestVerdict::Edit { input: updated_input.ok_or("`edit` needs `updated_input`")? }
        }
        (Some("respond"), _) => RequestVerdict::Respond {
            message: message.ok_or("`respond` needs `message`")?.to_owned(),
        },
        (Some(_), _) => {
            return Err("`decision` is approve, reject, edit or respond".to_owned());
        }
        // Decisions on single changes speak for themselves.
        (None, None) if names_hunks => RequestVerdict::Approve,
        (None, None) => return Err("`approved` or `decision` is needed".to_owned()),
    })
}

fn hunk_verdict(response: HunkResponse) -> Result<HunkVerdict, String> {
    let HunkResponse { id, decision, text, force, seen } = response;
    let choice = match decision.as_str() {
        "accept" => HunkChoice::Accept,
        "reject" => HunkChoice::Reject,
        _ => return Err("a change's `decision` is accept or reject".to_owned()),
    };
    if text.as_deref().is_some_and(|text| text.contains('\0')) {
        return Err("a change's `text` contains NUL, which no text has".to_owned());
    }
    Ok(HunkVerdict { id: HunkId::from(id), choice, text, force: force.unwrap_or(false), seen })
}

/// How a request can have ended.
pub fn ended_status(name: &str) -> Result<RequestStatus, String> {
    let all = [
        RequestStatus::Approved,
        RequestStatus::Rejected,
        RequestStatus::Partly,
        RequestStatus::Expired,
        RequestStatus::Cancelled,
        RequestStatus::Failed,
    ];
    all.into_iter().find(|status| status.as_str() == name).ok_or_else(|| {
        "`status` holds approved, rejected, partly, expired, cancelled or failed".to_owned()
    })
}

/// New settings of a document.
pub fn configure(wish: ChangeSettings) -> Result<SettingsChange, String> {
    let ChangeSettings { document_id: _, policy, policies, approvals, timeout_seconds, frozen } =
        wish;
    let unknown = || "a policy is any, not_requester, two or owner".to_owned();
    let policy = policy.map(|name| DecisionPolicy::parse(&name).ok_or_else(unknown));
    let policies = policies.map(|policies| {
        let policies = policies.into_iter().map(tool_policy);
        policies.collect::<Option<Vec<_>>>().ok_or_else(unknown)
    });
    Ok(SettingsChange {
        own: OwnSettings {
            policy: policy.transpose()?,
            policies: policies.transpose()?,
            approvals: approvals.as_deref().map(on_or_off).transpose()?,
            timeout_ms: timeout_seconds.map(|seconds| seconds.saturating_mul(1_000)),
            frozen: Vec::new(),
        },
        frozen: frozen.map(|frozen| {
            let ranges = frozen.ranges.iter().map(|range| (range.from, range.to)).collect();
            (Version(frozen.version), ranges)
        }),
    })
}

/// The server's settings, once `wish` is granted.
pub fn server_settings(
    wish: &SetSettings,
    mut settings: ServerSettings,
) -> Result<ServerSettings, String> {
    let SetSettings { approvals, permission_mode, timeout_seconds } = wish;
    if let Some(name) = approvals.as_deref() {
        settings.approvals = on_or_off(name)?;
    }
    if let Some(seconds) = timeout_seconds {
        settings.timeout_ms = seconds.saturating_mul(1_000);
    }
    if let Some(mode) = self::permission_mode(permission_mode.as_deref())? {
        settings.permission_mode = mode;
    }
    // To ask and not to ask exclude each other: whoever switches approvals on ends what skips them.
    if approvals.is_some()
        && settings.approvals == ApprovalSwitch::On
        && settings.permission_mode == PermissionMode::BypassPermissions
    {
        if permission_mode.is_some() {
            let reason =
                "`approvals: on` and `permission_mode: bypassPermissions` exclude each other";
            return Err(reason.to_owned());
        }
        settings.permission_mode = PermissionMode::Sdk;
    }
    Ok(settings)
}

fn on_or_off(name: &str) -> Result<ApprovalSwitch, String> {
    match name {
        "on" => Ok(ApprovalSwitch::On),
        "off" => Ok(ApprovalSwitch::Off),
        _ => Err("`approvals` is `on` or `off`".to_owned()),
    }
}

/// What is selected.
pub fn selected(selection: AskSelection) -> Result<SelectedRange, String> {
    let AskSelection { text, start, end } = selection;
    match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if start <= end => Ok(SelectedRange { start, end, text }),
        _ => Err("Invalid selection range".to_owned()),
    }
}

/// `continue`.
pub fn conversation(goes_on: bool) -> ConversationMode {
    if goes_on { ConversationMode::Continue } else { ConversationMode::Fresh }
}

/// The permission mode of this name, if one is named.
pub fn permission_mode(name: Option<&str>) -> Result<Option<PermissionMode>, String> {
    let unknown =
        || "`permission_mode` is sdk, bypassPermissions, toolApproval or mcpProxy".to_owned();
    name.map(|name| PermissionMode::named(name).ok_or_else(unknown)).transpose()
}
