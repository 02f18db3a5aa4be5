//! Requirements of the workspace inbox, which hold for documents that are workspace files too.

use std::sync::Arc;

use copydesk_approvals::{ApprovalRule, DecisionPolicy, FileRequirements, ToolPolicy};

/// Requirements of the inbox before a file is changed.
#[derive(Debug, Default)]
pub(crate) struct InboxPolicies {
    pub(super) policy: DecisionPolicy,
    pub(super) policies: Vec<ToolPolicy>,
    pub(super) rules: Vec<Arc<ApprovalRule>>,
}

impl InboxPolicies {
    /// Returns the requirements for the file at `path`.
    pub(super) fn of<'a>(&'a self, path: &'a str) -> FileRequirements<'a> {
        let Self { policy, policies, rules } = self;
        FileRequirements { path, policy: *policy, policies, rules }
    }
}
