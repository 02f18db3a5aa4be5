//! Conversion between values of the application and their names on the wire.

use copydesk_engine::agent::{RunEndKind, RunState};
use copydesk_engine::approvals;
use copydesk_engine::rooms::{event, settings};

use super::super::names;

/// Converts between two enums with the same variants, both ways. A variant that only one of them
/// has does not compile.
macro_rules! same_variants {
    ($($name:ident: $inner:path { $($variant:ident),+ $(,)? })+) => {$(
        impl From<$inner> for names::$name {
            fn from(value: $inner) -> Self {
                use $inner as Inner;
                match value {
                    $(Inner::$variant => Self::$variant,)+
                }
            }
        }

        impl From<names::$name> for $inner {
            fn from(value: names::$name) -> Self {
                match value {
                    $(names::$name::$variant => Self::$variant,)+
                }
            }
        }
    )+};
}

same_variants! {
    ApprovalSwitch: settings::ApprovalSwitch { On, Off }
    PermissionMode: settings::PermissionMode { Ask, Bypass, PlanFirst, ClaudeCli }
    AgentEventType: event::AgentEventType { User, Assistant, Result, System }
    UpdateType: event::UpdateExtent { None, Full, Partial }
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

impl From<event::AgentEventSubtype> for names::AgentEventSubtype {
    fn from(subtype: event::AgentEventSubtype) -> Self {
        use event::AgentEventSubtype as Inner;
        match subtype {
            Inner::Prompt => Self::Prompt,
            Inner::Clear => Self::Clear,
            Inner::Text => Self::Text,
            Inner::TextDelta => Self::TextDelta,
            Inner::ToolUse => Self::ToolUse,
            Inner::ToolResult => Self::ToolResult,
            Inner::Waiting => Self::Waiting,
            Inner::Ended(kind) => end_of_run!(AgentEventSubtype, kind),
        }
    }
}

impl From<RunState> for names::RunStateName {
    fn from(state: RunState) -> Self {
        match state {
            RunState::Queued => Self::Queued,
            RunState::Running => Self::Running,
            RunState::Ended(kind) => end_of_run!(RunStateName, kind),
        }
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

    use copydesk_engine::permissions;

    use super::*;

    /// The application names these values in messages and in the store; the wire says the same.
    #[test]
    fn the_wire_uses_the_applications_names() {
        for role in permissions::Role::ALL.into_iter().chain([permissions::Role::Guest]) {
            assert_eq!(json!(role), role.as_str());
        }
        for mode in settings::PermissionMode::ALL {
            assert_eq!(json!(names::PermissionMode::from(mode)), mode.as_str());
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
            assert_eq!(json!(names::AgentEventSubtype::from(subtype)), kind.as_str());
            assert_eq!(json!(names::RunStateName::from(RunState::Ended(kind))), kind.as_str());
        }
    }
}
