//! Requirements of the workspace inbox, which hold for documents that are workspace files too.

use std::sync::Arc;

use copydesk_approvals::{ApprovalRule, DecisionPolicy, FileRequirements, ToolPolicy};

#[derive(Debug, Default)]
pub(crate) struct InboxPolicies {
    pub(super) policy: DecisionPolicy,
    pub(super) policies: Vec<ToolPolicy>,
    pub(super) rules: Vec<Arc<ApprovalRule>>,
}

impl InboxPolicies {
    pub(super) fn of<'a>(&'a self, path: &'a str) -> FileRequirements<'a> {
        let Self { policy, policies, rules } = self;
        FileRequirements { path, policy: *policy, policies, rules }
    }
}
