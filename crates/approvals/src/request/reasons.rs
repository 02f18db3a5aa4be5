//! Reasons of rejections, which people see at the changes that were rejected.

use std::collections::HashSet;

use super::ApprovalRequest;
use crate::{Decision, Hunk, HunkStatus};
use copydesk_ids::HunkId;

impl ApprovalRequest {
    pub(crate) fn note_reason(&mut self, decision: &Decision, decided: &[HunkId]) {
        let Some(feedback) = &decision.feedback else { return };
        let decided: HashSet<_> = decided.iter().collect();
        let rejected =
            |hunk: &&mut Hunk| hunk.status == HunkStatus::Rejected && decided.contains(&hunk.id);
        for hunk in self.hunks.iter_mut().filter(rejected) {
            if let Some(decision) = &mut hunk.decided {
                decision.feedback = Some(feedback.clone());
            }
        }
    }
}
