//! Undo of an approved call's change to a file, and repetition of a call that did nothing.
//!
//! A request holds the file's content before and after, so nothing else has to be stored for the
//! undo. The caller checks that the file still reads as the call left it.

use super::{
    ApprovalRequest, ChangeExtent, DecisionError, DecisionRequirements, ExecutionState, FileUndo,
    HunkStatus, InvalidDecisionReason, NotAllowedReason, Person, PreviewKind, RequestStatus,
};
use copydesk_ids::RequestId;
use copydesk_ids::permissions::{Action, Principal};

/// State of a file that a call has written, at the time of an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// Stamp that identifies the current content of the file.
    pub stamp: String,
    /// Size of the undo in UTF-16 units: everything deleted plus everything inserted.
    pub units: usize,
    /// `true` if the content is not what the call left there, and is overwritten all the same.
    pub forced: bool,
}

/// Outcome of a [`FileUndo`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileUndoOutcome {
    /// The file reads as before the call.
    Done,
    /// The file was not restored, with the reason.
    Not(String),
}

/// File that a call has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenFile<'r> {
    /// Path of the file.
    pub path: &'r str,
    /// Content before; `None`: there was no file.
    pub before: Option<&'r str>,
    /// Content afterwards.
    pub after: &'r str,
    /// Stamp that identifies the content before.
    pub touched: &'r str,
}

impl ApprovalRequest {
    /// Returns the file that the call changed, unless that is undone.
    pub fn written(&self) -> Result<WrittenFile<'_>, InvalidDecisionReason> {
        let preview = &self.proposal.action.preview;
        match (&self.aftermath.execution, &self.aftermath.reversal) {
            (_, Some(FileUndo { done_ms: Some(_), .. })) => {
                return Err(InvalidDecisionReason::AlreadyUndone);
            }
            (_, Some(_)) => return Err(InvalidDecisionReason::BeingUndone),
            (Some(ExecutionState::Done { report, .. }), None) if !report.is_error => {}
            (Some(ExecutionState::Begun { .. }), None) => {
                return Err(InvalidDecisionReason::StillRunning);
            }
            _ => return Err(InvalidDecisionReason::NothingDone),
        }
        if preview.kind == PreviewKind::Command {
            return Err(InvalidDecisionReason::UndoOfCommand);
        }
        let Some(touched) = &self.proposal.action.touched else {
            return Err(InvalidDecisionReason::MadeDocument);
        };
        let (Some(path), Some(after)) = (&preview.file_path, &preview.new_content) else {
            return Err(InvalidDecisionReason::NoFileChanged);
        };
        let was_made = preview.data["is_new_file"] == true;
        let before = preview.original_content.as_deref().filter(|_| !was_made);
        if before.is_none() && !was_made {
            return Err(InvalidDecisionReason::FormerTextUnknown);
        }
        Ok(WrittenFile { path, before, after, touched })
    }

    /// Returns the file that `who` may restore by undoing the call.
    pub fn reversible(&self, who: &Principal) -> Result<WrittenFile<'_>, DecisionError> {
        self.check_allowed(who)?;
        self.written().map_err(|reason| DecisionError::InvalidDecision { reason })
    }

    /// Records that the undo of the call begins, once. It is judged as it will be applied.
    pub fn begin_reversal(
        &mut self,
        who: &Principal,
        FoundFile { stamp, units, forced }: FoundFile,
        now_ms: u64,
        requirements: &DecisionRequirements,
    ) -> Result<(), DecisionError> {
        self.reversible(who)?;
        let file = self.proposal.action.preview.file_path.clone();
        let extent = ChangeExtent { units: Some(units), file };
        if forced {
            self.check_not_denied(&extent, requirements)?;
        }
        self.requirement_for(&extent, who, requirements)?;
        let by = Person::from(who);
        self.aftermath.reversal =
            Some(FileUndo { by, at_ms: now_ms, forced, found: stamp, done_ms: None });
        Ok(())
    }

    /// Records the end of the undo; one that did nothing can be tried again. Returns `false` if no
    /// undo was under way.
    pub fn end_reversal(&mut self, reversed: &FileUndoOutcome, now_ms: u64) -> bool {
        let Some(reversal) = self.aftermath.reversal.as_mut().filter(|it| it.done_ms.is_none())
        else {
            return false;
        };
        match reversed {
            FileUndoOutcome::Done => reversal.done_ms = Some(now_ms),
            FileUndoOutcome::Not(_) => self.aftermath.reversal = None,
        }
        true
    }

    /// Returns the undo, once it is done.
    pub fn undone(&self) -> Option<&FileUndo> {
        self.aftermath.reversal.as_ref().filter(|reversal| reversal.done_ms.is_some())
    }

    /// Returns `true` while an undo is under way and its outcome is not recorded.
    pub fn is_being_undone(&self) -> bool {
        self.aftermath.reversal.as_ref().is_some_and(|reversal| reversal.done_ms.is_none())
    }

    /// Returns `true` if anything could be undone now, as far as the request can tell.
    pub fn can_be_undone(&self) -> bool {
        if self.hunks.is_empty() {
            return self.written().is_ok();
        }
        self.hunks.iter().any(|hunk| hunk.status == HunkStatus::Accepted)
    }

    /// Returns `true` if anything could be proposed again now, as far as the request can tell.
    pub fn can_be_proposed_again(&self) -> bool {
        if self.hunks.is_empty() {
            return self.repeatable().is_ok();
        }
        let is_refused = |status| {
            matches!(status, HunkStatus::Rejected | HunkStatus::Expired | HunkStatus::Obsolete)
        };
        self.hunks.iter().any(|hunk| is_refused(hunk.status))
    }

    /// Checks that `who` may have the call made again, as a request of their own.
    pub fn check_repeatable(&self, who: &Principal) -> Result<(), DecisionError> {
        let document = self.proposal.document.as_ref();
        if !who.may(Action::Ask, document) || !self.concerns(who) {
            let reason = NotAllowedReason::ReopenNeedsAsk;
            return Err(DecisionError::NotAllowed { reason });
        }
        self.repeatable().map_err(|reason| DecisionError::InvalidDecision { reason })
    }

    fn repeatable(&self) -> Result<(), InvalidDecisionReason> {
        match self.proposal.action.preview.kind {
            PreviewKind::Diff | PreviewKind::MultiDiff | PreviewKind::Command => {}
            PreviewKind::Generic => {
                return Err(InvalidDecisionReason::RunOver);
            }
        }
        match self.status {
            RequestStatus::Streaming | RequestStatus::Pending => {
                Err(InvalidDecisionReason::StillWaiting)
            }
            RequestStatus::Approved if self.undone().is_none() => {
                Err(InvalidDecisionReason::NotUndone)
            }
            _ if self.aftermath.again_as.is_some() => Err(InvalidDecisionReason::AlreadyReopened),
            RequestStatus::Approved
            | RequestStatus::Rejected
            | RequestStatus::Partly
            | RequestStatus::Expired
            | RequestStatus::Cancelled
            | RequestStatus::Failed => Ok(()),
        }
    }

    /// Records the request with which a person proposed this one again.
    pub fn repeated_as(&mut self, again: RequestId) {
        self.aftermath.again_as = Some(again);
    }
}
