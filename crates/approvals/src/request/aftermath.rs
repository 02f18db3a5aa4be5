//! Events after the decision about a request.

use serde::{Deserialize, Serialize};

use crate::{ApprovalRequest, Person, ToolReport};
use copydesk_ids::RequestId;

/// Events after the decision about an [`ApprovalRequest`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestAftermath {
    /// State of the approved call, for a tool that acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionState>,
    /// Undo of what the call did, under way or done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reversal: Option<FileUndo>,
    /// Request with which a person proposed this one again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_as: Option<RequestId>,
}

/// State of the execution of an approved call; there is none before it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExecutionState {
    /// The call was begun; its progress is unknown unless something runs it.
    Begun {
        /// Time of the start, in milliseconds since 1970.
        at_ms: u64,
    },
    /// The call has ended.
    Done {
        /// Time of the end, in milliseconds since 1970.
        at_ms: u64,
        /// Result of the tool.
        report: ToolReport,
    },
}

/// Undo of a call's change to a file, under way or done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUndo {
    /// Person who undid it.
    pub by: Person,
    /// Time when the undo began, in milliseconds since 1970.
    pub at_ms: u64,
    /// `true` if the file had changed since and was overwritten.
    pub forced: bool,
    /// Stamp that identifies the content of the file just before the undo.
    pub found: String,
    /// Time when the undo was done; `None`: its progress is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_ms: Option<u64>,
}

impl ApprovalRequest {
    /// Returns `true` for an ended request about which nothing happened but decisions: it was
    /// neither undone nor proposed again.
    pub fn stands_as_decided(&self) -> bool {
        let RequestAftermath { reversal, again_as, .. } = &self.aftermath;
        !self.status.is_open() && reversal.is_none() && again_as.is_none()
    }

    /// Returns the time of the newest decision, end, undo or remark, in milliseconds since 1970; 0
    /// if there is none.
    pub fn last_decided_ms(&self) -> u64 {
        let hunks = self.hunks.iter().filter_map(|hunk| hunk.decided.as_ref()).map(|it| it.at_ms);
        let ends = self.decisions.closed.iter().map(|closed| closed.at_ms);
        let undone = self.undone().and_then(|undone| undone.done_ms);
        let remarks = self.decisions.remarks.iter().map(|remark| remark.at_ms);
        hunks.chain(ends).chain(undone).chain(remarks).max().unwrap_or_default()
    }
}
