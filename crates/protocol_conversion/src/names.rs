//! Conversion between values of the application and their names on the wire.

use copydesk_agent::{RunEndKind, RunState};
use copydesk_approvals as approvals;
use copydesk_rooms::{event, settings};

use copydesk_protocol::names;

/// Returns the mode on the wire, which has other names than the stored one.
pub fn permission_mode(mode: settings::PermissionMode) -> names::PermissionMode {
    use settings::PermissionMode as Inner;
    match mode {
        Inner::Ask => names::PermissionMode::Ask,
        Inner::Bypass => names::PermissionMode::Bypass,
        Inner::PlanFirst => names::PermissionMode::PlanFirst,
        Inner::ClaudeCli => names::PermissionMode::ClaudeCli,
    }
}

/// Returns the mode that is named on the wire.
pub(crate) fn wanted_mode(mode: names::PermissionMode) -> settings::PermissionMode {
    use names::PermissionMode as Wire;
    match mode {
        Wire::Ask => settings::PermissionMode::Ask,
        Wire::Bypass => settings::PermissionMode::Bypass,
        Wire::PlanFirst => settings::PermissionMode::PlanFirst,
        Wire::ClaudeCli => settings::PermissionMode::ClaudeCli,
    }
}

/// Returns the speaker of an event.
pub(crate) fn agent_event_type(kind: event::AgentEventType) -> names::AgentEventType {
    use event::AgentEventType as Inner;
    match kind {
        Inner::User => names::AgentEventType::User,
        Inner::Assistant => names::AgentEventType::Assistant,
        Inner::Result => names::AgentEventType::Result,
        Inner::System => names::AgentEventType::System,
    }
}

/// Returns how much of a document a run has changed.
pub(crate) fn update_type(extent: event::UpdateExtent) -> names::UpdateType {
    use event::UpdateExtent as Inner;
    match extent {
        Inner::None => names::UpdateType::None,
        Inner::Full => names::UpdateType::Full,
        Inner::Partial => names::UpdateType::Partial,
    }
}

/// Converts the way in which a run ended to an enum that has those variants among others.
macro_rules! end_of_run {
    ($name:ident, $kind:expr) => {
        match $kind {
            RunEndKind::Success => names::$name::Success,
            RunEndKind::Error => names::$name::Error,
            RunEndKind::Cancelled => names::$name::Cancelled,
            RunEndKind::MaxTokens => names::$name::MaxTokens,
            RunEndKind::Refusal => names::$name::Refusal,
            RunEndKind::Limit => names::$name::Limit,
        }
    };
}

/// Returns the subtype of an event.
pub(crate) fn agent_event_subtype(subtype: event::AgentEventSubtype) -> names::AgentEventSubtype {
    use event::AgentEventSubtype as Inner;
    match subtype {
        Inner::Prompt => names::AgentEventSubtype::Prompt,
        Inner::Clear => names::AgentEventSubtype::Clear,
        Inner::Text => names::AgentEventSubtype::Text,
        Inner::TextDelta => names::AgentEventSubtype::TextDelta,
        Inner::ToolUse => names::AgentEventSubtype::ToolUse,
        Inner::ToolResult => names::AgentEventSubtype::ToolResult,
        Inner::Waiting => names::AgentEventSubtype::Waiting,
        Inner::Ended(kind) => end_of_run!(AgentEventSubtype, kind),
    }
}

/// Returns the state of a run.
pub fn run_state(state: RunState) -> names::RunStateName {
    match state {
        RunState::Queued => names::RunStateName::Queued,
        RunState::Running => names::RunStateName::Running,
        RunState::Ended(kind) => end_of_run!(RunStateName, kind),
    }
}

/// Returns the code of a reason; `None` for a sentence of another version of the server.
pub(super) fn hunk_reason_code(reason: &approvals::HunkReason) -> Option<names::HunkReasonCode> {
    use approvals::HunkReason as Inner;
    Some(match reason {
        Inner::WordsChanged => names::HunkReasonCode::WordsChanged,
        Inner::PlaceRemoved => names::HunkReasonCode::PlaceRemoved,
        Inner::WordsDeleted => names::HunkReasonCode::WordsDeleted,
        Inner::AlreadyInText => names::HunkReasonCode::AlreadyInText,
        Inner::FrozenSince => names::HunkReasonCode::FrozenSince,
        Inner::Other(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use copydesk_ids::permissions;

    use super::*;

    /// The application names these values in messages and in the store; the wire says the same.
    #[test]
    fn the_wire_uses_the_applications_names() {
        for role in permissions::Role::ALL.into_iter().chain([permissions::Role::Guest]) {
            assert_eq!(json!(role), role.as_str());
        }
        for mode in settings::PermissionMode::ALL {
            assert_eq!(json!(permission_mode(mode)), mode.as_str());
        }
        for policy in [
            approvals::DecisionPolicy::Any,
            approvals::DecisionPolicy::NotRequester,
            approvals::DecisionPolicy::Two,
            approvals::DecisionPolicy::Owner,
        ] {
            assert_eq!(json!(policy), policy.as_str());
        }
        for kind in RunEndKind::ALL {
            let subtype = event::AgentEventSubtype::Ended(kind);
            assert_eq!(json!(agent_event_subtype(subtype)), kind.as_str());
            assert_eq!(json!(run_state(RunState::Ended(kind))), kind.as_str());
        }
    }
}
