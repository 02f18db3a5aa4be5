//! Execution of an approved call without hunks; it begins once.

use super::{
    AnnouncedPreview, ApprovalRequest, ChangeExtent, DecisionError, DecisionRequirements,
    ExecutionState, InvalidDecisionReason, RequestStatus, ToolReport, UpdatedPreview,
};
use copydesk_ids::permissions::Principal;

impl ApprovalRequest {
    /// Replaces the preview by the current one and updates the requirement. Returns `true` if the
    /// preview differs from the one before; its votes are cleared.
    pub fn refresh_preview(
        &mut self,
        fresh: UpdatedPreview,
        requirements: &DecisionRequirements,
    ) -> bool {
        if !self.status.is_open() || self.proposal.action.touched == fresh.touched {
            return false;
        }
        self.take_over(fresh);
        self.decisions.votes.clear();
        self.update_required(requirements);
        true
    }

    pub(super) fn take_over(&mut self, fresh: UpdatedPreview) {
        self.forget_hash();
        let UpdatedPreview { preview, touched } = fresh;
        let extent =
            self.announced_for.is_none().then(|| ChangeExtent::from(&self.proposal.action.preview));
        let before = std::mem::replace(&mut self.proposal.action.touched, touched);
        self.proposal.action.preview = preview;
        self.announced_for.get_or_insert(AnnouncedPreview { touched: before, extent });
    }

    /// Begins the approved call, once.
    ///
    /// # Errors
    /// [`DecisionError::InvalidDecision`] if the request is not approved, or the call has begun
    /// before.
    pub fn begin(&mut self, now_ms: u64) -> Result<(), DecisionError> {
        if self.status != RequestStatus::Approved || self.aftermath.execution.is_some() {
            return Err(DecisionError::InvalidDecision {
                reason: InvalidDecisionReason::CannotBegin,
            });
        }
        self.aftermath.execution = Some(ExecutionState::Begun { at_ms: now_ms });
        Ok(())
    }

    /// Ends the approved call, and fails the request if the call failed. Returns `false` if it was
    /// not approved or had ended before.
    pub fn done(&mut self, report: ToolReport, now_ms: u64) -> bool {
        let is_over = matches!(self.aftermath.execution, Some(ExecutionState::Done { .. }));
        if self.status != RequestStatus::Approved || is_over {
            return false;
        }
        if report.is_error {
            self.fail();
        }
        self.aftermath.execution = Some(ExecutionState::Done { at_ms: now_ms, report });
        true
    }

    /// Returns `true` if `who` may decide the request or asked for it.
    pub fn concerns(&self, who: &Principal) -> bool {
        who.is(&self.proposal.requester.user) || self.check_allowed(who).is_ok()
    }
}
