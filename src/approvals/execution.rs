//! What happens to a tool without hunks once people have said yes: it is begun once, and its result belongs to the request.

use serde::{Deserialize, Serialize};

use super::{
    ApprovalRequest, ChangeExtent, DecisionError, DecisionRequirements, Preview, RequestStatus,
    ToolReport,
};
use crate::permissions::Principal;

/// Where the execution of an approved call stands. Before it begins there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExecutionState {
    /// It was begun; if nobody works on it any more, nobody knows how far it came.
    Begun {
        /// When, in milliseconds since 1970.
        at_ms: u64,
    },
    /// It is over.
    Done {
        /// When, in milliseconds since 1970.
        at_ms: u64,
        /// What came of it, in the tool's own words.
        report: ToolReport,
    },
}

/// What the announced preview was about, once the call would do something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnouncedPreview {
    /// SHA-256 of the content of the file it would have changed then, if it was one.
    pub touched: Option<String>,
    /// How large the change was and which file it named; `None`: that was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<ChangeExtent>,
}

/// What a call would do, looked at again.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdatedPreview {
    /// What people are to be shown.
    pub preview: Preview,
    /// SHA-256 of the content of the file it would change, if it is one.
    pub touched: Option<String>,
}

impl ApprovalRequest {
    /// Shows what the call would do now, and works out what that takes. Whether that is another preview than before; votes were
    /// for the other one.
    pub fn look_again(
        &mut self,
        fresh: UpdatedPreview,
        requirements: &DecisionRequirements,
    ) -> bool {
        if !self.status.is_open() || self.proposal.touched == fresh.touched {
            return false;
        }
        self.take_over(fresh);
        self.votes.clear();
        self.restate(requirements);
        true
    }

    /// From now on the call is about what `fresh` says; what was announced stays known.
    pub(super) fn take_over(&mut self, fresh: UpdatedPreview) {
        let UpdatedPreview { preview, touched } = fresh;
        let extent =
            self.announced_for.is_none().then(|| ChangeExtent::from(&self.proposal.preview));
        let before = std::mem::replace(&mut self.proposal.touched, touched);
        self.proposal.preview = preview;
        self.announced_for.get_or_insert(AnnouncedPreview { touched: before, extent });
    }

    /// The approved call begins, once.
    ///
    /// # Errors
    /// [`DecisionError::InvalidDecision`] if it was not approved, or has begun before.
    pub fn begin(&mut self, now_ms: u64) -> Result<(), DecisionError> {
        if self.status != RequestStatus::Approved || self.execution.is_some() {
            return Err(DecisionError::InvalidDecision { reason: "this call cannot begin" });
        }
        self.execution = Some(ExecutionState::Begun { at_ms: now_ms });
        Ok(())
    }

    /// The approved call is over; if it failed, so has the request. Whether that is news.
    pub fn done(&mut self, report: ToolReport, now_ms: u64) -> bool {
        let is_over = matches!(self.execution, Some(ExecutionState::Done { .. }));
        if self.status != RequestStatus::Approved || is_over {
            return false;
        }
        if report.is_error {
            self.fail();
        }
        self.execution = Some(ExecutionState::Done { at_ms: now_ms, report });
        true
    }

    /// Whether this is the person's business: they may decide it, or asked for it.
    pub fn concerns(&self, who: &Principal) -> bool {
        self.proposal.requester.user == who.user || self.check_allowed(who).is_ok()
    }
}
