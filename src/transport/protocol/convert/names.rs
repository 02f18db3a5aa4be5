//! Conversion between values of the application and their names on the wire.

use crate::rooms::settings;
use crate::{approvals, permissions};

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
    Role: permissions::Role { Owner, Editor, Reviewer, Viewer }
    RequestStatus: approvals::RequestStatus {
        Streaming, Pending, Approved, Rejected, Partly, Expired, Cancelled, Failed,
    }
    HunkStatus: approvals::HunkStatus {
        Streaming, Pending, Conflict, Obsolete, Accepted, Rejected, Expired,
    }
    HunkChoice: approvals::HunkChoice { Accept, Reject }
    DecisionPolicy: approvals::DecisionPolicy { Any, NotRequester, Two, Owner }
    ApprovalSwitch: settings::ApprovalSwitch { On, Off }
    PermissionMode: settings::PermissionMode { Sdk, BypassPermissions, ToolApproval, McpProxy }
    UnaskedReason: approvals::UnaskedReason { Bypass, ApprovalsOff }
    PreviewKind: approvals::PreviewKind { Diff, MultiDiff, Command, Generic }
    RuleEffect: approvals::RuleEffect { Deny, Ask, Allow }
    RuleScope: approvals::RuleScope { Session, Document, Workspace }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The application names these values in messages and in the store; the wire says the same.
    #[test]
    fn the_wire_uses_the_applications_names() {
        for role in permissions::Role::ALL {
            assert_eq!(json!(names::Role::from(role)), role.as_str());
        }
        for mode in settings::PermissionMode::ALL {
            assert_eq!(json!(names::PermissionMode::from(mode)), mode.as_str());
        }
        for policy in [
            names::DecisionPolicy::Any,
            names::DecisionPolicy::NotRequester,
            names::DecisionPolicy::Two,
            names::DecisionPolicy::Owner,
        ] {
            assert_eq!(json!(policy), approvals::DecisionPolicy::from(policy).as_str());
        }
    }
}
